// The programs around the kernels that the page can run, which make puts into the page compressed
// (tools/book/programs.h documents them), and what the reader has typed, in the browser's storage.
const pageRun = {};

(function () {
    "use strict";
    const PLACE = "reduction-workbook.code";

    // The bytes of a script element with base64 of a gzip file.
    pageRun.unpack = async function (base64) {
        const text = atob(base64), bytes = new Uint8Array(text.length);
        for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        return new Response(stream).arrayBuffer();
    };

    let loaded = null;
    pageRun.load = function () {
        return loaded || (loaded = pageRun.unpack(document.getElementById("run-programs").textContent).then(function (bytes) {
            return JSON.parse(new TextDecoder().decode(bytes));
        }));
    };

    // ---- Programs ----

    const REFERENCE = /^(\s*)<<(\S+)>>\s*$/;

    // The lines of a program, in pieces that come from one place each: [{name, line, text}]. The
    // reader's text replaces the chunk `hole`; its name is "listing", and its lines count from 1.
    // Without `whole`, the driver of exercises is left out.
    pageRun.pieces = function (data, program, hole, text, whole) {
        const pieces = [];
        function add(name, indent) {
            const chunk = data.chunks[name];
            if (!chunk || chunk.driver && !whole) return;
            const mine = name === hole, lines = (mine ? text : chunk.text).split("\n");
            let piece = null;
            if (lines.at(-1) === "") lines.pop();
            lines.forEach(function (line, k) {
                const reference = REFERENCE.exec(line);
                if (reference) {
                    piece = null;
                    add(reference[2], indent + reference[1]);
                    return;
                }
                if (!piece) pieces.push(piece = { name: mine ? "listing" : chunk.file, line: (mine ? 1 : chunk.line) + k, text: "" });
                piece.text += (whole && line ? indent + line : line) + "\n";
            });
        }
        add(program, "");
        return pieces;
    };

    // The text of a chunk, with those that it includes: what the reader edits.
    pageRun.textOf = function (data, name) {
        return pageRun.pieces(data, name, "", "", true).map(function (piece) { return piece.text; }).join("");
    };

    pageRun.fileOf = function (data, program, hole, text) {
        return pageRun.pieces(data, program, hole, text, true).map(function (piece) { return piece.text; }).join("");
    };

    // The name of the chunk that has this line of a chapter, or "".
    pageRun.chunkAt = function (data, file, line) {
        return Object.keys(data.chunks).find(function (name) {
            const chunk = data.chunks[name];
            return chunk.file === file && line >= chunk.line && line < chunk.line + chunk.text.split("\n").length;
        }) || "";
    };

    // ---- What the reader has typed and solved: {texts: {chunk: text}, solved: {"4.1": true}} ----

    const saved = { texts: {}, solved: {} };
    try {
        const found = JSON.parse(localStorage.getItem(PLACE)) || {};
        Object.assign(saved.texts, found.texts);
        Object.assign(saved.solved, found.solved);
    } catch (error) {
        // Storage is not available: texts last until the page is closed.
    }
    pageRun.saved = saved;

    pageRun.save = function () {
        try {
            localStorage.setItem(PLACE, JSON.stringify(saved));
        } catch (error) {
            return;
        }
    };

    // ---- Elements ----

    // make("p", "note", "text", child) or make("p", {class: "note", hidden: ""}, ...)
    pageRun.make = function (name, attributes, ...content) {
        const made = document.createElement(name), given = typeof attributes === "string" ? { class: attributes } : attributes || {};
        for (const key of Object.keys(given)) if (given[key] !== "" || key !== "class") made.setAttribute(key, given[key]);
        made.append(...content);
        return made;
    };

    // A message in parts: its `code` as code, and places in the reader's text as lines.
    pageRun.words = function (message) {
        return message.replace(/\blisting:(\d+)(:\d+)?/g, "line $1").split("`").map(function (part, k) { return k % 2 ? pageRun.make("code", "", part) : part; });
    };

    pageRun.button = function (className, text, act) {
        const made = pageRun.make("button", { class: className, type: "button" }, text);
        made.addEventListener("click", act);
        return made;
    };

    pageRun.number = function (value) { return value.toLocaleString("en-US").replace("-", "\u2212"); };
    pageRun.count = function (number, one) { return pageRun.number(number) + " " + one + (number === 1 ? "" : "s"); };
})();

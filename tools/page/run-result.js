// Shows what a run found: whether the result is right, hazards, counters, the banks of the worst
// access, and the player over the run.
(function () {
    "use strict";
    const make = pageRun.make, number = pageRun.number, count = pageRun.count;
    const MOST_HAZARDS = 8, MOST_STEPS = 4000, INSTRUCTIONS = ["warp_insts", "thread_insts"]; // which differ between compilers

    // A place as the reader knows it: a button that moves the caret to that line of the listing, a
    // link to another listing, or a line of the chapter.
    pageRun.placeOf = function (at, place) {
        if (!place || !place.line || !place.file) return "";
        if (place.file === "listing") return pageRun.button("line", "line " + place.line, function () { at.editor.go(place.line, place.column); });
        const chunk = pageRun.chunkAt(at.data, place.file, place.line), id = "chunk-" + chunk.replace(/[/.]/g, "-");
        if (chunk && document.getElementById(id)) return make("span", "", "in ", make("a", { href: "#" + id }, make("code", "", chunk)));
        return place.file + ":" + place.line;
    };

    // ---- Hazards ----

    // A hazard's text without its kind and kernel, which are elsewhere, as a sentence.
    pageRun.sentence = function (text) {
        const plain = text.replace(/^[a-z -]+ in \w+: /, "");
        return plain.charAt(0).toUpperCase() + plain.slice(1).replace(/[^.?]$/, "$&.");
    };

    function hazardOf(at, hazard) {
        const item = make("li", "run-hazard", pageRun.placeOf(at, hazard), " ", make("strong", "", hazard.kind), hazard.count > 1 ? " (" + number(hazard.count) + " times)" : "");
        item.append(make("p", "", ...pageRun.words(pageRun.sentence(hazard.text))));
        if (hazard.other) item.append(make("p", "", "The other access: ", pageRun.placeOf(at, hazard.other)));
        if (hazard.advice) item.append(make("p", "advice", ...pageRun.words(pageRun.sentence(hazard.advice))));
        return item;
    }

    // Marks the lines of hazards, and the first with words, and lists them.
    pageRun.hazards = function (at, hazards) {
        const marks = {}, list = make("ul", "run-hazards");
        for (const hazard of hazards)
            for (const place of [hazard, hazard.other])
                if (place && place.file === "listing") marks[place.line] = hazard.kind;
        const first = hazards.find(function (hazard) { return hazard.file === "listing"; }), other = first && first.other;
        at.editor.mark(marks);
        if (first) at.editor.bubble(first.line, first.column, first.kind + (!other || other.file !== "listing" ? "" : other.line === first.line ? " between threads on this line" : " with line " + other.line));
        list.append(...hazards.slice(0, MOST_HAZARDS).map(function (hazard) { return hazardOf(at, hazard); }));
        if (hazards.length > MOST_HAZARDS) list.append(make("li", "", "and " + (hazards.length - MOST_HAZARDS) + " more"));
        return hazards.length ? list : "";
    };

    // ---- Counters ----

    function changeOf(now, before) {
        if (before === undefined) return "";
        if (now === before) return "=";
        return (now > before ? "+" : "") + number(now - before);
    }

    function tableOf(at, names, answer, nvcc, before) {
        const head = ["", "yours"].concat(nvcc ? ["nvcc\u2019s"] : [], before ? ["since your last run"] : []);
        const table = make("table", "", make("thead", "", make("tr", "", ...head.map(function (text) { return make("th", { scope: "col", class: text ? "r" : "" }, text || make("span", "unseen", "counter")); }))));
        const body = make("tbody");
        for (const name of names) {
            const now = answer.counters[name], title = at.data.counters[name] || name.replace(/_/g, " ");
            const row = make("tr", "", make("th", { scope: "row" }, title.replace(" (PTX)", "")), make("td", { class: "r", "data-counter": name }, number(now)));
            if (nvcc) row.append(make("td", { class: nvcc[name] === now || INSTRUCTIONS.includes(name) ? "r" : "r other", "data-nvcc": name }, nvcc[name] === undefined ? "" : number(nvcc[name])));
            if (before) row.append(make("td", { class: "r change", "data-change": name }, changeOf(now, before[name])));
            body.append(row);
        }
        table.append(body);
        return make("div", "table-frame", table);
    }

    // Whether two compilers made the same accesses.
    pageRun.sameAccesses = function (counters, nvcc) {
        return Object.keys(nvcc).every(function (name) { return INSTRUCTIONS.includes(name) || nvcc[name] === counters[name]; });
    };

    // The counters that the chapter mentions, and the others in a fold.
    pageRun.counters = function (at, first, answer, nvcc, before) {
        const names = Object.keys(answer.counters), own = names.filter(function (name) { return first.includes(name); });
        const shown = own.length ? own : names.slice(0, 6), rest = names.filter(function (name) { return !shown.includes(name); });
        const fold = make("details", "fold", make("summary", "", "All counters"), tableOf(at, rest, answer, nvcc, before));
        const box = make("div", "run-counters", tableOf(at, shown, answer, nvcc, before));
        if (rest.length) box.append(fold);
        return box;
    };

    // ---- Banks, drawn as one step of the player ----

    pageRun.banks = function (at, banks) {
        const lanes = banks.lanes.map(function (bank, lane) { return bank < 0 ? -1 : lane; }).filter(function (lane) { return lane >= 0; });
        const step = { op: "load", line: String(banks.line), warp: 0, lanes: lanes, words: lanes.map(function (lane) { return banks.words[lane]; }), values: [], races: [] };
        const model = stepPlayer.modelOf({ block: 32, steps: [step] });
        const picture = stepPlayer.makeSvg("svg", { role: "img" }), stage = make("div", "stage"), figure = make("figure", "play run-banks");
        const words = "has the access with the most bank conflicts: it takes " + count(banks.wavefronts, "wavefront") + ". A bank serves one word per wavefront; the other lanes that need this bank wait.";
        picture.setAttribute("aria-label", "Line " + banks.line + " " + words);
        model.warps = model.words = 0; // neither warps nor all of shared memory
        stage.append(picture);
        figure.append(make("figcaption", "", pageRun.placeOf(at, banks), " " + words), stage);
        new ResizeObserver(function () {
            if (!stage.clientWidth) return;
            stepPlayer.draw(picture, Math.floor(stage.clientWidth), model, step);
            picture.firstChild.remove(); // the label of the warps
            const part = picture.getBBox(), height = part.y + part.height + 4;
            picture.setAttribute("viewBox", [0, part.y - 2, picture.getAttribute("width"), height - part.y].join(" "));
            picture.setAttribute("height", height - part.y);
        }).observe(stage);
        return figure;
    };

    // ---- The player, over the reader's own run ----

    // The text of each line that steps name: a number in the listing, or FILE:NUMBER.
    function codeOf(at, steps) {
        const code = {};
        at.editor.area.value.split("\n").forEach(function (line, k) { code[k + 1] = line.trim(); });
        for (const [place, file, line] of steps.matchAll(/\b([\w.-]+\.md):(\d+)/g)) {
            const chunk = at.data.chunks[pageRun.chunkAt(at.data, file, Number(line))];
            if (chunk) code[place] = chunk.text.split("\n")[line - chunk.line].trim();
        }
        return code;
    }

    const MOVES = /^[^,]*,[^,]*,(?!barrier|syncwarp)/m; // a step in which lanes access memory or exchange values

    // Why there is no player.
    function reasonFor(answer, count) {
        const used = answer.counters && ["shared_ld_insts", "shared_st_insts"].some(function (name) { return answer.counters[name]; });
        if (count > MOST_STEPS) return "A block makes " + number(count) + " steps, too many to step through: choose a smaller size or block.";
        return used ? "This run cannot be stepped through: there is " + answer.no_steps + "." : "There is nothing to step through: the player shows shared memory and shuffles.";
    }

    pageRun.player = function (at, answer, name, n) {
        const steps = answer.steps, count = steps ? steps.split("\n").length - 1 : 0;
        if (steps && !MOVES.test(steps)) return make("p", "about", reasonFor(answer, 0));
        if (!count || count > MOST_STEPS) return answer.no_steps || count ? make("p", "about", reasonFor(answer, count)) : "";
        const box = make("div", "player"), data = make("script", { type: "application/json" }), block = answer.launches.at(-1).block;
        const run = { block: block[0] * block[1] * block[2], n: n, steps: steps, own: true };
        data.textContent = JSON.stringify({ stale: false, kernels: [{ name: name, label: name, code: codeOf(at, steps), runs: [run] }] });
        box.append(data);
        const fold = make("details", "fold", make("summary", "", "Step through this run"), box);
        fold.addEventListener("toggle", function () { if (fold.open) stepPlayer.open(box); });
        return fold;
    };
})();

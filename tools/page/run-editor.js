// An editor for a few lines of code: a textarea over the same text in colours, with line numbers.
// Tab indents; Escape and then Tab leaves, as everywhere on the page.
(function () {
    "use strict";
    const make = pageRun.make, INDENT = "    ", COLOURED_LINES = 2000, MOST_LINES = 5000, MOST_CHARACTERS = 200000;

    const linesOf = function (text) { return text.split("\n").length; };

    // Whether a text is too long to run.
    pageRun.isLong = function (text) { return text.length > MOST_CHARACTERS || linesOf(text) > MOST_LINES; };

    // ---- Colours ----

    const words = function (text, kind) { return text.split(" ").map(function (word) { return [word, kind]; }); };
    const KINDS = new Map([].concat(
        words("auto bool char const constexpr double enum float half int long short signed static struct template typename union unsigned using void volatile float2 float4 int2 int4 __half size_t dim3", "dt"),
        words("break case continue default do else for goto if return switch while", "cf"),
        words("__global__ __device__ __host__ __shared__ __restrict__ __launch_bounds__ extern", "ex"),
        words("threadIdx blockIdx blockDim gridDim warpSize", "va"),
        words("__syncthreads __syncwarp __threadfence", "bu")));
    const TOKEN = /(\/\/.*|\/\*[^]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?)|(^[ \t]*#[ \t]*\w+)|((?:0x[\da-f]+|\d+\.?\d*(?:e[-+]?\d+)?)\w*)|([a-z_]\w*)(?=(\s*\()?)/gim;

    // Colours a text, unless it is so long that typing would be slow.
    function colour(code, text) {
        let last = 0;
        if (pageRun.isLong(text) || linesOf(text) > COLOURED_LINES) {
            code.textContent = text + "\n";
            return;
        }
        code.replaceChildren();
        for (const found of text.matchAll(TOKEN)) {
            const [token, comment, string, directive, number, word, call] = found;
            const kind = comment ? "co" : string ? "st" : directive ? "pp" : number ? "dv" : KINDS.get(word) || (call ? "fu" : "");
            if (!kind) continue;
            code.append(text.slice(last, found.index), make("i", kind, token));
            last = found.index + token.length;
        }
        code.append(text.slice(last) + "\n");
    }

    // ---- Keys ----

    // Replaces a range as if it were typed, so that undo works.
    function type(area, start, end, text) {
        area.setSelectionRange(start, end);
        const done = text ? document.execCommand("insertText", false, text) : start === end || document.execCommand("delete");
        if (!done) {
            area.setRangeText(text, start, end, "end");
            area.dispatchEvent(new Event("input"));
        }
    }

    function indent(area, back) {
        const start = area.selectionStart, end = area.selectionEnd, text = area.value;
        if (!back && !text.slice(start, end).includes("\n")) {
            const column = start - text.lastIndexOf("\n", start - 1) - 1;
            type(area, start, end, " ".repeat(INDENT.length - column % INDENT.length));
            return;
        }
        const first = text.lastIndexOf("\n", start - 1) + 1, whole = text.slice(first, end);
        const moved = whole.replace(/^.*$/gm, function (line) { return back ? line.replace(/^ {1,4}/, "") : line && INDENT + line; });
        if (moved === whole) return;
        type(area, first, end, moved);
        area.setSelectionRange(back ? Math.max(first, start - whole.length + moved.length) : first, first + moved.length);
    }

    // A new line begins as deep as the line before, and one step deeper after a brace.
    function newLine(area) {
        const before = area.value.slice(0, area.selectionStart).split("\n").pop();
        const deeper = /\{\s*$/.test(before) ? INDENT : "";
        type(area, area.selectionStart, area.selectionEnd, "\n" + /^\s*/.exec(before)[0] + deeper);
    }

    // ---- The editor ----

    // {box, area, mark(marks), bubble(line, column, text), go(line), reset(text)}. `changed` is
    // called with each new text, and `run` for Ctrl+Enter. marks: {line: "words for its title"}.
    pageRun.editor = function (name, text, changed, run) {
        const numbers = make("div", { class: "numbers", "aria-hidden": "true" }), code = make("code");
        const area = make("textarea", { "aria-label": name, spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "off", rows: "1" });
        const bubble = make("p", { class: "bubble", hidden: "" }), layers = make("div", "layers", make("pre", { "aria-hidden": "true" }, code), area, bubble);
        const help = make("p", { class: "unseen", id: "keys-" + name.replace(/\W/g, "-") }, "Tab indents. To leave the code, press Escape and then Tab. Control and Enter runs it.");
        let marks = {}, leaving = false, shown = "";

        function showNumbers() {
            const count = Math.min(linesOf(area.value), MOST_LINES), now = count + JSON.stringify(marks);
            if (now === shown) return;
            shown = now;
            numbers.replaceChildren(...Array.from({ length: count }, function (_, k) {
                const number = make("span", "", String(k + 1));
                if (marks[k + 1]) {
                    number.className = "marked";
                    number.title = marks[k + 1];
                }
                return number;
            }));
        }

        function show() {
            colour(code, area.value);
            showNumbers();
        }

        area.setAttribute("aria-describedby", help.id);
        area.value = text;
        show();
        area.addEventListener("input", function () {
            marks = {};
            bubble.hidden = true;
            area.removeAttribute("aria-invalid");
            show();
            changed(area.value);
        });
        area.addEventListener("keydown", function (event) {
            const leaves = leaving;
            leaving = event.key === "Escape" || leaving && event.key === "Shift";
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
            else if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
            else if (event.key === "Tab" && !leaves) indent(area, event.shiftKey);
            else if (event.key === "Enter" && !event.shiftKey) newLine(area);
            else return;
            event.preventDefault();
        });

        return {
            box: make("div", "editor", numbers, layers, help), area: area,
            mark: function (given) {
                marks = given;
                showNumbers();
            },
            bubble: function (line, column, words) {
                bubble.replaceChildren(...pageRun.words(words));
                bubble.style.setProperty("--line", line);
                bubble.style.setProperty("--column", (column || 1) - 1);
                bubble.classList.toggle("above", line > 1 && line + 1 >= linesOf(area.value)); // below is no room
                bubble.hidden = false;
                this.mark(Object.assign({}, marks, { [line]: bubble.textContent }));
                area.setAttribute("aria-invalid", "true");
            },
            clear: function () {
                bubble.hidden = true;
                area.removeAttribute("aria-invalid");
                this.mark({});
            },
            go: function (line, column) {
                const lines = area.value.split("\n"), start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
                area.focus();
                area.setSelectionRange(start + (column || 1) - 1, start + (column || 1) - 1);
            },
            reset: function (given) {
                area.focus();
                if (area.value !== given) type(area, 0, area.value.length, given);
                area.setSelectionRange(0, 0);
            },
        };
    };
})();

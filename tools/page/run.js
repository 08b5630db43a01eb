// Kernels that run in the page. Run beside a listing makes it editable, with choices of stage, size
// and block size, and runs it; Edit beside the starter of an exercise makes that editable, and
// Check grades it. Nothing of this costs anything before the first press.
(function () {
    "use strict";
    const make = pageRun.make, button = pageRun.button, number = pageRun.number, saved = pageRun.saved;
    const LARGEST_N = 1000000, USUAL_N = 100000, USUAL_BLOCK = 256, BLOCKS = [32, 64, 128, 256, 512, 1024], SLOW_MS = 10000;

    let lastId = 0;

    function field(text, control) {
        control.id = "run-field-" + ++lastId;
        return make("span", "field", make("label", { for: control.id }, ...[].concat(text)), control);
    }

    function select(options, chosen) {
        const made = make("select");
        made.append(...options.map(function (value) { return new Option(typeof value === "number" ? number(value) : value, value, false, value === chosen); }));
        return made;
    }

    // ---- What a listing and an exercise have in common: the editor and one run at a time ----

    // An open editor in a chunk's box, for its text with those of the chunks in it: {data, name,
    // editor, bar, said, found}. `press` runs it.
    function open(box, data, name, press) {
        const book = pageRun.textOf(data, name).trimEnd(), at = { data: data, box: box, name: name };
        at.editor = pageRun.editor(name + ": the code", Object.hasOwn(saved.texts, name) ? saved.texts[name] : book, function (now) {
            if (at.isBook()) delete saved.texts[name];
            else saved.texts[name] = now;
            pageRun.save();
            showAge(at);
        }, press);
        at.isBook = function () { return at.editor.area.value.trimEnd() === book; };
        at.bar = make("div", "run-bar");
        at.said = make("p", { class: "run-said", role: "status" });
        at.found = make("div", "found");
        at.result = make("div", "run-result", at.said, at.found);
        at.stop = button("stop", "Stop", function () { pageRun.stop(); });
        at.reset = button("reset", "Reset", function () {
            if (at.box.matches(".running")) pageRun.stop();
            at.editor.reset(book);
        });
        at.reset.title = "Restore the book\u2019s text";
        at.stop.disabled = true;
        box.append(at.editor.box, ...box.querySelectorAll(":scope > .try"), at.bar, at.result);
        box.classList.add("open");
        pageRun.save(); // the page needs no hint any more
        return at;
    }

    // Marks a result that is not of the text as it is now.
    function showAge(at) {
        at.box.classList.toggle("old", at.editor.area.value !== at.ran);
    }

    // Shows a sentence above the result, and announces it. grade: "right", "off" or nothing.
    function say(at, words, grade) {
        at.said.replaceChildren(...[].concat(words).flatMap(function (part) { return typeof part === "string" ? pageRun.words(part) : part; }));
        at.said.className = "run-said " + (grade || "");
        delete at.said.dataset.answer;
    }

    // Says why there is no run.
    function refuse(at, words) {
        at.ran = at.editor.area.value;
        at.found.replaceChildren();
        showAge(at);
        say(at, words, "off");
    }

    // Focuses the code or, where that would bring a keyboard onto the screen, a button.
    function focusCode(at, instead) {
        (matchMedia("(pointer: coarse)").matches ? instead : at.editor.area).focus({ preventScroll: true });
    }

    // The keys, beside the buttons.
    function keys(does) {
        return make("span", { class: "run-keys", "aria-hidden": "true" }, "Ctrl+Enter " + does + "; Esc, then Tab leaves the code");
    }

    // Runs a request, shows its progress and, with `show`, the answer, unless it was stopped or
    // failed, which it says.
    async function ask(at, request, show) {
        if (pageRun.isLong(at.editor.area.value)) {
            refuse(at, "This text is too long to run here: it may have 5,000 lines and 200,000 characters.");
            return;
        }
        const started = performance.now(), turn = at.turn = (at.turn || 0) + 1;
        at.ran = at.editor.area.value;
        showAge(at);
        at.stop.disabled = false;
        at.box.classList.add("running");
        say(at, "Running\u2026");
        at.editor.clear();
        const slow = setTimeout(function () {
            if (turn === at.turn) say(at, "This has run for " + SLOW_MS / 1000 + " seconds. Stop ends it.");
        }, SLOW_MS);
        const got = await pageRun.run(request);
        clearTimeout(slow);
        if (turn !== at.turn) return; // Run was pressed again meanwhile
        at.box.classList.remove("running");
        if (document.activeElement === at.stop) focusCode(at, at.reset);
        at.stop.disabled = true;
        at.found.replaceChildren();
        if (got.stopped) say(at, "Stopped after " + pageRun.count(Math.round((performance.now() - started) / 1000), "second") + ".", "off");
        if (got.failure) say(at, "This browser could not run it: " + got.failure + ".", "off");
        if (got.answer) show(got.answer);
        at.said.scrollIntoView({ block: "nearest" });
        showAge(at);
        if (at.box.matches(".old")) at.editor.clear(); // its lines may be others now
    }

    // Where the reader's text declares the kernel.
    function declared(at) {
        const lines = at.editor.area.value.split("\n"), line = lines.findIndex(function (text) { return text.includes("__global__"); });
        return { file: line < 0 ? "" : "listing", line: line + 1, column: 1 };
    }

    // An error with its place, which is the kernel for a launch that failed; `hazard` is the one
    // that ended the run, if one did.
    function placed(at, answer) {
        const error = answer.error, found = !error.line && /^([^\s:]+\.\w+|listing):(\d+): ([^]+)$/.exec(error.message);
        const launch = /^`(?!cuda)\w+` failed: ([^]+)$/.exec(error.message), kernel = declared(at);
        if (launch && kernel.file) return Object.assign(kernel, { message: "The kernel cannot start: " + launch[1] });
        if (!found) {
            const failed = !error.line && (answer.launches || []).length && !answer.counters.warp_insts;
            return failed ? Object.assign(declared(at), { message: "The kernel cannot start: " + error.message }) : error;
        }
        const place = { file: found[1], line: Number(found[2]), column: 1, message: found[3] };
        if (place.file.endsWith(".ptx")) return Object.assign(declared(at), { message: "The kernel cannot be loaded: " + found[3] });
        const hazard = (answer.hazards || []).find(function (one) { return one.file === place.file && one.line === place.line && !one.count; });
        return hazard ? Object.assign(place, { hazard: hazard, message: hazard.kind }) : place;
    }

    // The place of an error, and a sentence.
    function wordsOf(at, error) {
        const message = error.message.replace(/[^.?]$/, "$&."), place = pageRun.placeOf(at, error);
        const more = error.hazard ? " " + pageRun.sentence(error.hazard.text) + (error.hazard.advice ? " " + pageRun.sentence(error.hazard.advice) : "") : "";
        return [place, place ? ": " : "", ...pageRun.words(message), more ? make("span", "more", ...pageRun.words(more)) : ""];
    }

    // Shows an error, under its line if it is in the reader's text, and the hazards found before
    // it. False: there is none.
    function showError(at, answer, name, n) {
        if (!answer.error) return false;
        const error = placed(at, answer), hazards = (answer.hazards || []).filter(function (hazard) { return hazard !== error.hazard; });
        say(at, wordsOf(at, error), "off run-error");
        at.found.append(pageRun.hazards(at, hazards), answer.steps ? pageRun.player(at, answer, name, n) : "");
        if (error.file === "listing") at.editor.bubble(error.line, error.column, error.message);
        return true;
    }

    // ---- Listings ----

    function requestOf(at, stage, n, block) {
        return {
            files: pageRun.pieces(at.data, at.lab.program, at.name, at.editor.area.value + "\n", false),
            stage: stage.name, n: n, block: block, check: true, trace: true, banks: true,
        };
    }

    function answerWords(answer) {
        if (answer.answer === "right") return "The result is right.";
        return answer.answer === "wrong" ? "The result is wrong. " + (answer.said || "") : "This kernel leaves no result to check.";
    }

    function shape(launch) {
        const size = function (three) { return three.filter(function (part, k) { return k === 0 || three.slice(k).some(function (more) { return more > 1; }); }).map(number).join(" \u00d7 "); };
        const shared = launch.shared_bytes + (launch.static_shared_bytes || 0);
        return pageRun.count(launch.grid[0] * launch.grid[1] * launch.grid[2], "block") + " of " + size(launch.block) + " threads" +
            (shared ? ", " + number(shared) + " bytes of shared memory each" : "");
    }

    // What the counts are, and how that is known, for a paragraph.
    function truth(at) {
        const checked = at.data.checked, kernels = checked.same === checked.of ? "all " + checked.of : checked.same + " of the " + checked.of;
        return [(at.isBook() ? "Accesses are those of nvcc\u2019s PTX" : "Accesses are counted as your text makes them; for the book\u2019s, they are those of nvcc\u2019s PTX") +
            (checked.same ? ", checked on " + kernels + " kernels of these chapters" : "") + ". The instructions are ",
            make("a", { href: "#ch-B-in-the-page" }, "this page\u2019s compiler\u2019s"), ", so they differ."];
    }

    function showRun(at, answer, stage, n, block) {
        const which = [stage.name, n, block].join(), nvcc = at.isBook() && at.lab.recorded.find(function (row) {
            return row.stage === stage.name && row.n === n && row.block === block;
        });
        const hazards = answer.hazards || [], launch = (answer.launches || [])[0];
        const clean = answer.answer !== "wrong" && !hazards.length;
        say(at, answerWords(answer).trim() + " " + (hazards.length ? pageRun.count(hazards.length, "hazard") + "." : "No hazards."), clean ? "right" : "off");
        if (answer.answer) at.said.dataset.answer = answer.answer;
        const about = make("p", "about", launch ? shape(launch) + ". " : "", "Run in " + number(Math.max(1, Math.round(answer.milliseconds))) + " ms" +
            (nvcc && !pageRun.sameAccesses(answer.counters, nvcc.counters) ? ". \u2260 marks where nvcc differs." : "."), make("br"), ...truth(at));
        at.found.append(pageRun.hazards(at, hazards));
        if (answer.counters) at.found.append(pageRun.counters(at, at.lab.first, answer, nvcc && nvcc.counters, at.before && at.before.which === which ? at.before.counters : null));
        at.found.append(about);
        if (answer.banks) at.found.append(pageRun.banks(at, answer.banks));
        at.found.append(pageRun.player(at, answer, stage.name, n));
        at.before = { which: which, counters: answer.counters };
    }

    function openListing(box, data) {
        const name = box.id.replace(/^chunk-/, ""), lab = data.labs[box.dataset.lab];
        const at = open(box, data, name, function () { return run(); });
        const stages = lab.stages.filter(function (stage) { return stage.function === box.dataset.kernel; });
        const which = select(stages.map(function (stage) { return stage.name; }));
        const size = make("input", { type: "number", min: "1", max: String(LARGEST_N), value: String(USUAL_N), inputmode: "numeric", list: "run-sizes" });
        const block = select(BLOCKS, USUAL_BLOCK), runButton = box.querySelector("button.run");
        at.lab = lab;

        const stageNow = function () { return stages[Math.max(0, which.selectedIndex)]; };
        function fix() {
            const own = stageNow().block;
            block.disabled = own > 0;
            if (own) block.value = own;
        }

        async function run() {
            const n = Number(size.value), stage = stageNow();
            if (!Number.isInteger(n) || n < 1 || n > LARGEST_N) {
                size.setAttribute("aria-invalid", "true");
                refuse(at, "The size is a whole number from 1 to " + number(LARGEST_N) + ".");
                size.focus();
                return;
            }
            size.removeAttribute("aria-invalid");
            const threads = Number(block.value);
            await ask(at, requestOf(at, stage, n, threads), function (answer) {
                if (!showError(at, answer, stage.name, n)) showRun(at, answer, stage, n, threads);
            });
        }

        which.selectedIndex = Math.max(0, stages.findIndex(function (stage) { return [0, USUAL_BLOCK].includes(stage.block); }));
        which.addEventListener("change", fix);
        fix();
        at.bar.append(runButton, at.stop, at.reset, field("elements", size), field([make("span", "", "threads"), make("span", "wide", " per block")], block));
        if (stages.length > 1) at.bar.append(field("stage", which));
        at.bar.append(keys("runs"));
        at.run = run;
        return at;
    }

    // ---- Exercises ----

    const nameOf = function (box) { return box.dataset.exercise; };

    // Marks the exercises that are solved, and counts them beside the heading above.
    function markSolved() {
        const counts = new Map();
        for (const exercise of document.querySelectorAll(".exercise[data-exercise]")) {
            const label = exercise.querySelector(":scope > .label p"), heading = exercise.closest("section").querySelector("h2, h1");
            const count = counts.get(heading) || { solved: 0, of: 0 };
            counts.set(heading, count);
            count.of++;
            if (!saved.solved[nameOf(exercise)]) continue;
            count.solved++;
            if (!label.querySelector(".solved")) label.append(make("span", "solved", " solved"));
        }
        for (const [heading, count] of counts) {
            if (heading && count.solved) heading.dataset.solved = count.solved + " of " + count.of + " solved here";
        }
    }

    const RELATIONS = { "==": "", "<=": "at most ", ">=": "at least ", "<": "less than ", ">": "more than " };
    const PER_BLOCK = /[<>=] *(.*[ *])?blocks\b/; // a demand with totals, such as barriers <= 9 * blocks

    function demandOf(at, demand, found) {
        const item = make("li", "demand", demand.words.replace(/`/g, ""));
        item.title = demand.text;
        if (found.verdict === "time") {
            item.classList.add("later");
            item.append(": a time, which only make checks");
            return item;
        }
        item.dataset.holds = String(found.verdict === "holds");
        if (found.verdict === "unknown") item.append(": the program ended before this was counted");
        else if (PER_BLOCK.test(demand.text)) item.append(": " + found.left + " in all, " + found.right + (found.relation.startsWith("<") ? " allowed" : " required"));
        else if (found.verdict !== "holds" || found.left !== "0") item.append(": " + found.left + (found.verdict === "holds" ? "" : ", required: " + RELATIONS[found.relation] + found.right));
        for (const place of found.evidence || []) item.append(make("p", "evidence", pageRun.placeOf(at, place), " ", ...pageRun.words(place.text)));
        return item;
    }

    function hintOf(exercise, hint) {
        const fold = exercise.querySelectorAll(".fold.hint details")[hint - 1];
        if (!fold) return "";
        const box = make("div", "run-hint-given", make("p", "", make("strong", "", fold.querySelector("summary").textContent)));
        for (const part of fold.children) if (part.tagName !== "SUMMARY") box.append(part.cloneNode(true));
        return box;
    }

    // What stopped a kernel of an exercise, with its place.
    function stopOf(at, answer) {
        const end = placed(at, { error: { line: 0, message: answer.stopped }, hazards: answer.hazards });
        return end.line ? end : { line: 0, message: "The program was stopped: " + end.message };
    }

    function showCheck(at, exercise, answer, asked) {
        const list = make("ul", "demands"), graded = answer.demands.filter(function (found) { return found.verdict !== "time"; });
        const met = graded.filter(function (found) { return found.verdict === "holds"; }).length, done = met === graded.length;
        asked.demands.forEach(function (demand, k) { list.append(demandOf(at, demand, answer.demands[k])); });
        const words = done ? "Exercise " + nameOf(exercise) + " is solved." :
            at.isBook() ? "This is the starter, unchanged." : met + " of " + pageRun.count(graded.length, "requirement") + " met.";
        say(at, words, done ? "right" : "");
        const end = answer.stopped && stopOf(at, answer), hazards = (answer.hazards || []).filter(function (hazard) { return !end || hazard !== end.hazard; });
        if (end) at.found.append(make("p", "run-error", ...wordsOf(at, end)));
        at.found.append(list);
        if (graded.length < answer.demands.length) at.found.append(make("p", "about", "To check the time too, run make exercise-" + nameOf(exercise) + "."));
        at.found.append(pageRun.hazards(at, hazards));
        if (end && end.file === "listing") at.editor.bubble(end.line, end.column, end.message);
        if (!done && !at.isBook() && answer.hint) at.found.append(hintOf(exercise, answer.hint));
        if (!done) return;
        saved.solved[nameOf(exercise)] = true;
        pageRun.save();
        markSolved();
    }

    function saveFile(at, asked) {
        const file = pageRun.fileOf(at.data, asked.program, asked.hole, at.editor.area.value + "\n");
        const link = make("a", { href: URL.createObjectURL(new Blob([file], { type: "text/plain" })), download: asked.program.split("/").pop() });
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    }

    function openExercise(box, data) {
        const exercise = box.closest(".exercise"), asked = data.exercises[nameOf(exercise)];
        const at = open(box, data, asked.hole, function () { return check(); });
        const checkButton = box.querySelector("button.check");
        const piecesOf = function (text) { return pageRun.pieces(data, asked.program, asked.hole, text, false); };
        async function check() {
            const request = { exercise: true, files: piecesOf(at.editor.area.value + "\n"), demands: asked.demands };
            if (asked.solution) request.solution = piecesOf(asked.solution);
            await ask(at, request, function (answer) {
                if (!showError(at, answer, nameOf(exercise), 0)) showCheck(at, exercise, answer, asked);
            });
        }
        checkButton.textContent = "Check";
        at.bar.append(checkButton, at.stop, at.reset, button("save", "Save as file", function () { saveFile(at, asked); }), keys("checks"));
        at.run = check;
        return at;
    }

    // ---- The first press ----

    const opened = new Map();

    async function press(pressed) {
        const box = pressed.closest(".chunk"), first = !opened.has(box);
        if (first) {
            opened.set(box, null);
            try {
                const data = await pageRun.load();
                opened.set(box, pressed.matches(".run") ? openListing(box, data) : openExercise(box, data));
            } catch (error) {
                box.append(make("p", { class: "run-said", role: "status" }, "This browser cannot run kernels: it is too old, or the page is incomplete."));
                return;
            }
        }
        const at = opened.get(box);
        if (!at) return;
        if (first) focusCode(at, pressed);
        if (!first || pressed.matches(".run")) at.run();
    }

    document.addEventListener("click", function (event) {
        const pressed = event.target.closest("button.run, button.check");
        if (pressed) press(pressed);
    });

    for (const name of Object.keys(saved.texts)) {
        const box = document.getElementById("chunk-" + name.replace(/[/.]/g, "-"));
        if (box) box.classList.add("edited");
    }
    if (Object.keys(saved.solved).length) markSolved();
})();

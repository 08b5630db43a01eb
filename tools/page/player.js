// The player: shows recorded steps of a kernel one at a time, in place of a picture. This file has
// its controls; player-data, player-model, player-words and player-view make its content.
(function () {
    "use strict";
    const PACE_MS = 450;
    const TOTALS = [["wavefronts", "wavefronts"], ["conflicts", "conflicts"], ["instructions", "loads and stores"],
        ["shuffles", "shuffles"], ["barriers", "barriers"], ["races", "races"]];

    function make(name, className, text) {
        const made = document.createElement(name);
        if (className) made.className = className;
        if (text !== undefined) made.textContent = text;
        return made;
    }

    // Triangles and bars in a 16 x 16 square.
    const ICONS = {
        first: "M4 3v10M13 3v10L6 8z", sectionBack: "M14 3v10L8 8zM8 3v10L2 8z", back: "M12 3v10L5 8z",
        play: "M4 2v12l10-6z", pause: "M5 3v10M11 3v10", on: "M4 3v10l7-5z", sectionOn: "M2 3v10l6-5zM8 3v10l6-5z", last: "M12 3v10M3 3v10l7-5z",
    };

    function label(made, icon, text) {
        const svg = stepPlayer.makeSvg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" });
        stepPlayer.makeSvg("path", { d: ICONS[icon] }, svg);
        made.replaceChildren(svg);
        made.setAttribute("aria-label", text);
        made.title = text;
    }

    function button(icon, text, act) {
        const made = make("button");
        made.type = "button";
        label(made, icon, text);
        made.addEventListener("click", act);
        return made;
    }

    // A group of buttons of which one is pressed: {box, press(k)}.
    function choices(label, names, chosen) {
        const box = make("div", "choices");
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", label);
        const buttons = names.map(function (name, k) {
            const made = make("button", "", name);
            made.type = "button";
            made.addEventListener("click", function () { chosen(k); });
            box.append(made);
            return made;
        });
        return {
            box: box,
            press: function (k) { buttons.forEach(function (other, j) { other.setAttribute("aria-pressed", String(j === k)); }); },
        };
    }

    // ---- The first step, and the corresponding step of another run ----

    function opening(model) {
        const race = model.steps.find(function (step) { return step.races.length; });
        const clash = model.steps.find(function (step) { return step.wavefronts === model.wavefronts; });
        const level = model.sections.find(function (section) { return section.kind === "level"; });
        return race ? race.index : model.wavefronts > 1 ? clash.index : level ? level.first : 0;
    }

    // The first step with the most wavefronts in the section that corresponds to a step's section.
    function samePlace(model, step) {
        const same = model.sections.find(function (section) { return section.kind === step.section.kind && section.level === step.section.level && section.warp === step.section.warp; }) ||
            model.sections.find(function (section) { return section.kind === step.section.kind; });
        if (!same) return opening(model);
        return same.steps.reduce(function (most, other) { return other.wavefronts > most.wavefronts ? other : most; }).index;
    }

    function play(box, data) {
        const figure = make("figure", "play"), now = { kernel: 0, run: 0, index: 0, timer: 0 };
        let model, width = 0;

        const kernels = choices("kernel", data.kernels.map(function (kernel) { return kernel.label; }), function (k) { choose(k, now.run); });
        const blocks = choices("threads in a block", data.kernels[0].runs.map(function (run) { return String(run.block); }), function (k) { choose(now.kernel, k); });
        const sentence = make("p", "sentence"), code = make("div", "code"), totals = make("dl", "totals");
        const picture = stepPlayer.makeSvg("svg", { class: "step", role: "img" }), timeline = stepPlayer.makeSvg("svg", { class: "timeline", "aria-hidden": "true" });
        const slider = make("input"), controls = make("div", "controls"), stage = make("div", "stage"), scrub = make("div", "scrub");

        function lineOf(className, who, line) {
            const row = make("p", className);
            if (who) row.append(make("span", "who", who), " ");
            row.append(make("code", "", data.kernels[now.kernel].code[line] || ""));
            return row;
        }

        function showCode(step) {
            const example = stepPlayer.example(model, step);
            code.replaceChildren();
            code.classList.toggle("racy", model.totals.races > 0);
            if (step.races.length) {
                const pair = stepPlayer.pairOf(step);
                code.append(lineOf("race", pair[0], step.line), lineOf("race", pair[1], step.races[0].line));
            } else {
                code.append(lineOf("", "", step.line));
                code.firstChild.append(example ? make("span", "example", example) : "");
            }
        }

        function showTotals(step) {
            totals.replaceChildren();
            for (const [key, name] of TOTALS) {
                if (!model.totals[key] && key !== "wavefronts" && key !== "conflicts") continue;
                const group = make("div", key), value = make("dd", "", String(step.totals[key]));
                value.dataset.total = key;
                value.append(make("small", "", " of " + model.totals[key]));
                group.append(make("dt", "", name), value);
                totals.append(group);
            }
        }

        function show(index) {
            now.index = Math.max(0, Math.min(model.steps.length - 1, index));
            const step = model.steps[now.index], words = stepPlayer.sentence(model, step);
            slider.value = now.index;
            slider.setAttribute("aria-valuetext", words);
            sentence.textContent = words;
            picture.setAttribute("aria-label", words);
            figure.dataset.step = now.index;
            showCode(step);
            showTotals(step);
            if (!width) return; // not laid out yet
            stepPlayer.draw(picture, width, model, step);
            stepPlayer.markTimeline(timeline, width, model, now.index);
        }

        function draw() {
            width = Math.floor(stage.clientWidth);
            if (!width) return;
            stepPlayer.drawTimeline(timeline, width, model);
            show(now.index);
        }

        function choose(kernel, run) {
            const before = model && model.steps[now.index];
            now.kernel = kernel;
            now.run = run;
            model = data.kernels[kernel].runs[run].model ||
                (data.kernels[kernel].runs[run].model = stepPlayer.modelOf(data.kernels[kernel].runs[run]));
            kernels.press(kernel);
            blocks.press(run);
            figure.dataset.kernel = data.kernels[kernel].name;
            figure.dataset.block = data.kernels[kernel].runs[run].block;
            slider.max = model.steps.length - 1;
            now.index = before ? samePlace(model, before) : opening(model);
            draw();
            show(now.index);
        }

        // ---- Moving ----

        function stop() {
            clearInterval(now.timer);
            now.timer = 0;
            sentence.setAttribute("aria-live", "polite");
            label(playing, "play", "play");
        }

        function go(index) { stop(); show(index); }

        function toggle() {
            if (now.timer) return stop();
            if (now.index === model.steps.length - 1) show(0);
            sentence.setAttribute("aria-live", "off"); // too fast for a screen reader
            label(playing, "pause", "pause");
            now.timer = setInterval(function () {
                if (now.index === model.steps.length - 1) return stop();
                show(now.index + 1);
            }, PACE_MS);
        }

        // Moves to the start of this section, the previous one or the next one.
        function goSection(by) {
            const sections = model.sections, k = sections.indexOf(model.steps[now.index].section);
            const back = by < 0 && now.index > sections[k].first ? k : k + by;
            go(back < 0 ? 0 : back < sections.length ? sections[back].first : model.steps.length - 1);
        }

        const playing = button("play", "play", toggle);
        const keys = {
            ArrowLeft: function () { go(now.index - 1); }, ArrowRight: function () { go(now.index + 1); },
            PageUp: function () { goSection(-1); }, PageDown: function () { goSection(1); },
            Home: function () { go(0); }, End: function () { go(model.steps.length - 1); }, " ": toggle,
        };

        figure.addEventListener("keydown", function (event) {
            const onButton = event.key === " " && event.target.tagName === "BUTTON";
            if (!keys[event.key] || onButton || event.ctrlKey || event.altKey || event.metaKey) return;
            event.preventDefault();
            keys[event.key]();
        });

        slider.type = "range";
        slider.min = 0;
        slider.step = 1;
        slider.setAttribute("aria-label", "step");
        slider.addEventListener("input", function () { go(Number(slider.value)); });

        controls.append(
            button("first", "first step", keys.Home), button("sectionBack", "previous level", keys.PageUp),
            button("back", "previous step", keys.ArrowLeft), playing, button("on", "next step", keys.ArrowRight),
            button("sectionOn", "next level", keys.PageDown), button("last", "last step", keys.End));
        const top = make("div", "top");
        if (data.kernels.length > 1) top.append(kernels.box);
        else top.append(make("span", "name", data.kernels[0].label));
        blocks.box.prepend(make("span", "", "threads"));
        top.append(blocks.box);
        stage.append(picture);
        scrub.append(timeline, slider, controls);
        figure.append(top, sentence, code, stage, scrub, totals, make("figcaption", "", captionOf(data)));
        figure.setAttribute("aria-label", "player: step through what a kernel does with shared memory");
        stop();
        box.append(figure);
        box.classList.add("ready");
        choose(0, 0);
        new ResizeObserver(function () { if (Math.floor(stage.clientWidth) !== width) draw(); }).observe(stage);
    }

    // Whether any step of these kernels satisfies a condition.
    function someStep(data, is) {
        return data.kernels.some(function (kernel) { return kernel.runs.some(function (run) { return run.steps.some(is); }); });
    }

    function captionOf(data) {
        return "One block, as the CPU device ran it. " +
            "Each lane of the active warp requests a word from the bank below. A bank serves one word per wavefront. " +
            (someStep(data, function (step) { return step.op === "shuffle"; }) ? "In a shuffle, lanes read each other's registers and use no bank. " : "") +
            (someStep(data, function (step) { return step.races.length > 0; }) ? "Red: a race. Two lanes access a word, at least one of them writes, and no barrier is between them. " : "") +
            "Below is shared memory: words that will be read again are shaded; the others are pale. " +
            "Each bar above the slider is a step; its height is the number of wavefronts. " +
            "Keys: arrows for steps, page up and down for levels, space to play." +
            (data.stale ? " Recorded before the lab changed." : "");
    }

    // Builds the player of a box. Call it once per box.
    stepPlayer.open = function (box) {
        if (!box.matches(".ready")) play(box, stepPlayer.read(box.querySelector("script[type='application/json']").textContent));
    };

    const near = new IntersectionObserver(function (entries) {
        for (const entry of entries) if (entry.isIntersecting) stepPlayer.open(entry.target);
    }, { rootMargin: "100%" });
    for (const box of document.querySelectorAll("div.player:has(script[type='application/json'])")) near.observe(box);
})();

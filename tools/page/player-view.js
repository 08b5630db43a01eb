// Draws one step as SVG: the warps, the lanes of the active warp, the words that they request from
// the banks (one row per wavefront), and all of shared memory. There are 32 columns; a narrow
// window has 16, with lanes and banks in two bands.
(function () {
    "use strict";
    const LANES = 32, SVG = "http://www.w3.org/2000/svg";

    function make(name, attributes, parent, text) {
        const made = document.createElementNS(SVG, name);
        for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
        if (text !== undefined) made.textContent = text;
        if (parent) parent.append(made);
        return made;
    }
    stepPlayer.makeSvg = make;

    function layoutOf(width, model) {
        const columns = width < 560 ? 16 : 32, narrow = columns === 16;
        const gutter = narrow ? 40 : 64, cell = (width - gutter) / columns;
        return {
            width: width, columns: columns, gutter: gutter, cell: cell, bands: 32 / columns,
            high: narrow ? 17 : 19, queue: Math.max(1, model.wavefronts), font: narrow ? 9 : 10.5,
            x: function (column) { return gutter + column % columns * cell; },
            middle: function (column) { return gutter + (column % columns + 0.5) * cell; },
        };
    }

    function drawCell(at, parent, column, y, className, text) {
        const group = make("g", { class: "cell " + className }, parent);
        make("rect", { x: at.x(column) + 0.75, y: y, width: at.cell - 1.5, height: at.high - 1.5, rx: 2 }, group);
        if (text !== null && text !== "")
            make("text", { x: at.middle(column), y: y + at.high / 2 + at.font * 0.28, "text-anchor": "middle" }, group,
                shown(text));
        return group;
    }

    // A value, as short as a cell is narrow.
    function shown(value) {
        const short = Number.isInteger(value) ? String(value) : Number.isFinite(value) ? String(Number(value.toPrecision(3))) : isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
        return (short.length > 7 ? value.toExponential(0) : short).replace("-", "−");
    }

    function label(at, parent, y, text) {
        make("text", { x: at.gutter - 6, y: y + at.high / 2 + at.font * 0.28, "text-anchor": "end", class: "label" }, parent, text);
    }

    // Draws the numbers of lanes or banks above their columns.
    function ruler(at, parent, y, band, name) {
        make("text", { x: at.gutter - 6, y: y + 9, "text-anchor": "end", class: "label" }, parent, name);
        for (let k = 0; k < at.columns; k++)
            make("text", { x: at.middle(k), y: y + 9, "text-anchor": "middle", class: "ruler" }, parent, band * at.columns + k);
        return y + 13;
    }

    // ---- The parts, from top to bottom. Each takes its top edge and returns that of the next
    // part. ----

    function drawWarps(at, parent, y, model, step) {
        const busy = new Set(step.section.steps.map(function (other) { return other.warp; }));
        const size = Math.min(34, (at.width - at.gutter) / model.warps);
        label(at, parent, y, "warp");
        for (let warp = 0; warp < model.warps; warp++) {
            const gone = step.index > model.lastOfWarps[warp];
            const className = warp === step.warp || step.op === "barrier" && !gone ? "now" : gone ? "gone" : busy.has(warp) ? "busy" : "idle";
            const group = make("g", { class: "warp " + className }, parent);
            make("rect", { x: at.gutter + warp * size + 0.75, y: y, width: size - 4, height: at.high - 1.5, rx: 2 }, group);
            make("text", { x: at.gutter + (warp + 0.5) * size - 1.2, y: y + at.high / 2 + at.font * 0.28, "text-anchor": "middle" }, group, warp);
        }
        return y + at.high + 8;
    }

    // For each lane, its part in a race of this step: the first pair is drawn, the others are
    // marked.
    function racing(step) {
        const lanes = new Map();
        for (const race of step.races) for (const lane of race.lanes) lanes.set(lane, "race");
        for (const race of step.races.slice(0, 1)) {
            const other = race.other % LANES;
            lanes.set(race.thread % LANES, "race pair");
            if (Math.floor(race.other / LANES) === step.warp) lanes.set(other, lanes.has(other) ? "race pair" : "pair");
        }
        return lanes;
    }

    function drawLanes(at, parent, y, model, step) {
        const moved = stepPlayer.movedBy(model, step), races = racing(step), tops = [];
        for (let band = 0; band < at.bands; band++) {
            y = ruler(at, parent, y, band, "lane");
            tops.push(y);
            for (let k = 0; k < at.columns; k++) {
                const lane = band * at.columns + k, active = step.lanes.includes(lane);
                drawCell(at, parent, lane, y, (active ? "active " + step.op : "off") + " lane " + (races.get(lane) || ""), moved[lane])
                    .dataset.lane = lane;
            }
            y += at.high + (band + 1 < at.bands ? 4 : 0);
        }
        return { y: y, tops: tops };
    }

    function wire(from, y1, to, y2) { return "M" + from + " " + (y1 + 1) + "L" + to + " " + (y2 - 1); }

    // Draws lines from each lane to its bank, or from each register to the lane that reads it.
    function drawWires(at, parent, y, step, high) {
        if (at.bands > 1) return;
        const races = racing(step);
        step.lanes.forEach(function (lane, k) {
            if (step.op === "shuffle") {
                if (step.words[k] === lane) return;
                make("path", { d: wire(at.middle(step.words[k]), y, at.middle(lane), y + high), class: "wire shuffle" }, parent);
            } else {
                const bank = step.words[k] % 32, clash = step.banks[bank].length > 1;
                make("path", {
                    d: wire(at.middle(lane), y, at.middle(bank), y + high),
                    class: "wire " + (races.has(lane) ? "race" : clash ? "clash" : ""),
                }, parent);
            }
        });
        const race = step.races[0];
        if (race && Math.floor(race.other / LANES) === step.warp)
            make("path", { d: wire(at.middle(race.other % LANES), y, at.middle(race.word % 32), y + high), class: "wire other" }, parent);
    }

    // Draws the value that each lane takes: another lane's register, or its own if that lane does
    // not exist.
    function drawTaken(at, parent, y, model, step) {
        const moved = stepPlayer.movedBy(model, step);
        for (let band = 0; band < at.bands; band++) {
            label(at, parent, y, "takes");
            step.lanes.forEach(function (lane, k) {
                if (Math.floor(lane / at.columns) !== band) return;
                const own = step.words[k] === lane;
                drawCell(at, parent, lane, y, own ? "own" : "active taken", moved[step.words[k]]);
            });
            y += at.high + 3;
        }
        return y;
    }

    function drawQueue(at, parent, y, step) {
        const races = new Set(step.races.map(function (race) { return race.lanes.map(function (lane) { return step.words[step.lanes.indexOf(lane)]; }); }).flat());
        for (let band = 0; band < at.bands; band++) {
            y = ruler(at, parent, y, band, "bank");
            for (let row = 0; row < at.queue; row++) {
                if (row < Math.max(1, step.wavefronts)) label(at, parent, y, at.queue > 1 ? "turn " + (row + 1) : "turn");
                for (let k = 0; k < at.columns; k++) {
                    const asked = step.banks[band * at.columns + k], word = asked[row];
                    const className = !word ? "free" : races.has(word.word) ? "asked race" : asked.length > 1 ? "asked clash" : "asked";
                    if (word || row === 0) drawCell(at, parent, k, y, className, word ? word.word : null);
                }
                y += at.high - (at.queue > 4 ? 4 : 0);
            }
            y += at.queue > 4 ? 7 : 3;
        }
        return y;
    }

    function drawMemory(at, parent, y, model, step) {
        const memory = model.memory[step.index], asked = new Map();
        step.banks.forEach(function (bank) {
            bank.forEach(function (word) { asked.set(word.word, bank.length > 1 ? "clash" : ""); });
        });
        step.races.forEach(function (race) {
            race.lanes.forEach(function (lane) { asked.set(step.words[step.lanes.indexOf(lane)], "race"); });
        });
        for (let word = 0; word < model.words; word++) {
            if (word % at.columns === 0) {
                if (word) y += at.high - 1;
                label(at, parent, y, at.bands > 1 && word ? String(word) : "word " + word);
            }
            const value = memory.values[word], state = value === null ? "empty" : memory.live[word] ? "live" : "spent";
            const touched = asked.has(word) ? " touched " + step.op + " " + asked.get(word) : "";
            drawCell(at, parent, word, y, "word " + state + touched, value).dataset.word = word;
        }
        return y + at.high;
    }

    function drawMeeting(at, parent, y, high, text) {
        const middle = y + high / 2;
        make("line", { x1: at.gutter, x2: at.width, y1: middle, y2: middle, class: "meeting" }, parent);
        make("text", { x: (at.gutter + at.width) / 2, y: middle + 4, "text-anchor": "middle", class: "meeting" }, parent, text);
    }

    // Draws a step for a box of this width. A sentence next to the picture says the same in words.
    stepPlayer.draw = function (svg, width, model, step) {
        const at = layoutOf(width, model), wires = at.bands > 1 ? 8 : 40;
        svg.replaceChildren();
        svg.style.fontSize = at.font + "px";
        let y = drawWarps(at, svg, 1, model, step);
        const lanes = drawLanes(at, svg, y, model, step);
        const meeting = step.op === "barrier" ? "barrier: every warp has arrived" :
            step.op === "syncwarp" ? "__syncwarp: the lanes of warp " + step.warp + " have met" : "";
        y = lanes.y;
        if (meeting && at.bands === 1) drawMeeting(at, svg, y, wires, meeting);
        else if (!meeting) drawWires(at, svg, y, step, wires);
        y += wires;
        const below = y;
        if (step.op === "shuffle") drawTaken(at, svg, y, model, step);
        else drawQueue(at, svg, y, step);
        if (meeting && at.bands > 1) drawMeeting(at, svg, below + 20, 10, meeting);
        y = below + at.bands * (13 + at.queue * (at.high - (at.queue > 4 ? 4 : 0)) + (at.queue > 4 ? 7 : 3)) + 10;
        y = drawMemory(at, svg, y, model, step);
        svg.setAttribute("viewBox", "0 0 " + width + " " + y);
        svg.setAttribute("width", width);
        svg.setAttribute("height", y);
    };

    // Draws all steps as bars, whose height is the number of wavefronts, above marks for barriers.
    // The slider below has the same scale.
    stepPlayer.drawTimeline = function (svg, width, model) {
        const high = 46, bar = (width - 16) / model.steps.length, base = high - 14;
        svg.replaceChildren();
        svg.setAttribute("viewBox", "0 0 " + width + " " + high);
        svg.setAttribute("width", width);
        svg.setAttribute("height", high);
        for (const step of model.steps) {
            const x = 8 + step.index * bar, tall = step.wavefronts ? 4 + (base - 8) * step.wavefronts / Math.max(4, model.wavefronts) : 0;
            const className = step.races.length ? "race" : step.wavefronts > 1 ? "clash" : "one";
            if (step.op === "barrier") make("line", { x1: x + bar / 2, x2: x + bar / 2, y1: 2, y2: base, class: "barrier" }, svg);
            else if (step.op === "shuffle") make("rect", { x: x, y: base - 6, width: Math.max(1, bar - 1), height: 6, class: "shuffle" }, svg);
            else if (tall) make("rect", { x: x, y: base - tall, width: Math.max(1, bar - (bar > 3 ? 1 : 0.3)), height: tall, class: className }, svg);
        }
        for (const section of model.sections) {
            const middle = 8 + (section.first + section.steps.length / 2) * bar, text = stepPlayer.shortName(section);
            if (section.steps.length * bar > 6.5 * text.length)
                make("text", { x: middle, y: high - 2, "text-anchor": "middle", class: "ruler" }, svg, text);
        }
        make("line", { x1: 8, x2: width - 8, y1: base + 0.5, y2: base + 0.5, class: "base" }, svg);
        make("path", { class: "here" }, svg);
    };

    stepPlayer.markTimeline = function (svg, width, model, index) {
        const x = 8 + (index + 0.5) * (width - 16) / model.steps.length;
        svg.querySelector(".here").setAttribute("d", "M" + x + " 0V32");
    };
})();

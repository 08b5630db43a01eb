// The player's model: the effect of each step on shared memory, the wavefronts it needs from each
// bank, and totals so far. It is independent of how the player shows them.
(function () {
    "use strict";
    const BANKS = 32, LANES = 32;
    const isAccess = function (step) { return step.op === "load" || step.op === "store"; };

    // For each bank, the words that a step requests, each with its lanes. A bank serves one word
    // per wavefront, so the longest list has the step's number of wavefronts.
    function banksOf(step) {
        const banks = Array.from({ length: BANKS }, function () { return []; });
        if (!isAccess(step)) return banks;
        step.lanes.forEach(function (lane, k) {
            const word = step.words[k], bank = banks[word % BANKS];
            let asked = bank.find(function (other) { return other.word === word; });
            if (!asked) bank.push(asked = { word: word, lanes: [] });
            asked.lanes.push(lane);
        });
        return banks;
    }

    function addTotals(before, step) {
        const access = isAccess(step);
        return {
            instructions: before.instructions + (access ? 1 : 0),
            wavefronts: before.wavefronts + step.wavefronts,
            conflicts: before.conflicts + (access ? step.wavefronts - 1 : 0),
            shuffles: before.shuffles + (step.op === "shuffle" ? 1 : 0),
            barriers: before.barriers + (step.op === "barrier" ? 1 : 0),
            races: before.races + step.races.reduce(function (sum, race) { return sum + race.lanes.length; }, 0),
        };
    }

    // Whether a step starts a new section: after a barrier; without one, where a warp loads after
    // it has stored; and between warps that shuffle.
    function beginsSection(step, section) {
        const last = section[section.length - 1];
        if (last.op === "barrier") return true;
        if (step.op === "barrier" || step.op === "syncwarp") return false;
        const own = section.filter(function (other) { return other.warp === step.warp; });
        const has = function (list, op) { return list.some(function (other) { return other.op === op; }); };
        if (step.op === "load" && has(own, "store")) return true;
        return step.warp !== last.warp && (step.op === "shuffle" || has(section, "shuffle"));
    }

    // The distance in words (or lanes, for shuffles) between the terms of a lane's addition; 0 if
    // there is none.
    function distanceOf(section) {
        const shuffle = section.find(function (step) { return step.op === "shuffle"; });
        if (shuffle) return shuffle.words[0] - shuffle.lanes[0];
        const loads = section.filter(function (step) { return step.op === "load"; });
        const store = section.find(function (step) { return step.op === "store"; });
        if (!loads.length || !store) return 0;
        const words = loads.filter(function (step) { return step.warp === loads[0].warp; }).concat(store)
            .map(function (step) { return step.words[0]; });
        return Math.max.apply(null, words) - Math.min.apply(null, words);
    }

    function sectionsOf(steps) {
        const sections = [];
        let level = 0;
        for (const step of steps) {
            const open = sections[sections.length - 1];
            if (!open || beginsSection(step, open.steps)) sections.push({ first: step.index, steps: [] });
            sections[sections.length - 1].steps.push(step);
        }
        for (const section of sections) {
            const has = function (op) { return section.steps.some(function (step) { return step.op === op; }); };
            section.distance = distanceOf(section.steps);
            section.kind = has("shuffle") ? "shuffle" : has("load") && has("store") ? "level" : has("store") ? "fill" : "result";
            section.level = section.kind === "level" ? ++level : 0;
            section.warp = section.steps[0].warp;
            for (const step of section.steps) step.section = section;
        }
        return sections;
    }

    // Finds the earlier access of each race: the other thread's last access to that word.
    function findOthers(steps) {
        for (const step of steps) {
            for (const race of step.races) {
                const lane = race.lanes[0];
                race.thread = step.warp * LANES + lane;
                race.other = race.thread + race.delta;
                race.word = step.words[step.lanes.indexOf(lane)];
                for (let k = step.index - 1; k >= 0 && !race.op; k--) {
                    const at = steps[k].lanes.indexOf(race.other % LANES);
                    const same = steps[k].warp === Math.floor(race.other / LANES) && steps[k].line === race.line;
                    if (same && at >= 0 && isAccess(steps[k]) && steps[k].words[at] === race.word) race.op = steps[k].op;
                }
            }
        }
    }

    // For each warp, its last step or the last barrier, whichever is later.
    function lastOfWarps(steps, warps) {
        const last = new Array(warps).fill(0);
        for (const step of steps)
            for (let warp = 0; warp < warps; warp++)
                if (step.warp === warp || step.op === "barrier") last[warp] = step.index;
        return last;
    }

    stepPlayer.modelOf = function (run) {
        const steps = run.steps;
        let totals = { instructions: 0, wavefronts: 0, conflicts: 0, shuffles: 0, barriers: 0, races: 0 }, size = 0;
        steps.forEach(function (step, index) {
            step.index = index;
            step.banks = banksOf(step);
            step.wavefronts = Math.max.apply(null, step.banks.map(function (bank) { return bank.length; }));
            step.totals = totals = addTotals(totals, step);
            if (isAccess(step)) size = Math.max(size, Math.max.apply(null, step.words) + 1);
        });
        findOthers(steps);
        const sections = sectionsOf(steps), warps = Math.ceil(run.block / LANES);
        return {
            own: run.own, steps: steps, sections: sections, warps: warps, words: size,
            levels: sections.filter(function (section) { return section.kind === "level"; }).length,
            wavefronts: Math.max.apply(null, steps.map(function (step) { return step.wavefronts; })),
            totals: totals, memory: memoryOf(steps, size), lastOfWarps: lastOfWarps(steps, warps),
        };
    };

    // Shared memory after each step: the value of each word (null: nothing stored), and whether the
    // word will be read before it is overwritten.
    function memoryOf(steps, size) {
        const memory = [];
        let values = new Array(size).fill(null), live = new Array(size).fill(false);
        for (const step of steps) {
            if (step.op === "store") {
                values = values.slice();
                step.words.forEach(function (word, k) { values[word] = step.values[k]; });
            }
            memory.push({ values: values, live: null });
        }
        for (const step of steps.slice().reverse()) {
            memory[step.index].live = live;
            if (!isAccess(step)) continue;
            live = live.slice();
            for (const word of step.words) live[word] = step.op === "load";
        }
        return memory;
    }

    // For each lane, the value that a step loads, stores or shuffles; null if it is unknown.
    stepPlayer.movedBy = function (model, step) {
        const moved = new Array(LANES).fill(null), found = model.memory[step.index].values;
        step.lanes.forEach(function (lane, k) {
            moved[lane] = step.op === "load" ? found[step.words[k]] : k < step.values.length ? step.values[k] : null;
        });
        return moved;
    };
})();

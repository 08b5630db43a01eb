// Parses the data of a player, which weave puts next to the picture, into steps. The format of a
// row is documented in tools/collect/steps.h.
const stepPlayer = {};

(function () {
    "use strict";
    const LANES = 32;

    function lanesOf(hexadecimal) {
        const mask = parseInt(hexadecimal || "0", 16), lanes = [];
        for (let lane = 0; lane < LANES; lane++) if (mask >>> lane & 1) lanes.push(lane);
        return lanes;
    }

    // "7 9 0+2x16": 7, 9, then 16 that begin with 0 and rise by 2.
    function numbersOf(runs) {
        const numbers = [];
        for (const run of runs.split(" ").filter(Boolean)) {
            const [, first, by, times] = /^(-?\d+)(?:([+-]\d+)x(\d+))?$/.exec(run);
            for (let k = 0; k < Number(times || 1); k++) numbers.push(Number(first) + k * Number(by || 0));
        }
        return numbers;
    }

    // "3 0.25 -inf"
    function valuesOf(text) {
        return text.split(" ").filter(Boolean).map(function (value) { return Number(value.replace("inf", "Infinity")); });
    }

    // "27+16:ffff"
    function racesOf(text) {
        return text.split(" ").filter(Boolean).map(function (race) {
            const [, line, delta, lanes] = /^(.+?)([+-]\d+):([0-9a-f]+)$/.exec(race);
            return { line: line, delta: Number(delta), lanes: lanesOf(lanes) };
        });
    }

    function stepOf(row) {
        const [warp, line, op, lanes, words, values, races] = row.split(",");
        return {
            op: op, line: line,
            warp: warp === "" ? null : Number(warp),
            lanes: lanesOf(lanes), words: numbersOf(words), values: valuesOf(values), races: racesOf(races),
        };
    }

    // {stale, kernels: [{name, label, code: {line: text}, runs: [{block, n, steps, own: true if it is a reader's}]}]}
    stepPlayer.read = function (text) {
        const data = JSON.parse(text);
        for (const kernel of data.kernels) {
            for (const run of kernel.runs) {
                run.block = Number(run.block);
                run.n = Number(run.n);
                run.steps = run.steps.split("\n").filter(Boolean).map(stepOf);
            }
        }
        return data;
    };
})();

// Adds up the counters of launches. PTX lines have their own counters; those of a source line are
// the sums over its PTX lines.
(function () {
    const data = simt.data;
    const number = new Map(data.counters.map(function (counter, k) { return [counter.name, k]; }));

    // The meaning of each counter, in one sentence.
    const meanings = {
        warp_insts: "PTX instructions that warps issued",
        thread_insts: "the same, summed over active lanes",
        shared_ld_insts: "loads from shared memory by warps",
        shared_ld_wavefronts: "wavefronts that these loads took in the banks",
        shared_ld_conflicts: "wavefronts that bank conflicts add",
        shared_st_insts: "stores to shared memory by warps",
        shared_st_wavefronts: "wavefronts that these stores took in the banks",
        shared_st_conflicts: "wavefronts that bank conflicts add",
        global_ld_requests: "loads from global memory by warps",
        global_ld_sectors: "sectors of 32 bytes that they touched",
        global_st_requests: "stores to global memory by warps",
        global_st_sectors: "sectors of 32 bytes that they touched",
        atomics: "lanes that executed an atomic operation",
        barriers: "barriers that a block completed",
        divergent_branches: "branches at which the lanes of a warp diverged",
        stall_selected: "issuing",
        stall_wait: "for a fixed-latency dependency",
        stall_long_scoreboard: "for global memory",
        stall_short_scoreboard: "for shared memory, a shuffle or a special function",
        stall_barrier: "for other warps at a barrier",
        stall_math_pipe_throttle: "for an arithmetic unit",
        stall_mio_throttle: "for space in the shared-memory queue",
        stall_lg_throttle: "for space in the load queue",
        stall_branch_resolving: "for a branch",
        stall_membar: "for a fence",
        stall_drain: "for its last stores",
        stall_not_selected: "while other warps issue",
    };
    // Quotients of two counters, shown after the second.
    const quotients = [
        ["thread_insts", "warp_insts", "Lanes", "active lanes per instruction, of 32"],
        ["shared_ld_wavefronts", "shared_ld_insts", "per Inst.", "wavefronts per load"],
        ["shared_st_wavefronts", "shared_st_insts", "per Inst.", "wavefronts per store"],
        ["global_ld_sectors", "global_ld_requests", "per Req.", "sectors per request: 4 where 32 lanes read 128 bytes in a row"],
        ["global_st_sectors", "global_st_requests", "per Req.", "sectors per request: 4 where 32 lanes write 128 bytes in a row"],
    ];

    function counter(name) {
        const k = number.get(name);
        return {
            name: name, group: data.counters[k].group, label: data.counters[k].label,
            meaning: meanings[name] || "", sums: k < data.stalls,
            of: function (counts) { return counts[k]; },
        };
    }

    function quotient([above, below, label, meaning]) {
        const a = number.get(above), b = number.get(below);
        return {
            name: above + "/" + below, group: data.counters[a].group, label: label,
            meaning: meaning, sums: false,
            of: function (counts) { return counts[b] ? counts[a] / counts[b] : 0; },
        };
    }

    // Predicted time of the warps in a launch, and the reason for most of it.
    const reasons = data.counters.slice(data.stalls).map(function (one, k) { return data.stalls + k; });
    const time = {
        name: "predicted", group: "Predicted", label: "% of time", sums: false,
        meaning: "of the time that warps spend, by the model of simt --time",
        of: function (counts) { return reasons.reduce(function (sum, k) { return sum + counts[k]; }, 0); },
    };
    const wait = {
        name: "wait", group: "Predicted", label: "stall", sums: false, of: time.of,
        meaning: "the longest wait of warps here, as Nsight Compute names it",
        text: function (counts) {
            const longest = reasons.filter(function (k) { return data.counters[k].name !== "stall_selected"; })
                .reduce(function (best, k) { return counts[k] > counts[best] ? k : best; });
            return counts[longest] > 0 ? data.counters[longest].label : "";
        },
    };

    // All columns: a group's quotient follows its counters, and times come before their reasons.
    simt.columns = reasons.length ? [time, wait] : [];
    data.counters.forEach(function (one, k) {
        simt.columns.push(counter(one.name));
        const next = data.counters[k + 1];
        if (next && next.group === one.group) return;
        for (const pair of quotients) {
            if (data.counters[number.get(pair[0])].group === one.group) simt.columns.push(quotient(pair));
        }
    });

    // 1234567 as 1,234,567; a quotient with one decimal; nothing for 0.
    simt.number = function (value) {
        if (!value) return "";
        return Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(1);
    };

    // The text of a line's cell.
    simt.textOf = function (column, counts) {
        if (!counts) return "";
        return column.text ? column.text(counts) : simt.number(column.of(counts));
    };

    simt.key = function (file, line) { return file + ":" + line; };

    function zeros() { return new Float64Array(data.counters.length); }

    function add(to, from, times) {
        for (let k = 0; k < from.length; k++) to[k] += from[k] * times;
    }

    // Adds a launch's counters to the PTX lines.
    function addLaunch(ptx, kernel, launch, times) {
        const e = launch.entries;
        for (let at = 0; at < e.length; at += 4) {
            for (let inst = e[at]; inst <= e[at + 1]; inst++) {
                ptx[kernel.insts[inst]][e[at + 2]] += e[at + 3] * times;
            }
        }
    }

    // Converts picoseconds of lines to percent of their total.
    function percent(result) {
        for (const counts of result.ptx) {
            for (const k of reasons) result.total[k] += counts[k];
        }
        const all = reasons.length ? time.of(result.total) : 0;
        for (const counts of all ? [result.total, ...result.ptx] : []) {
            for (const k of reasons) counts[k] *= 100 / all;
        }
    }

    // The counters of the chosen launch, or of all (choice -1), by PTX line, by source line
    // (simt.key), and in total.
    simt.counts = function (kernel, choice) {
        const result = { ptx: kernel.ptx.map(zeros), source: new Map(), total: zeros() };
        kernel.launches.forEach(function (launch, k) {
            if (choice >= 0 && choice !== k) return;
            // Launches that were merged have summed counters already.
            const times = choice >= 0 || !launch.launch ? 1 : launch.launches;
            addLaunch(result.ptx, kernel, launch, times);
            add(result.total, launch.total, times);
        });
        percent(result);
        result.ptx.forEach(function (counts, k) {
            const file = kernel.at[2 * k], line = kernel.at[2 * k + 1];
            if (!file) return;
            const key = simt.key(file, line);
            if (!result.source.has(key)) result.source.set(key, zeros());
            add(result.source.get(key), counts, 1);
        });
        return result;
    };
})();

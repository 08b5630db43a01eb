// From launches to counters of lines: those of PTX lines are given, those of a source line are the
// sums over the PTX lines that were made from it.
(function () {
    const data = simt.data;
    const number = new Map(data.counters.map(function (counter, k) { return [counter.name, k]; }));

    // What a counter says, in one sentence.
    const meanings = {
        warp_insts: "PTX instructions that warps issued",
        thread_insts: "the same, counted by active lanes",
        shared_ld_insts: "loads from shared memory by warps",
        shared_ld_wavefronts: "passes that these loads took through the banks",
        shared_ld_conflicts: "wavefronts beyond those that any order of addresses needs",
        shared_st_insts: "stores to shared memory by warps",
        shared_st_wavefronts: "passes that these stores took through the banks",
        shared_st_conflicts: "wavefronts beyond those that any order of addresses needs",
        global_ld_requests: "loads from global memory by warps",
        global_ld_sectors: "pieces of 32 bytes that they touched",
        global_st_requests: "stores to global memory by warps",
        global_st_sectors: "pieces of 32 bytes that they touched",
        atomics: "lanes that executed an atomic operation",
        barriers: "barriers that a block completed",
        divergent_branches: "branches at which the lanes of a warp parted",
    };
    // Quotients of two counters, shown behind the second.
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
            meaning: meanings[name] || "", sums: true,
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

    // All columns, a group's quotient behind its counters.
    simt.columns = [];
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

    simt.key = function (file, line) { return file + ":" + line; };

    function zeros() { return new Float64Array(data.counters.length); }

    function add(to, from, times) {
        for (let k = 0; k < to.length; k++) to[k] += from[k] * times;
    }

    // Adds what a launch counted to the lines of PTX.
    function addLaunch(ptx, kernel, launch, times) {
        const e = launch.entries;
        for (let at = 0; at < e.length; at += 4) {
            for (let inst = e[at]; inst <= e[at + 1]; inst++) {
                ptx[kernel.insts[inst]][e[at + 2]] += e[at + 3] * times;
            }
        }
    }

    // What the chosen launch counted, or all of them (choice -1): of each PTX line, of each source
    // line by simt.key, and in all.
    simt.counts = function (kernel, choice) {
        const result = { ptx: kernel.ptx.map(zeros), source: new Map(), total: zeros() };
        kernel.launches.forEach(function (launch, k) {
            if (choice >= 0 && choice !== k) return;
            // What is added up from several launches is already their sum.
            const times = choice >= 0 || !launch.launch ? 1 : launch.launches;
            addLaunch(result.ptx, kernel, launch, times);
            add(result.total, launch.total, times);
        });
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

// Bank maps: which lanes of a warp touch which of the 32 banks, wavefront by wavefront.
(function () {
    const BANKS = 32, CELL = 21, HIGH = 18, LEFT = 30, TOP = 34;
    const make = simt.make;

    function lanesOf(mask) {
        const lanes = [];
        for (let lane = 0; lane < 32; lane++) if (mask >>> lane & 1) lanes.push(lane);
        return lanes;
    }

    // "lane 3", "lanes 0-15", "lanes 0, 2, 4"
    simt.lanesText = function (lanes) {
        const whole = lanes.length > 2 && lanes[lanes.length - 1] - lanes[0] === lanes.length - 1;
        return (lanes.length === 1 ? "lane " : "lanes ") +
            (whole ? lanes[0] + "–" + lanes[lanes.length - 1] : lanes.join(", "));
    };

    // For each bank, the words that a group of lanes requests, each {word, lanes}. The group's
    // lanes are served together; the longest list has the group's number of wavefronts.
    function wordsByBank(access, addresses, group) {
        const banks = Array.from({ length: BANKS }, function () { return []; });
        for (const lane of lanesOf(group)) {
            const first = Math.floor(addresses.get(lane) / 4);
            for (let word = first; word < first + Math.max(1, access.bytes / 4); word++) {
                const bank = banks[word % BANKS];
                let known = bank.find(function (other) { return other.word === word; });
                if (!known) bank.push(known = { word: word, lanes: [] });
                known.lanes.push(lane);
            }
        }
        return banks;
    }

    // Splits an access into groups of lanes that are served together, with their wavefronts.
    simt.bankGroups = function (access) {
        const mask = access.groups.reduce(function (all, group) { return all | group; }, 0);
        const addresses = new Map(lanesOf(mask).map(function (lane, k) { return [lane, access.address[k]]; }));
        return access.groups.map(function (group) {
            const banks = wordsByBank(access, addresses, group);
            return { lanes: lanesOf(group), banks: banks, wavefronts: Math.max(...banks.map(function (b) { return b.length; })) };
        });
    };

    function drawCell(bank, y, entry, clash) {
        const x = LEFT + bank * CELL, several = entry.lanes.length > 1;
        return make("g", { class: clash ? "clash" : "touch" },
            make("title", {}, "bank " + bank + ", word " + entry.word + " (byte " + 4 * entry.word + "): " +
                simt.lanesText(entry.lanes)),
            make("rect", { x: x + 0.5, y: y + 0.5, width: CELL - 1, height: HIGH - 1 }),
            make("text", { x: x + CELL / 2, y: y + 13 }, several ? "×" + entry.lanes.length : String(entry.lanes[0])));
    }

    function drawGroup(svg, group, y, first) {
        for (let row = 0; row < group.wavefronts; row++, y += HIGH) {
            svg.append(make("text", { class: "axis", x: LEFT - 6, y: y + 13, "text-anchor": "end" }, String(first + row)));
            group.banks.forEach(function (bank, k) {
                if (bank[row]) svg.append(drawCell(k, y, bank[row], bank.length > 1));
            });
        }
    }

    // Draws the access with the most wavefronts: banks across, wavefronts down, lanes in their
    // cells.
    simt.bankMap = function (access) {
        const groups = simt.bankGroups(access), gap = 6;
        const rows = groups.reduce(function (sum, group) { return sum + group.wavefronts; }, 0);
        const width = LEFT + BANKS * CELL + 1, height = TOP + rows * HIGH + (groups.length - 1) * gap + 1;
        const svg = make("svg", {
            class: "banks", viewBox: "0 0 " + width + " " + height, width: width, height: height, role: "img",
            "aria-label": "Bank map: " + rows + (rows === 1 ? " wavefront" : " wavefronts"), "data-wavefronts": rows,
        });
        svg.append(make("text", { class: "axis", x: LEFT, y: 11 }, "bank"));
        for (let bank = 0; bank < BANKS; bank++) {
            svg.append(make("text", { class: "axis", x: LEFT + (bank + 0.5) * CELL, y: 27, "text-anchor": "middle" }, String(bank)));
        }
        let y = TOP, first = 1;
        for (const group of groups) {
            svg.append(make("rect", { class: "room", x: LEFT, y: y, width: BANKS * CELL, height: group.wavefronts * HIGH }));
            drawGroup(svg, group, y, first);
            y += group.wavefronts * HIGH + gap;
            first += group.wavefronts;
        }
        return svg;
    };

    // Counts accesses by their number of wavefronts.
    simt.bankHistogram = function (access) {
        const body = make("tbody"), pairs = [];
        for (let k = 0; k < access.accesses.length; k += 2) pairs.push([access.accesses[k], access.accesses[k + 1]]);
        const most = Math.max(...pairs.map(function (pair) { return pair[1]; }));
        for (const [wavefronts, times] of pairs) {
            const bar = make("span", { class: "bar" });
            bar.style.width = 100 * times / most + "%";
            body.append(make("tr", {}, make("td", {}, String(wavefronts)), make("td", {}, simt.number(times)),
                make("td", { class: "bars" }, bar)));
        }
        return make("table", { class: "histogram" },
            make("thead", {}, make("tr", {}, make("th", {}, "Wavefronts"), make("th", {}, "Accesses"), make("th", {}))), body);
    };
})();

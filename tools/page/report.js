// The page of simt's report: its controls and state. Every change redraws the page from the state,
// `view`.
(function () {
    const data = simt.data, make = simt.make;
    const code = data.code.replace(/^m/, "M"); // with a capital, for titles
    const element = function (id) { return document.getElementById(id); };
    const view = { kernel: null, choice: -1, metric: null, all: false, selected: null, rows: { source: [], ptx: [] } };

    function options(select, entries, chosen) {
        select.replaceChildren(...entries.map(function (entry) {
            return make("option", { value: entry[0], selected: String(entry[0]) === String(chosen) ? "" : null }, entry[1]);
        }));
    }

    // --- choices ---

    function hazardsOf(kernel) {
        const at = new Map();
        data.hazards.forEach(function (hazard, k) {
            if (hazard.kernel !== kernel.name) return;
            for (const [file, line] of [hazard.at, hazard.other]) {
                if (!file) continue;
                const key = simt.key(file, line);
                at.set(key, new Set([...(at.get(key) || []), k]));
            }
        });
        return at;
    }

    // The predicted time, else conflicts if there are any, since readers open the page to find
    // those.
    function defaultMetric() {
        const used = simt.columns.filter(function (column) { return column.of(view.counts.total) > 0; });
        return used.find(function (column) { return /^predicted$|_conflicts$/.test(column.name); }) || used[0] || simt.columns[0];
    }

    function metricOptions() {
        const groups = new Map();
        for (const column of simt.columns) {
            if (column.of(view.counts.total) <= 0 || column.text) continue;
            if (!groups.has(column.group)) groups.set(column.group, make("optgroup", { label: column.group }));
            groups.get(column.group).append(make("option", {
                value: column.name, selected: column === view.metric ? "" : null,
            }, column.group + ": " + column.label));
        }
        element("metric").replaceChildren(...groups.values());
    }

    function launchText(launch) {
        if (!launch.launch) return "sum of " + launch.launches + " others";
        return "launch " + launch.launch + ", grid " + launch.grid + ", block " + launch.block +
            (launch.launches > 1 ? " (" + launch.launches + " alike)" : "");
    }

    function launchOptions() {
        const launches = view.kernel.launches;
        const count = launches.reduce(function (sum, launch) { return sum + launch.launches; }, 0);
        const entries = launches.map(function (launch, k) { return [k, launchText(launch)]; });
        if (count > 1) entries.unshift([-1, "sum of all " + count]);
        options(element("launch"), entries, view.choice);
    }

    // Shows the predicted time of the chosen launch, or of all launches.
    function drawPredicted() {
        const launches = view.kernel.launches, one = launches[view.choice < 0 && launches.length === 1 ? 0 : view.choice];
        const text = one && one.predicted;
        element("predicted").hidden = !text;
        element("predicted").textContent = text || "";
    }

    function chooseKernel(number, choice) {
        view.kernel = data.kernels[number];
        view.number = number;
        view.choice = choice === undefined ? -1 : choice;
        view.instructions = new Set(view.kernel.insts);
        view.hazards = hazardsOf(view.kernel);
        view.metric = null;
        count();
    }

    function count() {
        view.counts = simt.counts(view.kernel, view.choice);
        if (!view.metric || view.metric.of(view.counts.total) <= 0) view.metric = defaultMetric();
        draw();
        select(hazardRows()[0] || hottest()[0] || null, false);
    }

    // --- the panes ---

    function draw() {
        element("kernel-name").textContent = view.kernel.name;
        element("which").value = String(view.number);
        element("next-hazard").hidden = view.hazards.size === 0;
        launchOptions();
        metricOptions();
        drawPredicted();
        view.rows = { source: simt.sourceRows(view), ptx: simt.ptxRows(view) };
        element("panes").classList.toggle("stacked", view.all);
        simt.drawPane(element("source"), view, view.rows.source, "Source");
        simt.drawPane(element("ptx"), view, view.rows.ptx, code);
        for (const row of [...view.rows.source, ...view.rows.ptx]) listen(row);
        for (const tr of document.querySelectorAll("#launches tbody tr")) {
            tr.classList.toggle("chosen", Number(tr.dataset.kernel) === view.number &&
                (view.choice < 0 || Number(tr.dataset.launch) === view.choice));
        }
        for (const head of document.querySelectorAll("#panes th[data-metric]")) {
            head.addEventListener("click", function () { chooseMetric(head.dataset.metric); });
        }
    }

    function listen(row) {
        if (row.head || row.gap) return;
        row.element.addEventListener("click", function () {
            if (!String(getSelection())) select(row, true);
        });
        row.element.addEventListener("pointerenter", function () { mark(row, "hover"); });
        row.element.addEventListener("pointerleave", function () { mark(null, "hover"); });
    }

    function chooseMetric(name) {
        const before = view.selected;
        view.metric = simt.columns.find(function (column) { return column.name === name; });
        draw();
        select(before && sameRow(before), false);
    }

    function sameRow(row) {
        return view.rows[row.side].find(function (other) {
            return row.side === "ptx" ? other.index === row.index : other.key === row.key;
        });
    }

    // The corresponding rows of the other pane.
    function counterparts(row) {
        if (!row || !row.key) return [];
        return view.rows[row.side === "ptx" ? "source" : "ptx"].filter(function (other) { return other.key === row.key; });
    }

    function mark(row, name) {
        for (const old of document.querySelectorAll("#panes tr." + name)) old.classList.remove(name);
        if (!row) return;
        for (const one of [row, ...counterparts(row)]) one.element.classList.add(name);
    }

    // --- the selected line ---

    const MAPS = 8; // maps drawn per line

    function select(row, byUser) {
        view.selected = row;
        mark(row, "linked");
        for (const old of document.querySelectorAll("#panes tr.selected")) old.classList.remove("selected");
        drawLine();
        if (!row) return;
        row.element.classList.add("selected");
        simt.reveal([row]);
        const others = counterparts(row);
        if (others.length) simt.reveal(others, view.metric);
        if (byUser) row.element.closest(".scroll").focus({ preventScroll: true });
    }

    // The PTX lines that belong to the selected line.
    function ptxLines(row) {
        return row.side === "ptx" ? [row.index] : counterparts(row).map(function (other) { return other.index; });
    }

    function counterTable(row) {
        const body = make("tbody");
        for (const column of simt.columns) {
            const value = row.counts ? column.of(row.counts) : 0;
            if (!value) continue;
            const share = column.sums ? (100 * value / column.of(view.counts.total)).toFixed(1) + " %" : "";
            body.append(make("tr", {}, make("th", { scope: "row" }, column.group + ": " + column.label),
                make("td", {}, simt.textOf(column, row.counts)), make("td", {}, share), make("td", { class: "meaning" }, column.meaning)));
        }
        return make("div", { class: "frame" }, make("table", { class: "facts" }, make("thead", {}, make("tr", {},
            make("th", {}, "Counter"), make("th", {}, "This line"), make("th", {}, "of the kernel"),
            make("th", {}))), body));
    }

    function placeLink(text, place, kernel) {
        const file = data.files[place[0] - 1];
        const link = make("a", { href: "#kernel" }, text + " " + file.name + ":" + place[1]);
        link.addEventListener("click", function (event) {
            event.preventDefault();
            showPlace(place, kernel);
        });
        return link;
    }

    function hazardLinks(hazard) {
        const box = make("p", { class: "links" });
        if (hazard.at[0]) box.append(placeLink("to", hazard.at, hazard.kernel), " ");
        if (hazard.other[0]) box.append(placeLink("the other access:", hazard.other, hazard.kernel));
        return box;
    }

    function bankSection(access) {
        const text = view.kernel.ptx[view.kernel.insts[access.inst]].trim();
        const verb = access.load ? "load" : "store";
        const needed = access.groups.length, worst = access.wavefronts;
        const head = make("h4", {}, "Banks: ");
        head.append(make("code", {}, text));
        const where = "The " + verb + " with the most wavefronts: " + worst +
            (worst > needed ? ", of which " + (worst - needed) + (worst - needed === 1 ? " is a conflict" : " are conflicts") : ", no conflict") +
            ". Launch " + access.launch + ", block (" + access.block + "), warp " + access.warp + ", " +
            access.bytes + (access.bytes === 1 ? " byte" : " bytes") + " per lane. The cells show lanes; × is a number of lanes that access the same word.";
        return make("section", { class: "bank" }, head, make("p", {}, where),
            make("div", { class: "frame" }, simt.bankMap(access)),
            make("p", {}, "All its accesses, over all launches:"), simt.bankHistogram(access));
    }

    function drawLine() {
        const box = element("line"), row = view.selected;
        box.replaceChildren();
        if (!row) return;
        const [file, line] = row.side === "source" ? row.key.split(":") : [0, 0];
        const title = row.side === "source" ? data.files[file - 1].name + ":" + line : code + " line " + row.label;
        const head = make("h3", {}, title);
        if (row.text.trim()) head.append(" ", make("code", {}, simt.highlight(row.text.trim(), row.side === "ptx" ? "ptx" : "cuda")));
        box.append(head);
        element("said").textContent = title + (row.counts ? ", " + view.metric.group + " " + view.metric.label + ": " +
            (simt.number(view.metric.of(row.counts)) || "0") : "");
        for (const k of row.key && view.hazards.get(row.key) || []) {
            box.append(make("pre", { class: "hazard" }, data.hazards[k].text), hazardLinks(data.hazards[k]));
        }
        const counted = row.counts && row.counts.some(Boolean);
        box.append(make("div", { class: "columns" },
            counted ? counterTable(row) : make("p", {}, "This line has no counts."), bankSections(row)));
    }

    function bankSections(row) {
        const lines = new Set(ptxLines(row));
        const accesses = view.kernel.banks.filter(function (access) { return lines.has(view.kernel.insts[access.inst]); });
        const left = accesses.length - MAPS;
        if (left > 0) accesses.sort(function (a, b) { return conflicts(b) - conflicts(a); }).splice(MAPS);
        accesses.sort(function (a, b) { return a.inst - b.inst; });
        const box = make("div", { class: "maps" }, ...accesses.map(bankSection));
        if (left > 0) box.append(make("p", {}, left + " more accesses have fewer conflicts: select their lines of " + data.code + "."));
        return box;
    }

    // The number of wavefronts beyond the minimum, over all accesses.
    function conflicts(access) {
        let sum = 0;
        for (let k = 0; k < access.accesses.length; k += 2) {
            sum += (access.accesses[k] - access.groups.length) * access.accesses[k + 1];
        }
        return sum;
    }

    // --- jumps ---

    function hottest() {
        const side = view.selected && view.selected.side === "ptx" ? "ptx" : "source";
        const rows = view.rows[side].some(function (row) { return row.counts; }) ? view.rows[side] : view.rows.ptx;
        return rows.filter(function (row) { return row.counts && view.metric.of(row.counts) > 0; })
            .sort(function (a, b) { return view.metric.of(b.counts) - view.metric.of(a.counts); });
    }

    function jumpHot(step) {
        const order = hottest(), now = order.indexOf(view.selected);
        if (!order.length) return;
        const next = now < 0 ? 0 : Math.min(order.length - 1, Math.max(0, now + step));
        select(order[next], true);
    }

    function hazardRows() {
        return view.rows.source.filter(function (row) { return row.key && view.hazards.has(row.key); });
    }

    function jumpHazard() {
        const rows = hazardRows();
        if (rows.length) select(rows[(rows.indexOf(view.selected) + 1) % rows.length], true);
    }

    function move(step) {
        if (!view.selected) return;
        const rows = view.rows[view.selected.side].filter(function (row) { return !row.head && !row.gap; });
        const next = rows[rows.indexOf(view.selected) + step];
        if (next) select(next, true);
    }

    function cross() {
        const others = counterparts(view.selected);
        if (others.length) select(others[0], true);
    }

    // Shows a source line in a kernel of this name.
    function showPlace(place, name) {
        if (view.kernel.name !== name) {
            const number = data.kernels.findIndex(function (kernel) { return kernel.name === name; });
            if (number < 0) return;
            chooseKernel(number);
        }
        const row = view.rows.source.find(function (other) { return other.key === simt.key(place[0], place[1]); });
        if (row) select(row, true);
        element("kernel").scrollIntoView();
    }

    const keys = {
        n: function () { jumpHot(1); }, p: function () { jumpHot(-1); }, h: jumpHazard,
    };
    const paneKeys = {
        ArrowDown: function () { move(1); }, ArrowUp: function () { move(-1); }, ArrowLeft: cross, ArrowRight: cross,
    };

    function onKey(event) {
        const here = document.activeElement;
        if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(here.tagName)) return;
        const act = keys[event.key] || (here.closest(".scroll") && paneKeys[event.key]);
        if (!act) return;
        event.preventDefault();
        act();
    }

    // --- the table of launches ---

    function sortBy(head, column) {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = document.querySelector("#launches tbody");
        const value = function (tr) {
            const text = tr.children[column].textContent.replace(/,/g, "");
            return column && text !== "" && !isNaN(text) ? Number(text) : text;
        };
        const rows = Array.from(body.children).sort(function (a, b) {
            const x = value(a), y = value(b);
            const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
            return down ? -order : order;
        });
        body.append(...rows);
    }

    function startTable() {
        document.querySelectorAll("#launches th").forEach(function (head, column) {
            const button = make("button", { type: "button", title: "sort" }, ...head.childNodes);
            button.addEventListener("click", function () { sortBy(head, column); });
            head.replaceChildren(button);
        });
        for (const tr of document.querySelectorAll("#launches tbody tr")) {
            const kernel = Number(tr.dataset.kernel), launch = Number(tr.dataset.launch);
            for (const cell of Array.from(tr.children).slice(5)) {
                if (/^\d{4,}$/.test(cell.textContent)) cell.textContent = Number(cell.textContent).toLocaleString("en-US");
            }
            const name = tr.firstElementChild;
            name.replaceChildren(make("button", { type: "button", title: data.kernels[kernel].name }, name.textContent));
            tr.addEventListener("click", function () { chooseKernel(kernel, launch); });
        }
    }

    function startHazards() {
        for (const box of document.querySelectorAll("#hazards .hazard")) box.after(hazardLinks(data.hazards[Number(box.dataset.hazard)]));
    }

    // The first kernel to show: one with hazards, else the one with the most conflicts, else the
    // one with the most instructions.
    function firstKernel() {
        const found = data.kernels.findIndex(function (kernel) {
            return data.hazards.some(function (hazard) { return hazard.kernel === kernel.name; });
        });
        if (found >= 0) return found;
        const weight = function (kernel) {
            const total = simt.counts(kernel, -1).total;
            return simt.columns.reduce(function (sum, column) {
                return sum + (/_conflicts$/.test(column.name) ? 1e9 : column.name === "warp_insts" ? 1 : 0) * column.of(total);
            }, 0);
        };
        const weights = data.kernels.map(weight);
        return weights.indexOf(Math.max(...weights));
    }

    function start() {
        document.documentElement.classList.add("scripted");
        startTable();
        startHazards();
        if (!data.kernels.length) return;
        element("kernel").hidden = false;
        options(element("which"), data.kernels.map(function (kernel, k) { return [k, kernel.short]; }), 0);
        element("which").addEventListener("change", function (event) { chooseKernel(Number(event.target.value)); });
        element("launch").addEventListener("change", function (event) {
            view.choice = Number(event.target.value);
            count();
        });
        element("metric").addEventListener("change", function (event) { chooseMetric(event.target.value); });
        element("all").addEventListener("change", function (event) {
            view.all = event.target.checked;
            chooseMetric(view.metric.name);
        });
        element("hotter").addEventListener("click", keys.p);
        element("cooler").addEventListener("click", keys.n);
        element("next-hazard").addEventListener("click", keys.h);
        document.addEventListener("keydown", onKey);
        chooseKernel(firstKernel());
    }
    start();
})();

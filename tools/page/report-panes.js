// The two panes of the report: a kernel's source and its PTX, with counters per line, one of them
// as a heat map.
(function () {
    const data = simt.data, make = simt.make;

    // Drops the prose of a Markdown file; only fenced lines are code.
    function withoutProse(name, rows) {
        if (!/\.(md|markdown)$/i.test(name)) return rows;
        const fence = rows.map(function (row) { return /^\s*(```|~~~)/.test(row.text); });
        const keep = rows.map(function () { return false; });
        rows.forEach(function (row, k) {
            if (!row.counts && !row.places) return;
            for (let i = k; i >= 0 && !fence[i]; i--) keep[i] = true;
            for (let i = k; i < rows.length && !fence[i]; i++) keep[i] = true;
        });
        return rows.filter(function (row, k) { return keep[k]; });
    }

    // The lines of a file that the kernel's PTX or hazards refer to, with context.
    function fileRows(view, number) {
        const file = data.files[number - 1], rows = [];
        for (const [first, texts] of file.pieces) {
            const piece = texts.map(function (text, k) {
                const key = simt.key(number, first + k);
                return {
                    side: "source", key: key, label: String(first + k), line: first + k, text: text,
                    counts: view.counts.source.get(key) || null, places: view.hazards.has(key),
                };
            });
            const used = piece.map(function (row) { return row.counts || row.places; });
            rows.push(...piece.filter(function (row, k) {
                return used.slice(Math.max(0, k - 10), k + 6).some(Boolean);
            }));
        }
        if (rows.length === 0) rows.push(...missingRows(view, number));
        return withoutProse(file.name, rows);
    }

    // The rows if the file's text is missing: only line numbers.
    function missingRows(view, number) {
        const rows = [];
        for (const [key, counts] of view.counts.source) {
            const [file, line] = key.split(":").map(Number);
            if (file === number) rows.push({ side: "source", key: key, label: String(line), line: line, text: "", counts: counts });
        }
        return rows.sort(function (a, b) { return a.line - b.line; });
    }

    function filesOf(view) {
        const numbers = new Set();
        for (const key of [...view.counts.source.keys(), ...view.hazards.keys()]) numbers.add(Number(key.split(":")[0]));
        return [...numbers].sort(function (a, b) { return a - b; });
    }

    simt.sourceRows = function (view) {
        const rows = [];
        for (const number of filesOf(view)) {
            const file = data.files[number - 1];
            rows.push({ side: "source", head: file.name, note: file.note });
            let last = 0;
            for (const row of fileRows(view, number)) {
                if (last && row.line !== last + 1) rows.push({ side: "source", gap: true });
                rows.push(row);
                last = row.line;
            }
        }
        if (!rows.length) rows.push({ side: "source", head: "No source lines", note: "the program was compiled without -lineinfo: add that option" });
        return rows;
    };

    // Indents PTX instructions, which nvcc writes without blanks.
    function indented(text) {
        return /^(\s|\$|[(){}]|\.visible|\.entry|\.func|\.weak)/.test(text) ? text : "    " + text;
    }

    simt.ptxRows = function (view) {
        return view.kernel.ptx.map(function (ptx, k) {
            const text = indented(ptx), file = view.kernel.at[2 * k], line = view.kernel.at[2 * k + 1];
            return {
                side: "ptx", index: k, label: String(k + 1), text: text, key: file ? simt.key(file, line) : null,
                counts: view.instructions.has(k) ? view.counts.ptx[k] : null,
            };
        });
    };

    // The columns to show: the metric's group, or all with nonzero counters.
    simt.shownColumns = function (view) {
        const used = simt.columns.filter(function (column) { return column.of(view.counts.total) > 0; });
        if (view.all) return used;
        const chosen = used.filter(function (column) { return column.group === view.metric.group; });
        return chosen.length ? chosen : [view.metric];
    };

    // Orders a row's label, cells and text; many cells come before the text.
    function inOrder(view, row, label, cells, text) {
        row.append(...(view.all ? [label, text, ...cells] : [label, ...cells, text]));
        return row;
    }

    // The head of a table, with each group's name once above its columns.
    function headOf(view, columns, title) {
        const groups = [], heads = [];
        columns.forEach(function (column, k) {
            const same = function (other) { return other.group === column.group; };
            if (!k || !same(columns[k - 1])) {
                groups.push(make("th", { colspan: columns.filter(same).length, scope: "colgroup" }, column.group));
            }
            heads.push(make("th", {
                scope: "col", "data-metric": column.text ? null : column.name, title: column.meaning,
                class: column === view.metric ? "chosen" : "more",
            }, column.label));
        });
        return make("thead", {},
            inOrder(view, make("tr", { class: "groups" }), make("th"), groups, make("th")),
            inOrder(view, make("tr"), make("th", { scope: "col" }, "#"), heads, make("th", { scope: "col", class: "text" }, title)));
    }

    function lineRow(view, row, columns, most) {
        const tr = make("tr", { class: view.hazards.has(row.key) && row.side === "source" ? "hazardous" : null });
        const cells = columns.map(function (column) {
            const value = row.counts ? column.of(row.counts) : 0;
            const cell = make("td", { class: column === view.metric ? "heat" : "more" }, simt.textOf(column, row.counts));
            if (column === view.metric) cell.style.setProperty("--heat", most ? 100 * value / most + "%" : "0%");
            return cell;
        });
        const code = make("td", { class: "text" });
        code.append(simt.highlight(row.text, row.side === "ptx" ? "ptx" : "cuda"));
        return inOrder(view, tr, make("td", { class: "at" }, row.label), cells, code);
    }

    function otherRow(row, width) {
        const cell = make("td", { colspan: width });
        if (row.gap) cell.append("⋯");
        else cell.append(make("strong", {}, row.head), row.note ? make("span", { class: "note" }, " " + row.note) : "");
        return make("tr", { class: row.gap ? "gap" : "file" }, cell);
    }

    // Fills a pane with rows, and stores each row's element in it.
    simt.drawPane = function (pane, view, rows, title) {
        const columns = simt.shownColumns(view), body = make("tbody");
        const most = Math.max(0, ...rows.map(function (row) { return row.counts ? view.metric.of(row.counts) : 0; }));
        for (const row of rows) {
            row.element = row.head || row.gap ? otherRow(row, columns.length + 2) : lineRow(view, row, columns, most);
            body.append(row.element);
        }
        const frame = make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": title });
        frame.append(make("table", {}, headOf(view, columns, title), body));
        pane.replaceChildren(frame);
    };

    // Scrolls the pane, not the page, so that the rows are visible; if there are too many, the
    // hottest.
    simt.reveal = function (rows, metric) {
        const frame = rows[0].element.closest(".scroll"), head = frame.querySelector("thead").offsetHeight;
        let first = rows[0].element, last = rows[rows.length - 1].element;
        if (last.offsetTop + last.offsetHeight - first.offsetTop > frame.clientHeight - head) {
            const heat = function (row) { return row.counts ? metric.of(row.counts) : 0; };
            first = last = rows.reduce(function (best, row) { return heat(row) > heat(best) ? row : best; }).element;
        }
        const top = first.offsetTop, bottom = last.offsetTop + last.offsetHeight;
        if (top < frame.scrollTop + head || bottom > frame.scrollTop + frame.clientHeight) {
            frame.scrollTop = top - head - (frame.clientHeight - head) / 4;
        }
    };
})();

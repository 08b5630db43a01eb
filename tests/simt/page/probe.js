// Operates a page in a browser, for tests/simt/page. The result replaces the page, or is sent to the
// page around it.
const found = { errors: [] };
addEventListener("error", event => found.errors.push(String(event.message)));
addEventListener("securitypolicyviolation", event => found.errors.push(event.violatedDirective));

const one = selector => document.querySelector(selector);
const all = selector => Array.from(document.querySelectorAll(selector));
const press = key => (document.activeElement || document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true }));
const textOf = row => row.querySelector(".text").textContent.trim();
const selected = () => textOf(one("#panes tr.selected"));
const lineWith = (pane, text) => all(`#${pane} tbody tr`).find(row => row.querySelector(".text") && textOf(row).includes(text));
const kernelRow = (name, launch) => all("#launches tbody tr").find(
    row => row.children[0].textContent === name && row.children[1].textContent === launch);
const numberOf = text => Number(text.replace(/,/g, "") || 0);

function choose(selector, value) {
    one(selector).value = value;
    one(selector).dispatchEvent(new Event("change"));
}

function mapOf(section) {
    const svg = section.querySelector("svg");
    return { wavefronts: svg.dataset.wavefronts, cells: svg.querySelectorAll("g").length, clash: svg.querySelectorAll(".clash").length };
}

function chooses() {
    found.first = [one("#kernel-name").textContent, selected()];
    kernelRow("strided<8>", "2").click();
    found.row = [one("#kernel-name").textContent, one("#launch").selectedOptions[0].textContent];
    found.heat = all("#source td.heat").filter(cell => cell.textContent && cell.style.getPropertyValue("--heat") !== "0%")
        .map(cell => [cell.parentElement.children[0].textContent, cell.textContent, cell.style.getPropertyValue("--heat")]);
    lineWith("source", "= (int)t;").click();
    found.linked = all("#ptx tr.linked").map(textOf);
    const section = one("#line .bank");
    found.map = mapOf(section);
    found.map.histogram = Array.from(section.querySelectorAll(".histogram tbody tr"),
        row => [row.children[0].textContent, row.children[1].textContent]);
    lineWith("ptx", "st.shared").click();
    found.back = all("#source tr.linked").map(textOf);
    kernelRow("wide", "5").click();
    lineWith("source", "four[t] =").click();
    found.wide = mapOf(one("#line .bank"));
}

// The metric's values in the rows that n and p visit, then the effects of the other keys.
function keys() {
    kernelRow("calls", "57").click();
    choose("#metric", "warp_insts");
    lineWith("source", "atomicAdd").click();
    for (let k = 0; k < 20; k++) press("p");
    const heat = () => numberOf(one("#panes tr.selected td.heat").textContent);
    const order = all("#source td.heat").map(cell => numberOf(cell.textContent)).filter(Boolean).sort((a, b) => b - a);
    found.keys = [heat()];
    for (const key of ["n", "n", "p"]) {
        press(key);
        found.keys.push(heat());
    }
    found.keysWanted = [order[0], order[1], order[2], order[1]];
    lineWith("source", "__shared__ int s[32];").click();
    press("ArrowDown");
    found.keys.push(selected());
    press("ArrowUp");
    found.keys.push(selected());
    lineWith("source", "if (t < 5)").click();
    press("ArrowRight");
    found.keys.push(one("#panes tr.selected").closest(".pane").id);
    press("ArrowLeft");
    found.keys.push(one("#panes tr.selected").closest(".pane").id);
    kernelRow("racy", "59").click();
    press("h");
    found.keys.push(selected());
    press("h");
    found.keys.push(selected());
    found.keysWanted.push("unsigned t = threadIdx.x;", "__shared__ int s[32];", "ptx", "source",
        "out[threadIdx.x] = s[63 - threadIdx.x];", "s[threadIdx.x] = (int)threadIdx.x;");
}

// A kernel with predicted times: the metric, the hottest line, its stall, the launch in words, the sum of all.
function predicted() {
    kernelRow("racy", "59").click();
    const hot = one("#panes tr.selected");
    found.predicted = [one("#metric").value, textOf(hot), hot.children[2].textContent, one("#predicted").textContent,
        all("#ptx td.heat").reduce((sum, cell) => sum + numberOf(cell.textContent), 0).toFixed(1)];
}

function tables() {
    const column = all("#launches th").findIndex(head => head.textContent.endsWith("Thread"));
    one(`#launches th:nth-child(${column + 1}) button`).click();
    found.sorted = all("#launches tbody tr").map(row => numberOf(row.children[column].textContent));
    // All launches of a kernel against the rows of the table: three alike count three times.
    kernelRow("strided<8>", "2").click();
    choose("#launch", "-1");
    choose("#metric", "thread_insts");
    const row = kernelRow("strided<8>", "2");
    found.sums = all("#source td.heat").reduce((sum, cell) => sum + numberOf(cell.textContent), 0);
    found.sumsWanted = numberOf(row.children[column].textContent) * numberOf(row.children[2].textContent);
    choose("#metric", "shared_st_wavefronts");
    const heads = () => all("#source th[data-metric]").map(head => head.dataset.metric);
    found.columns = [heads()];
    one("#all").click();
    found.columns.push(heads().length);
    const used = all("#launches th[data-counter]").filter(head => numberOf(
        kernelRow("strided<8>", "2").children[head.cellIndex].textContent)).length;
    found.columnsWanted = [["shared_st_insts", "shared_st_wavefronts", "shared_st_conflicts",
        "shared_st_wavefronts/shared_st_insts"], used + 4];
    found.wideAll = document.documentElement.scrollWidth;
    one("#all").click();
    all("#hazards .links a").forEach(link => {
        link.click();
        (found.links = found.links || []).push(selected());
    });
}

addEventListener("load", function () {
    try {
        found.width = document.documentElement.scrollWidth;
        found.paper = getComputedStyle(document.documentElement).backgroundColor;
        if (!one("#predicted").hidden || one("#metric").value === "predicted") {
            predicted();
        } else if (kernelRow("strided<8>", "2")) {
            chooses();
            keys();
            tables();
        }
    } catch (error) {
        found.errors.push(String(error.stack));
    }
    setTimeout(function () {
        found.hostile = "hostile" in window;
        const answer = "PROBE" + JSON.stringify(found) + "PROBE";
        if (parent !== window) parent.postMessage(answer, "*");
        else document.body.replaceChildren(answer);
    }, 50);
});

// Operates the page's players in a browser, for tests/player. The result replaces the page, or is sent
// to the page around it.
const found = { errors: [], runs: [] };
addEventListener("error", event => found.errors.push(String(event.message)));

const all = (element, selector) => Array.from(element.querySelectorAll(selector));
const players = () => all(document, ".play");
const text = (figure, selector) => figure.querySelector(selector).textContent;
const numberIn = words => Number(words.replace("−", "-"));
const controls = figure => all(figure, ".controls button");
const choices = (figure, label) => all(figure, `.choices[aria-label="${label}"] button`);

function press(figure, key, from) {
    const event = new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true });
    (from || figure).dispatchEvent(event);
    return event.defaultPrevented;
}

// The longest queue that is drawn at a bank: cells stacked on one another.
function drawn(figure) {
    const high = {};
    for (const rect of all(figure, ".asked rect")) high[rect.getAttribute("x")] = (high[rect.getAttribute("x")] || 0) + 1;
    return Math.max(0, ...Object.values(high));
}

function totals(figure) {
    return Object.fromEntries(all(figure, ".totals dd").map(cell => [cell.dataset.total, cell.textContent.split(" of ").map(Number)]));
}

// Steps through a run from its beginning, and returns what each step shows.
function walk(figure) {
    const run = { kernel: figure.dataset.kernel, block: Number(figure.dataset.block), wavefronts: 0, races: [], sums: [], steps: 0, wrong: [] };
    press(figure, "Home");
    for (let last = -1; Number(figure.dataset.step) !== last; press(figure, "ArrowRight")) {
        last = Number(figure.dataset.step);
        const high = drawn(figure), so = totals(figure), sentence = text(figure, ".sentence");
        run.steps++;
        run.wavefronts += high;
        if (so.wavefronts[0] !== run.wavefronts) run.wrong.push("step " + last + ": " + so.wavefronts[0] + " wavefronts, " + run.wavefronts + " drawn");
        if (high && !sentence.includes(high + " wavefront")) run.wrong.push("step " + last + ": " + high + " wavefronts, and: " + sentence);
        const values = selector => all(figure, selector + " text").map(cell => cell.textContent).sort().join(" ");
        if (sentence.includes(" store") && values(".lane.active") !== values(".word.touched")) run.wrong.push("step " + last + ": other values are stored than lanes have");
        if (sentence.includes("barrier")) run.sums.push(all(figure, ".word.live text").reduce((sum, cell) => sum + numberIn(cell.textContent), 0));
        const racing = all(figure, ".lane.race").length;
        if (racing) run.races.push([last, racing, all(figure, ".code .race code").map(line => line.textContent), all(figure, ".lane.pair").map(cell => Number(cell.dataset.lane))]);
        if (Boolean(racing) !== sentence.includes("Race: ")) run.wrong.push("step " + last + ": " + racing + " lanes race, and: " + sentence);
    }
    run.totals = totals(figure);
    const example = figure.querySelector(".example"), word = figure.querySelector('.word[data-word="0"] text');
    run.result = run.totals.shuffles ? numberIn(example.textContent.split(" = ")[1]) : numberIn(word.textContent);
    return run;
}

function runs() {
    for (const figure of players()) {
        const kernels = choices(figure, "kernel"), blocks = choices(figure, "threads in a block");
        for (let k = 0; k < Math.max(1, kernels.length); k++) {
            if (kernels.length) kernels[k].click();
            for (const block of blocks) {
                block.click();
                const { kernel, block: threads } = figure.dataset;
                if (!found.runs.some(run => run.kernel === kernel && run.block === Number(threads))) found.runs.push(walk(figure));
            }
        }
        blocks[0].click();
        if (kernels.length) kernels[0].click();
    }
}

// Tests the effect of keys and buttons in the player of the strided tree.
function keys() {
    const figure = players().find(player => player.dataset.kernel === "block_sum_strided");
    const at = () => Number(figure.dataset.step), slider = figure.querySelector("input[type=range]");
    const step = key => { press(figure, key); return at(); };
    found.keys = [step("End"), step("ArrowRight"), step("ArrowLeft"), step("Home"), step("ArrowLeft"), step("PageDown"), step("PageDown"), step("ArrowRight"), step("PageUp"), step("PageUp")];
    found.stays = [press(figure, "Tab"), press(figure, "ArrowDown"), press(figure, " ", controls(figure)[0])];
    found.buttons = controls(figure).map(button => [button.getAttribute("aria-label"), (button.click(), at())]);
    slider.value = 30;
    slider.dispatchEvent(new Event("input"));
    found.slider = [at(), slider.getAttribute("aria-valuetext") === text(figure, ".sentence")];
    press(slider, "Home");
    found.fromSlider = at();
    slider.focus();
    found.outline = slider.matches(":focus-visible") && getComputedStyle(slider).outlineStyle;
    found.reached = all(figure, "button, input").every(control => control.tabIndex === 0);
    found.named = all(figure, "button, input, svg[role=img]").filter(control => !(control.getAttribute("aria-label") || control.textContent)).length;
    // The same level of another tree, and of a smaller block.
    press(figure, "Home");
    for (let k = 0; k < 3; k++) press(figure, "PageDown");
    const level = () => text(figure, ".sentence").split(",")[0];
    found.levels = [level()];
    choices(figure, "kernel")[2].click();
    found.levels.push(level());
    choices(figure, "threads in a block")[2].click();
    found.levels.push(level());
    return figure;
}

// Space plays and stops; nothing plays by itself.
function playing(figure, done) {
    const live = () => text(figure, ".sentence") && figure.querySelector(".sentence").getAttribute("aria-live");
    const before = players().map(player => player.dataset.step);
    press(figure, "Home");
    press(figure, " ");
    found.live = [live()];
    setTimeout(function () {
        press(figure, " ");
        const at = Number(figure.dataset.step);
        found.live.push(live());
        setTimeout(function () {
            found.played = [at > 1, Number(figure.dataset.step) === at,
                players().every((player, k) => player === figure || player.dataset.step === before[k])];
            onPaper();
            done();
        }, 1500);
    }, 1500);
}

// Returns what is shown in print, by applying the print styles to the screen.
function onPaper() {
    const turn = rules => Array.from(rules).forEach(function (rule) {
        if (rule.media && /^(print|screen)/.test(rule.media.mediaText))
            rule.media.mediaText = rule.media.mediaText.startsWith("print") ? "all" : "not all";
        if (rule.cssRules) turn(rule.cssRules);
    });
    for (const sheet of document.styleSheets) turn(sheet.cssRules);
    const shown = selector => all(document, selector).map(element => getComputedStyle(element).display);
    found.paper = [shown(".play"), shown(".player > figure:not(.play)")];
}

function answer() {
    const told = "PROBE" + JSON.stringify(found) + "PROBE";
    if (parent !== window) parent.postMessage(told, "*");
    else document.body.replaceChildren(told);
}

// Players are built when they come near the window; build them all at once here.
function build() {
    found.early = players().length;
    for (const box of all(document, ".player")) stepPlayer.open(box);
}

addEventListener("load", () => setTimeout(function () {
    try {
        build();
        found.opened = players().map(figure => [text(figure, ".sentence"), drawn(figure)]);
        found.stills = all(document, ".player > figure:not(.play)").map(still => getComputedStyle(still).display);
        found.width = [document.documentElement.scrollWidth, innerWidth];
        found.pictures = players().map(figure => figure.querySelector("svg.step").getBoundingClientRect().width);
        found.right = Math.max(...all(document, ".play .lane rect, .play .word rect").map(cell => cell.getBoundingClientRect().right));
        found.cells = players().map(figure => all(figure, ".lane").length);
        if (parent !== window) return answer();
        runs();
        playing(keys(), answer);
    } catch (error) {
        found.errors.push(String(error.stack));
        answer();
    }
}, 100));

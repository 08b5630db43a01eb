// Predictions: an input field or options for each question, the answer next to the prediction, and
// a score at the end of each chapter. Predictions are stored in the browser. Without this script,
// the answers are folded after their questions.
(function () {
    "use strict";
    const place = "reduction-workbook.predictions";
    const words = { right: "right", close: "close", off: "off" };

    function element(name, className, ...content) {
        const made = document.createElement(name);
        if (className) made.className = className;
        made.append(...content);
        return made;
    }

    // --- stored predictions: by question, the text typed or the number of the option ---

    let saved = {};
    try {
        saved = JSON.parse(localStorage.getItem(place)) || {};
    } catch (error) {
        saved = {}; // storage is not available: predictions last until the page is closed
    }

    function save() {
        try {
            if (Object.keys(saved).length) localStorage.setItem(place, JSON.stringify(saved));
            else localStorage.removeItem(place);
        } catch (error) {
            return;
        }
    }

    // --- one prediction ---

    function Prediction(box) {
        const answer = box.querySelector(".answer"), data = answer.dataset;
        this.box = box;
        this.name = data.name;
        this.chapter = data.name.split(".")[0];
        this.kind = data.kind;
        this.unit = data.unit;
        this.value = Number(data.value);
        this.id = this.chapter + " " + data.key;
        this.details = answer.querySelector("details");
        this.measured = answer.querySelector(".measured").textContent.trim();
        this.list = box.querySelector(":scope > ul:last-of-type");
        this.options = this.kind === "choice" ? Array.from(this.list.children) : [];
        const text = Array.from(box.querySelectorAll(":scope > p"), p => p.textContent).join(" ").replace(/\s+/g, " ").trim();
        this.question = text.split(/(?<=[.?!]) /).filter(sentence => sentence.endsWith("?")).pop() || text;
    }

    // { shown, off, grade } of a prediction, or null.
    Prediction.prototype.outcome = function () {
        const guess = Object.hasOwn(saved, this.id) ? String(saved[this.id]) : null;
        if (guess === null) return null;
        if (this.kind === "choice") {
            const option = this.options[Number(guess) - 1];
            if (!option) return null;
            const right = Number(guess) === this.value;
            return { shown: option.textContent.trim(), off: right ? "right" : "wrong", grade: right ? "right" : "off" };
        }
        const read = predictNumber.read(this.kind, this.unit, guess);
        if (read.problem) return null;
        return Object.assign({ shown: read.shown }, predictNumber.judge(this.kind, read.number, this.value));
    };

    Prediction.prototype.numberField = function () {
        const input = element("input"), label = element("label", "", "Your prediction");
        input.type = "text";
        input.id = label.htmlFor = "guess-" + this.name;
        input.autocomplete = "off";
        input.spellcheck = false;
        input.maxLength = 60;
        const unit = element("span", "unit", this.unit);
        unit.id = "unit-" + this.name;
        input.setAttribute("aria-describedby", unit.id + " problem-" + this.name);
        this.guess = () => input.value;
        this.first = input;
        return [label, input, unit];
    };

    Prediction.prototype.choiceField = function () {
        const set = element("fieldset", "", element("legend", "", "Your prediction"));
        this.options.forEach((option, k) => {
            const radio = element("input"), label = element("label");
            radio.type = "radio";
            radio.name = "guess-" + this.name;
            radio.value = String(k + 1);
            label.append(radio, element("span", "", ...Array.from(option.childNodes, node => node.cloneNode(true))));
            set.append(label);
        });
        this.guess = () => (set.querySelector("input:checked") || { value: "" }).value;
        this.first = set.querySelector("input");
        return [set];
    };

    Prediction.prototype.build = function () {
        const choice = this.kind === "choice";
        this.problem = element("p", "problem");
        this.problem.id = "problem-" + this.name;
        this.problem.setAttribute("role", "alert");
        this.form = element("form", "guess", ...(choice ? this.choiceField() : this.numberField()),
            element("button", "", "Predict"), this.problem);
        this.form.noValidate = true;
        this.form.addEventListener("submit", event => {
            event.preventDefault();
            this.submit();
        });
        this.verdict = element("div", "verdict");
        this.verdict.setAttribute("role", "status");
        this.box.classList.toggle("choice", choice);
        this.details.parentElement.before(this.form, this.verdict);
    };

    Prediction.prototype.submit = function () {
        const guess = this.guess();
        const problem = this.kind === "choice" ? (guess ? "" : "Choose one first.")
            : predictNumber.read(this.kind, this.unit, guess).problem || "";
        this.problem.textContent = problem;
        if (this.kind !== "choice") this.first.setAttribute("aria-invalid", String(problem !== ""));
        if (problem) {
            this.first.focus();
            return;
        }
        saved[this.id] = guess.trim();
        save();
        showAll();
        this.verdict.querySelector("button").focus();
    };

    Prediction.prototype.forget = function () {
        delete saved[this.id];
        save();
        this.form.reset();
        showAll();
        this.first.focus();
    };

    // Shows the question's state: unanswered or answered.
    Prediction.prototype.show = function () {
        const outcome = this.outcome(), was = this.box.classList.contains("revealed");
        this.box.classList.toggle("revealed", outcome !== null);
        this.form.hidden = outcome !== null;
        if (outcome !== null || was) this.details.open = outcome !== null;
        if (!outcome) {
            this.verdict.replaceChildren();
            return;
        }
        const list = element("dl");
        const rows = [["yours", outcome.shown], [this.kind === "count" ? "counted" : "measured", this.measured], ["off by", outcome.off]];
        if (this.kind === "choice") rows[2][0] = "that is";
        for (const [name, value] of rows)
            list.append(element("div", "", element("dt", "", name), element("dd", name === "off by" || name === "that is" ? outcome.grade : "", value)));
        const again = element("button", "", "Predict again");
        again.type = "button";
        again.setAttribute("aria-label", "Predict " + this.name + " again");
        again.addEventListener("click", () => this.forget());
        this.verdict.replaceChildren(list, again);
    };

    // --- the score of a chapter, and of the book ---

    function countsOf(list) {
        const counts = { asked: list.length, predicted: 0, right: 0, close: 0, off: 0 };
        for (const prediction of list) {
            const outcome = prediction.outcome();
            if (!outcome) continue;
            counts.predicted++;
            counts[outcome.grade]++;
        }
        return counts;
    }

    function sentence(counts) {
        const parts = Object.keys(words).filter(grade => counts[grade]).map(grade => counts[grade] + " " + words[grade]);
        return counts.predicted + " of " + counts.asked + " predicted" + (parts.length ? ": " + parts.join(", ") : "") + ".";
    }

    function row(prediction) {
        const outcome = prediction.outcome(), link = element("a", "", prediction.name);
        link.href = "#" + prediction.box.id;
        const head = element("th", "", link);
        head.scope = "row";
        return element("tr", "", head, element("td", "question", prediction.question),
            element("td", "", outcome ? outcome.shown : "not yet"),
            element("td", "", outcome ? prediction.measured : ""),
            element("td", outcome ? outcome.grade : "", outcome ? outcome.off : ""));
    }

    function showScore(section, mine) {
        const all = countsOf(predictions);
        const table = element("table"), head = element("tr");
        for (const name of ["", "question", "yours", "measured", "off by"]) {
            const cell = element("th", name === "question" ? name : "", name || element("span", "unseen", "prediction"));
            cell.scope = "col";
            head.append(cell);
        }
        table.append(element("thead", "", head), element("tbody", "", ...mine.map(row)));
        const forget = element("button", "", "Forget all predictions");
        forget.type = "button";
        forget.hidden = all.predicted === 0;
        forget.addEventListener("click", forgetAll);
        const label = element("div", "label", element("p", "", "Your predictions"));
        section.replaceChildren(label, element("div", "table-frame", table),
            element("p", "score", "In this chapter " + sentence(countsOf(mine)) + " In the whole book " + sentence(all)),
            element("p", "where", "Predictions are stored only in this browser. ", forget));
    }

    function forgetAll() {
        if (!confirm("Forget all " + Object.keys(saved).length + " predictions?")) return;
        const section = document.activeElement.closest(".scores");
        saved = {};
        save();
        for (const prediction of predictions) prediction.form.reset();
        showAll();
        if (section) section.focus();
    }

    const predictions = Array.from(document.querySelectorAll(".predict:has(> .answer)"), box => new Prediction(box));
    const sections = new Map();
    for (const prediction of predictions) prediction.build();
    for (const answers of document.querySelectorAll(".answers")) {
        const first = answers.querySelector("a");
        const mine = predictions.filter(prediction => first && prediction.chapter === first.textContent.split(".")[0]);
        const section = element("section", "scores");
        if (!mine.length) continue;
        section.setAttribute("aria-label", "Your predictions in chapter " + mine[0].chapter);
        section.tabIndex = -1;
        answers.before(section);
        sections.set(section, mine);
    }

    function showAll() {
        for (const prediction of predictions) prediction.show();
        for (const [section, mine] of sections) showScore(section, mine);
    }
    showAll();
})();

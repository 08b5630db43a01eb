// Exercises that ask for a number: a field that checks the reader's answer and explains known
// mistakes without revealing the right number.
(function () {
    "use strict";

    function element(name, className, text) {
        const made = document.createElement(name);
        made.className = className;
        if (text) made.textContent = text;
        return made;
    }

    // Readers may have rounded a mistaken answer.
    const equal = (a, b, within) => Math.abs(a - b) <= within * Math.abs(b);

    function judge(data, number) {
        if (equal(number, Number(data.answer), 1e-9)) return { grade: "right", words: "That is right." };
        const parts = data.mistakes.split(" | ");
        for (let k = 0; k + 1 < parts.length; k += 2)
            if (equal(number, Number(parts[k]), 0.005)) return { grade: "off", words: parts[k + 1] };
        return { grade: "off", words: "Not yet." };
    }

    for (const box of document.querySelectorAll(".exercise[data-answer]")) {
        const form = element("form", "guess"), label = element("label", "", "Your answer"), input = element("input", "");
        const problem = element("p", "problem"), judged = element("p", "judged");
        input.type = "text";
        input.id = label.htmlFor = "answer-" + box.id;
        input.autocomplete = "off";
        problem.setAttribute("role", "alert");
        judged.setAttribute("role", "status");
        form.append(label, input, element("button", "", "Check"), problem, judged);
        form.addEventListener("submit", function (event) {
            const read = predictNumber.read("count", "", input.value);
            const found = read.problem ? { grade: "", words: "" } : judge(box.dataset, read.number);
            event.preventDefault();
            problem.textContent = read.problem || "";
            judged.className = "judged " + found.grade;
            judged.textContent = found.words;
        });
        box.insertBefore(form, box.querySelector(":scope > .fold"));
    }
})();

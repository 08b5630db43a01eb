// The page's own behaviour, all of it optional: search, where you are in the contents, and links
// on the lines of code that stand for a chunk.
(function () {
    "use strict";
    const main = document.getElementById("text");
    const search = document.getElementById("search");
    const found = document.getElementById("found");
    const contents = document.getElementById("contents");
    const headings = Array.from(main.querySelectorAll("h1[id], h2[id], h3[id]"));
    document.documentElement.classList.add("scripted");

    function element(name, text) {
        const made = document.createElement(name);
        if (text) made.textContent = text;
        return made;
    }

    // A title as one line: the chapter's number apart from its name.
    function title(heading) {
        const number = heading.querySelector(".chapter-number");
        const text = heading.textContent.replace(/\s+/g, " ").trim();
        return number ? text.replace(number.textContent, number.textContent + " · ") : text;
    }

    // An answer that stands folded is not to be found before its question.
    function openText(node) {
        if (!node.matches(".predict")) return node.matches(".answers") ? "" : node.textContent;
        const copy = node.cloneNode(true);
        copy.querySelector(".answer").remove();
        return copy.textContent;
    }

    // Sections: a heading and everything up to the next one.
    function sections() {
        const list = [];
        let chapter = "";
        for (let node = main.firstElementChild; node; node = node.nextElementSibling) {
            if (headings.includes(node)) {
                if (node.tagName === "H1") chapter = title(node);
                list.push({ id: node.id, title: title(node), chapter: chapter, text: "" });
            } else if (list.length) {
                list[list.length - 1].text += " " + openText(node);
            }
        }
        for (const section of list) {
            section.text = section.text.replace(/\s+/g, " ").trim();
            section.low = section.text.toLowerCase();
            section.lowTitle = section.title.toLowerCase();
        }
        return list;
    }

    // How well a section answers: every word must occur; titles count most.
    function score(section, words) {
        let sum = 0;
        for (const word of words) {
            const times = section.low.split(word).length - 1;
            const inTitle = section.lowTitle.includes(word);
            if (!times && !inTitle) return 0;
            sum += Math.min(times, 5) + (inTitle ? 20 : 0);
        }
        return sum;
    }

    function addMarked(parent, text, words) {
        const low = text.toLowerCase();
        for (let at = 0; at < text.length;) {
            let next = text.length, length = 0;
            for (const word of words) {
                const place = low.indexOf(word, at);
                if (place >= 0 && place < next) {
                    next = place;
                    length = word.length;
                }
            }
            parent.append(text.slice(at, next));
            if (length) parent.append(element("mark", text.slice(next, next + length)));
            at = next + length;
        }
    }

    function excerpt(section, words) {
        const place = Math.max(0, Math.min(...words.map(function (word) {
            const at = section.low.indexOf(word);
            return at < 0 ? Infinity : at;
        }).concat(section.text.length)) - 40);
        const start = place && section.text.indexOf(" ", place) + 1;
        const cut = section.text.slice(start, start + 130);
        const whole = start + 130 >= section.text.length;
        return (start ? "… " : "") + (whole ? cut : cut.slice(0, cut.lastIndexOf(" ")) + " …");
    }

    const index = sections();

    function showResults() {
        const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        found.replaceChildren();
        found.hidden = words.length === 0;
        contents.hidden = words.length > 0;
        if (!words.length) return;
        const hits = index
            .map(function (section) { return { section: section, score: score(section, words) }; })
            .filter(function (hit) { return hit.score > 0; })
            .sort(function (a, b) { return b.score - a.score; })
            .slice(0, 20);
        for (const hit of hits) {
            const section = hit.section;
            const link = element("a"), item = element("li"), small = element("small");
            link.href = "#" + section.id;
            addMarked(link.appendChild(element("strong")), section.title, words);
            if (section.chapter !== section.title) small.append(section.chapter + ": ");
            addMarked(small, excerpt(section, words), words);
            link.append(small);
            item.append(link);
            found.append(item);
        }
        if (!hits.length) {
            const none = element("li", "Nothing found");
            none.className = "none";
            found.append(none);
        }
    }

    const kinds = [[".table-frame", "table"], ["figure", "figure"], ["*", "listing"]];

    // What scrolls sideways can be reached and scrolled by keyboard too; what does not is no stop.
    function markScrolling() {
        for (const box of main.querySelectorAll(".table-frame, pre, .sourceCode, figure:not(.play)")) {
            const scrolls = box.scrollWidth > box.clientWidth + 1 &&
                /auto|scroll/.test(getComputedStyle(box).overflowX);
            if (scrolls === box.hasAttribute("tabindex")) continue;
            if (scrolls) {
                box.setAttribute("tabindex", "0");
                box.setAttribute("role", "group");
                box.setAttribute("aria-label", kinds.find(([kind]) => box.matches(kind))[1]);
            } else {
                for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
            }
        }
    }
    markScrolling();
    window.addEventListener("resize", markScrolling);

    search.hidden = false;
    search.addEventListener("input", showResults);
    search.addEventListener("keydown", function (event) {
        const first = found.querySelector("a");
        if (event.key !== "Enter" || !first) return;
        event.preventDefault();
        first.click();
    });
    document.addEventListener("keydown", function (event) {
        const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
        if (event.key === "/" && !typing) {
            search.focus();
            event.preventDefault();
        } else if (event.key === "Escape" && search.value) {
            search.value = "";
            showResults();
        }
    });

    // Marks the chapter and section at the top of the window.
    const entries = new Map(Array.from(contents.querySelectorAll("a"), function (link) {
        return [link.hash.slice(1), link.parentElement];
    }));
    let marked = null;

    function markPlace() {
        let here = null;
        for (const heading of headings) {
            if (!entries.has(heading.id)) continue;
            if (here && heading.getBoundingClientRect().top > 120) break;
            here = heading;
        }
        if (!here || here === marked) return;
        marked = here;
        for (const item of entries.values()) item.classList.remove("here", "at");
        const item = entries.get(here.id);
        const chapter = item.parentElement.closest("li") || item;
        chapter.classList.add("here");
        if (item !== chapter) item.classList.add("at");
        if (!matchMedia("(max-width: 60rem)").matches) item.scrollIntoView({ block: "nearest" });
    }

    let waiting = false;
    document.addEventListener("scroll", function () {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(function () {
            waiting = false;
            markPlace();
        });
    }, { passive: true });
    markPlace();
    if (matchMedia("(max-width: 60rem)").matches) contents.open = false;

    // Lines that differ from the chunk which this one was made from: numbers from 1.
    for (const box of main.querySelectorAll("[data-changed]")) {
        const lines = box.querySelectorAll("code > span");
        for (const number of box.dataset.changed.split(" "))
            if (lines[number - 1]) lines[number - 1].classList.add("changed");
    }

    // `<<name>>` in code leads to the chunk of that name.
    for (const span of main.querySelectorAll("span.im")) {
        const name = /^<<(\S+)>>\s*$/.exec(span.textContent);
        if (!name || !document.getElementById("chunk-" + name[1])) continue;
        const link = element("a", span.textContent);
        link.href = "#chunk-" + name[1];
        link.className = "chunk-link";
        span.replaceChildren(link);
    }
})();

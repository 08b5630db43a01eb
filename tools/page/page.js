// The page's optional behaviour: search, the current place in the contents, scrolling by keyboard.
(function () {
    "use strict";
    const main = document.getElementById("text");
    const search = document.getElementById("search");
    const found = document.getElementById("found");
    const contents = document.getElementById("contents");
    const side = document.getElementById("side");
    const narrow = matchMedia("(max-width: 60rem)");

    function element(name, text) {
        const made = document.createElement(name);
        if (text) made.textContent = text;
        return made;
    }

    // A heading as one line, its chapter number separated from its name.
    function title(heading) {
        const number = heading.querySelector(".chapter-number");
        const text = heading.textContent.replace(/\s+/g, " ").trim();
        return number ? text.replace(number.textContent, number.textContent + " · ") : text;
    }

    // The visible text of an element, with formulas as characters. Folded answers are left out, so
    // that a search does not find an answer before its question.
    function openText(node) {
        if (node.matches(".answers, .scores, .player")) return "";
        if (!node.querySelector("math, .answer, script")) return node.textContent;
        const copy = node.cloneNode(true);
        for (const part of copy.querySelectorAll(".predict .answer, script")) part.remove();
        for (const formula of copy.querySelectorAll("math"))
            formula.replaceWith(Array.from(formula.querySelectorAll("mi, mn, mo, mtext"), sign => sign.textContent.replace("\u2061", "")).filter(Boolean).join(" "));
        return copy.textContent;
    }

    // Sections that are not indexed yet.
    const parts = Array.from(main.querySelectorAll("section"));
    let chapter = "";

    function indexSection(section) {
        for (const node of section.children) {
            const level = Number((/^H([123])$/.exec(node.tagName) || [])[1]);
            if (level === 1) chapter = title(node);
            if (level && node.id) {
                pageSearch.index.push({ id: node.id, level: level, title: title(node), chapter: chapter, text: "", code: "", bold: [], link: "" });
            } else if (pageSearch.index.length) {
                const section = pageSearch.index.at(-1);
                section[node.matches("pre, .chunk, details") ? "code" : "text"] += " " + openText(node).replace(/\s+/g, " ").trim();
                section.link = section.link || (node.querySelector("a[href^='#']") || { hash: "" }).hash;
                for (const words of node.querySelectorAll("strong"))
                    if (!words.closest(".answer, .answers, .label, .scores")) section.bold.push(words.textContent.replace(/\s+/g, " "));
            }
        }
    }

    function indexUntil(over) {
        while (parts.length && !over()) indexSection(parts.shift());
    }

    const whenIdle = window.requestIdleCallback || (act => setTimeout(() => act({ timeRemaining: () => 10 }), 50));

    function indexInIdleTime(deadline) {
        indexUntil(() => deadline.timeRemaining() < 3);
        if (parts.length) whenIdle(indexInIdleTime);
    }
    window.addEventListener("load", () => whenIdle(indexInIdleTime));

    function addMarked(parent, text, terms) {
        const any = new RegExp(terms.map(term => term.source).join("|"), "gi");
        let at = 0;
        for (const match of text.matchAll(any)) {
            parent.append(text.slice(at, match.index), element("mark", match[0]));
            at = match.index + match[0].length;
        }
        parent.append(text.slice(at));
    }

    function excerpt(text, terms) {
        const places = terms.map(term => text.search(term)).filter(at => at >= 0);
        const place = places.length ? Math.max(0, Math.min(...places) - 40) : 0;
        const start = place && text.indexOf(" ", place) + 1;
        const cut = text.slice(start, start + 130);
        const whole = start + 130 >= text.length;
        return (start ? "… " : "") + (whole ? cut : cut.slice(0, cut.lastIndexOf(" ")) + " …");
    }

    function showResults() {
        const words = search.value.trim();
        found.replaceChildren();
        found.hidden = !words;
        contents.hidden = !!words;
        if (!words) return;
        indexUntil(() => false);
        const { terms, sections } = pageSearch.find(words);
        for (const section of sections) {
            const link = element("a"), item = element("li"), small = element("small");
            link.href = "#" + section.id;
            addMarked(link.appendChild(element("strong")), section.title, terms);
            if (section.chapter !== section.title) small.append(section.chapter + ": ");
            const holds = text => terms.some(term => text.search(term) >= 0);
            addMarked(small, excerpt(holds(section.text) || !holds(section.code) ? section.text : section.code, terms), terms);
            link.append(small);
            item.append(link);
            found.append(item);
        }
        if (!sections.length) {
            const none = element("li", "Nothing found");
            none.className = "none";
            found.append(none);
        }
    }

    const kinds = [[".table-frame", "table"], ["figure", "figure"], ["*", "listing"]];

    // Makes elements that scroll sideways reachable by keyboard; other elements are not tab stops.
    function markScrolling(section) {
        for (const box of section.querySelectorAll(".table-frame, pre, figure:not(.play)")) {
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

    // Only elements near the window, since the browser has not laid out the others.
    const near = new Set();
    const nearness = new IntersectionObserver(function (entries) {
        for (const entry of entries) {
            near[entry.isIntersecting ? "add" : "delete"](entry.target);
            if (entry.isIntersecting) markScrolling(entry.target);
        }
    }, { rootMargin: "25%" });
    for (const section of parts) nearness.observe(section);
    window.addEventListener("resize", () => near.forEach(markScrolling));

    search.addEventListener("input", showResults);
    search.addEventListener("keydown", function (event) {
        const first = found.querySelector("a");
        if (event.key !== "Enter" || !first) return;
        event.preventDefault();
        first.click();
    });

    function startSearch() {
        if (narrow.matches && side.showPopover && !side.matches(":popover-open")) side.showPopover();
        search.focus();
    }

    document.addEventListener("keydown", function (event) {
        const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
        if (event.key === "/" && !typing) {
            startSearch();
            event.preventDefault();
        } else if (event.key === "Escape" && search.value) {
            search.value = "";
            showResults();
        }
    });
    side.addEventListener("click", function (event) {
        if (event.target.closest("a") && side.matches(":popover-open")) side.hidePopover();
    });
    side.addEventListener("toggle", function (event) {
        if (event.newState === "open" && event.source && event.source.matches(".find")) search.focus();
    });

    // Marks the chapter and section at the top of the window.
    const entries = new Map(Array.from(contents.querySelectorAll("a"), function (link) {
        return [link.hash.slice(1), link.parentElement];
    }));
    let marked = null;

    // The last box that begins above the reader's place in the window.
    function lastAbove(boxes) {
        return Array.from(boxes).filter(box => box.getBoundingClientRect().top <= 120).pop() || boxes[0];
    }

    function markPlace() {
        const chapter = lastAbove(main.querySelectorAll(".chapter"));
        const section = chapter && lastAbove(chapter.querySelectorAll("section"));
        const here = section && section.firstElementChild;
        if (!here || here === marked) return;
        marked = here;
        document.documentElement.classList.add("placed");
        for (const item of entries.values()) item.classList.remove("here", "at");
        const item = entries.get(here.id);
        if (!item) return;
        const top = item.parentElement.closest("li") || item;
        top.classList.add("here");
        if (item !== top) item.classList.add("at");
        if (!narrow.matches) item.scrollIntoView({ block: "nearest" });
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
})();

// Highlights code. CUDA's words come from cuda.xml, which pandoc uses for the book's page; the
// classes are pandoc's (code.css).
"use strict";
const simt = { data: JSON.parse(document.getElementById("data").textContent) };

// Makes an element with attributes and children: simt.make("td", { class: "number" }, "7").
simt.make = function (name, attributes, ...children) {
    const svg = /^(svg|g|rect|text|title|line)$/.test(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
        : document.createElement(name);
    for (const key in attributes || {}) {
        if (attributes[key] !== null && attributes[key] !== false) made.setAttribute(key, attributes[key]);
    }
    made.append(...children);
    return made;
};

(function () {
    const kinds = { qualifiers: "ex", variables: "va", types: "dt", synchronisation: "bu" };
    const words = new Map();
    for (const word of ("auto bool char class const constexpr double enum explicit extern false float " +
        "inline int long namespace nullptr operator private public short signed sizeof static struct " +
        "template this true typedef typename union unsigned using virtual void volatile").split(" ")) {
        words.set(word, "dt");
    }
    for (const word of "break case continue default do else for goto if return switch while".split(" ")) {
        words.set(word, "cf");
    }
    const syntax = new DOMParser().parseFromString(
        document.getElementById("syntax").textContent.trim(), "application/xml");
    for (const list of syntax.querySelectorAll("list")) {
        for (const item of list.querySelectorAll("item")) words.set(item.textContent, kinds[list.getAttribute("name")]);
    }

    // The patterns, in the order in which they are tried, and the class of each.
    const patterns = {
        cuda: [
            [/\/\/.*|\/\*.*?(?:\*\/|$)/y, "co"],
            [/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'/y, "st"],
            [/\s*#\s*\w+/y, "pp"],
            [/<<[^<>\s]+>>\s*$/y, "im"],
            [/<<<|>>>/y, "sc"],
            [/(?:0[xX][\da-fA-F']+|\d[\d']*\.?\d*(?:[eE][-+]?\d+)?|\.\d+)[a-zA-Z]*/y, "dv"],
            [/[A-Za-z_]\w*/y, function (word, rest) {
                return words.get(word) || (/^\s*\(/.test(rest) ? "fu" : null);
            }],
        ],
        ptx: [
            [/\/\/.*/y, "co"],
            [/\s*\$\w+:?/y, "im"],
            [/%[\w.]+/y, "va"],
            [/0[fFdD][\da-fA-F]+|0x[\da-fA-F]+|-?\b\d+\b/y, "dv"],
            [/\s*@!?/y, "cf"],
            [/\.(?:visible|entry|func|reg|param|shared|local|align|maxntid|reqntid|minnctapersm|pragma)\b/y, "ex"],
            [/[A-Za-z_][\w.:]*/y, function (word) { return /^_Z|_param_/.test(word) ? null : "kw"; }],
        ],
    };

    // The text as nodes; matches are in spans.
    simt.highlight = function (text, language) {
        const out = document.createDocumentFragment();
        let plain = "";
        for (let at = 0; at < text.length;) {
            let found = null, kind = null;
            for (const [pattern, named] of patterns[language]) {
                pattern.lastIndex = at;
                const match = pattern.exec(text);
                if (!match || !match[0]) continue;
                found = match[0];
                kind = typeof named === "function" ? named(found, text.slice(at + found.length)) : named;
                break;
            }
            if (kind) {
                out.append(plain, simt.make("span", { class: kind }, found));
                plain = "";
            } else {
                plain += found || text[at];
            }
            at += found ? found.length : 1;
        }
        out.append(plain);
        return out;
    };
})();

// Search: matches word stems and synonyms, and ranks sections. The index is built in idle time, or
// immediately when a reader searches earlier.
const pageSearch = (function () {
    "use strict";
    // Synonyms; the book's own term comes first.
    const names = [
        ["shuffle", "warp shuffle", "shuffle instruction", "shfl", "__shfl_down_sync"],
        ["shared memory", "smem", "scratchpad"],
        ["global memory", "gmem", "dram", "hbm"],
        ["multiprocessor", "streaming multiprocessor", "sm"],
        ["barrier", "syncthreads", "__syncthreads"],
        ["block", "thread block", "cta", "work group"],
        ["race", "race condition", "data race"],
        ["divergence", "branch divergence", "warp divergence"],
        ["grid-stride", "grid stride"],
        ["atomic", "atomicadd"],
        ["CPU device", "emulator", "simulator"],
        ["rounding", "precision", "accuracy", "floating point error"],
        ["many GPUs", "multi gpu", "multiple gpus", "nccl", "allreduce"],
        ["operator", "functor"],
        ["last block", "single pass", "threadfence"],
        ["sixteen bytes", "vectorized load", "vector load", "128-bit load", "float4"],
        ["warps resident", "resident warps", "occupancy"],
    ];
    const endings = /(?:ations?|ings?|ences?|ents?|ions?|ers?|ed|es|e|ly|s)$/;
    const index = [];

    function stem(word) {
        const short = word.replace(endings, "").replace(/([b-df-hj-np-tv-z])\1$/, "$1");
        return short.length >= 4 ? short : word.length > 3 ? word.replace(/s$/, "") : word;
    }

    const literal = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

    // A regular expression for a phrase. Short words match as prefixes if they were typed; synonyms
    // such as `sm` match whole words only.
    function stems(phrase, more, ending) {
        return phrase.toLowerCase().split(/\s+/).map(word => word.length > 3 ?
            "(?:" + literal(word) + "|" + literal(stem(word)) + (ending || "[a-z]*") + ")" : literal(stem(word)) + more).join("\\s+");
    }

    // The terms of a query: one expression per word, or per phrase that has synonyms.
    function termsOf(text) {
        let rest = " " + text.toLowerCase().replace(/'/g, "’").replace(/\s+/g, " ").trim() + " ";
        const terms = [];
        for (const group of names) {
            const phrase = group.filter(name => rest.includes(" " + name.toLowerCase() + " ")).sort((a, b) => b.length - a.length)[0];
            if (!phrase) continue;
            rest = rest.replace(" " + phrase.toLowerCase() + " ", " ");
            terms.push(group.map(name => stems(name, "(?![a-z])")).join("|"));
        }
        for (const word of rest.split(" ").filter(Boolean)) terms.push(stems(word, "[a-z]*"));
        return terms.map(term => new RegExp("(?<![a-z0-9])(?:" + term + ")", "gi"));
    }

    // Expressions for a text that is the query or its synonym: with at most a word after it, or in another form.
    function introductions(text) {
        const query = text.toLowerCase().replace(/\s+/g, " ").trim();
        const group = names.find(group => group.some(name => name.toLowerCase() === query));
        const of = form => (group || []).concat(query).map(name => form(name)).join("|");
        return [of(name => literal(name.toLowerCase()) + "(?:e?s)?(?:\\s+\\S+)?"), of(name => stems(name, "s?", "[a-z]{0,4}"))]
            .map(form => new RegExp("^(?:" + form + ")\\W*$", "i"));
    }

    const times = (text, term) => (text.match(term) || []).length;

    // Every term must occur. Titles weigh more than text, and a chapter's title more than a
    // section's; code and folded text only break ties.
    function score(section, terms) {
        let sum = 0;
        for (const term of terms) {
            const inTitle = times(section.title, term), inText = times(section.text, term), inCode = times(section.code, term);
            if (!inTitle && !inText && !inCode) return 0;
            sum += Math.min(inText, 5) + Math.min(inCode, 5) / 6 + (inTitle ? 80 >> section.level : 0);
        }
        return sum;
    }

    // The section that introduces a term comes first: the one to which the glossary's entry links, else
    // the first one that has the term in bold.
    function find(text) {
        const terms = termsOf(text), forms = introductions(text);
        const entry = index.find(section => section.chapter.endsWith("Glossary") && forms[1].test(section.title));
        const introduction = (entry && index.find(section => "#" + section.id === entry.link)) ||
            forms.map(form => index.find(section => section.bold.some(words => form.test(words)))).find(Boolean);
        return { terms: terms, sections: index.map(section => ({ section: section, score: section === introduction ? Infinity : score(section, terms) }))
            .filter(hit => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 20).map(hit => hit.section) };
    }

    return { index: index, find: find };
})();

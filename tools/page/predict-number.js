// Parses the number that a reader predicts, and says how far off it is. The notebooks accept the
// same texts (notebook/predictions.py); tests/page/readings.txt and judgements.txt test both.
const predictNumber = (function () {
    "use strict";
    // Factors to the units that the book calculates with: microseconds, GB/s, bytes.
    const scales = {
        time: { ns: 1e-3, nanosecond: 1e-3, us: 1, microsecond: 1, ms: 1e3, millisecond: 1e3, s: 1e6, sec: 1e6, second: 1e6, min: 6e7, minute: 6e7 },
        rate: { "b/s": 1e-9, "kb/s": 1e-6, "mb/s": 1e-3, "gb/s": 1, "tb/s": 1e3, "gib/s": 1.073741824 },
        bytes: { b: 1, byte: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 1048576, gib: 1073741824 },
        percent: { "%": 1, percent: 1, "per cent": 1, point: 1 },
        ratio: { x: 1, time: 1, fold: 1, "%": 0.01, percent: 0.01 },
        count: { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, g: 1e9, billion: 1e9, ki: 1024, mi: 1048576, gi: 1073741824 },
    };

    // Parses digits. How many digits follow a point or comma decides whether it groups them or
    // starts a fraction.
    function digitsOf(text) {
        const plain = text.replace(/(\d)[ '_](?=\d{3}(?!\d))/g, "$1");
        const grouped = mark => new RegExp("^[1-9]\\d{0,2}(\\" + mark + "\\d{3})+$");
        if (plain.includes(",") && plain.includes(".")) {
            const fraction = plain.lastIndexOf(",") > plain.lastIndexOf(".") ? "," : ".";
            const [whole, part, more] = plain.split(fraction);
            if (more !== undefined || !grouped(fraction === "," ? "." : ",").test(whole)) return NaN;
            return Number(whole.replace(/[.,]/g, "") + "." + part);
        }
        if (grouped(",").test(plain)) return Number(plain.replace(/,/g, ""));
        if (/^[1-9]\d{0,2}(\.\d{3}){2,}$/.test(plain)) return Number(plain.replace(/\./g, ""));
        return /^(\d+[.,]?\d*|[.,]\d+)$/.test(plain) ? Number(plain.replace(",", ".")) : NaN;
    }

    // Accepts a unit in the plural, in capitals, or with another letter for micro.
    function scaleOf(kind, unit, word) {
        const bare = word.toLowerCase().replace(/[\u00b5\u03bc]/g, "u").replace("\u00d7", "x").replace(/ps$/, "/s");
        const known = scales[kind];
        for (const name of [bare, bare.replace(/s$/, "")])
            if (Object.hasOwn(known, name)) return known[name];
        const singular = text => text.toLowerCase().replace(/s$/, "");
        return unit && singular(word) === singular(unit) ? 1 : NaN;
    }

    // Returns { number, shown }, or { problem }, a message for the reader.
    function read(kind, unit, text) {
        const plain = text.normalize("NFKC").replace(/\s+/g, " ").trim()
            .replace(/^(about|roughly|around|approx\.?|ca\.?|circa|~|\u2248) ?/i, "").replace(/^[\u2212\u2013]/, "-");
        if (!plain) return { problem: "Type a number first." };
        const parts = /^([-+]?)([\d.,]+(?:[ '_]\d{3}(?!\d)[\d.,]*)*)(?:e([-+]?\d{1,3}))?(?: ?(\D.*))?$/i.exec(plain);
        let number = parts ? digitsOf(parts[2]) : NaN;
        if (!Number.isFinite(number)) return { problem: "\u201c" + text.trim() + "\u201d is not a number: type one such as 12.5." };
        number *= Number("1e" + (parts[3] || 0)) * (parts[1] === "-" ? -1 : 1);
        const scale = scaleOf(kind, unit, parts[4] || unit);
        const counted = parts[4] || !unit ? 1 : 0;
        if (parts[4] && Number.isNaN(scale))
            return { problem: "I do not know the unit \u201c" + parts[4] + "\u201d here. Answer in " + (unit || "plain numbers") + "." };
        number *= Number.isNaN(scale) ? 1 : scale;
        if (!Number.isFinite(number)) return { problem: "\u201c" + text.trim() + "\u201d is too large." };
        return { number: number, shown: counted ? plain : plain + "\u00a0" + unit };
    }

    const short = number => number.toLocaleString("en", { maximumSignificantDigits: number < 10 ? 2 : 3 });

    // Returns { off, grade }: off in words; grade is right (within a tenth), close (within a factor
    // of two) or off.
    function judge(kind, yours, measured) {
        const high = yours > measured ? " too high" : " too low", gap = Math.abs(yours - measured);
        if (gap <= 1e-9 * Math.abs(measured)) return { off: "exactly right", grade: "right" };
        if (kind === "percent")
            return { off: (gap < 1 ? "less than 1 point" : short(Math.round(gap)) + (gap < 1.5 ? " point" : " points")) + high,
                     grade: gap <= 5 ? "right" : gap <= 15 ? "close" : "off" };
        const factor = yours / measured > 0 ? Math.max(yours / measured, measured / yours) : Infinity;
        if (factor === Infinity)
            return { off: (measured === 0 ? "it is zero" : yours === 0 ? "it is not zero" : "the sign is wrong"), grade: "off" };
        const part = Math.round(100 * gap / Math.abs(measured));
        const off = factor >= 2 ? short(factor) + " times" : part < 1 ? "less than 1\u00a0%" : part + "\u00a0%";
        return { off: off + high, grade: factor <= 1.1 ? "right" : factor < 2 ? "close" : "off" };
    }

    return { read: read, judge: judge };
})();

// Describes a step of the player in a sentence.
(function () {
    "use strict";
    const LANES = 32;

    function count(number, one) { return number + " " + one + (number === 1 ? "" : "s"); }

    function listed(items) {
        return items.length < 2 ? items.join("") : items.slice(0, -1).join(", ") + " and " + items[items.length - 1];
    }

    function lanesText(lanes) {
        if (lanes.length === LANES) return "all lanes";
        if (lanes.length === 1) return "lane " + lanes[0];
        return count(lanes.length, "lane");
    }

    stepPlayer.shortName = function (section) {
        return section.kind === "level" ? String(section.level) : section.kind === "shuffle" ? "w" + section.warp : section.kind;
    };

    stepPlayer.sectionName = function (model, section) {
        if (section.kind === "level") return "Level " + section.level + " of " + model.levels;
        if (section.kind === "shuffle") return "Warp " + section.warp;
        return section.kind === "fill" ? "Fill" : "Result";
    };

    // "banks 0 and 16 get requests for 2 words each"
    function queueText(step) {
        const longest = [];
        step.banks.forEach(function (bank, k) { if (bank.length === step.wavefronts) longest.push(k); });
        const several = longest.length > 1;
        const banks = longest.length > 4 ? longest.length + " banks get" : several ? "banks " + listed(longest) + " get" : "bank " + longest[0] + " gets";
        return banks + " requests for " + step.wavefronts + " words" + (several ? " each" : "");
    }

    function accessText(step) {
        const one = step.lanes.length === 1;
        const text = lanesText(step.lanes) + " " + step.op + (one ? "s" : "") + ", " + count(step.wavefronts, "wavefront");
        return text + (step.wavefronts > 1 ? ": " + queueText(step) : "");
    }

    function shuffleText(step) {
        const away = step.lanes.map(function (lane, k) { return step.words[k] - lane; }).filter(Boolean), by = Math.abs(away[0]);
        const same = function (is) { return away.length > 0 && away.every(is); };
        const whose = same(function (far) { return far === away[0]; }) ? "the lane " + by + (away[0] > 0 ? " above" : " below") :
            same(function (far) { return Math.abs(far) === by; }) ? "the lane " + by + " above or below" : "another lane";
        return count(away.length, "lane") + " read" + (away.length === 1 ? "s" : "") + " the register of " + whose;
    }

    // The sentence that is shown, and read by screen readers.
    stepPlayer.sentence = function (model, step) {
        const section = step.section, name = stepPlayer.sectionName(model, section);
        const apart = section.kind === "level" ? ", words " + section.distance + " apart" : "";
        let text;
        if (step.op === "barrier") text = "barrier, every warp has arrived";
        else if (step.op === "syncwarp") text = "warp " + step.warp + ", " + lanesText(step.lanes) + " meet at __syncwarp()";
        else text = (section.kind === "shuffle" ? "" : "warp " + step.warp + ", ") + (step.op === "shuffle" ? shuffleText(step) : accessText(step));
        return name + apart + ": " + text + "." + raceText(step);
    };

    function raceText(step) {
        const lanes = step.races.reduce(function (sum, race) { return sum + race.lanes.length; }, 0);
        if (!lanes) return "";
        return " Race: " + stepPlayer.pairOf(step).join(", which ") + "; the two accesses are not ordered" +
            (lanes > 1 ? ", and so " + (lanes === 2 ? "is 1 more pair" : "are " + (lanes - 1) + " more pairs") : "") + ".";
    }

    // The first two accesses that race: ["thread 0 reads word 16", "thread 16 writes"].
    stepPlayer.pairOf = function (step) {
        const race = step.races[0], verb = { load: "reads", store: "writes" };
        return ["thread " + race.thread + " " + verb[step.op] + " word " + race.word, "thread " + race.other + " " + (verb[race.op] || "accesses")];
    };

    // An example of what a lane adds in a step; "" if the values are unknown, or if what the lane
    // does with them is, as in a reader's own kernel that shuffles.
    stepPlayer.example = function (model, step) {
        const lane = step.lanes[0], minus = function (number) { return String(number).replace("-", "−"); };
        const added = function (terms) { return terms.map(function (term, k) { return k && term < 0 ? "(" + minus(term) + ")" : minus(term); }).join(" + "); };
        const moved = stepPlayer.movedBy(model, step);
        if (step.op === "shuffle")
            return model.own ? "" : "lane " + lane + ": " + added([moved[lane], moved[step.words[0]]]) + " = " + minus(moved[lane] + moved[step.words[0]]);
        if (step.op !== "store" || step.section.kind !== "level") return "";
        const terms = step.section.steps.filter(function (other) {
            return other.op === "load" && other.warp === step.warp && other.index < step.index && other.lanes.includes(lane);
        }).map(function (other) { return stepPlayer.movedBy(model, other)[lane]; });
        if (terms.length === 1) terms.unshift(model.memory[step.index - 1].values[step.words[0]]);
        if (terms.includes(null)) return "";
        if (terms.reduce(function (sum, term) { return sum + term; }, 0) !== moved[lane]) return "";
        return "lane " + lane + ": " + added(terms) + " = " + minus(moved[lane]);
    };
})();

"""Runs kernels of the book's own page with its own engine: what chapters suggest to try, what goes wrong, a phone,
and no network."""
import json
import re
import time
from pathlib import Path

from reader import click, idle, reset, run, there, until, value

INSTRUCTIONS = ("warp_insts", "thread_insts")  # which differ between compilers
BARRIER, SYNCWARP = "        __syncthreads();  // this level is complete before the next one reads it\n", "            __syncwarp();  // every lane has "
STRIDED, SHUFFLE = "#chunk-block-sum-strided", "#chunk-block-sum-shuffle"


def said(page, box):
    return page.ask(f"document.querySelector('{box} .run-said').textContent")


def change(page, box, edits):
    """Types each new text over the old one."""
    for old, new in edits:
        found = page.ask(f"""(area => {{ const at = area.value.indexOf({json.dumps(old)}); area.focus();
            area.setSelectionRange(at, at + {len(old)}); return at >= 0; }})(document.querySelector('{box} textarea'))""")
        assert found, f"{box}: no {old!r}"
        if new:
            page.type(new)
        else:
            page.ask("document.execCommand('delete')")


def counters(page, box, which="counter"):
    cells = page.ask(f"Array.from(document.querySelectorAll('{box} [data-{which}]'), e => [e.dataset.{which}, e.textContent])")
    return {name: int(text.replace(",", "")) for name, text in cells}


def seen(page, box):
    """What a run shows besides counters: the answer, the kinds of hazards, the lines marked in the margin."""
    return page.ask(f"""(all => [document.querySelector('{box} [data-answer]')?.dataset.answer, all('.run-hazard strong'), all('.numbers .marked')])
        (part => Array.from(document.querySelectorAll('{box} ' + part), e => e.textContent).join(' '))""")


def tried(page, box, edits):
    """Runs the book's text, then the reader's: [(what is seen, counters) of both]."""
    run(page, box)
    both = [(seen(page, box), counters(page, box))]
    change(page, box, edits)
    run(page, box)
    return both + [(seen(page, box), counters(page, box))]


# ---- The suggestions of the chapters: what to change in a kernel, what the run shows, and how its counts change ----

RIGHT = ["right", "", ""]
TRIES = {
    "#chunk-sum-one-thread": ([("i++", "i += 2"), ("in[i]", "in[i] + in[i + 1]")], RIGHT, lambda old, new: (
        new["warp_insts"] < old["warp_insts"] and new["global_ld_sectors"] == old["global_ld_sectors"])),
    "#chunk-block-sum-global": ([(BARRIER, "")], ["wrong", "race", "10"], lambda old, new: new["barriers"] < old["barriers"]),
    "#chunk-block-sum-mask": ([("2 * d - 1", "d")], RIGHT, lambda old, new: (
        new["shared_ld_insts"] > old["shared_ld_insts"] and new["shared_st_insts"] > old["shared_st_insts"])),
    STRIDED: ([("2 * d * t", "t % (2 * d) == 0 ? t : blockDim.x")], RIGHT, lambda old, new: (
        old["shared_ld_conflicts"] > 0 == new["shared_ld_conflicts"] == new["shared_st_conflicts"] and
        new["shared_ld_insts"] > old["shared_ld_insts"] and new["shared_ld_wavefronts"] == old["shared_ld_wavefronts"])),
    "#chunk-block-sum-first-add": ([("+ t;", "+ 2 * t;"), ("i + blockDim.x", "i + 1"), ("i + blockDim.x", "i + 1")], RIGHT, lambda old, new: (
        new["global_ld_sectors"] == 2 * old["global_ld_sectors"])),
    "#chunk-block-sum-last-warp": ([(SYNCWARP + "read its partner before any partner changes\n", ""),
                                    (SYNCWARP + "written before the next level reads\n", "")], ["right", "race race", "17 18"], lambda old, new: True),
    "#chunk-block-sum-unrolled": ([("BLOCK / 2", "blockDim.x / 2")], RIGHT, lambda old, new: (
        new["warp_insts"] > old["warp_insts"] and all(new[name] == old[name] for name in old if name not in INSTRUCTIONS))),
    "#chunk-grid-stride": ([("i += threads", "i = n")], RIGHT, lambda old, new: True),
    SHUFFLE: ([("    float sum", "    mine += __shfl_xor_sync(0xffffffff, mine, 16);\n    float sum")], ["wrong", "", ""], lambda old, new: True),
    "#chunk-sum-atomic-element": ([("atomicAdd(out, in[i])", "*out += in[i]")], ["wrong", "race", "5"], lambda old, new: (
        old["atomics"] > 0 == new["atomics"])),
}


def test_suggestions(tests, page, unequal):
    boxes = page.ask("Array.from(document.querySelectorAll('.runnable > .try'), e => '#' + e.parentElement.id)")
    tests.report("chapters 1 to 10 suggest a change beside their first kernel", unequal(boxes, list(TRIES)))
    for box, (edits, shown, holds) in TRIES.items():
        (before, old), (after, new) = tried(page, box, edits)
        tests.report(f"the change of {box[7:]} does what the chapter says", unequal([before, after], [RIGHT, shown]),
                     "" if holds(old, new) else f"before {old}\nafter {new}")
    page.ask("document.querySelector('#chunk-grid-stride input').value = 1000000")
    run(page, "#chunk-grid-stride")
    sums = page.ask(f"/The sum is (-?\\d+), not (-?\\d+)/.exec(document.querySelector('{SHUFFLE} .run-said').textContent).slice(1)")
    tests.report("a grid that is too small for 1,000,000 elements, and a sum that is doubled", unequal(
        [seen(page, "#chunk-grid-stride"), int(sums[0])], [["wrong", "", ""], 2 * int(sums[1])]))


def test_counts(tests, page, unequal):
    """Of chapters 2, 4, 6 and 9, where a player is beside the code."""
    for box in ("#chunk-block-sum-interleaved", STRIDED, "#chunk-block-sum-last-warp", SHUFFLE):
        if there(page, f"{box} textarea"):
            reset(page, box)
        run(page, box)
        ours, nvcc = counters(page, box), counters(page, box, "nvcc")
        other = {name: (ours[name], nvcc[name]) for name in nvcc if name not in INSTRUCTIONS and ours[name] != nvcc[name]}
        tests.report(f"{box[7:]} has the accesses that nvcc's has", unequal([seen(page, box), other, len(nvcc) > 10], [RIGHT, {}, True]))
        play(page, box)
        tests.check(f"and the player plays it: {box[7:]}", page.ask(f"document.querySelectorAll('{box} .player .lane.active').length") > 0)
    change(page, SHUFFLE, TRIES[SHUFFLE][0])
    run(page, SHUFFLE)
    play(page, SHUFFLE)
    tests.report("an exchange is described as one", unequal(page.ask(f"document.querySelector('{SHUFFLE} .player .sentence').textContent"),
                                                            "Warp 0: 32 lanes read the register of the lane 16 above or below."))
    reset(page, SHUFFLE)
    run(page, SHUFFLE)
    play(page, SHUFFLE)
    code = page.ask(f"document.querySelector('{SHUFFLE} .player .code code').textContent")
    tests.check("a step in a function of another listing shows its line", "__shfl_down_sync" in code, code)
    tests.report("the worst access is drawn by its banks", unequal(page.ask(
        f"(e => [e.querySelector('button.line').textContent, e.querySelectorAll('.asked.clash').length])(document.querySelector('{STRIDED} .run-banks'))"),
        ["line 10", 32]))


def play(page, box):
    page.ask(f"document.querySelector('{box} details:has(.player)').open = true")
    until(page, f"!!document.querySelector('{box} .player svg.step')?.childElementCount")


def test_race(tests, page, unequal):
    reset(page, "#chunk-block-sum-global")
    run(page, "#chunk-block-sum-global")
    tests.report("a run without shared memory is not played", unequal([there(page, "#chunk-block-sum-global .player"), page.ask(
        "document.querySelector('#chunk-block-sum-global .found').lastChild.textContent")], [False, "There is nothing to step through: the player shows shared memory and shuffles."]))
    change(page, STRIDED, [(BARRIER, "")])
    run(page, STRIDED)
    tests.report("a race has words under its line", unequal(page.ask(f"document.querySelector('{STRIDED} .bubble').textContent"), "race between threads on this line"))
    play(page, STRIDED)
    sentence = page.ask(f"document.querySelector('{STRIDED} .player .sentence').textContent")
    tests.report("a run with races is played from its first race", unequal(seen(page, STRIDED), ["wrong", "race", "10"]),
                 "" if "Race: thread " in sentence else sentence)
    reset(page, STRIDED)
    change(page, STRIDED, [("in[i] :", "in[i] * 0.5f :")])
    run(page, STRIDED)
    play(page, STRIDED)
    tests.check("and so is one whose values are not whole numbers", page.ask(
        f"Array.from(document.querySelectorAll('{STRIDED} .player .word text'), e => e.textContent).some(text => text.endsWith('.5'))"))


# ---- Runs that fail ----

FAILURES = [
    ("a pointer far outside", [("in[i] :", "in[i + 100000000] :")], "line 6: out of bounds. Thread (0,0,0) of block (0,0,0) reads element ", "6"),
    ("an index outside of shared memory", [("s[left + d]", "s[left + 1000 * d]")], "line 10: out of bounds. Thread (0,0,0) of block (0,0,0) reads element 1000 of s ", "10"),
    ("more threads than the kernel takes", [("__global__ void", "__global__ void __launch_bounds__(64)")], "line 3: The kernel cannot start: threads per block: 256, at most 64", "3"),
    ("too much shared memory", [("extern __shared__ float s[];", "__shared__ float s[100000];")], "line 4: 400000 bytes of shared memory; a block has at most 49152 of", "4"),
    ("local memory without end", [("s[t] =", "float far[1000000]; far[blockDim.x] = t; s[t] = far[t] +")], "line 3: The kernel cannot be loaded: ", "3"),
    ("a mistake of type", [("float s[];", "float s[]; char *text = 1.5;")], "line 4: the initial value is double", "4"),
    ("words that are not C", [("// One partial", "hello world // One partial")], "line 1: a type is missing before hello", "1"),
]


def test_failures(tests, page, unequal):
    for name, edits, sentence, line in FAILURES:
        reset(page, STRIDED)
        change(page, STRIDED, edits)
        run(page, STRIDED)
        words = said(page, STRIDED)
        tests.report(f"{name}: one sentence, at the reader's line", unequal([words[:len(sentence)], seen(page, STRIDED)[2]], [sentence, line]),
                     "" if there(page, f"{STRIDED} .bubble") else "no bubble")
        reset(page, STRIDED)
        run(page, STRIDED)
        tests.report("and the next run is right", unequal(seen(page, STRIDED), RIGHT))


def test_endless(tests, page, unequal):
    change(page, STRIDED, [("    if (t == 0)", "    while (1);\n    if (t == 0)")])
    click(page, f"{STRIDED} button.run")
    time.sleep(0.3)
    tests.report("an endless loop runs on", unequal(page.ask(f"!!document.querySelector('{STRIDED}.running')"), True))
    click(page, f"{STRIDED} button.stop")
    idle(page, STRIDED)
    stopped = said(page, STRIDED)
    reset(page, STRIDED)
    run(page, STRIDED)
    tests.report("until Stop ends it, and the next run is right", unequal([stopped[:14], seen(page, STRIDED)], ["Stopped after ", RIGHT]))


def test_phone(tests, page, url, unequal):
    page.window(390, 844, phone=True)
    page.call("Network.enable")
    page.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    page.ask("localStorage.clear()")
    page.open(url)
    (before, old), (after, new) = tried(page, STRIDED, TRIES[STRIDED][0])
    tests.report("offline, on a phone: the conflicts of chapter 4 disappear", unequal([before, after, TRIES[STRIDED][2](old, new)], [RIGHT, RIGHT, True]),
                 unequal(page.ask("document.documentElement.scrollWidth"), 390),
                 unequal(page.ask("performance.getEntriesByType('resource').map(e => e.name).filter(name => !/^(file|blob|data):/.test(name))"), []))
    page.reload()
    click(page, f"{STRIDED} button.run")
    idle(page, STRIDED)
    tests.check("and the text is there again after a reload", "t % (2 * d)" in value(page, STRIDED))


# ---- Exercises ----


def variants():
    """{chunk: {"solution": text, "wrong": [(text, the requirement that it fails)..]}} of the chapters' exercises."""
    found = {}
    for path in sorted(Path("chapters").glob("*.md")):
        for chunk, kind, more, text in re.findall(r"^``` \{\.cuda #(\S+) \.(solution|wrong)(.*?)\}\n(.*?)^```$", path.read_text(), re.M | re.S):
            here = found.setdefault(chunk, {"wrong": []})
            if kind == "solution":
                here["solution"] = text
            else:
                here["wrong"].append((text, re.search(r'fails="(.*?)"', more)[1]))
    return found


def check(page, box, text=None):
    """Checks this text, or what is there: [the sentence, {requirement: whether it holds}, the hint's label]."""
    if text is not None:
        page.ask(f"""(area => {{ area.value = {json.dumps(text.rstrip())}; area.dispatchEvent(new Event('input')); }})(document.querySelector('{box} textarea'))""")
    click(page, f"{box} button.check")
    idle(page, box)
    return page.ask(f"""[document.querySelector('{box} .run-said').textContent, Object.fromEntries(Array.from(document.querySelectorAll('{box} .demand'),
        e => [e.title, e.dataset.holds || null])), document.querySelector('{box} .run-hint-given strong')?.textContent || ""]""")


def test_exercises(tests, page, unequal, short):
    """Each exercise with its solution; the first of each chapter with its starter and wrong answers too, which
    tests/simt/engine has of all."""
    known, wrong, last, count = variants(), [], "", 0
    boxes = page.ask("Array.from(document.querySelectorAll('.exercise:has(button.check)'), e => [e.dataset.exercise, e.querySelector('.chunk:has(button.check)').id])")
    for number, name in boxes:
        box, given = "#" + name, known[name.removeprefix("chunk-")]
        first, last = number.split(".")[0] != last, number.split(".")[0]
        if short and not first:
            continue
        click(page, f"{box} button.check")
        until(page, f"!!document.querySelector('{box} textarea')")
        starter, solution = check(page, box) if first else None, check(page, box, given["solution"])
        if first and (starter[0] != "This is the starter, unchanged." or "false" not in starter[1].values()):
            wrong.append(f"{number}, the starter: {starter}")
        if solution[0] != f"Exercise {number} is solved." or "false" in solution[1].values():
            wrong.append(f"{number}, the solution: {solution}")
        for text, demand in given["wrong"] if first else []:
            answer = check(page, box, text)
            if answer[1].get(demand) != "false" or not answer[2].startswith("Hint "):
                wrong.append(f"{number}, {text}: {answer} but {demand}")
        count += 1
    tests.check("exercises: the solution passes, the starter fails, wrong answers fail what names them and get a hint",
                not wrong, wrong)
    tests.report("each of chapters 0 to 10 and 18 has some", unequal(list(dict.fromkeys(number.split(".")[0] for number, _ in boxes)), [*map(str, range(11)), "18"]))
    tests.report("and those that are solved are marked", unequal(page.ask("document.querySelectorAll('.exercise .solved').length"), count))


def test_stopped(tests, page, unequal):
    box = "#" + page.ask("document.querySelector('.exercise[data-exercise=\"2.1\"] .chunk:has(button.check)').id")
    reset(page, box)
    change(page, box, [("in[i]", "in[i + 100000000]")])
    check(page, box)
    tests.report("a run of an exercise that ends early says where", unequal(page.ask(f"document.querySelector('{box} p.run-error').textContent")[:47],
                                                                          "line 4: out of bounds. Thread (0,0,0) of block "),
                 "" if there(page, f"{box} .bubble") else "no bubble")


def test_all(tests, page, url, unequal, short):
    page.open(url)
    began = page.ask("performance.now()")
    run(page, STRIDED)
    first = page.ask("performance.now()") - began
    again = page.ask(f"""(async () => {{ const began = performance.now(), box = document.querySelector('{STRIDED}'); box.querySelector('button.run').click();
        while (box.matches('.running')) await new Promise(requestAnimationFrame); return performance.now() - began; }})()""")
    tests.check("the first run takes less than three seconds, the next less than one", first < 3000 and again < 1000, [first, again])
    test_suggestions(tests, page, unequal)
    test_counts(tests, page, unequal)
    test_race(tests, page, unequal)
    test_failures(tests, page, unequal)
    test_endless(tests, page, unequal)
    test_exercises(tests, page, unequal, short)
    test_stopped(tests, page, unequal)
    test_phone(tests, page, url, unequal)
    tests.check("no error on the console of the book's page", not page.errors, page.errors)

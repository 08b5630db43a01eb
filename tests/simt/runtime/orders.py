"""Tests --orders, and the second order of --check alone: faults that show only in another order of blocks and warps
must be found, without the program noticing it."""
import re

from device import simt
from expect import expect, lines, program, refused, tests
from sarif import logged
from suite import NVCC_FLAGS

WRONG = ("lock", "flag", "warps", "last")
REVERSE = ", with blocks and warps in reverse: "
RAN = r"^ran: no error$"


def test_found(orders):
    at = lines("orders.cu")
    for name in WRONG:
        where = rf"orders\.cu:{at[name]}: race in \w+<.*"
        usual = simt(["--orders", "1", orders, name])
        expect(f"--orders 1: {name}: nothing races in the usual order", usual, 0, RAN)
        tests.check(f"--orders 1: {name}: and no report", "race" not in usual.out, usual.tail())
        expect(f"--check: {name}: found in reverse", simt(["--check", orders, name]), 86, where + REVERSE)
        twice = [simt(["--orders", "5", *threads, orders, name]) for threads in ([], ["--threads", "2"])]
        expect(f"--orders 5: {name}: reported once, of the first order that shows it", twice[0], 86, where + REVERSE)
        tests.check(f"--orders 5: {name}: the same on every run", twice[0].out == twice[1].out and
                    len(re.findall(rf"orders\.cu:{at[name]}: race", twice[0].out)) == 1, twice[0].tail())
        right = simt(["--orders", "8", "--strict", orders, "right_" + name])
        expect(f"--orders 8: {name}: its right twin is silent", right, 0, RAN)
        tests.check(f"--orders 8: {name}: no report", "no hazards in " in right.out and not right.err, right.tail())
    expect("--check: what the usual order shows in a later launch is reported for that launch",
           simt(["--check", orders, "flag", "2"]), 86,
           rf"^CPU device: 1 hazard\n.*orders\.cu:{at['value']}: race in flagged<[^>]*>: ")
    results, _ = logged("another order", ["--check", orders, "flag"], 86)
    texts = [result["message"]["text"] for result in results]
    said = r"race in flagged<.*>, with blocks and warps in reverse: thread"
    tests.check("--report: the message names the order", any(re.match(said, text) for text in texts), texts)


def test_ends(orders):
    """Tests how a launch may end in another order."""
    at = lines("orders.cu")
    expect("--check: a failure in another order is a hazard", simt(["--check", orders, "asserts"]), 86,
           rf"{RAN}[\s\S]*^asserts<.*>, with blocks and warps in reverse: .*orders\.cu:{at['asserts']}: ")
    results, _ = logged("a failure in another order", ["--check", orders, "asserts"], 86)
    tests.check("--report: a failure in another order", [result["ruleId"] for result in results] ==
                ["failure-in-another-order"], map(str, results))
    expect("--check: the other order is the reverse", simt(["--check", orders, "right_asserts"]), 0, RAN)
    told = "^CPU device: 1 of 1 launches in which order matters ran in only one order: --orders 2 runs all of them in two$"
    expect("--check: what does not end in another order is let go", simt(["--check", orders, "chained"], 60), 0, told)
    expect("--orders 2: the watchdog ends it, and simt says so",
           simt(["--orders", "2", "--watchdog", "0.5", orders, "chained"], 60), 0,
           "^CPU device: 1 launch did not end in another order$")


def test_unnoticed(orders):
    first, again = (simt([*options, orders, "unchanged"]) for options in (["--check"], ["--orders", "6"]))
    expect("--orders 6: the program prints and changes what it would without", again, 0,
           r"\A(block [012] was number [012]\n){3}3 3 3\nran: no error\n")
    tests.check("--orders 6: all that it says is the same", first.out == again.out, again.tail())
    expect("--check: what only another order writes is unwritten", simt(["--orders", "3", orders, "unwritten"]), 86,
           rf"orders\.cu:{lines('orders.cu')['unwritten']}: uninitialized read in reads: ")


def test_results(orders):
    """Tests that what a launch leaves is compared between orders, and reported once the host reads it."""
    at = lines("orders.cu")

    def seen(name, status, wanted, options=("--check",)):
        result = simt([*options, orders, "compare", name])
        expect(f"{options[0]}: a result that depends on the order: {name}", result, status, wanted)
        return result

    def differs(line, element, reverse):
        return (rf"CPU device: 1 hazard\n\S*orders\.cu:{at[line]}: result depends on the order in compares\n"
                rf"    {element}, which the host reads, is 1; with blocks and warps in reverse it is {reverse}\n"
                r"    let the values decide, not which thread comes first: .*\n(?!\S*orders\.cu)")

    seen("differs", 86, differs("compared", "element 1 of argument 1", 4))
    seen("managed", 86, differs("exchanged", "element 0 of argument 2", 4))
    seen("copied", 86, differs("compared", "element 1 of argument 1", 4))
    seen("differs", 86, differs("compared", "element 1 of argument 1", 4), ("--orders", "4"))
    for name in ("scratch", "overwritten", "filled"):
        silent = seen(name, 0, RAN)
        tests.check(f"--check: the host does not read it: {name}", "depends" not in silent.out, silent.tail())
    within = r"note: result depends on the order, within rounding in "
    seen("rounds", 0, rf"^CPU device: 1 note\n\S*orders\.cu:{at['added']}: {within}adds\n.*element 0 of argument 2, ")
    seen("swaps", 0, rf"^CPU device: 1 note\n\S*orders\.cu:{at['swapped']}: {within}adds_by_cas\n.* is 2\.8\d+; with ")
    seen("moves", 0, rf"^CPU device: 1 note\n\S*orders\.cu:{at['compacted']}: note: the places of results depend on "
                     r"the order in compacts\n.*\n    .* or sort them on the device; a sort on the host does not remove this note$")
    raced = seen("races", 86, rf"^CPU device: 1 hazard\n\S*orders\.cu:{at['raced']}: race in races")
    tests.check("--check: a race is not also a result that depends on the order", "depends" not in raced.out, raced.tail())
    results, _ = logged("a result that depends on the order", ["--check", orders, "compare", "differs"], 86)
    tests.check("--report: a result that depends on the order", [result["ruleId"] for result in results] ==
                ["result-depends-on-the-order"], map(str, results))


def test_options(orders):
    expect("--check: only the first launches of a kernel have a second order",
           simt(["--check", orders, "right_last", "6"]), 0,
           "^CPU device: 2 of 6 launches in which order matters ran in only one order: ")
    expect("--check: it says how much it has checked", simt(["--check", orders, "right_last", "6"]), 0,
           r"\nCPU device: no hazards in \d+ launches\n")
    quiet = simt(["--check", "--quiet", orders, "right_last", "6"])
    tests.check("--quiet: nothing of that", quiet.out == "ran: no error\n" and not quiet.err, quiet.tail())
    several = simt(["--orders", "2", orders, "right_last", "6"])
    tests.check("--orders 2: all of them have", several.status == 0 and "order" not in several.out, several.tail())
    refused("--orders 0", ["--orders", "0", orders], "--orders takes a number from 1 to 1000, not \"0\"")


def test_orders():
    orders = program("orders", flags=[*NVCC_FLAGS, "-w"])
    if not orders:
        return
    test_found(orders)
    test_ends(orders)
    test_unnoticed(orders)
    test_results(orders)
    test_options(orders)

"""Tests the comparison itself: it must find each difference between a count and a recording, and allow only noise."""
import sys

import compare_ncu
import launches
import suite
from device import path

SAME = [4, 8, 4, 2, 2, 0, 16, 64, 2, 2]
MANY = [4, 8000, 4] + SAME[3:]
NOT_EQUAL = [  # the CPU device's count; ncu's counts of each launch; the message of compare_ncu.py
    ("equal", SAME, [SAME], "1 launches compared, 0 differences"),
    ("a sector too many", SAME[:7] + [65] + SAME[8:], [SAME], "global_ld_sectors"),
    ("noise", MANY, [[4, 8200, 204]], " 0 differences"),
    ("more than noise", MANY, [[4, 8010, 15]], "shared_ld_conflicts"),
    ("far more", MANY, [[4, 9000, 1004]], "shared_ld_conflicts"),
    ("far more, the same in each launch", MANY, [[4, 9000, 1004], [4, 9000, 1004]], "shared_ld_conflicts"),
    ("noise that varies", MANY, [[4, 9000, 1004], [4, 9007, 1011]], " 0 differences"),
    ("what varies, and is too much", MANY, [[4, 11000, 3004], [4, 9007, 1011]], "shared_ld_conflicts")]


def test_files(tests):
    """Tests compare_ncu.py, which compares two files."""
    files = [tests.file("compare-ncu.csv"), tests.file("compare-simt.csv")]
    kernel = "void sum<(unsigned int)64, (bool)1>(const float *, int)"
    for name, mine, hardware, word in NOT_EQUAL:
        for file, head, counters, start, rows in (
                (files[0], "lab,n,kernel,grid,block", compare_ncu.COUNTERS.values(),
                 f'04,8,"{kernel}","(2, 1, 1)","(64, 1, 1)"', [row + SAME[len(row):] for row in hardware]),
                (files[1], "lab,kernel,launch,grid,block", compare_ncu.COUNTERS,
                 '04,"sum<64u, true>",1,2x1x1,64x1x1', [mine] * len(hardware))):
            suite.write(file, "\n".join([",".join([head, *counters]), *(",".join([start, *map(str, row)]) for row in rows),
                                         ""]))
        result = suite.run([sys.executable, "-B", path("compare_ncu.py"), *files])
        tests.check("comparison with ncu: " + name, (result.status == 0) == (" 0 differences" in word) and
                    word in result.out, result.tail())


def test_launches(tests, counted):
    """The comparison must find each counter that is one too large, and a missing launch."""
    busy = [mine for mine in counted if int(mine["shared_ld_insts"]) and int(mine["shared_st_insts"])]
    missed = []
    for counter in compare_ncu.COUNTERS:
        for mine in busy[::7]:
            hardware = launches.as_recorded({**mine, counter: int(mine[counter]) + 1})
            if launches.verdict(mine, hardware)[0] in ("equal", "noise"):
                missed.append("%s of %s" % (counter, launches.short_name(mine["kernel"])))
    tests.check("one more of any counter is found", busy and not missed, missed)
    recorded = [launches.as_recorded(mine) for mine in counted]
    tests.check("the same launches compare equal", not launches.in_order(counted, recorded)[1] and
                {launches.verdict(*pair)[0] for pair in zip(counted, recorded)} == {"equal"})
    tests.check("a launch that is missing is found", launches.in_order(counted, recorded[:5] + recorded[6:])[1])
    tests.check("other template arguments are another kernel", launches.same_name("scan<64>", "scan") and
                not launches.same_name("scan<64>", "scan<32>") and not launches.same_name("scan", "sort<64>"))
    tests.check("an enumerator is its number", launches.short_name("void scan<64, 2>(int *)") ==
                launches.short_name("void scan<64, (cub::detail::BlockScanAlgorithm)2>(int *)"))
    bound = launches.Bound({"program": "", "kernel": launches.short_name(busy[0]["kernel"]), "low": "1", "high": "1.5",
                            "counters": "shared_ld", "reason": ""})
    for factor, verdict in ((1.4, "ptxas"), (1.6, "other")):
        hardware = launches.as_recorded({**busy[0], "shared_ld_insts": int(factor * int(busy[0]["shared_ld_insts"]))})
        tests.check("%s times a bounded count is %s" % (factor, verdict),
                    launches.verdict(busy[0], hardware, [bound])[0] == verdict)

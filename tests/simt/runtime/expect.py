"""What the modules of this area share: its suite, its programs, and what a run is expected to say."""
import re
import sys
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
import suite
from device import simt

tests = suite.Suite(Path(__file__).with_name("run"))


def source(name):
    return tests.here / name


def program(name, as_name=None, flags=suite.NVCC_FLAGS, inputs=()):
    """One of the area's programs, compiled; None after reporting a failure."""
    return tests.compile_cu(source(name + ".cu"), as_name, flags, [source(header) for header in inputs])


def lines(name):
    """{NAME: line} of the comments `AT NAME` in a source."""
    return {mark: number for number, text in enumerate(suite.read(source(name)).splitlines(), 1)
            for mark in re.findall(r"// AT (\w+)", text)}


def expect(name, result, status, out=None, err=None):
    """One case: exit status, a pattern in standard output, a pattern in standard error."""
    good = result.status == status and not result.hung
    good = good and (out is None or re.search(out, result.out, re.M) is not None)
    good = good and (err is None or re.search(err, result.err, re.M) is not None)
    tests.check(name, good, [f"wanted status {status}, output {out!r}, errors {err!r}", *result.tail()])


def refused(name, arguments, pattern, **more):
    """The launcher refuses: status 2, nothing on standard output, one line that says why."""
    if tests.wants(name):
        expect(name, simt(arguments, **more), 2, r"\A\Z", rf"\Asimt: .*{pattern}.*\n\Z")

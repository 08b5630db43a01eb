"""Tests --report, which writes the hazards as complete and valid SARIF 2.1.0; --quiet; exit statuses."""
import json
import os
import re

import suite
from device import simt
from expect import expect, lines, program, source, tests

LEVELS = {"error", "warning", "note", "none"}


def wrong_of(log):
    """Violations of SARIF 2.1.0 in a log, for the properties that simt writes."""
    (run,), rules = log["runs"], log["runs"][0]["tool"]["driver"]["rules"]
    wrong = [] if log["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "simt" else ["version or name"]
    wrong += [f"rule {rule}" for rule in rules if not rule["id"] or not rule["shortDescription"]["text"]]
    wrong += ["ids of rules"] if len({rule["id"] for rule in rules}) != len(rules) else []
    prints = [result["partialFingerprints"]["simtFinding/v1"] for result in run["results"]]
    wrong += ["fingerprints"] if len(set(prints)) != len(prints) else []
    for result in run["results"]:
        places = result["locations"] + result.get("relatedLocations", [])
        good = (rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in LEVELS and
                result["message"]["text"] and result.get("occurrenceCount", 1) > 0 and len(result["locations"]) == 1)
        for place in (place["physicalLocation"] for place in places):
            uri = place["artifactLocation"]["uri"]
            good = good and uri.isascii() and " " not in uri and place.get("region", {"startLine": 1})["startLine"] > 0
            good = good and (uri.startswith("file:///") or place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"])
        wrong += [] if good else [json.dumps(result)]
    return wrong


def logged(name, arguments, status, **more):
    """(the run's results, the run), after checking the log and the exit status."""
    path = tests.file("report.sarif")
    path.unlink(missing_ok=True)
    result = simt(["--report", path, *arguments], **more)
    try:
        log = json.loads(path.read_text())
        wrong = wrong_of(log) + ([] if result.status == status else [f"status {result.status}"])
    except (OSError, ValueError, KeyError, IndexError) as error:
        log, wrong = None, [repr(error)]
    tests.check(f"--report: a log in SARIF: {name}", not wrong, [*wrong, *result.tail()])
    return (log["runs"][0]["results"] if log else []), result


def test_hazards(told):
    at = lines("told.cu")
    results, _ = logged("a race", ["--check", told], 86)
    found = [(result["ruleId"], result["level"], result["occurrenceCount"],
              result["locations"][0]["physicalLocation"]["region"]["startLine"],
              result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"]) for result in results]
    tests.check("--report: a race and its other access", found == [("race", "error", 64, at["load"], at["store"])], map(str, found))
    words = "race in neighbour: thread (32,0,0) of block (0,0,0) reads element 0 of s in shared memory; line"
    tests.check("--report: its words", results and results[0]["message"]["text"].startswith(words),
                [result["message"]["text"] for result in results])
    moved, text = tests.file("moved.cu"), suite.read(source("told.cu"))
    suite.write(moved, "\n\n" + text)
    other = tests.compile_cu(moved, "moved", suite.NVCC_FLAGS)
    again, _ = logged("of lines that moved", ["--check", other], 86) if other else ([], None)
    prints = [[result["partialFingerprints"] for result in run] for run in (results, again)]
    tests.check("--report: a fingerprint stays when lines move", results and prints[0] == prints[1], map(str, prints))


def test_said(wrong, unread):
    results, _ = logged("a refusal", [wrong, "tensor"], 2)
    place = results[0]["locations"][0]["physicalLocation"] if results else {}
    tests.check("--report: a refusal at its line", [result["ruleId"] for result in results] == ["refused"] and
                place.get("region", {}).get("startLine") == lines("wrong.cu")["tensor"], [str(results)])
    results, _ = logged("launches that failed", ["--check", unread, "never"], 86)
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    tests.check("--report: where no line is known, the program below the working folder",
                uris == {os.path.relpath(unread)}, uris)
    tests.check("--report: errors that the program did not check", [(result["ruleId"], result["level"]) for result in results] == [
        ("launch-failed", "error")] * 3 + [("call-failed", "note")], [str(results)])
    results, _ = logged("a kernel that fails", [wrong, "out_of_bounds"], 0)
    tests.check("--report: it is an error", [result["ruleId"] for result in results] == ["kernel-failed"], [str(results)])
    results, _ = logged("the same as a hazard", ["--check", wrong, "out_of_bounds"], 86)
    tests.check("--report: it is reported once", [result["ruleId"] for result in results] == ["out-of-bounds"], [str(results)])


def test_ends(wrong, signals):
    results, _ = logged("nothing was found", ["--check", wrong, "hello"], 0)
    tests.check("--report: then there are no results", results == [], [str(results)])
    results, _ = logged("a program that aborts", ["--check", signals, "assert", "racing"], -6)
    tests.check("--report: what was found so far", len(results) == 1, [str(results)])
    results, result = logged("--quiet", ["--quiet", "--check", signals, "_exit", "racing"], 86)
    tests.check("--quiet: the program's output alone, hazards beside it", result.out == "ready\n" and
                "\nCPU device: 1 hazard\n" in result.err, result.tail())
    path = tests.file("kept.sarif")
    suite.write(path, "as it was\n")
    simt(["--report", path, wrong, "hello", "kill"])
    tests.check("--report: after SIGKILL the file is as it was", suite.read(path) == "as it was\n")
    expect("--report: a file that cannot be written", simt(["--report", tests.fresh("folder.sarif"), wrong]), 1, None,
           r"^.*folder\.sarif: ")
    odd = tests.fresh("odd \udcff%").joinpath("told.cu")
    suite.write(odd, suite.read(source("told.cu")))
    strange = tests.whole("SARIF of odd paths") and tests.compile_cu(odd, "strange", suite.NVCC_FLAGS)
    if strange:
        logged("a path with blanks and bytes that are no text", ["--check", strange], 86)


def test_workflow():
    """Runs the commands of appendix B's workflow, except the one that builds simt: they must fail if there are hazards."""
    page = suite.read("chapters/B-cpu-device.md")
    build, check = re.findall(r"^ +- run: (.*)$", page[page.index("```yaml"):], re.M)[1:]
    folder = tests.fresh("runner")
    suite.write(folder / "prog.cu", suite.read(source("told.cu")))
    (folder / "workbook").mkdir()
    (folder / "workbook" / "build").symlink_to(suite.BUILD.resolve())
    built = suite.run(["sh", "-c", build.replace("nvcc", str(suite.NVCC), 1)], 120, cwd=folder)
    result = suite.run(["sh", "-c", check], 60, cwd=folder)
    log = json.loads(suite.read(folder / "hazards.sarif") or "{}")
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            for run in log.get("runs", []) for result in run["results"]}
    tests.check("the workflow of appendix B", built.status == 0 and result.status == 86 and result.out == "" and
                uris == {"prog.cu"}, [*built.tail(), *result.tail()])


def test_sarif():
    told, signals = program("told"), program("signals")  # with the flags of reports.py and wrong.py: compiled once
    wrong, unread = (program(name, flags=[*suite.NVCC_FLAGS, "-w"]) for name in ("wrong", "unread"))
    if told and wrong and unread and signals:
        test_hazards(told)
        test_said(wrong, unread)
        test_ends(wrong, signals)
    if tests.whole("the workflow of appendix B"):
        test_workflow()

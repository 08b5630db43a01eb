"""The exercises of chapters 0 to 10 and 18 as the page asks the engine to grade them, with every version in the chapters."""
import json
import re
from pathlib import Path

import suite

CHAPTERS = sorted(str(path) for path in Path("chapters").glob("*.md"))
FENCE = re.compile(r'^``` \{\.cuda #(\S+) \.(starter|solution|wrong)(?: why="([^"]*)" fails="([^"]*)")?[^}]*\}\n(.*?)^```$', re.M | re.S)
REFERENCE = re.compile(r"\s*<<(\S+)>>\s*")


def book():
    """What weave puts into the page."""
    return json.loads(suite.run([suite.BUILD / "weave", "-t", "programs", *CHAPTERS]).out)


def versions():
    """For each starter's chunk: [(kind, why, the requirement that must fail, text)..]."""
    found = {}
    for path in CHAPTERS:
        for name, kind, why, fails, text in FENCE.findall(suite.read(path)):
            found.setdefault(name, []).append((kind, why, fails, text))
    return found


def pieces(data, program, hole, text):
    """The files of a request: as pageRun.pieces() in tools/page/run-data.js."""
    found = []

    def add(name):
        chunk = data["chunks"].get(name)
        if not chunk or chunk.get("driver"):
            return
        piece = None
        for number, line in enumerate((text if name == hole else chunk["text"]).splitlines()):
            reference = REFERENCE.fullmatch(line)
            if reference:
                piece = None
                add(reference[1])
                continue
            if not piece:
                piece = {"name": "listing", "line": 1 + number} if name == hole else {"name": chunk["file"], "line": chunk["line"] + number}
                found.append({**piece, "text": ""})
            found[-1]["text"] += line + "\n"

    add(program)
    return found


def request(data, exercise, text):
    asked = {"exercise": True, "files": pieces(data, exercise["program"], exercise["hole"], text), "demands": exercise["demands"]}
    if "solution" in exercise:
        asked["solution"] = pieces(data, exercise["program"], exercise["hole"], exercise["solution"])
    return asked


def requests():
    """Each version of each exercise: {"4.3 starter": (exercise, the requirement that must fail, request)}."""
    data, all_versions = book(), versions()
    return {f"{number} {kind}: {why}" if why else f"{number} {kind}": (exercise, fails, request(data, exercise, text))
            for number, exercise in data["exercises"].items()
            for kind, why, fails, text in all_versions.get(exercise["hole"].split("/")[-1], [])}


def fault(exercise, kind, fails, answer):
    """Says how an answer differs from what this version must get; None if it does not."""
    if answer["error"]:
        return str(answer["error"])
    verdicts = {demand["text"]: found["verdict"] for demand, found in zip(exercise["demands"], answer["demands"])}
    failing = [text for text, verdict in verdicts.items() if verdict in ("fails", "unknown")]
    if kind == "solution":
        return f"fails: {failing}" if failing else None
    if not failing or not answer["hint"] and any(demand["hints"] for demand in exercise["demands"]):
        return f"fails: {failing}, hint {answer['hint']}"
    if fails and fails not in failing and verdicts.get(fails) != "time":
        return f"{fails} holds; fails: {failing}"
    return None

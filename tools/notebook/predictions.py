# %% predictions
#@title Predictions: compares what you filled in with what was measured
import ast, unicodedata

# Factors to the units that the book calculates with: microseconds, GB/s, bytes.
SCALES = {
    "time": {"ns": 1e-3, "nanosecond": 1e-3, "us": 1, "microsecond": 1, "ms": 1e3, "millisecond": 1e3,
             "s": 1e6, "sec": 1e6, "second": 1e6, "min": 6e7, "minute": 6e7},
    "rate": {"b/s": 1e-9, "kb/s": 1e-6, "mb/s": 1e-3, "gb/s": 1, "tb/s": 1e3, "gib/s": 1.073741824},
    "bytes": {"b": 1, "byte": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 1024,
              "mib": 1048576, "gib": 1073741824},
    "percent": {"%": 1, "percent": 1, "per cent": 1, "point": 1},
    "ratio": {"x": 1, "time": 1, "fold": 1, "%": 0.01, "percent": 0.01},
    "count": {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "g": 1e9, "billion": 1e9,
              "ki": 1024, "mi": 1048576, "gi": 1073741824},
}


def digits_of(text):
    """The number that the digits denote, or None. The digits after a point or comma decide whether it groups
    digits or starts a fraction."""
    plain = re.sub(r"(\d)[ '_](?=\d{3}(?!\d))", r"\1", text)
    grouped = lambda mark, text: re.fullmatch(rf"[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+", text)
    if "," in plain and "." in plain:
        fraction = "," if plain.rindex(",") > plain.rindex(".") else "."
        whole, *rest = plain.split(fraction)
        if len(rest) != 1 or not grouped("." if fraction == "," else ",", whole):
            return None
        return float(re.sub("[.,]", "", whole) + "." + rest[0])
    if grouped(",", plain):
        return float(plain.replace(",", ""))
    if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3}){2,}", plain):
        return float(plain.replace(".", ""))
    return float(plain.replace(",", ".")) if re.fullmatch(r"\d+[.,]?\d*|[.,]\d+", plain) else None


def scale_of(kind, unit, word):
    bare = word.lower().replace("\u00b5", "u").replace("\u03bc", "u").replace("\u00d7", "x")
    bare = re.sub("ps$", "/s", bare)
    singular = lambda text: re.sub("s$", "", text.lower())
    known = SCALES[kind]
    for name in (bare, re.sub("s$", "", bare)):
        if name in known:
            return known[name]
    return 1 if unit and singular(word) == singular(unit) else None


def read_prediction(kind, unit, text):
    """(number, "") for a typed prediction, or (None, the problem)."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    plain = re.sub(r"^(about|roughly|around|approx\.?|ca\.?|circa|~|\u2248) ?", "", plain, flags=re.I)
    plain = re.sub("^[\u2212\u2013]", "-", plain)
    if not plain:
        return None, "Type a number first."
    parts = re.fullmatch(
        r"([-+]?)([\d.,]+(?:[ '_]\d{3}(?!\d)[\d.,]*)*)(?:e([-+]?\d{1,3}))?(?: ?(\D.*))?",
        plain, flags=re.I | re.A)
    number = digits_of(parts[2]) if parts else None
    if number is None:
        return None, f"\u201c{text.strip()}\u201d is not a number: type one such as 12.5."
    number *= float("1e" + (parts[3] or "0")) * (-1 if parts[1] == "-" else 1)
    scale = scale_of(kind, unit, parts[4] or unit)
    if parts[4] and scale is None:
        asked = unit or "plain numbers"
        return None, f"I do not know the unit \u201c{parts[4]}\u201d here. Answer in {asked}."
    number *= scale or 1
    if not abs(number) < float("inf"):
        return None, f"\u201c{text.strip()}\u201d is too large."
    return number, ""


def short(number):
    rounded = float(f"{number:.{2 if number < 10 else 3}g}")
    return f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:g}"


def judge(kind, yours, measured):
    """(words, grade): right within a tenth, close within a factor of two, or off."""
    high, gap = (" too high" if yours > measured else " too low"), abs(yours - measured)
    if gap <= 1e-9 * abs(measured):
        return "exactly right", "right"
    if kind == "percent":
        points = int(gap + 0.5)
        words = "less than 1 point" if gap < 1 else f"{short(points)} point{'s' * (gap >= 1.5)}"
        return words + high, "right" if gap <= 5 else "close" if gap <= 15 else "off"
    if yours * measured <= 0:
        return ("it is zero" if measured == 0 else "it is not zero" if yours == 0
                else "the sign is wrong"), "off"
    factor, part = max(yours / measured, measured / yours), int(100 * gap / abs(measured) + 0.5)
    words = f"{short(factor)} times" if factor >= 2 else f"{part}\u00a0%" if part else "less than 1\u00a0%"
    return words + high, "right" if factor <= 1.1 else "close" if factor < 2 else "off"


TIMED = {"time": "median_us", "p5": "p5_us", "p95": "p95_us", "gbps": "gbps", "pin_pct": "pin_pct",
         "read_pct": "read_pct"}
SIZES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def timed(chapter, kernel, n, field):
    """What a run of this notebook measured, as text; StopIteration if it did not measure it."""
    rows = [row for lab, run in RUNS.items() if lab.startswith(f"{chapter:0>2}_") for row in run[2]
            if row["kernel"] == kernel and row.get("sweep", "0") == "0"]
    size = re.fullmatch(r"(\d+)([KMG]i)?", n)
    wanted = int(size[1]) * SIZES.get(size[2], 1) if n else 25_600_000
    row = next(row for row in rows if int(row["n"]) == wanted)
    return f"({float(row[TIMED[field]])!r})"


def measured_here(name, formula):
    """The value of a formula or comparison over times that this notebook measured; None if it needs
    anything else."""
    key = r"(?<![\w/@])(?:(\w\w)/)?([A-Za-z]\w*)(?:@(\w+))?\.(%s)(?![\w\[@])" % "|".join(TIMED)
    functions = {"min": min, "max": max, "percent": lambda x: 100 * x, "count": float, "about": float}
    try:
        plain = re.sub(key, lambda k: timed(k[1] or name.split(".")[0], k[2], k[3] or "", k[4]), formula)
        tree = ast.parse(plain.strip(), mode="eval")
        if plain == formula or {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)} - set(functions):
            return None
        return eval(compile(tree, name, "eval"), {"__builtins__": {}}, functions)
    except (KeyError, StopIteration, TypeError, ValueError, SyntaxError, ZeroDivisionError):
        return None


def in_words(kind, unit, value):
    """A measured number as the book writes it."""
    digits = lambda x: f"{x:,.{max(0, (4 if f'{x:.2e}'[0] == '1' else 3) - 1 - int(f'{x:.2e}'[5:]))}f}"
    if kind == "time":
        scale, word = next(((s, w) for s, w in [(1e6, "s"), (1e3, "ms"), (1, "\u00b5s")]
                            if abs(value) >= s * 0.9995), (1e-3, "ns"))
        return f"{digits(value / scale)} {word}" if value else "0 \u00b5s"
    if kind == "percent":
        return f"{value:.1f} %"
    return f"{value:.2f}\u00d7" if kind == "ratio" else f"{value:,g} {unit}"


def right_option(name, options, conditions):
    """The number of the option that holds for what this notebook measured, or None."""
    said = [measured_here(name, when) if when.strip() else "else" for when in conditions.split(" |")]
    holds = [k for k, truth in enumerate(said, 1) if truth is True]
    if None in said or len(holds) > 1:
        return None
    return holds[0] if holds else said.index("else") + 1 if "else" in said else None


def compared(name, kind, unit, value, text, formula):
    """The table row of a prediction, and its grade; None if nothing was filled in."""
    typed = str(globals().get("predict_" + name.replace(".", "_"), "")).strip()
    if not typed:
        return None
    if kind == "choice":
        right = right_option(name, unit, formula)
        here = unit[right - 1] if right else ""
        good = typed == (here or text)
        return [name, typed, here, text, "right" if good else "wrong"], "right" if good else "off"
    yours, problem = read_prediction(kind, unit, typed)
    if problem:
        return [name, typed, "", "", problem], None
    here = measured_here(name, formula)
    words, grade = judge(kind, yours, value if here is None else here)
    shown = typed if re.search(r"[^\d.,\s'_+-]", typed) else f"{typed} {unit}"
    return [name, shown, "" if here is None else in_words(kind, unit, here), text, words], grade


def compare(predictions):
    """Shows the predictions filled in above, the values that this notebook measured, and those in the book."""
    rows = [row for row in (compared(*prediction) for prediction in predictions) if row]
    if not rows:
        print("There are no predictions: fill in a form above, run its cell and then this cell.")
        return
    show_table("Your predictions", ["prediction", "yours", "measured here", "in the book", "off by"],
               [row for row, _ in rows])
    grades = [grade for _, grade in rows if grade]
    said = [f"{grades.count(grade)} {grade}" for grade in ("right", "close", "off") if grade in grades]
    print(f"{len(rows)} of {len(predictions)} predicted: {', '.join(said) or 'none that could be read'}.")

"""row_rates.py: how near kernels come to the best there is, by the length of their rows or their kind.

The names of a chapter's kernels say it: of `rows_sum_*` the star stands for the length of a row, for
`all`, where there is one row of all elements, or for a word, the kind of rows.
"""

import re
from collections import Counter

from floors import first_of


def usual_n(table, role):
    """The number of elements, of those that the role's kernels were measured at, that the table has most of."""
    sizes = {row["n"] for row in table.rows if row["chapter"] == role.chapter and shape_of(role, row["kernel"])}
    many = Counter(row["n"] for row in table.rows)
    return max(sizes, key=lambda n: (many[n], n), default=None)


def shape_of(role, kernel):
    """(the pattern that names it, what its star stands for: a number, `all` or a word), or None."""
    for pattern in role.patterns:
        before, after = pattern.partition("=")[0].split("*")
        found = re.fullmatch(f"{re.escape(before)}([0-9]+|[a-z]+){re.escape(after)}", kernel)
        if found:
            return pattern, found[1]
    return None


def point_of(row, best):
    """Percent of the best kernel's speed: of the median, and of the 5th and 95th percentile."""
    of = lambda us: 100 * best["median_us"] / us
    pct = {"pct": of(row["median_us"]), "slow": of(row["p95_us"]), "fast": of(row["p5_us"])}
    return {"kernel": row["kernel"], "us": row["median_us"], **pct}


def series_of(table, role, n, pattern):
    """The kernels of one pattern: points over the length, and points by kind."""
    name, _, best_name = pattern.partition("=")
    best = first_of(table.rows, chapter=role.chapter, kernel=best_name, n=n)
    if not best:
        raise role.fault(f"rows: the results have no kernel `{best_name}` of chapter {role.chapter}")
    series = {"name": name.replace("*", "").strip("_"), "best": best_name, "points": [], "kinds": {}}
    for row in table.rows:
        shape = (row["chapter"], row["n"]) == (role.chapter, n) and shape_of(role, row["kernel"])
        if not shape or shape[0] != pattern:
            continue
        point = point_of(row, best)
        if shape[1].isdigit() or shape[1] == "all":
            series["points"].append({"length": int(shape[1]) if shape[1] != "all" else n, **point})
        else:
            series["kinds"][shape[1]] = point
    series["points"].sort(key=lambda point: point["length"])
    return series


def rows_data(devices, role):
    """The kernels of a role on the first device that has them."""
    for table in devices:
        n = usual_n(table, role)
        if n is not None:
            series = [series_of(table, role, n, pattern) for pattern in role.patterns]
            return {"chapter": role.chapter, "device": table.facts["device"], "n": n, "series": series}
    return None

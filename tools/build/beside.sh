#!/bin/sh
# What simt --time predicted of a lab's kernels, beside what was recorded there:
#
#   beside.sh PREDICTED.csv results/DEVICE.csv CHAPTER ELEMENTS
#
# A row of results stands beside a launch of its kernel with its block and as many blocks as it left
# partial sums, or one launch of it alone. Beside a launch that is a part of a row, or that nobody has
# recorded, stands nothing.
results=$2
[ -r "$results" ] || results=/dev/null
awk -F, -v chapter="$3" -v elements="$4" -v device="$(basename "$2" .csv)" '
# As results call a kernel: f<float, (Kind)1, 256u> is f_float_1_256 (tools/collect/gather.c). A library
# kernel keeps its bare name, which also goes into `bare`.
function plain(name, at, values) {
    sub(/^void /, "", name)
    gsub(/"|\([^()]*\)/, "", name)
    at = index(name, "<")
    values = at ? substr(name, at) : ""
    if (at) name = substr(name, 1, at - 1)
    bare = name
    sub(/.*::/, "", bare)
    if (bare != name) return bare
    while (match(values, /[0-9]u[;>]/)) values = substr(values, 1, RSTART) substr(values, RSTART + 2)
    gsub(/[<;]/, "_", values)
    gsub(/[> ]/, "", values)
    return bare values
}
# Finds a launch by its name, and by its shape unless instances of a template share both.
function add(name, key) {
    launches[name]++
    only[name] = key
    name = name "," shape
    if (name in alike && alike[name] != key) key = ""
    alike[name] = key
}
function find(name) {
    if ((name "," shape) in alike && alike[name "," shape] != "") return alike[name "," shape]
    return launches[name] == 1 && block[only[name]] == $at[2, "block"] ? only[name] : ""
}
/^#/ { next }
match($0, /^"[^"]*"/) { # commas in the name of a kernel
    name = substr($0, 1, RLENGTH); rest = substr($0, RLENGTH + 1)
    gsub(/,/, ";", name)
    $0 = name rest
}
FILENAME != read { read = FILENAME; file++; for (k = 1; k <= NF; k++) at[file, $k] = k; next }
file == 1 {
    name = plain($1)
    shape = $at[1, "block"] "," $at[1, "grid"]
    key = $1 "," shape
    if (!(key in us)) { keys[++count] = key; called[key] = name; shapes[name]++ }
    us[key] = $at[1, "predicted_us"]; limiter[key] = $at[1, "limiter"]
    if ((1, "unknown") in at && $at[1, "unknown"] != "") limiter[key] = limiter[key] "; not measured: " $at[1, "unknown"]
    block[key] = $at[1, "block"]
    add(name, key)
    if (name != bare) add(bare, key)
    next
}
$at[2, "chapter"] == chapter && $at[2, "n"] == elements && $at[2, "sweep"] == 0 {
    name = $at[2, "kernel"]; shape = $at[2, "block"] "," $at[2, "partials"]
    key = find(name)
    if (key == "" && sub("_" $at[2, "block"] "$", "", name)) key = find(name)
    if (key == "" || key in recorded) next
    recorded[key] = $at[2, "median_us"]; called[key] = $at[2, "kernel"]
}
END {
    width = 32
    for (k = 1; k <= count; k++) {
        key = keys[k]
        labels[k] = called[key]
        if (!(key in recorded) && shapes[labels[k]] > 1) labels[k] = labels[k] ", block " block[key]
        if (length(labels[k]) > width) width = length(labels[k])
    }
    left = "%-" width "s "
    if (count) printf "\n" left "%9s %9s %7s  %s\n", "microseconds on " device, "predicted",
        "recorded", "off by", "predicted limiter"
    for (k = 1; k <= count; k++) {
        key = keys[k]
        printf left "%9.2f ", labels[k], us[key]
        if (key in recorded) printf "%9.2f %+6.1f%%", recorded[key], 100 * (us[key] / recorded[key] - 1)
        else printf "%9s %7s", "-", ""
        printf "  %s\n", limiter[key]
    }
}' "$1" "$results"

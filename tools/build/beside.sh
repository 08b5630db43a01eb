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
function plain(name) { # block_sum_unrolled<256u> is block_sum_unrolled_256
    sub(/^void /, "", name)
    gsub(/"/, "", name)
    if (match(name, /<\(?[a-z ]*\)?[0-9]+u?>/)) {
        number = substr(name, RSTART, RLENGTH)
        gsub(/[^0-9]/, "", number)
        return substr(name, 1, RSTART - 1) "_" number
    }
    sub(/[<(].*/, "", name)
    sub(/.*::/, "", name)
    return name
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
    key = name "," $at[1, "block"] "," $at[1, "grid"]
    if (!(key in us)) { keys[++count] = key; called[key] = name; shapes[name]++ }
    us[key] = $at[1, "predicted_us"]; limiter[key] = $at[1, "limiter"]
    if ((1, "unknown") in at && $at[1, "unknown"] != "") limiter[key] = limiter[key] "; not measured: " $at[1, "unknown"]
    launches[name]++; only[name] = key; block[key] = $at[1, "block"]
    next
}
$at[2, "chapter"] == chapter && $at[2, "n"] == elements && $at[2, "sweep"] == 0 {
    name = $at[2, "kernel"]; shape = "," $at[2, "block"] "," $at[2, "partials"]
    key = name shape
    if (!(key in us) && launches[name] == 1 && block[only[name]] == $at[2, "block"]) key = only[name]
    if (!(key in us)) { sub("_" $at[2, "block"] "$", "", name); key = name shape }
    if (!(key in us) || key in recorded) next
    recorded[key] = $at[2, "median_us"]; called[key] = $at[2, "kernel"]
}
END {
    if (count) printf "\n%-32s %9s %9s %7s  %s\n", "microseconds on " device, "predicted",
        "recorded", "off by", "predicted limiter"
    for (k = 1; k <= count; k++) {
        key = keys[k]
        name = called[key]
        if (!(key in recorded) && shapes[name] > 1) name = name ", block " block[key]
        printf "%-32s %9.2f ", name, us[key]
        if (key in recorded) printf "%9.2f %+6.1f%%", recorded[key], 100 * (us[key] / recorded[key] - 1)
        else printf "%9s %7s", "-", ""
        printf "  %s\n", limiter[key]
    }
}' "$1" "$results"

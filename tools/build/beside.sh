#!/bin/sh
# What simt --time predicted of a lab's kernels, beside what was recorded there:
#
#   beside.sh PREDICTED.csv results/DEVICE.csv CHAPTER ELEMENTS
#
# A row of results stands beside a launch of its kernel with its block and as many blocks as it left
# partial sums, or one launch of it alone; rows of several launches are left out. Where nothing of so
# many elements was recorded, all that was predicted stands alone.
[ -r "$2" ] || exit 0
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
    return name
}
/^#/ { next }
FILENAME != read { read = FILENAME; file++; for (k = 1; k <= NF; k++) at[file, $k] = k; next }
file == 1 {
    key = plain($1) "," $at[1, "block"] "," $at[1, "grid"]
    us[key] = $at[1, "predicted_us"]; limiter[key] = $at[1, "limiter"]
    launches[plain($1)]++; only[plain($1)] = key; keys[++predicted] = key; block[key] = $at[1, "block"]
    next
}
$at[2, "chapter"] == chapter && $at[2, "n"] == elements && $at[2, "sweep"] == 0 {
    key = $at[2, "kernel"] "," $at[2, "block"] "," $at[2, "partials"]
    if (!(key in us) && launches[$at[2, "kernel"]] == 1) key = only[$at[2, "kernel"]]
    if (!(key in us) || block[key] != $at[2, "block"]) next
    if (!shown++) printf "\n%-32s %9s %9s %7s  %s\n", "microseconds on " device, "predicted",
        "recorded", "off by", "predicted limiter"
    printf "%-32s %9.2f %9.2f %+6.1f%%  %s\n", $at[2, "kernel"], us[key], $at[2, "median_us"],
        100 * (us[key] / $at[2, "median_us"] - 1), limiter[key]
}
END {
    if (shown) exit
    printf "\n%-32s %9s  %s\n", "microseconds on " device, "predicted", "predicted limiter"
    for (k = 1; k <= predicted; k++) {
        name = keys[k]
        sub(/,.*/, "", name)
        printf "%-32s %9.2f  %s\n", name, us[keys[k]], limiter[keys[k]]
    }
}' "$1" "$2"

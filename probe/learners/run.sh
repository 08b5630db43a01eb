#!/bin/bash
# run.sh [SIMT] [FOLDER] [NVCC OPTIONS...]: compiles all programs into FOLDER, runs each under "SIMT --check".
# One line a program: name | expected | exit status | first line of the report ("-": none).
# What they print stays in FOLDER/NAME.out and .err. CHECK="--check --order 7" runs with other options.
simt=${1:-build/simt}; out=${2:-build/learners}; shift 2
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$out"
for f in "$here"/[wr][0-9]*.cu; do
    n=$(basename "$f" .cu); p=$out/$n
    if [ ! "$p" -nt "$f" ]; then
        nice nvcc -arch=sm_90 ${*:--lineinfo} -w -o "$p" "$f" >"$p.nvcc" 2>&1 || { echo "$n | does not compile"; continue; }
    fi
    { timeout 60 "$simt" ${CHECK:---check} "$p" >"$p.out" 2>"$p.err"; } 2>/dev/null; rc=$?
    kind=$(sed -n '1s/^.. EXPECT: \(right\|wrong\).*/\1/p' "$f")
    first=$(cat "$p.out" "$p.err" | grep -m1 -E '^[^ ]*:[0-9]+: |^simt: |^\?:' | cut -c1-160)
    echo "$n | $kind | $rc | ${first:--}"
done

#!/bin/sh
# limits.sh: profile the kernels of a lab with Nsight Compute to find their bottlenecks.
#   limits.sh                 prints the path of ncu, or a message if it is missing
#   limits.sh LAB N FILE.csv  profiles LAB on N elements: FILE.limits.csv lists the kernels, FILE.ncu.csv has
#                             ncu's output. Both are empty if there is no permission to read counters.
B=${B:-build}
ncu=$(command -v ncu || ls -d /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)
if [ $# -eq 0 ]; then
    [ -n "$ncu" ] && echo "$ncu" || echo 'recording without limits, since ncu is missing: install Nsight Compute to record them' >&2
    exit 0
fi
lab=$1 n=$2 to=${3%.csv}
names=$to.limits.csv.new log=$to.ncu.csv.new denied=$(dirname "$3")/denied
rm -f "$names" "$log"
if [ ! -e "$denied" ]; then
    "$ncu" --profile-from-start off --clock-control none --csv --page raw --print-units base \
        --metrics "$("$B/collect" -m)" --log-file "$log" "$lab" -n "$n" -t 0 --csv "$names" >"$to.ncu.log" 2>&1
    status=$?
    if grep -q ERR_NVGPUCTRPERM "$log" "$to.ncu.log" 2>/dev/null; then
        echo 'recording without limits: no permission to read GPU counters (ERR_NVGPUCTRPERM)' >&2
        : >"$denied"
    elif [ $status -ne 0 ]; then
        cat "$to.ncu.log" >&2
        exit 1
    fi
fi
if [ -e "$denied" ]; then
    : >"$names"
    : >"$log"
fi
mv "$log" "$to.ncu.csv" && mv "$names" "$to.limits.csv"

# What the suites in shell share; suite.py is the same for Python. A suite begins with
#     . "$(dirname "$0")/../suite.sh"
# and ends with `finish`: one that stops before has failed. It then is in the root of the tree, and
# has $area, $B (the build folder), $out (a folder of its own), $log, and these functions. They
# leave out the cases whose names do not contain $CASE. README.md explains the lines they print.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here
while [ ! -f "$root/tests/suite.sh" ]; do root=${root%/*}; done
cd "$root" || exit 2
area=${here#"$root/tests/"}
case ${B:=build} in /*) ;; *) B=$root/$B ;; esac
out=$B/tests/$area log=$out/log CASE=${CASE:-}
export B
mkdir -p "$out"

# wants NAME: is this case asked for?
wants() {
    case $1 in *"$CASE"*) return 0 ;; esac
    echo "left out $area: $1"
    return 1
}

ok() { if wants "$1"; then echo "ok $area: $1"; fi; }

# not_ok NAME [LOG]: with the end of a log below.
not_ok() {
    wants "$1" || return 0
    echo "not ok $area: $1"
    tail -n 20 "${2:-$log}" 2>/dev/null | sed 's/^/    /'
}

# result STATUS NAME [LOG]: a case that has been tried already.
result() {
    if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2" "${3:-$log}"; fi
    return "$1"
}

# check NAME COMMAND...: a case that is one command; false if it fails or is left out.
check() {
    wants "$1" || return 1
    name=$1
    shift
    "$@" >"$log" 2>&1
    result $? "$name"
}

# check_for NVCC ARCH NAME COMMAND...: a case, if this nvcc knows the architecture, as in 120.
check_for() {
    if "$1" --list-gpu-arch | grep -qx "compute_$2"; then
        shift 2
        check "$@"
    else
        skip "$3" "this nvcc does not know sm_$2"
    fi
}

# verdict NAME: a case that passes if there is nothing on standard input.
verdict() {
    cat >"$log"
    [ ! -s "$log" ]
    result $? "$1"
}

# skip NAME WHY: a case that cannot run here; `all` stands for the rest of the suite.
skip() {
    if [ "$1" = all ] || wants "$1"; then echo "skip $area: $1: $2"; fi
}

skip_all() {
    skip all "$1"
    finish
    exit 0
}

# whole NAME: are all cases asked? In the newcomer's tier, make test, it says that this case, or this
# group of cases, is left to make test-all.
whole() {
    [ "${TIER:-}" = short ] || return 0
    echo "later $area: $1"
    return 1
}

# quickly NVCC: the flag by which the device's compiler optimises less, where nvcc has it (since 12.9) and
# compiles __dp4a() with it, which headers call (13.5 does not). Large templates take it two thirds of the
# time, and small kernels no less; they run two times as long at most, and need more registers. For what
# is only compiled, or runs shortly, and where nothing is counted and all blocks need not fit.
quickly() {
    echo '__global__ void dot(int *p) { *p = __dp4a(*p, 1, 2); }' |
        "$1" -Ofc=min -arch=compute_90 -ptx -x cu -o "$out/quickly.ptx" - >/dev/null 2>&1 && echo -Ofc=min
}

finish() { echo "end $area"; }

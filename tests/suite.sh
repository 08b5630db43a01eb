# Shared by the suites in shell; suite.py is the same for Python. A suite begins with
#     . "$(dirname "$0")/../suite.sh"
# and ends with `finish`: a suite that stops before that has failed. Its working folder is the root of the
# tree, and it has $area, $B (the build folder), $out (its output folder), $log, and these functions, which
# leave out cases whose names do not contain $CASE. README.md explains the lines they print.
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

# wants NAME: whether this case is wanted.
wants() {
    case $1 in *"$CASE"*) return 0 ;; esac
    echo "left out $area: $1"
    return 1
}

ok() { if wants "$1"; then echo "ok $area: $1"; fi; }

# not_ok NAME [LOG]: reports a failure, with the end of the log below it.
not_ok() {
    wants "$1" || return 0
    echo "not ok $area: $1"
    tail -n 20 "${2:-$log}" 2>/dev/null | sed 's/^/    /'
}

# result STATUS NAME [LOG]: reports a case that has run already.
result() {
    if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2" "${3:-$log}"; fi
    return "$1"
}

# check NAME COMMAND...: runs a case that is one command; false if it fails or is left out.
check() {
    wants "$1" || return 1
    name=$1
    shift
    "$@" >"$log" 2>&1
    result $? "$name"
}

# check_for NVCC ARCH NAME COMMAND...: a case that needs an nvcc for the architecture ARCH, such as 120.
check_for() {
    if "$1" --list-gpu-arch | grep -qx "compute_$2"; then
        shift 2
        check "$@"
    else
        skip "$3" "this nvcc does not know sm_$2"
    fi
}

# verdict NAME: reports a case, which passes if standard input is empty.
verdict() {
    cat >"$log"
    [ ! -s "$log" ]
    result $? "$1"
}

# skip NAME WHY: reports a case that cannot run here; `all` means the rest of the suite.
skip() {
    if [ "$1" = all ] || wants "$1"; then echo "skip $area: $1: $2"; fi
}

skip_all() {
    skip all "$1"
    finish
    exit 0
}

# whole NAME: whether all cases are wanted. In make test, which runs only short tests, it prints that this case or
# group of cases is left to make test-all.
whole() {
    [ "${TIER:-}" = short ] || return 0
    echo "later $area: $1"
    return 1
}

# quickly NVCC: the flag for less optimisation of device code, if nvcc has it (since 12.9) and can compile
# __dp4a(), which headers call, with it (13.5 cannot). Large templates then compile in two thirds of the time, small
# kernels in the same time; kernels take at most twice as long and need more registers. Use it for programs that
# are only compiled or run shortly, in which nothing is counted and not all blocks have to be resident.
quickly() {
    echo '__global__ void dot(int *p) { *p = __dp4a(*p, 1, 2); }' |
        "$1" -Ofc=min -arch=compute_90 -ptx -x cu -o "$out/quickly.ptx" - >/dev/null 2>&1 && echo -Ofc=min
}

finish() { echo "end $area"; }

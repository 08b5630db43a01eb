#!/usr/bin/env bash
# in_turn.sh: run one make at a time in a build folder. The Makefile restarts itself through this script.
#
#     in_turn.sh BUILD "TOOLS" make [ARGS...]
#
# Waits while another make runs in BUILD, with a message. Then, before make starts, tools/build/toolchain.sh lists
# those of TOOLS that the user must install, and installs the others that are missing. If make finished other jobs
# after an error, the errors are repeated at the end. The exit status is make's.
set -um # each job has its own process group, so that one signal ends all of it
build=$1 tools=$2
shift 2

# All processes that make starts inherit the lock; it is released when the last of them ends. make clean
# may remove the file while others wait for it; they then try again with a new file.
while :; do
    { mkdir -p "$build" && exec 8>"$build/lock"; } 2>/dev/null || {
        echo "make: cannot write to $build/: make it writable, or choose another folder, as in make B=/tmp/build" >&2
        exit 1
    }
    flock -n 8 || { echo "make: another make is running in $build/: waiting for it" >&2 && flock 8; } || exit
    [ "$build/lock" -ef /proc/self/fd/8 ] && break
done

[ -z "$tools" ] || B=$build tools/build/toolchain.sh all $tools || { [ $? -lt 128 ] && exit 1 || exit 130; }

pipe=$build/errors.$$
rm -f "$build"/errors.* # left by a killed make
mkfifo "$pipe" || exit
tee "$build/errors" <"$pipe" >&2 &
tee=$!
make=
trap '[ -z "$make" ] && exit 130; kill -TERM -- -$make' INT TERM HUP
"$@" 2>"$pipe" </dev/null &
make=$!
wait $make
status=$?
while kill -0 $make 2>/dev/null; do wait $make; done
wait $tee
rm -f "$pipe"
if grep -qs '^make.*: \*\*\* Waiting for unfinished jobs' "$build/errors"; then
    printf '\nWhat went wrong:\n' >&2
    grep -v '^make.*: \*\*\* ' "$build/errors" | tail -n 60 | awk '!/^[^ ]+:[0-9]+: / || !said[$0]++' | sed 's/^/  /' >&2
fi
exit $status

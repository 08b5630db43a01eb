#!/usr/bin/env bash
# in_turn.sh: one make at a time in a build folder. The Makefile starts itself again below this.
#
#     in_turn.sh BUILD "TOOLS" make [ARGS...]
#
# Waits for another make in BUILD, and says so. Then tools/build/toolchain.sh names which of TOOLS the user
# must install, and installs the others that are missing, before anything else is done. Where make went on with other
# work behind an error, what went wrong is said once more at the end. The exit status is make's.
set -um # every job in a process group of its own: one signal ends all of it
build=$1 tools=$2
shift 2

# The lock is held, and inherited by all that make starts, until the last of them has ended. make
# clean may remove the file while others wait for it: then they begin again with the new one.
while :; do
    mkdir -p "$build" && exec 8>"$build/lock" || exit
    flock -n 8 || { echo "make: another make is at work in $build/: waiting for it" >&2 && flock 8; } || exit
    [ "$build/lock" -ef /proc/self/fd/8 ] && break
done

[ -z "$tools" ] || B=$build tools/build/toolchain.sh all $tools || { [ $? -lt 128 ] && exit 1 || exit 130; }

pipe=$build/errors.$$
rm -f "$build"/errors.* # of a make that was killed
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
    grep -v '^make.*: \*\*\* ' "$build/errors" | tail -n 60 | sed 's/^/  /' >&2
fi
exit $status

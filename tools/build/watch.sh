#!/bin/sh
# watch.sh: builds what depends on a chapter or a file of work/ whenever it is saved. make watch calls it.
#
#     watch.sh make [ARGS...]
#
# It lists chapters/*.md and work/*.cu once a second. When files are new, removed or changed, it waits until
# the listing is stable, since editors write in several steps, and runs make with the goal `saved` and the
# files in SAVED (see run.mk). It ignores names that make cannot represent.
set -u
[ $# -gt 0 ] || { echo 'usage: watch.sh make [ARGS...]' >&2; exit 2; }
make=''
trap '[ -z "$make" ] || { kill $make; wait $make; } 2>/dev/null; echo "watch: ended"; exit 0' INT TERM HUP

list() { # a line per file: inode, size, modification time and path
    stat -c '%i %s %.Y %n' chapters/*.md work/*.cu 2>/dev/null | grep -v '/.*[][:space:]$#:%\\'\''"[]'
}

known=$(list)
echo 'watch: save a file in chapters/ or work/ to build what depends on it; press Ctrl-C to end'
while sleep 1; do
    seen=$(list)
    [ "$seen" != "$known" ] || continue
    while sleep 0.2; now=$(list); [ "$now" != "$seen" ]; do seen=$now; done
    saved=$(printf '%s\n' "$known" "$seen" | sort | uniq -u | cut -d ' ' -f 4 | sort -u | xargs)
    known=$seen
    [ -n "$saved" ] || continue
    echo "watch: $saved"
    "$@" saved "SAVED=$saved" &
    make=$!
    wait $make && echo "watch: $saved: built" || echo "watch: $saved: failed; waiting for the next save"
    make=''
done

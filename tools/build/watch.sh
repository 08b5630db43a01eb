#!/bin/sh
# watch.sh: builds what was saved, each time a chapter or a file of work/ is. make watch calls it.
#
#     watch.sh make [ARGS...]
#
# Once a second it lists chapters/*.md and work/*.cu, and asks make for the goal `saved`, with the names of
# those that are new, gone or changed in SAVED: run.mk says what that builds. It waits until the listing
# stays the same, since editors write in pieces. Names that make cannot hold are left out.
set -u
[ $# -gt 0 ] || { echo 'usage: watch.sh make [ARGS...]' >&2; exit 2; }
make=''
trap '[ -z "$make" ] || { kill $make; wait $make; } 2>/dev/null; echo "watch: ended"; exit 0' INT TERM HUP

list() { # a line per file: its inode, size, time of the last change and path
    stat -c '%i %s %.Y %n' chapters/*.md work/*.cu 2>/dev/null | grep -v '/.*[][:space:]$#:%\\'\''"[]'
}

known=$(list)
echo 'watch: save a file of chapters/ or work/, and what it touches is built; Ctrl-C ends it'
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
    wait $make && echo "watch: $saved: built" || echo "watch: $saved: not yet; waiting for the next save"
    make=''
done

#!/bin/sh
# prune.sh LABS.mk: takes away what a chapter that is gone has left, a line each: its page and notebook, what the
# CPU device counted of its lab, its programs and runs in $B. tangle prunes code/, plot.py figures/; what
# a GPU measured stays until make record.
set -eu
B=${B:-build}
labs=$(sed -n 's/^LABS := //p' "$1")
removed() { rm -f "$1" && echo "removed $1"; }
is_lab() { case " $labs " in *" $1 "*) ;; *) return 1 ;; esac; }
numbers=" $(for lab in $labs; do printf '%s ' "${lab%%_*}"; done)"
has_number() { case $numbers in *" $1 "*) ;; *) return 1 ;; esac; }

for notebook in notebooks/*.ipynb; do
    name=${notebook##*/}
    [ "$name" = workbook.ipynb ] || [ ! -e "$notebook" ] || [ -e "chapters/${name%.ipynb}.md" ] || removed "$notebook"
done
for page in book/*.md; do
    [ ! -e "$page" ] || [ -e "chapters/${page##*/}" ] || removed "$page"
done
for trace in results/trace-*.csv results/steps/*.csv; do
    name=${trace##*/} name=${name#trace-}
    [ ! -e "$trace" ] || has_number "${name%%-*}" || removed "$trace"
done
for counts in results/cpu.csv results/cpu-lines.csv results/cpu-machine.csv; do
    [ -e "$counts" ] || continue
    awk -F , -v numbers="$numbers" '/^# toolkit of / { split($0, of, /[ :]/); if (!index(numbers, " " of[4] " ")) next }
        /^#/ || $1 == "chapter" || index(numbers, " " $1 " ")' "$counts" >"$B/counts.new"
    if cmp -s "$B/counts.new" "$counts"; then continue; fi
    echo "removed from $counts: rows of what is gone, $(($(grep -vc '^#' "$counts") - $(grep -vc '^#' "$B/counts.new")))"
    cat "$B/counts.new" >"$counts.new" && mv "$counts.new" "$counts"
done
rm -f "$B/counts.new"
for built in "$B"/labs/* "$B"/results/*/*; do
    [ -f "$built" ] || continue
    name=${built##*/} name=${name%%[.@]*}
    case $name in [0-9]*_*) is_lab "$name" || rm -f "$built" ;; esac
done

#!/bin/sh
# prune.sh LABS.mk: removes the files of deleted chapters and prints the names of those outside $B: pages,
# notebooks, counts from the CPU device, and programs and runs in $B. tangle prunes code/, and plot.py
# prunes figures/. Times from GPUs remain until make record.
set -eu
B=${B:-build}
labs=$(sed -n 's/^LABS := //p' "$1")
removed() { rm -f "$1" && echo "removed $1"; }
is_lab() { case " $labs " in *" $1 "*) ;; *) return 1 ;; esac; }

for notebook in notebooks/*.ipynb; do
    name=${notebook##*/}
    [ "$name" = workbook.ipynb ] || [ ! -e "$notebook" ] || [ -e "chapters/${name%.ipynb}.md" ] || removed "$notebook"
done
for page in book/*.md; do
    [ ! -e "$page" ] || [ -e "chapters/${page##*/}" ] || removed "$page"
done
"$B/collect" gone $labs
for built in "$B"/labs/* "$B"/results/*/*; do
    [ -f "$built" ] || continue
    name=${built##*/} name=${name%%[.@]*}
    case $name in [0-9]*_*) is_lab "$name" || rm -f "$built" ;; esac
done

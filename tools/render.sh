#!/bin/sh
# Renders what `weave -t pandoc` wrote: one offline HTML file, an EPUB, or a PDF.
# The output is complete or as it was before; it is named by what it ends in.
set -eu

usage="usage: render.sh BOOK.md OUT.html|OUT.epub|OUT.pdf
  PANDOC names the pandoc to use (default pandoc; 2.17 or later)"

[ "${1:-}" = -h ] && { echo "$usage"; exit 0; }
[ $# -eq 2 ] || { echo "$usage" >&2; exit 2; }
pandoc=${PANDOC:-pandoc} book=$1 out=$2
tools=$(dirname "$0")

version=$("$pandoc" --version 2>/dev/null | sed -n '1s/^pandoc[^0-9]*//p') || version=
[ -n "$version" ] || { echo "render.sh: no pandoc: install pandoc or set PANDOC" >&2; exit 1; }
major=${version%%.*} rest=${version#*.}
minor=${rest%%.*}

# --embed-resources came with 2.19; before, --self-contained did the same.
embed="--embed-resources"
[ "$major" -gt 2 ] || [ "$minor" -ge 19 ] || embed="--self-contained"

mkdir -p "$(dirname "$out")"
fresh=$(dirname "$out")/.$$.$(basename "$out")
trap 'rm -f "$fresh"' EXIT
trap 'exit 1' HUP INT TERM

set -- --from markdown --standalone --syntax-definition "$tools/cuda.xml" --columns 10000
case $out in
*.html)
    "$pandoc" "$@" --to html5 $embed --template "$tools/book.html" --css "$tools/book.css" \
        --variable script="$tools/book.js" --mathml --toc --toc-depth 2 --output "$fresh" "$book"
    ;;
*.epub)
    "$pandoc" "$@" --to epub3 --css "$tools/book-epub.css" --mathml --toc --toc-depth 2 \
        --output "$fresh" "$book"
    ;;
*.pdf)
    for engine in weasyprint xelatex lualatex tectonic typst none; do
        command -v "$engine" >/dev/null 2>&1 && break
    done
    [ "$engine" != none ] || { echo "render.sh: no PDF engine: install xelatex or weasyprint" >&2; exit 1; }
    "$pandoc" "$@" --pdf-engine "$engine" --toc --toc-depth 2 --output "$fresh" "$book"
    ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
mv "$fresh" "$out"

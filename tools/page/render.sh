#!/bin/sh
# Renders the output of `weave -t pandoc` as one offline HTML file, an EPUB or a PDF, by the suffix of the output's
# name. If it fails, an existing output stays unchanged.
set -eu

usage="usage: render.sh BOOK.md OUT.html|OUT.epub|OUT.pdf
       render.sh BOOK.md OUT.html ENGINE.wasm.gz PROGRAMS.json
  With the engine and what weave -e and weave -t programs made, the page runs kernels.
  PANDOC names the pandoc to use (default pandoc; 2.17 or later)"

[ "${1:-}" = -h ] && { echo "$usage"; exit 0; }
[ $# -eq 2 ] || { [ $# -eq 4 ] && [ "${2%.html}" != "$2" ]; } || { echo "$usage" >&2; exit 2; }
pandoc=${PANDOC:-pandoc} book=$1 out=$2 wasm=${3-} programs=${4-}
here=$(dirname "$0")

version=$("$pandoc" --version 2>/dev/null | sed -n '1s/^pandoc[^0-9]*//p') || version=
[ -n "$version" ] || { echo "render.sh: no pandoc: install pandoc or set PANDOC" >&2; exit 1; }
major=${version%%.*} rest=${version#*.}
minor=${rest%%.*}

# pandoc 2.19 replaced --self-contained by --embed-resources.
embed="--embed-resources"
[ "$major" -gt 2 ] || [ "$minor" -ge 19 ] || embed="--self-contained"

mkdir -p "$(dirname "$out")"
fresh=$(dirname "$out")/.$$.$(basename "$out") page=$(dirname "$out")/.$$.html profile=
trap 'rm -rf "$fresh" "$fresh.fat" "$fresh.data" "$page" "$page.fat" "$profile"' EXIT
trap 'exit 1' HUP INT TERM

set -- --from markdown --standalone --syntax-definition "$here/cuda.xml" --columns 10000 \
    --lua-filter "$here/answers.lua"
# Puts the engine and the programs into a page, compressed, before its scripts.
embed_engine() {
    mv "$1" "$1.fat"
    {
        sed '/^<\/main>$/q' "$1.fat"
        printf '<script type="text/plain" id="run-engine">' && base64 "$wasm" | tr -d '\n' && echo '</script>'
        printf '<script type="text/plain" id="run-programs">' && gzip -9nc "$programs" | base64 | tr -d '\n' && echo '</script>'
        sed '1,/^<\/main>$/d' "$1.fat"
    } >"$1"
}
html() {
    out_html=$1
    shift
    styles="theme code page player predict"
    scripts="player-data player-model player-words player-view player search page predict-number predict answer"
    if [ -n "$wasm" ]; then
        styles="$styles run" scripts="$scripts run-data run-engine run-editor run-result run"
        set -- "$@" --metadata engine=true
    fi
    for style in $styles; do set -- "$@" --css "$here/$style.css"; done
    for script in $scripts; do set -- "$@" --variable script="$here/$script.js"; done
    "$pandoc" "$@" --to html5 $embed --template "$here/page.html" --lua-filter "$here/listing.lua" \
        --lua-filter "$here/page.lua" --lua-filter "$here/figure.lua" --mathml --toc --toc-depth 2 \
        --output "$out_html.fat" "$book" || return 1
    # Removes parts of pandoc's output that readers do not see: TeX next to formulas, styles of cells that repeat a
    # class or the default, quotes around single words, escapes in drawings.
    sed -E -e 's|<annotation encoding="application/x-tex">[^<]*</annotation>||g' \
        -e 's|(<t[hd]) style="text-align: left;"|\1|g' -e 's|(<t[hd]) style="text-align: right;"|\1 class="r"|g' \
        -e 's|(<t[hd]) style="text-align: center;"|\1 class="c"|g' \
        -e 's/(<[a-z]+ class)="([a-z]+)">/\1=\2>/g' \
        -e "/data:image/s/%27/'/g" -e '/data:image/s/%3C/</g' -e '/data:image/s/%3E/>/g' "$out_html.fat" >"$out_html"
    [ -z "$wasm" ] || embed_engine "$out_html"
    rm "$out_html.fat"
}

# Prints the HTML page to PDF with a browser; without one, pandoc makes the PDF.
pdf() {
    for engine in chromium chromium-browser google-chrome weasyprint xelatex lualatex tectonic typst none; do
        command -v "$engine" >/dev/null 2>&1 && break
    done
    case $engine in
    none)
        echo "render.sh: no PDF engine: install chromium, weasyprint or xelatex" >&2
        return 1
        ;;
    chrom* | google-chrome)
        html "$page" "$@"
        profile=$(mktemp -d)
        sandbox=
        [ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox # Chromium does not start its sandbox as root
        "$engine" --headless $sandbox --disable-gpu --no-pdf-header-footer \
            --generate-pdf-document-outline --user-data-dir="$profile" --print-to-pdf="$fresh" \
            "$page" >"$profile/log" 2>&1 && [ -s "$fresh" ] ||
            { echo "render.sh: $engine: $(tail -n 1 "$profile/log")" >&2; return 1; }
        ;;
    *)
        "$pandoc" "$@" --pdf-engine "$engine" --toc --toc-depth 2 --output "$fresh" "$book"
        ;;
    esac
}

case $out in
*.html)
    html "$fresh" "$@"
    ;;
*.epub)
    "$pandoc" "$@" --to epub3 --css "$here/epub.css" --lua-filter "$here/epub.lua" --mathml --toc --toc-depth 2 \
        --output "$fresh" "$book"
    ;;
*.pdf)
    pdf "$@"
    ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
mv "$fresh" "$out"

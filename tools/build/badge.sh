#!/bin/sh
# badge.sh: link README.md to the book's page and to Colab, and the notebooks to Colab.
#
#   tools/build/badge.sh [OWNER/NAME]    default: the GitHub repository of the git remote origin
#
# Writes the repository's name to notebooks/REPOSITORY, which weave reads, and a line of links below
# the title of README.md. Both are committed, so that all clones have the same links.
# .github/workflows/page.yml publishes the page.
set -u
cd "${0%/*}/../.." || exit 1

repository=${1:-$(git remote get-url origin 2>/dev/null |
    sed -nE 's#^(https://|ssh://git@|git@)github\.com[:/]([^/]+/[^/]+)$#\2#p' | sed 's/\.git$//')}
case $repository in
'')
    echo "badge: the git remote origin is not on GitHub: pass OWNER/NAME" >&2
    exit 1
    ;;
*[!A-Za-z0-9_./-]* | */*/* | /* | */)
    echo "badge: not OWNER/NAME: $repository" >&2
    exit 2
    ;;
*/*) ;;
*)
    echo "badge: not OWNER/NAME: $repository" >&2
    exit 2
    ;;
esac

colab=https://colab.research.google.com
badge="[![Open in Colab]($colab/assets/colab-badge.svg)]($colab/github/$repository/blob/main/notebooks/workbook.ipynb)"
page="[Read the book in your browser](https://${repository%/*}.github.io/${repository#*/}/)"
awk -v links="$page $badge" '
    /^\[Read the book in your browser\]/ { getline; if ($0 == "") next }
    { print }
    /^# / && !done { print ""; print links; done = 1 }' README.md >README.md.new &&
    mkdir -p notebooks && echo "$repository" >notebooks/REPOSITORY && mv README.md.new README.md

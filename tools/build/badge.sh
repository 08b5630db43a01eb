#!/bin/sh
# badge.sh: let README.md and the notebooks open in Colab from the repository that hosts them.
#
#   tools/build/badge.sh [OWNER/NAME]    default: what the git remote origin is on GitHub
#
# Notes the repository in notebooks/REPOSITORY, from where weaving takes it, and puts the badge
# below the title of README.md. Clones of a repository thus agree on it, whatever their remotes are.
set -u
cd "${0%/*}/../.." || exit 1

repository=${1:-$(git remote get-url origin 2>/dev/null |
    sed -nE 's#^(https://|ssh://git@|git@)github\.com[:/]([^/]+/[^/]+)$#\2#p' | sed 's/\.git$//')}
case $repository in
'')
    echo "badge: there is no git remote origin on GitHub: give OWNER/NAME" >&2
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
awk -v badge="$badge" '
    /^\[!\[Open in Colab\]/ { getline; if ($0 == "") next }
    { print }
    /^# / && !done { print ""; print badge; done = 1 }' README.md >README.md.new &&
    mkdir -p notebooks && echo "$repository" >notebooks/REPOSITORY && mv README.md.new README.md

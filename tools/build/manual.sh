#!/bin/sh
# manual.sh: make a man page from a program's help.
#
#   manual.sh PROGRAM MAIN.c >PROGRAM.1
#
# The name and summary are the first comment of MAIN.c, `// NAME: summary.`; the synopsis and the
# description are the output of PROGRAM -h.
set -eu
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' tools/base/version.h)
usage=$("$1" -h)
printf '%s\n' "$usage" | awk -v title="$(sed -n '1s|^// ||p' "$2")" -v version="$version" '
    function shown(line) { gsub(/\\/, "\\e", line); gsub(/-/, "\\-", line); return line ~ /^[.\47]/ ? "\\&" line : line }
    BEGIN {
        name = title; sub(/:.*/, "", name); sub(/^[^:]*: /, "", title); sub(/\.$/, "", title)
        printf ".TH %s 1 \"\" \"%s %s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", toupper(name), name, version, name, shown(title)
    }
    NR == 1 { sub(/^usage: /, "") }
    !described && NR > 1 && !/^ / {
        described = 1
        print ".fi\n.SH DESCRIPTION\n.nf"
        if (/^$/) next
    }
    !described { sub(/^       /, "") }
    { print shown($0) }
    END { print ".fi" }'

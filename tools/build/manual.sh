#!/bin/sh
# manual.sh: a man page for a program, made from what it says of itself.
#
#   manual.sh PROGRAM MAIN.c >PROGRAM.1
#
# The name and its line are the first comment of MAIN.c, `// NAME: line.`, the synopsis and the
# description are what PROGRAM -h prints.
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

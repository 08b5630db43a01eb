#!/bin/sh
# embed.sh: print files as C: for each an array of bytes, page_NAME_SUFFIX, and its length.
set -eu
echo '#include <stddef.h>'
for file in "$@"; do
    name=page_$(basename "$file" | tr '.-' '__')
    echo "extern const unsigned char $name[];"
    echo "extern const size_t ${name}_length;"
    echo "const unsigned char $name[] = {"
    od -An -v -tu1 "$file" | sed 's/[0-9][0-9]*/&,/g'
    echo "0};"
    echo "const size_t ${name}_length = sizeof $name - 1;"
done

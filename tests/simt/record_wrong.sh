#!/bin/sh
# Records chapter 18's exhibits on a machine with a GPU. See record_wrong.py.
#   tests/simt/record_wrong.sh OUT [--counts]
exec python3 -B "$(dirname "$0")/record_wrong.py" "$@"

#!/bin/sh
# Records on a machine with a GPU what the tests of the CPU device compare with: results of PTX
# instructions, counters under ncu, verdicts of compute-sanitizer. See record.py.
#   [B=build] [OUT=folder] tests/simt/record_h200.sh [PART[:NAME,..]...]
exec python3 -B "$(dirname "$0")/record.py" "$@"

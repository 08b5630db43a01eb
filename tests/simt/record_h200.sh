#!/bin/sh
# Records the reference results of the CPU device's tests, on a machine with a GPU: results of PTX
# instructions, counters under ncu, verdicts of compute-sanitizer. See record.py.
#   [B=build] [OUT=folder] tests/simt/record_h200.sh [PART[:NAME,..]...]
exec python3 -B "$(dirname "$0")/record.py" "$@"

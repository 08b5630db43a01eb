#!/bin/sh
# Runs every case of the corpus under compute-sanitizer's four tools on a machine with a GPU and
# writes compute-sanitizer-h200.csv (case,expected,memcheck,racecheck,initcheck,synccheck) to $OUT.
exec python3 -B "$(dirname "$0")/../record.py" corpus

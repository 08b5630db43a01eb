#!/bin/bash
# gpu.sh: what a GPU (sm_90) and compute-sanitizer say of the programs that are least certain.
# Writes $OUT/learners.log; at most 60 seconds on 16 cores.
cd "$(dirname "$0")" || exit 1
export PATH=$PATH:/usr/local/cuda/bin
log=${OUT:?}/learners.log; d=$(mktemp -d); export d
jobs="x_errors plain
w03_flag_no_fence plain memcheck
w05_dyn_shared_forgotten plain memcheck
w07_sync_in_if plain synccheck racecheck
w08_shuffle_in_branch plain synccheck
w09_warp_sum_48 plain synccheck initcheck
w11_elapsed_not_ready plain memcheck
w12_host_reads_device plain
w13_deep_copy_forgotten plain memcheck
w14_symbol_as_argument plain memcheck
w15_free_async_then_use plain memcheck
w16_memset_counts_elements plain initcheck
w17_int_overflow_size plain memcheck
w18_zero_blocks plain memcheck
w19_pitch_ignored plain initcheck
w20_grid_sync_plain_launch plain memcheck
w22_ldg_written plain racecheck
r05_events_order_streams plain
r11_probing plain memcheck
r14_padding plain initcheck
r18_ballot_of_the_rest plain synccheck
r22_nothing_to_do plain memcheck
r24_stream_destroyed_early plain memcheck"
one() {   # PROGRAM TOOL: runs it, keeps what it says
    f=$d/$1.$2.log; run="$d/$1"; [ "$2" = plain ] || run="compute-sanitizer --tool $2 $d/$1"
    { echo "=== $1 $2"; timeout 20 $run 2>&1 | head -25 | cut -c1-200; echo "status ${PIPESTATUS[0]}"; } >"$f" 2>&1
}
export -f one
echo "$jobs" | cut -d' ' -f1 | timeout 30 xargs -P16 -I{} nvcc -arch=sm_90 -lineinfo -w -o "$d/{}" {}.cu 2>"$d/nvcc.txt"
echo "$jobs" | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | timeout 29 xargs -P8 -L1 bash -c 'one $0 $1'
{ nvidia-smi -L; nvcc --version | tail -2; cat "$d/nvcc.txt"
  echo "$jobs" | while read -r p tools; do for t in $tools; do cat "$d/$p.$t.log"; done; done; } >"$log" 2>&1
rm -r "$d"

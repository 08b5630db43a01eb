#!/bin/bash
# objects of these names (default all), J at a time
cd "$(dirname "$0")"; J=${J:-2}
[ $# -gt 0 ] || set -- main old_sums old_ragged old_soft_f old_soft_b old_norm_f old_norm_b new_sums new_ragged new_soft_f new_soft_b new_norm_f new_norm_b cand_soft_f cand_soft_b cand_norm_f cand_norm_b
printf '%s\n' "$@" | xargs -P $J -I{} sh -c 'nvcc -O3 -std=c++17 -arch=sm_90 -c -o {}.o {}.cu || echo FAILED {}'
nvcc -cudart static -arch=sm_90 -o rows_bench *.o && ls -la rows_bench

#!/bin/bash
# From the repository's root, on the GPU machine: bash .gpu/exact/run.sh
cd "$(dirname "$0")" || exit 1
NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
began=$SECONDS
rm -rf o; mkdir -p o
for f in u_*.cu main.cu peers.cu; do
    echo "$f"
done | xargs -P "${JOBS:-16}" -I@ sh -c "$NVCC -O3 -std=c++17 -arch=sm_90 -I cccl -c -o o/@.o @ 2>o/@.log || { echo FAILED @; head -5 o/@.log; }"
$NVCC -arch=sm_90 -o peers o/peers.cu.o
rm -f o/peers.cu.o
$NVCC -arch=sm_90 -o bench o/*.o || exit 1
echo "compiled in $((SECONDS - began)) s"
timeout "${LIMIT:-100}" ./bench "${OUT:-.}/exact.csv" "$@" | tee "${OUT:-.}/exact.txt"
timeout 60 ./peers >"${OUT:-.}/compare-exact.csv" || echo "peers failed"
echo "all in $((SECONDS - began)) s"

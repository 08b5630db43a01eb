#!/bin/sh
# database.sh: print a compilation database for clangd and other language servers.
#
#   database.sh NVCC CFLAGS FILE.c... FILE.cu... >compile_commands.json
#
# C files are compiled with CFLAGS. CUDA files have options for clang's own CUDA support: sm_80, the newest
# architecture that every clang since 14 supports, and CUB's folder in CUDA 13. Names must not contain quotes
# or backslashes.
nvcc=$1 flags=$2
cuda=${nvcc%/bin/nvcc}
shift 2
quoted() { for word in "$@"; do printf ', "%s"' "$word"; done; }
separator='['
for file in "$@"; do
    case $file in
    *.cu) set -- clang++ -xcuda "--cuda-path=$cuda" --cuda-gpu-arch=sm_80 \
        -isystem "$cuda/include/cccl" -std=c++17 ;;
    *) set -- cc $flags ;;
    esac
    printf '%s\n{"directory": "%s", "file": "%s", "arguments": ["%s"' "$separator" "$PWD" "$file" "$1"
    shift
    quoted "$@" -c "$file"
    printf ']}'
    separator=,
done
printf '\n]\n'

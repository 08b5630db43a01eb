#!/bin/sh
# database.sh: a compile database, as clangd and other language servers read it.
#
#   database.sh NVCC CFLAGS FILE.c... FILE.cu... >compile_commands.json
#
# C files with CFLAGS. CUDA files as clang takes them, which reads CUDA itself: for sm_80, the newest that
# every clang from 14 on knows, with CUB where CUDA 13 has it. Names hold no quotes, no backslashes.
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

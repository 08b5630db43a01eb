#!/bin/sh
# edited.sh NVCC WHOLE.o EDITED.cu PROGRAM [FLAGS...]: rebuilds a program in which only kernels were edited.
#
# nvcc compiles a source once for the host and once for the device, and puts the device code, a fat
# binary, into the section .nv_fatbin of the host object. If the host code is the same as that of WHOLE.o,
# this script compiles only the device code and replaces that section, in a third of the time. FLAGS
# name the architecture. The kernels must have the same names in both sources.
nvcc=$1 whole=$2 source=$3 program=$4
shift 4
"$nvcc" "$@" -fatbin -o "$program.fatbin" "$source" &&
    objcopy --update-section .nv_fatbin="$program.fatbin" "$whole" "$program.o" &&
    "$nvcc" -cudart shared -o "$program" "$program.o" && rm "$program.fatbin" "$program.o"

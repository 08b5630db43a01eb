#!/bin/sh
# edited.sh NVCC WHOLE.o EDITED.cu PROGRAM [FLAGS...]: a program of which only kernels were edited.
#
# nvcc compiles a source once for the host and once for the device, and puts the device's part, a fat
# binary, into the section .nv_fatbin of the host's object. So where the host's part is the same as
# that of WHOLE.o, only the edited kernels are compiled, and take the place of those in there: a third
# of the time. FLAGS say for which architecture; kernels have the same names in both.
nvcc=$1 whole=$2 source=$3 program=$4
shift 4
"$nvcc" "$@" -fatbin -o "$program.fatbin" "$source" &&
    objcopy --update-section .nv_fatbin="$program.fatbin" "$whole" "$program.o" &&
    "$nvcc" -cudart shared -o "$program" "$program.o" && rm "$program.fatbin" "$program.o"

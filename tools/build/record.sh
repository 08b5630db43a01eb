#!/bin/sh
# record.sh: record results of the labs on the current device into results/. make record calls it.
#
#   record.sh device    times and Nsight Compute's profile; on the CPU device counts of PTX and machine
#                       code, also by line and for small runs, traces, steps for the page's player, rounding errors
#   record.sh newest    the labs with the attribute newest=, with the CUB in $CCCL
#   record.sh shapes    the sweep of shapes; with the CUB in $CCCL, if given
#
# A run is a lab at a size. Only runs without results of the current source are due (collect -d). With ALL=1
# all are due. ONLY="11_% 12_%@1024" selects some of the due runs; PLAN=1 prints them and records nothing.
# Attributes of a lab in its chapter, which $B/labs.mk contains as KEY_LAB := VALUE:
#
#   sizes="1024 4096"          further sizes, on a GPU
#   newest="1024" newest_from=NAME.cuh    sizes with a newer CUB; the program in code/ for them
#   shapes=NAME.cuh            the program in code/ that runs the sweep; it includes the lab
#   machine=yes                the lab measures the device's limits, for results/$DEVICE-machine.csv
#   mpi="-DWITH_MPI"           flags for one process per GPU in a lab of several GPUs
#   trace="KERNEL.."           accesses to shared memory in order
#   steps="KERNEL.." blocks="64 256"      the same with values and races, for these block sizes
#   errors=FILE                rounding errors, which are the same on every device
set -euf
unset MAKEFLAGS MFLAGS MAKELEVEL # the makes below are independent of the calling one

of() { sed -n "s/^$1_$2 := //p" "$B/labs.mk"; }
# logged LOG COMMAND...: write its output to LOG or, with V=1, to the screen.
logged() {
    log=$1
    shift
    if [ -n "$V" ]; then "$@"; else "$@" >"$log"; fi
}
has() { case " $1 " in *" $2 "*) ;; *) return 1 ;; esac; } # has LIST WORD
die() {
    echo "record.sh: $*" >&2
    exit 1
}

# chosen RUN: whether ONLY selects it.
chosen() {
    [ -n "$ONLY" ] || return 0
    for pattern in $ONLY; do
        case $1 in $(echo "$pattern" | tr % '*')) return 0 ;; esac
    done
    return 1
}

# due FILE RUN...: print the selected runs that FILE lacks.
due() {
    file=$1
    shift
    found=$*
    [ -n "$ALL" ] || found=$("$B/collect" -d -k "$file" -n "$N" "$@")
    for run in $found; do
        if chosen "$run"; then printf '%s ' "$run"; fi
    done
}

# forget FILE...: with ALL, remove earlier results of the same code, so that make runs it again.
forget() {
    [ -n "$ALL" ] || return 0
    for old; do
        case $old in *.csv) rm -f "$old" ;; esac
    done
}

# plan RUN...: with PLAN, print the due runs and exit.
plan() {
    [ -n "$PLAN" ] || return 0
    echo "due on $DEVICE: ${*:-nothing}"
    exit
}

# write FILE SUFFIX DUE RUN...: update FILE: DUE runs from $R/RUN.SUFFIX, others as they were.
write() {
    file=$1 suffix=$2 taken=$3 from='' old=''
    shift 3
    [ ! -e "$file" ] || old=$file
    for run in "$@"; do
        if has "$taken" "$run"; then from="$from $R/$run.$suffix"; elif [ -n "$old" ]; then from="$from $run"; fi
    done
    [ -n "$from" ] || { echo "$file: not written, since no run was selected" && return; }
    mkdir -p "${file%/*}"
    if [ "$DEVICE" != cpu ]; then TOOLKIT=''; fi
    "$B/collect" -n "$N" ${TOOLKIT:+-f "$TOOLKIT"} ${old:+-k "$old"} -o "$file" $from
    echo "$file: ${taken:-nothing new}"
    sed -n "s|^# toolkit of \(.*\): \(.*\)|$file: chapter \1 was recorded with toolkit \2, others with another; use ALL=1 to record all with one|p" "$file"
}

# Wrong kernels: how many runs were right, or what simt --check says of them. The file names the lab's source.
lacks_wrong() { chosen "$1" && ! { [ -z "$ALL" ] && grep -qsx "# source: $("$B/collect" source "$1")" "results/$DEVICE-wrong.csv"; }; }
wrong_due() { for lab in $WRONG; do if lacks_wrong "$lab"; then echo "$lab"; fi; done; }
write_wrong() { # of $lab, from standard input
    {
        printf '# chapter: %s\n# source: %s\n' "${lab%%_*}" "$("$B/collect" source "$lab")"
        cat
    } >"results/$DEVICE-wrong.csv.new" && mv "results/$DEVICE-wrong.csv.new" "results/$DEVICE-wrong.csv"
    echo "results/$DEVICE-wrong.csv: $lab"
}

# ---- The CPU device ----

count() {
    hazardous='' all='' labs='' made=''
    for lab in $RUNS; do if [ -n "$(of hazards "$lab")" ]; then hazardous="$hazardous $lab@256"; fi; done
    lines=$(due results/cpu-lines.csv $RUNS $hazardous)
    counts=$(due results/cpu.csv $RUNS)
    machine=$(due results/cpu-machine.csv $RUNS)
    small=''
    for lab in $RUNS; do case $lab in 0* | 10_*) small="$small $lab@100000" ;; esac done # those that the page runs
    smaller=$(due results/cpu-small.csv $small)
    wrong=$(wrong_due)
    plan $lines $counts $machine $smaller $wrong
    for lab in $RUNS; do
        if has "$lines $counts $machine" "$lab" || has "$lines" "$lab@256" || lost "$lab"; then
            labs="$labs $lab" made="$made $R/$lab.csv $R/$lab.lines.csv $B/labs/$lab"
        fi
    done
    for run in $lines; do if has "$hazardous" "$run"; then made="$made $R/$run.lines.csv"; fi; done
    forget $made
    [ -z "$made" ] || "$MAKE" -s $made
    for lab in $labs; do
        if has "$machine" "$lab"; then
            echo "run $lab from machine code"
            logged "$R/$lab.machine.log" "$B/simt" --machine --last --csv "$R/$lab.machine.csv" "$B/labs/$lab" -n "$N"
        fi
        number=${lab%%_*}
        for kernel in $(of trace "$lab"); do trace "results/trace-$number-$kernel.csv"; done
        for kernel in $(of steps "$lab"); do
            for block in $(of blocks "$lab"); do steps "results/steps/$number-$kernel-$block.csv"; done
        done
        for file in $(of errors "$lab"); do
            echo "run $lab --errors"
            mkdir -p "${file%/*}"
            "$B/simt" "$B/labs/$lab" --errors "$file.new" >/dev/null
            mv "$file.new" "$file"
        done
    done
    write results/cpu-lines.csv lines.csv "$lines" $RUNS $hazardous
    write results/cpu-machine.csv machine.csv "$machine" $RUNS
    write results/cpu.csv csv "$counts" $RUNS
    for run in $smaller; do
        lab=${run%@*}
        echo "run $run as the page does"
        "$MAKE" -s "$B/labs/$lab" engine-native
        tools/build/page_counts.py "$B" "code/$lab.cu" "$B/labs/$lab" "${run#*@}" "$R/$run.csv"
    done
    [ -z "$small" ] || write results/cpu-small.csv csv "$smaller" $small
    for lab in $wrong; do reports; done
    for source in $(ls code/first 2>/dev/null); do print_first "${source%.cu}"; done
}
# Compiled for debuggers too, so that reports name lines of the host code.
reports() {
    echo "run $lab --check"
    compile "$R/$lab@check" "$B/code/$lab.cu" -g
    echo "# $TOOLKIT" >"$R/$lab.reports.csv"
    python3 tools/build/reports.py "$B/simt" "$R/$lab@check" "chapters/$(ls chapters | grep "^${lab%%_*}-.*md$")" >>"$R/$lab.reports.csv"
    write_wrong <"$R/$lab.reports.csv"
}
# What a program of code/first/ prints on the CPU device, for the page to show. Its comment may name options of simt.
print_first() {
    "$MAKE" -s "$B/labs/first/$1"
    mkdir -p results/first
    "$B/simt" $(sed -n "s|^// Run it: simt \(.*\) $1$|\1|p" "code/first/$1.cu") "$B/labs/first/$1" >"results/first/$1.txt"
}
# lost LAB: whether one of its recorded files is missing.
lost() {
    for file in $(of errors "$1") $(for kernel in $(of trace "$1"); do echo "results/trace-${1%%_*}-$kernel.csv"; done) \
        $(for kernel in $(of steps "$1"); do for n in $(of blocks "$1"); do echo "results/steps/${1%%_*}-$kernel-$n.csv"; done; done); do
        chosen "$1" && [ ! -e "$file" ] && return
    done
    return 1
}
trace() { # of $kernel of $lab
    echo "trace $number $kernel"
    "$B/simt" --trace "$B/trace.csv" "$B/labs/$lab" -n 256 -b 256 -k "$kernel" >/dev/null
    "$B/collect" trace "$kernel" "$B/trace.csv" >"$1.new" && mv "$1.new" "$1"
}
# Runs one block with two elements per thread, as chapters after the fifth need. Status 86: hazards.
steps() {
    n=$((2 * block)) trace=$R/$lab.$number-$kernel-$block
    echo "steps $number $kernel, blocks of $block"
    mkdir -p "${1%/*}"
    status=0
    "$B/simt" --check --trace "$trace.csv" "$B/labs/$lab" -n $n -b "$block" -k "$kernel" >"$trace.log" 2>&1 || status=$?
    [ $status = 0 ] || [ $status = 86 ] || { cat "$trace.log" >&2 && exit 1; }
    "$B/collect" -s -n $n -l "$B/code/$lab.cu" -o "$1" "$trace.csv"
}

# ---- A GPU, or several of one host ----

measure() {
    every=''
    for lab in $RUNS; do
        every="$every $lab"
        for n in $(of sizes "$lab"); do every="$every $lab@$n"; done
    done
    found=$(due "results/$DEVICE.csv" $every) limits='' made=''
    for lab in $RUNS; do
        if lacks_machine "$lab" && ! has "$found" "$lab"; then found="$found $lab" && rm -f "$R/$lab.csv"; fi
    done
    [ -z "$(tools/build/limits.sh)" ] || limits=$(due "results/$DEVICE-limits.csv" $RUNS)
    gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || :) host=$DEVICE-x$gpus shared=''
    [ "$gpus" -lt 2 ] || shared=$(due "results/$host.csv" $TOGETHER)
    wrong=$(wrong_due)
    plan $found ${limits:+limits of $limits} ${shared:+on $gpus GPUs $shared} $wrong
    for run in $found; do made="$made $R/$run.csv"; done
    for lab in $limits; do made="$made $B/labs/$lab"; done
    forget $made
    [ -z "$made" ] || "$MAKE" -s $made
    mkdir -p "$R"
    for lab in $limits; do
        echo "profile $lab"
        flock "$B/gpu" tools/build/limits.sh "$B/labs/$lab" "$N" "$R/$lab.csv"
    done
    [ -z "$shared" ] || measure_together
    for lab in $wrong; do
        "$MAKE" -s "$B/labs/$lab"
        echo "run $lab on $DEVICE"
        logged "$R/$lab.log" flock "$B/gpu" "$B/labs/$lab" --csv "$R/$lab.csv"
        write_wrong <"$R/$lab.csv"
    done
    write "results/$DEVICE.csv" csv "$found" $every
    for lab in $found; do [ -z "$(of machine "$lab")" ] || write_machine "results/$DEVICE-machine.csv"; done
    if [ -n "$limits" ] && [ ! -e "$R/denied" ]; then write "results/$DEVICE-limits.csv" limits.csv "$limits" $RUNS; fi
}
# The lab that measures the device's limits is due if their file is missing. The file names the lab's source.
lacks_machine() { [ -n "$(of machine "$1")" ] && [ ! -e "results/$DEVICE-machine.csv" ] && chosen "$1"; }
write_machine() { # FILE, from the run of $lab
    number=${lab%%_*}
    {
        grep '^# ' "$R/$lab.csv"
        echo "# chapter: $number"
        echo "# source: $("$B/collect" source "$lab")"
        cat "$R/$lab.machine.csv"
    } >"$1.new" && mv "$1.new" "$1"
    echo "$1: $lab"
}
measure_together() {
    from='' mpi=''
    if command -v mpicxx >/dev/null && mpirun -np 1 true >/dev/null 2>&1; then mpi=yes; else
        echo 'recording without MPI: mpicxx is missing, or mpirun does not start programs'
    fi
    mkdir -p "$B/results/$host"
    for lab in $shared; do
        "$MAKE" -s "$B/labs/$lab"
        echo "run $lab on $gpus GPUs"
        flock "$B/gpu" "$B/labs/$lab" -n "$N" --csv "$B/results/$host/$lab.csv"
        from="$from $B/results/$host/$lab.csv"
        flags=$(of mpi "$lab")
        if [ -z "$mpi" ] || [ -z "$flags" ]; then continue; fi
        compile "$B/labs/$lab@mpi" "$B/code/$lab.cu" $(of link "$lab") $flags -ccbin mpicxx
        flock "$B/gpu" mpirun -np "$gpus" "$B/labs/$lab@mpi" -n "$N" --csv "$B/results/$host/$lab@mpi.csv"
        from="$from $B/results/$host/$lab@mpi.csv"
    done
    [ -z "$from" ] || "$B/collect" -n "$N" -o "results/$host.csv" $from
}

# ---- Programs with further compiler options ----

# compile PROGRAM SOURCE FLAGS...: unless it is up to date.
compile() {
    into=$1 source=$2
    shift 2
    made_of="$NVCC_FLAGS $* ${cub:-} $(cat "$source" "$B/code/$lab.cu" | cksum)"
    if [ -x "$into" ] && [ "$(cat "$into.from" 2>/dev/null)" = "$made_of" ]; then return; fi
    echo "nvcc -arch=$ARCH ${into##*/}"
    nvcc=$(tools/build/toolchain.sh nvcc)
    mkdir -p "${into%/*}"
    # eval splits the flags as the shell of make's recipes does; paths are not split.
    eval '"$nvcc"' "$NVCC_FLAGS" '-x cu -o "$into.new" "$source" "$@" -Xlinker "-rpath,${nvcc%/*}/../lib64"'
    mv "$into.new" "$into" && echo "$made_of" >"$into.from"
}
# Sets cub to the version of CUB in $CCCL, a folder such as include/cccl of the wheel nvidia-cuda-cccl.
cub_version() {
    [ -e "$CCCL/cub/version.cuh" ] || die "record-$1 needs CCCL=DIR with CUB's headers, and ${CCCL:-DIR}/cub/version.cuh is missing: run" \
        "pip download --no-deps nvidia-cuda-cccl, unzip the wheel, and pass nvidia/cu13/include/cccl"
    cub=$(echo CUB_VERSION | "$(tools/build/toolchain.sh nvcc)" -I "$CCCL" -include cub/version.cuh -E -x cu - 2>/dev/null |
        awk '/^[0-9]+$/ { printf "%d.%d.%d", $1 / 100000, $1 / 100 % 1000, $1 % 100 }')
    [ -n "$cub" ] || die "$CCCL/cub/version.cuh defines no CUB_VERSION: pass the folder of another CUB"
}
# timed CSV PROGRAM ARGUMENTS...: measure it on a GPU, or check its results on the CPU device.
timed() {
    csv=$1
    shift
    mkdir -p "${csv%/*}"
    if [ "$DEVICE" = cpu ]; then
        logged "${csv%.csv}.log" "$B/simt" --last --csv "$csv" "$@"
    else
        logged "${csv%.csv}.log" flock "$B/gpu" "$@" --csv "$csv"
    fi
}
# `with` lists the labs whose chapter has its own program for this; it measures all kernels of the lab.
newest() {
    cub_version newest
    file=$DEVICE-newest from='' with='' count=0
    for lab in $RUNS; do
        sizes=$(of newest "$lab") program=$(of newest_from "$lab")
        [ -n "$sizes" ] || continue
        [ "$DEVICE" != cpu ] || sizes=${sizes%% *}
        compile "$B/labs/$lab@newest" "$B/code/${program:-$lab.cu}" -I "$CCCL"
        [ -z "$program" ] || with="$with -w $lab=code/$program"
        for n in $sizes; do
            echo "run $lab@$n with CUB $cub on $DEVICE"
            timed "$B/results/$file/$lab@$n.csv" "$B/labs/$lab@newest" -n "$n"
            from="$from $B/results/$file/$lab@$n.csv" count=$((count + 1))
        done
    done
    if [ "$DEVICE" = cpu ]; then
        echo "$count labs correct with CUB $cub on the CPU device, which has no times to record"
    else
        "$B/collect" -n "$N" -f "cub: $cub" $with -o "results/$file.csv" $from
        echo "results/$file.csv"
    fi
}
shapes() {
    file=$DEVICE-shapes from='' with=''
    if [ -n "$CCCL" ]; then
        cub_version shapes
        file=$DEVICE-newest-shapes
    fi
    for lab in $RUNS; do
        program=$(of shapes "$lab")
        [ -n "$program" ] || continue
        compile "$B/labs/$lab@shapes" "$B/code/$program" ${CCCL:+-I "$CCCL"}
        echo "run $program on $DEVICE"
        if [ "$DEVICE" = cpu ]; then set -- -n 131072; else set --; fi
        timed "$B/results/$file/$lab.csv" "$B/labs/$lab@shapes" "$@"
        from="$from $B/results/$file/$lab.csv" with="$with -w $lab=code/$program"
    done
    if [ "$DEVICE" = cpu ]; then
        echo "rows of every shape correct on the CPU device, which has no times to record"
    else
        "$B/collect" $with -o "results/$file.csv" $from
        echo "results/$file.csv"
    fi
}

case $1,$DEVICE in
device,cpu) count ;;
device,*) measure ;;
newest,* | shapes,*) "$1" ;;
esac

#!/bin/sh
# toolchain.sh: find the programs the build needs; install the missing ones without root.
#
#   tools/build/toolchain.sh python    prints a python3 (3.10 or later) that imports matplotlib
#   tools/build/toolchain.sh pandoc    prints a pandoc (2.17 or later)
#   tools/build/toolchain.sh nvcc      prints an nvcc (CUDA 12.4 or later)
#   tools/build/toolchain.sh -f nvcc   prints it if it exists, and installs nothing
#   tools/build/toolchain.sh zig       prints the pinned zig, which compiles the page's engine
#   tools/build/toolchain.sh arch      prints the architecture of the GPU, as in sm_90 (the
#                                lowest of several); nothing without a GPU
#   tools/build/toolchain.sh all nvcc pandoc cc git
#                                checks all of these: prints what you must install and what it
#                                will install, and then installs the latter. try-zig: it tries once to
#                                install zig, since the book's page runs no kernels without it
#
# It uses the tools that are installed. It installs missing ones from Python wheels into $B (default:
# build), and moves each into place only when it is complete, so an interrupted or concurrent call does no harm.
# tools/build/pins/ has their versions and hashes; tools/build/pin.py writes the hashes. The answer is cached
# in $B/toolchain and is valid while PATH, CUDA_HOME and the versions are unchanged and the program exists.
# If it can neither find nor install a tool, it prints what to install and exits with 1. Paths are relative
# to the repository root if $B is.
#
#   CUDA_WHEELS=13.5 make    compiles with the CUDA of tools/build/pins/cuda-13.5.txt, even if another
#                            nvcc is installed. There are no wheels for CUDA 12.4, since NVIDIA publishes
#                            none with its nvcc: put the toolkit's bin folder first in PATH instead.
set -u

only_find= tried_pip=
[ "${1:-}" = -f ] && only_find=yes && shift
tool=${1:-}
cd "${0%/*}/../.." || exit 1
build=${B:-build}
kept=$build/toolchain/$tool
why_no_zig=$build/toolchain/no-zig # the message of the last attempt
cuda=${CUDA_WHEELS:-13.0} pins=''

# about TOOL: sets its name, its folder, and the file that pins its wheels.
about() {
    case $1 in
    python)
        what="matplotlib 3.10" pin_file=tools/build/pins/python.txt target=$build/venv program=$target/bin/python3
        advice='run "apt install python3-matplotlib" (Debian) or "python3 -m pip install matplotlib"'
        ;;
    pandoc)
        what=pandoc pin_file=tools/build/pins/pandoc.txt target=$build/pandoc program=$target/pypandoc/files/pandoc
        advice='run "apt install pandoc" (Debian) or install pandoc 2.17 or later from https://pandoc.org/installing.html'
        ;;
    nvcc)
        what="nvcc $cuda" pin_file=tools/build/pins/cuda-$cuda.txt
        target=$build/cuda/$cuda program=$target/nvidia/cu13/bin/nvcc
        advice='install CUDA 12.4 or later from https://developer.nvidia.com/cuda-downloads (Debian has nvidia-cuda-toolkit in non-free)'
        ;;
    zig)
        what=zig pin_file=tools/build/pins/zig.txt target=$build/zig program=$target/ziglang/zig
        advice="$build/book.html runs no kernels; \"make engine book\" tries again"
        ;;
    *)
        echo "usage: tools/build/toolchain.sh [-f] python|pandoc|nvcc|zig|arch, or all TOOL..." >&2
        exit 2
        ;;
    esac
    if [ ! -r "$pin_file" ]; then
        echo "toolchain: CUDA_WHEELS=$cuda: there is no $pin_file: choose a version of $(echo tools/build/pins/cuda-*.txt)" >&2
        exit 1
    fi
    read -r _ megabytes rest <"$pin_file" # MB
    megabytes="$megabytes MB to download"
}

case $tool in
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' tools/build/toolchain.sh
    exit 0
    ;;
all | arch) ;;
*)
    about "$tool"
    while read -r word rest; do
        case $word in *==*) pins="$pins$word " ;; esac
    done <"$pin_file"
    ;;
esac

# --- all: check the tools of a goal ---

if [ "$tool" = all ]; then
    shift
    lacking='' missing='' optional='' failed=0 CC=${CC:-cc}
    has() { command -v "$1" >/dev/null || lacking="$lacking $2"; } # COMMAND PACKAGE
    has python3 "python3 python3-venv"
    for tool; do
        case $tool in
        cc) has "${CC%% *}" gcc ;;
        git) has git git ;;
        try-zig) "$0" -f zig >/dev/null 2>&1 || optional=zig ;;
        *) "$0" -f "$tool" >/dev/null 2>&1 || missing="$missing $tool" ;;
        esac
        # nvcc calls g++, unless its flags choose another compiler.
        if [ "$tool" = nvcc ] && [ -z "${NVCC_CCBIN:-}${NVCC_PREPEND_FLAGS:-}" ]; then has g++ g++; fi
    done
    if [ -n "$missing" ] && command -v python3 >/dev/null && ! python3 -m pip --version >/dev/null 2>&1 &&
        ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        lacking="$lacking python3-venv"
    fi
    if [ -n "$lacking" ]; then
        echo "toolchain: missing:$lacking: run \"apt install$lacking\" as root (package names of Debian and Ubuntu)" >&2
        exit 1
    fi
    if [ -n "$optional" ] && [ -r "$why_no_zig" ]; then cat "$why_no_zig" >&2 && optional=''; fi
    [ -z "$missing$optional" ] || echo "toolchain: installing these missing tools into $build/ from Python wheels:" >&2
    for tool in $missing $optional; do about "$tool" && echo "    $what, $megabytes, into $target" >&2; done
    for tool in $missing; do
        "$0" "$tool" >/dev/null || failed=$?
        [ $failed -lt 128 ] || exit $failed
    done
    if [ -n "$optional" ] && [ $failed = 0 ]; then "$0" zig >/dev/null || [ $? -lt 128 ] || exit 130; fi
    exit $failed
fi

# Everything that the answer depends on, on one line.
if [ "$tool" = arch ]; then
    boot=
    [ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id
    set -- /dev/nvidia*
    key="$boot $* $PATH"
else
    key="$PATH|${CUDA_HOME:-}|${CUDA_WHEELS:-}|$pins"
fi

# A cached answer needs no other program than the shell.
if [ -r "$kept" ] && { IFS= read -r kept_key && IFS= read -r answer; } <"$kept" &&
    [ "$kept_key" = "$key" ] && { [ "$tool" = arch ] || [ -x "$answer" ]; }; then
    printf '%s\n' "$answer"
    exit 0
fi

# keep ANSWER: print it and, if $B is writable, cache it.
keep() {
    printf '%s\n' "$1"
    [ "$tool" != zig ] || rm -f "$why_no_zig"
    mkdir -p "$build/toolchain" 2>/dev/null &&
        printf '%s\n' "$key" "$1" 2>/dev/null >"$kept.$$" && mv -f "$kept.$$" "$kept"
    exit 0
}

fail() {
    message="toolchain: $what is missing and $1: $advice"
    echo "$message" >&2
    [ "$tool$tried_pip" != zigyes ] || echo "$message" >"$why_no_zig"
    exit 1
}

# --- the GPU's architecture ---

if [ "$tool" = arch ]; then
    lowest=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        grep -E '^[0-9]+\.[0-9]$' | sort -t . -k 1n -k 2n | head -n 1)
    [ -n "$lowest" ] && keep "sm_${lowest%.*}${lowest#*.}"
    exit 0
fi

# --- find ---

python_is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# version_is MAJOR MINOR VERSION: whether VERSION is at least MAJOR.MINOR.
version_is() {
    minor=${3#*.}
    [ "${3%%.*}" -gt "$1" ] || { [ "${3%%.*}" -eq "$1" ] && [ "${minor%%[!0-9]*}" -ge "$2" ]; }
} 2>/dev/null

# works PROGRAM: whether it runs and is recent enough.
works() {
    case $tool in
    python) python_is_recent "$1" && "$1" -c 'import matplotlib.backends.backend_svg' 2>/dev/null ;;
    pandoc) version_is 2 17 "$("$1" --version 2>/dev/null | sed -n '1s/^pandoc[^ ]* //p')" ;;
    nvcc) version_is 12 4 "$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')" ;;
    zig) [ "$("$1" version 2>/dev/null)" = "$(echo ${pins#*==})" ] ;; # its output depends on the version
    esac
}

pythons="python3 python3.13 python3.12 python3.11 python3.10 python"
case $tool in
python) candidates=$pythons ;;
pandoc) candidates=pandoc ;;
nvcc) candidates=nvcc ;;
zig) candidates=zig ;;
esac
[ -z "${CUDA_WHEELS:-}" ] || [ "$tool" != nvcc ] || candidates=''
for name in $candidates; do
    found=$(command -v "$name") && works "$found" && keep "$found"
done
if [ "$tool" = nvcc ] && [ -n "$candidates" ]; then
    for found in "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
        [ -x "$found" ] && works "$found" && keep "$found"
    done
fi

# installed: whether an earlier call installed these versions, and they work.
installed() {
    [ -r "$target/pins" ] && [ "$(cat "$target/pins")" = "$pins" ] && works "$program"
}
installed && keep "$program"
[ -z "$only_find" ] || exit 1

# --- install: everything in $stage, then one rename ---

python=
for name in $pythons; do
    found=$(command -v "$name") && python_is_recent "$found" && python=$found && break
done
[ -n "$python" ] || fail "there is no Python 3.10 or later to install it with"

stage=$build/toolchain/stage.$$
trap 'rm -rf "$stage" "$kept.$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for left in "$build"/toolchain/stage.*; do # left by killed calls
    [ -d "$left" ] && ! kill -0 "${left##*.}" 2>/dev/null && rm -rf "$left"
done
mkdir -p "$stage" 2>/dev/null || fail "$build cannot be written"

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PIP_USER=0
pip_python=$python
if ! "$pip_python" -m pip --version >/dev/null 2>&1; then
    if ! "$python" -m venv "$stage/pip" >/dev/null 2>&1; then
        advice='run "apt install python3-venv" (Debian) or install pip'
        fail "$python has neither pip nor venv"
    fi
    pip_python=$stage/pip/bin/python3
fi
tried_pip=yes
"$pip_python" -m pip --retries 1 --timeout 10 index versions "${pins%%==*}" >/dev/null 2>&1 ||
    fail "pip reaches no package index"

echo "toolchain: installing $what into $target ($megabytes)" >&2
new=$stage/new
into=$new
case $tool in python)
    "$python" -m venv --without-pip "$new" >/dev/null 2>&1 || fail "$python has no venv"
    into=$("$new/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    ;;
esac
mkdir -p "$into" && printf '%s\n' "$pins" >"$new/pins"
"$pip_python" -m pip install --quiet --no-deps --only-binary :all: --require-hashes \
    --target "$into" -r "$pin_file" >"$stage/log" 2>&1 ||
    fail "pip did not install it ($(sed -n 's/^ERROR: //p' "$stage/log" | head -n 1))"

if [ "$tool" = nvcc ]; then # the file names that the linker needs
    cu=$new/nvidia/cu13
    ln -s lib "$cu/lib64"
    ln -s libcudart.so.13 "$cu/lib/libcudart.so"
fi

works "$new/${program#"$target"/}" || fail "what pip installed does not run"

# Renaming to a nonempty folder fails: another call was faster, or there is an older version.
publish() {
    "$python" -c 'import os, sys; os.rename(*sys.argv[1:])' "$new" "$target" 2>/dev/null
}
mkdir -p "${target%/*}"
publish || installed || { mv "$target" "$stage/old" 2>/dev/null && publish; }
installed || fail "$target cannot be replaced"
keep "$program"

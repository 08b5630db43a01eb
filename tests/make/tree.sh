# Shared by the areas of make: copies the checkout and its build folder, changes into the copy, and defines
# fake programs that take less time than pandoc and nvcc.
[ -d "$B/labs" ] && [ -f "$B/results/cpu.csv" ] || skip_all "labs were not run on the CPU device"
tree=$out/tree
rm -rf "$tree" && mkdir -p "$tree"
cp -a Makefile *.md LICENSE book chapters code figures notebooks results tools tests "$tree"
mkdir "$tree/build"
(cd "$B" && cp -a flags labs labs.mk code code.done results simt simt-runtime simt-objects tools tangle \
    weave collect modules.a book* names.csv page_parts.c figures.csv figures.done notebooks.done toolchain "$tree/build")
for built in cudac wasm engine.wasm engine.wasm.gz programs.json; do [ ! -e "$B/$built" ] || cp -a "$B/$built" "$tree/build"; done
for installed in venv pandoc cuda zig zig-cache; do [ ! -e "$B/$installed" ] || ln -s "$B/$installed" "$tree/build"; done
cd "$tree" || exit 2
git init -q && git add Makefile book* code figures notebooks results # keep.py asks git which files are unedited
unset MAKEFLAGS MFLAGS MAKELEVEL IN_TURN
B=build
DEVICE=cpu
export B DEVICE

log=$tree/log
state() { find code results figures notebooks book.md build/results build/code -type f ! -name '*.log' ! -name '*.mine' -exec cksum {} + | sort; }
# make check, whose only complaints may be about results that wait for a GPU.
checked() {
    make "$@" check >"$log" 2>&1 ||
        { grep -q ' is stale: ' "$log" &&
            ! grep -qvE ' is stale: its lab has changed since it was recorded$| was counted with another toolkit: not compared$|^make(\[.*\])?: |^What went wrong:$|^ *$' "$log"; }
}
chapter=$(ls chapters/04-*.md)
lab=04_bank_conflicts

# A fake pandoc that copies its input after a while: make does the same as with the real one.
pretend_pandoc() {
    mkdir copies
    cat >copies/pandoc <<'END'
#!/bin/sh
[ "$1" = --version ] && echo "pandoc 3.1" && exit
while [ $# -gt 1 ]; do [ "$1" = --output ] && into=$2; shift; done
exec cp "$1" "$into"
END
    chmod +x copies/pandoc
    PATH=$tree/copies:$PATH
}

# A fake nvcc that copies what was compiled before.
pretend_nvcc() {
    real_nvcc=$(realpath -s "$(tools/build/toolchain.sh nvcc)")
    unset CUDA_WHEELS # which would choose another nvcc than the one on PATH
    cp -a build/labs compiled
    ln -s 11_speed_of_light compiled/cub_levels.cuh
    ln -s 16_rows compiled/row_shapes.cuh
    ln -s 16_rows compiled/row_peers.cuh
    mkdir -p quick/bin
    ln -s "${real_nvcc%/bin/nvcc}/include" quick/include
    ln -s "$(command -v cc)" quick/bin/cc
    cat >quick/bin/nvcc <<END
#!/bin/sh
case "\$*" in *--version*) exec "$real_nvcc" --version ;; *" -E "*) exec "$real_nvcc" "\$@" ;; esac
echo "\$*" >>"$tree/compiled/asked"
while [ "\$1" != -o ]; do shift; done
sleep 0.2
lab=\${3##*/}
exec cp "$tree/compiled/\${lab%.cu}" "\$2"
END
    chmod +x quick/bin/nvcc
    PATH=$tree/quick/bin:$PATH
}
snapshot() { state; cksum build/book.html build/book.pandoc.md build/figures.csv; ls build/labs/0* build/tangle build/simt build/simt-runtime/*.so.*; }

# heal WORD FILES...: removes the files, runs make, and compares.
heal() {
    word=$1
    shift
    rm -f "$@"
    make >log 2>&1 && snapshot | diff before - >>log
    result $? "$word is made again"
}

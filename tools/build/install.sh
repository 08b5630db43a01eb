#!/bin/sh
# install.sh: install the programs below a folder such as /usr/local, or remove them from there.
#
#   install.sh install BUILD FOLDER
#   install.sh uninstall BUILD FOLDER
#
# Programs find their files relative to their own folder, as in BUILD, so all are in FOLDER/lib/simt, with
# links in FOLDER/bin. FOLDER may be moved.
set -eu
build=$2 to=$3
programs='simt tangle weave grade'
home=$to/lib/simt

rm -rf "$home"
for name in $programs; do rm -f "$to/bin/$name" "$to/share/man/man1/$name.1"; done
[ "$1" = install ] || exit 0

mkdir -p "$home/bin" "$home/results" "$home/tools/notebook" "$to/bin" "$to/share/man/man1"
for name in $programs; do
    install -s "$build/$name" "$home/bin/"
    ln -s "../lib/simt/bin/$name" "$to/bin/$name"
    install -m 644 "$build/man/$name.1" "$to/share/man/man1/"
done
for library in "$build"/simt-runtime/*.so.?? "$build"/simt-runtime/*/*.so.??; do
    [ -e "$library" ] || continue
    folder=$home/bin${library#"$build"}
    mkdir -p "${folder%/*}"
    install -s -m 644 "$library" "$folder"
done
install -m 644 $("$build/collect" files | sed -n 's/^machine,.*,//p') "$home/results/" # devices for simt --time
install -m 644 tools/notebook/*.py "$home/tools/notebook/"                            # the frame of weave's notebooks

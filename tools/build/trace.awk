# Cuts a trace of the CPU device (simt --trace) down to what a figure shows: the last launch, its
# first warp's accesses and arrivals at barriers up to their addresses, the kernel by its short name,
# and lines counted from the first line traced, so that a change of prose above them changes
# nothing.  awk -v kernel=NAME -f trace.awk TRACE
BEGIN { FS = OFS = "," }
{ NF = 10 }
NR == 1 { sub("pc_line", "line"); print; next }
$2 != launch { launch = $2; count = 0; first = $5 }
$4 == "0" && $6 != "warp" && $7 != "race" { rows[count++] = $0; if ($5 < first) first = $5 }
END {
    for (i = 0; i < count; i++) {
        $0 = rows[i]
        $1 = kernel
        $2 = 1
        $5 = $5 - first + 1
        print
    }
}

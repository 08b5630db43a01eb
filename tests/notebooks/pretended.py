"""Programs that pretend to be those of a machine with a GPU: nvidia-smi, and an nvcc that compiles
nothing; and an nvcc that compiles no lab for a second time. Exercises are right that do not say
`untouched`."""


def programs_in(folder, *programs):
    """Makes a folder, to be put first in PATH, with these programs: (name, text) each."""
    for program, text in programs:
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
    return folder


def nvidia_smi(*gpus, cuda="CUDA Version: 12.8"):
    """A fake nvidia-smi, which lists these GPUs ("7.5, Tesla T4") and its own version."""
    listing = "".join(f"echo '{gpu}'\n" for gpu in gpus)
    return f"#!/bin/sh\nif [ $# = 0 ]; then echo '| NVIDIA-SMI 570.1   {cuda}   |'; exit; fi\n{listing}"


def nvcc_that_knows(nvcc, labs, code):
    """A compiler that copies the program that make has built if the lab's cells, preprocessed, are the same
    as the lab's code, except for line markers; otherwise it compiles."""
    return f"""#!/bin/sh
for source in "$@"; do :; done
lab=$(basename "$source" .cu)
tokens() {{ "{nvcc}" -E "$1" | grep -v -e '^#' -e '^$'; }}
case $source in
program/*)
    if [ -x "{labs}/$lab" ] && tokens "$source" >"$source.cells" &&
        tokens "{code}/$lab.cu" | cmp -s - "$source.cells"; then
        while [ "$1" != -o ]; do shift; done
        exec cp "{labs}/$lab" "$2"
    fi
    ;;
esac
exec "{nvcc}" "$@"
"""


NVIDIA_SMI = nvidia_smi("9.0, NVIDIA H200", "7.5, Tesla T4")
# An nvcc 12.8 that compiles nothing: its program is a script that writes a lab's CSV, with the program's
# name as the kernel.
NVCC = """#!/bin/sh
[ "$1" = --list-gpu-code ] && { printf 'sm_%s\\n' 75 80 86 90; exit 0; }
[ "$1" = --version ] && { echo 'Cuda compilation tools, release 12.8, V12.8.93'; exit 0; }
echo "$@" >>"${0%/*}/calls"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
lab=$(basename "$1" .cu)
case $lab in
*.own | *.solution)
    [ "${lab##*.}" = own ] && time=12.5 || time=11
    printf '#!/bin/sh\\n[ "$1" != --time ] || { echo "time = %s"; exit 0; }\\n' $time >"$out"
    printf 'printf "runs = 20\\\\nwrong = %d\\\\n"; exit %d\\n' $(grep -c untouched "$1") $(grep -c untouched "$1") >>"$out"
    chmod +x "$out"
    exit 0
    ;;
esac
cat >"$out" <<END
#!/bin/sh
[ \\$# -gt 0 ] || { echo "every fixed version is right"; exit; }
echo "Tesla T4: \\$2 elements, every sum right"
while [ \\$# -gt 1 ]; do
    case \\$1 in -n) n=\\$2 ;; --csv) csv=\\$2 ;; --machine) printf 'name,value,unit\\nlatency_lds,23,cycles\\n' >"\\$2" ;; esac
    shift
done
{
    printf '# device: Tesla T4\\n# sm_count: 40\\n# date: 2026-01-02\\n'
    echo 'kernel,n,block,partials,sweep,elem,median_us,p5_us,p95_us,samples,gbps,pin_pct,read_pct,note'
    echo "read_ceiling,\\$n,256,9,0,float,400,399,401,5,256,80,100,"
    echo "sum_of_$lab,\\$n,256,9,0,float,500.5,499,501,5,204.8,64,80,\\"a note, quoted\\""
    echo "sum_of_$lab,\\$n,256,1,1,float,900,899,901,5,204.8,64,80,sweep"
} >"\\$csv"
END
chmod +x "$out"
"""

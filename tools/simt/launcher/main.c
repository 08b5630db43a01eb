// simt: runs a CUDA program on the CPU device, which replaces the CUDA runtime.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/version.h"
#include "simt/launcher/elf.h"
#include "simt/launcher/launcher.h"
#include "simt/launcher/standin.h"

// clang-format off
static const char usage[] =
    "usage: simt [OPTIONS] PROGRAM [ARGS...]\n"
    "\n"
    "Runs a CUDA program without a GPU: warp by warp, with exact counters. After the program's\n"
    "own output comes a table of what each kernel launch did, in Nsight Compute's words.\n"
    "\n"
    "  --csv FILE      write the counters of every launch as CSV\n"
    "  --merge         in the CSV, one row for launches of the same kernel, grid and block whose\n"
    "                  counters are equal, and their number in a last column, launches\n"
    "  --longest       in the CSV, another column, longest_warp: the instructions of the warp\n"
    "                  that executed the most\n"
    "  --last          report only the last launch of each kernel and block size\n"
    "  --lines         list counters per source line (build with nvcc -lineinfo); with --machine\n"
    "                  also the instructions of each line, with their counters\n"
    "  --lines-csv FILE  write them as CSV, with the hazards that --check found at each line\n"
    "  --html FILE     write a page for a browser, in one file: source beside PTX with all\n"
    "                  counters of each line, the launches, and for shared memory which lanes\n"
    "                  touch which bank; with --check the hazards at their lines\n"
    "  --report FILE   write hazards, errors, refusals and notes as SARIF 2.1.0, for editors and\n"
    "                  continuous integration\n"
    "  --quiet         print no table and no listing, and print hazards on standard error, so that\n"
    "                  standard output has only the program's output\n"
    "  --machine       execute the program's machine code for sm_90 instead of its PTX, so that\n"
    "                  instructions, active lanes and divergent branches match the hardware too;\n"
    "                  not with --check\n"
    "  --time DEVICE   predict, from machine code, how long each launch takes on the device of\n"
    "                  results/DEVICE-machine.csv or of a FILE.csv, and its limiter; adds to\n"
    "                  --lines and --html each line's share, to --csv the columns predicted_us,\n"
    "                  limiter, stall and the time without each limit\n"
    "  --warm          with --time: assume that data read by earlier launches is still in the L2 cache\n"
    "  --opcodes [PROGRAM]  list the machine instructions that simt knows, the evidence for their\n"
    "                  meaning, and how often each occurs in the program\n"
    "  --check         look for hazards: races, divergent barriers, bad masks, accesses out of\n"
    "                  bounds or misaligned, use after free, uninitialized reads, races between\n"
    "                  streams, host code that does not wait (with its lines if built with -g),\n"
    "                  results that the host reads and that depend on the order of blocks and warps.\n"
    "                  What may be correct is reported as a note and does not fail the run\n"
    "  --orders N      --check in N orders of blocks and warps, in one report: the default, the\n"
    "                  reverse, seeds from 2 on. The program runs once, its launches N times. --check\n"
    "                  alone adds the reverse for the first four launches of each kernel in which\n"
    "                  order matters, if that takes only a second or two; --orders 1: never\n"
    "  --strict        --check, and notes count as hazards\n"
    "  --allow-volatile  with --check: do not report unordered volatile accesses, which PTX does\n"
    "                  not define as races\n"
    "  --leaks         report at the end which memory was never freed\n"
    "  --order SEED    permute the order of warps and blocks, and delay work in streams as long as\n"
    "                  CUDA allows; 0 is the default order\n"
    "  --trace FILE    write every access to shared memory, with its value, every barrier and\n"
    "                  every shuffle of block 0 to FILE; with --check the races there as they\n"
    "                  happen\n"
    "  --threads N     host threads (default: one for each processor that the process may\n"
    "                  use); results do not depend on it\n"
    "  --sms N         multiprocessors of the device, 1 to 1024 (default: 132)\n"
    "  --sm-threads N  threads per multiprocessor: 1024, 1536 or 2048 (default)\n"
    "  --as sm_NN      choose among the program's code as a device of that architecture does, such as\n"
    "                  sm_100 (default: sm_90). Only the choice changes. If the program has no code\n"
    "                  for it, launches fail as on a GPU\n"
    "  --ptx FILE      use this PTX for the kernels and variables that it defines, instead of the\n"
    "                  program's\n"
    "  --watchdog S    end a kernel if no warp of it ends for S seconds (default: never)\n"
    "  -h, --help      print this text\n"
    "  --version       print the version\n"
    "\n"
    "Runs programs as nvcc builds them, if they contain PTX:\n"
    "\n"
    "  nvcc -O3 -lineinfo prog.cu -o prog\n"
    "\n"
    "  -lineinfo       counters, errors and hazards name source lines\n"
    "  -arch=sm_NN     embeds PTX too; with -gencode, add code=compute_NN. simt takes the newest\n"
    "                  PTX up to 9.0 (see --as).\n"
    "\n"
    "The CUDA runtime, 12 or 13, may be static, as by default: simt replaces its functions by name,\n"
    "so do not strip the program. It may also be shared (-cudart shared). Compressed PTX needs the\n"
    "system's libzstd.so.1, unless you build with --no-compress. -rdc=true works if all device code\n"
    "is in one file.\n"
    "\n"
    "The CPU device does not support textures, surfaces, wgmma, dynamic parallelism, the driver API,\n"
    "cuBLAS and similar libraries, ... A call to one of them prints one line, and that call and every\n"
    "later one return an error. Linking to such a library does no harm.\n"
    "\n"
    "simt reports what a program did even if it ends by abort, _exit or a signal other than SIGKILL.\n"
    "SIGINT and SIGTERM first end the running kernel. If the CPU device did not watch the program\n"
    "from start to end, because the loader did not load it (setuid) or the program called exec, simt\n"
    "says so in one line and fails with status 2. A program that makes no CUDA call counts as\n"
    "watched. Child processes run on the CPU device too if their runtime is shared; simt does not\n"
    "wait for them or check their status.\n"
    "\n"
    "The device that programs see: \"CPU device (simt)\", compute capability 9.0, 132\n"
    "multiprocessors, 2048 threads, 32 blocks (one for 64 threads) and 228 KB of shared memory on\n"
    "each (48 KB per block, 227 KB on request), three quarters of the memory that the\n"
    "process may have, L2 4 MB. Memory clock and bus width are 0: times mean nothing. Event times\n"
    "are host time. Registers do not limit occupancy. Without --order work runs at once, in the\n"
    "order of the calls, whatever its stream. cudaMalloc fills memory with bytes 0x7F (3.4e38).\n"
    "\n"
    "Without --machine, instructions, active lanes and divergent branches are counted in PTX,\n"
    "before ptxas: a GPU executes other instructions. Wavefronts, bank conflicts, requests and\n"
    "sectors are those of Nsight Compute.\n"
    "\n"
    "If a launch by <<<...>>> failed and the program never checked the error, simt reports it at the\n"
    "end. With --check it also notes the errors that other calls returned, among them\n"
    "cudaLaunchKernel. Build with -g for the line of the launch.\n"
    "\n"
    "Exit status, the first that fits:\n"
    "\n"
    "  2               the CPU device refused something (a call, an instruction, the program itself,\n"
    "                  an option of this command) or did not watch the program to its end\n"
    "  the program's   if it is not 0; a program that signal N ends gives 128 + N in a shell\n"
    "  1               a file of --csv, --lines-csv, --html, --report or --trace cannot be written\n"
    "  86              --check found hazards, or a kernel or launch failed and the program did not\n"
    "                  check the error, --leaks found a leak, or --strict a note\n"
    "  0               none of these\n";
// clang-format on

static Arena arena;

static _Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("simt: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static const char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *format_text(const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = ARENA_NEW(&arena, (size_t)length + 1, char);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

// --- options ---

typedef enum {
    VALUE_NONE,
    VALUE_FILE,
    VALUE_TEXT,
    VALUE_WHOLE,
    VALUE_SECONDS,
    VALUE_ORDERS,
    VALUE_SMS,
    VALUE_SM_THREADS,
    VALUE_ARCH
} ValueKind;

static const struct {
    const char *name, *variable;
    ValueKind value;
} options[] = {
    {"--csv", "SIMT_CSV", VALUE_FILE},
    {"--merge", "SIMT_MERGE", VALUE_NONE},
    {"--lines", "SIMT_LINES", VALUE_NONE},
    {"--check", "SIMT_CHECK", VALUE_NONE},
    {"--strict", "SIMT_STRICT", VALUE_NONE},
    {"--allow-volatile", "SIMT_ALLOW_VOLATILE", VALUE_NONE},
    {"--leaks", "SIMT_LEAKS", VALUE_NONE},
    {"--order", "SIMT_ORDER", VALUE_WHOLE},
    {"--orders", "SIMT_ORDERS", VALUE_ORDERS},
    {"--trace", "SIMT_TRACE", VALUE_FILE},
    {"--threads", "SIMT_THREADS", VALUE_WHOLE},
    {"--watchdog", "SIMT_WATCHDOG", VALUE_SECONDS},
    {"--last", "SIMT_LAST", VALUE_NONE},
    {"--lines-csv", "SIMT_LINES_CSV", VALUE_FILE},
    {"--html", "SIMT_HTML", VALUE_FILE},
    {"--longest", "SIMT_LONGEST", VALUE_NONE},
    {"--machine", "SIMT_MACHINE", VALUE_NONE},
    {"--report", "SIMT_REPORT", VALUE_FILE},
    {"--quiet", "SIMT_QUIET", VALUE_NONE},
    {"--time", "SIMT_TIME", VALUE_TEXT},
    {"--warm", "SIMT_WARM", VALUE_NONE},
    {"--sms", "SIMT_SMS", VALUE_SMS},
    {"--sm-threads", "SIMT_SM_THREADS", VALUE_SM_THREADS},
    {"--as", "SIMT_AS", VALUE_ARCH},
    {"--ptx", "SIMT_PTX", VALUE_FILE},
};

enum { OPTIONS = sizeof options / sizeof *options };

// Makes a path absolute, because the program may change its working folder before it ends.
static const char *absolute(const char *path) {
    char folder[PATH_MAX];
    if (path[0] == '/') return path;
    if (!getcwd(folder, sizeof folder)) die("the current folder: %s", strerror(errno));
    return format_text("%s/%s", folder, path);
}

// Returns the number in "sm_NN".
static const char *arch_number(const char *name, const char *text) {
    const char *number = strncmp(text, "sm_", 3) ? "" : text + 3;
    const size_t digits = strspn(number, "0123456789");
    if (digits < 2 || digits > 3 || number[digits])
        die("%s takes a GPU architecture, such as sm_100, not \"%s\"", name, text);
    return number;
}

static void check_number(const char *name, const char *text, ValueKind kind) {
    char *end;
    unsigned long long number = 0;
    errno = 0;
    if (kind == VALUE_SECONDS)
        strtod(text, &end);
    else
        number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno)
        die("%s takes a number, not \"%s\"", name, text);
    if (kind == VALUE_ORDERS && (number < 1 || number > 1000))
        die("%s takes a number from 1 to 1000, not \"%s\"", name, text);
    if (kind == VALUE_SMS && (number < 1 || number > 1024))
        die("%s takes a number from 1 to 1024, not \"%s\"", name, text);
    if (kind == VALUE_SM_THREADS && number != 1024 && number != 1536 && number != 2048)
        die("%s takes 1024, 1536 or 2048, not \"%s\"", name, text);
}

// Lists all opcodes, with their counts in `program` unless it is NULL.
static _Noreturn void list_opcodes(const char *program) {
    Str file = {"", 0};
    if (program && !file_read(&arena, program, &file)) die("%s: %s", program, strerror(errno));
    if (!opcodes_write(file))
        die("%s: has no machine code for sm_90: build it with nvcc -arch=sm_90", program);
    exit(0);
}

// The checker tests PTX's rules, which the compiler has already relied on when it made machine
// code.
static const char no_ptx[] = "the checks need the program's PTX";
static const char only_90[] = "simt executes the machine code of sm_90 alone";
static const char fixed_order[] = "--orders chooses the orders itself";

static const struct {
    const char *one, *other, *why;
} contradictions[] = {
    {"--check", "--machine", no_ptx},
    {"--check", "--time", no_ptx},
    {"--strict", "--machine", no_ptx},
    {"--strict", "--time", no_ptx},
    {"--orders", "--machine", no_ptx},
    {"--orders", "--time", no_ptx},
    {"--ptx", "--machine", "PTX is not machine code"},
    {"--ptx", "--time", "predictions need machine code"},
    {"--as", "--machine", only_90},
    {"--as", "--time", only_90},
    {"--orders", "--order", fixed_order},
    {"--orders", "--trace", fixed_order},
};

enum { CONTRADICTIONS = sizeof contradictions / sizeof *contradictions };

static bool given(const char *name) {
    for (int k = 0; k < OPTIONS; k++)
        if (strcmp(options[k].name, name) == 0) return getenv(options[k].variable) != NULL;
    return false;
}

static void check_combination(void) {
    Str error;
    for (int k = 0; k < CONTRADICTIONS; k++)
        if (given(contradictions[k].one) && given(contradictions[k].other))
            die("%s and %s exclude each other: %s", contradictions[k].one, contradictions[k].other,
                contradictions[k].why);
    if (getenv("SIMT_STRICT") || getenv("SIMT_ORDERS")) setenv("SIMT_CHECK", "1", 1);
    if (given("--warm") && !given("--time"))
        die("--warm needs --time DEVICE: it sets the state of that device's cache");
    if (getenv("SIMT_TIME") && !machine_choose(&arena, getenv("SIMT_TIME"), &error))
        die("%.*s", STR_ARG(error));
}

static void opcodes_alone(void) {
    for (int k = 0; k < OPTIONS; k++)
        if (given(options[k].name))
            die("--opcodes and %s exclude each other: --opcodes runs nothing", options[k].name);
}

// Puts the options into environment variables. Returns the index of the program in argv.
static int read_options(int argc, char **argv) {
    for (int k = 0; k < OPTIONS; k++) unsetenv(options[k].variable);
    bool only_list = false;
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        if (version_asked(2, argv + i - 1, "simt")) exit(0);
        if (strcmp(argv[i], "--opcodes") == 0) {
            only_list = true;
            continue;
        }
        int k = 0;
        while (k < OPTIONS && strcmp(argv[i], options[k].name) != 0) k++;
        if (k == OPTIONS) die("unknown option %s (simt -h lists the options)", argv[i]);
        if (options[k].value == VALUE_NONE) {
            setenv(options[k].variable, "1", 1);
            continue;
        }
        if (i + 1 == argc) die("%s needs a value", argv[i]);
        const char *value = argv[++i];
        if (options[k].value == VALUE_FILE)
            value = absolute(value);
        else if (options[k].value == VALUE_ARCH)
            value = arch_number(options[k].name, value);
        else if (options[k].value != VALUE_TEXT)
            check_number(options[k].name, value, options[k].value);
        setenv(options[k].variable, value, 1);
    }
    if (only_list) {
        opcodes_alone();
        list_opcodes(argv[i]);
    }
    check_combination();
    return i;
}

// --- the program ---

// A path as a word of a command that a message prints.
static Str shell_word(const char *path) { return str_shell(&arena, str_of(path)); }

// Fails with the commands to run if the user names a source file instead of a program.
static void refuse_source(const char *launcher, const char *name) {
    const Str path = str_of(name);
    if (!str_ends(path, STR(".cu")) || access(name, R_OK) != 0) return;
    const char *program = format_text("%s%.*s", strchr(name, '/') ? "" : "./",
                                      STR_ARG(str_slice(path, 0, path.len - 3)));
    const Str source = shell_word(name), made = shell_word(program), self = shell_word(launcher);
    die("%s is a source file: compile it with nvcc -O3 -lineinfo %.*s -o %.*s, then run %.*s %.*s",
        name, STR_ARG(source), STR_ARG(made), STR_ARG(self), STR_ARG(made));
}

static const char *find_program(const char *name) {
    if (strchr(name, '/')) return name;
    const char *path = getenv("PATH");
    Str rest = str_of(path ? path : "");
    while (rest.len) {
        size_t colon = str_find(rest, STR(":"));
        Str folder = str_slice(rest, 0, colon);
        rest = str_from(rest, colon == SIZE_MAX ? rest.len : colon + 1);
        const char *candidate = format_text("%.*s/%s", STR_ARG(folder), name);
        if (access(candidate, X_OK) == 0) return candidate;
    }
    if (access(name, F_OK) == 0)
        die("%s: not in PATH; use %.*s", name, STR_ARG(shell_word(format_text("./%s", name))));
    die("%s: no such program", name);
}

// Passes the addresses of a statically linked runtime's functions to the library, which redirects
// them (program/takeover.c). The list is an unnamed file of lines "ADDRESS NAME".
static void add_function(void *context, Str name, uint64_t address) {
    fprintf(context, "%llx %.*s\n", (unsigned long long)address, STR_ARG(name));
}

static const char *link_to(int fd) { return run_link(fd, ARENA_NEW(&arena, RUN_LINK, char)); }

static void pass_functions(Str file) {
    int fd = memfd_create("functions", MFD_CLOEXEC);
    FILE *list = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    if (!list) die("the list of the runtime's functions: %s", strerror(errno));
    elf_runtime_functions(file, add_function, list);
    if (fclose(list) != 0) die("the list of the runtime's functions: %s", strerror(errno));
    setenv("SIMT_TAKE_OVER", link_to(fd), 1);
}

static void prepend(const char *variable, const char *value) {
    const char *old = getenv(variable);
    setenv(variable, old && *old ? format_text("%s:%s", value, old) : value, 1);
}

// Preloads a stand-in, from an unnamed file, for each library that the CPU device cannot run.
static void pass_standins(Str file) {
    Str soname;
    for (size_t k = 0; standin_needed(file, k, &soname); k++) {
        const Str image = standin_make(&arena, file, soname);
        const int fd = memfd_create("stand-in", MFD_CLOEXEC);
        if (fd < 0 || write(fd, image.at, image.len) != (ssize_t)image.len)
            die("a library in the place of %.*s: %s", STR_ARG(soname), strerror(errno));
        prepend("LD_PRELOAD", link_to(fd));
    }
}

static ElfProgram inspect(const char *path) {
    Str file;
    ElfProgram program;
    if (!file_read(&arena, path, &file)) die("%s: %s", path, strerror(errno));
    ElfKind kind = elf_inspect(file, &program);
    switch (kind) {
    case ELF_CUDA:
    case ELF_STATIC:
        program.preload = program.rpath || kind == ELF_STATIC;
        if (kind == ELF_STATIC) pass_functions(file);
        pass_standins(file);
        return program;
    case ELF_NOT_ELF:
        die("%s: not a program (no ELF file)", path);
    case ELF_CORRUPT:
        die("%s: damaged ELF file: build the program again", path);
    case ELF_32_BIT:
        die("%s: a 32-bit program; build it for 64 bits", path);
    case ELF_MACHINE:
        die("%s: a program for another processor, such as 64-bit Arm; build it for x86-64", path);
    case ELF_STRIPPED:
        die("%s: the CUDA runtime is linked into it and the names of its functions are stripped: "
            "keep them (no -s, no strip), or build with nvcc -cudart shared",
            path);
    case ELF_NO_LOADER:
        die("%s: linked with -static, so the CUDA runtime cannot be replaced: link without -static",
            path);
    case ELF_RUNTIME:
        die("%s: needs %.*s; only libcudart.so.12 and libcudart.so.13 are supported", path,
            STR_ARG(program.runtime));
    case ELF_NOT_CUDA:
        if (!standin_needed(file, 0, &(Str){NULL, 0})) break;
        program.runtime = STR("libcudart.so.13"); // it uses only the driver API
        program.preload = true;
        pass_standins(file);
        return program;
    }
    die("%s: not a CUDA program (it does not need libcudart)", path);
}

// --- the environment of the program ---

// If the launcher is built with AddressSanitizer, so is the runtime. The sanitizer's library must
// then be loaded first into a program that was built without it.
static void preload_sanitizer(void) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "__asan_init");
    if (symbol && dladdr(symbol, &info) && info.dli_fname && strstr(info.dli_fname, "libasan"))
        prepend("LD_PRELOAD", info.dli_fname);
}

int main(int argc, char **argv) {
    int at = read_options(argc, argv);
    if (at >= argc) die("no program given: name one (simt -h lists the options)");
    refuse_source(argv[0], argv[at]);
    const char *path = find_program(argv[at]);
    ElfProgram program = inspect(path);
    const char *folder = processor_folder(&arena, file_beside(&arena, "simt-runtime"));
    const char *library = format_text("%s/%.*s", folder, STR_ARG(program.runtime));
    if (access(library, R_OK) != 0) die("%s: %s", library, strerror(errno));
    const int opened = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) die("%s: %s", folder, strerror(errno));
    prepend("LD_LIBRARY_PATH", link_to(opened));
    if (program.preload)
        prepend("LD_PRELOAD", format_text("%s/%.*s", link_to(opened), STR_ARG(program.runtime)));
    preload_sanitizer();
    run_program(path, argv + at);
    die("%s: %s", path, strerror(errno));
}

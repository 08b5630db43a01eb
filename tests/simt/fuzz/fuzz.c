// Feeds damaged inputs to the CPU device, under ASan and UBSan:
//
//     fuzz ptx|fatbin|run|cuda SECONDS SEED LAST KEEP FILE...
//
// ptx: text for module_load; fatbin: fat binaries for fatbin_ptx; run: PTX, with changes that keep
// it valid PTX, is loaded from a fat binary, lowered and launched on a tiny input; cuda: CUDA C for
// the compiler, whose PTX the device must then accept. First all files
// are tried unchanged, a FILE.corpus with all its inputs; then, for SECONDS, changed copies. Every
// input must give a result within HANG_SECONDS (the watchdog ends kernels after a fifth of a
// second): success, or one line with the reason. The current input is saved in the file LAST, so
// that it is there after a crash: `fuzz KIND 0 1 LAST - FILE` runs it once more. An input that ends
// in a way not seen before is saved in the folder KEEP, unless that is "-". Prints the number of
// inputs, of those that were accepted, and of those that ran to their end.
#define _GNU_SOURCE
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "simt/cudac/generate/generate.h"
#include "simt/cudac/parse/preprocess.h"
#include "simt/cudac/parse/program.h"
#include "simt/device/device.h"
#include "simt/memory/memory.h"
#include "simt/program/fatbin.h"

enum { LARGEST = 1 << 20, HANG_SECONDS = 40, WORDS = 4096, KINDS = 65536, ENTRY = 16 + 64 };

static uint64_t state;
static char current[LARGEST]; // the current input
static size_t current_len;
static Str *seeds; // the inputs to damage
static size_t count, inputs, accepted, ended;
static uint64_t buffer[3]; // on the device, of WORDS words

static size_t below(size_t limit) { // Marsaglia's xorshift64*, 0 <= result < limit
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return limit ? (size_t)((state * 0x2545F4914F6CDD1Dull >> 16) % limit) : 0;
}

static void fail(const char *what, const char *text) {
    printf("FAILED: %s: %s\n", what, text);
    exit(1);
}

static void on_alarm(int number) {
    (void)number;
    static const char message[] = "FAILED: no answer in time\n";
    if (write(1, message, sizeof message - 1)) _exit(1);
    _exit(1);
}

static void keep(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file || fwrite(current, 1, current_len, file) != current_len) fail(path, "cannot write");
    fclose(file);
}

// --- changes to bytes ---

static void splice(size_t at, size_t drop, const char *put, size_t put_len) {
    if (at + drop > current_len || current_len - drop + put_len > LARGEST) return;
    memmove(current + at + put_len, current + at + drop, current_len - at - drop);
    if (put_len) memcpy(current + at, put, put_len);
    current_len += put_len - drop;
}

// A word of PTX, an invalid word, or an empty one.
static Str strange_word(void) {
    static const char words[] =
        "\t0\t-1\t4294967296\t18446744073709551616\t0x\t0f7F80\t1e999\t\"\t{\t}\t(\t)\t[\t]\t;\t,"
        "\t:"
        "\t|\t@!\t%p\t%r1\t%rd\t$L__BB0_1\t.reg .b32 %r<\t.v4\t.sync\t.align 3\t.param\t.shared"
        "\t.entry\t.visible .func\tbra\tcall\tadd.s32\tmov.b64\tshfl.sync.idx.b32\tatom.global.add"
        "\t/*\t//\t\n\t\0x\t\x80\t<999999999>\t[2147483647]\t.loc 1 1 1, function_name $, "
        "inlined_at"
        "\t.file 9 \"x\"";
    const char *at = words + below(sizeof words), *end = words + sizeof words - 1;
    while (at > words && at[-1] != '\t') at--;
    const char *behind = memchr(at, '\t', (size_t)(end - at));
    return (Str){at, (size_t)((behind ? behind : end) - at)};
}

// A word of CUDA C, out of place.
static Str strange_token(void) {
    static const char *const tokens[] = {"(",
                                         ")",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         "<",
                                         ">",
                                         ";",
                                         ",",
                                         "::",
                                         "...",
                                         "#",
                                         "\n#if 1\n",
                                         "\n#else\n",
                                         "\n#define N N(N)\n",
                                         "##",
                                         "\"",
                                         "'",
                                         "/*",
                                         "\\\n",
                                         "template <int N> ",
                                         "typename T",
                                         "operator",
                                         "struct S { S *s; };",
                                         "[1 << 30]",
                                         "0x7fffffffffffffff",
                                         "1e400",
                                         "-1",
                                         " / 0",
                                         " % 0",
                                         " << 99",
                                         "__shared__ ",
                                         "__global__ ",
                                         "volatile ",
                                         "&",
                                         "*",
                                         "goto a;",
                                         "switch (1) ",
                                         "case 1: ",
                                         "while (1) ",
                                         "for (;;) ",
                                         "do ",
                                         "#pragma unroll\n",
                                         "asm(\"%0\" : \"=r\"(a))",
                                         "f<f<f<f<1>>>>(1)",
                                         "<<<1, 1>>>",
                                         "\x80",
                                         "auto ",
                                         "const_cast<int &>"};
    return str_of(tokens[below(sizeof tokens / sizeof *tokens)]);
}

static void change_digit(size_t at) {
    while (at < current_len && !isdigit((unsigned char)current[at])) at++;
    if (at < current_len) current[at] = (char)('0' + below(10));
}

static void move_line(size_t at) {
    const char *newline = memchr(current + at, '\n', current_len - at);
    size_t len = newline ? (size_t)(newline - (current + at)) + 1 : 0;
    char line[400];
    if (len == 0 || len > sizeof line) return;
    memcpy(line, current + at, len);
    splice(at, len, "", 0);
    splice(below(current_len + 1), 0, line, len);
}

// Half of the changes to a fat binary are to its headers; one in eight truncates it and corrects
// the size in its header (u64 at 8: bytes after the header of 16).
static void damage_bytes(const char *kind) {
    const bool fatbin = strcmp(kind, "fatbin") == 0;
    size_t at = below(current_len + 1);
    if (fatbin && below(2) && current_len > 96) at = below(96);
    if (fatbin && below(8) == 0 && current_len >= 16) {
        uint64_t size = below(current_len - 15);
        memcpy(current + 8, &size, sizeof size);
        current_len = 16 + size;
        return;
    }
    const size_t left = current_len - at, how = below(8);
    const Str word = strcmp(kind, "cuda") == 0 ? strange_token() : strange_word();
    const Str other = seeds[below(count)];
    const size_t from = below(other.len),
                 take = below(other.len - from < 200 ? other.len - from : 200);
    if (how == 0) splice(at, left < 1 ? left : 1, &(char){(char)below(256)}, 1);
    if (how == 1) splice(at, below(left < 40 ? left : 40), "", 0);
    if (how == 2) splice(at, below(left < 8 ? left : 8), word.at, word.len);
    if (how == 3) splice(at, 0, other.at + from, take);
    if (how == 4) splice(at, below(left < 200 ? left : 200), other.at + from, take);
    if (how == 5) change_digit(at);
    if (how == 6) move_line(at);
    if (how == 7 && below(20) == 0) splice(at, left, "", 0);
}

// --- changes that keep the text PTX ---

// A line of the text, with its newline.
static Str a_line(Str text) {
    size_t at = below(text.len), end = at;
    while (at > 0 && text.at[at - 1] != '\n') at--;
    while (end < text.len && text.at[end] != '\n') end++;
    return str_slice(text, at, end < text.len ? end + 1 : end);
}

static bool in_word(char c) { return c && (isalnum((unsigned char)c) || strchr("_$%.", c)); }

// A word of the text near a random place: an opcode with its modifiers, a register, a label, a
// number. Empty if there is none.
static Str a_word(Str text) {
    size_t at = below(text.len), end = at;
    if (text.len == 0 || !in_word(text.at[at])) return (Str){text.at, 0};
    while (at > 0 && in_word(text.at[at - 1])) at--;
    while (end < text.len && in_word(text.at[end])) end++;
    return str_slice(text, at, end);
}

// The class of words by which a word can be replaced: opcode, register of a kind, number, label or
// a name of CUDA C.
static int sort_of(Str word) {
    if (word.len == 0) return 0;
    if (word.at[0] == '%') {
        size_t letters = 1;
        while (letters < word.len && isalpha((unsigned char)word.at[letters])) letters++;
        return 256 + (letters > 1 ? word.at[1] : 0) + (letters > 2 ? word.at[2] << 4 : 0);
    }
    if (isdigit((unsigned char)word.at[0])) return 1;
    if (word.at[0] == '$') return 2;
    return memchr(word.at, '.', word.len) ? 3 : 4;
}

static void exchange_word(void) {
    const Str text = {current, current_len}, word = a_word(text);
    for (int attempt = 0; word.len && attempt < 200; attempt++) {
        Str other = a_word(below(4) ? text : seeds[below(count)]);
        if (other.len == 0 || other.len > 60 || sort_of(other) != sort_of(word)) continue;
        char copy[64];
        memcpy(copy, other.at, other.len);
        splice((size_t)(word.at - current), word.len, copy, other.len);
        return;
    }
}

static void exchange_number(void) {
    static const char *const numbers[] = {
        "0",  "1",    "-1",    "3",     "31",         "32",         "33",         "255",
        "64", "4096", "65535", "65536", "2147483647", "2147483648", "4294967295", "0f7FC00000"};
    for (int attempt = 0; attempt < 100; attempt++) {
        const Str word = a_word((Str){current, current_len});
        if (sort_of(word) != 1) continue;
        const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
        splice((size_t)(word.at - current), word.len, number, strlen(number));
        return;
    }
}

// A line is doubled, deleted, moved, or replaced by one from another kernel.
static void change_line(void) {
    const Str text = {current, current_len}, line = a_line(text);
    const Str taken = below(4) ? line : a_line(seeds[below(count)]);
    char copy[1024];
    if (taken.len > sizeof copy) return;
    memcpy(copy, taken.at, taken.len);
    const size_t how = below(3);
    if (how < 2) splice((size_t)(line.at - current), line.len, "", 0);
    if (how == 0 || current_len == 0) return;
    splice((size_t)(a_line((Str){current, current_len}).at - current), 0, copy, taken.len);
}

static void damage_kernel(void) {
    const size_t how = below(8);
    if (how < 2)
        change_line();
    else if (how == 2)
        exchange_number();
    else if (how > 3)
        exchange_word();
    else if (current_len)
        current[below(current_len)] = (char)below(256);
}

// --- running the inputs ---

// Puts the text into a fat binary as nvcc writes it, and returns the text that fatbin_ptx finds
// there.
static Str in_fatbin(char *bytes) {
    const uint32_t magic = 0xBA55ED50, header = 64, arch = 90;
    const uint16_t version = 1, data_header = 16, kind = 1;
    const uint64_t payload = current_len, size = payload + header;
    memset(bytes, 0, ENTRY);
    memcpy(bytes, &magic, 4), memcpy(bytes + 4, &version, 2), memcpy(bytes + 6, &data_header, 2);
    memcpy(bytes + 8, &size, 8);
    memcpy(bytes + 16, &kind, 2), memcpy(bytes + 20, &header, 4), memcpy(bytes + 24, &payload, 8);
    memcpy(bytes + 44, &arch, 4);
    memcpy(bytes + ENTRY, current, current_len);
    FatbinPtx ptx = {.payload = {NULL, 0}};
    Str text = {0};
    SimtError error = {{0}};
    if (fatbin_ptx((Str){bytes, ENTRY + current_len}, &ptx, &error) != FATBIN_OK ||
        unpack_ptx(&ptx, &text, &error) != SIMT_OK)
        fail("fatbin_ptx", error.text);
    return text;
}

static SimtStatus feed_fatbin(Str bytes, SimtError *error) {
    FatbinPtx ptx = {.payload = {NULL, 0}};
    Str text;
    if (fatbin_ptx(bytes, &ptx, error) != FATBIN_OK) return SIMT_INVALID_PTX;
    if (ptx.payload.at < bytes.at || ptx.payload.at + ptx.payload.len > bytes.at + bytes.len)
        fail("fatbin_ptx", "PTX outside of the input");
    const SimtStatus status = unpack_ptx(&ptx, &text, error);
    if (status == SIMT_OK && ptx.packing != FATBIN_PLAIN) free((void *)(uintptr_t)text.at);
    accepted += status == SIMT_OK;
    return status;
}

// Values for all parameters: a buffer's address if it fits, else a small number. A larger
// parameter, a struct, alternates between the two.
static void fill_arguments(const KernelInfo *info, void **arguments, uint64_t *values) {
    size_t at = 0;
    for (size_t k = 0; k < info->parameter_count; k++) {
        arguments[k] = &values[at];
        for (size_t b = 0; b < info->parameter_bytes[k]; b += 8, at++)
            values[at] = info->parameter_bytes[k] < 8 || b % 16 == 8 ? 100 : buffer[(k + b) % 3];
    }
}

static SimtStatus launch(Kernel *kernel, SimtError *error) {
    KernelInfo info;
    kernel_info(kernel, &info);
    size_t words = 0;
    for (size_t k = 0; k < info.parameter_count; k++) words += info.parameter_bytes[k] / 8 + 1;
    void **arguments = calloc(info.parameter_count + 1, sizeof *arguments);
    uint64_t *values = calloc(words + 1, sizeof *values);
    if (!arguments || !values) fail("run", "out of memory");
    fill_arguments(&info, arguments, values);
    for (int k = 0; k < 3; k++) {
        memset(memory_at(buffer[k]), 0, WORDS * 4);
        memory_written(buffer[k], WORDS * 4);
    }
    const uint32_t threads = info.max_threads_per_block < 64 ? info.max_threads_per_block : 64;
    Launch shape = {.grid = {2, 1, 1},
                    .block = {threads, 1, 1},
                    .cluster = {info.cluster.x || inputs % 7 == 0 ? 2 : 1, 1, 1},
                    .dynamic_shared_bytes = 1024,
                    .arguments = arguments};
    SimtOptions options = {.check = inputs % 2,
                           .lines = inputs % 3 == 0,
                           .order = inputs % 5,
                           .host_threads = 1 + inputs % 2,
                           .watchdog_seconds = 0.2};
    LaunchReport report = {0};
    const SimtStatus status = kernel_launch(kernel, &shape, &options, &report, error);
    arena_free(&report.arena);
    free(arguments);
    free(values);
    return status;
}

// The kernel that is named after the first ".entry " of the text.
static Kernel *entry_of(Module *module) {
    const Str text = {current, current_len};
    const char *at = memmem(text.at, text.len, ".entry ", 7);
    size_t from = at ? (size_t)(at - text.at) + 7 : 0, len = 0;
    char name[1024];
    while (at && from + len < text.len && in_word(text.at[from + len])) len++;
    if (!at || len + 1 > sizeof name) return NULL;
    memcpy(name, text.at + from, len);
    name[len] = '\0';
    return module_kernel(module, name);
}

static SimtStatus feed_ptx(Str text, bool run, SimtError *error) {
    SimtStatus status = SIMT_TIMEOUT;
    Module *module = module_load(text, "fuzz", &status, error);
    if ((module != NULL) != (status == SIMT_OK)) fail("module_load", "status and module disagree");
    Kernel *kernel = module && run ? entry_of(module) : NULL;
    if (kernel) status = launch(kernel, error);
    accepted += module != NULL;
    ended += kernel && status == SIMT_OK;
    if (module) module_unload(module);
    return status;
}

// A name in the text's table of stages; empty if there is none.
static Str a_stage(Str text) {
    const size_t table = str_find(text, STR("stages[] = {"));
    if (table == SIZE_MAX) return (Str){text.at, 0};
    text = str_from(text, table + below(text.len - table));
    const size_t open = str_find(text, STR("{\""));
    if (open == SIZE_MAX) return (Str){text.at, 0};
    text = str_from(text, open + 2);
    return str_slice(text, 0, str_find(text, STR("\"")));
}

// Parses all kernels or, of a damaged text, also the host code of a stage or of main.
static const Tree *parse_cuda(Arena *arena, Str text, const TokenList *tokens, Refusal *refusal) {
    const bool host = inputs >= count && below(2);
    const Str stage = host ? a_stage(text) : (Str){NULL, 0};
    if (host && str_find(text, STR("int main(")) != SIZE_MAX)
        return program_parse_main(arena, tokens, refusal);
    return stage.len ? program_parse_stage(arena, tokens, stage, refusal)
                     : program_parse(arena, tokens, refusal);
}

// The compiler must refuse a source at a place, or make PTX that the device accepts, if the source
// has no PTX of its own.
static SimtStatus feed_cuda(Str text, SimtError *error) {
    Arena arena = {0};
    TokenList tokens = {0};
    Refusal refusal = {0};
    SimtStatus status = SIMT_INVALID_PTX;
    const bool ok = preprocess(&arena, STR("fuzz.cu"), text, NULL, &tokens, &refusal);
    const Tree *tree = ok ? parse_cuda(&arena, text, &tokens, &refusal) : NULL;
    const Str ptx = tree ? generate(&arena, tree, &refusal) : (Str){NULL, 0};
    if (refusal.message.len && !refusal.place.column) fail("refused", "without a place");
    if (refusal.message.len)
        snprintf(error->text, sizeof error->text, "%.*s", STR_ARG(refusal.message));
    else if (!tree)
        fail("refused", "without a word");
    else if (feed_ptx(ptx, false, error) != SIMT_OK && str_find(text, STR("asm")) == SIZE_MAX)
        fail("PTX of the compiler", error->text);
    else
        status = SIMT_OK;
    arena_free(&arena);
    return status;
}

// Two endings are of one kind if the status is the same, and the message except for numbers and
// names.
static bool new_ending(SimtStatus status, const char *text) {
    static bool seen[KINDS];
    uint32_t hash = 2166136261u + (uint32_t)status;
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '`' || *text == '\'') quoted = !quoted;
        if (isalpha((unsigned char)*text) && !quoted)
            hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    bool *mine = &seen[hash % KINDS], fresh = !*mine;
    *mine = true;
    return fresh;
}

// Runs the current input in memory of exactly its size, so that a read past its end is found.
static void feed(const char *kind, const char *folder) {
    const bool run = strcmp(kind, "run") == 0;
    if (run && current_len == 0) return; // no fat binary has an empty text
    char *copy = malloc((run ? ENTRY : 0) + current_len + !current_len);
    if (!copy) fail(kind, "out of memory");
    Str text = {copy, current_len};
    if (run)
        text = in_fatbin(copy);
    else
        memcpy(copy, current, current_len);
    SimtError error = {{0}};
    alarm(HANG_SECONDS);
    const SimtStatus status = strcmp(kind, "fatbin") == 0 ? feed_fatbin(text, &error)
                              : strcmp(kind, "cuda") == 0 ? feed_cuda(text, &error)
                                                          : feed_ptx(text, run, &error);
    alarm(0);
    free(copy);
    if (status != SIMT_OK && !error.text[0]) fail("refused", "without a word");
    if (strchr(error.text, '\n')) fail("more than one line", error.text);
    if (strcmp(folder, "-") == 0 || !new_ending(status, error.text)) return;
    char path[512];
    snprintf(path, sizeof path, "%s/%06zu.ptx", folder, inputs);
    keep(path);
}

// A corpus is one file: for each input its length in decimal digits, a newline, and its bytes.
static void read_seeds(Arena *arena, const char *path) {
    Str rest, length;
    if (!file_read(arena, path, &rest)) fail(path, "cannot read");
    const bool corpus = str_ends(str_of(path), STR(".corpus"));
    while (!corpus || str_line(&rest, &length)) {
        const size_t size = corpus ? strtoul(length.at, NULL, 10) : rest.len;
        if (size > rest.len || size > LARGEST || count == WORDS) fail(path, "too large");
        seeds[count++] = (Str){rest.at, size};
        rest = str_from(rest, size);
        if (!corpus) return;
    }
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 7) fail("usage", "fuzz ptx|fatbin|run|cuda SECONDS SEED LAST KEEP FILE...");
    Arena arena = {0};
    const char *kind = argv[1];
    seeds = ARENA_NEW(&arena, WORDS, Str);
    state = strtoull(argv[3], NULL, 10) * 2 + 88172645463325253ull;
    signal(SIGALRM, on_alarm);
    for (int k = 6; k < argc; k++) read_seeds(&arena, argv[k]);
    if (!memory_open((size_t)1 << 32) || !memory_track()) fail("memory", "refused");
    for (int k = 0; k < 3; k++)
        if (!(buffer[k] = memory_alloc_kind(WORDS * 4, MEMORY_DEVICE))) fail("memory", "none");
    const double until = seconds_now() + strtod(argv[2], NULL);
    for (; inputs < count || seconds_now() < until; inputs++) {
        const Str seed = seeds[inputs < count ? inputs : below(count)];
        memcpy(current, seed.at, seed.len);
        current_len = seed.len;
        for (size_t k = inputs < count ? 0 : 1 + below(4); k > 0; k--)
            if (strcmp(kind, "run") == 0 || (strcmp(kind, "cuda") == 0 && below(2)))
                damage_kernel();
            else
                damage_bytes(kind);
        keep(argv[4]);
        feed(kind, argv[5]);
        if (inputs < count && accepted <= inputs && strcmp(kind, "run") != 0)
            fail("a whole input", "refused");
    }
    printf("%zu inputs, %zu accepted, %zu ran to their end\n", inputs, accepted, ended);
    arena_free(&arena);
    return 0;
}

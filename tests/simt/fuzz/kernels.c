// Runs damaged kernels: PTX in a fat binary, changed where it stays PTX, is loaded, lowered and
// launched on a tiny input, under ASan and UBSan.
//
//     kernels SECONDS SEED LAST KEEP FILE...
//
// Each FILE is PTX. All are run as they are first; then, for so many seconds, changed copies. Each
// run must come back within 40 seconds (the watchdog ends kernels after a fifth of one, which it
// looks at now and then), with
// success or one line that says why not. The input in hand is kept in the file LAST, so that a
// crash leaves it behind. What ends in a way not seen before is kept in the folder KEEP, unless
// that is "-". Prints how many inputs there were, how many loaded and how many ran to their end.
#define _GNU_SOURCE
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "simt/cuda/unpack.h"
#include "simt/device/device.h"
#include "simt/memory/memory.h"

enum { LARGEST = 1 << 18, HANG_SECONDS = 40, WORDS = 4096, KINDS = 65536, ENTRY = 16 + 64 };

static uint64_t state;
static char *current; // the text in hand, behind its headers, shared with the file LAST
static size_t current_len;
static uint64_t buffer[3]; // on the device, of WORDS words
static size_t inputs, loaded, ended;

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
    static const char message[] = "FAILED: no answer within 40 seconds\n";
    if (write(1, message, sizeof message - 1)) _exit(1);
    _exit(1);
}

// --- changes ---

static void splice(size_t at, size_t drop, const char *put, size_t put_len) {
    if (at + drop > current_len || current_len - drop + put_len > LARGEST) return;
    memmove(current + at + put_len, current + at + drop, current_len - at - drop);
    if (put_len) memcpy(current + at, put, put_len);
    current_len += put_len - drop;
}

// A line of the text, with its newline.
static Str a_line(Str text) {
    size_t at = below(text.len), end = at;
    while (at > 0 && text.at[at - 1] != '\n') at--;
    while (end < text.len && text.at[end] != '\n') end++;
    return str_slice(text, at, end < text.len ? end + 1 : end);
}

static bool in_word(char c) { return isalnum((unsigned char)c) || strchr("_$%.", c); }

// A word of the text near a random place: an opcode with its modifiers, a register, a label, a
// number. Empty if there is none.
static Str a_word(Str text) {
    size_t at = below(text.len), end = at;
    if (text.len == 0 || !text.at[at] || !in_word(text.at[at])) return (Str){text.at, 0};
    while (at > 0 && text.at[at - 1] && in_word(text.at[at - 1])) at--;
    while (end < text.len && text.at[end] && in_word(text.at[end])) end++;
    return str_slice(text, at, end);
}

// What a word can be exchanged for: opcode, register of a kind, number, label.
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

static void exchange_word(const Str *seeds, size_t count) {
    Str text = {current, current_len}, word = a_word(text);
    if (word.len == 0) return;
    for (int attempt = 0; attempt < 200; attempt++) {
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
        Str word = a_word((Str){current, current_len});
        if (sort_of(word) != 1) continue;
        const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
        splice((size_t)(word.at - current), word.len, number, strlen(number));
        return;
    }
}

// A line is doubled, dropped, moved, or comes from another kernel.
static void change_line(const Str *seeds, size_t count) {
    Str text = {current, current_len}, line = a_line(text);
    Str taken = below(4) ? line : a_line(seeds[below(count)]);
    char copy[1024];
    if (taken.len > sizeof copy) return;
    memcpy(copy, taken.at, taken.len);
    size_t how = below(3);
    if (how < 2) splice((size_t)(line.at - current), line.len, "", 0);
    if (how == 0 || current_len == 0) return;
    Str before = a_line((Str){current, current_len});
    splice((size_t)(before.at - current), 0, copy, taken.len);
}

static void mutate_once(const Str *seeds, size_t count) {
    switch (below(8)) {
    case 0:
    case 1:
        change_line(seeds, count);
        break;
    case 2:
        exchange_number();
        break;
    case 3:
        if (current_len) current[below(current_len)] = (char)below(256);
        break;
    default:
        exchange_word(seeds, count);
        break;
    }
}

// --- running ---

// The text in a fat binary of its own, as nvcc writes them; found in there by fatbin_ptx.
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

// Endings are of a kind if status and words are the same but for numbers and names.
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

static void keep(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/%06zu.ptx", folder, inputs);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(current, 1, current_len, file) != current_len) fail(path, "cannot write");
    fclose(file);
}

// Every parameter: the buffers' addresses where one fits, else a small number. What is larger, a
// struct, alternates between the two.
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
    if (!arguments || !values) fail("kernels", "out of memory");
    fill_arguments(&info, arguments, values);
    uint32_t threads = info.max_threads_per_block < 64 ? info.max_threads_per_block : 64;
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
    SimtStatus status = kernel_launch(kernel, &shape, &options, &report, error);
    arena_free(&report.arena);
    free(arguments);
    free(values);
    return status;
}

// The name after the last ".entry" of the text, as it is written there.
static bool entry_name(char *name, size_t size) {
    Str text = {current, current_len};
    const char *at = memmem(text.at, text.len, ".entry ", 7);
    if (!at) return false;
    size_t from = (size_t)(at - text.at) + 7, len = 0;
    while (from + len < text.len && text.at[from + len] && in_word(text.at[from + len])) len++;
    if (len + 1 > size) return false;
    memcpy(name, text.at + from, len);
    name[len] = 0;
    return true;
}

static void run_once(const char *kept) {
    char name[1024], *bytes = malloc(ENTRY + current_len);
    if (!bytes) fail("kernels", "out of memory");
    SimtError error = {{0}};
    SimtStatus status = SIMT_TIMEOUT;
    Module *module = module_load(in_fatbin(bytes), "fuzz", &status, &error);
    Kernel *kernel = module && entry_name(name, sizeof name) ? module_kernel(module, name) : NULL;
    if ((module != NULL) != (status == SIMT_OK)) fail("module_load", "status and module disagree");
    if (kernel) status = launch(kernel, &error);
    loaded += module != NULL;
    ended += kernel && status == SIMT_OK;
    if (status != SIMT_OK && !error.text[0]) fail("refused", "without a word");
    if (strchr(error.text, '\n')) fail("more than one line", error.text);
    if (kept && new_ending(status, error.text)) keep(kept);
    if (module) module_unload(module);
    free(bytes);
}

static size_t *keep_in(const char *path) {
    FILE *file = fopen(path, "w+");
    size_t bytes = LARGEST + sizeof(size_t);
    if (!file || ftruncate(fileno(file), (off_t)bytes) != 0) fail(path, "cannot write");
    current = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (current == MAP_FAILED) fail(path, "cannot map");
    fclose(file);
    return (size_t *)(void *)(current + LARGEST);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 6) fail("usage", "kernels SECONDS SEED LAST KEEP FILE...");
    Arena arena = {0};
    size_t count = (size_t)argc - 5;
    Str *seeds = ARENA_NEW(&arena, count, Str);
    state = strtoull(argv[2], NULL, 10) * 2 + 88172645463325253ull;
    signal(SIGALRM, on_alarm);
    size_t *stored_len = keep_in(argv[3]);
    const char *kept = strcmp(argv[4], "-") == 0 ? NULL : argv[4];
    for (size_t k = 0; k < count; k++) {
        if (!file_read(&arena, argv[5 + k], &seeds[k])) fail(argv[5 + k], "cannot read");
        if (seeds[k].len == LARGEST + sizeof(size_t)) // left behind by a crash
            memcpy(&seeds[k].len, seeds[k].at + LARGEST, sizeof(size_t));
        if (seeds[k].len > LARGEST) fail(argv[5 + k], "too large");
    }
    if (!memory_open((size_t)1 << 32) || !memory_track()) fail("memory", "refused");
    for (int k = 0; k < 3; k++)
        if (!(buffer[k] = memory_alloc_kind(WORDS * 4, MEMORY_DEVICE))) fail("memory", "none");
    const double until = seconds_now() + strtod(argv[1], NULL);
    for (; inputs < count || seconds_now() < until; inputs++) {
        Str seed = seeds[inputs < count ? inputs : below(count)];
        memcpy(current, seed.at, seed.len);
        current_len = seed.len;
        if (inputs >= count)
            for (size_t k = 1 + below(4); k > 0; k--) mutate_once(seeds, count);
        *stored_len = current_len;
        for (int k = 0; k < 3; k++) {
            memset(memory_at(buffer[k]), 0, WORDS * 4);
            memory_written(buffer[k], WORDS * 4);
        }
        alarm(HANG_SECONDS);
        run_once(kept);
        alarm(0);
    }
    printf("%zu inputs, %zu loaded, %zu ran to their end\n", inputs, loaded, ended);
    arena_free(&arena);
    return 0;
}

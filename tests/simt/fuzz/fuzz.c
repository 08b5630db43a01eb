// Feeds damaged PTX to module_load and damaged fat binaries to fatbin_ptx, under ASan and UBSan.
//
//     fuzz ptx|fatbin SECONDS SEED LAST FILE...
//
// Mutates the files at random for so many seconds. Whatever comes in, the functions must come back
// within ten seconds, with a module and no error, or with none and one line that says why. The
// input in hand is kept in the file LAST, so that a crash leaves it behind; `fuzz ptx 0 1 LAST
// FILE` runs a kept input once, unchanged. Prints how many inputs there were and how many were
// accepted.
#define _GNU_SOURCE
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

enum { LARGEST = 1 << 20, HANG_SECONDS = 10 };

static uint64_t state;

static size_t below(size_t limit) { // Marsaglia's xorshift64*, 0 <= result < limit
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return limit ? (size_t)((state * 0x2545F4914F6CDD1Dull >> 16) % limit) : 0;
}

static char *current;      // the input in hand, shared with the file LAST
static size_t current_len; // its length
static size_t *stored_len; // the same in the file, after the text

static const char *const words[] = {"",
                                    "0",
                                    "-1",
                                    "4294967296",
                                    "18446744073709551616",
                                    "0x",
                                    "0f7F80",
                                    "1e999",
                                    "\"",
                                    "{",
                                    "}",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    ";",
                                    ",",
                                    ":",
                                    "|",
                                    "@!",
                                    "%p",
                                    "%r1",
                                    "%rd",
                                    "$L__BB0_1",
                                    ".reg .b32 %r<",
                                    ".v4",
                                    ".sync",
                                    ".align 3",
                                    ".param",
                                    ".shared",
                                    ".entry",
                                    ".visible .func",
                                    "bra",
                                    "call",
                                    "add.s32",
                                    "mov.b64",
                                    "shfl.sync.idx.b32",
                                    "atom.global.add",
                                    "/*",
                                    "//",
                                    "\n",
                                    "\0x",
                                    "\x80",
                                    "<999999999>",
                                    "[2147483647]",
                                    ".loc 1 1 1, function_name $, inlined_at",
                                    ".file 9 \"x\""};

static void splice(size_t at, size_t drop, const char *put, size_t put_len) {
    if (at + drop > current_len || current_len - drop + put_len > LARGEST) return;
    memmove(current + at + put_len, current + at + drop, current_len - at - drop);
    if (put_len) memcpy(current + at, put, put_len);
    current_len += put_len - drop;
}

// Cuts a fat binary off and says so in its header (u64 at 8: bytes after the header of 16).
static void cut_fatbin(void) {
    if (current_len < 16) return;
    current_len = 16 + below(current_len - 15);
    uint64_t size = current_len - 16;
    memcpy(current + 8, &size, sizeof size);
}

// Half of the changes to a fat binary are to its headers.
static void mutate_once(bool fatbin, const Str *seeds, size_t count) {
    size_t at = below(current_len + 1);
    if (fatbin && below(2) && current_len > 96) at = below(96);
    if (fatbin && below(8) == 0) {
        cut_fatbin();
        return;
    }
    size_t left = current_len - at;
    const char *word = words[below(sizeof words / sizeof *words)];
    Str other = seeds[below(count)];
    size_t from = below(other.len), take = below(other.len - from < 200 ? other.len - from : 200);
    switch (below(8)) {
    case 0:
        splice(at, left < 1 ? left : 1, &(char){(char)below(256)}, 1);
        break;
    case 1:
        splice(at, below(left < 40 ? left : 40), "", 0);
        break;
    case 2:
        splice(at, below(left < 8 ? left : 8), word, strlen(word));
        break;
    case 3:
        splice(at, 0, other.at + from, take);
        break;
    case 4:
        splice(at, below(left < 200 ? left : 200), other.at + from, take);
        break;
    case 5: // a digit becomes another
        for (size_t i = at; i < current_len; i++) {
            if (current[i] < '0' || current[i] > '9') continue;
            current[i] = (char)('0' + below(10));
            break;
        }
        break;
    case 6: { // a line moves
        const char *newline = left ? memchr(current + at, '\n', left) : NULL;
        size_t len = newline ? (size_t)(newline - (current + at)) + 1 : 0;
        char line[400];
        if (len == 0 || len > sizeof line) break;
        memcpy(line, current + at, len);
        splice(at, len, "", 0);
        splice(below(current_len + 1), 0, line, len);
        break;
    }
    default:
        if (below(20) == 0) splice(at, left, "", 0); // cut off
        break;
    }
}

static void fail(const char *what, const char *text) {
    printf("FAILED: %s: %s\n", what, text);
    exit(1);
}

static void on_alarm(int number) {
    (void)number;
    static const char message[] = "FAILED: no answer within ten seconds\n";
    if (write(1, message, sizeof message - 1)) _exit(1);
    _exit(1);
}

// One input, in memory of exactly its size, so that a step beyond its end is seen.
static bool accepted(bool fatbin) {
    char *copy = malloc(current_len ? current_len : 1);
    if (!copy) fail("fuzz", "out of memory");
    memcpy(copy, current, current_len);
    *stored_len = current_len;
    SimtError error = {{0}};
    bool good = false;
    alarm(HANG_SECONDS);
    if (fatbin) {
        FatbinPtx ptx = {.payload = {NULL, 0}};
        Str text;
        good = fatbin_ptx((Str){copy, current_len}, &ptx, &error) == FATBIN_OK;
        if (good &&
            (ptx.payload.at < copy || ptx.payload.at + ptx.payload.len > copy + current_len))
            fail("fatbin_ptx", "PTX outside of the input");
        good = good && unpack_ptx(&ptx, &text, &error) == SIMT_OK;
        if (good && ptx.packing != FATBIN_PLAIN) free((void *)(uintptr_t)text.at);
    } else {
        SimtStatus status = SIMT_TIMEOUT;
        Module *module = module_load((Str){copy, current_len}, "fuzz", &status, &error);
        good = module != NULL;
        if (good != (status == SIMT_OK)) fail("module_load", "status and module disagree");
        if (good) module_unload(module);
    }
    alarm(0);
    if (!good && !error.text[0]) fail("refused", "without a word");
    if (memchr(error.text, '\n', strlen(error.text))) fail("more than one line", error.text);
    free(copy);
    return good;
}

static void keep_in(const char *path) {
    FILE *file = fopen(path, "w+");
    size_t bytes = LARGEST + sizeof *stored_len;
    if (!file || ftruncate(fileno(file), (off_t)bytes) != 0) fail(path, "cannot write");
    current = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (current == MAP_FAILED) fail(path, "cannot map");
    fclose(file);
    stored_len = (size_t *)(void *)(current + LARGEST);
}

static size_t run(bool fatbin, double seconds, const Str *seeds, size_t count) {
    size_t inputs = 0, good = 0;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        const Str *seed = &seeds[inputs % count];
        memcpy(current, seed->at, seed->len);
        current_len = seed->len;
        if (inputs >= count)
            for (size_t k = 1 + below(6); k > 0; k--) mutate_once(fatbin, seeds, count);
        bool taken = accepted(fatbin);
        if (inputs < count && !taken && seconds > 0) fail("a whole input", "refused");
        good += taken;
        inputs++;
        clock_gettime(CLOCK_MONOTONIC, &now);
        double spent =
            (double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9;
        if (inputs >= count && spent >= seconds) break;
    }
    printf("%zu inputs, %zu accepted\n", inputs, good);
    return good;
}

int main(int argc, char **argv) {
    if (argc < 6) fail("usage", "fuzz ptx|fatbin SECONDS SEED LAST FILE...");
    Arena arena = {0};
    size_t count = (size_t)argc - 5;
    Str *seeds = ARENA_NEW(&arena, count, Str);
    state = strtoull(argv[3], NULL, 10) * 2 + 88172645463325253ull;
    signal(SIGALRM, on_alarm);
    keep_in(argv[4]);
    for (size_t i = 0; i < count; i++) {
        if (!file_read(&arena, argv[5 + i], &seeds[i])) fail(argv[5 + i], "cannot read");
        size_t stored; // a kept input carries its length behind its text
        if (seeds[i].len == LARGEST + sizeof stored) {
            memcpy(&stored, seeds[i].at + LARGEST, sizeof stored);
            seeds[i].len = stored;
        }
        if (seeds[i].len > LARGEST) fail(argv[5 + i], "too large");
    }
    if (!memory_open((size_t)1 << 30)) fail("memory_open", "refused");
    run(strcmp(argv[1], "fatbin") == 0, strtod(argv[2], NULL), seeds, count);
    arena_free(&arena);
    return 0;
}

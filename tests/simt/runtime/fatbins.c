// Tests fat binaries made by hand: which PTX is chosen, and which message refuses an invalid one.
// Prints `ok NAME`, or `not ok NAME` with what was wrong below it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/program/fatbin.h"

enum { PTX = 1, CUBIN = 2, LZ4 = 0x2000, ZSTD = 0x8000, ROOM = 4096 };

typedef struct {
    uint16_t kind;
    uint32_t arch, flags;
    const char *payload;
} Entry;

typedef struct {
    const char *name;
    Entry entries[4];
    FatbinStatus status;
    const char *want; // the PTX, or the beginning of the message
} Row;

static const Row rows[] = {
    {"one", {{PTX, 90, 0, "nine"}}, FATBIN_OK, "nine"},
    {"the newest that the device has",
     {{PTX, 75, 0, "a"}, {PTX, 90, 0, "b"}, {PTX, 80, 0, "c"}},
     FATBIN_OK,
     "b"},
    {"of the newer ones the oldest",
     {{PTX, 120, 0, "a"}, {PTX, 100, 0, "b"}, {PTX, 103, 0, "c"}, {CUBIN, 90, 0, "x"}},
     FATBIN_OK,
     "b"},
    {"newer ones alone",
     {{PTX, 120, 0, "a"}, {PTX, 100, 0, "b"}, {CUBIN, 100, 0, "x"}},
     FATBIN_NO_IMAGE,
     "the program holds PTX for compute_100 and machine code for sm_100, and a device of compute "
     "capability 9.0 runs none of it: build with nvcc -arch=sm_90, or run simt --as sm_100"},
    {"an older one before a newer one", {{PTX, 120, 0, "a"}, {PTX, 50, 0, "b"}}, FATBIN_OK, "b"},
    {"an older one after a newer one", {{PTX, 50, 0, "a"}, {PTX, 91, 0, "b"}}, FATBIN_OK, "a"},
    {"the first of two", {{PTX, 90, 0, "a"}, {PTX, 90, 0, "b"}}, FATBIN_OK, "a"},
    {"machine code beside it",
     {{CUBIN, 90, 0, "x"}, {PTX, 80, 0, "a"}, {CUBIN, 80, 0, "y"}},
     FATBIN_OK,
     "a"},
    {"an unknown kind", {{64, 90, 0, "x"}, {PTX, 80, 0, "a"}}, FATBIN_OK, "a"},
    {"compressed beside plain", {{PTX, 90, LZ4, "\x10z"}, {PTX, 80, 0, "a"}}, FATBIN_OK, "z"},
    {"plain beside compressed", {{PTX, 80, LZ4, "\x10z"}, {PTX, 90, 0, "a"}}, FATBIN_OK, "a"},
    {"damaged zstd",
     {{PTX, 86, ZSTD, "x"}},
     FATBIN_CORRUPT,
     "the program's fat binary is corrupt (compressed PTX)"},
    {"lz4", {{CUBIN, 90, 0, "x"}, {PTX, 86, LZ4, "\x10z"}}, FATBIN_OK, "z"},
    {"damaged lz4",
     {{PTX, 86, LZ4, "\x20z"}},
     FATBIN_CORRUPT,
     "the program's fat binary is corrupt (compressed PTX)"},
    {"machine code only",
     {{CUBIN, 75, 0, "x"}, {CUBIN, 90, 0, "y"}, {CUBIN, 100, 0, "z"}},
     FATBIN_NO_PTX,
     "the program holds machine code for sm_90 but no PTX"},
    {"machine code for older devices alone",
     {{CUBIN, 89, 0, "x"}},
     FATBIN_NO_IMAGE,
     "the program holds machine code for sm_89, and a device of compute capability 9.0 runs"},
    {"nothing", {{0}}, FATBIN_NO_PTX, "the program's fat binary holds no PTX"},
    {"empty PTX",
     {{PTX, 90, 0, ""}},
     FATBIN_CORRUPT,
     "the program's fat binary is corrupt (empty PTX)"},
};

static void put(char *at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++) at[i] = (char)(value >> 8 * i);
}

// Appends an entry; its text ends with a zero, as nvcc writes it.
static char *put_entry(char *at, const Entry *entry) {
    size_t bytes = strlen(entry->payload) + 1;
    memset(at, 0, 64);
    put(at, 2, entry->kind);
    put(at + 4, 4, 64);
    put(at + 8, 8, bytes);
    if (entry->flags) put(at + 16, 4, bytes - 1); // packed: one byte
    if (entry->flags) put(at + 56, 8, 1);
    put(at + 28, 4, entry->arch);
    put(at + 40, 8, entry->flags);
    memcpy(at + 64, entry->payload, bytes);
    return at + 64 + bytes;
}

static size_t put_all(char *at, const Entry *entries) {
    char *end = at + 16;
    for (size_t i = 0; i < 4 && entries[i].payload; i++) end = put_entry(end, &entries[i]);
    put(at, 4, 0xBA55ED50);
    put(at + 4, 2, 1);
    put(at + 6, 2, 16);
    put(at + 8, 8, (uint64_t)(end - at - 16));
    return (size_t)(end - at);
}

static void *last; // the text that was unpacked last

// Finds the PTX of a fat binary, and unpacks it.
static FatbinStatus unpacked(FatbinStatus status, const FatbinPtx *packed, Str *ptx,
                             SimtError *error) {
    if (status != FATBIN_OK) return status;
    if (unpack_ptx(packed, ptx, error) != SIMT_OK) return FATBIN_CORRUPT;
    free(last);
    last = packed->packing == FATBIN_PLAIN ? NULL : (void *)(uintptr_t)ptx->at;
    return FATBIN_OK;
}

static void report(const char *name, FatbinStatus status, FatbinStatus wanted, Str found,
                   const char *want) {
    bool good = status == wanted && str_starts(found, str_of(want));
    if (status == FATBIN_OK) good = good && found.len == strlen(want);
    printf("%s %s\n", good ? "ok" : "not ok", name);
    if (!good) printf("    status %d, `%.*s`\n", (int)status, STR_ARG(found));
}

// Invalid values of the fields of the entry or of the header.
static void damaged(const char *name, size_t at, size_t width, uint64_t value, const char *what) {
    static const Entry one[4] = {{PTX, 90, 0, "nine"}};
    char bytes[ROOM], want[128];
    SimtError error = {""};
    Str ptx = STR("");
    FatbinPtx packed;
    size_t length = put_all(bytes, one);
    put(bytes + at, width, value);
    FatbinStatus status = fatbin_ptx((Str){bytes, length}, &packed, &error);
    status = unpacked(status, &packed, &ptx, &error);
    snprintf(want, sizeof want, "the program's fat binary is corrupt (%s)", what);
    report(name, status, what ? FATBIN_CORRUPT : FATBIN_OK, what ? str_of(error.text) : ptx,
           what ? want : "nine");
}

static void wrapped(const char *name, uint32_t magic, uint32_t version, uint64_t size,
                    FatbinStatus wanted, const char *want) {
    static const Entry one[4] = {{PTX, 90, 0, "nine"}};
    char bytes[ROOM];
    SimtError error = {""};
    Str ptx = STR("");
    FatbinPtx packed;
    size_t length = put_all(bytes, one);
    if (size) put(bytes + 8, 8, size);
    memset(bytes + length, 1, ROOM - length);   // bytes after its end, which must be ignored
    const char *files[] = {bytes, bytes, NULL}; // the latest version, with one file or two
    struct {
        uint32_t magic, version;
        const char *data, *const *files;
    } wrapper = {magic, version, bytes, wanted == FATBIN_OK ? files + 1 : files};
    FatbinStatus status = fatbin_wrapper_ptx(&wrapper, &packed, &error);
    status = unpacked(status, &packed, &ptx, &error);
    report(name, status, wanted, status == FATBIN_OK ? ptx : str_of(error.text), want);
}

// "abcd", a match of 20 bytes at distance 3, then 17 letters, whose length is written as 15 and 2.
static const char lz4_block[] = "\x4f"
                                "abcd"
                                "\x03\x00\x01\xf0\x02"
                                "01234567890123456";
static const char lz4_text[] = "abcdbcdbcdbcdbcdbcdbcdbc01234567890123456";

// A valid block, invalid ones, and damaged copies, which must not be read or unpacked out of
// bounds.
static void lz4(void) {
    char to[sizeof lz4_text - 1];
    Str whole = {lz4_block, sizeof lz4_block - 1};
    bool right = unpack_lz4(whole, to, sizeof to) && memcmp(to, lz4_text, sizeof to) == 0;
    printf("%s an LZ4 block\n", right ? "ok" : "not ok");
    bool refused = !unpack_lz4(whole, to, sizeof to - 1);
    for (size_t len = 0; len + 1 < sizeof lz4_block; len++)
        refused &= !unpack_lz4((Str){lz4_block, len}, to, sizeof to);
    printf("%s an LZ4 block cut short, or of another length\n", refused ? "ok" : "not ok");
    unsigned long long state = 1;
    for (int round = 0; round < 200000; round++) {
        char *copy = malloc(sizeof lz4_block - 1), *room = malloc(sizeof to);
        memcpy(copy, lz4_block, sizeof lz4_block - 1);
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            copy[(state >> 33) % (sizeof lz4_block - 1)] = (char)(state >> 50);
        }
        (void)unpack_lz4((Str){copy, sizeof lz4_block - 1}, room, sizeof to);
        free(copy);
        free(room);
    }
    printf("ok damaged LZ4 blocks stay within their bounds\n");
}

int main(void) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char bytes[ROOM];
        SimtError error = {""};
        Str ptx = STR("");
        FatbinPtx packed;
        size_t length = put_all(bytes, rows[k].entries);
        FatbinStatus status = fatbin_ptx((Str){bytes, length}, &packed, &error);
        status = unpacked(status, &packed, &ptx, &error);
        report(rows[k].name, status, rows[k].status, status == FATBIN_OK ? ptx : str_of(error.text),
               rows[k].want);
    }
    damaged("whole", 4, 2, 1, NULL);
    damaged("magic number", 0, 4, 1, "wrong magic number");
    damaged("a head of 15 bytes", 6, 2, 15, "bad header size");
    damaged("a head longer than all", 6, 2, 86, "bad header size");
    damaged("one byte more than there is", 8, 8, 70, "cut short");
    damaged("one byte less", 8, 8, 68, "an entry does not fit");
    damaged("an entry's head of 63 bytes", 20, 4, 63, "an entry does not fit");
    damaged("an entry's head of 70 bytes", 20, 4, 70, "an entry does not fit");
    damaged("an entry of one byte more", 24, 8, 6, "an entry does not fit");
    wrapped("a wrapper", 0x466243B1, 1, 0, FATBIN_OK, "nine");
    wrapped("a wrapper's magic number", 0x466243B2, 1, 0, FATBIN_CORRUPT,
            "the program's fat binary is corrupt (wrong wrapper)");
    wrapped("device linking of one file", 0x466243B1, 2, 0, FATBIN_OK, "nine");
    wrapped("device linking", 0x466243B1, 2, 0, FATBIN_RELOCATABLE,
            "the program was built with -rdc=true from 2 files");
    wrapped("a wrapper's version", 0x466243B1, 3, 0, FATBIN_CORRUPT,
            "the program's fat binary is corrupt (unknown wrapper version)");
    wrapped("a size beyond memory", 0x466243B1, 1, (uint64_t)1 << 62, FATBIN_CORRUPT,
            "the program's fat binary is corrupt (bad size)");
    free(last);
    lz4();
    return 0;
}

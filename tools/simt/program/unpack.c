// Decompresses PTX and machine code. LZ4: doc/lz4_Block_format.md by its authors. zstd: the
// system's library, loaded on first use.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/program/fatbin.h"

enum { LARGEST_MIB = 2048 };

// Completes a length: if its four bits are 15, adds bytes up to the first that is not 255.
static bool take_length(Str *block, size_t *length) {
    if (*length != 15) return true;
    unsigned char byte;
    do {
        if (!block->len) return false;
        byte = (unsigned char)block->at[0];
        *length += byte;
        *block = str_from(*block, 1);
    } while (byte == 255);
    return true;
}

// Copies a match, which may overlap the bytes that it writes.
static bool copy_match(char *to, size_t at, size_t bytes, size_t back, size_t length) {
    if (back == 0 || back > at || length > bytes - at) return false;
    for (size_t i = 0; i < length; i++) to[at + i] = to[at + i - back];
    return true;
}

bool unpack_lz4(Str block, char *to, size_t bytes) {
    size_t at = 0;
    while (block.len) {
        unsigned char token = (unsigned char)block.at[0];
        size_t literals = token >> 4, match = token & 15;
        block = str_from(block, 1);
        if (!take_length(&block, &literals)) return false;
        if (literals > block.len || literals > bytes - at) return false;
        memcpy(to + at, block.at, literals);
        at += literals;
        block = str_from(block, literals);
        if (!block.len) break; // the last sequence has no match
        if (block.len < 2) return false;
        size_t back = (unsigned char)block.at[0] | (size_t)(unsigned char)block.at[1] << 8;
        block = str_from(block, 2);
        if (!take_length(&block, &match)) return false;
        match += 4;
        if (!copy_match(to, at, bytes, back, match)) return false;
        at += match;
    }
    return at == bytes;
}

typedef size_t ZstdDecompress(void *to, size_t capacity, const void *from, size_t bytes);

// On NULL, the error says why.
static ZstdDecompress *find_zstd(SimtError *error) {
    static const char *const names[] = {"libzstd.so.1", "libzstd.so"};
    void *library = NULL;
    for (size_t k = 0; !library && k < sizeof names / sizeof *names; k++)
        library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "ZSTD_decompress") : NULL;
    ZstdDecompress *function = NULL;
    memcpy(&function, &symbol, sizeof function);
    if (!function)
        snprintf(error->text, sizeof error->text,
                 "the program's PTX is compressed with zstd, but libzstd.so.1 is missing: install "
                 "it, or build with nvcc --no-compress");
    return function;
}

static SimtStatus damaged(const char *what, SimtError *error) {
    snprintf(error->text, sizeof error->text,
             "the program's fat binary is corrupt (%s): build the program again", what);
    return SIMT_INVALID_PTX;
}

static SimtStatus unpack(const FatbinPtx *ptx, Str *text, SimtError *error) {
    if (ptx->bytes == 0 || ptx->bytes >> 20 >= LARGEST_MIB) return damaged("compressed PTX", error);
    ZstdDecompress *zstd = ptx->packing == FATBIN_ZSTD ? find_zstd(error) : NULL;
    if (ptx->packing == FATBIN_ZSTD && !zstd) return SIMT_UNSUPPORTED;
    char *to = malloc(ptx->bytes);
    if (!to) {
        snprintf(error->text, sizeof error->text, "no host memory for the program's PTX");
        return SIMT_OUT_OF_MEMORY;
    }
    *text = (Str){to, ptx->bytes};
    bool good = zstd ? zstd(to, ptx->bytes, ptx->payload.at, ptx->payload.len) == ptx->bytes
                     : unpack_lz4(ptx->payload, to, ptx->bytes);
    if (good) return SIMT_OK;
    free(to);
    return damaged("compressed PTX", error);
}

SimtStatus unpack_machine(const FatbinPtx *cubin, Str *file, SimtError *error) {
    *file = cubin->payload;
    return cubin->packing == FATBIN_PLAIN ? SIMT_OK : unpack(cubin, file, error);
}

SimtStatus unpack_ptx(const FatbinPtx *ptx, Str *text, SimtError *error) {
    *text = ptx->payload;
    SimtStatus status = ptx->packing == FATBIN_PLAIN ? SIMT_OK : unpack(ptx, text, error);
    if (status != SIMT_OK) return status;
    while (text->len && text->at[text->len - 1] == '\0') text->len--;
    return text->len > 0 ? SIMT_OK : damaged("empty PTX", error);
}

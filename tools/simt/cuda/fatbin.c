// Fat binaries: see fatbin.h.
//
// Layout, little endian, found by reading what nvcc 11 to 13 write. Wrapper (fatbinary_section.h
// of the toolkit): u32 magic, u32 version, pointer to the data. Data: u32 magic, u16 version, u16
// header bytes, u64 bytes of entries. An entry: u16 kind (1 is PTX, 2 is machine code), u32 header
// bytes at 4, u64 payload bytes at 8, u32 architecture at 28, u64 flags at 40, u64 uncompressed
// bytes at 56; the payload follows the header.
#include "simt/cuda/fatbin.h"

#include <stdio.h>
#include <string.h>

#include "simt/base/limits.h"

enum {
    WRAPPER_MAGIC = 0x466243B1,
    WRAPPER_WHOLE = 1,  // fatbinary_section.h: FATBINC_VERSION
    WRAPPER_LINKED = 2, // FATBINC_LINK_VERSION: the product of device linking
    DATA_HEADER_BYTES = 16,
    ENTRY_HEADER_BYTES = 64,
    KIND_PTX = 1,
    KIND_MACHINE_CODE = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
};

static const uint32_t data_magic = 0xBA55ED50;

typedef struct {
    uint16_t kind;
    uint32_t arch;
    uint64_t flags;
    Str payload;
} Entry;

// Fields may lie at any address: the fat binary of a shared library is only byte-aligned.
static uint64_t field(Str bytes, size_t at, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)(unsigned char)bytes.at[at + i] << 8 * i;
    return value;
}

// Takes the next entry off *rest. False if it does not fit.
static bool take_entry(Str *rest, Entry *entry) {
    if (rest->len < ENTRY_HEADER_BYTES) return false;
    uint64_t header = field(*rest, 4, 4), payload = field(*rest, 8, 8);
    if (header < ENTRY_HEADER_BYTES || header > rest->len) return false;
    if (payload > rest->len - header) return false;
    entry->kind = (uint16_t)field(*rest, 0, 2);
    entry->arch = (uint32_t)field(*rest, 28, 4);
    entry->flags = field(*rest, 40, 8);
    entry->payload = str_slice(*rest, header, header + payload);
    *rest = str_from(*rest, header + payload);
    return true;
}

// Whether PTX for `arch` is a better choice than for `than` (0: none yet): the newest that the
// device has, else the oldest of those beyond it.
static bool better_arch(uint32_t arch, uint32_t than) {
    if (than == 0) return true;
    bool fits = arch <= DEVICE_ARCH, than_fits = than <= DEVICE_ARCH;
    if (fits != than_fits) return fits;
    return fits ? arch > than : arch < than;
}

static FatbinStatus corrupt(SimtError *error, const char *what) {
    snprintf(error->text, sizeof error->text,
             "the program's fat binary is corrupt (%s): build the program again", what);
    return FATBIN_CORRUPT;
}

// The architectures for which there was something else, 0 for none.
static FatbinStatus no_ptx(SimtError *error, uint32_t compressed, uint32_t machine_code) {
    if (compressed) {
        snprintf(error->text, sizeof error->text,
                 "the program's PTX (sm_%u) is compressed: build with nvcc --no-compress",
                 compressed);
        return FATBIN_COMPRESSED;
    }
    if (machine_code)
        snprintf(error->text, sizeof error->text,
                 "the program holds machine code for sm_%u but no PTX: build with nvcc "
                 "-arch=sm_%u or -gencode arch=compute_%u,code=compute_%u, and --no-compress",
                 machine_code, machine_code, machine_code, machine_code);
    else
        snprintf(
            error->text, sizeof error->text,
            "the program's fat binary holds no PTX: build with nvcc -arch=sm_90 --no-compress");
    return FATBIN_NO_PTX;
}

FatbinStatus fatbin_ptx(Str bytes, Str *ptx, SimtError *error) {
    error->text[0] = '\0';
    if (bytes.len < DATA_HEADER_BYTES) return corrupt(error, "shorter than its header");
    if (field(bytes, 0, 4) != data_magic) return corrupt(error, "wrong magic number");
    uint64_t header = field(bytes, 6, 2), size = field(bytes, 8, 8);
    if (header < DATA_HEADER_BYTES || header > bytes.len) return corrupt(error, "bad header size");
    if (size > bytes.len - header) return corrupt(error, "cut short");

    Str rest = str_slice(bytes, header, header + size);
    Entry entry;
    uint32_t best = 0, compressed = 0, machine_code = 0;
    while (rest.len) {
        if (!take_entry(&rest, &entry)) return corrupt(error, "an entry does not fit");
        if (entry.kind == KIND_MACHINE_CODE) machine_code = entry.arch;
        if (entry.kind != KIND_PTX) continue;
        if (entry.flags & (FLAG_ZSTD | FLAG_LZ4)) {
            compressed = entry.arch;
        } else if (better_arch(entry.arch, best)) {
            best = entry.arch;
            *ptx = entry.payload;
        }
    }
    if (best) {
        while (ptx->len && ptx->at[ptx->len - 1] == '\0') ptx->len--;
        return ptx->len ? FATBIN_OK : corrupt(error, "empty PTX");
    }
    return no_ptx(error, compressed, machine_code);
}

FatbinStatus fatbin_wrapper_ptx(const void *wrapper, Str *ptx, SimtError *error) {
    struct {
        uint32_t magic, version;
        const char *data;
    } head;
    memcpy(&head, wrapper, sizeof head);
    if (head.magic != WRAPPER_MAGIC || !head.data) return corrupt(error, "wrong wrapper");
    if (head.version == WRAPPER_LINKED) {
        snprintf(error->text, sizeof error->text,
                 "the program was built with -rdc=true, which the CPU device does not support: "
                 "build without it, device code of one kernel in one file");
        return FATBIN_RELOCATABLE;
    }
    if (head.version != WRAPPER_WHOLE) return corrupt(error, "unknown wrapper version");
    Str header = {head.data, DATA_HEADER_BYTES};
    if (field(header, 0, 4) != data_magic) return corrupt(error, "wrong magic number");
    uint64_t size = field(header, 8, 8);
    if (size > SIZE_MAX / 4) return corrupt(error, "bad size");
    return fatbin_ptx((Str){head.data, field(header, 6, 2) + size}, ptx, error);
}

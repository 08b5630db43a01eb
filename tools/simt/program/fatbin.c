// Finds PTX and machine code in fat binaries.
//
// Layout, little endian, found by reading the output of nvcc 11 to 13. Wrapper, as in the toolkit's
// fatbinary_section.h: u32 magic, u32 version, pointer to the data. Data: u32 magic, u16 version,
// u16 header bytes, u64 bytes of entries. Entry: u16 kind (1 PTX, 2 machine code), u32 header bytes
// at 4, u64 payload bytes at 8, u32 bytes before padding at 16, u32 architecture at 28, u64 flags
// at 40, u64 uncompressed bytes at 56; the payload follows the header.
#define _GNU_SOURCE
#include "simt/program/fatbin.h"

#include <link.h>
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
    uint64_t flags, unpacked;
    Str payload;
} Entry;

// Fields may be unaligned: a shared library aligns its fat binary only to bytes.
static uint64_t field(Str bytes, size_t at, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)(unsigned char)bytes.at[at + i] << 8 * i;
    return value;
}

// Takes the next entry off *rest. Returns false if it runs past the end.
static bool take_entry(Str *rest, Entry *entry) {
    if (rest->len < ENTRY_HEADER_BYTES) return false;
    uint64_t header = field(*rest, 4, 4), payload = field(*rest, 8, 8);
    if (header < ENTRY_HEADER_BYTES || header > rest->len) return false;
    if (payload > rest->len - header) return false;
    entry->kind = (uint16_t)field(*rest, 0, 2);
    entry->arch = (uint32_t)field(*rest, 28, 4);
    entry->flags = field(*rest, 40, 8);
    entry->unpacked = field(*rest, 56, 8);
    uint64_t bytes = field(*rest, 16, 4);
    bool packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD) && bytes && bytes < payload;
    entry->payload = str_slice(*rest, header, header + (packed ? bytes : payload));
    *rest = str_from(*rest, header + payload);
    return true;
}

// Whether a device can run PTX, or machine code, for `arch`. CUDA C++ Programming Guide, "PTX
// Compatibility" and "Binary Compatibility".
static bool ptx_fits(uint32_t arch) { return arch <= limits_arch(); }
static bool machine_fits(uint32_t arch) {
    return arch <= limits_arch() && arch / 10 == limits_arch() / 10;
}

// Whether PTX for `arch` is a better choice than PTX for `than` (0: none yet). The newest that the
// device supports is best; otherwise the oldest.
static bool better_arch(uint32_t arch, uint32_t than) {
    if (than == 0) return true;
    bool fits = ptx_fits(arch), than_fits = ptx_fits(than);
    if (fits != than_fits) return fits;
    return fits ? arch > than : arch < than;
}

static FatbinStatus corrupt(SimtError *error, const char *what) {
    snprintf(error->text, sizeof error->text,
             "the program's fat binary is corrupt (%s): build the program again", what);
    return FATBIN_CORRUPT;
}

// `machine_code`: an architecture with machine code in the program, or 0.
static FatbinStatus no_ptx(SimtError *error, uint32_t machine_code) {
    if (machine_code)
        snprintf(error->text, sizeof error->text,
                 "the program holds machine code for sm_%u but no PTX: build with nvcc "
                 "-arch=sm_%u or -gencode arch=compute_%u,code=compute_%u",
                 machine_code, machine_code, machine_code, machine_code);
    else
        snprintf(error->text, sizeof error->text,
                 "the program's fat binary holds no PTX: build with nvcc -arch=sm_90");
    return FATBIN_NO_PTX;
}

// `ptx`, `machine_code`: an architecture of each that is in the program, or 0.
static FatbinStatus no_image(SimtError *error, uint32_t ptx, uint32_t machine_code) {
    const uint32_t arch = limits_arch();
    int used = snprintf(error->text, sizeof error->text, "the program holds ");
    if (ptx) used += snprintf(error->text + used, 40, "PTX for compute_%u", ptx);
    if (machine_code)
        used += snprintf(error->text + used, 40, "%smachine code for sm_%u", ptx ? " and " : "",
                         machine_code);
    snprintf(error->text + used, sizeof error->text - (size_t)used,
             ", and a device of compute capability %u.%u runs none of it: build with nvcc "
             "-arch=sm_%u",
             arch / 10, arch % 10, arch);
    used = (int)strlen(error->text);
    if (ptx)
        snprintf(error->text + used, sizeof error->text - (size_t)used, ", or run simt --as sm_%u",
                 ptx);
    return FATBIN_NO_IMAGE;
}

static void keep_entry(const Entry *entry, FatbinPtx *kept) {
    *kept = (FatbinPtx){.payload = entry->payload, .bytes = entry->unpacked};
    if (entry->flags & FLAG_LZ4) kept->packing = FATBIN_LZ4;
    if (entry->flags & FLAG_ZSTD) kept->packing = FATBIN_ZSTD;
}

FatbinStatus fatbin_ptx(Str bytes, FatbinPtx *ptx, SimtError *error) {
    error->text[0] = '\0';
    if (bytes.len < DATA_HEADER_BYTES) return corrupt(error, "shorter than its header");
    if (field(bytes, 0, 4) != data_magic) return corrupt(error, "wrong magic number");
    uint64_t header = field(bytes, 6, 2), size = field(bytes, 8, 8);
    if (header < DATA_HEADER_BYTES || header > bytes.len) return corrupt(error, "bad header size");
    if (size > bytes.len - header) return corrupt(error, "cut short");

    Str rest = str_slice(bytes, header, header + size);
    Entry entry;
    uint32_t best = 0, machine_code = 0;
    bool native = false;
    while (rest.len) {
        if (!take_entry(&rest, &entry)) return corrupt(error, "an entry does not fit");
        if (entry.kind == KIND_MACHINE_CODE && !native) {
            machine_code = entry.arch;
            native = machine_fits(entry.arch);
        }
        if (entry.kind != KIND_PTX || !better_arch(entry.arch, best)) continue;
        best = entry.arch;
        keep_entry(&entry, ptx);
    }
    if (!native && (best ? !ptx_fits(best) : machine_code != 0))
        return no_image(error, best, machine_code);
    return best ? FATBIN_OK : no_ptx(error, machine_code);
}

FatbinStatus fatbin_machine(Str bytes, FatbinPtx *cubin, SimtError *error) {
    if (bytes.len < DATA_HEADER_BYTES) return corrupt(error, "shorter than its header");
    const uint64_t header = field(bytes, 6, 2), size = field(bytes, 8, 8);
    if (header > bytes.len || size > bytes.len - header) return corrupt(error, "cut short");
    Str rest = str_slice(bytes, header, header + size);
    Entry entry;
    while (rest.len) {
        if (!take_entry(&rest, &entry)) return corrupt(error, "an entry does not fit");
        if (entry.kind != KIND_MACHINE_CODE || entry.arch != DEVICE_ARCH) continue;
        keep_entry(&entry, cubin);
        return FATBIN_OK;
    }
    snprintf(error->text, sizeof error->text,
             "the program holds no machine code for sm_%u: build with nvcc -arch=sm_%u",
             DEVICE_ARCH, DEVICE_ARCH);
    return FATBIN_NO_PTX;
}

typedef struct {
    const char *data;
    size_t bytes;
} Loaded;

// Called by dl_iterate_phdr: sets `bytes` to the rest of the segment if `data` is in this object.
static int find_segment(struct dl_phdr_info *object, size_t size, void *loaded) {
    (void)size;
    Loaded *of = loaded;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr, at = (uintptr_t)of->data;
        if (segment->p_type != PT_LOAD || at < start || at - start >= segment->p_memsz) continue;
        of->bytes = segment->p_memsz - (at - start);
        return 1;
    }
    return 0;
}

// The number of readable bytes at `data`: up to the end of the segment that contains it. Outside of
// all segments, such as in heap memory, the size is unknown and a large number is returned.
static size_t readable_from(const char *data) {
    Loaded loaded = {data, SIZE_MAX / 4};
    dl_iterate_phdr(find_segment, &loaded);
    return loaded.bytes;
}

// Finds the end of a fat binary from its header.
static FatbinStatus whole_data(const char *data, Str *bytes, SimtError *error) {
    Str header = {data, DATA_HEADER_BYTES};
    if (field(header, 0, 4) != data_magic) return corrupt(error, "wrong magic number");
    uint64_t size = field(header, 8, 8), most = readable_from(data);
    if (size > most || field(header, 6, 2) > most - size) return corrupt(error, "bad size");
    *bytes = (Str){data, field(header, 6, 2) + size};
    return FATBIN_OK;
}

static FatbinStatus ptx_of_data(const char *data, FatbinPtx *ptx, SimtError *error) {
    Str bytes;
    FatbinStatus status = whole_data(data, &bytes, error);
    return status == FATBIN_OK ? fatbin_ptx(bytes, ptx, error) : status;
}

// Finds the PTX of the only linked file that has any.
static FatbinStatus linked_ptx(const char *const *files, FatbinPtx *ptx, SimtError *error) {
    FatbinStatus status = no_ptx(error, 0);
    uint32_t found = 0;
    for (; files && *files; files++) {
        FatbinPtx other;
        SimtError why;
        FatbinStatus file = ptx_of_data(*files, &other, &why);
        if (file == FATBIN_OK) {
            *ptx = other;
            found++;
        } else if (!found) {
            *error = why;
            status = file;
        }
    }
    if (found <= 1) return found ? FATBIN_OK : status;
    snprintf(error->text, sizeof error->text,
             "the program was built with -rdc=true from %u files of device code, that of dynamic "
             "parallelism counted: the CPU device does not link PTX; build without -rdc=true, the "
             "device code of a kernel in one file",
             found);
    return FATBIN_RELOCATABLE;
}

typedef struct {
    uint32_t magic, version;
    const char *data;
    const char *const *files;
} Wrapper;

FatbinStatus fatbin_wrapper_machine(const void *wrapper, FatbinPtx *cubin, SimtError *error) {
    Wrapper head;
    Str bytes;
    memcpy(&head, wrapper, sizeof head);
    if (head.magic != WRAPPER_MAGIC || !head.data) return corrupt(error, "wrong wrapper");
    FatbinStatus status = whole_data(head.data, &bytes, error);
    return status == FATBIN_OK ? fatbin_machine(bytes, cubin, error) : status;
}

FatbinStatus fatbin_wrapper_ptx(const void *wrapper, FatbinPtx *ptx, SimtError *error) {
    Wrapper head;
    memcpy(&head, wrapper, sizeof head);
    if (head.magic != WRAPPER_MAGIC || !head.data) return corrupt(error, "wrong wrapper");
    if (head.version == WRAPPER_LINKED) return linked_ptx(head.files, ptx, error);
    if (head.version != WRAPPER_WHOLE) return corrupt(error, "unknown wrapper version");
    return ptx_of_data(head.data, ptx, error);
}

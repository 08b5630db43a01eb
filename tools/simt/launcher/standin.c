// Builds stand-in libraries as ELF images in memory.
#include "simt/launcher/standin.h"

#include <elf.h>
#include <string.h>

#include "simt/launcher/elf.h"

// The prefixes of each library's file name and of its functions.
static const struct {
    const char *file, *function;
} libraries[] = {
    {"libcuda.so", "cu"},        {"libnvrtc.so", "nvrtc"},       {"libnvJitLink.so", "nvJitLink"},
    {"libcublas.so", "cublas"},  {"libcublasLt.so", "cublasLt"}, {"libcudnn", "cudnn"},
    {"libcufftw", "fftw"},       {"libcufft", "cufft"},          {"libcurand.so", "curand"},
    {"libcusolver", "cusolver"}, {"libcusparse", "cusparse"},    {"libnpp", "npp"},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static const char *functions_of(Str soname) {
    for (size_t k = 0; k < LIBRARIES; k++)
        if (str_starts(soname, str_of(libraries[k].file))) return libraries[k].function;
    return NULL;
}

typedef struct {
    size_t left;
    Str found;
} Search;

static bool find_library(void *context, Str soname) {
    Search *search = context;
    if (!functions_of(soname)) return true;
    search->found = soname;
    return search->left-- > 0;
}

bool standin_needed(Str file, size_t number, Str *soname) {
    Search search = {.left = number};
    const bool all = elf_needed(file, find_library, &search);
    *soname = search.found;
    return !all;
}

// --- the imports of a library ---

typedef struct {
    Arena *arena;
    Str soname;
    Str prefix;
    ElfImport *imports;
    size_t count, capacity;
    Str *versions; // distinct versions of the imports
    size_t version_count, version_capacity;
} Standin;

// Driver API functions begin with "cu" and a capital letter.
static bool is_of(const Standin *standin, const ElfImport *import) {
    if (import->file.len) return str_equal(import->file, standin->soname);
    if (!str_starts(import->name, standin->prefix)) return false;
    const Str rest = str_from(import->name, standin->prefix.len);
    return !str_equal(standin->prefix, STR("cu")) || (rest.len && rest.at[0] < 'a');
}

static void add_import(void *context, const ElfImport *import) {
    Standin *standin = context;
    if (!is_of(standin, import)) return;
    ARENA_GROW(standin->arena, standin->imports, standin->count, standin->capacity);
    standin->imports[standin->count++] = *import;
    for (size_t k = 0; k < standin->version_count; k++)
        if (str_equal(standin->versions[k], import->version)) return;
    if (!import->version.len) return;
    ARENA_GROW(standin->arena, standin->versions, standin->version_count,
               standin->version_capacity);
    standin->versions[standin->version_count++] = import->version;
}

// The version index of a symbol: 1 means unversioned, 2 is the first version.
static Elf64_Half version_index(const Standin *standin, Str version) {
    for (size_t k = 0; k < standin->version_count; k++)
        if (str_equal(standin->versions[k], version)) return (Elf64_Half)(k + 2);
    return VER_NDX_GLOBAL;
}

// --- the image: code, then data ---

// The function that every stub jumps to, in simt/cuda/library.c.
static const char target[] = "__cudaSimtLibraryCall";

enum { PAGE = 4096, STUB = 16, HEADERS = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr) };

typedef struct {
    Buf out, strings;
    uint64_t symbols, names, hash, versions, definitions, relocation, code, code_end, slot, dynamic;
} Image;

static void add(Image *image, const void *record, size_t bytes) {
    buf_add(&image->out, (Str){record, bytes});
}

static uint64_t align(Image *image, size_t to) {
    while (image->out.len % to) buf_char(&image->out, '\0');
    return image->out.len;
}

static uint32_t add_name(Image *image, Str name) {
    const uint32_t at = (uint32_t)image->strings.len;
    buf_add(&image->strings, name);
    buf_char(&image->strings, '\0');
    return at;
}

// Symbol 0 is null, 1 is the target, and the functions follow. `names` receives their string
// offsets, which the stubs use too. Code and data positions are right in the second pass.
static void write_symbols(Image *image, const Standin *standin, uint32_t *names) {
    const Elf64_Sym none = {0};
    const Elf64_Sym to = {.st_name = add_name(image, str_of(target)),
                          .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
    image->symbols = align(image, 8);
    add(image, &none, sizeof none);
    add(image, &to, sizeof to);
    for (size_t k = 0; k < standin->count; k++) {
        names[k] = add_name(image, standin->imports[k].name);
        const Elf64_Sym symbol = {.st_name = names[k],
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = 1, // any defined section
                                  .st_value = image->code + k * STUB,
                                  .st_size = STUB};
        add(image, &symbol, sizeof symbol);
    }
}

// A single hash bucket is enough: a stand-in has few symbols.
static void write_hash(Image *image, const Standin *standin) {
    const uint32_t count = (uint32_t)standin->count + 2;
    const uint32_t head[] = {1, count, count > 2 ? 2 : 0, 0, 0};
    image->hash = align(image, 8);
    add(image, head, sizeof head);
    for (uint32_t k = 2; k < count; k++) {
        const uint32_t next = k + 1 < count ? k + 1 : 0;
        add(image, &next, sizeof next);
    }
}

static uint32_t version_hash(Str name) {
    uint32_t hash = 0;
    for (size_t i = 0; i < name.len; i++) {
        hash = (hash << 4) + (unsigned char)name.at[i];
        hash ^= (hash & 0xF0000000u) >> 24;
        hash &= 0x0FFFFFFFu;
    }
    return hash;
}

static void write_definition(Image *image, Str name, Elf64_Half number, bool last) {
    const Elf64_Verdef definition = {.vd_version = VER_DEF_CURRENT,
                                     .vd_flags = number == 1 ? VER_FLG_BASE : 0,
                                     .vd_ndx = number,
                                     .vd_cnt = 1,
                                     .vd_hash = version_hash(name),
                                     .vd_aux = sizeof definition,
                                     .vd_next =
                                         last ? 0 : sizeof definition + sizeof(Elf64_Verdaux)};
    const Elf64_Verdaux of = {.vda_name = add_name(image, name)};
    add(image, &definition, sizeof definition);
    add(image, &of, sizeof of);
}

static void write_versions(Image *image, const Standin *standin) {
    const Elf64_Half first[] = {VER_NDX_LOCAL, VER_NDX_GLOBAL};
    image->versions = align(image, 8);
    add(image, first, sizeof first);
    for (size_t k = 0; k < standin->count; k++) {
        const Elf64_Half index = version_index(standin, standin->imports[k].version);
        add(image, &index, sizeof index);
    }
    image->definitions = align(image, 8);
    write_definition(image, standin->soname, 1, standin->version_count == 0);
    for (size_t k = 0; k < standin->version_count; k++)
        write_definition(image, standin->versions[k], (Elf64_Half)(k + 2),
                         k + 1 == standin->version_count);
}

// Each stub is `lea NAME(%rip), %rsi; jmp *SLOT(%rip)`, which passes the function's name as the
// second argument.
static void write_code(Image *image, const Standin *standin, const uint32_t *names) {
    image->code = align(image, STUB);
    for (size_t k = 0; k < standin->count; k++) {
        const uint64_t at = image->code + k * STUB;
        const int32_t name = (int32_t)(image->names + names[k] - (at + 7));
        const int32_t slot = (int32_t)(image->slot - (at + 13));
        add(image, "\x48\x8D\x35", 3);
        add(image, &name, sizeof name);
        add(image, "\xFF\x25", 2);
        add(image, &slot, sizeof slot);
        add(image, "\xCC\xCC\xCC", 3);
    }
    image->code_end = image->out.len;
}

static void write_data(Image *image, const Standin *standin, uint32_t soname) {
    const uint64_t empty = 0;
    image->slot = align(image, PAGE);
    add(image, &empty, sizeof empty);
    image->dynamic = align(image, 16);
    const Elf64_Dyn entries[] = {{DT_SONAME, {soname}},
                                 {DT_HASH, {image->hash}},
                                 {DT_SYMTAB, {image->symbols}},
                                 {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                 {DT_STRTAB, {image->names}},
                                 {DT_STRSZ, {image->strings.len}},
                                 {DT_RELA, {image->relocation}},
                                 {DT_RELASZ, {sizeof(Elf64_Rela)}},
                                 {DT_RELAENT, {sizeof(Elf64_Rela)}},
                                 {DT_VERSYM, {image->versions}},
                                 {DT_VERDEF, {image->definitions}},
                                 {DT_VERDEFNUM, {standin->version_count + 1}},
                                 {DT_NULL, {0}}};
    add(image, entries, sizeof entries);
}

static void write_headers(Image *image, uint64_t end) {
    const Elf64_Ehdr header = {
        .e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 4};
    const uint64_t data = end - image->slot, dynamic = end - image->dynamic;
    const Elf64_Phdr segments[] = {
        {PT_LOAD, PF_R | PF_X, 0, 0, 0, image->code_end, image->code_end, PAGE},
        {PT_LOAD, PF_R | PF_W, image->slot, image->slot, image->slot, data, data, PAGE},
        {PT_DYNAMIC, PF_R | PF_W, image->dynamic, image->dynamic, image->dynamic, dynamic, dynamic,
         8},
        {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W}};
    add(image, &header, sizeof header);
    add(image, segments, sizeof segments);
}

// Writes the file with the positions found by the previous pass. After two passes they are right.
static void write_image(Image *image, const Standin *standin, uint32_t *names) {
    const uint64_t end = image->out.len;
    image->out.len = image->strings.len = 0;
    const uint32_t soname = (add_name(image, STR("")), add_name(image, standin->soname));
    write_headers(image, end);
    write_symbols(image, standin, names);
    write_hash(image, standin);
    write_versions(image, standin);
    image->relocation = align(image, 8);
    const Elf64_Rela to = {.r_offset = image->slot, .r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT)};
    add(image, &to, sizeof to);
    image->names = image->out.len;
    buf_add(&image->out, buf_str(&image->strings));
    write_code(image, standin, names);
    write_data(image, standin, soname);
}

Str standin_make(Arena *arena, Str file, Str soname) {
    Standin standin = {.arena = arena, .soname = soname, .prefix = str_of(functions_of(soname))};
    elf_imports(file, add_import, &standin);
    Image image = {.out = {.arena = arena}, .strings = {.arena = arena}};
    uint32_t *names = ARENA_NEW(arena, standin.count + 1, uint32_t);
    for (int pass = 0; pass < 2; pass++) write_image(&image, &standin, names);
    return buf_str(&image.out);
}

// Reads ELF files. Layout: Tool Interface Standard, ELF-64 Object File Format.
#include "simt/launcher/elf.h"

#include <elf.h>
#include <string.h>

typedef struct {
    Str file;
    Elf64_Ehdr header;
} Reader;

// Copies a record out of the file, where it may be at any alignment.
static bool get(Str file, uint64_t at, void *record, size_t bytes) {
    if (at > file.len || bytes > file.len - at) return false;
    memcpy(record, file.at + at, bytes);
    return true;
}

// The NUL-terminated string at a file position; empty if there is no NUL.
static Str string_at(Str file, uint64_t at) {
    Str rest = at < file.len ? str_from(file, at) : STR("");
    const char *end = rest.len ? memchr(rest.at, '\0', rest.len) : NULL;
    return end ? str_slice(rest, 0, (size_t)(end - rest.at)) : STR("");
}

static bool segment(const Reader *elf, uint32_t type, Elf64_Phdr *found) {
    for (uint64_t i = 0; i < elf->header.e_phnum; i++) {
        uint64_t at = elf->header.e_phoff + i * sizeof *found;
        if (at < elf->header.e_phoff || !get(elf->file, at, found, sizeof *found)) return false;
        if (found->p_type == type) return true;
    }
    return false;
}

// The file position of a virtual address; UINT64_MAX if no segment contains it.
static uint64_t file_position(const Reader *elf, uint64_t address) {
    for (uint64_t i = 0; i < elf->header.e_phnum; i++) {
        Elf64_Phdr load;
        uint64_t at = elf->header.e_phoff + i * sizeof load;
        if (at < elf->header.e_phoff || !get(elf->file, at, &load, sizeof load)) break;
        if (load.p_type == PT_LOAD && address - load.p_vaddr < load.p_filesz)
            return load.p_offset + (address - load.p_vaddr);
    }
    return UINT64_MAX;
}

static bool section_at(const Reader *elf, uint64_t index, Elf64_Shdr *section) {
    uint64_t table = elf->header.e_shoff;
    return table <= elf->file.len &&
           get(elf->file, table + index * sizeof *section, section, sizeof *section);
}

static bool find_section(const Reader *elf, Str name, Elf64_Shdr *section) {
    Elf64_Shdr names;
    if (!section_at(elf, elf->header.e_shstrndx, &names)) return false;
    for (uint64_t i = 0; i < elf->header.e_shnum; i++) {
        if (!section_at(elf, i, section) || names.sh_offset > elf->file.len) return false;
        Str found = string_at(elf->file, names.sh_offset + section->sh_name);
        if (str_equal(found, name)) return section->sh_size > 0;
    }
    return false;
}

// --- a statically linked runtime ---

// Includes local symbols, because the static runtime's functions are local in the program.
static void functions(const Reader *elf, void (*found)(void *context, Str name, uint64_t address),
                      void *context) {
    Elf64_Shdr symbols, names;
    if (!find_section(elf, STR(".symtab"), &symbols) || !section_at(elf, symbols.sh_link, &names) ||
        names.sh_offset > elf->file.len)
        return;
    Elf64_Sym symbol;
    for (uint64_t at = 0; at + sizeof symbol <= symbols.sh_size; at += sizeof symbol) {
        if (symbols.sh_offset > elf->file.len ||
            !get(elf->file, symbols.sh_offset + at, &symbol, sizeof symbol))
            return;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        Str name = string_at(elf->file, names.sh_offset + symbol.st_name);
        if (str_starts(name, STR("cuda")) || str_starts(name, STR("__cuda")))
            found(context, name, symbol.st_value);
    }
}

void elf_runtime_functions(Str file, void (*found)(void *context, Str name, uint64_t address),
                           void *context) {
    Reader elf = {.file = file};
    if (get(file, 0, &elf.header, sizeof elf.header)) functions(&elf, found, context);
}

typedef struct {
    bool registers, properties_v2;
} Inside;

static void note_function(void *context, Str name, uint64_t address) {
    (void)address;
    Inside *inside = context;
    inside->registers |= str_equal(name, STR("__cudaRegisterFatBinary"));
    inside->properties_v2 |= str_equal(name, STR("cudaGetDeviceProperties_v2"));
}

// Tells CUDA 12 from CUDA 13 by cudaGetDeviceProperties_v2, which CUDA 13 dropped.
static ElfKind inspect_static(const Reader *elf, ElfProgram *program) {
    Elf64_Phdr loader;
    Inside inside = {false, false};
    functions(elf, note_function, &inside);
    if (!inside.registers) return ELF_STRIPPED;
    if (!segment(elf, PT_INTERP, &loader)) return ELF_NO_LOADER;
    program->runtime = inside.properties_v2 ? STR("libcudart.so.12") : STR("libcudart.so.13");
    return ELF_STATIC;
}

// --- needed libraries ---

// Calls `found` with each needed soname until it returns false. Returns false if it did, or if the
// tables run past the end of the file; *fits tells which.
static bool each_needed(const Reader *elf, const Elf64_Phdr *dynamic,
                        bool (*found)(void *context, Str soname), void *context, bool *fits) {
    uint64_t strings = UINT64_MAX;
    Elf64_Dyn entry;
    const uint64_t end = dynamic->p_filesz / sizeof entry;
    *fits = false;
    for (uint64_t i = 0; i < end; i++) {
        if (!get(elf->file, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry))
            return false;
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_STRTAB) strings = file_position(elf, entry.d_un.d_ptr);
    }
    if (strings > elf->file.len) return false;
    *fits = true;
    for (uint64_t i = 0; i < end; i++) {
        get(elf->file, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > elf->file.len) continue;
        if (!found(context, string_at(elf->file, strings + entry.d_un.d_val))) return false;
    }
    return true;
}

bool elf_needed(Str file, bool (*found)(void *context, Str soname), void *context) {
    Reader elf = {.file = file};
    Elf64_Phdr dynamic;
    bool fits;
    if (!get(file, 0, &elf.header, sizeof elf.header) || !segment(&elf, PT_DYNAMIC, &dynamic))
        return true;
    return each_needed(&elf, &dynamic, found, context, &fits) || !fits;
}

// --- imports ---

// Fills in the version and the file of a version number; leaves both empty if the number is
// unknown.
static void find_version(const Reader *elf, const Elf64_Shdr *needs, uint64_t names,
                         Elf64_Half number, ElfImport *import) {
    Elf64_Verneed need;
    Elf64_Vernaux of;
    for (uint64_t at = needs->sh_offset; get(elf->file, at, &need, sizeof need);) {
        uint64_t next = at + need.vn_aux;
        for (unsigned k = 0; k < need.vn_cnt && get(elf->file, next, &of, sizeof of); k++) {
            if (of.vna_other == number) {
                import->version = string_at(elf->file, names + of.vna_name);
                import->file = string_at(elf->file, names + need.vn_file);
                return;
            }
            if (of.vna_next < sizeof of) break;
            next += of.vna_next;
        }
        if (need.vn_next < sizeof need) return;
        at += need.vn_next;
    }
}

void elf_imports(Str file, void (*found)(void *context, const ElfImport *import), void *context) {
    Reader elf = {.file = file};
    Elf64_Shdr symbols, names, versions, needs;
    Elf64_Sym symbol;
    if (!get(file, 0, &elf.header, sizeof elf.header) ||
        !find_section(&elf, STR(".dynsym"), &symbols) ||
        !section_at(&elf, symbols.sh_link, &names) || names.sh_offset > file.len)
        return;
    const bool has_versions = find_section(&elf, STR(".gnu.version"), &versions) &&
                              find_section(&elf, STR(".gnu.version_r"), &needs);
    for (uint64_t k = 0; k < symbols.sh_size / sizeof symbol; k++) {
        Elf64_Half number;
        if (!get(file, symbols.sh_offset + k * sizeof symbol, &symbol, sizeof symbol)) return;
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT) continue;
        ElfImport import = {.name = string_at(file, names.sh_offset + symbol.st_name)};
        if (has_versions &&
            get(file, versions.sh_offset + k * sizeof number, &number, sizeof number))
            find_version(&elf, &needs, names.sh_offset, number, &import);
        if (import.name.len) found(context, &import);
    }
}

// --- the kind of a program ---

typedef struct {
    ElfProgram *program;
    bool other_version;
} Needs;

static bool note_needed(void *context, Str name) {
    Needs *needs = context;
    if (!str_starts(name, STR("libcudart.so"))) return true;
    needs->program->runtime = name;
    needs->other_version =
        !str_equal(name, STR("libcudart.so.13")) && !str_equal(name, STR("libcudart.so.12"));
    return true;
}

// Reads the dynamic section. Returns false if its tables run past the end of the file.
static bool read_dynamic(const Reader *elf, const Elf64_Phdr *dynamic, ElfProgram *program,
                         bool *other_version) {
    Needs needs = {.program = program};
    bool rpath = false, runpath = false, fits;
    Elf64_Dyn entry;
    each_needed(elf, dynamic, note_needed, &needs, &fits);
    for (uint64_t i = 0; fits && i < dynamic->p_filesz / sizeof entry; i++) {
        get(elf->file, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_RPATH) rpath = true;
        if (entry.d_tag == DT_RUNPATH) runpath = true;
    }
    program->rpath = rpath && !runpath;
    *other_version = needs.other_version;
    return fits;
}

ElfKind elf_inspect(Str file, ElfProgram *program) {
    *program = (ElfProgram){.rpath = false};
    if (file.len < EI_NIDENT || memcmp(file.at, ELFMAG, SELFMAG) != 0) return ELF_NOT_ELF;
    if (file.at[EI_CLASS] == ELFCLASS32) return ELF_32_BIT;
    Reader elf = {.file = file};
    if (!get(file, 0, &elf.header, sizeof elf.header)) return ELF_CORRUPT;
    if (elf.header.e_machine != EM_X86_64) return ELF_MACHINE;
    if (elf.header.e_type != ET_EXEC && elf.header.e_type != ET_DYN) return ELF_NOT_CUDA;
    Elf64_Phdr dynamic;
    bool other_version = false;
    bool is_dynamic = segment(&elf, PT_DYNAMIC, &dynamic);
    if (is_dynamic && !read_dynamic(&elf, &dynamic, program, &other_version)) return ELF_CORRUPT;
    if (other_version) return ELF_RUNTIME;
    if (program->runtime.len) return ELF_CUDA;
    Elf64_Shdr fatbin;
    return find_section(&elf, STR(".nv_fatbin"), &fatbin) ? inspect_static(&elf, program)
                                                          : ELF_NOT_CUDA;
}

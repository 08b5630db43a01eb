// Finds the source line of an address in host code. Sources: DWARF 2 to 5, "Line Number
// Information", read from the executable, and its ELF symbol table.
#define _GNU_SOURCE
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "simt/program/runtime.h"
#include "simt/ptx/ptx.h"
#include "simt/report/name.h"

typedef struct {
    Str whole;
    Str lines, line_strings, strings; // .debug_line, .debug_line_str, .debug_str
    Str symbols, symbol_names;
} Program;

// --- sections ---

static Str bytes_of(Str whole, const Elf64_Shdr *section) {
    const bool there = section->sh_type != SHT_NOBITS && !(section->sh_flags & SHF_COMPRESSED);
    return there ? str_slice(whole, section->sh_offset, section->sh_offset + section->sh_size)
                 : (Str){0};
}

static bool section_at(Str whole, const Elf64_Ehdr *header, size_t number, Elf64_Shdr *section) {
    Str bytes = str_from(whole, header->e_shoff + number * sizeof *section);
    if (number >= header->e_shnum || bytes.len < sizeof *section) return false;
    memcpy(section, bytes.at, sizeof *section);
    return true;
}

static void read_sections(Program *program) {
    Elf64_Ehdr header;
    Elf64_Shdr names, section, linked;
    if (program->whole.len < sizeof header) return;
    memcpy(&header, program->whole.at, sizeof header);
    if (!section_at(program->whole, &header, header.e_shstrndx, &names)) return;
    const Str all_names = bytes_of(program->whole, &names);
    for (size_t k = 0; section_at(program->whole, &header, k, &section); k++) {
        const Str from = str_from(all_names, section.sh_name);
        const Str bytes = bytes_of(program->whole, &section);
        if (str_starts(from, STR(".debug_line\0"))) program->lines = bytes;
        if (str_starts(from, STR(".debug_line_str\0"))) program->line_strings = bytes;
        if (str_starts(from, STR(".debug_str\0"))) program->strings = bytes;
        if (section.sh_type != SHT_SYMTAB) continue;
        if (!section_at(program->whole, &header, section.sh_link, &linked)) continue;
        program->symbols = bytes;
        program->symbol_names = bytes_of(program->whole, &linked);
    }
}

static const Program *this_program(void) {
    static Program program;
    static bool tried;
    struct stat about;
    if (tried) return &program;
    tried = true;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return &program;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        void *at = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) program.whole = (Str){at, (size_t)about.st_size};
    }
    close(file);
    read_sections(&program);
    return &program;
}

// --- numbers and strings ---

static uint64_t fixed(Str *rest, size_t bytes) {
    uint64_t value = 0;
    for (size_t k = 0; k < bytes && k < rest->len && k < 8; k++)
        value |= (uint64_t)(unsigned char)rest->at[k] << 8 * k;
    *rest = str_from(*rest, bytes);
    return value;
}

static uint64_t leb(Str *rest, bool is_signed) {
    uint64_t value = 0;
    for (uint32_t shift = 0; rest->len;) {
        const uint64_t byte = fixed(rest, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
        if (byte & 128) continue;
        if (is_signed && byte & 64 && shift < 64) value |= ~(uint64_t)0 << shift;
        break;
    }
    return value;
}

static Str terminated(Str *rest) {
    const char *end = rest->len ? memchr(rest->at, '\0', rest->len) : NULL;
    const Str text = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    *rest = str_from(*rest, text.len + 1);
    return text;
}

static Str terminated_at(Str section, uint64_t offset) {
    Str rest = str_from(section, offset);
    return terminated(&rest);
}

// --- the files of a unit ---

typedef struct {
    Str text;
    uint64_t number;
} Field;

static Field read_field(const Program *program, Str *rest, uint64_t form) {
    enum { DATA2 = 5, DATA4 = 6, DATA8 = 7, STRING = 8, BLOCK, DATA1 = 11, STRP = 14, UDATA };
    enum { DATA16 = 30, LINE_STRP };
    switch (form) {
    case STRING:
        return (Field){.text = terminated(rest)};
    case STRP:
        return (Field){.text = terminated_at(program->strings, fixed(rest, 4))};
    case LINE_STRP:
        return (Field){.text = terminated_at(program->line_strings, fixed(rest, 4))};
    case UDATA:
        return (Field){.number = leb(rest, false)};
    case BLOCK:
        *rest = str_from(*rest, leb(rest, false));
        return (Field){.number = 0};
    default:
        break;
    }
    const size_t bytes = form == DATA1    ? 1
                         : form == DATA2  ? 2
                         : form == DATA4  ? 4
                         : form == DATA8  ? 8
                         : form == DATA16 ? 16
                                          : rest->len;
    return (Field){.number = fixed(rest, bytes)};
}

typedef struct {
    Str name;
    uint64_t folder;
} FileEntry;

// Reads a whole DWARF 5 list and returns entry number `wanted`, from 0.
static FileEntry read_list(const Program *program, Str *rest, uint64_t wanted) {
    enum { MOST_FIELDS = 8, PATH = 1, FOLDER = 2 };
    uint64_t content[MOST_FIELDS], form[MOST_FIELDS];
    FileEntry found = {{0}, 0};
    const uint64_t fields = fixed(rest, 1);
    for (uint64_t k = 0; k < fields && k < MOST_FIELDS; k++) {
        content[k] = leb(rest, false);
        form[k] = leb(rest, false);
    }
    const uint64_t count = fields && fields <= MOST_FIELDS ? leb(rest, false) : 0;
    for (uint64_t number = 0; number < count && rest->len; number++)
        for (uint64_t k = 0; k < fields; k++) {
            const Field field = read_field(program, rest, form[k]);
            if (number != wanted) continue;
            if (content[k] == PATH) found.name = field.text;
            if (content[k] == FOLDER) found.folder = field.number;
        }
    return found;
}

// The same for DWARF 2 to 4, which count from 1.
static FileEntry read_old_list(Str *rest, uint64_t wanted, bool folders) {
    FileEntry found = {{0}, 0};
    for (uint64_t number = 1; rest->len && rest->at[0]; number++) {
        FileEntry entry = {terminated(rest), 0};
        if (!folders) {
            entry.folder = leb(rest, false);
            leb(rest, false), leb(rest, false); // modification time and size
        }
        if (number == wanted) found = entry;
    }
    *rest = str_from(*rest, 1);
    return found;
}

typedef struct {
    Str files, program;
    uint64_t version;
    uint8_t step, range, first_special;
    int8_t base;
    uint8_t lengths[256];
} Unit;

static void write_file(const Program *program, const Unit *unit, uint64_t number, uint32_t line,
                       char *text, size_t size) {
    char path[512];
    FileEntry file, folder;
    Str rest = unit->files;
    if (unit->version >= 5) {
        read_list(program, &rest, 0);
        file = read_list(program, &rest, number);
        rest = unit->files;
        folder = read_list(program, &rest, file.folder);
    } else {
        read_old_list(&rest, 0, true);
        file = read_old_list(&rest, number, false);
        rest = unit->files;
        folder = read_old_list(&rest, file.folder, true);
    }
    if (!file.name.len) return;
    const bool whole = file.name.at[0] == '/' || !folder.name.len;
    snprintf(path, sizeof path, "%.*s%s%.*s", whole ? 0 : (int)folder.name.len,
             whole ? "" : folder.name.at, whole ? "" : "/", STR_ARG(file.name));
    snprintf(text, size, "%s:%u", ptx_short_path(path), line);
}

// --- rows ---

static bool read_header(Str *rest, Unit *unit) {
    const uint64_t length = fixed(rest, 4);
    Str body = str_slice(*rest, 0, length);
    *rest = str_from(*rest, length);
    *unit = (Unit){.version = fixed(&body, 2)};
    if (length == UINT32_MAX || unit->version < 2 || unit->version > 5) return false;
    if (unit->version >= 5) fixed(&body, 2); // sizes of an address and of a segment selector
    const uint64_t header = fixed(&body, 4);
    unit->program = str_from(body, header);
    unit->step = (uint8_t)fixed(&body, 1);
    if (unit->version >= 4) fixed(&body, 1);
    fixed(&body, 1);
    unit->base = (int8_t)fixed(&body, 1);
    unit->range = (uint8_t)fixed(&body, 1);
    unit->first_special = (uint8_t)fixed(&body, 1);
    for (uint32_t k = 1; k < unit->first_special; k++) unit->lengths[k] = (uint8_t)fixed(&body, 1);
    unit->files = body;
    return unit->range && unit->first_special;
}

typedef struct {
    uint64_t address, file;
    uint32_t line;
    bool ends;
} Row;

// Executes one opcode. Returns true if it adds a row.
static bool step(const Unit *unit, Str *rest, Row *row) {
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONSTANT_PC = 8, FIXED_PC };
    enum { END = 1, SET_ADDRESS };
    const uint64_t opcode = fixed(rest, 1);
    if (opcode >= unit->first_special) {
        const uint64_t special = opcode - unit->first_special;
        row->address += special / unit->range * unit->step;
        row->line += (uint32_t)(unit->base + (int)(special % unit->range));
        return true;
    }
    if (opcode == 0) {
        const uint64_t length = leb(rest, false);
        Str body = str_slice(*rest, 0, length);
        *rest = str_from(*rest, length);
        const uint64_t extended = fixed(&body, 1);
        if (extended == SET_ADDRESS) row->address = fixed(&body, 8);
        row->ends = extended == END;
        return row->ends;
    }
    if (opcode == COPY) return true;
    if (opcode == ADVANCE_PC)
        row->address += leb(rest, false) * unit->step;
    else if (opcode == ADVANCE_LINE)
        row->line += (uint32_t)leb(rest, true);
    else if (opcode == SET_FILE)
        row->file = leb(rest, false);
    else if (opcode == CONSTANT_PC)
        row->address += (255u - unit->first_special) / unit->range * unit->step;
    else if (opcode == FIXED_PC)
        row->address += fixed(rest, 2);
    else
        for (uint32_t k = 0; k < unit->lengths[opcode]; k++) leb(rest, false);
    return false;
}

// Finds the row of a unit that covers an address.
static bool find_row(const Unit *unit, uint64_t address, Row *found) {
    const Row start = {0, 1, 1, false};
    Row row = start, last = start;
    bool any = false;
    for (Str rest = unit->program; rest.len;) {
        if (!step(unit, &rest, &row)) continue;
        if (any && last.address <= address && address < row.address) {
            *found = last;
            return true;
        }
        any = !row.ends;
        last = row.ends ? start : row;
        if (row.ends) row = start;
    }
    return false;
}

static void find_line(const Program *program, uint64_t address, char *text, size_t size) {
    Unit unit;
    Row row;
    for (Str rest = program->lines; rest.len > 4 && !text[0];)
        if (read_header(&rest, &unit) && find_row(&unit, address, &row))
            write_file(program, &unit, row.file, row.line, text, size);
}

static void find_function(const Program *program, uint64_t address, char *text, size_t size) {
    char name[256];
    for (Str rest = program->symbols; rest.len >= sizeof(Elf64_Sym);) {
        Elf64_Sym symbol;
        memcpy(&symbol, rest.at, sizeof symbol);
        rest = str_from(rest, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        if (address - symbol.st_value >= symbol.st_size) continue;
        const Str mangled = terminated_at(program->symbol_names, symbol.st_name);
        if (mangled.len) snprintf(text, size, "%s()", name_kernel(mangled.at, name, sizeof name));
        return;
    }
}

// Called by dl_iterate_phdr: takes the load address of the program, which comes first.
static int find_base(struct dl_phdr_info *info, size_t bytes, void *base) {
    (void)bytes;
    *(uint64_t *)base = info->dlpi_addr;
    return 1;
}

// The templates of the toolkit are in cuda_runtime.h and vector_types.h. Where one is inlined, only
// the function is certain.
void host_line(uint64_t address, char *text, size_t size) {
    const Program *program = this_program();
    uint64_t base = 0;
    text[0] = '\0';
    dl_iterate_phdr(find_base, &base);
    find_line(program, address - base, text, size);
    if (strstr(text, "/cuda_runtime.h:") || strstr(text, "/vector_types.h:")) text[0] = '\0';
    if (!text[0]) find_function(program, address - base, text, size);
}

void host_line_of_call(char *text, size_t size) {
    enum { MOST = 32 };
    void *frames[MOST];
    host_line_of(frames, backtrace(frames, MOST), text, size);
}

// Whether this is the name of a template of the toolkit, such as cudaLaunchKernel<...>().
static bool of_toolkit(const char *text) {
    return strncmp(text, "cudaLaunch", 10) == 0 || strncmp(text, "cudaMemcpy", 10) == 0;
}

void host_line_of(void *const frames[], int count, char *text, size_t size) {
    text[0] = '\0';
    for (int k = 0; k < count && (!text[0] || of_toolkit(text)); k++)
        host_line((uint64_t)(uintptr_t)frames[k] - 1, text, size);
}

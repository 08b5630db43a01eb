// Reads .debug_line. DWARF 2 or 3, section 6.2, which are the same for what is read here: ptxas
// writes 3 since CUDA 13.5. NVIDIA adds the extended opcode 0x90: it gives the row of the sequence,
// counted from 1, of the line into which the next row was inlined. See lines.h.
#include "simt/sass/lines.h"

#include <string.h>

enum {
    STANDARD_COPY = 1,
    STANDARD_ADVANCE_PC,
    STANDARD_ADVANCE_LINE,
    STANDARD_SET_FILE,
    STANDARD_SET_COLUMN,
    STANDARD_NEGATE,
    STANDARD_BLOCK,
    STANDARD_CONSTANT_PC,
    STANDARD_FIXED_PC,
    EXTENDED_END = 1,
    EXTENDED_SET_ADDRESS,
    EXTENDED_INLINED = 0x90,
    INSTRUCTION = 16,
};

typedef struct {
    uint64_t address;
    PtxPlace place;
    uint32_t context; // the row that it was inlined into, 0: none
} Row;

struct Lines {
    Str section, program;
    uint32_t relocations; // their section, 0: none
    uint8_t step, range, first_special;
    int8_t base;
    uint8_t lengths[256]; // operands of standard opcodes
    // The sequence being read.
    Row *rows;
    size_t count, capacity;
};

static uint64_t fixed(Str *rest, size_t bytes) {
    uint64_t value = 0;
    for (size_t k = 0; k < bytes && k < rest->len; k++)
        value |= (uint64_t)(unsigned char)rest->at[k] << 8 * k;
    *rest = str_from(*rest, bytes);
    return value;
}

static uint64_t leb(Str *rest) {
    uint64_t value = 0;
    for (uint32_t shift = 0; rest->len; shift += 7) {
        const uint64_t byte = fixed(rest, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        if (!(byte & 128)) break;
    }
    return value;
}

static int64_t signed_leb(Str *rest) {
    uint64_t value = 0;
    for (uint32_t shift = 0; rest->len;) {
        const uint64_t byte = fixed(rest, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
        if (byte & 128) continue;
        if (byte & 64 && shift < 64) value |= ~0ull << shift;
        break;
    }
    return (int64_t)value;
}

static Str terminated(Str *rest) {
    const char *end = rest->len ? memchr(rest->at, '\0', rest->len) : NULL;
    Str text = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    *rest = str_from(*rest, text.len + 1);
    return text;
}

static void read_files(Cubin *cubin, Str header) {
    Str *folders = NULL;
    size_t folder_count = 0, folder_capacity = 0;
    PtxModule *module = cubin->module;
    size_t capacity = 0;
    char **files = NULL;
    while (header.len && header.at[0]) {
        ARENA_GROW(cubin->arena, folders, folder_count, folder_capacity);
        folders[folder_count++] = terminated(&header);
    }
    header = str_from(header, 1);
    size_t count = 0;
    ARENA_GROW(cubin->arena, files, count, capacity);
    files[count++] = NULL;
    while (header.len && header.at[0]) {
        Str name = terminated(&header);
        const uint64_t folder = leb(&header);
        leb(&header), leb(&header); // time of change, size
        Buf path = {.arena = cubin->arena};
        if (folder && folder <= folder_count && name.len && name.at[0] != '/')
            buf_format(&path, "%.*s/", STR_ARG(folders[folder - 1]));
        buf_add(&path, name);
        ARENA_GROW(cubin->arena, files, count, capacity);
        files[count++] = str_terminated(cubin->arena, buf_str(&path));
    }
    module->files = files;
    module->file_short = ARENA_NEW(cubin->arena, count, char *);
    module->file_count = (uint32_t)count;
    for (size_t k = 1; k < count; k++) module->file_short[k] = ptx_short_path(files[k]);
}

void lines_open(Cubin *cubin) {
    const uint32_t section = cubin_find(cubin, STR(".debug_line"), STR(""));
    if (!section) return;
    Lines *lines = ARENA_NEW(cubin->arena, 1, Lines);
    lines->section = cubin_bytes(cubin, section);
    lines->relocations = cubin_find(cubin, STR(".rela.debug_line"), STR(""));
    Str rest = lines->section;
    const uint64_t length = fixed(&rest, 4), version = fixed(&rest, 2), header = fixed(&rest, 4);
    if (version < 2 || version > 3 || length > lines->section.len || header > rest.len) return;
    lines->program = str_from(rest, header);
    lines->step = (uint8_t)fixed(&rest, 1);
    fixed(&rest, 1);
    lines->base = (int8_t)fixed(&rest, 1);
    lines->range = (uint8_t)fixed(&rest, 1);
    lines->first_special = (uint8_t)fixed(&rest, 1);
    for (uint32_t k = 1; k < lines->first_special; k++)
        lines->lengths[k] = (uint8_t)fixed(&rest, 1);
    read_files(cubin, rest);
    if (lines->range && lines->first_special) cubin->lines = lines;
}

// The symbol whose address is at this place of the section; 0: none.
static uint64_t symbol_at(const Cubin *cubin, const char *place) {
    const Lines *lines = cubin->lines;
    if (!lines->relocations) return 0;
    const uint64_t offset = (uint64_t)(place - lines->section.at);
    Str bytes = cubin_bytes(cubin, lines->relocations);
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.len; at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        memcpy(&relocation, bytes.at + at, sizeof relocation);
        if (relocation.r_offset == offset) return ELF64_R_SYM(relocation.r_info);
    }
    return 0;
}

static bool users(const PtxModule *module, PtxPlace place) {
    return place.file < module->file_count && module->files[place.file] &&
           !ptx_toolkit_file(module->files[place.file]);
}

// Charges code that was inlined from the toolkit's headers to the user's line into which it was
// inlined.
static void charge(const PtxModule *module, const Lines *lines, Row row, PtxInst *inst) {
    inst->place = row.place;
    inst->call = (PtxPlace){0, 0};
    uint32_t last = UINT32_MAX; // a row is inlined into earlier ones
    while (row.context && row.context < last && row.context <= lines->count) {
        last = row.context;
        const bool mine = users(module, inst->place);
        row = lines->rows[row.context - 1];
        if (!mine) inst->place = row.place;
        inst->call = row.place;
    }
    if (inst->call.line == inst->place.line && inst->call.file == inst->place.file)
        inst->call.line = 0;
}

static void place_rows(Cubin *cubin, PtxFunction *function) {
    const Lines *lines = cubin->lines;
    for (size_t k = 0; k < lines->count; k++) {
        const Row row = lines->rows[k];
        const uint64_t first = row.address / INSTRUCTION;
        const bool replaced = k + 1 < lines->count && lines->rows[k + 1].address == row.address;
        if (replaced || first >= function->inst_count) continue;
        const uint64_t end =
            k + 1 < lines->count ? lines->rows[k + 1].address / INSTRUCTION : function->inst_count;
        for (uint64_t at = first; at < end && at < function->inst_count; at++)
            charge(cubin->module, lines, row, &function->insts[at]);
    }
}

// Executes one step of the line program; *symbol is the sequence's symbol. False at the end of the
// sequence.
static bool step(Cubin *cubin, Str *rest, Row *row, uint64_t *symbol) {
    Lines *lines = cubin->lines;
    const uint64_t opcode = fixed(rest, 1);
    bool emits = opcode == STANDARD_COPY;
    if (opcode >= lines->first_special) {
        const uint64_t special = opcode - lines->first_special;
        row->address += special / lines->range * lines->step;
        row->place.line += (uint32_t)(lines->base + (int)(special % lines->range));
        emits = true;
    } else if (opcode == 0) {
        const uint64_t length = leb(rest);
        Str body = str_slice(*rest, 0, length);
        *rest = str_from(*rest, length);
        const uint64_t extended = fixed(&body, 1);
        if (extended == EXTENDED_END) return false;
        if (extended == EXTENDED_SET_ADDRESS) {
            *symbol = symbol_at(cubin, body.at);
            row->address = *symbol ? 0 : fixed(&body, 8);
        }
        if (extended == EXTENDED_INLINED) row->context = (uint32_t)leb(&body);
    } else if (opcode == STANDARD_ADVANCE_PC) {
        row->address += leb(rest) * lines->step;
    } else if (opcode == STANDARD_ADVANCE_LINE) {
        row->place.line += (uint32_t)signed_leb(rest);
    } else if (opcode == STANDARD_SET_FILE) {
        row->place.file = (uint32_t)leb(rest);
        row->context = 0;
    } else if (opcode == STANDARD_CONSTANT_PC) {
        row->address += (255u - lines->first_special) / lines->range * lines->step;
    } else if (opcode == STANDARD_FIXED_PC) {
        row->address += fixed(rest, 2);
    } else if (!emits) {
        for (uint32_t k = 0; k < lines->lengths[opcode]; k++) leb(rest);
    }
    if (!emits) return true;
    ARENA_GROW(cubin->arena, lines->rows, lines->count, lines->capacity);
    lines->rows[lines->count++] = *row;
    row->context = 0;
    return true;
}

void lines_read(Cubin *cubin, PtxFunction *function, uint32_t symbol) {
    if (!cubin->lines) return;
    Str rest = cubin->lines->program;
    while (rest.len) {
        Row row = {.place = {1, 1}};
        uint64_t of = 0;
        cubin->lines->count = 0;
        while (rest.len && step(cubin, &rest, &row, &of)) continue;
        if (of == symbol) place_rows(cubin, function);
    }
}

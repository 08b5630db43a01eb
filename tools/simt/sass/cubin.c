// Reads cubins. ELF: "System V Application Binary Interface", chapter 4. NVIDIA's additions
// (sections .nv.*, attributes EIATTR_*) were derived from cubins and the output of cuobjdump -elf
// for them. See cubin.h.
#include "simt/sass/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "simt/ops/sass.h"
#include "simt/sass/lines.h"
#include "simt/sass/reader.h"

enum {
    MACHINE_CUDA = 190,
    RELOCATION_64 = 2,      // R_CUDA_64
    RELOCATION_GENERIC = 4, // R_CUDA_G64: the same for a generic address
    // .nv.info: a byte of format, a byte of attribute, two of size or value.
    FORMAT_SIZED = 4,
    ATTRIBUTE_MAX_THREADS = 0x05,
    ATTRIBUTE_BANK = 0x0a, // of the parameters: start and size
    ATTRIBUTE_REQUIRED = 0x10,
    ATTRIBUTE_FRAME_SIZE = 0x11,
    ATTRIBUTE_PARAMETER = 0x17,
    ATTRIBUTE_REGISTERS = 0x2f,
    ATTRIBUTE_CLUSTER = 0x3d,
    ATTRIBUTE_MAX_CLUSTER = 0x3e,
    MOST_PARAMETERS = 4096,
    MANAGED_SYMBOL = 4, // STO_CUDA_MANAGED, in the upper bits of st_other
};

static bool wrong(Cubin *cubin, const char *what) {
    snprintf(cubin->error->text, sizeof cubin->error->text,
             "%.200s: the machine code is damaged: %s", cubin->origin, what);
    *cubin->status = SIMT_INVALID_PTX;
    return false;
}

// --- sections and symbols ---

static bool read_sections(Cubin *cubin) {
    Elf64_Ehdr head;
    if (cubin->file.len < sizeof head) return wrong(cubin, "it is shorter than its header");
    memcpy(&head, cubin->file.at, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != MACHINE_CUDA)
        return wrong(cubin, "it is no ELF file for CUDA");
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > cubin->file.len ||
        (cubin->file.len - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum ||
        head.e_shstrndx >= head.e_shnum)
        return wrong(cubin, "its sections do not fit");
    cubin->count = head.e_shnum;
    cubin->sections = ARENA_NEW(cubin->arena, head.e_shnum, Elf64_Shdr);
    memcpy(cubin->sections, cubin->file.at + head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr));
    for (uint32_t k = 0; k < cubin->count; k++) {
        const Elf64_Shdr *section = &cubin->sections[k];
        if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
            (section->sh_offset > cubin->file.len ||
             section->sh_size > cubin->file.len - section->sh_offset))
            return wrong(cubin, "a section does not fit");
    }
    cubin->names = cubin_bytes(cubin, head.e_shstrndx);
    for (uint32_t k = 0; k < cubin->count; k++) {
        if (cubin->sections[k].sh_type != SHT_SYMTAB) continue;
        if (cubin->sections[k].sh_link >= cubin->count)
            return wrong(cubin, "symbols without names");
        cubin->symbols = cubin_bytes(cubin, k);
        cubin->symbol_names = cubin_bytes(cubin, cubin->sections[k].sh_link);
    }
    return true;
}

Str cubin_bytes(const Cubin *cubin, uint32_t section) {
    const Elf64_Shdr *head = &cubin->sections[section];
    if (head->sh_type == SHT_NOBITS || head->sh_type == SHT_NULL) return (Str){"", 0};
    return (Str){cubin->file.at + head->sh_offset, head->sh_size};
}

static Str name_at(Str names, uint32_t at) {
    Str rest = str_from(names, at);
    const char *end = rest.len ? memchr(rest.at, '\0', rest.len) : NULL;
    return (Str){rest.at, end ? (size_t)(end - rest.at) : 0};
}

static Str section_name(const Cubin *cubin, uint32_t section) {
    return name_at(cubin->names, cubin->sections[section].sh_name);
}

static bool symbol_at(const Cubin *cubin, uint64_t index, Elf64_Sym *symbol) {
    if (index >= cubin->symbols.len / sizeof *symbol) return false;
    memcpy(symbol, cubin->symbols.at + index * sizeof *symbol, sizeof *symbol);
    return true;
}

static Str symbol_name(const Cubin *cubin, const Elf64_Sym *symbol) {
    return name_at(cubin->symbol_names, symbol->st_name);
}

uint32_t cubin_find(const Cubin *cubin, Str prefix, Str name) {
    for (uint32_t k = 1; k < cubin->count; k++) {
        Str own = section_name(cubin, k);
        if (str_starts(own, prefix) && str_equal(str_from(own, prefix.len), name)) return k;
    }
    return 0;
}

static uint32_t word_at(Str bytes, size_t at) {
    uint32_t value = 0;
    if (at + sizeof value <= bytes.len) memcpy(&value, bytes.at + at, sizeof value);
    return value;
}

// --- variables ---

static PtxVariable *add_variable(Cubin *cubin, Str name, PtxSpace space, uint64_t bytes) {
    PtxModule *module = cubin->module;
    PtxVariable *variable = ARENA_NEW(cubin->arena, 1, PtxVariable);
    *variable = (PtxVariable){.name = name, .space = space, .type = PTX_B8, .bytes = bytes};
    ARENA_GROW(cubin->arena, module->variables, module->variable_count, cubin->variable_capacity);
    module->variables[module->variable_count++] = variable;
    return variable;
}

static void set_data(PtxVariable *variable, Cubin *cubin, Str data) {
    if (!data.len) return;
    variable->data = ARENA_NEW(cubin->arena, data.len, uint8_t);
    variable->data_bytes = data.len;
    memcpy(variable->data, data.at, data.len);
}

// Stores the address of a function outside the cubin, such as malloc or vprintf.
static void set_outside(Cubin *cubin, PtxVariable *variable, uint64_t at, Str name) {
    SassModule *machine = cubin->machine;
    size_t index = 0;
    while (index < machine->outside_count && !str_equal(machine->outside[index], name)) index++;
    if (index == machine->outside_count) {
        ARENA_GROW(cubin->arena, machine->outside, machine->outside_count,
                   machine->outside_capacity);
        machine->outside[machine->outside_count++] = name;
    }
    const uint64_t address = sass_outside(index);
    if (at + sizeof address <= variable->data_bytes)
        memcpy(variable->data + at, &address, sizeof address);
}

// Adds a section's relocations to the variables that contain them.
static bool add_references(Cubin *cubin, uint32_t section, PtxVariable *variable, uint64_t start) {
    for (uint32_t k = 1; k < cubin->count; k++) {
        const Elf64_Shdr *head = &cubin->sections[k];
        if (head->sh_type != SHT_RELA || head->sh_info != section) continue;
        Str bytes = cubin_bytes(cubin, k);
        for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.len; at += sizeof(Elf64_Rela)) {
            Elf64_Rela relocation;
            Elf64_Sym symbol;
            memcpy(&relocation, bytes.at + at, sizeof relocation);
            const uint64_t kind = ELF64_R_TYPE(relocation.r_info);
            if (relocation.r_offset < start || relocation.r_offset - start >= variable->bytes)
                continue;
            if (!symbol_at(cubin, ELF64_R_SYM(relocation.r_info), &symbol))
                return wrong(cubin, "a relocation names no symbol");
            if (kind != RELOCATION_64 && kind != RELOCATION_GENERIC)
                return wrong(cubin, "a relocation of an unknown kind");
            if (symbol.st_shndx == SHN_UNDEF && symbol.st_name) {
                set_outside(cubin, variable, relocation.r_offset - start,
                            symbol_name(cubin, &symbol));
                continue;
            }
            ARENA_GROW(cubin->arena, variable->references, variable->reference_count,
                       variable->reference_capacity);
            variable->references[variable->reference_count++] =
                (PtxReference){.offset = relocation.r_offset - start,
                               .bytes = 8,
                               .symbol = symbol_name(cubin, &symbol),
                               .addend = relocation.r_addend};
        }
    }
    return true;
}

// Reads a section as one variable, so that its parts keep their offsets and accesses touch as many
// sectors as on hardware.
static PtxVariable *read_whole(Cubin *cubin, uint32_t section, PtxSpace space) {
    const uint64_t bytes = cubin->sections[section].sh_size;
    PtxVariable *whole = add_variable(cubin, section_name(cubin, section), space, bytes);
    whole->align = 256;
    set_data(whole, cubin, cubin_bytes(cubin, section));
    return whole;
}

static void add_part(Cubin *cubin, const Elf64_Sym *symbol, PtxVariable *whole) {
    if (symbol->st_value > whole->bytes || symbol->st_size > whole->bytes - symbol->st_value)
        return;
    PtxVariable *part =
        add_variable(cubin, symbol_name(cubin, symbol), whole->space, symbol->st_size);
    part->external = true; // it is placed with the whole
    part->whole = whole;
    part->offset = symbol->st_value;
}

// Managed variables are placed separately.
static bool read_managed(Cubin *cubin, uint32_t section, const Elf64_Sym *symbol) {
    PtxVariable *variable =
        add_variable(cubin, symbol_name(cubin, symbol), PTX_GLOBAL, symbol->st_size);
    variable->align = (uint32_t)cubin->sections[section].sh_addralign;
    variable->managed = true;
    set_data(variable, cubin,
             str_slice(cubin_bytes(cubin, section), symbol->st_value,
                       symbol->st_value + symbol->st_size));
    return add_references(cubin, section, variable, symbol->st_value);
}

// Reads the variables of .nv.global and .nv.global.init.
static bool read_globals(Cubin *cubin, uint32_t section) {
    PtxVariable *whole = read_whole(cubin, section, PTX_GLOBAL);
    Elf64_Sym symbol;
    for (uint64_t k = 0; symbol_at(cubin, k, &symbol); k++) {
        if (symbol.st_shndx != section || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
        if (symbol.st_other >> 5 != MANAGED_SYMBOL)
            add_part(cubin, &symbol, whole);
        else if (!read_managed(cubin, section, &symbol))
            return false;
    }
    return add_references(cubin, section, whole, 0);
}

// A constant bank is one variable; the variables in it are named as well.
static bool read_bank(Cubin *cubin, SassModule *module, uint32_t section, uint32_t bank) {
    PtxVariable *whole = read_whole(cubin, section, PTX_CONST);
    module->banks[bank] = whole;
    Elf64_Sym symbol;
    for (uint64_t k = 0; symbol_at(cubin, k, &symbol); k++)
        if (symbol.st_shndx == section && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
            add_part(cubin, &symbol, whole);
    return add_references(cubin, section, whole, 0);
}

static bool read_variables(Cubin *cubin, SassModule *module) {
    for (uint32_t k = 1; k < cubin->count; k++) {
        Str name = section_name(cubin, k), prefix = STR(".nv.constant");
        if (str_equal(name, STR(".nv.global")) || str_equal(name, STR(".nv.global.init"))) {
            if (!read_globals(cubin, k)) return false;
        } else if (str_starts(name, prefix) && name.len == prefix.len + 1) {
            if (!read_bank(cubin, module, k, (uint32_t)(name.at[prefix.len] - '0') % 10))
                return false;
        }
    }
    return true;
}

// --- functions ---

static void read_parameter(PtxFunction *function, Str value) {
    const uint32_t place = word_at(value, 4), size = word_at(value, 8);
    const uint32_t index = place & 0xffff;
    if (index >= MOST_PARAMETERS) return;
    PtxVariable *parameter = &function->params[index];
    *parameter = (PtxVariable){.space = PTX_PARAM,
                               .type = PTX_B8,
                               .bytes = size >> 18,
                               .offset = SASS_PARAMETERS + (place >> 16)};
    if (index + 1 > function->param_count) function->param_count = index + 1;
    const uint32_t end = (uint32_t)(parameter->offset + parameter->bytes);
    if (end > function->param_bytes) function->param_bytes = end;
}

static Dim3 shape_at(Str value) {
    return (Dim3){word_at(value, 0), word_at(value, 4), word_at(value, 8)};
}

static void read_attribute(PtxFunction *function, SassFunction *machine, uint32_t attribute,
                           Str value) {
    Dim3 shape = shape_at(value);
    switch (attribute) {
    case ATTRIBUTE_PARAMETER:
        read_parameter(function, value);
        break;
    case ATTRIBUTE_BANK:
        machine->param_end = (word_at(value, 4) & 0xffff) + (word_at(value, 4) >> 16);
        break;
    case ATTRIBUTE_MAX_THREADS:
        function->max_threads = shape.x * shape.y * shape.z;
        break;
    case ATTRIBUTE_REQUIRED:
        function->required = shape;
        break;
    case ATTRIBUTE_CLUSTER:
        function->cluster = shape;
        machine->uses_clusters = true;
        break;
    case ATTRIBUTE_MAX_CLUSTER:
        function->max_cluster = shape.x;
        break;
    default:
        break;
    }
}

// Reads the attributes of one section. `symbol` selects those of one symbol in the file's section,
// 0: all.
static void read_info(Cubin *cubin, uint32_t section, uint32_t symbol, PtxFunction *function,
                      SassFunction *machine) {
    Str rest = cubin_bytes(cubin, section);
    while (rest.len >= 4) {
        const uint32_t head = word_at(rest, 0), format = head & 255, attribute = head >> 8 & 255;
        const size_t size = format == FORMAT_SIZED ? head >> 16 : 0;
        Str value = str_slice(rest, 4, 4 + size);
        rest = str_from(rest, 4 + size);
        if (!symbol)
            read_attribute(function, machine, attribute, value);
        else if (attribute == ATTRIBUTE_REGISTERS && word_at(value, 0) == symbol)
            machine->registers = word_at(value, 4);
        else if (attribute == ATTRIBUTE_FRAME_SIZE && word_at(value, 0) == symbol)
            function->local_bytes = word_at(value, 4);
    }
}

// The symbol of the kernel whose code is in this section; 0: none.
static uint32_t find_entry(const Cubin *cubin, uint32_t section, Str name) {
    Elf64_Sym symbol;
    for (uint32_t k = 1; symbol_at(cubin, k, &symbol); k++)
        if (symbol.st_shndx == section && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            str_equal(symbol_name(cubin, &symbol), name))
            return k;
    return 0;
}

static void read_text(Cubin *cubin, PtxFunction *function, SassFunction *machine, uint32_t symbol) {
    function->inst_count = (uint32_t)(machine->code.len / SASS_BYTES);
    function->insts = ARENA_NEW(cubin->arena, function->inst_count + 1u, PtxInst);
    function->ptx_line = 0;
    Buf text = {.arena = cubin->arena};
    for (uint32_t k = 0; k < function->inst_count; k++) {
        SassInst inst;
        SassWord word;
        Buf opcode = {.arena = cubin->arena};
        memcpy(&word, machine->code.at + k * SASS_BYTES, sizeof word);
        buf_format(&text, "/*%04x*/ ", k * SASS_BYTES);
        if (sass_decode(word, k * SASS_BYTES, &inst)) {
            sass_write(&inst, &text);
            sass_write_opcode(&inst, &opcode);
            machine->uses_clusters |= sass_is(&inst, SASS_CLUSTER);
            function->releases |= inst.op == SASS_PREEXIT;
        } else {
            buf_format(&opcode, "%s 0x%016llx%016llx",
                       inst.op ? sass_opcodes[inst.op].name : "unknown opcode",
                       (unsigned long long)word.high, (unsigned long long)word.low);
            buf_add(&text, buf_str(&opcode));
        }
        buf_char(&text, '\n');
        function->insts[k] = (PtxInst){.text = buf_str(&opcode), .guard = PTX_NONE, .ptx_line = k};
    }
    function->text = buf_str(&text);
    lines_read(cubin, function, symbol);
}

static bool has_relocations(const Cubin *cubin, uint32_t section) {
    for (uint32_t k = 1; k < cubin->count; k++) {
        const Elf64_Shdr *head = &cubin->sections[k];
        if ((head->sh_type == SHT_RELA || head->sh_type == SHT_REL) && head->sh_info == section &&
            head->sh_size)
            return true;
    }
    return false;
}

// Whether the parameters do not overlap and end where the attributes say.
static bool parameters_fit(const PtxFunction *function, const SassFunction *machine) {
    uint64_t end = SASS_PARAMETERS;
    for (uint32_t k = 0; k < function->param_count; k++) {
        const PtxVariable *parameter = &function->params[k];
        if (!parameter->bytes || parameter->offset < end) return false;
        end = parameter->offset + parameter->bytes;
    }
    return !function->param_count || end == machine->param_end;
}

static bool read_function(Cubin *cubin, SassModule *module, uint32_t section) {
    Str name = str_from(section_name(cubin, section), STR(".text.").len);
    const uint32_t symbol = find_entry(cubin, section, name);
    PtxModule *ptx = module->module;
    PtxFunction *function = &ptx->functions[ptx->function_count];
    SassFunction *machine = &module->functions[ptx->function_count++];
    *machine =
        (SassFunction){.code = cubin_bytes(cubin, section), .shared_bytes = SASS_SHARED_RESERVED};
    *function = (PtxFunction){.name = name,
                              .entry = symbol,
                              .defined = true,
                              .params = ARENA_NEW(cubin->arena, MOST_PARAMETERS, PtxVariable),
                              .param_bytes = SASS_PARAMETERS};
    const uint32_t shared = cubin_find(cubin, STR(".nv.shared."), name);
    if (shared && cubin->sections[shared].sh_size > SASS_SHARED_RESERVED)
        machine->shared_bytes = (uint32_t)cubin->sections[shared].sh_size;
    const uint32_t own = cubin_find(cubin, STR(".nv.info."), name);
    const uint32_t all = cubin_find(cubin, STR(".nv.info"), STR(""));
    if (own) read_info(cubin, own, 0, function, machine);
    if (all && symbol) read_info(cubin, all, symbol, function, machine);
    if (!parameters_fit(function, machine)) return wrong(cubin, "its parameters do not fit");
    const uint32_t table = cubin_find(cubin, STR(".nv.constant2."), name);
    if (table) machine->table = read_whole(cubin, table, PTX_CONST);
    if (has_relocations(cubin, section) || (table && has_relocations(cubin, table)))
        machine->relocated = true;
    read_text(cubin, function, machine, symbol);
    return true;
}

static bool read_functions(Cubin *cubin, SassModule *module) {
    uint32_t count = 0;
    for (uint32_t k = 1; k < cubin->count; k++)
        count += str_starts(section_name(cubin, k), STR(".text."));
    module->functions = ARENA_NEW(cubin->arena, count + 1, SassFunction);
    module->module->functions = ARENA_NEW(cubin->arena, count + 1, PtxFunction);
    for (uint32_t k = 1; k < cubin->count; k++)
        if (str_starts(section_name(cubin, k), STR(".text.")) && !read_function(cubin, module, k))
            return false;
    return true;
}

bool sass_read(Arena *arena, Str file, const char *origin, SassModule *module, SimtStatus *status,
               SimtError *error) {
    PtxModule *ptx = ARENA_NEW(arena, 1, PtxModule);
    *ptx = (PtxModule){.origin = origin, .version = 0, .target = 90};
    *module = (SassModule){.module = ptx};
    Cubin cubin = {.arena = arena,
                   .file = file,
                   .origin = origin,
                   .module = ptx,
                   .machine = module,
                   .status = status,
                   .error = error};
    *status = SIMT_OK;
    if (!read_sections(&cubin)) return false;
    lines_open(&cubin);
    return read_variables(&cubin, module) && read_functions(&cubin, module);
}

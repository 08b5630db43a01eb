// Implements simt --opcodes: see launcher.h.
#include "simt/sass/opcodes.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/launcher/launcher.h"
#include "simt/program/fatbin.h"
#include "simt/sass/inst.h"
#include "simt/sass/table.h"

typedef struct {
    uint32_t encodings[SASS_OPCODE_COUNT];
    unsigned long long seen[SASS_OPCODE_COUNT];
    unsigned long long unknown;
} Census;

static void count_code(Census *census, Str code) {
    for (size_t at = 0; at + SASS_BYTES <= code.len; at += SASS_BYTES) {
        SassWord word;
        SassInst inst;
        memcpy(&word, code.at + at, sizeof word);
        if (sass_decode(word, at, &inst))
            census->seen[inst.op]++;
        else
            census->unknown++;
    }
}

// Counts the instructions of a cubin's executable sections. Returns false if it is no cubin.
static bool count_cubin(Census *census, Str cubin) {
    Elf64_Ehdr head;
    if (cubin.len < sizeof head) return false;
    memcpy(&head, cubin.at, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shoff > cubin.len ||
        (cubin.len - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum)
        return false;
    for (uint32_t k = 0; k < head.e_shnum; k++) {
        Elf64_Shdr section;
        memcpy(&section, cubin.at + head.e_shoff + k * sizeof section, sizeof section);
        if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR)) continue;
        if (section.sh_offset > cubin.len || section.sh_size > cubin.len - section.sh_offset)
            return false;
        count_code(census,
                   str_slice(cubin, section.sh_offset, section.sh_offset + section.sh_size));
    }
    return true;
}

// Counts the instructions of all fat binaries in the file. A stray magic number is skipped.
static bool count_program(Census *census, Str file) {
    static const char magic[] = {0x50, (char)0xed, 0x55, (char)0xba};
    bool any = false;
    Str rest = file;
    for (;;) {
        const size_t at = str_find(rest, (Str){magic, sizeof magic});
        if (at == SIZE_MAX) return any;
        rest = str_from(rest, at);
        FatbinPtx packed = {.payload = {NULL, 0}};
        SimtError error;
        Str cubin;
        if (fatbin_machine(rest, &packed, &error) == FATBIN_OK &&
            unpack_machine(&packed, &cubin, &error) == SIMT_OK)
            any |= count_cubin(census, cubin);
        rest = str_from(rest, sizeof magic);
    }
}

static int by_name(const void *left, const void *right) {
    const SassOpcode *a = left, *b = right;
    return strcmp(sass_opcodes[*a].name, sass_opcodes[*b].name);
}

bool opcodes_write(Str file) {
    static const char *const evidence[] = {[SASS_VECTORS] = "vectors of an H200",
                                           [SASS_LABS] = "counters of the labs on an H200",
                                           [SASS_PTX] = "the PTX that it was made from"};
    static Census census;
    SassOpcode order[SASS_OPCODE_COUNT - 1];
    const size_t count = sizeof order / sizeof *order;
    for (uint32_t k = 0; k < sass_row_count; k++) census.encodings[sass_rows[k].op]++;
    if (file.len && !count_program(&census, file)) return false;
    for (size_t k = 0; k < count; k++) order[k] = (SassOpcode)(k + 1);
    qsort(order, count, sizeof *order, by_name);
    printf("%-14s %9s %9s  %s\n", "opcode", "encodings", "seen", "executed, known by");
    for (size_t k = 0; k < count; k++) {
        const SassOpcodeRow *row = &sass_opcodes[order[k]];
        printf("%-14s %9u %9llu  %s\n", row->name, census.encodings[order[k]],
               census.seen[order[k]], evidence[row->evidence]);
    }
    printf("%-14s %9s %9llu  refused\n", "not decoded", "", census.unknown);
    return true;
}

// Writes operations as PTX instructions; for ptx.c, which writes what is around them.
#ifndef CUDAC_INSTRUCTION_H
#define CUDAC_INSTRUCTION_H

#include "simt/cudac/generate/ptx.h"

typedef struct {
    PtxText *text;
    Buf *out;
    Graph *graph;
    const Function *kernel;
    uint32_t counts[TYPE_F64 + 1];
    const Site *site;
    // Constants that have a register in the current block.
    struct {
        TypeKind kind;
        int64_t bits;
        uint32_t reg;
    } constants[64];
    size_t constant_count;
} Writer;

void instruction_write(Writer *w, const Value *value);
void instruction_operand(Writer *w, const Value *value);
void instruction_register(Writer *w, TypeKind kind, uint32_t reg);
// Parts of names: of a register; of the type of an operation that distinguishes signed and unsigned
// numbers; of one that does not; of a value in memory.
const char *instruction_prefix(TypeKind kind);
const char *instruction_number_type(TypeKind type);
const char *instruction_bit_type(TypeKind kind);
const char *instruction_memory_type(TypeKind type);

#endif

// Finds the rows of ops/ through two hash tables: by opcode and modifiers packed into one number,
// and by name.
#include "simt/emit/row.h"

#include <pthread.h>

#include "simt/ops/sass.h"

#define ROW_SLOTS 4096 // about four times the number of rows

static const OpRow *const tables[] = {op_integer_rows, op_bits_rows,    op_float_rows,
                                      op_half_rows,    op_compare_rows, op_convert_rows,
                                      op_move_rows,    op_sass_rows};
static Row rows[ROW_SLOTS]; // open addressing, by name
// Open addressing, by key: the opcode in the lowest byte, then a byte for each modifier.
static struct {
    uint64_t key;
    const Row *row;
} keys[ROW_SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static RegisterClass class_of(char letter) {
    switch (letter) {
    case 'p':
        return REGISTER_PRED;
    case 'h':
        return REGISTER_16;
    case 'w':
        return REGISTER_32;
    case 'd':
        return REGISTER_64;
    default:
        return REGISTER_NONE;
    }
}

static uint64_t key_of(PtxOpcode opcode, const uint8_t *modifiers, uint32_t count) {
    uint64_t key = (uint64_t)opcode;
    for (uint32_t k = 0; k < count; k++) key |= (uint64_t)modifiers[k] << (8 * k + 8);
    return key;
}

// The slot with this key, or the free slot for it.
static size_t slot_of(uint64_t key) {
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 52) % ROW_SLOTS;
    while (keys[at].row && keys[at].key != key) at = (at + 1) % ROW_SLOTS;
    return at;
}

// The row of this name, or the free slot for it.
static Row *place_of(Str name) {
    size_t at = (size_t)str_hash(name) % ROW_SLOTS;
    while (rows[at].run && !str_equal(rows[at].name, name)) at = (at + 1) % ROW_SLOTS;
    return &rows[at];
}

static void add_row(const OpRow *from) {
    Row *row = place_of(str_of(from->name));
    *row = (Row){.name = str_of(from->name), .run = from->run};
    for (const char *letter = from->shape; *letter; letter++)
        row->operands[row->count++] = class_of(*letter);
    uint8_t modifiers[PTX_MODIFIER_LIMIT], count;
    const PtxOpcode opcode = ptx_split_opcode(row->name, modifiers, &count);
    if (!opcode) return; // only machine code has it
    const uint64_t key = key_of(opcode, modifiers, count);
    const size_t at = slot_of(key);
    keys[at].key = key;
    keys[at].row = row;
}

static void index_rows(void) {
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const OpRow *row = tables[t]; row->name; row++) add_row(row);
}

const Row *row_find(PtxOpcode opcode, const uint8_t *modifiers, uint32_t count) {
    pthread_once(&once, index_rows);
    return count <= ROW_MODIFIERS ? keys[slot_of(key_of(opcode, modifiers, count))].row : NULL;
}

const Row *row_named(Str name) {
    pthread_once(&once, index_rows);
    const Row *row = place_of(name);
    return row->run ? row : NULL;
}

// See row.h. Shapes are read here and nowhere else.
#include "simt/lower/row.h"

#include <pthread.h>

#include "simt/ops/sass.h"

#define ROW_SLOTS 4096 // about four times as many as there are rows

static const OpRow *const tables[] = {op_integer_rows, op_bits_rows,    op_float_rows,
                                      op_half_rows,    op_compare_rows, op_convert_rows,
                                      op_move_rows,    op_sass_rows};
static Row slots[ROW_SLOTS]; // open addressing
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

// The row of this name, or where it belongs.
static Row *slot_of(Str name) {
    size_t at = (size_t)str_hash(name) % ROW_SLOTS;
    while (slots[at].run && !str_equal(slots[at].name, name)) at = (at + 1) % ROW_SLOTS;
    return &slots[at];
}

static void index_rows(void) {
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const OpRow *row = tables[t]; row->name; row++) {
            Row *slot = slot_of(str_of(row->name));
            *slot = (Row){.name = str_of(row->name), .run = row->run};
            for (const char *letter = row->shape; *letter; letter++)
                slot->operands[slot->count++] = class_of(*letter);
        }
    }
}

const Row *row_find(Str name) {
    pthread_once(&once, index_rows);
    const Row *row = slot_of(name);
    return row->run ? row : NULL;
}

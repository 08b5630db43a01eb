// Labs: the programs of a set of chapters, and the chunks that each of them contains.
#ifndef BOOK_LAB_H
#define BOOK_LAB_H

#include "markdown/chunk.h"

typedef struct {
    size_t chunk;  // the file target
    Str name;      // 04_bank_conflicts
    Str chapter;   // 04
    size_t *needs; // the chunks that the program contains, including its own, in table order
    size_t need_count;
} Lab;

typedef struct {
    const ChunkTable *table;
    Lab *items; // in table order
    size_t count;
    bool *harness;        // one per chunk: see lab_harness
    const Lab **of_chunk; // one per chunk: the lab whose target it is, or NULL
    size_t *users;        // the labs that contain chunk i are users[user_start[i]]
    size_t *user_start;   // to users[user_start[i + 1] - 1]
} Labs;

// Finds the labs: see lab_is. The table must have no errors; results are allocated in its arena.
Labs lab_collect(const ChunkTable *table);

// The chunks of any program, such as that of an exercise.
Lab lab_of_program(const ChunkTable *table, size_t chunk);

// Whether this chunk is a lab: a target directly in code/ that is named after a chapter.
bool lab_is(const ChunkTable *table, size_t chunk);

// The lab of that chapter, or CHUNK_NONE.
size_t lab_of_chapter(const ChunkTable *table, Str chapter);

// One flag per chunk: it has class `harness` or is included by a chunk that has.
bool *lab_harness(const ChunkTable *table);

// The lab of the chapter in this file, or NULL.
const Lab *lab_of_file(const Labs *labs, size_t file);

#endif

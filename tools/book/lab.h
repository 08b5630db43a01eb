// Labs: the programs of a set of chapters, and which chunks each of them is put together from.
#ifndef BOOK_LAB_H
#define BOOK_LAB_H

#include "markdown/chunk.h"

typedef struct {
    size_t chunk;  // the file target
    Str name;      // 04_bank_conflicts
    Str chapter;   // 04
    size_t *needs; // the chunks that the program contains, itself among them, in table order
    size_t need_count;
} Lab;

typedef struct {
    const ChunkTable *table;
    Lab *items; // in table order
    size_t count;
    bool *harness;        // one per chunk: see lab_harness
    const Lab **of_chunk; // one per chunk: the lab whose target it is, or NULL
    size_t *users;        // labs that need chunk i, in order: users[user_start[i]] and what follows
    size_t *user_start;   // up to users[user_start[i + 1]]
} Labs;

// The targets that are named after a chapter, but for those of exercises. Only for a table without
// errors; all results in its arena.
Labs lab_collect(const ChunkTable *table);

// A program by itself, such as that of an exercise: what it is put together from.
Lab lab_of_program(const ChunkTable *table, size_t chunk);

// Is this chunk a lab: a target that is named after a chapter, and no exercise's?
bool lab_is(const ChunkTable *table, size_t chunk);

// The lab of that chapter, or CHUNK_NONE.
size_t lab_of_chapter(const ChunkTable *table, Str chapter);

// Which chunks are harness: those of class `harness`, and all that they pull in. One per chunk.
bool *lab_harness(const ChunkTable *table);

// The lab of the chapter that is this file, or NULL.
const Lab *lab_of_file(const Labs *labs, size_t file);

#endif

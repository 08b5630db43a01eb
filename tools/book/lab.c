// Finds the labs and the chunks that each contains, by depth-first search from their targets.
#include "book/lab.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "numbers/key.h"

// The chunks reached from a target: each has the target's stamp and is in the list.
typedef struct {
    const ChunkTable *table;
    size_t *stamps, *list; // one per chunk each
    size_t stamp, count;
} Reach;

static Reach reach_open(const ChunkTable *table) {
    return (Reach){.table = table,
                   .stamps = ARENA_NEW(table->arena, table->chunk_count + 1, size_t),
                   .list = ARENA_NEW(table->arena, table->chunk_count + 1, size_t)};
}

static void reach_add(Reach *reach, size_t chunk) {
    if (reach->stamps[chunk] == reach->stamp) return;
    reach->stamps[chunk] = reach->stamp;
    reach->list[reach->count++] = chunk;
}

// Adds the chunk and all that it includes to the chunks with this stamp.
static void reach_from(Reach *reach, size_t chunk) {
    size_t next = reach->count;
    reach_add(reach, chunk);
    for (; next < reach->count; next++) {
        const Chunk *at = &reach->table->chunks[reach->list[next]];
        for (size_t r = 0; r < at->reference_count; r++) reach_add(reach, at->references[r].chunk);
    }
}

bool *lab_harness(const ChunkTable *table) {
    bool *harness = ARENA_NEW(table->arena, table->chunk_count + 1, bool);
    Reach reach = reach_open(table);
    reach.stamp = 1;
    for (size_t i = 0; i < table->chunk_count; i++)
        if (fence_has_class(table->chunks[i].part, STR("harness"))) reach_from(&reach, i);
    for (size_t i = 0; i < reach.count; i++) harness[reach.list[i]] = true;
    return harness;
}

static int by_index(const void *a, const void *b) {
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

// Inverts the lists: from the chunks of each lab to the labs of each chunk.
static void index_users(Labs *labs) {
    Arena *arena = labs->table->arena;
    size_t chunk_count = labs->table->chunk_count, total = 0;
    labs->user_start = ARENA_NEW(arena, chunk_count + 2, size_t);
    for (size_t i = 0; i < labs->count; i++) {
        total += labs->items[i].need_count;
        for (size_t k = 0; k < labs->items[i].need_count; k++)
            labs->user_start[labs->items[i].needs[k] + 2]++;
    }
    for (size_t i = 2; i < chunk_count + 2; i++) labs->user_start[i] += labs->user_start[i - 1];
    labs->users = ARENA_NEW(arena, total + 1, size_t);
    // Filling moves user_start[c + 1] from the start of chunk c's list to its end.
    for (size_t i = 0; i < labs->count; i++)
        for (size_t k = 0; k < labs->items[i].need_count; k++)
            labs->users[labs->user_start[labs->items[i].needs[k] + 1]++] = i;
}

// The program of a target, with the chunks that a search with a new stamp reaches.
static Lab open_lab(Reach *reach, size_t chunk) {
    const ChunkTable *table = reach->table;
    Str target = table->chunks[chunk].target;
    reach->stamp++;
    reach->count = 0;
    reach_from(reach, chunk);
    Lab lab = {chunk, path_stem(target), key_chapter_of(target),
               ARENA_NEW(table->arena, reach->count, size_t), reach->count};
    memcpy(lab.needs, reach->list, reach->count * sizeof *lab.needs);
    qsort(lab.needs, lab.need_count, sizeof *lab.needs, by_index);
    return lab;
}

bool lab_is(const ChunkTable *table, size_t chunk) {
    const Str target = table->chunks[chunk].target;
    return str_equal(path_folder(target), STR("code/")) && key_chapter_of(target).len > 0;
}

size_t lab_of_chapter(const ChunkTable *table, Str chapter) {
    for (size_t i = 0; i < table->chunk_count; i++)
        if (lab_is(table, i) && str_equal(key_chapter_of(table->chunks[i].target), chapter))
            return i;
    return CHUNK_NONE;
}

Lab lab_of_program(const ChunkTable *table, size_t chunk) {
    Reach reach = reach_open(table);
    return open_lab(&reach, chunk);
}

Labs lab_collect(const ChunkTable *table) {
    Arena *arena = table->arena;
    Labs labs = {.table = table,
                 .items = ARENA_NEW(arena, table->chunk_count + 1, Lab),
                 .harness = lab_harness(table),
                 .of_chunk = ARENA_NEW(arena, table->chunk_count + 1, const Lab *)};
    Reach reach = reach_open(table);
    for (size_t i = 0; i < table->chunk_count; i++) {
        if (!lab_is(table, i)) continue;
        Lab *lab = &labs.items[labs.count++];
        *lab = open_lab(&reach, i);
        labs.of_chunk[i] = lab;
    }
    index_users(&labs);
    return labs;
}

const Lab *lab_of_file(const Labs *labs, size_t file) {
    for (size_t i = 0; i < labs->count; i++)
        if (labs->table->chunks[labs->items[i].chunk].file == file) return &labs->items[i];
    return NULL;
}

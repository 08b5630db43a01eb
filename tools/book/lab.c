// Labs: see lab.h.
#include "book/lab.h"

#include "base/path.h"
#include "book/key.h"

static void mark_needs(const ChunkTable *table, size_t chunk, bool *needs) {
    size_t *stack = ARENA_NEW(table->arena, table->chunk_count + 1, size_t), depth = 0;
    stack[depth++] = chunk;
    needs[chunk] = true;
    while (depth) {
        const Chunk *at = &table->chunks[stack[--depth]];
        for (size_t r = 0; r < at->reference_count; r++) {
            size_t used = at->references[r].chunk;
            if (!needs[used]) stack[depth++] = used;
            needs[used] = true;
        }
    }
}

bool *lab_harness(const ChunkTable *table) {
    bool *harness = ARENA_NEW(table->arena, table->chunk_count + 1, bool);
    for (size_t i = 0; i < table->chunk_count; i++)
        if (fence_has_class(table->chunks[i].part, STR("harness"))) mark_needs(table, i, harness);
    return harness;
}

Labs lab_collect(const ChunkTable *table) {
    Labs labs = {.table = table,
                 .items = ARENA_NEW(table->arena, table->chunk_count + 1, Lab),
                 .harness = lab_harness(table)};
    for (size_t i = 0; i < table->chunk_count; i++) {
        Str target = table->chunks[i].target, chapter = key_chapter_of(target);
        if (chapter.len == 0) continue;
        Lab *lab = &labs.items[labs.count++];
        *lab = (Lab){i, path_stem(target), chapter,
                     ARENA_NEW(table->arena, table->chunk_count + 1, bool)};
        mark_needs(table, i, lab->needs);
    }
    return labs;
}

const Lab *lab_of_file(const Labs *labs, size_t file) {
    for (size_t i = 0; i < labs->count; i++)
        if (labs->table->chunks[labs->items[i].chunk].file == file) return &labs->items[i];
    return NULL;
}

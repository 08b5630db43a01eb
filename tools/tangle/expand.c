// Expands references with its own stack, because chunks may nest deeper than the C stack allows.
#include "tangle/expand.h"

#include <stdlib.h>

#include "tangle/line_sync.h"

typedef struct {
    const Chunk *chunk;
    size_t body;      // next line to expand
    size_t reference; // next reference in it
    size_t indent;    // length of the indent of this chunk
} Frame;

static void push(const ChunkTable *table, Frame **stack, size_t *depth, size_t *capacity,
                 Frame frame) {
    ARENA_GROW(table->arena, *stack, *depth, *capacity);
    (*stack)[(*depth)++] = frame;
}

// Expands a chunk, with `filling` in place of every reference to `hole`.
static Str expand(const ChunkTable *table, size_t chunk, ExpandStyle style, size_t hole,
                  size_t filling) {
    Buf out = {.arena = table->arena};
    Buf indent = {.arena =
                      table->arena}; // of the innermost frame, of which the outer ones are prefixes
    LineSync sync = {0};
    Frame *stack = NULL;
    size_t depth = 0, capacity = 0;
    push(table, &stack, &depth, &capacity, (Frame){.chunk = &table->chunks[chunk]});
    while (depth) {
        Frame *top = &stack[depth - 1];
        indent.len = top->indent;
        const Chunk *at = top->chunk;
        if (top->body == at->part->body_count) {
            depth--;
            continue;
        }
        size_t body = top->body++;
        if (top->reference < at->reference_count && at->references[top->reference].body == body) {
            const ChunkReference *reference = &at->references[top->reference++];
            buf_add(&indent, reference->indent);
            size_t used = reference->chunk == hole ? filling : reference->chunk;
            push(table, &stack, &depth, &capacity,
                 (Frame){.chunk = &table->chunks[used], .indent = indent.len});
            continue;
        }
        Str text = at->part->body[body];
        if (style == EXPAND_WITH_LINES)
            line_sync_before(&sync, &out, table->files[at->file].path, at->line + 1 + body);
        if (str_trim(text).len) buf_add(&out, buf_str(&indent));
        buf_add(&out, text);
        buf_char(&out, '\n');
        if (style == EXPAND_WITH_LINES) line_sync_after(&sync, text);
    }
    return buf_str(&out);
}

Str expand_text(const ChunkTable *table, size_t chunk, ExpandStyle style) {
    return expand(table, chunk, style, CHUNK_NONE, CHUNK_NONE);
}

Str expand_variant(const ChunkTable *table, const Exercise *exercise, size_t variant) {
    return expand(table, exercise->program, EXPAND_CLEAN, exercise->starter, variant);
}

static int compare_sizes(const void *a, const void *b) {
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

ExpandWalk expand_walk(const ChunkTable *table) {
    return (ExpandWalk){.table = table,
                        .chunks = ARENA_NEW(table->arena, table->chunk_count, size_t),
                        .files = ARENA_NEW(table->arena, table->file_count, size_t)};
}

size_t expand_sources(ExpandWalk *walk, size_t chunk, size_t **files) {
    const ChunkTable *table = walk->table;
    size_t number = ++walk->walks, count = 0, capacity = 0, depth = 0, stack_capacity = 0;
    size_t *stack = NULL;
    *files = NULL;
    ARENA_GROW(table->arena, stack, depth, stack_capacity);
    stack[depth++] = chunk;
    walk->chunks[chunk] = number;
    while (depth) {
        const Chunk *at = &table->chunks[stack[--depth]];
        if (walk->files[at->file] != number) {
            walk->files[at->file] = number;
            ARENA_GROW(table->arena, *files, count, capacity);
            (*files)[count++] = at->file;
        }
        for (size_t r = 0; r < at->reference_count; r++) {
            size_t used = at->references[r].chunk;
            if (walk->chunks[used] == number) continue;
            walk->chunks[used] = number;
            ARENA_GROW(table->arena, stack, depth, stack_capacity);
            stack[depth++] = used;
        }
    }
    qsort(*files, count, sizeof **files, compare_sizes);
    return count;
}

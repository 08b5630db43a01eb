// Chunk: expansion into program text, on a stack of its own because chunks may nest deeper than
// the C stack is.
#include <stdlib.h>

#include "markdown/chunk.h"
#include "tangle/line_sync.h"

typedef struct {
    const Chunk *chunk;
    size_t body;      // line to expand next
    size_t reference; // reference to meet next
    size_t indent;    // length of the indent that holds for this chunk
} Frame;

static void push(const ChunkTable *table, Frame **stack, size_t *depth, size_t *capacity,
                 Frame frame) {
    ARENA_GROW(table->arena, *stack, *depth, *capacity);
    (*stack)[(*depth)++] = frame;
}

Str chunk_expand(const ChunkTable *table, size_t chunk, ChunkStyle style) {
    Buf out = {.arena = table->arena};
    Buf indent = {.arena = table->arena}; // of the innermost frame; outer ones are prefixes of it
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
            push(table, &stack, &depth, &capacity,
                 (Frame){.chunk = &table->chunks[reference->chunk], .indent = indent.len});
            continue;
        }
        Str text = at->part->body[body];
        if (style == CHUNK_WITH_LINES)
            line_sync_before(&sync, &out, table->files[at->file].path, at->line + 1 + body);
        if (str_trim(text).len) buf_add(&out, buf_str(&indent));
        buf_add(&out, text);
        buf_char(&out, '\n');
        if (style == CHUNK_WITH_LINES) line_sync_after(&sync, text);
    }
    return buf_str(&out);
}

static int compare_sizes(const void *a, const void *b) {
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

size_t chunk_sources(const ChunkTable *table, size_t chunk, size_t **files) {
    size_t *chunk_marks = table->marks, *file_marks = table->marks + table->chunk_count;
    size_t mark = ++table->marks[table->chunk_count + table->file_count], count = 0, capacity = 0,
           depth = 0, stack_capacity = 0;
    size_t *stack = NULL;
    *files = NULL;
    ARENA_GROW(table->arena, stack, depth, stack_capacity);
    stack[depth++] = chunk;
    chunk_marks[chunk] = mark;
    while (depth) {
        const Chunk *at = &table->chunks[stack[--depth]];
        if (file_marks[at->file] != mark) {
            file_marks[at->file] = mark;
            ARENA_GROW(table->arena, *files, count, capacity);
            (*files)[count++] = at->file;
        }
        for (size_t r = 0; r < at->reference_count; r++) {
            size_t used = at->references[r].chunk;
            if (chunk_marks[used] == mark) continue;
            chunk_marks[used] = mark;
            ARENA_GROW(table->arena, stack, depth, stack_capacity);
            stack[depth++] = used;
        }
    }
    qsort(*files, count, sizeof **files, compare_sizes);
    return count;
}

// Checks references, cycles, sizes and targets of all chunks. Each traversal has its own stack
// because chunks may nest deeper than the C stack allows.
#include <stdlib.h>

#include "markdown/chunk.h"

// --- names ---

// A reference to a hole means its starter.
static bool is_other_variant(const ChunkTable *table, size_t chunk) {
    size_t exercise = table->chunks[chunk].exercise;
    return exercise != CHUNK_NONE && table->chunks[chunk].variant != VARIANT_NONE &&
           table->exercises[exercise].starter != chunk;
}

static void index_names(ChunkTable *table) {
    table->slot_count = 16;
    while (table->slot_count < 2 * table->chunk_count) table->slot_count *= 2;
    table->slots = ARENA_NEW(table->arena, table->slot_count, size_t);
    for (size_t i = 0; i < table->slot_count; i++) table->slots[i] = CHUNK_NONE;
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        if (chunk->name.len == 0 || is_other_variant(table, i)) continue;
        size_t first = chunk_find(table, chunk->name);
        if (first != CHUNK_NONE) {
            const Chunk *other = &table->chunks[first];
            chunk_fail(table, chunk->file, chunk->line,
                       "chunk <<%.*s>> is defined twice, first at %.*s:%zu", STR_ARG(chunk->name),
                       STR_ARG(table->files[other->file].path), other->line);
            continue;
        }
        size_t slot = (size_t)str_hash(chunk->name) & (table->slot_count - 1);
        while (table->slots[slot] != CHUNK_NONE) slot = (slot + 1) & (table->slot_count - 1);
        table->slots[slot] = i;
    }
}

// --- references ---

// The defined name most similar to this one, if there is one. `budget` limits the work of a whole
// run, in names and characters compared.
static Str nearest_name(const ChunkTable *table, Str name, size_t *budget) {
    Str nearest = {0};
    size_t edits = 0;
    for (size_t i = 0; i < table->chunk_count; i++) {
        Str candidate = table->chunks[i].name;
        if (*budget == 0) return nearest;
        --*budget;
        size_t work = candidate.len * name.len;
        if (work > *budget) return nearest;
        *budget -= work;
        if (candidate.len == 0 || !str_is_nearer(name, candidate, &edits)) continue;
        nearest = candidate;
    }
    return nearest;
}

static void resolve_references(ChunkTable *table) {
    size_t budget = (size_t)20 * 1000 * 1000;
    for (size_t i = 0; i < table->chunk_count; i++) {
        Chunk *chunk = &table->chunks[i];
        for (size_t r = 0; r < chunk->reference_count; r++) {
            ChunkReference *reference = &chunk->references[r];
            reference->chunk = chunk_find(table, reference->name);
            if (reference->chunk != CHUNK_NONE) continue;
            Str nearest = nearest_name(table, reference->name, &budget);
            Buf hint = {.arena = table->arena};
            if (nearest.len) buf_format(&hint, "; did you mean <<%.*s>>?", STR_ARG(nearest));
            chunk_fail(table, chunk->file, chunk->line + 1 + reference->body,
                       "undefined chunk <<%.*s>>%.*s", STR_ARG(reference->name),
                       STR_ARG(buf_str(&hint)));
        }
    }
}

// A reference with white space inside the brackets is text. Reports it if a chunk has that name.
static void find_spaced_references(ChunkTable *table, const Chunk *chunk) {
    for (size_t i = 0; i < chunk->part->body_count; i++) {
        Str text = str_trim(chunk->part->body[i]), indent, name;
        if (text.len < 4 || !str_starts(text, STR("<<")) || !str_ends(text, STR(">>"))) continue;
        if (chunk_is_reference(text, &indent, &name)) continue;
        name = str_trim(str_slice(text, 2, text.len - 2));
        if (chunk_find(table, name) != CHUNK_NONE)
            chunk_fail(table, chunk->file, chunk->line + 1 + i,
                       "a reference has no spaces inside: write <<%.*s>>", STR_ARG(name));
    }
}

static void collect_users(ChunkTable *table) {
    size_t *last = ARENA_NEW(table->arena, table->chunk_count, size_t); // last user seen, plus one
    for (int filling = 0; filling < 2; filling++) {
        for (size_t i = 0; i < table->chunk_count; i++) {
            last[i] = 0;
            Chunk *chunk = &table->chunks[i];
            if (filling) chunk->users = ARENA_NEW(table->arena, chunk->user_count, size_t);
            chunk->user_count = 0;
        }
        for (size_t i = 0; i < table->chunk_count; i++) {
            const Chunk *chunk = &table->chunks[i];
            for (size_t r = 0; r < chunk->reference_count; r++) {
                size_t used = chunk->references[r].chunk;
                if (used == CHUNK_NONE || last[used] == i + 1) continue;
                last[used] = i + 1;
                Chunk *target = &table->chunks[used];
                if (filling) target->users[target->user_count] = i;
                target->user_count++;
            }
        }
    }
}

// Marks the chunks that targets include, and reports the others.
static void find_unused(ChunkTable *table, const bool *on_cycle) {
    bool *reached = ARENA_NEW(table->arena, table->chunk_count, bool);
    size_t *stack = ARENA_NEW(table->arena, table->chunk_count, size_t);
    size_t depth = 0;
    for (size_t i = 0; i < table->chunk_count; i++) {
        reached[i] = table->chunks[i].target.len > 0;
        if (reached[i]) stack[depth++] = i;
    }
    while (depth) {
        const Chunk *chunk = &table->chunks[stack[--depth]];
        for (size_t r = 0; r < chunk->reference_count; r++) {
            size_t used = chunk->references[r].chunk;
            if (used == CHUNK_NONE || reached[used]) continue;
            reached[used] = true;
            stack[depth++] = used;
        }
    }
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        if (reached[i] || on_cycle[i] || chunk_find(table, chunk->name) != i) continue;
        chunk_fail(table, chunk->file, chunk->line, "unused chunk <<%.*s>>: %s",
                   STR_ARG(chunk->name),
                   chunk->user_count ? "only unused chunks refer to it" : "no chunk refers to it");
    }
}

// --- cycles and sizes: one depth-first walk ---

// The size of a chunk's expansion, each number at most SIZE_CAP.
typedef struct {
    uint64_t bytes;
    uint64_t filled; // number of lines that are not blank, which an indent makes longer
    uint64_t
        lines; // number of lines plus one per included chunk, so that empty chunks are not free
} Size;

enum { CYCLE_NAMES_SHOWN = 8 };
#define SIZE_CAP ((uint64_t)1 << 40)

static uint64_t capped_add(uint64_t a, uint64_t b) { return a + b < SIZE_CAP ? a + b : SIZE_CAP; }

static uint64_t capped_multiply(uint64_t a, uint64_t b) {
    return a && b > SIZE_CAP / a ? SIZE_CAP : a * b;
}

static Size expanded_size(const Chunk *chunk, const Size *sizes) {
    Size size = {.lines = 1};
    size_t r = 0;
    for (size_t i = 0; i < chunk->part->body_count; i++) {
        if (r < chunk->reference_count && chunk->references[r].body == i) {
            const ChunkReference *reference = &chunk->references[r++];
            if (reference->chunk == CHUNK_NONE) continue;
            Size inner = sizes[reference->chunk];
            size.bytes = capped_add(size.bytes, inner.bytes);
            size.bytes =
                capped_add(size.bytes, capped_multiply(inner.filled, reference->indent.len));
            size.filled = capped_add(size.filled, inner.filled);
            size.lines = capped_add(size.lines, inner.lines);
        } else {
            size.bytes = capped_add(size.bytes, chunk->part->body[i].len + 1);
            size.filled += str_trim(chunk->part->body[i]).len > 0;
            size.lines++;
        }
    }
    return size;
}

typedef struct {
    size_t chunk;
    size_t next; // next reference to follow
} Visit;

// Reports the cycle of path[from..depth), closed by `reference`.
static void report_cycle(ChunkTable *table, const Visit *path, size_t from, size_t depth,
                         const ChunkReference *reference) {
    const Chunk *closing = &table->chunks[path[depth - 1].chunk];
    Buf names = {.arena = table->arena};
    for (size_t i = from; i < depth; i++) {
        if (depth - from > CYCLE_NAMES_SHOWN && i == from + CYCLE_NAMES_SHOWN / 2) {
            size_t hidden = depth - from - CYCLE_NAMES_SHOWN;
            buf_format(&names, "(%zu more) -> ", hidden);
            i += hidden - 1;
            continue;
        }
        buf_add(&names, table->chunks[path[i].chunk].name);
        buf_add(&names, STR(" -> "));
    }
    buf_add(&names, reference->name);
    chunk_fail(table, closing->file, closing->line + 1 + reference->body, "cyclic chunk: %.*s",
               STR_ARG(buf_str(&names)));
}

// Visits every chunk after those that it includes. Sets the size of each, reports each cycle once
// and sets on_cycle for its chunks.
static Size *walk_chunks(ChunkTable *table, bool *on_cycle) {
    Size *sizes = ARENA_NEW(table->arena, table->chunk_count, Size);
    Visit *path = ARENA_NEW(table->arena, table->chunk_count, Visit);
    size_t *place = ARENA_NEW(table->arena, table->chunk_count, size_t); // index in path plus one
    bool *visited = ARENA_NEW(table->arena, table->chunk_count, bool);
    for (size_t root = 0; root < table->chunk_count; root++) {
        if (visited[root]) continue;
        size_t depth = 0;
        path[depth++] = (Visit){.chunk = root};
        visited[root] = true;
        place[root] = depth;
        while (depth) {
            Visit *top = &path[depth - 1];
            const Chunk *chunk = &table->chunks[top->chunk];
            if (top->next == chunk->reference_count) {
                sizes[top->chunk] = expanded_size(chunk, sizes);
                place[top->chunk] = 0;
                depth--;
                continue;
            }
            const ChunkReference *reference = &chunk->references[top->next++];
            size_t used = reference->chunk;
            if (used == CHUNK_NONE) continue;
            if (place[used]) {
                report_cycle(table, path, place[used] - 1, depth, reference);
                for (size_t i = place[used] - 1; i < depth; i++) on_cycle[path[i].chunk] = true;
            } else if (!visited[used]) {
                visited[used] = true;
                path[depth++] = (Visit){.chunk = used};
                place[used] = depth;
            }
        }
    }
    return sizes;
}

static void find_too_large(ChunkTable *table, const Size *sizes) {
    uint64_t bytes = 0, lines = 0;
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        if (chunk->target.len == 0) continue;
        bytes = capped_add(bytes, sizes[i].bytes);
        lines = capped_add(lines, sizes[i].lines);
        if (bytes <= CHUNK_LIMIT_BYTES && lines <= CHUNK_LIMIT_LINES) continue;
        chunk_fail(table, chunk->file, chunk->line,
                   "output too large: with `%.*s` it exceeds %llu MiB or %llu lines",
                   STR_ARG(chunk->target), (unsigned long long)CHUNK_LIMIT_BYTES >> 20,
                   (unsigned long long)CHUNK_LIMIT_LINES);
        return;
    }
}

// --- targets ---

typedef struct {
    Str path;
    size_t chunk;
} Target;

static int compare_targets(const void *a, const void *b) {
    const Target *left = a, *right = b;
    int order = str_compare(left->path, right->path);
    return order ? order : (left->chunk > right->chunk) - (left->chunk < right->chunk);
}

// The first of the sorted targets with this path, or NULL.
static const Target *find_target(const Target *targets, size_t count, Str path) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_compare(targets[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && str_equal(targets[low].path, path) ? &targets[low] : NULL;
}

// Reports targets with the same path, and targets that are a folder of another.
static void find_clashing_targets(ChunkTable *table) {
    Target *targets = ARENA_NEW(table->arena, table->chunk_count, Target);
    size_t count = 0;
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].target.len && !table->chunks[i].misplaced)
            targets[count++] = (Target){table->chunks[i].target, i};
    if (count) qsort(targets, count, sizeof *targets, compare_targets);
    for (size_t i = 0; i < count; i++) {
        const Chunk *chunk = &table->chunks[targets[i].chunk];
        const Target *other = find_target(targets, count, targets[i].path);
        if (other != &targets[i]) {
            const Chunk *first = &table->chunks[other->chunk];
            chunk_fail(table, chunk->file, chunk->line,
                       "file target `%.*s` is defined twice, first at %.*s:%zu",
                       STR_ARG(chunk->target), STR_ARG(table->files[first->file].path),
                       first->line);
            continue;
        }
        size_t slash = chunk->target.len;
        while (slash && chunk->target.at[slash - 1] != '/') slash--;
        Str folder = str_slice(chunk->target, 0, slash ? slash - 1 : 0);
        while (folder.len && !(other = find_target(targets, count, folder))) {
            while (folder.len && folder.at[folder.len - 1] != '/') folder.len--;
            if (folder.len) folder.len--;
        }
        if (folder.len) {
            const Chunk *file = &table->chunks[other->chunk];
            chunk_fail(table, chunk->file, chunk->line,
                       "file target `%.*s` needs a folder where %.*s:%zu defines a file",
                       STR_ARG(chunk->target), STR_ARG(table->files[file->file].path), file->line);
        }
    }
}

// --- all of it ---

static int compare_errors(const void *a, const void *b) {
    const ChunkError *left = a, *right = b;
    if (left->file != right->file) return left->file < right->file ? -1 : 1;
    if (left->line != right->line) return left->line < right->line ? -1 : 1;
    return str_compare(left->message, right->message);
}

void chunk_check(ChunkTable *table) {
    bool complete = !table->swallowed;
    for (size_t i = 0; i < table->file_count; i++) complete = complete && table->files[i].readable;
    exercise_check(table);
    index_names(table);
    find_clashing_targets(table);
    if (complete) { // else a missing chunk may be in what was not read
        bool *on_cycle = ARENA_NEW(table->arena, table->chunk_count, bool);
        resolve_references(table);
        collect_users(table);
        const Size *sizes = walk_chunks(table, on_cycle);
        for (size_t i = 0; i < table->chunk_count; i++)
            find_spaced_references(table, &table->chunks[i]);
        find_unused(table, on_cycle);
        find_too_large(table, sizes);
    }
    if (table->error_count)
        qsort(table->errors, table->error_count, sizeof *table->errors, compare_errors);
}

// Prints dependencies for make, the graph of chunks for dot, and attributes as CSV.
#include <ctype.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/path.h"
#include "tangle/expand.h"
#include "tangle/tangle.h"

// Adds a path with make's escapes.
static void add_make_path(Buf *buf, Str path) {
    for (size_t i = 0; i < path.len; i++) {
        char c = path.at[i];
        if (c == '$')
            buf_char(buf, '$');
        else if (c == ' ' || c == '#' || c == ':')
            buf_char(buf, '\\');
        buf_char(buf, c);
    }
}

typedef struct {
    Str target;
    Str lab;    // code/04_sum.cu: 04_sum; empty if it is not a .cu file directly in code/
    Str number; // 4; empty if the name does not start with one
    size_t chunk;
} Target;

static Target target_of(const ChunkTable *table, size_t chunk) {
    Target target = {.target = table->chunks[chunk].target, .chunk = chunk};
    const bool direct = str_equal(path_folder(target.target), STR("code/"));
    if (!direct || !str_ends(target.target, STR(".cu"))) return target;
    target.lab = path_stem(target.target);
    size_t digits = 0, zeros = 0;
    while (digits < target.lab.len && isdigit((unsigned char)target.lab.at[digits])) digits++;
    while (zeros + 1 < digits && target.lab.at[zeros] == '0') zeros++;
    target.number = str_slice(target.lab, zeros, digits);
    return target;
}

static int compare_paths(const void *a, const void *b) {
    const Target *left = a, *right = b;
    return str_compare(left->target, right->target);
}

static int compare_numbers(const void *a, const void *b) {
    const Target *left = *(const Target *const *)a, *right = *(const Target *const *)b;
    if (left->number.len != right->number.len) return left->number.len < right->number.len ? -1 : 1;
    int order = str_compare(left->number, right->number);
    return order ? order : str_compare(left->target, right->target);
}

// Adds LAB_OF_N and chapter-N, by number, for the targets that start with a number.
static void add_chapters(Buf *buf, const Target *targets, size_t count, Str folder) {
    const Target **numbered = ARENA_NEW(buf->arena, count, const Target *);
    size_t numbered_count = 0;
    for (size_t i = 0; i < count; i++)
        if (targets[i].number.len) numbered[numbered_count++] = &targets[i];
    if (numbered_count) qsort(numbered, numbered_count, sizeof *numbered, compare_numbers);
    for (size_t i = 0, end; i < numbered_count; i = end) {
        Str number = numbered[i]->number;
        for (end = i; end < numbered_count && str_equal(numbered[end]->number, number);) end++;
        buf_format(buf, "LAB_OF_%.*s :=", STR_ARG(number));
        for (size_t j = i; j < end; j++) {
            buf_char(buf, ' ');
            add_make_path(buf, numbered[j]->lab);
        }
        buf_format(buf, "\nchapter-%.*s:", STR_ARG(number));
        for (size_t j = i; j < end; j++) {
            buf_char(buf, ' ');
            add_make_path(buf, path_join(buf->arena, folder, numbered[j]->target));
        }
        buf_char(buf, '\n');
    }
}

// Adds a value with make's escapes. Before a number sign make halves backslashes, and a backslash
// at the end would continue the line, so an empty $() follows it.
static void add_make_value(Buf *buf, Str value) {
    size_t backslashes = 0; // number of backslashes just before
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        for (size_t k = 0; c == '#' && k <= backslashes; k++) buf_char(buf, '\\');
        if (c == '$') buf_char(buf, '$');
        buf_char(buf, c);
        backslashes = c == '\\' ? backslashes + 1 : 0;
    }
    if (backslashes) buf_add(buf, STR("$()"));
}

// Adds KEY_LAB := VALUE for each attribute of a lab's block except file=.
static void add_attributes(Buf *buf, const ChunkTable *table, const Target *target) {
    const Braces *braces = &table->chunks[target->chunk].part->braces;
    for (size_t i = 0; i < braces->attribute_count; i++) {
        const BracesAttribute *attribute = &braces->attributes[i];
        if (str_equal(attribute->key, STR("file"))) continue;
        add_make_path(buf, attribute->key);
        buf_char(buf, '_');
        add_make_path(buf, target->lab);
        buf_add(buf, STR(" := "));
        add_make_value(buf, attribute->value);
        buf_char(buf, '\n');
    }
}

Str print_dependencies(const ChunkTable *table, Str folder) {
    Arena *arena = table->arena;
    Target *targets = ARENA_NEW(arena, table->chunk_count, Target);
    size_t count = 0;
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].target.len) targets[count++] = target_of(table, i);
    if (count) qsort(targets, count, sizeof *targets, compare_paths);

    ExpandWalk walk = expand_walk(table);
    Buf buf = {.arena = arena};
    buf_add(&buf, STR("LABS :="));
    for (size_t i = 0; i < count; i++) {
        if (targets[i].lab.len == 0) continue;
        buf_char(&buf, ' ');
        add_make_path(&buf, targets[i].lab);
    }
    buf_char(&buf, '\n');
    add_chapters(&buf, targets, count, folder);
    for (size_t i = 0; i < count; i++)
        if (targets[i].lab.len) add_attributes(&buf, table, &targets[i]);
    for (size_t i = 0; i < count; i++) {
        size_t *files, file_count = expand_sources(&walk, targets[i].chunk, &files);
        add_make_path(&buf, path_join(arena, folder, targets[i].target));
        buf_char(&buf, ':');
        for (size_t j = 0; j < file_count; j++) {
            buf_char(&buf, ' ');
            add_make_path(&buf, table->files[files[j]].path);
        }
        buf_char(&buf, '\n');
    }
    for (size_t i = 0; i < table->file_count; i++) {
        if (i) buf_char(&buf, ' ');
        add_make_path(&buf, table->files[i].path);
    }
    buf_add(&buf, STR(":\n"));
    return buf_str(&buf);
}

static void add_label(Buf *buf, Str text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"' || text.at[i] == '\\') buf_char(buf, '\\');
        buf_char(buf, text.at[i]);
    }
}

Str print_graph(const ChunkTable *table) {
    Buf buf = {.arena = table->arena};
    buf_add(&buf, STR("digraph chunks {\n    rankdir=LR;\n    node [shape=plain];\n"));
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        bool target = chunk->target.len > 0;
        buf_format(&buf, "    n%zu [label=\"", i);
        add_label(&buf, target ? chunk->target : chunk->name);
        buf_add(&buf, STR("\\n"));
        add_label(&buf, table->files[chunk->file].path);
        buf_format(&buf, ":%zu\"%s];\n", chunk->line, target ? " shape=box" : "");
    }
    for (size_t i = 0; i < table->chunk_count; i++)
        for (size_t u = 0; u < table->chunks[i].user_count; u++)
            buf_format(&buf, "    n%zu -> n%zu;\n", table->chunks[i].users[u], i);
    buf_add(&buf, STR("}\n"));
    return buf_str(&buf);
}

Str print_attribute(const ChunkTable *table, Str name) {
    Buf buf = {.arena = table->arena};
    buf_add(&buf, STR("file,line,target,"));
    csv_add_cell(&buf, name);
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        Str value;
        if (chunk->target.len == 0 || !fence_attribute(chunk->part, name, &value)) continue;
        buf_char(&buf, '\n');
        csv_add_cell(&buf, table->files[chunk->file].path);
        buf_format(&buf, ",%zu,", chunk->line);
        csv_add_cell(&buf, chunk->target);
        buf_char(&buf, ',');
        csv_add_cell(&buf, value);
    }
    buf_char(&buf, '\n');
    return buf_str(&buf);
}

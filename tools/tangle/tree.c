// Reports targets that are links or that a link would put outside the output folder.
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/path.h"
#include "tangle/tangle.h"

typedef struct {
    ChunkTable *table;
    Str root;  // the real path of `folder`
    Map known; // folders checked: 1 if they are missing, or no link to outside
} Tree;

static Str real_path(Arena *arena, Str path) {
    char *found = realpath(str_terminated(arena, path), NULL);
    Str copy = found ? str_of(str_terminated(arena, str_of(found))) : (Str){NULL, 0};
    free(found);
    return copy;
}

static bool is_link(Arena *arena, Str path) {
    struct stat status;
    return lstat(str_terminated(arena, path), &status) == 0 && S_ISLNK(status.st_mode);
}

static bool is_inside(const Tree *tree, Str real) {
    bool starts = real.len && str_starts(real, tree->root);
    bool whole = str_equal(tree->root, STR("/")) || real.len == tree->root.len;
    return starts && (whole || real.at[tree->root.len] == '/');
}

static void fail(Tree *tree, const Chunk *chunk, Str link, const char *what) {
    Arena *arena = tree->table->arena;
    char target[4096];
    ssize_t length = readlink(str_terminated(arena, link), target, sizeof target);
    chunk_fail(tree->table, chunk->file, chunk->line,
               "file target `%.*s` %s: %.*s is a link to %.*s", STR_ARG(chunk->target), what,
               STR_ARG(link), length < 0 ? 0 : (int)length, target);
}

// Checks the folders of a target from the root on, then the target.
static void check_target(Tree *tree, Str folder, const Chunk *chunk) {
    Arena *arena = tree->table->arena;
    Str target = chunk->target;
    for (size_t i = 0; i < target.len; i++) {
        if (target.at[i] != '/') continue;
        Str path = path_join(arena, folder, str_slice(target, 0, i));
        bool is_new;
        size_t *good = map_at(&tree->known, path, &is_new);
        if (is_new) *good = !is_link(arena, path) || is_inside(tree, real_path(arena, path));
        if (*good) continue;
        fail(tree, chunk, path, "would be written outside the output folder");
        return;
    }
    Str path = path_join(arena, folder, target);
    if (is_link(arena, path)) fail(tree, chunk, path, "would be written through a link");
}

void tree_check(ChunkTable *table, Str folder) {
    Tree tree = {.table = table, .known = {.arena = table->arena}};
    tree.root = real_path(table->arena, folder);
    if (tree.root.len == 0) return; // it does not exist yet and so has no links
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        if (chunk->target.len && !chunk->misplaced) check_target(&tree, folder, chunk);
    }
}

// Finds files below code/ that no chapter defines any more.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "tangle/tangle.h"

static int compare_strs(const void *a, const void *b) {
    const Str *left = a, *right = b;
    return str_compare(*left, *right);
}

typedef struct {
    Arena *arena;
    Str *items;
    size_t count, capacity;
} Paths;

static void add_path(Paths *paths, Str path) {
    ARENA_GROW(paths->arena, paths->items, paths->count, paths->capacity);
    paths->items[paths->count++] = path;
}

static void sort_paths(Paths *paths) {
    if (paths->count) qsort(paths->items, paths->count, sizeof *paths->items, compare_strs);
}

static bool has_path(const Paths *sorted, Str path) {
    return sorted->count &&
           bsearch(&path, sorted->items, sorted->count, sizeof *sorted->items, compare_strs);
}

// Adds the subfolders of a folder to `folders`, and its files that are not targets to `found`.
static void read_folder(Str folder, const Paths *targets, Paths *folders, Paths *found) {
    Arena *arena = found->arena;
    DIR *entries = opendir(str_terminated(arena, folder));
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        struct stat status;
        Str path = path_join(arena, folder, str_of(entry->d_name));
        if (entry->d_name[0] == '.' || lstat(str_terminated(arena, path), &status) != 0) continue;
        if (S_ISDIR(status.st_mode))
            add_path(folders, path);
        else if (S_ISREG(status.st_mode) && !str_ends(path, STR(".mine")) &&
                 !has_path(targets, path))
            add_path(found, path);
    }
    closedir(entries);
}

size_t prune_stale_files(const ChunkTable *table, Str folder, Str **paths) {
    Arena *arena = table->arena;
    Paths targets = {.arena = arena}, folders = {.arena = arena}, found = {.arena = arena};
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].target.len)
            add_path(&targets, path_join(arena, folder, table->chunks[i].target));
    sort_paths(&targets);
    Str code = path_join(arena, folder, STR("code"));
    struct stat status;
    bool link = lstat(str_terminated(arena, code), &status) == 0 && S_ISLNK(status.st_mode);
    if (!link) add_path(&folders, code); // the target of a link may hold other files
    while (folders.count) read_folder(folders.items[--folders.count], &targets, &folders, &found);
    sort_paths(&found);
    *paths = found.items;
    return found.count;
}

// Stale outputs: see tangle_prune.h.
#define _POSIX_C_SOURCE 200809L
#include "tangle/prune.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tangle/print.h"

static int compare_strs(const void *a, const void *b) {
    const Str *left = a, *right = b;
    return str_compare(*left, *right);
}

static const char *join(Arena *arena, Str folder, const char *name) {
    Buf buf = {.arena = arena};
    buf_add(&buf, folder);
    buf_char(&buf, '/');
    buf_add(&buf, str_of(name));
    return str_terminated(arena, buf_str(&buf));
}

size_t tangle_stale_files(const ChunkTable *table, const char *folder, Str **paths) {
    Arena *arena = table->arena;
    Str *kept = ARENA_NEW(arena, table->chunk_count, Str);
    size_t kept_count = 0;
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].target.len)
            kept[kept_count++] = str_of(tangle_target_path(arena, folder, table->chunks[i].target));
    if (kept_count) qsort(kept, kept_count, sizeof *kept, compare_strs);

    Str *folders = NULL, *found = NULL;
    size_t folder_count = 0, folder_capacity = 0, found_count = 0, found_capacity = 0;
    ARENA_GROW(arena, folders, folder_count, folder_capacity);
    folders[folder_count++] = str_of(tangle_target_path(arena, folder, STR("code")));
    while (folder_count) {
        Str at = folders[--folder_count];
        DIR *entries = opendir(str_terminated(arena, at));
        if (!entries) continue;
        for (struct dirent *entry; (entry = readdir(entries));) {
            struct stat status;
            const char *path = join(arena, at, entry->d_name);
            if (entry->d_name[0] == '.' || lstat(path, &status) != 0) continue;
            Str name = str_of(path);
            if (S_ISDIR(status.st_mode)) {
                ARENA_GROW(arena, folders, folder_count, folder_capacity);
                folders[folder_count++] = name;
            } else if (S_ISREG(status.st_mode) &&
                       !(kept_count &&
                         bsearch(&name, kept, kept_count, sizeof *kept, compare_strs))) {
                ARENA_GROW(arena, found, found_count, found_capacity);
                found[found_count++] = name;
            }
        }
        closedir(entries);
    }
    if (found_count) qsort(found, found_count, sizeof *found, compare_strs);
    *paths = found;
    return found_count;
}

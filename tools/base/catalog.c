// Classifies, names and lists the files of results.
#define _POSIX_C_SOURCE 200809L
#include "base/catalog.h"

#include <dirent.h>
#include <stdlib.h>

// The prefix and suffix of each kind's names. The first match decides; every name matches the last.
static const struct {
    CatalogKind kind;
    Str kind_name, before, after;
} kinds[] = {
    {CATALOG_TRACE, STR("trace"), STR("trace-"), STR("")},
    {CATALOG_COMPARE, STR("compare"), STR("compare-"), STR("")},
    {CATALOG_ERRORS, STR("errors"), STR("errors"), STR("")},
    {CATALOG_STEPS, STR("steps"), STR("steps/"), STR("")},
    {CATALOG_PREDICTED, STR("predicted"), STR("predicted/"), STR("")},
    {CATALOG_COUNTS_MACHINE, STR("counts-machine"), STR("cpu-machine"), STR("")},
    {CATALOG_COUNTS_LINES, STR("counts-lines"), STR("cpu-lines"), STR("")},
    {CATALOG_COUNTS_SMALL, STR("counts-small"), STR("cpu-small"), STR("")},
    {CATALOG_MACHINE, STR("machine"), STR(""), STR("-machine")},
    {CATALOG_WRONG, STR("wrong"), STR(""), STR("-wrong")},
    {CATALOG_LIMITS, STR("limits"), STR(""), STR("-limits")},
    {CATALOG_SHAPES, STR("shapes"), STR(""), STR("-shapes")},
    {CATALOG_NEWEST, STR("newest"), STR(""), STR("-newest")},
    {CATALOG_COUNTS, STR("counts"), STR("cpu"), STR("")},
    {CATALOG_TIMES, STR("times"), STR(""), STR("")},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool catalog_is_counts(CatalogKind kind) {
    return kind >= CATALOG_COUNTS && kind <= CATALOG_COUNTS_SMALL;
}

CatalogFile catalog_file(Str name) {
    CatalogFile file = {.name = name, .device = STR(""), .chapter = STR("")};
    size_t k = 0;
    for (; k < KINDS - 1; k++) {
        const bool fits = str_starts(name, kinds[k].before) && str_ends(name, kinds[k].after);
        if (fits && (!catalog_is_counts(kinds[k].kind) || name.len == kinds[k].before.len)) break;
    }
    const Str rest = str_slice(name, kinds[k].before.len, name.len - kinds[k].after.len);
    file.kind = kinds[k].kind;
    if (file.kind <= CATALOG_PREDICTED) file.device = rest;
    if (file.kind == CATALOG_TRACE || file.kind == CATALOG_STEPS)
        file.chapter = str_slice(rest, 0, str_find(rest, STR("-")));
    return file;
}

static size_t row_of(CatalogKind kind) {
    size_t k = 0;
    while (kinds[k].kind != kind) k++;
    return k;
}

Str catalog_kind_name(CatalogKind kind) { return kinds[row_of(kind)].kind_name; }

char *catalog_path(Arena *arena, const char *folder, CatalogKind kind, Str device) {
    Buf path = {.arena = arena};
    const size_t k = row_of(kind);
    buf_format(&path, "%s/%.*s%.*s%.*s.csv", folder, STR_ARG(kinds[k].before), STR_ARG(device),
               STR_ARG(kinds[k].after));
    return str_terminated(arena, buf_str(&path));
}

char *catalog_file_path(Arena *arena, const char *folder, const CatalogFile *file) {
    Buf path = {.arena = arena};
    buf_format(&path, "%s/%.*s.csv", folder, STR_ARG(file->name));
    return str_terminated(arena, buf_str(&path));
}

static int by_name(const void *a, const void *b) {
    return str_compare(((const CatalogFile *)a)->name, ((const CatalogFile *)b)->name);
}

size_t catalog_list(Arena *arena, const char *folder, CatalogFile **files) {
    static const char *const below[] = {"", "errors/", "predicted/", "steps/"};
    const Str suffix = STR(".csv");
    size_t count = 0, capacity = 0;
    *files = NULL;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        const size_t first = count;
        Buf path = {.arena = arena};
        buf_format(&path, "%s/%s", folder, below[i]);
        DIR *listing = opendir(str_terminated(arena, buf_str(&path)));
        if (!listing) continue;
        for (struct dirent *entry; (entry = readdir(listing));) {
            const Str base = str_of(entry->d_name);
            Buf name = {.arena = arena};
            if (base.len <= suffix.len || base.at[0] == '.' || !str_ends(base, suffix)) continue;
            ARENA_GROW(arena, *files, count, capacity);
            buf_format(&name, "%s%.*s", below[i], STR_ARG(str_slice(base, 0, base.len - 4)));
            (*files)[count++] = catalog_file(buf_str(&name));
        }
        closedir(listing);
        if (count > first) qsort(*files + first, count - first, sizeof **files, by_name);
    }
    return count;
}

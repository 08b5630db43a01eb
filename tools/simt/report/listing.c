// Lists the machine instructions of a source line: see profile.h.

#include <string.h>

#include "simt/report/profile.h"
#include "simt/report/source.h"

// Adds up the counters of each instruction over all launches of a kernel.
static Counters *count_all(Arena *arena, const ProfileKernel *kernel) {
    Counters *counted = ARENA_NEW(arena, kernel->inst_count + 1u, Counters);
    memset(counted, 0, kernel->inst_count * sizeof *counted);
    for (uint32_t k = 0; k < kernel->rest_capacity; k++) counted[k] = kernel->rest_insts[k];
    for (size_t p = 0; p < kernel->profile_count; p++) {
        const Profile *profile = &kernel->profiles[p];
        for (size_t e = 0; e < profile->counted; e++) {
            const ProfileEntry *entry = &profile->entries[e];
            for (uint32_t k = entry->first; k <= entry->last; k++)
                counted[k].value[entry->counter] += entry->value * profile->launches;
        }
    }
    return counted;
}

// Returns count_all() of a kernel, computed once.
static const Counters *counted_of(Arena *arena, size_t number) {
    static Counters **known;
    size_t kernels;
    const ProfileKernel *all = profile_kernels(&kernels);
    if (!known) {
        known = ARENA_NEW(arena, kernels, Counters *);
        memset(known, 0, kernels * sizeof *known);
    }
    if (!known[number]) known[number] = count_all(arena, &all[number]);
    return known[number];
}

static Str text_of(const ProfileFunction *function, uint32_t inst) {
    Str rest = function->text, line = STR("");
    for (uint32_t k = 0; k <= function->line[inst]; k++)
        if (!str_line(&rest, &line)) return STR("");
    return str_trim(line);
}

const ListingInst *listing_of(Arena *arena, const char *kernel, const char *file, uint32_t line,
                              size_t *count) {
    size_t kernels, capacity = 0;
    const ProfileKernel *all = profile_kernels(&kernels);
    const size_t wanted = source_file(arena, file);
    ListingInst *found = NULL;
    *count = 0;
    for (size_t k = 0; k < kernels; k++) {
        if (strcmp(all[k].name, kernel) != 0) continue;
        const Counters *counted = counted_of(arena, k);
        for (size_t f = 0; f < all[k].function_count; f++) {
            const ProfileFunction *function = &all[k].functions[f];
            for (uint32_t i = 0; i < function->count; i++) {
                if (function->file[i] != wanted || function->source_line[i] != line) continue;
                ARENA_GROW(arena, found, *count, capacity);
                found[(*count)++] =
                    (ListingInst){text_of(function, i), counted[function->first + i]};
            }
        }
    }
    return found;
}

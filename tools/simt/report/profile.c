// Collects counters by instruction: see profile.h.
#include "simt/report/profile.h"

#include <string.h>

#include "simt/report/source.h"

enum { SAVED_LAUNCHES = 32, SAVED_ENTRIES = 200000 }; // per kernel; of all kernels

static ProfileKernel *kernels;
static size_t kernel_count, kernel_capacity, entries_saved;

const ProfileKernel *profile_kernels(size_t *count) {
    *count = kernel_count;
    return kernels;
}

// --- kernels and functions ---

// Compares the text as well, because modules may have different kernels of one name.
static ProfileKernel *find_kernel(Arena *arena, const char *mangled, const char *name, Str text) {
    for (size_t k = 0; k < kernel_count; k++)
        if (strcmp(kernels[k].mangled, mangled) == 0 && kernels[k].function_count &&
            str_equal(kernels[k].functions[0].text, text))
            return &kernels[k];
    ARENA_GROW(arena, kernels, kernel_count, kernel_capacity);
    kernels[kernel_count] = (ProfileKernel){
        .mangled = str_terminated(arena, str_of(mangled)),
        .name = str_terminated(arena, str_of(name)),
    };
    return &kernels[kernel_count++];
}

static Str copy(Arena *arena, Str text) { return (Str){str_terminated(arena, text), text.len}; }

static void add_function(Arena *arena, ProfileKernel *kernel, const PtxModule *module,
                         const PtxFunction *function) {
    ProfileFunction added = {.name = copy(arena, function->name),
                             .text = copy(arena, function->text),
                             .first = kernel->inst_count,
                             .count = function->inst_count,
                             .line = ARENA_NEW(arena, function->inst_count + 1u, uint32_t),
                             .file = ARENA_NEW(arena, function->inst_count + 1u, size_t),
                             .source_line = ARENA_NEW(arena, function->inst_count + 1u, uint32_t)};
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        const PtxPlace place = inst->place;
        added.line[k] = inst->ptx_line - function->ptx_line;
        if (place.line && place.file < module->file_count)
            added.file[k] = source_file(arena, module->file_short[place.file]);
        if (added.file[k]) added.source_line[k] = place.line;
        source_want(arena, added.file[k], added.source_line[k]);
    }
    ARENA_GROW(arena, kernel->functions, kernel->function_count, kernel->function_capacity);
    kernel->functions[kernel->function_count++] = added;
    kernel->inst_count += function->inst_count;
}

// The number of a function's first instruction in the kernel.
static uint32_t first_of(Arena *arena, ProfileKernel *kernel, const PtxModule *module,
                         const PtxFunction *function) {
    for (size_t k = 0; k < kernel->function_count; k++)
        if (str_equal(kernel->functions[k].name, function->name)) return kernel->functions[k].first;
    add_function(arena, kernel, module, function);
    return kernel->functions[kernel->function_count - 1].first;
}

// --- launches ---

static void add_entry(Arena *arena, Profile *now, ProfileEntry entry) {
    ARENA_GROW(arena, now->entries, now->count, now->capacity);
    now->entries[now->count++] = entry;
}

// Distributes the predicted time over instructions and stalls in proportion to warp cycles.
static void add_times(Arena *arena, Profile *now, uint32_t first, const TimePrediction *time) {
    double cycles = 0;
    for (uint32_t p = 0; p < time->place_count; p++)
        for (int k = 0; k < STALLS; k++) cycles += time->places[p].cycles[k];
    for (uint32_t p = 0; p < time->place_count; p++)
        for (uint32_t k = 0; k < STALLS; k++) {
            const double part = time->places[p].cycles[k] / cycles * time->us * 1e6;
            const uint32_t inst = first + time->places[p].inst;
            if (part >= 1)
                add_entry(arena, now, (ProfileEntry){inst, inst, COUNTERS + k, (uint64_t)part});
        }
}

// Reads the entries of a launch into a buffer that all launches share.
static Profile *read_launch(Arena *arena, ProfileKernel *kernel, const Launch *launch,
                            const LaunchReport *report) {
    static Profile now;
    now.grid = launch->grid;
    now.block = launch->block;
    now.total = report->total;
    now.count = 0;
    for (size_t s = 0; s < report->span_count; s++) {
        const SpanCounters *span = &report->spans[s];
        if (span->ptx == span->ptx_end) continue;
        const uint32_t first = first_of(arena, kernel, report->module, span->function);
        for (uint32_t counter = 0; counter < COUNTERS; counter++) {
            const uint64_t value = span->counters.value[counter];
            if (!value) continue;
            add_entry(arena, &now,
                      (ProfileEntry){first + span->ptx, first + span->ptx_end - 1, counter, value});
        }
    }
    now.counted = now.count;
    now.time = report->time ? *report->time : (TimePrediction){0};
    add_times(arena, &now, first_of(arena, kernel, report->module, report->function), &now.time);
    now.time.places = NULL; // freed with the launch
    return &now;
}

static bool same_shape(Dim3 a, Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static bool same_entries(const Profile *a, const Profile *b) {
    if (a->counted != b->counted) return false;
    for (size_t k = 0; k < a->counted; k++) {
        const ProfileEntry *x = &a->entries[k], *y = &b->entries[k];
        if (x->first != y->first || x->last != y->last || x->counter != y->counter ||
            x->value != y->value)
            return false;
    }
    return true;
}

static bool same_profile(const Profile *a, const Profile *b) {
    return same_shape(a->grid, b->grid) && same_shape(a->block, b->block) && same_entries(a, b);
}

static void add_to_rest(Arena *arena, ProfileKernel *kernel, const Profile *now) {
    if (kernel->rest_capacity < kernel->inst_count) {
        Counters *grown = ARENA_NEW(arena, kernel->inst_count, Counters);
        if (kernel->rest_capacity)
            memcpy(grown, kernel->rest_insts, kernel->rest_capacity * sizeof *grown);
        kernel->rest_insts = grown;
        kernel->rest_capacity = kernel->inst_count;
    }
    kernel->rest.launches++;
    for (int k = 0; k < COUNTERS; k++) kernel->rest.total.value[k] += now->total.value[k];
    for (size_t k = 0; k < now->counted; k++) {
        const ProfileEntry *entry = &now->entries[k];
        for (uint32_t i = entry->first; i <= entry->last; i++)
            kernel->rest_insts[i].value[entry->counter] += entry->value;
    }
}

// Saves a launch in a new slot, or in one that --last has freed.
static void save_launch(Arena *arena, ProfileKernel *kernel, const Profile *now, size_t number) {
    ARENA_GROW(arena, kernel->profiles, kernel->profile_count, kernel->profile_capacity);
    Profile *to = &kernel->profiles[kernel->profile_count++];
    ProfileEntry *entries = to->entries;
    size_t capacity = to->capacity;
    if (capacity < now->count) {
        capacity = now->count;
        entries = ARENA_NEW(arena, capacity, ProfileEntry);
        entries_saved += capacity;
    }
    *to = *now;
    to->entries = entries;
    to->capacity = capacity;
    to->launches = 1;
    to->launch = number;
    if (now->count) memcpy(entries, now->entries, now->count * sizeof *entries);
}

static void add_launch(Arena *arena, ProfileKernel *kernel, const Profile *now, size_t number) {
    for (size_t k = 0; k < kernel->profile_count; k++) {
        if (!same_profile(&kernel->profiles[k], now)) continue;
        kernel->profiles[k].launches++;
        return;
    }
    if (kernel->profile_count < SAVED_LAUNCHES && entries_saved < SAVED_ENTRIES)
        save_launch(arena, kernel, now, number);
    else
        add_to_rest(arena, kernel, now);
}

// --- shared memory ---

// The record for all launches or, with `by_size`, for launches with blocks of this size.
static ProfileBanks *banks_at(Arena *arena, ProfileKernel *kernel, uint32_t inst, Dim3 threads,
                              bool by_size) {
    for (size_t k = 0; k < kernel->bank_count; k++)
        if (kernel->banks[k].found.ptx == inst &&
            (!by_size || same_shape(kernel->banks[k].threads, threads)))
            return &kernel->banks[k];
    ARENA_GROW(arena, kernel->banks, kernel->bank_count, kernel->bank_capacity);
    kernel->banks[kernel->bank_count] = (ProfileBanks){.found = {.ptx = inst}, .threads = threads};
    return &kernel->banks[kernel->bank_count++];
}

static bool worse(const BankAccesses *a, const BankAccesses *b) {
    return a->wavefronts != b->wavefronts
               ? a->wavefronts > b->wavefronts
               : __builtin_popcount(a->lanes) > __builtin_popcount(b->lanes);
}

static void add_banks(Arena *arena, ProfileKernel *kernel, bool by_size, size_t number,
                      const Launch *launch, const LaunchReport *report) {
    for (size_t k = 0; k < report->bank_count; k++) {
        BankAccesses now = report->banks[k];
        now.ptx += first_of(arena, kernel, report->module, now.function);
        now.function = NULL; // the module may be unloaded
        ProfileBanks *to = banks_at(arena, kernel, now.ptx, launch->block, by_size);
        const bool shown = worse(&now, &to->found);
        for (int w = 0; w <= BANK_WAVEFRONTS; w++) {
            now.accesses[w] += to->found.accesses[w];
            to->found.accesses[w] = now.accesses[w];
        }
        if (!shown) continue;
        *to = (ProfileBanks){now, number, dim3_at(now.block, launch->grid), launch->block};
    }
}

// --- all of it ---

// Drops launches of this kernel with blocks of this size. Later launches reuse their memory.
static void forget(const char *name, Dim3 block) {
    for (size_t k = 0; k < kernel_count; k++) {
        ProfileKernel *kernel = &kernels[k];
        size_t left = 0, banks = 0;
        if (strcmp(kernel->name, name) != 0) continue;
        for (size_t p = 0; p < kernel->profile_count; p++) {
            const Profile of = kernel->profiles[p];
            if (same_shape(of.block, block)) continue;
            kernel->profiles[p] = kernel->profiles[left];
            kernel->profiles[left++] = of;
        }
        for (size_t b = 0; b < kernel->bank_count; b++)
            if (!same_shape(kernel->banks[b].threads, block))
                kernel->banks[banks++] = kernel->banks[b];
        kernel->profile_count = left;
        kernel->bank_count = banks;
    }
}

void profile_add(Arena *arena, const char *mangled, const char *name, bool only_last, size_t number,
                 const Launch *launch, const LaunchReport *report) {
    if (only_last) forget(name, launch->block);
    ProfileKernel *kernel = find_kernel(arena, mangled, name, report->function->text);
    if (!kernel->function_count) add_function(arena, kernel, report->module, report->function);
    add_launch(arena, kernel, read_launch(arena, kernel, launch, report), number);
    add_banks(arena, kernel, only_last, number, launch, report);
}

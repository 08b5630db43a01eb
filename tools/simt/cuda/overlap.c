// Finds conflicting accesses of unordered operations and reports them as hazards.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/overlap.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/memory/memory.h"
#include "simt/program/runtime.h"
#include "simt/report/report.h"

// --- parts ---

static OverlapPart *new_part(const char *name, bool kernel, const TouchedList *list) {
    OverlapPart *part = calloc(1, sizeof *part);
    Touched *at = malloc((list->count + 1) * sizeof *at);
    char *copy = strdup(name);
    if (!part || !at || !copy) {
        free(part);
        free(at);
        free(copy);
        return NULL;
    }
    if (list->count) memcpy(at, list->at, list->count * sizeof *at);
    *part = (OverlapPart){.name = copy, .kernel = kernel, .list = *list};
    part->list.at = at;
    while (part->reads < list->count && !at[part->reads].write) part->reads++;
    return part;
}

OverlapPart *overlap_kernel(const char *name, const TouchedList *touched) {
    return new_part(name, true, touched);
}

// Adds rows; contiguous rows become one range.
static void add_rows(TouchedList *list, uint64_t first, size_t pitch, size_t slice, size_t width,
                     size_t height, size_t depth, bool write) {
    enum { MOST_ROWS = 1 << 16 };
    if (!memory_reserved(first) || height > MOST_ROWS || depth > MOST_ROWS / height) return;
    Touched *grown = realloc(list->at, (list->count + height * depth) * sizeof *grown);
    if (!grown) return;
    list->at = grown;
    for (size_t row = 0; row < height * depth; row++) {
        const uint64_t low = first + row / height * slice + row % height * pitch;
        Touched *last = list->count ? &list->at[list->count - 1] : NULL;
        if (last && last->write == write && last->high == low)
            last->high = low + width;
        else
            list->at[list->count++] = (Touched){.low = low, .high = low + width, .write = write};
    }
}

// Finds the callers of the current call: the program's, and for a template of the toolkit its own.
OverlapCall overlap_call(void) {
    enum { MOST = 32 };
    void *frames[MOST];
    uint64_t from;
    OverlapCall call = {.name = runtime_call(&from)};
    call.from[0] = (void *)(uintptr_t)(from + 1); // a return address
    if (!call.name || !strstr(call.name, "Symbol")) return call;
    const int count = backtrace(frames, MOST);
    for (int k = 0; k + 1 < count; k++)
        if (frames[k] == call.from[0]) call.from[1] = frames[k + 1];
    return call;
}

static OverlapPart *part_of_rows(TouchedList *list, OverlapCall by) {
    const bool graph = strncmp(by.name, "cudaGraph", strlen("cudaGraph")) == 0;
    OverlapPart *part = new_part(graph ? "a copy of a graph" : by.name, false, list);
    free(list->at);
    if (part && !graph) memcpy(part->from, by.from, sizeof part->from);
    return part;
}

OverlapPart *overlap_copy(const Copy *copy, OverlapCall by) {
    TouchedList list = {0};
    if (!copy->width || !copy->height || !copy->depth) return NULL;
    add_rows(&list, copy->from, copy->from_pitch, copy->from_slice, copy->width, copy->height,
             copy->depth, false);
    add_rows(&list, copy->to, copy->to_pitch, copy->to_slice, copy->width, copy->height,
             copy->depth, true);
    return part_of_rows(&list, by);
}

OverlapPart *overlap_fill(const Fill *fill, OverlapCall by) {
    TouchedList list = {0};
    if (!fill->width || !fill->height) return NULL;
    add_rows(&list, fill->to, fill->pitch, 0, fill->width * fill->element, fill->height, 1, true);
    return part_of_rows(&list, by);
}

OverlapPart *overlap_memory(uint64_t address, size_t bytes, bool frees, OverlapCall by) {
    TouchedList list = {0};
    add_rows(&list, address, 0, 0, bytes, 1, 1, true);
    OverlapPart *part = new_part(frees ? "cudaFreeAsync" : "cudaMallocAsync", false, &list);
    free(list.at);
    if (!part) return NULL;
    part->does = frees ? "frees" : "allocates";
    memcpy(part->from, by.from, sizeof part->from);
    return part;
}

bool overlap_is_empty(const OverlapPart *parts) {
    const OverlapPart *part = parts;
    while (part && part->kernel && !part->list.count) part = part->next;
    return parts && !part;
}

size_t overlap_free(OverlapPart *parts) {
    size_t count = 0;
    for (OverlapPart *part = parts, *next; part; part = next) {
        next = part->next;
        count += part->list.count;
        free(part->name);
        free(part->list.at);
        free(part);
    }
    return count;
}

// --- conflicts ---

typedef struct {
    const Touched *at;
    size_t count;
} Ranges;

static Ranges ranges_of(const OverlapPart *part, bool write) {
    if (write) return (Ranges){part->list.at + part->reads, part->list.count - part->reads};
    return (Ranges){part->list.at, part->reads};
}

typedef struct {
    const Touched *later, *earlier; // NULL: none
} Conflict;

// Finds the first bytes in both lists: with `strong` by strong accesses on both sides.
static Conflict common(Ranges later, Ranges earlier, bool strong) {
    size_t i = 0, j = 0;
    while (i < later.count && j < earlier.count) {
        const Touched *a = &later.at[i], *b = &earlier.at[j];
        if (a->low < b->high && b->low < a->high && (a->strong && b->strong) == strong)
            return (Conflict){a, b};
        if (a->high <= b->high)
            i++;
        else
            j++;
    }
    return (Conflict){NULL, NULL};
}

// Whether the earlier part may be ordered before the later one: it released a word that the later
// one accesses.
static bool may_be_ordered(const OverlapPart *later, const OverlapPart *earlier) {
    if (!earlier->list.promises.releases) return false;
    const Ranges words = ranges_of(earlier, true);
    return common(ranges_of(later, false), words, true).later ||
           common(ranges_of(later, true), words, true).later;
}

static Conflict conflict(const OverlapPart *later, const OverlapPart *earlier) {
    Conflict found = common(ranges_of(later, true), ranges_of(earlier, true), false);
    if (!found.later) found = common(ranges_of(later, false), ranges_of(earlier, true), false);
    if (!found.later) found = common(ranges_of(later, true), ranges_of(earlier, false), false);
    return found;
}

// --- reports ---

// Writes, for example, "bytes 0 to 63 of 256 from cudaMalloc".
static void write_bytes(char *text, size_t size, uint64_t low, uint64_t high) {
    static const char *const from[] = {
        [MEMORY_MODULE] = "of a variable",         [MEMORY_CONSTANTS] = "of a variable",
        [MEMORY_VARIABLES] = "of a variable",      [MEMORY_DEVICE] = "from cudaMalloc",
        [MEMORY_HEAP] = "from malloc in a kernel", [MEMORY_MANAGED] = "from cudaMallocManaged",
        [MEMORY_PINNED] = "from cudaMallocHost"};
    const Allocation *of = memory_before(low);
    const unsigned long long first = low - of->address, last = high - of->address - 1;
    const int used = last > first ? snprintf(text, size, "bytes %llu to %llu", first, last)
                                  : snprintf(text, size, "byte %llu", first);
    snprintf(text + used, size - (size_t)used, " of %zu %s", of->bytes, from[of->kind]);
}

enum { PLACE = 300 };

// Writes where an access is: a kernel's line or a call in host code; empty if unknown.
static void write_place(char text[PLACE], const OverlapPart *part, const Touched *at) {
    text[0] = '\0';
    if (at->line)
        snprintf(text, PLACE, "%s:%u", at->file ? at->file : "?", at->line);
    else if (part->from[0])
        host_line_of(part->from, part->from[1] ? 2 : 1, text, PLACE);
}

static void write_other(char text[PLACE], const OverlapPart *part, const Touched *at) {
    char place[PLACE];
    write_place(place, part, at);
    snprintf(text, PLACE, place[0] ? " (%.290s)" : "%s", place);
}

static const char *verb(const OverlapPart *part, const Touched *at) {
    return part->does ? part->does : at->write ? "writes" : "reads";
}

static void report_conflict(const OverlapPart *later, const OverlapPart *earlier, Conflict at,
                            bool together, const OverlapCall *early) {
    char bytes[128], place[PLACE], other[PLACE], text[1536], wait[PLACE], advice[512] = "";
    const uint64_t low = at.later->low > at.earlier->low ? at.later->low : at.earlier->low;
    const uint64_t high = at.later->high < at.earlier->high ? at.later->high : at.earlier->high;
    write_bytes(bytes, sizeof bytes, low, high);
    write_place(place, later, at.later);
    write_other(other, earlier, at.earlier);
    if (early) {
        host_line_of(early->from, 1, wait, PLACE);
        snprintf(advice, sizeof advice,
                 "; cudaStreamWaitEvent()%s%s%s was called before cudaEventRecord(), so it waited "
                 "for nothing: record the event before this wait",
                 wait[0] ? " (" : "", wait, wait[0] ? ")" : "");
    }
    snprintf(text, sizeof text,
             "%s%srace between %s in %s, %s\n"
             "    it %s what %s%s %s, and the two are not ordered: %s%s\n",
             place, place[0] ? ": " : "", together ? "nodes of a graph" : "streams", later->name,
             bytes, verb(later, at.later), earlier->name, other, verb(earlier, at.earlier),
             together ? "make one node depend on the other"
                      : "cudaStreamWaitEvent() between them, or one stream for both",
             advice);
    const Hazard hazard = {.kind = "race between streams",
                           .file = at.later->file,
                           .line = at.later->line,
                           .other_file = at.earlier->file,
                           .other_line = at.earlier->line,
                           .told = text,
                           .occurrences = 1};
    report_host(later->kernel ? later->name : earlier->name, &hazard);
}

bool overlap_report(const OverlapPart *later, const OverlapPart *earlier, bool together,
                    const OverlapCall *early) {
    bool any = false;
    for (const OverlapPart *a = later; a; a = a->next)
        for (const OverlapPart *b = earlier; b; b = b->next) {
            const Conflict found = conflict(a, b);
            if (!found.later || may_be_ordered(a, b)) continue;
            report_conflict(a, b, found, together, early);
            any = true;
        }
    return any;
}

// --- host code ---

enum { NEAR = 1 << 16 }; // ranges closer than this are guarded together

static bool of_host(uint64_t address) {
    const Allocation *allocation = memory_find(address);
    return allocation && allocation->live && memory_of_host(allocation->kind);
}

static void guard_ranges(Ranges ranges, bool write) {
    uint64_t low = 0, high = 0;
    for (size_t k = 0; k < ranges.count; k++) {
        const Touched *at = &ranges.at[k];
        if (!of_host(at->low)) continue;
        const bool near = high && at->low - high < NEAR && memory_find(low) == memory_find(at->low);
        if (high && !near) guard_pages(low, high, write);
        if (!near) low = at->low;
        high = at->high;
    }
    if (high) guard_pages(low, high, write);
}

void overlap_guard(const OverlapPart *parts) {
    if (!memory_of_host_count) return;
    for (const OverlapPart *part = parts; part; part = part->next)
        for (int write = 0; write < 2; write++) guard_ranges(ranges_of(part, write), write);
}

void overlap_guard_all(void) {
    if (!memory_of_host_count) return;
    const Allocation *at = memory_before(memory_high);
    for (; at; at = memory_before(at->address - 1))
        if (at->live && memory_of_host(at->kind))
            guard_unknown(at->address, at->address + at->bytes);
}

static const Touched *range_at(Ranges ranges, uint64_t address) {
    for (size_t k = 0; k < ranges.count; k++)
        if (address >= ranges.at[k].low && address < ranges.at[k].high) return &ranges.at[k];
    return NULL;
}

// The access of the part for which the host should have waited, or NULL.
static const Touched *host_conflict(const OverlapPart *part, const GuardFault *fault) {
    const Touched *written = range_at(ranges_of(part, true), fault->address);
    if (written || !fault->write) return written;
    return range_at(ranges_of(part, false), fault->address);
}

const OverlapPart *overlap_with_host(const OverlapPart *parts, const GuardFault *fault) {
    while (parts && !host_conflict(parts, fault)) parts = parts->next;
    return parts;
}

void overlap_report_host(const OverlapPart *part, const GuardFault *fault) {
    char bytes[128], place[PLACE], other[PLACE], cause[1024], text[1280];
    const Touched *touched = host_conflict(part, fault);
    write_bytes(bytes, sizeof bytes, fault->address, fault->address + 1);
    host_line(fault->pc, place, PLACE);
    write_other(other, part, touched);
    snprintf(text, sizeof text,
             "%s%shost code does not wait: it %s %s\n"
             "    %s%s %s it, and may still run: cudaDeviceSynchronize() or another wait first\n",
             place, place[0] ? ": " : "", fault->write ? "writes" : "reads", bytes, part->name,
             other, touched->write ? "writes" : "reads");
    snprintf(cause, sizeof cause, "%s %d %s%s", place, fault->write, part->name, other);
    const Hazard hazard = {.kind = "host code does not wait",
                           .file = touched->file,
                           .line = touched->line,
                           .told = text,
                           .cause = cause,
                           .occurrences = 1};
    report_host(part->name, &hazard);
}

const OverlapPart *overlap_kernel_of(const OverlapPart *parts) {
    while (parts && !parts->kernel) parts = parts->next;
    return parts;
}

void overlap_report_end(const OverlapPart *kernel, bool prints) {
    char text[512];
    const Hazard hazard = {.kind = "work left behind", .told = text, .occurrences = 1};
    if (!prints) {
        if (runtime_exit_status() == 0)
            console_say_as("work left behind",
                           "note: the program ends before %s has: nothing waits for it",
                           kernel->name);
        return;
    }
    snprintf(text, sizeof text,
             "the program ends before %s has: nothing waits for it\n"
             "    a GPU drops what it prints: cudaDeviceSynchronize() before the end\n",
             kernel->name);
    report_host(kernel->name, &hazard);
}

void overlap_report_elapsed(void) {
    char place[PLACE], text[512];
    uint64_t from;
    const char *call = runtime_call(&from);
    host_line(from, place, PLACE);
    snprintf(text, sizeof text,
             "%s%snote: host code does not wait: %s uses an event that may not have completed\n"
             "    in that case it returns cudaErrorNotReady and no time: call "
             "cudaEventSynchronize() first\n",
             place, place[0] ? ": " : "", call);
    const Hazard hazard = {
        .kind = "host code does not wait", .note = true, .told = text, .occurrences = 1};
    report_host(call, &hazard);
}

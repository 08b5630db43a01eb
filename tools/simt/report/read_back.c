// Remembers the elements that depend on the order, and reports those that the host reads: scratch
// memory, flags and tickets may depend on it. See read_back.h.
#include "simt/report/read_back.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/exec/machine.h"
#include "simt/memory/memory.h"
#include "simt/report/name.h"
#include "simt/report/report.h"

enum { MOST = 1 << 13 }; // further elements are omitted

typedef struct {
    const char *kernel; // its mangled name
    Difference found;
} Kept;

static Kept *kept;
static size_t count;

// One report of each kind and line is enough.
static struct {
    const char *kernel, *file;
    uint32_t line;
    ResultKind kind;
} reported[64];
static size_t reports;

static bool was_reported(const Kept *one) {
    for (size_t k = 0; k < reports; k++)
        if (reported[k].kernel == one->kernel && reported[k].file == one->found.file &&
            reported[k].line == one->found.line && reported[k].kind == one->found.kind)
            return true;
    return reports == sizeof reported / sizeof *reported;
}

static void keep_those_that_hold(void) {
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (!was_reported(&kept[k]) && result_holds(&kept[k].found)) kept[left++] = kept[k];
    count = left;
}

static void add(const Kept *one) {
    if (!kept) kept = malloc(MOST * sizeof *kept);
    if (kept && count < MOST && !was_reported(one)) kept[count++] = *one;
}

void read_back_keep(const char *mangled, const Difference *found, size_t found_count) {
    if (found_count) keep_those_that_hold();
    for (size_t k = 0; k < found_count; k++) add(&(Kept){mangled, found[k]});
}

static bool within(const Kept *one, uint64_t address, size_t bytes) {
    const uint64_t end = one->found.address + ptx_type_bytes(one->found.type);
    return end > address && one->found.address < address + bytes;
}

void read_back_written(uint64_t address, size_t bytes) {
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (!within(&kept[k], address, bytes)) kept[left++] = kept[k];
    count = left;
}

void read_back_moved(uint64_t to, uint64_t from, size_t bytes) {
    const size_t before = count;
    for (size_t k = 0; k < before; k++) {
        Kept copy = kept[k];
        if (!within(&copy, from, bytes) || !result_holds(&copy.found)) continue;
        result_move(&copy.found, to + (copy.found.address - from));
        add(&copy);
    }
}

// --- reports ---

static void write_order(char *to, size_t room, uint64_t order) {
    if (order == ORDER_REVERSED)
        snprintf(to, room, "in reverse");
    else
        snprintf(to, room, "in order %llu", (unsigned long long)order);
}

static void write_value(char *to, size_t room, PtxType type, uint64_t value) {
    const uint32_t unused = 64 - ptx_type_bytes(type) * 8;
    const int64_t whole = (int64_t)(value << unused) >> unused;
    if (ptx_type_is_float(type))
        snprintf(to, room, type == PTX_F64 ? "%.17g" : "%.9g", result_number(type, value));
    else
        snprintf(to, room, "%lld", (long long)whole);
}

static void report(const Kept *one) {
    static const char *const what[] = {
        [RESULT_DIFFERS] = "result depends on the order",
        [RESULT_ROUNDED] = "note: result depends on the order, within rounding",
        [RESULT_MOVED] = "note: the places of results depend on the order"};
    static const char *const advice[] = {
        [RESULT_DIFFERS] = ("let the values decide, not which thread comes first: one "
                            "atomicMin(), atomicMax() or atomicAdd(), with ties broken by the "
                            "index"),
        [RESULT_ROUNDED] = "compare with a tolerance, or add in a fixed order",
        [RESULT_MOVED] =
            ("if their order matters, compute each place with a scan, or sort them on the device; "
             "a sort on the host does not remove this note")};
    const Difference *found = &one->found;
    char text[1024], name[512], place[300] = "", element[64] = "", value[48], other[48], order[48];
    if (found->line)
        snprintf(place, sizeof place, "%s:%u: ", found->file ? found->file : "PTX", found->line);
    if (found->argument)
        snprintf(element, sizeof element, "element %lld of argument %u", (long long)found->element,
                 found->argument);
    else if (memory_of_module(memory_find(found->address)->kind))
        snprintf(element, sizeof element, "a variable");
    else
        snprintf(element, sizeof element, "global address 0x%llx",
                 (unsigned long long)found->address);
    write_value(value, sizeof value, found->type, found->value);
    write_value(other, sizeof other, found->type, found->other);
    write_order(order, sizeof order, found->order);
    snprintf(text, sizeof text,
             "%s%s in %s\n"
             "    %s, which the host reads, is %s; with blocks and warps %s it is %s\n"
             "    %s\n",
             place, what[found->kind], name_kernel(one->kernel, name, sizeof name), element, value,
             order, other, advice[found->kind]);
    const Hazard hazard = {.kind = "result depends on the order",
                           .file = found->file,
                           .line = found->line,
                           .note = found->kind != RESULT_DIFFERS,
                           .told = text,
                           .occurrences = 1};
    report_host(name, &hazard);
    reported[reports].kernel = one->kernel;
    reported[reports].file = found->file;
    reported[reports].line = found->line;
    reported[reports++].kind = found->kind;
}

size_t read_back_count(void) { return count; }

uint64_t read_back_address(size_t number) {
    const Difference *found = &kept[number].found;
    return result_holds(found) ? found->address : 0;
}

void read_back_read(uint64_t address, size_t bytes) {
    for (size_t k = 0; k < count; k++)
        if (within(&kept[k], address, bytes) && !was_reported(&kept[k]) &&
            result_holds(&kept[k].found))
            report(&kept[k]);
}

// Tracks operations in flight: see unfinished.h. CUDA C++ Programming Guide, "Asynchronous
// Concurrent Execution"; CUDA runtime API, "API synchronization behavior".
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "simt/cuda/clock.h"
#include "simt/cuda/overlap.h"
#include "simt/cuda/queue.h"
#include "simt/cuda/read_guard.h"
#include "simt/cuda/stream.h"
#include "simt/memory/guard.h"
#include "simt/memory/memory.h"
#include "simt/program/runtime.h"
#include "simt/report/name.h"
#include "simt/report/read_back.h"
#include "simt/report/report.h"

// Limits on operations and on their ranges of bytes. Older operations count as finished.
enum { MOST_OPS = 256, BITS = 64, MOST_RANGES = 1 << 21 };

typedef struct {
    uint64_t bits[MOST_OPS / BITS];
} OpSet;

typedef struct {
    uint64_t number; // 0: a free slot
    const Stream *stream;
    OpSet before; // the operations ordered before this one
    OverlapPart *parts;
    bool branch; // part of a graph launch
    bool named;  // unfinished_last() has returned its number
    bool prints; // a kernel of it has printed
    bool known;  // the host may know that it is done
} Unfinished;

static Unfinished ops[MOST_OPS];
static size_t used;                   // slots from here on are free
static _Thread_local Unfinished *now; // the operation that is running
static uint64_t last_number;
static size_t ranges;
static _Thread_local const uint64_t *only_after; // dependencies of the next one, or NULL
static _Thread_local size_t only_count;
static Stream gone = {.id = 0}, gone_non_blocking = {.flags = STREAM_NON_BLOCKING};

static bool is_on(void) { return runtime_options()->check && !queue_on(); }

static bool has(const OpSet *set, const Unfinished *op) {
    const size_t at = (size_t)(op - ops);
    return set->bits[at / BITS] >> at % BITS & 1;
}

static void add_to(OpSet *set, const Unfinished *op) {
    const size_t at = (size_t)(op - ops);
    set->bits[at / BITS] |= (uint64_t)1 << at % BITS;
}

// Adds an operation and those ordered before it.
static void add_with_before(OpSet *set, const Unfinished *op) {
    add_to(set, op);
    for (int k = 0; k < MOST_OPS / BITS; k++) set->bits[k] |= op->before.bits[k];
}

static Unfinished *find(uint64_t number) {
    for (Unfinished *op = ops; number && op < ops + used; op++)
        if (op->number == number) return op;
    return NULL;
}

// --- finishing operations ---

static void guard_again(void) {
    guard_clear();
    if (!signal_sees_faults()) return;
    for (const Unfinished *op = ops; op < ops + used; op++)
        if (op->number && !op->known) overlap_guard(op->parts);
    read_guard_set();
}

static void finish(const OpSet *set) {
    const bool guarded = guard_any();
    for (Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || !has(set, op)) continue;
        ranges -= overlap_free(op->parts);
        *op = (Unfinished){0};
    }
    while (used && !ops[used - 1].number) used--;
    for (Unfinished *op = ops; op < ops + used; op++)
        for (int k = 0; k < MOST_OPS / BITS; k++) op->before.bits[k] &= ~set->bits[k];
    if (guarded) guard_again();
}

static Unfinished *oldest(void) {
    Unfinished *found = NULL;
    for (Unfinished *op = ops; op < ops + used; op++)
        if (op->number && op != now && (!found || op->number < found->number)) found = op;
    return found;
}

static void finish_op(const Unfinished *op) {
    OpSet set = {{0}};
    add_with_before(&set, op);
    finish(&set);
}

// --- host code that did not wait ---

static void report_fault(const GuardFault *fault) {
    const Unfinished *latest = NULL;
    const OverlapPart *touched = NULL;
    for (const Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || op->known || (latest && latest->number > op->number)) continue;
        const OverlapPart *part = overlap_with_host(op->parts, fault);
        if (!part) continue;
        latest = op;
        touched = part;
    }
    if (touched) overlap_report_host(touched, fault);
}

// Reports host accesses that have faulted. Call this before the set of operations changes.
static void report_faults(void) {
    GuardFault fault;
    while (guard_take(&fault)) {
        report_fault(&fault);
        read_guard_fault(&fault);
    }
}

void unfinished_wait_to(uint64_t number) {
    const Unfinished *op = find(number);
    report_faults();
    if (op) finish_op(op);
}

void unfinished_elapsed(uint64_t number) {
    if (find(number)) overlap_report_elapsed();
    unfinished_wait_to(number);
}

void unfinished_wait_all(void) {
    OpSet all;
    memset(&all, 0xFF, sizeof all);
    report_faults();
    finish(&all);
}

static OpSet before_work(const Stream *stream, uint64_t after) {
    OpSet set = {{0}};
    for (const Unfinished *op = ops; op < ops + used; op++)
        if (op->number && queue_precedes(op->stream, op->number, stream, after))
            add_with_before(&set, op);
    return set;
}

void unfinished_wait(const Stream *stream) {
    report_faults();
    const OpSet set = before_work(stream, 0);
    finish(&set);
}

void unfinished_gone(const Stream *stream) {
    for (Unfinished *op = ops; op < ops + used; op++)
        if (op->number && op->stream == stream)
            op->stream = stream->flags & STREAM_NON_BLOCKING ? &gone_non_blocking : &gone;
}

// --- starting operations ---

uint64_t unfinished_last(void) {
    Unfinished *last = find(last_number);
    if (last) last->named = true;
    return last_number;
}

void unfinished_after(const uint64_t *numbers, size_t count) {
    only_after = numbers;
    only_count = count;
}

static OpSet before_next(const Stream *stream, const Work *work) {
    if (!only_after) return before_work(stream, work->kind == WORK_AFTER ? work->after : 0);
    OpSet set = {{0}};
    for (size_t k = 0; k < only_count; k++) {
        const Unfinished *op = find(only_after[k]);
        if (op) add_with_before(&set, op);
    }
    return set;
}

static Unfinished *free_slot(void) {
    for (Unfinished *op = ops; op < ops + used; op++)
        if (!op->number) return op;
    return used < MOST_OPS ? &ops[used++] : NULL;
}

// Drops kernels without recorded accesses when another operation follows in their stream.
static void forget_empty(const Stream *stream) {
    OpSet set = {{0}};
    for (const Unfinished *op = ops; op < ops + used; op++)
        if (op->number && op->stream == stream && !op->prints && !op->named &&
            overlap_is_empty(op->parts))
            add_to(&set, op);
    finish(&set);
}

static bool may_overlap(const Unfinished *op) {
    size_t streams = 0;
    for (const Stream *stream = stream_list; stream; stream = stream->next)
        streams += stream->flags & STREAM_NON_BLOCKING ? 2 : 1; // the legacy stream runs beside it
    if (streams > 1 || op->branch) return true;
    for (const Unfinished *other = ops; other < ops + used; other++)
        if (other->number && other != op && other->parts && !has(&op->before, other)) return true;
    return false;
}

TouchedWhere unfinished_wants(void) {
    if (!now) return TOUCHED_NONE;
    if (may_overlap(now)) return TOUCHED_ALL;
    return memory_of_host_count ? TOUCHED_BY_HOST : TOUCHED_NONE;
}

// --- accesses of operations ---

void unfinished_records(Event *event) {
    if (now) event_waits(event, now->number);
}

void unfinished_waits(const Event *event) {
    const Unfinished *op = now ? find(event_number(event)) : NULL;
    if (op && op != now) add_with_before(&now->before, op);
}

// Marks an operation as known to the host, and with it all operations ordered before it.
static void host_knows(Unfinished *op) {
    clock_done();
    op->known = true;
    for (Unfinished *other = ops; other < ops + used; other++)
        if (other->number && has(&op->before, other)) other->known = true;
    if (guard_any()) guard_again();
}

static void add_part(OverlapPart *part) {
    if (!part || !now->number) return;
    part->next = now->parts;
    now->parts = part;
    ranges += part->list.count;
    if (part->list.promises.tells_host) host_knows(now);
}

void unfinished_kernel(const char *mangled, const TouchedList *touched) {
    char name[256];
    if (now) clock_launched(mangled);
    if (now) add_part(overlap_kernel(name_kernel(mangled, name, sizeof name), touched));
}

// When two operations race, we record the other one as the earlier, to report the race once.
static void compare(Unfinished *op) {
    for (const Unfinished *other = ops; other < ops + used; other++)
        if (other->number && other != op && !has(&op->before, other) &&
            overlap_report(op->parts, other->parts, op->stream == other->stream))
            add_with_before(&op->before, other);
}

static void done(Unfinished *op) {
    if (!op->parts) return;
    compare(op);
    if (!op->known && signal_sees_faults()) overlap_guard(op->parts);
    for (const Unfinished *old; ranges > MOST_RANGES && (old = oldest());) finish_op(old);
}

// --- the end ---

// Reports one kernel for which the program has not waited: the last that prints, if any prints.
static CudaError at_end(void) {
    const Unfinished *reported = NULL;
    report_faults();
    guard_clear();
    clock_report();
    for (const Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || !overlap_kernel_of(op->parts)) continue;
        const bool better = !reported || (op->prints && !reported->prints);
        if (better || (op->prints == reported->prints && op->number > reported->number))
            reported = op;
    }
    if (reported && !runtime_broken())
        overlap_report_end(overlap_kernel_of(reported->parts), reported->prints);
    return CUDA_SUCCESS;
}

static Unfinished *begin(const Stream *stream, const Work *work) {
    report_faults();
    forget_empty(stream);
    Unfinished *op = free_slot();
    if (!op) {
        finish_op(oldest());
        op = free_slot();
    }
    const OpSet before = before_next(stream, work);
    *op = (Unfinished){.number = ++last_number, .stream = stream, .before = before};
    op->branch = only_after != NULL;
    only_after = NULL;
    runtime_at_end(at_end);
    runtime_before_report(report_faults);
    return op;
}

CudaError unfinished_run(Stream *stream, const Work *work) {
    if (!is_on()) return work_run(work);
    Unfinished *const outer = now, *op = begin(stream, work);
    const size_t printed = console_printed();
    now = op;
    const uint64_t number = op->number;
    if (work->kind == WORK_HOST) { // it may signal other threads
        const OpSet before = op->before;
        finish(&before);
    }
    CudaError error = work_run(work);
    if (!error && work->kind == WORK_COPY) add_part(overlap_copy(&work->copy));
    if (!error && work->kind == WORK_FILL) add_part(overlap_fill(&work->fill));
    op->prints = console_printed() != printed;
    now = outer;
    if (runtime_broken()) unfinished_wait_all(); // no later call waits
    if (op->number == number) done(op);
    return error;
}

// Tracks operations in flight: see unfinished.h. CUDA C++ Programming Guide, "Asynchronous
// Concurrent Execution"; CUDA runtime API, "API synchronization behavior".
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/unfinished.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/cuda/clock.h"
#include "simt/cuda/later.h"
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
    OverlapCall by;
    OpSet before; // the operations ordered before this one
    OverlapPart *parts;
    bool ran;
    bool waited; // the host has waited for it, but operations beside it have not run yet
    bool branch; // part of a graph launch
    bool named;  // unfinished_last() has returned its number
    bool prints; // a kernel of it has printed
    bool known;  // the host may know that it is done
    bool early;  // a wait for an event that had not been recorded
} Unfinished;

static Unfinished ops[MOST_OPS];
static size_t used;                   // slots from here on are free
static _Thread_local Unfinished *now; // the operation that is running
static uint64_t last_number;
static size_t ranges;
static size_t queued;                            // operations that have not run
static _Thread_local const uint64_t *only_after; // dependencies of the next one, or NULL
static _Thread_local size_t only_count;
static Stream gone = {.id = 0}, gone_non_blocking = {.flags = STREAM_NON_BLOCKING};

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

// The operation, unless the host has waited for it.
static Unfinished *find_unfinished(uint64_t number) {
    Unfinished *op = find(number);
    return op && !op->waited ? op : NULL;
}

// --- finishing operations ---

static void guard_again(void) {
    guard_clear();
    if (!signal_sees_faults()) return;
    for (const Unfinished *op = ops; op < ops + used; op++)
        if (op->number && !op->known) overlap_guard(op->parts);
    if (queued && queue_on()) overlap_guard_all();
    read_guard_set();
}

static void drop(const OpSet *set) {
    const bool guarded = guard_any();
    for (Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || !has(set, op)) continue;
        ranges -= overlap_free(op->parts);
        queued -= !op->ran;
        *op = (Unfinished){0};
    }
    while (used && !ops[used - 1].number) used--;
    for (Unfinished *op = ops; op < ops + used; op++)
        for (int k = 0; k < MOST_OPS / BITS; k++) op->before.bits[k] &= ~set->bits[k];
    if (guarded) guard_again();
}

// Whether an operation that has not run is not ordered after this one.
static bool has_queued_beside(const Unfinished *op) {
    for (const Unfinished *other = ops; queued && other < ops + used; other++)
        if (other->number && !other->ran && !has(&other->before, op)) return true;
    return false;
}

// Drops the operations for which the host has waited, if no other can race with them any more.
static void drop_waited(void) {
    OpSet set = {{0}};
    bool any = false;
    for (const Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || !op->waited || has_queued_beside(op)) continue;
        add_to(&set, op);
        any = true;
    }
    if (any) drop(&set);
}

static void finish(const OpSet *set) {
    for (Unfinished *op = ops; op < ops + used; op++)
        if (op->number && op->ran && has(set, op)) op->waited = op->known = true;
    drop_waited();
    if (queued && guard_any()) guard_again();
}

static Unfinished *oldest(void) {
    Unfinished *found = NULL;
    for (Unfinished *op = ops; op < ops + used; op++)
        if (op->number && op->ran && op != now && (!found || op->number < found->number))
            found = op;
    return found;
}

static void drop_op(const Unfinished *op) {
    OpSet set = {{0}};
    add_with_before(&set, op);
    drop(&set);
}

// --- host functions ---

// A host function may tell other threads that earlier work is done, so what host code does after
// the function has run is no hazard. It therefore runs late, as on a GPU: in the next call, or
// after a while. Until then host code cannot know that the work is done.
static struct {
    Work work;
    bool waits, runs;
    pthread_t owner, thread; // the one that launched it, and the one that runs it
} host;

static CudaError run(Unfinished *op, const Work *work);

static void sleep_for(void *pause) { nanosleep(pause, NULL); }

static void run_host(void) {
    const struct timespec pause = {.tv_nsec = 50000};
    const pthread_t self = pthread_self(); // others may run while the function waits for them
    while (host.runs && pthread_equal(host.owner, self) && !pthread_equal(host.thread, self))
        runtime_call_host(sleep_for, (void *)(uintptr_t)&pause);
    if (!host.waits || host.runs) return;
    const Work work = host.work;
    Unfinished *op = find(work.number);
    host.waits = false;
    host.runs = true;
    host.thread = self;
    if (op) run(op, &work);
    host.runs = false;
}

// In the thread of later.h. False: no function waits.
static bool run_host_later(void) {
    run_host();
    return host.waits;
}

// --- host code that did not wait ---

// Faults that may conflict with operations that have not run: those with numbers up to `number`.
typedef struct {
    GuardFault fault;
    uint64_t number;
    bool reported;
} EarlyFault;

static EarlyFault *early;
static size_t early_count, early_capacity;

static void remember(const GuardFault *fault) {
    if (early_count == early_capacity) {
        const size_t capacity = early_capacity ? early_capacity * 2 : 64;
        EarlyFault *grown = realloc(early, capacity * sizeof *grown);
        if (!grown) return;
        early = grown;
        early_capacity = capacity;
    }
    early[early_count++] = (EarlyFault){.fault = *fault, .number = last_number};
}

// Whether the page's first read was reported, so that its first write need not be.
static bool reported_before(const EarlyFault *fault) {
    enum { PAGE = 4096 };
    for (const EarlyFault *one = early; one < fault; one++)
        if (one->reported && one->fault.address / PAGE == fault->fault.address / PAGE) return true;
    return false;
}

// Reports the accesses of host code that came before the operation has run.
static void report_early_faults(const Unfinished *op) {
    for (EarlyFault *one = early; one < early + early_count; one++) {
        if (one->reported || one->number < op->number) continue;
        const OverlapPart *part = overlap_with_host(op->parts, &one->fault);
        if (!part) continue;
        one->reported = true;
        if (reported_before(one)) continue;
        overlap_report_host(part, &one->fault);
    }
    if (!queued) early_count = 0;
}

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
    if (touched)
        overlap_report_host(touched, fault);
    else if (queued && queue_on() && !now) // host functions run in the order of their streams
        remember(fault);
}

// Reports host accesses that have faulted. Call this before the set of operations changes.
static void report_faults(void) {
    GuardFault fault;
    while (guard_take(&fault)) {
        report_fault(&fault);
        read_guard_fault(&fault);
    }
}

CudaError unfinished_wait_to(uint64_t number) {
    run_host();
    report_faults();
    CudaError error = queue_run_to(number);
    const Unfinished *op = find_unfinished(number);
    if (!op) return error;
    OpSet set = {{0}};
    add_with_before(&set, op);
    finish(&set);
    return error;
}

void unfinished_elapsed(uint64_t number) {
    if (find_unfinished(number)) overlap_report_elapsed();
    if (!queue_waits(number)) unfinished_wait_to(number);
}

static void finish_all(void) {
    OpSet all;
    memset(&all, 0xFF, sizeof all);
    finish(&all);
}

CudaError unfinished_wait_all(void) {
    run_host();
    report_faults();
    CudaError error = queue_run_all();
    finish_all();
    return error;
}

static OpSet before_work(const Stream *stream, uint64_t after) {
    OpSet set = {{0}};
    for (const Unfinished *op = ops; op < ops + used; op++)
        if (op->number && (op->waited || queue_precedes(op->stream, op->number, stream, after)))
            add_with_before(&set, op);
    return set;
}

CudaError unfinished_wait(const Stream *stream) {
    run_host();
    report_faults();
    CudaError error = queue_run(stream);
    const OpSet set = before_work(stream, 0);
    finish(&set);
    return error;
}

void unfinished_gone(const Stream *stream) {
    run_host();
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

static OpSet before_next(const Work *work) {
    const uint64_t after = queue_after(work);
    if (!only_after) return before_work(work->stream, after);
    OpSet set = {{0}};
    for (const Unfinished *op = ops; op < ops + used; op++) {
        bool first = op->number && (op->waited || op->number == after);
        for (size_t k = 0; k < only_count; k++) first |= op->number && op->number == only_after[k];
        if (first) add_with_before(&set, op);
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
    drop(&set);
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

void unfinished_waits(const Event *event) {
    const Unfinished *op = now ? find_unfinished(event_number(event)) : NULL;
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
    if (now) add_part(overlap_kernel(name_kernel(mangled, name, sizeof name), touched));
}

// The call by which the stream waited for nothing before this operation, or NULL.
static const OverlapCall *early_wait(const Unfinished *op) {
    const Unfinished *found = NULL;
    for (const Unfinished *other = ops; other < ops + used; other++)
        if (other->number && other->early && other->stream == op->stream &&
            has(&op->before, other) && (!found || found->number < other->number))
            found = other;
    return found ? &found->by : NULL;
}

static int later_first(const void *left, const void *right) {
    const Unfinished *a = *(const Unfinished *const *)left, *b = *(const Unfinished *const *)right;
    return (a->number < b->number) - (a->number > b->number);
}

// When two operations race, we record one as the earlier, also for what follows the later one, to
// report the race once.
static void order(const Unfinished *earlier, const Unfinished *later) {
    for (Unfinished *op = ops; op < ops + used; op++)
        if (op == later || (op->number && has(&op->before, later)))
            add_with_before(&op->before, earlier);
}

// The latest comes first: waiting for it is also waiting for the operations ordered before it.
static void compare(Unfinished *op) {
    Unfinished *beside[MOST_OPS];
    size_t count = 0;
    for (Unfinished *other = ops; other < ops + used; other++)
        if (other->number && other->parts && other != op) beside[count++] = other;
    if (count > 1) qsort(beside, count, sizeof *beside, later_first);
    for (size_t k = 0; k < count; k++) {
        Unfinished *later = op->number > beside[k]->number ? op : beside[k];
        Unfinished *earlier = later == op ? beside[k] : op;
        if (!has(&later->before, earlier) &&
            overlap_report(later->parts, earlier->parts, later->stream == earlier->stream,
                           early_wait(later)))
            order(earlier, later);
    }
}

static void done(Unfinished *op) {
    op->ran = true;
    queued--;
    if (op->parts) {
        compare(op);
        if (!op->known && signal_sees_faults()) overlap_guard(op->parts);
    }
    report_early_faults(op);
    drop_waited();
    for (const Unfinished *old; ranges > MOST_RANGES && (old = oldest());) drop_op(old);
}

// --- the end ---

// Reports one kernel for which the program has not waited: the last that prints, if any prints.
CudaError unfinished_end(void) {
    const Unfinished *reported = NULL;
    run_host();
    report_faults();
    CudaError error = queue_run_all();
    guard_clear();
    clock_report();
    for (const Unfinished *op = ops; op < ops + used; op++) {
        if (!op->number || op->waited || !overlap_kernel_of(op->parts)) continue;
        const bool better = !reported || (op->prints && !reported->prints);
        if (better || (op->prints == reported->prints && op->number > reported->number))
            reported = op;
    }
    if (reported && !runtime_broken())
        overlap_report_end(overlap_kernel_of(reported->parts), reported->prints);
    return error;
}

uint64_t unfinished_begin(const Work *work) {
    if (!runtime_options()->check) return ++last_number;
    run_host();
    report_faults();
    forget_empty(work->stream);
    Unfinished *op = free_slot();
    if (!op) {
        drop_op(oldest()); // the queue is shorter than the table
        op = free_slot();
    }
    const OpSet before = before_next(work);
    *op = (Unfinished){.number = ++last_number, .stream = work->stream, .before = before};
    op->by = overlap_call();
    op->branch = only_after != NULL;
    op->early = work->kind == WORK_WAIT && !op->branch && !event_number(work->event);
    only_after = NULL;
    queued++;
    if (work->kind == WORK_KERNEL) clock_launched(work->kernel.entry->mangled);
    if (queue_on()) guard_again();
    runtime_before_report(report_faults);
    return last_number;
}

static CudaError run(Unfinished *op, const Work *work) {
    Unfinished *const outer = now;
    const size_t printed = console_printed();
    now = op;
    if (work->kind == WORK_HOST) { // it may signal other threads
        const OpSet before = op->before;
        report_faults();
        finish(&before);
    }
    CudaError error = work_run(work);
    if (work->kind == WORK_HOST) report_faults();
    if (!error && work->kind == WORK_COPY) add_part(overlap_copy(&work->copy, op->by));
    if (!error && work->kind == WORK_NOTHING && work->memory.bytes)
        add_part(
            overlap_memory(work->memory.address, work->memory.bytes, work->memory.frees, op->by));
    if (!error && work->kind == WORK_FILL) add_part(overlap_fill(&work->fill, op->by));
    op->prints = console_printed() != printed;
    now = outer;
    if (op->number == work->number) done(op);
    if (runtime_broken()) finish_all(); // no later call waits
    return error;
}

CudaError unfinished_run(const Work *work) {
    Unfinished *op = find(work->number);
    if (!op) return work_run(work);
    if (work->kind != WORK_HOST || queue_on() || host.waits) return run(op, work);
    host.work = *work;
    host.waits = true;
    host.owner = pthread_self();
    later_call(run_host_later);
    return CUDA_SUCCESS;
}

// Unfinished work: see unfinished.h. CUDA C++ Programming Guide, "Asynchronous Concurrent
// Execution"; CUDA runtime API, "API synchronization behavior".
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "simt/cuda/overlap.h"
#include "simt/cuda/queue.h"
#include "simt/cuda/stream.h"
#include "simt/memory/guard.h"
#include "simt/memory/memory.h"
#include "simt/program/runtime.h"
#include "simt/report/name.h"
#include "simt/report/report.h"

// Of that many pieces, and ranges of bytes that they touched; who is older counts as finished.
enum { MOST_PIECES = 256, BITS = 64, MOST_RANGES = 1 << 21 };

typedef struct {
    uint64_t bits[MOST_PIECES / BITS];
} PieceSet;

typedef struct {
    uint64_t number; // 0: a free place
    const Stream *stream;
    PieceSet before; // those of the others that come before it
    OverlapPart *parts;
    bool branch; // of a graph
    bool named;  // others may come behind its number
    bool prints; // a kernel of it has
    bool known;  // the host may have been told that it is done
} Unfinished;

static Unfinished pieces[MOST_PIECES];
static size_t used;                   // places from there on are free
static _Thread_local Unfinished *now; // the one that runs
static uint64_t last_number;
static size_t ranges;
static _Thread_local const uint64_t *only_after; // of the next piece; NULL: its stream says
static _Thread_local size_t only_count;
static Stream gone = {.id = 0}, gone_non_blocking = {.flags = STREAM_NON_BLOCKING};

static bool is_on(void) { return runtime_options()->check && !queue_on(); }

static bool has(const PieceSet *set, const Unfinished *piece) {
    const size_t at = (size_t)(piece - pieces);
    return set->bits[at / BITS] >> at % BITS & 1;
}

static void add_to(PieceSet *set, const Unfinished *piece) {
    const size_t at = (size_t)(piece - pieces);
    set->bits[at / BITS] |= (uint64_t)1 << at % BITS;
}

// A piece and what is before it.
static void add_with_before(PieceSet *set, const Unfinished *piece) {
    add_to(set, piece);
    for (int k = 0; k < MOST_PIECES / BITS; k++) set->bits[k] |= piece->before.bits[k];
}

static Unfinished *find(uint64_t number) {
    for (Unfinished *piece = pieces; number && piece < pieces + used; piece++)
        if (piece->number == number) return piece;
    return NULL;
}

// --- what is finished ---

static void guard_again(void) {
    guard_clear();
    if (!signal_sees_faults()) return;
    for (const Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (piece->number && !piece->known) overlap_guard(piece->parts);
}

static void finish(const PieceSet *set) {
    const bool guarded = guard_any();
    for (Unfinished *piece = pieces; piece < pieces + used; piece++) {
        if (!piece->number || !has(set, piece)) continue;
        ranges -= overlap_free(piece->parts);
        *piece = (Unfinished){0};
    }
    while (used && !pieces[used - 1].number) used--;
    for (Unfinished *piece = pieces; piece < pieces + used; piece++)
        for (int k = 0; k < MOST_PIECES / BITS; k++) piece->before.bits[k] &= ~set->bits[k];
    if (guarded) guard_again();
}

static Unfinished *oldest(void) {
    Unfinished *found = NULL;
    for (Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (piece->number && piece != now && (!found || piece->number < found->number))
            found = piece;
    return found;
}

static void finish_piece(const Unfinished *piece) {
    PieceSet set = {{0}};
    add_with_before(&set, piece);
    finish(&set);
}

// --- host code that did not wait ---

static void tell_fault(const GuardFault *fault) {
    const Unfinished *latest = NULL;
    const OverlapPart *touched = NULL;
    for (const Unfinished *piece = pieces; piece < pieces + used; piece++) {
        if (!piece->number || piece->known || (latest && latest->number > piece->number)) continue;
        const OverlapPart *part = overlap_with_host(piece->parts, fault);
        if (!part) continue;
        latest = piece;
        touched = part;
    }
    if (touched) overlap_tell_host(touched, fault);
}

// Before anything changes.
static void tell_faults(void) {
    GuardFault fault;
    while (guard_take(&fault)) tell_fault(&fault);
}

void unfinished_wait_to(uint64_t number) {
    const Unfinished *piece = find(number);
    tell_faults();
    if (piece) finish_piece(piece);
}

void unfinished_elapsed(uint64_t number) {
    if (find(number)) overlap_tell_elapsed();
    unfinished_wait_to(number);
}

void unfinished_wait_all(void) {
    PieceSet all;
    memset(&all, 0xFF, sizeof all);
    tell_faults();
    finish(&all);
}

static PieceSet before_work(const Stream *stream, uint64_t after) {
    PieceSet set = {{0}};
    for (const Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (piece->number && queue_precedes(piece->stream, piece->number, stream, after))
            add_with_before(&set, piece);
    return set;
}

void unfinished_wait(const Stream *stream) {
    tell_faults();
    const PieceSet set = before_work(stream, 0);
    finish(&set);
}

void unfinished_gone(const Stream *stream) {
    for (Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (piece->number && piece->stream == stream)
            piece->stream = stream->flags & STREAM_NON_BLOCKING ? &gone_non_blocking : &gone;
}

// --- what comes next ---

uint64_t unfinished_last(void) {
    Unfinished *last = find(last_number);
    if (last) last->named = true;
    return last_number;
}

void unfinished_after(const uint64_t *numbers, size_t count) {
    only_after = numbers;
    only_count = count;
}

static PieceSet before_next(const Stream *stream, const Work *work) {
    if (!only_after) return before_work(stream, work->kind == WORK_AFTER ? work->after : 0);
    PieceSet set = {{0}};
    for (size_t k = 0; k < only_count; k++) {
        const Unfinished *piece = find(only_after[k]);
        if (piece) add_with_before(&set, piece);
    }
    return set;
}

static Unfinished *free_place(void) {
    for (Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (!piece->number) return piece;
    return used < MOST_PIECES ? &pieces[used++] : NULL;
}

// A kernel of which nothing is known but its name is no news when another one comes behind it.
static void forget_empty(const Stream *stream) {
    PieceSet set = {{0}};
    for (const Unfinished *piece = pieces; piece < pieces + used; piece++)
        if (piece->number && piece->stream == stream && !piece->prints && !piece->named &&
            overlap_is_empty(piece->parts))
            add_to(&set, piece);
    finish(&set);
}

static bool may_overlap(const Unfinished *piece) {
    size_t streams = 0;
    for (const Stream *stream = stream_list; stream; stream = stream->next)
        streams += stream->flags & STREAM_NON_BLOCKING ? 2 : 1; // which the legacy one is beside
    if (streams > 1 || piece->branch) return true;
    for (const Unfinished *other = pieces; other < pieces + used; other++)
        if (other->number && other != piece && other->parts && !has(&piece->before, other))
            return true;
    return false;
}

TouchedWhere unfinished_wants(void) {
    if (!now) return TOUCHED_NONE;
    if (may_overlap(now)) return TOUCHED_ALL;
    return memory_of_host_count ? TOUCHED_BY_HOST : TOUCHED_NONE;
}

// --- what a piece did ---

void unfinished_records(Event *event) {
    if (now) event_waits(event, now->number);
}

void unfinished_waits(const Event *event) {
    const Unfinished *piece = now ? find(event_number(event)) : NULL;
    if (piece && piece != now) add_with_before(&now->before, piece);
}

// What the kernel tells the host, it tells of all that is before it.
static void host_knows(Unfinished *piece) {
    piece->known = true;
    for (Unfinished *other = pieces; other < pieces + used; other++)
        if (other->number && has(&piece->before, other)) other->known = true;
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

// When two pieces race, the other one counts as the earlier from then on, so that one race is
// reported once.
static void compare(Unfinished *piece) {
    for (const Unfinished *other = pieces; other < pieces + used; other++)
        if (other->number && other != piece && !has(&piece->before, other) &&
            overlap_tell(piece->parts, other->parts, piece->stream == other->stream))
            add_with_before(&piece->before, other);
}

static void done(Unfinished *piece) {
    if (!piece->parts) return;
    compare(piece);
    if (!piece->known && signal_sees_faults()) overlap_guard(piece->parts);
    for (const Unfinished *old; ranges > MOST_RANGES && (old = oldest());) finish_piece(old);
}

// --- the end ---

// Of the kernels that nobody has waited for the last one that prints is told, or the last one.
static CudaError at_end(void) {
    const Unfinished *told = NULL;
    tell_faults();
    guard_clear();
    for (const Unfinished *piece = pieces; piece < pieces + used; piece++) {
        if (!piece->number || !overlap_kernel_of(piece->parts)) continue;
        const bool better = !told || (piece->prints && !told->prints);
        if (better || (piece->prints == told->prints && piece->number > told->number)) told = piece;
    }
    if (told && !runtime_broken()) overlap_tell_end(overlap_kernel_of(told->parts), told->prints);
    return CUDA_SUCCESS;
}

static Unfinished *begin(const Stream *stream, const Work *work) {
    tell_faults();
    forget_empty(stream);
    Unfinished *piece = free_place();
    if (!piece) {
        finish_piece(oldest());
        piece = free_place();
    }
    const PieceSet before = before_next(stream, work);
    *piece = (Unfinished){.number = ++last_number, .stream = stream, .before = before};
    piece->branch = only_after != NULL;
    only_after = NULL;
    runtime_at_end(at_end);
    runtime_before_report(tell_faults);
    return piece;
}

CudaError unfinished_run(Stream *stream, const Work *work) {
    if (!is_on()) return work_run(work);
    Unfinished *const outer = now, *piece = begin(stream, work);
    const size_t printed = console_printed();
    now = piece;
    const uint64_t number = piece->number;
    if (work->kind == WORK_HOST) { // which may tell other threads that it was called
        const PieceSet before = piece->before;
        finish(&before);
    }
    CudaError error = work_run(work);
    if (!error && work->kind == WORK_COPY) add_part(overlap_copy(&work->copy));
    if (!error && work->kind == WORK_FILL) add_part(overlap_fill(&work->fill));
    piece->prints = console_printed() != printed;
    now = outer;
    if (runtime_broken()) unfinished_wait_all(); // no call waits any more
    if (piece->number == number) done(piece);
    return error;
}

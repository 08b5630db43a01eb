// Writes the advice on a race, which fits all threads that the checker saw.
#include <stdio.h>

#include "simt/observe/race/checker.h"
#include "simt/ptx/nearby.h"

const char *advice_verb(AccessKind kind) {
    static const char *const verbs[] = {[ACCESS_LOAD] = "reads",
                                        [ACCESS_STORE] = "writes",
                                        [ACCESS_ATOMIC] = "updates",
                                        [ACCESS_COPY] = "writes"};
    return verbs[kind];
}

const char advice_guard_index[] = "guard the access with a test of the index";
const char advice_every_thread[] = "let every thread of the block reach it: move it out of the if "
                                   "that only some enter, or let all "
                                   "threads make the same number of rounds of the loop";
const char advice_whole_warp[] =
    "let the whole warp get here: move this out of the if or loop that only some lanes enter, and "
    "give lanes without data a neutral element (0 for a sum)";

const char *advice_take_part(const Machine *machine, const Inst *inst, const char *otherwise) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    return ptx && ptx->collective
               ? "this is a collective operation: move its call out of the if, so that all threads "
                 "of the block make it; a thread without data passes a neutral element (0 for a "
                 "sum)"
               : otherwise;
}

static bool same_line(PtxPlace a, PtxPlace b) { return a.line == b.line && a.file == b.file; }

// Whether the statement updates the word, as in `n++`: it loads and stores at one address.
static bool updates(const Machine *machine, const Finding *finding) {
    const PtxInst *one = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    if (!ptx_same_address(one, other)) return false;
    const PtxInst *at = machine_code(machine, finding->at.inst)->source->insts;
    for (; at < one || at < other; at++)
        if (same_line(at->place, one->place) && ptx_is_load(at) && ptx_same_address(at, one))
            return true;
    return false;
}

// Whether one statement reads what other threads write in it, such as `s[t] += s[t + 1]`.
static bool reads_then_writes(const Machine *machine, const Finding *finding) {
    return same_line(finding->place, finding->other_place) && !updates(machine, finding) &&
           (finding->at.kind != ACCESS_STORE || finding->other.kind != ACCESS_STORE);
}

// Whether threads write their elements of what may be two arrays in dynamic shared memory.
static bool arrays_overlap(const Machine *machine, const Finding *finding) {
    const uint64_t low =
        finding->start < finding->other_start ? finding->start : finding->other_start;
    const uint64_t high = finding->start + finding->other_start - low;
    return finding->kind == KIND_RACE && finding->space == PTX_SHARED &&
           finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE &&
           !(finding->between & (BETWEEN_BLOCKS | BETWEEN_COPY)) && !finding->scattered &&
           finding->occurrences >= LANES && low >= machine->dynamic_base && low < high &&
           finding->place.file == finding->other_place.file &&
           finding->place.line != finding->other_place.line;
}

#define REPLACE "another thread may write between the comparison and the write: replace both by "

Span advice_span(const Machine *machine, const Finding *finding) {
    const PtxInst *at = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    const Code *code = machine_code(machine, finding->at.inst);
    if ((finding->kind != KIND_RACE && finding->kind != KIND_VOLATILE) || !at || !other ||
        code != machine_code(machine, finding->other.inst))
        return (Span){0};
    if (arrays_overlap(machine, finding)) return (Span){0};
    const PtxInst *load, *write, *compared = ptx_compared(code->source, at, other, &load, &write);
    if (compared)
        return (Span){.low = load->place.line,
                      .high = write->place.line,
                      .step = ptx_is_equality(compared) ? REPLACE "one atomicCAS()"
                                                        : REPLACE
                                  "one atomicMin() or atomicMax(), or by a loop around "
                                  "atomicCAS()"};
    Span span = {0};
    PtxPlace later = at->place, earlier = other->place;
    span.calls = !same_line(at->call, other->call); // in two calls, or one in a call
    if (span.calls && at->call.line) later = at->call;
    if (span.calls && other->call.line) earlier = other->call;
    if (finding->between == BETWEEN_LANES && !span.calls && reads_then_writes(machine, finding))
        return (Span){.low = at->place.line,
                      .high = at->place.line,
                      .barrier = "__syncwarp()",
                      .between_steps = true};
    if (finding->kind == KIND_VOLATILE || later.file != earlier.file ||
        later.line == earlier.line || finding->between & (BETWEEN_BLOCKS | BETWEEN_COPY))
        return span;
    const bool back = later.line < earlier.line;
    span.low = back ? later.line : earlier.line;
    span.high = back ? earlier.line : later.line;
    span.barrier = finding->between & BETWEEN_WARPS ? "__syncthreads()" : "__syncwarp()";
    span.loop = back == (at > other) || // the loop was unrolled
                ptx_loop_waits(code->source, at < other ? at : other, at < other ? other : at);
    return span;
}

static const char lost[] = "updates get lost: use atomicAdd() or a similar atomic operation";

// For two accesses in one block; one_statement: on one source line.
static const char *within_block(const Machine *machine, const Finding *finding,
                                bool one_statement) {
    const bool warps = finding->between & BETWEEN_WARPS;
    if (!one_statement)
        return warps ? "put __syncthreads() between the two" : "put __syncwarp() between the two";
    if (updates(machine, finding)) return lost;
    if (finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE)
        return "let one thread write it, or give each thread its own element";
    return "read into a variable, then __syncthreads(), then write";
}

// Writes which fences are missing around a flag, a ticket or, around both accesses, a lock. False:
// it is not known.
static bool fence_missing(const Machine *machine, const Finding *finding, bool one_step, char *to,
                          size_t room) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    bool released, acquired;
    if (machine_code(machine, finding->other.inst)->source != function) return false;
    const PtxInst *signal = ptx_signal(function, finding->other.inst->ptx, 1, &released);
    const PtxInst *taken = ptx_lock(function, finding->at.inst->ptx, signal, &acquired);
    if (taken && !(released && acquired)) {
        int used = snprintf(to, room, "the lock orders nothing without fences: put");
        if (!acquired)
            used += snprintf(to + used, room - (size_t)used,
                             " __threadfence() after taking it in line %u%s", taken->place.line,
                             released ? "" : ", and another");
        if (!released)
            snprintf(to + used, room - (size_t)used, "%s before releasing it in line %u",
                     acquired ? " __threadfence()" : "", signal->place.line);
        return true;
    }
    const PtxInst *seen = ptx_signal(function, finding->at.inst->ptx, -1, &acquired);
    if (finding->at.kind != ACCESS_LOAD || one_step || !signal || !seen || (released && acquired))
        return false;
    int used = snprintf(to, room, "put __threadfence() ");
    if (!released)
        used += snprintf(to + used, room - (size_t)used,
                         "into the writing thread, after line %u and before the flag or ticket of "
                         "line %u%s",
                         finding->other_place.line, signal->place.line,
                         acquired ? "" : ", and another ");
    if (!acquired)
        snprintf(to + used, room - (size_t)used,
                 "into the reading thread, after the flag or ticket of line %u and before line %u",
                 seen->place.line, finding->place.line);
    return true;
}

static const char *between_blocks(const Machine *machine, const Finding *finding,
                                  bool one_statement) {
    if (finding->between & BETWEEN_NARROW)
        return "the scope is too narrow for threads of another block: use the device's, as "
               "atomicAdd() and __threadfence() do";
    if (one_statement && updates(machine, finding)) return lost;
    if (one_statement)
        return "give each block its own element, update it with atomics, or use a second kernel";
    return "__syncthreads() does not order blocks: do one of the two in a second kernel, or launch "
           "with cudaLaunchCooperativeKernel() and put cooperative_groups::this_grid().sync() "
           "between the two";
}

static const char within_cluster[] =
    "put cluster.sync() between the two, or give each block its own element";

static const char guessed[] = "atomicCAS() detects a stale value, so no result depends on it; to "
                              "silence this note, read with a relaxed cuda::atomic_ref";

static const char constant[] = "a read by __ldg() or through const __restrict__ (ld.global.nc) may "
                               "be stale where the kernel writes: read it without either";

// For two volatile accesses, or a volatile and an atomic one.
static const char *for_volatile(const Machine *machine, const Finding *finding,
                                bool one_statement) {
    if (one_statement && updates(machine, finding))
        return "volatile orders nothing and updates may get lost: use atomicAdd() or a similar "
               "atomic operation; in a lock put __threadfence() after taking it and before "
               "releasing it";
    if (finding->between & BETWEEN_BLOCKS)
        return "volatile orders nothing: write and read it with atomic operations, and if it "
               "announces other data, put __threadfence() before the write and after the read";
    return finding->between & BETWEEN_WARPS
               ? "volatile orders nothing: put __syncthreads() between the two or, if it is a "
                 "flag, __threadfence_block() before the write and after the read"
               : "volatile orders nothing: put __syncwarp() between the two";
}

// The earlier access is a copy for which no thread has waited.
static const char *after_copy(const Finding *finding) {
    const Inst *copy = finding->other.inst;
    if (copy->access == ACCESS_COPY)
        return "before the access wait for the copy with __pipeline_wait_prior(0), then "
               "__syncthreads()";
    if (copy->bulk.barrier.space != PTX_REG_SPACE)
        return "before the access wait at the copy's mbarrier (mbarrier.try_wait)";
    return "before the access wait for the copy (cp.async.bulk.wait_group.read), then "
           "__syncthreads()";
}

static void write_overlap(const Machine *machine, const Finding *finding, char *to, size_t room) {
    const bool first = finding->start < finding->other_start;
    const Access access = address_access(first ? finding->at.inst : finding->other.inst);
    const uint64_t low = first ? finding->start : finding->other_start;
    const uint64_t high = first ? finding->other_start : finding->start;
    const uint64_t end = low + machine->threads_per_block * (uint64_t)address_bytes(&access);
    const uint64_t base = machine->dynamic_base;
    const uint32_t line = finding->place.line, other = finding->other_place.line;
    snprintf(to, room,
             "if lines %u and %u use two arrays, the arrays overlap: they begin at bytes %llu and "
             "%llu of the dynamic shared memory; let the second begin at byte %llu or later. If it "
             "is one array, put %s between lines %u and %u",
             first ? line : other, first ? other : line, (unsigned long long)(low - base),
             (unsigned long long)(high - base), (unsigned long long)(end - base),
             finding->between & BETWEEN_WARPS ? "__syncthreads()" : "__syncwarp()",
             line < other ? line : other, line < other ? other : line);
}

// Writes that a wait before the access leaves the last groups of copies in flight. False: none
// does.
static bool copies_left(const Machine *machine, const Finding *finding, char *to, size_t room) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    uint64_t left;
    if (finding->other.inst->access != ACCESS_COPY) return false;
    const PtxInst *wait = ptx_wait_group(function, finding->at.inst->ptx, &left);
    if (!wait || !left) return false;
    snprintf(to, room,
             "__pipeline_wait_prior(%llu) of line %u does not wait for the last group: make it "
             "__pipeline_wait_prior(0), or commit a group in every round, even an empty one",
             (unsigned long long)left, wait->place.line);
    return true;
}

void advice_write(const Machine *machine, const Finding *finding, const Span *span, char *to,
                  size_t room) {
    const bool one = same_line(finding->place, finding->other_place);
    const bool blocks = finding->between & BETWEEN_BLOCKS, cluster = finding->space == PTX_SHARED;
    const bool narrow = finding->between & BETWEEN_NARROW;
    const char *advice = finding->kind == KIND_GUESS       ? guessed
                         : finding->kind == KIND_CONSTANT  ? constant
                         : span->step                      ? span->step
                         : finding->kind == KIND_VOLATILE  ? for_volatile(machine, finding, one)
                         : finding->between & BETWEEN_COPY ? after_copy(finding)
                         : !blocks                         ? within_block(machine, finding, one)
                         : cluster                         ? within_cluster
                                                           : between_blocks(machine, finding, one);
    const bool race = finding->kind == KIND_RACE;
    if (arrays_overlap(machine, finding)) {
        write_overlap(machine, finding, to, room);
        return;
    }
    if (race && blocks && !cluster && !narrow &&
        fence_missing(machine, finding, one || span->step, to, room))
        return;
    if (finding->between & BETWEEN_COPY && copies_left(machine, finding, to, room)) return;
    snprintf(to, room, "%s", advice);
}

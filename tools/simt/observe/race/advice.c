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
const char advice_every_thread[] =
    "let every thread of the block reach it: move it out of the if or loop that only some enter";
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

#define REPLACE "another thread may write between the comparison and the write: replace both by "

Span advice_span(const Machine *machine, const Finding *finding) {
    const PtxInst *at = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    const Code *code = machine_code(machine, finding->at.inst);
    if ((finding->kind != KIND_RACE && finding->kind != KIND_VOLATILE) || !at || !other ||
        code != machine_code(machine, finding->other.inst))
        return (Span){0};
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
    return warps ? "read into a variable, then __syncthreads(), then write"
                 : "read into a variable, then __syncwarp(), then write";
}

// Writes which fence around a flag or ticket is missing. False: it is not known.
static bool fence_missing(const Machine *machine, const Finding *finding, char *to, size_t room) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    bool released, acquired;
    if (machine_code(machine, finding->other.inst)->source != function) return false;
    const PtxInst *signal = ptx_signal(function, finding->other.inst->ptx, 1, &released);
    const PtxInst *seen = ptx_signal(function, finding->at.inst->ptx, -1, &acquired);
    if (finding->at.kind != ACCESS_LOAD || !signal || !seen || (released && acquired)) return false;
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
    if (finding->at.kind == ACCESS_ATOMIC || finding->other.kind == ACCESS_ATOMIC)
        return "do one of the two in a kernel of its own, or order them by a ticket: an atomic "
               "operation with __threadfence() before and after it";
    return "no barrier orders blocks: do one of the two in a kernel of its own, or signal by an "
           "atomic flag or ticket with __threadfence() before and after it";
}

static const char within_cluster[] =
    "put cluster.sync() between the two, or give each block its own element";

static const char guessed[] = "atomicCAS() detects a stale value, so no result depends on it; to "
                              "silence this note, read with a relaxed cuda::atomic_ref";

static const char constant[] = "a read by __ldg() or through const __restrict__ (ld.global.nc) may "
                               "get a wrong value where the kernel writes: read it without either";

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
        return "before the access wait for the copy (__pipeline_wait_prior()), then "
               "__syncthreads()";
    if (copy->bulk.barrier.space != PTX_REG_SPACE)
        return "before the access wait at the copy's mbarrier (mbarrier.try_wait)";
    return "before the access wait for the copy (cp.async.bulk.wait_group.read), then "
           "__syncthreads()";
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
    if (finding->kind == KIND_RACE && blocks && !cluster && !one && !narrow && !span->step &&
        fence_missing(machine, finding, to, room))
        return;
    snprintf(to, room, "%s", advice);
}

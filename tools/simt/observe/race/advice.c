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
    "let every thread of the block reach it: move it out of the if that only some enter, or let "
    "all threads make the same number of rounds of the loop";
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

static bool updates(const Machine *machine, const Finding *finding) {
    return ptx_updates(machine_code(machine, finding->at.inst)->source,
                       machine_instruction(machine, finding->at.inst),
                       machine_instruction(machine, finding->other.inst));
}

// A bulk copy has none: its instruction describes both of its addresses.
static bool has_address(const Side *side) { return side->inst->access != ACCESS_NONE; }

uint64_t advice_start(const Side *side, uint64_t address) {
    if (!has_address(side)) return address;
    const Access access = address_access(side->inst);
    return address - side->thread * address_bytes(&access);
}

// Whether threads write their elements of what may be two arrays in dynamic shared memory.
static bool arrays_overlap(const Machine *machine, const Finding *finding, uint64_t *start,
                           uint64_t *other) {
    *start = advice_start(&finding->at, finding->address) - machine->dynamic_base;
    *other = advice_start(&finding->other, finding->address) - machine->dynamic_base;
    return finding->kind == KIND_RACE && has_address(&finding->at) &&
           has_address(&finding->other) && finding->space == PTX_SHARED &&
           finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE &&
           finding->between <= (BETWEEN_LANES | BETWEEN_WARPS) && !finding->scattered &&
           finding->occurrences >= LANES && finding->at.inst != finding->other.inst &&
           *start != *other && *start < machine->dynamic_shared && *other < machine->dynamic_shared;
}

#define REPLACE "another thread may write between the comparison and the write: replace both by "

Span advice_span(const Machine *machine, const Finding *finding) {
    const PtxInst *at = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    const Code *code = machine_code(machine, finding->at.inst);
    if ((finding->kind != KIND_RACE && finding->kind != KIND_VOLATILE) || !at || !other ||
        code != machine_code(machine, finding->other.inst))
        return (Span){0};
    uint64_t start, other_start;
    if (arrays_overlap(machine, finding, &start, &other_start)) return (Span){0};
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
    const bool stores = finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE;
    if (finding->between == BETWEEN_LANES && !span.calls && later.line == earlier.line && !stores &&
        !updates(machine, finding)) // it reads what others write, such as `s[t] += s[t + 1]`
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
#define LOST_OR(barrier)                                                                           \
    "if both threads add to it, use atomicAdd(); if one needs what the other wrote in an earlier " \
    "round of the loop, end each round with " barrier
#define ROUNDS_OR(barrier)                                                                         \
    "if the two are in different rounds of the loop, end each round with " barrier                 \
    "; otherwise read into a variable, then " barrier ", then write"

// Whether the accesses, of one source line, may be in different rounds of a loop. If the compiler
// has unrolled it, a load comes after a store of the same line.
static bool in_loop(const Machine *machine, const Finding *finding) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    const PtxInst *at = machine_instruction(machine, finding->at.inst);
    const PtxInst *other = machine_instruction(machine, finding->other.inst);
    if (machine_code(machine, finding->other.inst)->source != function) return false;
    if (at > other && finding->at.kind == ACCESS_LOAD && finding->other.kind == ACCESS_STORE)
        return true;
    return ptx_in_loop(function, at < other ? at : other, at < other ? other : at);
}

// For two accesses in one block; one_statement: on one source line.
static const char *within_block(const Machine *machine, const Finding *finding,
                                bool one_statement) {
    const bool warps = finding->between & BETWEEN_WARPS;
    if (!one_statement)
        return warps ? "put __syncthreads() between the two" : "put __syncwarp() between the two";
    const bool loop = in_loop(machine, finding);
    if (updates(machine, finding))
        return !loop ? lost : warps ? LOST_OR("__syncthreads()") : LOST_OR("__syncwarp()");
    if (finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE)
        return "let one thread write it, or give each thread its own element";
    if (loop) return warps ? ROUNDS_OR("__syncthreads()") : ROUNDS_OR("__syncwarp()");
    return warps ? "read into a variable, then __syncthreads(), then write"
                 : "read into a variable, then __syncwarp(), then write";
}

// Writes which fences are missing around a flag, a ticket or, around both accesses, a lock. False:
// it is not known.
static bool fence_missing(const Machine *machine, const Finding *finding, bool one_step, char *to,
                          size_t room) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    char first[128] = "", second[128] = "";
    bool released, acquired;
    if (machine_code(machine, finding->other.inst)->source != function) return false;
    const PtxInst *signal = ptx_signal(function, finding->other.inst->ptx, 1, &released);
    const PtxInst *seen = ptx_lock(function, finding->at.inst->ptx, signal, &acquired);
    const bool lock = seen != NULL;
    if (!lock && finding->at.kind == ACCESS_LOAD && !one_step)
        seen = ptx_signal(function, finding->at.inst->ptx, -1, &acquired);
    if (!signal || !seen || (released && acquired)) return false;
    const uint32_t set = signal->place.line, got = seen->place.line;
    if (lock && !acquired) snprintf(first, sizeof first, " after taking it in line %u", got);
    if (lock && !released) snprintf(second, sizeof second, " before releasing it in line %u", set);
    if (!lock && !released)
        snprintf(first, sizeof first,
                 " into the writing thread, after line %u and before the flag or ticket of line %u",
                 finding->other_place.line, set);
    if (!lock && !acquired)
        snprintf(second, sizeof second,
                 " into the reading thread, after the flag or ticket of line %u and before line %u",
                 got, finding->place.line);
    snprintf(to, room, "%sput __threadfence()%s%s%s", lock ? "a lock needs two fences: " : "",
             first, *first && *second ? ", and another" : "", second);
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
static void after_copy(const Machine *machine, const Finding *finding, char *to, size_t room) {
    const PtxFunction *function = machine_code(machine, finding->at.inst)->source;
    const Inst *copy = finding->other.inst;
    uint64_t left;
    const PtxInst *wait = ptx_wait_group(function, finding->at.inst->ptx, &left);
    if (copy->access == ACCESS_COPY && wait && left)
        snprintf(to, room,
                 "__pipeline_wait_prior(%llu) of line %u does not wait for the last group: make it "
                 "__pipeline_wait_prior(0), or commit a group in every round, even an empty one",
                 (unsigned long long)left, wait->place.line);
    else
        snprintf(to, room, "before the access wait %s",
                 copy->access == ACCESS_COPY
                     ? "for the copy with __pipeline_wait_prior(0), then __syncthreads()"
                 : copy->bulk.barrier.space != PTX_REG_SPACE
                     ? "at the copy's mbarrier (mbarrier.try_wait)"
                     : "for the copy (cp.async.bulk.wait_group.read), then __syncthreads()");
}

static void write_overlap(const Machine *machine, const Finding *finding, uint64_t start,
                          uint64_t other, char *to, size_t room) {
    const Side *first = start < other ? &finding->at : &finding->other;
    const uint64_t low = start < other ? start : other;
    const Access access = address_access(first->inst);
    snprintf(to, room,
             "if the lines use two arrays, these overlap: they begin at bytes %llu and %llu of the "
             "dynamic shared memory; let the second begin at byte %llu or later. If it is one "
             "array, put %s between the two",
             (unsigned long long)low, (unsigned long long)(start + other - low),
             (unsigned long long)(low + machine->threads_per_block * address_bytes(&access)),
             finding->between & BETWEEN_WARPS ? "__syncthreads()" : "__syncwarp()");
}

void advice_write(const Machine *machine, const Finding *finding, const Span *span, char *to,
                  size_t room) {
    const bool one = same_line(finding->place, finding->other_place);
    const bool blocks = finding->between & BETWEEN_BLOCKS, cluster = finding->space == PTX_SHARED;
    const bool narrow = finding->between & BETWEEN_NARROW;
    const char *advice = finding->kind == KIND_GUESS      ? guessed
                         : finding->kind == KIND_CONSTANT ? constant
                         : span->step                     ? span->step
                         : finding->kind == KIND_VOLATILE ? for_volatile(machine, finding, one)
                         : !blocks                        ? within_block(machine, finding, one)
                         : cluster                        ? within_cluster
                                                          : between_blocks(machine, finding, one);
    const bool race = finding->kind == KIND_RACE && !cluster;
    uint64_t start, other;
    if (arrays_overlap(machine, finding, &start, &other))
        write_overlap(machine, finding, start, other, to, room);
    else if (finding->kind == KIND_RACE && finding->between & BETWEEN_COPY)
        after_copy(machine, finding, to, room);
    else if (!race || !blocks || narrow ||
             !fence_missing(machine, finding, one || span->step, to, room))
        snprintf(to, room, "%s", advice);
}

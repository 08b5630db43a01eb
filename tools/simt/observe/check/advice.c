// What is said of a race: what two of its threads do, and how to mend it for all that were seen.
#include <stdio.h>

#include "simt/observe/check/inside.h"

const char *check_verb(AccessKind kind) {
    static const char *const verbs[] = {[ACCESS_LOAD] = "reads",
                                        [ACCESS_STORE] = "writes",
                                        [ACCESS_ATOMIC] = "updates",
                                        [ACCESS_COPY] = "writes"};
    return verbs[kind];
}

// For threads of one block, all of whose accesses are in one statement, or in two.
static const char *within_block(const Finding *finding, bool one_statement) {
    bool warps = finding->between & BETWEEN_WARPS;
    if (!one_statement) return warps ? "put __syncthreads() between" : "put __syncwarp() between";
    if (finding->at.kind == ACCESS_STORE && finding->other.kind == ACCESS_STORE)
        return "let one thread write it, or each its own element";
    return warps ? "read into a variable, then __syncthreads(), then write"
                 : "read into a variable, then __syncwarp(), then write";
}

static const char *between_blocks(const Finding *finding, bool one_statement) {
    if (finding->between & BETWEEN_NARROW)
        return "the scope is too narrow for threads of another block: make it the device's";
    bool atomic = finding->at.kind == ACCESS_ATOMIC || finding->other.kind == ACCESS_ATOMIC;
    if (atomic)
        return "make both atomic, or order them: __threadfence() on both sides of a flag or "
               "ticket, or a second kernel";
    if (one_statement)
        return "give each block its own element, update it with atomics, or use a second kernel";
    return "no barrier orders blocks: use __threadfence() on both sides of an atomic flag or "
           "ticket, or a second kernel";
}

// The earlier access is a copy that nobody has waited for.
static const char *behind_copy(const Finding *finding) {
    const Inst *copy = finding->other.inst;
    if (copy->access == ACCESS_COPY)
        return "wait for the copy first (cp.async.wait_group), then __syncthreads()";
    if (copy->bulk.barrier.space != PTX_REG_SPACE)
        return "wait at the copy's mbarrier first (mbarrier.try_wait)";
    return "wait for the copy first (cp.async.bulk.wait_group.read), then __syncthreads()";
}

void advice_write(const Finding *finding, char *to, size_t room) {
    const Side *at = &finding->at, *other = &finding->other;
    bool one = finding->place.line == finding->other_place.line &&
               finding->place.file == finding->other_place.file;
    bool blocks = finding->between & BETWEEN_BLOCKS, far = at->block != other->block;
    const char *advice = finding->between & BETWEEN_COPY ? behind_copy(finding)
                         : !blocks                       ? within_block(finding, one)

                         : finding->space == PTX_SHARED
                             ? "put cluster.sync() between, or give each block its own element"
                             : between_blocks(finding, one);
    char who[64];
    if (far)
        snprintf(who, sizeof who, "thread %u of block %llu %s", other->thread,
                 (unsigned long long)other->block, check_verb(other->kind));
    else
        snprintf(who, sizeof who, "thread %u %s", other->thread, check_verb(other->kind));
    snprintf(to, room, "thread %u %s what %s, and nothing orders the two: %s", at->thread,
             check_verb(at->kind), who, advice);
}

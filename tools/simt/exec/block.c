// Blocks: see block.h.
#define _POSIX_C_SOURCE 200809L
#include "simt/exec/block.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/observe/check.h"

volatile sig_atomic_t simt_interrupted;

#define SLICE       65536 // basic blocks that a warp runs before others get a turn
#define STUCK_TURNS 2     // rounds of nothing but spinning before lanes that wait to join go on
#define POISON      0xff  // fills shared and local memory: NaN as a float, -1 as an integer

int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *aligned_room(size_t bytes) { return aligned_alloc(64, (bytes + 63) & ~(size_t)63); }

static void warp_prepare(Warp *warp, const Machine *machine) {
    const Code *code = machine->code;
    memset(warp->stack, 0, machine->stack_bytes);
    for (uint32_t k = 0; k < code->constant_count; k++) {
        const CodeConstant *constant = &code->constants[k];
        uint8_t *at = warp->stack + constant->offset;
        if (!constant->bytes) {
            uint32_t lanes = (uint32_t)constant->value;
            memcpy(at, &lanes, sizeof lanes);
            continue;
        }
        for (uint32_t l = 0; l < LANES; l++)
            memcpy(at + l * constant->bytes, &constant->value, constant->bytes);
    }
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t thread = warp->index * LANES + l;
        warp->tid[0][l] = thread % machine->block.x;
        warp->tid[1][l] = thread / machine->block.x % machine->block.y;
        warp->tid[2][l] = thread / machine->block.x / machine->block.y;
    }
}

Block *block_new(Machine *machine, Tally *tally) {
    Block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->machine = machine;
    block->tally = tally;
    block->threads = machine->threads_per_block;
    block->warp_count = machine->warps_per_block;
    block->shared_bytes = machine->reserved_base ? machine->reserved_base + RESERVED_BYTES
                                                 : machine->dynamic_base + machine->dynamic_shared;
    block->local_stride = machine->local_bytes;
    size_t threads = (size_t)block->warp_count * LANES;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->shared = aligned_room(block->shared_bytes + 64u);
    block->local = aligned_room(threads * block->local_stride + 64);
    uint8_t *stacks = aligned_room((size_t)block->warp_count * machine->stack_bytes);
    block->stacks = stacks;
    if (!block->warps || !block->shared || !block->local || !stacks) {
        block_free(block);
        return NULL;
    }
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        warp->index = (uint16_t)k;
        warp->block = block;
        warp->tally = tally;
        warp->stack = stacks + (size_t)k * machine->stack_bytes;
        warp_prepare(warp, machine);
    }
    if (machine->options->check) {
        block->check = checker_new(block);
        if (!block->check) {
            block_free(block);
            return NULL;
        }
    }
    return block;
}

void block_free(Block *block) {
    if (!block) return;
    checker_free(block->check);
    free(block->warps);
    free(block->shared);
    free(block->local);
    free(block->stacks);
    free(block);
}

void block_start(Block *block, uint64_t number) {
    const Machine *machine = block->machine;
    block->number = number;
    block->index.x = (uint32_t)(number % machine->grid.x);
    block->index.y = (uint32_t)(number / machine->grid.x % machine->grid.y);
    block->index.z = (uint32_t)(number / machine->grid.x / machine->grid.y);
    block->live_threads = block->threads;
    block->done_warps = 0;
    block->progress = 0;
    block->stuck = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->shared, POISON, block->shared_bytes);
    if (machine->reserved_base) memset(block->shared + machine->reserved_base, 0, RESERVED_BYTES);
    if (block->local_stride)
        memset(block->local, POISON, (size_t)block->warp_count * LANES * block->local_stride);
    for (uint32_t k = 0; k < block->warp_count; k++) {
        uint32_t left = block->threads - k * LANES;
        warp_start(&block->warps[k], machine->entry, left >= LANES ? ALL_LANES : (1u << left) - 1);
    }
    if (block->check) checker_begin_block(block);
}

const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Block *block = warp->block;
    Machine *machine = block->machine;
    char text[700], where[256] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (lane < 0) lane = __builtin_ctz(warp->mask);
    const PtxModule *module = machine->module;
    const PtxInst *ptx = machine_instruction(machine, inst);
    if (ptx && ptx->place.line && ptx->place.file < module->file_count &&
        module->file_short[ptx->place.file]) {
        snprintf(where, sizeof where, "%.200s:%u: ", module->file_short[ptx->place.file],
                 ptx->place.line);
    } else if (ptx) {
        snprintf(where, sizeof where, "%.200s:%u: ", module->origin, ptx->ptx_line);
    }
    pthread_mutex_lock(&lock);
    if (machine->status == SIMT_OK || block->number < machine->failed_block) {
        machine->status = status;
        machine->failed_block = block->number;
        const uint32_t thread[3] = {warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane]};
        const Dim3 at = block->index;
        char *to = machine->error.text;
        const size_t room = sizeof machine->error.text;
        if (status == SIMT_ASSERT) { // already says where
            snprintf(to, room, "%s", text);
        } else {
            snprintf(to, room, "%s%s; block (%u,%u,%u), thread (%u,%u,%u)", where, text, at.x, at.y,
                     at.z, thread[0], thread[1], thread[2]);
        }
    }
    pthread_mutex_unlock(&lock);
    warp->stop = STOP_FAILED;
    return NULL;
}

// Lanes that wait for others of their warp go on alone if that gets a stuck block going again.
static bool release_all(Block *block) {
    bool released = false;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        if (warp->live) released |= warp_release_parked(warp);
    }
    return released;
}

static BlockResult deadlock(Block *block) {
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        for (int p = 0; warp->live && p < warp->path_count; p++) {
            const Path *path = &warp->paths[p];
            if (path->state != PATH_BARRIER && path->state != PATH_SYNC) continue;
            bool barrier = path->state == PATH_BARRIER;
            warp_fail(warp, path->pc - barrier, __builtin_ctz(path->mask), SIMT_DEADLOCK,
                      "deadlock: waits at %s for threads that never come",
                      barrier ? "a barrier" : "a warp-wide instruction");
            return BLOCK_FAILED;
        }
    }
    return BLOCK_FAILED;
}

static bool timed_out(Block *block) {
    Machine *machine = block->machine;
    if (__atomic_load_n(&machine->stop, __ATOMIC_RELAXED)) return true;
    int64_t deadline = __atomic_load_n(&machine->deadline_ns, __ATOMIC_RELAXED);
    bool interrupted = simt_interrupted;
    if (!interrupted && (!deadline || clock_ns() < deadline)) return false;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        Warp *warp = &block->warps[k];
        for (int p = 0; warp->live && p < warp->path_count; p++) {
            const Path *path = &warp->paths[p];
            if (path->state != PATH_READY) continue;
            int lane = __builtin_ctz(path->mask);
            if (interrupted) {
                warp_fail(warp, path->pc, lane, SIMT_INTERRUPTED, "interrupted");
            } else {
                warp_fail(warp, path->pc, lane, SIMT_TIMEOUT,
                          "no progress for %g s: the kernel does not end",
                          machine->options->watchdog_seconds);
            }
            return true;
        }
    }
    return false;
}

static void note_progress(Machine *machine) {
    if (!machine->deadline_ns) return;
    int64_t seconds = (int64_t)(machine->options->watchdog_seconds * 1e9);
    __atomic_store_n(&machine->deadline_ns, clock_ns() + seconds, __ATOMIC_RELAXED);
}

// What a round of all warps came to.
typedef struct {
    bool ran;       // some warp ran
    bool only_spun; // and each that did was waiting for others by looking again and again
    bool long_run;  // some slice was used up
    bool failed;
} Round;

static void run_warp(Block *block, Warp *warp, Round *round) {
    warp->budget = SLICE;
    const Inst *inst = warp_resume(warp);
    if (!inst) {
        if (warp->stop == STOP_FAILED) round->failed = true;
        return;
    }
    round->ran = true;
    while (inst) inst = inst->run(warp, inst);
    if (warp->stop == STOP_DONE) {
        block->done_warps++;
        block->progress++;
    }
    if (warp->stop != STOP_SPIN) round->only_spun = false;
    if (warp->stop == STOP_SLICE || warp->stop == STOP_SPIN) round->long_run = true;
    if (warp->stop == STOP_FAILED) round->failed = true;
}

static BlockResult take_turns(Block *block, bool may_yield) {
    const Machine *machine = block->machine;
    const uint64_t seed = machine->options->order;
    for (uint64_t turn = 1;; turn++) {
        Round round = {.only_spun = true};
        uint32_t count = block->warp_count, start = 0;
        if (seed) {
            uint64_t mixed = (seed + turn + block->number * 31) * 0x9E3779B97F4A7C15u;
            start = (uint32_t)(mixed >> 33) % count;
        }
        uint64_t before = block->progress;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t index = (start + (seed & 1 ? count - 1 - k : k)) % count;
            Warp *warp = &block->warps[index];
            if (!warp->live) continue;
            run_warp(block, warp, &round);
            if (round.failed) return BLOCK_FAILED;
        }
        if (block->done_warps == count) return BLOCK_DONE;
        if (!round.ran) {
            if (!release_all(block)) return deadlock(block);
            continue;
        }
        if (block->progress != before) {
            block->stuck = 0;
            note_progress(block->machine);
        } else if (round.only_spun) {
            if (++block->stuck >= STUCK_TURNS) release_all(block);
        }
        if (round.long_run && timed_out(block)) return BLOCK_FAILED;
        if (may_yield && round.only_spun && block->progress == before) return BLOCK_YIELDS;
    }
}

BlockResult block_run(Block *block, bool may_yield) {
    bool stop = simt_interrupted && timed_out(block);
    BlockResult result = stop ? BLOCK_FAILED : take_turns(block, may_yield);
    if (block->check && result != BLOCK_YIELDS) checker_end_block(block);
    return result;
}

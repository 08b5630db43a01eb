// Simulates one SM, from issue to issue: the scheduler that can issue first does. See sm.h.
#include "simt/time/sm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULERS = 4, BOARDS = 6, COPIES = 64 };

// A warp slot and the warp in it.
typedef struct {
    const TimeTrace *trace;
    uint32_t at, block; // index of its next step; slot of its block
    double since;       // when it could first have issued
    double ready;       // when its own instructions allow the next
    double boards[BOARDS];
    double stored; // when its last store has left the SM
    uint8_t board_stall[BOARDS];
    uint8_t ready_stall;
    uint32_t blamed;  // the instruction to which ready_stall is charged
    uint32_t awaited; // copies that it has waited for
    bool there, waits;
    bool free; // may run after other blocks
    uint64_t born;
} WarpSlot;

typedef struct {
    uint32_t left, arrived; // warps that have not exited; warps at the barrier
    uint32_t copies;        // number of bulk copies to shared memory
    double copied[COPIES];  // ring: when the latest copies arrive
} Resident;

typedef struct {
    double now, next; // earliest next issue; time of the chosen issue
    double pipe[PIPES];
    double queue[TIME_QUEUE]; // ring: when the latest memory instructions leave the queue
    uint32_t queued;
    WarpSlot *latest, *choice;
    bool stale; // `choice` must be recomputed
} Scheduler;

typedef struct {
    const TimeSm *sm;
    TimeMemory memory;
    WarpSlot *slots;
    Resident *residents;
    double *starts; // start times of blocks
    Scheduler schedulers[SCHEDULERS];
    uint32_t started;
    uint64_t born;
    double arrival, wake; // cycles of a barrier per arrival, and to wake up
    double block_free, end, resident_cycles;
    double latest;  // time of the latest issue
    double barrier; // when the next warp of the SM may arrive at a barrier
    double (*places)[STALLS];
    TimeRun *run;
    uint64_t issued, steps;
    double half; // when half of the steps had been issued
} Clock;

static double larger(double a, double b) { return a > b ? a : b; }

static void renew_all(Clock *c) {
    for (int k = 0; k < SCHEDULERS; k++) c->schedulers[k].stale = true;
}

// --- blocks ---

// Interpolates between the values measured for blocks of `few` and of 32 warps.
static double by_warps(const double measured[2], double few, double warps) {
    return measured[0] + larger((warps - few) / (32 - few), 0) * (measured[1] - measured[0]);
}

static void start_block(Clock *c, uint32_t place, double now) {
    const TimeSm *sm = c->sm;
    const TimeDevice *d = sm->device;
    if (c->started == sm->blocks) return;
    double at = larger(now, c->block_free);
    if (sm->without[LIMITER_BLOCKS]) at = now;
    const double steady = by_warps(d->block_start, 4, sm->warps) * sm->active;
    const double alone = by_warps(d->block_start_sm, 8, sm->warps);
    const bool fills = c->started < sm->resident;
    c->block_free = at + (fills && alone < steady ? alone : steady);
    if (c->started + 1 == sm->blocks && sm->resident == 1) c->memory.active = sm->last_active;
    c->residents[place] = (Resident){.left = sm->warps};
    for (uint32_t w = 0; w < sm->warps; w++) {
        WarpSlot *slot = &c->slots[place * sm->warps + w];
        *slot = (WarpSlot){.trace = &sm->traces[(size_t)c->started * sm->warps + w],
                           .block = place,
                           .since = at,
                           .ready = at,
                           .there = true,
                           .born = c->born++};
        if (slot->trace->count) continue;
        slot->there = false;
        c->residents[place].left--;
    }
    c->starts[c->started++] = at;
    renew_all(c);
    if (!c->residents[place].left) start_block(c, place, at);
}

static void release(Clock *c, uint32_t place, double at) {
    c->residents[place].arrived = 0;
    for (uint32_t w = 0; w < c->sm->warps; w++) {
        WarpSlot *slot = &c->slots[place * c->sm->warps + w];
        if (!slot->there || !slot->waits) continue;
        slot->waits = false;
        slot->ready = larger(slot->ready, at);
    }
    renew_all(c);
}

static void end_warp(Clock *c, WarpSlot *slot, double now) {
    Resident *resident = &c->residents[slot->block];
    slot->there = false;
    c->end = larger(c->end, now);
    const double turnover = c->sm->without[LIMITER_BLOCKS]
                                ? 0
                                : by_warps(c->sm->device->block_turnover, 8, c->sm->warps);
    if (--resident->left == 0)
        start_block(c, slot->block, now + turnover);
    else if (resident->arrived && resident->arrived == resident->left)
        release(c, slot->block, now + c->wake);
}

static void arrive(Clock *c, WarpSlot *slot, uint32_t inst, double now) {
    Resident *resident = &c->residents[slot->block];
    if (c->sm->without[LIMITER_BARRIER]) return;
    c->memory.lsu = larger(c->memory.lsu, now) + c->sm->device->barrier_full / 64;
    c->barrier = larger(c->barrier, now) + c->arrival;
    slot->waits = true;
    slot->ready_stall = STALL_BARRIER;
    slot->blamed = inst;
    if (++resident->arrived == resident->left) release(c, slot->block, c->barrier + c->wake);
}

// --- instructions ---

static bool to_memory(SassPipe pipe) { return pipe >= PIPE_SHARED; }

// One reason why a warp waits, and until when. waits_of() lists them in order; ready_at() returns
// when the warp can issue.
typedef struct {
    double until;
    uint8_t stall;
} Wait;

enum { WAITS_MOST = BOARDS + 3 };

static int waits_of(const Clock *c, const Scheduler *s, const WarpSlot *slot, Wait *waits) {
    const TimeInst *inst = &c->sm->insts[slot->trace->steps[slot->at].inst];
    int count = 0;
    waits[count++] = (Wait){slot->ready, slot->ready_stall};
    for (uint32_t m = inst->wait_mask & ((1u << BOARDS) - 1); m; m &= m - 1) {
        const int b = __builtin_ctz(m);
        waits[count++] = (Wait){slot->boards[b], slot->board_stall[b]};
    }
    waits[count++] = (Wait){s->pipe[time_unit(inst->pipe)], STALL_MATH_PIPE};
    if (to_memory(inst->pipe) && s->queued >= TIME_QUEUE) {
        const double leaves = s->queue[s->queued % TIME_QUEUE];
        waits[count++] = (Wait){leaves, inst->pipe == PIPE_GLOBAL ? STALL_LG : STALL_MIO};
    }
    if (inst->act == ACT_EXIT) waits[count++] = (Wait){slot->stored, STALL_DRAIN};
    return count;
}

static double ready_at(const Clock *c, const Scheduler *s, const WarpSlot *slot) {
    Wait waits[WAITS_MOST];
    const int count = waits_of(c, s, slot, waits);
    double at = 0;
    for (int k = 0; k < count; k++) at = larger(at, waits[k].until);
    return at;
}

// Charges each cycle since the warp's last issue to one reason.
static void account(Clock *c, const Scheduler *s, const WarpSlot *slot, double now) {
    Wait waits[WAITS_MOST];
    double cycles[STALLS] = {0}, t = slot->since;
    const uint32_t inst = slot->trace->steps[slot->at].inst;
    const int count = waits_of(c, s, slot, waits);
    for (int k = 0; k < count; k++) {
        const double until = waits[k].until < now ? waits[k].until : now;
        if (until <= t) continue;
        const bool blames = k == 0 && waits[k].stall != STALL_WAIT;
        if (blames && c->places)
            c->places[slot->blamed][waits[k].stall] += until - t;
        else
            cycles[waits[k].stall] += until - t;
        c->run->stalls[waits[k].stall] += until - t;
        t = until;
    }
    if (now > t)
        cycles[STALL_NOT_SELECTED] += now - t, c->run->stalls[STALL_NOT_SELECTED] += now - t;
    cycles[STALL_SELECTED] += 1;
    c->run->stalls[STALL_SELECTED] += 1;
    c->resident_cycles += now + 1 - slot->since;
    for (int k = 0; c->places && k < STALLS; k++) c->places[inst][k] += cycles[k];
}

static uint8_t stall_of(const TimeInst *inst) {
    return inst->pipe == PIPE_GLOBAL ? STALL_LONG_SCOREBOARD : STALL_SHORT_SCOREBOARD;
}

static void set_boards(const Clock *c, WarpSlot *slot, const TimeInst *inst, double done,
                       double taken) {
    if (inst->write_barrier < BOARDS) {
        slot->boards[inst->write_barrier] = larger(slot->boards[inst->write_barrier], done);
        slot->board_stall[inst->write_barrier] = stall_of(inst);
    }
    if (inst->read_barrier >= BOARDS) return;
    slot->boards[inst->read_barrier] =
        larger(slot->boards[inst->read_barrier], taken + c->memory.pipes.read[inst->pipe]);
    slot->board_stall[inst->read_barrier] = stall_of(inst);
}

static void fence(Clock *c, WarpSlot *slot, const TimeInst *inst, uint32_t index, double now) {
    const TimeDevice *d = c->sm->device;
    const bool block = inst->act == ACT_FENCE_BLOCK;
    double until = now + (block ? d->block_fence : d->fence);
    if (!block && slot->stored > 0) until = larger(until, slot->stored + d->store_fence);
    if (c->sm->without[LIMITER_LATENCY]) until = now;
    slot->ready = larger(slot->ready, until);
    slot->ready_stall = STALL_MEMBAR;
    slot->blamed = index;
}

static void execute(Clock *c, Scheduler *s, WarpSlot *slot, double now) {
    const TimeDevice *d = c->sm->device;
    const TimeStep *step = &slot->trace->steps[slot->at++];
    const TimeInst *inst = &c->sm->insts[step->inst];
    const bool last = slot->at == slot->trace->count;
    Resident *resident = &c->residents[slot->block];
    const double part = c->sm->without[LIMITER_ISSUE] ? 0.25 : 1;
    double taken = now, done = now + c->memory.pipes.latency[inst->pipe];
    s->pipe[time_unit(inst->pipe)] = now + part * c->memory.pipes.issue[inst->pipe];
    slot->since = now + 1;
    slot->ready = now + (inst->stall ? inst->stall : 1);
    slot->ready_stall = STALL_WAIT;
    slot->free = false;
    if (!last && slot->trace->steps[slot->at].inst != step->inst + 1) {
        slot->ready += d->branch;
        slot->ready_stall = STALL_BRANCH;
        slot->blamed = step->inst;
    }
    if (to_memory(inst->pipe)) {
        // The same random latency for loads of a block's warps at one place: their data are
        // adjacent, and arrive together.
        c->memory.draws = (slot->born / c->sm->warps << 24) + slot->at + (c->sm->seed << 48);
        done = memory_access(&c->memory, inst, step, now, &taken);
        s->queue[s->queued++ % TIME_QUEUE] = taken;
        if (inst->act == ACT_STORE || inst->act == ACT_REDUCE) slot->stored = taken;
    }
    if (inst->act == ACT_BULK) resident->copied[resident->copies++ % COPIES] = done;
    if (inst->act == ACT_AWAIT && slot->awaited < resident->copies)
        done = larger(done, resident->copied[slot->awaited++ % COPIES]);
    set_boards(c, slot, inst, done, taken);
    if (inst->act == ACT_FENCE || inst->act == ACT_FENCE_BLOCK)
        fence(c, slot, inst, step->inst, now);
    if (inst->act == ACT_BARRIER) arrive(c, slot, step->inst, now);
    if (last) end_warp(c, slot, now + 1);
    if (++c->issued == c->steps / 2) c->half = now;
}

// --- time ---

static bool is_held(const WarpSlot *slot) {
    return slot->trace->steps[slot->at].waited && !slot->free;
}

// Lets warps that waited for other blocks continue, once no other warp can issue.
static bool free_held(Clock *c) {
    bool any = false;
    for (uint32_t w = 0; w < c->sm->resident * c->sm->warps; w++) {
        WarpSlot *slot = &c->slots[w];
        if (!slot->there || !is_held(slot)) continue;
        slot->free = any = true;
        slot->ready = larger(slot->ready, c->latest);
        slot->ready_stall = STALL_LONG_SCOREBOARD;
        slot->blamed = slot->trace->steps[slot->at].inst;
    }
    renew_all(c);
    return any;
}

// The warp that issues next: the one that issued last if it can, else the oldest.
static void choose(Clock *c, Scheduler *s, uint32_t which) {
    const uint32_t places = c->sm->resident * c->sm->warps;
    s->choice = NULL;
    s->next = DBL_MAX;
    s->stale = false;
    for (uint32_t w = which; w < places; w += SCHEDULERS) {
        WarpSlot *slot = &c->slots[w];
        if (!slot->there || slot->waits || is_held(slot)) continue;
        const double at = larger(ready_at(c, s, slot), s->now);
        const bool first = s->choice && s->choice != s->latest &&
                           (slot == s->latest || slot->born < s->choice->born);
        if (at < s->next || (at == s->next && first)) s->next = at, s->choice = slot;
    }
}

static bool issue_next(Clock *c) {
    Scheduler *s = NULL;
    for (uint32_t k = 0; k < SCHEDULERS; k++) {
        if (c->schedulers[k].stale) choose(c, &c->schedulers[k], k);
        if (c->schedulers[k].choice && (!s || c->schedulers[k].next < s->next))
            s = &c->schedulers[k];
    }
    if (!s) return free_held(c);
    const double now = s->next;
    c->latest = larger(c->latest, now);
    account(c, s, s->choice, now);
    s->latest = s->choice;
    s->now = now + (c->sm->without[LIMITER_ISSUE] ? 0.25 : 1);
    s->stale = true;
    execute(c, s, s->choice, now);
    return true;
}

// A barrier of w warps takes wake + w * arrival.
static void set_barrier(Clock *c) {
    const double *b = c->sm->device->barrier;
    c->arrival = (b[TIME_WARPS - 1] - b[0]) / ((1 << (TIME_WARPS - 1)) - 1);
    c->wake = larger(b[0] - c->arrival, 1);
}

static void sum_up(Clock *c) {
    const TimeSm *sm = c->sm;
    TimeRun *run = c->run;
    const uint32_t last = c->started - 1, middle = (last + sm->resident) / 2;
    // Stores must have left the SM, but the return trip does not count.
    const double stored =
        larger(c->memory.l2.free - sm->device->l2, c->memory.dram.free - sm->device->dram);
    run->cycles = larger(larger(c->end, c->memory.atomics), stored);
    run->issued = (double)c->issued;
    run->block_cycles = last > middle ? (c->starts[last] - c->starts[middle]) / (last - middle)
                                      : run->cycles / sm->blocks;
    run->rate =
        run->cycles > c->half ? (run->issued - run->issued / 2) / (run->cycles - c->half) : 1;
    run->warps = run->cycles > 0 ? c->resident_cycles / run->cycles : 0;
    run->dram_bytes = c->memory.dram.moved;
    run->l2_bytes = c->memory.l2.moved;
    run->bounded = c->memory.bounded;
}

bool sm_run(const TimeSm *sm, TimeRun *run, double (*places)[STALLS]) {
    const uint32_t resident = sm->resident;
    Clock *c = calloc(1, sizeof *c);
    if (!c) return false;
    *run = (TimeRun){0};
    c->sm = sm;
    c->run = run;
    c->places = places;
    c->memory.d = sm->device;
    c->memory.pipes = time_pipes(sm->device);
    c->memory.active = sm->active;
    c->memory.write_part = sm->write_part;
    c->memory.adding = sm->adding;
    c->memory.fixed = sm->fixed;
    c->memory.miss_part = sm->miss_part;
    c->memory.stores_stay = sm->stores_stay;
    c->memory.words = sm->words;
    memcpy(c->memory.without, sm->without, sizeof sm->without);
    set_barrier(c);
    c->slots = calloc((size_t)resident * sm->warps + 1, sizeof *c->slots);
    c->residents = calloc(resident + 1, sizeof *c->residents);
    c->starts = calloc(sm->blocks + 1, sizeof *c->starts);
    const bool enough = c->slots && c->residents && c->starts;
    for (uint32_t k = 0; k < sm->blocks * sm->warps; k++) c->steps += sm->traces[k].count;
    // The SM is the last one to get a block.
    const double first = sm->without[LIMITER_BLOCKS]
                             ? 0
                             : (sm->active - 1) * by_warps(sm->device->block_start, 4, sm->warps);
    for (uint32_t k = 0; enough && k < resident; k++) start_block(c, k, first);
    while (enough && issue_next(c)) {
    }
    if (enough && c->started) sum_up(c);
    free(c->slots);
    free(c->residents);
    free(c->starts);
    free(c);
    return enough;
}

// One multiprocessor with a clock: see time.h.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "simt/time/time.h"

enum { SCHEDULERS = 4, BOARDS = 6 };

typedef struct {
    const TimeTrace *trace;
    uint32_t at, block; // the next step; the slot of its block
    double ready, boards[BOARDS];
    bool waits; // at a barrier
    bool there;
    uint64_t born;
} Lane;

typedef struct {
    uint32_t left;    // warps that have not ended
    uint32_t arrived; // at the barrier
    uint32_t first;   // of its warps' places
    bool used;
} Place;

typedef struct {
    double now;
    double pipe[PIPES]; // free again
    double queue[64];   // when the latest instructions to memory were taken, a ring
    uint32_t queued;
    uint32_t latest; // the warp that it issued from last
} Scheduler;

enum { FLIGHTS = 8192 };
typedef struct {
    double done, bytes;
} Flight;

typedef struct {
    const TimeDevice *d;
    const TimeInst *insts;
    Lane *lanes;
    Place *slots;
    Scheduler schedulers[SCHEDULERS];
    uint32_t warps, resident, blocks, started, next_lane;
    TimeTrace *traces;
    double lsu, l2, dram, atomics, barrier; // free again
    double dram_bytes, atomic_cycles, in_flight;
    Flight flights[FLIGHTS];
    uint64_t flight_first, flight_last;
    double block_free; // when the next block can start
    double end;
    uint64_t issued, born;
    double stall[8];
} Sm;

static double larger(double a, double b) { return a > b ? a : b; }

static void start_block(Sm *sm, uint32_t slot, double now) {
    if (sm->started == sm->blocks) return;
    const double at = larger(now, sm->block_free);
    sm->block_free = at + sm->d->block_cycles * sm->d->sms;
    Place *s = &sm->slots[slot];
    *s = (Place){.left = sm->warps, .first = slot * sm->warps, .used = true};
    for (uint32_t w = 0; w < sm->warps; w++) {
        Lane *lane = &sm->lanes[s->first + w];
        *lane = (Lane){.trace = &sm->traces[(size_t)sm->started * sm->warps + w],
                       .block = slot,
                       .ready = at,
                       .there = true,
                       .born = sm->born++};
        if (lane->trace->count == 0) {
            lane->there = false;
            s->left--;
        }
    }
    sm->started++;
    if (s->left == 0) start_block(sm, slot, at);
}

static void end_warp(Sm *sm, Lane *lane, double now) {
    lane->there = false;
    sm->end = larger(sm->end, now);
    Place *slot = &sm->slots[lane->block];
    if (--slot->left == 0) {
        slot->used = false;
        start_block(sm, lane->block, now + sm->d->block_start);
    } else if (slot->arrived && slot->arrived == slot->left) {
        slot->arrived = 0;
        for (uint32_t w = 0; w < sm->warps; w++) {
            Lane *other = &sm->lanes[slot->first + w];
            if (other->there && other->waits) {
                other->waits = false;
                other->ready = larger(other->ready, now + sm->d->wake);
            }
        }
    }
}

static void arrive(Sm *sm, Lane *lane, double now) {
    Place *slot = &sm->slots[lane->block];
    lane->waits = true;
    if (++slot->arrived < slot->left) return;
    slot->arrived = 0;
    for (uint32_t w = 0; w < sm->warps; w++) {
        Lane *other = &sm->lanes[slot->first + w];
        if (!other->there || !other->waits) continue;
        other->waits = false;
        other->ready = larger(other->ready, now + sm->d->wake);
    }
}

// When its data has come.
static double to_memory(Sm *sm, const TimeInst *inst, const TimeStep *s, double now) {
    const TimeDevice *d = sm->d;
    const double start = larger(now, sm->lsu);
    const double width = s->wavefronts ? s->wavefronts : 1;
    sm->lsu = start + width + (inst->pipe == PIPE_SHARED ? d->shared_more : 0);
    if (inst->pipe != PIPE_GLOBAL) return sm->lsu + d->latency[inst->pipe];
    const double out = sm->lsu;
    if (s->atomics) {
        const double at = larger(out, sm->atomics);
        sm->atomics = at + s->same * sm->atomic_cycles;
        return sm->atomics + d->atomic;
    }
    double done = out + d->l1;
    const uint32_t far = s->dram + s->l2;
    if (far) {
        const double at = larger(out, sm->l2);
        sm->l2 = at + far * 32 / d->l2_bytes;
        done = sm->l2 + d->l2;
        if (s->dram) {
            // Bytes in flight: those of requests that have not come back.
            while (sm->flight_first < sm->flight_last &&
                   sm->flights[sm->flight_first % FLIGHTS].done <= at)
                sm->in_flight -= sm->flights[sm->flight_first++ % FLIGHTS].bytes;
            sm->in_flight += s->dram * 32;
            const double wait = sm->in_flight / sm->dram_bytes;
            double back = at + sqrt(d->dram * d->dram + wait * wait);
            back = larger(back, sm->dram + s->dram * 32 / sm->dram_bytes * 0.98);
            sm->dram = back;
            if (sm->flight_last - sm->flight_first < FLIGHTS)
                sm->flights[sm->flight_last++ % FLIGHTS] = (Flight){back, s->dram * 32};
            done = larger(done, back);
        }
    }
    return done;
}

static bool is_memory(uint8_t pipe) { return pipe >= PIPE_SHARED && pipe <= PIPE_GLOBAL; }

// When the warp's next instruction can be issued, for all that this scheduler knows.
static double ready_at(const Sm *sm, const Scheduler *scheduler, const Lane *lane) {
    const TimeInst *inst = &sm->insts[lane->trace->steps[lane->at].inst];
    double at = lane->ready;
    for (uint32_t m = inst->wait_mask; m; m &= m - 1) {
        const int b = __builtin_ctz(m);
        if (b < BOARDS) at = larger(at, lane->boards[b]);
    }
    at = larger(at, scheduler->pipe[inst->pipe]);
    if (is_memory(inst->pipe) && scheduler->queued >= sm->d->queue)
        at = larger(at, scheduler->queue[(scheduler->queued - sm->d->queue) % 64]);
    return at;
}

static void issue(Sm *sm, Scheduler *scheduler, Lane *lane, double now) {
    const TimeStep *s = &lane->trace->steps[lane->at];
    const TimeInst *inst = &sm->insts[s->inst];
    const TimeDevice *d = sm->d;
    lane->at++;
    sm->issued++;
    scheduler->pipe[inst->pipe] = now + d->issue[inst->pipe];
    lane->ready = now + (inst->stall ? inst->stall : 1);
    if (lane->at < lane->trace->count && lane->trace->steps[lane->at].inst != s->inst + 1)
        lane->ready = larger(lane->ready, now + d->branch);
    double done = now + d->latency[inst->pipe];
    if (is_memory(inst->pipe)) {
        done = to_memory(sm, inst, s, now);
        scheduler->queue[scheduler->queued++ % 64] = sm->lsu;
    }
    if (inst->write_barrier < BOARDS) lane->boards[inst->write_barrier] = done;
    if (inst->read_barrier < BOARDS)
        lane->boards[inst->read_barrier] =
            larger(is_memory(inst->pipe) ? sm->lsu : now, now) + d->read;
    if (inst->joins) {
        sm->barrier = larger(sm->barrier, now) + d->arrival;
        arrive(sm, lane, sm->barrier);
    }
    if (lane->at == lane->trace->count) end_warp(sm, lane, now);
}

TimeResult time_sm(const TimeDevice *device, const TimeInst *insts, TimeTrace *traces,
                   uint32_t blocks, uint32_t warps, uint32_t resident, double active) {
    if (resident > blocks) resident = blocks;
    Sm sm = {.d = device, .insts = insts, .traces = traces, .blocks = blocks, .warps = warps,
             .resident = resident};
    sm.lanes = calloc((size_t)resident * warps + 1, sizeof *sm.lanes);
    sm.slots = calloc(resident + 1, sizeof *sm.slots);
    sm.dram_bytes = device->dram_gbps / device->clock_ghz / active;
    if (sm.dram_bytes > device->l2_bytes) sm.dram_bytes = device->l2_bytes;
    sm.atomic_cycles = device->atomic_same * active;
    TimeResult result = {0};
    for (uint64_t k = 0; k < (uint64_t)blocks * warps; k++) {
        result.steps += traces[k].count;
        result.left_out += traces[k].left_out;
    }
    for (uint32_t k = 0; k < resident; k++) start_block(&sm, k, 0);
    const uint32_t places = resident * warps;
    for (;;) {
        Scheduler *best = NULL;
        Lane *choice = NULL;
        double soonest = DBL_MAX;
        for (uint32_t k = 0; k < SCHEDULERS; k++) {
            Scheduler *scheduler = &sm.schedulers[k];
            double least = DBL_MAX;
            Lane *pick = NULL;
            for (uint32_t w = k; w < places; w += SCHEDULERS) {
                Lane *lane = &sm.lanes[w];
                if (!lane->there || lane->waits) continue;
                double at = larger(ready_at(&sm, scheduler, lane), scheduler->now);
                const bool older = pick && (w == scheduler->latest || (pick != &sm.lanes[scheduler->latest] && lane->born < pick->born));
                if (at < least || (at == least && older)) least = at, pick = lane;
            }
            if (least < soonest) soonest = least, best = scheduler, choice = pick;
        }
        if (!best) break;
        best->latest = (uint32_t)(choice - sm.lanes);
        best->now = soonest + 1;
        issue(&sm, best, choice, soonest);
    }
    double memory = sm.atomics;
    sm.end = larger(sm.end, memory);
    result.cycles = (uint64_t)sm.end;
    result.issued = sm.issued;
    double scale = result.steps ? (double)(result.steps + result.left_out) / (double)result.steps : 1;
    result.ns = device->launch_ns + sm.end * scale / device->clock_ghz;
    free(sm.lanes);
    free(sm.slots);
    return result;
}

// Predicts a launch's time: replays the recorded warps once as they are, and once without each
// possible limit. See time.h.
#include "simt/time/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simt/time/record.h"
#include "simt/time/sm.h"

enum { TRIED_STEPS = 300000 }; // steps to replay to see the cost of a limit
#define BOUNDED_MOST                                                                               \
    1.3 // the most by which an unmeasured rate of atomic operations may lengthen a launch
#define UNEVEN_LEAST                                                                               \
    1.5 // as much more memory than the recorded ones a block must access to be uneven
enum { UNMEASURED_CYCLES = 50 }; // assumed: the most that such an instruction takes
#define UNMEASURED_PART 0.3      // of a launch, that they may take
enum { MEMSET_MOST = 4096 };     // assumed: bytes of a small memset
enum {
    MEAN_STEPS = 100000,
    MEAN_TIMES = 32
}; // steps and replays at most, for the mean over random latencies

const char *const time_stall_names[STALLS] = {
    [STALL_SELECTED] = "selected",
    [STALL_WAIT] = "wait",
    [STALL_LONG_SCOREBOARD] = "long_scoreboard",
    [STALL_SHORT_SCOREBOARD] = "short_scoreboard",
    [STALL_BARRIER] = "barrier",
    [STALL_MATH_PIPE] = "math_pipe_throttle",
    [STALL_MIO] = "mio_throttle",
    [STALL_LG] = "lg_throttle",
    [STALL_BRANCH] = "branch_resolving",
    [STALL_MEMBAR] = "membar",
    [STALL_DRAIN] = "drain",
    [STALL_NOT_SELECTED] = "not_selected",
};

const char *const time_limit_names[LIMITERS] = {
    [LIMITER_MEMORY] = "DRAM bandwidth",    [LIMITER_LATENCY] = "global-memory latency",
    [LIMITER_CONFLICTS] = "bank conflicts", [LIMITER_SHARED] = "shared-memory pipe",
    [LIMITER_ISSUE] = "instruction issue",  [LIMITER_BARRIER] = "barriers",
    [LIMITER_ATOMICS] = "atomics",          [LIMITER_BLOCKS] = "block starts",
    [LIMITER_LAUNCH] = "launch overhead",
};

static uint32_t memsets; // since the last launch

void time_memset(size_t bytes) { memsets += bytes <= MEMSET_MOST; }

// --- what is known ---

static TimeInst *insts_of(const Recorder *r) {
    TimeInst *insts = calloc(r->inst_count + 1u, sizeof *insts);
    for (uint32_t k = 0; insts && k < r->inst_count; k++) {
        SassWord word;
        SassInst inst;
        memcpy(&word, r->function->code.at + (size_t)k * SASS_BYTES, sizeof word);
        sass_decode(word, (uint64_t)k * SASS_BYTES, &inst);
        insts[k] = time_inst(&inst);
    }
    return insts;
}

// Cycles for the handovers from block to block: after a store, a read of L2 that has just missed it
// and the one that finds it.
static double handovers(const Recorder *r) { return 1.5 * r->depth * r->device->strong_load; }

// Cycles of the block that accesses the most memory, if it was not recorded: it takes as
// much longer than they as it accesses more.
static double longest(const Recorder *r, const TimeRun *run) {
    uint64_t sectors = 0, most = 0;
    for (uint32_t k = 0; k < r->recorded; k++) {
        const uint64_t number = k ? r->chosen + k * r->sms : 0;
        const uint32_t own = number < r->machine->block_count ? r->notes[number].sectors : 0;
        sectors += own;
        if (own > most) most = own;
    }
    if (r->one_each || r->most <= UNEVEN_LEAST * (double)most) return 0;
    return run->block_cycles * r->resident * r->most * r->recorded / (double)sectors;
}

// Whether instructions without a measured latency may have taken much of the time.
static const char *unmeasured(const Recorder *r, const TimeInst *insts, double cycles) {
    const uint64_t warps = (uint64_t)r->recorded * r->machine->warps_per_block;
    const double rounds = r->one_each ? 1 : (double)r->blocks / r->resident;
    for (uint64_t w = 0; w < warps; w++) {
        double most = 0;
        for (uint32_t k = 0; k < r->traces[w].count; k++) {
            const TimeInst *inst = &insts[r->traces[w].steps[k].inst];
            if (!inst->unknown) continue;
            most += UNMEASURED_CYCLES;
            if (most * rounds > cycles * UNMEASURED_PART)
                return inst->pipe == PIPE_MATRIX ? "tensor cores"
                                                 : "instructions without a measured latency";
        }
    }
    return NULL;
}

static const char *unknown_of(const Recorder *r, const TimeInst *insts, const TimeRun *run,
                              const TimePrediction *p) {
    if (r->outside_code) return "calls to functions outside the kernel";
    if (!r->machine->turns || handovers(r) > run->cycles) return "blocks that wait for each other";
    if (run->bounded && p->without[LIMITER_ATOMICS] * BOUNDED_MOST < p->us)
        return "the rate of additions to so few words";
    if (longest(r, run) > p->cycles / 2) return "blocks of very different lengths";
    return unmeasured(r, insts, p->cycles);
}

// --- the whole from what was recorded ---

// How many numbers there are if their hashes have set as many bits.
static uint32_t number_of(uint32_t set) {
    return (uint32_t)(-log(1 - fmin((double)set / ATOMIC_BITS, 0.99)) * ATOMIC_BITS + 0.5);
}

static TimeWords *words_of(const Recorder *r) {
    TimeWords *words = calloc(r->inst_count + 1u, sizeof *words);
    for (uint32_t k = 0; words && k < r->inst_count; k++) {
        const AtomicWords *of = r->atomic[k];
        if (!of) continue;
        const uint32_t lines = number_of(of->lines);
        words[k].words = number_of(of->words);
        words[k].spread = lines > 1 ? 32 * lines : words[k].words;
    }
    return words;
}

// The first blocks find less in L2 than all others, which run after them here but beside them on a
// device: there all wait for a sector, but DRAM delivers it only once. As large a part of the
// recorded sectors comes from DRAM as of all.
static double miss_part(const Recorder *r) {
    const uint64_t warps = (uint64_t)r->recorded * r->machine->warps_per_block;
    double all = 0, missed = 0;
    for (uint64_t w = 0; w < warps; w++)
        for (uint32_t k = 0; k < r->traces[w].count; k++) {
            const TimeStep *s = &r->traces[w].steps[k];
            if (s->stores) continue;
            all += s->dram + s->l2 + s->l1;
            missed += s->dram;
        }
    return missed > 0 ? fmin((double)r->read / (double)r->loaded * all / missed, 1) : 1;
}

static TimeSm sm_of(const Recorder *r, const TimeInst *insts, const TimeWords *words) {
    const Machine *m = r->machine;
    const double all = (double)(r->read + r->wrote);
    const bool stores_stay = 32 * all <= r->device->l2_bytes;
    const uint64_t rest = m->block_count - (r->blocks - 1) * r->sms;
    return (TimeSm){.device = r->device,
                    .insts = insts,
                    .inst_count = r->inst_count,
                    .traces = r->traces,
                    .blocks = r->one_each ? 1 : r->recorded,
                    .warps = m->warps_per_block,
                    .resident = r->resident < r->recorded ? r->resident : r->recorded,
                    .active = m->block_count < r->sms ? (double)m->block_count : (double)r->sms,
                    .last_active = (double)rest,
                    .adding = (double)m->block_count / (double)r->blocks,
                    .fixed = (double)r->blocks * (1 - r->device->dram_slowest) < 1,
                    .words = words,
                    .miss_part = miss_part(r),
                    .stores_stay = stores_stay,
                    .write_part = stores_stay ? 0 : (double)r->wrote / all};
}

// A short launch is replayed several times with other random numbers, as if each replay were
// another SM: the launch ends with the slowest SM that has blocks.
static bool mean_cycles(TimeSm sm, TimeRun *run) {
    double sum = 0, slowest = run->cycles;
    const uint64_t steps = (uint64_t)run->issued + 1;
    uint64_t times = 1 + MEAN_STEPS / steps;
    if (times > MEAN_TIMES) times = MEAN_TIMES;
    const uint64_t sms = sm.active < (double)times ? (uint64_t)sm.active : times;
    const uint64_t groups = times / sms;
    for (sm.seed = 1; sm.seed < groups * sms; sm.seed++) {
        TimeRun again;
        if (!sm_run(&sm, &again, NULL)) return false;
        if (sm.seed % sms == 0) sum += slowest, slowest = 0;
        if (again.cycles > slowest) slowest = again.cycles;
    }
    run->cycles = (sum + slowest) / (double)groups;
    return true;
}

static uint64_t dropped(const Recorder *r) {
    const uint64_t warps = (uint64_t)r->recorded * r->machine->warps_per_block;
    uint64_t sum = 0;
    for (uint64_t w = 0; w < warps; w++) sum += r->traces[w].dropped;
    return sum;
}

// Blocks and instructions that were not recorded are assumed to run at the pace of the others.
static double extrapolated(const Recorder *r, const TimeRun *run) {
    const double skipped = r->one_each ? 0 : (double)(r->blocks - r->recorded);
    const double rate = run->rate > 0 ? run->rate : 1;
    return run->cycles + skipped * run->block_cycles + (double)dropped(r) / rate;
}

static void fill(const Recorder *r, const TimeSm *sm, const TimeRun *run, TimePrediction *p) {
    const TimeDevice *d = r->device;
    const TimeMemory memory = {.d = d, .write_part = sm->write_part, .fixed = sm->fixed};
    p->cycles = extrapolated(r, run) + handovers(r);
    double launch = r->stores ? d->launch_store_us : d->launch_us;
    if (r->early) launch -= d->launch_us - d->launch_early_us;
    p->stream_us = d->stream_us - d->launch_us;
    p->launch_us = launch + memsets * d->memset_us;
    p->us = p->launch_us + p->cycles / d->clock_ghz / 1000;
    memsets = 0;
    p->insts = (uint64_t)run->issued;
    p->warps = run->warps;
    if (run->cycles > 0) {
        const double share = sm->active / d->sms;
        const double dram = run->dram_bytes / run->cycles * share / memory_dram_rate(&memory);
        const double l2 = run->l2_bytes / run->cycles * share / d->l2_rate;
        p->issue_share = run->issued / run->cycles / 4;
        p->memory_share = dram > l2 ? dram : l2;
    }
    memcpy(p->stalls, run->stalls, sizeof p->stalls);
}

// --- what it would gain ---

static bool has_conflicts(const TimeSm *sm) {
    for (uint32_t w = 0; w < sm->blocks * sm->warps; w++)
        for (uint32_t k = 0; k < sm->traces[w].count; k++)
            if (sm->traces[w].steps[k].wavefronts > sm->traces[w].steps[k].groups &&
                sm->traces[w].steps[k].groups)
                return true;
    return false;
}

// The number of blocks to replay without each limit.
static uint32_t tried_blocks(const TimeSm *sm) {
    uint64_t steps = 0;
    for (uint32_t b = 0; b < sm->blocks; b++) {
        if (b >= 2 * sm->resident && steps > TRIED_STEPS) return b;
        for (uint32_t w = 0; w < sm->warps; w++)
            steps += sm->traces[(size_t)b * sm->warps + w].count;
    }
    return sm->blocks;
}

static bool try_without(TimeSm sm, TimePrediction *p) {
    TimeRun base, run;
    const bool conflicts = has_conflicts(&sm);
    sm.blocks = tried_blocks(&sm);
    if (!sm_run(&sm, &base, NULL)) return false;
    const double beyond = p->us - p->launch_us;
    for (int k = 0; k < LIMITERS; k++) {
        p->without[k] = p->us;
        if (k == LIMITER_LAUNCH) p->without[k] = beyond;
        if (k == LIMITER_LAUNCH || (k == LIMITER_CONFLICTS && !conflicts)) continue;
        sm.without[k] = true;
        if (!sm_run(&sm, &run, NULL)) return false;
        sm.without[k] = false;
        if (base.cycles > 0) p->without[k] = p->launch_us + beyond * run.cycles / base.cycles;
    }
    for (int k = 0; k < LIMITERS; k++)
        if (p->without[k] < p->without[p->limit]) p->limit = (Limiter)k;
    return true;
}

// --- instructions ---

static void keep_places(Arena *arena, const Recorder *r, double (*places)[STALLS],
                        TimePrediction *p) {
    p->places = ARENA_NEW(arena, r->inst_count + 1u, TimePlace);
    for (uint32_t k = 0; k < r->inst_count; k++) {
        double sum = 0;
        for (int i = 0; i < STALLS; i++) sum += places[k][i];
        if (sum <= 0) continue;
        p->places[p->place_count].inst = k;
        memcpy(p->places[p->place_count++].cycles, places[k], sizeof places[k]);
    }
}

bool time_predict(const Recorder *r, Arena *arena, TimePrediction *p) {
    *p = (TimePrediction){0};
    TimeInst *insts = insts_of(r);
    TimeWords *words = words_of(r);
    double(*places)[STALLS] = calloc(r->inst_count + 1u, sizeof *places);
    bool enough = insts && words && places && !r->failed;
    TimeRun run;
    if (enough) {
        const TimeSm sm = sm_of(r, insts, words);
        enough = sm_run(&sm, &run, places) && mean_cycles(sm, &run);
        if (enough) fill(r, &sm, &run, p);
        enough = enough && try_without(sm, p);
        if (enough) p->unknown = unknown_of(r, insts, &run, p);
        if (p->unknown) p->us = 0;
    }
    if (enough) keep_places(arena, r, places, p);
    free(insts);
    free(words);
    free(places);
    return enough;
}

// An SM's memories: see memory.h.
#include "simt/time/memory.h"

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

// Of a table for 1, 2, 4, 8 .. the value for `at`, between two of them in proportion.
static double between(const double *table, int count, double at) {
    if (at <= 1) return table[0];
    const double place = log2(at);
    const int below = (int)place < count - 2 ? (int)place : count - 2;
    const double low = (double)(1 << below), part = (at - low) / low;
    return table[below] + part * (table[below + 1] - table[below]);
}

// --- the way out of the SM's schedulers ---

static int size_class(uint32_t bytes) { return bytes <= 4 ? 0 : bytes <= 8 ? 1 : 2; }

static double shared_cycles(const TimeMemory *m, const TimeInst *inst, const TimeStep *s) {
    const TimeDevice *d = m->d;
    const bool stores = inst->act == ACT_STORE;
    const int size = size_class(s->bytes);
    const double ways = m->without[LIMITER_CONFLICTS] ? s->groups : s->wavefronts;
    if (inst->act == ACT_ATOMIC) return larger(d->rate_atoms / 4, ways);
    if (size == 0) return between(stores ? d->store_ways : d->load_ways, TIME_WAYS, ways);
    return (stores ? d->store_wide : d->load_wide)[size] + larger(ways - s->groups, 0);
}

static double global_cycles(const TimeMemory *m, const TimeStep *s) {
    static const double full[] = {1, 2, 4}; // wavefronts of 32 lanes
    const int size = size_class(s->bytes);
    const double whole = m->d->l1_wide[size] * smaller(s->wavefronts / full[size], 1);
    return larger(whole, between(m->d->l1_lines, TIME_WAYS, s->ways));
}

static double way_cycles(const TimeMemory *m, const TimeInst *inst, const TimeStep *s) {
    double cycles = 1;
    if (inst->pipe == PIPE_SHUFFLE) cycles = m->d->rate_shuffle / 4;
    if (inst->pipe == PIPE_SHARED && s->wavefronts) cycles = shared_cycles(m, inst, s);
    if (inst->pipe == PIPE_GLOBAL && s->wavefronts) cycles = global_cycles(m, s);
    return m->without[LIMITER_SHARED] ? 0.25 : cycles;
}

// --- L2 and DRAM ---

// Cycles from a load of 128 bytes to its last one, from the curve: so many bytes of an SM are in
// flight. In the loop that was measured two additions stand behind each load.
static double loaded(const TimeDevice *d, const double load[TIME_LOADS], double in_flight) {
    const double at = in_flight / TIME_LOAD_LEAST, added = 2 * d->add;
    if (at >= 1 << (TIME_LOADS - 1)) return in_flight / load[TIME_LOADS - 1] - added;
    double latency[TIME_LOADS];
    const int below = at > 1 ? (int)log2(at) : 0;
    for (int k = below; k < TIME_LOADS && k < below + 2; k++)
        latency[k - below] = (double)(TIME_LOAD_LEAST << k) / load[k];
    const double low = (double)(1 << below), part = at > 1 ? (at - low) / low : 0;
    return latency[0] + part * (latency[1] - latency[0]) - added;
}

// Where they go to, and how fast it is.
typedef struct {
    TimeFlow *flow;
    const double *load;
    double alone, rate; // cycles of one sector's load; bytes a cycle
} Goal;

// The most that an SM gets while all are at it.
static double peak(const double load[TIME_LOADS]) {
    double most = load[0];
    for (int k = 1; k < TIME_LOADS; k++) most = larger(most, load[k]);
    return most;
}

// Bytes come: a single sector as soon as alone, a line as the curve has it, and behind those that
// come already.
static double flow(const TimeMemory *m, const Goal *goal, double bytes, double sectors, double at) {
    TimeFlow *f = goal->flow;
    while (f->first < f->last && f->done[f->first % TIME_FLIGHTS] <= at)
        f->in_flight -= (double)f->bytes[f->first++ % TIME_FLIGHTS];
    f->in_flight += bytes;
    f->moved += bytes;
    const double line = loaded(m->d, goal->load, TIME_LOAD_LEAST);
    const double part = smaller((sectors - 1) / 3, 1);
    double latency = goal->alone + part * larger(line - goal->alone, 0);
    if (m->without[LIMITER_LATENCY]) latency = m->d->l1;
    if (m->without[LIMITER_MEMORY]) return at + latency;
    const double queued = f->in_flight * m->active / m->d->sms;
    latency += larger(loaded(m->d, goal->load, queued) - line, 0);
    const double back = larger(at + latency, f->free + bytes / goal->rate);
    f->free = back;
    if (f->last - f->first < TIME_FLIGHTS) {
        f->done[f->last % TIME_FLIGHTS] = back;
        f->bytes[f->last++ % TIME_FLIGHTS] = (float)bytes;
    }
    return back;
}

double memory_unfairness(const TimeDevice *d) {
    const double kernel = d->dram_read / d->clock_ghz / d->sms;
    return larger(peak(d->dram_load) / kernel - 1, 0);
}

// Between reading alone, as much of both, and writing alone, the time for a byte in proportion. The
// curve's end is what the SM in the middle gets; whole kernels were measured whose SMs had the same
// share from the start, and that end with the slowest.
double memory_dram_rate(const TimeMemory *m) {
    const TimeDevice *d = m->d;
    const double w = m->write_part;
    const double cost = w <= 0.5 ? (1 - 2 * w) / d->dram_read + 2 * w / d->dram_copy
                                 : (2 - 2 * w) / d->dram_copy + (2 * w - 1) / d->dram_write;
    const double kernel = 1 / cost / d->clock_ghz / d->sms;
    return m->fixed ? kernel : kernel * (1 + memory_unfairness(d));
}

static double far(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double at) {
    const TimeDevice *d = m->d;
    const double share = m->active / d->sms, sectors = s->dram + s->l2;
    const bool single = s->lines && sectors <= s->lines;
    const double more = inst->act == ACT_STRONG ? larger(d->strong_load - d->l2, 0) : 0;
    const double rate = inst->act == ACT_STORE ? d->l2_write_rate
                        : single               ? d->l2_sectors
                                               : peak(d->l2_load);
    const Goal near = {&m->l2, d->l2_load, d->l2 + more, smaller(rate / share, d->l2_sm_rate)};
    const double done = flow(m, &near, sectors * 32, sectors / larger(s->lines, 1), at);
    if (!s->dram) return done;
    const double weight = single ? larger(d->dram_read / d->dram_sectors, 1) : 1;
    const Goal goal = {&m->dram, d->dram_load, d->dram + more,
                       smaller(memory_dram_rate(m) / share, d->dram_sm_rate)};
    const double bytes = s->dram * 32 * weight;
    return larger(done, flow(m, &goal, bytes, s->dram / larger(s->lines, 1), at));
}

// --- atomic operations ---

static double atomic(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double at) {
    const TimeDevice *d = m->d;
    const bool returns = inst->act == ACT_ATOMIC;
    const double *cycles = d->atomics[returns][inst->floats];
    const double lanes = s->atomics * (double)s->same; // about
    double taken = cycles[2] * larger(s->lines, 1);
    if (s->atomics == 1)
        taken = s->same > 1 ? cycles[0] + (cycles[1] - cycles[0]) * (lanes - 1) / 31 : cycles[0];
    if (m->without[LIMITER_ATOMICS]) taken = 0;
    m->atomics = larger(m->atomics, at) + taken * m->active;
    double latency = inst->swaps ? d->cas : inst->floats ? d->atom_float : d->atom;
    if (m->without[LIMITER_LATENCY]) latency = d->l1;
    return m->atomics + latency;
}

double memory_access(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double now,
                     double *taken) {
    m->way = larger(now, m->way) + way_cycles(m, inst, s);
    *taken = m->way;
    if (inst->pipe == PIPE_SHARED && inst->act == ACT_ATOMIC) {
        const double more = m->d->shared_atomic_same - m->d->shared_atomic;
        return m->way + m->d->shared_atomic +
               larger(more, 0) * (s->same > 1 ? s->same - 1 : 0) / 31;
    }
    if (inst->pipe != PIPE_GLOBAL) return m->way + m->pipes.latency[inst->pipe];
    if (s->atomics) return atomic(m, inst, s, m->way);
    if (s->dram + s->l2) return far(m, inst, s, m->way);
    return m->way + m->d->l1;
}

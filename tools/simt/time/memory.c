// Models the time of an SM's memory accesses. See memory.h.
#include "simt/time/memory.h"

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

// Interpolates a table for 1, 2, 4, 8, ... linearly at `at`.
static double between(const double *table, int count, double at) {
    if (at <= 1) return table[0];
    const double place = log2(at);
    const int below = (int)place < count - 2 ? (int)place : count - 2;
    const double low = (double)(1 << below), part = (at - low) / low;
    return table[below] + part * (table[below + 1] - table[below]);
}

// --- shared memory and L1 ---

static int size_class(uint32_t bytes) { return bytes <= 4 ? 0 : bytes <= 8 ? 1 : 2; }

static double shared_cycles(const TimeMemory *m, const TimeInst *inst, const TimeStep *s) {
    const TimeDevice *d = m->d;
    const bool stores = inst->act == ACT_STORE;
    const int size = size_class(s->bytes);
    const double ways = m->without[LIMITER_CONFLICTS] ? s->groups : s->wavefronts;
    if (inst->act == ACT_ATOMIC) return larger(d->rate_atoms / 4, ways);
    if (size == 0) return between(stores ? d->store_ways : d->load_ways, TIME_WAYS, ways);
    const double whole = (stores ? d->store_by_size : d->load_by_size)[size];
    return whole * smaller(s->groups / (double)(1 << size), 1) + larger(ways - s->groups, 0);
}

static double global_cycles(const TimeMemory *m, const TimeStep *s) {
    static const double full[] = {1, 2, 4}; // wavefronts of 32 lanes
    const int size = size_class(s->bytes);
    const double whole = m->d->l1_by_size[size] * smaller(s->wavefronts / full[size], 1);
    const double tags = s->lines > 4 ? s->lines * m->d->l1_tags / 32 : 0;
    return larger(larger(whole, tags), between(m->d->l1_lines, TIME_WAYS, s->ways));
}

// Cycles of an SM for atomic operations: 32 lanes at consecutive addresses are four sectors.
static double atomic_cycles(const TimeMemory *m, const TimeInst *inst, const TimeStep *s) {
    const double full = inst->act == ACT_ATOMIC ? m->d->atom_sm : m->d->red_sm;
    return larger(full * smaller((s->dram + s->l2) / 4.0, 1), s->lines * m->d->red_sm_lines / 32);
}

static double lsu_cycles(const TimeMemory *m, const TimeInst *inst, const TimeStep *s) {
    double cycles = 1;
    if (inst->pipe == PIPE_SHUFFLE) cycles = m->d->rate_shuffle / 4;
    if (inst->pipe == PIPE_SHARED && s->wavefronts) cycles = shared_cycles(m, inst, s);
    if (inst->pipe == PIPE_GLOBAL && s->wavefronts) cycles = global_cycles(m, s);
    if (s->atomics) cycles = larger(cycles, atomic_cycles(m, inst, s));
    return m->without[LIMITER_SHARED] ? 0.25 : cycles;
}

// --- L2 and DRAM ---

// The latency of a 128-byte load with these bytes of an SM in flight, from the curve, without the
// additions that the benchmark has between two loads.
static double loaded(const TimeDevice *d, const double load[TIME_LOADS], double in_flight) {
    const double place = in_flight > TIME_LOAD_LEAST ? log2(in_flight / TIME_LOAD_LEAST) : 0;
    const double added = 3.5 * d->add; // three of 14 cycles
    if (place >= TIME_LOADS - 1) return in_flight / load[TIME_LOADS - 1] - added;
    const int below = (int)place;
    const double low = (double)(TIME_LOAD_LEAST << below);
    const double part = in_flight > low ? (in_flight - low) / low : 0;
    return (1 - part) * low / load[below] + part * 2 * low / load[below + 1] - added;
}

// A memory that requests go to, and how fast it is.
typedef struct {
    TimeFlow *flow;
    const double *load, *gather, *spread;
    double alone, rate; // latency of a single sector's load; bytes per cycle
} MemoryLevel;

// The highest rate of an SM while all load.
static double peak(const double *table, int count) {
    double most = table[0];
    for (int k = 1; k < count; k++) most = larger(most, table[k]);
    return most;
}

// A pseudorandom number from 0 to 1, the same in each run: Steele and others, "Fast splittable
// pseudorandom number generators", 2014.
static double chance(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// How much longer or shorter than the mean one load takes, interpolated between the measured
// percentiles.
static double deviation(const double spread[TIME_PERCENTS], double u) {
    static const double parts[] = {0, 0.1, 0.5, 0.9, 0.99, 1};
    double mean = 0, at = 0;
    for (int k = 0; k <= TIME_PERCENTS; k++) {
        const double low = spread[k ? k - 1 : 0], high = spread[k < TIME_PERCENTS ? k : k - 1];
        const double width = parts[k + 1] - parts[k];
        mean += width * (low + high) / 2;
        if (u >= parts[k]) at = low + (u - parts[k]) / width * (high - low);
    }
    return at - mean;
}

// The latency of an access with these bytes in flight, from the curve. If each lane reads a sector
// of its own line, it is the latency of a single load for one lane, that of the measured gather at
// the lowest load for 32 lanes, and in between proportional to the logarithm of the number of
// lanes.
static double latency_of(const TimeMemory *m, const MemoryLevel *level, double lines,
                         double sectors, double in_flight) {
    const double few = loaded(m->d, level->load, in_flight);
    if (sectors > lines) return few;
    const double one = loaded(m->d, level->load, TIME_LOAD_LEAST);
    const double alone = larger(one - level->alone, 0);
    const double many = larger(TIME_GATHER_LEAST / level->gather[0] - 3.5 * m->d->add - one, 0);
    return few - alone + smaller(log2(larger(lines, 1)) / 5, 1) * (many + alone);
}

// When these bytes arrive, after those that are already in flight.
static double flow(TimeMemory *m, const MemoryLevel *level, double bytes, double lines,
                   double sectors, double at) {
    TimeFlow *f = level->flow;
    while (f->first < f->last && f->done[f->first % TIME_FLIGHTS] <= at)
        f->in_flight -= (double)f->bytes[f->first++ % TIME_FLIGHTS];
    f->in_flight = bytes + (m->without[LIMITER_MEMORY] ? 0 : f->in_flight);
    f->moved += bytes;
    const double in_flight = f->in_flight * m->active / m->d->sms;
    const double latency =
        m->without[LIMITER_LATENCY] ? m->d->l1 : latency_of(m, level, lines, sectors, in_flight);
    if (m->without[LIMITER_MEMORY]) return at + latency;
    const double served = larger(at + latency, f->free + bytes / level->rate);
    f->free = served;
    if (f->last - f->first < TIME_FLIGHTS) {
        f->done[f->last % TIME_FLIGHTS] = served;
        f->bytes[f->last++ % TIME_FLIGHTS] = (float)bytes;
    }
    if (m->without[LIMITER_LATENCY]) return served;
    return served + deviation(level->spread, chance(&m->draws));
}

// Interpolates the time per byte between reads only, a copy, and writes only. If no SM can take
// over another's work, uses the slowest SM's rate.
double memory_dram_rate(const TimeMemory *m) {
    const TimeDevice *d = m->d;
    const double w = m->write_part;
    const double cost = w <= 0.5 ? (1 - 2 * w) / d->dram_read + 2 * w / d->dram_copy
                                 : (2 - 2 * w) / d->dram_copy + (2 * w - 1) / d->dram_write;
    return 1 / cost / d->clock_ghz / d->sms * (m->fixed ? d->dram_slowest : 1);
}

// If each lane reads a sector of its own line, scales the bytes by the lower rate measured for such
// accesses, with a constant stride or at random. With a stride DRAM transfers 64 bytes for each.
static double global_access(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double at) {
    const TimeDevice *d = m->d;
    const double share = m->active / d->sms, sectors = s->dram + s->l2;
    const bool single = s->lines > 1 && sectors <= s->lines, gathers = single && !s->even;
    const bool stores = inst->act == ACT_STORE;
    const double more = inst->act == ACT_STRONG ? larger(d->strong_load - d->l2, 0) : 0;
    const double lines = single && s->even ? 0 : s->lines, dram_rate = memory_dram_rate(m);
    const MemoryLevel l2 = {
        &m->l2,       d->l2_load,
        d->l2_gather, d->l2_spread,
        d->l2 + more, smaller((stores ? d->l2_write_rate : d->l2_rate) / share, d->l2_sm_rate)};
    const double slower = d->l2_rate / (gathers ? peak(d->l2_gather, TIME_GATHERS) : d->l2_sectors);
    const double done = flow(m, &l2, sectors * 32 * (single ? slower : 1), lines, sectors, at);
    if (!s->dram || (stores && m->stores_stay)) return done;
    const MemoryLevel dram = {&m->dram,       d->dram_load,
                              d->dram_gather, d->dram_spread,
                              d->dram + more, smaller(dram_rate / share, d->dram_sm_rate)};
    double bytes = s->lines > 1 && !stores ? s->pieces * 64 : s->dram * 32;
    if (gathers) bytes = s->dram * 32 * larger(dram_rate / peak(d->dram_gather, TIME_GATHERS), 1);
    if (!stores) bytes *= m->miss_part;
    const double back = flow(m, &dram, bytes, lines, s->dram, at);
    return stores ? done : larger(done, back); // a store only has to reach L2
}

// --- atomic operations ---

// Cycles of the device: interpolated between those measured for 16, 64 .. words, and `many` for 1
// MiB.
static double by_words(const double table[TIME_WORDS], double many, double words) {
    const double place = smaller(larger(log2(words / TIME_WORDS_LEAST) / 2, 0), TIME_WORDS + 1);
    const int below = (int)smaller(place, TIME_WORDS - 1);
    const bool last = below == TIME_WORDS - 1;
    const double low = table[below], high = last ? many : table[below + 1];
    return low * pow(high / low, (place - below) / (last ? 2 : 1));
}

// A slice of L2 serves the lanes of a sector together, but those at one word one after the other;
// an address takes at least as long as measured for it alone. Without the newer measurements lanes
// at up to 4,096 words are taken to be served one by one.
static double atomic_taken(TimeMemory *m, const TimeStep *s, const double *cycles,
                           const double table[2][TIME_WORDS]) {
    const TimeWords words = m->words[s->inst];
    if (words.words <= 1) return s->lanes * (s->lanes > 1 ? cycles[1] / 32 : cycles[0]);
    const bool apart = s->turns > 8; // 32 consecutive words have four turns
    if (isnan(table[0][0])) {
        const double part = smaller(log2(words.spread / 4096.0) / 6, 1);
        if (part >= 0 && !apart) return s->turns / 4.0 * cycles[2];
        if (part >= 0) return s->lanes / 32.0 * (cycles[4] + part * (cycles[3] - cycles[4]));
        m->bounded = true;
        return s->lanes * cycles[0];
    }
    const double taken = apart ? s->lanes / 32.0 * by_words(table[0], cycles[3], words.spread)
                               : s->turns / 4.0 * by_words(table[1], cycles[2], words.spread);
    return larger(taken, s->lanes * cycles[0] / words.words);
}

static double atomic(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double at) {
    const TimeDevice *d = m->d;
    const bool returns = inst->act == ACT_ATOMIC;
    const double taken = atomic_taken(m, s, d->atomics[returns][inst->floats],
                                      d->atomic_words[returns][inst->floats]);
    m->atomics = larger(m->atomics, at) + (m->without[LIMITER_ATOMICS] ? 0 : taken * m->adding);
    double latency = inst->swaps ? d->cas : inst->floats ? d->atom_float : d->atom;
    if (m->without[LIMITER_LATENCY]) latency = d->l1;
    return m->atomics + latency;
}

double memory_access(TimeMemory *m, const TimeInst *inst, const TimeStep *s, double now,
                     double *taken) {
    m->lsu = larger(now, m->lsu) + lsu_cycles(m, inst, s);
    *taken = m->lsu;
    if (inst->pipe == PIPE_SHARED && inst->act == ACT_ATOMIC) {
        const double more = m->d->shared_atomic_same - m->d->shared_atomic;
        return m->lsu + m->d->shared_atomic +
               larger(more, 0) * (s->same > 1 ? s->same - 1 : 0) / 31;
    }
    if (inst->pipe != PIPE_GLOBAL) return m->lsu + m->pipes.latency[inst->pipe];
    if (s->atomics) return atomic(m, inst, s, m->lsu);
    if (s->dram + s->l2) return global_access(m, inst, s, m->lsu);
    return m->lsu + m->d->l1;
}

// Records the blocks of the SM that gets the last block, since no other SM has more blocks.
// Accesses of all blocks go through the cache model. See record.h.
#include "simt/time/record.h"

#include <stdlib.h>
#include <string.h>

#include "simt/base/align.h"
#include "simt/base/limits.h"
#include "simt/exec/address.h"
#include "simt/exec/bank.h"
#include "simt/time/cache.h"

enum {
    STEPS_MOST = 3 << 20,  // of all warps; the rest is extrapolated
    BLOCKS_MOST = 1 << 15, // recorded blocks
    L1_MORE = 28 << 10,    // assumed: bytes of L1 that are never shared memory
};

static Recorder *recorder_of(const Block *block) {
    return (Recorder *)(void *)block->machine->observer;
}

// --- what is executed ---

static TimeTrace *trace_of(const Warp *warp) {
    const size_t number = (size_t)(uintptr_t)warp->block->watch;
    Recorder *r = recorder_of(warp->block);
    return number ? &r->traces[(number - 1) * r->machine->warps_per_block + warp->index] : NULL;
}

static bool grow(Recorder *r) {
    if (r->recorded < r->capacity) return true;
    const uint32_t more = r->capacity ? r->capacity * 2 : 64, warps = r->machine->warps_per_block;
    TimeTrace *traces = realloc(r->traces, (size_t)more * warps * sizeof *traces);
    if (traces) r->traces = traces;
    const Inst **last = realloc(r->last, (size_t)more * warps * sizeof *last);
    if (last) r->last = last;
    if (!traces || !last) return false;
    r->capacity = more;
    return true;
}

// If uneven work falls to the first blocks and the final work to the last one, this SM has both:
// block 0 takes the place of its first block.
static bool is_chosen(const Recorder *r, uint64_t number) {
    if (r->one_each) return true;
    if (r->chosen == 0) return number % r->sms == r->chosen;
    return number == 0 || (number % r->sms == r->chosen && number != r->chosen);
}

static void begin(Block *block) {
    Recorder *r = recorder_of(block);
    const uint32_t warps = r->machine->warps_per_block;
    block->watch = NULL;
    if (!is_chosen(r, block->number) || r->steps >= STEPS_MOST) return;
    if (r->recorded >= BLOCKS_MOST || r->failed) return;
    if (!grow(r)) {
        r->failed = true;
        return;
    }
    memset(&r->traces[(size_t)r->recorded * warps], 0, warps * sizeof *r->traces);
    memset(&r->last[(size_t)r->recorded * warps], 0, warps * sizeof *r->last);
    block->watch = (void *)(uintptr_t)++r->recorded;
    for (uint32_t k = 0; k < block->warp_count; k++) block->warps[k].followed = true;
}

// The work of a block: its instructions, and its sectors from L2 and DRAM.
static uint64_t work_of(const Recorder *r, uint32_t number) {
    const uint32_t warps = r->machine->warps_per_block;
    uint64_t sum = 0;
    for (uint32_t w = 0; w < warps; w++) {
        const TimeTrace *trace = &r->traces[(size_t)number * warps + w];
        sum += trace->count + trace->dropped;
        for (uint32_t k = 0; k < trace->count; k++)
            sum += trace->steps[k].dram + trace->steps[k].l2;
    }
    return sum;
}

static void forget(Recorder *r, uint32_t number) {
    const uint32_t warps = r->machine->warps_per_block;
    for (uint32_t w = 0; w < warps; w++) {
        TimeTrace *trace = &r->traces[(size_t)number * warps + w];
        r->steps -= trace->count;
        free(trace->steps);
        *trace = (TimeTrace){0};
    }
}

// If each block has an SM of its own, only the block with the most work is timed. It takes the
// place of the first block.
static void end(Block *block) {
    Recorder *r = recorder_of(block);
    const uint32_t warps = r->machine->warps_per_block;
    const uint32_t number = (uint32_t)(uintptr_t)block->watch;
    if (!r->one_each || !number) return;
    block->watch = NULL;
    if (number == 1) return; // the first block is already there
    if (work_of(r, number - 1) >= work_of(r, 0)) {
        forget(r, 0);
        memcpy(r->traces, &r->traces[(size_t)(number - 1) * warps], warps * sizeof *r->traces);
        memset(&r->traces[(size_t)(number - 1) * warps], 0, warps * sizeof *r->traces);
    } else {
        forget(r, number - 1);
    }
}

// Whether the warp runs again after a spin read that found nothing new. How often it read depends
// on the order of turns, so that only the first of these reads is kept.
static bool has_waited(Recorder *r, Warp *warp, TimeTrace *trace) {
    const bool ended = warp->spin.ended;
    uint32_t accesses = 0;
    for (uint32_t k = trace->polled; ended && k < trace->count; k++)
        accesses += trace->steps[k].lines > 0;
    const bool waited = ended && warp->spin.waits && accesses <= 1; // else it has worked
    warp->spin.ended = false;
    if (waited && trace->polled) {
        r->steps -= trace->count - trace->polled;
        trace->count = trace->polled;
    }
    if (ended) trace->polled = trace->count;
    return waited;
}

static void step(Warp *warp, const Inst *inst) {
    Recorder *r = recorder_of(warp->block);
    TimeTrace *trace = trace_of(warp);
    if (!trace) return;
    const uint32_t number = (uint32_t)(uintptr_t)warp->block->watch;
    if (r->one_each && number != r->latest) cache_leave_sm();
    r->latest = number;
    if (inst->ptx >= r->inst_count) {
        r->outside_code = true;
        return;
    }
    const Inst **last = &r->last[trace - r->traces];
    const bool same = *last && (*last)->ptx == inst->ptx && inst > *last;
    *last = inst;
    if (same) return; // part of the same machine instruction
    const bool waited = has_waited(r, warp, trace);
    if (trace->count >= r->warp_most || r->failed) {
        trace->dropped++;
        return;
    }
    if (trace->count == trace->capacity) {
        const uint32_t more = trace->capacity ? trace->capacity * 2 : 64;
        TimeStep *steps = realloc(trace->steps, more * sizeof *steps);
        if (!steps) {
            r->failed = true;
            return;
        }
        trace->steps = steps;
        trace->capacity = more;
    }
    trace->steps[trace->count++] = (TimeStep){.inst = inst->ptx, .waited = waited};
    r->steps++;
}

// --- what it accesses ---

static uint16_t one_more(uint16_t count) {
    return count < UINT16_MAX ? (uint16_t)(count + 1) : count;
}
static uint8_t capped(uint32_t count) { return count > 255 ? 255 : (uint8_t)count; }

static bool among(const uint64_t *seen, uint32_t count, uint64_t value) {
    while (count-- > 0)
        if (seen[count] == value) return true;
    return false;
}

static void count_sector(Recorder *r, TimeStep *s, const Access *access, uint64_t sector) {
    const bool may_hit_l1 = access->kind == ACCESS_LOAD && !access->order;
    const bool writes = access->kind != ACCESS_LOAD;
    const Found found = cache_touch(sector << 5, s != NULL, may_hit_l1, writes);
    r->loaded += access->kind != ACCESS_STORE;
    if (found == FOUND_DRAM && access->kind == ACCESS_STORE)
        r->wrote++;
    else if (found == FOUND_DRAM)
        r->read++;
    if (!s) return;
    uint16_t *of = found == FOUND_L1 ? &s->l1 : found == FOUND_L2 ? &s->l2 : &s->dram;
    *of = one_more(*of);
}

static bool lie_evenly(uint32_t lanes, const uint64_t address[LANES]) {
    uint64_t last = 0, step = 0, count = 0;
    for (uint32_t m = lanes; m; m &= m - 1, count++) {
        const uint64_t at = address[__builtin_ctz(m)];
        if (count > 1 && at - last != step) return false;
        step = at - last;
        last = at;
    }
    return true;
}

// Counts the sectors and lines that the lanes touch.
static void global_access(Recorder *r, const Block *block, TimeStep *s, const Access *access,
                          uint32_t lanes, const uint64_t address[LANES]) {
    uint64_t sectors[2 * LANES], lines[2 * LANES], pieces[2 * LANES];
    uint32_t sector_count = 0, line_count = 0, piece_count = 0;
    const uint32_t bytes = address_bytes(access);
    for (uint32_t m = lanes; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const uint64_t last = (address[l] + bytes - 1) >> 5;
        for (uint64_t at = address[l] >> 5; at <= last; at++) {
            if (among(sectors, sector_count, at) || sector_count == 2 * LANES) continue;
            sectors[sector_count++] = at;
            const uint32_t before = s ? s->dram : 0;
            count_sector(r, s, access, at);
            if (s && s->dram > before && !among(pieces, piece_count, at >> 1))
                pieces[piece_count++] = at >> 1;
            if (!among(lines, line_count, at >> 2)) lines[line_count++] = at >> 2;
        }
    }
    BlockNote *note = &r->notes[block->number];
    note->sectors += sector_count;
    if (note->sectors > r->most) r->most = note->sectors;
    if (!s) return;
    uint32_t at[LANES];
    LANE_LOOP at[l] = (uint32_t)address[l];
    s->stores = access->kind == ACCESS_STORE;
    s->ways = capped(bank_count(at, lanes, bytes, true).wavefronts);
    s->lines = capped(line_count);
    s->pieces = capped(piece_count);
    s->even = lie_evenly(lanes, address);
    s->bytes = capped(bytes);
    s->wavefronts = capped((bytes * (uint32_t)__builtin_popcount(lanes) + 127) / 128);
}

static uint32_t hash_of(uint64_t word) {
    return (uint32_t)(word * 0x9E3779B97F4A7C15u >> 32) % ATOMIC_BITS;
}

static bool is_new(uint64_t *seen, uint32_t at) {
    const uint64_t bit = (uint64_t)1 << at % 64, before = seen[at / 64];
    seen[at / 64] |= bit;
    return !(before & bit);
}

static void count_words(Recorder *r, const Inst *inst, uint32_t lanes,
                        const uint64_t address[LANES]) {
    if (inst->ptx >= r->inst_count) return;
    AtomicWords **words = &r->atomic[inst->ptx];
    if (!*words) *words = calloc(1, sizeof **words);
    r->failed = r->failed || !*words;
    for (uint32_t m = *words ? lanes : 0; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        (*words)->words += is_new((*words)->seen[0], hash_of(at / 4));
        (*words)->lines += is_new((*words)->seen[1], hash_of(at / 128));
    }
}

// A block that reads what another has stored in this launch may have had to wait for it, unless
// both only count: add, or take a minimum.
static void note_handovers(Recorder *r, const Block *block, TimeStep *s, const Access *access,
                           uint32_t lanes, const uint64_t address[LANES]) {
    uint32_t *depth = &r->notes[block->number].depth;
    const bool writes = access->kind != ACCESS_LOAD;
    const AtomicMode mode = access->inst->atomic.mode;
    const bool counts = access->kind == ACCESS_ATOMIC && mode != ATOMIC_EXCH && mode != ATOMIC_CAS;
    const bool reads = access->kind == ACCESS_LOAD ? access->order : access->inst->spins;
    for (uint32_t m = reads ? lanes : 0; m; m &= m - 1) {
        const uint64_t word = address[__builtin_ctz(m)] / 4;
        const Tag *tag = &r->tags[hash_of(word)];
        if (tag->word != word || tag->block == block->number) continue;
        const bool handed = !tag->counts || !counts;
        const uint32_t after = tag->depth + handed;
        if (s && handed && tag->counts) s->waited = true;
        if (after > *depth) *depth = after;
    }
    if (*depth > r->depth) r->depth = *depth;
    for (uint32_t m = writes ? lanes : 0; m; m &= m - 1) {
        const uint64_t word = address[__builtin_ctz(m)] / 4;
        Tag *tag = &r->tags[hash_of(word)];
        const uint32_t before = access->kind == ACCESS_ATOMIC && tag->word == word ? tag->depth : 0;
        *tag = (Tag){word, block->number, before > *depth ? before : *depth, counts};
    }
}

static void count_atomics(TimeStep *s, uint32_t lanes, const uint64_t address[LANES]) {
    uint64_t sectors[LANES];
    uint32_t turns[LANES], sector_count = 0, most = 0, first = 0, sum = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t same = 0, earlier = 0, at = 0;
        const int l = __builtin_ctz(m);
        for (uint32_t n = lanes; n; n &= n - 1) {
            const int k = __builtin_ctz(n);
            same += address[k] == address[l];
            earlier += address[k] == address[l] && k < l;
        }
        first += !earlier;
        if (same > most) most = same;
        while (at < sector_count && sectors[at] != address[l] / 32) at++;
        if (at == sector_count) sectors[sector_count] = address[l] / 32, turns[sector_count++] = 0;
        if (same > turns[at]) turns[at] = same;
    }
    for (uint32_t k = 0; k < sector_count; k++) sum += turns[k];
    s->lanes = capped((uint32_t)__builtin_popcount(lanes));
    s->atomics = capped(first);
    s->same = capped(most);
    s->turns = capped(sum);
}

static void shared_access(TimeStep *s, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    uint32_t at[LANES];
    const uint32_t bytes = address_bytes(access);
    LANE_LOOP at[l] = (uint32_t)address[l];
    const BankCount count = bank_count(at, lanes, bytes, access->kind == ACCESS_LOAD);
    s->wavefronts = capped(count.wavefronts);
    s->groups = capped(count.groups);
    s->bytes = capped(bytes);
    if (access->kind != ACCESS_ATOMIC) return;
    count_atomics(s, lanes, address);
    s->atomics = 0;
}

// In local memory each word of a warp has a line, with a sector for eight lanes. Stores go through
// to L2; loads come from L2 to the extent that L1 is too small for all local memory.
static void local_access(Recorder *r, TimeStep *s, const Access *access, uint32_t lanes,
                         const uint64_t address[LANES]) {
    const uint32_t words = (address_bytes(access) + 3) / 4;
    uint64_t lines[LANES], sectors[LANES];
    uint32_t line_count = 0, sector_count = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t line = address[l] / 4, sector = line * 4 + l / 8;
        if (!among(lines, line_count, line)) lines[line_count++] = line;
        if (!among(sectors, sector_count, sector)) sectors[sector_count++] = sector;
    }
    sector_count *= words;
    s->bytes = capped(4 * words);
    s->wavefronts = capped(words);
    s->lines = capped(line_count * words);
    s->ways = 1;
    if (access->kind == ACCESS_STORE) {
        s->l2 = (uint16_t)sector_count;
    } else if (r->local_bytes > r->l1_bytes) {
        r->local_missed += sector_count * (1 - (double)r->l1_bytes / (double)r->local_bytes);
        s->l2 = (uint16_t)r->local_missed;
        r->local_missed -= s->l2;
    }
}

// The warp's last recorded step; NULL: it is not recorded.
static TimeStep *step_of(const Warp *warp) {
    TimeTrace *trace = trace_of(warp);
    return trace && trace->count && !trace->dropped ? &trace->steps[trace->count - 1] : NULL;
}

static void access_memory(Warp *warp, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    if (!lanes) return;
    Recorder *r = recorder_of(warp->block);
    TimeStep *s = step_of(warp);
    if (access->space == PTX_GLOBAL) {
        global_access(r, warp->block, s, access, lanes, address);
        r->stores = r->stores || access->kind != ACCESS_LOAD;
        if (access->kind == ACCESS_ATOMIC) count_words(r, access->inst, lanes, address);
        if (r->tags) note_handovers(r, warp->block, s, access, lanes, address);
        if (s && access->kind == ACCESS_ATOMIC) count_atomics(s, lanes, address);
    }
    if (s && access->space == PTX_SHARED) shared_access(s, access, lanes, address);
    if (s && access->space == PTX_LOCAL) local_access(r, s, access, lanes, address);
}

// Counts a copy from global to shared memory.
static void bulk(Warp *warp, const Bulk *copy) {
    Recorder *r = recorder_of(warp->block);
    TimeStep *s = step_of(warp);
    const Access access = {.kind = ACCESS_LOAD, .order = ORDER_RELAXED};
    if (copy->stores || copy->from.block || !copy->bytes) return;
    const uint64_t last = (copy->from.address + copy->bytes - 1) >> 5;
    for (uint64_t at = copy->from.address >> 5; at <= last; at++) {
        count_sector(r, s, &access, at);
        r->notes[warp->block->number].sectors++;
    }
}

// --- the launch ---

// Blocks that fit on an SM (CUDA Occupancy Calculator, 9.0: a warp's registers are allocated in
// units of 256, and each scheduler has a quarter of them).
static uint32_t resident_blocks(const Machine *m, const SassFunction *f, const TimeDevice *d) {
    const uint32_t warps = m->warps_per_block;
    uint32_t most = (uint32_t)d->blocks;
    if (d->warps / warps < most) most = (uint32_t)d->warps / warps;
    const double each = (double)align_up(f->registers * DEVICE_WARP, 256);
    const uint32_t warps_most = each > 0 ? (uint32_t)(d->registers / 4 / each) * 4 : most * warps;
    if (warps_most / warps < most) most = warps_most / warps;
    const double shared = (double)align_up(m->shared_bytes, DEVICE_SHARED_UNIT);
    if (shared > 0 && d->shared_bytes / shared < most) most = (uint32_t)(d->shared_bytes / shared);
    return most ? most : 1;
}

static void close_record(Observer *self, Observed *of) {
    Recorder *r = (Recorder *)(void *)self;
    const uint64_t warps = (uint64_t)r->recorded * of->machine->warps_per_block;
    for (uint64_t k = 0; k < warps; k++) free(r->traces[k].steps);
    free(r->traces);
    free(r->last);
    free(r->notes);
    free(r->tags);
    for (uint32_t k = 0; r->atomic && k < r->inst_count; k++) free(r->atomic[k]);
    free(r->atomic);
    free(r);
}

static void report(Observer *self, Observed *of) {
    LaunchReport *to = of->report;
    if (of->status != SIMT_OK) return;
    TimePrediction *time = ARENA_NEW(&to->arena, 1, TimePrediction);
    if (!time_predict((const Recorder *)(const void *)self, &to->arena, time)) {
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for the prediction");
        return;
    }
    to->time = time;
    to->time_line_count = time_by_line(&to->arena, of->machine->module, of->machine->code->source,
                                       time, &to->time_lines);
}

void record_open(Observed *of) {
    static const Observer functions = {.report = report,
                                       .close = close_record,
                                       .begin = begin,
                                       .end = end,
                                       .step = step,
                                       .access = access_memory,
                                       .bulk = bulk};
    Machine *machine = of->machine;
    const TimeDevice *device = of->options->time;
    const SassFunction *function = of->machine_code;
    if (!device) return;
    Recorder *r = observed_open(of, &machine->observer, &functions, sizeof *r, "the prediction");
    if (!r) return;
    r->machine = machine;
    r->function = function;
    r->device = device;
    r->inst_count = machine->code->source->inst_count;
    r->resident = resident_blocks(machine, function, device);
    r->sms = (uint64_t)device->sms;
    r->early = machine->run_prerequisite || machine->after;
    r->chosen = (machine->block_count - 1) % r->sms;
    r->blocks = (machine->block_count - 1) / r->sms + 1;
    r->one_each = r->blocks == 1;
    if (r->resident > r->blocks) r->resident = (uint32_t)r->blocks;
    r->warp_most = STEPS_MOST / (r->resident * machine->warps_per_block);
    const double shared = r->resident * (double)machine->shared_bytes;
    const double left = device->shared_bytes > shared ? device->shared_bytes - shared : 0;
    r->l1_bytes = (uint64_t)left + L1_MORE;
    r->local_bytes = (uint64_t)r->resident * machine->threads_per_block * machine->local_bytes;
    r->notes = calloc(machine->block_count, sizeof *r->notes);
    r->atomic = calloc(r->inst_count + 1u, sizeof *r->atomic);
    if (machine->ordered) r->tags = calloc(ATOMIC_BITS, sizeof *r->tags);
    machine->turns = r->resident * r->sms * machine->cluster_count / machine->block_count;
    if (!machine->turns) machine->turns = 1;
    r->failed = !r->notes || !r->atomic || (machine->ordered && !r->tags);
    if (r->failed || !cache_start((uint64_t)device->l2_bytes, r->l1_bytes, of->options->warm))
        observed_fail(of, SIMT_OUT_OF_MEMORY, "no host memory for the prediction");
}

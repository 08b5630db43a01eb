// What the warps of one SM execute: see time.h.
#include <stdio.h>
#include <stdlib.h>

#include "simt/exec/address.h"
#include "simt/time/time.h"

enum { STEPS_MOST = 40000000 };

typedef struct {
    Observer observer; // first: the one is the other
    const Machine *machine;
    const SassFunction *function;
    uint32_t inst_count, sms;
    uint64_t chosen; // SM
    TimeTrace *traces;
    const Inst **last; // by warp, of the step recorded last
    uint64_t steps;
    // Sectors that the SM has touched, by their address; open addressing.
    uint64_t *sectors;
    size_t sector_count, sector_capacity;
} Recorder;

static Recorder *recorder_of(const Block *block) {
    return (Recorder *)(void *)block->machine->observer;
}

static bool is_traced(const Recorder *r, const Block *block) {
    return block->number % r->sms == r->chosen;
}

static TimeTrace *trace_of(Recorder *r, const Warp *warp) {
    return &r->traces[warp->block->number / r->sms * r->machine->warps_per_block + warp->index];
}

static size_t warp_index(Recorder *r, const Warp *warp) {
    return (size_t)(trace_of(r, warp) - r->traces);
}

static void begin(Block *block) {
    if (!is_traced(recorder_of(block), block)) return;
    for (uint32_t k = 0; k < block->warp_count; k++) block->warps[k].followed = true;
}

static void step(Warp *warp, const Inst *inst) {
    Recorder *r = recorder_of(warp->block);
    const size_t w = warp_index(r, warp);
    TimeTrace *trace = &r->traces[w];
    if (inst->ptx >= r->inst_count) return;
    const Inst *last = r->last[w];
    r->last[w] = inst;
    if (last && last->ptx == inst->ptx && inst > last) return; // of the same machine instruction
    if (r->steps >= STEPS_MOST) {
        trace->left_out++;
        return;
    }
    if (trace->count == trace->capacity) {
        trace->capacity = trace->capacity ? trace->capacity * 2 : 64;
        trace->steps = realloc(trace->steps, trace->capacity * sizeof *trace->steps);
    }
    trace->steps[trace->count++] = (TimeStep){.inst = (uint16_t)inst->ptx};
    r->steps++;
}

// Whether the SM has touched the sector before.
static bool touched(Recorder *r, uint64_t sector) {
    if (r->sector_count * 2 >= r->sector_capacity) {
        const size_t more = r->sector_capacity ? r->sector_capacity * 2 : 1024;
        uint64_t *old = r->sectors;
        const size_t old_capacity = r->sector_capacity;
        r->sectors = calloc(more, sizeof *r->sectors);
        r->sector_capacity = more;
        r->sector_count = 0;
        for (size_t k = 0; k < old_capacity; k++)
            if (old[k]) touched(r, old[k]);
        free(old);
    }
    size_t at = (size_t)(sector * 0x9E3779B97F4A7C15u >> 20) & (r->sector_capacity - 1);
    while (r->sectors[at] && r->sectors[at] != sector) at = (at + 1) & (r->sector_capacity - 1);
    if (r->sectors[at]) return true;
    r->sectors[at] = sector;
    r->sector_count++;
    return false;
}

static uint8_t capped(uint32_t count) { return count > 255 ? 255 : (uint8_t)count; }

static void global_access(Recorder *r, TimeStep *s, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    uint64_t seen[4 * LANES];
    uint32_t count = 0, bytes = address_bytes(access);
    uint32_t dram = 0, near = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        for (uint64_t at = address[l] >> 5; at <= (address[l] + bytes - 1) >> 5; at++) {
            bool known = false;
            for (uint32_t k = count; k-- > 0 && !known;) known = seen[k] == at;
            if (known || count == 4 * LANES) continue;
            seen[count++] = at;
            if (touched(r, at))
                near++;
            else
                dram++;
        }
    }
    s->dram = capped(dram);
    if (access->kind == ACCESS_LOAD && !access->order)
        s->l1 = capped(near);
    else
        s->l2 = capped(near);
    s->wavefronts = capped((bytes * (uint32_t)__builtin_popcount(lanes) + 127) / 128);
    if (access->kind == ACCESS_ATOMIC) {
        s->atomics = capped((uint32_t)__builtin_popcount(lanes));
        uint32_t most = 0;
        for (uint32_t m = lanes; m; m &= m - 1) {
            uint32_t same = 0;
            for (uint32_t n = lanes; n; n &= n - 1)
                same += address[__builtin_ctz(n)] == address[__builtin_ctz(m)];
            if (same > most) most = same;
        }
        s->same = capped(most);
    }
}

static void shared_access(TimeStep *s, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    const uint32_t bytes = address_bytes(access), group = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    uint32_t sum = 0;
    for (uint32_t g = 0; g < LANES; g += group) {
        uint32_t most = 0;
        uint64_t words[32][32];
        uint32_t in_bank[32] = {0};
        for (uint32_t l = g; l < g + group; l++) {
            if (!(lanes >> l & 1)) continue;
            for (uint64_t word = address[l] / 4; word <= (address[l] + bytes - 1) / 4; word++) {
                const uint32_t bank = (uint32_t)word % 32;
                bool known = false;
                for (uint32_t k = 0; k < in_bank[bank]; k++) known |= words[bank][k] == word;
                if (!known && in_bank[bank] < 32) words[bank][in_bank[bank]++] = word;
                if (in_bank[bank] > most) most = in_bank[bank];
            }
        }
        sum += most;
    }
    s->wavefronts = capped(sum);
}

static void access_memory(Warp *warp, const Access *access, uint32_t lanes,
                          const uint64_t address[LANES]) {
    Recorder *r = recorder_of(warp->block);
    if (!is_traced(r, warp->block) || !lanes) return;
    TimeTrace *trace = trace_of(r, warp);
    if (!trace->count || trace->left_out) return;
    TimeStep *s = &trace->steps[trace->count - 1];
    if (access->space == PTX_GLOBAL)
        global_access(r, s, access, lanes, address);
    else if (access->space == PTX_SHARED)
        shared_access(s, access, lanes, address);
}

Observer *time_open(const Machine *machine, const SassFunction *function, uint32_t count) {
    static const Observer observer = {.begin = begin, .step = step, .access = access_memory};
    const TimeDevice device = time_device();
    Recorder *r = calloc(1, sizeof *r);
    *r = (Recorder){.observer = observer,
                    .machine = machine,
                    .function = function,
                    .inst_count = count,
                    .sms = device.sms};
    r->chosen = (machine->block_count - 1) % device.sms;
    const uint64_t blocks = (machine->block_count + device.sms - 1) / device.sms;
    r->traces = calloc(blocks * machine->warps_per_block, sizeof *r->traces);
    r->last = calloc(blocks * machine->warps_per_block, sizeof *r->last);
    return &r->observer;
}

static uint32_t resident_blocks(const Recorder *r, const TimeDevice *d) {
    const Machine *m = r->machine;
    uint32_t most = d->blocks, warps = m->warps_per_block;
    if (d->warps / warps < most) most = d->warps / warps;
    const uint32_t each = (r->function->registers * 32 + 255) / 256 * 256; // of a warp
    const uint32_t per_scheduler = each ? 16384 / each : 16;
    if (per_scheduler * 4 / warps < most) most = per_scheduler * 4 / warps;
    const uint32_t shared = (m->shared_bytes + 127) / 128 * 128;
    if (shared && 228 * 1024 / shared < most) most = 228 * 1024 / shared;
    return most ? most : 1;
}

void time_close(Observer *observer, const char *kernel) {
    Recorder *r = (Recorder *)(void *)observer;
    const TimeDevice d = time_device();
    const Machine *m = r->machine;
    TimeInst *insts = calloc(r->inst_count + 1, sizeof *insts);
    for (uint32_t k = 0; k < r->inst_count; k++) {
        SassWord word;
        SassInst inst;
        memcpy(&word, r->function->code.at + k * SASS_BYTES, sizeof word);
        if (!sass_decode(word, k * SASS_BYTES, &inst)) inst.name = NULL;
        insts[k] = time_inst(&inst);
    }
    uint64_t blocks = 0;
    for (uint64_t b = r->chosen; b < m->block_count; b += d.sms) blocks++;
    const double active = m->block_count < d.sms ? (double)m->block_count : d.sms;
    const TimeResult result = time_sm(&d, insts, r->traces, (uint32_t)blocks, m->warps_per_block,
                                      resident_blocks(r, &d), active);
    fprintf(stderr, "TIME %s,%llu,%u,%.3f,%llu,%llu,%u,%llu,%llu", kernel,
            (unsigned long long)m->block_count, m->threads_per_block, result.ns / 1000,
            (unsigned long long)result.cycles, (unsigned long long)result.issued,
            resident_blocks(r, &d), (unsigned long long)result.steps,
            (unsigned long long)result.left_out);
    for (int k = 0; k < 8; k++)
        fprintf(stderr, ",%.1f", (double)result.stall[k] / (double)(result.issued + 1));
    fprintf(stderr, "\n");
    for (uint64_t k = 0; k < blocks * m->warps_per_block; k++) free(r->traces[k].steps);
    free(r->traces);
    free(r->last);
    free(r->sectors);
    free(insts);
    free(r);
}

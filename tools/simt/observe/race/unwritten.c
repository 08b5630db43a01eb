// Reads of shared memory that nothing has written. A compiler may load a value before the condition
// under which it is needed. So a read is reported only once its value is used, which undefined.c
// detects. Until then this file saves the read.
#include <string.h>

#include "simt/observe/race/race.h"
#include "simt/ops/ops.h"

// --- structures that are copied part by part, as in unoptimized code (-G) ---

// Whether the instruction loads a register whose only use is that it is stored.
static bool only_stored(const PtxFunction *function, const PtxInst *load) {
    const uint32_t reg = load->operands[0].reg;
    uint32_t uses = 0;
    bool stored = false;
    if (!ptx_is_load(load) || load->operands[0].kind != PTX_OPERAND_REG) return false;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        for (uint32_t j = 0; j < inst->operand_count; j++) uses += inst->operands[j].reg == reg;
        stored |= inst->opcode == OPCODE_ST && inst->operands[1].reg == reg;
    }
    return stored && uses == 2;
}

// The register from which an address is computed, and the address's distance from it.
static uint32_t base_of(const PtxFunction *function, const PtxInst *load, uint64_t *distance) {
    const PtxOperand *address = &load->operands[1];
    *distance = address->addend;
    for (const PtxInst *at = load; at-- > function->insts;) {
        if (at->operand_count != 3 || at->operands[0].reg != address->reg) continue;
        if (at->opcode != OPCODE_ADD || at->operands[2].kind != PTX_OPERAND_INT) break;
        *distance += at->operands[2].integer;
        return at->operands[1].reg;
    }
    return address->reg;
}

uint32_t unwritten_parts(const Machine *machine, const Inst *inst,
                         uint64_t distances[UNWRITTEN_PARTS]) {
    const PtxInst *own = machine_instruction(machine, inst);
    const Code *code = own ? machine_code(machine, inst) : NULL;
    uint64_t at, other;
    uint32_t count = 0;
    if (!code || !own->place.line || !only_stored(code->source, own)) return 0;
    const uint32_t base = base_of(code->source, own, &at);
    for (uint32_t k = 0; k < code->source->inst_count && count < UNWRITTEN_PARTS; k++) {
        const PtxInst *part = &code->source->insts[k];
        if (part == own || part->place.line != own->place.line || base == PTX_NONE ||
            part->place.file != own->place.file || !only_stored(code->source, part) ||
            base_of(code->source, part, &other) != base)
            continue;
        distances[count++] = other - at;
    }
    return count;
}

// --- reads of shared memory ---

// A bit for each word of a lane's access that its block has written.
static uint32_t written_words(const Race *at, uint32_t lane) {
    uint32_t first = (uint32_t)at->address[lane] & ~3u, words = 0;
    uint32_t count = (at->size + 3) / 4;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time = record_time(shadow_record(&at->owner->shadow, WRITE, first + 4 * i));
        words |= (uint32_t)(time >= at->owner->sync.block_start) << i;
    }
    return words;
}

static bool padding_of_parts(const Race *at) {
    uint64_t distances[UNWRITTEN_PARTS];
    const uint32_t count = unwritten_parts(at->checker->machine, at->access->inst, distances);
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t part = at->address[at->lane] + distances[k];
        if (part < at->warp->block->shared_bytes &&
            record_time(shadow_record(&at->owner->shadow, WRITE, part)) >=
                at->owner->sync.block_start)
            return true;
    }
    return false;
}

// Whether the byte is padding of a structure, as in global.c: it is unwritten in all lanes.
static bool padding(const Race *at) {
    uint32_t any = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) any |= written_words(at, (uint32_t)__builtin_ctz(m));
    return any && written_words(at, at->lane) == any;
}

// Whether another thread has written there since, so that the two race and the race is reported.
// Atomic operations do not race with each other.
static bool races(const Checker *checker, const UnwrittenRead *read) {
    const Record write = shadow_record(&checker->shadow, WRITE, read->byte);
    const bool updates = check_site_of(checker, write)->kind == ACCESS_ATOMIC;
    if (updates && read->inst->access == ACCESS_ATOMIC) return false;
    return record_time(write) >= read->time && record_thread(write) != read->thread;
}

static void report(Checker *checker, const UnwrittenRead *read) {
    finding_add(
        checker, KIND_UNWRITTEN, PTX_SHARED, read->inst, read->thread, NULL, 0, read->byte,
        ", which no thread of its block has written\n"
        "store a value there first, and put __syncthreads() between if another thread does");
}

void unwritten_report(Checker *checker) {
    for (; checker->unwritten.checked < checker->unwritten.count; checker->unwritten.checked++) {
        UnwrittenRead *kept = &checker->unwritten.reads[checker->unwritten.checked];
        const bool explained = !kept->inst || races(checker, kept);
        if (kept->used && !explained) report(checker, kept);
        kept->used |= explained;
    }
}

void unwritten_begin(Checker *checker) {
    if (checker->unwritten.count)
        memset(checker->unwritten.of_site, 0,
               checker->check->site_count * sizeof *checker->unwritten.of_site);
    checker->unwritten.count = checker->unwritten.checked = 0;
}

enum { USED_WEIGHT = 32 }; // a read of a used value counts as much as this many unused ones

bool unwritten_often(const Checker *checker, uint32_t site) {
    return checker->unwritten.of_site[site] >= check_many_races(checker) * USED_WEIGHT;
}

// Saves a read and returns its number; 0: there are too many.
static uint32_t keep(Checker *checker, const UnwrittenRead *kept) {
    if (!checker->unwritten.reads)
        checker->unwritten.reads = ARENA_NEW(&checker->arena, MAX_UNWRITTEN, UnwrittenRead);
    if (checker->unwritten.count == MAX_UNWRITTEN) return 0;
    checker->unwritten.reads[checker->unwritten.count++] = *kept;
    return checker->unwritten.count;
}

uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second) {
    if (first == second) return first;
    const uint32_t both = keep(checker, &(UnwrittenRead){.first = first, .second = second});
    return both ? both : first;
}

// Until the next barrier, another thread may write there, so the read is checked again then.
static void use(Checker *checker, uint32_t number) {
    UnwrittenRead *kept = &checker->unwritten.reads[number - 1];
    if (!kept->used && number <= checker->unwritten.checked) report(checker, kept);
    kept->used = true;
}

// In a long sum, one of the two values is mostly a read: recursion follows that one.
void unwritten_used(Checker *checker, uint32_t number) {
    while (!checker->unwritten.reads[number - 1].inst) {
        UnwrittenRead *kept = &checker->unwritten.reads[number - 1];
        if (kept->used && number > checker->unwritten.checked) return;
        kept->used = true;
        const bool read = checker->unwritten.reads[kept->first - 1].inst;
        unwritten_used(checker, read ? kept->first : kept->second);
        number = read ? kept->second : kept->first;
    }
    use(checker, number);
}

// Whether an atomic operation leaves known bits whatever was there: an AND clears some. The old
// value may still be used. Cooperative groups initialize the words at which warps synchronize like
// this, one bit for each warp.
static bool clears(const Inst *inst) {
    return inst->plain == op_atomic && inst->atomic.mode == ATOMIC_AND;
}

void unwritten_read(const Race *at, uint32_t byte) {
    Checker *checker = at->checker;
    const Inst *inst = at->access->inst;
    const uint32_t thread = record_thread(at->mine), site = record_site(at->mine);
    if (clears(inst) && inst->atomic.old == PTX_NONE) return;
    if (at->owner != checker || (at->size > 4 ? padding(at) : padding_of_parts(at))) return;
    const uint32_t element = (byte - (uint32_t)at->address[at->lane]) / at->access->bytes;
    const uint32_t number = keep(
        checker,
        &(UnwrittenRead){.inst = inst, .time = checker->sync.now, .byte = byte, .thread = thread});
    if (!number) return;
    const bool follows = !at->copy && (inst->access == ACCESS_LOAD || clears(inst)) &&
                         undefined_read(at->warp, inst, at->lane, element, number);
    checker->unwritten.reads[number - 1].used = !follows;
    checker->unwritten.of_site[site] =
        (uint16_t)(checker->unwritten.of_site[site] + (follows ? 1 : USED_WEIGHT));
}

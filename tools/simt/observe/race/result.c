// Compares what a launch leaves in global memory with what it leaves in other orders. See result.h.
#include "simt/observe/race/result.h"

#include <stdio.h>
#include <string.h>

#include "simt/observe/race/checker.h"
#include "simt/ops/half.h"

enum { MOST = 256 }; // elements that are listed of an allocation

typedef struct {
    const Check *check;
    const Image *image;
    Arena *arena;
    Record first; // of the launch, which is the latest one
    Difference *at;
    size_t count, capacity;
    Extent allocation;        // the current one; empty: the host cannot read it
    size_t from;              // its first difference
    uint64_t seen, stride;    // elements that differ there; every stride-th is listed
    uint64_t values, others;  // sums of hashes of its values in the two orders,
    uint64_t all, others_all; // and of the allocations whose sums differ
    const Inst *inst;         // the last store,
    PtxType type;             // and the type of what it stores
} Comparison;

void result_fill(Observer *self, Image *image) {
    const Check *check = (const Check *)(const void *)self;
    const Record first = check->launch << RECORD_TIME;
    size_t count;
    Shadow *const *regions = shadow_all(&count);
    for (size_t k = 0; k < count; k++)
        if (regions[k]->latest[WRITE] >= first) image_fill(image, regions[k]->low);
    image_fill_small(image);
}

// --- types ---

static PtxType first_type(const PtxInst *inst) {
    for (uint8_t k = 0; k < inst->modifier_count; k++)
        if (inst->modifiers[k] < PTX_TYPES) return (PtxType)inst->modifiers[k];
    return PTX_B32;
}

// The type of a register. One without a type of its own has that of the value that was moved into
// it or computed in it, as the word that atomicCAS() exchanges may be a double.
static PtxType type_of(const PtxFunction *function, uint32_t reg) {
    const PtxType declared = function->registers[reg].type;
    for (uint32_t k = 0; k < function->inst_count && !ptx_type_is_float(declared); k++) {
        const PtxInst *inst = &function->insts[k];
        if (!ptx_has_result(inst) || inst->operands[0].reg != reg) continue;
        const PtxOperand *from = &inst->operands[1];
        const bool moved = inst->opcode == OPCODE_MOV && from->kind == PTX_OPERAND_REG;
        const PtxType type = moved ? function->registers[from->reg].type : first_type(inst);
        if (ptx_type_is_float(type) && ptx_type_bytes(type) == ptx_type_bytes(declared))
            return type;
    }
    return declared;
}

// The type of the elements that an instruction stores, of which a pair is two.
static PtxType stored_type(const Machine *machine, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(machine, inst);
    const Code *code = ptx ? machine_code(machine, inst) : NULL;
    if (!code || !ptx->modifier_count) return PTX_B32;
    const uint8_t last = ptx->modifiers[ptx->modifier_count - 1];
    PtxType type = last < PTX_TYPES ? (PtxType)last : first_type(ptx);
    const PtxOperand *value = NULL;
    for (uint32_t k = 1; k < ptx->operand_count; k++)
        if (ptx->operands[k].kind != PTX_OPERAND_ADDRESS) value = &ptx->operands[k];
    if (value && value->kind == PTX_OPERAND_VECTOR) value = &value->items[0];
    if (value && value->kind == PTX_OPERAND_REG && !ptx_type_is_float(type)) {
        const PtxType own = type_of(code->source, value->reg);
        if (ptx_type_is_float(own) && ptx_type_bytes(own) == ptx_type_bytes(type)) type = own;
    }
    return type == PTX_F16X2    ? PTX_F16
           : type == PTX_BF16X2 ? PTX_BF16
           : type == PTX_B128   ? PTX_B64
                                : type;
}

static double number(PtxType type, uint64_t value) {
    const uint32_t word = (uint32_t)value, high = word << 16;
    double wide;
    float single;
    memcpy(&wide, &value, sizeof wide);
    memcpy(&single, type == PTX_BF16 ? &high : &word, sizeof single);
    return type == PTX_F64 ? wide : type == PTX_F16 ? half_to_float(word) : single;
}

void result_write(char *to, size_t room, PtxType type, uint64_t value) {
    const uint32_t bits = ptx_type_bytes(type) * 8;
    const int64_t whole = (int64_t)(value << (64 - bits)) >> (64 - bits);
    if (ptx_type_is_float(type))
        snprintf(to, room, type == PTX_F64 ? "%.17g" : "%.9g", number(type, value));
    else
        snprintf(to, room, "%lld", (long long)whole);
}

// --- kinds of differences ---

// Whether two sums of the same terms may differ so by rounding. Each of n additions rounds by at
// most half a unit in the last place, and n random errors grow as sqrt(n) (Higham and Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", 2019). This allows 16 times as much, with one
// term for each thread: 2^-20 sqrt(n) for float.
static bool rounded(const Comparison *of, uint64_t value, uint64_t other) {
    const Machine *machine = of->check->machine;
    const double a = number(of->type, value), b = number(of->type, other);
    const double larger = __builtin_fmax(__builtin_fabs(a), __builtin_fabs(b));
    const double unit = of->type == PTX_F64    ? 0x1p-53
                        : of->type == PTX_F16  ? 0x1p-11
                        : of->type == PTX_BF16 ? 0x1p-8
                                               : 0x1p-24;
    const double terms = (double)machine->block_count * machine->threads_per_block;
    const double apart = (a - b) / larger;
    if (!ptx_type_is_float(of->type)) return false;
    if (a == b || (a != a && b != b)) return true;
    if (!__builtin_isfinite(apart)) return false;
    // If no thread can tell what came first, the terms of atomicAdd() are the same in any order.
    if (of->inst && of->inst->access == ACCESS_ATOMIC && !machine->code->order_matters) return true;
    return apart * apart <= 256 * unit * unit * terms && __builtin_fabs(apart) < 0.0625;
}

static uint64_t hash(uint64_t value) {
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15u;
    return (value ^ value >> 29) * 0xBF58476D1CE4E5B9u;
}

static void mark_moved(Comparison *of, size_t from) {
    for (size_t k = from; k < of->count; k++)
        if (of->at[k].kind == RESULT_DIFFERS) of->at[k].kind = RESULT_MOVED;
}

static void end_allocation(Comparison *of) {
    if (of->values == of->others)
        mark_moved(of, of->from);
    else {
        of->all += of->values;
        of->others_all += of->others;
    }
    of->from = of->count;
    of->seen = of->values = of->others = 0;
    of->stride = 1;
}

// --- the comparison ---

static bool find_allocation(Comparison *of, uint64_t address) {
    if (extent_holds(&of->allocation, address, 1)) return true;
    const Allocation *at = memory_find(address);
    if (!at || !at->live || at->kind == MEMORY_HEAP) return false;
    end_allocation(of);
    of->allocation = (Extent){at->address, at->address + at->bytes};
    return true;
}

// Makes room by dropping every second element.
static void thin(Comparison *of) {
    const size_t kept = (of->count - of->from) / 2;
    for (size_t k = 0; k < kept; k++) of->at[of->from + k] = of->at[of->from + 2 * k];
    of->count = of->from + kept;
    of->stride *= 2;
}

static Record last_store(uint64_t address) {
    const Shadow *region = shadow_regions[(address - memory_base) >> REGION_SHIFT];
    return region ? shadow_record(region, WRITE, address - region->low) : 0;
}

static void list(Comparison *of, uint64_t address, Record last, ResultKind kind, uint64_t value,
                 uint64_t other) {
    if (of->seen++ % of->stride) return;
    if (of->count - of->from == MOST) thin(of);
    const Machine *machine = of->check->machine;
    const PtxModule *module = machine->module;
    const Argument argument = argument_near(machine, address);
    const PtxInst *ptx = of->inst ? machine_instruction(machine, of->inst) : NULL;
    PtxPlace place = finding_place(machine, of->inst);
    if (!place.line && ptx) place = (PtxPlace){0, ptx->ptx_line};
    const PtxPlace call = ptx ? ptx->call : (PtxPlace){0, 0};
    const int64_t bytes = ptx_type_bytes(of->type);
    ARENA_GROW(of->arena, of->at, of->count, of->capacity);
    of->at[of->count++] = (Difference){
        .address = address,
        .last = last,
        .kind = kind,
        .type = of->type,
        .value = value,
        .other = other,
        .order = of->image->order,
        .file = place.file < module->file_count ? module->file_short[place.file] : NULL,
        .line = place.line,
        .call_file = call.file < module->file_count ? module->file_short[call.file] : NULL,
        .call_line = call.line,
        .argument = argument.of && !argument.gap ? argument.number : 0,
        .element = (int64_t)(address - argument.pointer) / bytes};
}

// Compares the element at an address, and returns where it ends. If this order did not store it,
// it counts as an element of the last type.
static uint64_t compare(Comparison *of, uint64_t address) {
    const Record last = last_store(address);
    const Inst *inst = last >= of->first ? of->check->sites[record_site(last)].inst : NULL;
    if (inst && inst != of->inst) of->type = stored_type(of->check->machine, inst);
    of->inst = inst;
    const uint64_t bytes = ptx_type_bytes(of->type), low = address & ~(bytes - 1);
    const uint8_t *there = of->image->bytes + (low - memory_base);
    uint64_t value = 0, other = 0;
    if (!find_allocation(of, low) || memory_seek(low, low + 1, true) != low) return low + bytes;
    memcpy(&value, memory_at(low), bytes);
    memcpy(&other, there, bytes);
    if (value == other) return low + bytes;
    const bool near = rounded(of, value, other);
    of->values += near ? 0 : hash(value);
    of->others += near ? 0 : hash(other);
    list(of, low, last, near ? RESULT_ROUNDED : RESULT_DIFFERS, value, other);
    return low + bytes;
}

static void compare_part(Comparison *of, size_t part) {
    const uint64_t low = memory_base + ((uint64_t)part << IMAGE_SHIFT);
    const uint8_t *there = of->image->bytes + (low - memory_base), *here = memory_at(low);
    if (!memcmp(here, there, IMAGE_PART)) return;
    for (uint64_t at = 0; at < IMAGE_PART;)
        at = here[at] == there[at] ? at + 1 : compare(of, low + at) - low;
}

static void compare_image(Comparison *of, const Image *image) {
    const size_t from = of->count;
    of->image = image;
    of->all = of->others_all = 0;
    of->allocation = (Extent){0, 0};
    end_allocation(of);
    for (size_t part = 0; part < image->parts; part++)
        if (image->filled[part]) compare_part(of, part);
    end_allocation(of);
    if (of->all == of->others_all) mark_moved(of, from);
}

// Whether the kernel reads a clock, so that what it stores differs from run to run.
static bool reads_clock(const PtxFunction *function) {
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        for (uint32_t j = 0; j < inst->operand_count; j++)
            if (inst->operands[j].special >= SPECIAL_CLOCK &&
                inst->operands[j].special <= SPECIAL_GLOBALTIMER_HI)
                return true;
    }
    return false;
}

// A launch with a hazard is not compared, because the hazard explains what differs.
void result_list(const Check *check, Arena *arena, const Image *images, size_t count,
                 DifferenceList *to) {
    const Machine *machine = check->machine;
    Comparison of = {
        .check = check, .arena = arena, .first = check->launch << RECORD_TIME, .type = PTX_B32};
    if (!count || machine->status != SIMT_OK || reads_clock(machine->code->source)) return;
    for (size_t k = 0; k < check->findings.count; k++)
        if (check->findings.at[k].kind < FIRST_NOTE) return;
    for (size_t k = 0; k < count; k++) compare_image(&of, &images[k]);
    *to = (DifferenceList){of.at, of.count};
}

void result_move(Difference *difference, uint64_t to) {
    difference->address = to;
    difference->last = last_store(to);
}

bool result_holds(const Difference *difference) {
    const Allocation *at = memory_find(difference->address);
    return at && at->live && last_store(difference->address) == difference->last &&
           !memcmp(memory_at(difference->address), &difference->value,
                   ptx_type_bytes(difference->type));
}

// Compares what a launch leaves in global memory with what it leaves in other orders. See result.h.
#include "simt/device/result.h"

#include <string.h>

#include "simt/device/module_inside.h"
#include "simt/exec/address.h"
#include "simt/observe/race/shadow.h"
#include "simt/ops/half.h"

enum { MOST = 256 }; // elements that are listed of an allocation

typedef struct {
    const Machine *machine;
    const Image *image;
    Arena *arena;
    Difference *at;
    size_t count, capacity;
    uint64_t low, high;       // of the current allocation; empty: the host cannot read it
    size_t from;              // its first difference
    uint64_t values, others;  // sums of hashes of its values in the two orders,
    uint64_t all, others_all; // and of the allocations whose sums differ
    const Inst *inst;         // the last store,
    PtxType type;             // and the type of what it stores
} Comparison;

// --- types ---

// The type of a register. If its own is not numeric, that of the value that was moved into it or
// computed in it: the word that atomicCAS() exchanges may be a double.
static PtxType type_of(const PtxFunction *function, uint32_t reg) {
    const PtxType own = function->registers[reg].type;
    for (uint32_t k = 0; k < function->inst_count && !ptx_type_is_float(own); k++) {
        const PtxInst *inst = &function->insts[k];
        if (!ptx_has_result(inst) || inst->operands[0].reg != reg) continue;
        const uint32_t from = inst->opcode == OPCODE_MOV ? inst->operands[1].reg : PTX_NONE;
        uint32_t at = 0;
        while (at + 1u < inst->modifier_count && inst->modifiers[at] >= PTX_TYPES) at++;
        const uint32_t type =
            from != PTX_NONE ? function->registers[from].type : inst->modifiers[at];
        if (type < PTX_TYPES && ptx_type_is_float((PtxType)type)) return (PtxType)type;
    }
    return own;
}

// The type of the elements that an instruction stores.
static PtxType stored_type(const Machine *machine, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(machine, inst);
    const uint8_t last = ptx->modifier_count ? ptx->modifiers[ptx->modifier_count - 1] : PTX_TYPES;
    PtxType type = last < PTX_TYPES ? (PtxType)last : PTX_B32;
    const PtxOperand *value = &ptx->operands[ptx->operand_count - 1];
    if (value->kind == PTX_OPERAND_VECTOR) value = &value->items[0];
    if (value->kind == PTX_OPERAND_REG && !ptx_type_is_float(type)) {
        const PtxType own = type_of(machine_code(machine, inst)->source, value->reg);
        if (ptx_type_bytes(own) == ptx_type_bytes(type)) type = own;
    }
    if (ptx_type_is_pair(type)) type = type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    return ptx_type_bytes(type) > 8 ? PTX_B64 : type;
}

double result_number(PtxType type, uint64_t value) {
    const uint32_t word = (uint32_t)value << (type == PTX_BF16 ? 16 : 0);
    double wide;
    float single;
    memcpy(&wide, &value, sizeof wide);
    memcpy(&single, &word, sizeof single);
    return type == PTX_F64 ? wide : type == PTX_F16 ? half_to_float(word) : single;
}

// --- kinds of differences ---

// Whether two sums of the same terms may differ so by rounding. Each of n additions rounds by at
// most half a unit in the last place, and n random errors grow as sqrt(n) (Higham and Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", 2019). This allows 16 times as much, with one
// term for each thread: 2^-20 sqrt(n) for float.
static bool rounded(const Comparison *of, uint64_t value, uint64_t other) {
    const Machine *machine = of->machine;
    const double a = result_number(of->type, value), b = result_number(of->type, other);
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
    of->values = of->others = 0;
}

// --- the comparison ---

static bool find_allocation(Comparison *of, uint64_t address) {
    if (address >= of->low && address < of->high) return true;
    const Allocation *at = memory_find(address);
    if (!at || !at->live || at->kind == MEMORY_HEAP) return false;
    end_allocation(of);
    of->low = at->address;
    of->high = at->address + at->bytes;
    return true;
}

static void list(Comparison *of, uint64_t address, Record last, ResultKind kind, uint64_t value,
                 uint64_t other) {
    if (of->count - of->from == MOST) return;
    const Machine *machine = of->machine;
    const PtxModule *module = machine->module;
    const Argument argument = argument_near(machine, address);
    const PtxInst *ptx = of->inst ? machine_instruction(machine, of->inst) : NULL;
    PtxPlace place = ptx ? ptx->place : (PtxPlace){0, 0};
    if (!place.line && ptx) place.line = ptx->ptx_line;
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
        .argument = argument.of && !argument.gap ? argument.number : 0,
        .element = (int64_t)(address - argument.pointer) / bytes};
}

// Compares the element at an address, and returns where it ends. If this order did not store it,
// it counts as an element of the last type.
static uint64_t compare(Comparison *of, uint64_t address) {
    const Record last = shadow_last_store(address);
    Observer *observer = of->machine->observer;
    const Inst *inst = observer->store(observer, last);
    if (inst && inst != of->inst) of->type = stored_type(of->machine, inst);
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

static void compare_image(Comparison *of, const Image *image) {
    const size_t from = of->count;
    of->image = image;
    of->all = of->others_all = 0;
    of->low = of->high = 0;
    end_allocation(of);
    for (uint64_t at = memory_base; image_differs(image, &at);) at = compare(of, at);
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
void result_compare(const Machine *machine, LaunchReport *report) {
    Comparison of = {.machine = machine, .arena = &report->arena, .type = PTX_B32};
    const Orders *orders = &report->orders;
    if (!orders->image_count || machine->status != SIMT_OK || reads_clock(machine->code->source))
        return;
    for (size_t k = 0; k < report->hazard_count; k++)
        if (!report->hazards[k].note) return;
    for (size_t k = 0; k < orders->image_count; k++) compare_image(&of, &orders->images[k]);
    report->differences = of.at;
    report->difference_count = of.count;
}

void result_move(Difference *difference, uint64_t to) {
    difference->address = to;
    difference->last = shadow_last_store(to);
}

bool result_holds(const Difference *difference) {
    const Allocation *at = memory_find(difference->address);
    return at && at->live && shadow_last_store(difference->address) == difference->last &&
           !memcmp(memory_at(difference->address), &difference->value,
                   ptx_type_bytes(difference->type));
}

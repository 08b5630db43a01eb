// Executes what only machine code has: carries in predicates, 64-bit numbers in two registers,
// convergence barriers, jumps to a register.
#include "simt/ops/sass.h"

#include <math.h>
#include <string.h>

#include "simt/exec/path_converge.h"
#include "simt/exec/spin.h"
#include "simt/ops/ops.h"

#define TURN 6.283185307179586 // radians

// --- sums with carries ---

static inline uint32_t bit_of(const Warp *warp, uint32_t predicate, int lane) {
    return predicate == PTX_NONE ? 0 : *REG(warp, LaneU32, predicate) >> lane & 1;
}

#define CARRY_SUM(name, sum)                                                                       \
    const Inst *name(Warp *warp, const Inst *inst) {                                               \
        const InstCarry *carry = &inst->carry;                                                     \
        const LaneU32 *a = REG(warp, LaneU32, carry->a), *b = REG(warp, LaneU32, carry->b);        \
        const LaneU32 *c = REG(warp, LaneU32, carry->c);                                           \
        const uint32_t x = carry->x == PTX_NONE ? 0 : *REG(warp, LaneU32, carry->x);               \
        const uint32_t y = carry->y == PTX_NONE ? 0 : *REG(warp, LaneU32, carry->y);               \
        const uint32_t plus = carry->plus, exec = warp->exec;                                      \
        uint32_t low[LANES], high[LANES], once = 0, twice = 0;                                     \
        LANE_LOOP {                                                                                \
            const uint64_t total = (uint64_t)(sum) + c[l] + plus + (x >> l & 1) + (y >> l & 1);    \
            low[l] = (uint32_t)total;                                                              \
            high[l] = (uint32_t)(total >> 32);                                                     \
        }                                                                                          \
        if (carry->p != PTX_NONE) {                                                                \
            LANE_LOOP once |= (uint32_t)(high[l] >= 1) << l;                                       \
            warp_write_predicate(warp, carry->p, once);                                            \
        }                                                                                          \
        if (carry->q != PTX_NONE) {                                                                \
            LANE_LOOP twice |= (uint32_t)(high[l] >= 2) << l;                                      \
            warp_write_predicate(warp, carry->q, twice);                                           \
        }                                                                                          \
        LaneU32 *d = REG(warp, LaneU32, carry->d);                                                 \
        LANE_LOOP d[l] = (exec >> l) & 1 ? low[l] : d[l];                                          \
        return inst + 1;                                                                           \
    }
CARRY_SUM(op_add_carry, (uint64_t)a[l] + b[l])
CARRY_SUM(op_multiply_carry, a[l] * b[l])

// --- 64 bits in two registers ---

static void add_carrying(Warp *warp, const InstWide *wide, uint64_t sum[LANES]) {
    const LaneU32 *c = REG(warp, LaneU32, wide->c), *c_high = REG(warp, LaneU32, wide->c_high);
    uint32_t carries = 0;
    for (int l = 0; l < LANES; l++) {
        const uint64_t product = sum[l], more = c[l] | (uint64_t)c_high[l] << 32;
        const uint64_t both = product + more;
        sum[l] = both + bit_of(warp, wide->x, l);
        carries |= (uint32_t)(both < product || sum[l] < both) << l;
    }
    if (wide->p != PTX_NONE) warp_write_predicate(warp, wide->p, carries);
}

const Inst *op_multiply_wide(Warp *warp, const Inst *inst) {
    const InstWide *wide = &inst->multiply;
    const LaneU32 *a = REG(warp, LaneU32, wide->a), *b = REG(warp, LaneU32, wide->b);
    const LaneU32 *c = REG(warp, LaneU32, wide->c), *c_high = REG(warp, LaneU32, wide->c_high);
    LaneU32 *d = REG(warp, LaneU32, wide->d), *high = REG(warp, LaneU32, wide->high);
    const uint32_t exec = warp->exec;
    uint64_t sum[LANES];
    if (wide->is_signed)
        LANE_LOOP sum[l] = (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]);
    else
        LANE_LOOP sum[l] = (uint64_t)a[l] * b[l];
    if (wide->p == PTX_NONE && wide->x == PTX_NONE)
        LANE_LOOP sum[l] += c[l] | (uint64_t)c_high[l] << 32;
    else
        add_carrying(warp, wide, sum);
    if (exec == ALL_LANES) {
        LANE_LOOP d[l] = (uint32_t)sum[l];
        LANE_LOOP high[l] = (uint32_t)(sum[l] >> 32);
        return inst + 1;
    }
    LANE_LOOP d[l] = (exec >> l) & 1 ? (uint32_t)sum[l] : d[l];
    LANE_LOOP high[l] = (exec >> l) & 1 ? (uint32_t)(sum[l] >> 32) : high[l];
    return inst + 1;
}

static const Inst *join(Warp *warp, const Inst *inst) {
    const LaneU32 *low = REG(warp, LaneU32, inst->r[1]), *high = REG(warp, LaneU32, inst->r[2]);
    LANE_RESULT(LaneU64, low[l] | (uint64_t)high[l] << 32);
}

static const Inst *low_half(Warp *warp, const Inst *inst) {
    const LaneU64 *a = REG(warp, LaneU64, inst->r[1]);
    LANE_RESULT(LaneU32, a[l]);
}

static const Inst *high_half(Warp *warp, const Inst *inst) {
    const LaneU64 *a = REG(warp, LaneU64, inst->r[1]);
    LANE_RESULT(LaneU32, a[l] >> 32);
}

static const Inst *add_three(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]), *b = REG(warp, LaneU32, inst->r[2]);
    const LaneU32 *c = REG(warp, LaneU32, inst->r[3]);
    LANE_RESULT(LaneU32, a[l] + b[l] + c[l]);
}

static const Inst *flip_sign(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU32, a[l] ^ 0x80000000u);
}

static const Inst *drop_sign(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU32, a[l] & 0x7fffffffu);
}

// One of the two 16-bit halves of a register.
static const Inst *low_of_two(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU16, a[l]);
}

static const Inst *high_of_two(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU16, a[l] >> 16);
}

// Broadcasts the value of the first active lane.
static const Inst *first_of_all(Warp *warp, const Inst *inst) {
    const uint32_t value = REG(warp, LaneU32, inst->r[1])[__builtin_ctz(warp->exec)];
    LANE_RESULT(LaneU32, value);
}

// Broadcasts the value of the first active lane in the predicate r[1]. No effect if there is none.
static const Inst *first_of_chosen(Warp *warp, const Inst *inst) {
    const uint32_t chosen = *REG(warp, LaneU32, inst->r[1]) & warp->exec;
    if (!chosen) return inst + 1;
    const uint32_t value = REG(warp, LaneU32, inst->r[2])[__builtin_ctz(chosen)];
    LANE_RESULT(LaneU32, value);
}

// Packs each lane's predicates into a word. r[1] is the first of seven adjacent predicates. Bits
// that are not in the mask r[3] come from r[2].
static const Inst *predicates_to_register(Warp *warp, const Inst *inst) {
    const LaneU32 *p = REG(warp, LaneU32, inst->r[1]), *old = REG(warp, LaneU32, inst->r[2]);
    const LaneU32 *mask = REG(warp, LaneU32, inst->r[3]);
    uint32_t value[LANES] = {0};
    for (uint32_t k = 0; k < SASS_PREDICATES; k++) LANE_LOOP value[l] |= (p[k] >> l & 1) << k;
    LANE_RESULT(LaneU32, (value[l] & mask[l]) | (old[l] & ~mask[l]));
}

static const Inst *register_to_predicates(Warp *warp, const Inst *inst) {
    const LaneU32 *from = REG(warp, LaneU32, inst->r[1]);
    const uint32_t mask = REG(warp, LaneU32, inst->r[2])[0];
    for (uint32_t k = 0; k < SASS_PREDICATES; k++) {
        uint32_t value = 0;
        if (!(mask >> k & 1)) continue;
        LANE_LOOP value |= (from[l] >> k & 1) << l;
        warp_write_predicate(warp, inst->r[0] + 4 * k, value);
    }
    return inst + 1;
}

// Integer division starts with these: an integer rounded up to a float, and a float truncated to an
// integer.
static inline float float_above(uint32_t x) {
    union {
        float value;
        uint32_t bits;
    } near = {(float)x};
    near.bits += (double)near.value < (double)x;
    return near.value;
}
static const Inst *upward_f32_u32(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneF32, float_above(a[l]));
}
static inline uint32_t cut(float x) {
    return x >= 0x1p32f ? UINT32_MAX : x >= 1.0f ? (uint32_t)(int64_t)x : 0;
}
static const Inst *cut_u32_f32(Warp *warp, const Inst *inst) {
    const LaneF32 *a = REG(warp, LaneF32, inst->r[1]);
    LANE_RESULT(LaneU32, cut(a[l]));
}

// Whether some live lane named in the register, which is the same in all lanes, is not on this path
// or not in the predicate.
static const Inst *goes_apart(Warp *warp, const Inst *inst) {
    const uint32_t named = REG(warp, LaneU32, inst->r[1])[__builtin_ctz(warp->mask)];
    const uint32_t here = warp->mask & *REG(warp, LaneU32, inst->r[2]);
    warp_write_predicate(warp, inst->r[0], named & warp->live & ~here ? ALL_LANES : 0);
    return inst + 1;
}

// Half of the product, rounded once.
static const Inst *half_product(Warp *warp, const Inst *inst) {
    const LaneF32 *a = REG(warp, LaneF32, inst->r[1]), *b = REG(warp, LaneF32, inst->r[2]);
    LANE_RESULT(LaneF32, (float)((double)a[l] * (double)b[l] * 0.5));
}

// Whether a is the smaller or the greater of two f64, and whether both are NaN. -0 is less than 0,
// and a NaN is never chosen.
static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline bool below(double a, double b) {
    return a < b || (a == b && bits_of(a) >> 63 > bits_of(b) >> 63);
}
#define CHOICE(name, chosen)                                                                       \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const LaneF64 *a = REG(warp, LaneF64, inst->r[1]), *b = REG(warp, LaneF64, inst->r[2]);    \
        uint32_t value = 0;                                                                        \
        LANE_LOOP value |= (uint32_t)(chosen) << l;                                                \
        warp_write_predicate(warp, inst->r[0], value);                                             \
        return inst + 1;                                                                           \
    }
CHOICE(first_is_least, a[l] == a[l] && (b[l] != b[l] || below(a[l], b[l])))
CHOICE(first_is_most, a[l] == a[l] && (b[l] != b[l] || below(b[l], a[l])))
CHOICE(no_numbers, a[l] != a[l] && b[l] != b[l])

// The angle is in turns; the compiler emits the division by 2 pi.
static const Inst *sine_of_turns(Warp *warp, const Inst *inst) {
    const LaneF32 *a = REG(warp, LaneF32, inst->r[1]);
    LANE_RESULT_SCALAR(LaneF32, (float)sin(TURN * fmod((double)a[l], 1.0)));
}
static const Inst *cosine_of_turns(Warp *warp, const Inst *inst) {
    const LaneF32 *a = REG(warp, LaneF32, inst->r[1]);
    LANE_RESULT_SCALAR(LaneF32, (float)cos(TURN * fmod((double)a[l], 1.0)));
}

// Whether a / b needs the slow path, by the operands' exponents: a product with the reciprocal and
// one correction would be wrong.
static inline bool hard_quotient(uint32_t a, uint32_t b) {
    const int32_t x = (int32_t)(a >> 23 & 255), y = (int32_t)(b >> 23 & 255), apart = x - y;
    return y < 2 || y > 252 || x == 255 || x < 26 || apart > 125 || apart < -125;
}
static const Inst *is_hard_quotient(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]), *b = REG(warp, LaneU32, inst->r[2]);
    uint32_t value = 0;
    LANE_LOOP value |= (uint32_t)hard_quotient(a[l], b[l]) << l;
    warp_write_predicate(warp, inst->r[0], value);
    return inst + 1;
}

const OpRow op_sass_rows[] = {
    {"sass.i2f.rp", upward_f32_u32, "ww"},
    {"sass.f2i.rz", cut_u32_f32, "ww"},
    {"sass.divided", goes_apart, "pwp"},
    {"sass.mul.d2", half_product, "www"},
    {"sass.dmin", first_is_least, "pdd"},
    {"sass.dmax", first_is_most, "pdd"},
    {"sass.nans", no_numbers, "pdd"},
    {"sass.sin", sine_of_turns, "ww"},
    {"sass.cos", cosine_of_turns, "ww"},
    {"sass.fchk", is_hard_quotient, "pww"},
    {"sass.join", join, "dww"},
    {"sass.low", low_half, "wd"},
    {"sass.high", high_half, "wd"},
    {"sass.add3", add_three, "wwww"},
    {"sass.flip", flip_sign, "ww"},
    {"sass.drop", drop_sign, "ww"},
    {"sass.half0", low_of_two, "hw"},
    {"sass.half1", high_of_two, "hw"},
    {"sass.first", first_of_all, "ww"},
    {"sass.chosen", first_of_chosen, "wpw"},
    {"sass.p2r", predicates_to_register, "wpww"},
    {"sass.r2p", register_to_predicates, "pww"},
    {NULL, NULL, NULL},
};

// A function of three predicates, given by the table of its eight values.
const Inst *op_predicate_table(Warp *warp, const Inst *inst) {
    const uint32_t a = *REG(warp, LaneU32, inst->r[1]), b = *REG(warp, LaneU32, inst->r[2]);
    const uint32_t c = *REG(warp, LaneU32, inst->r[3]), table = inst->r[4];
    uint32_t value = 0;
    for (uint32_t k = 0; k < 8; k++) {
        if (!(table >> k & 1)) continue;
        value |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    }
    warp_write_predicate(warp, inst->r[0], value);
    return inst + 1;
}

// --- convergence barriers ---

// A barrier is one word per warp, for all its paths: the lanes that take part.

const Inst *op_converge_begin(Warp *warp, const Inst *inst) {
    *REG(warp, LaneU32, inst->converge.barrier) = warp->exec;
    return inst + 1;
}

// BSYNC does not wait for lanes that yield; they find the barrier empty.
const Inst *op_converge(Warp *warp, const Inst *inst) {
    LaneU32 *barrier = REG(warp, LaneU32, inst->converge.barrier);
    const uint32_t named = *barrier, lanes = named & ~path_converge_yielding(warp),
                   here = warp->mask;
    const Inst *next = path_converge(warp, inst, lanes);
    const bool passes = next == inst + 1 && warp->mask & here;
    if (passes && lanes != named) *barrier = lanes;
    return next;
}

// The lanes leave the barrier. The others no longer wait for them.
const Inst *op_converge_break(Warp *warp, const Inst *inst) {
    LaneU32 *barrier = REG(warp, LaneU32, inst->converge.barrier);
    const uint32_t leaving = warp->exec, of = *barrier;
    *barrier &= ~leaving;
    path_converge_leave(warp, op_converge, inst->converge.barrier, leaving, of);
    return inst + 1;
}

// A function saves and clears a barrier that its callers may use.
const Inst *op_barrier_save(Warp *warp, const Inst *inst) {
    const uint32_t lanes = *REG(warp, LaneU32, inst->r[1]);
    LANE_RESULT(LaneU32, lanes);
}

const Inst *op_barrier_clear(Warp *warp, const Inst *inst) {
    *REG(warp, LaneU32, inst->r[0]) = 0;
    return inst + 1;
}

// If lanes saved different values, the first lane's is restored.
const Inst *op_barrier_restore(Warp *warp, const Inst *inst) {
    *REG(warp, LaneU32, inst->r[0]) = REG(warp, LaneU32, inst->r[1])[__builtin_ctz(warp->exec)];
    return inst + 1;
}

// Lanes that yield let other paths of the warp run first. If no path is ready, those that wait at a
// barrier check it again (counted on an H200).
const Inst *op_converge_yield(Warp *warp, const Inst *inst) {
    bool others = false;
    for (int k = 0; k < warp->path_count; k++)
        others |= k != warp->current && warp->paths[k].state == PATH_READY;
    if (!others) others = path_converge_wake(warp, op_converge);
    return others ? path_converge_yield(warp, inst + 1) : inst + 1;
}

// Lanes that had to wait execute the instruction again after all have arrived (counted on an H200),
// so they return to the start of its block, which counts it.
const Inst *op_converge_named(Warp *warp, const Inst *inst) {
    const uint32_t lanes = REG(warp, LaneU32, inst->converge.mask)[__builtin_ctz(warp->exec)];
    const uint32_t here = warp->mask;
    if (!path_converge_gather(warp, inst, lanes)) return path_converge_wait(warp, inst, lanes);
    return warp->mask == here ? inst + 1 : inst - 1;
}

// Follows the last instruction. Only damaged code reaches it.
const Inst *op_past_end(Warp *warp, const Inst *inst) {
    return warp_fail(warp, inst, -1, SIMT_TRAP, "runs past the end of its machine code");
}

// --- branches of the whole path ---

static uint32_t lanes_to_branch(const Warp *warp, const Inst *inst) {
    const uint32_t predicate = *REG(warp, LaneU32, inst->branch.predicate);
    return (inst->branch.negated ? ~predicate : predicate) & warp->mask;
}

// When lanes diverge, the smaller group goes first (counted on an H200).
const Inst *op_branch_lanes(Warp *warp, const Inst *inst) {
    const uint32_t taken = lanes_to_branch(warp, inst), other = warp->mask & ~taken;
    const Inst *target = inst->branch.target;
    if (!taken) return inst + 1;
    if (!other) return target;
    warp->tally[inst->slot].a++;
    if (__builtin_popcount(taken) < __builtin_popcount(other))
        return path_converge_split(warp, inst, other, inst + 1, target);
    return path_converge_split(warp, inst, taken, target, inst + 1);
}

const Inst *op_branch_any(Warp *warp, const Inst *inst) {
    return lanes_to_branch(warp, inst) ? inst->branch.target : inst + 1;
}

// If only some lanes would branch, none does (measured on an H200).
const Inst *op_branch_all(Warp *warp, const Inst *inst) {
    return lanes_to_branch(warp, inst) == warp->mask ? inst->branch.target : inst + 1;
}

// Fails for a call of a function that has no code and is not built in.
const Inst *op_call_nowhere(Warp *warp, const Inst *inst) {
    const InstOutside *outside = &inst->outside;
    const int lane = __builtin_ctz(warp->exec);
    const uint64_t address = REG(warp, LaneU64, outside->address)[lane];
    for (uint32_t k = 0; k < outside->count; k++)
        if (address == sass_outside(k))
            return warp_fail(warp, inst, lane, SIMT_UNSUPPORTED,
                             "calls `%.*s`, which the program does not define",
                             STR_ARG(outside->names[k]));
    return warp_fail(warp, inst, lane, SIMT_TRAP, "calls 0x%llx, where no function starts",
                     (unsigned long long)address);
}

// The lanes that have the same value as the first lane.
static uint32_t like_first(const LaneU32 *value, uint32_t lanes) {
    const uint32_t first = value[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        if (value[lane] == first) same |= 1u << lane;
    }
    return same;
}

// Lanes with the same address as the first lane jump first; but if these are more than half, those
// with the next lane's address do.
const Inst *op_jump_register(Warp *warp, const Inst *inst) {
    const InstIndirect *jump = &inst->indirect;
    const LaneU32 *address = REG(warp, LaneU32, jump->address);
    uint32_t same = like_first(address, warp->exec);
    const uint32_t others = warp->exec & ~same;
    if (others && __builtin_popcount(same) > __builtin_popcount(others))
        same = like_first(address, others);
    const int first = __builtin_ctz(same);
    const uint64_t to = address[first] + jump->plus;
    const Inst *target = to / 16 < jump->count && to % 16 == 0 ? jump->targets[to / 16] : NULL;
    if (!target)
        return warp_fail(warp, inst, first, SIMT_TRAP,
                         "jumps to 0x%llx, where no instruction starts", (unsigned long long)to);
    if (same == warp->mask) return target;
    // The others repeat the instruction: the next jump leads back here. An H200 counts a branch.
    warp->tally[inst->slot].a++;
    return path_converge_split(warp, inst, warp->mask & ~same, inst[1].branch.target, target);
}

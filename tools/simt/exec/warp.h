// A warp while it runs: registers as one array of 32 lanes each, and the paths that it splits into.
// The functions that run instructions (ops/) are written against this header.
#ifndef WARP_H
#define WARP_H

#include <string.h>

#include "simt/base/limits.h"
#include "simt/base/status.h"
#include "simt/exec/code.h"

#define LANES     DEVICE_WARP
#define ALL_LANES 0xffffffffu
#define PATHS     80

// Registers are read as whatever type an instruction wants.
typedef uint16_t __attribute__((may_alias)) LaneU16;
typedef uint32_t __attribute__((may_alias)) LaneU32;
typedef uint64_t __attribute__((may_alias)) LaneU64;
typedef int16_t __attribute__((may_alias)) LaneS16;
typedef int32_t __attribute__((may_alias)) LaneS32;
typedef int64_t __attribute__((may_alias)) LaneS64;
typedef float __attribute__((may_alias)) LaneF32;
typedef double __attribute__((may_alias)) LaneF64;

typedef struct Block Block;
typedef struct Cluster Cluster;

// See path.h.
typedef enum { PATH_FREE, PATH_READY, PATH_JOIN, PATH_SYNC, PATH_BARRIER, PATH_CLUSTER } PathState;

// The result of bar.red: how many threads came with a true predicate, and whether all did.
typedef struct {
    uint32_t ones;
    bool all;
} BarrierResult;

// What PTX adds to a path: see path_join.h.
typedef struct {
    int16_t parent;         // the join at which the path arrives, -1: none
    const Inst *rpc;        // where that is, NULL: nowhere
    uint32_t members;       // of a join: lanes to wait for
    const uint64_t *inside; // of a join: see Meet
} PathJoin;

// What machine code adds to a path: see path_converge.h.
typedef struct {
    bool gathers;         // PATH_SYNC: waits at a convergence barrier, for lanes that come to it
    bool yields;          // PATH_READY: other paths run first
    bool woken;           // PATH_READY: it waited, and is about to check whether it still has to
    uint32_t order;       // of ready and gathering paths, the one with the greatest runs first
    const Inst *woken_at; // where it was woken last,
    uint32_t woken_lanes; // and its lanes then
} PathConverge;

// Lanes of a warp that go on together, or a join.
typedef struct {
    const Inst *pc; // where it goes on; of a join: the merge point
    uint8_t *frame;
    uint32_t local; // local memory's stack pointer
    uint32_t mask;  // its lanes; of a join: those that have arrived
    uint8_t state;
    uint64_t seen;        // by its latest spin read before it slept, see spin.h
    uint32_t sync;        // PATH_SYNC: lanes it waits for; PATH_BARRIER: number of the barrier
    BarrierResult result; // of the last barrier it was at
    PathJoin join;
    PathConverge converge;
} Path;

typedef enum {
    STOP_NONE,
    STOP_SLICE,   // used up its slice
    STOP_SPIN,    // asked to let others go first
    STOP_BLOCKED, // no path can go on before something outside the warp happens
    STOP_DONE,
    STOP_FAILED
} Stop;

// See spin.h.
typedef struct {
    uint64_t latest, marked; // looks: who saw what and where, as one number
    uint32_t looks;          // since the path went on
    uint32_t again;          // of them like the marked one
    uint32_t tries;          // to compare the registers with those of the marked one
    bool copied;             // these are in block->copy, and nothing was stored since
    bool moved;              // since the warp went on it did something that others may wait for
} Spin;

// A frame of a function that calls itself, made when its calls first come so deep. The registers
// lie FRAME_ALIGN bytes behind this.
typedef struct Deeper {
    struct Deeper *next;
} Deeper;

struct Warp {
    uint32_t exec;  // lanes the instruction acts on
    uint32_t mask;  // lanes of the running path
    uint8_t *frame; // registers of the running path's function
    const Inst *rpc;
    Tally *tally;
    int32_t budget; // basic blocks left in this slice
    uint32_t local;
    int16_t current, parent; // the running path, its join
    uint16_t index;          // in the block
    uint8_t stop;
    uint8_t path_count; // paths[path_count..] are free
    uint32_t live;      // lanes that have not exited
    uint32_t left;      // lanes that have exited by a jump to the end of the kernel
    uint32_t parted;    // twice the splits so far: see PathConverge.order, odd for waiting paths
    bool followed;      // an observer sees every instruction: see Observer.step
    uint32_t carry;     // condition-code register, a bit per lane
    Spin spin;
    // Lanes that have arrived at the barrier of the cluster and not yet waited for it: where it is
    // not complete, and where it is.
    uint32_t cluster_arrived, cluster_open;
    Block *block;
    uint8_t *stack; // of frames, one of each function
    Deeper *deeper; // further ones, the latest first; NULL: none
    uint32_t deeper_count;
    uint32_t local_reached; // local memory that the calls of this block have come to, of each lane
    Path paths[PATHS];
    uint32_t tid[3][LANES];
};

#define REG(warp, type, offset) ((type *)(void *)((warp)->frame + (offset)))

#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < LANES; l++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++)
#endif

// A lane's register of any class but predicates.
static inline uint64_t warp_read(const Warp *warp, RegisterClass class, uint32_t offset, int lane) {
    if (class == REGISTER_16) return REG(warp, LaneU16, offset)[lane];
    if (class == REGISTER_32) return REG(warp, LaneU32, offset)[lane];
    return REG(warp, LaneU64, offset)[lane];
}

static inline void warp_write(const Warp *warp, RegisterClass class, uint32_t offset, int lane,
                              uint64_t value) {
    if (class == REGISTER_16)
        REG(warp, LaneU16, offset)[lane] = (LaneU16)value;
    else if (class == REGISTER_32)
        REG(warp, LaneU32, offset)[lane] = (LaneU32)value;
    else
        REG(warp, LaneU64, offset)[lane] = value;
}

// The lanes' predicates, of those that are on.
static inline void warp_write_predicate(const Warp *warp, uint32_t offset, uint32_t value) {
    LaneU32 *d = REG(warp, LaneU32, offset);
    *d = (*d & ~warp->exec) | (value & warp->exec);
}

// Copies some bytes of each of these lanes, which lie a step behind those of the lane before it.
static inline void warp_copy_lanes(uint32_t lanes, uint8_t *to, size_t to_step, const uint8_t *from,
                                   size_t from_step, size_t bytes) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        uint8_t *const d = to + l * to_step;
        const uint8_t *const s = from + l * from_step;
        if (bytes == 8) // nearly all are words
            memcpy(d, s, 8);
        else if (bytes == 4)
            memcpy(d, s, 4);
        else
            memcpy(d, s, bytes);
    }
}

// Whether so few lanes are on that they are done sooner one by one than all in vectors.
static inline bool warp_is_sparse(uint32_t mask) {
    const uint32_t rest = mask & (mask - 1), third = rest & (rest - 1);
    return !(third & (third - 1));
}

// Body of an Op with one result of type `type` for each lane, computed without side effects. The
// result of lanes that are off may be computed too, and is dropped.
#define LANE_RESULT(type, value) LANE_RESULT_IN(inst->r[0], type, value)
#define LANE_RESULT_IN(d, type, value)                                                             \
    do {                                                                                           \
        type *const d_ = REG(warp, type, d);                                                       \
        const uint32_t m_ = warp->exec;                                                            \
        if (m_ == ALL_LANES) {                                                                     \
            LANE_LOOP d_[l] = (type)(value);                                                       \
        } else if (warp_is_sparse(m_)) {                                                           \
            for (uint32_t left_ = m_; left_; left_ &= left_ - 1) {                                 \
                const int l = __builtin_ctz(left_);                                                \
                d_[l] = (type)(value);                                                             \
            }                                                                                      \
        } else {                                                                                   \
            LANE_LOOP {                                                                            \
                type v_ = (type)(value);                                                           \
                d_[l] = (m_ >> l) & 1 ? v_ : d_[l];                                                \
            }                                                                                      \
        }                                                                                          \
        return inst + 1;                                                                           \
    } while (0)

// The same for values that must not be computed for lanes that are off (division, calls).
#define LANE_RESULT_SCALAR(type, value) LANE_RESULT_SCALAR_IN(inst->r[0], type, value)
#define LANE_RESULT_SCALAR_IN(d, type, value)                                                      \
    do {                                                                                           \
        type *const d_ = REG(warp, type, d);                                                       \
        for (uint32_t m_ = warp->exec; m_; m_ &= m_ - 1) {                                         \
            int l = __builtin_ctz(m_);                                                             \
            d_[l] = (type)(value);                                                                 \
        }                                                                                          \
        return inst + 1;                                                                           \
    } while (0)

// Fills the stack with the constants of the kernel and of what it calls, and tid[], once for all
// blocks.
void warp_prepare(Warp *warp);

// One more frame of a function, which the warp keeps. NULL: it has as many as it may, or out of
// memory.
uint8_t *warp_deeper_frame(Warp *warp, const Code *code);
void warp_free_frames(Warp *warp);

// From here on its lanes have local memory up to this, which is filled with what nothing has
// written.
void warp_reach_local(Warp *warp, uint32_t high);

// Ends the launch with this status; the text gets the source line, thread and block. Returns NULL.
const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

#endif

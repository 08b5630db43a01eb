// A running warp: each register is an array of 32 lanes, and the warp may be split into paths. The
// functions that execute instructions (ops/) use this header.
#ifndef WARP_H
#define WARP_H

#include <string.h>

#include "simt/base/limits.h"
#include "simt/base/status.h"
#include "simt/exec/code.h"

#define LANES     DEVICE_WARP
#define ALL_LANES 0xffffffffu
#define PATHS     80

// Lane types may alias: an instruction reads a register as any type of its size.
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

// The result of bar.red: how many threads had a true predicate, and whether all had.
typedef struct {
    uint32_t ones;
    bool all;
} BarrierResult;

// The fields that only PTX uses: see path_join.h.
typedef struct {
    int16_t parent;         // the join at which the path merges, -1: none
    const Inst *rpc;        // its merge point, NULL: none
    uint32_t members;       // of a join: lanes that it waits for
    const uint64_t *inside; // of a join: see MergePoint
} PathJoin;

// The fields that only machine code uses: see path_converge.h.
typedef struct {
    bool gathers;         // PATH_SYNC: waits at a convergence barrier for other lanes
    bool yields;          // PATH_READY: other paths run first
    bool woken;           // PATH_READY: has waited, and will check again whether it must
    uint32_t order;       // among ready and gathering paths, the greatest runs first
    const Inst *woken_at; // where it was last woken,
    uint32_t woken_lanes; // and its lanes then
} PathConverge;

// Lanes of a warp that run together, or a join.
typedef struct {
    const Inst *pc; // where it resumes; of a join: the merge point
    uint8_t *frame;
    uint32_t local; // local memory's stack pointer
    uint32_t mask;  // its lanes; of a join: those that have arrived
    uint8_t state;
    uint64_t seen;        // hash of its latest spin read before it slept, see spin.h
    uint32_t sync;        // PATH_SYNC: lanes that it waits for; PATH_BARRIER: the barrier's number
    BarrierResult result; // of its last barrier
    PathJoin join;
    PathConverge converge;
} Path;

typedef enum {
    STOP_NONE,
    STOP_SLICE,   // used up its slice
    STOP_SPIN,    // spins or sleeps, and lets others go first
    STOP_BLOCKED, // every path waits for something outside the warp
    STOP_DONE,
    STOP_FAILED
} Stop;

// See spin.h.
typedef struct {
    uint64_t latest, marked; // hashes of spin reads: instruction, lanes, address and value
    uint32_t reads;          // spin reads since the path was resumed
    uint32_t again;          // of these, reads like the marked one
    uint32_t tries;          // comparisons left with the registers at the marked one
    bool copied;             // they are in block->copy, and nothing has been stored since
    bool ended, waits; // since an observer cleared it: a spin read has ended the warp's turn; it
                       // found what the read before had found
    bool moved;        // since it was resumed, the warp has done something that others may wait for
} Spin;

// A frame for a deeper call of a recursive function, allocated at the first such call. The
// registers begin FRAME_ALIGN bytes after the start of this header.
typedef struct ExtraFrame {
    struct ExtraFrame *next;
} ExtraFrame;

struct Warp {
    uint32_t exec;  // lanes the instruction acts on
    uint32_t mask;  // lanes of the running path
    uint8_t *frame; // registers of the running path's function
    const Inst *rpc;
    Tally *tally;
    int32_t budget; // basic blocks left in this slice
    uint32_t local;
    int16_t current, parent; // the running path, its join
    uint16_t index;          // index in the block
    uint8_t stop;
    uint8_t path_count; // paths[path_count..] are free
    uint32_t live;      // lanes that have not exited
    uint32_t left;      // lanes that have jumped to the end of the kernel
    uint32_t
        split_order; // twice the number of splits: see PathConverge.order, odd for waiting paths
    bool followed;   // an observer sees every instruction: see Observer.step
    uint32_t carry;  // the condition-code register, one bit per lane
    Spin spin;
    // Lanes that have arrived at the cluster's barrier and have not waited for it yet: while it is
    // incomplete, and after it is complete.
    uint32_t cluster_arrived, cluster_open;
    Block *block;
    uint8_t *stack;           // frames, one for each function
    ExtraFrame *extra_frames; // further frames, the latest first; NULL: none
    uint32_t extra_frame_count;
    uint32_t local_reached; // bytes of each lane's local memory that calls in this block have used
    Path paths[PATHS];
    uint32_t tid[3][LANES];
};

#define REG(warp, type, offset) ((type *)(void *)((warp)->frame + (offset)))

#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < LANES; l++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++)
#endif

// Reads one lane's register of any class except predicates.
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

// Writes the predicates of the active lanes.
static inline void warp_write_predicate(const Warp *warp, uint32_t offset, uint32_t value) {
    LaneU32 *d = REG(warp, LaneU32, offset);
    *d = (*d & ~warp->exec) | (value & warp->exec);
}

// Copies `bytes` bytes for each of these lanes, whose data lie `to_step` and `from_step` bytes
// apart.
static inline void warp_copy_lanes(uint32_t lanes, uint8_t *to, size_t to_step, const uint8_t *from,
                                   size_t from_step, size_t bytes) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        uint8_t *const d = to + l * to_step;
        const uint8_t *const s = from + l * from_step;
        if (bytes == 8) // most copies are words
            memcpy(d, s, 8);
        else if (bytes == 4)
            memcpy(d, s, 4);
        else
            memcpy(d, s, bytes);
    }
}

// Whether so few lanes are active that a loop over them is faster than vector code.
static inline bool warp_is_sparse(uint32_t mask) {
    const uint32_t rest = mask & (mask - 1), third = rest & (rest - 1);
    return !(third & (third - 1));
}

// Body of an Op with one result of type `type` per lane, computed without side effects. It may also
// be computed for inactive lanes, and is then dropped.
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

// The same for values that must not be computed for inactive lanes (division, calls).
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

// Writes the constants of the kernel and its callees to the stack, and fills tid[]; done once for
// all blocks.
void warp_prepare(Warp *warp);

// Allocates one more frame for a function; the warp owns it. NULL: the limit is reached, or out of
// memory.
uint8_t *warp_extra_frame(Warp *warp, const Code *code);
void warp_free_frames(Warp *warp);

// Extends the lanes' local memory to `high` bytes, filled with the poison of unwritten memory.
void warp_reach_local(Warp *warp, uint32_t high);

// Ends the launch with this status; the source line, block and thread are added to the text.
// Returns NULL.
const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

#endif

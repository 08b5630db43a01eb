// A warp and its block while they run: registers as one array of 32 lanes each, the paths of a
// diverged warp, shared and local memory. The functions that run instructions (op_*.c) are written
// against this header.
#ifndef WARP_H
#define WARP_H

#include "simt/exec/code.h"
#include "simt/exec/launch.h"
#include "simt/memory/memory.h"

#define LANES     32
#define ALL_LANES 0xffffffffu
#define PATHS     80

// Generic addresses: global memory as it is; the other spaces in windows far above it.
#define WINDOW_SHIFT  48
#define WINDOW_SHARED ((uint64_t)1 << WINDOW_SHIFT)
#define WINDOW_LOCAL  ((uint64_t)2 << WINDOW_SHIFT)
#define WINDOW_PARAM  ((uint64_t)3 << WINDOW_SHIFT)
#define WINDOW_MASK   (((uint64_t)1 << WINDOW_SHIFT) - 1)

// Registers are read as whatever type an instruction wants.
typedef uint8_t __attribute__((may_alias)) LaneU8;
typedef uint16_t __attribute__((may_alias)) LaneU16;
typedef uint32_t __attribute__((may_alias)) LaneU32;
typedef uint64_t __attribute__((may_alias)) LaneU64;
typedef int16_t __attribute__((may_alias)) LaneS16;
typedef int32_t __attribute__((may_alias)) LaneS32;
typedef int64_t __attribute__((may_alias)) LaneS64;
typedef float __attribute__((may_alias)) LaneF32;
typedef double __attribute__((may_alias)) LaneF64;

typedef struct Block Block;
typedef struct Machine Machine;

// Lanes that go the same way. A warp starts as one path. A branch that splits lanes leaves a join
// behind, which waits at the branch's immediate post-dominator for the lanes of both sides; lanes
// that exit are no longer waited for. Any path that is ready may run: warp-wide and block-wide
// waits and spinning loops switch to another one.
typedef enum { PATH_FREE, PATH_READY, PATH_JOIN, PATH_SYNC, PATH_BARRIER } PathState;

typedef struct {
    const Inst *pc;  // where it goes on; a join: where lanes meet
    const Inst *rpc; // where it joins its parent, NULL: nowhere
    uint8_t *frame;
    uint32_t local;   // local memory's stack pointer
    uint32_t mask;    // its lanes; a join: those that have arrived
    uint32_t members; // a join: lanes to wait for
    uint32_t sync;    // PATH_SYNC: lanes it waits for; PATH_BARRIER: number of the barrier
    int16_t parent;   // a join, -1: none
    uint8_t state;
} Path;

typedef enum {
    STOP_NONE,
    STOP_SLICE,   // used up its slice
    STOP_SPIN,    // asked to let others go first
    STOP_BLOCKED, // no path can go on before something outside the warp happens
    STOP_DONE,
    STOP_FAILED
} Stop;

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
    uint32_t carry;     // condition-code register, a bit per lane
    uint32_t spins;     // strong loads, failed exchanges and sleeps since the last progress
    Block *block;
    uint8_t *stack; // of frames
    Path paths[PATHS];
    uint32_t tid[3][LANES];
};

#define BARRIERS 16

// Shared memory that the system keeps for itself from sm_80 on. A program only gets it if it asks
// for its address, as tiles of more than a warp in cooperative groups do.
#define RESERVED_BYTES 1024

typedef struct {
    uint32_t arrived;                 // threads
    uint32_t expected;                // 0: all threads that have not exited
    uint32_t ones;                    // threads that came with a true predicate (bar.red)
    uint32_t last_arrived, last_ones; // when it was last completed
    uint32_t slot;                    // counter of the instruction that came last
} Barrier;

struct Block {
    Machine *machine;
    Warp *warps;
    uint32_t warp_count, threads;
    uint32_t live_threads;
    uint32_t done_warps;
    uint64_t number; // linear index in the grid
    Dim3 index;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint8_t *local; // threads * local_stride
    uint32_t local_stride;
    Tally *tally;
    Barrier barriers[BARRIERS];
    void *check;       // state of the checks, NULL without them
    uint64_t progress; // barriers completed and warps ended
    uint32_t stuck;    // rounds in which all warps only spun
    bool running;      // started and not yet done
    uint8_t *stacks;   // of all warps
};

// One launch as all its host threads see it.
struct Machine {
    const Code *code;
    Code *const *codes; // all that were lowered in the module
    uint32_t code_count;
    const Inst *entry;
    Dim3 grid, block, cluster;
    uint64_t block_count;
    uint32_t warps_per_block, threads_per_block;
    uint32_t static_shared, dynamic_shared, dynamic_base;
    uint32_t reserved_base; // RESERVED_BYTES of shared memory behind the program's, 0: none
    uint32_t local_bytes, stack_bytes;
    uint8_t *params; // the kernel's parameter block
    uint32_t param_bytes;
    uint64_t grid_workspace; // of a cooperative launch, device address
    uint64_t grid_id;
    bool cooperative;
    const PtxModule *module;
    const SimtOptions *options;
    // Failure of the block with the lowest number so far.
    uint64_t failed_block;
    SimtStatus status;
    SimtError error;
    int stop;            // all threads end
    int64_t deadline_ns; // of the watchdog, moved on by progress; 0: none
    void *check;         // state of a trace
    void *found;         // what checks found in blocks that are done, NULL: nothing
};

// The PTX instruction that this one was made from; NULL if it is not of this launch's code.
const PtxInst *machine_instruction(const Machine *machine, const Inst *inst);

#define REG(warp, type, offset) ((type *)(void *)((warp)->frame + (offset)))

#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < LANES; l++)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++)
#endif

// Body of an Op with one result of type `type` for each lane, computed without side effects. The
// result of lanes that are off is computed too and dropped.
#define LANE_RESULT(type, value)                                                                   \
    do {                                                                                           \
        type *const d_ = REG(warp, type, inst->r[0]);                                              \
        const uint32_t m_ = warp->exec;                                                            \
        if (m_ == ALL_LANES) {                                                                     \
            LANE_LOOP d_[l] = (type)(value);                                                       \
        } else {                                                                                   \
            LANE_LOOP {                                                                            \
                type v_ = (type)(value);                                                           \
                d_[l] = (m_ >> l) & 1 ? v_ : d_[l];                                                \
            }                                                                                      \
        }                                                                                          \
        return inst + 1;                                                                           \
    } while (0)

// The same for values that must not be computed for lanes that are off (division, calls).
#define LANE_RESULT_SCALAR(type, value)                                                            \
    do {                                                                                           \
        type *const d_ = REG(warp, type, inst->r[0]);                                              \
        for (uint32_t m_ = warp->exec; m_; m_ &= m_ - 1) {                                         \
            int l = __builtin_ctz(m_);                                                             \
            d_[l] = (type)(value);                                                                 \
        }                                                                                          \
        return inst + 1;                                                                           \
    } while (0)

// One row of the tables by which opcodes find their Op. `name` is the opcode without modifiers
// that change nothing here. `shape` has one letter an operand: p predicate, h 16, w 32, d 64 bits.
typedef struct {
    const char *name;
    Op *run;
    const char *shape;
} OpRow;

extern const OpRow op_integer_rows[], op_bits_rows[], op_float_rows[], op_half_rows[],
    op_compare_rows[], op_convert_rows[], op_move_rows[];

// Ends the launch with this status; the text gets the source line, thread and block. Returns NULL.
const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

// The paths of a warp (path.c). Each returns the next instruction to run, or NULL with warp->stop.
void warp_start(Warp *warp, const Inst *entry, uint32_t lanes);
const Inst *warp_resume(Warp *warp);
const Inst *warp_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target);
const Inst *warp_arrive(Warp *warp); // at warp->rpc
const Inst *warp_exit(Warp *warp, uint32_t lanes, const Inst *next);
const Inst *warp_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *warp_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier);
const Inst *warp_yield(Warp *warp, const Inst *inst, Stop stop);
const Inst *warp_switch(Warp *warp);
void warp_release_barrier(Warp *warp, uint32_t barrier);
bool warp_release_parked(Warp *warp);

// Space, address and pointer of lanes' memory: see op_memory.c.
void warp_addresses(const Warp *warp, const Inst *inst, uint64_t address[LANES]);

// Block-wide barriers (op_sync.c): completes those that only threads still waited for that exited.
void block_check_barriers(Block *block);

// Bank conflicts and sectors (bank.c), by the rules measured on an H200: DESIGN, section 6.
typedef struct {
    uint32_t wavefronts, groups;
} BankCount;

BankCount bank_count(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load);
uint32_t sector_count(const uint64_t address[LANES], uint32_t mask);

static inline uint64_t lane_thread(const Warp *warp, int lane) {
    return (uint64_t)warp->index * LANES + (uint64_t)lane;
}

#endif

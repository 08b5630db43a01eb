// Instructions that lowering names directly; those with a row in a table are found by opcode.
#ifndef OPS_H
#define OPS_H

#include "simt/base/limits.h"
#include "simt/exec/block.h"
#include "simt/exec/path.h"

typedef enum {
    SPECIAL_TID_X, // one value a lane
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X, // one value for all lanes
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_LO,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_WARP_SIZE,
    SPECIAL_ENVREG1,
    SPECIAL_ENVREG2,
    SPECIAL_DYNAMIC_BASE,   // address of dynamic shared memory
    SPECIAL_RESERVED_BEGIN, // shared memory set aside for cooperative groups
    SPECIAL_RESERVED_0,
    SPECIAL_RESERVED_1,
    SPECIAL_RESERVED_END,
    SPECIAL_RESERVED_CAP,
    SPECIAL_ONE,
    SPECIAL_ZERO,
    SPECIAL_LANEID, // one value a lane again
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIALS
} Special;

bool special_named(Str name, Special *special);

// op_move.c
Op op_special, op_local_address, op_pack, op_unpack, op_is_space;

// op_convert.c: from type inst->elements in a register of inst->bytes bytes to type inst->sizes in
// a register of inst->wide bytes; inst->mode: ConvertMode.
typedef enum {
    ROUND_NEAREST, // .rn
    ROUND_ZERO,    // .rz
    ROUND_DOWN,    // .rm
    ROUND_UP,      // .rp
    ROUND_NEAREST_AWAY,
    ROUND_MASK = 7,
    CONVERT_SATURATE = 8,
    CONVERT_RELU = 16,
    CONVERT_INTEGRAL = 32 // .rni, .rzi, ...: float to a float of integral value
} ConvertMode;
Op op_convert, op_convert_pair; // pair: two f32 to one f16x2 or bf16x2

// op_half.c: 16-bit formats
float half_to_float(uint16_t bits);
float bfloat_to_float(uint16_t bits);
uint16_t float_to_half(double value, ConvertMode mode);
uint16_t float_to_bfloat(double value, ConvertMode mode);

// op_compare.c: r[0] <- (r[1] ? r[2]) combined, see CombineMode
Op op_combine;

// op_flow.c
Op op_enter, op_enter_join, op_jump, op_branch, op_table_branch, op_guard, op_unguard, op_exit,
    op_return, op_call, op_call_pointer, op_trap, op_nothing, op_fence, op_nanosleep, op_print,
    op_assert_fail, op_unsupported;

// op_sync.c
Op op_barrier, op_barrier_arrive, op_barrier_result, op_warp_barrier, op_shuffle, op_vote, op_match,
    op_reduce, op_activemask, op_elect;

typedef enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleMode;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteMode;
typedef enum {
    REDUCE_ADD,
    REDUCE_MIN_U,
    REDUCE_MIN_S,
    REDUCE_MAX_U,
    REDUCE_MAX_S,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR
} ReduceMode;
typedef enum { BARRIER_PLAIN, BARRIER_POPC, BARRIER_AND, BARRIER_OR } BarrierMode;

// op_memory.c. `sizes` of the instruction is the register's size, `mode` 1 if a narrow value is
// sign-extended into it.
Op *op_load(PtxSpace space, uint32_t bytes, uint32_t elements, uint32_t register_bytes);
Op *op_store(PtxSpace space, uint32_t bytes, uint32_t elements, uint32_t register_bytes);
Op op_load_param;                 // kernel parameters: imm is the offset in their block
Op op_load_frame, op_store_frame; // parameters of functions: imm in the frame, r[0] bytes a lane
Op op_prefetch;

// The next instruction, after a turn of the other warps if this one has been spinning.
const Inst *memory_spin(Warp *warp, const Inst *inst);

// op_atomic.c: r[0] address, r[1] old value or PTX_NONE, r[2] and r[3] operands; `sizes` is the
// PtxType.
Op op_atomic;

typedef enum {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS
} AtomicMode;

// op_async.c
Op op_copy_async, op_mbarrier;

typedef enum {
    MBARRIER_INIT,
    MBARRIER_INVALIDATE,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_EXPECT,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE,
    MBARRIER_WAIT_STATE, // the others that wait come behind it
    MBARRIER_WAIT_PARITY
} MbarrierMode;

// Bytes of the frame of a called function in front of its registers: return address, the caller's
// reconvergence point, frame and local stack pointer, one of each for every lane.
#define FRAME_SAVED (4 * LANES * 8)

// One call in the program. Parameters and results are in areas of the caller's frame in which each
// lane has `stride` bytes.
typedef struct {
    const Code *caller;
    Code *callee;                  // NULL: by pointer
    uint32_t *arguments, *results; // offsets of the areas
    const PtxVariable **passed, **received;
    uint32_t argument_count, result_count, stride;
} CallSite;

#endif

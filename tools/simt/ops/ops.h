// The Ops that lowering names directly. Those with a row in a table are found by opcode.
#ifndef OPS_H
#define OPS_H

#include "simt/base/limits.h"
#include "simt/exec/block.h"
#include "simt/exec/path.h"
#include "simt/exec/register.h"

// special.c
Op *op_special(PtxSpecial special); // reads a special register
Op op_dynamic_shared_base;

// move.c
Op op_local_address, op_pack, op_unpack, op_is_space;

// convert.c
Op op_convert, op_convert_pair; // pair: two f32 to one f16x2 or bf16x2

// tf32.c
Op op_convert_tf32;

// fp8.c: pairs of 8-bit floats from two f32 and from f16x2, and to f16x2
Op op_narrow_singles, op_narrow_halves, op_widen_to_halves;

// compare.c: combines a comparison's result with a predicate
Op op_combine;

// flow.c
Op op_enter, op_enter_join, op_enter_outside, op_jump, op_branch, op_table_branch, op_guard,
    op_unguard, op_exit, op_leave, op_return, op_call, op_call_pointer, op_trap, op_nothing,
    op_fence, op_nanosleep, op_grid_wait;

// print.c, heap.c: built-in functions
Op op_print, op_assert_fail, op_malloc, op_free;

// sync.c
Op op_barrier, op_barrier_arrive, op_barrier_result, op_warp_barrier, op_shuffle, op_vote, op_match,
    op_reduce, op_activemask, op_elect;
Op op_cluster_arrive, op_cluster_wait, op_map_rank, op_map_rank_wide, op_get_rank, op_get_rank_wide;

// matrix.c
Op op_matrix_sync, op_matrix_address, op_matrix_from_rows, op_matrix_to_rows, op_matrix_transpose,
    op_matrix_multiply;

// memory.c
Op *op_load(PtxSpace space, uint32_t bytes, uint32_t elements, RegisterClass class);
Op *op_store(PtxSpace space, uint32_t bytes, uint32_t elements, RegisterClass class);
Op op_load_param;                 // parameters of the kernel
Op op_load_frame, op_store_frame; // parameters of functions

// atomic.c
Op op_atomic, op_atomic_cast;
// Updates one element of memory.
void atomic_update(AtomicMode mode, PtxType type, uint8_t *pointer, uint64_t value);

// async.c
Op op_copy_async, op_copies_arrive, op_group, op_mbarrier, op_pending_count;
void async_complete(uint8_t *mbarrier, uint32_t bytes); // counts bytes of transactions

// bulk.c
Op op_bulk, op_store_async;

// Bytes of a called function's frame before its registers: for every lane the return address and
// the caller's reconvergence point, frame and local stack pointer.
#define FRAME_SAVED (4 * LANES * 8 + FRAME_ALIGN)

// A call instruction. Parameters and results are in areas of the caller's frame in which each lane
// has `stride` bytes.
struct CallSite {
    const Code *caller;
    Code *callee;                  // NULL for a call through a pointer
    uint32_t *arguments, *results; // offsets of the areas
    const PtxVariable **passed, **received;
    uint32_t argument_count, result_count, stride;
};

#endif

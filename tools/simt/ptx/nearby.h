// The code around an access to memory, as far as advice on races depends on it.
#ifndef PTX_NEARBY_H
#define PTX_NEARBY_H

#include "simt/ptx/ptx.h"

// Whether the address operands of two instructions are the same register and offset, or name.
bool ptx_same_address(const PtxInst *one, const PtxInst *other);
// Whether the statement of these two updates one word, as in `n++`: it loads and stores there.
bool ptx_updates(const PtxFunction *function, const PtxInst *one, const PtxInst *other);
// The comparison on which *write depends, of a value that *load loaded from the address that is
// written, as in `if (x < *least) *least = x;`; NULL if the two accesses are not at their lines.
const PtxInst *ptx_compared(const PtxFunction *function, const PtxInst *one, const PtxInst *other,
                            const PtxInst **load, const PtxInst **write);
bool ptx_is_equality(const PtxInst *comparison);
// The nearest write of a flag or ticket after an access (step 1), or read of one before it (-1), or
// NULL; *fenced: there is a fence between the two.
const PtxInst *ptx_signal(const PtxFunction *function, uint32_t access, int step, bool *fenced);
// The atomicCAS() or atomicExch() before an access that takes the lock that `released` releases
// after it, or NULL; *fenced: there is a fence after it.
const PtxInst *ptx_lock(const PtxFunction *function, uint32_t access, const PtxInst *released,
                        bool *fenced);
// The nearest wait for groups of copies before an access, or NULL; *left: groups for which it does
// not wait.
const PtxInst *ptx_wait_group(const PtxFunction *function, uint32_t access, uint64_t *left);
// Whether two instructions are in one loop.
bool ptx_in_loop(const PtxFunction *function, const PtxInst *first, const PtxInst *last);
// Whether one of two instructions is in a loop without the other, or in a copy of it.
bool ptx_leaves_loop(const PtxFunction *function, const PtxInst *one, const PtxInst *other);
// Whether two instructions are in a loop and a barrier is between the two.
bool ptx_loop_waits(const PtxFunction *function, const PtxInst *first, const PtxInst *last);

#endif

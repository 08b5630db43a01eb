// Cases that differ with -G: functions are called, and structures are copied member by member.
// tests/simt/corpus/run builds this in both ways. Verdicts: see corpus.h.
#include <cuda/atomic>

#include "corpus.h"

// The upper lanes' values are not used.
template <bool RIGHT> __global__ void sum_of_the_rest(const int *in, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const unsigned stay = __ballot_sync(~0u, i < 333);
    if (i >= 333) return;
    int sum = in[i];
    for (int o = 16; o > 0; o /= 2) {
        const int more = __shfl_down_sync(stay, sum, o);  // HAZARD sum_of_the_rest: mask
        if (!RIGHT || lane + o < __popc(stay)) sum += more;
    }
    if (lane == 0) atomicAdd(out, sum);  // LABEL sum_of_the_rest
}

struct Item {
    char tag;
    double weight;
    short id;
};

// Padding is copied, from global and through shared memory.
template <bool RIGHT> __global__ void copy_items(const int *in, Item *items) {
    __shared__ Item tile[8];
    const int t = threadIdx.x;
    Item *made = (Item *)malloc(sizeof(Item));
    made->tag = 'a', made->id = t;
    if (RIGHT) made->weight = in[t];
    items[t] = *made;  // HAZARD copy_items: uninitialized
    tile[t].tag = 'b', tile[t].weight = t, tile[t].id = t;
    __syncthreads();
    items[8 + t] = tile[7 - t];
    items[t].weight += made->weight;  // LABEL copy_items
    free(made);
}

// Each value that is read is stored to the thread's own memory in every round; it is still a wait loop.
__device__ unsigned flag;
template <bool RIGHT> __global__ void waits_for_block(const int *in, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(flag);
    if (blockIdx.x == 1) {
        *out = *in;  // LABEL waits_for_block
        ready.store(1, RIGHT ? cuda::memory_order_release : cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        out[1] = *out;  // HAZARD waits_for_block: race with waits_for_block
    }
}

static const Case cases[] = {
    TWINS(4, 128, sum_of_the_rest), TWINS(2, 1, waits_for_block),
    RUN("copy_items", copy_items<false><<<1, 8>>>(d_in, (Item *)d_out)),
    RUN("copy_items_right", copy_items<true><<<1, 8>>>(d_in, (Item *)d_out)),
};

CORPUS_MAIN(cases)

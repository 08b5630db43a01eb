// Lanes access words and parts of words at arbitrary addresses: races between any two of them, each
// with a right twin. Verdicts: see corpus.h.
#include "corpus.h"

// --- shared memory ---

// Only the reads of one word, out of 128, matter: they are by two lanes of a warp and others.
template <bool RIGHT> __global__ void one_word_of_many(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int v = s[t * 33 % 97 / 2];  // LABEL one_word_of_many_read
    if (!RIGHT && t == 77) s[5] = v + 1;  // HAZARD one_word_of_many: race with one_word_of_many_read
    __syncthreads();
    out[t] = v + s[5];
}

// A lane of the second warp reads a byte, then one of the first, then one or two others of the second,
// while one more reads elsewhere; then these synchronise, and one of them stores to that byte.
template <bool RIGHT, int PAIR> __device__ void read_in_between(const int *in, int *out) {
    __shared__ volatile unsigned char s[BLOCK];
    unsigned t = threadIdx.x;
    int v = 0;
    s[t] = (unsigned char)in[t];
    __syncthreads();
    if (t / 32 == 1) {
        if (t == 32) v = s[5];
        __nanosleep(100);
        if (PAIR) __syncwarp();
        if (t - 33 <= PAIR || t == 40) v = s[t == 40 ? 9 : 5];
        __syncwarp();
    } else if (t == 3) {
        v = s[5];  // LABEL read_in_between
    }
    if (RIGHT) __syncthreads();
    // HAZARD-NEXT byte_read_in_between: race with read_in_between
    // HAZARD-NEXT byte_read_by_pair: race with read_in_between
    if (t == 36) s[5] = 1;
    out[t] = v;
}
template <bool RIGHT> __global__ void byte_read_in_between(const int *in, int *out) {
    read_in_between<RIGHT, 0>(in, out);
}
template <bool RIGHT> __global__ void byte_read_by_pair(const int *in, int *out) {
    read_in_between<RIGHT, 1>(in, out);
}

// Two lanes read a byte and synchronise; then a third lane reads it.
template <bool RIGHT> __global__ void byte_read_once_more(const int *in, int *out) {
    __shared__ volatile unsigned char s[32];
    unsigned t = threadIdx.x;
    int v = 0;
    s[t] = (unsigned char)in[t];
    __syncwarp();
    if (t < 2) v = s[5];
    __syncwarp();
    if (t == 2) v = s[5];  // LABEL byte_read_once_more_read
    if (RIGHT) __syncwarp();
    if (t == 3) s[5] = 1;  // HAZARD byte_read_once_more: race with byte_read_once_more_read
    out[t] = v;
}

// Lanes 3 and 9 read one word, and lane 9 stores there.
template <bool RIGHT> __global__ void read_by_two_lanes(const int *in, int *out) {
    __shared__ int s[32];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    int v = s[(t == 3 ? 9 : t) * 5 % 32];  // LABEL read_by_two_lanes_read
    if (RIGHT) __syncwarp();
    if (t == 9) s[13] = v + 1;  // HAZARD read_by_two_lanes: race with read_by_two_lanes_read
    __syncwarp();
    out[t] = v + s[t];
}

template <bool RIGHT> __global__ void wide_stores(const int *in, int *out) {
    __shared__ int4 s[32];
    unsigned t = threadIdx.x;
    s[t * 3 % 32] = make_int4(in[t], 1, 2, 3);  // LABEL wide_stores_store
    if (RIGHT) __syncwarp();
    // HAZARD-NEXT wide_stores: race with wide_stores_store
    out[t] = ((volatile int *)s)[(t * 5 + 1) % BLOCK];
}

// --- bytes of shared memory, and the words that they are in ---

template <bool RIGHT> __global__ void bytes_then_word(const int *in, int *out) {
    __shared__ alignas(4) unsigned char bytes[BLOCK];
    unsigned t = threadIdx.x;
    bytes[t] = (unsigned char)in[t];  // LABEL bytes_then_word_store
    if (RIGHT) __syncthreads();
    if (t < 32) out[t] = ((int *)bytes)[t];  // HAZARD bytes_then_word: race with bytes_then_word_store
}

// Only the last byte of a word that was written by bytes is written again.
template <int WRITER, bool RIGHT> __global__ void byte_of_word(const int *in, int *out) {
    __shared__ alignas(4) unsigned char bytes[BLOCK];
    unsigned t = threadIdx.x;
    bytes[t] = (unsigned char)in[t];
    __syncthreads();
    if (t == WRITER) bytes[7] = (unsigned char)in[1];  // LABEL byte_of_word_store
    if (RIGHT) __syncthreads();
    // HAZARD-NEXT first_byte_of_word: race with byte_of_word_store
    // HAZARD-NEXT last_byte_of_word: race with byte_of_word_store
    if (t / 32 == 3 - WRITER / 32) out[t] = ((int *)bytes)[t * 5 % 32];
}

// --- global memory ---

template <bool RIGHT> __global__ void lanes_scatter(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[32 + t * 3 % 32] = 0;
    out[t * 3 % (RIGHT ? 32 : 31)] = in[t];  // HAZARD lanes_scatter: race
}

// The last block writes where the first has read, or where no block has.
template <bool RIGHT> __global__ void blocks_overwrite(const int *in, int *out) {
    unsigned t = threadIdx.x, b = blockIdx.x;
    const int *from = b == 0 ? out : in;
    int v = from[t * 7 % BLOCK];  // LABEL blocks_overwrite_read
    out[(b + 1) * BLOCK + t * 3 % BLOCK] = v;
    // HAZARD-NEXT blocks_overwrite: race with blocks_overwrite_read
    if (b == 2 && !RIGHT) out[t * 5 % BLOCK] = v;
}

// Each lane accesses two words, or half words.
template <bool RIGHT> __global__ void pairs_scatter(const int *in, int *out) {
    unsigned t = threadIdx.x, b = blockIdx.x;
    int2 *pairs = (int2 *)out;
    // HAZARD-NEXT pairs_scatter: race
    pairs[b * (RIGHT ? 64 : 60) + t * 3 % 64] = make_int2(in[t], (int)b);
}

template <bool RIGHT> __global__ void halves_scatter(const int *in, int *out) {
    unsigned t = threadIdx.x, b = blockIdx.x;
    short *halves = (short *)out;
    // HAZARD-NEXT halves_scatter: race
    halves[b * (RIGHT ? 128 : 127) + t * 5 % 128] = (short)(in[t] + (int)b);
}

// All lanes read the word that the last one then writes.
template <bool RIGHT> __global__ void read_by_all_lanes(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    const int v = out[0];  // LABEL read_by_all_lanes_read
    out[32 + t] = v;
    if (RIGHT) __syncwarp();
    if (t == 31) out[0] = v + in[t];  // HAZARD read_by_all_lanes: race with read_by_all_lanes_read
}

// The first lane wrote the byte that all of them read, the first read of this memory.
template <bool RIGHT> __global__ void one_byte_for_all(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    char *bytes = (char *)out;
    bytes[t] = (char)in[t];  // LABEL one_byte_for_all_write
    asm volatile("" ::: "memory");
    if (RIGHT) __syncwarp();
    out[t + 32] = bytes[0];  // HAZARD one_byte_for_all: race with one_byte_for_all_write
}

// Both lanes store the same value to one element; in the end only one of them does, while the registers of
// the other, which has exited, still have the address and a later value.
__global__ void one_lane_again(const int *in, int *out) {
    for (unsigned t = threadIdx.x % 32; t < blockDim.x / 16; t++) out[t + (in[t] >> 30)] = 2 * t;
}

static const Case cases[] = {
    TWINS(1, BLOCK, one_word_of_many), TWINS(1, 64, byte_read_in_between),
    TWINS(1, 64, byte_read_by_pair), TWINS(1, 32, byte_read_once_more), TWINS(1, 32, read_by_two_lanes),
    TWINS(1, 32, read_by_all_lanes), TWINS(1, 32, one_byte_for_all), TWINS(1, 32, wide_stores),
    TWINS(1, BLOCK, bytes_then_word), ONE(1, BLOCK, "first_byte_of_word", byte_of_word<0, false>),
    ONE(1, BLOCK, "last_byte_of_word", byte_of_word<96, false>),
    ONE(1, BLOCK, "byte_of_word_right", byte_of_word<0, true>), TWINS(3, BLOCK, blocks_overwrite),
    TWINS(1, 32, lanes_scatter), TWINS(3, 64, pairs_scatter), TWINS(3, BLOCK, halves_scatter),
    ONE(1, 32, "one_lane_again_right", one_lane_again),
};

CORPUS_MAIN(cases)

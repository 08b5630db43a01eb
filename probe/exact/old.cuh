// reduce_exact.cuh: the exact sum of an array, rounded once to nearest even, in one kernel launch.
// For C++11 and later, compiled by nvcc; needs no other file. From chapter 14 of the workbook.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
//
//     void *d_workspace;
//     cudaMalloc(&d_workspace, reduction::REDUCE_EXACT_WORKSPACE_BYTES);
//     cudaMemsetAsync(d_workspace, 0, reduction::REDUCE_EXACT_WORKSPACE_BYTES, stream);
//     cudaError_t error = reduction::reduce_exact_float(d_in, d_out, n, d_workspace, stream);
//
// d_in         n elements on the device, at any address that is a multiple of their size
// d_out        room for one element on the device; written, never read
// n            any number up to 2^40, 0 included
// d_workspace  REDUCE_EXACT_WORKSPACE_BYTES, aligned to 16, all zero before the first call; each
//              call leaves it zero. One for each stream: two calls that run at the same time must
//              not share it. If a kernel was cut short by an error, zero it again.
// stream       the call returns at once; d_out is valid when the stream has come this far. Calls
//              can be captured into a graph, and nothing is allocated. No block waits for one that
//              may not have started: any number of calls may run at a time, and whatever else.
// Returns      cudaErrorInvalidValue for a null or misaligned pointer, else what the launch says;
//              older errors stay what they were
//
// Time depends on the data: it is least where neighbouring elements lie within some 40 powers of
// two of each other, and several times as long where they lie far apart (chapter 14).
//
// The bits of the result depend on the elements alone: not on their order or place, not on the
// grid, not on the GPU. An overflow on the way does not matter if the sum is finite. NaN if any
// element is NaN, or if there are both infinities; an infinity if there is one, or if the sum is
// too large. -0 only if all elements are -0, or if there are none.
#ifndef REDUCE_EXACT_CUH
#define REDUCE_EXACT_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <string.h>

// reduction::, and below it a name for this version and these architectures; symbols are hidden, so
// that two shared libraries in a process each have their own.
#define REDUCTION_PASTE(a, b, c, d, e, f, g, h, ...) v0_5_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h
#define REDUCTION_NAME(...) REDUCTION_PASTE(__VA_ARGS__, , , , , , , , , )
#ifdef __CUDA_ARCH_LIST__
#define REDUCTION_VERSION REDUCTION_NAME(__CUDA_ARCH_LIST__)
#else
#define REDUCTION_VERSION v0_5
#endif
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif
namespace reduction {
inline namespace REDUCTION_VERSION {

// What a sum must know of its format. A key orders elements by size and ignores their sign: twice
// the upper 32 bits; of a double, the last bit says whether anything is below them.
template <class T> struct ExactFormat;
template <> struct ExactFormat<float> {
    typedef unsigned Bits;
    enum { MANTISSA = 24, BIAS = 127, LEAST = -149, LIMBS = 12, LEVELS = 2, KEY_SHIFT = 24 };
    static __device__ Bits bits(float x) { return __float_as_uint(x); }
    static __device__ Bits sign() { return 1u << 31; }
    static __device__ Bits infinity() { return 0xffu << 23; }
    static __device__ float of(Bits bits) { return __uint_as_float(bits); }
    static __device__ int upper(float x) { return __float_as_int(x); }
    static __device__ unsigned key(float x) { return 2 * __float_as_uint(x); }
    static __device__ double widen(float x) {  // subnormals too, whatever -ftz says
        double wide;
        asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));
        return wide;
    }
};
template <> struct ExactFormat<double> {
    typedef unsigned long long Bits;
    enum { MANTISSA = 53, BIAS = 1023, LEAST = -1074, LIMBS = 68, LEVELS = 3, KEY_SHIFT = 21 };
    static __device__ Bits bits(double x) { return (Bits)__double_as_longlong(x); }
    static __device__ Bits sign() { return 1ull << 63; }
    static __device__ Bits infinity() { return 0x7ffull << 52; }
    static __device__ double of(Bits bits) { return __longlong_as_double((long long)bits); }
    static __device__ int upper(double x) { return __double2hiint(x); }
    static __device__ unsigned key(double x) {
        return 2 * (unsigned)__double2hiint(x) | (__double2loint(x) != 0 ? 1 : 0);
    }
    static __device__ double widen(double x) { return x; }
};

enum {
    EXACT_GAP = 42,      // from the last bit of a level to that of the next
    EXACT_ROOM = 1024,   // elements that a lane takes before its levels are emptied
    EXACT_HEADROOM = 8,  // powers of two that elements may grow before the window has to move
};

// What a warp's levels can hold: multiples of 2^last that are less than 2^(last + DEPTH - 12). Of
// those, 1,024 add up to less than a quarter of what the first level may go up or down.
template <class T> struct ExactWindow {
    typedef ExactFormat<T> F;
    enum {
        DEPTH = 52 + EXACT_GAP * (F::LEVELS - 1),
        LARGEST = 1022 - DEPTH,  // of `last`, since the first level is a double
    };
    int last;
    unsigned low, high;  // the keys that fit: 0, and low <= key < high

    // The key of 2^exponent; of infinity, if that is too large, and 0 if it is subnormal.
    static __device__ unsigned key_of(int exponent) {
        int most = 2 * F::BIAS + 1, biased = min(exponent + F::BIAS, most);
        return biased > 0 ? (unsigned)biased << F::KEY_SHIFT : 0;
    }
    // Lets the window reach from EXACT_HEADROOM powers of two above an element down.
    __device__ void place(unsigned key) {
        int exponent = (int)(key >> F::KEY_SHIFT) - F::BIAS;
        last = exponent + 1 + EXACT_HEADROOM + 12 - DEPTH;
        last = max((int)F::LEAST, min(last, (int)LARGEST));
        low = last == F::LEAST ? 0 : key_of(last + F::MANTISSA - 1);
        high = key_of(last + DEPTH - 12);
    }
};

// A lane's part of a sum, in doubles. Level l counts in units of its last bit: it starts at
// 1.5 * 2^k and stays between 2^k and 2^(k+1), so that its bits, as an integer, say how often.
template <class T> struct ExactLevels {
    typedef ExactFormat<T> F;
    enum { PARTS = F::LEVELS, GAP = EXACT_GAP, DIGITS = 2, NARROW = 53 - F::MANTISSA - 5 };
    double level[PARTS];

    static __device__ double empty(int l, int last) {
        long long k = last + 52 + EXACT_GAP * (PARTS - 1 - l);
        return __longlong_as_double((k + 1023) << 52 | 1ll << 51);
    }
    __device__ void clear(int last) {
#pragma unroll
        for (int l = 0; l < PARTS; l++) level[l] = empty(l, last);
    }
    __device__ void add(T x, int) { put(F::widen(x)); }
    // Up to 32 elements within NARROW powers of two: their sum is exact in a double.
    template <int COUNT> __device__ void add_narrow(const T (&v)[COUNT]) {
        double sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < COUNT; k++) sum[k % 4] = __dadd_rn(sum[k % 4], F::widen(v[k]));
        put(__dadd_rn(__dadd_rn(sum[0], sum[1]), __dadd_rn(sum[2], sum[3])));
    }
    __device__ void put(double rest) {
#pragma unroll
        for (int l = 0; l < PARTS - 1; l++) {
            double sum = __dadd_rn(level[l], rest);            // rounds to the level's last bit
            rest = __dsub_rn(rest, __dsub_rn(sum, level[l]));  // what that rounded away, exactly
            level[l] = sum;
        }
        level[PARTS - 1] = __dadd_rn(level[PARTS - 1], rest);  // no bit of it is below the last
    }
    // Part k of what was added, in units of 2^(last + GAP * k).
    __device__ long long part(int k, int last) const {
        int l = PARTS - 1 - k;
        return __double_as_longlong(level[l]) - __double_as_longlong(empty(l, last));
    }
};

// The same in integers, for GPUs that have few units for doubles. An element is cut into pieces of
// 26 bits or less, and each goes to the sum that it belongs to.
template <class T> struct ExactIntegers {
    typedef ExactFormat<T> F;
    enum { PARTS = F::MANTISSA > 26 ? 4 : 3, GAP = 26, DIGITS = 3, NARROW = -1 };
    long long sum[PARTS];

    __device__ void clear(int) {
#pragma unroll
        for (int k = 0; k < PARTS; k++) sum[k] = 0;
    }
    __device__ void add(T x, int last) {
        typename F::Bits implicit = (typename F::Bits)1 << (F::MANTISSA - 1);
        int biased = (int)(F::key(x) >> F::KEY_SHIFT);
        long long mantissa = (long long)((F::bits(x) & (implicit - 1)) | (biased ? implicit : 0));
        unsigned shift = (unsigned)(max(biased, 1) - F::BIAS - (F::MANTISSA - 1) - last);
        unsigned first = shift / GAP, by = shift % GAP;
        long long lower = (mantissa & ((1 << GAP) - 1)) << by, upper = (mantissa >> GAP) << by;
        if (F::upper(x) < 0) lower = -lower, upper = -upper;
#pragma unroll
        for (int k = 0; k < PARTS; k++) {  // of zero, `first` means nothing, and the pieces are 0
            sum[k] += first == (unsigned)k ? lower : 0;
            if (F::MANTISSA > GAP) sum[k] += first + 1 == (unsigned)k ? upper : 0;
        }
    }
    template <int COUNT> __device__ void add_narrow(const T (&)[COUNT]) {}  // nothing is narrow
    __device__ long long part(int k, int) const { return sum[k]; }
};

// A sum as limbs of 32 bits, the first of which counts in units of the smallest number of the
// format. A warp holds them: lane l has limb l, and l + 32, l + 64. A limb may be negative, or have
// more than 32 bits; the carries come later. Behind the last is a word for what was seen.
template <class T> struct ExactLimbs {
    typedef ExactFormat<T> F;
    enum { WORDS = F::LIMBS + 1, HOLDS = (WORDS + 31) / 32 };
    long long limb[HOLDS];

    static __device__ int index(int h) { return (int)(threadIdx.x % 32) + 32 * h; }
    __device__ ExactLimbs() {
#pragma unroll
        for (int h = 0; h < HOLDS; h++) limb[h] = 0;
    }
    // Adds value * 2^place. All lanes are given the same.
    __device__ void add(long long value, int place) {
        const int first = (place - F::LEAST) / 32, by = (place - F::LEAST) % 32;
        const unsigned long long lower = (unsigned long long)value << by;
        const long long upper = value >> 32 >> (32 - by);
#pragma unroll
        for (int h = 0; h < HOLDS; h++) {
            int at = index(h) - first;
            limb[h] += at == 0 ? (unsigned)lower : at == 1 ? (long long)(lower >> 32)
                                               : at == 2   ? upper
                                                           : 0;
        }
    }
};

// What is added up or compared over a warp, in all lanes.
__device__ inline unsigned exact_warp_max(unsigned mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, mine);
#else
    for (int d = 16; d > 0; d /= 2) mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    return mine;
#endif
}
__device__ inline unsigned exact_warp_sum(unsigned mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, mine);
#else
    for (int d = 16; d > 0; d /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, d);
    return mine;
#endif
}

// What of the elements is not in the limbs: is any of them not -0, is any +inf, any -inf? NaN is
// both, since that is what the two make.
enum { EXACT_PLAIN = 1, EXACT_UP = 2, EXACT_DOWN = 4 };

// A warp's part of a sum: levels in every lane, a window that all share, and limbs.
template <class T, class Lane> struct ExactWarp {
    typedef ExactFormat<T> F;
    typedef ExactWindow<T> Window;
    Lane lane;
    Window window;
    int room;       // elements that a lane may still take
    unsigned seen;  // by this lane
    ExactLimbs<T> limbs;

    __device__ ExactWarp() : seen(0) {
        move(Window::key_of(4));  // a guess: for elements from 2^12 down to 2^-46, or -59
    }
    __device__ void move(unsigned key) {
        window.place(key);
        lane.clear(window.last);
        room = EXACT_ROOM;
    }
    __device__ __forceinline__ void empty();
    template <int COUNT> __device__ __forceinline__ void take(const T (&v)[COUNT]);
    template <int COUNT> __device__ __forceinline__ void sift(const T (&v)[COUNT]);
    __device__ __forceinline__ T set_aside(T x);
};

// Adds up the levels of all lanes into the limbs. A part is cut into digits of 26 bits, of which 32
// add up to less than 2^32.
template <class T, class Lane> __device__ __forceinline__ void ExactWarp<T, Lane>::empty() {
    const unsigned mask = (1u << 26) - 1;
#pragma unroll
    for (int k = 0; k < Lane::PARTS; k++) {
        const long long part = lane.part(k, window.last);
        const int place = window.last + Lane::GAP * k;
        const long long low = exact_warp_sum((unsigned)part & mask);
        if (Lane::DIGITS == 2) {
            int high = (int)exact_warp_sum((unsigned)(part >> 26));
            limbs.add((long long)high * (1 << 26) + low, place);
        } else {
            long long middle = exact_warp_sum((unsigned)(part >> 26) & mask);
            int high = (int)exact_warp_sum((unsigned)(part >> 52));
            limbs.add(middle * (1 << 26) + low, place);
            limbs.add(high, place + 52);
        }
    }
    lane.clear(window.last);
    room = EXACT_ROOM;
}

// Takes COUNT elements of each lane. Are all in the window? Then they go into the levels; and if
// those of each lane lie close together, then as one.
template <class T, class Lane>
template <int COUNT>
__device__ __forceinline__ void ExactWarp<T, Lane>::take(const T (&v)[COUNT]) {
    static_assert(COUNT <= 32, "for add_narrow()");
    unsigned most = 0, least = ~0u;
    int signs = -1;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        unsigned key = F::key(v[k]);
        most = max(most, key);
        least = min(least, key - 1);  // zero becomes the largest: it fits anywhere
        signs &= F::upper(v[k]);
    }
    if (most > 0 || signs >= 0) seen |= EXACT_PLAIN;
    if (room < COUNT) empty();
    room -= COUNT;
    const bool fits = most < window.high && least >= (window.low > 0 ? window.low - 1 : 0);
    const int powers = (int)(most >> F::KEY_SHIFT) - (int)(least >> F::KEY_SHIFT);
    if (Lane::NARROW >= 0 && __all_sync(0xffffffffu, fits && powers <= Lane::NARROW)) {
        lane.add_narrow(v);
    } else if (__all_sync(0xffffffffu, fits)) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) lane.add(v[k], window.last);
    } else {
        sift(v);
    }
}

// Takes elements that are not all in the window: first what is in none, and then window by window,
// the largest elements first.
template <class T, class Lane>
template <int COUNT>
__device__ __forceinline__ void ExactWarp<T, Lane>::sift(const T (&v)[COUNT]) {
    T left[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) left[k] = v[k];
#pragma unroll
    for (int k = 0; k < COUNT; k++) left[k] = set_aside(left[k]);
    for (;;) {
        unsigned top = 0;
#pragma unroll
        for (int k = 0; k < COUNT; k++) top = max(top, F::key(left[k]));
        top = exact_warp_max(top);
        if (top == 0) return;
        if (top >= window.high || top < window.low) {
            empty();
            move(top);
            room -= COUNT;
        }
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            if (F::key(left[k]) < window.low) continue;
            lane.add(left[k], window.last);
            left[k] = 0;
        }
    }
}

// An element, or 0 in place of one that no window holds: an infinity or a NaN is noted, and a
// double from 2^1010 on goes into the limbs by itself, since levels for it would be infinite.
template <class T, class Lane> __device__ __forceinline__ T ExactWarp<T, Lane>::set_aside(T x) {
    const unsigned infinite = Window::key_of(F::BIAS + 1);
    const unsigned large = Window::key_of(Window::LARGEST + Window::DEPTH - 12);
    const unsigned key = F::key(x);
    if (key > infinite) seen |= EXACT_UP | EXACT_DOWN;
    if (key == infinite) seen |= F::upper(x) < 0 ? EXACT_DOWN : EXACT_UP;
    if (key >= infinite) x = 0;
    if (large == infinite) return x;
    unsigned these = __ballot_sync(0xffffffffu, F::key(x) >= large);
    for (; these; these &= these - 1) {
        unsigned long long bits = F::bits(x), implicit = 1ull << (F::MANTISSA - 1);
        bits = __shfl_sync(0xffffffffu, bits, __ffs((int)these) - 1);
        int biased = (int)(bits >> (F::MANTISSA - 1)) & (2 * F::BIAS + 1);
        long long mantissa = (long long)((bits & (implicit - 1)) | implicit);
        limbs.add((long long)bits < 0 ? -mantissa : mantissa, biased - F::BIAS - F::MANTISSA + 1);
    }
    return F::key(x) >= large ? 0 : x;
}

// Boxes are where blocks add up their limbs: 64-bit words, one for each limb. Every block adds its
// limb to the lower 52 bits, and 1 to the 12 above them. So a word tells whoever reads it how many
// blocks it has, and no fence is needed. Several boxes, so that not all blocks add to one place.
// Empty (0) between launches, as is the counter behind them, from which blocks draw numbers.
enum : unsigned { EXACT_BOX_BYTES = 4 * 80 * 8 };  // four boxes of 80 words
static const size_t REDUCE_EXACT_WORKSPACE_BYTES = EXACT_BOX_BYTES + 16;

// The place of this block in the order in which blocks start, valid in thread 0.
__device__ inline unsigned exact_draw(unsigned long long *boxes) {
    unsigned *started = (unsigned *)(boxes + EXACT_BOX_BYTES / 8);
    return threadIdx.x == 0 && gridDim.x > 1 ? atomicInc(started, gridDim.x - 1) : 0;
}

template <class T> struct ExactBoxes {
    enum { BOXES = 4, PITCH = (ExactLimbs<T>::WORDS + 15) / 16 * 16 };
    static_assert(BOXES * PITCH * 8 <= EXACT_BOX_BYTES, "the workspace is too small");

    // Adds a block's word of fewer than 40 bits to word i.
    static __device__ void post(unsigned long long *boxes, int i, long long word) {
        atomicAdd(boxes + blockIdx.x % BOXES * PITCH + i, (1ull << 52) + (unsigned long long)word);
    }
    // Waits until all blocks have added to word i, and empties it.
    static __device__ long long collect(unsigned long long *boxes, int i) {
        const unsigned blocks = gridDim.x;
        unsigned long long word[BOXES];
        for (bool full = false; !full;) {
            full = true;
#pragma unroll
            for (unsigned b = 0; b < BOXES; b++) {
                const unsigned long long *box = boxes + b * PITCH + i;
                const unsigned count = blocks / BOXES + (b < blocks % BOXES);
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word[b])
                             : "l"(__cvta_generic_to_global(box))
                             : "memory");
                full &= (word[b] + (1ull << 51)) >> 52 == count;  // rounded: a sum may be negative
            }
        }
        long long sum = 0;
#pragma unroll
        for (unsigned b = 0; b < BOXES; b++) {
            sum += (long long)(word[b] << 12) >> 12;
            if (word[b])
                asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(
                                 __cvta_generic_to_global(boxes + b * PITCH + i)),
                             "l"(0ull)
                             : "memory");
        }
        return sum;
    }
};

// 32 limbs in a warp, one a lane. What is above the 32 bits of one is carried to the next, until
// there is no more of it. `half` says which 32 bits: from 0 up, or, if it is 2^31, from -2^31 up.
__device__ inline long long exact_carry(long long limb, long long half) {
    for (;;) {
        const long long carry = (limb + half) >> 32;
        if (!__any_sync(0xffffffffu, carry != 0)) return limb;
        const long long below = __shfl_up_sync(0xffffffffu, carry, 1);
        limb += (threadIdx.x % 32 > 0 ? below : 0) - carry * (1ll << 32);
    }
}

// The last lane with a limb that is not 0, or -1.
__device__ inline int exact_top(long long limb) {
    return 31 - __clz((int)__ballot_sync(0xffffffffu, limb != 0));
}

// Makes the limbs digits of 32 bits, and the sum positive; says whether it was negative. With
// digits of both signs the topmost one knows; with digits from 0 up, those of a negative sum would
// go on to the top, and each step would be a turn of the loop.
__device__ inline bool exact_settle(long long &limb) {
    limb = exact_carry(limb, 1ll << 31);
    const bool negative = __shfl_sync(0xffffffffu, limb, max(exact_top(limb), 0)) < 0;
    limb = exact_carry(negative ? -limb : limb, 0);
    return negative;
}

// Bits of the number nearest to (bits + fraction) * 2^(exponent - 63), of two such the even one.
// The first of the 64 bits is set; the fraction is between 0 and 1 if `sticky`, and else 0.
template <class T>
__device__ typename ExactFormat<T>::Bits exact_nearest(unsigned long long bits, bool sticky,
                                                       int exponent) {
    typedef ExactFormat<T> F;
    typedef typename F::Bits Bits;
    enum { CUT = 64 - F::MANTISSA };
    if (exponent > F::BIAS) return F::infinity();
    if (exponent <= -F::BIAS)  // subnormal: a sum has no bits below the smallest number
        return (Bits)(bits >> (CUT + 1 - F::BIAS - exponent));
    const unsigned long long rest = bits << F::MANTISSA, half = 1ull << 63;
    Bits kept = (Bits)(bits >> CUT);
    if (rest > half || (rest == half && (sticky || kept % 2))) kept++;
    return kept + ((Bits)(exponent + F::BIAS - 1) << (F::MANTISSA - 1));  // carries go up
}

// 32 limbs of a sum, of which the first is number `base`, rounded once. In all lanes of a warp.
template <class T> __device__ T exact_round(long long limb, int base, bool negative, bool sticky) {
    typedef ExactFormat<T> F;
    const bool turned = exact_settle(limb) != negative;
    const int top = exact_top(limb);
    if (top < 0) return 0;
    unsigned digit[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        digit[k] = __shfl_sync(0xffffffffu, (unsigned)limb, max(top - k, 0));
        if (top < k) digit[k] = 0;
    }
    const int lead = __clz((int)digit[0]);
    const unsigned long long bits = ((unsigned long long)digit[0] << 32 | digit[1]) << lead |
                                    (unsigned long long)digit[2] << lead >> 32;
    sticky |= digit[2] << lead;
    sticky |= __any_sync(0xffffffffu, (int)(threadIdx.x % 32) < top - 2 && limb);
    const int exponent = F::LEAST + 32 * (base + top) + 31 - lead;
    return F::of(exact_nearest<T>(bits, sticky, exponent) | (turned ? F::sign() : 0));
}

// The first and the last limb that is not 0; of none, no matter what.
template <class T> __device__ void exact_span(const long long *sum, int *first, int *last) {
    typedef ExactLimbs<T> Limbs;
    *first = *last = 0;
#pragma unroll
    for (int h = Limbs::HOLDS - 1; h >= 0; h--) {
        const int i = Limbs::index(h);
        const unsigned some = __ballot_sync(0xffffffffu, i < Limbs::WORDS - 1 && sum[i] != 0);
        if (some && *last == 0) *last = 32 * h + 31 - __clz((int)some);
        if (some) *first = 32 * h + __ffs((int)some) - 1;
    }
}

// Carries through all limbs, one after the other, and makes the sum positive; says whether it was
// negative. By one lane, for the rest of the warp.
template <class T> __device__ bool exact_carry_all(long long *sum) {
    enum { LAST = ExactFormat<T>::LIMBS - 1 };
    bool negative = false;
    __syncwarp();  // every lane has looked at the limbs before they change
    for (int turn = 0; turn < 2 && threadIdx.x == 0 && (turn == 0 || negative); turn++) {
        long long carry = 0;
#pragma unroll 1
        for (int i = 0; i <= LAST; i++) {
            carry += negative ? -sum[i] : sum[i];
            sum[i] = i < LAST ? carry & 0xffffffffll : carry;
            carry >>= 32;
        }
        if (turn == 0) negative = sum[LAST] < 0;
    }
    __syncwarp();  // the digits are there before other lanes read them
    return __shfl_sync(0xffffffffu, negative, 0);
}

// A sum of which all limbs are in shared memory, rounded once. In all lanes of the first warp.
template <class T> __device__ T exact_round_all(long long *sum) {
    enum { LIMBS = ExactFormat<T>::LIMBS };
    int first = 0, last = 0;
    bool negative = false, sticky = false;
    if (LIMBS > 32) {
        exact_span<T>(sum, &first, &last);
        if (last - first > 28) {  // with their carries too many for a warp
            negative = exact_carry_all<T>(sum);
            exact_span<T>(sum, &first, &last);
            sticky = first < last - 28;
            first = max(first, last - 28);
        }
    }
    const int i = first + (int)threadIdx.x;
    return exact_round<T>(i < LIMBS ? sum[i] : 0, first, negative, sticky);
}

// What was seen, as counts: a field of 17 bits for each of the three, room for 2,048 blocks of 32
// warps.
__device__ inline long long exact_fields(unsigned seen) {
    long long fields = 0;
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (__any_sync(0xffffffffu, seen >> k & 1)) fields |= 1ll << 17 * k;
    return fields;
}

// What the limbs and what was seen add up to: infinities and NaN as in any sum; -0 only if all
// elements are -0, or if there are none. By the first warp.
template <class T> __device__ T exact_result(long long *sum) {
    typedef ExactFormat<T> F;
    const long long fields = sum[F::LIMBS], field = (1 << 17) - 1;
    const bool plain = fields & field, up = fields >> 17 & field, down = fields >> 34 & field;
    if (up && down) return F::of(F::infinity() | F::infinity() >> 1);  // NaN
    if (up || down) return F::of(up ? F::infinity() : F::infinity() | F::sign());
    return plain ? exact_round_all<T>(sum) : F::of(F::sign());
}

// Adds up the limbs of a block's warps, a word to a thread. Every block posts them, and all but the
// one that was the last to start (its number says so, in thread 0) are done; that one waits for all
// words and writes the result, as in chapter 11.
template <class T, int THREADS>
__device__ void exact_finish(const ExactLimbs<T> &limbs, unsigned seen, unsigned number, T *out,
                             unsigned long long *boxes) {
    enum { LIMBS = ExactFormat<T>::LIMBS, WORDS = ExactLimbs<T>::WORDS, WARPS = THREADS / 32 };
    static_assert(THREADS >= WORDS, "a word to a thread");
    __shared__ long long of_warp[WARPS][WORDS], sum[WORDS];
    __shared__ bool last;
    const int i = (int)threadIdx.x;
    const bool alone = gridDim.x == 1;
    const long long fields = exact_fields(seen);
#pragma unroll
    for (int h = 0; h < ExactLimbs<T>::HOLDS; h++)
        if (limbs.index(h) < WORDS)
            of_warp[i / 32][limbs.index(h)] = limbs.index(h) < LIMBS ? limbs.limb[h] : fields;
    __syncthreads();  // every warp's limbs are there before they are added up
    if (i < WORDS) {
        long long mine = 0, below = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            mine += of_warp[w][i];
            if (i > 0 && i < LIMBS) below += of_warp[w][i - 1];
        }
        if (i < LIMBS - 1) mine &= 0xffffffffll;  // its carry is added where it belongs
        mine += below >> 32;
        if (alone) sum[i] = mine;
        if (!alone) ExactBoxes<T>::post(boxes, i, mine);
    }
    if (i == 0) last = alone || number >= gridDim.x - 1;
    __syncthreads();  // all know whether theirs is the last block; of one alone all words are there
    if (!last) return;
    if (i < WORDS && !alone) sum[i] = ExactBoxes<T>::collect(boxes, i);
    __syncthreads();  // all words are there before the first warp rounds them
    if (i >= 32) return;
    const T result = exact_result<T>(sum);
    if (i == 0) *out = result;
}

// The input in two parts: `vectors` of 16 bytes from a 128-byte boundary on, and the `edges`, which
// are `head` elements in front of them and fewer than a vector behind.
template <class T> struct ExactInput {
    enum { EACH = 16 / sizeof(T) };
    const T *in;
    const uint4 *body;
    size_t vectors;
    unsigned head, edges;
};

template <class T> ExactInput<T> exact_split(const T *d_in, size_t n) {
    size_t head = (128 - (size_t)d_in % 128) % 128 / sizeof(T);
    if (head > n) head = n;
    size_t vectors = (n - head) / ExactInput<T>::EACH;
    ExactInput<T> input = {d_in, (const uint4 *)(d_in + head), vectors, (unsigned)head,
                           (unsigned)(n - vectors * ExactInput<T>::EACH)};
    return input;
}

// This thread's elements of a tile, `left` vectors of which are there, and at `edge` one more,
// if it is not NULL. Elsewhere -0, which changes no sum.
template <class T, int THREADS, int VECTORS>
__device__ void exact_load(T (&v)[VECTORS * ExactInput<T>::EACH + 1], const uint4 *tile,
                           size_t left, const T *edge) {
    const unsigned minus_zero = 1u << 31, lower = sizeof(T) == 4 ? minus_zero : 0;
    uint4 raw[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        raw[k] = make_uint4(lower, minus_zero, lower, minus_zero);
        if (threadIdx.x + k * THREADS < left) raw[k] = __ldcs(tile + threadIdx.x + k * THREADS);
    }
    v[VECTORS * ExactInput<T>::EACH] = edge ? *edge : (T)-0.0;
    memcpy(v, raw, sizeof raw);
}

// Sums the input into *out: the exact sum, rounded once. Any grid of up to 2,048 blocks of THREADS
// gives the same bits. Reads every element once.
template <class T, class Lane, int THREADS, int VECTORS>
__device__ void exact_grid(const ExactInput<T> &input, T *out, unsigned long long *boxes) {
    enum { EACH = ExactInput<T>::EACH };
    const size_t tile = VECTORS * THREADS;
    const unsigned t = threadIdx.x;
    const unsigned number = exact_draw(boxes);
    size_t first = blockIdx.x * tile;
    ExactWarp<T, Lane> warp;
    for (; first + tile <= input.vectors; first += gridDim.x * tile) {
        uint4 raw[VECTORS];
        T v[VECTORS * EACH];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) raw[k] = __ldcs(input.body + first + t + k * THREADS);
        memcpy(v, raw, sizeof v);
        warp.take(v);
    }
    if (first < input.vectors || (first == input.vectors && input.edges > 0)) {
        T v[VECTORS * EACH + 1];
        const size_t edge = t < input.head ? t : t + input.vectors * EACH;
        exact_load<T, THREADS, VECTORS>(v, input.body + first, input.vectors - first,
                                        t < input.edges ? input.in + edge : NULL);
        warp.take(v);
    }
    warp.empty();
    exact_finish<T, THREADS>(warp.limbs, warp.seen, number, out, boxes);
}

template <class T, class Lane, int THREADS, int FIT, int VECTORS>
__global__ void __launch_bounds__(THREADS, FIT)
    exact_kernel(ExactInput<T> input, T *out, unsigned long long *boxes) {
    exact_grid<T, Lane, THREADS, VECTORS>(input, out, boxes);
}

enum { EXACT_THREADS = 256, EXACT_FIT = 4, EXACT_VECTORS = 4, EXACT_BLOCKS = 2048 };

// The current device's multiprocessors, and how many times as fast it is with floats as with
// doubles: 2 on a data-centre GPU, 32 or 64 on others. Asked for once by each host thread and device.
struct ExactDevice {
    int device, sms, ratio;
};
inline cudaError_t exact_device(ExactDevice *found) {
    static thread_local ExactDevice known = {-1, 0, 0};
    ExactDevice now = {-1, 0, 0};
    cudaError_t error = cudaGetDevice(&now.device);
    if (error == cudaSuccess && now.device != known.device) {
        error = cudaDeviceGetAttribute(&now.sms, cudaDevAttrMultiProcessorCount, now.device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&now.ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio,
                                           now.device);
        if (error == cudaSuccess) known = now;
    }
    *found = known;
    return error;
}

// How many blocks share so many vectors: one for each tile, until the device is full.
inline cudaError_t exact_blocks(size_t vectors, unsigned *blocks) {
    const size_t tile = EXACT_THREADS * EXACT_VECTORS, tiles = (vectors + tile - 1) / tile;
    ExactDevice d;
    const cudaError_t error = exact_device(&d);
    const size_t fit = d.sms * EXACT_FIT < EXACT_BLOCKS ? d.sms * EXACT_FIT : EXACT_BLOCKS;
    *blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    return error;
}

// Sums by lanes of a kind: ExactLevels or ExactIntegers. Both give the same bits.
template <class T, class Lane>
cudaError_t exact_launch(const T *d_in, T *d_out, size_t n, void *d_workspace,
                         cudaStream_t stream) {
    if ((n > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_out || (size_t)d_out % sizeof(T) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    ExactInput<T> input = exact_split(d_in, n);
    unsigned blocks = 1;
    cudaError_t error = exact_blocks(input.vectors, &blocks);
    if (error != cudaSuccess) return error;
    void *arguments[] = {&input, &d_out, &d_workspace};
    return cudaLaunchKernel(
        (const void *)exact_kernel<T, Lane, EXACT_THREADS, EXACT_FIT, EXACT_VECTORS>, dim3(blocks),
        dim3(EXACT_THREADS), arguments, 0, stream);
}

// Where the device has few units for doubles, integers are quicker.
template <class T>
cudaError_t exact_sum(const T *d_in, T *d_out, size_t n, void *d_workspace, cudaStream_t stream) {
    ExactDevice d;
    const cudaError_t error = exact_device(&d);
    if (error != cudaSuccess) return error;
    return d.ratio > 8 ? exact_launch<T, ExactIntegers<T>>(d_in, d_out, n, d_workspace, stream)
                       : exact_launch<T, ExactLevels<T>>(d_in, d_out, n, d_workspace, stream);
}

inline cudaError_t reduce_exact_float(const float *d_in, float *d_out, size_t n, void *d_workspace,
                                      cudaStream_t stream) {
    return exact_sum(d_in, d_out, n, d_workspace, stream);
}
inline cudaError_t reduce_exact_double(const double *d_in, double *d_out, size_t n,
                                       void *d_workspace, cudaStream_t stream) {
    return exact_sum(d_in, d_out, n, d_workspace, stream);
}

}  // inline namespace
}  // namespace reduction
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#undef REDUCTION_VERSION
#undef REDUCTION_NAME
#undef REDUCTION_PASTE
#endif

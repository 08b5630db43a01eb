// The checker from the inside: what its parts share.
//
// Order. An access carries a stamp: the time and the thread. Time is counted per checker and grows
// with every synchronization of any kind, so it never repeats, also over blocks, and never runs
// out. For each thread the checker knows up to which time it has seen what other threads did: for
// the whole block since the last barrier of all, for its warp since the last bar.warp.sync of all
// lanes, and one by one where only some took part.
#ifndef CHECK_INSIDE_H
#define CHECK_INSIDE_H

#include "simt/observe/check/check.h"

enum { MAX_WARPS = DEVICE_MAX_THREADS / LANES, MAX_UNWRITTEN = 1 << 16 };

// A stamp's bits: the thread's number in the block, whether the access was atomic, the time.
enum {
    STAMP_THREAD = DEVICE_MAX_THREADS - 1,
    STAMP_ATOMIC = STAMP_THREAD + 1,
    STAMP_SHIFT = 11 // the bits below
};
_Static_assert(1 << STAMP_SHIFT == 2 * STAMP_ATOMIC, "thread and atomic fill the bits below time");

// The last accesses to a word or byte of shared memory. Atomics are recorded as writes; a second
// one by another thread is kept, as is a second reader.
typedef struct {
    uint64_t write, write_2, read, read_2; // stamps
    const Inst *write_inst, *write_2_inst, *read_inst, *read_2_inst;
} Cell;

typedef enum {
    KIND_RACE,
    KIND_BARRIER,
    KIND_MASK,
    KIND_BOUNDS,
    KIND_MISALIGNED,
    KIND_FREED,
    KIND_FREE,
    KIND_UNWRITTEN
} HazardKind;

typedef struct {
    HazardKind kind;
    PtxSpace space;
    PtxPlace place, other; // of the two instructions; other.line is 0 if there is none
    uint64_t block;        // the first that it was found in
    uint32_t thread, other_thread;
    uint64_t address;
    uint64_t occurrences;
    char text[256];
} Finding;

// A barrier that some threads have reached.
typedef struct {
    bool open;
    bool counted;             // bar.sync with a number of threads
    uint32_t warps;           // bit for each warp that has come
    uint32_t threads;         // number of threads that have come
    const Inst *inst, *other; // of the first arrival, and of one from another line
    uint32_t thread, other_thread;
} Arrival;

// A read of shared memory that nothing had written. If another thread writes it before the next
// barrier, the two race, and the race is the hazard.
typedef struct {
    const Inst *inst;
    uint64_t time;
    uint32_t byte, thread;
} UnwrittenRead;

enum { SYNC_WORDS = 64 };

// What is known to have been released through a word of shared memory: up to which time of each
// warp, for other warps, and of each lane, for the lanes of its own warp.
typedef struct {
    uint32_t byte;
    uint64_t warp[MAX_WARPS];
    uint64_t lane[MAX_WARPS][LANES];
} SyncWord;

// The check of one launch.
typedef struct {
    Observer observer; // first: the one is the other
    const Machine *machine;
    Finding *found; // by Blocks that are done with
    size_t found_count;
    bool lost; // memory was too short for some
} Check;

// The check of one Block.
typedef struct {
    const Machine *machine;
    uint64_t now;
    uint64_t block_start; // time at which the block began
    uint64_t block_floor; // of the last barrier of all threads
    uint64_t warp_floor[MAX_WARPS];
    uint64_t warp_known[MAX_WARPS][MAX_WARPS];
    uint64_t (*lane_known)[LANES][LANES]; // per warp
    Arrival arrivals[BARRIERS];
    SyncWord *sync;
    uint32_t sync_count;
    uint64_t pending[MAX_WARPS]; // words that a warp's atomics read since its last fence
    uint64_t fence[MAX_WARPS];   // time of a warp's last fence
    Cell *words, *bytes;
    uint8_t *split; // words that are recorded by byte
    bool any_split;
    UnwrittenRead *unwritten;
    size_t unwritten_count;
    uint64_t seen_low, seen_high; // the allocation that the last access was in
    uint64_t seen_frees;          // when: memory_frees
    Finding *findings;
    size_t finding_count, finding_capacity;
    bool lost; // memory was too short for some
} Checker;

static inline Checker *check_of(const Warp *warp) { return warp->block->watch; }

// The instruction's place in the source.
PtxPlace check_place(const Checker *checker, const Inst *inst);

// Records a hazard; equal ones (kind and lines) are counted. `other` and `other_thread`: the
// earlier access, NULL if there is none. `thread` is its number in the block.
void check_found(Checker *checker, const Warp *warp, HazardKind kind, PtxSpace space,
                 const Inst *inst, uint32_t thread, const Inst *other, uint32_t other_thread,
                 uint64_t address, const char *format, ...) __attribute__((format(printf, 10, 11)));

// "reads", "writes" or "updates": what an instruction that accesses memory does.
const char *check_verb(const Inst *inst);

// Whether an access of that stamp and one by `thread` now are without order.
bool check_unordered(const Checker *checker, uint64_t stamp, uint32_t thread);

static inline bool stamp_concurrent(const Checker *checker, uint64_t stamp, uint32_t thread) {
    if (stamp >> STAMP_SHIFT < checker->block_floor) return false;
    return (stamp & STAMP_THREAD) != thread && check_unordered(checker, stamp, thread);
}

// Shared memory: races and reads of what nothing wrote. Addresses are within shared memory.
void check_shared(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
// At a barrier of all threads and at the end of a block: reports the reads that no write explains.
void check_unwritten(Checker *checker, const Warp *warp);
// Global memory: bounds, life, alignment, reads of what nothing wrote.
void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);

void check_free(Warp *warp, const Inst *inst, int lane, uint64_t address); // see Observer.bad_free

// Order through words of shared memory: an access that says something about it, and a fence.
void check_order(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]);
void check_fence(Warp *warp);

// Barriers of the block, and lanes that meet: see Observer.
void check_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted);
void check_complete(Block *block, uint32_t barrier);
void check_meet(Warp *warp, const Inst *inst, const LaneU32 named[LANES]);
void check_join(Warp *warp, uint32_t lanes);

#endif

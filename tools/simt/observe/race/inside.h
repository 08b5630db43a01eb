// The checker from the inside: what its parts share.
//
// Order within a block. Time grows with every synchronization of the block (record.h). For each
// thread the checker knows up to which time it has seen what other threads did: for the whole block
// since the last barrier of all, for its warp since the last bar.warp.sync of all lanes, and one by
// one where only some took part.
#ifndef CHECK_INSIDE_H
#define CHECK_INSIDE_H

#include "simt/observe/race/check.h"
#include "simt/observe/race/release.h"
#include "simt/observe/race/rest.h"
#include "simt/observe/race/shadow.h"

enum { MAX_WARPS = DEVICE_MAX_THREADS / LANES, MAX_UNWRITTEN = 1 << 16 };
_Static_assert((int)MAX_WARPS == (int)LANES, "a row of times fits warps and lanes");

typedef enum {
    KIND_RACE,
    KIND_CONSTANT, // a read that is promised to be of what the kernel does not write, and is not
    KIND_VOLATILE, // no race by the letter, but of volatile accesses that nothing orders
    KIND_BARRIER,
    KIND_MASK,
    KIND_BOUNDS,
    KIND_MISALIGNED,
    KIND_FREED,
    KIND_FREE,
    KIND_UNWRITTEN,
    KIND_CLUSTER, // another block that may not be there
    KIND_COPY,    // asynchronous, and something is missing around it
    KIND_EARLY,   // what the kernel in front of this one does, which may still run
    FIRST_NOTE,
    KIND_ENDED = FIRST_NOTE, // a barrier that the others do not reach, because they have ended
    KIND_UNTOUCHED,          // a read of managed memory that is zero because nothing has written it
    KIND_GUESS               // a race of a read that is only the first guess of an atomicCAS()
} HazardKind;

typedef struct Checker Checker;

// Which threads race, and how: bits, of all that were seen. Advice must fit all of them.
enum {
    BETWEEN_LANES = 1,  // of a warp
    BETWEEN_WARPS = 2,  // of a block
    BETWEEN_BLOCKS = 4, // of a grid
    BETWEEN_NARROW = 8, // both strong, and a scope does not cover the other thread
    BETWEEN_COPY = 16   // an asynchronous copy that was not waited for, and what comes behind it
};

// A side of a finding.
typedef struct {
    const Inst *inst; // NULL: there is none
    AccessKind kind : 8;
    uint32_t thread; // its number in the block
    uint64_t block;
} Side;

typedef struct {
    HazardKind kind;
    PtxSpace space;
    Side at, other;
    PtxPlace place, other_place;
    uint32_t between; // BETWEEN_*, of a race
    uint64_t order;   // of what a checker found
    uint64_t seed;    // of the order of blocks and warps in which it was seen; 0: the usual one
    uint64_t address;
    uint64_t occurrences;
    bool more;      // were not looked for
    char text[256]; // empty of a race: see advice.c
} Finding;

typedef struct {
    Finding *at;
    size_t count, capacity;
} Findings;

// A lane that waits in an instruction for others of its warp.
typedef struct {
    const Inst *inst;
    uint32_t awaited;
} Waiting;

// Registers of a warp that are undefined in some lanes, see undefined.c.
typedef struct Undefined Undefined;
typedef struct {
    Undefined *at;
    size_t count, capacity;
} UndefinedList;

// A barrier that some threads have reached.
typedef struct {
    bool open;
    bool counted;              // bar.sync with a number of threads
    uint32_t waiting;          // bit for each warp that waits
    uint64_t known[MAX_WARPS]; // what those knew that do not, when they came
    uint32_t threads;          // number of threads that have come
    const Inst *inst, *other;  // of the first arrival, and of one from another line
    uint32_t thread, other_thread;
    bool split;                     // some warp came in parts, at several barriers of the program
    const Inst *of_warp[MAX_WARPS]; // where each warp came first
} Arrival;

// A read of shared memory that nothing had written: by its number, from 1 on. If another thread
// writes there before the next barrier, the two race, and the race is the hazard. Or, without an
// instruction, a value that is made of two of them.
typedef struct {
    const Inst *inst;
    uint64_t time;
    uint32_t byte, thread;
    uint32_t first, second; // their numbers
    bool used;              // the value decides something, or need not be followed any more
} KeptRead;

// A word through which something was released: at a scope that covers the device, and by threads of
// one block for that block only.
typedef struct {
    uint64_t address;
    Log *wide, *narrow;
    Log *copies; // that have counted their bytes at it
    uint64_t narrow_block;
    bool waited; // somebody waits for it to change: it is a flag
} SyncWord;

typedef struct {
    SyncWord *at; // hash table; a free one has no logs
    uint32_t count, slots;
    uint64_t low, high; // of the words' keys, see order.c, if there are any
} SyncTable;

// What lanes of a warp that called a fence make ready to be released, and the lanes whose strong
// writes release it: all that `of` has in it, or each what it has itself, as long as no barrier has
// let it go.
typedef struct {
    const Release *release;
    uint32_t of, lanes;
    bool apart;
} Fenced;

// Fences that let copies in bulk see what was written before them: fence.proxy.async; by
// fence.mbarrier_init only that an mbarrier was made.
enum { PROXY_FENCES = 8 };
typedef struct {
    uint64_t time;
    const Release *release; // NULL: there was none
    uint32_t lanes;
    bool init;
} ProxyFence;

// Asynchronous copies of lanes one behind the other that were not yet waited for.
typedef struct {
    const Inst *inst;
    Checker *owner;   // of their shared memory
    uint64_t address; // where the first lane's lies there; the others lie behind it
    uint32_t bytes;   // of each
    uint32_t thread;  // that made the first one
    uint32_t lanes;   // of its warp: those that are still waited for, at most as many as there were
    uint32_t group;   // of each of their threads
    Record copy;      // the first one's
    bool bulk;        // waited for in groups of its own: it reads there; others write
} PendingCopy;

// What a warp has done and seen since the last barrier of its block, or a block before that.
typedef struct {
    SeenList acquired, pending; // pending: read, and waits for a fence
    Fenced *fenced;
    size_t fenced_count, fenced_capacity;
} Knowledge;

typedef struct {
    const Inst *inst;
    AccessKind kind;
    bool looks;    // an atomic operation of whose old value the program makes something
    bool constant; // ld.global.nc
} Site;

typedef struct {
    uint64_t low, high;
} Extent;

// Whether all of [first, first + bytes), which may reach past the end of the addresses, is in it.
static inline bool extent_holds(const Extent *extent, uint64_t first, uint64_t bytes) {
    return first >= extent->low && first < extent->high && bytes <= extent->high - first;
}

// The check of one launch.
struct Check {
    Observer observer; // first: the one is the other
    const Machine *machine;
    uint64_t launch; // its first time
    Site *sites;     // by number, from 1 on
    uint32_t site_count, site_room;
    uint16_t *site_of_slot; // by counter
    Extent *variables;      // by site: the variable of shared memory its accesses should lie in,
    Extent *met;            // and the allocation of global memory that its last access was in,
    uint64_t seen_frees;    // as of so many frees
    SyncTable words;        // of global memory
    ReleaseRoom room;       // of the launch; where blocks never wait for each other, of one block
    RestTable rest;         // of global memory, likewise
    Findings findings;
    Findings unsure; // of volatile accesses: somebody may still be seen to wait for the word
    Arena arena;     // of what lasts as long
    bool lost;       // memory was too short for some
    bool partial;    // see Code
    CheckListener listener;
    const Inst *last_fence; // of those that touched_fence has seen
    Promises promises;      // of those
};

// The check of one Block.
struct Checker {
    Check *check;
    Arena arena; // of what lasts as long
    const Machine *machine;
    uint64_t block; // that it now stands for
    uint64_t now;   // in [times, times_end), which no other block has
    uint64_t times, times_end;
    uint64_t block_start; // time at which the block began
    uint64_t block_floor; // of the last barrier of all threads
    uint64_t warp_floor[MAX_WARPS];
    uint64_t warp_known[MAX_WARPS][MAX_WARPS];
    uint64_t (*lane_known)[LANES][LANES]; // per warp; NULL: no lanes met that were not all
    Arrival arrivals[BARRIERS];
    uint32_t arrived[MAX_WARPS]; // lanes that have come to any barrier
    Waiting (*waiting)[LANES];   // per warp
    UndefinedList undefined[MAX_WARPS];
    Knowledge *warps, common;   // of each warp; of all
    Knowledge passed[BARRIERS]; // of those that have arrived there and gone on, as it was then
    bool orders;                // there is any
    SyncTable words;            // of shared memory
    ReleaseRoom *room;
    Log *cluster;             // of its first block: releases at the barrier of the cluster,
    uint32_t cluster_count;   // how many of them those have seen that waited last,
    uint32_t cluster_threads; // and threads that have arrived since
    const Inst *cluster_inst;
    uint32_t have_fenced[MAX_WARPS];     // lanes that have called a fence in this launch,
    uint32_t have_fenced_far[MAX_WARPS]; // and one that counts for other blocks
    uint32_t cluster_waited[MAX_WARPS];  // lanes that have waited at one
    Record *remote; // by rank and thread: the last access of another block's to shared memory here
    ProxyFence (*proxy_fences)[PROXY_FENCES]; // per warp, the latest
    uint32_t (*copy_groups)[2][LANES];        // per warp: groups of cp.async and of bulk copies
    PendingCopy *copies;
    size_t copy_count, copy_capacity;
    uint32_t waited[MAX_WARPS]; // lanes that have waited for the kernel in front of this one
    bool any_waited, all_waited;
    Extent copied;                     // where there are records of copies in shared memory
    uint32_t parted;                   // warps of which lanes met that were not all
    Shadow shadow;                     // of shared memory,
    uint8_t *shared;                   // which is this
    RestTable rest;                    // what the shadow has no room for
    KeptRead *kept;                    // room for MAX_UNWRITTEN; NULL: there was none yet
    uint16_t *kept_at;                 // by site: how many of them, see unwritten.c
    uint32_t kept_count, kept_settled; // those before the last barrier of all threads
    uint16_t *races;                   // by site: races of the block that were found there
    bool lost;                         // memory was too short for some
};

static inline Checker *check_of(const Warp *warp) { return warp->block->watch; }
// The next time. Accesses so far are before it.
uint64_t check_tick(Checker *checker);
// Times for a block that begins.
void check_times(Checker *checker, uint64_t block);

// The instruction's place in the source.
PtxPlace check_place(const Machine *machine, const Inst *inst);
// The number of an access in Check.sites, not 0; of very many the last ones share one.
uint32_t check_new_site(Check *check, const Access *access);
static inline uint32_t check_site(const Checker *checker, const Access *access) {
    const uint32_t site = checker->check->site_of_slot[access->slot];
    return site ? site : check_new_site(checker->check, access);
}

static inline const Site *check_site_of(const Checker *checker, Record record) {
    return &checker->check->sites[record_site(record)];
}

// Where an instruction races so often in a block, no more races are looked for there, so that it
// does not take all the time there is. By the block's number, so that what is found does not depend
// on who runs it.
static inline uint16_t check_many_races(const Checker *checker) {
    enum { FIRST_BLOCKS = 64, OF_FIRST = 128, OF_OTHERS = 4 };
    return checker->block < FIRST_BLOCKS ? OF_FIRST : OF_OTHERS;
}
static inline bool check_saturated(const Checker *checker, Record record) {
    return checker->races[record_site(record)] >= check_many_races(checker);
}

// Records a hazard; equal ones (kind and instructions) are counted. `thread` is its number in the
// block. `other`: of another instruction that has to do with it, NULL if there is none.
void check_found(Checker *checker, HazardKind kind, PtxSpace space, const Inst *inst,
                 uint32_t thread, const Inst *other, uint32_t other_thread, uint64_t address,
                 const char *format, ...) __attribute__((format(printf, 9, 10)));
// A race, volatile accesses without order, or what is no constant: of an access with an earlier
// one, by their records.
void check_race(Checker *checker, HazardKind kind, PtxSpace space, Record record, Record earlier,
                uint64_t address);

// Whether the value that an instruction loads is the first guess of a loop around an atomicCAS(),
// and nothing else: then a stale one is tried again.
bool guess_checked(const Machine *machine, const Inst *load);

// "reads", "writes" or "updates": what an access does.
const char *check_verb(AccessKind kind);
// How to mend a race.
void advice_write(const Machine *machine, const Finding *finding, char *to, size_t room);

// Whether an access of a thread of the same block at that time and one by `thread` now are without
// order by barriers.
bool check_unordered(const Checker *checker, uint64_t time, uint32_t other, uint32_t thread);
// Whether what `thread` has acquired orders an access of any block.
bool check_acquired(Checker *checker, uint32_t thread, const Event *event);

// Where in shared memory an instruction's accesses should lie: in the variable that its address was
// made from; else in all of it.
Extent variable_extent(const Machine *machine, const Inst *inst, uint64_t limit);
// "at byte 128 of a, which has 128: that is in b", of an access outside its variable.
void variable_outside(const Machine *machine, const Inst *inst, uint64_t address, char *to,
                      size_t room);
// "s" for an address in shared memory, and the offset from where it begins; empty where no variable
// is.
int64_t variable_name(const Machine *machine, uint64_t address, char *to, size_t room);

// The lanes whose access lies in [low, high) and is aligned.
uint32_t check_between(const Access *access, const uint64_t address[LANES], uint64_t low,
                       uint64_t high);
// The same in the variable of shared memory that the address was made from; others are reported.
uint32_t check_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES]);
// The same in [0, limit); others are reported.
uint32_t check_within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES], uint64_t limit);
// Whether blocks of the launch share clusters.
static inline bool check_clusters(const Machine *machine) {
    return machine->cluster_count < machine->block_count;
}

// At a barrier of all threads and at the end of a block: reports the reads that no write explains.
void check_unwritten(Checker *checker);
void unwritten_begin(Checker *checker);
// The number of a value that is made of two others; and one decides something.
uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second);
void unwritten_used(Checker *checker, uint32_t number);
// Of an instruction that copies a piece of a structure: how far off, in bytes, the others are.
// Their number; 0: it is no such instruction.
enum { UNWRITTEN_PIECES = 16 };
uint32_t unwritten_pieces(const Machine *machine, const Inst *inst,
                          uint64_t distances[UNWRITTEN_PIECES]);
// Global memory: bounds, life, alignment, reads of what nothing wrote.
void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
// A weak load or store of elements one behind the other, 1 << shift words (of less than words:
// elements) a lane's from lane `lane` on. False: something is unusual, look at each lane.
bool check_global_row(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                      uint64_t first, uint64_t bytes, uint32_t shift);

// Launches that may start early, in early.c. Before anything of the access is recorded.
void early_check(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]);
void early_waited(Warp *warp);        // see Observer.grid_waited
void early_barrier(Checker *checker); // of all threads of the block
void early_remember(Check *check);    // a launch that is over: takes its arena

// A fence of the launch, for check_touched.
void touched_fence(Check *check, const Inst *inst);

void check_free(Warp *warp, const Inst *inst, int lane, uint64_t address); // see Observer.bad_free

// Order through words of memory: an access to global or shared memory, and a fence.
void check_order(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES], SyncTable *table);
void order_fence(Warp *warp, const Inst *inst);
// Whether some word between two addresses may be one of the table.
bool order_words(const SyncTable *table, uint64_t first, uint64_t bytes);
// Whether something was released through the word at an address, and not overwritten since.
bool order_released(const SyncTable *table, uint64_t address);
bool order_waited(const SyncTable *table, uint64_t address); // whether somebody waits for it
// What threads that met at a barrier know of each other: all of the block, some warps, some lanes.
void order_begin(Checker *checker);
void order_barrier(Checker *checker);
// `waiting`: those of them that go on behind the barrier.
void order_pass_by(Checker *checker, uint32_t barrier, uint32_t warp);
void order_join_warps(Checker *checker, uint32_t barrier, uint32_t waiting);
void order_join_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
// Lanes that took values from each other, at no barrier: what one has acquired, all have.
void order_tell_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
// At the barrier of the cluster, see Observer: of `first`, its first block.
void order_cluster_arrive(Checker *checker, Checker *first, const Warp *warp);
void order_cluster_waited(Checker *checker, const Checker *first, const Warp *warp);
// Whether some thread of the checker's block has acquired an access.
bool order_reached(Checker *checker, uint64_t block, uint32_t other, uint64_t time);
// A copy is done when the mbarrier at this address of shared memory says so.
void order_copy_counted(Checker *checker, SyncTable *table, uint64_t address, Record copy);
// The lanes' copies arrive at the mbarrier when they are done.
void order_copies_arrive(Checker *checker, const Warp *warp, uint64_t address, uint32_t lanes);
// What the warp's lanes have done and come behind until now.
const Release *order_now(Checker *checker, const Warp *warp);

// Clusters, in cluster.c.
bool cluster_same(const Checker *checker, uint64_t block); // whether it is of the same cluster
void cluster_begin(Checker *checker, const Block *block);
void cluster_end(Checker *checker, Block *block);
// An access to another block's shared memory: which lanes did it last, and whether that block may
// not be there for some of them.
void cluster_note(Checker *checker, Checker *owner, const Block *of, const Access *access,
                  const Warp *warp, uint32_t lanes);
void cluster_find_absent(Checker *checker, const Warp *warp, const Access *access, uint32_t lanes,
                         const Block *of);
void check_cluster_arrive(Warp *warp, const Inst *inst);
void check_cluster_waited(Warp *warp, const Inst *inst);
void check_cluster_complete(Block *block);
// Asynchronous copies, in copy.c.
void copy_begin(Checker *checker);
void copy_end(Checker *checker);
void copy_made(Checker *checker, Warp *warp, const Access *access, uint32_t lanes,
               const uint64_t address[LANES]); // cp.async
void copy_fence(Checker *checker, const Warp *warp, const Inst *inst);
void check_bulk(Warp *warp, const Bulk *bulk);
void check_group(Warp *warp, const Inst *inst);
void check_copies_arrive(Warp *warp, const Inst *inst);

// Whether all threads that have ended left the kernel early, `if (i >= n) return;`: by a jump to
// its end, and before they came to any barrier.
bool check_all_left(const Block *block);

// Barriers of the block, and lanes that meet: see Observer.
void check_arrive(Warp *warp, const Inst *inst, uint32_t barrier, bool counted);
void check_complete(Block *block, uint32_t barrier);
void check_meet(Warp *warp, const Inst *inst, const LaneU32 named[LANES]);
void check_met(Warp *warp, const Inst *inst, uint32_t named, uint32_t lanes);
void check_join(Warp *warp, const Inst *inst, uint32_t lanes);
void check_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                   const LaneU32 value[LANES]);
// Values that are undefined, in undefined.c: a shuffle, and an instruction of a warp that has some.
void undefined_begin(Checker *checker);
void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]);
void undefined_step(Warp *warp, const Inst *inst);
// A lane reads what nothing has written, as an element of what the instruction loads. True: if the
// value is used, unwritten_used is called with the number; false: it cannot be followed.
bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element, uint32_t number);

#endif

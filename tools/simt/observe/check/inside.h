// The checker from the inside: what its parts share.
//
// Order within a block. Time grows with every synchronization of the block (record.h). For each
// thread the checker knows up to which time it has seen what other threads did: for the whole block
// since the last barrier of all, for its warp since the last bar.warp.sync of all lanes, and one by
// one where only some took part.
//
// Order through memory, within a block and between blocks: order.c.
#ifndef CHECK_INSIDE_H
#define CHECK_INSIDE_H

#include "simt/observe/check/check.h"
#include "simt/observe/check/release.h"
#include "simt/observe/check/rest.h"
#include "simt/observe/check/shadow.h"

enum { MAX_WARPS = DEVICE_MAX_THREADS / LANES, MAX_UNWRITTEN = 1 << 16 };
_Static_assert((int)MAX_WARPS == (int)LANES, "a row of times fits warps and lanes");

typedef enum {
    KIND_RACE,
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
    BETWEEN_COPY = 16,  // an asynchronous copy that was not waited for, and what comes behind it
    BETWEEN_OTHERS = 32 // of a warp: a thread and those of many that are not it
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
    uint64_t address;
    uint64_t occurrences;
    bool more;      // were not looked for
    bool stores;    // of a race: two plain stores are among them,
    bool reads;     // a read and a plain store are
    char text[256]; // empty of a race: see advice.c
} Finding;

typedef struct {
    Finding *at;
    uint32_t count, capacity;
    uint32_t *slots; // hash table of indices + 1
    uint32_t slot_count;
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
    uint32_t count, capacity;
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

// A read of shared memory that nothing had written. If another thread writes it before the next
// barrier, the two race, and the race is the hazard.
typedef struct {
    const Inst *inst;
    uint64_t time;
    uint32_t byte, thread, site;
} UnwrittenRead;

// The same where the value may yet be thrown away: by its number, from 1 on. Or a value that is
// made of two of them.
typedef struct {
    UnwrittenRead read;
    uint32_t first, second; // their numbers; 0: this is a read
    bool used;
} KeptRead;

// A word through which something was released: at a scope that covers the device, and by threads of
// one block for that block only.
typedef struct {
    uint64_t address;
    Log *wide, *narrow;
    Log *copies; // that have counted their bytes at it
    uint64_t narrow_block;
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

// The last copy that a block made and an mbarrier counts: at whose, and when.
typedef struct {
    const Inst *inst;
    const Checker *of;
    uint64_t barrier, time;
    uint32_t warp;
} Stores;

// What a warp has done and seen since the last barrier of its block, or a block before that.
typedef struct {
    SeenList acquired, pending; // pending: read, and waits for a fence
    Fenced *fenced;
    uint32_t fenced_count, fenced_capacity;
    Fenced *proxied; // the same of fence.proxy.async
    uint32_t proxied_count, proxied_capacity;
} Knowledge;

typedef struct {
    const Inst *inst;
    AccessKind kind;
    bool looks;      // an atomic operation of whose old value the program makes something
    bool alone;      // a backlog is no good for what it does,
    uint32_t failed; // as it was so many times, one after the other
} Site;

typedef struct {
    uint64_t low, high;
} Extent;

// The allocation that the last access of an instruction was in.
typedef struct {
    Extent at;
    Extent known;    // the part of it that is known to be written
    uint64_t looks;  // accesses that found what they touch written since that grew
    uint64_t enough; // when there are so many, it may grow again
} Met;

// The check of one launch.
typedef struct {
    Observer observer; // first: the one is the other
    const Machine *machine;
    uint64_t launch; // its first time
    Site *sites;     // room for check_sites_limit()
    uint32_t site_count;
    uint16_t *site_of_slot; // by counter
    SyncTable words;        // of global memory
    ReleaseRoom room;       // of blocks that run one at a time
    RestTable rest;         // of global memory, of such blocks
    Finding *found;         // by Blocks that are done with
    size_t found_count;
    bool lost;     // memory was too short for some
    bool partial;  // see Code
    bool backlogs; // regions may have one
    bool in_turn;  // a block has ended before the next one begins, nothing orders the two, and
                   // nobody reads global memory by a strong access
    bool early;    // a later launch may look at what this and earlier ones did
    bool in_place; // a block may write over what others have read, see hands_on()
    CheckListener listener;
    const Inst *last_fence; // of those that touched_fence has seen
    Promises promises;      // of those
} Check;

// The last question about an access of another block that was answered with yes, for all lanes.
typedef struct {
    uint64_t time;
    uint32_t other, warp; // warps of the access, and that asked
} Known;

// The check of one Block.
struct Checker {
    Check *check;
    const Machine *machine;
    uint64_t block; // that it now stands for
    uint64_t now;   // in [times, times_end), which no other block has
    uint64_t times, times_end;
    uint64_t first_times; // how many of them a block begins with
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
    ReleaseRoom own_room, *room;
    RestTable own_rest, *far_rest; // of global memory: of the block alone, where blocks never wait
    Known known;
    Log *cluster;             // of its first block: releases at the barrier of the cluster,
    uint32_t cluster_count;   // how many of them those have seen that waited last,
    uint32_t cluster_threads; // and threads that have arrived since
    const Inst *cluster_inst;
    bool cluster_apart;       // some did anything behind their arrival, or released nothing
    uint64_t cluster_all;     // what it did before this time lies before all that anyone does now
    uint32_t cluster_through; // threads that have waited since
    uint64_t cluster_met;     // else what the cluster did before this time lies before its
    uint64_t
        cluster_floor[MAX_WARPS];    // last barrier; and before which one each warp has waited for
    uint32_t have_fenced[MAX_WARPS]; // lanes that have called a fence in this launch,
    uint32_t have_fenced_far[MAX_WARPS]; // and one that counts for other blocks
    uint32_t cluster_waited[MAX_WARPS];  // lanes that have waited at one
    Record *remote; // by rank and thread: the last access of another block's to shared memory here
    ProxyFence (*proxy_fences)[PROXY_FENCES]; // per warp, the latest
    uint32_t (*copy_groups)[2][LANES];        // per warp: groups of cp.async and of bulk copies
    PendingCopy *copies;
    uint32_t copy_count, copy_capacity;
    uint32_t waited[MAX_WARPS]; // lanes that have waited for the kernel in front of this one
    bool any_waited, all_waited;
    Extent copied, copied_from; // where there are records of copies that mbarriers count, to and
                                // from shared memory
    PendingCopy *counted;       // those that wrote there, until all threads know that they are done
    uint32_t counted_count, counted_capacity;
    Stores stores;
    uint32_t parted;         // warps of which lanes met that were not all
    Cells cells, byte_cells; // of shared memory: for each of so many words, and their bytes
    uint32_t shared_words;
    Record latest_write, latest_read;     // no record of shared memory is later,
    Record latest_write_2, latest_read_2; // no second one
    Extent second_writes;                 // the words of which the block has noted some
    RestTable rest;                       // those of its words that the cells have no room for
    Record *group_write;  // of groups of words, see shared_copy.c; NULL: there was none yet
    uint32_t groups_on;   // of them stand for the words'
    uint16_t *split;      // by word: which records its bytes have of their own, see shared_bytes.c
    bool any_split;       // some have,
    Extent split_at;      // words between these,
    bool bytes_alone;     // a word of them may not be known to be written,
    bool odd_bytes;       // and not only whole halves of words were accessed
    Record latest_bytes;  // none of these is later
    Extent bytes_written; // all bytes between these are written
    UnwrittenRead *unwritten; // room for MAX_UNWRITTEN; NULL: there was none yet
    uint16_t *unwritten_at;   // by site: how many of them, up to check_many_races()
    size_t unwritten_count;
    KeptRead *kept;                    // room for MAX_UNWRITTEN; NULL: there was none yet
    uint16_t *kept_at;                 // by site: how many reads of them
    uint32_t kept_count, kept_settled; // those before the last barrier of all threads
    Extent *variables;   // by site: the variable of shared memory that its accesses should lie in
    Met *met;            // by site
    uint64_t seen_frees; // when: memory_frees
    uint16_t *races;     // by site: races of the block that were found there
    Findings findings;
    bool lost; // memory was too short for some
};

static inline Checker *check_of(const Warp *warp) { return warp->block->watch; }

// The next time. Accesses so far are before it.
uint64_t check_tick(Checker *checker);
// Times for a block that begins, and others later than all that were given out.
void check_times(Checker *checker, uint64_t block);
void check_new_times(Checker *checker);

// The instruction's place in the source.
PtxPlace check_place(const Machine *machine, const Inst *inst);
// No number of an access in Check.sites is that great: each counter has one, and 0 is none's.
static inline size_t check_sites_limit(const Machine *machine) {
    const size_t limit = machine->slot_count + (size_t)2;
    return limit < RECORD_SITES ? limit : RECORD_SITES;
}
// The number of an access in Check.sites.
uint32_t check_add_site(Checker *checker, const Access *access);
// The same if it has one; 0: not yet.
static inline uint32_t check_known_site(const Checker *checker, uint32_t slot) {
    return checker->check->site_of_slot[slot];
}
static inline uint32_t check_site(Checker *checker, const Access *access) {
    uint32_t site = check_known_site(checker, access->slot);
    return site ? site : check_add_site(checker, access);
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
// A race of an access with an earlier one, by their records.
void check_race(Checker *checker, PtxSpace space, Record record, Record earlier, uint64_t address);
void findings_free(Findings *findings);

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
bool check_acquired(Checker *checker, uint32_t thread, uint64_t block, uint32_t other,
                    uint64_t time);

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
// The lanes whose accesses lie in the variable of shared memory that the instruction's address was
// made from, and are aligned; the others are reported.
uint32_t check_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES]);
// Whether blocks of the launch share clusters.
static inline bool check_clusters(const Machine *machine) {
    return machine->cluster_count < machine->block_count;
}

// Shared memory of a block: races and reads of what nothing wrote. Addresses are within it. `copy`:
// the time of an asynchronous copy, 0: an access of the warp's own.
void check_shared(Checker *checker, Block *of, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES], uint64_t copy);
// A weak load or store of a whole warp, each lane behind the one before. False: unusual, look at
// all lanes.
bool check_whole_shared(Checker *checker, Warp *warp, const Inst *inst, uint64_t first);
// The same of the lanes of warp->exec at any addresses.
bool check_shared_lanes(Warp *warp, const Inst *inst, const uint64_t address[LANES]);
// Words of shared memory one behind the other that lanes of a warp copy, as many each.
enum { COPIED_BY_ONE = 31 };
typedef struct {
    uint32_t lanes;   // one behind the other
    uint64_t address; // of the first one's
    uint32_t words;   // of all of them together
    uint32_t shift;   // 1 << shift are a lane's; COPIED_BY_ONE: there is one
} CopiedRow;
// As check_shared, of copies. False: look at each.
bool check_shared_row(Checker *checker, Block *of, Warp *warp, const Access *access,
                      const CopiedRow *row, uint64_t copy);
// What they read there, or wrote, becomes accesses of threads, by the first lane's records.
void check_settle(Checker *owner, const CopiedRow *row, Record copy, Record mine, bool read);
void check_forget_copies(Checker *owner); // of all copies, when a block begins
// At a barrier of all threads: records of bytes are not needed any more, as far as may be. When a
// block begins: none is.
void shared_join_all(Checker *owner);
void shared_forget_bytes(Checker *owner);
// At a barrier of all threads and at the end of a block: reports the reads that no write explains.
void check_unwritten(Checker *checker);
void unwritten_begin(Checker *checker);
// The number of a value that is made of two others; and one decides something.
uint32_t unwritten_both(Checker *checker, uint32_t first, uint32_t second);
void unwritten_used(Checker *checker, uint32_t number);
// Global memory: bounds, life, alignment, reads of what nothing wrote.
void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
// A weak load or store of a whole warp at consecutive addresses. False: unusual, look at all lanes.
bool check_whole_global(Checker *checker, Warp *warp, const Inst *inst, uint64_t first);
// The same of any lanes, those of warp->exec.
bool check_lanes_global(Warp *warp, const Inst *inst, const uint64_t address[LANES]);
// The same of a single lane.
bool check_lane_global(Warp *warp, const Inst *inst, uint64_t address);
// One lane's load or store of whole groups of words, a copy's part. How many bytes of it, from the
// first on, are done with; the next group is unusual, look at its words.
uint64_t check_global_range(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                            uint64_t first, uint64_t bytes);
// Global memory: races. All lanes' accesses are good ones, and lie as their shape says.
typedef struct {
    bool whole;         // all lanes, one behind the other, from a word's beginning on; no atomic
    bool even;          // all lanes, each as far behind the one before
    bool near;          // all of the mask in one region
    int64_t stride;     // so far, if they are even
    uint64_t low, high; // the lowest address, and the highest
    uint64_t bits;      // that are set in any of them
    uint32_t on, same;  // a bit for each lane behind which the next one's access lies, or at which
} Shape;
// How the lanes of a mask lie.
void check_shape(Shape *shape, const Access *access, uint32_t mask, const uint64_t address[LANES]);
// Of these lanes, those that access another address than the lane before.
static inline uint32_t check_heads(const Shape *shape, uint32_t lanes) {
    return lanes & ~((shape->same & lanes) << 1);
}

// Of these lanes those from the first of the heads up to the next one.
static inline uint32_t check_run(uint32_t lanes, uint32_t heads) {
    const uint32_t rest = heads & (heads - 1);
    const uint32_t before_next = rest ? (rest & (0 - rest)) - 1 : ALL_LANES;
    return lanes & before_next & ~((heads & (0 - heads)) - 1);
}
void check_global_races(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                        const uint64_t address[LANES], const Shape *shape);

// Launches that may start early, in early.c. Before anything of the access is recorded.
void early_check(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES]);
void early_waited(Warp *warp);           // see Observer.grid_waited
void early_barrier(Checker *checker);    // of all threads of the block
void early_remember(const Check *check); // a launch that is over

// A fence of the launch, for check_touched.
void touched_fence(Check *check, const Inst *inst);

void check_free(Warp *warp, const Inst *inst, int lane, uint64_t address); // see Observer.bad_free

// Order through words of memory: an access to global or shared memory, and a fence.
void check_order(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                 const uint64_t address[LANES], SyncTable *table);
void check_fence(Warp *warp, const Inst *inst);
// Whether some word between two addresses may be one of the table.
bool order_words(const SyncTable *table, uint64_t first, uint64_t bytes);
// Whether something was released through the word at an address, and not overwritten since.
bool order_released(const SyncTable *table, uint64_t address);
// What threads that met at a barrier know of each other: all of the block, some warps, some lanes.
void order_begin(Checker *checker);
void order_barrier(Checker *checker);
// `waiting`: those of them that go on behind the barrier.
void order_pass_by(Checker *checker, uint32_t barrier, uint32_t warp);
void order_join_warps(Checker *checker, uint32_t barrier, uint32_t waiting);
void order_join_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
// Lanes that took values from each other: what one has acquired, all have; but they met at no
// barrier.
void order_tell_lanes(Checker *checker, uint32_t warp, uint32_t lanes);
void order_free(Checker *checker);
// At the barrier of the cluster, see Observer: of `first`, its first block.
void order_cluster_arrive(Checker *checker, Checker *first, const Warp *warp);
void order_cluster_waited(Checker *checker, const Checker *first, const Warp *warp);
// Whether its releases until the last one order an access.
bool order_cluster_knows(Checker *first, uint64_t block, uint32_t thread, uint64_t time);
// Whether a thread (of a warp, any of its lanes) has seen anything that a block released.
bool order_knows_block(Checker *checker, uint32_t thread, uint64_t block);
// Whether some thread of the checker's block has acquired an access.
bool order_reached(Checker *checker, uint64_t block, uint32_t other, uint64_t time);
// Whether all threads have, by what they knew when they last met at a barrier.
bool order_all_acquired(Checker *checker, uint64_t block, uint32_t other, uint64_t time);
// A copy is done when the mbarrier at this address of shared memory says so.
void order_copy_counted(Checker *checker, SyncTable *table, uint64_t address, Record copy);
// The lanes' copies arrive at the mbarrier when they are done.
void order_copies_arrive(Checker *checker, const Warp *warp, uint64_t address, uint32_t lanes);
// fence.proxy.async, and whether one lies between a write of the block and now.
void order_proxy_fence(Checker *checker, const Warp *warp);
bool order_proxied(const Checker *checker, uint32_t thread, Record write);

// Clusters, in cluster.c.
bool cluster_same(const Checker *checker, uint64_t block); // whether it is of the same cluster
// Whether the last barrier of the cluster ordered an access.
bool cluster_knows(const Block *block, uint64_t of, uint32_t thread, uint64_t time);
// Before which time all that the cluster did lies before what anyone does now.
uint64_t cluster_past(const Block *block);
void cluster_begin(Checker *checker, const Block *block);
void cluster_end(Checker *checker, Block *block);
void check_remote(Warp *warp, const Access *access, uint32_t lanes, Block *of,
                  const uint64_t address[LANES]);
// Lanes access memory, perhaps between their arrival at the barrier and the barrier.
void cluster_between(const Warp *warp, uint32_t lanes);
void check_cluster_arrive(Warp *warp, const Inst *inst);
void check_cluster_waited(Warp *warp, const Inst *inst);
void check_cluster_complete(Block *block);
// Asynchronous copies, in copy.c.
void copy_begin(Checker *checker);
void copy_end(Checker *checker);
// Behind a barrier of all threads, at `time`: copies that all of them have waited for.
void copy_settle(const Block *block, uint64_t time);
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
void check_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES],
                   const LaneU32 value[LANES]);
// Values that are undefined, in undefined.c: a shuffle, and an instruction of a warp that has some.
void undefined_begin(Checker *checker);
void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]);
void undefined_step(Warp *warp, const Inst *inst);
// A lane reads what nothing has written, as an element of what the instruction loads. True: if the
// value is used, unwritten_used is called with the number; false: it cannot be followed.
bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element, uint32_t number);
void undefined_free(Checker *checker);

void check_join(Warp *warp, const Inst *inst, uint32_t lanes);

#endif

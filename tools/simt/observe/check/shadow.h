// The records of global memory. They stay from launch to launch: an old one is smaller than the
// first time of this launch. Memory is taken only for what kernels touch: for what is not in a
// backlog, 8 bytes for each aligned word that is read and as much for each that is written.
#ifndef CHECK_SHADOW_H
#define CHECK_SHADOW_H

#include <stdbool.h>

#include "simt/memory/memory.h"
#include "simt/observe/check/record.h"

enum { REGION_SHIFT = 16, REGION_BYTES = 1 << REGION_SHIFT, REGION_WORDS = REGION_BYTES / 4 };
enum { REGION_GROUP = 32, REGION_GROUPS = REGION_WORDS / REGION_GROUP };
enum { REGION_PAGES = 32, REGION_PAGE = REGION_WORDS / REGION_PAGES }; // of so many words

// The last accesses to a group of words by whole warps, later than those in the Cells: the record
// of the first word's lane. Its scope is that of a weak access; in its place, 1 << that many words
// are a lane's, or GROUP_ONE: all of them.
enum { GROUP_ONE = 3 };
typedef struct {
    Record write, read, read_2;
} GroupRecords;

// What orders reads of a block within it: see Touch.
typedef struct {
    Record times, span, floor, warp_floor;
} BacklogContext;

// Groups of a region, a bit for each.
enum { GROUP_PIECE = 64, GROUP_PIECES = REGION_GROUPS / GROUP_PIECE };
static inline bool shadow_group_bit(const uint64_t pieces[GROUP_PIECES], uint32_t group) {
    const uint64_t piece = pieces[group / GROUP_PIECE];
    return piece >> group % GROUP_PIECE & 1;
}

// Accesses of a launch that its records do not have yet, one behind the other: see backlog.c.
typedef struct {
    uint64_t launch; // 0: of none
    void *entries;
    uint32_t scattered;                 // words read by lanes anywhere
    uint32_t used, room;                // bytes
    uint32_t last;                      // of them the last entry's
    uint32_t read_pages, written_pages; // a bit for each page where there are reads; writes
    BacklogContext context;             // of the reads behind here
    uint32_t written[REGION_GROUPS];    // a bit for each word
} Backlog;

// A launch and, in the lower half, a bit for each page of a region where it did something.
typedef uint64_t PageStamp;

// What is known of REGION_BYTES of global memory. A launch is named by its first time. Where a
// launch accesses less than words, `bytes` stands for `words`.
typedef struct Region {
    struct Region *next; // of all
    uint64_t low;        // where it begins
    Cells words, bytes;
    PageStamp written, read; // by the last launch that did
    uint64_t more;           // the last launch that used write_2 or read_2
    uint64_t split;          // the last launch in which `bytes` counts
    uint64_t grouped;        // the last launch that used `groups`: where, these bits say
    uint32_t group_read_pages, group_written_pages;
    uint64_t direct;       // the last launch of which the backlog has nothing any more
    uint64_t synchronized; // the last launch that released something here
    uint64_t group_read[GROUP_PIECES], group_written[GROUP_PIECES]; // a bit for each group
    GroupRecords groups[REGION_GROUPS];
    Backlog backlog;
} Region;

// Before anything else in a launch: its first time. 0: the host refuses memory.
uint64_t shadow_launch(void);

// `count` times that no other block gets, in one piece, for this block of the grid; the first.
// `count` is a multiple of SHADOW_TIMES; so are all first ones.
enum { SHADOW_TIMES = 16 };
_Static_assert(RECORD_TIMES_LIMIT / SHADOW_TIMES - 1 <= UINT32_MAX, "a launch fits a PageStamp");
uint64_t shadow_times(uint64_t count, uint64_t block);
uint64_t shadow_next_time(void);                                // that nobody has yet
uint64_t shadow_block(uint64_t time);                           // of a time that was given out
static inline bool shadow_same_warp(Record one, Record other) { // of two that tell of accesses
    return !((one ^ other) & RECORD_WARP_MASK) &&
           shadow_block(record_time(one)) == shadow_block(record_time(other));
}

extern Region **shadow_regions; // by address; NULL: not made yet
Region *shadow_new_region(Region **slot);
Region *shadow_first_region(void); // of all that are in use
bool shadow_new_room(Record **records, uint32_t count);

// The pages of a launch, if it is the stamp's.
static inline uint32_t shadow_pages(PageStamp stamp, uint64_t launch) {
    return stamp >> 32 == launch / SHADOW_TIMES ? (uint32_t)stamp : 0;
}

static inline void shadow_stamp(PageStamp *stamp, uint64_t launch, uint32_t pages) {
    PageStamp old = __atomic_load_n(stamp, __ATOMIC_RELAXED);
    while (pages & ~shadow_pages(old, launch)) {
        const PageStamp made = launch / SHADOW_TIMES << 32 | shadow_pages(old, launch) | pages;
        if (__atomic_compare_exchange_n(stamp, &old, made, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

// Of a region, from a word to another.
static inline uint32_t shadow_pages_between(uint32_t first_word, uint32_t last_word) {
    const uint32_t first = first_word / REGION_PAGE, last = last_word / REGION_PAGE;
    return UINT32_MAX << first & UINT32_MAX >> (REGION_PAGES - 1 - last);
}

// The region of an address of global memory. NULL: out of memory.
static inline Region *shadow_region(uint64_t address) {
    Region **slot = &shadow_regions[(address - memory_base) >> REGION_SHIFT];
    Region *region = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    return region ? region : shadow_new_region(slot);
}

// The last write, read and second read of a word by what a region's backlog has, of whatever
// launch.
enum { BACKLOG_FOUND = 3 };
void backlog_look(const Region *region, uint64_t word, Record found[BACKLOG_FOUND]);

// More room for what a backlog has. False: it has BACKLOG_BYTES; or those that have more than a
// quarter of that have BACKLOGS_BYTES together; or out of memory.
enum { BACKLOG_BYTES = REGION_WORDS * 64, BACKLOGS_BYTES = 1 << 26 };
bool shadow_grow_backlog(Backlog *backlog);
void shadow_give_backlog(Backlog *backlog); // it is empty then

// Makes room for records where there is none yet. False: out of memory.
static inline bool shadow_room(Record **records, uint32_t count) {
    return __atomic_load_n(records, __ATOMIC_ACQUIRE) || shadow_new_room(records, count);
}

// Room for records of so many words or bytes; those that are not 0 are of earlier launches. False:
// out of memory. What is given back is used again.
bool shadow_take_cells(Cells *cells, size_t count);
void shadow_give_cells(Cells *cells, size_t count);

#endif

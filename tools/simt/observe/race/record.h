// Records of accesses: the thread, instruction and time of an access to a word, in 64 bits.
//
// Time. A time is the number of an epoch. Every synchronization of a block (barrier, fence, merge
// point of lanes) begins a new epoch, whose number no other block has. So a time identifies its
// block, the times of a block increase, and the times of an earlier launch are all smaller. A
// record is 0 if there was no access.
#ifndef CHECK_RECORD_H
#define CHECK_RECORD_H

#include <stdint.h>

#include "simt/base/limits.h"

typedef uint64_t Record;

// From the lowest bit: the Scope of a strong access (0: it is weak); for a strong read, whether a
// strong write has followed it; the thread's number in its block; the site in Check.sites; the
// time.
enum { RECORD_FOLLOWED = 2, RECORD_THREAD, RECORD_SITE = 13, RECORD_TIME = 27 };
enum { RECORD_SITES = 1 << (RECORD_TIME - RECORD_SITE) };
_Static_assert(1 << (RECORD_SITE - RECORD_THREAD) == DEVICE_MAX_THREADS, "a thread fits");

#define RECORD_IS_FOLLOWED ((Record)1 << RECORD_FOLLOWED)
#define RECORD_LANE_MASK   ((Record)(DEVICE_MAX_THREADS - 1) << RECORD_THREAD)
#define RECORD_WARP_MASK   ((Record)(DEVICE_MAX_THREADS - DEVICE_WARP) << RECORD_THREAD)
#define RECORD_TIMES_LIMIT ((uint64_t)1 << 36) // a launch starts below it, and may use as many more

static inline Record record_make(uint64_t time, uint32_t site, uint32_t thread, uint32_t scope) {
    return time << RECORD_TIME | (Record)site << RECORD_SITE | thread << RECORD_THREAD | scope;
}
static inline uint64_t record_time(Record record) { return record >> RECORD_TIME; }
static inline uint32_t record_site(Record record) {
    return (uint32_t)(record >> RECORD_SITE) & (RECORD_SITES - 1);
}
static inline uint32_t record_thread(Record record) {
    return (uint32_t)(record >> RECORD_THREAD) & (DEVICE_MAX_THREADS - 1);
}
static inline uint32_t record_scope(Record record) { return record & 3; }

// Times of asynchronous copies to or from shared memory for which no thread has waited. They are
// later than all other times. The first one is for all cp.async; each bulk copy has one of the
// others.
#define RECORD_COPIES ((uint64_t)1 << 20)
#define RECORD_COPY   (((uint64_t)1 << (64 - RECORD_TIME)) - RECORD_COPIES)
static inline int record_is_copy(Record record) { return record_time(record) >= RECORD_COPY; }
// In releases, a copy counts as a block with this number.
static inline uint64_t record_copy_block(Record record) {
    return (uint64_t)1 << 31 | (record_time(record) - RECORD_COPY);
}

#endif

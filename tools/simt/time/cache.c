// Models caches by footprint. A cache holds a line until more than its size has been touched since:
// each line stores the count of touched sectors when it was last touched, and takes the space of
// all its sectors, even if only one is there. Lines that are touched again soon are not counted
// again. See cache.h.
#define _DEFAULT_SOURCE
#include "simt/time/cache.h"

#include <sys/mman.h>

#include "simt/memory/memory.h"

enum { SECTOR = 32, LINE = 4 }; // bytes; sectors

typedef struct {
    uint32_t *touched; // by sector of memory: `came` at its last touch; 0: never
    uint32_t *latest;  // by line: the same
    uint32_t *held;    // by line: `came` when it came into the cache
    uint32_t came;     // number of sectors of the lines touched, plus 1
    uint32_t since;    // sectors touched before this count are not in the cache
    uint64_t holds;    // capacity in sectors
} Level;

static Level l1, l2;
static uint32_t before;   // the value of l2.since in the previous launch
static uint32_t *written; // by sector, l2.came at its last write; 0: never
static size_t sectors;
static bool keeps_all;

static bool map(uint32_t **at, size_t count) {
    if (*at) return true;
    void *mapped = mmap(NULL, count * sizeof **at, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    *at = mapped;
    return true;
}

static bool map_level(Level *level) {
    return map(&level->touched, sectors) && map(&level->latest, sectors / LINE) &&
           map(&level->held, sectors / LINE);
}

// Before the counts overflow, empties the cache and restarts them.
static void begin(Level *level, uint64_t bytes) {
    level->holds = bytes / SECTOR;
    if (level->came > UINT32_MAX / 2) {
        madvise(level->touched, sectors * sizeof *level->touched, MADV_DONTNEED);
        madvise(level->latest, sectors / LINE * sizeof *level->latest, MADV_DONTNEED);
        if (written) madvise(written, sectors * sizeof *written, MADV_DONTNEED);
        level->came = before = 0;
    }
    level->came++;
    level->since = level->came;
}

bool cache_start(uint64_t l2_bytes, uint64_t l1_bytes, bool warm) {
    sectors = memory_range() / SECTOR + LINE;
    if (!map_level(&l1) || !map_level(&l2) || !map(&written, sectors)) return false;
    before = l2.since;
    begin(&l1, l1_bytes);
    begin(&l2, l2_bytes);
    keeps_all = warm;
    return true;
}

void cache_leave_sm(void) { l1.since = ++l1.came; }

static bool holds(Level *level, size_t at, bool earlier) {
    const uint32_t last = level->touched[at];
    uint32_t *latest = &level->latest[at / LINE], *held = &level->held[at / LINE];
    const bool line = *latest && level->came - *latest < level->holds;
    const bool there = line && last >= *held && last && (earlier || last >= level->since);
    if (!line || level->came - *latest > level->holds / 4) level->came += LINE;
    if (!line) *held = level->came;
    *latest = level->touched[at] = level->came;
    return there;
}

Found cache_touch(uint64_t address, bool own, bool may_hit_l1, bool writes) {
    const size_t at = (size_t)(address - memory_base) / SECTOR;
    if (address < memory_base || at >= sectors) return FOUND_L2;
    const uint32_t wrote = written[at];
    const bool in_l2 = holds(&l2, at, keeps_all || (wrote && wrote >= before));
    if (writes) { // each sector is written to DRAM once per launch, even if it is in L2
        written[at] = l2.came;
        return wrote >= l2.since ? FOUND_L2 : FOUND_DRAM;
    }
    if (own && may_hit_l1 && holds(&l1, at, false)) return FOUND_L1;
    return in_l2 ? FOUND_L2 : FOUND_DRAM;
}

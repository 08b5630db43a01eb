// Reads of parts of words of shared memory of which little is to be noted: where reads were noted
// that tell enough, and where many lanes read the same. See shared.h.
#include "simt/observe/check/shared_bytes.h"

#define ALWAYS static inline __attribute__((always_inline))

enum { STRETCH = 256, STEP = 32 }; // bytes

// --- a stretch of bytes in which reads add nothing ---

// Whether the block is known to have written all of the bytes.
static bool all_written(Checker *owner, uint32_t low, uint32_t high) {
    const Record start = owner->block_start << RECORD_TIME;
    Extent *known = &owner->bytes_written;
    if (low >= known->low && high <= known->high) return true;
    for (uint32_t byte = low; byte < high; byte++)
        if (shared_byte_record(owner, OF_WRITE, byte) < start) return false;
    const bool apart = low > known->high || high < known->low;
    if (apart || low < known->low) known->low = low;
    if (apart || high > known->high) known->high = high;
    return true;
}

ALWAYS bool step_told(const Record *read, const Record *second, uint32_t count, Record base,
                      Record floor, Record warp_floor) {
    uint64_t open = 0;
    for (uint32_t k = 0; k < count; k++)
        open |= shared_told_to(read[k], second[k], base, floor, warp_floor) ^ 1;
    return !open;
}

// Whether a read of any of the bytes, by any lane of the warp of `base`, adds nothing. What was
// noted since the last barrier is in the bytes' own records, whatever Checker.split says: it was
// set then.
static bool all_told(const SharedTouch *at, Record base, uint32_t low, uint32_t high) {
    const Cells *bytes = &at->owner->byte_cells;
    const Record floor = at->floor, warp_floor = at->warp_floor;
    uint32_t k = low;
    for (; k + STEP <= high; k += STEP)
        if (!step_told(bytes->read + k, bytes->read_2 + k, STEP, base, floor, warp_floor))
            return false;
    return step_told(bytes->read + k, bytes->read_2 + k, high - k, base, floor, warp_floor);
}

bool shared_bytes_told(const SharedTouch *at, Record base) {
    const uint32_t mask = at->mask;
    uint32_t low = UINT32_MAX, high = 0;
    if (shared_any_write(at)) return false;
    if (at->owner->latest_read_2 < at->floor) return false;
    LANE_LOOP {
        const uint32_t byte = (uint32_t)at->address[l], off = (mask >> l & 1) - 1;
        low = (byte | off) < low ? byte | off : low;
        high = (byte & ~off) > high ? byte & ~off : high;
    }
    high += at->size;
    if (high - low > STRETCH || (at->start && !all_written(at->owner, low, high))) return false;
    return all_told(at, shared_record(at, base, 0), low, high);
}

// --- a few places, each read by lanes one behind the other ---

typedef struct {
    uint32_t byte;
    Record first, last; // of its lanes
} SameRead;

// Whether nothing that was written to the byte matters to the lanes.
ALWAYS bool write_past(const SharedTouch *at, const SameRead *run, uint32_t byte) {
    const Record write = shared_byte_record(at->owner, OF_WRITE, byte);
    if (write < at->start || shared_open(at, write, run->last, run->first != run->last))
        return false;
    return !shared_any_write_2(at) || shared_byte_record(at->owner, OF_WRITE_2, byte) < at->noise;
}

ALWAYS void set_byte(Checker *owner, int which, uint32_t byte, Record record) {
    shared_records(&owner->byte_cells, which)[byte] = record;
    owner->split[byte / 4] |= (uint16_t)(1u << ((uint32_t)which + byte % 4));
}

// Of the lanes that read the byte two are remembered, or one beside another's read.
static void note_byte(const SharedTouch *at, const SameRead *run, uint32_t byte) {
    Checker *owner = at->owner;
    const Record old = shared_byte_record(owner, OF_READ, byte), mine = run->last;
    const Record old_2 = shared_byte_record(owner, OF_READ_2, byte);
    Record other = run->first;
    if (shared_told_to(old, old_2, mine, at->floor, at->warp_floor)) return;
    const Record strange = old ^ mine;
    const bool past = (!(strange & RECORD_WARP_MASK) && old < at->warp_floor) ||
                      old < at->block_floor || !(strange & RECORD_LANE_MASK);
    Record read = old;
    if (old < at->floor || (shared_own(at, old) && past)) {
        read = mine;
        set_byte(owner, OF_READ, byte, mine);
    } else {
        other = mine;
    }
    if (read == other || shared_stays(at, read, old_2, other)) return;
    set_byte(owner, OF_READ_2, byte, other);
    shared_noted(&owner->latest_read_2, other | RECORD_LANE_MASK);
}

bool shared_bytes_same(const SharedTouch *at, Record base) {
    enum { FEW_PLACES = 4 };
    const uint64_t *address = at->address;
    SameRead runs[FEW_PLACES];
    uint32_t heads = at->mask & ~(shared_same(at) << 1), count = 0;
    if (__builtin_popcount(heads) > FEW_PLACES) return false;
    for (; heads; heads &= heads - 1) {
        const uint32_t head = (uint32_t)__builtin_ctz(heads);
        const uint32_t last = 31 - (uint32_t)__builtin_clz(check_run(at->mask, heads));
        runs[count] = (SameRead){(uint32_t)address[head], shared_record(at, base, head),
                                 shared_record(at, base, last)};
        for (uint32_t k = 0; k < at->size; k++)
            if (!write_past(at, &runs[count], runs[count].byte + k)) return false;
        count++;
    }
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < at->size; i++) note_byte(at, &runs[k], runs[k].byte + i);
        shared_note_split(at->owner, runs[k].byte, runs[k].byte + at->size - 1);
    }
    at->owner->odd_bytes |= at->size == 1;
    shared_noted(&at->owner->latest_bytes, shared_record(at, base, 0) | RECORD_LANE_MASK | 3);
    return true;
}

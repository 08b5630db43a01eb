// Words of shared memory that have records of their bytes: from words to bytes, where less than a
// word is accessed, and back. See shared.h.
#include "simt/observe/check/shared.h"

static inline void copy_to_bytes(const Record *words, Record *bytes, uint32_t word) {
    const Record record = words[word];
    Record *of_word = bytes + (size_t)word * 4;
    for (int k = 0; k < 4; k++) of_word[k] = record;
}

// Records of which none is as late as the last barrier need not be copied: those that the bytes
// have are as old. In a cluster others may still wait for what this block need not.
void shared_split_word(Checker *checker, uint32_t word) {
    const Cells *words = &checker->cells, *bytes = &checker->byte_cells;
    const Record floor = checker->block_floor << RECORD_TIME;
    const bool all = check_clusters(checker->machine);
    if (checker->split[word]) return;
    checker->split[word] = 1;
    checker->any_split = true;
    copy_to_bytes(words->write, bytes->write, word);
    if (all || checker->latest_write_2 >= floor)
        copy_to_bytes(words->write_2, bytes->write_2, word);
    if (all || checker->latest_read >= floor) copy_to_bytes(words->read, bytes->read, word);
    if (all || checker->latest_read_2 >= floor) copy_to_bytes(words->read_2, bytes->read_2, word);
}

static inline Record greatest_of_4(const Record *records) {
    const Record a = records[0] > records[1] ? records[0] : records[1];
    const Record b = records[2] > records[3] ? records[2] : records[3];
    return a > b ? a : b;
}

// A word whose bytes were all written, and that nobody has accessed since the last barrier, needs
// no records of its bytes any more. Whether it still has them.
static bool join_bytes(const SharedTouch *at, uint32_t word) {
    const Cells *words = &at->owner->cells, *bytes = &at->owner->byte_cells;
    const Record *write = bytes->write + word * 4;
    const Record start = at->owner->block_start << RECORD_TIME, floor = at->floor;
    Record latest = greatest_of_4(write);
    bool busy = at->cluster; // others may still have to wait for what this warp need not
    for (int k = 0; k < 4; k++) busy |= write[k] < start;
    if (at->owner->latest_write_2 >= floor && greatest_of_4(bytes->write_2 + word * 4) >= floor)
        latest = floor;
    if (at->owner->latest_read >= floor && greatest_of_4(bytes->read + word * 4) >= floor)
        latest = floor;
    if (at->owner->latest_read_2 >= floor && greatest_of_4(bytes->read_2 + word * 4) >= floor)
        latest = floor;
    if (busy || latest >= floor) return true;
    words->write[word] = write[0];
    words->write_2[word] = words->read[word] = words->read_2[word] = 0;
    at->owner->split[word] = 0;
    return false;
}

// Whether any of the lanes' words has records for its bytes.
static bool any_split(const SharedTouch *at, uint32_t lanes) {
    const uint8_t *split = at->owner->split;
    const uint64_t *address = at->address;
    const uint32_t each = at->size / 4;
    uint32_t any = 0;
    if (!at->owner->any_split) return false;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t word = (uint32_t)address[__builtin_ctz(m)] / 4;
        for (uint32_t k = 0; k < each; k++) any |= split[word + k];
    }
    return any;
}

uint32_t shared_split_lanes(const SharedTouch *at, uint32_t lanes) {
    const uint8_t *split = at->owner->split;
    uint32_t of_bytes = 0;
    if (!any_split(at, lanes)) return 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), word = (uint32_t)at->address[lane] / 4;
        for (uint32_t k = 0; k < at->size / 4; k++)
            if (split[word + k] && join_bytes(at, word + k)) of_bytes |= 1u << lane;
    }
    return of_bytes;
}

void shared_split_words(const SharedTouch *at, uint32_t lanes) {
    const uint8_t *split = at->owner->split;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t word = (uint32_t)at->address[__builtin_ctz(m)] / 4;
        if (!split[word]) shared_split_word(at->owner, word);
    }
}

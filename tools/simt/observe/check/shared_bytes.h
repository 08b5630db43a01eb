// Parts of words of shared memory, from the inside: see shared_bytes.c.
#ifndef CHECK_SHARED_BYTES_H
#define CHECK_SHARED_BYTES_H

#include "simt/observe/check/shared.h"

// Where the bits of a word's four bytes lie in Checker.split.
enum { OF_WRITE = 0, OF_WRITE_2 = 4, OF_READ = 8, OF_READ_2 = 12, OF_ALL = 0xFFFF, FOUR = 0xF };

static inline Record *shared_records(const Cells *cells, int which) {
    return which == OF_WRITE     ? cells->write
           : which == OF_WRITE_2 ? cells->write_2
           : which == OF_READ    ? cells->read
                                 : cells->read_2;
}

// The record of a byte: its own, or its word's.
static inline Record shared_byte_record(const Checker *owner, int which, uint32_t byte) {
    const bool own = owner->split[byte / 4] >> ((uint32_t)which + byte % 4) & 1;
    return own ? shared_records(&owner->byte_cells, which)[byte]
               : shared_records(&owner->cells, which)[byte / 4];
}

// Bytes from the first one to the last one have records of their own.
void shared_note_split(Checker *owner, uint32_t first, uint32_t last);

// --- shared_bytes_reads.c: weak reads, where only barriers of whole warps and of the block order
// threads. False: all is as before ---

// Whether what was noted of all bytes, from the lowest that these lanes read to the highest one,
// tells all that reads by any lane of the warp would. `base`: the record of thread 0.
bool shared_bytes_told(const SharedTouch *at, Record base);
// Notes them where neighbours read the same, in a few places.
bool shared_bytes_same(const SharedTouch *at, Record base);

#endif

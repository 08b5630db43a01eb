// Parts of words of shared memory: bytes have records of their own where somebody accessed less
// than a word. See shared.h.
//
// A word's own records go on counting for those of its bytes of which none of the four (last write,
// last read, and second ones) was noted apart: Checker.split says which were. So neither accesses
// of words behind those of bytes nor the other way round copy records to and fro.
#include "simt/observe/check/shared_bytes.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

bool shared_written_apart(const Checker *owner, uint32_t byte) {
    return owner->any_split && owner->split[byte / 4] >> (OF_WRITE + byte % 4) & 1;
}

void shared_note_split(Checker *owner, uint32_t first, uint32_t last) {
    const uint32_t low = first / 4, high = last / 4;
    Extent *at = &owner->split_at;
    if (!owner->any_split || low < at->low) at->low = low;
    if (!owner->any_split || high >= at->high) at->high = high + (uint64_t)1;
    owner->any_split = true;
}

// --- from words to bytes, where a closer look is taken ---

static Record copy_to_bytes(const Record *words, Record *bytes, uint32_t word, uint32_t apart) {
    const Record record = words[word];
    for (uint32_t k = 0; k < 4; k++)
        if (!(apart >> k & 1)) bytes[(size_t)word * 4 + k] = record;
    return record;
}

// Records of which none is as late as the last barrier need not be copied: those that the bytes
// have are as old. In a cluster others may still wait for what this block need not.
void shared_split_word(Checker *checker, uint32_t word) {
    const Cells *words = &checker->cells, *bytes = &checker->byte_cells;
    const Record floor = checker->block_floor << RECORD_TIME;
    const bool all = check_clusters(checker->machine);
    const uint32_t apart = checker->split[word];
    Record *const latest = &checker->latest_bytes;
    if (apart == OF_ALL) return;
    checker->odd_bytes = true;
    checker->bytes_alone |= words->write[word] < checker->block_start << RECORD_TIME;
    checker->split[word] = OF_ALL;
    shared_note_split(checker, word * 4, word * 4);
    shared_noted(latest, copy_to_bytes(words->write, bytes->write, word, apart >> OF_WRITE));
    if (all || checker->latest_write_2 >= floor)
        shared_noted(latest,
                     copy_to_bytes(words->write_2, bytes->write_2, word, apart >> OF_WRITE_2));
    if (all || checker->latest_read >= floor)
        shared_noted(latest, copy_to_bytes(words->read, bytes->read, word, apart >> OF_READ));
    if (all || checker->latest_read_2 >= floor)
        shared_noted(latest, copy_to_bytes(words->read_2, bytes->read_2, word, apart >> OF_READ_2));
}

void shared_split_words(const SharedTouch *at, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1)
        shared_split_word(at->owner, (uint32_t)at->address[__builtin_ctz(m)] / 4);
}

// --- from bytes to words ---

// Whether some record of the word's bytes is no earlier than this one.
static bool bytes_since(const Checker *owner, uint32_t word, Record floor) {
    const uint32_t apart = owner->split[word];
    Record latest = 0;
    if (owner->latest_bytes < floor) return false;
    for (int which = OF_WRITE; which <= OF_READ_2; which += 4) {
        const Record *records = shared_records(&owner->byte_cells, which) + (size_t)word * 4;
        for (uint32_t k = 0; k < 4; k++)
            if (apart >> which >> k & 1) shared_noted(&latest, records[k]);
    }
    return latest >= floor;
}

// A word of whose bytes nobody has noted anything since the last barrier, and that was written,
// needs no records of its bytes any more. Whether it still has them.
static bool keeps_bytes(Checker *owner, uint32_t word, Record floor) {
    const Record start = owner->block_start << RECORD_TIME;
    const uint32_t apart = owner->split[word];
    if (!apart) return false;
    if (bytes_since(owner, word, floor)) return true;
    if (owner->cells.write[word] < start) {
        const Record *write = owner->byte_cells.write + (size_t)word * 4;
        bool all = (apart >> OF_WRITE & FOUR) == FOUR;
        for (uint32_t k = 0; k < 4; k++) all &= write[k] >= start;
        if (!all) return true;
        owner->cells.write[word] = write[0];
    }
    owner->split[word] = 0;
    return false;
}

// In a cluster others may still have to wait for what this block need not.
void shared_join_all(Checker *owner) {
    const Extent at = owner->split_at;
    const Record floor = owner->block_floor << RECORD_TIME;
    bool kept = false;
    if (!owner->any_split || owner->latest_bytes >= floor || check_clusters(owner->machine)) return;
    if (owner->bytes_alone)
        for (uint64_t k = at.low; k < at.high; k++) kept |= keeps_bytes(owner, (uint32_t)k, floor);
    else
        shared_forget_bytes(owner);
    owner->any_split = owner->bytes_alone = owner->odd_bytes = kept;
}

void shared_forget_bytes(Checker *owner) {
    const Extent at = owner->split_at;
    if (owner->any_split)
        memset(owner->split + at.low, 0, (at.high - at.low) * sizeof *owner->split);
    owner->any_split = owner->bytes_alone = owner->odd_bytes = false;
}

bool shared_join(Checker *owner, uint32_t word, uint32_t words, Record floor) {
    const bool cluster = check_clusters(owner->machine);
    uint32_t any = 0, kept = 0;
    if (!owner->any_split) return true;
    for (uint32_t k = word; k < word + words; k++) any |= owner->split[k];
    if (!any) return true;
    if (cluster) return false;
    for (uint32_t k = word; k < word + words; k++) kept |= keeps_bytes(owner, k, floor);
    return !kept;
}

uint32_t shared_split_lanes(const SharedTouch *at, uint32_t lanes) {
    const uint16_t *split = at->owner->split;
    const uint32_t each = at->size / 4;
    uint32_t any = 0, of_bytes = 0;
    if (!at->owner->any_split) return 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        for (uint32_t k = 0; k < each; k++) any |= split[at->address[__builtin_ctz(m)] / 4 + k];
    if (!any) return 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), word = (uint32_t)at->address[lane] / 4;
        of_bytes |= (uint32_t)!shared_join(at->owner, word, each, at->floor) << lane;
    }
    return of_bytes;
}

// --- bytes that lanes access ---

// The first bytes that each lane accesses, `each` of them in one word, and the record of that. A
// lane that is off does what the first one does, once more.
typedef struct {
    uint32_t lanes, each;
    bool apart, any_split; // no two lanes access the same; some word has records of its bytes
    uint32_t byte[LANES], split[LANES], low, high; // the lowest and the highest
    Record mine[LANES];
} Bytes;

static inline void find_split(const Checker *owner, Bytes *of) {
    uint32_t any = 0;
    for (int l = 0; l < LANES; l++) of->split[l] = owner->split[of->byte[l] / 4];
    LANE_LOOP any |= of->split[l];
    of->any_split = any;
}

static void find_bytes(const SharedTouch *at, Record base, uint32_t lanes, bool apart, Bytes *of) {
    const uint32_t first = (uint32_t)__builtin_ctz(lanes), of_first = (uint32_t)at->address[first];
    uint32_t low = UINT32_MAX, high = 0;
    base = shared_record(at, base, 0);
    of->lanes = lanes;
    of->each = at->size;
    of->apart = apart && lanes == ALL_LANES;
    LANE_LOOP {
        const bool on = lanes >> l & 1;
        of->byte[l] = on ? (uint32_t)at->address[l] : of_first;
        of->mine[l] = base + ((Record)(on ? (uint32_t)l : first) << RECORD_THREAD);
    }
    LANE_LOOP low = of->byte[l] < low ? of->byte[l] : low;
    LANE_LOOP high = of->byte[l] > high ? of->byte[l] : high;
    of->low = low;
    of->high = high;
    find_split(at->owner, of);
}

// The records of the lanes' k-th bytes: each its own, or its word's.
ALWAYS void find_old(const Bytes *of, const Checker *owner, int which, uint32_t k,
                     Record old[LANES]) {
    const Record *words = shared_records(&owner->cells, which);
    const Record *bytes = shared_records(&owner->byte_cells, which);
    LANE_LOOP old[l] = words[of->byte[l] / 4];
    if (!of->any_split) return;
    LANE_LOOP {
        const uint32_t byte = of->byte[l] + k, bit = (uint32_t)which + byte % 4;
        const Record own = bytes[byte];
        old[l] = of->split[l] >> bit & 1 ? own : old[l];
    }
}

// Adds to `wrong` where a last write is earlier than `start`, or it is not seen at once that the
// access of a record is ordered before those of the lanes; second writes may not matter at all.
ALWAYS void add_open(const SharedTouch *at, const Bytes *of, int which, uint32_t k, Record start,
                     uint64_t wrong[LANES]) {
    const SharedTouch local = *at;
    Record old[LANES], least = ~(Record)0, greatest = 0;
    find_old(of, at->owner, which, k, old);
    LANE_LOOP greatest = old[l] > greatest ? old[l] : greatest;
    if (start) LANE_LOOP least = old[l] < least ? old[l] : least;
    if (least < start) LANE_LOOP wrong[l] |= (uint64_t)(old[l] < start);
    if (greatest < local.noise) return;
    if (which == OF_WRITE_2)
        LANE_LOOP wrong[l] |= (uint64_t)(old[l] >= local.noise);
    else
        LANE_LOOP wrong[l] |= (uint64_t)shared_open(&local, old[l], of->mine[l], false);
}

// How many of a lane's bytes have to be looked at: if only halves of words were accessed, what
// holds of the first one holds of the second.
static uint32_t different(const SharedTouch *at, const Bytes *of) {
    return of->any_split && at->owner->odd_bytes ? of->each : 1;
}

static uint32_t open_lanes(const SharedTouch *at, const Bytes *of) {
    const bool loads = at->kind == ACCESS_LOAD;
    const Record start = loads ? at->start : 0;
    uint64_t wrong[LANES] = {0}, any = 0;
    uint32_t bits = 0;
    for (uint32_t k = 0; k < different(at, of); k++) {
        if (start || shared_any_write(at)) add_open(at, of, OF_WRITE, k, start, wrong);
        if (shared_any_write_2(at)) add_open(at, of, OF_WRITE_2, k, 0, wrong);
        if (!loads && shared_any_read(at)) add_open(at, of, OF_READ, k, 0, wrong);
        if (!loads && shared_any_read_2(at)) add_open(at, of, OF_READ_2, k, 0, wrong);
    }
    LANE_LOOP any |= wrong[l];
    if (any) LANE_LOOP bits |= (uint32_t)(wrong[l] != 0) << l;
    return bits & of->lanes;
}

// From now on the lanes' k-th bytes, up to the `count`-th, have such records of their own.
static void set_split(Checker *owner, const Bytes *of, int which, uint32_t k, uint32_t count) {
    const uint32_t bits = ((1u << count) - 1) << k << which;
    for (int l = 0; l < LANES; l++)
        owner->split[of->byte[l] / 4] |= (uint16_t)(bits << of->byte[l] % 4);
}

// Some lanes' k-th bytes, up to the `count`-th, have such records.
static void set_some(const SharedTouch *at, const Bytes *of, int which, uint32_t k, uint32_t count,
                     const uint64_t lanes[LANES], uint64_t wanted) {
    Checker *owner = at->owner;
    Record *records = which == OF_READ ? owner->byte_cells.read : owner->byte_cells.read_2;
    const uint32_t bits = ((1u << count) - 1) << k << which;
    for (int l = 0; l < LANES; l++) {
        if (lanes[l] != wanted) continue;
        for (uint32_t i = k; i < k + count; i++) records[of->byte[l] + i] = of->mine[l];
        owner->split[of->byte[l] / 4] |= (uint16_t)(bits << of->byte[l] % 4);
    }
}

// Whether the reads that are noted of the lanes' k-th bytes tell all that theirs would.
ALWAYS bool all_told(const SharedTouch *at, const Bytes *of, uint32_t k, const Record read[LANES]) {
    const Record floor = at->floor, warp_floor = at->warp_floor;
    Record second[LANES];
    uint64_t open = 0;
    if (!at->plain || at->owner->latest_read_2 < floor) return false;
    find_old(of, at->owner, OF_READ_2, k, second);
    LANE_LOOP open |= shared_told_to(read[l], second[l], of->mine[l], floor, warp_floor) ^ 1;
    return !open;
}

ALWAYS bool any_lane(const uint64_t lanes[LANES]) {
    uint64_t any = 0;
    LANE_LOOP any |= lanes[l];
    return any != 0;
}

// Leaves out lanes beside whose k-th bytes' first read the second one stays.
ALWAYS void leave_out(const SharedTouch *at, Bytes *of, uint32_t k, uint64_t lanes[LANES]) {
    const SharedTouch local = *at;
    Record read[LANES], second[LANES];
    if (at->owner->latest_read_2 < at->floor) return;
    find_split(at->owner, of);
    find_old(of, at->owner, OF_READ, k, read);
    find_old(of, at->owner, OF_READ_2, k, second);
    LANE_LOOP lanes[l] &= (uint64_t)!shared_stays(&local, read[l], second[l], of->mine[l]);
}

// The k-th bytes that lanes read, up to the `count`-th, which have the same records. Of several
// lanes that read one byte two are remembered.
static void note_reads(const SharedTouch *at, Bytes *of, uint32_t k, uint32_t count) {
    Checker *owner = at->owner;
    Record *const read = owner->byte_cells.read, old[LANES];
    const SharedTouch local = *at;
    uint64_t others[LANES] = {0};
    if (shared_read_before(at)) {
        find_old(of, owner, OF_READ, k, old);
        if (all_told(at, of, k, old)) return;
        LANE_LOOP others[l] = !shared_stands_for(&local, old[l], of->mine[l]);
    }
    const bool any = any_lane(others);
    if (any) {
        set_some(at, of, OF_READ, k, count, others, 0);
    } else {
        for (uint32_t i = k; i < k + count; i++)
            for (int l = 0; l < LANES; l++) read[of->byte[l] + i] = of->mine[l];
        set_split(owner, of, OF_READ, k, count);
        if (of->apart) return;
    }
    LANE_LOOP others[l] |= (uint64_t)(read[of->byte[l] + k] != of->mine[l]);
    // Where all lanes' reads took the place of others, these and the second ones lie behind the
    // barrier, or, if the warp has met since, behind that.
    if (any || at->warp_floor > at->floor) leave_out(at, of, k, others);
    if (!any_lane(others)) return;
    set_some(at, of, OF_READ_2, k, count, others, 1);
    shared_noted(&owner->latest_read_2, of->mine[0] | RECORD_LANE_MASK);
}

// Whether some lane stores to a word that is not known to be written.
static bool stores_alone(const SharedTouch *at, const Bytes *of) {
    const Record *write = at->owner->cells.write, start = at->owner->block_start << RECORD_TIME;
    Record least = ~(Record)0, first[LANES];
    LANE_LOOP first[l] = write[of->byte[l] / 4];
    LANE_LOOP least = first[l] < least ? first[l] : least;
    return least < start;
}

// False: two lanes store to one byte, and all is as before.
static bool note_stores(const SharedTouch *at, const Bytes *of) {
    Checker *owner = at->owner;
    Record *write = owner->byte_cells.write, old[2][LANES], twice = 0;
    for (uint32_t k = 0; !of->apart && k < of->each; k++)
        LANE_LOOP old[k][l] = write[of->byte[l] + k];
    for (uint32_t k = 0; k < of->each; k++)
        for (int l = 0; l < LANES; l++) write[of->byte[l] + k] = of->mine[l];
    for (uint32_t k = 0; !of->apart && k < of->each; k++)
        LANE_LOOP twice |= write[of->byte[l] + k] ^ of->mine[l];
    for (uint32_t k = 0; twice && k < of->each; k++)
        for (int l = 0; l < LANES; l++) write[of->byte[l] + k] = old[k][l];
    if (twice) return false;
    set_split(owner, of, OF_WRITE, 0, of->each);
    if (!owner->bytes_alone) owner->bytes_alone = stores_alone(at, of);
    return true;
}

uint32_t shared_quick_bytes(const SharedTouch *at, Record base, bool apart) {
    Checker *owner = at->owner;
    uint32_t lanes = at->mask;
    Bytes of;
    if (at->partial && at->kind == ACCESS_LOAD) return lanes;
    if (at->plain && at->kind == ACCESS_LOAD &&
        (shared_bytes_told(at, base) || shared_bytes_same(at, base)))
        return 0;
    find_bytes(at, base, lanes, apart, &of);
    const uint32_t open = open_lanes(at, &of);
    if (open == lanes) return lanes;
    lanes &= ~open;
    if (open) find_bytes(at, base, lanes, apart, &of);
    if (at->kind != ACCESS_LOAD && !note_stores(at, &of)) return at->mask;
    const uint32_t times = different(at, &of);
    for (uint32_t k = 0; at->kind == ACCESS_LOAD && k < times; k++)
        note_reads(at, &of, k, of.each / times);
    owner->odd_bytes |= of.each == 1;
    shared_noted(&owner->latest_bytes, of.mine[0] | RECORD_LANE_MASK | 3);
    shared_note_split(owner, of.low, of.high);
    return open;
}

// --- whole warps, each lane behind the one before ---
//
// What was noted of bytes since the last barrier is in their own records, whatever split says: it
// was set then. So where the words' records are older, those of the bytes tell all.

// The bytes of a row, 1 << `shift` of them a lane's, and the words in which they lie; the record of
// the first lane.
typedef struct {
    Checker *checker;
    uint32_t byte, bytes, shift, word, words;
    Record base, floor, warp_floor;
} ByteRow;

ALWAYS Record greatest(const Record *records, uint32_t count) {
    Record found = 0;
    for (uint32_t k = 0; k < count; k++) found = records[k] > found ? records[k] : found;
    return found;
}

// Whether a barrier lies behind all that these records of the words tell, none of which is later
// than `latest`.
ALWAYS bool words_past(const ByteRow *row, const Record *words, Record latest) {
    return latest < row->floor || greatest(words + row->word, row->words) < row->floor;
}

// The same of the bytes too.
ALWAYS bool row_past(const ByteRow *row, const Record *words, const Record *bytes, Record latest) {
    return words_past(row, words, latest) &&
           (latest < row->floor || greatest(bytes + row->byte, row->bytes) < row->floor);
}

// Whether some word's last write is not known, or is noted by its bytes.
ALWAYS bool row_unwritten(const ByteRow *row) {
    const Checker *checker = row->checker;
    const Record start = checker->block_start << RECORD_TIME;
    uint32_t apart = 0, wrong = 0;
    for (uint32_t k = row->word; k < row->word + row->words; k++) apart |= checker->split[k];
    for (uint32_t k = row->word; k < row->word + row->words; k++)
        wrong |= (uint32_t)(checker->cells.write[k] < start);
    return wrong | (apart & (FOUR << OF_WRITE | FOUR << OF_WRITE_2));
}

// From now on all bytes of the row have such records of their own: `bits` of a word's.
ALWAYS void split_row(const ByteRow *row, uint32_t bits) {
    uint16_t *split = row->checker->split + row->word;
    const uint32_t before = row->byte % 4, behind = row->words * 4 - before - row->bytes;
    const uint32_t first = FOUR << before & FOUR, last = FOUR >> behind, lowest = bits / FOUR;
    for (uint32_t k = 1; k + 1 < row->words; k++) split[k] |= (uint16_t)bits;
    split[0] |= (uint16_t)(lowest * first);
    split[row->words - 1] |= (uint16_t)(lowest * last);
    shared_note_split(row->checker, row->byte, row->byte + row->bytes - 1);
    row->checker->odd_bytes |= !row->shift;
    shared_noted(&row->checker->latest_bytes, row->base | RECORD_LANE_MASK | 3);
}

// Where others have read since the barrier, the lanes' reads are noted beside theirs, as by
// shared_stands_for and shared_stays. Whether any have.
ALWAYS bool note_row(const ByteRow *row, Record *read, Record *read_2) {
    const ByteRow local = *row;
    const Record copies = RECORD_COPY << RECORD_TIME;
    uint64_t any = 0;
    for (uint64_t k = 0; k < local.bytes; k++) {
        const Record mine = local.base + (k >> local.shift << RECORD_THREAD);
        const Record old = read[k], other = read_2[k];
        const uint64_t strange = (old ^ mine) & RECORD_LANE_MASK ? 1 : 0;
        const uint64_t far = (old ^ mine) & RECORD_WARP_MASK ? 1 : 0;
        const uint64_t far_2 = (other ^ mine) & RECORD_WARP_MASK ? 1 : 0;
        const uint64_t copy = (uint64_t)(old >= copies), copy_2 = (uint64_t)(other >= copies);
        const uint64_t late = far | (uint64_t)(old >= local.warp_floor);
        const uint64_t beside = (copy | (strange & late)) & (uint64_t)(old >= local.floor);
        const uint64_t of_warp = (copy | far) ^ 1;
        const uint64_t stays = copy_2 | (of_warp & far_2 & (uint64_t)(other >= local.floor));
        read[k] = beside ? old : mine;
        read_2[k] = beside & (stays ^ 1) ? mine : other;
        any |= beside;
    }
    return any;
}

ALWAYS bool load_row(const ByteRow *row) {
    Checker *checker = row->checker;
    const Cells *words = &checker->cells, *bytes = &checker->byte_cells;
    if (row_unwritten(row) || !words_past(row, words->write, checker->latest_write)) return false;
    if (shared_second_writes(checker, row->word, row->words, row->floor)) return false;
    if (!words_past(row, words->read, checker->latest_read)) return false;
    if (!words_past(row, words->read_2, checker->latest_read_2)) return false;
    if (checker->check->partial && !row_past(row, words->read, bytes->read, checker->latest_read))
        return false;
    if (note_row(row, bytes->read + row->byte, bytes->read_2 + row->byte))
        shared_noted(&checker->latest_read_2, row->base | RECORD_LANE_MASK);
    split_row(row, FOUR << OF_READ | FOUR << OF_READ_2);
    shared_noted(&checker->latest_read, row->base | RECORD_LANE_MASK | 3);
    return true;
}

ALWAYS bool store_row(const ByteRow *row) {
    Checker *checker = row->checker;
    const Cells *words = &checker->cells, *bytes = &checker->byte_cells;
    const Record start = checker->block_start << RECORD_TIME;
    if (!row_past(row, words->write, bytes->write, checker->latest_write)) return false;
    if (shared_second_writes(checker, row->word, row->words, row->floor)) return false;
    if (!row_past(row, words->read, bytes->read, checker->latest_read)) return false;
    if (!row_past(row, words->read_2, bytes->read_2, checker->latest_read_2)) return false;
    for (uint64_t k = 0; k < row->bytes; k++)
        bytes->write[row->byte + k] = row->base + (k >> row->shift << RECORD_THREAD);
    for (uint32_t k = row->word; k < row->word + row->words; k++)
        checker->bytes_alone |= words->write[k] < start;
    split_row(row, FOUR << OF_WRITE);
    shared_noted(&checker->latest_write, row->base | RECORD_LANE_MASK | 3);
    return true;
}

bool shared_bytes_row(Checker *checker, uint32_t byte, uint32_t size, Record base,
                      Record warp_floor, bool loads) {
    const uint32_t words = (byte % 4 + size * LANES + 3) / 4;
    if (check_clusters(checker->machine)) return false;
    shared_expand(checker, byte / 4, words);
    const Record floor = checker->block_floor << RECORD_TIME;
    if (size == 1) {
        const ByteRow row = {checker, byte, LANES, 0, byte / 4, words, base, floor, warp_floor};
        return loads ? load_row(&row) : store_row(&row);
    }
    const ByteRow row = {checker, byte, 2 * LANES, 1, byte / 4, words, base, floor, warp_floor};
    return loads ? load_row(&row) : store_row(&row);
}

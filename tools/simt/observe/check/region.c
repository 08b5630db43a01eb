// The records of a region, as words, as groups of words, as bytes: see touch.h.
#include "simt/observe/check/touch.h"

// The records of a region, or of its bytes, that this access needs are there. False: no memory.
bool region_room(const Touch *at, Region *region, bool bytes) {
    Cells *cells = bytes ? &region->bytes : &region->words;
    uint32_t count = bytes ? REGION_BYTES : REGION_WORDS;
    bool good = !at->reads || shadow_room(&cells->read, count);
    good = good && (!at->writes || shadow_room(&cells->write, count));
    if (good) return true;
    at->checker->lost = true;
    return false;
}

// This launch notes a second access to some word of the region. False: no memory.
bool region_use_more(const Touch *at, Region *region) {
    Cells *cells = region->split == at->checker->check->launch ? &region->bytes : &region->words;
    uint32_t count = cells == &region->bytes ? REGION_BYTES : REGION_WORDS;
    if (!shadow_room(&cells->read_2, count) || !shadow_room(&cells->write_2, count)) {
        at->checker->lost = true;
        return false;
    }
    region->more = at->checker->check->launch;
    return true;
}

// --- groups of words that a warp accessed as a whole ---

_Static_assert(REGION_GROUP == 1 << 5, "shifted by 5, all words are the first one's lane's");
static Record group_lane(Record group, uint32_t k) {
    const uint32_t shift = (group & 3) == GROUP_ONE ? 5 : group & 3;
    return (group & ~(Record)3) + ((Record)(k >> shift) << RECORD_THREAD);
}

// What a read is worth beside another one: before the launch, behind a barrier of its block, of the
// other one's warp, of another warp, of another block.
static int worth_beside(const Touch *at, Record one, Record read) {
    if (read < at->launch) return 0;
    if (touch_own(at, read) && read < at->floor) return 1;
    if (one >= at->launch && shadow_same_warp(one, read)) return 2;
    return touch_own(at, read) ? 3 : 4;
}

// The two reads of a word that are kept, of the last two of its group and its own: the group's last
// one, unless a barrier lies behind it, and the one that is worth most beside it.
static void keep_two(const Touch *at, const Record reads[4], Record kept[2]) {
    kept[0] = reads[0];
    for (int k = 1; k < 4 && worth_beside(at, 0, kept[0]) < 2; k++)
        if (worth_beside(at, 0, reads[k]) >= 2) kept[0] = reads[k];
    kept[1] = 0;
    for (int k = 0; k < 4; k++)
        if (reads[k] != kept[0] &&
            worth_beside(at, kept[0], reads[k]) > worth_beside(at, kept[0], kept[1]))
            kept[1] = reads[k];
}

// The records of a group become those of its words. False: no memory.
static bool expand_group(const Touch *at, Region *region, uint32_t g) {
    const uint64_t launch = at->checker->check->launch;
    GroupRecords *group = &region->groups[g];
    Cells *cells = &region->words;
    const bool writes = group->write >= at->launch, reads = group->read >= at->launch;
    const uint32_t page = 1u << g * REGION_GROUP / REGION_PAGE;
    const bool more =
        reads && (group->read_2 >= at->launch || shadow_pages(region->read, launch) & page);
    if ((writes && !shadow_room(&cells->write, REGION_WORDS)) ||
        (reads && !shadow_room(&cells->read, REGION_WORDS)) ||
        (more && !region_use_more(at, region))) {
        at->checker->lost = true;
        return false;
    }
    for (uint32_t k = 0; k < REGION_GROUP; k++) {
        const uint32_t word = g * REGION_GROUP + k;
        if (writes) cells->write[word] = group_lane(group->write, k);
        if (!reads) continue;
        const Record last = group_lane(group->read, k);
        if (!more) {
            cells->read[word] = last;
            continue;
        }
        const Record of[] = {last, cells->read[word], cells->read_2[word],
                             group_lane(group->read_2, k)};
        Record kept[2];
        keep_two(at, of, kept);
        for (int i = 0; at->rest && i < 4; i++)
            if (of[i] != kept[0] && of[i] != kept[1])
                touch_keep(at, of[i], region->low + (uint64_t)word * 4, 4, false);
        cells->read[word] = kept[0];
        cells->read_2[word] = kept[1];
    }
    if (writes) shadow_stamp(&region->written, launch, page);
    if (reads) shadow_stamp(&region->read, launch, page);
    *group = (GroupRecords){0};
    return true;
}

bool region_expand(const Touch *at, Region *region, uint32_t first, uint32_t words) {
    bool good = true;
    if (region->grouped != at->checker->check->launch || !words) return true;
    for (uint32_t g = first / REGION_GROUP; good && g <= (first + words - 1) / REGION_GROUP; g++)
        if (region->groups[g].write >= at->launch || region->groups[g].read >= at->launch)
            good = expand_group(at, region, g);
    return good;
}

// --- bytes ---

// Those of this launch, if it made any: what the bytes have is of earlier ones. False: no memory.
static bool copy_to_bytes(const Touch *at, bool used, const Record *words, Record **bytes) {
    enum { AT_ONCE = 16 };
    const Record launch = at->launch;
    if (!used || !words) return true;
    if (!shadow_room(bytes, REGION_BYTES)) return false;
    Record *const to = *bytes;
    for (uint32_t first = 0; first < REGION_WORDS; first += AT_ONCE) {
        Record latest = 0;
        for (uint32_t k = first; k < first + AT_ONCE; k++)
            latest = words[k] > latest ? words[k] : latest;
        if (latest < launch) continue;
        for (uint32_t k = first * 4; k < (first + AT_ONCE) * 4; k++) to[k] = words[k / 4];
    }
    return true;
}

// From now on this launch has a record for each byte of the region. False: no memory.
bool region_split(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    if (region->split == launch) return true;
    backlog_done(at, region);
    if (!region_expand(at, region, 0, REGION_WORDS)) return false;
    const bool written = shadow_pages(region->written, launch);
    const bool read = shadow_pages(region->read, launch);
    const bool more = region->more == launch;
    const Cells *words = &region->words;
    Cells *bytes = &region->bytes;
    const bool good = copy_to_bytes(at, written, words->write, &bytes->write) &&
                      copy_to_bytes(at, more, words->write_2, &bytes->write_2) &&
                      copy_to_bytes(at, read, words->read, &bytes->read) &&
                      copy_to_bytes(at, more, words->read_2, &bytes->read_2);
    region->split = launch;
    at->checker->lost |= !good;
    return good;
}

void region_mark(const Touch *at, Region *region, uint32_t pages) {
    const uint64_t launch = at->checker->check->launch;
    if (at->reads) shadow_stamp(&region->read, launch, pages);
    if (at->writes) shadow_stamp(&region->written, launch, pages);
}

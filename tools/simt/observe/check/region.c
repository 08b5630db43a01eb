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

// What a read is worth beside a later one: of another block, of another warp, of its own; behind
// all of which there is a barrier.
static int worth_beside(const Touch *at, Record later, Record read) {
    if (read < at->launch) return 0;
    if (!touch_own(at, read)) return 4;
    if (read < at->floor) return 1;
    return (read ^ later) & RECORD_WARP_MASK ? 3 : 2;
}

// The second read of a word that the whole group's last one takes the place of.
static Record second_read(const Touch *at, Record last, Record of_group, Record read,
                          Record read_2) {
    const Record reads[] = {read, read_2};
    Record found = of_group;
    for (int k = 0; k < 2; k++)
        if (worth_beside(at, last, reads[k]) > worth_beside(at, last, found)) found = reads[k];
    return found;
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
        const Record last = group_lane(group->read, k), other = group_lane(group->read_2, k);
        if (more) {
            const Record of[] = {cells->read[word], cells->read_2[word], other};
            const Record found = second_read(at, last, other, of[0], of[1]);
            for (int i = 0; at->rest && i < 3; i++)
                if (of[i] != found)
                    touch_keep(at, of[i], region->low + (uint64_t)word * 4, 4, false);
            cells->read_2[word] = found;
        }
        cells->read[word] = last;
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

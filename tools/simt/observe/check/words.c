// Races of one lane and word, every case: see touch.h.
#include "simt/observe/check/touch.h"

// Whether the block's own last strong access to the word, which is ordered before this one, came
// after all strong writes of others: then they are ordered too, by what it observed. PTX ISA,
// "Causality Order". An atomic operation at whose old value nobody looks may as well have come
// earlier.
static bool observed(const Touch *at, const Region *region, const Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    const Record write = cells->write[k] & ~RECORD_OF_MANY; // the last lane saw what others wrote
    const bool looks = at->checker->check->sites[record_site(write)].looks;
    if (looks && write >= at->launch && touch_ordered(at, write)) return true;
    if (!shadow_pages(region->read, launch) || !cells->read) return false;
    Record read = cells->read[k], other = more ? cells->read_2[k] : 0;
    return (record_scope(read) && read >= at->launch && touch_ordered(at, read)) ||
           (record_scope(other) && other >= at->launch && touch_ordered(at, other));
}

// What a record that is put aside is worth: weak accesses first, then those of other blocks.
static int worth(const Touch *at, Record record) {
    return touch_weak(at, record) * 2 + touch_foreign(at, record);
}

// The record of an access is put aside if one of another thread takes its place, or a strong one
// that of a weak one.
static void put_aside(const Touch *at, Record old, Record *aside) {
    if (worth(at, old) >= worth(at, *aside)) *aside = old;
}

// What was observed is kept beside a weak read behind it, which stands for weak ones of its warp.
static void note_read(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    Record old = cells->read[k];
    const bool known = touch_known(at, old), many = known && !at->rest && !touch_ordered(at, old);
    cells->read[k] = at->mine | (Record)many << RECORD_MANY;
    const bool observation = record_scope(old) && old >= at->launch && !at->strong;
    const bool weaker = at->strong && touch_weak(at, old);
    if (known && !observation && !weaker) return;
    if (!region_use_more(at, region)) return;
    Record *aside = &cells->read_2[k];
    if (observation && touch_known(at, *aside))
        *aside = old;
    else
        put_aside(at, old, aside);
}

// Those of the last two reads, or writes, before an access that have no place any more, and for
// which it does not stand: they are not ordered before it, or weak and it is not.
static void keep_rest(const Touch *at, const Cells *cells, uint32_t k, const Record before[2],
                      uint64_t address, uint32_t count) {
    const Record *now = at->reads ? &cells->read[k] : &cells->write[k];
    const Record *now_2 = at->reads ? cells->read_2 : cells->write_2;
    const uint64_t steps = at->checker->room->steps;
    for (int i = 0; i < 2 && at->rest->work <= REST_WORK; i++) {
        const Record old = before[i];
        if (old < at->launch || old == *now || (now_2 && old == now_2[k])) continue;
        if ((at->strong && touch_weak(at, old)) || !touch_ordered(at, old))
            touch_keep(at, old, address, count, at->writes);
    }
    at->rest->work += at->checker->room->steps - steps;
}

// Strong reads before a strong write do not race with it, and did not observe it. Of lanes of a
// warp that write what the last one does, that is of many.
static void note_strong(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    const Record old = cells->write[k];
    const bool known = touch_known(at, old) && record_scope(old);
    const bool many = known && !at->rest && !touch_ordered(at, old);
    cells->write[k] = at->mine | (Record)many << RECORD_MANY;
    if (shadow_pages(region->read, launch) && cells->read) {
        Record none = 0, *other = region->more == launch ? &cells->read_2[k] : &none;
        if (record_scope(*other)) *other = 0;
        if (record_scope(cells->read[k])) {
            cells->read[k] = *other; // no second one without a first
            *other = 0;
        }
    }
    if (touch_known(at, old) && !touch_weak(at, old)) return;
    if (region_use_more(at, region)) put_aside(at, old, &cells->write_2[k]);
}

// Which of the last writes stored what this store does, and nothing orders them.
typedef struct {
    bool last, other;
} Equal;

// Of stores of the same that nothing orders two are kept.
static void note_store(const Touch *at, Region *region, Cells *cells, uint32_t k, Equal equal) {
    const Record old = cells->write[k];
    cells->write[k] = at->mine;
    if (region->more != at->checker->check->launch && !equal.last) return;
    if (!region_use_more(at, region)) return;
    const Record other = equal.other ? cells->write_2[k] : 0;
    cells->write_2[k] = touch_second(at, equal.last ? old : 0, other);
}

// Holds the lane's access against the last writes: strong ones may have been observed.
static Equal against_writes(const Touch *at, const Region *region, const Cells *cells, uint32_t k,
                            uint64_t address, uint32_t count) {
    const bool more = region->more == at->checker->check->launch;
    const Record last = cells->write[k], other = more ? cells->write_2[k] : 0;
    Equal equal = {false, false};
    if (touch_settled(at, last, at->mine) && touch_settled(at, other, at->mine)) return equal;
    const bool seen = record_scope(last) && observed(at, region, cells, k);
    if (!seen) equal.last = touch_against(at, last, address, count, true);
    if (!seen || !record_scope(other)) equal.other = touch_against(at, other, address, count, true);
    return equal;
}

// The last two reads, or writes.
static void find_before(const Touch *at, const Region *region, const Cells *cells, uint32_t k,
                        Record before[2]) {
    const uint64_t launch = at->checker->check->launch;
    const Record *last = at->reads ? cells->read : cells->write;
    const Record *second = at->reads ? cells->read_2 : cells->write_2;
    if (shadow_pages(at->reads ? region->read : region->written, launch) && last)
        before[0] = last[k];
    if (region->more == launch) before[1] = second[k];
}

static void touch(const Touch *at, Region *region, bool bytes, uint32_t k, uint64_t address) {
    const uint64_t launch = at->checker->check->launch;
    const uint32_t count = bytes ? 1 : 4;
    Cells *cells = bytes ? &region->bytes : &region->words;
    const bool more = region->more == launch;
    Equal equal = {false, false};
    Record before[2] = {0, 0};
    const bool written = shadow_pages(region->written, launch) && cells->write;
    if (touch_rest(at, address, 1))
        touch_against_rest(at, address, count, written && observed(at, region, cells, k));
    if (at->rest) find_before(at, region, cells, k, before);
    if (written) equal = against_writes(at, region, cells, k, address, count);
    if (at->writes && shadow_pages(region->read, launch) && cells->read) {
        touch_against(at, cells->read[k], address, count, false);
        if (more) touch_against(at, cells->read_2[k], address, count, false);
    }
    if (at->reads)
        note_read(at, region, cells, k);
    else if (at->strong)
        note_strong(at, region, cells, k);
    else
        note_store(at, region, cells, k, equal);
    if (at->rest) keep_rest(at, cells, k, before, address, count);
}

static void touch_lane(const Touch *at, uint64_t first) {
    const uint64_t launch = at->checker->check->launch;
    Region *region = shadow_region(first);
    if (!region || (at->size < 4 && !region_split(at, region))) {
        at->checker->lost = true;
        return;
    }
    backlog_done(at, region);
    bool bytes = region->split == launch;
    const uint32_t word = (uint32_t)(first - memory_base) % REGION_BYTES / 4;
    const uint32_t words = (at->size + 3) / 4;
    if (!region_expand(at, region, word, words)) return;
    if (!region_room(at, region, bytes)) return;
    region_mark(at, region, shadow_pages_between(word, word + words - 1));
    const uint32_t step = bytes ? 1 : 4;
    for (uint64_t address = first; address < first + at->size; address += step)
        touch(at, region, bytes, (uint32_t)((address - memory_base) % REGION_BYTES / step),
              address);
}

void words_touch(Touch *at, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1) {
        at->lane = (uint32_t)__builtin_ctz(m);
        at->mine = at->base + ((Record)at->lane << RECORD_THREAD);
        touch_lane(at, at->address[at->lane]);
    }
}

// Races of one lane and word, every case: see touch.h.
#include "simt/observe/check/touch.h"

// Whether the block's own last strong access to the word, which is ordered before this one, came
// after all strong writes of others: then they are ordered too, by what it observed. PTX ISA,
// "Causality Order".
static bool observed(const Touch *at, const Region *region, const Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    const Check *check = at->checker->check;
    Record write = cells->write[k];
    if (check->sites[record_site(write)].kind == ACCESS_ATOMIC && touch_ordered(at, write))
        return true;
    if (region->read != launch || !cells->read) return false;
    Record read = cells->read[k], other = more ? cells->read_2[k] : 0;
    return (record_scope(read) && read >= at->launch && touch_ordered(at, read)) ||
           (record_scope(other) && other >= at->launch && touch_ordered(at, other));
}

// The record of an access is put aside if one of another thread takes its place, those of other
// blocks first.
static void put_aside(const Touch *at, Record old, Record *aside) {
    if (!touch_foreign(at, *aside) || touch_foreign(at, old)) *aside = old;
}

// What was observed is kept beside a weak read behind it.
static void note_read(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    Record old = cells->read[k];
    cells->read[k] = at->mine;
    bool observation = record_scope(old) && old >= at->launch && !at->strong;
    if ((touch_known(at, old) && !observation) || !region_use_more(at, region)) return;
    put_aside(at, old, &cells->read_2[k]);
}

// Strong reads before a strong write do not race with it, and did not observe it.
static void note_write(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    Record old = cells->write[k];
    cells->write[k] = at->mine;
    if (at->strong && region->read == launch && cells->read) {
        if (record_scope(cells->read[k])) cells->read[k] = 0;
        if (region->more == launch && record_scope(cells->read_2[k])) cells->read_2[k] = 0;
    }
    if (!at->strong && region->more == launch) cells->write_2[k] = 0;
    if (!at->strong || touch_known(at, old) || !region_use_more(at, region)) return;
    put_aside(at, old, &cells->write_2[k]);
}

static void touch(const Touch *at, Region *region, bool bytes, uint32_t k, uint64_t address) {
    const uint64_t launch = at->checker->check->launch;
    const uint32_t count = bytes ? 1 : 4;
    Cells *cells = bytes ? &region->bytes : &region->words;
    const bool more = region->more == launch;
    if (region->written == launch && cells->write) {
        const Record last = cells->write[k], other = more ? cells->write_2[k] : 0;
        bool open = !touch_settled(at, last, at->mine) || !touch_settled(at, other, at->mine);
        if (open && !(record_scope(last) && observed(at, region, cells, k))) {
            touch_against(at, last, address, count, true);
            touch_against(at, other, address, count, true);
        }
    }
    if (at->writes && region->read == launch && cells->read) {
        touch_against(at, cells->read[k], address, count, false);
        if (more) touch_against(at, cells->read_2[k], address, count, false);
    }
    if (at->reads)
        note_read(at, region, cells, k);
    else
        note_write(at, region, cells, k);
}

static void touch_lane(const Touch *at, uint64_t first) {
    const uint64_t launch = at->checker->check->launch;
    Region *region = shadow_region(first);
    if (!region || (at->size < 4 && !region_split(at, region))) {
        at->checker->lost = true;
        return;
    }
    bool bytes = region->split == launch;
    const uint32_t word = (uint32_t)(first - memory_base) % REGION_BYTES / 4;
    if (!region_expand(at, region, word, (at->size + 3) / 4)) return;
    if (!region_room(at, region, bytes)) return;
    region_mark(at, region);
    const uint32_t step = bytes ? 1 : 4;
    for (uint64_t address = first; address < first + at->size; address += step)
        touch(at, region, bytes, (uint32_t)((address - memory_base) % REGION_BYTES / step),
              address);
}

void words_touch(Touch *at, uint32_t mask) {
    uint64_t last = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        at->lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = at->address[at->lane];
        if (address == last && at->reads) continue; // what a warp reads counts once
        last = address;
        at->mine = at->base + ((Record)at->lane << RECORD_THREAD);
        touch_lane(at, address);
    }
}

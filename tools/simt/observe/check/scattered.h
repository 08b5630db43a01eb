// Lanes at any addresses, from the inside: where they lie in a region, and what is known of it. See
// scattered.c.
#ifndef CHECK_SCATTERED_H
#define CHECK_SCATTERED_H

#include "simt/observe/check/touch.h"

// Lanes whose accesses lie in one region, and what this launch did to it so far.
typedef struct {
    Region *region;     // NULL: some of the records that it needs are not there yet
    const Cells *cells; // of its words or bytes, `each` of them a lane's
    uint64_t low;       // where it begins
    uint32_t lanes, shift, each;
    uint32_t written_pages, read_pages; // of the region: where the launch writes, and reads
    bool written, read, more, grouped;  // the first two where the lanes are
    bool written_2, read_2;             // there may be a second write, or read
} Place;

static inline uint32_t cell_of(const Touch *at, const Place *place, uint32_t lane) {
    return (uint32_t)(at->address[lane] - place->low) >> place->shift;
}

static inline Record record_of(const Touch *at, uint32_t lane) {
    return at->base + ((Record)lane << RECORD_THREAD);
}

// What the records of a region are, if all that are needed are there.
static inline void place_records(const Touch *at, Region *region, Place *place) {
    const uint64_t launch = at->checker->check->launch;
    const bool split = region->split == launch;
    const Cells *cells = split ? &region->bytes : &region->words;
    place->cells = cells;
    place->shift = split ? 0 : 2;
    place->each = at->size >> place->shift;
    place->written_pages = shadow_pages(region->written, launch);
    place->read_pages = shadow_pages(region->read, launch);
    place->more = region->more == launch;
    place->grouped = region->grouped == launch && !split;
    const bool ready = place->each && (!place->written_pages || cells->write) &&
                       (!place->read_pages || cells->read) && (!place->more || cells->read_2) &&
                       (at->reads ? place->read_pages : place->written_pages);
    if (ready) place->region = region;
}

// The lanes are at these pages. False: they are not yet marked.
static inline bool place_marked(const Touch *at, Place *place, uint32_t pages) {
    place->written = place->written_pages & pages;
    place->read = place->read_pages & pages;
    place->written_2 = place->more && place->written;
    place->read_2 = place->more && place->read;
    return !(pages & ~(at->reads ? place->read_pages : place->written_pages));
}

static inline void place_pages(const Touch *at, Place *place, uint32_t pages) {
    if (!place_marked(at, place, pages)) region_mark(at, place->region, pages);
}

// The region of an address, without lanes.
static inline void place_at(const Touch *at, uint64_t address, Place *place) {
    const uint64_t offset = address - memory_base;
    Region *region = shadow_regions[offset >> REGION_SHIFT];
    place->low = memory_base + offset / REGION_BYTES * REGION_BYTES;
    place->region = NULL;
    if (!region) return;
    backlog_done(at, region);
    place_records(at, region, place);
}

// --- scattered_few.c: few lanes, one by one. The lanes that need a closer look ---

// `heads`: of the place's lanes those that read another address than the lane before.
uint32_t scattered_read_few(const Touch *at, const Place *place, uint32_t heads);
// Of these lanes of the place; stores and updates.
uint32_t scattered_write_few(const Touch *at, const Place *place, uint32_t lanes);
// Lanes in several regions, `heads`: of reads as above, else all.
uint32_t scattered_far(const Touch *at, uint32_t mask, uint32_t heads);

#endif

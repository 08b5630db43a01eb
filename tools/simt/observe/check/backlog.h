// The entries of a backlog: see backlog.c.
#ifndef CHECK_BACKLOG_H
#define CHECK_BACKLOG_H

#include <stddef.h>

#include "simt/observe/check/touch.h"

// More of an entry, in a byte that is written as a whole: who asks for a part of one that was just
// written waits for it.
typedef struct {
    uint8_t shift : 2;
    uint8_t fold : 2; // of all lanes each 32 >> fold do the same: there are words of the first ones
    bool parted : 1, write : 1;
    bool needed : 1; // when a full backlog is put
} BacklogForm;

// An access of so many lanes from `lane` on, to 1 << `shift` words each, at `first`, at `first +
// stride`, ...; or of those of a mask, behind it their words, to a multiple of 8 bytes. Where there
// is no record, a BacklogContext is behind it; `lane`: it is not of the same block as the one
// before.
typedef struct {
    Record base; // of the warp's first lane
    union {
        struct {
            uint16_t first;
            int16_t stride;
        };
        uint32_t mask;
    };
    uint8_t lane, lanes; // no lanes: those of the mask
    BacklogForm form;
    uint8_t before; // how many times 8 bytes the entry before it has, with what is behind it
} BacklogEntry;

// At so many bytes from the first one.
static inline BacklogEntry *backlog_entry(const Backlog *backlog, uint32_t offset) {
    return (BacklogEntry *)(void *)((uint8_t *)backlog->entries + offset);
}

static inline const uint16_t *backlog_words(const BacklogEntry *entry) {
    return (const uint16_t *)(const void *)(entry + 1);
}

// How many words are behind it.
static inline uint32_t backlog_words_count(const BacklogEntry *entry) {
    return entry->lanes ? 0 : (uint32_t)__builtin_popcount(entry->mask) >> entry->form.fold;
}

// Of the words behind an entry for so many lanes.
static inline uint32_t backlog_words_bytes(uint32_t lanes) {
    return (uint32_t)(lanes * sizeof(uint16_t) + 7) / 8 * 8;
}

// Makes records of what the backlog has. False: out of memory.
bool backlog_put(Region *region);
// The same of a full backlog, which is empty then. False: it is full, and is no good for what the
// launch does here.
bool backlog_condense(Region *region);

#endif

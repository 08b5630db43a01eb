// Collects the lanes of a warp at a warp-wide instruction. Normally they are on one path; when the
// warp has split they are on several, each with its own instruction and registers.
#ifndef MEETING_H
#define MEETING_H

#include "simt/exec/warp.h"

typedef struct {
    uint32_t lanes; // all that have arrived
    uint32_t count; // parties
    struct {
        const Inst *inst;
        uint8_t *frame;
        uint32_t lanes;
        int path; // -1 for the running path
    } party[LANES];
} Meeting;

// True if all named lanes that have not exited have arrived. Then the waiting paths continue after
// their instruction, and the caller writes their results.
bool meeting_of(Warp *warp, const Inst *inst, uint32_t named, Meeting *meeting);

#endif

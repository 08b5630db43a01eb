// Lanes of a warp that meet in an instruction: normally all on one path; when the warp has split,
// on several, each with its own instruction and registers.
#ifndef MEETING_H
#define MEETING_H

#include "simt/exec/warp.h"

typedef struct {
    uint32_t lanes; // of all
    uint32_t count;
    struct {
        const Inst *inst;
        uint8_t *frame;
        uint32_t lanes;
        int path; // -1: the running one
    } party[LANES];
} Meeting;

// True if all lanes that are named and have not ended are here. The paths that waited may go on
// after their instruction; the caller gives them their results.
bool meeting_of(Warp *warp, const Inst *inst, uint32_t named, Meeting *meeting);

#endif

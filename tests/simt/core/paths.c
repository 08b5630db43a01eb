// Unit tests of the paths of a warp, set up by hand as machine code leaves them at a convergence
// barrier. Prints `ok NAME` or `not ok NAME` with what was wrong below.
#include <stdlib.h>
#include <string.h>

#include "simt/exec/path.h"
#include "told.h"

// A path that is ready in front of the barrier, where another one went first.
static Path overtaken(const Inst *barrier, uint32_t mask) {
    return (Path){
        .pc = barrier - 1, .mask = mask, .parent = -1, .overtaken = true, .state = PATH_READY};
}

static Path waiting(const Inst *barrier, uint32_t mask, uint32_t lanes) {
    return (Path){.pc = barrier,
                  .mask = mask,
                  .sync = lanes,
                  .parent = -1,
                  .gathers = true,
                  .state = PATH_SYNC};
}

// The first of so many paths of a warp runs.
static void start(Warp *warp, uint32_t live, uint32_t running, uint8_t paths) {
    warp->current = 0;
    warp->parent = -1;
    warp->live = live;
    warp->mask = warp->exec = running;
    warp->path_count = paths;
}

// Lanes 0 to 3 have set up a barrier of their own, and so have 4 to 7, at the same instruction.
static void test_two_barriers(Warp *warp, const Inst *barrier) {
    start(warp, 0xff, 0x30, 5);
    warp->paths[0] = overtaken(barrier, 0x30); // runs
    warp->paths[1] = overtaken(barrier, 0x40);
    warp->paths[2] = waiting(barrier, 0x80, 0xf0);
    warp->paths[3] = overtaken(barrier, 0x0c);
    warp->paths[4] = waiting(barrier, 0x03, 0x0f);
    LaneU32 *register_of = REG(warp, LaneU32, barrier->converge.barrier);
    for (int l = 0; l < 8; l++) register_of[l] = l < 4 ? 0x0f : 0xf0; // who waits for whom
    const uint32_t again = path_come(warp, barrier, 0xf0);
    if (again != 0xc0) wrong("lanes %x are counted once more, not c0", again);
    if (warp->mask != 0x70) wrong("lanes %x come, not 70", warp->mask);
    if (warp->paths[3].state != PATH_READY) wrong("lanes of the other barrier came along");
    if (!path_gather(warp, barrier, 0xf0)) wrong("lanes are missing");
    if (warp->mask != 0xf0) wrong("lanes %x go on, not f0", warp->mask);
    told("lanes come along to their own barrier only");
}

// A barrier that others have passed is empty for lanes that yielded.
static void test_empty_barrier(Warp *warp, const Inst *barrier) {
    start(warp, 0x0f, 0x01, 3);
    warp->paths[0] = overtaken(barrier, 0x01); // runs
    warp->paths[1] = overtaken(barrier, 0x02);
    warp->paths[2] = waiting(barrier, 0x0c, 0x0e);
    if (path_come(warp, barrier, 0) || !path_gather(warp, barrier, 0)) wrong("somebody is there");
    if (warp->mask != 0x01) wrong("lanes %x go on, not 1", warp->mask);
    told("nobody comes along past an empty barrier");
}

int main(void) {
    Warp *warp = calloc(1, sizeof *warp);
    Inst *code = calloc(4, sizeof *code);
    uint8_t *frame = aligned_alloc(64, 256);
    if (!warp || !code || !frame) return 1;
    warp->frame = memset(frame, 0, 256);
    test_two_barriers(warp, code + 2);
    test_empty_barrier(warp, code + 2);
    free(frame);
    free(code);
    free(warp);
    return 0;
}

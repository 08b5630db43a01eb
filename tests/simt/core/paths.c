// Unit tests of the paths of a warp, set up by hand as machine code leaves them at a convergence
// barrier. Prints `ok NAME`, or `not ok NAME` with what was wrong below it.
#include <stdlib.h>
#include <string.h>

#include "simt/exec/path_converge.h"
#include "told.h"

// A path that is ready to execute this instruction: paths with greater orders split later.
static Path parted(const Warp *warp, const Inst *at, uint32_t mask, uint32_t order) {
    return (Path){.pc = at,
                  .frame = warp->frame,
                  .mask = mask,
                  .state = PATH_READY,
                  .join = {.parent = -1},
                  .converge = {.order = order}};
}

static Path waiting(const Warp *warp, const Inst *barrier, uint32_t mask, uint32_t lanes) {
    return (Path){.pc = barrier,
                  .frame = warp->frame,
                  .mask = mask,
                  .sync = lanes,
                  .state = PATH_SYNC,
                  .join = {.parent = -1},
                  .converge = {.gathers = true, .order = 1}};
}

// The first of several paths of a warp runs, and the lanes have split twice.
static void start(Warp *warp, uint32_t live, uint32_t running, uint8_t paths) {
    memset(warp->paths, 0, sizeof warp->paths);
    warp->current = 0;
    warp->parent = -1;
    warp->live = live;
    warp->mask = warp->exec = running;
    warp->split_order = 4;
    warp->path_count = paths;
    warp->paths[0] = parted(warp, NULL, running, 0);
}

static void test_turns(Warp *warp, const Inst *barrier) {
    start(warp, 0x0f, 0x01, 4);
    warp->paths[1] = parted(warp, barrier - 1, 0x02, 2);
    warp->paths[2] = parted(warp, barrier - 1, 0x04, 4);
    warp->paths[3] = waiting(warp, barrier, 0x08, 0x0f);
    if (path_converge(warp, barrier, 0x0f) != barrier - 1) wrong("other lanes continue");
    if (warp->mask != 0x04) wrong("lanes %x go on, not 4", warp->mask);
    told("the path that split last continues alone");
    if (path_converge(warp, barrier, 0x0f) != barrier - 1) wrong("other lanes continue");
    if (warp->mask != 0x0f) wrong("lanes %x go on, not f", warp->mask);
    told("a path that split earlier continues with those that wait there");
    start(warp, 0x1f, 0x01, 3);
    warp->paths[1] = parted(warp, barrier - 2, 0x10, 2);
    warp->paths[2] = parted(warp, barrier - 2, 0x02, 4);
    path_converge(warp, barrier, 0x03);
    const uint32_t order = warp->paths[0].converge.order;
    if (order != 3) wrong("the order is %u, not 3", order);
    told("a waiting path runs after those that it waits for, and before others");
}

static void test_barrier(Warp *warp, const Inst *barrier) {
    start(warp, 0x0f, 0x03, 2);
    warp->paths[1] = parted(warp, barrier - 2, 0x0c, 2);
    if (path_converge(warp, barrier, 0x0e) != barrier + 1) wrong("lane 0 does not pass");
    if (warp->mask != 0x01) wrong("lanes %x pass, not 1", warp->mask);
    told("lanes that are not in the barrier pass at once");
    warp->paths[warp->current].state = PATH_FREE;
    warp->current = 1;
    warp->mask = warp->exec = 0x0c;
    if (path_converge(warp, barrier, 0x0e) != barrier + 1) wrong("the last lanes do not pass");
    if (warp->mask != 0x0e) wrong("lanes %x pass, not e", warp->mask);
    told("the others pass with the last of them");
    start(warp, 0x0f, 0x01, 2);
    warp->paths[1] = waiting(warp, barrier, 0x0e, 0x0e);
    if (path_converge(warp, barrier, 0) != barrier + 1) wrong("the warp waits");
    if (warp->mask != 0x01) wrong("lanes %x pass, not 1", warp->mask);
    told("no other lane passes an empty barrier");
}

// Lanes of two calls wait at the same barrier, each with the lanes of its own call.
static void test_elsewhere(Warp *warp, const Inst *barrier, const Inst *same) {
    start(warp, 0x0f, 0x01, 4);
    warp->paths[1] = waiting(warp, same, 0x02, 0x0f);
    warp->paths[2] = waiting(warp, barrier, 0x04, 0x0f);
    warp->paths[3] = waiting(warp, barrier, 0x08, 0x0f);
    if (path_converge(warp, barrier, 0x0f) != barrier + 1) wrong("the last lane does not pass");
    if (warp->mask != 0x0d) wrong("lanes %x pass, not d", warp->mask);
    const Path *other = &warp->paths[1];
    if (other->state != PATH_READY || other->pc != same - 1 || other->mask != 0x02)
        wrong("who waits elsewhere does not look once more there");
    told("a lane that waits for the barrier elsewhere has arrived, and checks again");
    start(warp, 0x0f, 0x01, 2);
    warp->paths[1] = waiting(warp, same + 1, 0x0e, 0x0f);
    if (path_converge(warp, barrier, 0x0f) == barrier + 1) wrong("another barrier counts");
    told("a lane that waits for another barrier has not arrived");
}

// Lanes wait for each other at two barriers: those that began to wait last continue.
static void test_stuck(Warp *warp, const Inst *barrier, const Inst *other) {
    start(warp, 0x03, 0x01, 2);
    warp->paths[1] = waiting(warp, other, 0x02, 0x03);
    LaneU32 *lanes = REG(warp, LaneU32, barrier->converge.barrier);
    *lanes = 0x03;
    if (path_converge(warp, barrier, *lanes) != barrier - 1) wrong("lanes wait");
    if (warp->mask != 0x01 || *lanes) wrong("lanes %x go on, for %x", warp->mask, *lanes);
    told("lanes that wait for each other at two barriers continue");
}

int main(void) {
    Warp *warp = calloc(1, sizeof *warp);
    Inst *code = calloc(8, sizeof *code);
    uint8_t *frame = aligned_alloc(64, 256);
    if (!warp || !code || !frame) return 1;
    warp->frame = memset(frame, 0, 256);
    test_turns(warp, code + 2);
    test_barrier(warp, code + 2);
    code[6].converge.barrier = 64;
    test_elsewhere(warp, code + 2, code + 5);
    test_stuck(warp, code + 2, code + 6);
    free(frame);
    free(code);
    free(warp);
    return 0;
}

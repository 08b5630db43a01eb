// Warps: what they start with, and how they fail. See warp.h; path.c has how their lanes split.
#include "simt/exec/warp.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simt/exec/block.h"

void warp_prepare(Warp *warp) {
    const Machine *machine = warp->block->machine;
    memset(warp->stack, 0, machine->stack_bytes);
    code_place_constants(machine->code, machine->params, warp->stack, ALL_LANES);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t thread = warp->index * LANES + l;
        warp->tid[0][l] = thread % machine->block.x;
        warp->tid[1][l] = thread / machine->block.x % machine->block.y;
        warp->tid[2][l] = thread / machine->block.x / machine->block.y;
    }
}

// "chapters/04.md:17: ", or the place in the PTX; empty if the instruction has none.
static void write_place(char *to, size_t room, const Machine *machine, const Inst *inst) {
    const PtxModule *module = machine->module;
    const PtxInst *ptx = machine_instruction(machine, inst);
    to[0] = '\0';
    if (!ptx) return;
    ptx_write_place(module, ptx->place, ptx->ptx_line, to, room - 2);
    strcat(to, ": ");
}

const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const Block *block = warp->block;
    Machine *machine = block->machine;
    char text[700], place[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (lane < 0) lane = __builtin_ctz(warp->mask);
    write_place(place, sizeof place, machine, inst);
    pthread_mutex_lock(&lock);
    if (machine->status == SIMT_OK || block->number < machine->failed_block) {
        machine->status = status;
        machine->failed_block = block->number;
        const Dim3 at = block->index;
        char *to = machine->error.text;
        const size_t room = sizeof machine->error.text;
        if (status == SIMT_ASSERT) // already says where
            snprintf(to, room, "%s", text);
        else
            snprintf(to, room, "%s%s; block (%u,%u,%u), thread (%u,%u,%u)", place, text, at.x, at.y,
                     at.z, warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane]);
    }
    pthread_mutex_unlock(&lock);
    warp->stop = STOP_FAILED;
    return NULL;
}

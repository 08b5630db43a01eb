// Starts warps and reports their failures. See warp.h; path.c splits their lanes.
#include "simt/exec/warp.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/base/align.h"
#include "simt/exec/cluster.h"
#include "simt/memory/memory.h"

void warp_prepare(Warp *warp) {
    const Machine *machine = warp->block->machine;
    memset(warp->stack, 0, machine->stack_bytes);
    for (const Code *code = machine->code; code; code = code->next_frame)
        code_place_constants(code, machine->params, warp->stack + code->frame_base);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t thread = warp->index * LANES + l;
        warp->tid[0][l] = thread % machine->block.x;
        warp->tid[1][l] = thread / machine->block.x % machine->block.y;
        warp->tid[2][l] = thread / machine->block.x / machine->block.y;
    }
}

uint8_t *warp_extra_frame(Warp *warp, const Code *code) {
    const Machine *machine = warp->block->machine;
    if (warp->extra_frame_count == machine->extra_frame_limit) return NULL;
    const size_t size = FRAME_ALIGN + align_up(code->frame_bytes, FRAME_ALIGN);
    ExtraFrame *extra = aligned_alloc(FRAME_ALIGN, size);
    if (!extra) return NULL;
    memset(extra, 0, size);
    extra->next = warp->extra_frames;
    warp->extra_frames = extra;
    warp->extra_frame_count++;
    uint8_t *const frame = (uint8_t *)extra + FRAME_ALIGN;
    code_place_constants(code, machine->params, frame);
    return frame;
}

void warp_free_frames(Warp *warp) {
    while (warp->extra_frames) {
        ExtraFrame *next = warp->extra_frames->next;
        free(warp->extra_frames);
        warp->extra_frames = next;
    }
}

void warp_reach_local(Warp *warp, uint32_t high) {
    if (high <= warp->local_reached) return;
    const size_t stride = warp->block->local_stride;
    uint8_t *lane = warp->block->local + warp->index * LANES * stride;
    for (int l = 0; l < LANES; l++, lane += stride)
        memset(lane + warp->local_reached, MEMORY_POISON, high - warp->local_reached);
    warp->local_reached = high;
}

// Writes "chapters/04.md:17: ", or the line in the PTX, or nothing if the instruction has neither.
// False: the source line is unknown.
static bool write_place(char *to, size_t room, const Machine *machine, const Inst *inst) {
    const PtxModule *module = machine->module;
    const PtxInst *ptx = machine_instruction(machine, inst);
    to[0] = '\0';
    if (!ptx) return true;
    ptx_write_place(module, ptx->place, ptx->ptx_line, to, room - 2);
    strcat(to, ": ");
    return ptx->place.line;
}

const Inst *warp_fail(Warp *warp, const Inst *inst, int lane, SimtStatus status, const char *format,
                      ...) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const Block *block = warp->block;
    const uint64_t turn = block->cluster->place;
    Machine *machine = block->machine;
    char text[600], place[256]; // both fit in error.text, with the numbers
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (lane < 0) lane = __builtin_ctz(warp->mask);
    const char *hint = write_place(place, sizeof place, machine, inst)
                           ? ""
                           : " (nvcc -lineinfo adds the source's line)";
    pthread_mutex_lock(&lock);
    if (turn < machine->failed_place ||
        (turn == machine->failed_place && block->number < machine->failed_block)) {
        machine->status = status;
        __atomic_store_n(&machine->failed_place, turn, __ATOMIC_RELAXED);
        machine->failed_block = block->number;
        const Dim3 at = block->index;
        char *to = machine->error.text;
        const size_t room = sizeof machine->error.text;
        if (status == SIMT_ASSERT) // already says where
            snprintf(to, room, "%s", text);
        else
            snprintf(to, room, "%s%s; block (%u,%u,%u), thread (%u,%u,%u)%s", place, text, at.x,
                     at.y, at.z, warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane], hint);
    }
    pthread_mutex_unlock(&lock);
    warp->stop = STOP_FAILED;
    return NULL;
}

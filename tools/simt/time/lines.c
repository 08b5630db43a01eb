// Adds up predicted time by source line. See time.h.
#include <stdlib.h>
#include <string.h>

#include "simt/time/time.h"

static int compare_lines(const void *left, const void *right) {
    const TimeLine *a = left, *b = right;
    const int files = strcmp(a->file, b->file);
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

size_t time_by_line(Arena *arena, const PtxModule *module, const PtxFunction *function,
                    const TimePrediction *prediction, TimeLine **lines) {
    TimeLine *all = ARENA_NEW(arena, prediction->place_count + 1u, TimeLine);
    size_t count = 0, merged = 0;
    for (uint32_t k = 0; k < prediction->place_count; k++) {
        const TimePlace *place = &prediction->places[k];
        const PtxPlace at = function->insts[place->inst].place;
        if (!at.line || at.file >= module->file_count) continue;
        all[count] = (TimeLine){.file = module->file_short[at.file], .line = at.line};
        memcpy(all[count++].cycles, place->cycles, sizeof place->cycles);
    }
    qsort(all, count, sizeof *all, compare_lines);
    for (size_t k = 0; k < count; k++) {
        if (merged && compare_lines(&all[merged - 1], &all[k]) == 0)
            for (int i = 0; i < STALLS; i++) all[merged - 1].cycles[i] += all[k].cycles[i];
        else
            all[merged++] = all[k];
    }
    *lines = all;
    return merged;
}

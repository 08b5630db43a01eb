// Adds up the counter slots of a launch: in total, by source line and by instruction.
#include "simt/observe/count/counters.h"

#include <stdlib.h>
#include <string.h>

#include "simt/exec/block.h"
#include "simt/observe/observed.h"

const char *const counters_names[COUNTERS] = {
    [COUNT_WARP_INSTS] = "warp_insts",
    [COUNT_THREAD_INSTS] = "thread_insts",
    [COUNT_SHARED_LD_INSTS] = "shared_ld_insts",
    [COUNT_SHARED_LD_WAVEFRONTS] = "shared_ld_wavefronts",
    [COUNT_SHARED_LD_CONFLICTS] = "shared_ld_conflicts",
    [COUNT_SHARED_ST_INSTS] = "shared_st_insts",
    [COUNT_SHARED_ST_WAVEFRONTS] = "shared_st_wavefronts",
    [COUNT_SHARED_ST_CONFLICTS] = "shared_st_conflicts",
    [COUNT_GLOBAL_LD_REQUESTS] = "global_ld_requests",
    [COUNT_GLOBAL_LD_SECTORS] = "global_ld_sectors",
    [COUNT_GLOBAL_ST_REQUESTS] = "global_st_requests",
    [COUNT_GLOBAL_ST_SECTORS] = "global_st_sectors",
    [COUNT_ATOMICS] = "atomics",
    [COUNT_BARRIERS] = "barriers",
    [COUNT_DIVERGENT_BRANCHES] = "divergent_branches",
};

static void add_memory(Counters *counters, SlotKind kind, const Tally *tally) {
    uint64_t *value = counters->value;
    switch (kind) {
    case SLOT_SHARED_LD:
    case SLOT_LDMATRIX: // hardware counts no LDSM and STSM among these instructions
        if (kind == SLOT_SHARED_LD) value[COUNT_SHARED_LD_INSTS] += tally->a;
        value[COUNT_SHARED_LD_WAVEFRONTS] += tally->b;
        value[COUNT_SHARED_LD_CONFLICTS] += tally->b - tally->c;
        break;
    case SLOT_SHARED_ST:
    case SLOT_STMATRIX:
        if (kind == SLOT_SHARED_ST) value[COUNT_SHARED_ST_INSTS] += tally->a;
        value[COUNT_SHARED_ST_WAVEFRONTS] += tally->b;
        value[COUNT_SHARED_ST_CONFLICTS] += tally->b - tally->c;
        break;
    case SLOT_GLOBAL_LD:
        value[COUNT_GLOBAL_LD_REQUESTS] += tally->a;
        value[COUNT_GLOBAL_LD_SECTORS] += tally->b;
        break;
    case SLOT_GLOBAL_ST:
        value[COUNT_GLOBAL_ST_REQUESTS] += tally->a;
        value[COUNT_GLOBAL_ST_SECTORS] += tally->b;
        break;
    case SLOT_ATOMIC:
        value[COUNT_ATOMICS] += tally->a;
        break;
    case SLOT_BARRIER:
        value[COUNT_BARRIERS] += tally->a;
        break;
    case SLOT_BRANCH:
        value[COUNT_DIVERGENT_BRANCHES] += tally->a;
        break;
    case SLOT_BLOCK:
        break;
    }
}

// A hash table of the counters of lines, with open addressing by file and line.
typedef struct {
    LineCounters *lines;
    size_t slots, count;
    Arena *arena;
} LineTable;

static Counters *line_counters(LineTable *table, const PtxModule *module, PtxPlace place) {
    const char *file = place.file < module->file_count && module->file_short[place.file]
                           ? module->file_short[place.file]
                           : "";
    if (2 * (table->count + 1) > table->slots) {
        LineTable bigger = {.slots = table->slots ? 2 * table->slots : 256, .arena = table->arena};
        bigger.lines = ARENA_NEW(table->arena, bigger.slots, LineCounters);
        for (size_t k = 0; k < table->slots; k++) {
            if (!table->lines[k].file) continue;
            uint64_t at = str_hash(str_of(table->lines[k].file)) + table->lines[k].line;
            while (bigger.lines[at % bigger.slots].file) at++;
            bigger.lines[at % bigger.slots] = table->lines[k];
        }
        bigger.count = table->count;
        *table = bigger;
    }
    uint64_t at = str_hash(str_of(file)) + place.line;
    for (;; at++) {
        LineCounters *line = &table->lines[at % table->slots];
        if (!line->file) {
            line->file = file;
            line->line = place.line;
            table->count++;
            return &line->counters;
        }
        if (line->line == place.line && strcmp(line->file, file) == 0) return &line->counters;
    }
}

static int compare_lines(const void *left, const void *right) {
    const LineCounters *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    if (order) return order;
    return a->line < b->line ? -1 : a->line > b->line;
}

static size_t copy_lines(Arena *arena, const LineTable *table, LineCounters **lines) {
    size_t count = 0;
    *lines = ARENA_NEW(arena, table->count + 1, LineCounters);
    for (size_t k = 0; k < table->slots; k++) {
        if (!table->lines[k].file) continue;
        LineCounters *line = &(*lines)[count++];
        *line = table->lines[k];
        line->file = str_terminated(arena, str_of(line->file));
    }
    qsort(*lines, count, sizeof **lines, compare_lines);
    return count;
}

static void add_total(Counters *total, const SlotTable *table, const Tally *tally) {
    for (uint32_t s = 0; s < table->count; s++) {
        const Slot *slot = &table->slots[s];
        if (slot->kind != SLOT_BLOCK) {
            add_memory(total, (SlotKind)slot->kind, &tally[s]);
            continue;
        }
        uint64_t count = slot->ptx_end - slot->ptx;
        total->value[COUNT_WARP_INSTS] += tally[s].a * count;
        total->value[COUNT_THREAD_INSTS] += tally[s].b * count;
    }
}

// Adds what one instruction of a slot counted.
static void add_instruction(Counters *counters, const Slot *slot, const Tally *tally) {
    if (slot->kind != SLOT_BLOCK) {
        add_memory(counters, (SlotKind)slot->kind, tally);
        return;
    }
    counters->value[COUNT_WARP_INSTS] += tally->a;
    counters->value[COUNT_THREAD_INSTS] += tally->b;
}

static void add_slot(LineTable *table, const PtxModule *module, const Slot *slot,
                     const Tally *tally) {
    const PtxFunction *function = slot->function;
    for (uint32_t k = slot->ptx; k < slot->ptx_end && k < function->inst_count; k++)
        add_instruction(line_counters(table, module, function->insts[k].place), slot, tally);
}

static size_t by_line(Arena *arena, const PtxModule *module, const SlotTable *table,
                      const Tally *tally, LineCounters **lines) {
    LineTable line_table = {.arena = arena};
    for (uint32_t s = 0; s < table->count; s++)
        if (tally[s].a || tally[s].b) add_slot(&line_table, module, &table->slots[s], &tally[s]);
    return copy_lines(arena, &line_table, lines);
}

// Lists the instructions that counted anything, in the order of the slots. An instruction may be in
// several slots, which count different things.
static size_t by_span(Arena *arena, const SlotTable *table, const Tally *tally,
                      SpanCounters **spans) {
    size_t count = 0;
    *spans = ARENA_NEW(arena, table->count + 1u, SpanCounters);
    for (uint32_t s = 0; s < table->count; s++) {
        const Slot *slot = &table->slots[s];
        if (!tally[s].a && !tally[s].b) continue;
        SpanCounters *span = &(*spans)[count++];
        *span = (SpanCounters){.function = slot->function, .ptx = slot->ptx};
        span->ptx_end =
            slot->ptx_end < slot->function->inst_count ? slot->ptx_end : slot->function->inst_count;
        add_instruction(&span->counters, slot, &tally[s]);
    }
    return count;
}

static void report(Observer *self, Observed *of) {
    const Machine *machine = of->machine;
    const SlotTable slots = {of->slots->slots, machine->slot_count, machine->slot_count};
    const bool counted = schedule_counts(machine);
    LaunchReport *to = of->report;
    (void)self;
    add_total(&to->total, &slots, of->tally);
    to->longest_warp = counted ? machine->longest_warp : 0;
    to->waits = machine->code->waits || (counted && machine->spun);
    if (of->options->lines)
        to->line_count = by_line(&to->arena, machine->module, &slots, of->tally, &to->lines);
    if (!of->options->instructions) return;
    to->module = machine->module;
    to->function = machine->code->source;
    to->span_count = by_span(&to->arena, &slots, of->tally, &to->spans);
}

static void close_counters(Observer *self, Observed *of) {
    (void)of;
    free(self);
}

void counters_open(Observed *of) {
    static const Observer functions = {.report = report, .close = close_counters};
    of->machine->longest_of = of->options->longest ? of->slots : NULL;
    observed_open(of, NULL, &functions, sizeof functions, "the counters");
}

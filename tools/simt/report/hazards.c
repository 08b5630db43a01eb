// Hazards in reports: see hazards.h.
#include "simt/report/hazards.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *kernel;
    Hazard hazard;
    const char *text; // to be printed as it is; NULL: it is made of the hazard
} Found;

static Found *found;
static size_t found_count, found_capacity;

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_hazard(const Found *known, const char *kernel, const Hazard *hazard) {
    const Hazard *other = &known->hazard;
    return !known->text && strcmp(known->kernel, kernel) == 0 &&
           same_text(other->kind, hazard->kind) && same_text(other->file, hazard->file) &&
           other->line == hazard->line && same_text(other->other_file, hazard->other_file) &&
           other->other_line == hazard->other_line;
}

static const char *keep(Arena *arena, const char *text) {
    return text ? str_terminated(arena, str_of(text)) : NULL;
}

static void append(Arena *arena, const char *kernel, const Hazard *hazard, const char *text) {
    Found added = {keep(arena, kernel), *hazard, keep(arena, text)};
    added.hazard.kind = keep(arena, hazard->kind);
    added.hazard.file = keep(arena, hazard->file);
    added.hazard.other_file = keep(arena, hazard->other_file);
    added.hazard.call_file = keep(arena, hazard->call_file);
    added.hazard.other_call_file = keep(arena, hazard->other_call_file);
    added.hazard.space = keep(arena, hazard->space);
    ARENA_GROW(arena, found, found_count, found_capacity);
    found[found_count++] = added;
}

static void add(Arena *arena, const char *kernel, const Hazard *hazard) {
    for (size_t i = 0; i < found_count; i++)
        if (same_hazard(&found[i], kernel, hazard)) {
            found[i].hazard.occurrences += hazard->occurrences;
            found[i].hazard.more |= hazard->more;
            return;
        }
    append(arena, kernel, hazard, NULL);
}

void hazards_add_told(Arena *arena, const char *kernel, const Hazard *hazard, const char *text) {
    for (size_t i = 0; i < found_count; i++)
        if (found[i].text && strcmp(found[i].text, text) == 0) return;
    append(arena, kernel, hazard, text);
}

void hazards_add(Arena *arena, const char *kernel, const Hazard *hazards, size_t count) {
    for (size_t i = 0; i < count; i++) add(arena, kernel, &hazards[i]);
}

static void add_thread(Buf *buf, const char *what, Dim3 at) {
    buf_format(buf, ", %s (%u,%u,%u)", what, at.x, at.y, at.z);
}

static void write_other(Buf *buf, const Hazard *hazard) {
    const Dim3 block = hazard->other_block;
    buf_format(buf, "; the other access: %s:%u", hazard->other_file ? hazard->other_file : "?",
               hazard->other_line);
    if (block.x != hazard->block.x || block.y != hazard->block.y || block.z != hazard->block.z)
        add_thread(buf, "block", block);
    if (hazard->other_lanes)
        buf_add(buf, STR(" or before, other lanes"));
    else
        add_thread(buf, "thread", hazard->other_thread);
}

static void write_calls(Buf *buf, const Hazard *hazard) {
    if (hazard->call_line)
        buf_format(buf, "    called at %s:%u\n", hazard->call_file ? hazard->call_file : "?",
                   hazard->call_line);
    if (hazard->other_call_line && (hazard->other_call_line != hazard->call_line ||
                                    !same_text(hazard->other_call_file, hazard->call_file)))
        buf_format(buf, "    the other access: called at %s:%u\n",
                   hazard->other_call_file ? hazard->other_call_file : "?",
                   hazard->other_call_line);
}

static void write_hazard(Buf *buf, const Found *at) {
    const Hazard *hazard = &at->hazard;
    if (at->text) {
        buf_add(buf, str_of(at->text));
        return;
    }
    buf_format(buf, "%s:%u: %s in %s", hazard->file ? hazard->file : "?", hazard->line,
               hazard->kind, at->kernel);
    if (hazard->variable[0])
        buf_format(buf, ", %s memory %s", hazard->space, hazard->variable);
    else if (hazard->space)
        buf_format(buf, ", %s address 0x%llx", hazard->space, (unsigned long long)hazard->address);
    add_thread(buf, "block", hazard->block);
    add_thread(buf, "thread", hazard->thread);
    if (hazard->other_line) write_other(buf, hazard);
    if (hazard->occurrences > 1)
        buf_format(buf, "; %llu times%s", (unsigned long long)hazard->occurrences,
                   hazard->more ? " or more" : "");
    buf_char(buf, '\n');
    if (hazard->advice[0]) buf_format(buf, "    %s\n", hazard->advice);
    write_calls(buf, hazard);
}

size_t hazards_count(void) { return found_count; }

Str hazards_text(Arena *arena, size_t number, const char **kernel, const Hazard **hazard) {
    Buf buf = {.arena = arena};
    write_hazard(&buf, &found[number]);
    *kernel = found[number].kernel;
    *hazard = &found[number].hazard;
    return buf_str(&buf);
}

bool hazards_print(Arena *arena) {
    if (found_count == 0) return false;
    printf("\nCPU device: %zu hazard%s\n", found_count, found_count == 1 ? "" : "s");
    for (size_t i = 0; i < found_count; i++) {
        const char *kernel;
        const Hazard *hazard;
        Str text = hazards_text(arena, i, &kernel, &hazard);
        printf("%.*s", STR_ARG(text));
    }
    return true;
}

uint64_t hazards_at(const char *kernel, const char *file, uint32_t line) {
    uint64_t sum = 0;
    for (size_t i = 0; i < found_count; i++) {
        const Hazard *hazard = &found[i].hazard;
        bool here = same_text(hazard->file, file) && hazard->line == line;
        bool other = same_text(hazard->other_file, file) && hazard->other_line == line;
        if ((here || other) && strcmp(found[i].kernel, kernel) == 0) sum += hazard->occurrences;
    }
    return sum;
}

// Extracts errors, hazards and outputs from the logs of compilers and the CPU device.
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <string.h>

#include "grade/program.h"

static const Str report = STR("\nCPU device: ");

static bool is_digit(char c) { return isdigit((unsigned char)c); }

// Takes `FILE:12: ` or `FILE(12): ` off the start of a line.
static bool take_place(Str *line, ProgramNote *note) {
    for (size_t i = 1; i + 2 < line->len; i++) {
        char open = line->at[i];
        if (open != ':' && open != '(') continue;
        size_t end = i + 1, number = 0;
        for (; end < line->len && is_digit(line->at[end]) && number < 10000000; end++)
            number = number * 10 + (size_t)(line->at[end] - '0');
        if (end == i + 1 || end == line->len) continue;
        if (open == '(' ? line->at[end] != ')' : line->at[end] != ':') continue;
        note->file = str_slice(*line, 0, i);
        note->line = number;
        *line = str_from(*line, end + 1);
        if (line->len && open == '(' && line->at[0] == ':') *line = str_from(*line, 1);
        *line = str_trim(*line);
        return true;
    }
    return false;
}

ProgramNote notes_compiler(Arena *arena, Str log) {
    ProgramNote first = {.text = STR("the compiler failed without a message")};
    Str line, mark = STR("error: ");
    size_t count = 0;
    for (Str rest = log; str_line(&rest, &line);) {
        size_t at = str_find(line, mark);
        bool fatal = str_find(line, STR("error")) != SIZE_MAX;
        if (at == SIZE_MAX && !(fatal && first.line == 0 && count == 0)) continue;
        if (count++) continue;
        first.text = line;
        if (take_place(&line, &first)) first.text = line;
        at = str_find(first.text, mark);
        if (at != SIZE_MAX) first.text = str_from(first.text, at + mark.len);
    }
    if (count < 2) return first;
    Buf text = {.arena = arena};
    buf_format(&text, "%.*s (and %zu more)", STR_ARG(first.text), count - 1);
    first.text = buf_str(&text);
    return first;
}

Str notes_output(Str log) { return str_slice(log, 0, str_find(log, report)); }

// Finds the report `CPU device: 2 hazards`; *rest becomes the lines after it.
static bool find_hazards(Str log, Str *rest) {
    for (size_t at; (at = str_find(log, report)) != SIZE_MAX;) {
        Str line;
        log = str_from(log, at + report.len);
        *rest = log;
        str_line(rest, &line);
        if (line.len && is_digit(line.at[0]) && str_find(line, STR(" hazard")) != SIZE_MAX)
            return true;
    }
    return false;
}

// Extends a slice up to the end of a line that follows it in the same text.
static void extend(Str *slice, Str line) {
    if (!slice->at) slice->at = line.at;
    slice->len = (size_t)(line.at + line.len - slice->at);
}

// The kernel's name at the start of `block_sum<256u>, 12 times`.
static Str kernel_name(Str text) {
    size_t end = 0;
    while (end < text.len && (isalnum((unsigned char)text.at[end]) || text.at[end] == '_')) end++;
    return str_slice(text, 0, end);
}

size_t notes_hazards(Arena *arena, Str log, ProgramNote **hazards) {
    size_t count = 0, capacity = 0;
    Str rest, line;
    *hazards = NULL;
    if (!find_hazards(log, &rest)) return 0;
    while (str_line(&rest, &line) && line.len) {
        if (line.at[0] == ' ') {
            if (count) extend(&(*hazards)[count - 1].more, line);
            continue;
        }
        ProgramNote note = {.line = 0};
        take_place(&line, &note);
        note.text = line;
        size_t in = str_find(line, STR(" in "));
        if (in != SIZE_MAX) note.kernel = kernel_name(str_from(line, in + 4));
        ARENA_GROW(arena, *hazards, count, capacity);
        (*hazards)[count++] = note;
    }
    return count;
}

ProgramNote notes_stop(Str log) {
    ProgramNote note = {.text = STR("")};
    for (Str line; str_line(&log, &line);) {
        if (!str_starts(line, STR("simt: "))) continue;
        line = str_from(line, 6);
        size_t colon = str_find(line, STR(": "));
        Str after = colon == SIZE_MAX ? line : str_from(line, colon + 2);
        if (take_place(&after, &note)) {
            note.kernel = kernel_name(line);
            line = after;
        }
        note.text = line;
        return note;
    }
    return note;
}

Str notes_exit(Arena *arena, Str log, int status) {
    Str last = STR(""), line;
    Buf text = {.arena = arena};
    for (Str rest = notes_output(log); str_line(&rest, &line);)
        if (str_trim(line).len) last = str_trim(line);
    if (status > 128)
        buf_format(&text, "the program was stopped by signal %d (%s)", status - 128,
                   strsignal(status - 128));
    else
        buf_format(&text, "the program ended with status %d before it printed its results", status);
    if (last.len) buf_format(&text, "; its last line: %.*s", STR_ARG(str_slice(last, 0, 100)));
    return buf_str(&text);
}

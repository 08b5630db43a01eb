// Condenses a trace to steps and checks that every load finds the value stored last.
#include "collect/steps.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/source.h"

enum { LANES = 32, WORDS = 65536, RACES = 64 };

enum {
    LAUNCH = 1,
    WARP = 3,
    LINE,
    SPACE,
    OP,
    BYTES,
    LANE,
    ADDRESS,
    VALUE,
    FILE_NAME,
    OTHER_THREAD,
    OTHER_LINE,
    OTHER_FILE,
    COLUMNS
};

typedef struct {
    Str line;   // of the other access
    long delta; // distance to the other thread
    uint32_t lanes;
} Race;

// The step that is being read from the rows of its lanes.
typedef struct {
    Str op; // empty: no step yet
    long warp, trace_line;
    Str line;
    uint32_t lanes, values[LANES]; // values: bits of floats
    long words[LANES], count;
    Race races[RACES];
    size_t race_count;
} Step;

typedef struct {
    Steps *steps;
    SourceMap map;
    Csv csv;
    Buf *out;
    size_t head; // length of the output before the launch's rows
    Str launch;
    Step step;
    Str barrier_line;
    uint32_t memory[WORDS];
    bool stored[WORDS];
} Reader;

static bool fail(Reader *reader, const char *fault) {
    reader->steps->line = reader->csv.line;
    reader->steps->fault = fault;
    return false;
}

static long number(Str cell) {
    long value = 0;
    for (size_t i = 0; i < cell.len; i++) value = value * 10 + (cell.at[i] - '0');
    return value;
}

static bool is_number(Str cell) {
    for (size_t i = 0; i < cell.len; i++)
        if (cell.at[i] < '0' || cell.at[i] > '9') return false;
    return cell.len > 0 && cell.len < 16;
}

// --- rows of the output ---

// Adds a list in which runs are shortened: `7 9 0+2x16`.
static void add_runs(Buf *out, const long *list, long count) {
    for (long i = 0, run; i < count; i += run) {
        const long by = i + 1 < count ? list[i + 1] - list[i] : 0;
        for (run = 1; i + run < count && list[i + run] == list[i + run - 1] + by;) run++;
        if (run == 2) run = 1; // shorter as two numbers
        buf_format(out, i ? " %ld" : "%ld", list[i]);
        if (run > 1) buf_format(out, "%+ldx%ld", by, run);
    }
}

static bool is_whole(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number > -1e6f && number < 1e6f && (float)(long)number == number;
}

// Adds a float. The bits of a small integer would be those of a tiny float or of no number.
static void add_value(Buf *out, uint32_t bits) {
    enum { SMALL = 1 << 23 };
    const int32_t integer = (int32_t)bits;
    float number;
    memcpy(&number, &bits, sizeof number);
    if (is_whole(bits))
        buf_format(out, "%ld", (long)number);
    else if (integer > -SMALL && integer < SMALL)
        buf_format(out, "%ld", (long)integer);
    else
        buf_format(out, "%.6g", (double)number);
}

static bool is(const Step *step, const char *op) { return str_equal(step->op, str_of(op)); }

static void add_step(Reader *reader) {
    const Step *step = &reader->step;
    Buf *out = reader->out;
    if (!step->op.len) return;
    buf_format(out, "%ld,%.*s,%.*s,%x,", step->warp, STR_ARG(step->line), STR_ARG(step->op),
               step->lanes);
    if (!is(step, "syncwarp")) add_runs(out, step->words, step->count);
    buf_char(out, ',');
    for (long i = 0; i < step->count && (is(step, "store") || is(step, "shuffle")); i++) {
        if (i) buf_char(out, ' ');
        add_value(out, step->values[i]);
    }
    buf_char(out, ',');
    for (size_t i = 0; i < step->race_count; i++) {
        const Race *race = &step->races[i];
        buf_format(out, i ? " %.*s%+ld:%x" : "%.*s%+ld:%x", STR_ARG(race->line), race->delta,
                   race->lanes);
    }
    buf_char(out, '\n');
    reader->step.op.len = 0;
}

// --- rows of the trace ---

// Reads the bits of a float, which is a whole number in a lab.
static bool take_value(Reader *reader, Str cell, uint32_t *value) {
    char text[9] = "";
    const bool own = reader->steps->own.len > 0, narrow = cell.len == 2 || cell.len == 4;
    if (cell.len != 8 && !(own && narrow)) return fail(reader, "a value that is not of 4 bytes");
    memcpy(text, cell.at, cell.len);
    *value = (uint32_t)strtoul(text, NULL, 16);
    if (own || is_whole(*value)) return true;
    return fail(reader, "a value that is not a float with a whole number below a million");
}

static bool take_line(Reader *reader, Str file, Str line, Str *at) {
    const Steps *steps = reader->steps;
    Buf text = {.arena = steps->arena};
    if (steps->own.len) {
        if (!str_equal(file, steps->own)) buf_format(&text, "%.*s:", STR_ARG(file));
        buf_add(&text, line);
    } else {
        const size_t found = source_number(&reader->map, file, (size_t)number(line));
        if (!found) return fail(reader, "the source with #line has no such line");
        buf_format(&text, "%zu", found);
    }
    *at = buf_str(&text);
    return true;
}

static bool take_word(Reader *reader, const Str *cells, bool store, uint32_t value, long *word) {
    const long address = number(cells[ADDRESS]), bytes = number(cells[BYTES]);
    const bool narrow = reader->steps->own.len && bytes < 4, whole = bytes == 4 && address % 4 == 0;
    if (!(whole || narrow) || address / 4 >= WORDS)
        return fail(reader, "an access that is not to one of the first 65536 words of 4 bytes");
    *word = address / 4;
    if (store || (reader->steps->own.len && !reader->stored[*word])) return true;
    if (!reader->stored[*word]) return fail(reader, "a load of a word that was never stored");
    if (reader->memory[*word] != value)
        return fail(reader, "a load returned something other than the last value stored");
    return true;
}

static bool take_race(Reader *reader, const Str *cells) {
    Step *step = &reader->step;
    Race race = {.lanes = 1u << number(cells[LANE])};
    if (!step->op.len || step->warp != number(cells[WARP]))
        return fail(reader, "a race whose access is missing");
    race.delta = number(cells[OTHER_THREAD]) - (step->warp * LANES + number(cells[LANE]));
    if (!take_line(reader, cells[OTHER_FILE], cells[OTHER_LINE], &race.line)) return false;
    for (size_t i = 0; i < step->race_count; i++) {
        if (step->races[i].delta != race.delta || !str_equal(step->races[i].line, race.line))
            continue;
        step->races[i].lanes |= race.lanes;
        return true;
    }
    if (step->race_count == RACES) return fail(reader, "more than 64 kinds of races in one step");
    step->races[step->race_count++] = race;
    return true;
}

static bool continues(const Step *step, const Str *cells) {
    const long lane = number(cells[LANE]);
    return str_equal(step->op, cells[OP]) && step->warp == number(cells[WARP]) &&
           step->trace_line == number(cells[LINE]) && !(step->lanes >> lane) &&
           step->race_count == 0;
}

static bool take_lane(Reader *reader, const Str *cells) {
    Step *step = &reader->step;
    const long lane = number(cells[LANE]);
    const bool store = str_equal(cells[OP], STR("store"));
    const bool shared = str_equal(cells[SPACE], STR("shared"));
    uint32_t value = 0;
    long word = 0;
    if (!continues(step, cells)) {
        add_step(reader);
        *step =
            (Step){.op = cells[OP], .warp = number(cells[WARP]), .trace_line = number(cells[LINE])};
        if (!take_line(reader, cells[FILE_NAME], cells[LINE], &step->line)) return false;
    }
    if ((shared || is(step, "shuffle")) && !take_value(reader, cells[VALUE], &value)) return false;
    if (shared && !take_word(reader, cells, store, value, &word)) return false;
    if (is(step, "shuffle")) word = number(cells[OTHER_THREAD]) % LANES;
    step->lanes |= 1u << lane;
    step->words[step->count] = word;
    step->values[step->count++] = value;
    if (store) {
        reader->memory[word] = value;
        reader->stored[word] = true;
    }
    return true;
}

static bool take_barrier(Reader *reader, const Str *cells) {
    if (str_equal(cells[OP], STR("barrier")))
        return take_line(reader, cells[FILE_NAME], cells[LINE], &reader->barrier_line);
    add_step(reader);
    buf_format(reader->out, ",%.*s,barrier,,,,\n", STR_ARG(reader->barrier_line));
    return true;
}

static bool take_row(Reader *reader, const Str *cells) {
    static const Str lanes[] = {STR("load"), STR("store"), STR("shuffle"), STR("syncwarp")};
    const bool complete = str_equal(cells[OP], STR("complete"));
    if (!str_equal(cells[LAUNCH], reader->launch)) { // drop the rows of the launch before
        reader->launch = cells[LAUNCH];
        reader->out->len = reader->head;
        reader->step = (Step){.op = STR("")};
        memset(reader->stored, 0, sizeof reader->stored);
    }
    if (!complete && (!is_number(cells[WARP]) || !is_number(cells[LINE]) ||
                      !is_number(cells[LANE]) || number(cells[LANE]) >= LANES))
        return fail(reader, "expected a row of simt --trace");
    if (str_equal(cells[SPACE], STR("barrier"))) return take_barrier(reader, cells);
    if (str_equal(cells[OP], STR("race"))) return take_race(reader, cells);
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (str_equal(cells[OP], lanes[i])) return take_lane(reader, cells);
    return fail(reader, "an operation that is not a step of the player");
}

bool steps_condense(Steps *steps, Str trace, Buf *out) {
    Reader *reader = ARENA_NEW(steps->arena, 1, Reader);
    Str line, *cells;
    size_t count;
    reader->steps = steps;
    reader->map = source_map(steps->arena, steps->lined);
    reader->csv = csv_open(steps->arena, trace);
    reader->out = out;
    buf_add(out, STR("warp,line,op,lanes,words,values,races\n"));
    reader->head = out->len;
    for (bool header = true; csv_line(&reader->csv, &line); header = false) {
        if (!csv_cells(&reader->csv, line, &cells, &count)) break;
        if (count != COLUMNS) return fail(reader, "expected a row of simt --trace");
        if (!header && !take_row(reader, cells)) return false;
    }
    add_step(reader);
    if (reader->csv.fault) return fail(reader, reader->csv.fault);
    if (out->len == reader->head) return fail(reader, "a trace without a launch");
    return true;
}

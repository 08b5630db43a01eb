// Machine: see machine.h.
#include "numbers/machine.h"

static const Str suffix = STR("-machine");

bool machine_is(Str name) { return str_ends(name, suffix) && !str_equal(name, STR("cpu-machine")); }

static bool fail(ResultTable *table, ResultError *error, size_t line, Buf *message) {
    *error = (ResultError){table->path, line, buf_str(message)};
    return false;
}

bool machine_check(Arena *arena, ResultTable *table, ResultError *error) {
    static const Str columns[] = {STR("name"), STR("value"), STR("unit")};
    Buf message = {.arena = arena};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (results_has_column(table, columns[i])) continue;
        buf_format(&message, "the header has no column `%.*s`", STR_ARG(columns[i]));
        return fail(table, error, 0, &message);
    }
    for (size_t i = 0; i < table->row_count; i++) {
        const ResultRow *row = &table->rows[i];
        Str value = results_cell(table, row, columns[1]);
        double number;
        if (results_number(value, &number)) continue;
        buf_format(&message, "value `%.*s` is not a number", STR_ARG(value));
        return fail(table, error, row->line, &message);
    }
    return true;
}

static const ResultTable *table_of(const Results *results, Str device) {
    for (size_t i = 0; i < results->machine_count; i++) {
        Str name = results->machines[i].device;
        if (str_equal(str_slice(name, 0, name.len - suffix.len), device))
            return &results->machines[i];
    }
    return NULL;
}

// How a unit of the file is calculated with: cycles and whatever is counted are plain numbers.
static void set_unit(Value *value, Str unit) {
    static const struct {
        Str name;
        Unit unit;
        double factor;
    } units[] = {{STR("us"), UNIT_TIME, 1},
                 {STR("GHz"), UNIT_CLOCK, 1e6},
                 {STR("GB/s"), UNIT_RATE, 1},
                 {STR("B"), UNIT_BYTES, 1},
                 {STR("count"), UNIT_COUNT, 1}};
    if (str_starts(unit, STR("bytes_per_cycle"))) value->unit = UNIT_BYTES;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!str_equal(unit, units[i].name)) continue;
        value->unit = units[i].unit;
        value->number *= units[i].factor;
    }
}

bool machine_value(const KeyScope *scope, Str name, Value *value, Buf *why) {
    const ResultTable *device = key_device(scope, scope->chapter, why);
    if (!device) return false;
    const ResultTable *table = table_of(scope->results, device->device);
    if (!table) {
        buf_format(why, "%s/%.*s-machine.csv is missing: make record measures it",
                   scope->results->folder, STR_ARG(device->device));
        return false;
    }
    for (size_t i = 0; i < table->row_count; i++) {
        const ResultRow *row = &table->rows[i];
        if (!str_equal(results_cell(table, row, STR("name")), name)) continue;
        *value = (Value){.unit = UNIT_NONE};
        results_number(results_cell(table, row, STR("value")), &value->number);
        set_unit(value, results_cell(table, row, STR("unit")));
        value->stale = key_source_is_stale(scope, results_fact(table, STR("chapter")),
                                           results_fact(table, STR("source")));
        return true;
    }
    buf_format(why, "%s has no `%.*s`", table->path, STR_ARG(name));
    return false;
}

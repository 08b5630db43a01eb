// Looks up latencies and rates of a device, `machine.NAME`, and errors of the times predicted for
// it, `model.GROUP_COLUMN`.
#include "numbers/key.h"

static const ResultTable *table_of(const Results *results, Str device) {
    for (size_t i = 0; i < results->machine_count; i++)
        if (str_equal(results->machines[i].file.device, device)) return &results->machines[i];
    return NULL;
}

// Gives a value its unit for formulas. Cycles and counts are plain numbers.
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

bool key_machine(const KeyScope *scope, Str name, Value *value, Buf *why) {
    const ResultTable *device = key_device(scope, scope->chapter, why);
    if (!device) return false;
    const ResultTable *table = table_of(scope->results, device->device);
    if (!table) {
        buf_format(
            why, "%s is missing: run make record to measure it",
            catalog_path(scope->arena, scope->results->folder, CATALOG_MACHINE, device->device));
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

bool key_model(const KeyScope *scope, Str name, Value *value, Buf *why) {
    const ResultTable *device = key_device(scope, scope->chapter, why);
    const ResultTable *table = scope->results->model;
    if (!device) return false;
    for (size_t i = 0; table && i < table->row_count; i++) {
        const ResultRow *row = &table->rows[i];
        const Str group = results_cell(table, row, STR("key")), rest = str_from(name, group.len);
        if (!str_equal(results_cell(table, row, STR("device")), device->device)) continue;
        if (!str_starts(name, group) || !str_starts(rest, STR("_"))) continue;
        const Str cell = results_cell(table, row, str_from(rest, 1));
        *value = (Value){.unit = str_find(cell, STR(".")) == SIZE_MAX ? UNIT_COUNT : UNIT_RATIO};
        if (results_number(cell, &value->number)) return true;
    }
    buf_format(why, "%s has no number `%.*s` of %.*s",
               catalog_path(scope->arena, scope->results->folder, CATALOG_PREDICTED, STR("errors")),
               STR_ARG(name), STR_ARG(device->device));
    return false;
}

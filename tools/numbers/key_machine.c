// Looks up latencies and rates of a device, `machine.NAME`.
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

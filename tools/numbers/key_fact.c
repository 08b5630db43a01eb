// Looks up facts of results files, such as the name of the device.
#include "numbers/key.h"

// CUDA encodes a version as 1000 * major + 10 * minor: 12040 is 12.4.
static void spell_version(const KeyScope *scope, Str name, Str *text) {
    bool versioned = str_equal(name, STR("toolkit")) || str_equal(name, STR("driver")) ||
                     str_equal(name, STR("runtime"));
    double number;
    if (!versioned || str_find(*text, STR(".")) != SIZE_MAX || !results_number(*text, &number) ||
        number < 1000 || number >= 1e6)
        return;
    Buf readable = {.arena = scope->arena};
    buf_format(&readable, "%d.%d", (int)number / 1000, (int)number % 1000 / 10);
    *text = buf_str(&readable);
}

Str key_fact_text(const KeyScope *scope, const ResultTable *table, Str name) {
    Buf of_chapter = {.arena = scope->arena};
    buf_format(&of_chapter, "%.*s of %.*s", STR_ARG(name), STR_ARG(scope->chapter));
    Str text = results_fact(table, buf_str(&of_chapter));
    if (!text.len) text = results_fact(table, name);
    spell_version(scope, name, &text);
    return text;
}

bool key_fact(const KeyScope *scope, Str table, Str name, Value *value, Buf *why) {
    static const struct {
        Str name;
        Unit unit;
    } units[] = {
        {STR("sm_count"), UNIT_COUNT},        {STR("l2_bytes"), UNIT_BYTES},
        {STR("pin_gbps"), UNIT_RATE},         {STR("memory_clock_khz"), UNIT_CLOCK},
        {STR("memory_bus_bits"), UNIT_COUNT},
    };
    if (str_equal(table, STR("machine"))) return key_machine(scope, name, value, why);
    if (str_equal(table, STR("model"))) return key_model(scope, name, value, why);
    bool counted = str_equal(table, STR("cpu"));
    const ResultTable *from =
        counted ? scope->results->counters : key_device(scope, scope->chapter, why);
    if (!from && counted) buf_format(why, "%s/cpu.csv is missing", scope->results->folder);
    if (!from) return false;
    *value = (Value){.unit = UNIT_TEXT, .text = key_fact_text(scope, from, name)};
    if (value->text.len == 0) {
        buf_format(why, "%s has no line `# %.*s: …`", from->path, STR_ARG(name));
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_equal(name, units[i].name) && results_number(value->text, &value->number))
            value->unit = units[i].unit;
    return true;
}

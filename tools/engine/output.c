// Writes the result of a run as JSON. See engine.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collect/steps.h"
#include "engine/run.h"
#include "simt/memory/memory.h"
#include "simt/native/native.h"
#include "simt/report/bank_data.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/read_back.h"

void output_number(Json *json, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    json_plain(json, str_of(key), str_of(text));
}

static void put_bool(Json *json, const char *key, bool value) {
    json_plain(json, str_of(key), value ? STR("true") : STR("false"));
}

void output_text(Json *json, const char *key, const char *text) {
    if (text)
        json_text(json, str_of(key), escape_valid(json->out->arena, str_of(text)));
    else
        json_plain(json, str_of(key), STR("null"));
}

void output_counters(Json *json, const Counters *counters) {
    json_open(json, STR("counters"), '{');
    for (int k = 0; k < COUNTERS; k++) output_number(json, counters_names[k], counters->value[k]);
    json_close(json, '}');
}

static void put_lines(Json *json, const LaunchReport *report) {
    json_open(json, STR("lines"), '[');
    for (size_t i = 0; i < report->line_count; i++) {
        const LineCounters *line = &report->lines[i];
        json_open(json, STR(""), '{');
        output_text(json, "file", line->file);
        output_number(json, "line", line->line);
        output_counters(json, &line->counters);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static const char *file_of(const PtxModule *module, uint32_t file) {
    return file < module->file_count ? module->file_short[file] : NULL;
}

static void put_banks(Json *json, const LaunchReport *report) {
    json_open(json, STR("banks"), '[');
    for (size_t i = 0; i < report->bank_count; i++) {
        const BankAccesses *found = &report->banks[i];
        const PtxPlace place = found->function->insts[found->ptx].place;
        Buf members = {.arena = json->out->arena};
        json_open(json, STR(""), '{');
        output_text(json, "file", file_of(report->module, place.file));
        output_number(json, "line", place.line);
        output_number(json, "block", found->block);
        buf_char(&members, '{');
        bank_data_write(&members, found);
        buf_char(&members, '}');
        json_plain(json, STR("access"), buf_str(&members));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void output_steps(Json *json, Arena *arena, const char *file, Str trace, bool failed) {
    Buf rows = {.arena = arena};
    Steps steps = {.arena = arena, .fault = "the kernel has no lines"};
    if (file) steps.own = str_of(file);
    // The access that ends a launch has no value: the steps before it are good.
    const bool good = file && (steps_condense(&steps, trace, &rows) || (failed && rows.len));
    Str left = buf_str(&rows), header;
    if (!good) {
        output_text(json, "steps", NULL);
        output_text(json, "no_steps", steps.fault);
        return;
    }
    str_line(&left, &header);
    json_text(json, STR("steps"), left);
}

void output_shape(Json *json, const char *key, Dim3 shape) {
    json_open(json, str_of(key), '[');
    output_number(json, "", shape.x);
    output_number(json, "", shape.y);
    output_number(json, "", shape.z);
    json_close(json, ']');
}

void output_launch(Run *run, const LaunchReport *report, const char *error, Str trace) {
    const Pending *launch = &run->pending;
    const char *name = launch->name;
    Json *json = &run->launches;
    json_open(json, STR(""), '{');
    output_text(json, "kernel", name);
    output_shape(json, "grid", launch->grid);
    output_shape(json, "block", launch->block);
    output_number(json, "shared_bytes", launch->shared);
    output_text(json, "error", error);
    output_counters(json, &report->total);
    put_lines(json, report);
    put_banks(json, report);
    if (run->trace)
        output_steps(json, json->out->arena, report->line_count ? report->lines[0].file : NULL,
                     trace, error != NULL);
    json_close(json, '}');
    hazards_add(&run->arena, name, report->hazards, report->hazard_count, false);
    hazards_orders(&run->arena, name, &report->orders);
    read_back_keep(name, report->differences, report->difference_count);
    run->cut |= report->orders.cut;
}

static void put_hazards(Json *json) {
    json_open(json, STR("hazards"), '[');
    for (size_t i = 0; i < hazards_count() + hazards_notes(); i++) {
        const char *kernel;
        const Hazard *hazard;
        const Str text = hazards_text(json->out->arena, i, 0, &kernel, &hazard);
        json_open(json, STR(""), '{');
        output_text(json, "kind", hazard->kind);
        output_text(json, "kernel", kernel);
        json_text(json, STR("text"), escape_valid(json->out->arena, text));
        put_bool(json, "note", hazard->note);
        json_text(json, STR("advice"), hazards_advice(json->out->arena, hazard));
        output_number(json, "count", hazard->occurrences);
        output_text(json, "file", hazard->file);
        output_number(json, "line", hazard->line);
        output_text(json, "other_file", hazard->other_file);
        output_number(json, "other_line", hazard->other_line);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// JSON has no infinity and no NaN: they are texts.
static void put_float(Json *json, double value, int digits) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (isfinite(value))
        json_plain(json, STR(""), str_of(text));
    else
        json_text(json, STR(""), str_of(text));
}

static void put_integer(Json *json, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    json_plain(json, STR(""), str_of(text));
}

static void put_element(Json *json, ElementKind type, const void *at) {
    enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };
    uint64_t bits = 0;
    float single;
    double number;
    switch (type) {
    case ELEMENT_FLOAT:
        memcpy(&single, at, sizeof single);
        put_float(json, (double)single, FLOAT_DIGITS);
        break;
    case ELEMENT_DOUBLE:
        memcpy(&number, at, sizeof number);
        put_float(json, number, DOUBLE_DIGITS);
        break;
    case ELEMENT_LONG:
        memcpy(&bits, at, 8);
        put_integer(json, (int64_t)bits);
        break;
    case ELEMENT_UCHAR:
        put_integer(json, *(const uint8_t *)at);
        break;
    default:
        memcpy(&bits, at, 4);
        put_integer(json, type == ELEMENT_INT ? (int32_t)bits : (int64_t)bits);
    }
}

void output_read(Run *run, const Buffer *buffer, size_t first, size_t count) {
    const size_t bytes = buffer->type->bytes;
    const uint8_t *at = memory_at(buffer->address + first * bytes);
    read_back_read(buffer->address + first * bytes, count * bytes);
    json_open(&run->reads, STR(""), '[');
    for (size_t k = 0; k < count; k++) put_element(&run->reads, buffer->type->type, at + k * bytes);
    json_close(&run->reads, ']');
}

Str output_all(Run *run, const char *error) {
    Buf *text = ARENA_NEW(&run->arena, 1, Buf);
    text->arena = &run->arena;
    Json json = {.out = text};
    json_close(&run->launches, ']');
    json_close(&run->reads, ']');
    json_open(&json, STR(""), '{');
    output_text(&json, "error", error);
    json_plain(&json, STR("launches"), buf_str(&run->launch_text));
    put_hazards(&json);
    put_bool(&json, "cut", run->cut);
    json_plain(&json, STR("reads"), buf_str(&run->read_text));
    json_text(&json, STR("printed"), escape_valid(&run->arena, native_printed()));
    json_close(&json, '}');
    return buf_str(text);
}

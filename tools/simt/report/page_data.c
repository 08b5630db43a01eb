// Writes the data of a page as JSON: see page_data.h.
#include "simt/report/page_data.h"

#include "simt/report/bank_data.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/name.h"
#include "simt/report/predicted.h"
#include "simt/report/profile.h"
#include "simt/report/source.h"
#include "simt/report/table.h"

// --- PTX ---

// Whether a line of PTX is shown. Lines that only give a source location are not.
static bool is_shown(Str line) {
    line = str_trim(line);
    return line.len && !str_starts(line, STR(".loc")) && !str_starts(line, STR("//"));
}

// Three JSON lists that are built together.
typedef struct {
    Buf ptx, at, insts;
    uint32_t shown; // lines so far
} Lines;

static void add_item(Buf *buf, uint64_t value) {
    buf_format(buf, buf->len ? ",%llu" : "%llu", (unsigned long long)value);
}

static void add_line(Lines *lines, Str text, size_t file, uint32_t source_line) {
    if (lines->ptx.len) buf_add(&lines->ptx, STR(",\n"));
    escape_json(&lines->ptx, text);
    add_item(&lines->at, file);
    add_item(&lines->at, source_line);
    lines->shown++;
}

static void add_function(Lines *lines, const ProfileFunction *function) {
    Str rest = function->text, line;
    uint32_t inst = 0;
    for (uint32_t number = 0; str_line(&rest, &line); number++) {
        uint32_t first = inst;
        while (inst < function->count && function->line[inst] <= number) {
            add_item(&lines->insts, lines->shown);
            inst++;
        }
        if (inst > first)
            add_line(lines, line, function->file[first], function->source_line[first]);
        else if (is_shown(line))
            add_line(lines, line, 0, 0);
    }
}

static void write_lines(Buf *buf, const ProfileKernel *kernel) {
    Lines lines = {
        .ptx = {.arena = buf->arena}, .at = {.arena = buf->arena}, .insts = {.arena = buf->arena}};
    for (size_t k = 0; k < kernel->function_count; k++) add_function(&lines, &kernel->functions[k]);
    buf_add(buf, STR(",\"ptx\":["));
    buf_add(buf, buf_str(&lines.ptx));
    buf_add(buf, STR("],\n\"at\":["));
    buf_add(buf, buf_str(&lines.at));
    buf_add(buf, STR("],\n\"insts\":["));
    buf_add(buf, buf_str(&lines.insts));
    buf_add(buf, STR("]"));
}

// --- launches ---

static void write_entry(Buf *buf, uint32_t first, uint32_t last, uint32_t counter, uint64_t value) {
    if (buf->at[buf->len - 1] != '[') buf_char(buf, ',');
    buf_format(buf, "%u,%u,%u,%llu", first, last, counter, (unsigned long long)value);
}

static void write_entries(Buf *buf, const Profile *profile) {
    for (size_t k = 0; k < profile->count; k++) {
        const ProfileEntry *entry = &profile->entries[k];
        write_entry(buf, entry->first, entry->last, entry->counter, entry->value);
    }
}

// Merges neighbours with the same value into one entry.
static void write_rest(Buf *buf, const ProfileKernel *kernel) {
    for (uint32_t counter = 0; counter < COUNTERS; counter++) {
        for (uint32_t k = 0, last; k < kernel->rest_capacity; k = last + 1) {
            uint64_t value = kernel->rest_insts[k].value[counter];
            last = k;
            while (last + 1 < kernel->rest_capacity &&
                   kernel->rest_insts[last + 1].value[counter] == value)
                last++;
            if (value) write_entry(buf, k, last, counter, value);
        }
    }
}

static void write_shape(Buf *buf, const char *name, Dim3 shape) {
    buf_format(buf, ",\"%s\":\"", name);
    table_shape(buf, shape);
    buf_char(buf, '"');
}

static void write_predicted(Buf *buf, const TimePrediction *time, const ReportOptions *options) {
    Buf text = {.arena = buf->arena};
    if (time->us <= 0 && !time->unknown) return;
    predicted_text(&text, time, options->time, options->warm);
    buf_add(buf, STR(",\"predicted\":"));
    escape_json(buf, buf_str(&text));
}

static void write_launch(Buf *buf, const ProfileKernel *kernel, const Profile *profile,
                         const ReportOptions *options) {
    const bool rest = profile == &kernel->rest;
    buf_format(buf, "{\"launch\":%zu,\"launches\":%llu", profile->launch,
               (unsigned long long)profile->launches);
    if (!rest) write_shape(buf, "grid", profile->grid);
    if (!rest) write_shape(buf, "block", profile->block);
    write_predicted(buf, &profile->time, options);
    buf_add(buf, STR(",\"total\":["));
    for (int k = 0; k < COUNTERS; k++)
        buf_format(buf, k ? ",%llu" : "%llu", (unsigned long long)profile->total.value[k]);
    buf_add(buf, STR("],\"entries\":["));
    if (rest)
        write_rest(buf, kernel);
    else
        write_entries(buf, profile);
    buf_add(buf, STR("]}"));
}

static void write_launches(Buf *buf, const ProfileKernel *kernel, const ReportOptions *options) {
    buf_add(buf, STR(",\n\"launches\":["));
    for (size_t k = 0; k < kernel->profile_count; k++) {
        if (k) buf_add(buf, STR(",\n"));
        write_launch(buf, kernel, &kernel->profiles[k], options);
    }
    if (kernel->rest.launches) {
        if (kernel->profile_count) buf_add(buf, STR(",\n"));
        write_launch(buf, kernel, &kernel->rest, options);
    }
    buf_char(buf, ']');
}

// --- shared memory ---

static void write_bank(Buf *buf, const ProfileBanks *banks) {
    buf_format(buf, "{\"inst\":%u,\"launch\":%zu,\"block\":\"%u,%u,%u\",", banks->found.ptx,
               banks->launch, banks->block.x, banks->block.y, banks->block.z);
    bank_data_write(buf, &banks->found);
    buf_char(buf, '}');
}

// --- all of it ---

static void write_counters(Buf *buf, const ReportOptions *options) {
    buf_add(buf, STR("{\"counters\":["));
    for (int k = 0; k < COUNTERS; k++) {
        const char *group, *metric;
        table_heading((Counter)k, &group, &metric);
        buf_format(buf, "%s{\"name\":\"%s\",\"group\":\"%s\",\"label\":\"%s\"}", k ? ",\n" : "",
                   counters_names[k], group, metric);
    }
    for (int k = 0; k < STALLS && options->time; k++)
        buf_format(
            buf, ",\n{\"name\":\"stall_%s\",\"group\":\"Predicted, %% of time\",\"label\":\"%s\"}",
            time_stall_names[k], time_stall_names[k]);
    buf_format(buf, "],\n\"stalls\":%d,\n\"code\":\"%s\"", COUNTERS,
               options->machine ? "machine code" : "PTX");
}

static void write_kernel(Buf *buf, const ProfileKernel *kernel, const ReportOptions *options) {
    Buf brief = {.arena = buf->arena};
    name_short(&brief, str_of(kernel->name));
    buf_add(buf, STR("{\"name\":"));
    escape_json(buf, str_of(kernel->name));
    buf_add(buf, STR(",\"short\":"));
    escape_json(buf, buf_str(&brief));
    write_lines(buf, kernel);
    write_launches(buf, kernel, options);
    buf_add(buf, STR(",\n\"banks\":["));
    for (size_t k = 0; k < kernel->bank_count; k++) {
        if (k) buf_add(buf, STR(",\n"));
        write_bank(buf, &kernel->banks[k]);
    }
    buf_add(buf, STR("]}"));
}

static void write_place(Buf *buf, const char *name, const char *file, uint32_t line) {
    size_t number = line ? source_file(buf->arena, file) : 0;
    source_want(buf->arena, number, line);
    buf_format(buf, ",\"%s\":[%zu,%u]", name, number, number ? line : 0);
}

static void write_hazards(Buf *buf) {
    buf_add(buf, STR(",\n\"hazards\":["));
    for (size_t k = 0; k < hazards_count(); k++) {
        const char *kernel;
        const Hazard *hazard;
        Str text = hazards_text(buf->arena, k, 0, &kernel, &hazard);
        buf_add(buf, k ? STR(",\n{\"kernel\":") : STR("{\"kernel\":"));
        escape_json(buf, str_of(kernel));
        buf_add(buf, STR(",\"text\":"));
        escape_json(buf, text);
        write_place(buf, "at", hazard->file, hazard->line);
        write_place(buf, "other", hazard->other_file, hazard->other_line);
        buf_char(buf, '}');
    }
    buf_char(buf, ']');
}

void page_data_write(Buf *buf, const ReportOptions *options) {
    size_t count;
    const ProfileKernel *kernels = profile_kernels(&count);
    write_counters(buf, options);
    buf_add(buf, STR(",\n\"kernels\":["));
    for (size_t k = 0; k < count; k++) {
        if (k) buf_add(buf, STR(",\n"));
        write_kernel(buf, &kernels[k], options);
    }
    buf_char(buf, ']');
    write_hazards(buf);
    buf_add(buf, STR(",\n\"files\":"));
    source_write(buf);
    buf_char(buf, '}');
}

// Writes the page of `simt --html`. In the template, `$name$` marks what a function writes.
#include "base/file.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/name.h"
#include "simt/report/outputs.h"
#include "simt/report/page_data.h"
#include "simt/report/page_parts.h"
#include "simt/report/predicted.h"
#include "simt/report/profile.h"
#include "simt/report/table.h"

typedef struct {
    Buf *buf;
    const ReportOptions *options;
    const ProfileKernel *kernels;
    size_t kernel_count;
    bool counted[COUNTERS]; // which counters have a column
} Page;

#define PART(name) ((Str){(const char *)page_##name, page_##name##_length})

// --- styles and scripts ---

static void write_style(Page *page) {
    buf_add(page->buf, PART(theme_css));
    buf_add(page->buf, PART(code_css));
    buf_add(page->buf, PART(report_css));
}

static void write_syntax(Page *page) { buf_add(page->buf, PART(cuda_xml)); }

static void write_script(Page *page) {
    buf_add(page->buf, PART(report_code_js));
    buf_add(page->buf, PART(report_counts_js));
    buf_add(page->buf, PART(report_banks_js));
    buf_add(page->buf, PART(report_panes_js));
    buf_add(page->buf, PART(report_js));
}

static void write_data(Page *page) { page_data_write(page->buf, page->options); }

// --- the launches ---

// Writes the command line of the program.
static void write_title(Page *page) {
    Str command;
    if (!file_read(page->buf->arena, "/proc/self/cmdline", &command)) return;
    for (size_t start = 0; start < command.len;) {
        size_t end = start;
        while (end < command.len && command.at[end]) end++;
        if (start) buf_char(page->buf, ' ');
        escape_html(page->buf, str_slice(command, start, end));
        start = end + 1;
    }
}

// Writes the kind of code, as the whole page names it.
static void write_code(Page *page) {
    buf_add(page->buf, page->options->machine ? STR("machine code") : STR("PTX"));
}

static void write_note(Page *page) {
    const ReportOptions *options = page->options;
    if (!options->time) {
        buf_add(page->buf, STR("No times: this is not a GPU."));
        return;
    }
    buf_add(page->buf, STR("Times are <em>predicted</em> for "));
    escape_html(page->buf, str_of(options->time));
    buf_format(page->buf, ", caches %s: nothing was timed.", options->warm ? "warm" : "cold");
}

static void find_counted(Page *page, const Profile *profile) {
    for (int k = 0; k < COUNTERS; k++) page->counted[k] |= profile->total.value[k] != 0;
}

static void write_heads(Page *page) {
    buf_add(page->buf, STR("<tr><th>Kernel</th><th>Launch</th><th>Launches</th><th>Grid</th>"
                           "<th>Block</th>"));
    if (page->options->time)
        buf_add(page->buf, STR("<th><small>Predicted</small> µs</th>"
                               "<th><small>Predicted</small> limiter</th>"));
    for (int k = 0; k < COUNTERS; k++) {
        const char *group, *metric;
        table_heading((Counter)k, &group, &metric);
        if (page->counted[k])
            buf_format(page->buf, "<th data-counter=\"%d\"><small>%s</small> %s</th>", k, group,
                       metric);
    }
    buf_add(page->buf, STR("</tr>"));
}

static void write_shape(Buf *buf, Dim3 shape) {
    buf_add(buf, STR("</td><td>"));
    if (shape.x) table_shape(buf, shape);
}

static void write_row(Page *page, size_t number, const Profile *profile) {
    Buf *buf = page->buf;
    const ProfileKernel *kernel = &page->kernels[number];
    buf_format(buf, "<tr data-kernel=\"%zu\" data-launch=\"%zu\"><td>", number,
               profile == &kernel->rest ? kernel->profile_count
                                        : (size_t)(profile - kernel->profiles));
    Buf brief = {.arena = buf->arena};
    name_short(&brief, str_of(kernel->name));
    escape_html(buf, buf_str(&brief));
    if (profile->launch)
        buf_format(buf, "</td><td>%zu", profile->launch);
    else
        buf_add(buf, STR("</td><td>others, added up"));
    buf_format(buf, "</td><td>%llu", (unsigned long long)profile->launches);
    write_shape(buf, profile->grid);
    write_shape(buf, profile->block);
    if (page->options->time) {
        const TimePrediction *time = &profile->time;
        const bool there = time->us > 0;
        buf_add(buf, STR("</td><td>"));
        if (there) predicted_us(buf, time->us);
        if (time->unknown) buf_format(buf, "unknown: %s", time->unknown);
        buf_format(buf, "</td><td>%s", there ? time_limit_names[time->limit] : "");
    }
    for (int k = 0; k < COUNTERS; k++)
        if (page->counted[k])
            buf_format(buf, "</td><td>%llu", (unsigned long long)profile->total.value[k]);
    buf_add(buf, STR("</td></tr>\n"));
}

static void write_rows(Page *page) {
    for (size_t k = 0; k < page->kernel_count; k++) {
        const ProfileKernel *kernel = &page->kernels[k];
        for (size_t p = 0; p < kernel->profile_count; p++) write_row(page, k, &kernel->profiles[p]);
        if (kernel->rest.launches) write_row(page, k, &kernel->rest);
    }
}

static void write_hazards(Page *page) {
    if (!hazards_count())
        buf_add(page->buf, page->options->checked
                               ? STR("<p>None was found.</p>")
                               : STR("<p>Not looked for: <code>simt --check</code> does.</p>"));
    for (size_t k = 0; k < hazards_count() + hazards_notes(); k++) {
        const char *kernel;
        const Hazard *hazard;
        if (k < hazards_count())
            buf_format(page->buf, "<pre class=\"hazard\" data-hazard=\"%zu\">", k);
        else
            buf_add(page->buf, STR("<pre class=\"note\">"));
        escape_html(page->buf, hazards_text(page->buf->arena, k, 0, &kernel, &hazard));
        buf_add(page->buf, STR("</pre>\n"));
    }
}

// --- the template ---

static const struct {
    Str name;
    void (*write)(Page *page);
} parts[] = {{STR("title"), write_title},     {STR("note"), write_note},
             {STR("code"), write_code},       {STR("style"), write_style},
             {STR("heads"), write_heads},     {STR("rows"), write_rows},
             {STR("hazards"), write_hazards}, {STR("data"), write_data},
             {STR("syntax"), write_syntax},   {STR("script"), write_script}};

// Writes the named part. Returns false if there is no such name.
static bool write_part(Page *page, Str name) {
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!str_equal(parts[k].name, name)) continue;
        parts[k].write(page);
        return true;
    }
    return false;
}

static void write_template(Page *page) {
    Str rest = PART(report_html);
    for (;;) {
        size_t open = str_find(rest, STR("$"));
        buf_add(page->buf, str_slice(rest, 0, open));
        if (open == SIZE_MAX) break;
        rest = str_from(rest, open + 1);
        size_t close = str_find(rest, STR("$"));
        if (close != SIZE_MAX && write_part(page, str_slice(rest, 0, close)))
            rest = str_from(rest, close + 1);
        else
            buf_char(page->buf, '$');
    }
}

bool html_write(Arena *arena, const ReportOptions *options) {
    Buf buf = {.arena = arena};
    Page page = {.buf = &buf, .options = options};
    page.kernels = profile_kernels(&page.kernel_count);
    for (size_t k = 0; k < page.kernel_count; k++) {
        const ProfileKernel *kernel = &page.kernels[k];
        find_counted(&page, &kernel->rest);
        for (size_t p = 0; p < kernel->profile_count; p++)
            find_counted(&page, &kernel->profiles[p]);
    }
    write_template(&page);
    return file_write_if_changed(arena, options->html, buf_str(&buf)) != FILE_FAILED;
}

// Collects the rungs of the ladder, and weaves the front page's table and story from them.
#include "book/rungs.h"

#include "base/csv.h"
#include "base/path.h"
#include "book/changes.h"
#include "book/code.h"
#include "book/names.h"
#include "book/prose.h"
#include "markdown/braces.h"

typedef struct {
    size_t file, line;
    Str kernel, after; // as CHAPTER/KERNEL, 02/block_sum_global; after: empty for the first
    Str name;
    Str harris, code, predicted;
    Str lesson; // Markdown, which starts on line `line` + 1
} Rung;

typedef struct {
    size_t file, line;
    Str text;
} Summary;

struct Rungs {
    Rung *items;
    size_t count, capacity;
    Summary *summaries;
    size_t summary_count, summary_capacity;
};

// --- what chapters say ---

static Str with_chapter(const Book *book, Str kernel) {
    Buf key = {.arena = book->arena};
    if (kernel.len == 0 || str_find(kernel, STR("/")) != SIZE_MAX) return kernel;
    buf_format(&key, "%.*s/%.*s", STR_ARG(book_chapter(book)), STR_ARG(kernel));
    return buf_str(&key);
}

static void say(Book *book, size_t line, const char *what) {
    Buf message = {.arena = book->arena};
    buf_add(&message, str_of(what));
    book_error(book, line, message);
}

static void add_rung(Book *book, const Braces *braces, size_t line, Str lesson) {
    struct Rungs *rungs = book->rungs;
    Rung rung = {.file = book->file, .line = line, .lesson = lesson};
    braces_value(braces, STR("kernel"), &rung.kernel);
    braces_value(braces, STR("after"), &rung.after);
    braces_value(braces, STR("harris"), &rung.harris);
    braces_value(braces, STR("code"), &rung.code);
    braces_value(braces, STR("predicted"), &rung.predicted);
    rung.name = names_of(book, book_chapter(book), rung.kernel);
    if (rung.kernel.len == 0)
        say(book, line, "a rung needs a kernel: write ::: {.rung kernel=NAME …}");
    else if (rung.name.len == 0)
        say(book, line, "the kernel of a rung needs a name: add it to the chapter's .names block");
    if (str_trim(lesson).len == 0)
        say(book, line, "a rung needs a sentence that says what it teaches");
    rung.kernel = with_chapter(book, rung.kernel);
    rung.after = with_chapter(book, rung.after);
    if (rung.after.len == 0 && rungs->count) rung.after = rungs->items[rungs->count - 1].kernel;
    ARENA_GROW(book->arena, rungs->items, rungs->count, rungs->capacity);
    rungs->items[rungs->count++] = rung;
}

static void add_summary(Book *book, size_t line, Str text) {
    struct Rungs *rungs = book->rungs;
    ARENA_GROW(book->arena, rungs->summaries, rungs->summary_count, rungs->summary_capacity);
    rungs->summaries[rungs->summary_count++] = (Summary){book->file, line, text};
}

static void collect_part(Book *book, const FencePart *part) {
    Str rest = part->source, line;
    Braces braces = {0}, open = {0};
    size_t number = part->line, opened = 0;
    const char *start = NULL;
    for (const char *at = rest.at; str_line(&rest, &line); at = rest.at, number++) {
        DivLine kind = div_line(book->arena, line, &braces);
        bool rung = kind == DIV_OPENS && braces_have_class(&braces, STR("rung"));
        if (rung || (kind == DIV_OPENS && braces_have_class(&braces, STR("summary")))) {
            open = braces;
            opened = number;
            start = rest.at;
        } else if (start && kind == DIV_CLOSES) {
            Str text = {start, (size_t)(at - start)};
            if (braces_have_class(&open, STR("rung")))
                add_rung(book, &open, opened, text);
            else
                add_summary(book, opened, text);
            start = NULL;
        }
    }
    if (start) say(book, opened, "a rung or a summary may hold only text: end it with :::");
}

void rungs_collect(Book *book) {
    book->rungs = ARENA_NEW(book->arena, 1, struct Rungs);
    for (book->file = 0; book->file < book->chunks->file_count; book->file++) {
        FenceParts parts = book->chunks->files[book->file].parts;
        for (size_t p = 0; p < parts.count; p++)
            if (!parts.parts[p].fenced) collect_part(book, &parts.parts[p]);
    }
    book->file = 0;
}

void rungs_open(Book *book, size_t line) {
    const struct Rungs *rungs = book->rungs;
    Buf label = {.arena = book->arena};
    for (size_t i = 0; i < rungs->count; i++) {
        const Rung *rung = &rungs->items[i];
        if (rung->file != book->file || rung->line != line) continue;
        buf_format(&label, "The rung: %.*s", STR_ARG(rung->name));
        if (rung->harris.len) buf_format(&label, " (Harris's kernel %.*s)", STR_ARG(rung->harris));
    }
    Buf text = {.arena = book->arena};
    const char *format = book->style == BOOK_PANDOC ? "::: label\n%.*s\n:::\n\n" : "**%.*s.**\n\n";
    buf_format(&text, format, STR_ARG(buf_str(&label)));
    book_add(book, buf_str(&text));
}

// The position of this kernel on the ladder, from 1, or 0 if it is no rung.
static size_t place_of(const Book *book, Str chapter, Str kernel) {
    const struct Rungs *rungs = book->rungs;
    Buf key = {.arena = book->arena};
    buf_format(&key, "%.*s/%.*s", STR_ARG(chapter), STR_ARG(kernel));
    for (size_t i = 0; i < rungs->count; i++)
        if (str_equal(rungs->items[i].kernel, buf_str(&key))) return i + 1;
    return 0;
}

bool rungs_has(const Book *book, Str chapter, Str kernel) {
    return place_of(book, chapter, kernel) > 0;
}

void rungs_add_csv(const Book *book, Buf *csv) {
    const struct Rungs *rungs = book->rungs;
    buf_add(csv, STR("chapter,kernel,name,rung,after\n"));
    for (size_t i = 0; i < names_count(book); i++) {
        Name name = names_at(book, i);
        size_t place = place_of(book, name.chapter, name.kernel);
        buf_format(csv, "%.*s,%.*s,", STR_ARG(name.chapter), STR_ARG(name.kernel));
        csv_add_cell(csv, name.name);
        if (place)
            buf_format(csv, ",%zu,%.*s\n", place, STR_ARG(rungs->items[place - 1].after));
        else
            buf_add(csv, STR(",,\n"));
    }
}

// --- numbers of a rung ---

static bool find(const Book *book, Str device, Str formula, Value *value) {
    KeyScope scope = book_scope(book);
    Buf why = {.arena = book->arena};
    scope.device = device;
    return expr_value(&scope, formula, value, &why);
}

static Str joined(const Book *book, Str kernel, const char *field) {
    Buf key = {.arena = book->arena};
    buf_format(&key, "%.*s.%s", STR_ARG(kernel), field);
    return buf_str(&key);
}

static bool find_field(const Book *book, Str device, Str kernel, const char *field, Value *value) {
    return find(book, device, joined(book, kernel, field), value);
}

static void add_value(Book *book, Buf *text, const Rung *rung, Value value) {
    value_format_bare(text, value);
    if (!value.stale) return;
    buf_add(text, STR(" *(stale)*"));
    book_check_stale(book, rung->line, rung->kernel, true);
}

static void add_time(Book *book, Buf *text, const Rung *rung, Str kernel, Str device) {
    Value time;
    if (kernel.len && find_field(book, device, kernel, "time", &time))
        add_value(book, text, rung, time);
    else
        buf_add(text, STR("–"));
}

static void add_gain(Book *book, Buf *text, const Rung *rung, Str device) {
    Value before, after, gain;
    if (rung->after.len && find_field(book, device, rung->after, "time", &before) &&
        find_field(book, device, rung->kernel, "time", &after) &&
        !value_combine(before, '/', after, &gain))
        value_format_bare(text, gain);
    else
        buf_add(text, STR("–"));
}

// The kernel's bottleneck (numbers/verdict.h), and how much of it the kernel uses.
static void add_bottleneck(Book *book, Buf *text, Str kernel, Str device) {
    Value bottleneck, used;
    if (!kernel.len || !find_field(book, device, kernel, "bottleneck", &bottleneck) ||
        !bottleneck.text.len) {
        buf_add(text, STR("–"));
        return;
    }
    buf_add(text, bottleneck.text);
    if (!find_field(book, device, kernel, "bottleneck_pct", &used)) return;
    buf_add(text, STR(", "));
    value_format_bare(text, used);
}

// Finds the devices that have times of the last rung; the reference device is first.
static size_t find_devices(const Book *book, const ResultTable **devices, size_t most) {
    size_t count = 0;
    const struct Rungs *rungs = book->rungs;
    for (size_t i = 0; i < book->results->device_count && rungs->count; i++) {
        const ResultTable *device = &book->results->devices[i];
        Value time;
        if (count == most || results_newest_of(device).len) continue;
        Str last = rungs->items[rungs->count - 1].kernel;
        if (find_field(book, device->device, last, "time", &time)) devices[count++] = device;
    }
    return count;
}

// The device's name without its vendor and form factor.
static Str short_name(const Book *book, const ResultTable *device) {
    Str name = results_device_name(book->arena, device), vendor = STR("NVIDIA ");
    if (str_starts(name, vendor)) name = str_from(name, vendor.len);
    return str_slice(name, 0, str_find(name, STR(" ")));
}

static void add_chapter_link(Book *book, Buf *text, size_t file, Str words) {
    buf_format(text, "[%.*s](%.*s)", STR_ARG(words), STR_ARG(prose_link_to(book, file)));
}

enum { DEVICES_MOST = 3 };

// --- the table ---

static void add_table_row(Book *book, Buf *text, const Rung *rung, const ResultTable **devices,
                          size_t count) {
    Str chapter = key_chapter_number(key_chapter_of(book->chunks->files[rung->file].path));
    buf_format(text, "| %.*s | ", STR_ARG(chapter));
    add_chapter_link(book, text, rung->file, rung->name);
    buf_format(text, " | %.*s | ", STR_ARG(rung->harris));
    for (size_t d = 0; d < count; d++) {
        add_time(book, text, rung, rung->kernel, devices[d]->device);
        buf_add(text, STR(" | "));
        if (d) continue;
        add_gain(book, text, rung, devices[d]->device);
        buf_add(text, STR(" | "));
    }
    if (count) add_bottleneck(book, text, rung->kernel, devices[0]->device);
    buf_add(text, count ? STR(" |\n") : STR("\n"));
}

static void weave_table(Book *book) {
    const struct Rungs *rungs = book->rungs;
    const ResultTable *devices[DEVICES_MOST];
    size_t count = find_devices(book, devices, DEVICES_MOST);
    Buf text = {.arena = book->arena};
    buf_add(&text, STR("| chapter | what changed | Harris's kernel |"));
    for (size_t d = 0; d < count; d++) {
        buf_format(&text, " time on %.*s |", STR_ARG(short_name(book, devices[d])));
        if (d == 0) buf_add(&text, STR(" times as fast |"));
    }
    buf_add(&text, count ? STR(" bottleneck |\n| ---: | :--- | :---: |")
                         : STR("\n| ---: | :--- | :---: |"));
    for (size_t d = 0; d < count; d++) buf_add(&text, d ? STR(" ---: |") : STR(" ---: | ---: |"));
    buf_add(&text, count ? STR(" :--- |\n") : STR("\n"));
    for (size_t i = 0; i < rungs->count; i++)
        add_table_row(book, &text, &rungs->items[i], devices, count);
    bool host = book->style != BOOK_PANDOC;
    if (!host) book_add(book, STR("::: results\n"));
    book_add(book, buf_str(&text));
    if (!host) book_add(book, STR(":::\n"));
    book_blank(book);
}

// --- the story ---

// The rung that shows this chunk as its code, or NULL.
static const Rung *rung_of(const Book *book, size_t chunk) {
    const struct Rungs *rungs = book->rungs;
    for (size_t i = 0; i < rungs->count; i++) {
        Str names = rungs->items[i].code;
        for (Str name; str_word(&names, &name);)
            if (chunk_find(book->chunks, name) == chunk) return &rungs->items[i];
    }
    return NULL;
}

// Names the base of the diff that follows, unless that is the previous rung.
static void add_base(Book *book, const Rung *rung, size_t chunk) {
    Buf text = {.arena = book->arena};
    size_t base = changes_of(book, chunk).base;
    const Rung *from = base == CHUNK_NONE ? NULL : rung_of(book, base);
    if (!from || str_equal(path_name(from->kernel), path_name(rung->after))) return;
    buf_format(&text, "Changed from *%.*s*:\n", STR_ARG(from->name));
    book_blank(book);
    book_add(book, buf_str(&text));
}

// Adds the change as a diff, or the whole code of a kernel that has no base.
static void add_code(Book *book, const Rung *rung) {
    Str names = rung->code;
    Buf text = {.arena = book->arena};
    for (Str name; str_word(&names, &name);) {
        size_t chunk = chunk_find(book->chunks, name);
        Buf message = {.arena = book->arena};
        if (chunk == CHUNK_NONE) {
            buf_format(&message, "code=: there is no chunk `%.*s`", STR_ARG(name));
            book_error(book, rung->line, message);
            return;
        }
        add_base(book, rung, chunk);
        book_blank(book);
        text.len = 0;
        buf_add(&text, STR("```diff\n"));
        if (changes_add_diff(book, chunk, &text)) {
            buf_add(&text, STR("```\n"));
            book_add(book, buf_str(&text));
        } else {
            code_weave_bare(book, book->chunks->chunks[chunk].part);
        }
    }
}

static void add_measured(Book *book, Buf *text, const Rung *rung) {
    const ResultTable *devices[DEVICES_MOST];
    size_t count = find_devices(book, devices, DEVICES_MOST);
    for (size_t d = 0; d < count; d++) {
        Str device = devices[d]->device;
        buf_format(text, "%s %.*s: ", d ? ";" : "- *Measured:*",
                   STR_ARG(short_name(book, devices[d])));
        if (rung->after.len) {
            add_time(book, text, rung, rung->after, device);
            buf_add(text, STR(" → "));
        }
        add_time(book, text, rung, rung->kernel, device);
        if (!rung->after.len) continue;
        buf_add(text, STR(", "));
        add_gain(book, text, rung, device);
        buf_add(text, STR(" as fast"));
    }
    if (count) buf_add(text, STR(".\n"));
}

// The bottleneck on the first of the devices, before and now.
static void add_bottlenecks(Book *book, Buf *text, const Rung *rung) {
    const ResultTable *device;
    Buf now = {.arena = book->arena}, before = {.arena = book->arena};
    if (find_devices(book, &device, 1) == 0) return;
    add_bottleneck(book, &now, rung->kernel, device->device);
    add_bottleneck(book, &before, rung->after, device->device);
    if (str_equal(buf_str(&now), STR("–"))) return;
    buf_add(text, STR("- *Bottleneck:* "));
    bool same = str_equal(buf_str(&now), buf_str(&before));
    if (rung->after.len && !same) buf_format(text, "%.*s → ", STR_ARG(buf_str(&before)));
    buf_format(text, same ? "%.*s, as before.\n" : "%.*s.\n", STR_ARG(buf_str(&now)));
}

static Str with_capital(Arena *arena, Str text) {
    Buf out = {.arena = arena};
    buf_add(&out, text);
    if (out.len && out.at[0] >= 'a' && out.at[0] <= 'z') out.at[0] = (char)(out.at[0] - 'a' + 'A');
    return buf_str(&out);
}

static void weave_rung(Book *book, const Rung *rung) {
    Buf text = {.arena = book->arena}, where = {.arena = book->arena};
    Str chapter = key_chapter_number(key_chapter_of(book->chunks->files[rung->file].path));
    buf_format(&text, "### %.*s\n\n", STR_ARG(with_capital(book->arena, rung->name)));
    buf_format(&where, "Chapter %.*s", STR_ARG(chapter));
    add_chapter_link(book, &text, rung->file, buf_str(&where));
    if (rung->harris.len) buf_format(&text, " · Harris's kernel %.*s", STR_ARG(rung->harris));
    buf_char(&text, '\n');
    book_add(book, buf_str(&text));
    add_code(book, rung);
    book_blank(book);
    text.len = 0;
    if (rung->predicted.len) {
        book_open_fold(book, STR("predicted"), "Predicted", 0);
        buf_format(&text, "%.*s.\n", STR_ARG(with_capital(book->arena, rung->predicted)));
        book_add(book, buf_str(&text));
        book_close_fold(book);
        text.len = 0;
    }
    add_measured(book, &text, rung);
    add_bottlenecks(book, &text, rung);
    book_add(book, buf_str(&text));
    book_blank(book);
    size_t file = book->file;
    book->file = rung->file; // the lesson's keys and links are resolved in its own chapter
    Str lesson = prose_inline(book, str_trim(rung->lesson), rung->line + 1);
    book->file = file;
    book_add(book, lesson);
    book_blank(book);
}

static void weave_summaries(Book *book) {
    const struct Rungs *rungs = book->rungs;
    for (size_t i = 0; i < rungs->summary_count; i++) {
        const Summary *summary = &rungs->summaries[i];
        const Anchor *title = anchor_find(&book->anchors, summary->file, STR(""));
        Buf text = {.arena = book->arena};
        Str chapter = key_chapter_of(book->chunks->files[summary->file].path);
        if (!title) continue;
        buf_add(&text, STR("**"));
        add_chapter_link(book, &text, summary->file,
                         anchor_book_title(book->arena, chapter, 1, title->title));
        buf_add(&text, STR(".** "));
        size_t file = book->file;
        book->file = summary->file;
        buf_add(&text, prose_inline(book, str_trim(summary->text), summary->line + 1));
        book->file = file;
        buf_char(&text, '\n');
        book_add(book, buf_str(&text));
        book_blank(book);
    }
}

bool rungs_weave(Book *book, const FencePart *part) {
    bool table = fence_has_class(part, STR("rungs"));
    bool story = fence_has_class(part, STR("story"));
    const struct Rungs *rungs = book->rungs;
    if (!table && !story && !fence_has_class(part, STR("summaries"))) return false;
    book_blank(book);
    if (table)
        weave_table(book);
    else if (story)
        for (size_t i = 0; i < rungs->count; i++) weave_rung(book, &rungs->items[i]);
    else
        weave_summaries(book);
    return true;
}

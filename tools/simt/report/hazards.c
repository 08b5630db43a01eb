// Collects hazards over all launches, merges equal ones, and formats them.
#include "simt/report/hazards.h"

#include <stdio.h>
#include <string.h>

#include "simt/exec/machine.h"
#include "simt/report/table.h"

typedef struct {
    const char *kernel;
    Hazard hazard;
} Found;

typedef struct {
    Found *at;
    size_t count, capacity;
} List;

static List hazards, notes;
static List pairs; // of lines, for counts by line

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_places(const Hazard *a, const Hazard *b) {
    return same_text(a->file, b->file) && a->line == b->line &&
           same_text(a->other_file, b->other_file) && a->other_line == b->other_line;
}

// Whether `b` is `a` with the two accesses swapped, which another order of warps may cause. In a
// loop, a barrier may be missing before or after each.
static bool same_turned(const Hazard *a, const Hazard *b) {
    return a->span.loop == b->span.loop && same_text(a->file, b->other_file) &&
           a->line == b->other_line && same_text(a->other_file, b->file) &&
           a->other_line == b->line;
}

// Whether both are among lanes of a warp that go through these lines as if they ran in step.
static bool same_steps(const Span *one, const Span *two) {
    return (one->between_steps || two->between_steps) && one->low <= two->high &&
           two->low <= one->high && !one->loop && !two->loop;
}

// Whether one barrier, or one atomic operation, would mend both.
static bool same_span(const Hazard *a, const Hazard *b) {
    const Span *one = &a->span, *two = &b->span;
    if (!one->high || !two->high || !same_text(a->file, b->file) || one->calls != two->calls)
        return false;
    if (one->step || two->step)
        return one->low == two->low && one->high == two->high && same_text(a->advice, b->advice);
    if (!same_text(one->barrier, two->barrier)) return false;
    return same_steps(one, two) ||
           (one->loop == two->loop && one->low < two->high && two->low < one->high);
}

static const char *cause(const Hazard *hazard) {
    return hazard->cause ? hazard->cause : hazard->told;
}

static bool same_hazard(const Found *known, const char *kernel, const Hazard *hazard) {
    const Hazard *other = &known->hazard;
    return strcmp(known->kernel, kernel) == 0 && same_text(other->kind, hazard->kind) &&
           (same_places(other, hazard) || same_turned(other, hazard) || same_span(other, hazard)) &&
           same_text(cause(other), cause(hazard)) &&
           (!hazard->host || same_text(other->advice, hazard->advice));
}

static const char *copy_text(Arena *arena, const char *text) {
    return text ? str_terminated(arena, str_of(text)) : NULL;
}

static Found copy_hazard(Arena *arena, const char *kernel, const Hazard *hazard) {
    Found made = {copy_text(arena, kernel), *hazard};
    made.hazard.kind = copy_text(arena, hazard->kind);
    made.hazard.file = copy_text(arena, hazard->file);
    made.hazard.other_file = copy_text(arena, hazard->other_file);
    made.hazard.call_file = copy_text(arena, hazard->call_file);
    made.hazard.other_call_file = copy_text(arena, hazard->other_call_file);
    made.hazard.space = copy_text(arena, hazard->space);
    made.hazard.told = copy_text(arena, hazard->told);
    made.hazard.cause = copy_text(arena, hazard->cause);
    made.hazard.opcode = copy_text(arena, hazard->opcode);
    made.hazard.fact = copy_text(arena, hazard->fact);
    made.hazard.also = copy_text(arena, hazard->also);
    made.hazard.span.barrier = copy_text(arena, hazard->span.barrier);
    return made;
}

// Adds the lines of a hazard to one that the same barrier would mend: it must be between the lines
// of both or, in a loop, after those of both.
static void join(Arena *arena, Hazard *known, const Hazard *hazard) {
    Span *span = &known->span;
    const uint32_t low = hazard->span.low, high = hazard->span.high;
    if (!span->barrier) return;
    if (hazard->span.barrier && same_steps(span, &hazard->span)) {
        span->between_steps = true;
        if (low < span->low) span->low = low;
        if (high > span->high) span->high = high;
        return;
    }
    if (!hazard->span.barrier) { // of the same lines, which a barrier alone does not order
        *span = hazard->span;
        memcpy(known->advice, hazard->advice, sizeof known->advice);
        return;
    }
    if ((low > span->low) != span->loop) span->low = low;
    if ((high < span->high) != span->loop) span->high = high;
    if (same_places(known, hazard) || same_turned(known, hazard)) return;
    Buf also = {.arena = arena};
    buf_format(&also, "%u and %u", low, high);
    if (known->also && strstr(known->also, str_terminated(arena, buf_str(&also)))) return;
    if (known->also) buf_format(&also, ", %s", known->also);
    known->also = str_terminated(arena, buf_str(&also));
}

// Adds or merges a hazard. Saves the usual order's version, and counts one order alone. Reports two
// accesses in the order of their lines if they were seen in that order.
static void add(Arena *arena, List *list, const char *kernel, const Hazard *hazard) {
    size_t i = 0;
    while (i < list->count && !same_hazard(&list->at[i], kernel, hazard)) i++;
    Found *known = i < list->count ? &list->at[i] : NULL;
    if (!known) {
        ARENA_GROW(arena, list->at, list->count, list->capacity);
        list->at[list->count++] = copy_hazard(arena, kernel, hazard);
        return;
    }
    Hazard *old = &known->hazard;
    const Hazard before = *old;
    const bool forward = same_turned(old, hazard) && hazard->line > hazard->other_line;
    if (hazard->seed ? hazard->seed == old->seed && forward : before.seed || forward) {
        *known = copy_hazard(arena, kernel, hazard);
        old->span = before.span;
        old->also = before.also;
    }
    if (before.seed == hazard->seed) {
        old->occurrences = before.occurrences + hazard->occurrences;
        old->more = before.more | hazard->more;
    }
    join(arena, old, hazard);
}

// Counts a hazard for its lines, even if it is reported as a part of another one.
static void count_at_lines(Arena *arena, const char *kernel, const Hazard *hazard) {
    Found *known = pairs.at, *end = known + pairs.count;
    while (known < end &&
           (strcmp(known->kernel, kernel) != 0 || !same_text(known->hazard.kind, hazard->kind) ||
            !(same_places(&known->hazard, hazard) || same_turned(&known->hazard, hazard))))
        known++;
    if (known == end) {
        ARENA_GROW(arena, pairs.at, pairs.count, pairs.capacity);
        pairs.at[pairs.count++] = copy_hazard(arena, kernel, hazard);
    } else if (known->hazard.seed == hazard->seed) {
        known->hazard.occurrences += hazard->occurrences;
    } else if (!hazard->seed) { // only the usual order counts, once it has shown the hazard
        known->hazard.seed = 0;
        known->hazard.occurrences = hazard->occurrences;
    }
}

void hazards_add(Arena *arena, const char *kernel, const Hazard *of, size_t count, bool strict) {
    for (size_t i = 0; i < count; i++) {
        Hazard one = of[i];
        one.note &= !strict;
        add(arena, one.note ? &notes : &hazards, kernel, &one);
        if (!one.note) count_at_lines(arena, kernel, &one);
    }
}

// Adds the order, if the usual one does not show the hazard.
static void add_order(Buf *buf, uint64_t seed) {
    if (seed == ORDER_REVERSED)
        buf_add(buf, STR(", with blocks and warps in reverse"));
    else if (seed)
        buf_format(buf, ", in order %llu", (unsigned long long)seed);
}

static uint64_t matters; // launches in which the order matters
static uint64_t cut;     // of those, launches that did not run in all orders
static bool asked;       // --orders was given

void hazards_orders(Arena *arena, const char *kernel, const Orders *orders) {
    Hazard failure = {.kind = "failure in another order", .seed = orders->failed_in};
    Buf text = {.arena = arena};
    matters += orders->matters;
    cut += orders->cut;
    asked |= orders->asked;
    if (!orders->failed_in) return;
    buf_add(&text, str_of(kernel));
    add_order(&text, orders->failed_in);
    buf_format(&text, ": %s", orders->failure.text);
    failure.told = str_terminated(arena, buf_str(&text));
    add(arena, &hazards, kernel, &failure);
}

// --- formatting: what happened and where, the other access, what to do ---

// Appends a line, indented and wrapped between words at `width` columns; 0 means no wrapping.
static void add_line(Buf *to, Str line, int indent, int width) {
    int column = 0;
    if (!width) buf_format(to, "%*s%.*s", indent, "", STR_ARG(line));
    for (Str word; width && str_word(&line, &word);) {
        const bool breaks = column && column + 1 + (int)word.len > width;
        if (breaks) buf_char(to, '\n');
        if (breaks || !column) {
            column = breaks ? indent + 2 : indent;
            buf_format(to, "%*s", column, "");
        } else {
            buf_char(to, ' ');
            column++;
        }
        buf_add(to, word);
        column += (int)word.len;
    }
    buf_char(to, '\n');
}

// Adds "a.cu:7", "line 7" if the file is `known` to the reader, or "PTX:7" without a source.
static void add_place(Buf *buf, const char *file, uint32_t line, const char *known) {
    if (file && same_text(file, known))
        buf_format(buf, "line %u", line);
    else
        buf_format(buf, "%s:%u", file ? file : "PTX", line);
}

static void add_thread(Buf *buf, Dim3 at, Dim3 block, bool with_block) {
    buf_format(buf, "thread (%u,%u,%u)", at.x, at.y, at.z);
    if (with_block) buf_format(buf, " of block (%u,%u,%u)", block.x, block.y, block.z);
}

static void add_call(Buf *buf, const char *file, uint32_t line, const char *known) {
    if (!line) return;
    buf_add(buf, STR(", in a call at "));
    add_place(buf, file, line, known);
    buf_char(buf, ',');
}

static void add_memory(Buf *buf, const Hazard *hazard) {
    if (!hazard->does) return;
    buf_format(buf, " %s ", hazard->does);
    if (!hazard->variable[0]) {
        buf_format(buf, "%s address 0x%llx", hazard->space, (unsigned long long)hazard->address);
        return;
    }
    const bool whole = hazard->element_bytes && hazard->offset % hazard->element_bytes == 0;
    const int64_t bytes = whole ? hazard->element_bytes : 1;
    buf_format(buf, "%s %lld of %s", whole ? "element" : "byte",
               (long long)(hazard->offset / bytes), hazard->variable);
    if (strcmp(hazard->space, "shared") == 0) buf_add(buf, STR(" in shared memory"));
}

static Str what(Arena *arena, const Found *at) {
    const Hazard *hazard = &at->hazard;
    Buf buf = {.arena = arena};
    if (!hazard->host) {
        add_place(&buf, hazard->file, hazard->line, NULL);
        buf_add(&buf, STR(": "));
    }
    buf_format(&buf, "%s%s in %s", hazard->note ? "note: " : "", hazard->kind, at->kernel);
    if (hazard->opcode) buf_format(&buf, " at %s", hazard->opcode);
    if (hazard->occurrences > 1)
        buf_format(&buf, ", %llu times%s", (unsigned long long)hazard->occurrences,
                   hazard->more ? " or more" : "");
    add_order(&buf, hazard->seed);
    return buf_str(&buf);
}

// A fact may begin with a comma, which a call before it already ends with.
static void add_fact(Buf *buf, Str fact) {
    const bool twice = buf->len && buf->at[buf->len - 1] == ',' && str_starts(fact, STR(","));
    buf_add(buf, twice ? str_from(fact, 1) : fact);
}

// Empty for an access by the host.
static Str where(Arena *arena, const Hazard *hazard) {
    Buf buf = {.arena = arena};
    if (hazard->host) return STR("");
    add_thread(&buf, hazard->thread, hazard->block, true);
    add_call(&buf, hazard->call_file, hazard->call_line, hazard->file);
    add_memory(&buf, hazard);
    if (hazard->fact) add_fact(&buf, str_of(hazard->fact));
    return buf_str(&buf);
}

// Empty if there is no other access.
static Str other_access(Arena *arena, const Hazard *hazard) {
    const Dim3 a = hazard->block, b = hazard->other_block;
    Buf buf = {.arena = arena};
    if (!hazard->other_line) return STR("");
    add_place(&buf, hazard->other_file, hazard->other_line, hazard->file);
    buf_add(&buf, STR(": "));
    add_thread(&buf, hazard->other_thread, b, a.x != b.x || a.y != b.y || a.z != b.z);
    if (hazard->other_call_line != hazard->call_line ||
        !same_text(hazard->other_call_file, hazard->call_file))
        add_call(&buf, hazard->other_call_file, hazard->other_call_line, hazard->file);
    if (hazard->other_does)
        buf_format(&buf, " %s it%s", hazard->other_does,
                   hazard->ordered ? "" : ", and nothing orders the two");
    else
        buf_add(&buf, hazard->space ? STR(" wrote it") : STR(" waits here"));
    return buf_str(&buf);
}

Str hazards_advice(Arena *arena, const Hazard *hazard) {
    Buf buf = {.arena = arena};
    const Span *span = &hazard->span;
    const char *calls = hazard->call_file ? hazard->call_file : hazard->other_call_file;
    if (!span->barrier)
        buf_add(&buf, str_of(hazard->advice));
    else if (span->between_steps && span->low < span->high)
        buf_format(&buf,
                   "lanes of a warp need not run in step: in each of lines %u to %u read into a "
                   "variable, then %s, then write, then %s",
                   span->low, span->high, span->barrier, span->barrier);
    else if (span->between_steps)
        buf_format(&buf, "read into a variable, then %s, then write", span->barrier);
    else if (span->loop)
        buf_format(&buf, "put %s after line %u, before the loop's next round reaches line %u",
                   span->barrier, span->high, span->low);
    else
        buf_format(&buf, "put %s between lines %u and %u", span->barrier, span->low, span->high);
    if (span->calls && !same_text(calls, hazard->file)) buf_format(&buf, " of %s", calls);
    if (hazard->also) buf_format(&buf, "; this also orders lines %s", hazard->also);
    return buf_str(&buf);
}

size_t hazards_count(void) { return hazards.count; }
size_t hazards_notes(void) { return notes.count; }

static const Found *get(size_t number) {
    return number < hazards.count ? &hazards.at[number] : &notes.at[number - hazards.count];
}

const Hazard *hazards_get(size_t number, const char **kernel) {
    *kernel = get(number)->kernel;
    return &get(number)->hazard;
}

Str hazards_sentence(Arena *arena, const Hazard *hazard, const char *kernel) {
    const Str at = where(arena, hazard), other = other_access(arena, hazard);
    const Str advice = hazards_advice(arena, hazard);
    Buf buf = {.arena = arena};
    Str told = str_of(hazard->told ? hazard->told : ""), line;
    while (str_line(&told, &line))
        buf_format(&buf, "%s%.*s", buf.len ? "; " : "", STR_ARG(str_trim(line)));
    if (buf.len) return buf_str(&buf);
    buf_format(&buf, "%s in %s", hazard->kind, kernel);
    add_order(&buf, hazard->seed);
    if (at.len) buf_format(&buf, ": %.*s", STR_ARG(at));
    if (other.len) buf_format(&buf, "; %.*s", STR_ARG(other));
    if (advice.len) buf_format(&buf, "; %.*s", STR_ARG(advice));
    return buf_str(&buf);
}

Str hazards_text(Arena *arena, size_t number, int width, const char **kernel,
                 const Hazard **hazard) {
    enum { INDENT = 4 };
    const Found *found = get(number);
    const Str at = where(arena, &found->hazard), other = other_access(arena, &found->hazard);
    const Str advice = hazards_advice(arena, &found->hazard);
    Buf buf = {.arena = arena};
    *kernel = found->kernel;
    *hazard = &found->hazard;
    Str told = str_of(found->hazard.told ? found->hazard.told : ""), line;
    while (str_line(&told, &line)) add_line(&buf, str_trim(line), buf.len ? INDENT : 0, width);
    if (buf.len) return buf_str(&buf);
    Buf first = {.arena = arena};
    buf_add(&first, what(arena, found));
    if (at.len) buf_format(&first, ": %.*s", STR_ARG(at));
    add_line(&buf, buf_str(&first), 0, width);
    if (other.len) add_line(&buf, other, INDENT, width);
    if (advice.len) add_line(&buf, advice, INDENT, width);
    return buf_str(&buf);
}

static void print(Arena *arena, FILE *to, const List *list, size_t first, const char *name) {
    bool placed = true;
    if (!list->count) return;
    for (size_t i = 0; i < list->count; i++)
        placed &= list->at[i].hazard.host || list->at[i].hazard.told || list->at[i].hazard.file;
    fprintf(to, "\nCPU device: %zu %s%s%s\n", list->count, name, &"s"[list->count == 1],
            placed ? "" : "; build with nvcc -lineinfo for the source's lines");
    for (size_t i = 0; i < list->count; i++) {
        const char *kernel;
        const Hazard *hazard;
        const Str text = hazards_text(arena, first + i, columns_known(), &kernel, &hazard);
        fprintf(to, "%.*s", STR_ARG(text));
    }
}

bool hazards_print(Arena *arena, FILE *to) {
    print(arena, to, &hazards, 0, "hazard");
    print(arena, to, &notes, hazards.count, "note");
    return hazards.count > 0;
}

void hazards_print_none(FILE *to, size_t launches) {
    if (hazards.count || notes.count) return;
    fprintf(to, "\nCPU device: no hazards in %zu launch%s\n", launches, launches == 1 ? "" : "es");
}

void hazards_print_orders(FILE *to) {
    if (!cut) return;
    fprintf(to, "\nCPU device: %llu", (unsigned long long)cut);
    if (asked)
        fprintf(to, " launch%s did not end in another order\n", cut == 1 ? "" : "es");
    else
        fprintf(to,
                " of %llu launches in which order matters ran in only one order: --orders 2 runs "
                "all of them in two\n",
                (unsigned long long)matters);
}

uint64_t hazards_at(const char *kernel, const char *file, uint32_t line) {
    uint64_t sum = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        const Hazard *hazard = &pairs.at[i].hazard;
        bool here = same_text(hazard->file, file) && hazard->line == line;
        bool other = same_text(hazard->other_file, file) && hazard->other_line == line;
        if ((here || other) && strcmp(pairs.at[i].kernel, kernel) == 0) sum += hazard->occurrences;
    }
    return sum;
}

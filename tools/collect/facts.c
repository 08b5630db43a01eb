// Merges the facts at the head of a results file.
#include "collect/gather.h"

#define TOOLKIT STR("# toolkit: ")

// The rest of the first line that starts with `start`; empty if there is none.
static Str value_of(Str lines, Str start) {
    for (Str line; str_line(&lines, &line);)
        if (str_starts(line, start)) return str_from(line, start.len);
    return STR("");
}

// The toolkit that recorded a lab and size; empty if there are no rows or no toolkit is given.
static Str toolkit_of(const Facts *facts, const LabCsv *csv) {
    if (lab_csv_is_file(csv->path)) return value_of(facts->here, TOOLKIT);
    if (!recorded_has(facts->recorded, csv)) return STR("");
    Buf own = {.arena = facts->arena};
    buf_format(&own, "# toolkit of %.*s: ", STR_ARG(csv->chapter));
    const Str named = value_of(facts->recorded->head.facts, buf_str(&own));
    return named.len ? named : value_of(facts->recorded->head.facts, TOOLKIT);
}

static void check_one_toolkit(const Facts *facts, const LabCsv *a, const LabCsv *b) {
    const Str first = toolkit_of(facts, a), second = toolkit_of(facts, b);
    if (!first.len || !second.len || str_equal(first, second)) return;
    Buf message = {.arena = facts->arena};
    buf_format(&message,
               "chapter %.*s would have rows of toolkit %.*s and of %.*s: record the whole chapter "
               "with make record ALL=1 ONLY=\"%.*s_%%\"",
               STR_ARG(a->chapter), STR_ARG(first), STR_ARG(second), STR_ARG(a->chapter));
    lab_csv_die(facts->recorded->path, 0, str_terminated(facts->arena, buf_str(&message)));
}

// Adds the toolkit of the file, which stays the earlier one as long as a chapter uses it, and those
// of chapters with another toolkit.
static void add_toolkits(const Facts *facts, Buf *out) {
    Str whole = facts->recorded ? value_of(facts->recorded->head.facts, TOOLKIT) : STR("");
    bool used = false;
    for (size_t i = 0; i < facts->count && facts->recorded; i++)
        used |= whole.len && str_equal(toolkit_of(facts, &facts->csvs[i]), whole);
    if (!used) whole = value_of(facts->here, TOOLKIT);
    buf_format(out, "# toolkit: %.*s\n", STR_ARG(whole));
    for (size_t i = 0; i < facts->count && facts->recorded; i++) {
        const LabCsv *csv = &facts->csvs[i];
        const Str own = toolkit_of(facts, csv);
        bool named = false;
        for (size_t j = 0; j < i; j++) {
            if (!str_equal(facts->csvs[j].chapter, csv->chapter)) continue;
            check_one_toolkit(facts, &facts->csvs[j], csv);
            named |= toolkit_of(facts, &facts->csvs[j]).len > 0;
        }
        if (own.len && !named && !str_equal(own, whole))
            buf_format(out, "# toolkit of %.*s: %.*s\n", STR_ARG(csv->chapter), STR_ARG(own));
    }
}

static bool is_toolkit(Str line) { return str_starts(line, STR("# toolkit")); }

// The next fact other than a toolkit; empty at the end.
static Str next_fact(Str *lines) {
    for (Str line; str_line(lines, &line);)
        if (!is_toolkit(line)) return line;
    return STR("");
}

static void check_facts(const Facts *facts) {
    Str old = facts->recorded->head.facts, new = facts->here;
    for (;;) {
        const Str was = next_fact(&old), is = next_fact(&new);
        if (!str_equal(was, is)) {
            Buf message = {.arena = facts->arena};
            buf_format(&message,
                       "recorded with `%.*s`, but this run has `%.*s`: its rows cannot be reused: "
                       "record all of them with make record ALL=1",
                       STR_ARG(was), STR_ARG(is));
            lab_csv_die(facts->recorded->path, 1, str_terminated(facts->arena, buf_str(&message)));
        }
        if (!was.len) return;
    }
}

void facts_add(const Facts *facts, Buf *out) {
    bool added = false;
    if (facts->recorded) check_facts(facts);
    for (Str rest = facts->here, line; str_line(&rest, &line);) {
        if (!is_toolkit(line)) buf_format(out, "%.*s\n", STR_ARG(line));
        if (is_toolkit(line) && !added) add_toolkits(facts, out);
        added |= is_toolkit(line);
    }
}

// Describes the requirements of exercises in words: see exercises.h.
#include <ctype.h>

#include "book/exercises.h"
#include "numbers/expr.h"

// --- in words ---

typedef struct {
    const char *field, *one, *many;
} DemandWords;

static const DemandWords words_of_fields[] = {
    {"wrong", "wrong result", "wrong results"},
    {"hazards", "hazard", "hazards"},
    {"warp_insts", "warp instruction", "warp instructions"},
    {"longest_warp", "instruction of the longest warp", "instructions of the longest warp"},
    {"barriers", "barrier", "barriers"},
    {"blocks", "block", "blocks"},
    {"atomics", "atomic operation", "atomic operations"},
    {"divergent_branches", "divergent branch", "divergent branches"},
    {"global_ld_sectors", "sector read", "sectors read"},
    {"global_ld_requests", "load from global memory", "loads from global memory"},
    {"global_st_requests", "store to global memory", "stores to global memory"},
    {"shared_ld_insts", "load from shared memory", "loads from shared memory"},
    {"shared_st_insts", "store to shared memory", "stores to shared memory"},
    {"shared_ld_conflicts", "bank conflict of loads", "bank conflicts of loads"},
    {"shared_st_conflicts", "bank conflict of stores", "bank conflicts of stores"},
    {"shared_bytes", "byte of shared memory", "bytes of shared memory"},
    {"fits_asked", "occupancy query", "occupancy queries"},
    {"attributes_asked", "query of a device attribute", "queries of device attributes"},
    {"time", "time", "time"},
};

// How a comparison reads, by its operator and right side: a number (%n), the same field of the
// solution, or the number of blocks. %w stands for the field's words.
typedef struct {
    const char *relation, *right, *words;
} DemandForm;

static const DemandForm forms[] = {
    {"==", "0", "no %w"},
    {"==", "number", "%n %w"},
    {"<=", "number", "at most %n %w"},
    {">=", "number", "at least %n %w"},
    {"==", "solution", "as many %w as the solution"},
    {"<=", "solution", "no more %w than the solution"},
    {"<=", "number * solution", "at most %n times the solution's %w"},
    {"==", "blocks", "as many %w as blocks"},
    {"<=", "number * blocks", "at most %n %w per block"},
};

// The form of a right side, as in `forms`. *number is the number in it, if there is one.
static Str kind_of(Arena *arena, Str right, Str field, Str *number) {
    Buf kind = {.arena = arena}, solution = {.arena = arena};
    buf_format(&solution, "solution.%.*s", STR_ARG(field));
    if (str_equal(right, STR("0"))) return right;
    for (Str word; str_word(&right, &word);) {
        if (kind.len) buf_char(&kind, ' ');
        if (isdigit((unsigned char)word.at[0])) {
            *number = word;
            word = STR("number");
        } else if (str_equal(word, buf_str(&solution))) {
            word = STR("solution");
        }
        buf_add(&kind, word);
    }
    return buf_str(&kind);
}

static void add_form(Buf *text, const DemandForm *form, const DemandWords *words, Str number) {
    bool one = str_equal(number, STR("1")) && str_equal(str_of(form->right), STR("number"));
    for (const char *at = form->words; *at; at++)
        if (*at != '%')
            buf_char(text, *at);
        else if (*++at == 'n')
            buf_add(text, number);
        else
            buf_add(text, str_of(one ? words->one : words->many));
}

static bool add_words(Buf *text, Str comparison) {
    Str right = comparison, field, relation, number = STR("");
    if (!str_word(&right, &field) || !str_word(&right, &relation)) return false;
    Str kind = kind_of(text->arena, str_trim(right), field, &number);
    for (size_t w = 0; w < sizeof words_of_fields / sizeof *words_of_fields; w++) {
        if (!str_equal(field, str_of(words_of_fields[w].field))) continue;
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            bool is = str_equal(relation, str_of(forms[f].relation)) &&
                      str_equal(kind, str_of(forms[f].right));
            if (!is) continue;
            add_form(text, &forms[f], &words_of_fields[w], number);
            return true;
        }
    }
    return false;
}

void demands_add(Buf *text, Str comparison, bool exact) {
    Buf words = {.arena = text->arena};
    if (!add_words(&words, comparison)) {
        buf_format(text, "`%.*s`", STR_ARG(comparison));
        return;
    }
    if (!exact) {
        buf_add(text, buf_str(&words));
        return;
    }
    buf_add(text, STR("<abbr title=\""));
    for (size_t i = 0; i < comparison.len; i++)
        if (comparison.at[i] == '<')
            buf_add(text, STR("&lt;"));
        else
            buf_char(text, comparison.at[i]);
    buf_format(text, "\">%.*s</abbr>", STR_ARG(buf_str(&words)));
}

// --- answers of exercises that ask for a number ---

static void add_escaped(Buf *text, Str value) {
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '"' || value.at[i] == '\\') buf_char(text, '\\');
        buf_char(text, value.at[i]);
    }
}

// The value that every requirement of an exercise compares `answer` with. False: there is no such
// value, or recorded results do not provide it.
static bool find_answer(const KeyScope *scope, const Exercise *exercise, Value *answer) {
    Str start = STR("answer ==");
    for (size_t i = 0; i < exercise->demand_count; i++) {
        Str text = exercise->demands[i].text;
        Buf why = {.arena = scope->arena};
        Value value;
        if (!str_starts(text, start)) return false;
        if (!expr_value(scope, str_from(text, start.len), &value, &why)) return false;
        if (i && value.number != answer->number) return false;
        *answer = value;
    }
    return exercise->demand_count > 0;
}

void demands_add_answer(Book *book, Buf *text, const Exercise *exercise) {
    KeyScope scope = book_scope(book);
    Value value;
    if (exercise->kind != EXERCISE_COUNT || !find_answer(&scope, exercise, &value)) return;
    buf_format(text, " data-answer=\"%.12g\" data-mistakes=\"", value.number);
    const char *before = "";
    for (size_t i = 0; i < exercise->mistake_count; i++) {
        Buf why = {.arena = book->arena};
        if (!expr_value(&scope, exercise->mistakes[i].value, &value, &why)) continue;
        buf_format(text, "%s%.12g | ", before, value.number);
        add_escaped(text, exercise->mistakes[i].why);
        before = " | ";
    }
    buf_char(text, '"');
}

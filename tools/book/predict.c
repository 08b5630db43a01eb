// Weaves predictions: evaluates the answer, and shows it folded or leaves it to a notebook.
#include "book/predict.h"

#include "book/prose.h"
#include "markdown/inline.h"

static bool is_choice(const Prediction *prediction) { return prediction->option_count > 0; }

static void error_at(Book *book, size_t line, const char *message) {
    Buf text = {.arena = book->arena};
    buf_format(&text, "%s", message);
    book_error(book, line, text);
}

// --- units ---

static const struct {
    Unit unit;
    const char *kind;
    const char *usual; // the default if unit= is missing
    const char *known; // empty: any unit
} kinds[] = {
    {UNIT_TIME, "time", "µs", " ns µs us ms s "},
    {UNIT_RATE, "rate", "GB/s", " MB/s GB/s TB/s "},
    {UNIT_BYTES, "bytes", "bytes", " bytes kB MB GB KB KiB MiB GiB "},
    {UNIT_PERCENT, "percent", "%", " % "},
    {UNIT_RATIO, "ratio", "times", ""},
    {UNIT_COUNT, "count", "", ""},
    {UNIT_NONE, "ratio", "", ""},
};

static size_t kind_of(Unit unit) {
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && kinds[i].unit != unit) i++;
    return i;
}

const char *predict_kind(const Prediction *prediction) {
    return is_choice(prediction) ? "choice" : kinds[kind_of(prediction->answer.unit)].kind;
}

static void check_unit(Book *book, Prediction *prediction) {
    size_t i = kind_of(prediction->answer.unit);
    Buf message = {.arena = book->arena}, word = {.arena = book->arena};
    if (i == sizeof kinds / sizeof *kinds) {
        prediction->answer.unit = UNIT_NONE;
        error_at(book, prediction->line, "key= of a prediction must be a number");
        return;
    }
    if (prediction->unit.len == 0) prediction->unit = str_of(kinds[i].usual);
    buf_format(&word, " %.*s ", STR_ARG(prediction->unit));
    if (!kinds[i].known[0] || str_find(str_of(kinds[i].known), buf_str(&word)) != SIZE_MAX) return;
    buf_format(&message, "unit `%.*s`: use one of%s", STR_ARG(prediction->unit), kinds[i].known);
    message.len--;
    book_error(book, prediction->line, message);
}

// --- the question ---

// Checks that a formula looks up a result, KERNEL.FIELD, since no answer may be typed by hand.
static bool names_result(Book *book, size_t line, Str formula) {
    Buf message = {.arena = book->arena};
    for (size_t i = 0; i + 1 < formula.len; i++)
        if (formula.at[i] == '.' && formula.at[i + 1] >= 'a' && formula.at[i + 1] <= 'z')
            return true;
    buf_format(&message, "`%.*s`: an answer must use a result: KERNEL.FIELD", STR_ARG(formula));
    book_error(book, line, message);
    return false;
}

static void evaluate(Book *book, Prediction *prediction) {
    KeyScope scope = book_scope(book);
    Buf why = {.arena = book->arena}, message = {.arena = book->arena};
    if (!names_result(book, prediction->line, prediction->key)) return;
    if (expr_value(&scope, prediction->key, &prediction->answer, &why)) {
        book_check_stale(book, prediction->line, prediction->key, prediction->answer.stale);
        check_unit(book, prediction);
        return;
    }
    buf_format(&message, "`%.*s`: %.*s", STR_ARG(prediction->key), STR_ARG(buf_str(&why)));
    book_error(book, prediction->line, message);
}

static bool read_attributes(Book *book, const Braces *braces, Prediction *prediction) {
    Buf message = {.arena = book->arena};
    for (size_t i = 0; i < braces->attribute_count && message.len == 0; i++) {
        Str name = braces->attributes[i].key;
        if (str_equal(name, STR("key")) || str_equal(name, STR("unit"))) continue;
        buf_format(&message, "unknown attribute `%.*s`; known here: key unit", STR_ARG(name));
    }
    if (message.len) book_error(book, prediction->line, message);
    braces_value(braces, STR("key"), &prediction->key);
    braces_value(braces, STR("unit"), &prediction->unit);
    return message.len == 0;
}

// The name of the chapter's latest prediction, `4.1` for mark `.`.
static Str name_of(const Book *book, const char *mark) {
    Buf name = {.arena = book->arena};
    Str chapter = key_chapter_number(book_chapter(book));
    buf_format(&name, "%.*s%s%zu", STR_ARG(chapter), chapter.len ? mark : "",
               book->prediction_count);
    return buf_str(&name);
}

void predict_open(Book *book, const Braces *braces, size_t number) {
    if (book->prediction) {
        error_at(book, number, "a prediction inside another");
        book->divs[book->div_count++] = (BookDiv){.name = STR("inner"), .line = number};
        return;
    }
    Prediction *prediction = ARENA_NEW(book->arena, 1, Prediction);
    ARENA_GROW(book->arena, book->predictions, book->prediction_count, book->prediction_capacity);
    book->predictions[book->prediction_count++] = prediction;
    *prediction = (Prediction){.line = number, .name = name_of(book, ".")};
    book->prediction = prediction;
    prediction->faulty = !read_attributes(book, braces, prediction);
    if (!prediction->faulty && prediction->key.len) evaluate(book, prediction);
    Buf text = {.arena = book->arena};
    if (book->style == BOOK_PANDOC)
        buf_format(&text, "::: {.predict #predict-%.*s}\n::: label\nPrediction %.*s\n:::\n\n",
                   STR_ARG(name_of(book, "-")), STR_ARG(prediction->name));
    else
        buf_format(&text, "**Prediction %.*s**\n\n", STR_ARG(prediction->name));
    book->divs[book->div_count++] = (BookDiv){.name = STR("predict"), .line = number};
    book_add(book, buf_str(&text));
}

// --- options ---

// Splits an option into its text, which is returned, and its comparison, option->when.
static Str without_condition(Book *book, Str item, size_t line, PredictOption *option) {
    Buf text = {.arena = book->arena};
    InlineScan scan = inline_scan(item);
    for (Inline piece; inline_next(&scan, &piece);) {
        Braces braces = {0};
        if (piece.kind == INLINE_CODE && piece.attributes.len)
            braces_read(book->arena, piece.attributes, 1, &braces);
        if (!braces_have_class(&braces, STR("when")))
            buf_add(&text, piece.whole);
        else if (option->when.len)
            error_at(book, line, "an option has more than one condition: keep one");
        else
            option->when = str_one_line(book->arena, piece.text);
    }
    return str_trim(buf_str(&text));
}

static void add_option(Book *book, Str item, size_t line) {
    Prediction *prediction = book->prediction;
    PredictOption option = {0};
    Str text = without_condition(book, str_from(item, 2), line, &option);
    option.text = prose_inline(book, text, line);
    ARENA_GROW(book->arena, prediction->options, prediction->option_count,
               prediction->option_capacity);
    prediction->options[prediction->option_count++] = option;
    Buf out = {.arena = book->arena}, key = {.arena = book->arena};
    buf_format(&out, "- %.*s\n", STR_ARG(option.text));
    book_add(book, buf_str(&out));
    buf_format(&key, "%.*s%s%.*s", STR_ARG(prediction->key), prediction->key.len ? " | " : "",
               STR_ARG(option.when));
    prediction->key = buf_str(&key);
}

bool predict_take_options(Book *book, Str paragraph, size_t number) {
    const Prediction *prediction = book->prediction;
    if (!prediction || prediction->answered || !str_starts(paragraph, STR("- ")) ||
        str_find(paragraph, STR("{.when}")) == SIZE_MAX)
        return false;
    if (prediction->key.len && !is_choice(prediction)) {
        error_at(book, number,
                 "a prediction has both key= and options with conditions: remove one of them");
        return true;
    }
    Str rest = paragraph, line, start = paragraph;
    for (size_t at = number, first = number;; at++) {
        Str before = rest;
        bool more = str_line(&rest, &line);
        if (more && (at == number || !str_starts(line, STR("- ")))) continue;
        add_option(book, (Str){start.at, (size_t)(before.at - start.at)}, first);
        if (!more) return true;
        start = before;
        first = at;
    }
}

// Evaluates an option's comparison. EXPR_WRONG: it has no value, and the error is reported.
static ExprVerdict option_verdict(Book *book, Prediction *prediction, Str when) {
    KeyScope scope = book_scope(book);
    Buf why = {.arena = book->arena}, message = {.arena = book->arena};
    bool stale = false;
    if (!names_result(book, prediction->line, when)) return EXPR_WRONG;
    ExprVerdict verdict = expr_verdict(&scope, when, &stale, &why);
    book_check_stale(book, prediction->line, when, stale);
    prediction->answer.stale = prediction->answer.stale || stale;
    if (verdict != EXPR_WRONG) return verdict;
    buf_format(&message, "`%.*s`: %.*s", STR_ARG(when), STR_ARG(buf_str(&why)));
    book_error(book, prediction->line, message);
    return EXPR_WRONG;
}

// Finds the right option; reports an error unless there is exactly one.
static void choose(Book *book, Prediction *prediction) {
    size_t found = 0, without = 0, otherwise = 0;
    for (size_t i = 0; i < prediction->option_count; i++) {
        Str when = prediction->options[i].when;
        if (when.len == 0) {
            without++;
            otherwise = i;
            continue;
        }
        ExprVerdict verdict = option_verdict(book, prediction, when);
        if (verdict == EXPR_WRONG) return;
        if (verdict == EXPR_HOLDS && found++ == 0) prediction->right = i;
    }
    if (found == 0) prediction->right = otherwise;
    if (without > 1)
        error_at(book, prediction->line, "more than one option has no condition");
    else if (found > 1)
        error_at(book, prediction->line, "more than one option is right");
    else if (found + without == 0)
        error_at(book, prediction->line, "none of the options is right");
}

// --- the answer ---

Str predict_answer_text(const Book *book, const Prediction *prediction) {
    Buf text = {.arena = book->arena};
    if (is_choice(prediction)) return prediction->options[prediction->right].text;
    value_format_bare(&text, prediction->answer);
    bool plain = prediction->answer.unit == UNIT_COUNT || prediction->answer.unit == UNIT_NONE;
    Str unit = prediction->unit;
    if (prediction->answer.number == 1 && str_ends(unit, STR("s"))) unit.len--; // 1 barrier
    if (plain && unit.len) buf_format(&text, "\u00a0%.*s", STR_ARG(unit));
    return buf_str(&text);
}

static void add_attribute(Buf *text, const char *name, Str value) {
    buf_format(text, " %s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '"' || value.at[i] == '\\') buf_char(text, '\\');
        buf_char(text, value.at[i]);
    }
    buf_char(text, '"');
}

static void add_answer_open(Book *book, const Prediction *prediction) {
    Buf text = {.arena = book->arena};
    Str answer = str_one_line(book->arena, predict_answer_text(book, prediction));
    const char *stale = prediction->answer.stale ? " *(stale)*" : "";
    if (book->style != BOOK_PANDOC) {
        const char *strong = is_choice(prediction) ? "" : "**";
        buf_format(&text, "<details>\n<summary>Answer</summary>\n\n%s%.*s%s%s\n\n", strong,
                   STR_ARG(answer), strong, stale);
        book_add(book, buf_str(&text));
        return;
    }
    buf_add(&text, STR("::: {.answer"));
    add_attribute(&text, "data-name", prediction->name);
    add_attribute(&text, "data-kind", str_of(predict_kind(prediction)));
    Buf value = {.arena = book->arena};
    if (is_choice(prediction))
        buf_format(&value, "%zu", prediction->right + 1);
    else
        buf_format(&value, "%.12g", prediction->answer.number);
    add_attribute(&text, "data-value", buf_str(&value));
    add_attribute(&text, "data-unit", prediction->unit);
    add_attribute(&text, "data-key", prediction->key);
    buf_format(&text, "}\n::: measured\n%.*s%s\n:::\n\n", STR_ARG(answer), stale);
    book_add(book, buf_str(&text));
}

// Ends the question: evaluates the answer and starts its explanation.
static void answer(Book *book) {
    Prediction *prediction = book->prediction;
    if (prediction->answered) return;
    prediction->answered = true;
    if (!prediction->faulty && (prediction->key.len == 0 || prediction->option_count == 1))
        error_at(book, prediction->line,
                 "a prediction needs key=, or two options or more with a condition: "
                 "- text `a.time < b.time`{.when}");
    if (is_choice(prediction)) choose(book, prediction);
    for (size_t i = 0; i + 1 < book->prediction_count; i++)
        if (prediction->key.len && str_equal(book->predictions[i]->key, prediction->key))
            error_at(book, prediction->line,
                     "an earlier prediction in this chapter has the same key= or conditions");
    if (!book->add_prediction) book_blank(book);
    prediction->why_start = book->out.len;
    if (!book->add_prediction) add_answer_open(book, prediction);
}

void predict_why(Book *book, size_t number) {
    if (!book->prediction || book->prediction->answered)
        error_at(book, number, "::: why must appear once in a prediction, after its question");
    else
        answer(book);
    book->divs[book->div_count++] = (BookDiv){.name = STR("why"), .line = number, .plain = true};
}

void predict_close(Book *book) {
    Prediction *prediction = book->prediction;
    answer(book);
    book_blank(book);
    if (book->add_prediction) {
        Buf why = {.arena = book->arena};
        buf_add(&why, str_from(buf_str(&book->out), prediction->why_start));
        prediction->why = buf_str(&why);
        book->out.len = prediction->why_start;
        book->add_prediction(book);
    } else {
        book_add(book, book->style == BOOK_PANDOC ? STR(":::\n:::\n") : STR("</details>\n"));
    }
    book->prediction = NULL;
}

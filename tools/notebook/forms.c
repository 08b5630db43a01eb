// Makes the cells of predictions: a form to fill in, and the comparison with results. See parts.h.
#include "base/json.h"
#include "notebook/parts.h"

// Text without emphasis, on one line, for a menu.
static Str plain(const Book *book, Str text) {
    Buf out = {.arena = book->arena};
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '*' && text.at[i] != '`') buf_char(&out, text.at[i]);
    return str_one_line(book->arena, buf_str(&out));
}

static void add_options(Buf *text, const Book *book, const Prediction *prediction) {
    for (size_t i = 0; i < prediction->option_count; i++) {
        if (i) buf_add(text, STR(", "));
        json_string(text, plain(book, prediction->options[i].text));
    }
}

// The variable of a form, predict_4_1.
static Str variable(const Book *book, Str name) {
    Buf text = {.arena = book->arena};
    buf_add(&text, STR("predict_"));
    for (size_t i = 0; i < name.len; i++) buf_char(&text, name.at[i] == '.' ? '_' : name.at[i]);
    return buf_str(&text);
}

Str forms_field(const Book *book, const Prediction *prediction) {
    Buf text = {.arena = book->arena};
    buf_format(&text, "#@title Prediction %.*s", STR_ARG(prediction->name));
    if (prediction->unit.len) buf_format(&text, ", in %.*s", STR_ARG(prediction->unit));
    Str name = variable(book, prediction->name);
    buf_format(&text, "\n%.*s = \"\"  #@param ", STR_ARG(name));
    if (prediction->option_count) {
        buf_add(&text, STR("[\"\", "));
        add_options(&text, book, prediction);
        buf_char(&text, ']');
    } else {
        buf_add(&text, STR("{type:\"string\"}"));
    }
    return buf_str(&text);
}

static void add_row(Buf *text, const Book *book, const Prediction *prediction) {
    buf_add(text, STR("    ("));
    json_string(text, prediction->name);
    buf_format(text, ", \"%s\", ", predict_kind(prediction));
    if (prediction->option_count) {
        buf_char(text, '[');
        add_options(text, book, prediction);
        buf_format(text, "], %zu, ", prediction->right + 1);
    } else {
        json_string(text, prediction->unit);
        buf_format(text, ", %.12g, ", prediction->answer.number);
    }
    json_string(text, plain(book, predict_answer_text(book, prediction)));
    buf_add(text, STR(", "));
    json_string(text, prediction->key);
    buf_add(text, STR("),\n"));
}

Str forms_comparison(const Book *book, Prediction *const *predictions, size_t count) {
    Buf text = {.arena = book->arena};
    Str first = predictions[0]->name, last = predictions[count - 1]->name;
    buf_format(&text, "#@title Prediction%s %.*s", count > 1 ? "s" : "", STR_ARG(first));
    if (count > 1) buf_format(&text, " to %.*s", STR_ARG(last));
    buf_add(&text, STR(": yours, and what was measured\ncompare([\n"));
    for (size_t i = 0; i < count; i++) add_row(&text, book, predictions[i]);
    buf_add(&text, STR("])"));
    return buf_str(&text);
}

// The text of a div without the quote marks before its lines.
static Str unquoted(const Book *book, Str text) {
    Buf out = {.arena = book->arena};
    for (Str line; str_line(&text, &line);) {
        size_t marks = str_starts(line, STR("> ")) ? 2 : str_starts(line, STR(">")) ? 1 : 0;
        buf_format(&out, "%.*s\n", STR_ARG(str_from(line, marks)));
    }
    return str_trim(buf_str(&out));
}

Str forms_why(const Book *book, Prediction *const *predictions, size_t count) {
    Buf text = {.arena = book->arena};
    for (size_t i = 0; i < count; i++) {
        Str why = unquoted(book, predictions[i]->why);
        if (why.len == 0) continue;
        buf_format(&text,
                   "<details>\n<summary>Prediction %.*s: how to think about it</summary>\n\n",
                   STR_ARG(predictions[i]->name));
        buf_format(&text, "%.*s\n\n</details>\n\n", STR_ARG(why));
    }
    return buf_str(&text);
}

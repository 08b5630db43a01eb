// A recursive-descent parser that evaluates formulas and claims.
#include "numbers/expr.h"

#include <ctype.h>

#include "numbers/shapes.h"

#define DEEPEST 64 // limit of nested parentheses and signs

typedef struct {
    const KeyScope *scope;
    Str rest;
    Buf *why;
    int depth;
} Parser;

typedef struct {
    Value *items;
    size_t count;
    size_t capacity;
} Values;

static const Str cases = STR("cases");

static bool parse_sum(Parser *parser, Value *value);

static char peek(Parser *parser) {
    while (parser->rest.len && parser->rest.at[0] == ' ') parser->rest = str_from(parser->rest, 1);
    return parser->rest.len ? parser->rest.at[0] : '\0';
}

static bool accept(Parser *parser, char c) {
    if (peek(parser) != c || c == '\0') return false;
    parser->rest = str_from(parser->rest, 1);
    return true;
}

static bool expect(Parser *parser, char c) {
    if (accept(parser, c)) return true;
    if (parser->rest.len)
        buf_format(parser->why, "expected `%c` before `%.*s`", c, STR_ARG(parser->rest));
    else
        buf_format(parser->why, "expected `%c` at the end", c);
    return false;
}

static void values_add(Parser *parser, Values *values, Value value) {
    ARENA_GROW(parser->scope->arena, values->items, values->count, values->capacity);
    values->items[values->count++] = value;
}

static size_t word_length(Str text) {
    size_t end = 0;
    while (end < text.len && ((text.at[end] >= 'a' && text.at[end] <= 'z') ||
                              (text.at[end] >= 'A' && text.at[end] <= 'Z') ||
                              (text.at[end] >= '0' && text.at[end] <= '9') || text.at[end] == '_'))
        end++;
    return end;
}

static Str take_word(Parser *parser) {
    Str word = str_slice(parser->rest, 0, word_length(parser->rest));
    parser->rest = str_from(parser->rest, word.len);
    return word;
}

// The values of a key with `*`, or the single value of a key without it.
static bool key_values(Parser *parser, const Key *key, Str name, Values *values) {
    const KeyScope *scope = parser->scope;
    const KeyField *field = key_field(name);
    Value value;
    bool several = key->every_n || str_equal(key->kernel, STR("*"));
    if (!field && !several) {
        if (!key_counter_value(scope, key, name, &value, parser->why)) return false;
        values_add(parser, values, value);
        return true;
    }
    KeyRows rows;
    const ResultTable *device = shapes_table(scope, key, parser->why);
    if (!device || !key_rows(scope, device, key, &rows, parser->why)) return false;
    for (size_t i = 0; i < rows.count; i++) {
        Key one = *key;
        one.kernel = results_cell(device, rows.rows[i], STR("kernel"));
        bool found = field
                         ? key_field_value(scope, device, rows.rows[i], field, &value, parser->why)
                         : key_counter_value(scope, &one, name, &value, parser->why);
        if (!found) return false;
        values_add(parser, values, value);
    }
    return true;
}

static bool fact_value(Parser *parser, Str table, Str name, Values *values) {
    Value value;
    if (!key_fact(parser->scope, table, name, &value, parser->why)) return false;
    values_add(parser, values, value);
    return true;
}

// Takes a `[DEVICE]` after a key and stores the device in the scope. False: its end is missing.
static bool take_device(Parser *parser, KeyScope *scope) {
    if (!parser->rest.len || parser->rest.at[0] != '[') return true;
    size_t end = str_find(parser->rest, STR("]"));
    if (end == SIZE_MAX || end == 1) {
        buf_format(parser->why, "expected a device and `]` after `[`");
        return false;
    }
    scope->device = str_slice(parser->rest, 1, end);
    parser->rest = str_from(parser->rest, end + 1);
    return true;
}

// Takes the name of one of the scope's own numbers.
static bool take_named(Parser *parser, Values *values) {
    const KeyScope *scope = parser->scope;
    Str rest = parser->rest;
    size_t end = 0;
    for (size_t word; (word = word_length(str_from(rest, end))); end++) {
        end += word;
        if (end == rest.len || rest.at[end] != '.') break;
    }
    Str name = str_slice(rest, 0, end);
    for (size_t i = 0; i < scope->named_count; i++) {
        if (!str_equal(scope->named[i].name, name)) continue;
        values_add(parser, values, scope->named[i].value);
        parser->rest = str_from(rest, end);
        return true;
    }
    return false;
}

// Explains that `name` is neither a key nor one of the scope's own numbers.
static void explain_unknown(Parser *parser, Str name) {
    const KeyScope *scope = parser->scope;
    if (!scope->named_count) {
        buf_format(parser->why, "`%.*s` names no field: write KERNEL.FIELD", STR_ARG(name));
        return;
    }
    buf_format(parser->why, "there is no number `%.*s`; use one of", STR_ARG(name));
    for (size_t i = 0; i < scope->named_count; i++)
        if (str_find(scope->named[i].name, STR(".")) == SIZE_MAX)
            buf_format(parser->why, " %.*s", STR_ARG(scope->named[i].name));
}

static bool parse_key(Parser *parser, Values *values) {
    Key key;
    Str start = parser->rest;
    if (take_named(parser, values)) return true;
    if (!key_take(parser->scope, &parser->rest, &key)) {
        if (str_starts(str_from(start, word_length(start)), STR("@shapes")))
            buf_format(parser->why, "a key with @shapes has many values: use min, max, "
                                    "geomean or cases");
        else if (start.len)
            buf_format(parser->why, "expected a number or a key before `%.*s`", STR_ARG(start));
        else
            buf_format(parser->why, "expected a number or a key at the end");
        return false;
    }
    bool facts = str_equal(key.kernel, STR("device")) || str_equal(key.kernel, STR("cpu")) ||
                 str_equal(key.kernel, STR("machine")) || str_equal(key.kernel, STR("model"));
    bool dot = parser->rest.len && parser->rest.at[0] == '.';
    if (dot) parser->rest = str_from(parser->rest, 1);
    Str name = dot ? take_word(parser) : STR("");
    if (facts && !dot && str_equal(key.kernel, STR("device"))) name = key.kernel;
    if (name.len == 0) {
        explain_unknown(parser, key.kernel);
        return false;
    }
    KeyScope scope = *parser->scope;
    if (!take_device(parser, &scope)) return false;
    Parser there = {.scope = &scope, .why = parser->why};
    return facts ? fact_value(&there, key.kernel, name, values)
                 : key_values(&there, &key, name, values);
}

static bool parse_list(Parser *parser, Values *values) {
    do {
        peek(parser);
        Key key;
        Str ahead = parser->rest;
        bool star = key_take(parser->scope, &ahead, &key) &&
                    (key.every_n || str_equal(key.kernel, STR("*")));
        Value value;
        if (star ? !parse_key(parser, values) : !parse_sum(parser, &value)) return false;
        if (!star) values_add(parser, values, value);
    } while (accept(parser, ','));
    return true;
}

// The text up to the parenthesis that ends a call.
static Str call_arguments(Str text) {
    size_t open = 1, end = 0;
    for (; end < text.len; end++) {
        open += text.at[end] == '(';
        open -= text.at[end] == ')';
        if (open == 0) break;
    }
    return str_slice(text, 0, end);
}

static void explain_shape(Parser *parser, const KeyRows *rows, size_t i, Buf reason) {
    buf_format(parser->why, "at n = %.*s, rows of %.*s: %.*s",
               STR_ARG(results_cell(rows->table, rows->rows[i], STR("n"))),
               STR_ARG(results_cell(rows->table, rows->rows[i], STR("cols"))),
               STR_ARG(buf_str(&reason)));
}

// The values of a formula with KERNEL@shapes, one per shape.
static bool shape_values(Parser *parser, Values *values) {
    Str text = call_arguments(parser->rest);
    KeyRows rows;
    parser->rest = str_from(parser->rest, text.len);
    if (!shapes_rows(parser->scope, &text, &rows, parser->why)) return false;
    for (size_t i = 0; i < rows.count; i++) {
        Buf reason = {.arena = parser->scope->arena};
        Value value;
        Str at = shapes_at(parser->scope, text, rows.rows[i]);
        if (!expr_value(parser->scope, at, &value, &reason)) {
            explain_shape(parser, &rows, i, reason);
            return false;
        }
        values_add(parser, values, value);
    }
    return true;
}

static ExprVerdict claim_once(const KeyScope *scope, Str text, bool *stale, Buf *why);

// cases(CLAIM): the number of shapes at which the claim holds.
static bool count_cases(Parser *parser, Value *value) {
    Str text = call_arguments(parser->rest);
    KeyRows rows;
    *value = (Value){.unit = UNIT_COUNT};
    parser->rest = str_from(parser->rest, text.len);
    if (!shapes_any(text)) {
        buf_format(parser->why, "cases() takes a claim about KERNEL@shapes");
        return false;
    }
    if (!shapes_rows(parser->scope, &text, &rows, parser->why)) return false;
    for (size_t i = 0; i < rows.count; i++) {
        Buf reason = {.arena = parser->scope->arena};
        bool stale;
        Str at = shapes_at(parser->scope, text, rows.rows[i]);
        ExprVerdict verdict = claim_once(parser->scope, at, &stale, &reason);
        value->stale = value->stale || stale;
        value->number += verdict == EXPR_HOLDS;
        if (verdict == EXPR_WRONG) explain_shape(parser, &rows, i, reason);
        if (verdict == EXPR_WRONG) return false;
    }
    return true;
}

static bool parse_call(Parser *parser, Str function, Value *value) {
    Values values = {0};
    parser->rest = str_from(parser->rest, function.len);
    if (!expect(parser, '(')) return false;
    if (value_converts(function)) {
        const char *problem = parse_sum(parser, value) ? value_convert(function, value) : "";
        if (problem && *problem)
            buf_format(parser->why, "%.*s() takes %s", STR_ARG(function), problem);
        if (problem) return false;
    } else if (str_equal(function, cases)) {
        if (!count_cases(parser, value)) return false;
    } else {
        bool several = shapes_any(call_arguments(parser->rest));
        if (several ? !shape_values(parser, &values) : !parse_list(parser, &values)) return false;
        if (!value_fold(function, values.items, values.count, value, parser->why)) return false;
    }
    return expect(parser, ')');
}

static bool parse_number(Parser *parser, Value *value) {
    size_t end = 0;
    while (end < parser->rest.len &&
           ((parser->rest.at[end] >= '0' && parser->rest.at[end] <= '9') ||
            parser->rest.at[end] == '.'))
        end++;
    Str digits = str_slice(parser->rest, 0, end);
    *value = (Value){.unit = UNIT_NONE};
    parser->rest = str_from(parser->rest, end);
    if (results_number(digits, &value->number)) return true;
    buf_format(parser->why, "`%.*s` is not a number", STR_ARG(digits));
    return false;
}

static bool enter(Parser *parser) {
    if (++parser->depth <= DEEPEST) return true;
    buf_format(parser->why, "more than %d levels of parentheses and signs", DEEPEST);
    return false;
}

static bool parse_atom(Parser *parser, Value *value) {
    char c = peek(parser);
    Key key;
    Str ahead = parser->rest;
    if (c == '(' || c == '-') {
        parser->rest = str_from(parser->rest, 1);
        if (c == '(') return parse_sum(parser, value) && expect(parser, ')');
        if (!enter(parser) || !parse_atom(parser, value)) return false;
        parser->depth--;
        value->number = -value->number;
        if (value->unit != UNIT_TEXT) return true;
        buf_format(parser->why, "text cannot be used in arithmetic");
        return false;
    }
    Str word = str_slice(parser->rest, 0, word_length(parser->rest));
    bool call = word.len < parser->rest.len && parser->rest.at[word.len] == '(';
    if (call && (value_is_fold(word) || value_converts(word) || str_equal(word, cases)))
        return parse_call(parser, word, value);
    if (((c >= '0' && c <= '9') || c == '.') && !key_take(parser->scope, &ahead, &key))
        return parse_number(parser, value);
    Value one;
    Values values = {.items = &one, .capacity = 1};
    if (!parse_key(parser, &values)) return false;
    *value = values.items[0];
    if (values.count == 1) return true;
    buf_format(parser->why, "a key with `*` has %zu values: use min, max or geomean", values.count);
    return false;
}

static bool combine(Parser *parser, Value *left, char operation, Value right) {
    const char *problem = value_combine(*left, operation, right, left);
    if (problem) buf_format(parser->why, "%s", problem);
    return problem == NULL;
}

static bool parse_term(Parser *parser, Value *value) {
    if (!parse_atom(parser, value)) return false;
    for (char c; (c = peek(parser)) == '*' || c == '/';) {
        Value right;
        accept(parser, c);
        if (!parse_atom(parser, &right) || !combine(parser, value, c, right)) return false;
    }
    return true;
}

static bool parse_sum(Parser *parser, Value *value) {
    if (!enter(parser) || !parse_term(parser, value)) return false;
    for (char c; (c = peek(parser)) == '+' || c == '-';) {
        Value right;
        accept(parser, c);
        if (!parse_term(parser, &right) || !combine(parser, value, c, right)) return false;
    }
    parser->depth--;
    return true;
}

static bool at_end(Parser *parser) {
    if (peek(parser) == '\0') return true;
    buf_format(parser->why, "unexpected `%.*s`", STR_ARG(parser->rest));
    return false;
}

bool expr_value(const KeyScope *scope, Str text, Value *value, Buf *why) {
    Parser parser = {.scope = scope, .rest = text, .why = why};
    return parse_sum(&parser, value) && at_end(&parser);
}

static bool interval(const ResultTable *table, const ResultRow *row, double *low, double *high) {
    return results_number(results_cell(table, row, STR("p5_us")), low) &&
           results_number(results_cell(table, row, STR("p95_us")), high);
}

static bool overlap(const ResultTable *of_a, const ResultRow *a, const ResultTable *of_b,
                    const ResultRow *b) {
    double low_a, high_a, low_b, high_b;
    return interval(of_a, a, &low_a, &high_a) && interval(of_b, b, &low_b, &high_b) &&
           low_a <= high_b && low_b <= high_a;
}

bool expr_overlap(const ResultTable *table, const ResultRow *a, const ResultRow *b) {
    return overlap(table, a, table, b);
}

static bool take_time_row(Parser *parser, KeyRows *rows, bool *stale) {
    Key key;
    peek(parser);
    if (!key_take(parser->scope, &parser->rest, &key) || !str_starts(parser->rest, STR(".time"))) {
        buf_format(parser->why, "`~` compares two times: KERNEL.time ~ KERNEL.time");
        return false;
    }
    parser->rest = str_from(parser->rest, 5);
    const ResultTable *device = shapes_table(parser->scope, &key, parser->why);
    if (!device || !key_rows(parser->scope, device, &key, rows, parser->why)) return false;
    *stale = *stale || key_is_stale(parser->scope, device, rows->rows[0]);
    return true;
}

static ExprVerdict claim_overlap(const KeyScope *scope, Str left, Str right, bool *stale,
                                 Buf *why) {
    Parser a = {.scope = scope, .rest = left, .why = why};
    Parser b = {.scope = scope, .rest = right, .why = why};
    KeyRows of_a, of_b;
    if (!take_time_row(&a, &of_a, stale) || !at_end(&a)) return EXPR_WRONG;
    if (!take_time_row(&b, &of_b, stale) || !at_end(&b)) return EXPR_WRONG;
    if (overlap(of_a.table, of_a.rows[0], of_b.table, of_b.rows[0])) return EXPR_HOLDS;
    buf_format(why, "does not hold: the intervals do not overlap");
    return EXPR_FAILS;
}

static bool holds(double a, Str operator, double b) {
    if (str_equal(operator, STR("<="))) return a <= b;
    if (str_equal(operator, STR(">="))) return a >= b;
    if (str_equal(operator, STR("=="))) return a == b;
    if (str_equal(operator, STR("!="))) return a != b;
    return operator.at[0] == '<' ? a < b : a> b;
}

bool expr_compare(const KeyScope *scope, Str text, ExprComparison *comparison, Buf *why) {
    Parser parser = {.scope = scope, .rest = text, .why = why};
    *comparison = (ExprComparison){.subject = STR("")};
    if (!parse_sum(&parser, &comparison->left)) return false;
    char first = peek(&parser);
    comparison->subject = str_trim(str_slice(text, 0, text.len - parser.rest.len));
    bool two = parser.rest.len > 1 && parser.rest.at[1] == '=';
    if (!(first == '<' || first == '>' || ((first == '=' || first == '!') && two))) {
        buf_format(why, "a claim compares two values with < <= > >= == != or ~");
        return false;
    }
    comparison->operator= str_slice(parser.rest, 0, two ? 2 : 1);
    parser.rest = str_from(parser.rest, comparison->operator.len);
    if (!parse_sum(&parser, &comparison->right) || !at_end(&parser)) return false;
    const char *problem = value_comparable(comparison->left, comparison->right);
    if (problem) buf_format(why, "%s", problem);
    if (problem) return false;
    comparison->holds =
        holds(comparison->left.number, comparison->operator, comparison->right.number);
    return true;
}

static ExprVerdict claim_once(const KeyScope *scope, Str text, bool *stale, Buf *why) {
    *stale = false;
    size_t tilde = str_find(text, STR("~"));
    if (tilde != SIZE_MAX)
        return claim_overlap(scope, str_slice(text, 0, tilde), str_from(text, tilde + 1), stale,
                             why);
    ExprComparison claim;
    if (!expr_compare(scope, text, &claim, why)) return EXPR_WRONG;
    *stale = claim.left.stale || claim.right.stale;
    if (claim.holds) return EXPR_HOLDS;
    buf_add(why, STR("does not hold: "));
    value_format_bare(why, claim.left);
    buf_format(why, " %.*s ", STR_ARG(claim.operator));
    value_format_bare(why, claim.right);
    return EXPR_FAILS;
}

static const Str each = STR("@each");

// Finds the rows of the key with the first @each.
static bool take_each(const KeyScope *scope, Str text, KeyRows *rows, Buf *why) {
    size_t end = str_find(text, each), start = end;
    while (start && (text.at[start - 1] == '_' || text.at[start - 1] == '/' ||
                     isalnum((unsigned char)text.at[start - 1])))
        start--;
    Buf name = {.arena = scope->arena};
    buf_format(&name, "%.*s@*", (int)(end - start), text.at + start);
    Str rest = buf_str(&name);
    Key key;
    if (!key_take(scope, &rest, &key) || rest.len) {
        buf_format(why, "@each must follow a kernel: write KERNEL@each");
        return false;
    }
    const ResultTable *device = key_device(scope, key.chapter, why);
    return device && key_rows(scope, device, &key, rows, why);
}

ExprVerdict expr_verdict(const KeyScope *scope, Str text, bool *stale, Buf *why) {
    if (str_find(text, each) == SIZE_MAX) return claim_once(scope, text, stale, why);
    KeyRows rows;
    *stale = false;
    if (!take_each(scope, text, &rows, why)) return EXPR_WRONG;
    for (size_t i = 0; i < rows.count; i++) {
        Str n = results_cell(rows.table, rows.rows[i], STR("n"));
        Buf claim = {.arena = scope->arena}, reason = {.arena = scope->arena};
        size_t next;
        for (Str rest = text; rest.len; rest = str_from(rest, next)) {
            size_t at = str_find(rest, each);
            buf_add(&claim, str_slice(rest, 0, at));
            next = at == SIZE_MAX ? rest.len : at + each.len;
            if (at != SIZE_MAX) buf_format(&claim, "@%.*s", STR_ARG(n));
        }
        bool old = false;
        ExprVerdict verdict = claim_once(scope, buf_str(&claim), &old, &reason);
        *stale = *stale || old;
        if (verdict == EXPR_HOLDS) continue;
        buf_format(why, "at n = %.*s: %.*s", STR_ARG(n), STR_ARG(buf_str(&reason)));
        return verdict;
    }
    return EXPR_HOLDS;
}

bool expr_claim(const KeyScope *scope, Str text, bool *stale, Buf *why) {
    return expr_verdict(scope, text, stale, why) == EXPR_HOLDS;
}

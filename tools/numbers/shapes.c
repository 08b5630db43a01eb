// Expands formulas with KERNEL@shapes and selects the shapes.
#include "numbers/shapes.h"

#include <ctype.h>
#include <math.h>

static const Str each = STR("@shapes");

const ResultTable *shapes_table(const KeyScope *scope, const Key *key, Buf *why) {
    Str of = scope->device;
    if (key->cols <= 0 || of.len == 0) {
        const ResultTable *device = key_device(scope, key->chapter, why);
        if (!device || key->cols <= 0) return device;
        of = device->device;
    }
    const Results *results = scope->results;
    for (size_t i = 0; i < results->shapes_count; i++)
        if (str_equal(results->shapes[i].file.device, of)) return &results->shapes[i];
    buf_format(why, "no shapes of that device: %s is missing",
               catalog_path(scope->arena, results->folder, CATALOG_SHAPES, of));
    return NULL;
}

bool shapes_any(Str text) { return str_find(text, each) != SIZE_MAX; }

typedef struct {
    Str column, operator; // without operator, the column is even or odd
    double count;
} Condition;

static bool take_condition(Str text, Condition *condition, Buf *why) {
    size_t end = 0;
    text = str_trim(text);
    while (end < text.len && text.at[end] >= 'a' && text.at[end] <= 'z') end++;
    *condition = (Condition){.column = str_slice(text, 0, end)};
    bool parity =
        str_equal(condition->column, STR("even")) || str_equal(condition->column, STR("odd"));
    bool counted =
        str_equal(condition->column, STR("n")) || str_equal(condition->column, STR("cols"));
    Str rest = str_trim(str_from(text, end));
    if (parity && rest.len == 0) return true;
    for (end = 0;
         end < rest.len && (rest.at[end] == '<' || rest.at[end] == '>' || rest.at[end] == '=');)
        end++;
    condition->operator= str_slice(rest, 0, end);
    rest = str_trim(str_from(rest, end));
    bool known =
        str_equal(condition->operator, STR("<")) || str_equal(condition->operator, STR("<=")) ||
        str_equal(condition->operator, STR(">")) || str_equal(condition->operator, STR(">=")) ||
        str_equal(condition->operator, STR("=="));
    if (counted && known && key_take_count(&rest, &condition->count) && rest.len == 0) return true;
    buf_format(
        why,
        "`%.*s` is not a condition: write even, odd, or n or cols with < <= > >= or == and a count",
        STR_ARG(text));
    return false;
}

static bool meets(const Condition *condition, const ResultRow *row) {
    if (condition->operator.len == 0)
        return (fmod(row->cols, 2) == 0) == str_equal(condition->column, STR("even"));
    double is = str_equal(condition->column, STR("n")) ? row->n : row->cols;
    char first = condition->operator.at[0];
    bool equal = condition->operator.len> 1 && is == condition->count;
    return equal || (first == '<' && is < condition->count) ||
           (first == '>' && is > condition->count);
}

// Removes the rows that do not meet all conditions of a text.
static bool choose(Str text, KeyRows *rows, Buf *why) {
    static const Str and = STR(" and ");
    for (size_t at = 0; text.len; text = str_from(text, at)) {
        size_t end = str_find(text, and);
        Condition condition;
        if (!take_condition(str_slice(text, 0, end), &condition, why)) return false;
        at = end == SIZE_MAX ? text.len : end + and.len;
        size_t count = 0;
        for (size_t i = 0; i < rows->count; i++)
            if (meets(&condition, rows->rows[i])) rows->rows[count++] = rows->rows[i];
        rows->count = count;
    }
    return true;
}

// Parses the key before the first @shapes, and the device in brackets after its field.
static bool first_key(KeyScope *scope, Str text, Key *key, Buf *why) {
    size_t end = str_find(text, each), start = end;
    while (start && (text.at[start - 1] == '_' || text.at[start - 1] == '/' ||
                     isalnum((unsigned char)text.at[start - 1])))
        start--;
    Str name = str_slice(text, start, end), rest = str_from(text, end + each.len);
    if (!key_take(scope, &name, key) || name.len) {
        buf_format(why, "@shapes must follow a kernel: write KERNEL@shapes");
        return false;
    }
    for (end = 0; end < rest.len && (rest.at[end] == '.' || rest.at[end] == '_' ||
                                     isalnum((unsigned char)rest.at[end]));)
        end++;
    size_t close = str_find(rest, STR("]"));
    if (end < rest.len && rest.at[end] == '[' && close != SIZE_MAX)
        scope->device = str_slice(rest, end + 1, close);
    return true;
}

bool shapes_rows(const KeyScope *scope, Str *text, KeyRows *rows, Buf *why) {
    static const Str where = STR(" where ");
    size_t end = str_find(*text, where);
    Str conditions = end == SIZE_MAX ? STR("") : str_from(*text, end + where.len);
    *text = str_slice(*text, 0, end);
    KeyScope there = *scope;
    Key key;
    if (!first_key(&there, *text, &key, why)) return false;
    key.cols = 1; // any positive value selects the table of shapes
    *rows = (KeyRows){.table = shapes_table(&there, &key, why)};
    if (!rows->table) return false;
    const ResultKernel *kernel = results_kernel(rows->table, key.chapter, key.kernel);
    rows->count = kernel ? kernel->row_count : 0;
    rows->rows = ARENA_NEW(scope->arena, rows->count + 1, const ResultRow *);
    for (size_t i = 0; i < rows->count; i++) rows->rows[i] = &rows->table->rows[kernel->rows[i]];
    if (!choose(conditions, rows, why)) return false;
    if (rows->count == 0)
        buf_format(why, "no such shape of `%.*s` in %s", STR_ARG(key.kernel), rows->table->path);
    return rows->count > 0;
}

Str shapes_at(const KeyScope *scope, Str text, const ResultRow *row) {
    Buf at = {.arena = scope->arena};
    size_t next;
    for (Str rest = text; rest.len; rest = str_from(rest, next)) {
        size_t here = str_find(rest, each);
        buf_add(&at, str_slice(rest, 0, here));
        next = here == SIZE_MAX ? rest.len : here + each.len;
        if (here != SIZE_MAX) buf_format(&at, "@%.0fx%.0f", row->n, row->cols);
    }
    return buf_str(&at);
}

// Writes notebook cells as JSON in the layout of nbformat 4.5.
#include "notebook/cells.h"

#include "base/json.h"

enum { ID_MAX = 64 }; // nbformat 4.5, cell ids: 1 to 64 of a-z A-Z 0-9 - _

static Str unique_id(Cells *cells, Str wish) {
    Arena *arena = cells->arena;
    Buf base = {.arena = arena};
    for (size_t i = 0; i < wish.len && i < ID_MAX - 4; i++) {
        char c = wish.at[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        buf_char(&base, good ? c : '-');
    }
    bool is_new;
    Str id = buf_str(&base);
    size_t number = *map_at(&cells->ids, id, &is_new);
    if (is_new) return id;
    for (number += number == 0; !is_new;) {
        Buf next = {.arena = arena};
        buf_format(&next, "%.*s-%zu", STR_ARG(buf_str(&base)), ++number);
        id = buf_str(&next);
        map_at(&cells->ids, id, &is_new);
    }
    *map_at(&cells->ids, buf_str(&base), &is_new) = number;
    return id;
}

static Str without_blank_lines(Str text) {
    for (Str rest = text, line; str_line(&rest, &line) && str_trim(line).len == 0;) text = rest;
    while (text.len && (text.at[text.len - 1] == '\n' || text.at[text.len - 1] == ' ')) text.len--;
    return text;
}

static bool is_folded(Str text) {
    Str line;
    for (int i = 0; i < 2 && str_line(&text, &line); i++)
        if (str_starts(line, STR("#@title"))) return true;
    return false;
}

void cells_open(Cells *cells, Arena *arena) {
    *cells = (Cells){.arena = arena, .ids = {.arena = arena}};
}

static void add(Cells *cells, CellKind kind, Str id, Str text) {
    ARENA_GROW(cells->arena, cells->items, cells->count, cells->capacity);
    cells->items[cells->count++] = (Cell){kind, unique_id(cells, id), text};
}

void cells_add_markdown(Cells *cells, Str id, Str text) {
    text = without_blank_lines(text);
    Buf kept = {.arena = cells->arena}; // the caller may reuse the text's memory
    buf_add(&kept, text);
    if (text.len) add(cells, CELL_TEXT, id, buf_str(&kept));
}

void cells_add_code(Cells *cells, Str id, Str text) { add(cells, CELL_CODE, id, text); }

void cells_add_form(Cells *cells, Str id, Str text) { add(cells, CELL_FORM, id, text); }

// --- as JSON ---

static void write_source(Json *json, Str text) {
    json_open(json, STR("source"), '[');
    while (text.len) {
        size_t newline = str_find(text, STR("\n"));
        size_t end = newline == SIZE_MAX ? text.len : newline + 1;
        json_text(json, STR(""), str_slice(text, 0, end));
        text = str_from(text, end);
    }
    json_close(json, ']');
}

static void write_looks(Json *json, const Cell *cell) {
    json_open(json, STR("metadata"), '{');
    if (cell->kind != CELL_TEXT && is_folded(cell->text)) {
        json_text(json, STR("cellView"), STR("form"));
        if (cell->kind == CELL_CODE) {
            json_open(json, STR("jupyter"), '{');
            json_plain(json, STR("source_hidden"), STR("true"));
            json_close(json, '}');
        }
    }
    json_close(json, '}');
}

static void write_cell(Json *json, const Cell *cell) {
    const bool code = cell->kind != CELL_TEXT;
    json_open(json, STR(""), '{');
    json_text(json, STR("cell_type"), code ? STR("code") : STR("markdown"));
    if (code) json_plain(json, STR("execution_count"), STR("null"));
    json_text(json, STR("id"), cell->id);
    write_looks(json, cell);
    if (code) {
        json_open(json, STR("outputs"), '[');
        json_close(json, ']');
    }
    write_source(json, cell->text);
    json_close(json, '}');
}

static void write_metadata(Json *json, Str source) {
    json_open(json, STR("metadata"), '{');
    json_text(json, STR("accelerator"), STR("GPU"));
    json_open(json, STR("colab"), '{');
    json_text(json, STR("gpuType"), STR("T4"));
    json_open(json, STR("provenance"), '[');
    json_close(json, ']');
    json_plain(json, STR("toc_visible"), STR("true"));
    json_close(json, '}');
    json_text(json, STR("generated"), source);
    json_open(json, STR("kernelspec"), '{');
    json_text(json, STR("display_name"), STR("Python 3"));
    json_text(json, STR("language"), STR("python"));
    json_text(json, STR("name"), STR("python3"));
    json_close(json, '}');
    json_open(json, STR("language_info"), '{');
    json_text(json, STR("name"), STR("python"));
    json_close(json, '}');
    json_close(json, '}');
}

Str cells_close(Cells *cells, Str source) {
    Buf out = {.arena = cells->arena};
    Json json = {.out = &out};
    json_open(&json, STR(""), '{');
    json_open(&json, STR("cells"), '[');
    for (size_t i = 0; i < cells->count; i++) write_cell(&json, &cells->items[i]);
    json_close(&json, ']');
    write_metadata(&json, source);
    json_plain(&json, STR("nbformat"), STR("4"));
    json_plain(&json, STR("nbformat_minor"), STR("5"));
    json_close(&json, '}');
    buf_char(&out, '\n');
    return buf_str(&out);
}

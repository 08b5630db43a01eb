// Cells: see cells.h.
#include "notebook/cells.h"

enum { ID_MAX = 64 }; // nbformat 4.5, cell ids: 1 to 64 of a-z A-Z 0-9 - _

static Str unique_id(Cells *cells, Str wish) {
    Arena *arena = cells->out.arena;
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

static void add_source(Cells *cells, Str text) {
    Json *json = &cells->json;
    if (cells->lean) {
        json_text(json, STR("source"), text);
        return;
    }
    json_open(json, STR("source"), '[');
    while (text.len) {
        size_t newline = str_find(text, STR("\n"));
        size_t end = newline == SIZE_MAX ? text.len : newline + 1;
        json_text(json, STR(""), str_slice(text, 0, end));
        text = str_from(text, end);
    }
    json_close(json, ']');
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

void cells_open(Cells *cells, Arena *arena, bool lean) {
    *cells = (Cells){.out = {.arena = arena}, .ids = {.arena = arena}, .lean = lean};
    cells->json = (Json){.out = &cells->out, .flat = lean};
    json_open(&cells->json, STR(""), '{');
    json_open(&cells->json, STR("cells"), '[');
}

void cells_add_markdown(Cells *cells, Str id, Str text) {
    Json *json = &cells->json;
    text = without_blank_lines(text);
    if (text.len == 0) return;
    json_open(json, STR(""), '{');
    json_text(json, STR("cell_type"), STR("markdown"));
    json_text(json, STR("id"), unique_id(cells, id));
    json_open(json, STR("metadata"), '{');
    json_close(json, '}');
    add_source(cells, text);
    json_close(json, '}');
}

static void add_code(Cells *cells, Str id, Str text, bool hidden) {
    Json *json = &cells->json;
    json_open(json, STR(""), '{');
    json_text(json, STR("cell_type"), STR("code"));
    json_plain(json, STR("execution_count"), STR("null"));
    json_text(json, STR("id"), unique_id(cells, id));
    json_open(json, STR("metadata"), '{');
    if (is_folded(text)) {
        json_text(json, STR("cellView"), STR("form"));
        if (hidden) {
            json_open(json, STR("jupyter"), '{');
            json_plain(json, STR("source_hidden"), STR("true"));
            json_close(json, '}');
        }
    }
    json_close(json, '}');
    json_open(json, STR("outputs"), '[');
    json_close(json, ']');
    add_source(cells, text);
    json_close(json, '}');
}

void cells_add_code(Cells *cells, Str id, Str text) { add_code(cells, id, text, true); }

void cells_add_form(Cells *cells, Str id, Str text) { add_code(cells, id, text, false); }

static void add_metadata(Json *json) {
    json_open(json, STR("metadata"), '{');
    json_text(json, STR("accelerator"), STR("GPU"));
    json_open(json, STR("colab"), '{');
    json_text(json, STR("gpuType"), STR("T4"));
    json_open(json, STR("provenance"), '[');
    json_close(json, ']');
    json_plain(json, STR("toc_visible"), STR("true"));
    json_close(json, '}');
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

Str cells_close(Cells *cells) {
    Json *json = &cells->json;
    json_close(json, ']');
    add_metadata(json);
    json_plain(json, STR("nbformat"), STR("4"));
    json_plain(json, STR("nbformat_minor"), STR("5"));
    json_close(json, '}');
    buf_char(json->out, '\n');
    return buf_str(json->out);
}

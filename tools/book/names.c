// Reads {.names} blocks and looks up the names of kernels.
#include "book/names.h"

struct Names {
    Map index; // from chapter and kernel to 1 + the index of its name
    Name *items;
    size_t count, capacity;
};

static Str key_of(Arena *arena, Str chapter, Str kernel) {
    Buf key = {.arena = arena};
    buf_format(&key, "%.*s/%.*s", STR_ARG(chapter), STR_ARG(kernel));
    return buf_str(&key);
}

// Whether the kernel has results. A chapter with no results at all may name any kernel.
static bool is_recorded(const Book *book, Str kernel) {
    KeyScope scope = book_scope(book);
    Buf why = {.arena = book->arena};
    const ResultTable *device = key_device(&scope, scope.chapter, &why);
    const ResultTable *tables[] = {device, book->results->counters, book->results->lines};
    bool any = false;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        size_t count = 0;
        if (!tables[t]) continue;
        results_kernels(tables[t], scope.chapter, &count);
        any = any || count;
        if (results_kernel(tables[t], scope.chapter, kernel)) return true;
    }
    return !any;
}

static void add_name(Book *book, Str line, size_t number) {
    struct Names *names = book->names;
    Buf message = {.arena = book->arena};
    size_t bar = str_find(line, STR("|"));
    Name name = {.chapter = book_chapter(book), .kernel = str_trim(str_slice(line, 0, bar))};
    name.name = bar == SIZE_MAX ? STR("") : str_trim(str_from(line, bar + 1));
    bool is_new;
    size_t *index = map_at(&names->index, key_of(book->arena, name.chapter, name.kernel), &is_new);
    if (name.name.len == 0 || name.kernel.len == 0)
        buf_add(&message, STR("expected KERNEL | NAME"));
    else if (!is_new)
        buf_format(&message, "`%.*s` already has a name", STR_ARG(name.kernel));
    else if (!is_recorded(book, name.kernel))
        buf_format(&message, "`%.*s`: the results of this chapter have no such kernel",
                   STR_ARG(name.kernel));
    if (message.len) {
        book_error(book, number, message);
        return;
    }
    ARENA_GROW(book->arena, names->items, names->count, names->capacity);
    names->items[names->count++] = name;
    *index = names->count;
    index = map_at(&names->index, key_of(book->arena, STR(""), name.kernel), &is_new);
    if (is_new) *index = names->count; // the default for other chapters
}

void names_collect(Book *book) {
    book->names = ARENA_NEW(book->arena, 1, struct Names);
    book->names->index.arena = book->arena;
    for (book->file = 0; book->file < book->chunks->file_count; book->file++) {
        FenceParts parts = book->chunks->files[book->file].parts;
        for (size_t p = 0; p < parts.count; p++) {
            const FencePart *part = &parts.parts[p];
            if (!part->fenced || !fence_has_class(part, STR("names"))) continue;
            for (size_t i = 0; i < part->body_count; i++)
                if (str_trim(part->body[i]).len) add_name(book, part->body[i], part->line + 1 + i);
        }
    }
    book->file = 0;
}

Str names_of(const Book *book, Str chapter, Str kernel) {
    const Map *map = &book->names->index;
    const size_t *index = map_find(map, key_of(book->arena, chapter, kernel));
    if (!index) index = map_find(map, key_of(book->arena, STR(""), kernel));
    return index && *index ? book->names->items[*index - 1].name : STR("");
}

size_t names_count(const Book *book) { return book->names->count; }

Name names_at(const Book *book, size_t index) { return book->names->items[index]; }

// Prints the parts that the fence scanner finds in standard input, one line per part and body line,
// so that tests can be written as text:
//     prose LINE COUNT
//     fence LINE COUNT [nested] [open] TICKS [.class …] [#id] [key="value" …] [! error]
//     | body line
// Fails if the parts do not add up to the input, or if their line numbers are wrong.
#include <stdio.h>

#include "base/file.h"
#include "markdown/fence.h"

static void print_fence(const FencePart *part) {
    printf("fence %zu %zu%s%s %.*s", part->line, part->line_count, part->nested ? " nested" : "",
           part->closed ? "" : " open", STR_ARG(part->ticks));
    for (size_t i = 0; i < part->braces.class_count; i++)
        printf(" .%.*s", STR_ARG(part->braces.classes[i]));
    if (part->braces.id.len) printf(" #%.*s", STR_ARG(part->braces.id));
    for (size_t i = 0; i < part->braces.attribute_count; i++)
        printf(" %.*s=\"%.*s\"", STR_ARG(part->braces.attributes[i].key),
               STR_ARG(part->braces.attributes[i].value));
    if (part->braces.error.len) printf(" ! %.*s", STR_ARG(part->braces.error));
    putchar('\n');
    for (size_t i = 0; i < part->body_count; i++) printf("|%.*s\n", STR_ARG(part->body[i]));
}

int main(void) {
    Arena arena = {0};
    Str text;
    if (!file_read(&arena, "/dev/stdin", &text)) return 2;
    FenceParts parts = fence_scan(&arena, text);
    Buf whole = {.arena = &arena};
    size_t line = 1;
    for (size_t i = 0; i < parts.count; i++) {
        const FencePart *part = &parts.parts[i];
        if (part->line != line) return 3;
        line += part->line_count;
        buf_add(&whole, part->source);
        if (part->fenced)
            print_fence(part);
        else
            printf("prose %zu %zu\n", part->line, part->line_count);
    }
    bool same = str_equal(buf_str(&whole), text);
    arena_free(&arena);
    return same ? 0 : 4;
}

// fuzz SPEC SECONDS: cuts the spec's inputs into pieces, joins them at random with significant
// characters, flips bytes, and runs every step of tangle except writing on the result. Sanitizers
// find invalid accesses; the program checks what must hold for any text. The seed is fixed.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "tangle/expand.h"

static uint64_t state = 0x9E3779B97F4A7C15u;

static size_t below(size_t limit) { // xorshift64*
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (size_t)((state * 2685821657736338717u) >> 33) % limit;
}

static Str mutated(Arena *arena, Str spec) {
    static const char *const marks[] = {"```\n",
                                        "~~~\n",
                                        "``` {.c #a}\n",
                                        "``` {.c file=code/a.c}\n",
                                        "<<a>>\n",
                                        "  <<b>>\n",
                                        "> ",
                                        "- ",
                                        "    ",
                                        "\t",
                                        "```c {#b}",
                                        "{.c #a k=\"",
                                        "<!--\n",
                                        "-->\n",
                                        "\n",
                                        "\\\n",
                                        "#if A\n",
                                        "#endif\n",
                                        "R\"(",
                                        ":::\n",
                                        "::: {.exercise #e title=\"E\"}\n",
                                        "::: hint\n",
                                        "``` {.expect}\n",
                                        "``` {.c #a .starter}\n",
                                        "/*"};
    Buf buf = {.arena = arena};
    for (size_t pieces = 1 + below(12); pieces; pieces--) {
        size_t start = below(spec.len);
        while (start && spec.at[start - 1] != '\n') start--;
        buf_add(&buf, str_slice(spec, start, start + below(300)));
        buf_add(&buf, str_of(marks[below(sizeof marks / sizeof *marks)]));
    }
    for (size_t flips = below(6); flips; flips--) buf.at[below(buf.len)] = (char)below(256);
    return buf_str(&buf);
}

static const char *fault(Arena *arena, Str text) {
    Buf whole = {.arena = arena};
    FenceParts parts = fence_scan(arena, text);
    for (size_t i = 0; i < parts.count; i++) buf_add(&whole, parts.parts[i].source);
    if (!str_equal(buf_str(&whole), text)) return "the parts are not the text";

    ChunkTable table = {.arena = arena};
    chunk_add(&table, STR("a.md"), str_slice(text, 0, text.len / 2));
    chunk_add(&table, STR("b.md"), str_from(text, text.len / 2));
    chunk_check(&table);
    if (table.error_count) return chunk_errors(&table).len ? NULL : "an error says nothing";
    ExpandWalk walk = expand_walk(&table);
    for (size_t i = 0; i < table.chunk_count; i++) {
        size_t *files;
        Str clean = expand_text(&table, i, EXPAND_CLEAN), line;
        Str lines = expand_text(&table, i, EXPAND_WITH_LINES);
        if (expand_sources(&walk, i, &files) == 0) return "a chunk comes from no file";
        Buf stripped = {.arena = arena};
        while (str_line(&lines, &line)) {
            if (str_starts(line, STR("#line "))) continue;
            buf_add(&stripped, line);
            buf_char(&stripped, '\n');
        }
        bool own =
            str_find(clean, STR("#line ")) != SIZE_MAX || str_find(clean, STR("\r")) != SIZE_MAX;
        if (!own && !str_equal(buf_str(&stripped), clean)) return "#line copies differ";
    }
    return NULL;
}

int main(int argc, char **argv) {
    Arena kept = {0}, arena = {0};
    Str spec;
    if (argc != 3 || !file_read(&kept, argv[1], &spec)) return 2;
    clock_t end = clock() + (clock_t)strtol(argv[2], NULL, 10) * CLOCKS_PER_SEC;
    const char *found = NULL;
    unsigned long rounds = 0;
    while (!found && clock() < end) {
        Str text = mutated(&arena, spec);
        found = fault(&arena, text);
        if (found) printf("%s:\n%.*s\n", found, STR_ARG(text));
        arena_free(&arena);
        rounds++;
    }
    if (!found && rounds < 100) found = "too few rounds to mean anything";
    printf("%lu rounds\n", rounds);
    arena_free(&kept);
    return found ? 1 : 0;
}

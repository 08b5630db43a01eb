// Finds the exercises of chapters and checks that they are complete.
#include "markdown/exercise.h"

#include <ctype.h>

#include "markdown/braces.h"
#include "markdown/chunk.h"

// --- divs of a chapter ---

enum { DIVS_MAX = 64 }; // open at a time; deeper ones are ignored

typedef struct {
    ChunkTable *table;
    size_t file;
    size_t exercise;   // the open exercise, or EXERCISE_NONE
    int depth, within; // number of open divs; that number when the exercise opened
    int hint_depth;    // that number when the hint opened; 0: no open hint
    const char *hint;  // start of the hint's text
} Scan;

static void open_exercise(Scan *scan, const Braces *braces, size_t line) {
    ChunkTable *table = scan->table;
    size_t number = 1;
    for (size_t i = 0; i < table->exercise_count; i++)
        number += table->exercises[i].file == scan->file;
    Exercise exercise = {.id = braces->id,
                         .file = scan->file,
                         .line = line,
                         .number = number,
                         .starter = EXERCISE_NONE,
                         .solution = EXERCISE_NONE,
                         .program = EXERCISE_NONE};
    braces_value(braces, STR("title"), &exercise.title);
    if (exercise.id.len == 0 || exercise.title.len == 0)
        chunk_fail(
            table, scan->file, line,
            "an exercise needs an id and a title: write ::: {.exercise #name title=\"...\"}");
    scan->exercise = table->exercise_count;
    scan->within = scan->depth;
    ARENA_GROW(table->arena, table->exercises, table->exercise_count, table->exercise_capacity);
    table->exercises[table->exercise_count++] = exercise;
}

static void open_div(Scan *scan, const Braces *braces, size_t line, const char *after) {
    ChunkTable *table = scan->table;
    if (braces->error.len) chunk_fail(table, scan->file, line, "%.*s", STR_ARG(braces->error));
    scan->depth++;
    if (braces_have_class(braces, STR("exercise"))) {
        if (scan->exercise == EXERCISE_NONE)
            open_exercise(scan, braces, line);
        else
            chunk_fail(table, scan->file, line,
                       "an exercise cannot be inside another: close that one with ::: first");
        return;
    }
    bool hint = braces_have_class(braces, STR("hint"));
    if (scan->exercise == EXERCISE_NONE) {
        if (hint) chunk_fail(table, scan->file, line, "a hint must be inside an exercise");
        return;
    }
    if (braces_have_class(braces, STR("answer"))) table->exercises[scan->exercise].answered = true;
    if (!hint || scan->hint_depth) return;
    scan->hint_depth = scan->depth;
    scan->hint = after;
}

static void close_div(Scan *scan, const char *before) {
    ChunkTable *table = scan->table;
    if (scan->depth == 0) return; // weave reports this
    Exercise *exercise = scan->exercise == EXERCISE_NONE ? NULL : &table->exercises[scan->exercise];
    if (exercise && scan->depth == scan->hint_depth) {
        Str text = str_trim((Str){scan->hint, (size_t)(before - scan->hint)});
        ARENA_GROW(table->arena, exercise->hints, exercise->hint_count, exercise->hint_capacity);
        exercise->hints[exercise->hint_count++] = text;
        scan->hint_depth = 0;
    }
    if (exercise && scan->depth == scan->within) {
        exercise->closed = true;
        scan->exercise = EXERCISE_NONE;
    }
    scan->depth--;
}

static void scan_prose(Scan *scan, const FencePart *part) {
    Str rest = part->source, line;
    size_t number = part->line;
    for (const char *start = rest.at; str_line(&rest, &line); start = rest.at, number++) {
        Braces braces;
        DivLine kind = div_line(scan->table->arena, line, &braces);
        if (kind == DIV_OPENS && scan->depth < DIVS_MAX)
            open_div(scan, &braces, number, rest.at);
        else if (kind == DIV_CLOSES)
            close_div(scan, start);
    }
}

// --- .expect and .mistakes blocks ---

// Splits `LEFT | RIGHT`; right is empty if there is no bar.
static Str take_left(Str line, Str *right) {
    size_t bar = str_find(line, STR("|"));
    *right = bar == SIZE_MAX ? STR("") : str_trim(str_from(line, bar + 1));
    return str_trim(str_slice(line, 0, bar));
}

// The number N of `hint N`, or 0.
static size_t hint_number(Str text) {
    size_t number = 0;
    if (!str_starts(text, STR("hint "))) return 0;
    text = str_trim(str_from(text, 5));
    for (size_t i = 0; i < text.len && number < 1000; i++) {
        if (!isdigit((unsigned char)text.at[i])) return 0;
        number = number * 10 + (size_t)(text.at[i] - '0');
    }
    return number;
}

static void add_demand(ChunkTable *table, Exercise *exercise, Str line, size_t number) {
    const Str word = STR(" if ");
    Str rest;
    ExerciseDemand demand = {.text = take_left(line, &rest), .line = number};
    while (rest.len) {
        Str text = take_left(rest, &rest);
        size_t at = str_find(text, word);
        ExerciseChoice choice = {.hint = hint_number(str_trim(str_slice(text, 0, at)))};
        if (at != SIZE_MAX) choice.condition = str_trim(str_from(text, at + word.len));
        if (choice.hint == 0 || demand.choice_count == EXERCISE_CHOICES)
            chunk_fail(table, exercise->file, number,
                       "`%.*s`: expected `hint N` or `hint N if COMPARISON` after the bar, at most "
                       "%d times",
                       STR_ARG(text), EXERCISE_CHOICES);
        else
            demand.choices[demand.choice_count++] = choice;
    }
    ARENA_GROW(table->arena, exercise->demands, exercise->demand_count, exercise->demand_capacity);
    exercise->demands[exercise->demand_count++] = demand;
}

static void add_mistake(ChunkTable *table, Exercise *exercise, Str line, size_t number) {
    ExerciseMistake mistake = {.line = number};
    mistake.value = take_left(line, &mistake.why);
    if (mistake.why.len == 0)
        chunk_fail(table, exercise->file, number,
                   "explain this mistake: write EXPRESSION | sentence");
    ARENA_GROW(table->arena, exercise->mistakes, exercise->mistake_count,
               exercise->mistake_capacity);
    exercise->mistakes[exercise->mistake_count++] = mistake;
}

static void scan_fence(Scan *scan, const FencePart *part) {
    ChunkTable *table = scan->table;
    bool demands = fence_has_class(part, STR("expect"));
    bool mistakes = fence_has_class(part, STR("mistakes"));
    if (!demands && !mistakes) return;
    if (scan->exercise == EXERCISE_NONE) {
        chunk_fail(table, scan->file, part->line, "this block must be inside an exercise");
        return;
    }
    Exercise *exercise = &table->exercises[scan->exercise];
    for (size_t i = 0; i < part->body_count; i++) {
        Str line = str_trim(part->body[i]);
        if (line.len == 0 || line.at[0] == '#') continue;
        (demands ? add_demand : add_mistake)(table, exercise, line, part->line + 1 + i);
    }
}

void exercise_scan(ChunkTable *table, size_t file, size_t *inside) {
    FenceParts parts = table->files[file].parts;
    Scan scan = {.table = table, .file = file, .exercise = EXERCISE_NONE};
    for (size_t i = 0; i < parts.count; i++) {
        if (parts.parts[i].fenced)
            scan_fence(&scan, &parts.parts[i]);
        else
            scan_prose(&scan, &parts.parts[i]);
        inside[i] = scan.exercise;
    }
}

// --- checks ---

static void fail(ChunkTable *table, const Exercise *exercise, const char *what) {
    chunk_fail(table, exercise->file, exercise->line, "exercise `%.*s`: %s", STR_ARG(exercise->id),
               what);
}

static size_t demand_with(const Exercise *exercise, Str text) {
    for (size_t i = 0; i < exercise->demand_count; i++)
        if (str_equal(exercise->demands[i].text, text)) return i;
    return EXERCISE_NONE;
}

static void add_wrong(ChunkTable *table, Exercise *exercise, size_t chunk) {
    const Chunk *at = &table->chunks[chunk];
    ExerciseWrong wrong = {.chunk = chunk, .demand = EXERCISE_NONE};
    Str fails;
    if (!fence_attribute(at->part, STR("why"), &wrong.why))
        chunk_fail(table, at->file, at->line, "a wrong variant needs why=\"what is wrong\"");
    if (!fence_attribute(at->part, STR("fails"), &fails))
        chunk_fail(table, at->file, at->line,
                   "a wrong variant needs fails=\"the requirement that catches it\"");
    else if ((wrong.demand = demand_with(exercise, fails)) == EXERCISE_NONE)
        chunk_fail(table, at->file, at->line, "fails=\"%.*s\" is not a line of the .expect block",
                   STR_ARG(fails));
    ARENA_GROW(table->arena, exercise->wrong, exercise->wrong_count, exercise->wrong_capacity);
    exercise->wrong[exercise->wrong_count++] = wrong;
}

// Stores the chunk in a place for a single chunk; reports a second one.
static void take(ChunkTable *table, size_t *place, size_t chunk, const char *what) {
    const Chunk *at = &table->chunks[chunk];
    if (*place != EXERCISE_NONE)
        chunk_fail(table, at->file, at->line,
                   "a second %s: an exercise has only one, which is at line %zu", what,
                   table->chunks[*place].line);
    else
        *place = chunk;
}

static void check_variant(ChunkTable *table, const Exercise *exercise, const Chunk *chunk) {
    if (chunk->name.len == 0 || chunk->target.len)
        chunk_fail(table, chunk->file, chunk->line,
                   "a variant must be a chunk with a #name and without file=");
    if (chunk->reference_count)
        chunk_fail(table, chunk->file, chunk->line + 1 + chunk->references[0].body,
                   "a variant must not refer to other chunks");
    if (exercise->starter != EXERCISE_NONE &&
        !str_equal(chunk->name, table->chunks[exercise->starter].name))
        chunk_fail(table, chunk->file, chunk->line,
                   "all variants have one name: use the starter's, <<%.*s>>",
                   STR_ARG(table->chunks[exercise->starter].name));
}

static void place_chunk(ChunkTable *table, size_t chunk) {
    const Chunk *at = &table->chunks[chunk];
    bool below = str_starts(at->target, STR("code/exercises/"));
    if (at->exercise == EXERCISE_NONE) {
        if (at->variant != VARIANT_NONE)
            chunk_fail(table, at->file, at->line, "a variant must be inside an exercise");
        if (below)
            chunk_fail(table, at->file, at->line,
                       "code/exercises/ is only for programs of exercises");
        return;
    }
    Exercise *exercise = &table->exercises[at->exercise];
    if (at->target.len) {
        take(table, &exercise->program, chunk, "program");
        if (!below && !at->misplaced)
            chunk_fail(table, at->file, at->line,
                       "the program of an exercise must be below "
                       "code/exercises/");
    }
    if (at->variant == VARIANT_STARTER) take(table, &exercise->starter, chunk, "starter");
    if (at->variant == VARIANT_SOLUTION) take(table, &exercise->solution, chunk, "solution");
    if (at->variant == VARIANT_WRONG) add_wrong(table, exercise, chunk);
}

static void check_build(ChunkTable *table, const Exercise *exercise) {
    if (exercise->starter == EXERCISE_NONE) fail(table, exercise, "it has no .starter chunk");
    if (exercise->solution == EXERCISE_NONE) fail(table, exercise, "it has no .solution chunk");
    if (exercise->wrong_count < EXERCISE_WRONG_LEAST)
        fail(table, exercise, "it has fewer than three .wrong variants");
    if (exercise->program == EXERCISE_NONE)
        fail(table, exercise, "no file=code/exercises/NAME.cu includes its starter");
    if (exercise->demand_count == 0) fail(table, exercise, "it has no .expect block");
    if (exercise->mistake_count)
        fail(table, exercise, ".mistakes is only for an exercise that asks for a number");
}

static void check_one(ChunkTable *table, Exercise *exercise) {
    bool hole = exercise->starter != EXERCISE_NONE || exercise->solution != EXERCISE_NONE ||
                exercise->wrong_count;
    exercise->kind = hole                     ? EXERCISE_BUILD
                     : exercise->demand_count ? EXERCISE_COUNT
                                              : EXERCISE_EXPLORE;
    if (!exercise->closed) fail(table, exercise, "it is not closed with :::");
    if (exercise->kind == EXERCISE_BUILD) check_build(table, exercise);
    if (exercise->kind == EXERCISE_COUNT &&
        !str_starts(exercise->demands[0].text, STR("answer == ")))
        fail(table, exercise,
             "it asks for a number: its first requirement must start with `answer == `");
    if (exercise->kind == EXERCISE_EXPLORE && !exercise->answered)
        fail(table, exercise,
             "it is not graded, so it needs an .answer div that says what to expect");
    if (exercise->kind != EXERCISE_EXPLORE && exercise->hint_count == 0)
        fail(table, exercise, "it has no hint");
    for (size_t i = 0; i < exercise->demand_count; i++) {
        const ExerciseDemand *demand = &exercise->demands[i];
        for (size_t k = 0; k < demand->choice_count; k++)
            if (demand->choices[k].hint > exercise->hint_count)
                chunk_fail(table, exercise->file, demand->line,
                           "there is no hint %zu: this exercise has %zu", demand->choices[k].hint,
                           exercise->hint_count);
    }
}

void exercise_check(ChunkTable *table) {
    for (size_t i = 0; i < table->chunk_count; i++) place_chunk(table, i);
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].variant != VARIANT_NONE && table->chunks[i].exercise != EXERCISE_NONE)
            check_variant(table, &table->exercises[table->chunks[i].exercise], &table->chunks[i]);
    for (size_t i = 0; i < table->exercise_count; i++) {
        Exercise *exercise = &table->exercises[i];
        check_one(table, exercise);
        for (size_t k = 0; k < i && exercise->id.len; k++)
            if (str_equal(table->exercises[k].id, exercise->id))
                fail(table, exercise, "another exercise has this id");
    }
}

// --- lookups ---

Variant exercise_variant(const FencePart *part) {
    if (fence_has_class(part, STR("starter"))) return VARIANT_STARTER;
    if (fence_has_class(part, STR("solution"))) return VARIANT_SOLUTION;
    return fence_has_class(part, STR("wrong")) ? VARIANT_WRONG : VARIANT_NONE;
}

const char *exercise_kind_name(ExerciseKind kind) {
    static const char *const names[] = {"explore it", "count it", "build it"};
    return names[kind];
}

const Exercise *exercise_at(const ChunkTable *table, size_t file, size_t line) {
    for (size_t i = 0; i < table->exercise_count; i++)
        if (table->exercises[i].file == file && table->exercises[i].line == line)
            return &table->exercises[i];
    return NULL;
}

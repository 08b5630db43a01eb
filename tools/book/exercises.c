// Weaves exercises: headings, requirements, hints, starters and solutions.
#include "book/exercises.h"

#include "base/path.h"
#include "book/changes.h"
#include "book/code.h"
#include "book/runnable.h"

Str exercises_number(const Book *book, const Exercise *exercise) {
    Buf number = {.arena = book->arena};
    Str chapter = key_chapter_of(book->chunks->files[exercise->file].path);
    buf_format(&number, "%.*s.%zu", STR_ARG(key_chapter_number(chapter)), exercise->number);
    return buf_str(&number);
}

bool exercises_folds(Str div) {
    return str_equal(div, STR("hint")) || str_equal(div, STR("answer"));
}

enum { EXERCISES_SHOWN = 6 };

static void open_more(Book *book, const Exercise *exercise) {
    if (book->style == BOOK_NOTEBOOK || exercise->number != EXERCISES_SHOWN + 1) return;
    book_open_fold(book, STR("more"), "More exercises", 0);
    book->more_exercises = true;
}

void exercises_close_more(Book *book) {
    if (book->more_exercises) book_close_fold(book);
    book->more_exercises = false;
}

void exercises_open(Book *book, size_t line) {
    const Exercise *exercise = exercise_at(book->chunks, book->file, line);
    Buf text = {.arena = book->arena};
    if (!exercise) return; // the error has been reported
    open_more(book, exercise);
    Str number = exercises_number(book, exercise);
    const char *kind = exercise_kind_name(exercise->kind);
    book_blank(book);
    if (book->style == BOOK_PANDOC) {
        buf_format(&text, "::: {.exercise #%.*s", STR_ARG(exercise->id));
        demands_add_answer(book, &text, exercise);
        if (runnable_is_checked(book, exercise))
            buf_format(&text, " data-exercise=\"%.*s\"", STR_ARG(number));
        buf_format(&text, "}\n::: label\nExercise %.*s: %.*s [%s]{.kind}\n:::\n\n", STR_ARG(number),
                   STR_ARG(exercise->title), kind);
    } else {
        buf_format(&text, "<a id=\"%.*s\"></a>**Exercise %.*s: %.*s** (%s)\n\n",
                   STR_ARG(exercise->id), STR_ARG(number), STR_ARG(exercise->title), kind);
    }
    book_add(book, buf_str(&text));
}

// What to edit, what to run, and what the grader requires. In a notebook, cells do the first two.
static void add_demands(Book *book, const Exercise *exercise) {
    Buf text = {.arena = book->arena};
    const Str number = exercises_number(book, exercise);
    const bool cells = book->add_grading != NULL;
    book_blank(book);
    if (exercise->kind == EXERCISE_COUNT && !cells)
        buf_format(&text, "Check your number: `make exercise-%.*s ANSWER=number`.\n",
                   STR_ARG(number));
    if (exercise->kind == EXERCISE_BUILD) {
        const Str target = book->chunks->chunks[exercise->program].target;
        if (!cells)
            buf_format(
                &text,
                "Edit `work/%.*s` ([the starter](%.*s%.*s)), then run `make exercise-%.*s`. ",
                STR_ARG(path_name(target)), STR_ARG(book->up), STR_ARG(target), STR_ARG(number));
        for (size_t i = 0; i < exercise->demand_count; i++) {
            const char *between = i + 1 == exercise->demand_count ? ", and " : ", ";
            buf_add(&text, str_of(i == 0                        ? "To pass: "
                                  : exercise->demand_count == 2 ? " and "
                                                                : between));
            demands_add(&text, exercise->demands[i].text, book->style != BOOK_GITHUB);
        }
        buf_add(&text, STR(".\n"));
    }
    book_add(book, buf_str(&text));
    book_blank(book);
}

void exercises_end(Book *book, size_t line) {
    const Exercise *exercise = exercise_at(book->chunks, book->file, line);
    bool graded = exercise && exercise->kind != EXERCISE_EXPLORE;
    if (graded && book->add_grading) book->add_grading(book, exercise);
}

// Adds a solution, as a diff against the starter if that is much shorter.
static void weave_solution(Book *book, const FencePart *part, const Exercise *exercise) {
    Buf text = {.arena = book->arena};
    buf_add(&text, STR("```diff\n"));
    const FencePart *starter = book->chunks->chunks[exercise->starter].part;
    size_t count = changes_add_lines(book->arena, part, starter, &text);
    buf_add(&text, STR("```\n"));
    if (count * 4 <= part->body_count * 3)
        book_add(book, buf_str(&text));
    else
        code_weave_bare(book, part);
}

static void link_program(Book *book, const Exercise *exercise, Str target) {
    Buf text = {.arena = book->arena};
    if (exercise->kind == EXERCISE_BUILD) return; // the requirements link to it
    buf_format(&text, "The program: [`%.*s`](%.*s%.*s)\n", STR_ARG(target), STR_ARG(book->up),
               STR_ARG(target));
    book_blank(book);
    book_add(book, buf_str(&text));
    book_blank(book);
}

bool exercises_weave(Book *book, const FencePart *part, size_t chunk) {
    const ChunkTable *table = book->chunks;
    if (fence_has_class(part, STR("expect"))) {
        for (size_t i = 0; i < table->exercise_count; i++) {
            const Exercise *exercise = &table->exercises[i];
            bool own = exercise->demand_count && exercise->file == book->file &&
                       exercise->demands[0].line > part->line &&
                       exercise->demands[0].line <= part->line + part->body_count;
            if (own) add_demands(book, exercise);
        }
        return true;
    }
    if (fence_has_class(part, STR("mistakes"))) return true;
    if (chunk == CHUNK_NONE || table->chunks[chunk].exercise == CHUNK_NONE) return false;
    const Chunk *at = &table->chunks[chunk];
    if (at->variant == VARIANT_WRONG) return true;
    if (book->add_chunk && table->exercises[at->exercise].kind == EXERCISE_BUILD) return false;
    if (at->variant == VARIANT_SOLUTION) {
        book_open_fold(book, STR("solution"), "Solution", 0);
        weave_solution(book, part, &table->exercises[at->exercise]);
    } else if (at->target.len) {
        if (code_links_program(book, chunk)) {
            link_program(book, &table->exercises[at->exercise], at->target);
            return true;
        }
        book_open_fold(book, STR("program"), "The program", 0);
        code_weave(book, chunk);
    } else {
        return false;
    }
    book_close_fold(book);
    return true;
}

// Grades one exercise and prints the verdict.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "grade/session.h"
#include "tangle/expand.h"

typedef struct {
    const Session *session;
    const Exercise *exercise;
    JudgeCase at;
    size_t met, of;
    bool starter; // the reader has not changed the file
} Grading;

// --- lines ---

static void print_indented(const char *indent, Str text) {
    for (Str line; str_line(&text, &line);) printf("%s%.*s\n", indent, STR_ARG(str_trim(line)));
}

static Str bare(Arena *arena, Value value) {
    Buf text = {.arena = arena};
    value_format_bare(&text, value);
    return buf_str(&text);
}

// A line of a source, trimmed; empty if there is none.
static Str source_line(Arena *arena, Str file, size_t number) {
    Str text, line = STR("");
    if (!file_read(arena, str_terminated(arena, file), &text)) return line;
    for (size_t i = 0; i < number; i++)
        if (!str_line(&text, &line)) return STR("");
    return str_trim(line);
}

static void print_place(const Grading *grading, Str file, size_t line, const char *what) {
    Str text = source_line(grading->session->arena, file, line);
    printf("      %.*s:%zu%s\n", STR_ARG(file), line, what);
    if (text.len) printf("          %.*s\n", STR_ARG(text));
}

// Prints the source line with the highest count of the demand's left side.
static void print_worst_line(const Grading *grading, Str column) {
    const ResultTable *lines = grading->at.program ? grading->at.program->lines : NULL;
    const ResultRow *worst = NULL;
    double most = 0, number;
    for (size_t i = 0; lines && results_has_column(lines, column) && i < lines->row_count; i++) {
        if (!results_number(results_cell(lines, &lines->rows[i], column), &number)) continue;
        if (number <= most) continue;
        most = number;
        worst = &lines->rows[i];
    }
    double line;
    if (!worst || !results_number(results_cell(lines, worst, STR("line")), &line)) return;
    Buf what = {.arena = grading->session->arena};
    Value count = {.unit = UNIT_COUNT, .number = most};
    buf_format(&what, " has the highest count: %.*s", STR_ARG(bare(what.arena, count)));
    print_place(grading, results_cell(lines, worst, STR("file")), (size_t)line,
                str_terminated(what.arena, buf_str(&what)));
}

// Prints a line of a report, with the names of a kernel's arguments.
static void print_note(const Grading *grading, const ProgramNote *note, const char *indent,
                       Str line) {
    Arena *arena = grading->session->arena;
    Str source = STR("");
    if (note->line) file_read(arena, str_terminated(arena, note->file), &source);
    printf("%s%.*s\n", indent, STR_ARG(argument_names(arena, source, note->kernel, line)));
}

static void print_rest(const char *indent, size_t count, size_t shown) {
    if (count > shown) printf("%sand %zu more\n", indent, count - shown);
}

enum { HAZARDS_SHOWN = 2 };

static void print_hazards(const Grading *grading) {
    const Program *program = grading->at.program;
    for (size_t i = 0; i < program->hazard_count && i < HAZARDS_SHOWN; i++) {
        const ProgramNote *hazard = &program->hazards[i];
        if (hazard->line) print_place(grading, hazard->file, hazard->line, "");
        const size_t kind = str_find(hazard->text, STR(": thread "));
        printf("          %.*s\n", STR_ARG(str_slice(hazard->text, 0, kind)));
        if (kind != SIZE_MAX)
            print_note(grading, hazard, "            ", str_from(hazard->text, kind + 2));
        Str line;
        for (Str rest = hazard->more; str_line(&rest, &line);)
            print_note(grading, hazard, "            ", str_trim(line));
    }
    print_rest("      ", program->hazard_count, HAZARDS_SHOWN);
}

static bool mentions(Str text, Str word) { return str_find(text, word) != SIZE_MAX; }

static bool is_too_much(const ExprComparison *comparison) {
    return comparison->left.number > comparison->right.number;
}

// Prints the places where a demand fails.
static void print_evidence(const Grading *grading, const ExerciseDemand *demand,
                           const JudgeOutcome *outcome) {
    const Program *program = grading->at.program;
    if (!program) return;
    if (mentions(demand->text, STR("wrong"))) {
        for (size_t i = 0; i < program->failure_count && i < PROGRAM_FAILURES; i++)
            printf("      %.*s\n", STR_ARG(program->failures[i]));
        print_rest("      ", program->failure_count, PROGRAM_FAILURES);
    }
    if (mentions(demand->text, STR("hazards"))) print_hazards(grading);
    if (outcome->verdict == JUDGE_FAILS && is_too_much(&outcome->comparison))
        print_worst_line(grading, outcome->comparison.subject);
}

// Prints the predicted limits and the slowest line, or two lines if the demand fails.
static void print_limits(const Grading *grading, bool holds) {
    const ProgramTime *time = &grading->at.program->predicted;
    for (int k = 0; k < PROGRAM_GAINS && time->gains[k].pct >= 1; k++)
        printf("%s %.*s %.0f %%",
               k ? "," : "      predicted gain if removed:", STR_ARG(time->gains[k].name),
               time->gains[k].pct);
    if (time->gains[0].pct >= 1) printf("\n");
    for (int k = 0; k < (holds ? 1 : PROGRAM_LINES) && time->lines[k].pct >= 1; k++) {
        const ProgramLine *line = &time->lines[k];
        Buf what = {.arena = grading->session->arena};
        buf_format(&what, " takes %.0f %% of the time; longest stall: %.*s", line->pct,
                   STR_ARG(line->stall));
        print_place(grading, line->file, line->line, str_terminated(what.arena, buf_str(&what)));
    }
}

// --- demands ---

static void print_demand(Grading *grading, size_t index, const JudgeOutcome *outcome) {
    static const char *const marks[] = {"✓", "✗", "✗", "–"};
    const Exercise *exercise = grading->exercise;
    const ExerciseDemand *demand = &exercise->demands[index];
    Arena *arena = grading->session->arena;
    Buf result = {.arena = arena};
    const ExprComparison *comparison = &outcome->comparison;
    if (outcome->verdict == JUDGE_NO_GPU) {
        buf_add(&result, STR("not timed: there is neither a GPU nor a prediction"));
    } else if (outcome->verdict == JUDGE_UNKNOWN) {
        buf_add(&result, STR("the program stopped before this was counted"));
    } else {
        buf_format(&result, "%.*s", STR_ARG(bare(arena, comparison->left)));
        if (outcome->verdict == JUDGE_FAILS)
            buf_format(&result, ", required: %.*s %.*s", STR_ARG(comparison->operator),
                       STR_ARG(bare(arena, comparison->right)));
        if (!grading->at.gpu && judge_is_about_time(demand->text))
            buf_format(&result, ", predicted for %.*s", STR_ARG(grading->session->book->reference));
    }
    printf("  %s %-40.*s %.*s\n", marks[outcome->verdict], STR_ARG(demand->text),
           STR_ARG(buf_str(&result)));
    if (!grading->at.gpu && grading->at.program && judge_is_about_time(demand->text))
        print_limits(grading, outcome->verdict == JUDGE_HOLDS);
    if (outcome->verdict == JUDGE_HOLDS || outcome->verdict == JUDGE_NO_GPU) return;
    printf("      %.*s:%zu\n", STR_ARG(session_chapter(grading->session, exercise)), demand->line);
    print_evidence(grading, demand, outcome);
}

static void print_hint(const Grading *grading, const JudgeOutcome *outcomes) {
    const Exercise *exercise = grading->exercise;
    size_t hint = judge_hint(grading->session->arena, exercise, &grading->at, outcomes);
    if (hint == 0) return;
    printf("\n  Hint %zu:\n", hint);
    print_indented("  ", exercise->hints[hint - 1]);
}

static void print_demands(Grading *grading) {
    const Exercise *exercise = grading->exercise;
    JudgeOutcome *outcomes = judge(grading->session->arena, exercise, &grading->at);
    for (size_t i = 0; i < exercise->demand_count; i++) {
        print_demand(grading, i, &outcomes[i]);
        if (outcomes[i].verdict == JUDGE_NO_GPU) continue;
        grading->of++;
        grading->met += outcomes[i].verdict == JUDGE_HOLDS;
    }
    if (grading->starter)
        printf("\n  This is the starter, unchanged: edit it and run make exercise-%.*s again.\n",
               STR_ARG(session_number(grading->session, exercise)));
    else
        print_hint(grading, outcomes);
}

// Prints the conclusion, on standard error if a demand fails, and saves the progress. An exercise
// that was done stays done.
static int conclude(Grading *grading, Str graded) {
    const Session *session = grading->session;
    const Exercise *exercise = grading->exercise;
    bool done = grading->met == grading->of;
    Progress progress = session_progress(session);
    ProgressRow row = {exercise->id, graded, grading->met, grading->of};
    const ProgressRow *before = progress_of(&progress, exercise->id);
    bool was_done = graded.len && before && before->met == before->of;
    if (graded.len && (done || !was_done) && !progress_enter(&progress, row))
        fprintf(stderr, "%s: %s\n", progress.path, strerror(errno));
    printf("\n");
    fflush(stdout);
    if (done) {
        printf("  Exercise %.*s is done.\n", STR_ARG(session_number(session, exercise)));
        return 0;
    }
    fprintf(stderr, "  %s", was_done ? "Not solved with this answer" : "Not solved yet");
    if (exercise->kind == EXERCISE_BUILD)
        fprintf(stderr, ": %zu of %zu requirements met", grading->met, grading->of);
    fprintf(stderr, was_done ? ". The exercise stays done: an earlier answer was right.\n" : ".\n");
    return 1;
}

static void print_head(const Grading *grading, Str file) {
    const Session *session = grading->session;
    const Exercise *exercise = grading->exercise;
    printf("Exercise %.*s: %.*s\n", STR_ARG(session_number(session, exercise)),
           STR_ARG(exercise->title));
    if (file.len)
        printf("  %.*s, on the CPU device%s\n", STR_ARG(file),
               session->tools.native ? " and on the GPU" : "");
    printf("\n");
}

// Prints the question: the exercise's text up to its first block.
static void print_question(const Session *session, const Exercise *exercise) {
    Str text, line;
    if (!file_read_text(session->arena,
                        str_terminated(session->arena, session_chapter(session, exercise)), &text))
        return;
    for (size_t number = 1; str_line(&text, &line); number++) {
        if (number <= exercise->line) continue;
        if (str_starts(line, STR("```")) || str_starts(line, STR(":::"))) return;
        printf("%s%.*s\n", line.len ? "  " : "", STR_ARG(line));
    }
}

// --- a hole to fill ---

// Copies the starter unless the reader has a file. False: an error was printed.
static bool have_file(const Session *session, const Exercise *exercise, Str file) {
    struct stat status;
    char *path = str_terminated(session->arena, file);
    if (stat(path, &status) == 0) return true;
    if (errno != ENOENT || file_write_if_changed(session->arena, path,
                                                 session_work(session, exercise)) == FILE_FAILED) {
        fprintf(stderr, "%s: %s: make the folder writable, since your answer is kept there\n", path,
                strerror(errno));
        return false;
    }
    printf("created %s from the starter: edit this file\n", path);
    return true;
}

static int print_fault(const Program *program) {
    fflush(stdout);
    if (program->fault.line)
        fprintf(stderr, "%.*s:%zu: %.*s\n", STR_ARG(program->fault.file), program->fault.line,
                STR_ARG(program->fault.text));
    else
        fprintf(stderr, "%.*s: %.*s\n", STR_ARG(program->source), STR_ARG(program->fault.text));
    return 2;
}

static void print_stop(const Grading *grading, const Program *program) {
    if (!program->stopped.text.len) return;
    print_note(grading, &program->stopped, "  The program was stopped: ", program->stopped.text);
    if (program->stopped.line)
        print_place(grading, program->stopped.file, program->stopped.line, "");
    printf("\n");
}

static void judge_gpu(Grading *grading, const Program *program) {
    if (!program->on_gpu) return;
    printf("  %s right on the GPU\n", program->right_on_gpu ? "✓" : "✗");
    grading->of++;
    grading->met += program->right_on_gpu;
}

static bool asks_for_time(const Exercise *exercise) {
    for (size_t i = 0; i < exercise->demand_count; i++)
        if (judge_is_about_time(exercise->demands[i].text)) return true;
    return false;
}

static int grade_program(const Session *session, const Exercise *exercise) {
    Program own, reader = {.source = session_file(session, exercise),
                           .name = session_name(session, exercise)};
    Grading grading = {.session = session, .exercise = exercise};
    KeyScope scope = session_scope(session, exercise);
    size_t line;
    Buf why = {.arena = session->arena};
    Str text, graded = STR("");
    if (!session->solution && !have_file(session, exercise, reader.source)) return 2;
    if (!session_own(session, exercise, &own)) return 2;
    grading.at = (JudgeCase){&scope, &own, &own, NULL, session->tools.native != NULL};
    if (!judge_understands(session->arena, exercise, &grading.at, &line, &why)) {
        session_error(session, exercise, line, buf_str(&why));
        return 2;
    }
    if (session->solution) {
        reader = own;
    } else {
        if (!file_read_text(session->arena, str_terminated(session->arena, reader.source), &text)) {
            fprintf(stderr, "%.*s: %s\n", STR_ARG(reader.source), strerror(errno));
            return 2;
        }
        graded = session_hash(session, exercise, text);
        grading.starter = session_is_starter(session, exercise, text);
        if (!program_compile(session->arena, &session->tools, &reader)) return print_fault(&reader);
        program_measure(session->arena, &session->tools, &reader, NULL);
        if (reader.fault.text.len) return print_fault(&reader);
    }
    if (session->tools.native || asks_for_time(exercise))
        program_time(session->arena, &session->tools, &reader, &own);
    grading.at.program = &reader;
    print_head(&grading, reader.source);
    if (grading.starter) print_question(session, exercise);
    print_stop(&grading, &reader);
    print_demands(&grading);
    judge_gpu(&grading, &reader);
    return conclude(&grading, graded);
}

// --- a number ---

static void print_mistake(const Grading *grading, double answer) {
    const Exercise *exercise = grading->exercise;
    for (size_t i = 0; i < exercise->mistake_count; i++) {
        Value value;
        Buf why = {.arena = grading->session->arena};
        if (!judge_value(why.arena, &grading->at, exercise->mistakes[i].value, &value, &why))
            continue;
        if (value.number != answer) continue;
        printf("      %.*s\n", STR_ARG(exercise->mistakes[i].why));
        return;
    }
}

// Reads a number, possibly with commas as in 1,234.
static bool read_answer(Arena *arena, const char *typed, double *number) {
    Buf digits = {.arena = arena};
    for (; *typed; typed++)
        if (*typed != ',') buf_char(&digits, *typed);
    return results_number(buf_str(&digits), number);
}

static void judge_number(Grading *grading, Str typed, double number) {
    const Exercise *exercise = grading->exercise;
    JudgeOutcome *outcomes = judge(grading->session->arena, exercise, &grading->at);
    size_t failing = 0;
    while (failing < exercise->demand_count && outcomes[failing].verdict == JUDGE_HOLDS) failing++;
    grading->of = 1;
    grading->met = failing == exercise->demand_count;
    printf("  %s %.*s\n", grading->met ? "✓" : "✗", STR_ARG(typed));
    if (grading->met) return;
    print_mistake(grading, number);
    print_hint(grading, outcomes);
}

static int grade_answer(const Session *session, const Exercise *exercise) {
    Program own = {.number_count = 0};
    KeyScope scope = session_scope(session, exercise);
    Grading grading = {.session = session, .exercise = exercise};
    Value right;
    double given = 0;
    size_t line = exercise->line;
    Buf why = {.arena = session->arena};
    bool program = exercise->program != EXERCISE_NONE;
    if (program && !session_own(session, exercise, &own)) return 2;
    grading.at = (JudgeCase){&scope, &own, program ? &own : NULL, &given, false};
    bool clear = judge_understands(session->arena, exercise, &grading.at, &line, &why) &&
                 judge_answer(session->arena, exercise, &grading.at, &right, &why);
    if (!clear) {
        session_error(session, exercise, line, buf_str(&why));
        return 2;
    }
    if (right.unit == UNIT_RATIO) right.unit = UNIT_COUNT; // the answer is a plain number
    Str typed = session->solution ? bare(session->arena, right) : str_of(session->answer);
    if (session->solution) {
        given = right.number;
    } else if (!read_answer(session->arena, session->answer, &given)) {
        fprintf(stderr, "ANSWER=%s is not a number\n", session->answer);
        return 2;
    }
    print_head(&grading, STR(""));
    judge_number(&grading, typed, given);
    return conclude(&grading, session->solution ? STR("") : typed);
}

int verdict(const Session *session, const Exercise *exercise) {
    Str number = session_number(session, exercise);
    if (exercise->kind == EXERCISE_BUILD && session->answer) {
        fprintf(stderr, "exercise %.*s does not ask for a number: edit %.*s\n", STR_ARG(number),
                STR_ARG(session_file(session, exercise)));
        return 2;
    }
    if (exercise->kind == EXERCISE_BUILD) return grade_program(session, exercise);
    if (exercise->kind == EXERCISE_COUNT && (session->answer || session->solution))
        return grade_answer(session, exercise);
    printf("Exercise %.*s: %.*s\n  %.*s:%zu\n", STR_ARG(number), STR_ARG(exercise->title),
           STR_ARG(session_chapter(session, exercise)), exercise->line);
    print_question(session, exercise);
    if (exercise->kind == EXERCISE_EXPLORE) {
        printf("  This exercise is not graded: try it and compare with the answer in the book.\n");
        return 0;
    }
    printf("  To answer, run make exercise-%.*s ANSWER=NUMBER\n", STR_ARG(number));
    return 1;
}

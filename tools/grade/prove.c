// Proves exercises. Compiling is dominated by the compiler's startup, so all versions of a program
// are compiled as one, each in its own namespace, and the first argument selects the version whose
// main runs. An up-to-date program from an earlier proof is reused.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "grade/session.h"
#include "tangle/expand.h"

enum { STARTER, SOLUTION, FIRST_WRONG };

typedef struct {
    const Session *session;
    const Exercise *exercise;
    Str number;
    bool good;
} Proof;

static void report(Proof *proof, bool good, const char *what, Str detail, Str why) {
    proof->good = proof->good && good;
    printf("%s %.*s: %s%s%.*s\n", good ? "ok" : "not ok", STR_ARG(proof->number), what,
           detail.len ? ": " : "", STR_ARG(detail));
    for (Str line; !good && str_line(&why, &line);) printf("    %.*s\n", STR_ARG(line));
}

// --- one program of all versions ---

// Adds the #include directives that are not in `out` yet, or all other lines.
static void add_lines(Buf *out, Str text, bool includes, size_t number) {
    if (!includes) buf_format(out, "#line 1 \"version %zu\"\n", number);
    for (Str line; str_line(&text, &line);) {
        bool include = str_starts(line, STR("#include "));
        if (include == includes && !(include && str_find(buf_str(out), line) != SIZE_MAX))
            buf_add(out, line);
        if (!includes || include) buf_char(out, '\n');
    }
}

static Str combined_source(const Session *session, const Exercise *exercise) {
    size_t count = FIRST_WRONG + exercise->wrong_count;
    Buf out = {.arena = session->arena};
    Str *texts = ARENA_NEW(session->arena, count, Str);
    texts[STARTER] = expand_variant(session->table, exercise, exercise->starter);
    texts[SOLUTION] = expand_variant(session->table, exercise, exercise->solution);
    for (size_t i = 0; i < exercise->wrong_count; i++)
        texts[FIRST_WRONG + i] = expand_variant(session->table, exercise, exercise->wrong[i].chunk);
    for (size_t i = 0; i < count; i++) add_lines(&out, texts[i], true, i);
    for (size_t i = 0; i < count; i++) {
        buf_format(&out, "namespace v%zu {\n", i);
        add_lines(&out, texts[i], false, i);
        buf_add(&out, STR("}\n"));
    }
    buf_add(&out, STR("int main(int argc, char **argv) {\n"));
    for (size_t i = 0; i < count; i++)
        buf_format(&out,
                   "    if (!strcmp(argv[1], \"v%zu\")) return v%zu::main(argc - 1, argv + 1);\n",
                   i, i);
    buf_add(&out, STR("    return 2;\n}\n"));
    return buf_str(&out);
}

// --- checks ---

static Str what_fails(Arena *arena, const Exercise *exercise, const JudgeOutcome *outcomes) {
    Buf text = {.arena = arena};
    for (size_t i = 0; i < exercise->demand_count; i++) {
        const ExprComparison *at = &outcomes[i].comparison;
        if (outcomes[i].verdict == JUDGE_HOLDS || outcomes[i].verdict == JUDGE_NO_GPU) continue;
        buf_format(&text, "%.*s does not hold", STR_ARG(exercise->demands[i].text));
        if (outcomes[i].verdict == JUDGE_FAILS) {
            buf_add(&text, STR(": "));
            value_format_bare(&text, at->left);
            buf_format(&text, " %.*s ", STR_ARG(at->operator));
            value_format_bare(&text, at->right);
        }
        buf_char(&text, '\n');
    }
    return text.len ? buf_str(&text) : STR("all requirements are met\n");
}

static void judge_versions(Proof *proof, const Program *programs) {
    const Exercise *exercise = proof->exercise;
    Arena *arena = proof->session->arena;
    KeyScope scope = session_scope(proof->session, exercise);
    JudgeCase at = {&scope, &programs[SOLUTION], &programs[SOLUTION], NULL, false};
    size_t line;
    Buf why = {.arena = arena};
    bool clear = judge_understands(arena, exercise, &at, &line, &why);
    if (!clear) buf_format(&why, "\nchapter's line %zu", line);
    report(proof, clear, "every requirement can be evaluated", STR(""), buf_str(&why));
    if (!clear) return;
    for (size_t v = 0; v < FIRST_WRONG + exercise->wrong_count; v++) {
        at.program = &programs[v];
        JudgeOutcome *outcomes = judge(arena, exercise, &at);
        Str fails = what_fails(arena, exercise, outcomes);
        const Str none = STR("the first requirement that fails names no hint\n");
        bool all = str_starts(fails, STR("all "));
        bool hinted = judge_hint(arena, exercise, &at, outcomes) != 0;
        if (v == SOLUTION) {
            report(proof, all, "the solution passes", STR(""), fails);
        } else if (v == STARTER) {
            report(proof, !all && hinted, "the starter fails, and a hint is given", STR(""),
                   all ? fails : none);
        } else {
            const ExerciseWrong *wrong = &exercise->wrong[v - FIRST_WRONG];
            JudgeVerdict verdict = outcomes[wrong->demand].verdict;
            bool caught = verdict == JUDGE_FAILS || verdict == JUDGE_UNKNOWN;
            report(proof, caught && hinted, "caught", wrong->why, caught ? none : fails);
        }
    }
}

static bool prove_build(Proof *proof) {
    const Session *session = proof->session;
    const Exercise *exercise = proof->exercise;
    Arena *arena = session->arena;
    size_t count = FIRST_WRONG + exercise->wrong_count;
    Program *programs = ARENA_NEW(arena, count, Program);
    Buf name = {.arena = arena};
    buf_format(&name, "%.*s.all", STR_ARG(session_name(session, exercise)));
    Program all = {.name = buf_str(&name)};
    bool written = program_write(arena, &session->tools, all.name,
                                 combined_source(session, exercise), &all.source);
    if (!written) all.fault.text = str_of(strerror(errno));
    bool compiled = written && (session_is_compiled(session, all.name) ||
                                program_compile(arena, &session->tools, &all));
    Buf why = {.arena = arena};
    buf_format(&why, "%.*s:%zu: %.*s", STR_ARG(all.fault.file), all.fault.line,
               STR_ARG(all.fault.text));
    report(proof, compiled, "all versions compile", STR(""), buf_str(&why));
    if (!compiled) return false;
    for (size_t v = 0; v < count; v++) {
        char which[32];
        Buf own = {.arena = arena};
        snprintf(which, sizeof which, "v%zu", v);
        buf_format(&own, "%.*s.%s", STR_ARG(all.name), which);
        programs[v] = (Program){.name = buf_str(&own), .binary = all.name, .source = all.source};
        program_measure(arena, &session->tools, &programs[v], which);
    }
    judge_versions(proof, programs);
    return proof->good;
}

static bool prove_count(Proof *proof) {
    const Session *session = proof->session;
    const Exercise *exercise = proof->exercise;
    Arena *arena = session->arena;
    KeyScope scope = session_scope(session, exercise);
    Program own = {.number_count = 0};
    bool program = exercise->program != EXERCISE_NONE;
    bool ran = !program || session_own(session, exercise, &own);
    if (program) report(proof, ran, "its program runs", STR(""), own.fault.text);
    double answer = 0;
    Value right, mistake;
    size_t line = 0;
    Buf why = {.arena = arena};
    JudgeCase at = {&scope, &own, program ? &own : NULL, &answer, false};
    bool clear = ran && judge_understands(arena, exercise, &at, &line, &why) &&
                 judge_answer(arena, exercise, &at, &right, &why);
    if (!clear) buf_format(&why, "\nchapter's line %zu", line);
    report(proof, clear, "its number can be computed", STR(""), buf_str(&why));
    if (!clear) return false;
    for (int off = 0; off < 2; off++) {
        answer = off ? right.number + (right.number < 100 ? 1 : right.number) : right.number;
        JudgeOutcome *outcomes = judge(arena, exercise, &at);
        Str fails = what_fails(arena, exercise, outcomes);
        bool holds = str_starts(fails, STR("all "));
        report(proof, holds != (off == 1), off ? "another number fails" : "the right number passes",
               STR(""), fails);
    }
    for (size_t i = 0; i < exercise->mistake_count; i++) {
        judge_value(arena, &at, exercise->mistakes[i].value, &mistake, &why);
        answer = mistake.number;
        Str fails = what_fails(arena, exercise, judge(arena, exercise, &at));
        report(proof, !str_starts(fails, STR("all ")), "caught", exercise->mistakes[i].why, fails);
    }
    return proof->good;
}

bool prove(const Session *session, const Exercise *exercise) {
    Proof proof = {session, exercise, session_number(session, exercise), true};
    if (exercise->kind == EXERCISE_BUILD) return prove_build(&proof);
    if (exercise->kind == EXERCISE_COUNT) return prove_count(&proof);
    report(&proof, true, "there is nothing to grade", STR(""), STR(""));
    return true;
}

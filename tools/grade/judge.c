// Evaluates the demands of an exercise.
#include "grade/judge.h"

#include <math.h>

#include "base/str.h"

typedef struct {
    KeyNamed *items;
    size_t count, capacity;
} Names;

static void add(Arena *arena, Names *names, Str name, Value value) {
    ARENA_GROW(arena, names->items, names->count, names->capacity);
    names->items[names->count++] = (KeyNamed){name, value};
}

static void add_numbers(Arena *arena, Names *names, const char *prefix, const Program *program) {
    for (size_t i = 0; program && i < program->number_count; i++) {
        Buf name = {.arena = arena};
        buf_format(&name, "%s%.*s", prefix, STR_ARG(program->numbers[i].name));
        add(arena, names, buf_str(&name), program->numbers[i].value);
    }
}

static KeyScope scope_of(Arena *arena, const JudgeCase *at) {
    Names names = {0};
    if (at->answer)
        add(arena, &names, STR("answer"), (Value){.unit = UNIT_NONE, .number = *at->answer});
    add_numbers(arena, &names, "", at->program);
    add_numbers(arena, &names, "solution.", at->solution);
    KeyScope scope = *at->scope;
    scope.named = names.items;
    scope.named_count = names.count;
    return scope;
}

bool judge_is_about_time(Str demand) { return str_find(demand, STR("time")) != SIZE_MAX; }

static bool is_timed(const JudgeCase *at) {
    return at->gpu || (at->program && program_number(at->program, STR("time")));
}

JudgeOutcome *judge(Arena *arena, const Exercise *exercise, const JudgeCase *at) {
    KeyScope scope = scope_of(arena, at);
    JudgeOutcome *outcomes = ARENA_NEW(arena, exercise->demand_count + 1, JudgeOutcome);
    for (size_t i = 0; i < exercise->demand_count; i++) {
        Str text = exercise->demands[i].text;
        Buf why = {.arena = arena};
        if (!at->answer && judge_is_about_time(text) && !is_timed(at))
            outcomes[i].verdict = JUDGE_NO_GPU;
        else if (!expr_compare(&scope, text, &outcomes[i].comparison, &why))
            outcomes[i].verdict = JUDGE_UNKNOWN;
        else
            outcomes[i].verdict = outcomes[i].comparison.holds ? JUDGE_HOLDS : JUDGE_FAILS;
    }
    return outcomes;
}

size_t judge_hint(Arena *arena, const Exercise *exercise, const JudgeCase *at,
                  const JudgeOutcome *outcomes) {
    KeyScope scope = scope_of(arena, at);
    size_t i = 0;
    while (i < exercise->demand_count &&
           (outcomes[i].verdict == JUDGE_HOLDS || outcomes[i].verdict == JUDGE_NO_GPU))
        i++;
    for (size_t k = 0; i < exercise->demand_count && k < exercise->demands[i].choice_count; k++) {
        const ExerciseChoice *choice = &exercise->demands[i].choices[k];
        ExprComparison comparison;
        Buf why = {.arena = arena};
        if (choice->condition.len == 0 ||
            (expr_compare(&scope, choice->condition, &comparison, &why) && comparison.holds))
            return choice->hint;
    }
    return 0;
}

bool judge_value(Arena *arena, const JudgeCase *at, Str text, Value *value, Buf *why) {
    KeyScope scope = scope_of(arena, at);
    return expr_value(&scope, text, value, why);
}

bool judge_answer(Arena *arena, const Exercise *exercise, const JudgeCase *at, Value *value,
                  Buf *why) {
    Str text = exercise->demands[0].text;
    return judge_value(arena, at, str_from(text, STR("answer ==").len), value, why);
}

bool judge_understands(Arena *arena, const Exercise *exercise, const JudgeCase *at, size_t *line,
                       Buf *why) {
    Program known = at->solution ? *at->solution : (Program){.number_count = 0};
    KeyNamed *numbers = ARENA_NEW(arena, known.number_count + 1, KeyNamed);
    for (size_t i = 0; i < known.number_count; i++) numbers[i] = known.numbers[i];
    if (at->solution && !program_number(&known, STR("time")))
        numbers[known.number_count++] = (KeyNamed){STR("time"), {.unit = UNIT_TIME, .number = 1}};
    known.numbers = numbers;
    JudgeCase full = *at;
    full.program = full.solution = &known;
    if (exercise->kind == EXERCISE_COUNT) full.solution = NULL;
    KeyScope scope = scope_of(arena, &full);
    for (size_t i = 0; i < exercise->demand_count; i++) {
        ExprComparison comparison;
        const ExerciseDemand *demand = &exercise->demands[i];
        *line = demand->line;
        if (!expr_compare(&scope, demand->text, &comparison, why)) return false;
        for (size_t k = 0; k < demand->choice_count; k++)
            if (demand->choices[k].condition.len &&
                !expr_compare(&scope, demand->choices[k].condition, &comparison, why))
                return false;
    }
    for (size_t i = 0; i < exercise->mistake_count; i++) {
        Value value;
        *line = exercise->mistakes[i].line;
        if (!expr_value(&scope, exercise->mistakes[i].value, &value, why)) return false;
    }
    return true;
}

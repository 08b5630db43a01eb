// The numbers of a program that demands refer to.
#include <math.h>

#include "grade/program.h"

void program_add(Arena *arena, Program *program, Str name, Unit unit, double number) {
    for (size_t i = 0; i < program->number_count; i++)
        if (str_equal(program->numbers[i].name, name)) return;
    ARENA_GROW(arena, program->numbers, program->number_count, program->number_capacity);
    program->numbers[program->number_count++] = (KeyNamed){name, {.unit = unit, .number = number}};
}

const KeyNamed *program_number(const Program *program, Str name) {
    for (size_t i = 0; i < program->number_count; i++)
        if (str_equal(program->numbers[i].name, name)) return &program->numbers[i];
    return NULL;
}

// A program cannot set `hazards`, which grade counts.
bool program_is_number(Str line, Str *name, double *number) {
    size_t equals = str_find(line, STR(" = "));
    if (equals == SIZE_MAX) return false;
    *name = str_slice(line, 0, equals);
    for (size_t i = 0; i < name->len; i++) {
        char c = name->at[i];
        if (!((c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9' && i))) return false;
    }
    if (str_equal(*name, STR("hazards"))) return false;
    return name->len && results_number(str_trim(str_from(line, equals + 3)), number);
}

void program_read_output(Arena *arena, Program *program, Str text) {
    double smallest = INFINITY;
    for (Str line, name; str_line(&text, &line);) {
        double number, size;
        bool is_number = program_is_number(line, &name, &number) && !str_equal(name, STR("time"));
        if (is_number) program_add(arena, program, name, UNIT_COUNT, number);
        if (str_find(line, STR(": WRONG: ")) == SIZE_MAX) continue;
        if (program->failure_count < PROGRAM_FAILURES)
            program->failures[program->failure_count] = line;
        program->failure_count++;
        if (!results_number(str_slice(line, 0, str_find(line, STR(" "))), &size)) continue;
        smallest = fmin(smallest, size);
    }
    program_add(arena, program, STR("smallest_wrong"), UNIT_COUNT, isinf(smallest) ? 0 : smallest);
}

void program_count_hazards(Arena *arena, Program *program) {
    static const struct {
        const char *kind, *name;
    } kinds[] = {{"race in ", "races"},
                 {"out of bounds in ", "out_of_bounds"},
                 {"divergent barrier in ", "divergent_barriers"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0;
        for (size_t i = 0; i < program->hazard_count; i++)
            count += str_starts(program->hazards[i].text, str_of(kinds[k].kind));
        program_add(arena, program, str_of(kinds[k].name), UNIT_COUNT, (double)count);
    }
    if (program->hazard_count ||
        !program->stopped.text.len) // a program that was stopped may have more hazards
        program_add(arena, program, STR("hazards"), UNIT_COUNT, (double)program->hazard_count);
}

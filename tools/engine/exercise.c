// Grades an exercise: its driver, which appendix C describes, and its requirements.
//
// The program's `main` runs in the host, and its call exercise(e, argc, argv) comes here. First it
// runs all sizes with the checker; then, from the start, once with n elements to be counted, and
// the solution likewise if a requirement refers to it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/answer.h"
#include "grade/judge.h"
#include "simt/cudac/parse/program.h"
#include "simt/cudac/parse/type.h"
#include "simt/memory/memory.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/read_back.h"

enum { SIZES = 9, RUNS = 2 * SIZES + 2, LARGEST = 1 << 23, ROOM = 1024, WATCHDOG_SECONDS = 2 };

// The members of the program's struct Exercise.
typedef struct {
    const Function *launch, *expected, *input; // NULL: the default
    const Type *element, *result;
    uint32_t n, block, sizes[SIZES];
} Exercised;

// Elements on the host and on the device, and room for results.
typedef struct {
    uint8_t *in;
    uint64_t host_in, d_in, d_out; // addresses
    size_t out_bytes;
    uint32_t room; // results
} Data;

typedef struct {
    Run *run;
    Host host;
    bool once;
    Exercised at;
    Data data;
    double *should; // the expected results for should_n elements, and the NAN after them
    size_t should_count, should_capacity;
    uint32_t should_n;
    char text[200]; // what is wrong with the results; empty: nothing
} Driver;

static struct {
    Driver *driver; // of the main that is running
    Program reader, solution;
    Totals counted; // of the reader's program
    Totals *totals; // of the run that is counted now; NULL: none is
    Exercise exercise;
} graded;

// --- numbers in memory ---

static double number_at(const Type *type, const uint8_t *at) {
    float single;
    double number;
    int64_t integer = 0;
    memcpy(&single, at, sizeof single);
    if (type->kind == TYPE_F32) return (double)single;
    if (type->kind == TYPE_F64) {
        memcpy(&number, at, sizeof number);
        return number;
    }
    memcpy(&integer, at, (size_t)type->size);
    const unsigned above = 64 - 8 * (unsigned)type->size;
    integer = (int64_t)((uint64_t)integer << above);
    return type_is_signed(type) ? (double)(integer >> above) : (double)((uint64_t)integer >> above);
}

static void put_number(const Type *type, uint8_t *at, double number) {
    const float single = (float)number;
    const int64_t integer = type_is_integer(type) && fabs(number) < 9e18 ? (int64_t)number : 0;
    const void *from = type->kind == TYPE_F32   ? (const void *)&single
                       : type->kind == TYPE_F64 ? (const void *)&number
                                                : (const void *)&integer;
    memcpy(at, from, (size_t)type->size);
}

// --- the driver ---

static HostValue whole(int64_t integer) { return (HostValue){.integer = integer}; }

static double input_of(Driver *driver, uint32_t i) {
    HostValue value = {0};
    if (!driver->at.input) return run_element(i);
    host_call(&driver->host, driver->at.input, (HostValue[]){whole(i)}, 1, &value);
    return value.floating;
}

static bool fill(Driver *driver, uint32_t n) {
    Data *data = &driver->data;
    const Type *element = driver->at.element;
    const size_t size = (size_t)element->size, bytes = (size_t)(n + 1) * size;
    data->room = n + ROOM;
    data->out_bytes = (size_t)data->room * (size_t)driver->at.result->size;
    data->in = ARENA_NEW(&driver->run->arena, bytes, uint8_t);
    for (uint32_t i = 0; i <= n && !driver->host.ended; i++)
        put_number(element, data->in + i * size, input_of(driver, i));
    data->host_in = host_map(&driver->host, data->in, bytes);
    data->d_in = memory_alloc_kind(bytes, MEMORY_DEVICE);
    data->d_out = memory_alloc_kind(data->out_bytes, MEMORY_DEVICE);
    if (!data->d_in || !data->d_out) return run_fail(driver->run, "out of device memory");
    memcpy(memory_at(data->d_in), data->in, bytes);
    memory_written(data->d_in, bytes);
    return !driver->host.ended;
}

// Result k for n elements, and NAN after the last one.
static double expected(Driver *driver, uint32_t n, size_t k) {
    if (driver->should_n != n) driver->should_count = 0;
    driver->should_n = n;
    while (driver->should_count <= k) {
        HostValue value = {.floating = 0};
        const HostValue arguments[] = {whole((int64_t)driver->data.host_in), whole(n),
                                       whole((int64_t)driver->should_count)};
        if (!host_call(&driver->host, driver->at.expected, arguments, 3, &value)) return NAN;
        ARENA_GROW(&driver->run->arena, driver->should, driver->should_count,
                   driver->should_capacity);
        driver->should[driver->should_count++] = value.floating;
    }
    return driver->should[k];
}

static bool differ(double a, double b) { return a < b || a > b || isnan(a) || isnan(b); }

static void compare_each(Driver *driver, uint32_t n, size_t results) {
    const Type *type = driver->at.result;
    const uint8_t *out = memory_at(driver->data.d_out);
    char *const text = driver->text;
    const size_t room = sizeof driver->text;
    for (size_t k = 0; k < results; k++) {
        const double should = expected(driver, n, k), is = number_at(type, out + k * type->size);
        if (!differ(is, should)) continue;
        if (isnan(should))
            snprintf(text, room, "%zu results, and not %zu", results, k);
        else if (!differ((double)(float)is, (double)(float)should))
            snprintf(text, room, "result %zu is %.17g, not %.17g", k, is, should);
        else
            snprintf(text, room, "result %zu is %.9g, not %.9g", k, is, should);
        return;
    }
    if (!isnan(expected(driver, n, results)))
        snprintf(text, room, "no more than %zu results", results);
}

static void compare_sum(Driver *driver, uint32_t n, size_t results) {
    const Type *element = driver->at.element, *result = driver->at.result;
    const uint8_t *out = memory_at(driver->data.d_out);
    double sum = 0, total = 0;
    for (uint32_t i = 0; i < n; i++) sum += number_at(element, driver->data.in + i * element->size);
    for (size_t k = 0; k < results; k++) total += number_at(result, out + k * result->size);
    if (differ(total, sum))
        snprintf(driver->text, sizeof driver->text, "the sum is %.9g, not %.9g", total, sum);
}

// Runs it once on n elements. False: nothing can run after this.
static bool check(Driver *driver, uint32_t n) {
    Run *run = driver->run;
    Data *data = &driver->data;
    HostValue made = {0};
    driver->text[0] = '\0';
    memset(memory_at(data->d_out), 0xFF, data->out_bytes);
    memory_written(data->d_out, data->out_bytes);
    read_back_written(data->d_out, data->out_bytes);
    const HostValue arguments[] = {whole((int64_t)data->d_in), whole((int64_t)data->d_out),
                                   whole(n)};
    if (!host_call(&driver->host, driver->at.launch, arguments, 3, &made)) {
        snprintf(driver->text, sizeof driver->text, "%.199s", run->error.text);
        return false;
    }
    if (driver->host.error) {
        snprintf(driver->text, sizeof driver->text, "%.*s", STR_ARG(driver->host.failure.message));
        return false;
    }
    const uint32_t results = (uint32_t)made.integer;
    const size_t within = results < data->room ? results : data->room;
    read_back_read(data->d_out, within * (size_t)driver->at.result->size);
    if (results > data->room)
        snprintf(driver->text, sizeof driver->text, "%u results, and room for %u",
                 (unsigned)results, (unsigned)data->room);
    else if (driver->at.expected)
        compare_each(driver, n, results);
    else
        compare_sum(driver, n, results);
    return !driver->host.ended;
}

// Returns how many runs had wrong results.
static unsigned run_sizes(Driver *driver) {
    const Exercised *at = &driver->at;
    Buf *out = &driver->host.printed;
    unsigned wrong = 0, runs = 0;
    char before[sizeof driver->text] = "";
    for (bool good = true; good && runs < (driver->once ? 1 : RUNS); runs++) {
        const uint32_t n = driver->once || runs >= 2 * SIZES ? at->n : at->sizes[runs / 2];
        good = check(driver, n);
        const bool again = runs % 2 && !strcmp(driver->text, before);
        if (driver->text[0] && !again)
            buf_format(out, "%u element%s: WRONG: %s\n", (unsigned)n, n == 1 ? "" : "s",
                       driver->text);
        wrong += driver->text[0] != 0;
        memcpy(before, driver->text, sizeof before);
    }
    if (!answer_is_refused()) buf_format(out, "runs = %u\nwrong = %u\n", runs, wrong);
    return wrong;
}

// --- the call in main ---

static uint64_t member_of(const Type *type, const uint8_t *bytes, const char *name) {
    const Member *member = type_member(type, str_of(name));
    uint64_t value = 0;
    if (member && member->type->size <= sizeof value)
        memcpy(&value, bytes + member->offset, (size_t)member->type->size);
    return value;
}

static const Function *function_of(const Host *host, const Type *type, const uint8_t *bytes,
                                   const char *name) {
    return host_function(host, whole((int64_t)member_of(type, bytes, name)));
}

static bool takes(const Function *f, size_t count) {
    return f->is_host && f->parameter_count == count;
}

// Reads struct Exercise. False: it was refused.
static bool read_members(Driver *driver, const Type *type, const uint8_t *bytes) {
    Exercised *at = &driver->at;
    const Host *host = &driver->host;
    at->launch = function_of(host, type, bytes, "launch");
    at->expected = function_of(host, type, bytes, "expected");
    at->input = function_of(host, type, bytes, "input");
    at->n = (uint32_t)member_of(type, bytes, "n");
    at->block = (uint32_t)member_of(type, bytes, "block");
    const uint64_t sizes = member_of(type, bytes, "sizes");
    const uint8_t *given = sizes ? host_at(host, sizes, sizeof at->sizes) : NULL;
    const uint32_t usual[SIZES] = {0, 1, 31, 32, 33, 1000, at->block - 1, at->block, at->block + 1};
    memcpy(at->sizes, given ? (const void *)given : (const void *)usual, sizeof at->sizes);
    if (!at->launch) return run_fail(driver->run, "the exercise has no launch function");
    const bool known = takes(at->launch, 3) && (!at->expected || takes(at->expected, 3)) &&
                       (!at->input || takes(at->input, 1));
    if (!known) return answer_refuse(at->launch->place, "the exercise calls launch(in, out, n)");
    at->element = at->launch->parameters[0]->type->base;
    at->result = at->launch->parameters[1]->type->base;
    return (at->element && at->result && type_is_arithmetic(at->element) &&
            type_is_arithmetic(at->result)) ||
           answer_refuse(at->launch->place, "the elements of an exercise are numbers");
}

// Carries out exercise(e, argc, argv). False: main ends.
static bool call_exercise(void *context, const Type *type, HostValue e, int64_t *status) {
    Driver *driver = graded.driver;
    const uint8_t *bytes = host_at(&driver->host, (uint64_t)e.integer, type->size);
    uint32_t largest;
    (void)context;
    if (!bytes || !read_members(driver, type, bytes)) return false;
    largest = driver->at.n;
    for (int k = 0; k < SIZES; k++)
        if (driver->at.sizes[k] > largest) largest = driver->at.sizes[k];
    if (largest > LARGEST) return run_fail(driver->run, "more than 8 million elements");
    if (!fill(driver, largest)) return false;
    *status = run_sizes(driver) ? 1 : 0;
    return !driver->host.ended;
}

// --- a program ---

static const Tree *parse_main(Arena *arena, const TokenList *tokens, const void *context,
                              Refusal *refusal) {
    (void)context;
    return program_parse_main(arena, tokens, refusal);
}

// Runs main from the start: memory is empty, and the module is loaded again. Returns what it has
// printed.
static Str run_main(Run *run, const Tree *tree, bool once) {
    Driver *driver = ARENA_NEW(&run->arena, 1, Driver);
    HostValue status;
    const HostValue arguments[] = {whole(0), whole(0)};
    graded.driver = driver;
    *driver = (Driver){.run = run, .once = once};
    memory_free_all();
    heap_forget();
    run->module = NULL;
    run->error.text[0] = '\0';
    answer_host(run, &driver->host);
    driver->host.exercise = call_exercise;
    host_call(&driver->host, tree->main, arguments, tree->main->parameter_count, &status);
    return buf_str(&driver->host.printed);
}

static void read_hazards(Arena *arena, Program *program) {
    program->hazard_count = hazards_count();
    program->hazards = ARENA_NEW(arena, program->hazard_count + 1, ProgramNote);
    for (size_t i = 0; i < program->hazard_count; i++) {
        const char *kernel;
        const Hazard *hazard = hazards_get(i, &kernel);
        Buf text = {.arena = arena};
        buf_format(&text, "%s in %s", hazard->kind, kernel);
        program->hazards[i] = (ProgramNote){.text = buf_str(&text)};
    }
    program_count_hazards(arena, program);
}

// The counts of one run, unless a kernel was stopped in it.
static void count(Run *run, const Tree *tree, Program *program, Totals *totals) {
    Arena *arena = &run->arena;
    run->options.check = false, run->options.longest = true;
    graded.totals = totals;
    run_main(run, tree, true);
    graded.totals = NULL;
    if (run->error.text[0]) return;
    program_add(arena, program, STR("launches"), UNIT_COUNT, (double)totals->launches);
    program_add(arena, program, STR("blocks"), UNIT_COUNT, (double)totals->blocks);
    program_add(arena, program, STR("threads"), UNIT_COUNT, (double)totals->threads);
    program_add(arena, program, STR("longest_warp"), UNIT_COUNT, (double)totals->longest_warp);
    for (int k = 0; k < COUNTERS; k++)
        program_add(arena, program, str_of(counters_names[k]), UNIT_COUNT,
                    (double)totals->counters.value[k]);
}

static void read_demands(Arena *arena, const RequestValue *demands, Exercise *exercise) {
    for (const RequestValue *at = demands->first; at; at = at->next) {
        ARENA_GROW(arena, exercise->demands, exercise->demand_count, exercise->demand_capacity);
        ExerciseDemand *demand = &exercise->demands[exercise->demand_count++];
        *demand = (ExerciseDemand){.text = request_text(at, STR("text"))};
        const RequestValue *hints = request_member(at, STR("hints"));
        for (const RequestValue *hint = hints ? hints->first : NULL;
             hint && demand->choice_count < EXERCISE_CHOICES; hint = hint->next)
            demand->choices[demand->choice_count++] = (ExerciseChoice){
                (size_t)request_number(hint, STR("hint")), request_text(hint, STR("if"))};
    }
}

bool exercise_run(Run *run, const RequestValue *request) {
    static Totals of_solution;
    const RequestValue *solution = request_member(request, STR("solution"));
    const RequestValue *demands = request_member(request, STR("demands"));
    if (!demands) return run_fail(run, "the request has no requirements");
    read_demands(&run->arena, demands, &graded.exercise);
    run->options.watchdog_seconds = WATCHDOG_SECONDS;
    const Tree *tree = answer_compile(run, request_member(request, STR("files")), parse_main, NULL);
    if (!tree || !run_command(run, STR("check"))) return false;
    program_read_output(&run->arena, &graded.reader, run_main(run, tree, false));
    if (answer_is_refused()) return false;
    graded.reader.stopped.text = str_of(str_terminated(&run->arena, str_of(run->error.text)));
    read_hazards(&run->arena, &graded.reader);
    count(run, tree, &graded.reader, &graded.counted);
    if (answer_is_refused()) return false;
    if (!solution) return true;
    tree = answer_compile(run, solution, parse_main, NULL);
    if (tree) count(run, tree, &graded.solution, &of_solution);
    return tree != NULL;
}

void exercise_launched(Run *run, const LaunchReport *report) {
    if (graded.totals) answer_add(graded.totals, &run->arena, &run->pending, report);
}

// --- the answer ---

static Str bare(Arena *arena, Value value) {
    Buf text = {.arena = arena};
    value_format_bare(&text, value);
    return buf_str(&text);
}

static void put_evidence(Json *json, const char *file, uint32_t line, Str text) {
    json_open(json, STR(""), '{');
    answer_put_place(json, file, line);
    json_text(json, STR("text"), escape_valid(json->out->arena, text));
    json_close(json, '}');
}

// The line with the most of what a requirement limits.
static void put_worst_line(Json *json, Str counter) {
    const LineCounters *worst = NULL;
    int k = 0;
    while (k < COUNTERS && !str_equal(counter, str_of(counters_names[k]))) k++;
    for (size_t i = 0; k < COUNTERS && i < graded.counted.line_count; i++) {
        const LineCounters *line = &graded.counted.lines[i];
        if (line->counters.value[k] > (worst ? worst->counters.value[k] : 0)) worst = line;
    }
    if (!worst) return;
    Buf text = {.arena = json->out->arena};
    const Value most = {.unit = UNIT_COUNT, .number = (double)worst->counters.value[k]};
    buf_format(&text, "has the highest count: %.*s", STR_ARG(bare(text.arena, most)));
    put_evidence(json, worst->file, worst->line, buf_str(&text));
}

static void put_demand(Json *json, Str text, const JudgeOutcome *outcome) {
    static const char *const verdicts[] = {"holds", "fails", "unknown", "time"};
    const Program *program = &graded.reader;
    const ExprComparison *comparison = &outcome->comparison;
    const bool known = outcome->verdict == JUDGE_HOLDS || outcome->verdict == JUDGE_FAILS;
    json_open(json, STR(""), '{');
    output_text(json, "verdict", verdicts[outcome->verdict]);
    if (known) {
        json_text(json, STR("left"), bare(json->out->arena, comparison->left));
        json_text(json, STR("relation"), comparison->operator);
        json_text(json, STR("right"), bare(json->out->arena, comparison->right));
    }
    json_open(json, STR("evidence"), '[');
    if (str_find(text, STR("wrong")) != SIZE_MAX)
        for (size_t i = 0; i < program->failure_count && i < PROGRAM_FAILURES; i++)
            put_evidence(json, "", 0, program->failures[i]);
    if (outcome->verdict == JUDGE_FAILS && comparison->left.number > comparison->right.number)
        put_worst_line(json, comparison->subject);
    json_close(json, ']');
    json_close(json, '}');
}

void exercise_put(Run *run, Json *json) {
    static const Results none;
    const KeyScope scope = {.arena = &run->arena, .results = &none};
    const JudgeCase at = {.scope = &scope, .program = &graded.reader, .solution = &graded.solution};
    const Exercise *exercise = &graded.exercise;
    JudgeOutcome *outcomes = judge(&run->arena, exercise, &at);
    if (graded.reader.stopped.text.len)
        json_text(json, STR("stopped"), escape_valid(&run->arena, graded.reader.stopped.text));
    else
        output_text(json, "stopped", NULL);
    json_open(json, STR("demands"), '[');
    for (size_t i = 0; i < exercise->demand_count; i++)
        put_demand(json, exercise->demands[i].text, &outcomes[i]);
    json_close(json, ']');
    output_number(json, "hint", judge_hint(&run->arena, exercise, &at, outcomes));
}

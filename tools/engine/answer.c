// Answers a request of the page. See answer.h.
#include "engine/answer.h"

#include <string.h>
#include <time.h>

#include "simt/cudac/generate/generate.h"
#include "simt/cudac/parse/preprocess.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/read_back.h"

const char answer_listing[] = "listing";

static struct {
    bool exercise;
    Refusal refusal; // of the compiler, or of the host's code
    struct timespec began;
} answer;

// --- the program ---

static bool read_included(Arena *arena, Str path, Str *text) {
    (void)arena, (void)path, (void)text;
    return false; // the page has no files
}

static Str source_of(Arena *arena, const RequestValue *files) {
    Buf text = {.arena = arena};
    for (const RequestValue *file = files ? files->first : NULL; file; file = file->next) {
        buf_format(&text, "#line %u \"%.*s\"\n", (unsigned)request_number(file, STR("line")),
                   STR_ARG(request_text(file, STR("name"))));
        buf_add(&text, request_text(file, STR("text")));
        buf_char(&text, '\n');
    }
    return buf_str(&text);
}

static bool is_listing(const RequestValue *file) {
    return str_equal(request_text(file, STR("name")), str_of(answer_listing));
}

// The tokens of the reader's text.
static bool split_listing(Arena *arena, const RequestValue *files, TokenList *tokens) {
    for (const RequestValue *file = files ? files->first : NULL; file; file = file->next) {
        if (!is_listing(file)) continue;
        const uint32_t above = (uint32_t)request_number(file, STR("line")) - 1;
        size_t k = tokens->count;
        const bool good = token_split(arena, str_of(answer_listing),
                                      request_text(file, STR("text")), tokens, &answer.refusal);
        answer.refusal.place.line += above;
        for (; k < tokens->count; k++) tokens->at[k].place.line += above;
        if (!good) return false;
    }
    return true;
}

static bool is_here(const Token *include) {
    const Token *name = include + 2;
    const bool lacks = include[1].kind == TOKEN_LESS &&
                       (str_equal(name->text, STR("cub")) || str_equal(name->text, STR("thrust")));
    return !lacks || answer_refuse(name->place,
                                   "this header is not here: write what you need of it yourself");
}

// Refuses what the compiler would notice only in the book's text below the reader's, or not at all.
static bool check_listing(Arena *arena, const RequestValue *files) {
    TokenList tokens = {0};
    const Token *outermost = NULL;
    size_t depth = 0;
    if (!split_listing(arena, files, &tokens)) return false;
    for (const Token *token = tokens.at; token < tokens.at + tokens.count; token++) {
        if (token->kind == TOKEN_HASH && token->starts_line) {
            const Str word = token[1].text;
            if (str_equal(word, STR("else")) || str_starts(word, STR("elif"))) return true;
            if (str_equal(word, STR("include")) && !is_here(token + 1)) return false;
            while (token[1].kind != TOKEN_END && !token[1].starts_line) token++;
        } else if (token->kind == TOKEN_LEFT_BRACE) {
            if (!depth++) outermost = token;
        } else if (token->kind == TOKEN_RIGHT_BRACE && !depth--) {
            return true; // the compiler notices it
        }
    }
    return !depth || answer_refuse(outermost->place, "this { is never closed: add }");
}

// What the book's text of the listing would declare
static void blame_listing(Arena *arena, const RequestValue *files) {
    const Refusal *refusal = &answer.refusal;
    const Place place = {str_of(answer_listing), 1, 1, STR("")};
    Buf message = {.arena = arena};
    const RequestValue *file = files ? files->first : NULL;
    while (file && !is_listing(file)) file = file->next;
    if (!file || !refusal->undeclared.len || str_equal(refusal->place.file, place.file)) return;
    buf_format(&message, "your text must define `%.*s`%c", STR_ARG(refusal->undeclared), '\0');
    answer_refuse(place, message.at);
}

const Tree *answer_compile(Run *run, const RequestValue *files, AnswerParse *parse,
                           const void *context) {
    TokenList tokens = {0};
    if (!check_listing(&run->arena, files)) return NULL;
    const Str source = source_of(&run->arena, files);
    if (!preprocess(&run->arena, STR(""), source, read_included, &tokens, &answer.refusal))
        return NULL;
    const Tree *tree = parse(&run->arena, &tokens, context, &answer.refusal);
    if (!tree) {
        blame_listing(&run->arena, files);
        return NULL;
    }
    run->ptx = generate(&run->arena, tree, &answer.refusal);
    run->module = NULL;
    return answer.refusal.message.len ? NULL : tree;
}

bool answer_refuse(Place place, const char *message) {
    answer.refusal = (Refusal){.place = place, .message = str_of(message)};
    return false;
}

// --- launches ---

// The kernel in the module, which is loaded now. NULL: see run->error.
static Kernel *kernel_of(Run *run, const Function *function) {
    SimtStatus status;
    if (!run->module) run->module = module_load(run->ptx, "kernel.ptx", &status, &run->error);
    if (!run->module) return NULL;
    Kernel *kernel = module_kernel(run->module, str_terminated(&run->arena, function->symbol));
    if (!kernel) run_fail(run, "the module has no kernel %.*s", STR_ARG(function->name));
    return kernel;
}

static const Kernel *find_kernel(void *context, const Function *function) {
    return kernel_of(context, function);
}

static bool launch(void *context, const HostLaunch *made) {
    Run *run = context;
    Pending *pending = &run->pending;
    *pending = (Pending){.kernel = kernel_of(run, made->kernel),
                         .name = str_terminated(&run->arena, made->kernel->name),
                         .grid = {made->grid[0], made->grid[1], made->grid[2]},
                         .block = {made->block[0], made->block[1], made->block[2]},
                         .shared = made->shared_bytes < UINT32_MAX ? (uint32_t)made->shared_bytes
                                                                   : UINT32_MAX,
                         .cooperative = made->cooperative,
                         .count = made->count};
    if (!pending->kernel) return false;
    memcpy(pending->values, made->values, sizeof made->values);
    memcpy(pending->bytes, made->bytes, sizeof made->bytes);
    return run_launch(run);
}

bool answer_is_refused(void) { return answer.refusal.message.len > 0; }

void answer_host(Run *run, Host *host) {
    *host = (Host){.arena = &run->arena,
                   .refusal = &answer.refusal,
                   .launch = launch,
                   .kernel = find_kernel,
                   .context = run};
    host_open(host);
}

static void add_counters(Counters *to, const Counters *more) {
    for (int k = 0; k < COUNTERS; k++) to->value[k] += more->value[k];
}

static void add_line(Totals *totals, Arena *arena, const LineCounters *line) {
    for (size_t i = 0; i < totals->line_count; i++) {
        LineCounters *known = &totals->lines[i];
        if (known->line != line->line || strcmp(known->file, line->file)) continue;
        add_counters(&known->counters, &line->counters);
        return;
    }
    ARENA_GROW(arena, totals->lines, totals->line_count, totals->line_capacity);
    LineCounters *added = &totals->lines[totals->line_count++];
    *added = *line;
    added->file = str_terminated(arena, str_of(line->file)); // the report is freed
}

void answer_add(Totals *totals, Arena *arena, const Pending *launch, const LaunchReport *report) {
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    totals->launches++;
    totals->blocks += blocks;
    totals->threads += blocks * launch->block.x * launch->block.y * launch->block.z;
    totals->longest_warp += report->longest_warp;
    add_counters(&totals->counters, &report->total);
    for (size_t i = 0; i < report->line_count; i++) add_line(totals, arena, &report->lines[i]);
}

void answer_launched(Run *run, const LaunchReport *report, const char *error, Str trace) {
    const char *kernel = run->pending.name;
    (void)error; // it ends the stage, or the exercise's driver reports it
    if (answer.exercise)
        exercise_launched(run, report);
    else
        stage_launched(run, report, trace);
    hazards_add(&run->arena, kernel, report->hazards, report->hazard_count, false);
    hazards_orders(&run->arena, kernel, &report->orders);
    read_back_keep(kernel, report->differences, report->difference_count);
}

bool answer_run(Run *run, Str text) {
    timespec_get(&answer.began, TIME_UTC);
    const RequestValue *request = request_read(&run->arena, text);
    if (!request) return run_fail(run, "the request is not JSON");
    answer.exercise = request_true(request, STR("exercise"));
    return answer.exercise ? exercise_run(run, request) : stage_run(run, request);
}

// --- the answer ---

void answer_put_place(Json *json, const char *file, uint32_t line) {
    output_text(json, "file", file ? file : "");
    output_number(json, "line", line);
}

static void put_error(Json *json, Run *run, const char *error) {
    const Refusal *refusal = &answer.refusal;
    const bool refused = refusal->message.len > 0;
    if (!error) {
        output_text(json, "error", NULL);
        return;
    }
    json_open(json, STR("error"), '{');
    const char *file = refused ? str_terminated(&run->arena, refusal->place.file) : "";
    answer_put_place(json, file, refused ? refusal->place.line : 0);
    output_number(json, "column", refused ? refusal->place.column : 0);
    json_text(json, STR("message"),
              escape_valid(&run->arena, refused ? refusal->message : str_of(error)));
    json_close(json, '}');
}

static void put_hazards(Json *json, Arena *arena) {
    json_open(json, STR("hazards"), '[');
    for (size_t i = 0; i < hazards_count(); i++) {
        const char *kernel;
        const Hazard *hazard = hazards_get(i, &kernel);
        const Str advice = hazards_advice(arena, hazard);
        Str sentence = hazards_sentence(arena, hazard, kernel);
        if (advice.len && str_ends(sentence, advice)) sentence.len -= advice.len + strlen("; ");
        json_open(json, STR(""), '{');
        output_text(json, "kind", hazard->kind);
        answer_put_place(json, hazard->file, hazard->line);
        json_text(json, STR("text"), escape_valid(arena, sentence));
        json_text(json, STR("advice"), advice);
        output_number(json, "count", hazard->occurrences);
        if (hazard->other_file) {
            json_open(json, STR("other"), '{');
            answer_put_place(json, hazard->other_file, hazard->other_line);
            json_close(json, '}');
        } else {
            output_text(json, "other", NULL);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static uint64_t milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)((now.tv_sec - answer.began.tv_sec) * 1000 +
                      (now.tv_nsec - answer.began.tv_nsec) / 1000000);
}

Str answer_written(Run *run, const char *error) {
    Buf *text = ARENA_NEW(&run->arena, 1, Buf);
    text->arena = &run->arena;
    Json json = {.out = text};
    json_open(&json, STR(""), '{');
    put_error(&json, run, error);
    put_hazards(&json, &run->arena);
    if (answer.exercise)
        exercise_put(run, &json);
    else
        stage_put(run, &json, error);
    output_number(&json, "milliseconds", milliseconds());
    json_close(&json, '}');
    return buf_str(text);
}

// Runs a stage of a lab for a reader of the page. See answer.h.
#include "engine/answer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/host.h"
#include "engine/request.h"
#include "simt/base/limits.h"
#include "simt/cudac/generate/generate.h"
#include "simt/cudac/parse/preprocess.h"
#include "simt/cudac/parse/program.h"
#include "simt/cudac/parse/type.h"
#include "simt/memory/memory.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/read_back.h"

static const char LISTING[] = "listing"; // the file of the reader's text

static struct {
    Refusal refusal; // of the compiler, or of the host's code
    struct timespec began;
    bool checked, right;
    char said[200];
    Buf launch_text;
    Json launches;
    Counters total;
    LineCounters *lines;
    size_t line_count, line_capacity;
    BankAccesses worst; // the access with the most wavefronts beyond the least; 0 lanes: none
    const char *worst_file;
    uint32_t worst_line, worst_excess;
    Str trace;
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

// Compiles what the stage launches. NULL: see answer.refusal.
static const Stage *compile(Run *run, const RequestValue *request) {
    TokenList tokens = {0};
    const Str source = source_of(&run->arena, request_member(request, STR("files")));
    if (!preprocess(&run->arena, STR(""), source, read_included, &tokens, &answer.refusal))
        return NULL;
    const Tree *tree = program_parse_stage(&run->arena, &tokens,
                                           request_text(request, STR("stage")), &answer.refusal);
    if (!tree) return NULL;
    run->ptx = generate(&run->arena, tree, &answer.refusal);
    return answer.refusal.message.len ? NULL : tree->stage;
}

static bool refuse(Place place, const char *message) {
    answer.refusal = (Refusal){place, str_of(message)};
    return false;
}

static bool is_usual(const Stage *stage) {
    const bool number =
        str_equal(stage->element, STR("FLOAT")) || str_equal(stage->element, STR("INT"));
    if (!number)
        return refuse(stage->place, "the page runs stages whose elements are FLOAT or INT");
    return !stage->input.len || refuse(stage->place, "the page runs stages with the labs' input");
}

// --- launches ---

static bool launch(void *context, const HostLaunch *made) {
    Run *run = context;
    SimtStatus status;
    if (!run->module) run->module = module_load(run->ptx, "kernel.ptx", &status, &run->error);
    if (!run->module) return false;
    Pending *pending = &run->pending;
    *pending = (Pending){
        .kernel = module_kernel(run->module, str_terminated(&run->arena, made->kernel->symbol)),
        .name = str_terminated(&run->arena, made->kernel->name),
        .grid = {made->grid[0], made->grid[1], made->grid[2]},
        .block = {made->block[0], made->block[1], made->block[2]},
        .shared = made->shared_bytes < UINT32_MAX ? (uint32_t)made->shared_bytes : UINT32_MAX,
        .count = made->count};
    if (!pending->kernel) return run_fail(run, "the module has no kernel %s", pending->name);
    memcpy(pending->values, made->values, sizeof made->values);
    memcpy(pending->bytes, made->bytes, sizeof made->bytes);
    return run_launch(run);
}

static void add_counters(Counters *to, const Counters *more) {
    for (int k = 0; k < COUNTERS; k++) to->value[k] += more->value[k];
}

static void add_line(Arena *arena, const LineCounters *line) {
    for (size_t i = 0; i < answer.line_count; i++) {
        LineCounters *known = &answer.lines[i];
        if (known->line != line->line || strcmp(known->file, line->file)) continue;
        add_counters(&known->counters, &line->counters);
        return;
    }
    ARENA_GROW(arena, answer.lines, answer.line_count, answer.line_capacity);
    LineCounters *added = &answer.lines[answer.line_count++];
    *added = *line;
    added->file = str_terminated(arena, str_of(line->file)); // the report is freed
}

static const char *file_of(const PtxModule *module, uint32_t file) {
    return file < module->file_count && module->file_short[file] ? module->file_short[file] : "";
}

static void find_worst(const LaunchReport *report) {
    enum { WORD = 4 };
    for (size_t i = 0; i < report->bank_count; i++) {
        const BankAccesses *found = &report->banks[i];
        const uint32_t least = found->bytes > WORD ? found->bytes / WORD : 1;
        if (found->wavefronts <= least + answer.worst_excess) continue;
        const PtxPlace place = found->function->insts[found->ptx].place;
        answer.worst = *found, answer.worst_excess = found->wavefronts - least;
        answer.worst_file = file_of(report->module, place.file), answer.worst_line = place.line;
    }
}

void answer_launched(Run *run, const LaunchReport *report, const char *error, Str trace) {
    const Pending *pending = &run->pending;
    Json *json = &answer.launches;
    (void)error; // it ends the run, which reports it
    json_open(json, STR(""), '{');
    output_text(json, "kernel", pending->name);
    output_shape(json, "grid", pending->grid);
    output_shape(json, "block", pending->block);
    output_number(json, "shared_bytes", pending->shared);
    json_close(json, '}');
    add_counters(&answer.total, &report->total);
    for (size_t i = 0; i < report->line_count; i++) add_line(&run->arena, &report->lines[i]);
    find_worst(report);
    Buf kept = {.arena = &run->arena};
    buf_add(&kept, trace);
    answer.trace = buf_str(&kept);
    hazards_add(&run->arena, pending->name, report->hazards, report->hazard_count, false);
    hazards_orders(&run->arena, pending->name, &report->orders);
    read_back_keep(pending->name, report->differences, report->difference_count);
}

// --- the stage, as the labs' harness runs it ---

static void set_member(uint8_t *bytes, const Type *type, const char *name, uint64_t value) {
    const Member *member = type_member(type, str_of(name));
    if (member && member->type->size <= sizeof value)
        memcpy(bytes + member->offset, &value, member->type->size);
}

// The struct Run of the lab.
static const uint8_t *lab_run(Run *run, const Type *type, uint32_t n, uint32_t block) {
    uint8_t *bytes = ARENA_NEW(&run->arena, type->size + 1, uint8_t);
    set_member(bytes, type, "d_in", run->buffers[0].address);
    set_member(bytes, type, "d_partial", run->buffers[1].address);
    set_member(bytes, type, "n", n);
    set_member(bytes, type, "block", block);
    set_member(bytes, type, "sms", limits_sms());
    set_member(bytes, type, "sm_threads", limits_sm_threads());
    return bytes;
}

static void check_sum(Run *run, uint32_t n, uint64_t partials) {
    const Buffer *buffer = &run->buffers[1];
    const uint8_t *at = memory_at(buffer->address);
    double sum = 0, should = 0;
    float single;
    int32_t integer;
    for (size_t k = 0; k < partials; k++, at += 4) {
        memcpy(&single, at, 4);
        memcpy(&integer, at, 4);
        sum += buffer->type->type == ELEMENT_FLOAT ? (double)single : integer;
    }
    for (uint32_t i = 0; i < n; i++) should += run_element(i);
    read_back_read(buffer->address, partials * 4);
    answer.checked = true;
    answer.right = !(sum < should) && !(sum > should) && sum - sum == 0;
    if (!answer.right)
        snprintf(answer.said, sizeof answer.said, "The sum is %.9g, not %.9g.", sum, should);
}

static bool run_stage(Run *run, const Stage *stage, uint32_t n, uint32_t block) {
    const char *type = str_equal(stage->element, STR("INT")) ? "int" : "float";
    char line[80];
    snprintf(line, sizeof line, "buffer in %s %u element", type, (unsigned)n);
    if (!run_command(run, str_of(line))) return false;
    const unsigned partials = (1u << 20) + n / 32 + n; // as in the harness
    snprintf(line, sizeof line, "buffer partial %s %u ones", type, partials);
    if (!run_command(run, str_of(line))) return false;
    if (stage->half_as_many) n /= 2;
    Host host = {
        .arena = &run->arena, .refusal = &answer.refusal, .launch = launch, .context = run};
    int64_t made = 0;
    const Function *f = stage->launch;
    const Type *given = f->parameter_count ? f->parameters[0]->type : f->type->base;
    const uint8_t *argument = lab_run(run, given, n, stage->block ? stage->block : block);
    if (!host_call(&host, f, argument, &made)) return false;
    if (made < 0 || made > partials)
        return run_fail(run, "the launch returned %lld partial sums", (long long)made);
    if (!stage->check.len) check_sum(run, n, (uint64_t)made);
    return true;
}

bool answer_run(Run *run, Str text) {
    const double most = 1e6;
    timespec_get(&answer.began, TIME_UTC);
    answer.launch_text.arena = &run->arena;
    answer.launches.out = &answer.launch_text;
    json_open(&answer.launches, STR(""), '[');
    const RequestValue *request = request_read(&run->arena, text);
    if (!request) return run_fail(run, "the request is not JSON");
    if (request_true(request, STR("exercise")))
        return run_fail(run, "the page cannot check exercises yet: save the file and run make");
    const double n = request_number(request, STR("n")),
                 block = request_number(request, STR("block"));
    if (!(n >= 1 && n <= most)) return run_fail(run, "the size is a number from 1 to 1,000,000");
    if (!(block >= 1 && block <= 1024)) return run_fail(run, "a block has 1 to 1,024 threads");
    const Stage *stage = compile(run, request);
    if (!stage || !is_usual(stage)) return false;
    run->trace = request_true(request, STR("trace"));
    if (request_true(request, STR("check")) && !run_command(run, STR("check"))) return false;
    return run_stage(run, stage, (uint32_t)n, (uint32_t)block);
}

// --- the answer ---

static void put_place(Json *json, const char *file, uint32_t line) {
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
    put_place(json, file, refused ? refusal->place.line : 0);
    output_number(json, "column", refused ? refusal->place.column : 0);
    json_text(json, STR("message"),
              escape_valid(&run->arena, refused ? refusal->message : str_of(error)));
    json_close(json, '}');
}

static void put_lines(Json *json) {
    json_open(json, STR("lines"), '[');
    for (size_t i = 0; i < answer.line_count; i++) {
        json_open(json, STR(""), '{');
        put_place(json, answer.lines[i].file, answer.lines[i].line);
        output_counters(json, &answer.lines[i].counters);
        json_close(json, '}');
    }
    json_close(json, ']');
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
        put_place(json, hazard->file, hazard->line);
        json_text(json, STR("text"), escape_valid(arena, sentence));
        json_text(json, STR("advice"), advice);
        output_number(json, "count", hazard->occurrences);
        if (hazard->other_file) {
            json_open(json, STR("other"), '{');
            put_place(json, hazard->other_file, hazard->other_line);
            json_close(json, '}');
        } else {
            output_text(json, "other", NULL);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_numbers(Json *json, const char *key, const int32_t *numbers) {
    json_open(json, str_of(key), '[');
    for (int lane = 0; lane < LANES; lane++) {
        char text[16];
        snprintf(text, sizeof text, "%ld", (long)numbers[lane]);
        json_plain(json, STR(""), str_of(text));
    }
    json_close(json, ']');
}

static void put_banks(Json *json) {
    enum { WORD = 4, BANKS = 32 };
    int32_t banks[LANES], words[LANES];
    const BankAccesses *worst = &answer.worst;
    if (!worst->lanes) {
        output_text(json, "banks", NULL);
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        const bool active = worst->lanes >> lane & 1;
        words[lane] = active ? (int32_t)(worst->address[lane] / WORD) : 0;
        banks[lane] = active ? words[lane] % BANKS : -1;
    }
    json_open(json, STR("banks"), '{');
    put_place(json, answer.worst_file, answer.worst_line);
    output_number(json, "wavefronts", worst->wavefronts);
    put_numbers(json, "lanes", banks);
    put_numbers(json, "words", words);
    json_close(json, '}');
}

// The reader's text, if the kernel has lines in it.
static const char *file_of_steps(void) {
    for (size_t i = 0; i < answer.line_count; i++)
        if (!strcmp(answer.lines[i].file, LISTING)) return LISTING;
    return answer.line_count ? answer.lines[0].file : NULL;
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
    json_close(&answer.launches, ']');
    json_open(&json, STR(""), '{');
    put_error(&json, run, error);
    output_text(&json, "answer", !answer.checked ? NULL : answer.right ? "right" : "wrong");
    output_text(&json, "said", answer.said);
    json_plain(&json, STR("launches"), buf_str(&answer.launch_text));
    output_counters(&json, &answer.total);
    put_lines(&json);
    put_hazards(&json, &run->arena);
    put_banks(&json);
    if (run->trace && !error)
        output_steps(&json, &run->arena, file_of_steps(), answer.trace);
    else
        output_text(&json, "steps", NULL);
    output_number(&json, "milliseconds", milliseconds());
    json_close(&json, '}');
    return buf_str(text);
}

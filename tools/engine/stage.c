// Runs a stage of a lab, as its harness does, and checks the sum.
#include <stdio.h>
#include <string.h>

#include "engine/answer.h"
#include "simt/base/limits.h"
#include "simt/cudac/parse/program.h"
#include "simt/cudac/parse/type.h"
#include "simt/memory/memory.h"
#include "simt/report/escape.h"
#include "simt/report/read_back.h"

static struct {
    bool checked, right;
    char said[200];
    Buf launch_text;
    Json launches;
    Totals total;
    BankAccesses worst; // the access with the most wavefronts beyond the least; 0 lanes: none
    const char *worst_file;
    uint32_t worst_line, worst_excess;
    Str trace;
    Host host;
} stage;

static bool is_usual(const Stage *row) {
    const bool number =
        str_equal(row->element, STR("FLOAT")) || str_equal(row->element, STR("INT"));
    if (!number)
        return answer_refuse(row->place, "the page runs stages whose elements are FLOAT or INT");
    return !row->input.len ||
           answer_refuse(row->place, "the page runs stages with the labs' input");
}

// --- launches ---

static const char *file_of(const PtxModule *module, uint32_t file) {
    return file < module->file_count && module->file_short[file] ? module->file_short[file] : "";
}

static void find_worst(const LaunchReport *report) {
    enum { WORD = 4 };
    for (size_t i = 0; i < report->bank_count; i++) {
        const BankAccesses *found = &report->banks[i];
        const uint32_t least = found->bytes > WORD ? found->bytes / WORD : 1;
        if (found->wavefronts <= least + stage.worst_excess) continue;
        const PtxPlace place = found->function->insts[found->ptx].place;
        stage.worst = *found, stage.worst_excess = found->wavefronts - least;
        stage.worst_file = file_of(report->module, place.file), stage.worst_line = place.line;
    }
}

// The list of launches, which is opened first.
static Json *launches_of(Run *run) {
    if (stage.launches.out) return &stage.launches;
    stage.launch_text.arena = &run->arena;
    stage.launches.out = &stage.launch_text;
    json_open(&stage.launches, STR(""), '[');
    return &stage.launches;
}

void stage_launched(Run *run, const LaunchReport *report, Str trace) {
    const Pending *pending = &run->pending;
    Json *json = launches_of(run);
    KernelInfo info;
    kernel_info(pending->kernel, &info);
    json_open(json, STR(""), '{');
    output_text(json, "kernel", pending->name);
    output_shape(json, "grid", pending->grid);
    output_shape(json, "block", pending->block);
    output_number(json, "shared_bytes", pending->shared);
    output_number(json, "static_shared_bytes", (uint32_t)info.static_shared_bytes);
    json_close(json, '}');
    answer_add(&stage.total, &run->arena, pending, report);
    find_worst(report);
    Buf kept = {.arena = &run->arena};
    buf_add(&kept, trace);
    stage.trace = buf_str(&kept);
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
    stage.checked = true;
    stage.right = !(sum < should) && !(sum > should) && sum - sum == 0;
    if (!stage.right)
        snprintf(stage.said, sizeof stage.said, "The sum is %.9g, not %.9g.", sum, should);
}

static bool run_row(Run *run, const Stage *row, uint32_t n, uint32_t block) {
    const char *type = str_equal(row->element, STR("INT")) ? "int" : "float";
    char line[80];
    snprintf(line, sizeof line, "buffer in %s %u element", type, (unsigned)n);
    if (!run_command(run, str_of(line))) return false;
    const unsigned partials = (1u << 20) + n / 32 + n; // as in the harness
    snprintf(line, sizeof line, "buffer partial %s %u ones", type, partials);
    if (!run_command(run, str_of(line))) return false;
    if (row->half_as_many) n /= 2;
    answer_host(run, &stage.host);
    HostValue made = {0};
    const Function *f = row->launch;
    const Type *given = f->parameter_count == 1 ? f->parameters[0]->type : f->type;
    if (given->kind != TYPE_STRUCT || !type_is_integer(f->type->base))
        return answer_refuse(f->place, "the launch of a stage takes a Run and returns a number");
    const uint8_t *bytes = lab_run(run, given, n, row->block ? row->block : block);
    const uint64_t address = host_put(&stage.host, bytes, (size_t)given->size);
    const HostValue argument = {.integer = (int64_t)address};
    if (!host_call(&stage.host, f, &argument, 1, &made)) return false;
    if (stage.host.failure.message.len)
        return answer_refuse(stage.host.failure.place,
                             str_terminated(&run->arena, stage.host.failure.message));
    if (made.integer < 0 || made.integer > partials)
        return run_fail(run, "the launch returned %lld partial sums", (long long)made.integer);
    if (!row->check.len) check_sum(run, n, (uint64_t)made.integer);
    return true;
}

static const Tree *parse_row(Arena *arena, const TokenList *tokens, const void *name,
                             Refusal *refusal) {
    return program_parse_stage(arena, tokens, *(const Str *)name, refusal);
}

bool stage_run(Run *run, const RequestValue *request) {
    const double most = 1e6, n = request_number(request, STR("n")),
                 block = request_number(request, STR("block"));
    const Str name = request_text(request, STR("stage"));
    if (!(n >= 1 && n <= most)) return run_fail(run, "the size is a number from 1 to 1,000,000");
    if (!(block >= 1 && block <= 1024)) return run_fail(run, "a block has 1 to 1,024 threads");
    const Tree *tree = answer_compile(run, request_member(request, STR("files")), parse_row, &name);
    if (!tree || !is_usual(tree->stage)) return false;
    run->trace = request_true(request, STR("trace"));
    if (request_true(request, STR("check")) && !run_command(run, STR("check"))) return false;
    return run_row(run, tree->stage, (uint32_t)n, (uint32_t)block);
}

// --- the answer ---

static void put_lines(Json *json) {
    json_open(json, STR("lines"), '[');
    for (size_t i = 0; i < stage.total.line_count; i++) {
        json_open(json, STR(""), '{');
        answer_put_place(json, stage.total.lines[i].file, stage.total.lines[i].line);
        output_counters(json, &stage.total.lines[i].counters);
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
    const BankAccesses *worst = &stage.worst;
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
    answer_put_place(json, stage.worst_file, stage.worst_line);
    output_number(json, "wavefronts", worst->wavefronts);
    put_numbers(json, "lanes", banks);
    put_numbers(json, "words", words);
    json_close(json, '}');
}

// The reader's text, if the kernel has lines in it.
static const char *file_of_steps(void) {
    for (size_t i = 0; i < stage.total.line_count; i++)
        if (!strcmp(stage.total.lines[i].file, answer_listing)) return answer_listing;
    return stage.total.line_count ? stage.total.lines[0].file : NULL;
}

void stage_put(Run *run, Json *json, const char *error) {
    json_close(launches_of(run), ']');
    output_text(json, "answer", !stage.checked ? NULL : stage.right ? "right" : "wrong");
    output_text(json, "said", stage.said);
    json_plain(json, STR("launches"), buf_str(&stage.launch_text));
    output_counters(json, &stage.total.counters);
    put_lines(json);
    put_banks(json);
    if (run->trace && (!error || stage.trace.len))
        output_steps(json, &run->arena, file_of_steps(), stage.trace, error != NULL);
    else
        output_text(json, "steps", NULL);
    json_text(json, STR("printed"), escape_valid(&run->arena, buf_str(&stage.host.printed)));
}

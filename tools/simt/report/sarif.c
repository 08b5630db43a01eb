// Writes reports in SARIF. Each kind of hazard and of stderr line is a rule. Each hazard or line is
// a result with its location, the other access, and a fingerprint that is stable when lines move.
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "simt/base/console.h"
#include "simt/ptx/ptx.h"
#include "simt/report/escape.h"
#include "simt/report/hazards.h"
#include "simt/report/outputs.h"

// A rule's name is its kind with "-" for blanks. A kind that is not listed has no rule.
static const struct {
    const char *kind, *help;
} rules[] = {
    {"race",
     "Two threads access the same bytes, at least one of them writes, and no barrier, fence "
     "or atomic operation orders the two: their order may change from run to run."},
    {"write to read-only data",
     "A read by __ldg() or through const __restrict__ of memory that the same kernel has written: "
     "the value is undefined."},
    {"unordered volatile accesses",
     "Two threads access the same bytes, one by a volatile store and the other volatile or atomic, "
     "and nothing orders the two. PTX does not call that a race, but their order is undefined."},
    {"divergent barrier", "Some threads of a block wait at a barrier that others do not reach."},
    {"mask of lanes",
     "A warp's instruction names lanes that do not take part, or needs a lane that does not."},
    {"shuffle width", "The width of a shuffle is not a power of two up to 32."},
    {"shuffle from an absent lane",
     "A shuffle reads a lane that does not take part, and the undefined value is used."},
    {"out of bounds", "An access outside of an allocation, or outside of the array it belongs to."},
    {"misaligned access", "The address is not a multiple of the access size."},
    {"use after free", "An access to memory that was freed before."},
    {"invalid free", "The program frees memory that was freed before or never allocated."},
    {"uninitialized read", "A read of memory that nothing has written."},
    {"block of a cluster",
     "An access to shared memory of a block that may not have started, or may "
     "have ended."},
    {"asynchronous copy", "Something is missing around an asynchronous copy: a wait, or a fence."},
    {"race between launches", "A kernel that may start early uses the same memory as the kernel "
                              "before it, without waiting for that kernel."},
    {"race between streams", "Two operations in different streams, or two nodes of a graph, access "
                             "the same bytes, at least one of them writes, and nothing orders "
                             "the two."},
    {"host code does not wait",
     "Host code accesses memory that work in flight uses, without waiting for it."},
    {"work left behind",
     "The program ends before a kernel does. A GPU drops what that kernel prints."},
    {"failure in another order",
     "A kernel traps or fails an assertion when its blocks and warps run in another order."},
    {"result depends on the order",
     "The host reads a result that differs when blocks and warps run in another order, which a GPU "
     "may choose on any run."},
    {"kernel-failed", "A kernel ended with an error."},
    {"launch-failed", "A kernel was not launched, and the program never checked the error."},
    {"no-image", "The program contains no code that the device can run."},
    {"call-failed",
     "A call of the CUDA runtime returned an error, which the program may have checked."},
    {"never-freed", "Memory that the program never freed."},
    {"refused", "The program needs something that the CPU device does not support. Nothing after "
                "it was checked."},
};
enum { RULES = sizeof rules / sizeof *rules };

typedef struct {
    Buf out;
    Arena *arena;
    uint64_t *fingerprints; // of the results so far
    size_t count, capacity;
} Log;

typedef struct {
    const char *kind;
    bool note;
    Str kernel, message, file, other_file, call_file; // files: empty where unknown
    Str source, other_source;                         // the text of the lines
    uint32_t line, other_line, call_line;
    uint64_t occurrences;
} Result;

// Writes a JSON template: each $ takes a Str and becomes a quoted string, each # takes a uint64_t.
static void put(Log *log, const char *form, ...) {
    va_list values;
    va_start(values, form);
    for (; *form; form++)
        if (*form == '$')
            json_string(&log->out, escape_valid(log->arena, va_arg(values, Str)));
        else if (*form == '#')
            buf_format(&log->out, "%llu", (unsigned long long)va_arg(values, uint64_t));
        else
            buf_char(&log->out, *form);
    va_end(values);
}

// --- places ---

// A path as a URI reference (RFC 3986), relative if the path is.
static Str uri_of(Arena *arena, Str path) {
    Buf uri = {.arena = arena};
    if (path.len && path.at[0] == '/') buf_add(&uri, STR("file://"));
    for (size_t i = 0; i < path.len; i++) {
        const unsigned char c = (unsigned char)path.at[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || (c && strchr("/-._~", c));
        buf_format(&uri, plain ? "%c" : "%%%02X", c);
    }
    return buf_str(&uri);
}

// Names the program if no file is known, because readers require one.
static void put_place(Log *log, Str file, uint32_t line) {
    char program[4096] = "";
    if (!file.len) {
        const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length < 0 ? 0 : length] = '\0';
        file = str_of(ptx_short_path(program));
        line = 0;
    }
    const bool whole = file.len && file.at[0] == '/';
    put(log, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": $", uri_of(log->arena, file));
    put(log, whole ? "}" : ", \"uriBaseId\": \"SRCROOT\"}");
    if (line) put(log, ", \"region\": {\"startLine\": #}", (uint64_t)line);
    put(log, "}");
}

static void put_related(Log *log, Str file, uint32_t line, Str what, uint64_t id) {
    if (!file.len || !line) return;
    if (buf_str(&log->out).at[log->out.len - 1] == '}') put(log, ", ");
    put(log, "{\"id\": #, \"message\": {\"text\": $}, ", id, what);
    put_place(log, file, line);
    put(log, "}");
}

// A source line without surrounding white space, or its number if the file cannot be read.
static Str line_text(Arena *arena, Str file, uint32_t line) {
    Str whole, text = STR("");
    Buf digits = {.arena = arena};
    const bool good = file.len && file_read(arena, str_terminated(arena, file), &whole);
    for (uint32_t k = 0; good && k < line; k++)
        if (!str_line(&whole, &text)) return STR("");
    if (!good) buf_format(&digits, "%u", line);
    return good ? str_trim(text) : buf_str(&digits);
}

// --- results ---

// Adds a fingerprint that is stable while the text of the line and the kernel's name are. Equal
// results are numbered from 1.
static void put_fingerprint(Log *log, const Result *result) {
    const Str parts[] = {str_of(result->kind), result->kernel, result->source,
                         result->other_source};
    Buf text = {.arena = log->arena};
    uint64_t hash = 0;
    size_t number = 1;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        hash = hash * 0x9E3779B97F4A7C15u + str_hash(parts[k]);
    for (size_t k = 0; k < log->count; k++) number += log->fingerprints[k] == hash;
    ARENA_GROW(log->arena, log->fingerprints, log->count, log->capacity);
    log->fingerprints[log->count++] = hash;
    buf_format(&text, "%016llx:%zu", (unsigned long long)hash, number);
    put(log, ", \"partialFingerprints\": {\"simtFinding/v1\": $}", buf_str(&text));
}

static Str rule_id(Arena *arena, const char *kind) {
    char *id = str_terminated(arena, str_of(kind));
    for (char *at = id; *at; at++)
        if (*at == ' ') *at = '-';
    return str_of(id);
}

static void put_result(Log *log, const Result *result) {
    uint64_t rule = 0;
    while (rule < RULES && strcmp(rules[rule].kind, result->kind) != 0) rule++;
    put(log, log->count ? ",\n{" : "{");
    put(log, "\"ruleId\": $, ", rule_id(log->arena, result->kind));
    if (rule < RULES) put(log, "\"ruleIndex\": #, ", rule);
    put(log, "\"level\": $, \"message\": {\"text\": $}", str_of(result->note ? "note" : "error"),
        result->message);
    if (result->occurrences) put(log, ", \"occurrenceCount\": #", result->occurrences);
    put_fingerprint(log, result);
    put(log, ", \"locations\": [{");
    if (result->kernel.len)
        put(log, "\"logicalLocations\": [{\"fullyQualifiedName\": $, \"kind\": \"function\"}], ",
            result->kernel);
    put_place(log, result->file, result->line);
    put(log, "}], \"relatedLocations\": [");
    put_related(log, result->other_file, result->other_line, STR("the other access"), 1);
    put_related(log, result->call_file, result->call_line, STR("called here"), 2);
    put(log, "]}");
}

static Str known(const char *text) { return str_of(text ? text : ""); }

static void put_hazard(Log *log, const Hazard *hazard, const char *kernel) {
    const Str file = known(hazard->file), other = known(hazard->other_file);
    put_result(log, &(Result){.kind = hazard->kind,
                              .note = hazard->note,
                              .kernel = str_of(kernel),
                              .message = hazards_sentence(log->arena, hazard, kernel),
                              .file = file,
                              .line = hazard->line,
                              .other_file = other,
                              .other_line = hazard->other_line,
                              .call_file = known(hazard->call_file),
                              .call_line = hazard->call_line,
                              .source = line_text(log->arena, file, hazard->line),
                              .other_source = hazard->other_line
                                                  ? line_text(log->arena, other, hazard->other_line)
                                                  : STR(""),
                              .occurrences = hazard->occurrences});
}

// Removes `KERNEL: FILE:LINE: ` from the start of a line, as far as it is there.
static void take_place(Str *said, Str *kernel, Str *file, uint32_t *line) {
    const Str whole = *said;
    *kernel = *file = STR("");
    *line = 0;
    for (size_t at = 0, start = 0; at + 1 < whole.len; at++) {
        if (whole.at[at] != ':') continue;
        size_t end = at + 1;
        uint32_t value = 0;
        for (; end < whole.len && whole.at[end] >= '0' && whole.at[end] <= '9'; end++)
            value = value * 10 + (uint32_t)(whole.at[end] - '0');
        if (end > at + 1 && end + 1 < whole.len && whole.at[end] == ':' &&
            whole.at[end + 1] == ' ') {
            *kernel = str_slice(whole, 0, start ? start - 2 : 0);
            *file = str_slice(whole, start, at);
            *line = value;
            if (str_equal(*file, STR("PTX"))) *file = STR("");
            *said = str_from(whole, end + 2);
            return;
        }
        if (whole.at[at + 1] == ' ') start = at + 2;
    }
}

// Whether a hazard already reports this line.
static bool hazard_at(Str file, uint32_t line) {
    const char *kernel;
    for (size_t k = 0; file.len && k < hazards_count(); k++) {
        const Hazard *hazard = hazards_get(k, &kernel);
        if (hazard->file && hazard->line == line && str_equal(str_of(hazard->file), file))
            return true;
    }
    return false;
}

static void put_said(Log *log, Str said, const char *kind) {
    Result result = {.kind = kind, .message = said};
    if (str_starts(said, STR("note: "))) result.message = str_from(said, 6);
    take_place(&result.message, &result.kernel, &result.file, &result.line);
    if (strcmp(kind, "kernel-failed") == 0 && hazard_at(result.file, result.line)) return;
    result.source = result.line ? line_text(log->arena, result.file, result.line) : result.message;
    result.note = strcmp(kind, "call-failed") == 0 || strcmp(kind, "work left behind") == 0;
    put_result(log, &result);
}

static void put_rules(Log *log) {
    for (size_t k = 0; k < RULES; k++) {
        const Str help = str_of(rules[k].help);
        put(log, k ? ",\n{" : "{");
        put(log, "\"id\": $, \"shortDescription\": {\"text\": $}, ",
            rule_id(log->arena, rules[k].kind), str_of(rules[k].kind));
        put(log, "\"fullDescription\": {\"text\": $}, \"help\": {\"text\": $}}", help, help);
    }
}

bool sarif_write(Arena *arena, const char *path) {
    Log log = {.out = {.arena = arena}, .arena = arena};
    char folder[4096];
    const char *kernel, *kind = NULL, *line;
    put(&log,
        "{$: $,\n\"version\": \"2.1.0\",\n\"runs\": [{\"columnKind\": \"unicodeCodePoints\",\n",
        STR("$schema"), STR("https://json.schemastore.org/sarif-2.1.0.json"));
    if (getcwd(folder, sizeof folder)) {
        Buf root = {.arena = arena};
        buf_format(&root, "%s/", folder);
        put(&log, "\"originalUriBaseIds\": {\"SRCROOT\": {\"uri\": $}},\n",
            uri_of(arena, buf_str(&root)));
    }
    put(&log, "\"results\": [");
    for (size_t k = 0; k < hazards_count() + hazards_notes(); k++) {
        const Hazard *hazard = hazards_get(k, &kernel);
        put_hazard(&log, hazard, kernel);
    }
    for (size_t k = 0; (line = console_said(k, &kind)) != NULL; k++)
        put_said(&log, str_of(line), kind);
    put(&log,
        "],\n\"tool\": {\"driver\": {\"name\": \"simt\", \"semanticVersion\": $, \"rules\": [",
        STR(VERSION));
    put_rules(&log);
    put(&log, "]}}}]}\n");
    return file_write_if_changed(arena, path, buf_str(&log.out)) != FILE_FAILED;
}

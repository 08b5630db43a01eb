// Reports in SARIF: see sarif.h. A rule for each kind of hazard and of line on stderr; a result for
// each of them, with its place, the other access, and a fingerprint that stays when lines move.
#define _POSIX_C_SOURCE 200809L
#include "simt/report/sarif.h"

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

// A rule's name is its kind with "-" for blanks. What is not here gets one without help.
static const struct {
    const char *kind, *help;
} rules[] = {
    {"race",
     "Two threads access the same bytes, at least one of them writes, and no barrier, fence "
     "or atomic operation orders the two: which comes first may change from run to run."},
    {"write to read-only data",
     "A read by __ldg() or through const __restrict__ of what the same kernel has written: what it "
     "gets is undefined."},
    {"unordered volatile accesses",
     "Two threads access the same bytes, one by a volatile store and the other volatile or atomic, "
     "and nothing orders the two. PTX calls that no race; which comes first is left to chance."},
    {"divergent barrier", "Some threads of a block wait at a barrier to which others do not come."},
    {"mask of lanes",
     "A warp's instruction names lanes that do not take part, or takes a value from "
     "a lane that is not there."},
    {"out of bounds", "An access outside of what was allocated, or of the array that was meant."},
    {"misaligned access", "An address is no multiple of the size of what is accessed."},
    {"use after free", "An access to memory that was freed before."},
    {"invalid free", "What is freed was freed before, or never allocated."},
    {"uninitialized read", "A read of memory that nothing has written."},
    {"block of a cluster",
     "An access to shared memory of a block that may not have started, or may "
     "have ended."},
    {"asynchronous copy", "Something is missing around an asynchronous copy: a wait, or a fence."},
    {"race between launches", "A kernel that may start early uses what the kernel in front of it "
                              "uses, before it has waited for it."},
    {"race between streams",
     "Two pieces of work in different streams, or two nodes of a graph, touch "
     "the same bytes, and nothing orders the two."},
    {"host code does not wait", "Host code touches memory of work that it has not waited for."},
    {"work left behind", "The program ends before a kernel: what that prints, a GPU drops."},
    {"failure in another order",
     "A kernel traps or fails an assertion when its blocks and warps run in another order."},
    {"kernel-failed", "A kernel ended with an error."},
    {"launch-failed", "A kernel was not launched, and the program never asked why."},
    {"call-failed",
     "A call of the CUDA runtime returned an error, which the program may have looked "
     "at."},
    {"never-freed", "Memory that the program never freed."},
    {"refused", "The CPU device does not have what the program asks for: nothing behind it was "
                "checked."},
};
enum { RULES = sizeof rules / sizeof *rules };

typedef struct {
    Json json;
    Arena *arena;
    const char *unknown[64]; // kinds that are not in the table
    size_t unknown_count;
    uint64_t *fingerprints;
    size_t fingerprint_count, fingerprint_capacity;
} Log;

static const char *hazard_level(const Hazard *hazard) { return hazard->note ? "note" : "error"; }

static const char *said_level(const char *kind) {
    const bool note = strcmp(kind, "call-failed") == 0 || strcmp(kind, "work left behind") == 0;
    return note ? "note" : "error";
}

static void text(Log *log, const char *key, Str value) {
    json_text(&log->json, str_of(key), escape_valid(log->arena, value));
}

static void number(Log *log, const char *key, uint64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    json_plain(&log->json, str_of(key), str_of(digits));
}

static void open(Log *log, const char *key, char bracket) {
    json_open(&log->json, str_of(key), bracket);
}

static void close_all(Log *log, const char *brackets) {
    for (; *brackets; brackets++) json_close(&log->json, *brackets);
}

static void message(Log *log, const char *key, Str value) {
    open(log, key, '{');
    text(log, "text", value);
    json_close(&log->json, '}');
}

// --- rules ---

static Str rule_id(Arena *arena, const char *kind) {
    char *id = str_terminated(arena, str_of(kind));
    for (char *at = id; *at; at++)
        if (*at == ' ') *at = '-';
    return str_of(id);
}

static size_t rule_index(Log *log, const char *kind) {
    enum { MOST = sizeof log->unknown / sizeof *log->unknown };
    size_t k = 0;
    for (; k < RULES; k++)
        if (strcmp(rules[k].kind, kind) == 0) return k;
    for (; k < RULES + log->unknown_count; k++)
        if (strcmp(log->unknown[k - RULES], kind) == 0) return k;
    if (log->unknown_count < MOST) log->unknown[log->unknown_count++] = kind;
    return RULES + log->unknown_count - 1;
}

static void write_rule(Log *log, const char *kind, const char *help) {
    open(log, "", '{');
    if (help) message(log, "fullDescription", str_of(help));
    if (help) message(log, "help", str_of(help));
    text(log, "id", rule_id(log->arena, kind));
    message(log, "shortDescription", str_of(kind));
    json_close(&log->json, '}');
}

static void write_driver(Log *log) {
    open(log, "tool", '{');
    open(log, "driver", '{');
    text(log, "name", STR("simt"));
    open(log, "rules", '[');
    for (size_t k = 0; k < RULES; k++) write_rule(log, rules[k].kind, rules[k].help);
    for (size_t k = 0; k < log->unknown_count; k++) write_rule(log, log->unknown[k], NULL);
    json_close(&log->json, ']');
    text(log, "semanticVersion", STR(VERSION));
    close_all(log, "}}");
}

// --- places ---

// A path as a URI reference (RFC 3986): below the working folder relative to that.
static Str uri_of(Arena *arena, Str path) {
    Buf uri = {.arena = arena};
    if (path.len && path.at[0] == '/') buf_add(&uri, STR("file://"));
    for (size_t i = 0; i < path.len; i++) {
        const unsigned char c = (unsigned char)path.at[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || (c && strchr("/-._~", c));
        if (plain)
            buf_char(&uri, (char)c);
        else
            buf_format(&uri, "%%%02X", c);
    }
    return buf_str(&uri);
}

static void write_artifact(Log *log, Str path) {
    open(log, "artifactLocation", '{');
    text(log, "uri", uri_of(log->arena, path));
    if (path.len && path.at[0] != '/') text(log, "uriBaseId", STR("SRCROOT"));
    json_close(&log->json, '}');
}

static Str program_path(Arena *arena) {
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    return str_of(ptx_short_path(str_terminated(arena, str_of(program))));
}

// Where no line is known, the program: readers insist on a file.
static void write_physical(Log *log, Str file, uint32_t line) {
    open(log, "physicalLocation", '{');
    write_artifact(log, file.len ? file : program_path(log->arena));
    if (file.len && line) {
        open(log, "region", '{');
        number(log, "startLine", line);
        json_close(&log->json, '}');
    }
    json_close(&log->json, '}');
}

static void write_location(Log *log, Str file, uint32_t line, Str kernel) {
    open(log, "locations", '[');
    open(log, "", '{');
    if (kernel.len) {
        open(log, "logicalLocations", '[');
        open(log, "", '{');
        text(log, "fullyQualifiedName", kernel);
        text(log, "kind", STR("function"));
        close_all(log, "}]");
    }
    write_physical(log, file, line);
    close_all(log, "}]");
}

static void write_related(Log *log, const char *file, uint32_t line, const char *what, size_t id) {
    if (!file || !line) return;
    open(log, "", '{');
    number(log, "id", id);
    message(log, "message", str_of(what));
    write_physical(log, str_of(file), line);
    json_close(&log->json, '}');
}

// The line of a source without the white space around it; its number where it cannot be read.
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

// The same while neither the line nor the kernel's name changes; of equal ones, by their number.
static void write_fingerprint(Log *log, Str kind, Str kernel, Str line, Str other) {
    const Str parts[] = {kind, kernel, line, other};
    uint64_t hash = 0;
    size_t before = 1;
    char digits[40];
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        hash = hash * 0x9E3779B97F4A7C15u + str_hash(parts[k]);
    for (size_t k = 0; k < log->fingerprint_count; k++) before += log->fingerprints[k] == hash;
    ARENA_GROW(log->arena, log->fingerprints, log->fingerprint_count, log->fingerprint_capacity);
    log->fingerprints[log->fingerprint_count++] = hash;
    snprintf(digits, sizeof digits, "%016llx:%zu", (unsigned long long)hash, before);
    open(log, "partialFingerprints", '{');
    text(log, "simtFinding/v1", str_of(digits));
    json_close(&log->json, '}');
}

static void end_result(Log *log, const char *kind) {
    text(log, "ruleId", rule_id(log->arena, kind));
    number(log, "ruleIndex", rule_index(log, kind));
    json_close(&log->json, '}');
}

static void write_hazard(Log *log, const Hazard *hazard, const char *kernel) {
    const Str file = str_of(hazard->file ? hazard->file : "");
    const Str other = str_of(hazard->other_file ? hazard->other_file : "");
    open(log, "", '{');
    text(log, "level", str_of(hazard_level(hazard)));
    write_location(log, file, hazard->line, str_of(kernel));
    message(log, "message", hazards_sentence(log->arena, hazard, kernel));
    if (hazard->occurrences) number(log, "occurrenceCount", hazard->occurrences);
    write_fingerprint(
        log, str_of(hazard->kind), str_of(kernel), line_text(log->arena, file, hazard->line),
        hazard->other_line ? line_text(log->arena, other, hazard->other_line) : STR(""));
    open(log, "relatedLocations", '[');
    write_related(log, hazard->other_file, hazard->other_line, "the other access", 1);
    write_related(log, hazard->call_file, hazard->call_line, "called here", 2);
    json_close(&log->json, ']');
    end_result(log, hazard->kind);
}

// Takes `KERNEL: FILE:LINE: ` off a line that was said, as far as it has them.
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

// The same was told as a hazard.
static bool hazard_at(Str file, uint32_t line) {
    const char *kernel;
    for (size_t k = 0; file.len && k < hazards_count(); k++) {
        const Hazard *hazard = hazards_get(k, &kernel);
        if (hazard->file && hazard->line == line && str_equal(str_of(hazard->file), file))
            return true;
    }
    return false;
}

static void write_said(Log *log, Str said, const char *kind) {
    Str kernel, file, what = said;
    uint32_t line;
    take_place(&what, &kernel, &file, &line);
    if (strcmp(kind, "kernel-failed") == 0 && hazard_at(file, line)) return;
    if (str_starts(what, STR("note: "))) what = str_from(what, 6);
    open(log, "", '{');
    text(log, "level", str_of(said_level(kind)));
    write_location(log, file, line, kernel);
    message(log, "message", what);
    write_fingerprint(log, str_of(kind), kernel, line ? line_text(log->arena, file, line) : what,
                      STR(""));
    end_result(log, kind);
}

static void write_root(Log *log) {
    char folder[4096];
    Buf path = {.arena = log->arena};
    if (!getcwd(folder, sizeof folder)) return;
    buf_format(&path, "%s/", folder);
    open(log, "originalUriBaseIds", '{');
    open(log, "SRCROOT", '{');
    text(log, "uri", uri_of(log->arena, buf_str(&path)));
    close_all(log, "}}");
}

static void write_run(Log *log) {
    const char *kernel, *kind = NULL, *line;
    open(log, "", '{');
    text(log, "columnKind", STR("unicodeCodePoints"));
    write_root(log);
    open(log, "results", '[');
    for (size_t k = 0; k < hazards_count() + hazards_notes(); k++) {
        const Hazard *hazard = hazards_get(k, &kernel);
        write_hazard(log, hazard, kernel);
    }
    for (size_t k = 0; (line = console_said(k, &kind)) != NULL; k++)
        write_said(log, str_of(line), kind);
    json_close(&log->json, ']');
    write_driver(log);
    json_close(&log->json, '}');
}

bool sarif_write(Arena *arena, const char *path) {
    Buf buf = {.arena = arena};
    Log log = {.json = {.out = &buf}, .arena = arena};
    open(&log, "", '{');
    text(&log, "$schema", STR("https://json.schemastore.org/sarif-2.1.0.json"));
    open(&log, "runs", '[');
    write_run(&log);
    json_close(&log.json, ']');
    text(&log, "version", STR("2.1.0"));
    json_close(&log.json, '}');
    buf_char(&buf, '\n');
    return file_write_if_changed(arena, path, buf_str(&buf)) != FILE_FAILED;
}

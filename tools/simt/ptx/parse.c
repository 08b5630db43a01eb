// The parser's helpers, and the module level: directives, functions' heads, files. PTX ISA,
// "Directives".
#include "simt/ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simt/base/align.h"

#define SCOPE_DEPTH 200

void parse_fail(Parser *parser, const char *format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char place[256];
    ptx_write_place(parser->module, parser->place, parser->token.line, place, sizeof place);
    snprintf(parser->error->text, sizeof parser->error->text, "%s: %s", place, text);
    if (parser->status == SIMT_OK) parser->status = SIMT_INVALID_PTX;
    longjmp(parser->leave, 1);
}

void parse_next(Parser *parser) {
    parser->token = ptx_token(&parser->lexer);
    if (parser->token.kind == TOKEN_BAD) {
        Str text = str_slice(parser->token.text, 0, 40);
        parse_fail(parser, "cannot read `%.*s`", STR_ARG(text));
    }
}

bool parse_at(const Parser *parser, const char *text) {
    return (parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_SIGN) &&
           str_equal(parser->token.text, str_of(text));
}

bool parse_take(Parser *parser, const char *text) {
    if (!parse_at(parser, text)) return false;
    parse_next(parser);
    return true;
}

static _Noreturn void expected(Parser *parser, const char *what) {
    Str text = str_slice(parser->token.text, 0, 60);
    if (parser->token.kind == TOKEN_END) parse_fail(parser, "expected %s, found the end", what);
    parse_fail(parser, "expected %s, found `%.*s`", what, STR_ARG(text));
}

void parse_expect(Parser *parser, const char *text) {
    char what[32];
    snprintf(what, sizeof what, "`%s`", text);
    if (!parse_take(parser, text)) expected(parser, what);
}

Str parse_word(Parser *parser, const char *what) {
    if (parser->token.kind != TOKEN_WORD) expected(parser, what);
    Str text = parser->token.text;
    parse_next(parser);
    return text;
}

uint64_t parse_int(Parser *parser, const char *what) {
    bool negative = false;
    while (parse_at(parser, "-") || parse_at(parser, "+")) {
        negative ^= parse_at(parser, "-");
        parse_next(parser);
    }
    if (parser->token.kind != TOKEN_INT) expected(parser, what);
    uint64_t value = parser->token.value;
    parse_next(parser);
    return negative ? 0 - value : value;
}

void parse_skip_past(Parser *parser, const char *text) {
    uint32_t braces = 0;
    while (parser->token.kind != TOKEN_END) {
        if (parse_at(parser, "{")) braces++;
        if (parse_at(parser, "}") && braces) braces--;
        bool found = parse_at(parser, text) && !braces;
        parse_next(parser);
        if (found) return;
    }
    expected(parser, text);
}

// --- names ---

static size_t name_slot(const Parser *parser, Str name, NameKind kind, uint32_t scope) {
    size_t mask = parser->name_slots - 1;
    uint64_t hash = str_hash(name) ^ ((uint64_t)scope * 0x9E3779B97F4A7C15u) ^ (uint64_t)kind;
    size_t at = (size_t)(hash ^ (hash >> 32)) & mask;
    for (;; at = (at + 1) & mask) {
        const PtxName *entry = &parser->names[at];
        if (!entry->name.at ||
            (entry->scope == scope && entry->kind == kind && str_equal(entry->name, name)))
            return at;
    }
}

// Searches this scope only.
static PtxName *name_find(Parser *parser, Str name, NameKind kind, uint32_t scope) {
    PtxName *entry = &parser->names[name_slot(parser, name, kind, scope)];
    return entry->name.at ? entry : NULL;
}

PtxName *name_add(Parser *parser, Str name, NameKind kind, uint32_t scope) {
    if (2 * (parser->name_count + 1) > parser->name_slots) {
        PtxName *old = parser->names;
        size_t old_slots = parser->name_slots;
        parser->name_slots = old_slots * 2;
        parser->names = ARENA_NEW(parser->arena, parser->name_slots, PtxName);
        for (size_t k = 0; k < old_slots; k++) {
            if (!old[k].name.at) continue;
            parser->names[name_slot(parser, old[k].name, old[k].kind, old[k].scope)] = old[k];
        }
    }
    PtxName *entry = &parser->names[name_slot(parser, name, kind, scope)];
    if (entry->name.at) parse_fail(parser, "`%.*s` is declared twice", STR_ARG(name));
    *entry = (PtxName){.name = name, .scope = scope, .kind = kind};
    parser->name_count++;
    return entry;
}

PtxName *name_visible(Parser *parser, Str name, NameKind kind) {
    for (uint32_t scope = parser->scope;; scope = parser->scope_parent[scope]) {
        PtxName *entry = name_find(parser, name, kind, scope);
        if (entry || scope == 0) return entry;
    }
}

void scope_open(Parser *parser) {
    if (++parser->depth > SCOPE_DEPTH) parse_fail(parser, "braces nested too deeply");
    ARENA_GROW(parser->arena, parser->scope_parent, parser->scope_count, parser->scope_capacity);
    parser->scope_parent[parser->scope_count] = parser->scope;
    parser->scope = (uint32_t)parser->scope_count++;
}

void scope_close(Parser *parser, uint32_t parent) {
    parser->depth--;
    parser->scope = parent;
}

const PtxFunction *ptx_function(const PtxModule *module, Str name) {
    const PtxFunction *declared = NULL;
    for (uint32_t k = 0; k < module->function_count; k++) {
        const PtxFunction *function = &module->functions[k];
        if (!str_equal(function->name, name)) continue;
        if (function->defined) return function;
        declared = function;
    }
    return declared;
}

const PtxVariable *ptx_variable(const PtxModule *module, Str name) {
    const PtxVariable *declared = NULL;
    for (uint32_t k = 0; k < module->variable_count; k++) {
        const PtxVariable *variable = module->variables[k];
        if (!str_equal(variable->name, name)) continue;
        if (!variable->external) return variable;
        declared = variable;
    }
    return declared;
}

// --- files ---

static bool contains(Str text, const char *part) {
    return str_find(text, str_of(part)) != SIZE_MAX;
}

bool ptx_toolkit_file(const char *path) {
    Str s = str_of(path);
    if (str_starts(s, STR("/usr/include/"))) return true; // where Debian puts the toolkit's
    if (contains(s, "/include/")) {
        return contains(s, "cuda") || contains(s, "nvidia") || contains(s, "cccl") ||
               contains(s, "x86_64-linux") || contains(s, "/gcc/") || contains(s, "/c++/");
    }
    return false;
}

bool ptx_collective_file(const char *path) {
    return contains(str_of(path), "/cub/") && ptx_toolkit_file(path);
}

char *ptx_short_path(char *path) {
    char here[4096];
    if (!getcwd(here, sizeof here - 1)) return path;
    strcat(here, "/");
    Str prefix = str_of(here);
    return str_starts(str_of(path), prefix) ? path + prefix.len : path;
}

void parse_file_directive(Parser *parser) {
    uint64_t number = parse_int(parser, "a file number");
    if (number > 100000) parse_fail(parser, "file number too large");
    if (parser->token.kind != TOKEN_STRING) expected(parser, "a file name");
    PtxModule *module = parser->module;
    while (module->file_count <= number) {
        const uint32_t count = module->file_count++;
        ARENA_GROW(parser->arena, module->files, count, parser->file_capacity);
        ARENA_GROW(parser->arena, module->file_short, count, parser->short_capacity);
        module->files[count] = module->file_short[count] = NULL;
    }
    module->files[number] = str_terminated(parser->arena, parser->token.text);
    module->file_short[number] = ptx_short_path(module->files[number]);
    parse_next(parser);
    while (parse_take(parser, ",")) parse_int(parser, "a number");
}

// Reads all `.file` directives first, because nvcc writes them after the `.loc` lines that need
// them.
static void read_files_ahead(Parser *parser) {
    Lexer start = parser->lexer;
    Str rest = parser->lexer.text, line;
    while (str_line(&rest, &line)) {
        line = str_trim(line);
        if (!str_starts(line, STR(".file"))) continue;
        Lexer ahead = {line, sizeof ".file" - 1, 1};
        if (ptx_token(&ahead).kind != TOKEN_INT || ptx_token(&ahead).kind != TOKEN_STRING) continue;
        parser->lexer = (Lexer){line, sizeof ".file" - 1, 1};
        parse_next(parser);
        parse_file_directive(parser);
    }
    parser->lexer = start;
}

void ptx_write_place(const PtxModule *module, PtxPlace place, uint32_t ptx_line, char *to,
                     size_t room) {
    const char *file =
        place.line && place.file < module->file_count ? module->file_short[place.file] : NULL;
    snprintf(to, room, "%.200s:%u", file ? file : module->origin, file ? place.line : ptx_line);
}

// --- functions ---

static void parse_params(Parser *parser, PtxVariable **params, uint32_t *count) {
    size_t capacity = 0;
    if (!parse_take(parser, "(")) return;
    while (!parse_at(parser, ")")) {
        if (!parse_take(parser, ".param")) {
            parser->status = SIMT_UNSUPPORTED;
            expected(parser, "`.param`");
        }
        ARENA_GROW(parser->arena, *params, *count, capacity);
        PtxVariable *variable = &(*params)[(*count)++];
        *variable = (PtxVariable){0};
        parse_variable(parser, variable, PTX_PARAM);
        if (variable->bytes > 1 << 20) parse_fail(parser, "parameter too large");
        if (!parse_take(parser, ",")) break;
    }
    parse_expect(parser, ")");
}

// Sets the offsets of parameters in their block. Returns the block's size.
static uint32_t place_params(Parser *parser, PtxVariable *params, uint32_t count) {
    uint64_t at = 0;
    for (uint32_t k = 0; k < count; k++) {
        at = align_up(at, params[k].align);
        params[k].offset = at;
        at += params[k].bytes;
        if (at > 1 << 22) parse_fail(parser, "parameters too large");
    }
    return (uint32_t)at;
}

static void name_params(Parser *parser, PtxVariable *params, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        name_add(parser, params[k].name, NAME_VARIABLE, parser->scope)->variable = &params[k];
}

static uint32_t launch_bound(Parser *parser, Dim3 *dims) {
    uint64_t product = 1, values[3] = {1, 1, 1};
    for (int k = 0; k < 3; k++) {
        values[k] = parse_int(parser, "a number of threads");
        if (values[k] == 0 || values[k] > 65536) parse_fail(parser, "bad number of threads");
        product *= values[k];
        if (!parse_take(parser, ",")) break;
    }
    if (dims) *dims = (Dim3){(uint32_t)values[0], (uint32_t)values[1], (uint32_t)values[2]};
    return product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
}

// Parses the directives between a function's parameters and its body: launch bounds, and hints to
// the assembler, which are ignored.
static void parse_bounds(Parser *parser, PtxFunction *function) {
    while (!parse_at(parser, "{") && !parse_at(parser, ";")) {
        if (parse_take(parser, ".maxntid")) {
            function->max_threads = launch_bound(parser, NULL);
        } else if (parse_take(parser, ".reqntid")) {
            function->max_threads = launch_bound(parser, &function->required);
        } else if (parse_take(parser, ".reqnctapercluster")) {
            launch_bound(parser, &function->cluster);
        } else if (parse_take(parser, ".maxclusterrank")) {
            function->max_cluster = launch_bound(parser, NULL);
        } else if (parse_take(parser, ".explicitcluster")) {
            function->explicit_cluster = true;
        } else if (parser->token.kind == TOKEN_WORD && parser->token.text.at[0] == '.') {
            parse_next(parser);
            while (parser->token.kind == TOKEN_INT || parser->token.kind == TOKEN_STRING) {
                parse_next(parser);
                if (!parse_take(parser, ",")) break;
            }
        } else {
            expected(parser, "`{` or `;`");
        }
    }
}

// The function of this name, which is new or only declared so far. NULL if it is already defined.
static PtxFunction *function_named(Parser *parser, Str name) {
    PtxModule *module = parser->module;
    PtxName *known = name_find(parser, name, NAME_FUNCTION, 0);
    if (!known) {
        ARENA_GROW(parser->arena, module->functions, module->function_count,
                   parser->function_capacity);
        known = name_add(parser, name, NAME_FUNCTION, 0);
        known->index = module->function_count++;
    } else if (module->functions[known->index].defined) {
        if (parse_at(parser, "{"))
            parse_fail(parser, "function `%.*s` is defined twice", STR_ARG(name));
        return NULL;
    }
    return &module->functions[known->index];
}

// The start of the next token's line.
static const char *line_start(const Parser *parser) {
    const char *at = parser->token.text.at;
    while (at && at > parser->lexer.text.at && at[-1] != '\n') at--;
    return at;
}

static void parse_function(Parser *parser, bool entry) {
    PtxFunction parsed = {
        .entry = entry, .ptx_line = parser->token.line, .text = {line_start(parser), 0}};
    uint32_t outer = parser->scope;
    scope_open(parser);
    if (!entry) parse_params(parser, &parsed.results, &parsed.result_count);
    parsed.name = parse_word(parser, "a function's name");
    parse_params(parser, &parsed.params, &parsed.param_count);
    parse_bounds(parser, &parsed);
    PtxFunction *function = function_named(parser, parsed.name);
    if (function) {
        parsed.param_bytes = place_params(parser, parsed.params, parsed.param_count);
        place_params(parser, parsed.results, parsed.result_count);
        *function = parsed;
    }
    if (!parse_take(parser, ";")) {
        name_params(parser, function->params, function->param_count);
        name_params(parser, function->results, function->result_count);
        function->defined = true;
        parse_body(parser, function);
        parser->place = (PtxPlace){0, 0};
    }
    scope_close(parser, outer);
}

static void parse_module_variable(Parser *parser, PtxSpace space, bool external) {
    do {
        PtxVariable *variable = ARENA_NEW(parser->arena, 1, PtxVariable);
        parse_variable(parser, variable, space);
        variable->external = external;
        PtxName *known = name_find(parser, variable->name, NAME_VARIABLE, 0);
        if (known && known->variable->external) {
            if (!external) *known->variable = *variable;
            continue;
        }
        ARENA_GROW(parser->arena, parser->module->variables, parser->module->variable_count,
                   parser->variable_capacity);
        name_add(parser, variable->name, NAME_VARIABLE, 0)->variable = variable;
        parser->module->variables[parser->module->variable_count++] = variable;
    } while (parse_take(parser, ","));
    parse_expect(parser, ";");
}

static uint32_t version_number(Parser *parser) {
    Str text = parser->token.text;
    size_t dot = str_find(text, STR("."));
    if (parser->token.kind != TOKEN_DOUBLE || dot == SIZE_MAX || dot > 3 || text.len != dot + 2)
        expected(parser, "a version");
    uint32_t number = 0;
    for (size_t k = 0; k < text.len; k++)
        if (k != dot) number = number * 10 + (uint32_t)(text.at[k] - '0');
    parse_next(parser);
    return number;
}

static void parse_target(Parser *parser) {
    do {
        Str name = parse_word(parser, "a target");
        if (!str_starts(name, STR("sm_"))) continue;
        uint32_t number = 0;
        for (size_t k = 3; k < name.len && k < 7; k++) {
            if (name.at[k] < '0' || name.at[k] > '9') break;
            number = number * 10 + (uint32_t)(name.at[k] - '0');
        }
        parser->module->target = number;
    } while (parse_take(parser, ","));
}

// The space of a declaration of variables; PTX_REG_SPACE if this is not one.
static PtxSpace take_space(Parser *parser) {
    if (parse_take(parser, ".global")) return PTX_GLOBAL;
    if (parse_take(parser, ".const")) return PTX_CONST;
    if (parse_take(parser, ".shared")) return PTX_SHARED;
    return PTX_REG_SPACE;
}

// Parses a directive about the module as a whole or one that is ignored. False if it is neither.
static bool parse_module_directive(Parser *parser) {
    if (parse_take(parser, ".version")) {
        parser->module->version = version_number(parser);
    } else if (parse_take(parser, ".target")) {
        parse_target(parser);
    } else if (parse_take(parser, ".address_size")) {
        if (parse_int(parser, "64") != 64) {
            parser->status = SIMT_UNSUPPORTED;
            parse_fail(parser, "only 64-bit addresses are supported");
        }
    } else if (parse_take(parser, ".file")) {
        parse_file_directive(parser);
    } else if (parse_take(parser, ".section")) {
        parse_word(parser, "a section's name");
        parse_expect(parser, "{");
        parse_skip_past(parser, "}");
    } else if (parse_take(parser, ".pragma") || parse_take(parser, ".alias")) {
        parse_skip_past(parser, ";");
    } else {
        return parse_take(parser, ".visible") || parse_take(parser, ".weak") ||
               parse_take(parser, ".common");
    }
    return true;
}

static void parse_module(Parser *parser) {
    bool external = false;
    while (parser->token.kind != TOKEN_END) {
        if (parse_module_directive(parser)) continue;
        if (parse_take(parser, ".extern")) {
            external = true;
            continue;
        }
        bool entry = parse_take(parser, ".entry");
        PtxSpace space = PTX_REG_SPACE;
        if (entry || parse_take(parser, ".func"))
            parse_function(parser, entry);
        else if ((space = take_space(parser)) != PTX_REG_SPACE)
            parse_module_variable(parser, space, external);
        else
            expected(parser, "a directive");
        external = false;
    }
    if (!parser->module->version) parse_fail(parser, "no `.version`: this is not PTX");
}

PtxModule *ptx_parse(Arena *arena, Str text, const char *origin, SimtStatus *status,
                     SimtError *error) {
    PtxModule *module = ARENA_NEW(arena, 1, PtxModule);
    char *copy = str_terminated(arena, text);
    module->origin = str_terminated(arena, str_of(origin));
    Parser *parser = ARENA_NEW(arena, 1, Parser);
    *parser = (Parser){.module = module,
                       .arena = arena,
                       .lexer = {{copy, text.len}, 0, 1},
                       .error = error,
                       .name_slots = 256,
                       .scope_count = 1,
                       .scope_capacity = 16};
    parser->names = ARENA_NEW(parser->arena, parser->name_slots, PtxName);
    parser->scope_parent = ARENA_NEW(parser->arena, 16, uint32_t);
    parser->seen = ARENA_NEW(parser->arena, PTX_SEEN, PtxSeen);
    parser->split = ARENA_NEW(parser->arena, PTX_SPLIT, PtxInst);
    if (setjmp(parser->leave)) {
        *status = parser->status;
        return NULL;
    }
    read_files_ahead(parser);
    parse_next(parser);
    parse_module(parser);
    *status = SIMT_OK;
    return module;
}

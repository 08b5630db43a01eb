// Expands macros, follows conditions, and reads included files. Macros are expanded as the C
// standard says, from a stack of inputs: the file, the body of a macro, the body of one inside it.
#include "simt/cudac/parse/preprocess.h"

#include "base/map.h"
#include "base/path.h"
#include "simt/cudac/parse/parser.h"
#include "simt/cudac/parse/prelude.h"

enum { DEEPEST = 64, MOST_TOKENS = 1000000 };

typedef struct {
    Str name;
    bool defined, is_function, is_variadic, active;
    Str *parameters;
    size_t parameter_count;
    const Token *body, *end;
} Macro;

typedef struct {
    const Token *at, *end;
    Macro *macro; // whose body this is, or NULL
} Input;

typedef struct {
    Arena *arena;
    PreprocessRead *read;
    Refusal *refusal;
    Map names; // of macros: index in macros, plus 1
    Macro **macros;
    size_t macro_count, macro_capacity;
    Map once;  // files with #pragma once
    int files; // that include each other now
    Input inputs[DEEPEST];
    size_t depth, bottom; // bottom: inputs below it belong to an expansion that waits for this one
    TokenList *out;
    size_t line_shift; // of #line: what is added to lines
    Str line_file;     // of #line, or empty
} Preprocessor;

static bool refuse(Preprocessor *p, Place place, Str message) {
    if (!p->refusal->message.len) *p->refusal = (Refusal){.place = place, .message = message};
    return false;
}

static bool failed(const Preprocessor *p) { return p->refusal->message.len > 0; }

static Macro *macro_of(Preprocessor *p, Str name) {
    const size_t *found = map_find(&p->names, name);
    return found && p->macros[*found - 1]->defined ? p->macros[*found - 1] : NULL;
}

static Macro *macro_add(Preprocessor *p, Str name) {
    bool is_new;
    size_t *number = map_at(&p->names, name, &is_new);
    if (is_new) {
        ARENA_GROW(p->arena, p->macros, p->macro_count, p->macro_capacity);
        p->macros[p->macro_count++] = ARENA_NEW(p->arena, 1, Macro);
        *number = p->macro_count;
    }
    Macro *macro = p->macros[*number - 1];
    *macro = (Macro){.name = name, .defined = true, .active = macro->active};
    return macro;
}

// --- inputs ---

static void push(Preprocessor *p, const Token *from, const Token *end, Macro *macro, Place place) {
    if (p->depth == DEEPEST) {
        refuse(p, place, STR("macros are nested too deeply"));
        return;
    }
    if (macro) macro->active = true;
    p->inputs[p->depth++] = (Input){from, end, macro};
}

// The next token, or NULL at the end of this expansion.
static const Token *next(Preprocessor *p) {
    while (p->depth > p->bottom) {
        Input *top = &p->inputs[p->depth - 1];
        if (top->at < top->end && !failed(p)) return top->at;
        if (top->macro) top->macro->active = false;
        p->depth--;
    }
    return NULL;
}

static void take(Preprocessor *p) { p->inputs[p->depth - 1].at++; }

// --- expansion ---

static void expand(Preprocessor *p, const Token *from, const Token *end, TokenList *out);

// arguments = "(" (argument ("," argument)*)? ")"; each is a list of tokens as they are written.
static TokenList *take_arguments(Preprocessor *p, const Macro *macro, Place place) {
    size_t most = macro->parameter_count ? macro->parameter_count : 1, count = 0, nesting = 0;
    TokenList *arguments = ARENA_NEW(p->arena, most, TokenList);
    take(p);
    for (const Token *token; (token = next(p)); take(p)) {
        bool last = macro->is_variadic && count + 1 == most;
        if (token->kind == TOKEN_RIGHT_PAREN && nesting-- == 0) {
            take(p);
            if (count + 1 >= most - (macro->is_variadic ? 1 : 0)) return arguments;
            refuse(p, place, STR("this macro needs more arguments"));
            return NULL;
        }
        if (token->kind == TOKEN_LEFT_PAREN) nesting++;
        if (token->kind == TOKEN_COMMA && nesting == 0 && !last) {
            if (++count < most) continue;
            refuse(p, place, STR("this macro takes fewer arguments"));
            return NULL;
        }
        token_add(p->arena, &arguments[count], *token);
    }
    refuse(p, place, STR("the arguments of this macro are not closed: add )"));
    return NULL;
}

static size_t parameter_of(const Macro *macro, const Token *token) {
    for (size_t i = 0; i < macro->parameter_count; i++)
        if (str_equal(macro->parameters[i], token->text)) return i;
    return SIZE_MAX;
}

static Token as_string(Preprocessor *p, const TokenList *argument, Token token) {
    Buf text = {.arena = p->arena};
    for (size_t i = 0; i < argument->count; i++) {
        if (i && argument->at[i].after_space) buf_char(&text, ' ');
        buf_add(&text, argument->at[i].text);
    }
    token.kind = TOKEN_STRING, token.value = token.text = buf_str(&text);
    return token;
}

// a ## b: joins the last token of the list with the next one.
static void paste(Preprocessor *p, TokenList *list, const Token *next_token) {
    if (!list->count || failed(p)) {
        token_add(p->arena, list, *next_token);
        return;
    }
    Token *last = &list->at[list->count - 1];
    Buf text = {.arena = p->arena};
    buf_add(&text, last->text);
    buf_add(&text, next_token->text);
    TokenList joined = {0};
    Place place = last->place;
    if (!token_split(p->arena, place.file, buf_str(&text), &joined, p->refusal) ||
        joined.count != 2)
        refuse(p, place, STR("## does not make one word here"));
    if (failed(p)) return;
    *last = joined.at[0];
    last->place = place;
}

// Copies a macro's body with its arguments in place of its parameters.
static TokenList substitute(Preprocessor *p, const Macro *macro, TokenList *arguments,
                            Place place) {
    TokenList list = {0};
    bool pasting = false;
    for (const Token *token = macro->body; token < macro->end && !failed(p); token++) {
        Token copy = *token;
        copy.place = place, copy.starts_line = false;
        size_t number = macro->is_function ? parameter_of(macro, token) : SIZE_MAX;
        bool pastes = token + 1 < macro->end && token[1].kind == TOKEN_PASTE;
        if (token->kind == TOKEN_PASTE) {
            pasting = true;
            continue;
        }
        if (token->kind == TOKEN_HASH && macro->is_function && token + 1 < macro->end &&
            parameter_of(macro, token + 1) != SIZE_MAX) {
            size_t named = parameter_of(macro, ++token);
            token_add(p->arena, &list, as_string(p, &arguments[named], copy));
        } else if (number == SIZE_MAX) {
            if (pasting)
                paste(p, &list, &copy);
            else
                token_add(p->arena, &list, copy);
        } else {
            TokenList *argument = &arguments[number], expanded = {0};
            const Token *end = argument->at + argument->count;
            if (pasting || pastes)
                expanded = *argument;
            else if (argument->count)
                expand(p, argument->at, end, &expanded);
            for (size_t i = 0; i < expanded.count; i++)
                if (pasting && i == 0)
                    paste(p, &list, &expanded.at[0]);
                else
                    token_add(p->arena, &list, expanded.at[i]);
        }
        pasting = false;
    }
    return list;
}

// Expands the macro whose name was just taken. False: it is not used as a macro here.
static bool replace(Preprocessor *p, Macro *macro, Place place) {
    TokenList *arguments = NULL;
    if (macro->is_function) {
        const Token *open = next(p);
        if (!open || open->kind != TOKEN_LEFT_PAREN) return false;
        arguments = take_arguments(p, macro, place);
        if (!arguments) return true;
    }
    TokenList body = substitute(p, macro, arguments, place);
    push(p, body.at, body.at + body.count, macro, place);
    return true;
}

static void expand(Preprocessor *p, const Token *from, const Token *end, TokenList *out) {
    size_t below = p->bottom;
    p->bottom = p->depth;
    push(p, from, end, NULL, from->place);
    for (const Token *at; (at = next(p));) {
        Token token = *at;
        take(p);
        Macro *macro =
            token.kind >= TOKEN_AUTO || token.kind == TOKEN_NAME ? macro_of(p, token.text) : NULL;
        if (macro && !macro->active && replace(p, macro, token.place)) continue;
        if (str_equal(token.text, STR("__LINE__")))
            token.kind = TOKEN_INTEGER, token.integer = token.place.line, token.letter = 'i';
        token_add(p->arena, out, token);
        if (out->count > MOST_TOKENS) refuse(p, token.place, STR("macros expand to too much"));
    }
    p->bottom = below;
}

// --- directives ---

// define = NAME ("(" parameters ")")? token*
static bool define(Preprocessor *p, const Token *at, const Token *end) {
    if (at == end || !(at->kind == TOKEN_NAME || at->kind >= TOKEN_AUTO))
        return refuse(p, at->place, STR("write #define NAME and what it stands for"));
    Macro *macro = macro_add(p, at->text);
    at++;
    if (at < end && at->kind == TOKEN_LEFT_PAREN && !at->after_space) {
        macro->is_function = true;
        macro->parameters = ARENA_NEW(p->arena, (size_t)(end - at), Str);
        for (at++; at < end && at->kind != TOKEN_RIGHT_PAREN; at++) {
            if (at->kind == TOKEN_COMMA) continue;
            macro->is_variadic = at->kind == TOKEN_ELLIPSIS;
            macro->parameters[macro->parameter_count++] =
                macro->is_variadic ? STR("__VA_ARGS__") : at->text;
        }
        if (at == end) return refuse(p, at[-1].place, STR("close the macro's parameters with )"));
        at++;
    }
    macro->body = at, macro->end = end;
    return true;
}

// The value of the expression after #if or #elif.
static bool condition(Preprocessor *p, const Token *at, const Token *end, bool *holds) {
    TokenList plain = {0}, expanded = {0};
    Place place = at[-1].place;
    for (; at < end; at++) {
        Token token = *at;
        if (str_equal(at->text, STR("defined"))) {
            bool parens = at + 1 < end && at[1].kind == TOKEN_LEFT_PAREN;
            at += parens ? 2 : 1;
            if (at >= end) return refuse(p, place, STR("write defined(NAME)"));
            token.kind = TOKEN_INTEGER, token.text = STR("1");
            token.integer = macro_of(p, at->text) != NULL, token.letter = 'i';
            at += parens;
        }
        token_add(p->arena, &plain, token);
    }
    if (plain.count) expand(p, plain.at, plain.at + plain.count, &expanded);
    token_add(p->arena, &expanded, (Token){.kind = TOKEN_END, .place = place});
    for (size_t i = 0; i < expanded.count; i++) {
        Token *token = &expanded.at[i];
        bool name = token->kind == TOKEN_NAME || token->kind >= TOKEN_AUTO;
        if (name && token->kind != TOKEN_TRUE) // a name that is no macro counts as 0
            token->kind = TOKEN_INTEGER, token->integer = 0, token->letter = 'i';
    }
    int64_t value = 0;
    if (!failed(p)) value = expression_condition(p->arena, &expanded, p->refusal);
    *holds = value != 0;
    return !failed(p);
}

// #pragma unroll N: the number is put into parentheses, if it has none.
static void pragma(Preprocessor *p, const Token *at, const Token *end, Str path) {
    bool is_new;
    if (at == end) return;
    if (str_equal(at->text, STR("once"))) *map_at(&p->once, path, &is_new) = 1;
    if (!str_equal(at->text, STR("unroll"))) return;
    Token token = *at;
    token.kind = TOKEN_UNROLL;
    token_add(p->arena, p->out, token);
    if (++at == end) return;
    token.kind = TOKEN_LEFT_PAREN;
    token_add(p->arena, p->out, token);
    expand(p, at, end, p->out);
    token.kind = TOKEN_RIGHT_PAREN;
    token_add(p->arena, p->out, token);
}

static bool process_file(Preprocessor *p, Str path, Str text);

// Headers of CUDA, and all in angle brackets, declare what the compiler knows by itself.
static bool include(Preprocessor *p, const Token *at, const Token *end, Str path) {
    static const Str known[] = {{"cuda", 4},    {"device_", 7}, {"cooperative_groups", 18},
                                {"vector_", 7}, {"math", 4},    {"helper_", 7},
                                {"std", 3}};
    if (at < end && at->kind == TOKEN_LESS) return true;
    if (at == end || at->kind != TOKEN_STRING)
        return refuse(p, at[-1].place, STR("write #include \"FILE\" or #include <FILE>"));
    Str file = path_resolve(p->arena, path_folder(path), at->value), text;
    if (map_find(&p->once, file)) return true;
    if (p->read && p->read(p->arena, file, &text)) {
        if (p->files == 16) return refuse(p, at->place, STR("files include each other too deeply"));
        return process_file(p, file, text);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(at->value, known[i])) return true;
    return refuse(p, at->place, STR("there is no such file to include"));
}

// #line NUMBER "FILE": the next line has this number.
static bool set_line(Preprocessor *p, const Token *at, const Token *end, uint32_t line) {
    if (at == end || at->kind != TOKEN_INTEGER)
        return refuse(p, at[-1].place, STR("write #line NUMBER \"FILE\""));
    p->line_shift = (size_t)at->integer - line - 1;
    if (at + 1 < end && at[1].kind == TOKEN_STRING) p->line_file = at[1].value;
    return true;
}

typedef struct {
    bool taken; // a branch of this #if was
    bool active;
    bool had_else;
    Place place;
} Condition;

typedef struct {
    Condition stack[DEEPEST];
    size_t count;
} Conditions;

static bool is_active(const Conditions *c) { return !c->count || c->stack[c->count - 1].active; }

// #if, #ifdef, #ifndef, #elif, #else, #endif. Sets *known to whether it is one of them.
static bool conditional(Preprocessor *p, Conditions *c, const Token *name, const Token *end,
                        bool *known) {
    static const Str names[] = {{"if", 2},   {"ifdef", 5}, {"ifndef", 6},
                                {"elif", 4}, {"else", 4},  {"endif", 5}};
    enum { IF, IFDEF, IFNDEF, ELIF, ELSE, ENDIF, NONE } which = IF;
    while (which < NONE && !str_equal(name->text, names[which])) which++;
    *known = which < NONE;
    if (!*known) return true;
    bool holds = false, outer = is_active(c);
    if (which <= IFNDEF) {
        if (c->count == DEEPEST)
            return refuse(p, name->place, STR("conditions are nested too deeply"));
        if (outer && which == IF && !condition(p, name + 1, end, &holds)) return false;
        if (which != IF)
            holds = name + 1 < end && (macro_of(p, name[1].text) != NULL) == (which == IFDEF);
        c->stack[c->count++] = (Condition){!outer || holds, outer && holds, false, name->place};
        return true;
    }
    if (!c->count) return refuse(p, name->place, STR("there is no #if above this line"));
    Condition *top = &c->stack[c->count - 1];
    if (which == ENDIF) {
        c->count--;
        return true;
    }
    if (top->had_else)
        return refuse(p, name->place, STR("#else comes before: remove one of the two"));
    top->had_else = which == ELSE;
    if (which == ELIF && !top->taken && !condition(p, name + 1, end, &holds)) return false;
    top->active = !top->taken && (which == ELSE || holds);
    top->taken |= top->active;
    return true;
}

static bool directive(Preprocessor *p, Conditions *c, const Token *hash, const Token *end,
                      Str path) {
    const Token *name = hash + 1, *at = hash + 2;
    bool known;
    if (name >= end) return true; // a # alone
    if (!conditional(p, c, name, end, &known)) return false;
    if (known || !is_active(c)) return true;
    if (str_equal(name->text, STR("define"))) return define(p, at, end);
    if (str_equal(name->text, STR("include"))) return include(p, at, end, path);
    if (str_equal(name->text, STR("line")))
        return set_line(p, at, end, hash->place.line - (uint32_t)p->line_shift);
    if (str_equal(name->text, STR("pragma"))) return pragma(p, at, end, path), !failed(p);
    if (str_equal(name->text, STR("warning"))) return true;
    if (str_equal(name->text, STR("error")))
        return refuse(p, hash->place, STR("this #error is reached"));
    if (!str_equal(name->text, STR("undef")))
        return refuse(p, name->place, STR("no such directive: write #define, #if or #include"));
    if (at < end && macro_of(p, at->text)) macro_of(p, at->text)->defined = false;
    return true;
}

static void apply_line(const Preprocessor *p, Token *from, const Token *end) {
    for (; from < end; from++) {
        from->place.line += (uint32_t)p->line_shift;
        if (p->line_file.len) from->place.file = p->line_file;
    }
}

static bool process_lines(Preprocessor *p, Token *at, Str path) {
    Conditions conditions = {.count = 0};
    while (at->kind != TOKEN_END) {
        bool is_directive = at->kind == TOKEN_HASH;
        Token *end = at;
        do end++;
        while (end->kind != TOKEN_END &&
               !(end->starts_line && (is_directive || end->kind == TOKEN_HASH)));
        apply_line(p, at, end);
        if (is_directive && !directive(p, &conditions, at, end, path)) return false;
        if (!is_directive && is_active(&conditions)) expand(p, at, end, p->out);
        if (failed(p)) return false;
        at = end;
    }
    if (conditions.count)
        return refuse(p, conditions.stack[conditions.count - 1].place,
                      STR("this condition is never closed: add #endif"));
    return true;
}

// Applies the last #line above a place that is refused before directives are followed.
static void refuse_at_line(Preprocessor *p, const TokenList *tokens) {
    Refusal *refusal = p->refusal;
    for (size_t i = 0; i + 2 < tokens->count; i++) {
        const Token *at = &tokens->at[i];
        const bool named = i + 3 < tokens->count && !at[3].starts_line;
        if (at->kind == TOKEN_HASH && at->starts_line && str_equal(at[1].text, STR("line")))
            set_line(p, at + 2, at + 3 + named, at->place.line);
    }
    refusal->place.line += (uint32_t)p->line_shift;
    if (p->line_file.len) refusal->place.file = p->line_file;
}

static bool process_file(Preprocessor *p, Str path, Str text) {
    TokenList tokens = {0};
    size_t shift = p->line_shift;
    Str file = p->line_file;
    p->line_shift = 0, p->line_file = (Str){0}, p->files++;
    bool ok = token_split(p->arena, path, text, &tokens, p->refusal);
    if (!ok) refuse_at_line(p, &tokens);
    ok = ok && process_lines(p, tokens.at, path);
    p->line_shift = shift, p->line_file = file, p->files--;
    if (ok && p->files == 0) {
        apply_line(p, &tokens.at[tokens.count - 1], tokens.at + tokens.count);
        token_add(p->arena, p->out, tokens.at[tokens.count - 1]);
    }
    return ok;
}

bool preprocess(Arena *arena, Str path, Str text, PreprocessRead *read, TokenList *tokens,
                Refusal *refusal) {
    Preprocessor p = {.arena = arena, .read = read, .refusal = refusal, .out = tokens};
    p.names.arena = p.once.arena = arena;
    if (!process_file(&p, STR("CUDA's declarations"), PRELUDE)) return false;
    tokens->count--; // the TOKEN_END
    return process_file(&p, path, text);
}

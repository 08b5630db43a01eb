// The parser's tokens, errors and scopes.
#include "simt/cudac/parse/parser.h"

#include <stdarg.h>
#include <stdio.h>

enum { DEEPEST = 200 };

// --- errors ---

bool parser_failed(const Parser *p) { return p->refusal->message.len > 0; }

void parser_fail(Parser *p, Place place, const char *format, ...) {
    if (parser_failed(p)) return;
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Buf buf = {.arena = p->arena};
    buf_add(&buf, str_of(text));
    *p->refusal = (Refusal){.place = place, .message = buf_str(&buf)};
    p->token = p->end;
}

bool parser_enter(Parser *p) {
    if (++p->depth > DEEPEST)
        parser_fail(p, p->token->place, "this is nested too deeply: split it into smaller parts");
    return !parser_failed(p);
}

void parser_leave(Parser *p) { p->depth--; }

// --- tokens ---

bool parser_at(const Parser *p, TokenKind kind) { return p->token->kind == kind; }

bool parser_accept(Parser *p, TokenKind kind) {
    if (!parser_at(p, kind) || kind == TOKEN_END) return false;
    p->token++;
    return true;
}

// The place after the token before this one, if that is on an earlier line: a `;` is missing there.
static Place place_before(const Parser *p) {
    if (!p->token->starts_line || p->token == p->begin) return p->token->place;
    Place place = p->token[-1].place;
    place.column += (uint32_t)p->token[-1].text.len;
    return place;
}

void parser_expect(Parser *p, TokenKind kind, const char *where) {
    if (parser_accept(p, kind)) return;
    Str found = p->token->text.len ? p->token->text : token_spelling(p->token->kind);
    parser_fail(p, place_before(p), "`%.*s` is missing %s, before `%.*s`",
                STR_ARG(token_spelling(kind)), where, STR_ARG(found));
}

bool parser_more(Parser *p, TokenKind close, Place opened) {
    if (parser_accept(p, close) || parser_failed(p)) return false;
    if (parser_at(p, TOKEN_END))
        parser_fail(p, opened, "this bracket is never closed: add `%.*s`",
                    STR_ARG(token_spelling(close)));
    return !parser_failed(p);
}

void parser_seek(Parser *p, const Token *token) {
    if (!parser_failed(p)) p->token = token;
}

const Token *parser_skip(Parser *p, const Token *open) {
    static const TokenKind closing[] = {[TOKEN_LEFT_PAREN] = TOKEN_RIGHT_PAREN,
                                        [TOKEN_LEFT_BRACKET] = TOKEN_RIGHT_BRACKET,
                                        [TOKEN_LEFT_BRACE] = TOKEN_RIGHT_BRACE};
    int depth = 0;
    for (const Token *token = open; token->kind != TOKEN_END; token++) {
        depth += (token->kind == open->kind) - (token->kind == closing[open->kind]);
        if (!depth) return token + 1;
    }
    parser_fail(p, open->place, "this bracket is never closed: add `%.*s`",
                STR_ARG(token_spelling(closing[open->kind])));
    return p->end;
}

// --- scopes ---

void parser_push_scope(Parser *p, Names *scope) {
    scope->outer = p->scope;
    p->scope = scope;
}

void parser_pop_scope(Parser *p) { p->scope = p->scope->outer; }

Symbol *parser_declare(Parser *p, SymbolKind kind, Str name) {
    Symbol *symbol = ARENA_NEW(p->arena, 1, Symbol);
    *symbol = (Symbol){.kind = kind, .name = name};
    if (p->scope) {
        symbol->next = p->scope->symbols;
        p->scope->symbols = symbol;
        return symbol;
    }
    bool is_new;
    size_t *index = map_at(&p->names, name, &is_new);
    symbol->next = is_new ? NULL : p->globals[*index - 1];
    ARENA_GROW(p->arena, p->globals, p->global_count, p->global_capacity);
    p->globals[p->global_count++] = symbol;
    *index = p->global_count;
    return symbol;
}

Symbol *parser_globals(Parser *p, Str name) {
    const size_t *index = map_find(&p->names, name);
    return index ? p->globals[*index - 1] : NULL;
}

bool parser_sees(const Parser *p, const Symbol *symbol) {
    return !symbol->definition || symbol->definition->start <= p->token;
}

Symbol *parser_lookup(Parser *p, Str name) {
    for (Names *scope = p->scope; scope; scope = scope->outer)
        for (Symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
            if (str_equal(symbol->name, name)) return symbol;
    for (Symbol *symbol = parser_globals(p, name); symbol; symbol = symbol->next) {
        Definition *definition = symbol->definition;
        if (!parser_sees(p, symbol)) continue;
        if (symbol->kind != SYMBOL_DEFINITION || definition->is_function || definition->parameters)
            return symbol;
        if (definition->parsed) continue;
        declare_global(p, definition);
        return parser_failed(p) ? NULL : parser_lookup(p, name);
    }
    return NULL;
}

Str parser_nearest(Parser *p, Str name) {
    size_t edits = name.len < 3 ? 1 : (name.len + 1) / 3 + 1; // fewer than these
    Str nearest = builtin_nearest(name, &edits);
    for (TokenKind kind = TOKEN_AUTO; kind < TOKEN_KINDS; kind++)
        if (str_is_nearer(name, token_spelling(kind), &edits)) nearest = token_spelling(kind);
    for (Names *scope = p->scope; scope; scope = scope->outer)
        for (Symbol *symbol = scope->symbols; symbol; symbol = symbol->next)
            if (str_is_nearer(name, symbol->name, &edits)) nearest = symbol->name;
    for (size_t i = 0; i < p->global_count; i++)
        if (parser_sees(p, p->globals[i]) && str_is_nearer(name, p->globals[i]->name, &edits))
            nearest = p->globals[i]->name;
    return nearest;
}

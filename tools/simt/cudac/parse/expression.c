// Parses expressions. Each function has its rule of the grammar above it.
#include "simt/cudac/parse/parser.h"

static Expression *unary(Parser *p);

// --- primary expressions ---

static Expression *number(Parser *p, const Token *token) {
    const Type *type = type_of_letter(token->letter);
    Expression *e = operator_integer(p, (int64_t)token->integer, type, token->place);
    if (token->kind != TOKEN_FLOATING) return e;
    e->kind = EXPRESSION_FLOATING, e->floating = token->floating, e->integer = 0;
    return e;
}

// text = STRING+
static Expression *text(Parser *p) {
    Buf all = {.arena = p->arena};
    Place place = p->token->place;
    for (; parser_at(p, TOKEN_STRING); p->token++) buf_add(&all, p->token->value);
    const Type *type = type_qualified(p->arena, type_of_letter('c'), true, false);
    Expression *e = operator_new(p, EXPRESSION_TEXT, type_pointer(p->arena, type), place);
    e->text = buf_str(&all);
    return e;
}

// (type) value, type(value), static_cast<type>(value)
static Expression *explicit_cast(Parser *p, const Type *type, Expression *e, Place place) {
    if (type->is_reference) {
        if (operator_is_lvalue(e)) { // the same memory as another type
            const Type *pointer = type_pointer(p->arena, type->base);
            e = operator_cast(p, operator_unary(p, TOKEN_AND, e, place), pointer);
            return operator_dereference(p, e, place);
        }
        parser_fail(p, place, "a reference needs a variable");
    }
    if (type->kind == TYPE_STRUCT && !type_same(type, e->type)) {
        parser_fail(p, place, "nothing can be cast to `%.*s`: set its members",
                    STR_ARG(type_name(p->arena, type)));
        return e;
    }
    return operator_cast(p, e, type);
}

// type "(" value? ")" | type "{" values "}"
static Expression *functional_cast(Parser *p) {
    Place place = p->token->place;
    const Type *type = declare_specifiers(p).type;
    if (parser_at(p, TOKEN_LEFT_BRACE)) return initial_braces(p, type);
    parser_expect(p, TOKEN_LEFT_PAREN, "after the type of a value");
    if (parser_accept(p, TOKEN_RIGHT_PAREN)) {
        if (type->kind != TYPE_STRUCT) return operator_cast(p, operator_zero(p, place), type);
        parser_fail(p, place, "write {} in place of ()");
    }
    Expression *e = expression_comma(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the value");
    return explicit_cast(p, type, e, place);
}

// static_cast "<" type ">" "(" value ")"
static Expression *named_cast(Parser *p) {
    const Token *name = p->token++;
    parser_expect(p, TOKEN_LESS, "after the cast's name");
    const Type *type = declare_type_name(p);
    parser_expect(p, TOKEN_GREATER, "after the type");
    parser_expect(p, TOKEN_LEFT_PAREN, "before the value");
    Expression *e = expression_comma(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the value");
    bool pointers = e->type->kind == TYPE_POINTER && type->kind == TYPE_POINTER;
    if (name->kind == TOKEN_STATIC_CAST && pointers && e->type->base->kind != TYPE_VOID &&
        operator_conversion(p, e, type) < 0)
        parser_fail(p, name->place, "between pointers of different types, write reinterpret_cast");
    return explicit_cast(p, type, e, name->place);
}

static Expression *undeclared(Parser *p, const Token *name) {
    Str nearest = parser_nearest(p, name->text);
    Buf sync = {.arena = p->arena};
    buf_format(&sync, "%.*s_sync", STR_ARG(name->text));
    if (parser_globals(p, name->text))
        parser_fail(p, name->place, "`%.*s` is declared only below: move it above this function",
                    STR_ARG(name->text));
    else if (builtin_has(buf_str(&sync)))
        parser_fail(p, name->place, "write `%.*s`, which takes a mask of lanes first: 0xffffffff",
                    STR_ARG(buf_str(&sync)));
    else if (nearest.len)
        parser_fail(p, name->place, "`%.*s` is not declared here: did you mean `%.*s`?",
                    STR_ARG(name->text), STR_ARG(nearest));
    else if (parser_at(p, TOKEN_LEFT_PAREN))
        parser_fail(p, name->place, "`%.*s` is not declared here, and not known: write it%s",
                    STR_ARG(name->text), call_is_in_host(p) ? "" : ", with __device__");
    else
        parser_fail(p, name->place, "`%.*s` is not declared here: declare it above",
                    STR_ARG(name->text));
    p->refusal->undeclared = name->text;
    return operator_zero(p, name->place);
}

static Expression *constant_copy(Parser *p, const Expression *constant, Place place) {
    Expression *e = operator_new(p, constant->kind, constant->type, place);
    *e = *constant;
    e->place = place;
    return e;
}

// A variable, a constant, a call, or a value of a named type.
static Expression *named(Parser *p) {
    if (declare_starts(p)) return functional_cast(p);
    declare_qualifier(p);
    const Token *name = p->token;
    Symbol *symbol = parser_lookup(p, name->text);
    if (parser_failed(p)) return operator_zero(p, name->place);
    p->token++;
    if (!symbol) {
        Expression *e = builtin_name(p, name);
        if (!e && parser_at(p, TOKEN_LEFT_PAREN)) e = builtin_call(p, name);
        if (!e && parser_at(p, TOKEN_LEFT_PAREN)) e = call_host(p, name);
        return e ? e : undeclared(p, name);
    }
    if (symbol->kind == SYMBOL_CONSTANT) return constant_copy(p, symbol->constant, name->place);
    bool elsewhere =
        symbol->variable && symbol->variable->kind == VARIABLE_STATIC && !call_is_in_host(p);
    if (symbol->kind == SYMBOL_VARIABLE && symbol->variable && !elsewhere)
        return operator_variable(p, symbol->variable, name->place);
    if (symbol->kind == SYMBOL_DEFINITION) return call_named(p, name);
    parser_fail(p, name->place,
                "`%.*s` is a variable of the host: pass it to the kernel as an "
                "argument, or write __device__ before it",
                STR_ARG(name->text));
    return operator_zero(p, name->place);
}

// literal = NUMBER | text | "true" | "false" | "nullptr"
static Expression *literal(Parser *p) {
    const Token *token = p->token;
    if (token->kind == TOKEN_STRING) return text(p);
    bool truth = parser_accept(p, TOKEN_TRUE);
    if (truth || parser_accept(p, TOKEN_FALSE))
        return operator_integer(p, truth, &type_bool, token->place);
    if (parser_accept(p, TOKEN_NULLPTR)) return operator_zero(p, token->place);
    bool any = parser_accept(p, TOKEN_INTEGER) || parser_accept(p, TOKEN_FLOATING);
    return any ? number(p, token) : NULL;
}

static Expression *no_value(Parser *p, const Token *token) {
    Str found = token->text.len ? token->text : token_spelling(token->kind);
    if (token->kind == TOKEN_LEFT_BRACKET)
        parser_fail(p, token->place, "lambdas are not compiled here: write a __device__ function");
    else if (token->kind == TOKEN_NEW || token->kind == TOKEN_DELETE)
        parser_fail(p, token->place, "new and delete are not compiled here: declare an array");
    else
        parser_fail(p, token->place, "a value is missing before `%.*s`", STR_ARG(found));
    return operator_zero(p, token->place);
}

// primary = literal | "(" comma ")" | cast | named
static Expression *primary(Parser *p) {
    const Token *token = p->token;
    Expression *e = literal(p);
    if (e) return e;
    if (token->kind == TOKEN_STATIC_CAST || token->kind == TOKEN_CONST_CAST ||
        token->kind == TOKEN_REINTERPRET_CAST)
        return named_cast(p);
    parser_accept(p, TOKEN_SCOPE);
    if (parser_at(p, TOKEN_NAME)) return named(p);
    if (parser_accept(p, TOKEN_LEFT_PAREN)) {
        bool in_template = p->in_template;
        p->in_template = false;
        e = expression_comma(p);
        p->in_template = in_template;
        parser_expect(p, TOKEN_RIGHT_PAREN, "after an expression");
        return e;
    }
    bool starts = declare_starts(p) && !parser_at(p, TOKEN_LEFT_BRACKET);
    return starts ? functional_cast(p) : no_value(p, token);
}

// --- postfix and unary expressions ---

static Expression *index_of(Parser *p, Expression *e, Place place) {
    bool in_template = p->in_template;
    p->in_template = false;
    Expression *index = expression_comma(p);
    p->in_template = in_template;
    parser_expect(p, TOKEN_RIGHT_BRACKET, "after an index");
    if (parser_failed(p)) return e;
    bool pointer = e->type->kind == TYPE_POINTER || e->type->kind == TYPE_ARRAY;
    if (!pointer || !type_is_integer(index->type)) {
        const Type *wrong = pointer ? index->type : e->type;
        parser_fail(p, pointer ? index->place : place,
                    pointer ? "an index must be an integer, not `%.*s`"
                            : "`%.*s` is no array and no pointer, and has no elements",
                    STR_ARG(type_name(p->arena, wrong)));
        return operator_zero(p, place);
    }
    return operator_dereference(p, operator_binary(p, TOKEN_PLUS, e, index, place), place);
}

static Expression *member_of(Parser *p, Expression *e, bool arrow, Place place) {
    const Token *name = p->token;
    parser_expect(p, TOKEN_NAME, "after the dot or arrow");
    if (parser_failed(p)) return e;
    if (arrow && e->type->kind != TYPE_POINTER)
        parser_fail(p, place, "`%.*s` is no pointer: write a dot in place of ->",
                    STR_ARG(type_name(p->arena, e->type)));
    if (arrow) e = operator_dereference(p, e, place);
    if (parser_at(p, TOKEN_LEFT_PAREN) && !type_member(e->type, name->text))
        return builtin_method(p, e, name->text, name->place);
    return operator_member(p, e, name->text, name->place);
}

// postfix = primary ("[" comma "]" | "." NAME | "->" NAME | "++" | "--" | "(" arguments)*
static Expression *postfix(Parser *p) {
    Expression *e = primary(p);
    for (;;) {
        const Token *token = p->token;
        if (parser_accept(p, TOKEN_LEFT_BRACKET))
            e = index_of(p, e, token->place);
        else if (parser_accept(p, TOKEN_DOT))
            e = member_of(p, e, false, token->place);
        else if (parser_accept(p, TOKEN_ARROW))
            e = member_of(p, e, true, token->place);
        else if (parser_accept(p, TOKEN_INCREMENT) || parser_accept(p, TOKEN_DECREMENT))
            e = operator_step_after(p, token->kind, e, token->place);
        else if (parser_at(p, TOKEN_LAUNCH_OPEN))
            parser_fail(p, token->place, "only a kernel's own name can come before <<<");
        else if (parser_at(p, TOKEN_LEFT_PAREN) && !parser_failed(p)) {
            e = operator_value(p, e);
            bool pointer = e->type->base && e->type->base->kind == TYPE_FUNCTION;
            if (pointer && call_is_in_host(p)) {
                e = call_pointer(p, e, token->place);
                continue;
            }
            parser_fail(p, token->place,
                        "only a function can be called: put an operator before `(`");
        } else
            return e;
    }
}

// sizeof = "sizeof" ("(" type ")" | unary)
static Expression *size_of(Parser *p, Place place) {
    const Token *open = p->token;
    const Type *type = NULL;
    if (parser_accept(p, TOKEN_LEFT_PAREN)) {
        if (declare_starts(p)) {
            type = declare_type_name(p);
            parser_expect(p, TOKEN_RIGHT_PAREN, "after the type");
        } else
            parser_seek(p, open);
    }
    if (!type) type = unary(p)->type;
    if (type->is_reference) type = type->base;
    return operator_integer(p, (int64_t)type->size, &type_unsigned_long, place);
}

static bool at_cast(Parser *p) {
    if (!parser_at(p, TOKEN_LEFT_PAREN)) return false;
    const Token *open = p->token++;
    bool starts = declare_starts(p);
    if (starts && parser_at(p, TOKEN_NAME)) // (T)(x) is a cast, (T(x)) and (T{x}) are none
        starts = p->token[1].kind != TOKEN_LEFT_PAREN && p->token[1].kind != TOKEN_LEFT_BRACE;
    else if (starts) // so are (float(x)) and (unsigned(x))
        starts = !(p->token[1].kind == TOKEN_LEFT_PAREN && p->token[2].kind != TOKEN_STAR &&
                   p->token[2].kind != TOKEN_AND);
    parser_seek(p, open);
    return starts && !parser_failed(p);
}

// unary = ("+" | "-" | "!" | "~" | "*" | "&" | "++" | "--") unary | sizeof | "(" type ")" unary
//       | postfix
static Expression *unary_inner(Parser *p) {
    const Token *token = p->token;
    switch (token->kind) {
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_NOT:
    case TOKEN_TILDE:
    case TOKEN_STAR:
    case TOKEN_AND: {
        p->token++;
        Expression *e = unary(p);
        return parser_failed(p) ? e : operator_unary(p, token->kind, e, token->place);
    }
    case TOKEN_INCREMENT:
    case TOKEN_DECREMENT: {
        p->token++;
        Expression *e = unary(p), *one = operator_integer(p, 1, &type_int, token->place);
        return operator_assign(p, token->kind, e, one, token->place);
    }
    case TOKEN_SIZEOF:
        p->token++;
        return size_of(p, token->place);
    default:
        break;
    }
    if (!at_cast(p)) return postfix(p);
    p->token++;
    const Type *type = declare_type_name(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the type of a cast");
    Expression *e = unary(p);
    return parser_failed(p) ? e : explicit_cast(p, type, e, token->place);
}

static Expression *unary(Parser *p) {
    Place place = p->token->place;
    if (!parser_enter(p)) return operator_zero(p, place);
    Expression *e = unary_inner(p);
    parser_leave(p);
    return e;
}

// --- the rest ---

int expression_precedence(TokenKind kind) {
    static const signed char precedence[TOKEN_KINDS] = {
        [TOKEN_LOGICAL_OR] = 1,  [TOKEN_LOGICAL_AND] = 2,   [TOKEN_OR] = 3,
        [TOKEN_XOR] = 4,         [TOKEN_AND] = 5,           [TOKEN_EQUAL] = 6,
        [TOKEN_NOT_EQUAL] = 6,   [TOKEN_LESS] = 7,          [TOKEN_LESS_EQUAL] = 7,
        [TOKEN_GREATER] = 7,     [TOKEN_GREATER_EQUAL] = 7, [TOKEN_SHIFT_LEFT] = 8,
        [TOKEN_SHIFT_RIGHT] = 8, [TOKEN_PLUS] = 9,          [TOKEN_MINUS] = 9,
        [TOKEN_STAR] = 10,       [TOKEN_SLASH] = 10,        [TOKEN_PERCENT] = 10};
    return precedence[kind];
}

// The operator here and how many tokens it has: two for >> and >>=.
static TokenKind operator_at(const Parser *p, size_t *count) {
    const Token *first = p->token, *second = first + 1;
    *count = 1;
    if (first->kind != TOKEN_GREATER || p->in_template || second->after_space) return first->kind;
    *count = 2;
    if (second->kind == TOKEN_GREATER) return TOKEN_SHIFT_RIGHT;
    if (second->kind == TOKEN_GREATER_EQUAL) return TOKEN_SHIFT_RIGHT_ASSIGN;
    *count = 1;
    return first->kind;
}

// binary = unary (operator binary)*, by precedence
static Expression *binary(Parser *p, int least) {
    Expression *e = unary(p);
    for (;;) {
        size_t count;
        Place place = p->token->place;
        TokenKind kind = operator_at(p, &count);
        int precedence = expression_precedence(kind);
        bool closes = p->in_template && kind == TOKEN_GREATER;
        if (!precedence || precedence < least || closes || parser_failed(p)) return e;
        p->token += count;
        Expression *right = binary(p, precedence + 1);
        if (parser_failed(p)) return e;
        e = operator_binary(p, kind, e, right, place);
    }
}

// conditional = binary ("?" comma ":" assignment)?
static Expression *conditional(Parser *p) {
    Expression *e = binary(p, 1);
    const Token *token = p->token;
    if (!parser_accept(p, TOKEN_QUESTION)) return e;
    Expression *yes = expression_comma(p);
    parser_expect(p, TOKEN_COLON, "between the two values of ?");
    Expression *no = expression_assignment(p);
    return parser_failed(p) ? e : operator_conditional(p, e, yes, no, token->place);
}

static bool is_assignment(TokenKind kind) {
    return kind == TOKEN_ASSIGN || (kind >= TOKEN_ADD_ASSIGN && kind <= TOKEN_XOR_ASSIGN) ||
           kind == TOKEN_SHIFT_LEFT_ASSIGN || kind == TOKEN_SHIFT_RIGHT_ASSIGN;
}

// assignment = conditional (("=" | "+=" | ...) (assignment | "{" values "}"))?
Expression *expression_assignment(Parser *p) {
    Place place = p->token->place;
    if (!parser_enter(p)) return operator_zero(p, place);
    Expression *e = conditional(p);
    size_t count;
    Place at = p->token->place;
    TokenKind kind = operator_at(p, &count);
    if (is_assignment(kind)) {
        p->token += count;
        bool braces = kind == TOKEN_ASSIGN && parser_at(p, TOKEN_LEFT_BRACE);
        Expression *value =
            braces ? initial_braces(p, type_plain(p->arena, e->type)) : expression_assignment(p);
        if (!parser_failed(p)) e = operator_assign(p, kind, e, value, at);
    }
    parser_leave(p);
    return e;
}

// comma = assignment ("," assignment)*
Expression *expression_comma(Parser *p) {
    Expression *e = expression_assignment(p);
    while (parser_accept(p, TOKEN_COMMA)) e = operator_comma(p, e, expression_assignment(p));
    return e;
}

int64_t expression_constant(Parser *p, const char *what) {
    int64_t value = 0;
    Place place = p->token->place;
    Expression *e = conditional(p);
    if (!type_is_integer(e->type) || !constant_integer(e, &value))
        parser_fail(p, place, "%s must be a constant that the compiler can compute", what);
    return value;
}

int64_t expression_condition(Arena *arena, const TokenList *tokens, Refusal *refusal) {
    Parser p = {.arena = arena, .refusal = refusal, .token = tokens->at};
    p.begin = p.token, p.end = p.token + tokens->count - 1, p.names.arena = arena;
    int64_t value = expression_constant(&p, "this condition");
    if (p.token != p.end) parser_fail(&p, p.token->place, "the condition ends before this");
    return value;
}

// Parses statements. Each function has its rule of the grammar above it.
#include "simt/cudac/parse/parser.h"

static Statement *statement(Parser *p);

Statement *statement_new(Parser *p, StatementKind kind, Place place) {
    Statement *s = ARENA_NEW(p->arena, 1, Statement);
    s->kind = kind, s->place = place;
    return s;
}

Statement *statement_of(Parser *p, Expression *e) {
    Statement *s = statement_new(p, STATEMENT_EXPRESSION, e->place);
    s->expression = e;
    return s;
}

static Expression *in_parens(Parser *p, const char *after) {
    parser_expect(p, TOKEN_LEFT_PAREN, after);
    bool value = p->token[1].kind == TOKEN_LEFT_PAREN || p->token[1].kind == TOKEN_LEFT_BRACE;
    if (declare_starts(p) && !value)
        parser_fail(p, p->token->place, "declare the variable before this statement");
    Expression *e = expression_comma(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "after this");
    return e;
}

static Statement *empty(Parser *p, Place place) { return statement_new(p, STATEMENT_BLOCK, place); }

// The body of a loop, an if or a switch, with a scope of its own.
static Statement *body(Parser *p) {
    Names names = {0};
    parser_push_scope(p, &names);
    Place place = p->token->place;
    Statement *s = statement(p);
    parser_pop_scope(p);
    if (s && !s->next && s->kind != STATEMENT_DECLARE) return s;
    Statement *block = empty(p, place);
    block->body = s;
    return block;
}

// if = "if" "constexpr"? "(" condition ")" statement ("else" statement)?
static Statement *if_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_IF, place);
    parser_accept(p, TOKEN_CONSTEXPR);
    s->condition = operator_condition(p, in_parens(p, "after if"));
    s->body = body(p);
    if (parser_accept(p, TOKEN_ELSE)) s->otherwise = body(p);
    return s;
}

static Statement *loop_body(Parser *p) {
    p->at.loops++;
    Statement *s = body(p);
    p->at.loops--;
    return s;
}

static Statement *while_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_WHILE, place);
    s->condition = operator_condition(p, in_parens(p, "after while"));
    s->body = loop_body(p);
    return s;
}

// do = "do" statement "while" "(" condition ")" ";"
static Statement *do_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_DO, place);
    s->body = loop_body(p);
    parser_expect(p, TOKEN_WHILE, "after the body of do");
    s->condition = operator_condition(p, in_parens(p, "after while"));
    parser_expect(p, TOKEN_SEMICOLON, "after do ... while (...)");
    return s;
}

// for = "for" "(" (declaration | comma? ";") comma? ";" comma? ")" statement
static Statement *for_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_FOR, place);
    Names names = {0};
    parser_push_scope(p, &names);
    parser_expect(p, TOKEN_LEFT_PAREN, "after for");
    if (declare_starts(p)) {
        Statement *list = declare_local(p);
        s->initial = list && list->next ? empty(p, place) : list;
        if (list && list->next) s->initial->body = list;
    } else if (!parser_accept(p, TOKEN_SEMICOLON)) {
        s->initial = statement_of(p, expression_comma(p));
        parser_expect(p, TOKEN_SEMICOLON, "after the start of for");
    }
    if (!parser_at(p, TOKEN_SEMICOLON)) s->condition = operator_condition(p, expression_comma(p));
    parser_expect(p, TOKEN_SEMICOLON, "after the condition of for");
    if (!parser_at(p, TOKEN_RIGHT_PAREN)) s->step = expression_comma(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the head of for");
    s->body = loop_body(p);
    parser_pop_scope(p);
    return s;
}

// switch = "switch" "(" integer ")" statement
static Statement *switch_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_SWITCH, place);
    Expression *e = operator_value(p, in_parens(p, "after switch"));
    if (!type_is_integer(e->type))
        parser_fail(p, e->place, "switch needs an integer, not `%.*s`: write if and else",
                    STR_ARG(type_name(p->arena, e->type)));
    s->condition = operator_cast(p, e, type_promoted(e->type));
    const Type *outer = p->at.switch_type;
    p->at.switch_type = s->condition->type, p->at.switches++;
    s->body = body(p);
    p->at.switch_type = outer, p->at.switches--;
    return s;
}

// case = ("case" constant | "default") ":"
static Statement *case_statement(Parser *p, const Token *token) {
    Statement *s = statement_new(p, STATEMENT_CASE, token->place);
    s->is_default = token->kind == TOKEN_DEFAULT;
    if (!p->at.switches) parser_fail(p, token->place, "this belongs into a switch");
    if (!s->is_default) s->value = expression_constant(p, "the value of a case");
    if (p->at.switch_type && p->at.switch_type->kind == TYPE_U32) s->value = (uint32_t)s->value;
    parser_expect(p, TOKEN_COLON, "after a case");
    return s;
}

// return = "return" (comma | "{" values "}")? ";"
static Statement *return_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Statement *s = statement_new(p, STATEMENT_RETURN, place);
    const Type *result = p->at.function->type->base;
    if (parser_at(p, TOKEN_LEFT_BRACE))
        s->expression = initial_braces(p, result);
    else if (!parser_at(p, TOKEN_SEMICOLON)) {
        Expression *e = expression_comma(p);
        bool both_void = result->kind == TYPE_VOID && e->type->kind == TYPE_VOID;
        if (result->kind == TYPE_VOID && !both_void)
            parser_fail(p, e->place, "a function of type void returns no value: write return;");
        s->expression = both_void ? e : operator_convert(p, e, result, "the returned value");
    } else if (result->kind != TYPE_VOID) {
        parser_fail(p, place, "write the value to return, of type `%.*s`",
                    STR_ARG(type_name(p->arena, result)));
    }
    parser_expect(p, TOKEN_SEMICOLON, "after return");
    return s;
}

// pragma = "#pragma unroll" ("(" constant ")")? loop
static Statement *unrolled(Parser *p, const Token *token) {
    Place place = token->place;
    int64_t times = -1;
    if (parser_accept(p, TOKEN_LEFT_PAREN)) {
        times = expression_constant(p, "the number of #pragma unroll");
        parser_expect(p, TOKEN_RIGHT_PAREN, "after the number of #pragma unroll");
        if (times < 1 || times > INT32_MAX)
            parser_fail(p, place, "#pragma unroll takes a number from 1 on");
    }
    bool loop = parser_at(p, TOKEN_FOR) || parser_at(p, TOKEN_WHILE) || parser_at(p, TOKEN_DO);
    if (!loop) parser_fail(p, place, "put #pragma unroll directly before a loop");
    Statement *s = statement(p);
    if (s) s->unroll = (int32_t)times;
    return s;
}

static Statement *jump(Parser *p, const Token *token) {
    bool leaves = token->kind == TOKEN_BREAK;
    if (!p->at.loops && !(leaves && p->at.switches))
        parser_fail(p, token->place, "there is no loop around this");
    parser_expect(p, TOKEN_SEMICOLON, leaves ? "after break" : "after continue");
    return statement_new(p, leaves ? STATEMENT_BREAK : STATEMENT_CONTINUE, token->place);
}

static Statement *refused(Parser *p, const Token *token) {
    if (token->kind == TOKEN_GOTO)
        parser_fail(p, token->place, "goto is not compiled here: write a loop, break or return");
    if (token->kind == TOKEN_ELSE)
        parser_fail(p, token->place,
                    "there is no if before this else: is a `}` or a `;` too many?");
    else
        parser_fail(p, token->place, "a GPU has no exceptions: return a value");
    return NULL;
}

// expression = comma ";"
static Statement *expression_statement(Parser *p) {
    Statement *s = statement_of(p, expression_comma(p));
    parser_expect(p, TOKEN_SEMICOLON, "after this statement");
    return s;
}

static Statement *empty_statement(Parser *p, const Token *token) { return empty(p, token->place); }
static Statement *inner_block(Parser *p, const Token *token) {
    (void)token;
    return statement_block(p);
}

// What follows the first word of a statement.
static const struct {
    TokenKind kind;
    Statement *(*parse)(Parser *p, const Token *token);
} STATEMENTS[] = {
    {TOKEN_LEFT_BRACE, inner_block},
    {TOKEN_SEMICOLON, empty_statement},
    {TOKEN_IF, if_statement},
    {TOKEN_WHILE, while_statement},
    {TOKEN_DO, do_statement},
    {TOKEN_FOR, for_statement},
    {TOKEN_SWITCH, switch_statement},
    {TOKEN_CASE, case_statement},
    {TOKEN_DEFAULT, case_statement},
    {TOKEN_RETURN, return_statement},
    {TOKEN_BREAK, jump},
    {TOKEN_CONTINUE, jump},
    {TOKEN_UNROLL, unrolled},
    {TOKEN_ASM, assembly_statement},
    {TOKEN_GOTO, refused},
    {TOKEN_TRY, refused},
    {TOKEN_THROW, refused},
    {TOKEN_ELSE, refused},
};

// Whether a statement that begins with a type is a value of it, such as float(x), and declares
// nothing.
static bool is_value(const Token *type) {
    bool word = type->kind == TOKEN_NAME || (type->kind >= TOKEN_BOOL && type->kind <= TOKEN_VOID);
    bool record = type->kind == TOKEN_STRUCT || type->kind == TOKEN_ENUM ||
                  type->kind == TOKEN_CLASS || type->kind == TOKEN_STATIC_ASSERT;
    bool parens = type[1].kind == TOKEN_LEFT_PAREN && type[2].kind != TOKEN_STAR &&
                  type[2].kind != TOKEN_AND; // float (*row)[32] is a declaration
    return word && !record && (parens || type[1].kind == TOKEN_LEFT_BRACE);
}

static Statement *statement_inner(Parser *p) {
    const Token *token = p->token;
    if (token->kind == TOKEN_END && !parser_failed(p))
        parser_fail(p, token->place, "the program ends within a function");
    if (declare_starts(p) && !is_value(token)) return declare_local(p);
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++)
        if (parser_accept(p, STATEMENTS[i].kind)) return STATEMENTS[i].parse(p, token);
    return parser_failed(p) ? NULL : expression_statement(p);
}

// Returns a list: a declaration of several variables is several statements.
static Statement *statement(Parser *p) {
    if (!parser_enter(p)) return NULL;
    Statement *s = statement_inner(p);
    parser_leave(p);
    return s;
}

// block = statement* "}"
Statement *statement_block(Parser *p) {
    Place opened = p->token[-1].place;
    Statement *block = empty(p, opened), **tail = &block->body;
    Names names = {0};
    parser_push_scope(p, &names);
    while (parser_more(p, TOKEN_RIGHT_BRACE, opened)) {
        *tail = statement(p);
        while (*tail) tail = &(*tail)->next;
    }
    parser_pop_scope(p);
    return block;
}

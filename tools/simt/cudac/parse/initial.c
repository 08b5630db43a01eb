// Parses initial values. Those of local variables become assignments, those of variables of
// namespace scope become bytes.
#include <string.h>

#include "simt/cudac/parse/parser.h"

enum { MOST_ELEMENTS = 4096 }; // that a list in a function may set

// Where the values go: to assignments at the end of a list, or to bytes.
typedef struct {
    Statement **tail;
    uint8_t *bytes;
    size_t count;
} Filler;

static void store(Parser *p, Filler *f, Expression *target, const Type *type, uint64_t at,
                  Expression *value) {
    value = operator_convert(p, value, type_plain(p->arena, type), "this value");
    if (parser_failed(p)) return;
    if (!f->bytes) {
        if (++f->count > MOST_ELEMENTS)
            parser_fail(p, value->place, "this list has too many elements: fill them in a loop");
        const Type *plain = type_plain(p->arena, type);
        Expression *assign = operator_new(p, EXPRESSION_ASSIGN, plain, value->place);
        assign->left = target, assign->right = value;
        *f->tail = statement_of(p, assign);
        f->tail = &(*f->tail)->next;
        return;
    }
    int64_t integer;
    double floating;
    float single;
    const void *from = &integer;
    bool known = type_is_floating(type) ? constant_floating(value, &floating)
                                        : constant_integer(value, &integer);
    if (!known || type->kind == TYPE_F16) {
        parser_fail(p, value->place, "a variable outside of functions needs a constant here");
        return;
    }
    if (type->kind == TYPE_F64) from = &floating;
    if (type->kind == TYPE_F32) single = (float)floating, from = &single;
    memcpy(f->bytes + at, from, type->size);
}

static Expression *element(Parser *p, Expression *target, const Type *type, uint64_t i,
                           Place place) {
    if (!target) return NULL;
    if (type->kind == TYPE_STRUCT) return operator_member(p, target, type->members[i].name, place);
    Expression *index = operator_integer(p, (int64_t)i, &type_long, place);
    Expression *array =
        operator_new(p, EXPRESSION_ADDRESS, type_pointer(p->arena, type->base), place);
    array->left = target;
    return operator_dereference(p, operator_binary(p, TOKEN_PLUS, array, index, place), place);
}

static bool has_elements(const Type *type) {
    return type->kind == TYPE_ARRAY || type->kind == TYPE_STRUCT;
}

static const Type *element_type(const Type *type, uint64_t i, uint64_t *at) {
    bool array = type->kind == TYPE_ARRAY;
    *at += array ? i * type->base->size : type->members[i].offset;
    return array ? type->base : type->members[i].type;
}

// Sets what a list leaves out; bytes are 0 already.
static void clear(Parser *p, Filler *f, Expression *target, const Type *type, Place place) {
    if (f->bytes || parser_failed(p)) return;
    if (!has_elements(type)) {
        store(p, f, target, type, 0, operator_zero(p, place));
        return;
    }
    for (uint64_t i = 0, at = 0; i < type->count && !parser_failed(p); i++)
        clear(p, f, element(p, target, type, i, place), element_type(type, i, &at), place);
}

// value = "{" (value ("," value)* ","?)? "}" | assignment
// Without braces, an array takes as many values of the list around it as it has elements.
static void fill(Parser *p, Filler *f, Expression *target, const Type *type, uint64_t at) {
    Place place = p->token->place;
    bool braces = parser_accept(p, TOKEN_LEFT_BRACE);
    uint64_t i = 0;
    if (!has_elements(type) || (type->kind == TYPE_STRUCT && !braces)) {
        bool empty = braces && parser_at(p, TOKEN_RIGHT_BRACE);
        store(p, f, target, type, at, empty ? operator_zero(p, place) : expression_assignment(p));
        if (braces) parser_expect(p, TOKEN_RIGHT_BRACE, "after the value");
        return;
    }
    if (!parser_enter(p)) return;
    while (!(braces && parser_at(p, TOKEN_RIGHT_BRACE)) && !parser_failed(p)) {
        if (i == type->count)
            parser_fail(p, p->token->place, "there are more values than the %llu elements",
                        (unsigned long long)type->count);
        if (parser_failed(p)) return;
        uint64_t inner_at = at;
        const Type *inner = element_type(type, i, &inner_at);
        fill(p, f, element(p, target, type, i++, place), inner, inner_at);
        if ((!braces && i == type->count) || !parser_accept(p, TOKEN_COMMA)) break;
    }
    for (uint64_t none = 0; i < type->count && !parser_failed(p); i++)
        clear(p, f, element(p, target, type, i, place), element_type(type, i, &none), place);
    parser_leave(p);
    if (braces) parser_expect(p, TOKEN_RIGHT_BRACE, "after the values");
}

// How many values the list at "{" has.
static uint64_t count_values(Parser *p) {
    uint64_t count = 0;
    const Token *token = p->token + 1;
    while (token->kind != TOKEN_RIGHT_BRACE && token->kind != TOKEN_END) {
        count++;
        while (token->kind != TOKEN_COMMA && token->kind != TOKEN_RIGHT_BRACE &&
               token->kind != TOKEN_END) {
            bool opens = token->kind == TOKEN_LEFT_BRACE || token->kind == TOKEN_LEFT_PAREN;
            token = opens ? parser_skip(p, token) : token + 1;
        }
        if (token->kind == TOKEN_COMMA) token++;
    }
    return count;
}

static const Type *counted(Parser *p, const Type *type, Place place) {
    if (!parser_at(p, TOKEN_LEFT_BRACE)) {
        parser_fail(p, place, "give the array a size, or a list of values, { ... }");
        return type;
    }
    return type_array(p->arena, type->base, count_values(p));
}

Statement *initial_statements(Parser *p, Variable *variable, bool unsized) {
    Statement *first = statement_new(p, STATEMENT_DECLARE, variable->place);
    first->variable = variable;
    const Type *type = variable->type;
    bool assigns = parser_accept(p, TOKEN_ASSIGN);
    if (unsized) type = variable->type = counted(p, type, variable->place);
    if (parser_at(p, TOKEN_LEFT_BRACE)) {
        Filler f = {.tail = &first->next};
        Expression *target = operator_new(p, EXPRESSION_VARIABLE, type, variable->place);
        target->variable = variable;
        if (type->is_reference)
            parser_fail(p, p->token->place, "a reference needs a variable, not a list");
        else
            fill(p, &f, target, type, 0);
    } else if (assigns && type->kind == TYPE_ARRAY) {
        parser_fail(p, p->token->place, "an array takes a list of values, { ... }");
    } else if (assigns) {
        first->expression =
            operator_convert(p, expression_assignment(p), type, "the initial value");
    } else if (parser_accept(p, TOKEN_LEFT_PAREN)) {
        first->expression = operator_convert(p, expression_comma(p), type, "the initial value");
        parser_expect(p, TOKEN_RIGHT_PAREN, "after the initial value");
    } else if (type->is_const && type->kind != TYPE_STRUCT) {
        parser_fail(p, variable->place, "a constant needs its value: write = and the value");
    }
    return first;
}

Expression *initial_braces(Parser *p, const Type *type) {
    Place place = p->token->place;
    if (!has_elements(type)) {
        parser_expect(p, TOKEN_LEFT_BRACE, "before the value");
        Expression *value =
            parser_at(p, TOKEN_RIGHT_BRACE) ? operator_zero(p, place) : expression_assignment(p);
        parser_expect(p, TOKEN_RIGHT_BRACE, "after the value");
        return operator_convert(p, value, type, "this value");
    }
    Expression *variable = operator_variable(p, declare_temporary(p, type, place), place);
    Statement *list = NULL;
    Filler f = {.tail = &list};
    fill(p, &f, variable, type, 0);
    Expression *all = NULL;
    for (; list; list = list->next)
        all = all ? operator_comma(p, all, list->expression) : list->expression;
    return all ? operator_comma(p, all, variable) : variable;
}

const uint8_t *initial_bytes(Parser *p, const Type **type, bool unsized) {
    Place place = p->token->place;
    bool assigns = parser_accept(p, TOKEN_ASSIGN);
    if (unsized) *type = counted(p, *type, place);
    if (!assigns && !parser_at(p, TOKEN_LEFT_BRACE)) return NULL;
    if ((*type)->size > 1 << 24)
        parser_fail(p, place, "this variable is too large for initial values");
    if (parser_failed(p)) return NULL;
    Filler f = {.bytes = ARENA_NEW(p->arena, (*type)->size + 1, uint8_t)};
    fill(p, &f, NULL, *type, 0);
    return f.bytes;
}

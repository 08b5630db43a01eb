// Gives expressions their types: conversions, operators, assignments and references.
#include "simt/cudac/parse/parser.h"

Expression *operator_new(Parser *p, ExpressionKind kind, const Type *type, Place place) {
    Expression *e = ARENA_NEW(p->arena, 1, Expression);
    *e = (Expression){.kind = kind, .type = type, .place = place};
    return e;
}

Expression *operator_integer(Parser *p, int64_t value, const Type *type, Place place) {
    Expression *e = operator_new(p, EXPRESSION_INTEGER, type, place);
    e->integer = value;
    return e;
}

Expression *operator_zero(Parser *p, Place place) {
    return operator_integer(p, 0, &type_int, place);
}

static Expression *with_left(Parser *p, ExpressionKind kind, const Type *type, Expression *left,
                             Place place) {
    Expression *e = operator_new(p, kind, type, place);
    e->left = left;
    return e;
}

static Expression *with_both(Parser *p, ExpressionKind kind, const Type *type, Expression *left,
                             Expression *right, Place place) {
    Expression *e = with_left(p, kind, type, left, place);
    e->right = right;
    return e;
}

static Expression *refused(Parser *p, const Expression *e, Place place, const char *message) {
    parser_fail(p, place, message, STR_ARG(type_name(p->arena, e->type)));
    return operator_zero(p, place);
}

// --- variables, addresses, members ---

bool operator_is_lvalue(const Expression *e) {
    return e->kind == EXPRESSION_VARIABLE || e->kind == EXPRESSION_DEREFERENCE ||
           (e->kind == EXPRESSION_MEMBER && operator_is_lvalue(e->left));
}

Expression *operator_variable(Parser *p, Variable *variable, Place place) {
    Expression *e = operator_new(p, EXPRESSION_VARIABLE, variable->type, place);
    e->variable = variable;
    return variable->type->is_reference ? operator_dereference(p, e, place) : e;
}

// Notes that the address of a variable, of which an lvalue or a pointer is a part, is used
// elsewhere.
static void note_address(const Expression *e) {
    while (e->kind != EXPRESSION_VARIABLE) {
        bool passes = e->kind == EXPRESSION_MEMBER || e->kind == EXPRESSION_DEREFERENCE ||
                      e->kind == EXPRESSION_ADDRESS || e->kind == EXPRESSION_CAST ||
                      e->kind == EXPRESSION_ADD || e->kind == EXPRESSION_SUBTRACT;
        if (!passes) return;
        e = e->left;
    }
    if (e->type->kind != TYPE_POINTER) e->variable->address_taken = true;
}

static Expression *address_of(Parser *p, Expression *e, const Type *type, Place place) {
    if (e->kind != EXPRESSION_DEREFERENCE) return with_left(p, EXPRESSION_ADDRESS, type, e, place);
    Expression *pointer = operator_new(p, e->left->kind, type, place); // &*p is p
    *pointer = *e->left;
    pointer->type = type;
    return pointer;
}

// An array as a pointer to its first element.
static Expression *decayed(Parser *p, Expression *e) {
    if (e->type->kind != TYPE_ARRAY) return e;
    return address_of(p, e, type_pointer(p->arena, e->type->base), e->place);
}

Expression *operator_value(Parser *p, Expression *e) {
    if (e->type->kind == TYPE_ARRAY) note_address(e);
    return decayed(p, e);
}

Expression *operator_dereference(Parser *p, Expression *e, Place place) {
    e = decayed(p, e);
    if (e->type->kind != TYPE_POINTER)
        return refused(p, e, place, "a value of type `%.*s` is no pointer and no array");
    if (e->type->base->kind == TYPE_FUNCTION) return e; // *f is f
    if (e->type->base->kind == TYPE_VOID)
        return refused(p, e, place,
                       "`%.*s` does not say what it points to: cast it, as in (float *)");
    if (e->kind == EXPRESSION_ADDRESS && type_same(e->left->type, e->type->base)) return e->left;
    return with_left(p, EXPRESSION_DEREFERENCE, e->type->base, e, place);
}

Expression *operator_member(Parser *p, Expression *e, Str name, Place place) {
    const Member *member = type_member(e->type, name);
    if (e->type->kind == TYPE_POINTER && type_member(e->type->base, name))
        return refused(p, e, place, "this is a pointer, `%.*s`: write -> in place of the dot");
    if (!member) {
        parser_fail(p, place, "`%.*s` has no member `%.*s`", STR_ARG(type_name(p->arena, e->type)),
                    STR_ARG(name));
        return operator_zero(p, place);
    }
    const Type *type =
        type_qualified(p->arena, member->type, e->type->is_const, e->type->is_volatile);
    Expression *of = with_left(p, EXPRESSION_MEMBER, type, e, place);
    of->member = member;
    return of;
}

// --- conversions ---

Expression *operator_cast(Parser *p, Expression *e, const Type *type) {
    e = operator_value(p, e);
    type = type_plain(p->arena, type);
    const Type *from = e->type;
    bool alike = from->kind == type->kind && from->letter == type->letter;
    if (type_same(from, type) && !type_is_integer(type)) return e;
    if (alike && type_is_integer(type) && str_equal(from->name, type->name)) return e;
    bool both_scalar = type_is_scalar(from) && type_is_scalar(type);
    bool float_pointer = (type_is_floating(from) && type->kind == TYPE_POINTER) ||
                         (type_is_floating(type) && from->kind == TYPE_POINTER);
    bool narrows = from->kind == TYPE_POINTER && type_is_integer(type) && type->size < 8;
    if (narrows && type->kind != TYPE_BOOL)
        e = with_left(p, EXPRESSION_CAST, &type_long, e, e->place);
    if (type->kind != TYPE_VOID && (!both_scalar || float_pointer)) {
        parser_fail(p, e->place, "a value of type `%.*s` cannot become `%.*s`",
                    STR_ARG(type_name(p->arena, from)), STR_ARG(type_name(p->arena, type)));
        return operator_zero(p, e->place);
    }
    if (e->kind == EXPRESSION_INTEGER && type_is_integer(type) && type_is_integer(from))
        return operator_integer(p, type_value(type->kind, (uint64_t)e->integer), type, e->place);
    double value;
    if (e->kind != EXPRESSION_CAST && type_is_floating(type) && constant_floating(e, &value) &&
        (e->kind == EXPRESSION_INTEGER || e->kind == EXPRESSION_FLOATING) &&
        type->kind != TYPE_F16) {
        Expression *folded = operator_new(p, EXPRESSION_FLOATING, type, e->place);
        folded->floating = type->kind == TYPE_F32 ? (double)(float)value : value;
        return folded;
    }
    return with_left(p, EXPRESSION_CAST, type, e, e->place);
}

static bool is_null(const Expression *e) {
    return e->kind == EXPRESSION_INTEGER && e->integer == 0 && type_is_integer(e->type);
}

int operator_conversion(Parser *p, const Expression *e, const Type *type) {
    const Type *from = e->type;
    if (type->is_reference) {
        if (operator_is_lvalue(e) && type_points_alike(type, &(Type){.base = from}))
            return type->base->is_const && !from->is_const; // T& before const T&
        return type->base->is_const ? operator_conversion(p, e, type->base) : -1;
    }
    if (from->kind == TYPE_ARRAY) from = type_pointer(p->arena, from->base);
    if (type_same(from, type)) return 0;
    if (type_is_arithmetic(from) && type_is_arithmetic(type)) {
        bool promotes = type_same(type_promoted(from), type) ||
                        (from->kind == TYPE_F32 && type->kind == TYPE_F64);
        return promotes ? 1 : 2;
    }
    if (type->kind == TYPE_BOOL && from->kind == TYPE_POINTER) return 2;
    if (type->kind != TYPE_POINTER) return -1;
    if (is_null(e)) return 2;
    if (from->kind != TYPE_POINTER || !type_points_alike(type, from)) return -1;
    return type->base->kind == TYPE_VOID ? 2 : 1;
}

Expression *operator_convert(Parser *p, Expression *e, const Type *type, const char *what) {
    if (type->is_reference) return operator_bind(p, e, type);
    if (operator_conversion(p, e, type) >= 0) return operator_cast(p, e, type);
    Str from = type_name(p->arena, e->type), to = type_name(p->arena, type);
    bool pointers = e->type->kind == TYPE_POINTER && type->kind == TYPE_POINTER;
    if (pointers && type_same(e->type->base, type->base) && e->type->base->is_const)
        parser_fail(p, e->place,
                    "%s is `%.*s`, which must not be written through `%.*s`: add const", what,
                    STR_ARG(from), STR_ARG(to));
    else if (type_is_scalar(e->type) && type_is_scalar(type))
        parser_fail(p, e->place,
                    "%s is `%.*s` and must be `%.*s`: if you mean it, write a cast, "
                    "(%.*s)",
                    what, STR_ARG(from), STR_ARG(to), STR_ARG(to));
    else
        parser_fail(p, e->place, "%s is `%.*s` and must be `%.*s`", what, STR_ARG(from),
                    STR_ARG(to));
    return operator_zero(p, e->place);
}

Expression *operator_condition(Parser *p, Expression *e) {
    e = operator_value(p, e);
    if (!type_is_scalar(e->type))
        return refused(p, e, e->place, "a condition must be a number or a pointer, not `%.*s`");
    return operator_cast(p, e, &type_bool);
}

Expression *operator_bind(Parser *p, Expression *e, const Type *type) {
    const Type *pointer = type_pointer(p->arena, type->base);
    if (operator_is_lvalue(e) && type_points_alike(type, &(Type){.base = e->type})) {
        note_address(e);
        return address_of(p, e, pointer, e->place);
    }
    if (!type->base->is_const)
        return refused(p, e, e->place,
                       "a reference needs a variable of its type here, not a value "
                       "of type `%.*s`");
    Variable *temporary = declare_temporary(p, type_plain(p->arena, type->base), e->place);
    Expression *variable = operator_variable(p, temporary, e->place);
    temporary->address_taken = true;
    Expression *value = operator_convert(p, e, temporary->type, "this value");
    return operator_comma(p, operator_assign(p, TOKEN_ASSIGN, variable, value, e->place),
                          address_of(p, variable, pointer, e->place));
}

// --- binary operators ---

static const ExpressionKind BINARY[TOKEN_KINDS] = {[TOKEN_PLUS] = EXPRESSION_ADD,
                                                   [TOKEN_MINUS] = EXPRESSION_SUBTRACT,
                                                   [TOKEN_STAR] = EXPRESSION_MULTIPLY,
                                                   [TOKEN_SLASH] = EXPRESSION_DIVIDE,
                                                   [TOKEN_PERCENT] = EXPRESSION_REMAINDER,
                                                   [TOKEN_SHIFT_LEFT] = EXPRESSION_SHIFT_LEFT,
                                                   [TOKEN_SHIFT_RIGHT] = EXPRESSION_SHIFT_RIGHT,
                                                   [TOKEN_AND] = EXPRESSION_AND,
                                                   [TOKEN_OR] = EXPRESSION_OR,
                                                   [TOKEN_XOR] = EXPRESSION_XOR,
                                                   [TOKEN_LESS] = EXPRESSION_LESS,
                                                   [TOKEN_GREATER] = EXPRESSION_LESS,
                                                   [TOKEN_LESS_EQUAL] = EXPRESSION_LESS_EQUAL,
                                                   [TOKEN_GREATER_EQUAL] = EXPRESSION_LESS_EQUAL,
                                                   [TOKEN_EQUAL] = EXPRESSION_EQUAL,
                                                   [TOKEN_NOT_EQUAL] = EXPRESSION_NOT_EQUAL,
                                                   [TOKEN_LOGICAL_AND] = EXPRESSION_LOGICAL_AND,
                                                   [TOKEN_LOGICAL_OR] = EXPRESSION_LOGICAL_OR};

// An operator that the program defines, or an error.
static Expression *mismatch(Parser *p, TokenKind kind, Expression *a, Expression *b, Place place) {
    Buf name = {.arena = p->arena};
    buf_format(&name, "operator%.*s", STR_ARG(token_spelling(kind)));
    Expression *call = call_operator(p, buf_str(&name), a, b, place);
    if (call) return call;
    parser_fail(p, place, "`%.*s` does not take `%.*s` and `%.*s`%s", STR_ARG(token_spelling(kind)),
                STR_ARG(type_name(p->arena, a->type)), STR_ARG(type_name(p->arena, b->type)),
                a->type->kind == TYPE_STRUCT || b->type->kind == TYPE_STRUCT
                    ? ": write it for each member"
                    : "");
    return operator_zero(p, place);
}

// pointer + integer: the integer in bytes.
static Expression *offset(Parser *p, TokenKind kind, Expression *pointer, Expression *index,
                          Place place) {
    int64_t size = (int64_t)pointer->type->base->size;
    if (size == 0) return mismatch(p, kind, pointer, index, place);
    Expression *bytes = operator_cast(p, index, &type_long);
    Expression *each = operator_integer(p, size, &type_long, place);
    if (bytes->kind == EXPRESSION_INTEGER)
        bytes = operator_integer(p, (int64_t)((uint64_t)bytes->integer * (uint64_t)size),
                                 &type_long, place);
    else if (size != 1)
        bytes = with_both(p, EXPRESSION_MULTIPLY, &type_long, bytes, each, place);
    const Type *type = type_plain(p->arena, pointer->type);
    return with_both(p, BINARY[kind], type, pointer, bytes, place);
}

static Expression *pointer_arithmetic(Parser *p, TokenKind kind, Expression *a, Expression *b,
                                      Place place) {
    if (kind == TOKEN_PLUS && type_is_integer(a->type)) return offset(p, kind, b, a, place);
    if ((kind == TOKEN_PLUS || kind == TOKEN_MINUS) && type_is_integer(b->type))
        return offset(p, kind, a, b, place);
    bool both = a->type->kind == TYPE_POINTER && b->type->kind == TYPE_POINTER;
    if (kind != TOKEN_MINUS || !both || a->type->base->size == 0 ||
        a->type->base->size != b->type->base->size)
        return mismatch(p, kind, a, b, place);
    Expression *bytes =
        with_both(p, EXPRESSION_SUBTRACT, &type_long, operator_cast(p, a, &type_long),
                  operator_cast(p, b, &type_long), place);
    Expression *size = operator_integer(p, (int64_t)a->type->base->size, &type_long, place);
    return with_both(p, EXPRESSION_DIVIDE, &type_long, bytes, size, place);
}

static Expression *compare(Parser *p, TokenKind kind, Expression *a, Expression *b, Place place) {
    const Type *type = NULL;
    if (type_is_arithmetic(a->type) && type_is_arithmetic(b->type))
        type = type_common(a->type, b->type);
    else if (a->type->kind == TYPE_POINTER && operator_conversion(p, b, a->type) >= 0)
        type = a->type;
    else if (b->type->kind == TYPE_POINTER && operator_conversion(p, a, b->type) >= 0)
        type = b->type;
    else
        return mismatch(p, kind, a, b, place);
    a = operator_cast(p, a, type), b = operator_cast(p, b, type);
    bool swap = kind == TOKEN_GREATER || kind == TOKEN_GREATER_EQUAL;
    return with_both(p, BINARY[kind], &type_bool, swap ? b : a, swap ? a : b, place);
}

Expression *operator_binary(Parser *p, TokenKind kind, Expression *a, Expression *b, Place place) {
    if (parser_failed(p)) return operator_zero(p, place);
    bool adds = kind == TOKEN_PLUS || kind == TOKEN_MINUS;
    a = adds ? decayed(p, a) : operator_value(p, a),
    b = adds ? decayed(p, b) : operator_value(p, b);
    if (kind == TOKEN_LOGICAL_AND || kind == TOKEN_LOGICAL_OR)
        return with_both(p, BINARY[kind], &type_bool, operator_condition(p, a),
                         operator_condition(p, b), place);
    if (BINARY[kind] >= EXPRESSION_LESS) return compare(p, kind, a, b, place);
    if (a->type->kind == TYPE_POINTER || b->type->kind == TYPE_POINTER)
        return pointer_arithmetic(p, kind, a, b, place);
    bool integers = type_is_integer(a->type) && type_is_integer(b->type);
    bool whole = BINARY[kind] >= EXPRESSION_REMAINDER; // only of integers
    if (whole ? !integers : !type_is_arithmetic(a->type) || !type_is_arithmetic(b->type))
        return mismatch(p, kind, a, b, place);
    if (a->type->kind == TYPE_F16 && b->type->kind == TYPE_F16)
        return refused(p, a, place,
                       "arithmetic of `%.*s` is not compiled here: compute with "
                       "__half2float(x), and store __float2half(y)");
    if (kind == TOKEN_SHIFT_LEFT || kind == TOKEN_SHIFT_RIGHT) {
        const Type *type = type_promoted(a->type);
        return with_both(p, BINARY[kind], type, operator_cast(p, a, type),
                         operator_cast(p, b, &type_unsigned), place);
    }
    const Type *type = type_common(a->type, b->type);
    return with_both(p, BINARY[kind], type, operator_cast(p, a, type), operator_cast(p, b, type),
                     place);
}

Expression *operator_unary(Parser *p, TokenKind kind, Expression *e, Place place) {
    if (kind == TOKEN_STAR) return operator_dereference(p, e, place);
    if (kind == TOKEN_AND && e->kind == EXPRESSION_FUNCTION) return e;
    if (kind == TOKEN_AND) {
        if (!operator_is_lvalue(e))
            return refused(p, e, place,
                           "& needs a variable or an element, not a value of type `%.*s`");
        note_address(e);
        return address_of(p, e, type_pointer(p->arena, e->type), place);
    }
    e = operator_value(p, e);
    if (kind == TOKEN_NOT)
        return with_left(p, EXPRESSION_NOT, &type_bool, operator_condition(p, e), place);
    if (kind == TOKEN_TILDE ? !type_is_integer(e->type) : !type_is_arithmetic(e->type))
        return refused(p, e, place, "this operator does not take `%.*s`");
    const Type *type = type_promoted(e->type);
    e = operator_cast(p, e, type);
    if (kind == TOKEN_PLUS) return e;
    if (kind == TOKEN_MINUS && e->kind == EXPRESSION_INTEGER)
        return operator_integer(p, type_value(type->kind, 0 - (uint64_t)e->integer), type, place);
    return with_left(p, kind == TOKEN_MINUS ? EXPRESSION_NEGATE : EXPRESSION_COMPLEMENT, type, e,
                     place);
}

Expression *operator_comma(Parser *p, Expression *a, Expression *b) {
    return with_both(p, EXPRESSION_COMMA, b->type, a, b, b->place);
}

Expression *operator_conditional(Parser *p, Expression *condition, Expression *a, Expression *b,
                                 Place place) {
    a = operator_value(p, a), b = operator_value(p, b);
    const Type *type = NULL;
    if (type_is_arithmetic(a->type) && type_is_arithmetic(b->type))
        type = type_same(a->type, b->type) ? type_plain(p->arena, a->type)
                                           : type_common(a->type, b->type);
    else if (a->type->kind == TYPE_VOID && b->type->kind == TYPE_VOID)
        type = &type_void;
    else if (operator_conversion(p, b, a->type) >= 0)
        type = a->type;
    else if (operator_conversion(p, a, b->type) >= 0)
        type = b->type;
    if (!type) {
        parser_fail(p, place, "the two sides of `:` have different types, `%.*s` and `%.*s`",
                    STR_ARG(type_name(p->arena, a->type)), STR_ARG(type_name(p->arena, b->type)));
        return operator_zero(p, place);
    }
    Expression *e = with_both(p, EXPRESSION_CONDITIONAL, type_plain(p->arena, type),
                              operator_cast(p, a, type), operator_cast(p, b, type), place);
    e->condition = operator_condition(p, condition);
    return e;
}

// --- assignments ---

static bool is_pure(const Expression *e);

// Whether the address of an lvalue can be computed twice.
static bool is_pure_place(const Expression *e) {
    return e->kind == EXPRESSION_VARIABLE ||
           (e->kind == EXPRESSION_MEMBER && is_pure_place(e->left)) ||
           (e->kind == EXPRESSION_DEREFERENCE && is_pure(e->left));
}

static bool is_pure(const Expression *e) {
    if (e->kind == EXPRESSION_INTEGER || e->kind == EXPRESSION_FLOATING) return true;
    if (operator_is_lvalue(e)) return !e->type->is_volatile && is_pure_place(e);
    if (e->kind == EXPRESSION_BUILT_IN) return e->built_in == BUILT_IN_SPECIAL;
    if (e->kind == EXPRESSION_ADDRESS) return is_pure_place(e->left);
    bool plain = e->kind >= EXPRESSION_CAST && e->kind <= EXPRESSION_LOGICAL_OR;
    return plain && is_pure(e->left) && (!e->right || is_pure(e->right));
}

static Expression *assign(Parser *p, Expression *to, Expression *e, Place place) {
    const Type *type = type_plain(p->arena, to->type);
    return with_both(p, EXPRESSION_ASSIGN, type, to, operator_convert(p, e, type, "this value"),
                     place);
}

static bool can_assign(Parser *p, const Expression *to, Place place) {
    if (!operator_is_lvalue(to) || to->type->kind == TYPE_ARRAY)
        parser_fail(p, place, "only a variable, an element or a member can be assigned to");
    else if (to->type->is_const)
        parser_fail(p, place, "this is `%.*s`, which cannot be changed: declare it without const",
                    STR_ARG(type_name(p->arena, to->type)));
    return !parser_failed(p);
}

// An lvalue whose address can be computed twice; *first is evaluated before, or NULL.
static Expression *fixed_place(Parser *p, Expression *to, Expression **first) {
    *first = NULL;
    if (is_pure_place(to)) return to;
    const Type *type = type_pointer(p->arena, to->type);
    Expression *pointer = operator_variable(p, declare_temporary(p, type, to->place), to->place);
    *first = assign(p, pointer, address_of(p, to, type, to->place), to->place);
    return with_left(p, EXPRESSION_DEREFERENCE, to->type, pointer, to->place);
}

static TokenKind without_assign(TokenKind kind) {
    static const TokenKind plain[] = {
        [TOKEN_ADD_ASSIGN] = TOKEN_PLUS,
        [TOKEN_SUBTRACT_ASSIGN] = TOKEN_MINUS,
        [TOKEN_MULTIPLY_ASSIGN] = TOKEN_STAR,
        [TOKEN_DIVIDE_ASSIGN] = TOKEN_SLASH,
        [TOKEN_REMAINDER_ASSIGN] = TOKEN_PERCENT,
        [TOKEN_AND_ASSIGN] = TOKEN_AND,
        [TOKEN_OR_ASSIGN] = TOKEN_OR,
        [TOKEN_XOR_ASSIGN] = TOKEN_XOR,
        [TOKEN_SHIFT_LEFT_ASSIGN] = TOKEN_SHIFT_LEFT,
        [TOKEN_SHIFT_RIGHT_ASSIGN] = TOKEN_SHIFT_RIGHT,
        [TOKEN_INCREMENT] = TOKEN_PLUS,
        [TOKEN_DECREMENT] = TOKEN_MINUS,
    };
    return plain[kind];
}

Expression *operator_assign(Parser *p, TokenKind kind, Expression *to, Expression *e, Place place) {
    if (!can_assign(p, to, place)) return operator_zero(p, place);
    if (kind == TOKEN_ASSIGN) return assign(p, to, e, place);
    Expression *first;
    to = fixed_place(p, to, &first);
    Expression *value = operator_binary(p, without_assign(kind), to, e, place);
    Expression *changed = assign(p, to, value, place);
    return first ? operator_comma(p, first, changed) : changed;
}

Expression *operator_step_after(Parser *p, TokenKind kind, Expression *to, Place place) {
    if (!can_assign(p, to, place)) return operator_zero(p, place);
    Expression *first, *one = operator_integer(p, 1, &type_int, place);
    to = fixed_place(p, to, &first);
    const Type *type = type_plain(p->arena, to->type);
    Expression *before = operator_variable(p, declare_temporary(p, type, place), place);
    Expression *value = operator_binary(p, without_assign(kind), before, one, place);
    Expression *list = operator_comma(p, assign(p, before, to, place), assign(p, to, value, place));
    list = operator_comma(p, list, before);
    return first ? operator_comma(p, first, list) : list;
}

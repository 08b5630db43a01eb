// Evaluates constant expressions: sizes of arrays, arguments of templates, labels of cases.
#include <math.h>

#include "simt/cudac/parse/parser.h"

static bool wrap(const Type *type, uint64_t bits, int64_t *value) {
    bool known = type_is_integer(type) || type->kind == TYPE_POINTER;
    if (known) *value = type_value(type->kind, bits);
    return known;
}

static bool divide(ExpressionKind kind, const Type *type, int64_t a, int64_t b, int64_t *value) {
    if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
    bool divides = kind == EXPRESSION_DIVIDE;
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (type_is_signed(type)) return wrap(type, (uint64_t)(divides ? a / b : a % b), value);
    return wrap(type, divides ? x / y : x % y, value);
}

static bool shift(ExpressionKind kind, const Type *type, int64_t a, int64_t b, int64_t *value) {
    if (b < 0 || b >= (int64_t)type->size * 8) return false;
    if (kind == EXPRESSION_SHIFT_LEFT) return wrap(type, (uint64_t)a << b, value);
    return wrap(type, type_is_signed(type) ? (uint64_t)(a >> b) : (uint64_t)a >> b, value);
}

static bool compare_floating(const Expression *e, int64_t *value) {
    double a, b;
    if (!constant_floating(e->left, &a) || !constant_floating(e->right, &b)) return false;
    switch (e->kind) {
    case EXPRESSION_LESS:
        *value = a < b;
        break;
    case EXPRESSION_LESS_EQUAL:
        *value = a <= b;
        break;
    case EXPRESSION_EQUAL:
        *value = a == b;
        break;
    default:
        *value = a != b;
    }
    return true;
}

static bool apply(const Expression *e, int64_t a, int64_t b, int64_t *value) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool less_signed = type_is_signed(e->left->type);
    switch (e->kind) {
    case EXPRESSION_ADD:
        return wrap(e->type, x + y, value);
    case EXPRESSION_SUBTRACT:
        return wrap(e->type, x - y, value);
    case EXPRESSION_MULTIPLY:
        return wrap(e->type, x * y, value);
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
        return divide(e->kind, e->type, a, b, value);
    case EXPRESSION_SHIFT_LEFT:
    case EXPRESSION_SHIFT_RIGHT:
        return shift(e->kind, e->type, a, b, value);
    case EXPRESSION_AND:
        return wrap(e->type, x & y, value);
    case EXPRESSION_OR:
        return wrap(e->type, x | y, value);
    case EXPRESSION_XOR:
        return wrap(e->type, x ^ y, value);
    case EXPRESSION_LESS:
        *value = less_signed ? a < b : x < y;
        return true;
    case EXPRESSION_LESS_EQUAL:
        *value = less_signed ? a <= b : x <= y;
        return true;
    case EXPRESSION_EQUAL:
        *value = a == b;
        return true;
    case EXPRESSION_NOT_EQUAL:
        *value = a != b;
        return true;
    default:
        return false;
    }
}

static bool cast(const Expression *e, int64_t *value) {
    double floating;
    if (!type_is_floating(e->left->type))
        return constant_integer(e->left, value) && wrap(e->type, (uint64_t)*value, value);
    if (!constant_floating(e->left, &floating) || !(fabs(floating) < 9e18)) return false;
    if (e->type->kind == TYPE_BOOL) *value = floating != 0;
    return e->type->kind == TYPE_BOOL || wrap(e->type, (uint64_t)(int64_t)floating, value);
}

bool constant_integer(const Expression *e, int64_t *value) {
    int64_t a, b;
    if (e->kind == EXPRESSION_INTEGER) {
        *value = e->integer;
        return true;
    }
    if (e->kind == EXPRESSION_CAST) return type_is_scalar(e->type) && cast(e, value);
    if (e->kind == EXPRESSION_CONDITIONAL)
        return constant_integer(e->condition, &a) &&
               constant_integer(a ? e->left : e->right, value);
    if (e->kind == EXPRESSION_NEGATE)
        return constant_integer(e->left, &a) && wrap(e->type, 0 - (uint64_t)a, value);
    if (e->kind == EXPRESSION_COMPLEMENT)
        return constant_integer(e->left, &a) && wrap(e->type, ~(uint64_t)a, value);
    if (e->kind == EXPRESSION_NOT) return constant_integer(e->left, &a) && ((*value = !a), true);
    if (e->kind == EXPRESSION_LOGICAL_AND || e->kind == EXPRESSION_LOGICAL_OR) {
        if (!constant_integer(e->left, value)) return false;
        return (*value != 0) == (e->kind == EXPRESSION_LOGICAL_OR) ||
               constant_integer(e->right, value);
    }
    if (e->kind < EXPRESSION_ADD || e->kind > EXPRESSION_NOT_EQUAL) return false;
    if (type_is_floating(e->left->type))
        return type_is_integer(e->type) && compare_floating(e, value);
    return constant_integer(e->left, &a) && constant_integer(e->right, &b) && apply(e, a, b, value);
}

static bool floating_arithmetic(const Expression *e, double *value) {
    double a, b;
    if (!constant_floating(e->left, &a) || !constant_floating(e->right, &b)) return false;
    switch (e->kind) {
    case EXPRESSION_ADD:
        *value = a + b;
        break;
    case EXPRESSION_SUBTRACT:
        *value = a - b;
        break;
    case EXPRESSION_MULTIPLY:
        *value = a * b;
        break;
    case EXPRESSION_DIVIDE:
        *value = a / b;
        break;
    default:
        return false;
    }
    if (e->type->kind == TYPE_F32) *value = (double)(float)*value;
    return true;
}

bool constant_floating(const Expression *e, double *value) {
    int64_t integer;
    if (type_is_integer(e->type)) {
        if (!constant_integer(e, &integer)) return false;
        *value = e->type->kind == TYPE_U64 ? (double)(uint64_t)integer : (double)integer;
        return true;
    }
    if (!type_is_floating(e->type)) return false;
    if (e->kind == EXPRESSION_FLOATING)
        *value = e->floating;
    else if (e->kind == EXPRESSION_NEGATE || e->kind == EXPRESSION_CAST) {
        if (!constant_floating(e->left, value)) return false;
        if (e->kind == EXPRESSION_NEGATE) *value = -*value;
        if (e->type->kind == TYPE_F32) *value = (double)(float)*value;
    } else if (e->kind == EXPRESSION_CONDITIONAL) {
        return constant_integer(e->condition, &integer) &&
               constant_floating(integer ? e->left : e->right, value);
    } else {
        return e->kind >= EXPRESSION_ADD && e->kind <= EXPRESSION_DIVIDE &&
               floating_arithmetic(e, value);
    }
    return true;
}

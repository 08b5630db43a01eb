// Simplifies a value before it is made: constants are computed, operations on powers of two become
// shifts and masks, and constants move outward in sums, where an address can take them as an
// offset.
#include <math.h>
#include <string.h>

#include "simt/cudac/generate/graph.h"
#include "simt/cudac/parse/type.h"

bool fold_is_constant(const Value *value) { return value->op == OP_CONSTANT; }

int64_t fold_signed(const Value *constant) {
    return constant->kind == TYPE_U32 ? (int64_t)(int32_t)constant->integer : constant->integer;
}

static bool is_integer(TypeKind kind) { return kind == TYPE_U32 || kind == TYPE_U64; }
static bool is_signed(TypeKind type) {
    return type == TYPE_S8 || type == TYPE_S16 || type == TYPE_S32 || type == TYPE_S64;
}
static bool is_zero(const Value *value) { return fold_is_constant(value) && value->integer == 0; }
static unsigned bits_of(const Value *value) { return value->kind == TYPE_U64 ? 64 : 32; }

// The exponent of a power of two, or -1.
static int power_of(const Value *value) {
    if (!fold_is_constant(value)) return -1;
    uint64_t bits = (uint64_t)value->integer;
    if (bits == 0 || (bits & (bits - 1)) != 0) return -1;
    int power = 0;
    while (bits >> power != 1) power++;
    return power;
}

static float to_float(const Value *value) {
    uint32_t bits = (uint32_t)value->integer;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static double to_double(const Value *value) {
    double x;
    memcpy(&x, &value->integer, sizeof x);
    return x;
}
static Value *from_float(Graph *graph, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return graph_constant(graph, TYPE_F32, bits);
}
static Value *from_double(Graph *graph, double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return graph_constant(graph, TYPE_F64, bits);
}

// --- constants ---

// What C calls a op b. Division by zero is left to the device.
static bool compute(const Value *v, uint64_t a, uint64_t b, uint64_t *result) {
    bool sign = is_signed(v->from);
    unsigned bits = bits_of(v->args[0]);
    int64_t x = fold_signed(v->args[0]), y = fold_signed(v->args[1]);
    switch (v->op) {
    case OP_ADD:
        *result = a + b;
        return true;
    case OP_SUBTRACT:
        *result = a - b;
        return true;
    case OP_MULTIPLY:
        *result = a * b;
        return true;
    case OP_AND:
        *result = a & b;
        return true;
    case OP_OR:
        *result = a | b;
        return true;
    case OP_XOR:
        *result = a ^ b;
        return true;
    case OP_SHIFT_LEFT:
        *result = b < bits ? a << b : 0;
        return true;
    case OP_SHIFT_RIGHT:
        if (sign)
            *result = (uint64_t)(x >> (b < bits ? b : bits - 1));
        else
            *result = b < bits ? a >> b : 0;
        return true;
    case OP_DIVIDE:
        if (b == 0 || (sign && y == -1)) return false;
        *result = sign ? (uint64_t)(x / y) : a / b;
        return true;
    case OP_REMAINDER:
        if (b == 0 || (sign && y == -1)) return false;
        *result = sign ? (uint64_t)(x % y) : a % b;
        return true;
    case OP_MIN:
        *result = (sign ? x < y : a < b) ? a : b;
        return true;
    case OP_MAX:
        *result = (sign ? x > y : a > b) ? a : b;
        return true;
    case OP_EQUAL:
        *result = a == b;
        return true;
    case OP_NOT_EQUAL:
        *result = a != b;
        return true;
    case OP_LESS:
        *result = sign ? x < y : a < b;
        return true;
    case OP_LESS_EQUAL:
        *result = sign ? x <= y : a <= b;
        return true;
    default:
        return false;
    }
}

static Value *fold_floats(Graph *graph, const Value *v) {
    if (v->from == TYPE_F16) return NULL;
    bool wide = v->args[0]->kind == TYPE_F64;
    double a = wide ? to_double(v->args[0]) : (double)to_float(v->args[0]);
    double b = wide ? to_double(v->args[1]) : (double)to_float(v->args[1]);
    double result;
    switch (v->op) {
    case OP_ADD:
        result = wide ? a + b : (double)((float)a + (float)b);
        break;
    case OP_SUBTRACT:
        result = wide ? a - b : (double)((float)a - (float)b);
        break;
    case OP_MULTIPLY:
        result = wide ? a * b : (double)((float)a * (float)b);
        break;
    case OP_DIVIDE:
        result = wide ? a / b : (double)((float)a / (float)b);
        break;
    case OP_LESS:
        return graph_constant(graph, TYPE_BOOL, a < b);
    case OP_LESS_EQUAL:
        return graph_constant(graph, TYPE_BOOL, a <= b);
    case OP_EQUAL:
        return graph_constant(graph, TYPE_BOOL, a == b);
    case OP_NOT_EQUAL:
        return graph_constant(graph, TYPE_BOOL, a != b);
    default:
        return NULL;
    }
    return wide ? from_double(graph, result) : from_float(graph, (float)result);
}

static Value *fold_constants(Graph *graph, const Value *v) {
    if (v->arg_count != 2 || !fold_is_constant(v->args[0]) || !fold_is_constant(v->args[1]))
        return NULL;
    TypeKind kind = v->args[0]->kind;
    if (kind == TYPE_F32 || kind == TYPE_F64) return fold_floats(graph, v);
    uint64_t result, a = (uint64_t)v->args[0]->integer, b = (uint64_t)v->args[1]->integer;
    if (v->op == OP_MULTIPLY_WIDE) {
        int64_t x = fold_signed(v->args[0]), y = fold_signed(v->args[1]);
        return graph_constant(graph, TYPE_U64, is_signed(v->from) ? x * y : (int64_t)(a * b));
    }
    if ((!is_integer(kind) && kind != TYPE_BOOL) || !compute(v, a, b, &result)) return NULL;
    return graph_constant(graph, v->kind, (int64_t)result);
}

// --- what is known about a number ---

// Whether a value is known to be at least 0 as a signed number.
static bool is_nonnegative(const Value *value) {
    switch (value->op) {
    case OP_CONSTANT:
        return fold_signed(value) >= 0;
    case OP_SPECIAL:
        return true;
    case OP_SHIFT_RIGHT:
        return is_nonnegative(value->args[0]) ||
               (!is_signed(value->from) && fold_is_constant(value->args[1]) &&
                value->args[1]->integer > 0);
    case OP_AND:
        return is_nonnegative(value->args[0]) || is_nonnegative(value->args[1]);
    case OP_REMAINDER:
    case OP_DIVIDE:
        return is_nonnegative(value->args[0]) && is_nonnegative(value->args[1]);
    case OP_SELECT:
        return is_nonnegative(value->args[1]) && is_nonnegative(value->args[2]);
    case OP_CONVERT:
        return value->from == TYPE_BOOL || value->integer == TYPE_U8 || value->integer == TYPE_U16;
    case OP_POPC:
    case OP_CLZ:
        return true;
    default:
        return false;
    }
}

// --- sums and products ---

static Value *binary(Graph *graph, const Value *v, Op op, Value *a, Value *b) {
    return graph_binary(graph, op, v->from, a, b);
}

static bool has_constant(const Value *value, Op op) {
    return value->op == op && fold_is_constant(value->args[1]);
}

static Value *fold_add(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    if (is_zero(b)) return a;
    if (fold_is_constant(b)) {
        if (has_constant(a, OP_ADD))
            return binary(graph, v, OP_ADD, a->args[0], binary(graph, v, OP_ADD, a->args[1], b));
        if (a->op == OP_SYMBOL || a->op == OP_SLOT) {
            Value moved = {.op = a->op, .kind = a->kind, .space = a->space, .object = a->object};
            moved.integer = a->integer + fold_signed(b);
            return graph_pure(graph, moved, 0, NULL);
        }
        return NULL;
    }
    if (has_constant(a, OP_ADD))
        return binary(graph, v, OP_ADD, binary(graph, v, OP_ADD, a->args[0], b), a->args[1]);
    if (has_constant(b, OP_ADD))
        return binary(graph, v, OP_ADD, binary(graph, v, OP_ADD, a, b->args[0]), b->args[1]);
    if (a->op == OP_SYMBOL && a->integer != 0) {
        Value start = {.op = OP_SYMBOL, .kind = a->kind, .space = a->space, .object = a->object};
        Value *sum = binary(graph, v, OP_ADD, graph_pure(graph, start, 0, NULL), b);
        return binary(graph, v, OP_ADD, sum, graph_constant(graph, a->kind, a->integer));
    }
    return NULL;
}

static Value *fold_subtract(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    if (a == b) return graph_constant(graph, v->kind, 0);
    if (fold_is_constant(b))
        return binary(graph, v, OP_ADD, a, graph_constant(graph, v->kind, -b->integer));
    if (is_zero(a)) return graph_unary(graph, OP_NEGATE, v->kind, b);
    if (has_constant(a, OP_ADD))
        return binary(graph, v, OP_ADD, binary(graph, v, OP_SUBTRACT, a->args[0], b), a->args[1]);
    if (a->op == OP_ADD && a->args[1] == b) return a->args[0];
    if (a->op == OP_ADD && a->args[0] == b) return a->args[1];
    return NULL;
}

static Value *fold_multiply(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    if (!fold_is_constant(b)) return NULL;
    if (b->integer == 0) return b;
    if (b->integer == 1) return a;
    if (has_constant(a, OP_ADD))
        return binary(graph, v, OP_ADD, binary(graph, v, OP_MULTIPLY, a->args[0], b),
                      binary(graph, v, OP_MULTIPLY, a->args[1], b));
    if (has_constant(a, OP_MULTIPLY))
        return binary(graph, v, OP_MULTIPLY, a->args[0],
                      binary(graph, v, OP_MULTIPLY, a->args[1], b));
    if (a->op == OP_CONVERT && a->kind == TYPE_U64 && is_integer(a->args[0]->kind) &&
        graph_size(a->from) == 4 && b->integer == (int64_t)(int32_t)b->integer && b->integer > 0)
        return graph_binary(graph, OP_MULTIPLY_WIDE, a->from, a->args[0],
                            graph_constant(graph, TYPE_U32, b->integer));
    int power = power_of(b);
    if (power < 0) return NULL;
    return binary(graph, v, OP_SHIFT_LEFT, a, graph_constant(graph, TYPE_U32, power));
}

static Value *fold_divide(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    int power = power_of(b);
    bool remainder = v->op == OP_REMAINDER;
    if (power < 0) return NULL;
    if (power == 0) return remainder ? graph_constant(graph, v->kind, 0) : a;
    TypeKind kind = v->kind;
    Value *shift = graph_constant(graph, TYPE_U32, power);
    if (!is_signed(v->from) || is_nonnegative(a)) {
        if (!remainder) return graph_binary(graph, OP_SHIFT_RIGHT, kind, a, shift);
        return binary(graph, v, OP_AND, a, graph_constant(graph, kind, b->integer - 1));
    }
    // A negative number is rounded toward zero: add 2^power - 1 to it first.
    unsigned bits = bits_of(v);
    Value *sign =
        graph_binary(graph, OP_SHIFT_RIGHT, v->from, a, graph_constant(graph, TYPE_U32, bits - 1));
    Value *more = graph_binary(graph, OP_SHIFT_RIGHT, kind, sign,
                               graph_constant(graph, TYPE_U32, (int64_t)bits - power));
    Value *sum = binary(graph, v, OP_ADD, a, more);
    if (!remainder) return graph_binary(graph, OP_SHIFT_RIGHT, v->from, sum, shift);
    Value *whole = binary(graph, v, OP_AND, sum, graph_constant(graph, kind, -b->integer));
    return binary(graph, v, OP_SUBTRACT, a, whole);
}

static Value *fold_shift(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    if (!fold_is_constant(b)) return NULL;
    if (b->integer == 0) return a;
    unsigned bits = bits_of(v);
    if (has_constant(a, v->op) && (v->op == OP_SHIFT_LEFT || a->from == v->from)) {
        int64_t sum = a->args[1]->integer + b->integer;
        if (sum >= bits && !is_signed(v->from)) return graph_constant(graph, v->kind, 0);
        if (sum < bits)
            return binary(graph, v, v->op, a->args[0], graph_constant(graph, TYPE_U32, sum));
    }
    if (v->op == OP_SHIFT_LEFT && has_constant(a, OP_ADD))
        return binary(graph, v, OP_ADD, binary(graph, v, v->op, a->args[0], b),
                      binary(graph, v, v->op, a->args[1], b));
    if (v->op == OP_SHIFT_LEFT && v->kind == TYPE_U64 && a->op == OP_CONVERT &&
        a->args[0]->kind == TYPE_U32 && graph_size(a->from) == 4 && b->integer < 31)
        return graph_binary(graph, OP_MULTIPLY_WIDE, a->from, a->args[0],
                            graph_constant(graph, TYPE_U32, (int64_t)1 << b->integer));
    if (v->op == OP_SHIFT_RIGHT && is_signed(v->from) && is_nonnegative(a))
        return graph_binary(graph, v->op, v->kind, a, b);
    return NULL;
}

static Value *fold_logic(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    bool and = v->op == OP_AND;
    if (a == b) return v->op == OP_XOR ? graph_constant(graph, v->kind, 0) : a;
    if (!fold_is_constant(b)) return NULL;
    bool ones = v->kind == TYPE_BOOL ? b->integer == 1 : fold_signed(b) == -1;
    if (b->integer == 0) return and? b : a;
    if (ones && v->op != OP_XOR) return and? a : b;
    if (ones && v->kind == TYPE_BOOL) return graph_not(graph, a);
    if (has_constant(a, v->op))
        return binary(graph, v, v->op, a->args[0], binary(graph, v, v->op, a->args[1], b));
    return NULL;
}

// --- comparisons ---

static Value *fold_not(Graph *graph, const Value *v) {
    Value *a = v->args[0];
    if (v->kind != TYPE_BOOL)
        return fold_is_constant(a) ? graph_constant(graph, v->kind, ~a->integer) : NULL;
    if (fold_is_constant(a)) return graph_constant(graph, TYPE_BOOL, !a->integer);
    if (a->op == OP_NOT) return a->args[0];
    if (a->op == OP_EQUAL)
        return graph_binary(graph, OP_NOT_EQUAL, a->from, a->args[0], a->args[1]);
    if (a->op == OP_NOT_EQUAL && is_integer(a->args[0]->kind))
        return graph_binary(graph, OP_EQUAL, a->from, a->args[0], a->args[1]);
    if ((a->op == OP_LESS || a->op == OP_LESS_EQUAL) && is_integer(a->args[0]->kind))
        return graph_binary(graph, a->op == OP_LESS ? OP_LESS_EQUAL : OP_LESS, a->from, a->args[1],
                            a->args[0]);
    return NULL;
}

static Value *fold_equal(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    bool equal = v->op == OP_EQUAL;
    if (a->kind == TYPE_F16 || a->kind == TYPE_F32 || a->kind == TYPE_F64) return NULL;
    if (a == b) return graph_constant(graph, TYPE_BOOL, equal);
    if (a->kind == TYPE_BOOL && !fold_is_constant(b)) {
        Value *differ = graph_binary(graph, OP_XOR, TYPE_BOOL, a, b);
        return equal ? graph_not(graph, differ) : differ;
    }
    if (!fold_is_constant(b)) return NULL;
    if (a->kind == TYPE_BOOL) return (b->integer != 0) == equal ? a : graph_not(graph, a);
    if (a->op == OP_CONVERT && a->from == TYPE_BOOL) {
        if (b->integer > 1) return graph_constant(graph, TYPE_BOOL, !equal);
        return (b->integer == 1) == equal ? a->args[0] : graph_not(graph, a->args[0]);
    }
    if (has_constant(a, OP_ADD))
        return binary(graph, v, v->op, a->args[0],
                      graph_constant(graph, a->kind, b->integer - a->args[1]->integer));
    return NULL;
}

// a < b and a <= b of integers.
static Value *fold_less(Graph *graph, const Value *v) {
    Value *a = v->args[0], *b = v->args[1];
    bool less = v->op == OP_LESS, sign = is_signed(v->from);
    if (!is_integer(a->kind)) return NULL;
    if (a == b) return graph_constant(graph, TYPE_BOOL, !less);
    if (sign && is_nonnegative(a) && is_nonnegative(b))
        return graph_binary(graph, v->op, a->kind, a, b);
    if (sign) return NULL;
    if (less && is_zero(b)) return graph_constant(graph, TYPE_BOOL, false);
    if (!less && is_zero(a)) return graph_constant(graph, TYPE_BOOL, true);
    if (less && is_zero(a)) return binary(graph, v, OP_NOT_EQUAL, b, a);
    if (!less && is_zero(b)) return binary(graph, v, OP_EQUAL, a, b);
    if (less && fold_is_constant(b) && b->integer == 1)
        return binary(graph, v, OP_EQUAL, a, graph_constant(graph, a->kind, 0));
    if (!less && fold_is_constant(a) && a->integer == 1)
        return binary(graph, v, OP_NOT_EQUAL, b, graph_constant(graph, a->kind, 0));
    return NULL;
}

static Value *fold_select(Graph *graph, const Value *v) {
    Value *condition = v->args[0], *a = v->args[1], *b = v->args[2];
    if (fold_is_constant(condition)) return condition->integer ? a : b;
    if (a == b) return a;
    if (condition->op == OP_NOT) return graph_select(graph, condition->args[0], b, a);
    if (v->kind != TYPE_BOOL) return NULL;
    if (fold_is_constant(a) && fold_is_constant(b))
        return a->integer ? condition : graph_not(graph, condition);
    if (fold_is_constant(b))
        return b->integer ? graph_binary(graph, OP_OR, TYPE_BOOL, graph_not(graph, condition), a)
                          : graph_binary(graph, OP_AND, TYPE_BOOL, condition, a);
    if (fold_is_constant(a))
        return a->integer ? graph_binary(graph, OP_OR, TYPE_BOOL, condition, b)
                          : graph_binary(graph, OP_AND, TYPE_BOOL, graph_not(graph, condition), b);
    return graph_binary(graph, OP_OR, TYPE_BOOL,
                        graph_binary(graph, OP_AND, TYPE_BOOL, condition, a),
                        graph_binary(graph, OP_AND, TYPE_BOOL, graph_not(graph, condition), b));
}

// --- conversions ---

static double number_of(const Value *value, TypeKind from) {
    if (value->kind == TYPE_F32) return (double)to_float(value);
    if (value->kind == TYPE_F64) return to_double(value);
    return is_signed(from) ? (double)fold_signed(value) : (double)(uint64_t)value->integer;
}

static Value *convert_constant(Graph *graph, const Value *v) {
    TypeKind to = (TypeKind)v->integer;
    Value *a = v->args[0];
    if (a->kind == TYPE_F16 || to == TYPE_F16) return NULL;
    bool floating = a->kind == TYPE_F32 || a->kind == TYPE_F64;
    if (to == TYPE_F32) {
        if (!floating && is_signed(v->from)) return from_float(graph, (float)fold_signed(a));
        if (!floating) return from_float(graph, (float)(uint64_t)a->integer);
        return from_float(graph, (float)number_of(a, v->from));
    }
    if (to == TYPE_F64) return from_double(graph, number_of(a, v->from));
    if (floating) {
        double x = trunc(number_of(a, v->from));
        if (!(x >= -2147483648.0 && x <= 4294967295.0)) return NULL; // the device saturates
        return graph_constant(graph, v->kind, type_value(to, (uint64_t)(int64_t)x));
    }
    int64_t bits = is_signed(v->from) ? fold_signed(a) : a->integer;
    return graph_constant(graph, v->kind, type_value(to, (uint64_t)bits));
}

// The low 32 bits of a 64-bit sum or product need only the low 32 bits of its parts.
static Value *convert_narrow(Graph *graph, Value *a) {
    switch (a->op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return graph_binary(graph, a->op, TYPE_U32,
                            graph_convert(graph, TYPE_U64, TYPE_U32, a->args[0]),
                            graph_convert(graph, TYPE_U64, TYPE_U32, a->args[1]));
    case OP_MULTIPLY_WIDE:
        return graph_binary(graph, OP_MULTIPLY, TYPE_U32, a->args[0], a->args[1]);
    case OP_SHIFT_LEFT:
        if (!fold_is_constant(a->args[1]) || a->args[1]->integer > 31) return NULL;
        return graph_binary(graph, OP_SHIFT_LEFT, TYPE_U32,
                            graph_convert(graph, TYPE_U64, TYPE_U32, a->args[0]), a->args[1]);
    default:
        return NULL;
    }
}

// A conversion that the device makes in two steps, by way of this type; or void.
static TypeKind step_of(TypeKind from, TypeKind to) {
    bool floating = from == TYPE_F32 || from == TYPE_F64;
    if (graph_size(to) < 4 && to != TYPE_BOOL && to != TYPE_F16) {
        if (floating) return TYPE_S32;
        if (graph_size(from) == 8) return TYPE_U32;
    }
    if (from == TYPE_F16 && to != TYPE_F32) return TYPE_F32;
    if (to == TYPE_F16 && from != TYPE_F32) return TYPE_F32;
    return TYPE_VOID;
}

static Value *fold_convert(Graph *graph, const Value *v) {
    TypeKind to = (TypeKind)v->integer, from = v->from;
    Value *a = v->args[0];
    TypeKind step = to == from ? TYPE_VOID : step_of(from, to);
    if (step != TYPE_VOID)
        return graph_convert(graph, step, to, graph_convert(graph, from, step, a));
    bool integers = is_integer(a->kind) && is_integer(v->kind);
    if (to == from) return a;
    if (fold_is_constant(a)) return convert_constant(graph, v);
    if (integers && graph_size(to) == graph_size(from) && graph_size(to) >= 4) return a;
    if (integers && v->kind == TYPE_U32 && graph_size(to) == 4 && graph_size(from) < 4) return a;
    if (integers && a->kind == TYPE_U64 && v->kind == TYPE_U32 && graph_size(to) == 4) {
        if (a->op == OP_CONVERT && a->args[0]->kind == TYPE_U32) return a->args[0];
        return convert_narrow(graph, a);
    }
    if (integers && a->kind == TYPE_U32 && v->kind == TYPE_U64 && from != TYPE_U32 &&
        is_nonnegative(a))
        return graph_convert(graph, TYPE_U32, TYPE_U64, a);
    if (integers && (to == TYPE_U8 || to == TYPE_U16) && a->kind == TYPE_U32)
        return graph_binary(graph, OP_AND, TYPE_U32, a,
                            graph_constant(graph, TYPE_U32, to == TYPE_U8 ? 0xFF : 0xFFFF));
    return NULL;
}

static Value *fold_unary(Graph *graph, const Value *v) {
    Value *a = v->args[0];
    if (v->op == OP_PART && a->op != OP_LOAD) return NULL;
    if (v->op == OP_BITS && a->op == OP_BITS) return graph_bits(graph, v->kind, a->args[0]);
    if (v->op == OP_BITS && fold_is_constant(a)) return graph_constant(graph, v->kind, a->integer);
    if (v->op != OP_NEGATE || !fold_is_constant(a)) return NULL;
    if (v->kind == TYPE_F32) return from_float(graph, -to_float(a));
    if (v->kind == TYPE_F64) return from_double(graph, -to_double(a));
    return is_integer(v->kind) ? graph_constant(graph, v->kind, -a->integer) : NULL;
}

static bool commutes(Op op) {
    return op == OP_ADD || op == OP_MULTIPLY || op == OP_AND || op == OP_OR || op == OP_XOR ||
           op == OP_EQUAL || op == OP_NOT_EQUAL || op == OP_MIN || op == OP_MAX;
}

static Value *fold_floating(Graph *graph, const Value *v) {
    (void)graph;
    Value *b = v->args[1];
    if (!fold_is_constant(b) || v->kind == TYPE_F16) return NULL;
    double x = number_of(b, v->kind);
    if ((v->op == OP_MULTIPLY || v->op == OP_DIVIDE) && x == 1) return v->args[0];
    if (v->op == OP_SUBTRACT && x == 0 && !signbit(x)) return v->args[0];
    return NULL;
}

Value *fold_value(Graph *graph, Value *v) {
    if (v->arg_count == 0) return NULL;
    if (v->arg_count == 1)
        return v->op == OP_CONVERT ? fold_convert(graph, v)
               : v->op == OP_NOT   ? fold_not(graph, v)
                                   : fold_unary(graph, v);
    if (v->op == OP_SELECT) return fold_select(graph, v);
    if (v->arg_count != 2) return NULL;
    if (commutes(v->op) && v->args[0]->op == OP_CONSTANT) {
        Value *constant = v->args[0];
        v->args[0] = v->args[1];
        v->args[1] = constant;
    }
    Value *constant = fold_constants(graph, v);
    if (constant) return constant;
    if (v->op == OP_EQUAL || v->op == OP_NOT_EQUAL) return fold_equal(graph, v);
    if (v->op == OP_LESS || v->op == OP_LESS_EQUAL) return fold_less(graph, v);
    if (v->op == OP_AND || v->op == OP_OR || v->op == OP_XOR) return fold_logic(graph, v);
    if (!is_integer(v->kind)) return fold_floating(graph, v);
    switch (v->op) {
    case OP_ADD:
        return fold_add(graph, v);
    case OP_SUBTRACT:
        return fold_subtract(graph, v);
    case OP_MULTIPLY:
        return fold_multiply(graph, v);
    case OP_DIVIDE:
    case OP_REMAINDER:
        return fold_divide(graph, v);
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
        return fold_shift(graph, v);
    default:
        return NULL;
    }
}

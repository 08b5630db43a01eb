// Evaluates expressions of host code. See host.h.
#include <math.h>
#include <string.h>

#include "engine/host.h"

typedef HostValue Value;

static Value of_integer(int64_t integer) { return (Value){.integer = integer}; }
static Value of_floating(double floating) { return (Value){.floating = floating}; }

static bool is_floating(const Type *type) {
    return type->kind >= TYPE_F16 && type->kind <= TYPE_F64;
}

static bool is_signed(const Type *type) {
    return type->kind == TYPE_S32 || type->kind == TYPE_S64 || type->kind == TYPE_S8 ||
           type->kind == TYPE_S16;
}

// The bits as a value of an integer or pointer type.
static Value wrapped(uint64_t bits, const Type *type) {
    switch (type->kind) {
    case TYPE_BOOL:
        return of_integer(bits != 0);
    case TYPE_S8:
        return of_integer((int8_t)bits);
    case TYPE_U8:
        return of_integer((uint8_t)bits);
    case TYPE_S16:
        return of_integer((int16_t)bits);
    case TYPE_U16:
        return of_integer((uint16_t)bits);
    case TYPE_S32:
        return of_integer((int32_t)bits);
    case TYPE_U32:
        return of_integer((uint32_t)bits);
    default:
        return of_integer((int64_t)bits);
    }
}

// A double as a value of a type.
static Value rounded(double floating, const Type *type) {
    return of_floating(type->kind == TYPE_F32 ? (double)(float)floating : floating);
}

// --- memory ---

Value host_load(Host *host, const Type *type, uint8_t *bytes, Place place) {
    uint32_t word;
    uint64_t bits = 0;
    float single;
    double floating;
    switch (type->kind) {
    case TYPE_S32:
    case TYPE_U32:
        memcpy(&word, bytes, sizeof word);
        return wrapped(word, type);
    case TYPE_F32:
        memcpy(&single, bytes, sizeof single);
        return of_floating((double)single);
    case TYPE_F64:
        memcpy(&floating, bytes, sizeof floating);
        return of_floating(floating);
    case TYPE_STRUCT:
        return of_integer((int64_t)host_address(host, bytes));
    case TYPE_F16:
    case TYPE_ARRAY:
        return host_refuse(host, place, "arrays and numbers of 16 bits as values");
    default:
        memcpy(&bits, bytes, (size_t)type->size);
        return wrapped(bits, type);
    }
}

void host_store(Host *host, const Type *type, uint8_t *to, Value value) {
    const float single = (float)value.floating;
    const void *from = &value.integer;
    if (type->kind == TYPE_STRUCT) from = host_at(host, (uint64_t)value.integer, type->size);
    if (type->kind == TYPE_F64) from = &value.floating;
    if (type->kind == TYPE_F32) from = &single;
    if (from) memmove(to, from, (size_t)type->size);
}

static uint8_t *dereferenced(Host *host, const Expression *e) {
    const uint64_t address = (uint64_t)host_value(host, e->left).integer;
    uint8_t *bytes = host->ended ? NULL : host_at(host, address, e->type->size);
    if (!bytes) host_refuse(host, e->place, "an access to memory that is not the host's");
    return bytes;
}

// Where an lvalue, or a struct, is. NULL: the host has ended.
static uint8_t *place_of(Host *host, const Expression *e) {
    uint8_t *bytes = NULL;
    if (e->kind == EXPRESSION_VARIABLE) {
        if (e->variable->kind <= VARIABLE_PARAMETER) return host->variables[e->variable->number];
        if (e->variable->kind == VARIABLE_STATIC) return host_static(host, e->variable);
        host_refuse(host, e->place, "variables of the device");
    } else if (e->kind == EXPRESSION_DEREFERENCE) {
        bytes = dereferenced(host, e);
    } else if (e->kind == EXPRESSION_MEMBER) {
        bytes = place_of(host, e->left);
        if (bytes) bytes += e->member->offset;
    } else {
        const Value value = host_value(host, e);
        if (!host->ended) bytes = host_at(host, (uint64_t)value.integer, e->type->size);
        if (!bytes) host_refuse(host, e->place, "this value");
    }
    return bytes;
}

static Value load(Host *host, const Expression *e) {
    uint8_t *bytes = place_of(host, e);
    return bytes ? host_load(host, e->type, bytes, e->place) : (Value){0};
}

static Value address_of(Host *host, const Expression *e) {
    const uint8_t *bytes = place_of(host, e->left);
    return of_integer(bytes ? (int64_t)host_address(host, bytes) : 0);
}

static Value text(Host *host, const Expression *e) {
    const uint8_t *bytes = host_text(host, e);
    return of_integer(bytes ? (int64_t)host_address(host, bytes) : 0);
}

static Value assign(Host *host, const Expression *e) {
    const Value value = host_value(host, e->right);
    uint8_t *to = host->ended ? NULL : place_of(host, e->left);
    if (to) host_store(host, e->left->type, to, value);
    return value;
}

// --- arithmetic ---

static Value cast(Host *host, const Expression *e) {
    const Type *to = e->type, *from = e->left->type;
    const Value value = host_value(host, e->left);
    if (to->kind == TYPE_F16 || from->kind == TYPE_F16)
        return host_refuse(host, e->place, "numbers of 16 bits");
    if (is_floating(from) && is_floating(to)) return rounded(value.floating, to);
    if (is_floating(to))
        return rounded(is_signed(from) ? (double)value.integer : (double)(uint64_t)value.integer,
                       to);
    if (!is_floating(from)) return wrapped((uint64_t)value.integer, to);
    const bool fits = value.floating > -9.2e18 && value.floating < 9.2e18;
    return to->kind == TYPE_BOOL ? of_integer(value.floating != 0)
                                 : wrapped(fits ? (uint64_t)(int64_t)value.floating : 0, to);
}

static Value divide(Host *host, const Expression *e, Value a, Value b) {
    const bool quotient = e->kind == EXPRESSION_DIVIDE;
    const uint64_t x = (uint64_t)a.integer, y = (uint64_t)b.integer;
    if (!y) return host_refuse(host, e->place, "a division by zero");
    if (is_signed(e->type) && b.integer == -1) return wrapped(quotient ? 0 - x : 0, e->type);
    if (is_signed(e->type))
        return of_integer(quotient ? a.integer / b.integer : a.integer % b.integer);
    return of_integer((int64_t)(quotient ? x / y : x % y));
}

static Value floating(Host *host, const Expression *e, double a, double b) {
    switch (e->kind) {
    case EXPRESSION_ADD:
        return rounded(a + b, e->type);
    case EXPRESSION_SUBTRACT:
        return rounded(a - b, e->type);
    case EXPRESSION_MULTIPLY:
        return rounded(a * b, e->type);
    case EXPRESSION_DIVIDE:
        return rounded(a / b, e->type);
    case EXPRESSION_LESS:
        return of_integer(a < b);
    case EXPRESSION_LESS_EQUAL:
        return of_integer(a <= b);
    case EXPRESSION_EQUAL:
        return of_integer(a == b);
    case EXPRESSION_NOT_EQUAL:
        return of_integer(a != b);
    default:
        return host_refuse(host, e->place, "this operation on floats");
    }
}

static Value binary(Host *host, const Expression *e) {
    const Value a = host_value(host, e->left), b = host_value(host, e->right);
    const uint64_t x = (uint64_t)a.integer, y = (uint64_t)b.integer;
    if (host->ended) return (Value){0};
    if (is_floating(e->left->type)) return floating(host, e, a.floating, b.floating);
    switch (e->kind) {
    case EXPRESSION_ADD:
        return wrapped(x + y, e->type);
    case EXPRESSION_SUBTRACT:
        return wrapped(x - y, e->type);
    case EXPRESSION_MULTIPLY:
        return wrapped(x * y, e->type);
    case EXPRESSION_SHIFT_LEFT:
        return wrapped(x << (y & 63), e->type);
    case EXPRESSION_SHIFT_RIGHT:
        return wrapped(is_signed(e->type) ? (uint64_t)(a.integer >> (y & 63)) : x >> (y & 63),
                       e->type);
    case EXPRESSION_AND:
        return wrapped(x & y, e->type);
    case EXPRESSION_OR:
        return wrapped(x | y, e->type);
    case EXPRESSION_XOR:
        return wrapped(x ^ y, e->type);
    case EXPRESSION_LESS:
        return of_integer(is_signed(e->left->type) ? a.integer < b.integer : x < y);
    case EXPRESSION_LESS_EQUAL:
        return of_integer(is_signed(e->left->type) ? a.integer <= b.integer : x <= y);
    case EXPRESSION_EQUAL:
        return of_integer(x == y);
    case EXPRESSION_NOT_EQUAL:
        return of_integer(x != y);
    default:
        return divide(host, e, a, b);
    }
}

static Value unary(Host *host, const Expression *e) {
    const Value value = host_value(host, e->left);
    const uint64_t bits = (uint64_t)value.integer;
    if (e->kind == EXPRESSION_NOT) return of_integer(!bits);
    if (is_floating(e->type)) return of_floating(-value.floating);
    return wrapped(e->kind == EXPRESSION_NEGATE ? 0 - bits : ~bits, e->type);
}

// --- calls and launches ---

static Value call(Host *host, const Expression *e) {
    Value arguments[HOST_ARGUMENTS];
    const Function *f = e->function;
    if (!f) f = host_function(host, host_value(host, e->left));
    for (size_t k = 0; k < e->argument_count; k++) arguments[k] = host_value(host, e->arguments[k]);
    if (!f || f->parameter_count != e->argument_count)
        return host_refuse(host, e->place, "a call of what is no such function");
    return host_run(host, f, arguments, e->place);
}

void host_shape(const Host *host, const Type *type, Value value, uint32_t *shape) {
    const uint8_t *bytes = type->kind == TYPE_STRUCT
                               ? host_at(host, (uint64_t)value.integer, 3 * sizeof *shape)
                               : NULL;
    shape[0] = (uint32_t)value.integer, shape[1] = shape[2] = 1;
    if (bytes) memcpy(shape, bytes, 3 * sizeof *shape);
}

static Value launch(Host *host, const Expression *e) {
    enum { GRID, BLOCK, SHARED, STREAM, ARGUMENTS };
    HostLaunch made = {.kernel = e->function, .count = e->argument_count - ARGUMENTS};
    host_shape(host, e->arguments[GRID]->type, host_value(host, e->arguments[GRID]), made.grid);
    host_shape(host, e->arguments[BLOCK]->type, host_value(host, e->arguments[BLOCK]), made.block);
    made.shared_bytes = (uint64_t)host_value(host, e->arguments[SHARED]).integer;
    host_value(host, e->arguments[STREAM]);
    if (made.count > HOST_ARGUMENTS) return host_refuse(host, e->place, "more than 64 arguments");
    for (size_t k = 0; k < made.count; k++) {
        const Expression *argument = e->arguments[ARGUMENTS + k];
        if (argument->type->kind == TYPE_STRUCT)
            return host_refuse(host, argument->place, "a launch with a struct as an argument");
        host_store(host, argument->type, (uint8_t *)&made.values[k], host_value(host, argument));
        made.bytes[k] = (size_t)argument->type->size;
    }
    if (!host->ended && !host->launch(host->context, &made)) host->ended = true;
    return (Value){0};
}

// exercise(e, argc, argv)
static Value exercise(Host *host, const Expression *e) {
    const Value value = host_value(host, e->arguments[0]);
    int64_t status = 0;
    if (!host->exercise) return host_refuse(host, e->place, "the driver of an exercise");
    if (!host->ended && !host->exercise(host->context, e->arguments[0]->type, value, &status))
        host->ended = true;
    return of_integer(status);
}

static Value runtime_call(Host *host, const Expression *e) {
    Value arguments[HOST_ARGUMENTS];
    if (str_equal(e->text, STR("exercise"))) return exercise(host, e);
    for (size_t k = 0; k < e->argument_count; k++) arguments[k] = host_value(host, e->arguments[k]);
    return host->ended ? (Value){0} : host_cuda(host, e, arguments);
}

// --- functions that the compiler knows ---

static Value of_bits(Host *host, const Expression *e, Value value) {
    uint8_t bytes[8] = {0};
    host_store(host, e->arguments[0]->type, bytes, value);
    return host_load(host, e->type, bytes, e->place);
}

static Value math(Host *host, const Expression *e, const double *x) {
    switch (e->built_in) {
    case BUILT_IN_ABS:
        return of_floating(fabs(x[0]));
    case BUILT_IN_MIN:
        return of_floating(fmin(x[0], x[1]));
    case BUILT_IN_MAX:
        return of_floating(fmax(x[0], x[1]));
    case BUILT_IN_SQRT:
        return rounded(sqrt(x[0]), e->type);
    case BUILT_IN_EXP:
        return rounded(exp(x[0]), e->type);
    case BUILT_IN_LOG:
        return rounded(log(x[0]), e->type);
    default:
        return host_refuse(host, e->place, "this function");
    }
}

static Value least_or_most(const Expression *e, Value a, Value b) {
    const bool less =
        is_signed(e->type) ? a.integer < b.integer : (uint64_t)a.integer < (uint64_t)b.integer;
    return less == (e->built_in == BUILT_IN_MIN) ? a : b;
}

static Value built_in(Host *host, const Expression *e) {
    enum { MOST = 3 };
    Value values[MOST] = {{0}};
    if (e->built_in == BUILT_IN_LAUNCH) return launch(host, e);
    if (e->built_in == BUILT_IN_HOST) return runtime_call(host, e);
    if (e->built_in == BUILT_IN_PRINTF) return host_print(host, e);
    for (size_t k = 0; k < e->argument_count && k < MOST; k++)
        values[k] = host_value(host, e->arguments[k]);
    if (host->ended) return (Value){0};
    if (e->built_in == BUILT_IN_BIT_CAST) return of_bits(host, e, values[0]);
    if (is_floating(e->type))
        return math(host, e, (double[]){values[0].floating, values[1].floating});
    if (e->built_in == BUILT_IN_MIN || e->built_in == BUILT_IN_MAX)
        return least_or_most(e, values[0], values[1]);
    if (e->built_in != BUILT_IN_ABS) return host_refuse(host, e->place, "this function");
    return values[0].integer < 0 ? wrapped(0 - (uint64_t)values[0].integer, e->type) : values[0];
}

// --- expressions ---

static bool is_true(Host *host, const Expression *e) {
    return host_value(host, e).integer != 0 && !host->ended;
}

Value host_value(Host *host, const Expression *e) {
    if (host->ended) return (Value){0};
    switch (e->kind) {
    case EXPRESSION_INTEGER:
        return of_integer(e->integer);
    case EXPRESSION_FLOATING:
        return of_floating(e->floating);
    case EXPRESSION_VARIABLE:
    case EXPRESSION_MEMBER:
    case EXPRESSION_DEREFERENCE:
        return load(host, e);
    case EXPRESSION_TEXT:
        return text(host, e);
    case EXPRESSION_FUNCTION:
        return of_integer((int64_t)host_function_address(host, e->function));
    case EXPRESSION_ADDRESS:
        return address_of(host, e);
    case EXPRESSION_ASSEMBLY:
        return host_refuse(host, e->place, "assembly");
    case EXPRESSION_CAST:
        return cast(host, e);
    case EXPRESSION_NEGATE:
    case EXPRESSION_COMPLEMENT:
    case EXPRESSION_NOT:
        return unary(host, e);
    case EXPRESSION_LOGICAL_AND:
        return of_integer(is_true(host, e->left) && is_true(host, e->right));
    case EXPRESSION_LOGICAL_OR:
        return of_integer(is_true(host, e->left) || is_true(host, e->right));
    case EXPRESSION_CONDITIONAL:
        return host_value(host, is_true(host, e->condition) ? e->left : e->right);
    case EXPRESSION_COMMA:
        host_value(host, e->left);
        return host_value(host, e->right);
    case EXPRESSION_ASSIGN:
        return assign(host, e);
    case EXPRESSION_CALL:
        return call(host, e);
    case EXPRESSION_BUILT_IN:
        return built_in(host, e);
    default:
        return binary(host, e);
    }
}

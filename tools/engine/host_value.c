// Evaluates expressions of host code: those of integer, pointer and struct types by integer_of(),
// the others by floating_of(), which is faster than to return a HostValue. See host.h.
#include <math.h>
#include <string.h>

#include "engine/host.h"
#include "simt/cudac/parse/type.h"

typedef HostValue Value;

static int64_t integer_of(Host *host, const Expression *e);
static double floating_of(Host *host, const Expression *e);

static bool is_floating(const Type *type) {
    return type->kind >= TYPE_F16 && type->kind <= TYPE_F64;
}

static bool is_signed(const Type *type) {
    return type->kind == TYPE_S32 || type->kind == TYPE_S64 || type->kind == TYPE_S8 ||
           type->kind == TYPE_S16;
}

static double rounded(double floating, const Type *type) {
    return type->kind == TYPE_F32 ? (double)(float)floating : floating;
}

// --- memory ---

static int64_t load_integer(Host *host, const Type *type, uint8_t *bytes, const Place *place) {
    uint32_t word;
    uint64_t bits = 0;
    switch (type->kind) {
    case TYPE_S32:
    case TYPE_U32:
        memcpy(&word, bytes, sizeof word);
        return type_value(type->kind, word);
    case TYPE_STRUCT:
        return (int64_t)host_address(host, bytes);
    case TYPE_ARRAY:
        return host_refuse(host, *place, "arrays as values").integer;
    default:
        memcpy(&bits, bytes, (size_t)type->size);
        return type_value(type->kind, bits);
    }
}

static double load_floating(Host *host, const Type *type, const uint8_t *bytes,
                            const Place *place) {
    float single;
    double floating;
    if (type->kind == TYPE_F16) return host_refuse(host, *place, "numbers of 16 bits").floating;
    if (type->kind == TYPE_F32) {
        memcpy(&single, bytes, sizeof single);
        return (double)single;
    }
    memcpy(&floating, bytes, sizeof floating);
    return floating;
}

Value host_load(Host *host, const Type *type, uint8_t *bytes, Place place) {
    return is_floating(type) ? (Value){.floating = load_floating(host, type, bytes, &place)}
                             : (Value){.integer = load_integer(host, type, bytes, &place)};
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
    const uint64_t address = (uint64_t)integer_of(host, e->left);
    uint8_t *bytes = host->ended ? NULL : host_at(host, address, e->type->size);
    if (!bytes)
        host_fault(
            host, e->place,
            "this is outside of the host's memory: copy what is on the device by cudaMemcpy");
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
        const uint64_t address = (uint64_t)integer_of(host, e);
        if (!host->ended) bytes = host_at(host, address, e->type->size);
        if (!bytes) host_refuse(host, e->place, "this value");
    }
    return bytes;
}

static int64_t address_of(Host *host, const uint8_t *bytes) {
    return bytes ? (int64_t)host_address(host, bytes) : 0;
}

static Value assign(Host *host, const Expression *e) {
    const Value value = host_value(host, e->right);
    uint8_t *to = host->ended ? NULL : place_of(host, e->left);
    if (to) host_store(host, e->left->type, to, value);
    return value;
}

// --- arithmetic ---

static int64_t cast_to_integer(Host *host, const Expression *e) {
    const Type *to = e->type;
    if (!is_floating(e->left->type))
        return type_value(to->kind, (uint64_t)integer_of(host, e->left));
    const double value = floating_of(host, e->left);
    const bool fits = value > -9.2e18 && value < 9.2e18;
    if (to->kind == TYPE_BOOL) return value != 0;
    return type_value(to->kind, fits ? (uint64_t)(int64_t)value : 0);
}

static double cast_to_floating(Host *host, const Expression *e) {
    const Type *from = e->left->type;
    if (e->type->kind == TYPE_F16)
        return host_refuse(host, e->place, "numbers of 16 bits").floating;
    if (is_floating(from)) return rounded(floating_of(host, e->left), e->type);
    const int64_t value = integer_of(host, e->left);
    return rounded(is_signed(from) ? (double)value : (double)(uint64_t)value, e->type);
}

static int64_t divide(Host *host, const Expression *e, int64_t a, int64_t b) {
    const bool quotient = e->kind == EXPRESSION_DIVIDE;
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (!b) return host_fault(host, e->place, "this is a division by zero").integer;
    if (!is_signed(e->type)) return (int64_t)(quotient ? x / y : x % y);
    if (b == -1) return type_value(e->type->kind, quotient ? 0 - x : 0);
    return quotient ? a / b : a % b;
}

// A comparison of two floating numbers.
static bool compare(Host *host, const Expression *e) {
    const double a = floating_of(host, e->left), b = floating_of(host, e->right);
    return e->kind == EXPRESSION_LESS         ? a < b
           : e->kind == EXPRESSION_LESS_EQUAL ? a <= b
           : e->kind == EXPRESSION_EQUAL      ? a == b
                                              : a != b;
}

static int64_t binary(Host *host, const Expression *e) {
    if (is_floating(e->left->type)) return compare(host, e);
    const int64_t a = integer_of(host, e->left), b = integer_of(host, e->right);
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (e->kind) {
    case EXPRESSION_ADD:
        return type_value(e->type->kind, x + y);
    case EXPRESSION_SUBTRACT:
        return type_value(e->type->kind, x - y);
    case EXPRESSION_MULTIPLY:
        return type_value(e->type->kind, x * y);
    case EXPRESSION_SHIFT_LEFT:
        return type_value(e->type->kind, x << (y & 63));
    case EXPRESSION_SHIFT_RIGHT:
        return type_value(e->type->kind,
                          is_signed(e->type) ? (uint64_t)(a >> (y & 63)) : x >> (y & 63));
    case EXPRESSION_AND:
        return type_value(e->type->kind, x & y);
    case EXPRESSION_OR:
        return type_value(e->type->kind, x | y);
    case EXPRESSION_XOR:
        return type_value(e->type->kind, x ^ y);
    case EXPRESSION_LESS:
        return is_signed(e->left->type) ? a < b : x < y;
    case EXPRESSION_LESS_EQUAL:
        return is_signed(e->left->type) ? a <= b : x <= y;
    case EXPRESSION_EQUAL:
        return x == y;
    case EXPRESSION_NOT_EQUAL:
        return x != y;
    default:
        return host->ended ? 0 : divide(host, e, a, b);
    }
}

static double floating_binary(Host *host, const Expression *e) {
    const double a = floating_of(host, e->left), b = floating_of(host, e->right);
    switch (e->kind) {
    case EXPRESSION_ADD:
        return rounded(a + b, e->type);
    case EXPRESSION_SUBTRACT:
        return rounded(a - b, e->type);
    case EXPRESSION_MULTIPLY:
        return rounded(a * b, e->type);
    case EXPRESSION_DIVIDE:
        return rounded(a / b, e->type);
    default:
        return host_refuse(host, e->place, "this operation on floats").floating;
    }
}

// --- calls and launches ---

static Value call(Host *host, const Expression *e) {
    Value arguments[HOST_ARGUMENTS];
    const Function *f = e->function;
    if (!f) f = host_function(host, host_value(host, e->left));
    for (size_t k = 0; k < e->argument_count; k++) arguments[k] = host_value(host, e->arguments[k]);
    if (!f || f->parameter_count != e->argument_count)
        return host_fault(host, e->place, "this does not point to such a function");
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
    return host_start(host, e, &made);
}

// exercise(e, argc, argv)
static Value exercise(Host *host, const Expression *e) {
    const Value value = host_value(host, e->arguments[0]);
    int64_t status = 0;
    if (!host->exercise) return host_refuse(host, e->place, "the driver of an exercise");
    if (!host->ended && !host->exercise(host->context, e->arguments[0]->type, value, &status))
        host->ended = true;
    return (Value){.integer = status};
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

static double math(Host *host, const Expression *e, double x, double y) {
    switch (e->built_in) {
    case BUILT_IN_ABS:
        return fabs(x);
    case BUILT_IN_MIN:
        return fmin(x, y);
    case BUILT_IN_MAX:
        return fmax(x, y);
    case BUILT_IN_SQRT:
        return rounded(sqrt(x), e->type);
    case BUILT_IN_EXP:
        return rounded(exp(x), e->type);
    case BUILT_IN_LOG:
        return rounded(log(x), e->type);
    default:
        return host_refuse(host, e->place, "this function").floating;
    }
}

static int64_t integer_math(Host *host, const Expression *e, int64_t a, int64_t b) {
    const bool less = is_signed(e->type) ? a < b : (uint64_t)a < (uint64_t)b;
    switch (e->built_in) {
    case BUILT_IN_ABS:
        return a < 0 ? type_value(e->type->kind, 0 - (uint64_t)a) : a;
    case BUILT_IN_MIN:
        return less ? a : b;
    case BUILT_IN_MAX:
        return less ? b : a;
    default:
        return host_refuse(host, e->place, "this function").integer;
    }
}

static Value built_in(Host *host, const Expression *e) {
    Value values[2] = {{0}};
    if (e->built_in == BUILT_IN_LAUNCH) return launch(host, e);
    if (e->built_in == BUILT_IN_HOST) return runtime_call(host, e);
    if (e->built_in == BUILT_IN_PRINTF) return host_print(host, e);
    for (size_t k = 0; k < e->argument_count && k < 2; k++)
        values[k] = host_value(host, e->arguments[k]);
    if (host->ended) return (Value){0};
    if (e->built_in == BUILT_IN_BIT_CAST) return of_bits(host, e, values[0]);
    return is_floating(e->type)
               ? (Value){.floating = math(host, e, values[0].floating, values[1].floating)}
               : (Value){.integer = integer_math(host, e, values[0].integer, values[1].integer)};
}

// --- expressions ---

static bool is_true(Host *host, const Expression *e) { return integer_of(host, e) && !host->ended; }

// Of an integer, a pointer or a struct; also evaluates what has no value.
static int64_t integer_of(Host *host, const Expression *e) {
    uint8_t *bytes;
    if (host->ended) return 0;
    switch (e->kind) {
    case EXPRESSION_INTEGER:
        return e->integer;
    case EXPRESSION_VARIABLE:
    case EXPRESSION_MEMBER:
    case EXPRESSION_DEREFERENCE:
        bytes = place_of(host, e);
        return bytes ? load_integer(host, e->type, bytes, &e->place) : 0;
    case EXPRESSION_TEXT:
        return address_of(host, host_text(host, e));
    case EXPRESSION_FUNCTION:
        return (int64_t)host_function_address(host, e->function);
    case EXPRESSION_ADDRESS:
        return address_of(host, place_of(host, e->left));
    case EXPRESSION_ASSEMBLY:
        return host_refuse(host, e->place, "assembly").integer;
    case EXPRESSION_CAST:
        return cast_to_integer(host, e);
    case EXPRESSION_NEGATE:
        return type_value(e->type->kind, 0 - (uint64_t)integer_of(host, e->left));
    case EXPRESSION_COMPLEMENT:
        return type_value(e->type->kind, ~(uint64_t)integer_of(host, e->left));
    case EXPRESSION_NOT:
        return !integer_of(host, e->left);
    case EXPRESSION_LOGICAL_AND:
        return is_true(host, e->left) && is_true(host, e->right);
    case EXPRESSION_LOGICAL_OR:
        return is_true(host, e->left) || is_true(host, e->right);
    case EXPRESSION_CONDITIONAL:
        return integer_of(host, is_true(host, e->condition) ? e->left : e->right);
    case EXPRESSION_COMMA:
        host_value(host, e->left);
        return integer_of(host, e->right);
    case EXPRESSION_ASSIGN:
        return assign(host, e).integer;
    case EXPRESSION_CALL:
        return call(host, e).integer;
    case EXPRESSION_BUILT_IN:
        return built_in(host, e).integer;
    default:
        return binary(host, e);
    }
}

static double floating_of(Host *host, const Expression *e) {
    const uint8_t *bytes;
    if (host->ended) return 0;
    switch (e->kind) {
    case EXPRESSION_FLOATING:
        return e->floating;
    case EXPRESSION_VARIABLE:
    case EXPRESSION_MEMBER:
    case EXPRESSION_DEREFERENCE:
        bytes = place_of(host, e);
        return bytes ? load_floating(host, e->type, bytes, &e->place) : 0;
    case EXPRESSION_CAST:
        return cast_to_floating(host, e);
    case EXPRESSION_NEGATE:
        return -floating_of(host, e->left);
    case EXPRESSION_CONDITIONAL:
        return floating_of(host, is_true(host, e->condition) ? e->left : e->right);
    case EXPRESSION_COMMA:
        host_value(host, e->left);
        return floating_of(host, e->right);
    case EXPRESSION_ASSIGN:
        return assign(host, e).floating;
    case EXPRESSION_CALL:
        return call(host, e).floating;
    case EXPRESSION_BUILT_IN:
        return built_in(host, e).floating;
    default:
        return floating_binary(host, e);
    }
}

Value host_value(Host *host, const Expression *e) {
    return is_floating(e->type) ? (Value){.floating = floating_of(host, e)}
                                : (Value){.integer = integer_of(host, e)};
}

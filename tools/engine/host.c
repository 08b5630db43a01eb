// Runs a function of the host from its tree. See host.h.
#include "engine/host.h"

#include <string.h>

#include "simt/cudac/parse/parser.h"

typedef HostValue Value;

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

static Value value_of(Host *host, const Expression *e);
static Flow run(Host *host, const Statement *s);

Value host_refuse(Host *host, Place place, const char *what) {
    Buf message = {.arena = host->arena};
    if (!host->ended)
        buf_format(&message,
                   "the page does not run %s in a function of the host: write it with numbers, "
                   "variables, loops, calls and launches, or run the lab with make",
                   what);
    if (!host->ended) *host->refusal = (Refusal){place, buf_str(&message)};
    host->ended = true;
    return (Value){0};
}

static Value of_integer(int64_t integer) { return (Value){.integer = integer}; }

// --- variables ---

static uint8_t *allocate(Host *host, const Variable *v) {
    enum { ALIGN = 16 };
    const size_t size = ((size_t)v->type->size + ALIGN - 1) / ALIGN * ALIGN;
    const bool outlives = v->kind == VARIABLE_STATIC;
    if (v->type->size > HOST_BYTES || size > host->top - host->used) {
        host_refuse(host, v->place, "more than a megabyte of variables");
        return NULL;
    }
    if (outlives)
        host->top -= size;
    else
        host->used += size;
    uint8_t *bytes = host->memory + (outlives ? host->top : host->used - size);
    memset(bytes, 0, size);
    return bytes;
}

static uint8_t *static_bytes(Host *host, const Variable *v) {
    for (size_t k = 0; k < host->static_count; k++)
        if (host->statics[k].variable == v) return host->statics[k].bytes;
    host_refuse(host, v->place, "more than 64 static variables");
    return NULL;
}

static uint8_t *bytes_of(Host *host, const Variable *v) {
    if (v->kind == VARIABLE_STATIC) return static_bytes(host, v);
    uint8_t **bytes = &host->variables[v->number];
    if (!*bytes) *bytes = allocate(host, v);
    return *bytes;
}

uint8_t *host_at(const Host *host, uint64_t address, uint64_t bytes) {
    const uint64_t offset = address - HOST_BASE;
    const uint64_t end = offset < host->used ? host->used : HOST_BYTES;
    const bool used = offset < host->used || (offset >= host->top && offset < HOST_BYTES);
    return used && bytes <= end - offset ? host->memory + offset : NULL;
}

static uint8_t *dereferenced(Host *host, const Expression *e) {
    const uint64_t address = (uint64_t)value_of(host, e->left).integer;
    uint8_t *bytes = host->ended ? NULL : host_at(host, address, e->type->size);
    if (!bytes) host_refuse(host, e->place, "an access to memory that is not the host's");
    return bytes;
}

// Where an lvalue is. NULL: it cannot be reached, which has been refused.
static uint8_t *place_of(Host *host, const Expression *e) {
    if (e->kind == EXPRESSION_DEREFERENCE) return dereferenced(host, e);
    if (e->kind == EXPRESSION_MEMBER) {
        uint8_t *bytes = place_of(host, e->left);
        return bytes ? bytes + e->member->offset : NULL;
    }
    const bool own = e->kind == EXPRESSION_VARIABLE && (e->variable->kind <= VARIABLE_PARAMETER ||
                                                        e->variable->kind == VARIABLE_STATIC);
    if (own) return bytes_of(host, e->variable);
    host_refuse(host, e->place, "variables of the device");
    return NULL;
}

static Value address_of(Host *host, const Expression *e) {
    const uint8_t *bytes = place_of(host, e->left);
    return of_integer(bytes ? (int64_t)(HOST_BASE + (uint64_t)(bytes - host->memory)) : 0);
}

static Value load(Host *host, const Expression *e) {
    const Type *type = e->type;
    const uint8_t *bytes = place_of(host, e);
    uint64_t bits = 0;
    float single;
    Value value = {.bytes = bytes};
    if (!bytes || type->kind == TYPE_STRUCT) return value;
    if (!type_is_scalar(type)) return host_refuse(host, e->place, "arrays");
    memcpy(&bits, bytes, type->size);
    if (type->kind == TYPE_F64) {
        memcpy(&value.floating, bytes, 8);
    } else if (type->kind == TYPE_F32) {
        memcpy(&single, bytes, 4);
        value.floating = (double)single;
    } else {
        value.integer = constant_wrapped(bits, type);
    }
    return value;
}

static void store(const Type *type, uint8_t *to, Value value) {
    const float single = (float)value.floating;
    const void *from = type->kind == TYPE_STRUCT ? (const void *)value.bytes
                       : type->kind == TYPE_F64  ? (const void *)&value.floating
                       : type->kind == TYPE_F32  ? (const void *)&single
                                                 : (const void *)&value.integer;
    memmove(to, from, type->size);
}

static Value assign(Host *host, const Expression *e) {
    const Value value = value_of(host, e->right);
    uint8_t *to = host->ended ? NULL : place_of(host, e->left);
    if (to) store(e->left->type, to, value);
    return value;
}

// --- arithmetic ---

static Value cast(Host *host, const Expression *e) {
    const Type *to = e->type, *from = e->left->type;
    Value value = value_of(host, e->left);
    if (to->kind == TYPE_F16 || from->kind == TYPE_F16)
        return host_refuse(host, e->place, "numbers of 16 bits");
    if (type_is_floating(to)) {
        if (!type_is_floating(from))
            value.floating =
                type_is_signed(from) ? (double)value.integer : (double)(uint64_t)value.integer;
        if (to->kind == TYPE_F32) value.floating = (double)(float)value.floating;
        return value;
    }
    if (type_is_floating(from)) {
        const bool fits = value.floating > -9.2e18 && value.floating < 9.2e18;
        value.integer = to->kind == TYPE_BOOL ? value.floating != 0
                        : fits                ? (int64_t)value.floating
                                              : 0;
    }
    return type_is_scalar(to) ? of_integer(constant_wrapped((uint64_t)value.integer, to)) : value;
}

static Value divide(Host *host, const Expression *e, Value a, Value b) {
    const bool is_signed = type_is_signed(e->type), quotient = e->kind == EXPRESSION_DIVIDE;
    const uint64_t x = (uint64_t)a.integer, y = (uint64_t)b.integer;
    if (!y) return host_refuse(host, e->place, "a division by zero");
    if (is_signed && b.integer == -1) return of_integer(quotient ? (int64_t)(0 - x) : 0);
    if (is_signed) return of_integer(quotient ? a.integer / b.integer : a.integer % b.integer);
    return of_integer((int64_t)(quotient ? x / y : x % y));
}

static Value compare(const Expression *e, Value a, Value b) {
    const Type *type = e->left->type;
    const uint64_t x = (uint64_t)a.integer, y = (uint64_t)b.integer;
    bool less = type_is_signed(type) ? a.integer < b.integer : x < y, equal = x == y;
    if (type_is_floating(type))
        less = a.floating < b.floating,
        equal = !(a.floating < b.floating || a.floating > b.floating);
    return of_integer(e->kind == EXPRESSION_LESS         ? less
                      : e->kind == EXPRESSION_LESS_EQUAL ? less || equal
                      : e->kind == EXPRESSION_EQUAL      ? equal
                                                         : !equal);
}

static Value floating(Host *host, const Expression *e, Value a, Value b) {
    switch (e->kind) {
    case EXPRESSION_ADD:
        a.floating += b.floating;
        break;
    case EXPRESSION_SUBTRACT:
        a.floating -= b.floating;
        break;
    case EXPRESSION_MULTIPLY:
        a.floating *= b.floating;
        break;
    case EXPRESSION_DIVIDE:
        a.floating /= b.floating;
        break;
    default:
        return host_refuse(host, e->place, "this operation on floats");
    }
    if (e->type->kind == TYPE_F32) a.floating = (double)(float)a.floating;
    return a;
}

static Value binary(Host *host, const Expression *e) {
    const Value a = value_of(host, e->left), b = value_of(host, e->right);
    const uint64_t x = (uint64_t)a.integer, y = (uint64_t)b.integer;
    if (host->ended) return a;
    if (e->kind >= EXPRESSION_LESS && e->kind <= EXPRESSION_NOT_EQUAL) return compare(e, a, b);
    if (type_is_floating(e->type)) return floating(host, e, a, b);
    uint64_t bits = 0;
    switch (e->kind) {
    case EXPRESSION_ADD:
        bits = x + y;
        break;
    case EXPRESSION_SUBTRACT:
        bits = x - y;
        break;
    case EXPRESSION_MULTIPLY:
        bits = x * y;
        break;
    case EXPRESSION_SHIFT_LEFT:
        bits = x << (y & 63);
        break;
    case EXPRESSION_SHIFT_RIGHT:
        bits = type_is_signed(e->type) ? (uint64_t)(a.integer >> (y & 63)) : x >> (y & 63);
        break;
    case EXPRESSION_AND:
        bits = x & y;
        break;
    case EXPRESSION_OR:
        bits = x | y;
        break;
    case EXPRESSION_XOR:
        bits = x ^ y;
        break;
    default:
        bits = (uint64_t)divide(host, e, a, b).integer;
    }
    return of_integer(constant_wrapped(bits, e->type));
}

static Value unary(Host *host, const Expression *e) {
    Value value = value_of(host, e->left);
    const uint64_t bits = (uint64_t)value.integer;
    value.floating = -value.floating;
    value.integer =
        e->kind == EXPRESSION_NOT
            ? !bits
            : constant_wrapped(e->kind == EXPRESSION_NEGATE ? 0 - bits : ~bits, e->type);
    return value;
}

// --- calls and launches ---

// Finds how many variables a function has, and allocates those that outlive it.
static size_t count_variables(Host *host, const Function *f) {
    size_t numbers = f->parameter_count;
    for (size_t k = 0; k < f->local_count; k++) {
        const Variable *v = f->locals[k];
        bool known = v->kind != VARIABLE_STATIC || host->static_count == HOST_STATICS;
        for (size_t i = 0; i < host->static_count; i++) known |= host->statics[i].variable == v;
        if (!known) {
            host->statics[host->static_count].variable = v;
            host->statics[host->static_count++].bytes = allocate(host, v);
        }
        if (v->number >= numbers) numbers = v->number + 1;
    }
    return numbers;
}

// Runs a function whose arguments have been evaluated.
static Value call(Host *host, const Function *f, const Value *arguments, Place place) {
    uint8_t **outer = host->variables;
    if (host->ended) return (Value){0};
    if (!f->is_host) return host_refuse(host, place, "a function of the device");
    host->variables = ARENA_NEW(host->arena, count_variables(host, f) + 1, uint8_t *);
    const size_t used = host->used;
    for (size_t k = 0; k < f->parameter_count; k++) {
        uint8_t *bytes = bytes_of(host, f->parameters[k]);
        if (bytes) store(f->parameters[k]->type, bytes, arguments[k]);
    }
    host->returned = (Value){0};
    run(host, f->body);
    host->variables = outer, host->used = used;
    return host->returned;
}

static Value call_of(Host *host, const Expression *e) {
    Value arguments[HOST_ARGUMENTS];
    for (size_t k = 0; k < e->argument_count; k++) arguments[k] = value_of(host, e->arguments[k]);
    return call(host, e->function, arguments, e->place);
}

// A size of a launch: a number, or a dim3.
static void shape_of(Host *host, const Expression *e, uint32_t *shape) {
    const Value value = value_of(host, e);
    shape[0] = (uint32_t)value.integer, shape[1] = shape[2] = 1;
    if (e->type->kind == TYPE_STRUCT && value.bytes) memcpy(shape, value.bytes, 3 * sizeof *shape);
}

static Value launch_of(Host *host, const Expression *e) {
    enum { GRID, BLOCK, SHARED, STREAM, ARGUMENTS };
    HostLaunch launch = {.kernel = e->function, .count = e->argument_count - ARGUMENTS};
    shape_of(host, e->arguments[GRID], launch.grid);
    shape_of(host, e->arguments[BLOCK], launch.block);
    launch.shared_bytes = (uint64_t)value_of(host, e->arguments[SHARED]).integer;
    value_of(host, e->arguments[STREAM]);
    if (launch.count > HOST_ARGUMENTS) return host_refuse(host, e->place, "more than 64 arguments");
    for (size_t k = 0; k < launch.count; k++) {
        const Expression *argument = e->arguments[ARGUMENTS + k];
        if (!type_is_scalar(argument->type))
            return host_refuse(host, argument->place, "a launch with a struct as an argument");
        store(argument->type, (uint8_t *)&launch.values[k], value_of(host, argument));
        launch.bytes[k] = argument->type->size;
    }
    if (!host->ended && !host->launch(host->context, &launch)) host->ended = true;
    return (Value){0};
}

static Value built_in(Host *host, const Expression *e) {
    if (e->built_in == BUILT_IN_LAUNCH) return launch_of(host, e);
    if (e->built_in == BUILT_IN_HOST) {
        Value arguments[HOST_ARGUMENTS];
        for (size_t k = 0; k < e->argument_count; k++)
            arguments[k] = value_of(host, e->arguments[k]);
        return host->ended ? (Value){0} : host_cuda(host, e, arguments);
    }
    const bool least = e->built_in == BUILT_IN_MIN;
    if ((!least && e->built_in != BUILT_IN_MAX) || !type_is_integer(e->type))
        return host_refuse(host, e->place, "this function");
    const Value a = value_of(host, e->arguments[0]), b = value_of(host, e->arguments[1]);
    const bool less =
        type_is_signed(e->type) ? a.integer < b.integer : (uint64_t)a.integer < (uint64_t)b.integer;
    return less == least ? a : b;
}

static bool is_true(Host *host, const Expression *e) {
    return value_of(host, e).integer != 0 && !host->ended;
}

static Value value_of(Host *host, const Expression *e) {
    if (host->ended) return (Value){0};
    switch (e->kind) {
    case EXPRESSION_INTEGER:
        return of_integer(e->integer);
    case EXPRESSION_FLOATING:
        return (Value){.floating = e->floating};
    case EXPRESSION_VARIABLE:
    case EXPRESSION_MEMBER:
    case EXPRESSION_DEREFERENCE:
        return load(host, e);
    case EXPRESSION_TEXT:
        return host_refuse(host, e->place, "texts");
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
        return value_of(host, is_true(host, e->condition) ? e->left : e->right);
    case EXPRESSION_COMMA:
        value_of(host, e->left);
        return value_of(host, e->right);
    case EXPRESSION_ASSIGN:
        return assign(host, e);
    case EXPRESSION_CALL:
        return call_of(host, e);
    case EXPRESSION_BUILT_IN:
        return built_in(host, e);
    default:
        return binary(host, e);
    }
}

// --- statements ---

static Flow run_loop(Host *host, const Statement *s) {
    if (s->kind == STATEMENT_FOR && s->initial) run(host, s->initial);
    bool first = s->kind == STATEMENT_DO;
    while (first || !s->condition || is_true(host, s->condition)) {
        first = false;
        const Flow flow = host->ended ? FLOW_RETURN : run(host, s->body);
        if (flow == FLOW_RETURN) return flow;
        if (flow == FLOW_BREAK) break;
        if (s->step) value_of(host, s->step);
    }
    return FLOW_NEXT;
}

static void declare(Host *host, const Statement *s) {
    uint8_t *bytes = bytes_of(host, s->variable);
    if (!s->expression || !bytes) return;
    const Value value = value_of(host, s->expression);
    if (!host->ended) store(s->variable->type, bytes, value);
}

// A struct is copied, since the variables of this function are given up.
static void give_back(Host *host, const Expression *e) {
    const Value value = value_of(host, e);
    host->returned = value;
    if (!value.bytes || e->type->kind != TYPE_STRUCT || host->ended) return;
    uint8_t *copy = ARENA_NEW(host->arena, e->type->size, uint8_t);
    memcpy(copy, value.bytes, (size_t)e->type->size);
    host->returned.bytes = copy;
}

static Flow run_one(Host *host, const Statement *s) {
    switch (s->kind) {
    case STATEMENT_EXPRESSION:
        if (s->expression) value_of(host, s->expression);
        return FLOW_NEXT;
    case STATEMENT_BLOCK:
        return run(host, s->body);
    case STATEMENT_DECLARE:
        declare(host, s);
        return FLOW_NEXT;
    case STATEMENT_IF:
        return run(host, is_true(host, s->condition) ? s->body : s->otherwise);
    case STATEMENT_FOR:
    case STATEMENT_WHILE:
    case STATEMENT_DO:
        return run_loop(host, s);
    case STATEMENT_BREAK:
        return FLOW_BREAK;
    case STATEMENT_CONTINUE:
        return FLOW_CONTINUE;
    case STATEMENT_RETURN:
        if (s->expression) give_back(host, s->expression);
        return FLOW_RETURN;
    case STATEMENT_SWITCH:
    case STATEMENT_CASE:
        host_refuse(host, s->place, "a switch");
        return FLOW_RETURN;
    }
    return FLOW_NEXT;
}

static Flow run(Host *host, const Statement *s) {
    Flow flow = FLOW_NEXT;
    for (; s && flow == FLOW_NEXT; s = s->next) flow = host->ended ? FLOW_RETURN : run_one(host, s);
    return flow;
}

bool host_call(Host *host, const Function *function, const uint8_t *argument, int64_t *result) {
    const Value value = {.bytes = argument};
    host->memory = ARENA_NEW(host->arena, HOST_BYTES, uint8_t);
    host->top = HOST_BYTES;
    const bool fits = function->parameter_count == 1 && type_is_integer(function->type->base) &&
                      function->parameters[0]->type->kind == TYPE_STRUCT;
    if (!fits) host_refuse(host, function->place, "this signature");
    *result = call(host, function, &value, function->place).integer;
    return !host->ended;
}

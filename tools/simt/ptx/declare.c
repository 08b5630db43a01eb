// Parses declarations of variables and parameters with their initialisers. PTX ISA, "State Spaces,
// Types, and Variables".
#include <string.h>

#include "simt/ptx/parse.h"

#define VARIABLE_LIMIT ((uint64_t)1 << 40)
#define INITIAL_LIMIT  ((uint64_t)1 << 26)

// The data of an initialiser.
typedef struct {
    uint8_t *data;
    size_t len, capacity;
    size_t reference_capacity;
    uint64_t limit; // bytes the variable may have
} Initial;

static void initial_bytes(Parser *parser, Initial *initial, uint64_t value, uint32_t bytes) {
    if (initial->len + bytes > initial->limit)
        parse_fail(parser, "more initial values than the variable holds");
    for (uint32_t k = 0; k < bytes; k++) {
        ARENA_GROW(parser->arena, initial->data, initial->len, initial->capacity);
        initial->data[initial->len++] = k < 8 ? (uint8_t)(value >> (8 * k)) : 0;
    }
}

// generic(name) or name, each with an optional + number. `mask` selects one byte, or is 0.
static void initial_address(Parser *parser, PtxVariable *variable, Initial *initial,
                            uint64_t mask) {
    uint32_t bytes = ptx_type_bytes(variable->type), shift = 0;
    if (mask) {
        while (!(mask & 0xff)) {
            mask >>= 8;
            shift += 8;
        }
        bytes = 1;
    }
    PtxReference reference = {
        .offset = initial->len, .bytes = bytes, .shift = shift, .ptx_line = parser->token.line};
    Str name = parse_word(parser, "an address");
    if (parse_at(parser, "(")) {
        if (!str_equal(name, STR("generic")))
            parse_fail(parser, "expected `generic(` in an initial value");
        parse_next(parser);
        name = parse_word(parser, "a variable");
        if (parse_take(parser, "+")) reference.addend = (int64_t)parse_int(parser, "an offset");
        parse_expect(parser, ")");
    }
    if (parse_take(parser, "+")) reference.addend += (int64_t)parse_int(parser, "an offset");
    reference.symbol = name;
    ARENA_GROW(parser->arena, variable->references, variable->reference_count,
               variable->reference_capacity);
    variable->references[variable->reference_count++] = reference;
    initial_bytes(parser, initial, 0, bytes);
}

static void initial_value(Parser *parser, PtxVariable *variable, Initial *initial) {
    uint32_t bytes = ptx_type_bytes(variable->type);
    Token token = parser->token;
    if (token.kind == TOKEN_WORD) {
        initial_address(parser, variable, initial, 0);
        return;
    }
    if (token.kind == TOKEN_SINGLE || token.kind == TOKEN_DOUBLE) {
        parse_next(parser);
        double wide;
        float narrow;
        memcpy(&wide, &token.value, sizeof wide);
        uint32_t low = (uint32_t)token.value;
        memcpy(&narrow, &low, sizeof narrow);
        uint64_t bits = token.value;
        if (token.kind == TOKEN_SINGLE && bytes == 8) {
            wide = (double)narrow;
            memcpy(&bits, &wide, sizeof bits);
        } else if (token.kind == TOKEN_DOUBLE && bytes == 4) {
            narrow = (float)wide;
            memcpy(&low, &narrow, sizeof low);
            bits = low;
        }
        initial_bytes(parser, initial, bits, bytes);
        return;
    }
    uint64_t value = parse_int(parser, "a value");
    if (parse_take(parser, "(")) { // 0xFF00(name): one byte of an address
        if (!value) parse_fail(parser, "the mask of an address is zero");
        initial_address(parser, variable, initial, value);
        parse_expect(parser, ")");
        return;
    }
    initial_bytes(parser, initial, value, bytes);
}

// Nested braces. A row with fewer values than elements is filled with zeros.
static void initial_list(Parser *parser, PtxVariable *variable, Initial *initial,
                         const uint64_t *stride, uint32_t level, uint32_t levels) {
    size_t start = initial->len;
    parse_expect(parser, "{");
    while (!parse_at(parser, "}")) {
        if (parse_at(parser, "{")) {
            if (level + 1 >= levels) parse_fail(parser, "braces deeper than the array");
            initial_list(parser, variable, initial, stride, level + 1, levels);
        } else {
            initial_value(parser, variable, initial);
        }
        if (!parse_take(parser, ",")) break;
    }
    parse_expect(parser, "}");
    if (level > 0) {
        if (stride[level - 1] > INITIAL_LIMIT) parse_fail(parser, "initial values too large");
        if (initial->len - start > stride[level - 1])
            parse_fail(parser, "more initial values than a row of the array holds");
        while (initial->len - start < stride[level - 1] && initial->len < initial->limit)
            initial_bytes(parser, initial, 0, 1);
    }
}

// Parses the attributes before a variable's type. Returns the number of elements of its vector
// type, or 1.
static uint32_t parse_attributes(Parser *parser, PtxVariable *variable) {
    uint32_t elements = 1;
    for (;;) {
        if (parse_take(parser, ".align")) {
            uint64_t align = parse_int(parser, "an alignment");
            if (align == 0 || align > 1024 || (align & (align - 1)))
                parse_fail(parser, "bad alignment");
            variable->align = (uint32_t)align;
        } else if (parse_take(parser, ".v2")) {
            elements = 2;
        } else if (parse_take(parser, ".v4")) {
            elements = 4;
        } else if (parse_take(parser, ".ptr") || parse_take(parser, ".global") ||
                   parse_take(parser, ".const") || parse_take(parser, ".shared") ||
                   parse_take(parser, ".local")) {
            continue; // the space that a pointer parameter points to
        } else if (parse_take(parser, ".attribute")) {
            parse_expect(parser, "(");
            variable->managed |= parse_at(parser, ".managed");
            parse_skip_past(parser, ")");
        } else {
            return elements;
        }
    }
}

PtxType parse_dotted_type(Str word) {
    return str_starts(word, STR(".")) ? ptx_type_named(str_from(word, 1)) : PTX_NOTYPE;
}

static PtxType parse_type(Parser *parser) {
    Str name = parse_word(parser, "a type");
    PtxType type = parse_dotted_type(name);
    if (type == PTX_NOTYPE) {
        parser->status = SIMT_UNSUPPORTED;
        parse_fail(parser, "cannot declare a variable of type `%.*s`", STR_ARG(name));
    }
    return type;
}

// Skips a pointer parameter's `.ptr .global .align 4`, which comes after its type.
static void skip_pointer_attributes(Parser *parser) {
    if (!parse_take(parser, ".ptr")) return;
    while (parser->token.kind == TOKEN_WORD && parser->token.text.at[0] == '.') {
        bool align = parse_at(parser, ".align");
        parse_next(parser);
        if (align) parse_int(parser, "an alignment");
    }
}

#define DIMENSIONS 8

typedef struct {
    uint64_t strides[DIMENSIONS]; // bytes of one element of each dimension
    uint64_t bytes;
    uint32_t count;
    bool open; // the number of initial values gives the first dimension
} Array;

static uint64_t array_bound(Parser *parser) {
    uint64_t bound = parse_int(parser, "an array bound");
    if (bound > VARIABLE_LIMIT) parse_fail(parser, "array bound too large");
    return bound;
}

static Array parse_array(Parser *parser, uint32_t element_bytes) {
    Array array = {.bytes = element_bytes};
    uint64_t bounds[DIMENSIONS];
    while (parse_take(parser, "[")) {
        if (array.count == DIMENSIONS) parse_fail(parser, "too many array dimensions");
        if (parse_at(parser, "]") && array.count == 0) {
            array.open = true;
            bounds[array.count] = 1;
        } else {
            bounds[array.count] = array_bound(parser);
        }
        parse_expect(parser, "]");
        if (__builtin_mul_overflow(array.bytes, bounds[array.count], &array.bytes) ||
            array.bytes > VARIABLE_LIMIT)
            parse_fail(parser, "variable too large");
        array.count++;
    }
    uint64_t stride = element_bytes;
    for (uint32_t k = array.count; k-- > 0; stride *= bounds[k]) array.strides[k] = stride;
    return array;
}

static void parse_initial(Parser *parser, PtxVariable *variable, const Array *array) {
    if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST)
        parse_fail(parser, "only global and constant variables can have initial values");
    Initial initial = {.limit = array->open ? INITIAL_LIMIT : array->bytes};
    if (parse_at(parser, "{"))
        initial_list(parser, variable, &initial, array->strides, 0,
                     array->count ? array->count : 1);
    else
        initial_value(parser, variable, &initial);
    variable->data = initial.data;
    variable->data_bytes = initial.len;
    if (!array->open) return;
    const uint64_t row = array->strides[0]; // the last one may have fewer values
    if (!row) parse_fail(parser, "initial values of an array without elements");
    variable->bytes = (initial.len + row - 1) / row * row;
}

void parse_variable(Parser *parser, PtxVariable *variable, PtxSpace space) {
    variable->space = space;
    variable->ptx_line = parser->token.line;
    uint32_t elements = parse_attributes(parser, variable);
    variable->type = parse_type(parser);
    uint32_t bytes = ptx_type_bytes(variable->type) * elements;
    if (!bytes) parse_fail(parser, "a predicate cannot be in memory");
    if (!variable->align) variable->align = bytes;
    skip_pointer_attributes(parser);
    variable->name = parse_word(parser, "a variable's name");
    Array array = parse_array(parser, bytes);
    variable->bytes = array.open ? 0 : array.bytes;
    if (parse_take(parser, "=")) parse_initial(parser, variable, &array);
}

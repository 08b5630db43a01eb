// Declarations of variables and parameters, with their initialisers. PTX ISA, "State Spaces, Types,
// and Variables".
#include <string.h>

#include "simt/ptx/parse.h"

#define VARIABLE_LIMIT ((uint64_t)1 << 40)
#define INITIAL_LIMIT  ((uint64_t)1 << 26)

uint32_t ptx_type_bytes(PtxType type) {
    static const uint8_t bytes[PTX_TYPES] = {
        [PTX_B8] = 1,   [PTX_B16] = 2,    [PTX_B32] = 4, [PTX_B64] = 8, [PTX_B128] = 16,
        [PTX_U8] = 1,   [PTX_U16] = 2,    [PTX_U32] = 4, [PTX_U64] = 8, [PTX_S8] = 1,
        [PTX_S16] = 2,  [PTX_S32] = 4,    [PTX_S64] = 8, [PTX_F16] = 2, [PTX_F16X2] = 4,
        [PTX_BF16] = 2, [PTX_BF16X2] = 4, [PTX_F32] = 4, [PTX_F64] = 8,
    };
    return bytes[type];
}

PtxType ptx_type_named(Str name) {
    static const char *const names[PTX_TYPES] = {
        [PTX_PRED] = "pred", [PTX_B8] = "b8",         [PTX_B16] = "b16", [PTX_B32] = "b32",
        [PTX_B64] = "b64",   [PTX_B128] = "b128",     [PTX_U8] = "u8",   [PTX_U16] = "u16",
        [PTX_U32] = "u32",   [PTX_U64] = "u64",       [PTX_S8] = "s8",   [PTX_S16] = "s16",
        [PTX_S32] = "s32",   [PTX_S64] = "s64",       [PTX_F16] = "f16", [PTX_F16X2] = "f16x2",
        [PTX_BF16] = "bf16", [PTX_BF16X2] = "bf16x2", [PTX_F32] = "f32", [PTX_F64] = "f64",
    };
    for (int type = PTX_PRED; type < PTX_TYPES; type++)
        if (str_equal(name, str_of(names[type]))) return (PtxType)type;
    return PTX_NOTYPE;
}

// Where the data of an initialiser goes.
typedef struct {
    uint8_t *data;
    size_t len, capacity;
    size_t reference_capacity;
    uint64_t limit; // bytes the variable has, 0: as many as there are values
} Initial;

static void initial_bytes(Parser *parser, Initial *initial, uint64_t value, uint32_t bytes) {
    if (initial->limit && initial->len + bytes > initial->limit)
        parse_fail(parser, "more initial values than the variable holds");
    for (uint32_t k = 0; k < bytes; k++) {
        ARENA_GROW(parser->arena, initial->data, initial->len, initial->capacity);
        initial->data[initial->len++] = k < 8 ? (uint8_t)(value >> (8 * k)) : 0;
    }
}

// generic(name), name, each with an optional + number.
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
        if (!str_equal(name, STR("generic"))) parse_fail(parser, "cannot initialise with this");
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
        if (!value) parse_fail(parser, "a mask of no bits");
        initial_address(parser, variable, initial, value);
        parse_expect(parser, ")");
        return;
    }
    initial_bytes(parser, initial, value, bytes);
}

// Nested braces; a row that gives fewer values than it has elements is filled with zeros.
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
        while (initial->len - start < stride[level - 1] && initial->len < initial->limit)
            initial_bytes(parser, initial, 0, 1);
    }
}

static uint64_t array_bound(Parser *parser) {
    uint64_t bound = parse_int(parser, "an array bound");
    if (bound > VARIABLE_LIMIT) parse_fail(parser, "array bound too large");
    return bound;
}

void parse_variable(Parser *parser, PtxVariable *variable, PtxSpace space) {
    variable->space = space;
    variable->ptx_line = parser->token.line;
    uint32_t lanes = 1;
    for (;;) {
        if (parse_take(parser, ".align")) {
            uint64_t align = parse_int(parser, "an alignment");
            if (align == 0 || align > 1024 || (align & (align - 1)))
                parse_fail(parser, "bad alignment");
            variable->align = (uint32_t)align;
        } else if (parse_take(parser, ".v2")) {
            lanes = 2;
        } else if (parse_take(parser, ".v4")) {
            lanes = 4;
        } else if (parse_take(parser, ".ptr") || parse_take(parser, ".global") ||
                   parse_take(parser, ".const") || parse_take(parser, ".shared") ||
                   parse_take(parser, ".local")) {
            continue; // says what a pointer parameter points to
        } else if (parse_take(parser, ".attribute")) {
            parse_expect(parser, "(");
            parse_skip_past(parser, ")");
        } else {
            break;
        }
    }
    Str type = parse_word(parser, "a type");
    if (!str_starts(type, STR(".")) || !(variable->type = ptx_type_named(str_from(type, 1)))) {
        parser->status = SIMT_UNSUPPORTED;
        parse_fail(parser, "cannot declare a variable of type `%.*s`", STR_ARG(type));
    }
    uint32_t bytes = ptx_type_bytes(variable->type) * lanes;
    if (!bytes) parse_fail(parser, "a predicate cannot be in memory");
    if (!variable->align) variable->align = bytes;
    // A pointer parameter's `.ptr .global .align 4` comes after its type.
    if (parse_take(parser, ".ptr")) {
        while (parser->token.kind == TOKEN_WORD && parser->token.text.at[0] == '.') {
            bool align = parse_at(parser, ".align");
            parse_next(parser);
            if (align) parse_int(parser, "an alignment");
        }
    }
    variable->name = parse_word(parser, "a variable's name");
    uint64_t dims[8], total = bytes;
    uint32_t levels = 0;
    bool open = false;
    while (parse_take(parser, "[")) {
        if (levels == 8) parse_fail(parser, "too many array dimensions");
        if (parse_at(parser, "]") && levels == 0) {
            open = true;
            dims[levels] = 1;
        } else {
            dims[levels] = array_bound(parser);
        }
        parse_expect(parser, "]");
        if (__builtin_mul_overflow(total, dims[levels], &total) || total > VARIABLE_LIMIT)
            parse_fail(parser, "variable too large");
        levels++;
    }
    uint64_t strides[8] = {0}, stride = bytes;
    for (uint32_t k = levels; k-- > 0;) {
        stride *= k + 1 < levels ? dims[k + 1] : 1;
        strides[k] = stride;
    }
    variable->bytes = open ? 0 : total;
    if (parse_take(parser, "=")) {
        if (space != PTX_GLOBAL && space != PTX_CONST)
            parse_fail(parser, "only global and constant variables can have initial values");
        Initial initial = {.limit = open ? 0 : total};
        if (parse_at(parser, "{"))
            initial_list(parser, variable, &initial, strides, 0, levels ? levels : 1);
        else
            initial_value(parser, variable, &initial);
        variable->data = initial.data;
        variable->data_bytes = initial.len;
        if (open) variable->bytes = initial.len;
    }
}

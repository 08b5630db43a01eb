// Functions and variables that CUDA declares. A row of the table says how one is called:
//
//   i j f d v m b y x   a type, as in mangled names
//   T   any number; several T of a call get their common type
//   F   float or double; an integer becomes a double
//   P   a pointer, to `allowed` types if there are any; V: what it points to
//   M   a mask of lanes, which may be left out; W: the width of a shuffle, likewise
#include <string.h>

#include "simt/cudac/parse/parser.h"

typedef struct {
    Str name;
    BuiltIn built_in;
    char result;
    const char *takes;
    const char *allowed; // letters of the types that T, P may stand for; NULL: any
    int64_t integer;     // MemoryScope
    const char *text;    // of loads and stores
} Row;

#define ROW(name, built_in, result, takes, allowed)                                                \
    { {name, sizeof name - 1}, BUILT_IN_##built_in, result, takes, allowed, 0, NULL }
#define ATOMIC(name, built_in, takes, allowed)                                                     \
    {{name, sizeof name - 1},                                                                      \
     BUILT_IN_ATOMIC_##built_in,                                                                   \
     'V',                                                                                          \
     takes,                                                                                        \
     allowed,                                                                                      \
     MEMORY_SCOPE_DEVICE,                                                                          \
     NULL},                                                                                        \
        {{name "_block", sizeof name + 5},                                                         \
         BUILT_IN_ATOMIC_##built_in,                                                               \
         'V',                                                                                      \
         takes,                                                                                    \
         allowed,                                                                                  \
         MEMORY_SCOPE_BLOCK,                                                                       \
         NULL},                                                                                    \
    {                                                                                              \
        {name "_system", sizeof name + 6}, BUILT_IN_ATOMIC_##built_in, 'V', takes, allowed,        \
            MEMORY_SCOPE_SYSTEM, NULL                                                              \
    }
#define MEMORY(name, built_in, result, takes, text)                                                \
    { {name, sizeof name - 1}, BUILT_IN_##built_in, result, takes, NULL, 0, text }
#define FENCE(name, scope)                                                                         \
    { {name, sizeof name - 1}, BUILT_IN_FENCE, 'v', "", NULL, scope, NULL }

static const Row ROWS[] = {
    ROW("__syncthreads", SYNCTHREADS, 'v', "", NULL),
    ROW("__syncthreads_count", SYNCTHREADS_COUNT, 'i', "i", NULL),
    ROW("__syncthreads_and", SYNCTHREADS_AND, 'i', "i", NULL),
    ROW("__syncthreads_or", SYNCTHREADS_OR, 'i', "i", NULL),
    ROW("__syncwarp", SYNCWARP, 'v', "M", NULL),
    ROW("__shfl_sync", SHUFFLE, 'T', "jTiW", "ijlmxyfdD"),
    ROW("__shfl_up_sync", SHUFFLE_UP, 'T', "jTjW", "ijlmxyfdD"),
    ROW("__shfl_down_sync", SHUFFLE_DOWN, 'T', "jTjW", "ijlmxyfdD"),
    ROW("__shfl_xor_sync", SHUFFLE_XOR, 'T', "jTiW", "ijlmxyfdD"),
    ROW("__ballot_sync", BALLOT, 'j', "ji", NULL),
    ROW("__any_sync", ANY, 'i', "ji", NULL),
    ROW("__all_sync", ALL, 'i', "ji", NULL),
    ROW("__activemask", ACTIVE_MASK, 'j', "", NULL),
    ROW("__match_any_sync", MATCH_ANY, 'j', "jT", "ijlmxyfd"),
    ROW("__reduce_add_sync", REDUCE_ADD, 'T', "jT", "ij"),
    ROW("__reduce_min_sync", REDUCE_MIN, 'T', "jT", "ij"),
    ROW("__reduce_max_sync", REDUCE_MAX, 'T', "jT", "ij"),
    ROW("__reduce_and_sync", REDUCE_AND, 'j', "jj", NULL),
    ROW("__reduce_or_sync", REDUCE_OR, 'j', "jj", NULL),
    ROW("__reduce_xor_sync", REDUCE_XOR, 'j', "jj", NULL),
    ATOMIC("atomicAdd", ADD, "PV", "ijyfd"),
    ATOMIC("atomicSub", SUB, "PV", "ij"),
    ATOMIC("atomicMin", MIN, "PV", "ijxy"),
    ATOMIC("atomicMax", MAX, "PV", "ijxy"),
    ATOMIC("atomicInc", INC, "PV", "j"),
    ATOMIC("atomicDec", DEC, "PV", "j"),
    ATOMIC("atomicAnd", AND, "PV", "ijy"),
    ATOMIC("atomicOr", OR, "PV", "ijy"),
    ATOMIC("atomicXor", XOR, "PV", "ijy"),
    ATOMIC("atomicExch", EXCHANGE, "PV", "ijyf"),
    ATOMIC("atomicCAS", CAS, "PVV", "ijy"),
    FENCE("__threadfence", MEMORY_SCOPE_DEVICE),
    FENCE("__threadfence_block", MEMORY_SCOPE_BLOCK),
    FENCE("__threadfence_system", MEMORY_SCOPE_SYSTEM),
    MEMORY("__ldg", LOAD, 'V', "P", "nc"),
    MEMORY("__ldca", LOAD, 'V', "P", "ca"),
    MEMORY("__ldcg", LOAD, 'V', "P", "cg"),
    MEMORY("__ldcs", LOAD, 'V', "P", "cs"),
    MEMORY("__ldlu", LOAD, 'V', "P", "lu"),
    MEMORY("__ldcv", LOAD, 'V', "P", "cv"),
    MEMORY("__stcg", STORE, 'v', "PV", "cg"),
    MEMORY("__stcs", STORE, 'v', "PV", "cs"),
    MEMORY("__stwb", STORE, 'v', "PV", "wb"),
    MEMORY("__stwt", STORE, 'v', "PV", "wt"),
    ROW("abs", ABS, 'T', "T", "ilxfd"),
    ROW("labs", ABS, 'l', "l", NULL),
    ROW("llabs", ABS, 'x', "x", NULL),
    ROW("fabs", ABS, 'F', "F", NULL),
    ROW("fabsf", ABS, 'f', "f", NULL),
    ROW("min", MIN, 'T', "TT", "ijlmxyfd"),
    ROW("max", MAX, 'T', "TT", "ijlmxyfd"),
    ROW("umin", MIN, 'j', "jj", NULL),
    ROW("umax", MAX, 'j', "jj", NULL),
    ROW("fminf", MIN, 'f', "ff", NULL),
    ROW("fmaxf", MAX, 'f', "ff", NULL),
    ROW("fmin", MIN, 'F', "FF", NULL),
    ROW("fmax", MAX, 'F', "FF", NULL),
    ROW("fmaf", FMA, 'f', "fff", NULL),
    ROW("fma", FMA, 'F', "FFF", NULL),
    ROW("__fmaf_rn", FMA, 'f', "fff", NULL),
    ROW("sqrtf", SQRT, 'f', "f", NULL),
    ROW("sqrt", SQRT, 'F', "F", NULL),
    ROW("rsqrtf", RSQRT, 'f', "f", NULL),
    ROW("rsqrt", RSQRT, 'F', "F", NULL),
    ROW("expf", EXP, 'f', "f", NULL),
    ROW("exp", EXP, 'F', "F", NULL),
    ROW("logf", LOG, 'f', "f", NULL),
    ROW("log", LOG, 'F', "F", NULL),
    ROW("__popc", POPC, 'i', "j", NULL),
    ROW("__popcll", POPC, 'i', "y", NULL),
    ROW("__clz", CLZ, 'i', "i", NULL),
    ROW("__clzll", CLZ, 'i', "x", NULL),
    ROW("__ffs", FFS, 'i', "i", NULL),
    ROW("__ffsll", FFS, 'i', "x", NULL),
    ROW("__brev", BREV, 'j', "j", NULL),
    ROW("__brevll", BREV, 'y', "y", NULL),
    ROW("__mulhi", MULHI, 'i', "ii", NULL),
    ROW("__umulhi", MULHI, 'j', "jj", NULL),
    ROW("__mul64hi", MULHI, 'x', "xx", NULL),
    ROW("__umul64hi", MULHI, 'y', "yy", NULL),
    ROW("__byte_perm", BYTE_PERM, 'j', "jjj", NULL),
    ROW("__funnelshift_l", FUNNEL_LEFT, 'j', "jjj", NULL),
    ROW("__funnelshift_r", FUNNEL_RIGHT, 'j', "jjj", NULL),
    ROW("__float_as_int", BIT_CAST, 'i', "f", NULL),
    ROW("__float_as_uint", BIT_CAST, 'j', "f", NULL),
    ROW("__int_as_float", BIT_CAST, 'f', "i", NULL),
    ROW("__uint_as_float", BIT_CAST, 'f', "j", NULL),
    ROW("__double_as_longlong", BIT_CAST, 'x', "d", NULL),
    ROW("__longlong_as_double", BIT_CAST, 'd', "x", NULL),
    ROW("clock64", CLOCK, 'x', "", NULL),
    ROW("__trap", TRAP, 'v', "", NULL),
    ROW("__builtin_unreachable", UNREACHABLE, 'v', "", NULL),
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

bool builtin_has(Str name) {
    size_t i = 0;
    while (i < ROW_COUNT && !str_equal(ROWS[i].name, name)) i++;
    return i < ROW_COUNT;
}

Str builtin_nearest(Str name, size_t *edits) {
    Str nearest = {0};
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (str_is_nearer(name, ROWS[i].name, edits)) nearest = ROWS[i].name;
    static const Str others[] = {
        {"threadIdx", 9}, {"blockIdx", 8}, {"blockDim", 8}, {"gridDim", 7}, {"printf", 6}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_is_nearer(name, others[i], edits)) nearest = others[i];
    return nearest;
}

// threadIdx "." ("x" | "y" | "z")
Expression *builtin_name(Parser *p, const Token *name) {
    static const struct {
        Str name;
        SpecialName special;
    } names[] = {{{"threadIdx", 9}, REGISTER_TID},
                 {{"blockDim", 8}, REGISTER_NTID},
                 {{"blockIdx", 8}, REGISTER_CTAID},
                 {{"gridDim", 7}, REGISTER_NCTAID}};
    size_t i = 0, count = sizeof names / sizeof *names;
    while (i < count && !str_equal(names[i].name, name->text)) i++;
    if (i == count) return NULL;
    const Token *axis = p->token + 1;
    bool known = parser_at(p, TOKEN_DOT) && axis->text.len == 1 && axis->text.at[0] >= 'x' &&
                 axis->text.at[0] <= 'z';
    if (!known) {
        parser_fail(p, name->place, "write %.*s.x, .y or .z", STR_ARG(name->text));
        return operator_zero(p, name->place);
    }
    p->token += 2;
    Expression *e = operator_new(p, EXPRESSION_BUILT_IN, &type_unsigned, name->place);
    e->built_in = BUILT_IN_SPECIAL;
    e->integer = SPECIAL(names[i].special, axis->text.at[0] - 'x');
    return e;
}

static bool is_among(const Type *type, const char *letters) {
    if (!letters) return true;
    for (; *letters; letters++)
        if (type->letter == *letters) return true;
    return false;
}

// The type that T, F or V stands for in a call.
static const Type *generic_type(Parser *p, const Row *row, Expression **list, size_t count,
                                Place place) {
    const Type *type = NULL, *first = count ? list[0]->type : NULL;
    if (*row->takes == 'P') {
        if (first->kind != TYPE_POINTER || first->base->kind == TYPE_VOID) {
            parser_fail(p, list[0]->place, "`%.*s` takes a pointer first: write &, or a pointer",
                        STR_ARG(row->name));
            return &type_int;
        }
        type = type_plain(p->arena, first->base);
        bool stores = row->result == 'v' || row->built_in != BUILT_IN_LOAD;
        if (stores && first->base->is_const)
            parser_fail(p, list[0]->place,
                        "`%.*s` cannot change what this pointer points to: declare "
                        "it without const",
                        STR_ARG(row->name));
    }
    for (size_t i = 0; i < count && row->takes[i]; i++) {
        if (row->takes[i] != 'T' && row->takes[i] != 'F') continue;
        if (!type_is_arithmetic(list[i]->type))
            parser_fail(p, list[i]->place, "`%.*s` takes a number here, not `%.*s`",
                        STR_ARG(row->name), STR_ARG(type_name(p->arena, list[i]->type)));
        const Type *own = type_promoted(list[i]->type);
        if (row->takes[i] == 'F' && !type_is_floating(own)) own = &type_double;
        type = type ? type_common(type, own) : own;
    }
    if (type && !is_among(type, row->allowed)) {
        bool wide = type->letter == 'm' || type->letter == 'x';
        parser_fail(p, place, "`%.*s` does not take `%.*s`%s", STR_ARG(row->name),
                    STR_ARG(type_name(p->arena, type)),
                    wide && is_among(type_of_letter('y'), row->allowed) ? ": use unsigned long long"
                                                                        : "");
    }
    return type ? type : &type_int;
}

static const Type *type_for(char letter, const Type *generic) {
    if (letter == 'T' || letter == 'F' || letter == 'V') return generic;
    return letter == 'M' ? &type_unsigned : letter == 'W' ? &type_int : type_of_letter(letter);
}

static size_t length(const char *text) {
    size_t count = 0;
    while (text[count]) count++;
    return count;
}

static bool count_fits(Parser *p, const Row *row, size_t count, Place place) {
    size_t most = length(row->takes), least = most;
    if (most && (row->takes[most - 1] == 'M' || row->takes[most - 1] == 'W')) least--;
    if (count >= least && count <= most) return true;
    parser_fail(p, place, "`%.*s` takes %zu argument%s, not %zu", STR_ARG(row->name), least,
                least == 1 ? "" : "s", count);
    return false;
}

// A constant that is made of bits, such as INFINITY.
static Expression *constant_bits(Parser *p, Expression *e) {
    Expression *from = e->arguments[0];
    bool folds = from->kind == EXPRESSION_INTEGER && e->type->kind == TYPE_F32;
    if (!folds) return e;
    uint32_t bits = (uint32_t)from->integer;
    float value;
    memcpy(&value, &bits, sizeof value);
    Expression *constant = operator_new(p, EXPRESSION_FLOATING, e->type, e->place);
    constant->floating = (double)value;
    return constant;
}

static Expression *call_row(Parser *p, const Row *row, Expression **list, size_t count,
                            Place place) {
    Expression *zero = operator_zero(p, place);
    if (parser_failed(p) || !count_fits(p, row, count, place)) return zero;
    for (size_t i = 0; i < count; i++) list[i] = operator_value(p, list[i]);
    const Type *generic = generic_type(p, row, list, count, place);
    if (parser_failed(p)) return zero;
    Expression *e = operator_new(p, EXPRESSION_BUILT_IN, type_for(row->result, generic), place);
    e->built_in = row->built_in, e->integer = row->integer;
    e->text = row->text ? str_of(row->text) : row->name;
    e->argument_count = length(row->takes);
    e->arguments = ARENA_NEW(p->arena, e->argument_count + 1, Expression *);
    for (size_t i = 0; i < e->argument_count; i++) {
        char letter = row->takes[i];
        int64_t left_out = letter == 'M' ? UINT32_MAX : 32;
        Expression *argument =
            i < count ? list[i] : operator_integer(p, left_out, type_for(letter, NULL), place);
        e->arguments[i] = letter == 'P' ? argument
                                        : operator_convert(p, argument, type_for(letter, generic),
                                                           "this argument");
    }
    return row->built_in == BUILT_IN_BIT_CAST ? constant_bits(p, e) : e;
}

// printf "(" TEXT ("," value)* ")"
static Expression *print(Parser *p, Expression **list, size_t count, Place place) {
    if (!count || list[0]->kind != EXPRESSION_TEXT)
        parser_fail(p, place, "printf takes a text in quotes first");
    for (size_t i = 1; i < count && !parser_failed(p); i++) {
        Expression *e = list[i]->kind == EXPRESSION_TEXT ? list[i] : operator_value(p, list[i]);
        if (!type_is_scalar(e->type))
            parser_fail(p, e->place, "printf prints numbers, not `%.*s`",
                        STR_ARG(type_name(p->arena, e->type)));
        const Type *type = type_is_floating(e->type) ? &type_double : type_promoted(e->type);
        list[i] = operator_cast(p, e, type);
    }
    Expression *e = operator_new(p, EXPRESSION_BUILT_IN, &type_int, place);
    e->built_in = BUILT_IN_PRINTF, e->text = STR("printf");
    e->arguments = list, e->argument_count = count;
    return e;
}

Expression *builtin_call(Parser *p, const Token *name) {
    size_t i = 0, count;
    bool prints = str_equal(name->text, STR("printf"));
    while (i < ROW_COUNT && !str_equal(ROWS[i].name, name->text)) i++;
    if (i == ROW_COUNT && !prints) return NULL;
    parser_expect(p, TOKEN_LEFT_PAREN, "after the name of a function");
    Expression **list = call_arguments(p, &count);
    return prints ? print(p, list, count, name->place)
                  : call_row(p, &ROWS[i], list, count, name->place);
}

// group "." "sync" "(" ")", at the "("
Expression *builtin_method(Parser *p, Expression *group, Str name, Place place) {
    bool grid = str_equal(group->type->name, STR("grid_group"));
    bool block = str_equal(group->type->name, STR("thread_block"));
    if ((!grid && !block) || !str_equal(name, STR("sync"))) {
        parser_fail(p, place,
                    "`%.*s` has no function `%.*s` here: write a function with __device__, "
                    "or compute it from threadIdx and blockIdx",
                    STR_ARG(type_name(p->arena, group->type)), STR_ARG(name));
        return operator_zero(p, place);
    }
    p->token++;
    parser_expect(p, TOKEN_RIGHT_PAREN, "after sync(");
    Expression *e = operator_new(p, EXPRESSION_BUILT_IN, &type_void, place);
    e->built_in = grid ? BUILT_IN_GRID_SYNC : BUILT_IN_SYNCTHREADS;
    return e;
}

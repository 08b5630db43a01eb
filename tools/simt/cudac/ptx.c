// Writes instructions and blocks as PTX text.
#include "simt/cudac/ptx.h"

#include <string.h>

typedef struct {
    PtxText *text;
    Buf *out;
    Graph *graph;
    const Function *kernel;
    uint32_t counts[TYPE_F64 + 1];
    const Site *site;
    // Constants that have a register in the current block.
    struct {
        TypeKind kind;
        int64_t bits;
        uint32_t reg;
    } constants[64];
    size_t constant_count;
} Writer;

// --- names ---

static const char *register_prefix(TypeKind kind) {
    static const char *const prefixes[] = {[TYPE_BOOL] = "p", [TYPE_U32] = "r", [TYPE_U64] = "rd",
                                           [TYPE_F16] = "rs", [TYPE_F32] = "f", [TYPE_F64] = "fd"};
    return prefixes[kind];
}

// The type of an operation that distinguishes signed and unsigned numbers.
static const char *number_type(TypeKind type) {
    switch (type) {
    case TYPE_S8:
    case TYPE_S16:
    case TYPE_S32:
        return "s32";
    case TYPE_S64:
        return "s64";
    case TYPE_U64:
    case TYPE_POINTER:
        return "u64";
    case TYPE_F16:
        return "f16";
    case TYPE_F32:
        return "f32";
    case TYPE_F64:
        return "f64";
    default:
        return "u32";
    }
}

// As nvcc writes the type of an operation to which the sign does not matter.
static const char *signless_type(TypeKind kind) {
    return kind == TYPE_U32 ? "s32" : kind == TYPE_U64 ? "s64" : number_type(kind);
}

static const char *bit_type(TypeKind kind) {
    return kind == TYPE_BOOL       ? "pred"
           : kind == TYPE_F16      ? "b16"
           : graph_size(kind) == 4 ? "b32"
                                   : "b64";
}

static const char *select_type(TypeKind kind) {
    return kind == TYPE_F32 || kind == TYPE_F64 ? number_type(kind) : bit_type(kind);
}

// The type of a value in memory.
static const char *memory_type(TypeKind type) {
    static const char *const types[] = {
        [TYPE_BOOL] = "u8",    [TYPE_S8] = "s8",   [TYPE_U8] = "u8",   [TYPE_S16] = "s16",
        [TYPE_U16] = "u16",    [TYPE_S32] = "u32", [TYPE_U32] = "u32", [TYPE_S64] = "u64",
        [TYPE_U64] = "u64",    [TYPE_F16] = "b16", [TYPE_F32] = "f32", [TYPE_F64] = "f64",
        [TYPE_POINTER] = "u64"};
    return types[type];
}

static const char *space_name(Space space) {
    static const char *const names[] = {[SPACE_GENERIC] = "",
                                        [SPACE_SHARED] = ".shared",
                                        [SPACE_GLOBAL] = ".global",
                                        [SPACE_CONSTANT] = ".const",
                                        [SPACE_LOCAL] = ".local"};
    return names[space];
}

static void add_symbol(Writer *w, const Value *symbol, int64_t offset) {
    offset += symbol->integer;
    if (symbol->space == SPACE_LOCAL) {
        offset += (int64_t)((const Instance *)symbol->object)->offset;
        buf_format(w->out, "__local_depot%u", w->text->kernel_count);
    } else {
        const Variable *variable = symbol->object;
        buf_add(w->out, variable->symbol.len ? variable->symbol : variable->name);
    }
    if (offset) buf_format(w->out, "+%lld", (long long)offset);
}

// --- operands ---

static void add_register(Writer *w, TypeKind kind, uint32_t reg) {
    buf_format(w->out, "%%%s%u", register_prefix(kind), reg);
}

static void add_constant(Buf *out, const Value *value) {
    long long bits = (long long)value->integer;
    if (value->kind == TYPE_F32)
        buf_format(out, "0f%08X", (unsigned)value->integer);
    else if (value->kind == TYPE_F64)
        buf_format(out, "0d%016llX", (unsigned long long)bits);
    else if (value->kind == TYPE_U32)
        buf_format(out, "%d", (int)(uint32_t)value->integer);
    else
        buf_format(out, "%lld", bits);
}

static void add_operand(Writer *w, const Value *value) {
    if (value->op == OP_CONSTANT)
        if (value->kind == TYPE_BOOL)
            buf_format(w->out, "%d", value->integer ? -1 : 0);
        else
            add_constant(w->out, value);
    else if (value->op == OP_UNDEFINED)
        add_register(w, value->kind, 0);
    else if (value->op == OP_SYMBOL && value->uses == 0)
        add_symbol(w, value, 0);
    else
        add_register(w, value->kind, value->reg);
}

// The register of a constant in this block; it is loaded at its first use.
static uint32_t constant_register(Writer *w, const Value *value) {
    for (size_t k = 0; k < w->constant_count; k++)
        if (w->constants[k].kind == value->kind && w->constants[k].bits == value->integer)
            return w->constants[k].reg;
    uint32_t reg = ++w->counts[value->kind];
    buf_format(w->out, "\tmov.%s \t", value->kind == TYPE_BOOL ? "pred" : number_type(value->kind));
    add_register(w, value->kind, reg);
    buf_add(w->out, STR(", "));
    add_operand(w, value);
    buf_add(w->out, STR(";\n"));
    if (w->constant_count == sizeof w->constants / sizeof *w->constants) w->constant_count = 0;
    w->constants[w->constant_count].kind = value->kind;
    w->constants[w->constant_count].bits = value->integer;
    w->constants[w->constant_count++].reg = reg;
    return reg;
}

// Constants that an instruction takes only from registers get them before it is written.
static void load_constants(Writer *w, const Value *value, size_t first, size_t end) {
    for (size_t k = first; k < end && k < value->arg_count; k++)
        if (value->args[k]->op == OP_CONSTANT) constant_register(w, value->args[k]);
}

static void add_in_register(Writer *w, const Value *value) {
    if (value->op == OP_CONSTANT)
        add_register(w, value->kind, constant_register(w, value));
    else
        add_operand(w, value);
}

static void add_address(Writer *w, const Value *access) {
    const Value *address = access->args[0];
    int64_t offset = access->op == OP_ATOMIC ? 0 : access->integer;
    buf_char(w->out, '[');
    if (address->op == OP_SYMBOL && address->uses == 0) {
        add_symbol(w, address, offset);
    } else {
        add_operand(w, address);
        if (offset) buf_format(w->out, "+%lld", (long long)offset);
    }
    buf_char(w->out, ']');
}

static void add_result(Writer *w, const Value *value) { add_register(w, value->kind, value->reg); }

// A result that may not be used.
static void add_part(Writer *w, const Value *value, size_t part, TypeKind kind) {
    const Value *used = value->parts ? value->parts[part] : NULL;
    if (used)
        add_result(w, used);
    else
        add_register(w, kind, ++w->counts[kind]);
}

// --- pure operations ---

typedef const char *(*TypeName)(TypeKind kind);
static const char *from_float(TypeKind kind) { return number_type(kind); }

// Operations that are a name, a type and their operands. Of floats and integers if two are given.
static const struct {
    Op op;
    bool by_from; // the type is that of the operation, with its sign
    const char *integer, *floating;
    TypeName type;
} rows[] = {
    {OP_ADD, false, "add", "add", signless_type},
    {OP_SUBTRACT, false, "sub", "sub", signless_type},
    {OP_MULTIPLY, false, "mul.lo", "mul", signless_type},
    {OP_MULTIPLY_WIDE, true, "mul.wide", NULL, number_type},
    {OP_MULTIPLY_HIGH, true, "mul.hi", NULL, number_type},
    {OP_DIVIDE, true, "div", "div.rn", number_type},
    {OP_REMAINDER, true, "rem", NULL, number_type},
    {OP_SHIFT_LEFT, false, "shl", NULL, bit_type},
    {OP_SHIFT_RIGHT, true, "shr", NULL, number_type},
    {OP_AND, false, "and", NULL, bit_type},
    {OP_OR, false, "or", NULL, bit_type},
    {OP_XOR, false, "xor", NULL, bit_type},
    {OP_NOT, false, "not", NULL, bit_type},
    {OP_NEGATE, false, "neg", "neg", signless_type},
    {OP_LESS, true, "setp.lt", "setp.lt", number_type},
    {OP_LESS_EQUAL, true, "setp.le", "setp.le", number_type},
    {OP_EQUAL, true, "setp.eq", "setp.eq", signless_type},
    {OP_NOT_EQUAL, true, "setp.ne", "setp.neu", signless_type},
    {OP_MIN, true, "min", "min", number_type},
    {OP_MAX, true, "max", "max", number_type},
    {OP_ABS, true, "abs", "abs", number_type},
    {OP_FMA, false, "mad.lo", "fma.rn", signless_type},
    {OP_SQRT, false, NULL, "sqrt.rn", from_float},
    {OP_RSQRT, false, NULL, "rsqrt.approx", from_float},
    {OP_POPC, true, "popc", NULL, bit_type},
    {OP_CLZ, true, "clz", NULL, bit_type},
    {OP_FFS_BIT, true, "bfind.shiftamt", NULL, number_type},
    {OP_BREV, false, "brev", NULL, bit_type},
    {OP_PERMUTE, false, "prmt", NULL, bit_type},
    {OP_FUNNEL_LEFT, false, "shf.l.wrap", NULL, bit_type},
    {OP_FUNNEL_RIGHT, false, "shf.r.wrap", NULL, bit_type},
    {OP_TO_GLOBAL, false, "cvta.to.global", NULL, number_type},
};

static bool is_float(TypeKind kind) {
    return kind == TYPE_F16 || kind == TYPE_F32 || kind == TYPE_F64;
}

static void add_operands(Writer *w, const Value *value) {
    add_result(w, value);
    for (size_t k = 0; k < value->arg_count; k++) {
        buf_add(w->out, STR(", "));
        add_operand(w, value->args[k]);
    }
    buf_add(w->out, STR(";\n"));
}

static void write_row(Writer *w, const Value *value) {
    size_t k = 0;
    while (k < sizeof rows / sizeof *rows - 1 && rows[k].op != value->op) k++;
    TypeKind kind = rows[k].by_from ? value->from : value->kind;
    bool floating = is_float(value->args[0]->kind);
    const char *name = floating ? rows[k].floating : rows[k].integer;
    const char *type = rows[k].type(rows[k].type == bit_type ? graph_register_kind(kind) : kind);
    // Three operands have no room for a constant in front.
    load_constants(w, value, 0, value->arg_count == 3 ? 2 : value->arg_count == 1 ? 0 : 1);
    buf_format(w->out, "\t%s.%s \t", name ? name : "no", type);
    add_result(w, value);
    for (size_t a = 0; a < value->arg_count; a++) {
        buf_add(w->out, STR(", "));
        bool reg = value->arg_count == 3 ? a < 2 : value->arg_count == 2 && a == 0;
        if (reg)
            add_in_register(w, value->args[a]);
        else
            add_operand(w, value->args[a]);
    }
    buf_add(w->out, STR(";\n"));
}

static const char *convert_type(TypeKind type) {
    return type == TYPE_S8 ? "s8" : type == TYPE_S16 ? "s16" : number_type(type);
}

static void write_convert(Writer *w, const Value *value) {
    TypeKind to = (TypeKind)value->integer, from = value->from;
    if (from == TYPE_BOOL) {
        buf_format(w->out, "\tselp.%s \t", to == TYPE_S64 || to == TYPE_U64 ? "u64" : "u32");
        add_result(w, value);
        buf_add(w->out, STR(", 1, 0, "));
        add_operand(w, value->args[0]);
        buf_add(w->out, STR(";\n"));
        return;
    }
    const char *rounding = is_float(from) && !is_float(to)                     ? "rzi."
                           : !is_float(from) && is_float(to)                   ? "rn."
                           : is_float(to) && graph_size(to) < graph_size(from) ? "rn."
                                                                               : "";
    if (graph_size(to) < 4 && to != TYPE_F16)
        buf_format(w->out, "\tcvt.s32.%s \t", convert_type(to));
    else if (is_float(from) || is_float(to))
        buf_format(w->out, "\tcvt.%s%s.%s \t", rounding, number_type(to), number_type(from));
    else {
        bool sign = from == TYPE_S8 || from == TYPE_S16 || from == TYPE_S32;
        if (value->kind == TYPE_U32)
            buf_add(w->out, STR("\tcvt.u32.u64 \t"));
        else
            buf_format(w->out, "\tcvt.%s \t", sign ? "s64.s32" : "u64.u32");
    }
    add_operands(w, value);
}

static void write_bits(Writer *w, const Value *value) {
    TypeKind from = value->args[0]->kind;
    if (value->kind == TYPE_F16)
        buf_add(w->out, STR("\tcvt.u16.u32 \t"));
    else if (from == TYPE_F16)
        buf_add(w->out, STR("\tcvt.u32.u16 \t"));
    else
        buf_format(w->out, "\tmov.%s \t", bit_type(value->kind));
    add_operands(w, value);
}

static void write_special(Writer *w, const Value *value) {
    static const char *const names[] = {"tid", "ntid", "ctaid", "nctaid", "laneid", "WARP_SZ"};
    int64_t name = value->integer / 4, axis = value->integer % 4;
    buf_add(w->out, STR("\tmov.u32 \t"));
    add_result(w, value);
    buf_format(w->out, ", %%%s", names[name]);
    if (name < REGISTER_LANEID) buf_format(w->out, ".%c", (char)('x' + axis));
    buf_add(w->out, STR(";\n"));
}

static void write_parameter(Writer *w, const Value *value) {
    size_t k = 0;
    while (w->kernel->parameters[k] != value->object) k++;
    buf_format(w->out, "\tld.param.%s \t", memory_type(value->from));
    add_result(w, value);
    buf_format(w->out, ", [%.*s_param_%zu", STR_ARG(w->kernel->symbol), k);
    if (value->integer) buf_format(w->out, "+%lld", (long long)value->integer);
    buf_add(w->out, STR("];\n"));
}

static void write_symbol(Writer *w, const Value *value) {
    if (value->uses == 0) return;
    buf_format(w->out, "\tmov.%s \t", number_type(value->kind));
    add_result(w, value);
    buf_add(w->out, STR(", "));
    add_symbol(w, value, 0);
    buf_add(w->out, STR(";\n"));
}

static void write_generic(Writer *w, const Value *value) {
    Space space = (Space)value->integer;
    if (space == SPACE_SHARED) {
        buf_add(w->out, STR("\tcvt.u64.u32 \t"));
        add_operands(w, value);
    }
    buf_format(w->out, "\tcvta%s.u64 \t", space_name(space));
    add_result(w, value);
    buf_add(w->out, STR(", "));
    if (space == SPACE_SHARED)
        add_result(w, value);
    else
        add_operand(w, value->args[0]);
    buf_add(w->out, STR(";\n"));
}

static void write_select(Writer *w, const Value *value) {
    buf_format(w->out, "\tselp.%s \t", select_type(value->kind));
    add_result(w, value);
    for (size_t k = 1; k < 4; k++) {
        buf_add(w->out, STR(", "));
        add_operand(w, value->args[k % 3]);
    }
    buf_add(w->out, STR(";\n"));
}

// --- memory ---

static void add_vector(Writer *w, const Value *access, bool load) {
    if (access->lanes > 1) buf_char(w->out, '{');
    for (size_t k = 0; k < access->lanes; k++) {
        if (k) buf_add(w->out, STR(", "));
        if (!load)
            add_in_register(w, access->args[2 + k]);
        else if (access->lanes == 1)
            add_result(w, access);
        else
            add_part(w, access, k, access->kind);
    }
    if (access->lanes > 1) buf_char(w->out, '}');
}

static void write_access(Writer *w, const Value *value) {
    bool load = value->op == OP_LOAD;
    if (!load) load_constants(w, value, 2, value->arg_count);
    buf_format(w->out, "\t%s%s%s", load ? "ld" : "st", value->is_volatile ? ".volatile" : "",
               space_name(value->access));
    if (value->text.len)
        buf_format(w->out, ".%.*s", STR_ARG(value->text));
    else if (value->is_invariant && value->access == SPACE_GLOBAL)
        buf_add(w->out, STR(".nc"));
    if (value->lanes > 1) buf_format(w->out, ".v%u", value->lanes);
    buf_format(w->out, ".%s \t", memory_type(value->from));
    if (load) {
        add_vector(w, value, true);
        buf_add(w->out, STR(", "));
        add_address(w, value);
    } else {
        add_address(w, value);
        buf_add(w->out, STR(", "));
        add_vector(w, value, false);
    }
    buf_add(w->out, STR(";\n"));
}

static void write_atomic(Writer *w, const Value *value) {
    static const char *const names[] = {"add", "sub", "min", "max",  "inc", "dec",
                                        "and", "or",  "xor", "exch", "cas"};
    static const char *const scopes[] = {
        [MEMORY_SCOPE_DEVICE] = "", [MEMORY_SCOPE_BLOCK] = ".cta", [MEMORY_SCOPE_SYSTEM] = ".sys"};
    BuiltIn built_in = value->built_in;
    bool order = built_in == BUILT_IN_ATOMIC_MIN || built_in == BUILT_IN_ATOMIC_MAX;
    bool bits = built_in >= BUILT_IN_ATOMIC_AND;
    const char *type = order  ? number_type(value->from)
                       : bits ? (graph_size(value->kind) == 4 ? "b32" : "b64")
                              : number_type(value->kind);
    if (built_in == BUILT_IN_ATOMIC_CAS) load_constants(w, value, 2, 4);
    buf_format(w->out, "\tatom%s%s.%s.%s \t", space_name(value->access), scopes[value->integer],
               names[built_in - BUILT_IN_ATOMIC_ADD], type);
    add_result(w, value);
    buf_add(w->out, STR(", "));
    add_address(w, value);
    for (size_t k = 2; k < value->arg_count; k++) {
        buf_add(w->out, STR(", "));
        if (built_in == BUILT_IN_ATOMIC_CAS)
            add_in_register(w, value->args[k]);
        else
            add_operand(w, value->args[k]);
    }
    buf_add(w->out, STR(";\n"));
}

// --- warps and blocks ---

static void write_barrier(Writer *w, const Value *value) {
    static const char *const names[] = {"", "popc.u32", "and.pred", "or.pred"};
    if (value->built_in == BUILT_IN_SYNCTHREADS) {
        buf_add(w->out, STR("\tbar.sync \t0;\n"));
        return;
    }
    load_constants(w, value, 0, 1);
    buf_format(w->out, "\tbar.red.%s \t", names[value->built_in - BUILT_IN_SYNCTHREADS]);
    add_result(w, value);
    buf_add(w->out, STR(", 0, "));
    add_in_register(w, value->args[0]);
    buf_add(w->out, STR(";\n"));
}

// name result, register, ... ;
static void write_in_registers(Writer *w, const Value *value, const char *name) {
    load_constants(w, value, 0, value->arg_count);
    buf_format(w->out, "\t%s \t", name);
    add_result(w, value);
    for (size_t k = 0; k < value->arg_count; k++) {
        buf_add(w->out, STR(", "));
        add_in_register(w, value->args[k]);
    }
    buf_add(w->out, STR(";\n"));
}

static const char *reduce_name(PtxText *text, const Value *value) {
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    Buf name = {.arena = text->arena};
    bool bits = value->built_in >= BUILT_IN_REDUCE_AND;
    buf_format(&name, "redux.sync.%s.%s", names[value->built_in - BUILT_IN_REDUCE_ADD],
               bits                                     ? "b32"
               : value->built_in == BUILT_IN_REDUCE_ADD ? "s32"
                                                        : number_type(value->from));
    return str_terminated(text->arena, buf_str(&name));
}

static const char *warp_name(PtxText *text, const Value *value) {
    switch (value->built_in) {
    case BUILT_IN_SHUFFLE:
        return "shfl.sync.idx.b32";
    case BUILT_IN_SHUFFLE_UP:
        return "shfl.sync.up.b32";
    case BUILT_IN_SHUFFLE_DOWN:
        return "shfl.sync.down.b32";
    case BUILT_IN_SHUFFLE_XOR:
        return "shfl.sync.bfly.b32";
    case BUILT_IN_BALLOT:
        return "vote.sync.ballot.b32";
    case BUILT_IN_ANY:
        return "vote.sync.any.pred";
    case BUILT_IN_ALL:
        return "vote.sync.all.pred";
    case BUILT_IN_MATCH_ANY:
        return graph_size(value->from) == 8 ? "match.any.sync.b64" : "match.any.sync.b32";
    case BUILT_IN_ACTIVE_MASK:
        return "activemask.b32";
    default:
        return reduce_name(text, value);
    }
}

static void write_assembly(Writer *w, const Value *value) {
    Str text = value->text;
    load_constants(w, value, 0, value->arg_count);
    buf_char(w->out, '\t');
    for (size_t k = 0; k < text.len; k++) {
        bool operand =
            text.at[k] == '%' && k + 1 < text.len && text.at[k + 1] >= '0' && text.at[k + 1] <= '9';
        if (!operand) {
            buf_char(w->out, text.at[k]);
            if (text.at[k] == '%' && k + 1 < text.len && text.at[k + 1] == '%') k++;
            continue;
        }
        size_t number = 0;
        while (k + 1 < text.len && text.at[k + 1] >= '0' && text.at[k + 1] <= '9')
            number = number * 10 + (size_t)(text.at[++k] - '0');
        if (number < value->lanes)
            add_part(w, value, number, TYPE_U32);
        else if (number - value->lanes < value->arg_count)
            add_in_register(w, value->args[number - value->lanes]);
    }
    buf_char(w->out, '\n');
}

static void write_value(Writer *w, const Value *value) {
    static const char *const fences[] = {
        [MEMORY_SCOPE_DEVICE] = "gl", [MEMORY_SCOPE_BLOCK] = "cta", [MEMORY_SCOPE_SYSTEM] = "sys"};
    switch (value->op) {
    case OP_PARAMETER:
        write_parameter(w, value);
        break;
    case OP_SPECIAL:
        write_special(w, value);
        break;
    case OP_SYMBOL:
        write_symbol(w, value);
        break;
    case OP_SELECT:
        write_select(w, value);
        break;
    case OP_CONVERT:
        write_convert(w, value);
        break;
    case OP_BITS:
        write_bits(w, value);
        break;
    case OP_TO_GENERIC:
        write_generic(w, value);
        break;
    case OP_LOAD:
    case OP_STORE:
        write_access(w, value);
        break;
    case OP_ATOMIC:
        write_atomic(w, value);
        break;
    case OP_FENCE:
        buf_format(w->out, "\tmembar.%s;\n", fences[value->integer]);
        break;
    case OP_BARRIER:
        write_barrier(w, value);
        break;
    case OP_SYNCWARP:
        buf_add(w->out, STR("\tbar.warp.sync \t"));
        add_operand(w, value->args[0]);
        buf_add(w->out, STR(";\n"));
        break;
    case OP_CLOCK:
        buf_add(w->out, STR("\tmov.u64 \t"));
        add_result(w, value);
        buf_add(w->out, STR(", %clock64;\n"));
        break;
    case OP_SHUFFLE:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUCE:
    case OP_ACTIVE_MASK:
        write_in_registers(w, value, warp_name(w->text, value));
        break;
    case OP_ASSEMBLY:
        write_assembly(w, value);
        break;
    default:
        write_row(w, value);
    }
}

// --- lines ---

size_t ptx_number(Map *map, Str key) {
    bool is_new;
    size_t *number = map_at(map, key, &is_new);
    if (is_new) *number = map->count;
    return *number;
}

static void write_site(Writer *w, const Site *site) {
    if (!site || site == w->site) return;
    if (w->site && site->call == w->site->call && site->place.line == w->site->place.line &&
        site->place.column == w->site->place.column &&
        str_equal(site->place.file, w->site->place.file))
        return;
    // The chain of calls first, so that a reader knows what this place was inlined into.
    if (site->call && (!w->site || w->site->call != site->call)) write_site(w, site->call);
    w->site = site;
    buf_format(w->out, "\t.loc\t%zu %u %u", ptx_number(&w->text->files, site->place.file),
               site->place.line, site->place.column);
    if (site->call) {
        const Place *call = &site->call->place;
        buf_format(w->out, ", function_name $L__info_string%zu, inlined_at %zu %u %u",
                   ptx_number(&w->text->functions, site->function->symbol),
                   ptx_number(&w->text->files, call->file), call->line, call->column);
    }
    buf_char(w->out, '\n');
}

// --- blocks ---

static size_t edge_of(const Block *to, const Block *from) {
    size_t k = 0;
    while (to->before[k] != from) k++;
    return k;
}

typedef struct {
    const Value *to, *from;
    uint32_t from_reg; // a register that holds the value instead; 0: none
} Move;

static void write_move(Writer *w, const Move *move) {
    const char *type = move->to->kind == TYPE_BOOL || move->to->kind == TYPE_F16
                           ? bit_type(move->to->kind)
                           : number_type(move->to->kind);
    buf_format(w->out, "\tmov.%s \t", type);
    add_result(w, move->to);
    buf_add(w->out, STR(", "));
    if (move->from_reg)
        add_register(w, move->to->kind, move->from_reg);
    else
        add_operand(w, move->from);
    buf_add(w->out, STR(";\n"));
}

static bool reads(const Move *move, const Value *target) {
    if (move->from_reg) return false;
    return move->from->kind == target->kind && move->from->op != OP_CONSTANT &&
           move->from->reg == target->reg;
}

// The moves happen at once: one whose target is still read has to wait, and a circle is opened with
// one more register.
static void write_moves(Writer *w, Move *moves, size_t count) {
    while (count) {
        size_t ready = count;
        for (size_t k = 0; k < count && ready == count; k++) {
            bool waits = false;
            for (size_t j = 0; j < count; j++)
                if (j != k && reads(&moves[j], moves[k].to)) waits = true;
            if (!waits) ready = k;
        }
        if (ready < count) {
            write_move(w, &moves[ready]);
            moves[ready] = moves[--count];
            continue;
        }
        Value saved = *moves[0].to;
        saved.reg = ++w->counts[saved.kind];
        write_move(w, &(Move){&saved, moves[0].to, 0});
        for (size_t j = 1; j < count; j++)
            if (reads(&moves[j], moves[0].to)) moves[j].from_reg = saved.reg;
    }
}

static void write_phis(Writer *w, const Block *from, const Block *to) {
    if (!to->phi_count) return;
    Move *moves = ARENA_NEW(w->graph->arena, to->phi_count, Move);
    size_t count = 0, edge = edge_of(to, from);
    for (size_t p = 0; p < to->phi_count; p++) {
        const Value *phi = to->phis[p], *arg = phi->args[edge];
        bool same = arg->op != OP_CONSTANT && arg->reg == phi->reg;
        if (arg->op != OP_UNDEFINED && !same) moves[count++] = (Move){phi, arg, 0};
    }
    write_moves(w, moves, count);
}

static void write_jump(Writer *w, const char *how, const Block *to) {
    buf_format(w->out, "%s \t$L__BB%u_%u;\n", how, w->text->kernel_count, to->number);
}

static void write_end(Writer *w, const Block *block, const Block *following) {
    if (block->end == END_BRANCH || block->end == END_RETURN) write_site(w, block->site);
    if (block->end == END_JUMP) {
        write_phis(w, block, block->next[0]);
        if (block->next[0] != following) write_jump(w, "\tbra.uni", block->next[0]);
    } else if (block->end == END_BRANCH) {
        for (int k = 0; k < 2; k++) write_phis(w, block, block->next[k]);
        const Value *condition = block->condition;
        bool negated = condition->op == OP_NOT && condition->uses == 1;
        int way = block->next[0] == following ? 1 : 0;
        if (negated) condition = condition->args[0];
        buf_format(w->out, "\t@%s", negated != (way == 1) ? "!" : "");
        add_operand(w, condition);
        write_jump(w, " bra", block->next[way]);
        if (block->next[1 - way] != following) write_jump(w, "\tbra.uni", block->next[1 - way]);
    } else if (block->end == END_RETURN) {
        buf_add(w->out, STR("\tret;\n"));
    }
}

static bool is_folded(const Block *block, const Value *value) {
    return block->end == END_BRANCH && value == block->condition && value->op == OP_NOT &&
           value->uses == 1;
}

static void write_blocks(Writer *w) {
    for (size_t k = 0; k < w->graph->block_count; k++) {
        const Block *block = w->graph->blocks[k];
        const Block *following = k + 1 < w->graph->block_count ? w->graph->blocks[k + 1] : NULL;
        w->constant_count = 0;
        if (k) buf_format(w->out, "\n$L__BB%u_%u:\n", w->text->kernel_count, block->number);
        for (size_t v = 0; v < block->value_count; v++) {
            if (is_folded(block, block->values[v])) continue;
            if (registers_needed(block->values[v]) || block->values[v]->op >= OP_FIRST_PINNED)
                write_site(w, block->values[v]->site);
            write_value(w, block->values[v]);
        }
        write_end(w, block, following);
    }
}

// --- kernels ---

static void write_parameters(Buf *out, const Function *kernel) {
    for (size_t k = 0; k < kernel->parameter_count; k++) {
        const Type *type = kernel->parameters[k]->type;
        buf_add(out, k ? STR(",\n\t.param ") : STR("\n\t.param "));
        bool bytes = type->kind == TYPE_STRUCT || type->kind == TYPE_F16;
        if (bytes)
            buf_format(out, ".align %u .b8 ", type->align);
        else if (graph_size(type->kind) == 1)
            buf_add(out, STR(".u8 "));
        else
            buf_format(out, ".%s ", type->kind == TYPE_S16 ? "u16" : memory_type(type->kind));
        buf_format(out, "%.*s_param_%zu", STR_ARG(kernel->symbol), k);
        if (bytes) buf_format(out, "[%llu]", (unsigned long long)type->size);
    }
}

static void write_registers(Buf *out, const uint32_t counts[TYPE_F64 + 1]) {
    static const TypeKind kinds[] = {TYPE_BOOL, TYPE_F16, TYPE_F32, TYPE_U32, TYPE_F64, TYPE_U64};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        buf_format(out, "\t.reg .%s \t%%%s<%u>;\n",
                   is_float(kinds[k]) && kinds[k] != TYPE_F16 ? number_type(kinds[k])
                                                              : bit_type(kinds[k]),
                   register_prefix(kinds[k]), counts[kinds[k]] + 1);
}

static void write_shared(Writer *w, Buf *out) {
    Map seen = {.arena = w->text->arena};
    for (size_t k = 0; k < w->graph->block_count; k++)
        for (size_t v = 0; v < w->graph->blocks[k]->value_count; v++) {
            const Value *value = w->graph->blocks[k]->values[v];
            if (value->op != OP_SYMBOL || value->space != SPACE_SHARED) continue;
            const Variable *variable = value->object;
            bool is_new;
            map_at(&seen, variable->symbol, &is_new);
            if (is_new && variable->kind == VARIABLE_SHARED)
                ptx_write_variable(out, variable, STR("\t"));
        }
}

void ptx_kernel(PtxText *text, Graph *graph, const Function *kernel,
                const uint32_t counts[TYPE_F64 + 1], uint64_t local_bytes, uint32_t local_align) {
    Buf body = {.arena = text->arena}, *out = &text->out;
    Writer writer = {.text = text, .out = &body, .graph = graph, .kernel = kernel}, *w = &writer;
    memcpy(w->counts, counts, sizeof w->counts);
    write_blocks(w);
    buf_format(out, "\n.visible .entry %.*s(", STR_ARG(kernel->symbol));
    write_parameters(out, kernel);
    buf_add(out, kernel->parameter_count ? STR("\n)\n") : STR(")\n"));
    if (kernel->max_threads) buf_format(out, ".maxntid %u, 1, 1\n", kernel->max_threads);
    if (kernel->min_blocks) buf_format(out, ".minnctapersm %u\n", kernel->min_blocks);
    buf_add(out, STR("{\n"));
    if (local_bytes)
        buf_format(out, "\t.local .align %u .b8 \t__local_depot%u[%llu];\n",
                   local_align < 8 ? 8 : local_align, text->kernel_count,
                   (unsigned long long)local_bytes);
    write_registers(out, w->counts);
    write_shared(w, out);
    buf_format(out, "\t.loc\t%zu %u 0\n", ptx_number(&text->files, kernel->place.file),
               kernel->place.line);
    buf_add(out, buf_str(&body));
    buf_add(out, STR("}\n"));
    text->kernel_count++;
}

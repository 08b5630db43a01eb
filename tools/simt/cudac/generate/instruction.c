// Writes one operation of the graph as PTX text.
#include "simt/cudac/generate/instruction.h"

// --- names ---

const char *instruction_prefix(TypeKind kind) {
    static const char *const prefixes[] = {[TYPE_BOOL] = "p", [TYPE_U32] = "r", [TYPE_U64] = "rd",
                                           [TYPE_F16] = "rs", [TYPE_F32] = "f", [TYPE_F64] = "fd"};
    return prefixes[kind];
}

// The type of an operation that distinguishes signed and unsigned numbers.
const char *instruction_number_type(TypeKind type) {
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
    return kind == TYPE_U32 ? "s32" : kind == TYPE_U64 ? "s64" : instruction_number_type(kind);
}

const char *instruction_bit_type(TypeKind kind) {
    return kind == TYPE_BOOL       ? "pred"
           : kind == TYPE_F16      ? "b16"
           : graph_size(kind) == 4 ? "b32"
                                   : "b64";
}

static const char *select_type(TypeKind kind) {
    return kind == TYPE_F32 || kind == TYPE_F64 ? instruction_number_type(kind)
                                                : instruction_bit_type(kind);
}

// The type of a value in memory.
const char *instruction_memory_type(TypeKind type) {
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

void instruction_register(Writer *w, TypeKind kind, uint32_t reg) {
    buf_format(w->out, "%%%s%u", instruction_prefix(kind), reg);
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

void instruction_operand(Writer *w, const Value *value) {
    if (value->op == OP_CONSTANT)
        if (value->kind == TYPE_BOOL)
            buf_format(w->out, "%d", value->integer ? -1 : 0);
        else
            add_constant(w->out, value);
    else if (value->op == OP_UNDEFINED)
        instruction_register(w, value->kind, 0);
    else if (value->op == OP_SYMBOL && value->uses == 0)
        add_symbol(w, value, 0);
    else
        instruction_register(w, value->kind, value->reg);
}

// The register of a constant in this block; it is loaded at its first use.
static uint32_t constant_register(Writer *w, const Value *value) {
    for (size_t k = 0; k < w->constant_count; k++)
        if (w->constants[k].kind == value->kind && w->constants[k].bits == value->integer)
            return w->constants[k].reg;
    uint32_t reg = ++w->counts[value->kind];
    buf_format(w->out, "\tmov.%s \t",
               value->kind == TYPE_BOOL ? "pred" : instruction_number_type(value->kind));
    instruction_register(w, value->kind, reg);
    buf_add(w->out, STR(", "));
    instruction_operand(w, value);
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
        instruction_register(w, value->kind, constant_register(w, value));
    else
        instruction_operand(w, value);
}

static void add_address(Writer *w, const Value *access) {
    const Value *address = access->args[0];
    int64_t offset = access->op == OP_ATOMIC ? 0 : access->integer;
    buf_char(w->out, '[');
    if (address->op == OP_SYMBOL && address->uses == 0) {
        add_symbol(w, address, offset);
    } else {
        instruction_operand(w, address);
        if (offset) buf_format(w->out, "+%lld", (long long)offset);
    }
    buf_char(w->out, ']');
}

static void add_result(Writer *w, const Value *value) {
    instruction_register(w, value->kind, value->reg);
}

// A result that may not be used.
static void add_part(Writer *w, const Value *value, size_t part, TypeKind kind) {
    const Value *used = value->parts ? value->parts[part] : NULL;
    if (used)
        add_result(w, used);
    else
        instruction_register(w, kind, ++w->counts[kind]);
}

// --- pure operations ---

typedef const char *(*TypeName)(TypeKind kind);
static const char *from_float(TypeKind kind) { return instruction_number_type(kind); }

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
    {OP_MULTIPLY_WIDE, true, "mul.wide", NULL, instruction_number_type},
    {OP_MULTIPLY_HIGH, true, "mul.hi", NULL, instruction_number_type},
    {OP_DIVIDE, true, "div", "div.rn", instruction_number_type},
    {OP_REMAINDER, true, "rem", NULL, instruction_number_type},
    {OP_SHIFT_LEFT, false, "shl", NULL, instruction_bit_type},
    {OP_SHIFT_RIGHT, true, "shr", NULL, instruction_number_type},
    {OP_AND, false, "and", NULL, instruction_bit_type},
    {OP_OR, false, "or", NULL, instruction_bit_type},
    {OP_XOR, false, "xor", NULL, instruction_bit_type},
    {OP_NOT, false, "not", NULL, instruction_bit_type},
    {OP_NEGATE, false, "neg", "neg", signless_type},
    {OP_LESS, true, "setp.lt", "setp.lt", instruction_number_type},
    {OP_LESS_EQUAL, true, "setp.le", "setp.le", instruction_number_type},
    {OP_EQUAL, true, "setp.eq", "setp.eq", signless_type},
    {OP_NOT_EQUAL, true, "setp.ne", "setp.neu", signless_type},
    {OP_MIN, true, "min", "min", instruction_number_type},
    {OP_MAX, true, "max", "max", instruction_number_type},
    {OP_ABS, true, "abs", "abs", instruction_number_type},
    {OP_FMA, false, "mad.lo", "fma.rn", signless_type},
    {OP_SQRT, false, NULL, "sqrt.rn", from_float},
    {OP_RSQRT, false, NULL, "rsqrt.approx", from_float},
    {OP_POPC, true, "popc", NULL, instruction_bit_type},
    {OP_CLZ, true, "clz", NULL, instruction_bit_type},
    {OP_FFS_BIT, true, "bfind.shiftamt", NULL, instruction_number_type},
    {OP_BREV, false, "brev", NULL, instruction_bit_type},
    {OP_PERMUTE, false, "prmt", NULL, instruction_bit_type},
    {OP_FUNNEL_LEFT, false, "shf.l.wrap", NULL, instruction_bit_type},
    {OP_FUNNEL_RIGHT, false, "shf.r.wrap", NULL, instruction_bit_type},
    {OP_TO_GLOBAL, false, "cvta.to.global", NULL, instruction_number_type},
};

static bool is_float(TypeKind kind) {
    return kind == TYPE_F16 || kind == TYPE_F32 || kind == TYPE_F64;
}

static void add_operands(Writer *w, const Value *value) {
    add_result(w, value);
    for (size_t k = 0; k < value->arg_count; k++) {
        buf_add(w->out, STR(", "));
        instruction_operand(w, value->args[k]);
    }
    buf_add(w->out, STR(";\n"));
}

static void write_row(Writer *w, const Value *value) {
    size_t k = 0;
    while (k < sizeof rows / sizeof *rows - 1 && rows[k].op != value->op) k++;
    TypeKind kind = rows[k].by_from ? value->from : value->kind;
    bool floating = is_float(value->args[0]->kind);
    const char *name = floating ? rows[k].floating : rows[k].integer;
    const char *type =
        rows[k].type(rows[k].type == instruction_bit_type ? graph_register_kind(kind) : kind);
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
            instruction_operand(w, value->args[a]);
    }
    buf_add(w->out, STR(";\n"));
}

static const char *convert_type(TypeKind type) {
    return type == TYPE_S8 ? "s8" : type == TYPE_S16 ? "s16" : instruction_number_type(type);
}

static void write_convert(Writer *w, const Value *value) {
    TypeKind to = (TypeKind)value->integer, from = value->from;
    if (from == TYPE_BOOL) {
        buf_format(w->out, "\tselp.%s \t", to == TYPE_S64 || to == TYPE_U64 ? "u64" : "u32");
        add_result(w, value);
        buf_add(w->out, STR(", 1, 0, "));
        instruction_operand(w, value->args[0]);
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
        buf_format(w->out, "\tcvt.%s%s.%s \t", rounding, instruction_number_type(to),
                   instruction_number_type(from));
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
        buf_format(w->out, "\tmov.%s \t", instruction_bit_type(value->kind));
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
    buf_format(w->out, "\tld.param.%s \t", instruction_memory_type(value->from));
    add_result(w, value);
    buf_format(w->out, ", [%.*s_param_%zu", STR_ARG(w->kernel->symbol), k);
    if (value->integer) buf_format(w->out, "+%lld", (long long)value->integer);
    buf_add(w->out, STR("];\n"));
}

static void write_symbol(Writer *w, const Value *value) {
    if (value->uses == 0) return;
    buf_format(w->out, "\tmov.%s \t", instruction_number_type(value->kind));
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
        instruction_operand(w, value->args[0]);
    buf_add(w->out, STR(";\n"));
}

static void write_select(Writer *w, const Value *value) {
    buf_format(w->out, "\tselp.%s \t", select_type(value->kind));
    add_result(w, value);
    for (size_t k = 1; k < 4; k++) {
        buf_add(w->out, STR(", "));
        instruction_operand(w, value->args[k % 3]);
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
    buf_format(w->out, ".%s \t", instruction_memory_type(value->from));
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
    const char *type = order  ? instruction_number_type(value->from)
                       : bits ? (graph_size(value->kind) == 4 ? "b32" : "b64")
                              : instruction_number_type(value->kind);
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
            instruction_operand(w, value->args[k]);
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
                                                        : instruction_number_type(value->from));
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

void instruction_write(Writer *w, const Value *value) {
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
        instruction_operand(w, value->args[0]);
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

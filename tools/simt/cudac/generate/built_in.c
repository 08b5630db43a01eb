// Builds calls of functions that the compiler knows, and inline assembly.
#include "simt/cudac/generate/build.h"

static Value *argument(Builder *builder, const Expression *call, size_t k) {
    return graph_value(evaluate_value(builder, call->arguments[k]));
}

static TypeKind argument_kind(const Expression *call, size_t k) {
    TypeKind kind = call->arguments[k]->type->kind;
    return kind == TYPE_POINTER ? TYPE_U64 : kind;
}

static Value *truth(Builder *builder, Value *value) {
    Graph *graph = &builder->graph;
    if (value->kind == TYPE_BOOL) return value;
    return graph_binary(graph, OP_NOT_EQUAL, value->kind, value,
                        graph_constant(graph, value->kind, 0));
}

// A bool as the type that the call has.
static Value *from_truth(Builder *builder, const Expression *call, Value *value) {
    return graph_convert(&builder->graph, TYPE_BOOL, call->type->kind, value);
}

static Value *pin(Builder *builder, Op op, const Expression *call, TypeKind kind, size_t count,
                  Value *const *args) {
    Value fields = {.op = op, .kind = kind, .built_in = call->built_in};
    return graph_pin(&builder->graph, fields, count, args);
}

// Special text of the assembler: results are %0, %1, ..., then come the arguments.
static Value *assembly(Builder *builder, Str text, uint8_t results, size_t count,
                       Value *const *args, bool is_volatile) {
    Value fields = {.op = OP_ASSEMBLY, .kind = TYPE_VOID, .text = text, .lanes = results};
    fields.is_volatile = is_volatile;
    return graph_pin(&builder->graph, fields, count, args);
}

// --- warps and blocks ---

static Value *shuffle_word(Builder *builder, const Expression *call, Value *word, Value *lane,
                           Value *clamp, Value *mask) {
    Value *args[] = {graph_bits(&builder->graph, TYPE_U32, word), lane, clamp, mask};
    return pin(builder, OP_SHUFFLE, call, TYPE_U32, 4, args);
}

static Value *shuffle(Builder *builder, const Expression *call) {
    Graph *graph = &builder->graph;
    Value *mask = argument(builder, call, 0), *value = argument(builder, call, 1);
    Value *lane = argument(builder, call, 2), *width = graph_constant(graph, TYPE_U32, 32);
    if (call->argument_count > 3) width = argument(builder, call, 3);
    Value *segment =
        graph_binary(graph, OP_SUBTRACT, TYPE_U32, graph_constant(graph, TYPE_U32, 32), width);
    segment =
        graph_binary(graph, OP_SHIFT_LEFT, TYPE_U32, segment, graph_constant(graph, TYPE_U32, 8));
    int64_t last = call->built_in == BUILT_IN_SHUFFLE_UP ? 0 : 31;
    Value *clamp =
        graph_binary(graph, OP_OR, TYPE_U32, segment, graph_constant(graph, TYPE_U32, last));
    if (value->kind == TYPE_F16) value = graph_bits(graph, TYPE_U32, value);
    if (graph_size(value->kind) == 4) {
        Value *word = shuffle_word(builder, call, value, lane, clamp, mask);
        TypeKind type = argument_kind(call, 1);
        if (type == TYPE_F16) return graph_bits(graph, TYPE_F16, word);
        return graph_bits(graph, graph_register_kind(type), word);
    }
    Value *halves = assembly(builder, STR("mov.b64 {%0,%1}, %2;"), 2, 1, &value, false);
    Value *high =
        shuffle_word(builder, call, graph_part(graph, halves, 1, TYPE_U32), lane, clamp, mask);
    Value *low =
        shuffle_word(builder, call, graph_part(graph, halves, 0, TYPE_U32), lane, clamp, mask);
    Value *args[] = {low, high};
    Value *whole = assembly(builder, STR("mov.b64 %0, {%1,%2};"), 1, 2, args, false);
    return graph_part(graph, whole, 0, value->kind);
}

static Value *vote(Builder *builder, const Expression *call) {
    Value *mask = argument(builder, call, 0);
    Value *args[] = {truth(builder, argument(builder, call, 1)), mask};
    if (call->built_in == BUILT_IN_BALLOT) return pin(builder, OP_VOTE, call, TYPE_U32, 2, args);
    return from_truth(builder, call, pin(builder, OP_VOTE, call, TYPE_BOOL, 2, args));
}

static Value *match_or_reduce(Builder *builder, const Expression *call, Op op) {
    Value *mask = argument(builder, call, 0);
    Value *args[] = {argument(builder, call, 1), mask};
    Value fields = {.op = op, .kind = TYPE_U32, .built_in = call->built_in};
    fields.from = argument_kind(call, 1);
    return graph_pin(&builder->graph, fields, 2, args);
}

static Value *barrier(Builder *builder, const Expression *call) {
    Value *args[1], *result;
    size_t count = call->built_in == BUILT_IN_SYNCTHREADS ? 0 : 1;
    if (count) args[0] = truth(builder, argument(builder, call, 0));
    TypeKind kind = !count                                         ? TYPE_VOID
                    : call->built_in == BUILT_IN_SYNCTHREADS_COUNT ? TYPE_U32
                                                                   : TYPE_BOOL;
    result = pin(builder, OP_BARRIER, call, kind, count, args);
    access_clobber(builder, result);
    return kind == TYPE_BOOL ? from_truth(builder, call, result) : result;
}

static Value *clobber(Builder *builder, const Expression *call, Op op) {
    Value *args[1];
    size_t count = call->built_in == BUILT_IN_SYNCWARP ? 1 : 0;
    if (count)
        args[0] = call->argument_count ? argument(builder, call, 0)
                                       : graph_constant(&builder->graph, TYPE_U32, -1);
    Value fields = {.op = op, .built_in = call->built_in, .integer = call->integer};
    Value *value = graph_pin(&builder->graph, fields, count, args);
    access_clobber(builder, value);
    return value;
}

// --- memory ---

static Value *atomic(Builder *builder, const Expression *call) {
    Graph *graph = &builder->graph;
    Value *address = argument(builder, call, 0);
    if (address->op == OP_SLOT) graph->escape(graph, address);
    Value fields = {.op = OP_ATOMIC, .built_in = call->built_in, .access = address->space};
    fields.from = argument_kind(call, 1);
    fields.kind = graph_register_kind(fields.from);
    fields.integer = call->integer;
    Value *args[4] = {address, access_state(builder, address->space)};
    for (size_t k = 1; k < call->argument_count; k++) args[k + 1] = argument(builder, call, k);
    if (call->built_in == BUILT_IN_ATOMIC_SUB) {
        args[2] = graph_unary(graph, OP_NEGATE, fields.from, args[2]);
        fields.built_in = BUILT_IN_ATOMIC_ADD;
    }
    Value *value = graph_pin(graph, fields, call->argument_count + 1, args);
    access_written(builder, address->space, value);
    return value;
}

static Value *load(Builder *builder, const Expression *call) {
    return access_load(builder, argument(builder, call, 0), call->type, call->text);
}

static Value *store(Builder *builder, const Expression *call) {
    Value *address = argument(builder, call, 0), *parts[LEAVES_MOST];
    const Type *type = call->arguments[1]->type;
    if (type->kind == TYPE_STRUCT) {
        evaluate_parts(builder, call->arguments[1], parts);
        access_store_parts(builder, address, type, parts, call->text);
    } else {
        access_store(builder, address, type, argument(builder, call, 1), call->text);
    }
    return address;
}

void built_in_parts(Builder *builder, const Expression *call, Value **parts) {
    if (call->built_in == BUILT_IN_LOAD)
        access_load_parts(builder, argument(builder, call, 0), call->type, parts, call->text);
    else
        build_refuse(builder, &call->place, "this call does not work on structs");
}

// --- arithmetic ---

static const struct {
    BuiltIn built_in;
    Op op;
} pure[] = {
    {BUILT_IN_ABS, OP_ABS},
    {BUILT_IN_MIN, OP_MIN},
    {BUILT_IN_MAX, OP_MAX},
    {BUILT_IN_FMA, OP_FMA},
    {BUILT_IN_SQRT, OP_SQRT},
    {BUILT_IN_RSQRT, OP_RSQRT},
    {BUILT_IN_POPC, OP_POPC},
    {BUILT_IN_CLZ, OP_CLZ},
    {BUILT_IN_BREV, OP_BREV},
    {BUILT_IN_MULHI, OP_MULTIPLY_HIGH},
    {BUILT_IN_BYTE_PERM, OP_PERMUTE},
    {BUILT_IN_FUNNEL_LEFT, OP_FUNNEL_LEFT},
    {BUILT_IN_FUNNEL_RIGHT, OP_FUNNEL_RIGHT},
};

static Value *pure_value(Builder *builder, const Expression *call) {
    Value *args[3];
    for (size_t k = 0; k < sizeof pure / sizeof *pure; k++) {
        if (pure[k].built_in != call->built_in) continue;
        Value fields = {.op = pure[k].op, .from = argument_kind(call, 0)};
        fields.kind = graph_register_kind(call->type->kind);
        for (size_t a = 0; a < call->argument_count && a < 3; a++)
            args[a] = argument(builder, call, a);
        return graph_pure(&builder->graph, fields, call->argument_count, args);
    }
    const bool prints = call->built_in == BUILT_IN_PRINTF;
    build_refuse(builder, &call->place, "`%.*s` is not compiled here: %srun the file with nvcc",
                 STR_ARG(call->text), prints ? "write the value to memory, or " : "");
    return graph_constant(&builder->graph, graph_register_kind(call->type->kind), 0);
}

// The place of the lowest bit, from 1; 0 if there is none.
static Value *first_bit(Builder *builder, const Expression *call) {
    Graph *graph = &builder->graph;
    Value *value = argument(builder, call, 0);
    Value *mirrored = graph_unary(graph, OP_BREV, argument_kind(call, 0), value);
    Value fields = {.op = OP_FFS_BIT, .kind = TYPE_U32, .from = value->kind};
    Value *bit = graph_pure(graph, fields, 1, &mirrored);
    return graph_binary(graph, OP_ADD, TYPE_U32, bit, graph_constant(graph, TYPE_U32, 1));
}

static Value *special(Builder *builder, const Expression *call) {
    Graph *graph = &builder->graph;
    if (call->integer == SPECIAL(REGISTER_WARPSIZE, 0)) return graph_constant(graph, TYPE_U32, 32);
    Value fields = {.op = OP_SPECIAL, .kind = TYPE_U32, .integer = call->integer};
    return graph_pure(graph, fields, 0, NULL);
}

// --- the barrier of a grid, as the toolkit's cooperative groups have it ---

static Value *special_register(Builder *builder, SpecialName name, int axis) {
    Value fields = {.op = OP_SPECIAL, .kind = TYPE_U32, .integer = SPECIAL(name, axis)};
    return graph_pure(&builder->graph, fields, 0, NULL);
}

static Value *sum(Builder *builder, SpecialName name, Op op) {
    Graph *graph = &builder->graph;
    Value *two = graph_binary(graph, op, TYPE_U32, special_register(builder, name, 0),
                              special_register(builder, name, 1));
    return graph_binary(graph, op, TYPE_U32, two, special_register(builder, name, 2));
}

static Value *result(Builder *builder, Str text, TypeKind kind, size_t count, Value *const *args) {
    return graph_part(&builder->graph, assembly(builder, text, 1, count, args, true), 0, kind);
}

static void sync_block(Builder *builder) {
    access_clobber(builder, assembly(builder, STR("barrier.sync 0;"), 0, 0, NULL, true));
}

// Where the grid's counter is. The launch puts its address into two registers if it is cooperative.
static Value *grid_counter(Builder *builder) {
    Graph *graph = &builder->graph;
    Value *low = result(builder, STR("mov.u32 %0, %envreg2;"), TYPE_U32, 0, NULL);
    Value *high = result(builder, STR("mov.u32 %0, %envreg1;"), TYPE_U32, 0, NULL);
    low = graph_convert(graph, TYPE_U32, TYPE_U64, low);
    high =
        graph_binary(graph, OP_SHIFT_LEFT, TYPE_U64, graph_convert(graph, TYPE_U32, TYPE_U64, high),
                     graph_constant(graph, TYPE_U32, 32));
    Value *space = graph_binary(graph, OP_OR, TYPE_U64, low, high);
    Block *bad = graph_block(graph), *good = graph_block(graph);
    graph_branch(graph, truth(builder, space), good, bad);
    graph_seal(graph, bad);
    graph->here = bad;
    assembly(builder, STR("trap;"), 0, 0, NULL, true);
    graph_jump(graph, good);
    graph_seal(graph, good);
    graph->here = good;
    return graph_binary(graph, OP_ADD, TYPE_U64, space, graph_constant(graph, TYPE_U64, 4));
}

// One thread of each block adds to the counter and waits until its highest bit changes.
static void wait_for_grid(Builder *builder, Value *counter) {
    Graph *graph = &builder->graph;
    Value *zero = graph_constant(graph, TYPE_U32, 0), *one = graph_constant(graph, TYPE_U32, 1);
    Value *blocks = sum(builder, REGISTER_NCTAID, OP_MULTIPLY);
    Value *first =
        graph_binary(graph, OP_EQUAL, TYPE_U32, sum(builder, REGISTER_CTAID, OP_ADD), zero);
    Value *most = graph_binary(graph, OP_SUBTRACT, TYPE_U32,
                               graph_constant(graph, TYPE_U32, -2147483647), blocks);
    Value *args[] = {counter, graph_select(graph, first, most, one)};
    Value *before = result(builder, STR("atom.add.release.gpu.u32 %0,[%1],%2;"), TYPE_U32, 2, args);
    Block *again = graph_block(graph), *done = graph_block(graph);
    graph_jump(graph, again);
    graph->here = again;
    Value *now = result(builder, STR("ld.acquire.gpu.u32 %0,[%1];"), TYPE_U32, 1, args);
    Value *changed = graph_binary(graph, OP_XOR, TYPE_U32, now, before);
    graph_branch(graph, graph_binary(graph, OP_LESS, TYPE_S32, changed, zero), done, again);
    graph_seal(graph, again);
    graph_seal(graph, done);
    graph->here = done;
}

static Value *grid_sync(Builder *builder) {
    Graph *graph = &builder->graph;
    Value *counter = grid_counter(builder), *zero = graph_constant(graph, TYPE_U32, 0);
    Block *leader = graph_block(graph), *join = graph_block(graph);
    sync_block(builder);
    Value *leads =
        graph_binary(graph, OP_EQUAL, TYPE_U32, sum(builder, REGISTER_TID, OP_ADD), zero);
    graph_branch(graph, leads, leader, join);
    graph_seal(graph, leader);
    graph->here = leader;
    wait_for_grid(builder, counter);
    graph_jump(graph, join);
    graph_seal(graph, join);
    graph->here = join;
    sync_block(builder);
    return zero;
}

Value *built_in_value(Builder *builder, const Expression *call) {
    switch (call->built_in) {
    case BUILT_IN_SPECIAL:
        return special(builder, call);
    case BUILT_IN_SYNCTHREADS:
    case BUILT_IN_SYNCTHREADS_COUNT:
    case BUILT_IN_SYNCTHREADS_AND:
    case BUILT_IN_SYNCTHREADS_OR:
        return barrier(builder, call);
    case BUILT_IN_SYNCWARP:
        return clobber(builder, call, OP_SYNCWARP);
    case BUILT_IN_FENCE:
        return clobber(builder, call, OP_FENCE);
    case BUILT_IN_SHUFFLE:
    case BUILT_IN_SHUFFLE_UP:
    case BUILT_IN_SHUFFLE_DOWN:
    case BUILT_IN_SHUFFLE_XOR:
        return shuffle(builder, call);
    case BUILT_IN_BALLOT:
    case BUILT_IN_ANY:
    case BUILT_IN_ALL:
        return vote(builder, call);
    case BUILT_IN_ACTIVE_MASK:
        return pin(builder, OP_ACTIVE_MASK, call, TYPE_U32, 0, NULL);
    case BUILT_IN_MATCH_ANY:
        return match_or_reduce(builder, call, OP_MATCH);
    case BUILT_IN_REDUCE_ADD:
    case BUILT_IN_REDUCE_MIN:
    case BUILT_IN_REDUCE_MAX:
    case BUILT_IN_REDUCE_AND:
    case BUILT_IN_REDUCE_OR:
    case BUILT_IN_REDUCE_XOR:
        return match_or_reduce(builder, call, OP_REDUCE);
    case BUILT_IN_ATOMIC_ADD:
    case BUILT_IN_ATOMIC_SUB:
    case BUILT_IN_ATOMIC_MIN:
    case BUILT_IN_ATOMIC_MAX:
    case BUILT_IN_ATOMIC_INC:
    case BUILT_IN_ATOMIC_DEC:
    case BUILT_IN_ATOMIC_AND:
    case BUILT_IN_ATOMIC_OR:
    case BUILT_IN_ATOMIC_XOR:
    case BUILT_IN_ATOMIC_EXCHANGE:
    case BUILT_IN_ATOMIC_CAS:
        return atomic(builder, call);
    case BUILT_IN_LOAD:
        return load(builder, call);
    case BUILT_IN_STORE:
        return store(builder, call);
    case BUILT_IN_FFS:
        return first_bit(builder, call);
    case BUILT_IN_BIT_CAST:
        return graph_bits(&builder->graph, graph_register_kind(call->type->kind),
                          argument(builder, call, 0));
    case BUILT_IN_CLOCK:
        return pin(builder, OP_CLOCK, call, TYPE_U64, 0, NULL);
    case BUILT_IN_GRID_SYNC:
        return grid_sync(builder);
    case BUILT_IN_TRAP:
        return assembly(builder, STR("trap;"), 0, 0, NULL, true);
    case BUILT_IN_UNREACHABLE:
        return graph_constant(&builder->graph, TYPE_U32, 0);
    default:
        return pure_value(builder, call);
    }
}

// --- inline assembly ---

Value *built_in_assembly(Builder *builder, const Expression *expression) {
    Graph *graph = &builder->graph;
    const Assembly *text = expression->assembly;
    Value *inputs[32];
    size_t count = 0;
    if (text->operand_count > 30)
        build_refuse(builder, &expression->place, "use at most 30 operands in inline assembly");
    for (size_t k = text->output_count; k < text->operand_count && !build_refused(builder); k++) {
        Value *input = graph_value(evaluate_value(builder, text->operands[k]));
        bool is_pointer = text->operands[k]->type->kind == TYPE_POINTER;
        inputs[count++] = is_pointer ? access_generic(builder, input) : input;
    }
    Value *value = assembly(builder, text->text, (uint8_t)text->output_count, count, inputs,
                            text->is_volatile || text->clobbers_memory);
    if (value->is_volatile) access_clobber(builder, value);
    for (size_t k = 0; k < text->output_count && !build_refused(builder); k++) {
        const Type *type = text->operands[k]->type;
        TypeKind kind = type->kind == TYPE_POINTER ? TYPE_U64 : type->kind;
        access_store(builder, access_address(builder, text->operands[k]), type,
                     graph_part(graph, value, (int64_t)k, kind), STR(""));
    }
    return value;
}

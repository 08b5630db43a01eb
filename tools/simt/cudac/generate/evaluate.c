// Builds the values of expressions.
#include <string.h>

#include "simt/cudac/generate/build.h"

static TypeKind kind_of(const Expression *expression) { return expression->type->kind; }

static Value *constant_floating(Builder *builder, TypeKind kind, double x) {
    Graph *graph = &builder->graph;
    float single = (float)x;
    uint32_t bits;
    int64_t wide;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&wide, &x, sizeof wide);
    if (kind == TYPE_F64) return graph_constant(graph, TYPE_F64, wide);
    Value *value = graph_constant(graph, TYPE_F32, bits);
    return kind == TYPE_F16 ? graph_convert(graph, TYPE_F32, TYPE_F16, value) : value;
}

// --- operations ---

static const struct {
    ExpressionKind kind;
    Op op;
} operations[] = {
    {EXPRESSION_ADD, OP_ADD},
    {EXPRESSION_SUBTRACT, OP_SUBTRACT},
    {EXPRESSION_MULTIPLY, OP_MULTIPLY},
    {EXPRESSION_DIVIDE, OP_DIVIDE},
    {EXPRESSION_REMAINDER, OP_REMAINDER},
    {EXPRESSION_SHIFT_LEFT, OP_SHIFT_LEFT},
    {EXPRESSION_SHIFT_RIGHT, OP_SHIFT_RIGHT},
    {EXPRESSION_AND, OP_AND},
    {EXPRESSION_OR, OP_OR},
    {EXPRESSION_XOR, OP_XOR},
    {EXPRESSION_LESS, OP_LESS},
    {EXPRESSION_LESS_EQUAL, OP_LESS_EQUAL},
    {EXPRESSION_EQUAL, OP_EQUAL},
    {EXPRESSION_NOT_EQUAL, OP_NOT_EQUAL},
};

// A pointer plus or minus bytes. An address in shared memory has 32 bits.
static Value *pointer_sum(Builder *builder, const Expression *sum) {
    Graph *graph = &builder->graph;
    Value *pointer = graph_value(evaluate_value(builder, sum->left));
    Value *bytes = evaluate_value(builder, sum->right);
    pointer = graph_value(pointer);
    bytes = graph_convert(graph, TYPE_U64, pointer->kind, bytes);
    Op op = sum->kind == EXPRESSION_ADD ? OP_ADD : OP_SUBTRACT;
    return graph_binary(graph, op, pointer->kind, pointer, bytes);
}

static Value *binary_value(Builder *builder, const Expression *e) {
    Graph *graph = &builder->graph;
    Op op = OP_ADD;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (operations[k].kind == e->kind) op = operations[k].op;
    if (kind_of(e) == TYPE_POINTER) return pointer_sum(builder, e);
    TypeKind from = kind_of(e->left);
    Value *left = evaluate_value(builder, e->left), *right = evaluate_value(builder, e->right);
    left = graph_value(left);
    right = graph_value(right);
    if (from == TYPE_POINTER && left->space != right->space) {
        left = access_generic(builder, left);
        right = access_generic(builder, right);
    }
    if (from == TYPE_POINTER) from = left->kind;
    if (from == TYPE_BOOL && (op == OP_LESS || op == OP_LESS_EQUAL)) {
        left = graph_convert(graph, TYPE_BOOL, TYPE_U32, left);
        right = graph_convert(graph, TYPE_BOOL, TYPE_U32, right);
        from = TYPE_U32;
    }
    return graph_binary(graph, op, from, left, right);
}

static bool is_float(TypeKind kind) {
    return kind == TYPE_F16 || kind == TYPE_F32 || kind == TYPE_F64;
}

static Value *cast_to_bool(Builder *builder, TypeKind from, Value *value) {
    Graph *graph = &builder->graph;
    if (from == TYPE_BOOL) return value;
    if (from == TYPE_F16) value = graph_convert(graph, TYPE_F16, TYPE_F32, value);
    return graph_binary(graph, OP_NOT_EQUAL, value->kind, value,
                        graph_constant(graph, value->kind, 0));
}

static Value *cast_value(Builder *builder, const Expression *cast) {
    Graph *graph = &builder->graph;
    TypeKind to = kind_of(cast), from = kind_of(cast->left);
    if (to == TYPE_VOID) {
        evaluate_effect(builder, cast->left);
        return graph_constant(graph, TYPE_U32, 0);
    }
    Value *value = graph_value(evaluate_value(builder, cast->left));
    if (from == TYPE_POINTER || from == TYPE_ARRAY || from == TYPE_FUNCTION) {
        if (to == TYPE_POINTER) return value;
        value = access_generic(builder, value);
        from = TYPE_U64;
    }
    if (to == TYPE_POINTER) return graph_convert(graph, from, TYPE_U64, value);
    if (to == TYPE_BOOL) return cast_to_bool(builder, from, value);
    if (from == TYPE_BOOL && is_float(to)) {
        value = graph_convert(graph, TYPE_BOOL, TYPE_U32, value);
        from = TYPE_U32;
    }
    return graph_convert(graph, from, to, value);
}

// --- control flow in expressions ---

// A comparison is made rather than branched around, as nvcc does; tidy_graph() finds more.
enum { CHEAP = 1, A_LOT = 1000 };

static bool is_power_of_two(const Expression *e) {
    return e->kind == EXPRESSION_INTEGER && e->integer > 0 && (e->integer & (e->integer - 1)) == 0;
}

// What evaluating an expression costs if it has no effects and touches no memory; or a lot.
static unsigned cost_of(const Expression *e) {
    if (e->kind == EXPRESSION_VARIABLE) {
        bool local = e->variable->kind == VARIABLE_LOCAL || e->variable->kind == VARIABLE_PARAMETER;
        return local && kind_of(e) < TYPE_ARRAY ? 0 : A_LOT;
    }
    switch (e->kind) {
    case EXPRESSION_INTEGER:
    case EXPRESSION_FLOATING:
        return 0;
    case EXPRESSION_BUILT_IN:
        return e->built_in == BUILT_IN_SPECIAL ? 0 : A_LOT;
    case EXPRESSION_CAST:
    case EXPRESSION_NOT:
        return cost_of(e->left);
    case EXPRESSION_NEGATE:
    case EXPRESSION_COMPLEMENT:
        return 1 + cost_of(e->left);
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
        return is_power_of_two(e->right) ? 1 + cost_of(e->left) : A_LOT;
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_MULTIPLY:
    case EXPRESSION_SHIFT_LEFT:
    case EXPRESSION_SHIFT_RIGHT:
    case EXPRESSION_AND:
    case EXPRESSION_OR:
    case EXPRESSION_XOR:
    case EXPRESSION_LESS:
    case EXPRESSION_LESS_EQUAL:
    case EXPRESSION_EQUAL:
    case EXPRESSION_NOT_EQUAL:
    case EXPRESSION_LOGICAL_AND:
    case EXPRESSION_LOGICAL_OR:
        return 1 + cost_of(e->left) + cost_of(e->right);
    default:
        return A_LOT;
    }
}

static void store_value(Builder *builder, Value *to, const Expression *e) {
    Value *parts[LEAVES_MOST];
    if (!to) {
        evaluate_effect(builder, e);
    } else if (kind_of(e) == TYPE_STRUCT) {
        evaluate_parts(builder, e, parts);
        access_store_parts(builder, to, e->type, parts, STR(""));
    } else {
        access_store(builder, to, e->type, graph_value(evaluate_value(builder, e)), STR(""));
    }
}

// Evaluates one of two expressions, or for NULL a constant, and leaves the value in a temporary,
// whose address it returns; NULL if there is no value.
static Value *join_values(Builder *builder, const Expression *e, const Expression *condition,
                          const Expression *const values[2]) {
    Graph *graph = &builder->graph;
    Block *blocks[] = {graph_block(graph), graph_block(graph)}, *join = graph_block(graph);
    Value *to = NULL;
    if (kind_of(e) != TYPE_VOID) to = access_slot(builder, access_temporary(builder, e->type, e));
    evaluate_branch(builder, condition, blocks[0], blocks[1]);
    for (int k = 0; k < 2; k++) {
        graph_seal(graph, blocks[k]);
        graph->here = blocks[k];
        if (values[k])
            store_value(builder, to, values[k]);
        else
            access_store(builder, to, e->type, graph_constant(graph, TYPE_BOOL, k == 0), STR(""));
        graph_jump(graph, join);
    }
    graph_seal(graph, join);
    graph->here = join;
    return to;
}

static Value *conditional_address(Builder *builder, const Expression *e) {
    return join_values(builder, e, e->condition, (const Expression *const[]){e->left, e->right});
}

static Value *conditional_value(Builder *builder, const Expression *e) {
    Value *address = conditional_address(builder, e);
    return address ? access_load(builder, address, e->type, STR(""))
                   : graph_constant(&builder->graph, TYPE_U32, 0);
}

static Value *logical_value(Builder *builder, const Expression *e) {
    bool and = e->kind == EXPRESSION_LOGICAL_AND;
    if (cost_of(e->right) <= CHEAP) {
        Value *left = evaluate_value(builder, e->left);
        Value *right = evaluate_value(builder, e->right);
        return graph_binary(&builder->graph, and? OP_AND : OP_OR, TYPE_BOOL, left, right);
    }
    const Expression *const values[] = {and? e->right : NULL, and? NULL : e->right};
    return access_load(builder, join_values(builder, e, e->left, values), e->type, STR(""));
}

void evaluate_branch(Builder *builder, const Expression *condition, Block *yes, Block *no) {
    Graph *graph = &builder->graph;
    bool and = condition->kind == EXPRESSION_LOGICAL_AND;
    if (condition->kind == EXPRESSION_NOT) {
        evaluate_branch(builder, condition->left, no, yes);
    } else if ((and || condition->kind == EXPRESSION_LOGICAL_OR) &&
               cost_of(condition->right) > CHEAP) {
        Block *next = graph_block(graph);
        evaluate_branch(builder, condition->left, and? next : yes, and? no : next);
        graph_seal(graph, next);
        graph->here = next;
        evaluate_branch(builder, condition->right, yes, no);
    } else {
        graph_branch(graph, evaluate_value(builder, condition), yes, no);
    }
}

// --- assignments, calls ---

static Value *assign_value(Builder *builder, const Expression *e) {
    Value *parts[LEAVES_MOST];
    if (kind_of(e->left) == TYPE_STRUCT) {
        evaluate_parts(builder, e->right, parts);
        access_store_parts(builder, access_address(builder, e->left), e->left->type, parts,
                           STR(""));
        return parts[0];
    }
    Value *value = graph_value(evaluate_value(builder, e->right));
    access_store(builder, access_address(builder, e->left), e->left->type, value, STR(""));
    return value;
}

static Value *call_value(Builder *builder, const Expression *e) {
    Instance *result = inline_call(builder, e);
    if (!result) return graph_constant(&builder->graph, TYPE_U32, 0);
    return access_load(builder, access_slot(builder, result), e->type, STR(""));
}

static Value *lvalue_value(Builder *builder, const Expression *e) {
    Value *address = access_address(builder, e);
    return kind_of(e) == TYPE_ARRAY ? address : access_load(builder, address, e->type, STR(""));
}

Value *evaluate_value(Builder *builder, const Expression *e) {
    Graph *graph = &builder->graph;
    if (build_refused(builder)) return graph_constant(graph, kind_of(e), 0);
    switch (e->kind) {
    case EXPRESSION_INTEGER:
        return graph_constant(graph, kind_of(e), e->integer);
    case EXPRESSION_FLOATING:
        return constant_floating(builder, kind_of(e), e->floating);
    case EXPRESSION_VARIABLE:
    case EXPRESSION_DEREFERENCE:
    case EXPRESSION_MEMBER:
        return lvalue_value(builder, e);
    case EXPRESSION_ADDRESS:
        return access_address(builder, e->left);
    case EXPRESSION_CAST:
        return cast_value(builder, e);
    case EXPRESSION_NEGATE:
        return graph_unary(graph, OP_NEGATE, kind_of(e), evaluate_value(builder, e->left));
    case EXPRESSION_COMPLEMENT:
        return graph_unary(graph, OP_NOT, kind_of(e), evaluate_value(builder, e->left));
    case EXPRESSION_NOT:
        return graph_not(graph, evaluate_value(builder, e->left));
    case EXPRESSION_LOGICAL_AND:
    case EXPRESSION_LOGICAL_OR:
        return logical_value(builder, e);
    case EXPRESSION_CONDITIONAL:
        return conditional_value(builder, e);
    case EXPRESSION_COMMA:
        evaluate_effect(builder, e->left);
        return evaluate_value(builder, e->right);
    case EXPRESSION_ASSIGN:
        return assign_value(builder, e);
    case EXPRESSION_CALL:
        return call_value(builder, e);
    case EXPRESSION_BUILT_IN:
        return built_in_value(builder, e);
    case EXPRESSION_ASSEMBLY:
        return built_in_assembly(builder, e);
    case EXPRESSION_TEXT:
        build_refuse(builder, &e->place, "a kernel can do nothing with a string; leave it out");
        return graph_constant(graph, TYPE_U64, 0);
    default:
        return binary_value(builder, e);
    }
}

void evaluate_parts(Builder *builder, const Expression *e, Value **parts) {
    Value *address;
    switch (e->kind) {
    case EXPRESSION_COMMA:
        evaluate_effect(builder, e->left);
        evaluate_parts(builder, e->right, parts);
        return;
    case EXPRESSION_CAST:
        evaluate_parts(builder, e->left, parts);
        return;
    case EXPRESSION_BUILT_IN:
        built_in_parts(builder, e, parts);
        return;
    case EXPRESSION_CONDITIONAL:
        address = conditional_address(builder, e);
        break;
    default:
        address = access_address(builder, e);
    }
    access_load_parts(builder, address, e->type, parts, STR(""));
}

void evaluate_effect(Builder *builder, const Expression *e) {
    Value *parts[LEAVES_MOST];
    if (!e || build_refused(builder)) return;
    if (kind_of(e) != TYPE_STRUCT)
        evaluate_value(builder, e);
    else if (e->kind == EXPRESSION_ASSIGN)
        assign_value(builder, e);
    else if (e->kind == EXPRESSION_CALL)
        inline_call(builder, e);
    else
        evaluate_parts(builder, e, parts);
}

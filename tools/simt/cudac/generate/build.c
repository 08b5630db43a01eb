// Builds the graph of a kernel: statements, and the attempts until every variable has its place.
#include "simt/cudac/generate/build.h"

#include <stdarg.h>
#include <stdio.h>

// --- refusals ---

void build_refuse(Builder *builder, const Place *place, const char *format, ...) {
    if (builder->refusal->message.len) return;
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) length = (int)sizeof text - 1;
    Buf message = {.arena = builder->arena};
    buf_add(&message, (Str){text, (size_t)length});
    builder->refusal->place = *place;
    builder->refusal->message = buf_str(&message);
}

bool build_refused(const Builder *builder) { return builder->refusal->message.len > 0; }

void build_require(Builder *builder, Keys *keys, const void *key) {
    builder->again = true;
    for (size_t k = 0; k < keys->count; k++)
        if (keys->keys[k] == key) return;
    ARENA_GROW(builder->arena, keys->keys, keys->count, keys->capacity);
    keys->keys[keys->count++] = key;
}

static void escape(Graph *graph, const Value *slot) {
    Builder *builder = graph->owner;
    build_require(builder, &builder->in_memory, ((const Instance *)slot->object)->key);
}

static void mixed(Graph *graph, size_t slot) {
    Builder *builder = graph->owner;
    build_require(builder, &builder->generic, graph->slots[slot].instance->key);
}

void build_site(Builder *builder, const Place *place) {
    Site *site = ARENA_NEW(builder->arena, 1, Site);
    site->place = *place;
    site->function = builder->frame->function;
    site->call = builder->frame->call;
    builder->graph.site = site;
}

// --- statements ---

static void build_if(Builder *builder, const Statement *s) {
    Graph *graph = &builder->graph;
    Block *yes = graph_block(graph), *no = s->otherwise ? graph_block(graph) : NULL;
    Block *join = graph_block(graph);
    evaluate_branch(builder, s->condition, yes, no ? no : join);
    graph_seal(graph, yes);
    graph->here = yes;
    build_statement(builder, s->body);
    graph_jump(graph, join);
    if (no) {
        graph_seal(graph, no);
        graph->here = no;
        build_statement(builder, s->otherwise);
        graph_jump(graph, join);
    }
    graph_seal(graph, join);
    graph->here = join;
}

static void build_declare(Builder *builder, const Statement *s) {
    Value *parts[LEAVES_MOST];
    const Type *type = s->variable->type;
    if (s->variable->kind != VARIABLE_LOCAL && s->variable->kind != VARIABLE_PARAMETER) return;
    bool is_struct = type->kind == TYPE_STRUCT;
    if (s->expression && is_struct)
        evaluate_parts(builder, s->expression, parts);
    else if (s->expression)
        parts[0] = graph_value(evaluate_value(builder, s->expression));
    Value *address = access_slot(builder, access_declare(builder, s->variable));
    if (!s->expression) return;
    if (is_struct)
        access_store_parts(builder, address, type, parts, STR(""));
    else
        access_store(builder, address, type, parts[0], STR(""));
}

static void build_return(Builder *builder, const Statement *s) {
    Graph *graph = &builder->graph;
    Frame *frame = builder->frame;
    if (s->expression && frame->result) {
        Value *parts[LEAVES_MOST];
        const Type *type = frame->result->type;
        if (type->kind == TYPE_STRUCT) {
            evaluate_parts(builder, s->expression, parts);
            access_store_parts(builder, access_slot(builder, frame->result), type, parts, STR(""));
        } else {
            parts[0] = graph_value(evaluate_value(builder, s->expression));
            access_store(builder, access_slot(builder, frame->result), type, parts[0], STR(""));
        }
    } else if (s->expression) {
        evaluate_effect(builder, s->expression);
    }
    graph_jump(graph, frame->exit);
}

// --- switch ---

typedef struct Cases {
    const Statement **statements;
    Block **blocks;
    size_t count, capacity;
} Cases;

static void find_cases(Builder *builder, const Statement *s, Cases *cases) {
    for (; s; s = s->next) {
        if (s->kind == STATEMENT_CASE) {
            size_t capacity = cases->capacity;
            ARENA_GROW(builder->arena, cases->statements, cases->count, capacity);
            ARENA_GROW(builder->arena, cases->blocks, cases->count, cases->capacity);
            cases->blocks[cases->count] = graph_block(&builder->graph);
            cases->statements[cases->count++] = s;
        }
        if (s->kind == STATEMENT_SWITCH) continue;
        find_cases(builder, s->body, cases);
        find_cases(builder, s->otherwise, cases);
    }
}

static void build_switch(Builder *builder, const Statement *s) {
    Graph *graph = &builder->graph;
    Frame *frame = builder->frame, saved = *frame;
    Cases cases = {0};
    Block *exit = graph_block(graph), *otherwise = exit;
    find_cases(builder, s->body, &cases);
    Value *value = graph_value(evaluate_value(builder, s->condition));
    for (size_t k = 0; k < cases.count; k++) {
        if (cases.statements[k]->is_default) {
            otherwise = cases.blocks[k];
            continue;
        }
        Block *next = graph_block(graph);
        Value *label = graph_constant(graph, value->kind, cases.statements[k]->value);
        graph_branch(graph, graph_binary(graph, OP_EQUAL, value->kind, value, label),
                     cases.blocks[k], next);
        graph_seal(graph, next);
        graph->here = next;
    }
    graph_jump(graph, otherwise);
    frame->on_break = exit;
    frame->cases = &cases;
    build_statement(builder, s->body);
    graph_jump(graph, exit);
    frame->on_break = saved.on_break;
    frame->cases = saved.cases;
    graph_seal(graph, exit);
    graph->here = exit;
}

static void build_case(Builder *builder, const Statement *s) {
    Graph *graph = &builder->graph;
    const Cases *cases = builder->frame->cases;
    for (size_t k = 0; cases && k < cases->count; k++) {
        if (cases->statements[k] != s) continue;
        graph_jump(graph, cases->blocks[k]);
        graph_seal(graph, cases->blocks[k]);
        graph->here = cases->blocks[k];
    }
    build_statement(builder, s->body);
}

void build_statements(Builder *builder, const Statement *first) {
    for (const Statement *s = first; s; s = s->next) build_statement(builder, s);
}

void build_statement(Builder *builder, const Statement *s) {
    Graph *graph = &builder->graph;
    if (!s || build_refused(builder)) return;
    if (s->kind != STATEMENT_BLOCK) build_site(builder, &s->place);
    switch (s->kind) {
    case STATEMENT_EXPRESSION:
        evaluate_effect(builder, s->expression);
        break;
    case STATEMENT_BLOCK:
        build_statements(builder, s->body);
        break;
    case STATEMENT_DECLARE:
        build_declare(builder, s);
        break;
    case STATEMENT_IF:
        build_if(builder, s);
        break;
    case STATEMENT_FOR:
    case STATEMENT_WHILE:
    case STATEMENT_DO:
        loop_build(builder, s);
        break;
    case STATEMENT_SWITCH:
        build_switch(builder, s);
        break;
    case STATEMENT_CASE:
        build_case(builder, s);
        break;
    case STATEMENT_BREAK:
        graph_jump(graph, builder->frame->on_break);
        break;
    case STATEMENT_CONTINUE:
        graph_jump(graph, builder->frame->on_continue);
        break;
    case STATEMENT_RETURN:
        build_return(builder, s);
        break;
    }
}

// --- kernels ---

static Value *parameter_part(Builder *builder, const Variable *variable, const Leaf *leaf) {
    Graph *graph = &builder->graph;
    TypeKind type = leaf->type->kind;
    Value fields = {.op = OP_PARAMETER, .kind = graph_register_kind(type), .from = type};
    fields.object = variable;
    fields.integer = (int64_t)leaf->offset;
    if (type == TYPE_BOOL) {
        fields.kind = TYPE_U32;
        Value *byte = graph_pure(graph, fields, 0, NULL);
        return graph_binary(graph, OP_NOT_EQUAL, TYPE_U32, byte,
                            graph_constant(graph, TYPE_U32, 0));
    }
    Value *value = graph_pure(graph, fields, 0, NULL);
    if (type != TYPE_POINTER) return value;
    Value global = {.op = OP_TO_GLOBAL, .kind = TYPE_U64, .space = SPACE_GLOBAL};
    return graph_pure(graph, global, 1, &value);
}

static void receive(Builder *builder, const Variable *parameter) {
    Leaf leaves[LEAVES_MOST];
    Value *parts[LEAVES_MOST];
    size_t count = access_leaves(builder, parameter->type, leaves);
    for (size_t k = 0; k < count; k++) parts[k] = parameter_part(builder, parameter, &leaves[k]);
    Value *address = access_slot(builder, access_declare(builder, parameter));
    if (parameter->type->kind == TYPE_STRUCT)
        access_store_parts(builder, address, parameter->type, parts, STR(""));
    else if (count)
        access_store(builder, address, parameter->type, parts[0], STR(""));
}

static void attempt(Builder *builder, const Function *kernel) {
    Graph *graph = &builder->graph;
    *graph = (Graph){.arena = builder->arena, .escape = escape, .mixed = mixed, .owner = builder};
    Frame frame = {.function = kernel};
    builder->again = false;
    builder->size = 0;
    builder->local_bytes = builder->local_align = 0;
    builder->frame = &frame;
    for (int k = 0; k < STATE_COUNT; k++) {
        ARENA_GROW(graph->arena, graph->slots, graph->slot_count, graph->slot_capacity);
        graph->slots[graph->slot_count++] = (Slot){NULL, 0, TYPE_VOID};
    }
    graph->here = graph_block(graph);
    graph->here->is_sealed = true;
    build_site(builder, &kernel->place);
    frame.exit = graph_block(graph);
    for (size_t k = 0; k < kernel->parameter_count; k++) receive(builder, kernel->parameters[k]);
    build_statement(builder, kernel->body);
    graph_jump(graph, frame.exit);
    graph_seal(graph, frame.exit);
    graph->here = frame.exit;
    graph_end(graph, END_RETURN);
}

Builder *build_kernel(Arena *arena, const Function *kernel, Refusal *refusal) {
    Builder *builder = ARENA_NEW(arena, 1, Builder);
    builder->arena = arena;
    builder->refusal = refusal;
    do attempt(builder, kernel);
    while (builder->again && !build_refused(builder));
    return build_refused(builder) ? NULL : builder;
}

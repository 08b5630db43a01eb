// Inlines calls: the parameters of the function become variables of the caller.
#include "simt/cudac/generate/build.h"

static bool is_open(const Builder *builder, const Function *function) {
    for (const Frame *frame = builder->frame; frame; frame = frame->up)
        if (frame->function == function) return true;
    return false;
}

// The argument's value, or the parts of a struct, before the function's own variables exist.
static void evaluate(Builder *builder, const Expression *argument, Value **parts) {
    if (argument->type->kind == TYPE_STRUCT)
        evaluate_parts(builder, argument, parts);
    else
        parts[0] = evaluate_value(builder, argument);
}

static void pass(Builder *builder, const Variable *parameter, Value *const *parts) {
    Value *address = access_slot(builder, access_declare(builder, parameter));
    if (parameter->type->kind == TYPE_STRUCT)
        access_store_parts(builder, address, parameter->type, parts, STR(""));
    else
        access_store(builder, address, parameter->type, graph_value(parts[0]), STR(""));
}

static void enter(Builder *builder, Frame *frame, const Expression *call) {
    const Function *function = call->function;
    Value ***values = ARENA_NEW(builder->arena, call->argument_count + 1, Value **);
    for (size_t k = 0; k < call->argument_count; k++) {
        values[k] = ARENA_NEW(builder->arena, LEAVES_MOST, Value *);
        evaluate(builder, call->arguments[k], values[k]);
    }
    *frame = (Frame){.up = builder->frame, .function = function};
    frame->call = builder->graph.site;
    frame->exit = graph_block(&builder->graph);
    if (function->type->base->kind != TYPE_VOID)
        frame->result = access_temporary(builder, function->type->base, call);
    builder->frame = frame;
    for (size_t k = 0; k < call->argument_count && k < function->parameter_count; k++)
        pass(builder, function->parameters[k], values[k]);
}

Instance *inline_call(Builder *builder, const Expression *call) {
    Graph *graph = &builder->graph;
    const Function *function = call->function;
    Frame frame;
    if (!function->body || is_open(builder, function)) {
        build_refuse(builder, &call->place,
                     "%.*s calls itself, and functions are copied into their callers here; write "
                     "it as a loop",
                     STR_ARG(function->name));
        return access_temporary(builder, function->type->base, call);
    }
    const Site *site = graph->site;
    enter(builder, &frame, call);
    build_statement(builder, function->body);
    graph_jump(graph, frame.exit);
    graph_seal(graph, frame.exit);
    graph->here = frame.exit;
    graph->site = site;
    builder->frame = frame.up;
    return frame.result;
}

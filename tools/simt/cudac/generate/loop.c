// Builds loops. A loop with few trips is unrolled; another is turned into a test followed by a loop
// that tests at its end, as nvcc does.
#include "simt/cudac/generate/build.h"

// --- what a loop changes ---

typedef struct LoopScan {
    Builder *builder;
    const Instance **changed;
    size_t count, capacity;
    bool writes[STATE_COUNT]; // to memory
    bool indirect;            // through pointers, which may point to local variables
    bool leaves;              // has a break or a return
    bool has_loop;            // that is not unrolled by a pragma
    bool inside;              // the scan is in a function that the loop calls
    size_t size;              // operations
} LoopScan;

bool loop_changes(const LoopScan *scan, const Slot *slot, size_t number) {
    if (number < STATE_COUNT) return scan->writes[number];
    if (scan->indirect && slot->instance->is_exposed) return true;
    for (size_t k = 0; k < scan->count; k++)
        if (scan->changed[k] == slot->instance) return true;
    return false;
}

static void scan_expression(LoopScan *scan, const Expression *e);
static void scan_statement(LoopScan *scan, const Statement *s);

static void write_all(LoopScan *scan) {
    scan->writes[STATE_SHARED] = scan->writes[STATE_OTHER] = true;
}

static void change(LoopScan *scan, const Variable *variable) {
    if (variable->kind != VARIABLE_LOCAL && variable->kind != VARIABLE_PARAMETER) {
        bool shared = variable->kind == VARIABLE_SHARED || variable->kind == VARIABLE_DYNAMIC;
        scan->writes[shared ? STATE_SHARED : STATE_OTHER] = true;
        return;
    }
    if (scan->inside) {
        scan->writes[STATE_OTHER] = true; // it may be in local memory
        return;
    }
    ARENA_GROW(scan->builder->arena, scan->changed, scan->count, scan->capacity);
    const Instance *instance = access_variable(scan->builder, variable);
    scan->changed[scan->count++] = instance;
    if (instance->is_memory) scan->writes[STATE_OTHER] = true;
}

// The variable that an lvalue is a part of, or NULL if it is what a pointer points to.
static const Variable *root_variable(const Expression *lvalue) {
    for (;;) switch (lvalue->kind) {
        case EXPRESSION_VARIABLE:
            return lvalue->variable;
        case EXPRESSION_MEMBER:
        case EXPRESSION_DEREFERENCE:
        case EXPRESSION_ADD:
        case EXPRESSION_SUBTRACT:
        case EXPRESSION_CAST:
            if (lvalue->kind == EXPRESSION_DEREFERENCE) {
                const Expression *pointer = lvalue->left;
                while (pointer->kind == EXPRESSION_ADD || pointer->kind == EXPRESSION_SUBTRACT ||
                       pointer->kind == EXPRESSION_CAST)
                    pointer = pointer->left;
                if (pointer->kind != EXPRESSION_ADDRESS) return NULL;
                lvalue = pointer->left;
            } else {
                lvalue = lvalue->left;
            }
            break;
        case EXPRESSION_COMMA:
            lvalue = lvalue->right;
            break;
        case EXPRESSION_ASSIGN:
            lvalue = lvalue->left;
            break;
        default:
            return NULL;
        }
}

// What the pointer in an lvalue points to, as far as that is known before the loop.
static Space pointed_to(const LoopScan *scan, const Expression *e) {
    while (e->kind == EXPRESSION_MEMBER || e->kind == EXPRESSION_DEREFERENCE ||
           e->kind == EXPRESSION_ADD || e->kind == EXPRESSION_SUBTRACT ||
           e->kind == EXPRESSION_CAST)
        e = e->left;
    if (e->kind != EXPRESSION_VARIABLE || scan->inside || e->type->kind != TYPE_POINTER ||
        e->variable->kind > VARIABLE_PARAMETER)
        return SPACE_GENERIC;
    const Instance *instance = access_variable(scan->builder, e->variable);
    Graph *graph = &scan->builder->graph;
    if (instance->is_memory || instance->slot_count == 0) return SPACE_GENERIC;
    return graph_read(graph, graph->here, instance->slots[0])->space;
}

static void scan_written(LoopScan *scan, const Expression *lvalue) {
    const Variable *variable = root_variable(lvalue);
    Space space = variable ? SPACE_GENERIC : pointed_to(scan, lvalue);
    if (variable) {
        change(scan, variable);
    } else if (space == SPACE_SHARED || space == SPACE_GLOBAL) {
        scan->writes[space == SPACE_SHARED ? STATE_SHARED : STATE_OTHER] = true;
    } else {
        write_all(scan);
        scan->indirect = true;
    }
}

static void scan_call(LoopScan *scan, const Expression *e) {
    bool inside = scan->inside;
    scan->inside = true;
    if (scan->size < 100000) scan_statement(scan, e->function->body);
    scan->inside = inside;
}

static void scan_built_in(LoopScan *scan, const Expression *e) {
    BuiltIn b = e->built_in;
    bool writes = b == BUILT_IN_FENCE || b == BUILT_IN_STORE || b == BUILT_IN_GRID_SYNC ||
                  (b >= BUILT_IN_SYNCTHREADS && b <= BUILT_IN_SYNCWARP) ||
                  (b >= BUILT_IN_ATOMIC_ADD && b <= BUILT_IN_ATOMIC_CAS);
    if (writes) write_all(scan);
}

static void scan_assembly(LoopScan *scan, const Assembly *assembly) {
    if (assembly->is_volatile || assembly->clobbers_memory) write_all(scan);
    for (size_t k = 0; k < assembly->operand_count; k++) {
        if (k < assembly->output_count) scan_written(scan, assembly->operands[k]);
        scan_expression(scan, assembly->operands[k]);
    }
}

static void scan_expression(LoopScan *scan, const Expression *e) {
    if (!e) return;
    if (e->kind > EXPRESSION_CAST) scan->size++;
    if (e->kind == EXPRESSION_DEREFERENCE) scan->size++;
    if (e->kind == EXPRESSION_ASSIGN) scan_written(scan, e->left);
    if (e->kind == EXPRESSION_ADDRESS) {
        // An element of an array is named by its address; any other address may be used to write.
        const Variable *variable = root_variable(e->left);
        if (variable && variable->type->kind != TYPE_ARRAY &&
            (variable->kind == VARIABLE_LOCAL || variable->kind == VARIABLE_PARAMETER))
            change(scan, variable);
    }
    if (e->kind == EXPRESSION_CALL) {
        for (size_t k = 0; k < e->argument_count; k++)
            if (e->arguments[k]->kind == EXPRESSION_ADDRESS)
                scan_written(scan, e->arguments[k]->left);
        scan_call(scan, e);
    }
    if (e->kind == EXPRESSION_BUILT_IN) scan_built_in(scan, e);
    if (e->kind == EXPRESSION_ASSEMBLY) scan_assembly(scan, e->assembly);
    scan_expression(scan, e->condition);
    scan_expression(scan, e->left);
    scan_expression(scan, e->right);
    for (size_t k = 0; k < e->argument_count; k++) scan_expression(scan, e->arguments[k]);
}

static void scan_statement(LoopScan *scan, const Statement *s) {
    for (; s; s = s->next) {
        if (s->kind == STATEMENT_BREAK || s->kind == STATEMENT_RETURN) scan->leaves = true;
        if (s->kind == STATEMENT_FOR || s->kind == STATEMENT_WHILE || s->kind == STATEMENT_DO)
            scan->has_loop = true;
        if (s->kind == STATEMENT_IF) scan->size++;
        scan_expression(scan, s->expression);
        scan_expression(scan, s->condition);
        scan_expression(scan, s->step);
        scan_statement(scan, s->initial);
        scan_statement(scan, s->body);
        scan_statement(scan, s->otherwise);
    }
}

static LoopScan *scan_loop(Builder *builder, const Statement *loop) {
    LoopScan *scan = ARENA_NEW(builder->arena, 1, LoopScan);
    scan->builder = builder;
    scan_expression(scan, loop->condition);
    scan_expression(scan, loop->step);
    scan_statement(scan, loop->body);
    return scan;
}

// --- how often a loop runs ---

enum { TRIPS_MOST = 4096, UNROLL_SIZE = 1000, UNROLL_PRAGMA_SIZE = 16384, UNROLL_ALL = 40000 };

static bool body_changes(const LoopScan *body, const Instance *instance) {
    for (size_t k = 0; k < body->count; k++)
        if (body->changed[k] == instance) return true;
    return body->indirect && instance->is_exposed;
}

// Whether an expression uses a variable that the body changes.
static bool reads_changed(Builder *builder, const LoopScan *body, const Expression *e) {
    if (!e) return false;
    if (e->kind == EXPRESSION_VARIABLE && e->variable->kind <= VARIABLE_PARAMETER &&
        body_changes(body, access_variable(builder, e->variable)))
        return true;
    for (size_t k = 0; k < e->argument_count; k++)
        if (reads_changed(builder, body, e->arguments[k])) return true;
    return reads_changed(builder, body, e->condition) || reads_changed(builder, body, e->left) ||
           reads_changed(builder, body, e->right);
}

// The variable that counts the trips: the one that the step changes and the body does not.
static bool has_counter(Builder *builder, const Statement *loop) {
    LoopScan step = {.builder = builder}, body = {.builder = builder}, test = {.builder = builder};
    scan_expression(&step, loop->step);
    scan_statement(&body, loop->body);
    scan_expression(&test, loop->condition);
    if (step.count == 0 || test.count || test.writes[0] || test.writes[1]) return false;
    return !body_changes(&body, step.changed[0]) &&
           !reads_changed(builder, &body, loop->condition) &&
           !reads_changed(builder, &body, loop->step);
}

// The number of trips, found by running condition and step in a block that is then thrown away;
// -1 if it is not known here.
static int trips_of(Builder *builder, const Statement *loop) {
    Graph *graph = &builder->graph;
    if (!loop->condition || !loop->step || !has_counter(builder, loop)) return -1;
    Block *here = graph->here;
    int trips = 0;
    graph->here = graph_block(graph);
    graph->here->before = ARENA_NEW(builder->arena, 1, Block *);
    graph->here->before[0] = here;
    graph->here->before_count = graph->here->before_capacity = 1;
    graph_seal(graph, graph->here);
    for (;;) {
        Value *more = graph_value(evaluate_value(builder, loop->condition));
        if (!fold_is_constant(more) || trips > TRIPS_MOST) trips = -1;
        if (trips < 0 || !more->integer) break;
        trips++;
        evaluate_effect(builder, loop->step);
    }
    graph->here = here;
    return trips;
}

// Whether nvcc writes the trips one after another.
static bool is_unrolled(Builder *builder, const Statement *loop, const LoopScan *scan, int trips) {
    if (trips < 0 || loop->unroll == 1) return false;
    size_t size = (scan->size + 1) * (size_t)trips;
    if (builder->size + size > UNROLL_ALL) return false;
    bool pragma = loop->unroll == -1 || loop->unroll >= trips;
    return trips <= 1 || size <= (pragma ? (size_t)UNROLL_PRAGMA_SIZE : (size_t)UNROLL_SIZE);
}

// --- building ---

typedef struct {
    Block *on_break, *on_continue;
} Exits;

static Exits enter(Builder *builder, Block *on_break, Block *on_continue) {
    Exits outer = {builder->frame->on_break, builder->frame->on_continue};
    builder->frame->on_break = on_break;
    builder->frame->on_continue = on_continue;
    return outer;
}

// The body and the step. Returns with the place after them as the current block.
static void build_body(Builder *builder, const Statement *loop, Block *exit) {
    Graph *graph = &builder->graph;
    Block *next = graph_block(graph);
    Exits outer = enter(builder, exit, next);
    build_statement(builder, loop->body);
    builder->frame->on_break = outer.on_break;
    builder->frame->on_continue = outer.on_continue;
    graph_jump(graph, next);
    graph_seal(graph, next);
    graph->here = next;
    if (!loop->step) return;
    build_site(builder, &loop->step->place);
    evaluate_effect(builder, loop->step);
}

static void build_unrolled(Builder *builder, const Statement *loop, int trips, Block *exit) {
    for (int k = 0; k < trips && !build_refused(builder); k++) build_body(builder, loop, exit);
    // What the last test leaves in variables: nothing, but it may be an expression with a value.
    graph_jump(&builder->graph, exit);
}

static void test(Builder *builder, const Statement *loop, Block *yes, Block *no) {
    build_site(builder, &loop->place);
    if (loop->condition)
        evaluate_branch(builder, loop->condition, yes, no);
    else
        graph_jump(&builder->graph, yes);
}

static void build_loop(Builder *builder, const Statement *loop, LoopScan *scan, Block *exit) {
    Graph *graph = &builder->graph;
    Block *before = graph_block(graph), *body = graph_block(graph);
    body->is_loop = true;
    body->scan = scan;
    if (loop->kind == STATEMENT_DO)
        graph_jump(graph, before);
    else
        test(builder, loop, before, exit);
    graph_seal(graph, before);
    graph->here = before;
    graph_jump(graph, body);
    body->dominator = before;
    body->dominator_depth = before->dominator_depth + 1;
    graph->here = body;
    build_body(builder, loop, exit);
    test(builder, loop, body, exit);
    graph_seal(graph, body);
}

void loop_build(Builder *builder, const Statement *loop) {
    Graph *graph = &builder->graph;
    Block *exit = graph_block(graph);
    if (loop->initial) build_statement(builder, loop->initial);
    LoopScan *scan = scan_loop(builder, loop);
    int trips = loop->kind == STATEMENT_FOR ? trips_of(builder, loop) : -1;
    if (is_unrolled(builder, loop, scan, trips)) {
        builder->size += (scan->size + 1) * (size_t)trips;
        build_unrolled(builder, loop, trips, exit);
    } else {
        build_loop(builder, loop, scan, exit);
    }
    graph_seal(graph, exit);
    graph->here = exit;
}

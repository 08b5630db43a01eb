// Runs functions of the host: their frames and statements. See host.h.
#include "engine/host.h"

#include <string.h>

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

static Flow run(Host *host, const Statement *s);

HostValue host_fault(Host *host, Place place, const char *message) {
    if (!host->ended) *host->refusal = (Refusal){.place = place, .message = str_of(message)};
    host->ended = true;
    return (HostValue){0};
}

HostValue host_refuse(Host *host, Place place, const char *what) {
    Buf message = {.arena = host->arena};
    if (host->ended) return (HostValue){0};
    buf_format(&message,
               "the page does not run %s in a function of the host: write it with numbers, "
               "variables, loops, calls and launches, or run it with make%c",
               what, '\0');
    return host_fault(host, place, message.at);
}

// --- statements ---

static bool is_true(Host *host, const Expression *e) {
    return host_value(host, e).integer != 0 && !host->ended;
}

static Flow run_loop(Host *host, const Statement *s) {
    if (s->kind == STATEMENT_FOR && s->initial) run(host, s->initial);
    bool first = s->kind == STATEMENT_DO;
    while (first || !s->condition || is_true(host, s->condition)) {
        first = false;
        const Flow flow = host->ended ? FLOW_RETURN : run(host, s->body);
        if (flow == FLOW_RETURN) return flow;
        if (flow == FLOW_BREAK) break;
        if (s->step) host_value(host, s->step);
    }
    return FLOW_NEXT;
}

static void declare(Host *host, const Statement *s) {
    if (!s->expression) return;
    const HostValue value = host_value(host, s->expression);
    if (!host->ended)
        host_store(host, s->variable->type, host->variables[s->variable->number], value);
}

static Flow run_one(Host *host, const Statement *s) {
    switch (s->kind) {
    case STATEMENT_EXPRESSION:
        if (s->expression) host_value(host, s->expression);
        return FLOW_NEXT;
    case STATEMENT_BLOCK:
        return run(host, s->body);
    case STATEMENT_DECLARE:
        declare(host, s);
        return FLOW_NEXT;
    case STATEMENT_IF:
        return run(host, is_true(host, s->condition) ? s->body : s->otherwise);
    case STATEMENT_FOR:
    case STATEMENT_WHILE:
    case STATEMENT_DO:
        return run_loop(host, s);
    case STATEMENT_BREAK:
        return FLOW_BREAK;
    case STATEMENT_CONTINUE:
        return FLOW_CONTINUE;
    case STATEMENT_RETURN:
        host->returned = s->expression ? host_value(host, s->expression) : (HostValue){0};
        return FLOW_RETURN;
    case STATEMENT_SWITCH:
    case STATEMENT_CASE:
        host_refuse(host, s->place, "a switch");
        return FLOW_RETURN;
    }
    return FLOW_NEXT;
}

static Flow run(Host *host, const Statement *s) {
    for (; s; s = s->next) {
        const Flow flow = host->ended ? FLOW_RETURN : run_one(host, s);
        if (flow != FLOW_NEXT) return flow;
        host->used = host->frame; // the structs that the statement has computed are given up
    }
    return FLOW_NEXT;
}

// --- functions ---

static uint64_t room_for(const Type *type) {
    enum { ALIGN = 16 };
    return (type->size + ALIGN - 1) / ALIGN * ALIGN;
}

// Gives the variables of a list their memory, which the caller clears.
static void place_all(Host *host, Variable *const *list, size_t count) {
    for (size_t k = 0; k < count; k++) {
        host->variables[list[k]->number] = host->memory + host->used;
        host->used += (size_t)room_for(list[k]->type);
    }
}

static void measure(Variable *const *list, size_t count, size_t *numbers, uint64_t *bytes) {
    for (size_t k = 0; k < count; k++) {
        *bytes += room_for(list[k]->type);
        if (list[k]->number >= *numbers) *numbers = list[k]->number + 1;
    }
}

// Makes the frame of a function: its variables, which are 0 at first.
static bool enter(Host *host, const Function *f, Place place) {
    size_t numbers = 0;
    uint64_t bytes = 0;
    measure(f->parameters, f->parameter_count, &numbers, &bytes);
    measure(f->locals, f->local_count, &numbers, &bytes);
    if (host->calls == HOST_CALLS || numbers > HOST_SLOTS - host->slots_used)
        host_fault(host, place, "more than 32 calls are inside each other: write a loop");
    else if (bytes > host->top - host->used)
        host_fault(host, place, HOST_FULL);
    if (host->ended) return false;
    host->calls++;
    host->variables = host->slots + host->slots_used;
    host->slots_used += numbers;
    memset(host->memory + host->used, 0, (size_t)bytes);
    place_all(host, f->parameters, f->parameter_count);
    place_all(host, f->locals, f->local_count);
    host->frame = host->used;
    return true;
}

// Moves a struct that a function has returned to the memory of its caller.
static void keep_struct(Host *host, const Type *type, size_t used) {
    const uint8_t *from = host_at(host, (uint64_t)host->returned.integer, type->size);
    host->used = used;
    if (!from || room_for(type) > host->top - used) return;
    memmove(host->memory + used, from, (size_t)type->size);
    host->returned.integer = (int64_t)host_address(host, host->memory + used);
    host->used = used + (size_t)room_for(type);
}

HostValue host_run(Host *host, const Function *f, const HostValue *arguments, Place place) {
    const size_t frame = host->frame, used = host->used, slots_used = host->slots_used;
    uint8_t **const variables = host->variables;
    if (host->ended) return (HostValue){0};
    if (!f->on_host) return host_refuse(host, place, "a function of the device");
    if (!enter(host, f, place)) return (HostValue){0};
    for (size_t k = 0; k < f->parameter_count; k++) {
        const Variable *parameter = f->parameters[k];
        host_store(host, parameter->type, host->variables[parameter->number], arguments[k]);
    }
    host->returned = (HostValue){0};
    run(host, f->body);
    host->variables = variables, host->slots_used = slots_used, host->frame = frame;
    host->calls--;
    if (f->type->base->kind == TYPE_STRUCT)
        keep_struct(host, f->type->base, used);
    else
        host->used = used;
    return host->ended ? (HostValue){0} : host->returned;
}

// --- the interface ---

void host_open(Host *host) {
    host->memory = ARENA_NEW(host->arena, HOST_BYTES, uint8_t);
    host->slots = ARENA_NEW(host->arena, HOST_SLOTS, uint8_t *);
    host->top = HOST_BYTES;
    host->printed.arena = host->arena;
}

bool host_call(Host *host, const Function *function, const HostValue *arguments, size_t count,
               HostValue *result) {
    if (count != function->parameter_count)
        host_refuse(host, function->place, "this number of parameters");
    *result = host_run(host, function, arguments, function->place);
    return !host->ended;
}

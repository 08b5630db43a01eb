// Calls of functions that the program defines: overloads, default arguments, references.
#include "simt/cudac/parse/parser.h"

enum { MOST_ARGUMENTS = 64, LAUNCH_ARGUMENTS = 4 };

// arguments = (assignment ("," assignment)*)? ")"
Expression **call_arguments(Parser *p, size_t *count) {
    Expression **list = ARENA_NEW(p->arena, MOST_ARGUMENTS, Expression *);
    Place opened = p->token[-1].place;
    bool in_template = p->in_template;
    p->in_template = false;
    for (*count = 0; parser_more(p, TOKEN_RIGHT_PAREN, opened);) {
        if (*count == MOST_ARGUMENTS)
            parser_fail(p, p->token->place, "a call takes at most %d arguments", MOST_ARGUMENTS);
        if (parser_at(p, TOKEN_LEFT_BRACE))
            parser_fail(p, p->token->place, "write the type before this list: float2{...}");
        if (parser_failed(p)) break;
        list[(*count)++] = expression_assignment(p);
        if (parser_at(p, TOKEN_COMMA) && p->token[1].kind == TOKEN_RIGHT_PAREN)
            parser_fail(p, p->token[1].place, "an argument is missing after the comma");
        if (!parser_at(p, TOKEN_RIGHT_PAREN)) parser_expect(p, TOKEN_COMMA, "between arguments");
    }
    p->in_template = in_template;
    return list;
}

// A call whose function is not yet chosen.
typedef struct {
    Str name;
    Place place;
    const Token *explicit_ones; // after the "<" of its template arguments, or NULL
    Expression **launch;        // <<<grid, block, bytes, stream>>>, or NULL: no launch
    Expression **arguments;
    size_t count;
} Call;

// How well a function fits a call: 0 is best; -1: it cannot be called so.
static int fit(Parser *p, const Call *call, const Instance *instance) {
    const Type *type = instance->function->type;
    if (call->count > type->count) return -1;
    if (call->count < type->count && !instance->fallbacks[call->count]) return -1;
    int worst = 0, sum = 0;
    for (size_t i = 0; i < call->count; i++) {
        int step = operator_conversion(p, call->arguments[i], type->parameters[i]);
        if (step < 0) return -1;
        worst = step > worst ? step : worst, sum += step;
    }
    return worst * 1000 + sum * 2;
}

static bool same_parameters(const Function *a, const Function *b) {
    bool same = a->type->count == b->type->count;
    for (size_t i = 0; same && i < a->type->count; i++)
        same = type_same(a->type->parameters[i], b->type->parameters[i]);
    return same;
}

// The instance that a declaration offers for a call, or NULL.
static Instance *offered(Parser *p, const Call *call, Definition *definition) {
    TemplateArgument arguments[TEMPLATE_MOST];
    if (!definition->parameters)
        return call->explicit_ones ? NULL : function_instance(p, definition, NULL);
    if (!template_arguments(p, definition, call->explicit_ones, call->arguments, call->count,
                            arguments))
        return NULL;
    return function_instance(p, definition, arguments);
}

static void no_match(Parser *p, const Call *call, const Instance *only, size_t candidates) {
    if (candidates != 1 || !only) {
        Buf types = {.arena = p->arena};
        for (size_t i = 0; i < call->count; i++) {
            if (i) buf_add(&types, STR(", "));
            buf_add(&types, type_name(p->arena, call->arguments[i]->type));
        }
        parser_fail(p, call->place, "no function `%.*s` takes (%.*s)%s", STR_ARG(call->name),
                    (int)types.len, types.at ? types.at : "",
                    only || candidates > 1 ? "" : ": name its template arguments, <...>");
        return;
    }
    const Type *type = only->function->type;
    size_t least = type->count;
    while (least && only->fallbacks[least - 1]) least--;
    if (call->count < least || call->count > type->count) {
        const size_t takes = call->count < least ? least : (size_t)type->count;
        parser_fail(p, call->place, "`%.*s` takes %zu argument%s, not %zu", STR_ARG(call->name),
                    takes, takes == 1 ? "" : "s", call->count);
        return;
    }
    for (size_t i = 0; i < call->count; i++) {
        Buf what = {.arena = p->arena};
        buf_format(&what, "argument %zu of `%.*s`%c", i + 1, STR_ARG(call->name), '\0');
        operator_convert(p, call->arguments[i], type->parameters[i], what.at);
    }
}

// The best of all declarations of the name that are above the call.
static Instance *choose(Parser *p, const Call *call) {
    Instance *best = NULL, *any = NULL;
    int best_fit = -1;
    size_t candidates = 0;
    bool ambiguous = false;
    for (Symbol *s = parser_globals(p, call->name); s && !parser_failed(p); s = s->next) {
        bool function = s->kind == SYMBOL_DEFINITION && s->definition->is_function;
        if (!function || !parser_sees(p, s)) continue;
        candidates++;
        Instance *instance = offered(p, call, s->definition);
        if (!instance || parser_failed(p)) continue;
        if (any && same_parameters(any->function, instance->function)) candidates--;
        any = instance;
        int own = fit(p, call, instance);
        if (own >= 0 && instance->arguments) own++; // a function wins over a template
        if (own < 0 || (best && own > best_fit)) continue;
        bool again = best && same_parameters(best->function, instance->function);
        if (again && own == best_fit) continue;
        ambiguous = best && own == best_fit;
        best = instance, best_fit = own;
    }
    if (!best)
        no_match(p, call, any, candidates);
    else if (ambiguous)
        parser_fail(p, call->place,
                    "several functions `%.*s` fit this call equally well: cast an "
                    "argument",
                    STR_ARG(call->name));
    return parser_failed(p) ? NULL : best;
}

static Expression *fallback(Parser *p, const Instance *instance, size_t i) {
    const Token *token = p->token;
    Names *names = p->scope;
    p->scope =
        instance->arguments ? template_scope(p, instance->definition, instance->arguments) : NULL;
    parser_seek(p, instance->fallbacks[i]);
    Expression *e = expression_assignment(p);
    p->scope = names;
    parser_seek(p, token);
    return e;
}

bool call_is_in_host(const Parser *p) { return p->at.function && p->at.function->is_host; }

static void refuse_callee(Parser *p, const Call *call, const Definition *definition) {
    if (call->launch && !definition->is_kernel)
        parser_fail(p, call->place, "`%.*s` is not a kernel: write __global__ before it",
                    STR_ARG(call->name));
    else if (definition->is_kernel && !call->launch && call_is_in_host(p))
        parser_fail(p, call->place, "`%.*s` is a kernel: write %.*s<<<grid, block>>>(...)",
                    STR_ARG(call->name), STR_ARG(call->name));
    else if (definition->is_kernel && !call->launch)
        parser_fail(p, call->place,
                    "`%.*s` is a kernel, and only the host starts kernels: write "
                    "__device__ before a function to call it",
                    STR_ARG(call->name));
    else if (!definition->is_kernel && !definition->is_device && !call_is_in_host(p))
        parser_fail(p, call->place, "`%.*s` is a function of the host: write __device__ before it",
                    STR_ARG(call->name));
}

static Expression *resolve(Parser *p, const Call *call) {
    Expression *zero = operator_zero(p, call->place);
    Instance *instance = parser_failed(p) ? NULL : choose(p, call);
    if (!instance) return zero;
    refuse_callee(p, call, instance->definition);
    Function *f = function_body(p, instance, call->place);
    if (!f) return zero;
    const Type *type = instance->function->type;
    const size_t first = call->launch ? LAUNCH_ARGUMENTS : 0;
    Expression *e = operator_new(p, call->launch ? EXPRESSION_BUILT_IN : EXPRESSION_CALL,
                                 f->type->base, call->place);
    e->built_in = BUILT_IN_LAUNCH, e->function = f, e->argument_count = first + type->count;
    e->arguments = ARENA_NEW(p->arena, e->argument_count + 1, Expression *);
    for (size_t i = 0; i < first; i++) e->arguments[i] = call->launch[i];
    for (size_t i = 0; i < type->count; i++) {
        Expression *argument = i < call->count ? call->arguments[i] : fallback(p, instance, i);
        e->arguments[first + i] =
            operator_convert(p, argument, type->parameters[i], "this argument");
    }
    return f->type->base->is_reference ? operator_dereference(p, e, call->place) : e;
}

// shape = assignment, an unsigned or a dim3
static Expression *shape(Parser *p) {
    Expression *e = operator_value(p, expression_assignment(p));
    return str_equal(e->type->name, STR("dim3"))
               ? e
               : operator_convert(p, e, &type_unsigned, "this size of a launch");
}

// configuration = "<<<" shape "," shape ("," bytes ("," stream)?)? ">" ">" ">"
static Expression **configuration(Parser *p) {
    Expression **list = ARENA_NEW(p->arena, LAUNCH_ARGUMENTS, Expression *);
    Place opened = p->token->place;
    bool in_template = p->in_template;
    p->token++, p->in_template = true;
    list[0] = shape(p);
    parser_expect(p, TOKEN_COMMA, "after the number of blocks");
    list[1] = shape(p);
    list[2] = operator_integer(p, 0, &type_unsigned_long, opened);
    list[3] = operator_integer(p, 0, type_pointer(p->arena, &type_void), opened);
    if (parser_accept(p, TOKEN_COMMA))
        list[2] = operator_convert(p, expression_assignment(p), &type_unsigned_long,
                                   "the bytes of shared memory");
    if (parser_accept(p, TOKEN_COMMA))
        list[3] = operator_convert(p, expression_assignment(p), list[3]->type, "the stream");
    for (int k = 0; k < 3; k++) parser_expect(p, TOKEN_GREATER, "after <<<grid, block, ...");
    p->in_template = in_template;
    return list;
}

// A pointer to the function that is named.
static Expression *function_value(Parser *p, const Call *call) {
    bool any = false;
    for (Symbol *s = parser_globals(p, call->name); s && !parser_failed(p); s = s->next) {
        bool function = s->kind == SYMBOL_DEFINITION && s->definition->is_function;
        if (!function || !parser_sees(p, s)) continue;
        any = true;
        Instance *instance = offered(p, call, s->definition);
        Function *f = instance ? function_body(p, instance, call->place) : NULL;
        if (!f) continue;
        Expression *e =
            operator_new(p, EXPRESSION_FUNCTION, type_pointer(p->arena, f->type), call->place);
        e->function = f;
        return e;
    }
    parser_fail(p, call->place,
                any ? "name the template arguments of `%.*s`, <...>"
                    : "`%.*s` is declared only below: move it above this function",
                STR_ARG(call->name));
    return operator_zero(p, call->place);
}

Expression *call_pointer(Parser *p, Expression *pointer, Place place) {
    const Type *type = pointer->type->base;
    Expression *e = operator_new(p, EXPRESSION_CALL, type->base, place);
    p->token++;
    e->left = pointer, e->arguments = call_arguments(p, &e->argument_count);
    if (e->argument_count != type->count)
        parser_fail(p, place, "this function takes %llu argument%s, not %zu",
                    (unsigned long long)type->count, type->count == 1 ? "" : "s",
                    e->argument_count);
    for (size_t i = 0; i < e->argument_count && !parser_failed(p); i++)
        e->arguments[i] =
            operator_convert(p, e->arguments[i], type->parameters[i], "this argument");
    return type->base->is_reference ? operator_dereference(p, e, place) : e;
}

// call = NAME ("<" template arguments ">")? (configuration? "(" arguments)?
Expression *call_named(Parser *p, const Token *name) {
    Call call = {.name = name->text, .place = name->place};
    if (parser_at(p, TOKEN_LESS)) {
        const Token *close = template_close(p->token);
        if (close) call.explicit_ones = p->token + 1, parser_seek(p, close);
    }
    if (parser_at(p, TOKEN_LAUNCH_OPEN) && call_is_in_host(p)) call.launch = configuration(p);
    if (parser_at(p, TOKEN_LAUNCH_OPEN))
        parser_fail(p, name->place,
                    "a kernel cannot start kernels here: call a __device__ function");
    if (!parser_at(p, TOKEN_LEFT_PAREN) && call_is_in_host(p)) return function_value(p, &call);
    if (!parser_at(p, TOKEN_LEFT_PAREN))
        parser_fail(p, name->place, "`%.*s` is a function: call it, with (...)",
                    STR_ARG(name->text));
    if (parser_failed(p)) return operator_zero(p, name->place);
    p->token++;
    call.arguments = call_arguments(p, &call.count);
    return resolve(p, &call);
}

Expression *call_host(Parser *p, const Token *name) {
    bool driver = str_equal(name->text, STR("exercise"));
    if (!call_is_in_host(p) || !(driver || str_starts(name->text, STR("cuda")))) return NULL;
    Expression *e = operator_new(p, EXPRESSION_BUILT_IN, &type_int, name->place);
    p->token++;
    e->built_in = BUILT_IN_HOST, e->text = name->text;
    e->arguments = call_arguments(p, &e->argument_count);
    for (size_t i = 0; i < e->argument_count && !parser_failed(p); i++)
        e->arguments[i] = operator_value(p, e->arguments[i]);
    if (driver && (!e->argument_count || e->arguments[0]->type->kind != TYPE_STRUCT))
        parser_fail(p, name->place, "exercise() takes an Exercise first");
    return e;
}

Expression *call_operator(Parser *p, Str operator, Expression * a, Expression *b, Place place) {
    Symbol *symbol = parser_failed(p) ? NULL : parser_lookup(p, operator);
    if (!symbol || symbol->kind != SYMBOL_DEFINITION) return NULL;
    Call call = {.name = operator, .place = place, .count = 2};
    call.arguments = ARENA_NEW(p->arena, 2, Expression *);
    call.arguments[0] = a, call.arguments[1] = b;
    return resolve(p, &call);
}

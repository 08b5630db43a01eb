// Parses functions: their signatures when they are named, their bodies when they are called.
#include "simt/cudac/parse/parser.h"

typedef struct {
    Variable **at;
    const Token **fallbacks;
    size_t count, capacity, fallback_capacity;
} Parameters;

// Skips a default value; it is parsed where a call needs it.
static const Token *skip_default(Parser *p) {
    const Token *start = p->token;
    while (!parser_at(p, TOKEN_COMMA) && !parser_at(p, TOKEN_RIGHT_PAREN) &&
           !parser_at(p, TOKEN_END)) {
        bool opens = parser_at(p, TOKEN_LEFT_BRACE) || parser_at(p, TOKEN_LEFT_PAREN);
        parser_seek(p, opens ? parser_skip(p, p->token) : p->token + 1);
    }
    return start;
}

// parameters = (specifiers declarator ("=" value)? ("," ...)*)? ")"
static void parameters_of(Parser *p, Parameters *list, Place opened) {
    if (parser_at(p, TOKEN_VOID) && p->token[1].kind == TOKEN_RIGHT_PAREN) p->token++;
    while (parser_more(p, TOKEN_RIGHT_PAREN, opened)) {
        if (parser_at(p, TOKEN_ELLIPSIS))
            parser_fail(p, p->token->place, "functions with ... are not compiled here");
        Specifiers s = declare_specifiers(p);
        Declarator d = declare_declarator(p, s.type);
        if (s.has[TOKEN_AUTO]) parser_fail(p, d.place, "write the type of this parameter");
        if (s.has[TOKEN_SHARED])
            parser_fail(p, d.place, "a parameter is never __shared__: leave the word out");
        const Type *type = d.type;
        if (type->kind == TYPE_ARRAY) type = type_pointer(p->arena, type->base);
        size_t capacity = list->capacity;
        ARENA_GROW(p->arena, list->at, list->count, list->capacity);
        if (capacity != list->capacity)
            ARENA_GROW(p->arena, list->fallbacks, list->count, list->fallback_capacity);
        list->fallbacks[list->count] = parser_accept(p, TOKEN_ASSIGN) ? skip_default(p) : NULL;
        list->at[list->count++] = declare_variable(p, VARIABLE_PARAMETER, d.name, type, d.place);
        if (!parser_at(p, TOKEN_RIGHT_PAREN)) parser_expect(p, TOKEN_COMMA, "between parameters");
        if (p->token[-1].kind == TOKEN_COMMA && parser_at(p, TOKEN_RIGHT_PAREN))
            parser_fail(p, p->token->place, "a parameter is missing after the comma");
    }
}

static const Type *function_type(Parser *p, const Type *result, const Parameters *list) {
    const Type **types = ARENA_NEW(p->arena, list->count + 1, const Type *);
    for (size_t i = 0; i < list->count; i++) types[i] = list->at[i]->type;
    Type *type = ARENA_NEW(p->arena, 1, Type);
    *type =
        (Type){.kind = TYPE_FUNCTION, .base = result, .count = list->count, .parameters = types};
    return type;
}

const Type *function_parameters(Parser *p, const Type *result) {
    const FunctionState at = p->at;
    Parameters list = {0};
    parameters_of(p, &list, p->token[-1].place);
    p->at = at;
    return function_type(p, result, &list);
}

// signature = specifiers declarator "(" parameters
static void signature(Parser *p, Instance *instance) {
    Function *f = instance->function = ARENA_NEW(p->arena, 1, Function);
    f->name = instance->definition->name, f->type = &type_int;
    p->at = (FunctionState){.function = f};
    parser_seek(p, instance->definition->start);
    Specifiers s = declare_specifiers(p);
    Declarator d = declare_declarator(p, s.type);
    f->is_host = !s.has[TOKEN_GLOBAL] && !s.has[TOKEN_DEVICE];
    f->on_host = f->is_host || s.has[TOKEN_HOST];
    Place opened = p->token->place;
    Parameters list = {0};
    if (!parser_accept(p, TOKEN_LEFT_PAREN)) // that of a later function was found
        parser_expect(p, TOKEN_SEMICOLON, "after this declaration");
    if (!parser_failed(p)) parameters_of(p, &list, opened);
    if (s.has[TOKEN_AUTO]) parser_fail(p, d.place, "write the type that this function returns");
    if (s.has[TOKEN_GLOBAL] && d.type->kind != TYPE_VOID)
        parser_fail(p, d.place, "a kernel returns nothing: write void before its name");
    f->name = d.name, f->place = d.place, f->is_kernel = s.has[TOKEN_GLOBAL],
    f->is_noinline = s.has[TOKEN_NO_INLINE];
    f->max_threads = s.max_threads, f->min_blocks = s.min_blocks;
    f->parameters = list.at, f->parameter_count = list.count;
    f->type = function_type(p, d.type, &list);
    instance->fallbacks = list.fallbacks;
    instance->at = p->at;
}

static Instance *instance_new(Parser *p, Definition *definition,
                              const TemplateArgument *arguments) {
    Instance *instance = template_instance(p, definition, arguments);
    const Token *token = p->token;
    Names *names = p->scope;
    FunctionState at = p->at;
    p->scope = arguments ? template_scope(p, definition, arguments) : NULL;
    signature(p, instance);
    p->at = at, p->scope = names;
    parser_seek(p, token);
    return instance;
}

Instance *function_instance(Parser *p, Definition *definition, const TemplateArgument *arguments) {
    for (Instance *i = definition->instances; i; i = i->next)
        if (!arguments || template_same(i->arguments, arguments)) return i;
    Instance *instance = instance_new(p, definition, arguments);
    Function *f = instance->function;
    if (parser_failed(p)) return instance;
    size_t count = 0;
    if (arguments) {
        TemplateParameter parameters[TEMPLATE_MOST];
        count = template_parameters(p, definition, parameters);
        function_pattern(p, definition);
        f->name = template_name(p, definition, arguments);
    }
    f->symbol = mangle_function(p->arena, instance, count);
    for (size_t i = 0; i < f->parameter_count && f->is_kernel; i++) {
        const Type *type = f->parameters[i]->type;
        while (type->base) type = type->base;
        if (str_find(type->name, STR("<")) != SIZE_MAX || f->parameters[i]->type->is_reference)
            parser_fail(p, f->parameters[i]->place,
                        "a kernel takes no references, and no structs "
                        "made from templates: write a struct without");
    }
    return instance;
}

Instance *function_pattern(Parser *p, Definition *definition) {
    if (definition->pattern) return definition->pattern;
    TemplateParameter parameters[TEMPLATE_MOST];
    TemplateArgument arguments[TEMPLATE_MOST] = {0};
    size_t count = template_parameters(p, definition, parameters);
    for (size_t i = 0; i < count; i++) {
        arguments[i] = (TemplateArgument){.type = parameters[i].type, .value = 1};
        arguments[i].is_value = parameters[i].type != NULL;
        if (!parameters[i].type) arguments[i].type = template_placeholder(p, &parameters[i], i);
    }
    Instance *instances = definition->instances;
    definition->pattern = instance_new(p, definition, arguments);
    definition->instances = instances;
    return definition->pattern;
}

// The instance whose definition has a body: this one, or that of another declaration.
static Instance *defined(Parser *p, Instance *instance) {
    const Definition *own = instance->definition;
    if (own->body) return instance;
    for (Symbol *s = parser_globals(p, own->name); s; s = s->next) {
        Definition *other = s->definition;
        bool alike = s->kind == SYMBOL_DEFINITION && other->is_function && other->body &&
                     !other->parameters == !own->parameters;
        if (!alike) continue;
        Instance *found = function_instance(p, other, instance->arguments);
        const Type *a = instance->function->type, *b = found->function->type;
        bool same = a->count == b->count;
        for (size_t i = 0; same && i < a->count; i++)
            same = type_same(a->parameters[i], b->parameters[i]);
        if (same) return found;
    }
    return NULL;
}

static void refuse_twice(Parser *p, const Function *function) {
    for (size_t i = 0; i < p->tree->function_count; i++)
        if (str_equal(p->tree->functions[i]->symbol, function->symbol))
            parser_fail(p, function->place,
                        "`%.*s` is defined above: give one of the two another name",
                        STR_ARG(function->name));
}

static void parse_body(Parser *p, Instance *instance) {
    const Token *token = p->token;
    FunctionState at = p->at;
    Names *outer = p->scope, names = {.is_parameters = true};
    bool in_template = p->in_template;
    Function *f = instance->function;
    refuse_twice(p, f);
    p->at = instance->at, p->in_template = false;
    p->scope =
        instance->arguments ? template_scope(p, instance->definition, instance->arguments) : NULL;
    parser_push_scope(p, &names);
    for (size_t i = 0; i < f->parameter_count; i++)
        if (f->parameters[i]->name.len)
            parser_declare(p, SYMBOL_VARIABLE, f->parameters[i]->name)->variable = f->parameters[i];
    parser_seek(p, instance->definition->body + 1);
    f->body = statement_block(p);
    p->at = at, p->scope = outer, p->in_template = in_template;
    parser_seek(p, token);
    ARENA_GROW(p->arena, p->tree->functions, p->tree->function_count, p->function_capacity);
    p->tree->functions[p->tree->function_count++] = f;
}

Function *function_body(Parser *p, Instance *instance, Place place) {
    Instance *found = parser_failed(p) ? NULL : defined(p, instance);
    if (!found) {
        parser_fail(p, place, "`%.*s` is declared, but its body, { ... }, is missing",
                    STR_ARG(instance->definition->name));
        return NULL;
    }
    if (found->is_parsing)
        parser_fail(p, place, "`%.*s` calls itself, which is not compiled here: write a loop",
                    STR_ARG(instance->definition->name));
    if (!found->is_parsed && parser_enter(p)) {
        found->is_parsing = true;
        parse_body(p, found);
        found->is_parsing = false, found->is_parsed = true;
        parser_leave(p);
    }
    return parser_failed(p) ? NULL : found->function;
}

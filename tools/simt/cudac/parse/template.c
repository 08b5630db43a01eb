// Templates: their parameters, the arguments of an instance, and deduction from a call. The body of
// a template is parsed again for each instance, in a scope that gives the parameters their values.
#include "simt/cudac/parse/parser.h"

const Token *template_close(const Token *open) {
    int depth = 0;
    for (const Token *token = open;; token++) {
        switch (token->kind) {
        case TOKEN_LESS:
        case TOKEN_LEFT_PAREN:
            depth++;
            break;
        case TOKEN_GREATER:
        case TOKEN_RIGHT_PAREN:
            depth--;
            break;
        case TOKEN_SEMICOLON:
        case TOKEN_LEFT_BRACE:
        case TOKEN_RIGHT_BRACE:
        case TOKEN_END:
            return NULL;
        default:
            break;
        }
        if (depth <= 0) return token + 1;
    }
}

// fallback = the tokens up to the next "," or ">"
static const Token *take_fallback(Parser *p) {
    const Token *start = p->token;
    while (!parser_at(p, TOKEN_COMMA) && !parser_at(p, TOKEN_GREATER) && !parser_at(p, TOKEN_END))
        parser_seek(p, parser_at(p, TOKEN_LEFT_PAREN) ? parser_skip(p, p->token) : p->token + 1);
    return start;
}

// parameters = (("class" | "typename") NAME? | specifiers declarator) ("=" fallback)?
size_t template_parameters(Parser *p, Definition *definition, TemplateParameter *out) {
    const Token *token = p->token;
    size_t count = 0;
    parser_seek(p, definition->parameters);
    Place opened = p->token->place;
    while (parser_more(p, TOKEN_GREATER, opened)) {
        TemplateParameter *parameter = &out[count++];
        *parameter = (TemplateParameter){.name = STR("")};
        if (parser_accept(p, TOKEN_CLASS) || parser_accept(p, TOKEN_TYPENAME)) {
            if (parser_at(p, TOKEN_NAME)) parameter->name = (p->token++)->text;
        } else {
            Specifiers s = declare_specifiers(p);
            Declarator d = declare_declarator(p, s.type);
            parameter->name = d.name, parameter->type = type_plain(p->arena, d.type);
            if (!type_is_integer(d.type))
                parser_fail(p, d.place, "a template takes types and integers, not `%.*s`",
                            STR_ARG(type_name(p->arena, d.type)));
        }
        if (parser_accept(p, TOKEN_ASSIGN)) parameter->fallback = take_fallback(p);
        if (parser_at(p, TOKEN_ELLIPSIS) || count == TEMPLATE_MOST)
            parser_fail(p, p->token->place,
                        "templates with ... or more than %d parameters are not "
                        "compiled here",
                        TEMPLATE_MOST - 1);
        if (!parser_at(p, TOKEN_GREATER)) parser_expect(p, TOKEN_COMMA, "between parameters");
    }
    parser_seek(p, token);
    return count;
}

Names *template_scope(Parser *p, Definition *definition, const TemplateArgument *arguments) {
    TemplateParameter parameters[TEMPLATE_MOST];
    size_t count = template_parameters(p, definition, parameters);
    Names *names = ARENA_NEW(p->arena, 1, Names), *outer = p->scope;
    p->scope = names;
    for (size_t i = 0; i < count && !parser_failed(p); i++) {
        const TemplateArgument *argument = &arguments[i];
        if (!argument->type) continue; // not known yet, while defaults are computed
        Symbol *symbol = parser_declare(p, argument->is_value ? SYMBOL_CONSTANT : SYMBOL_TYPE,
                                        parameters[i].name);
        symbol->type = argument->type;
        if (argument->is_value)
            symbol->constant =
                operator_integer(p, argument->value, argument->type, definition->parameters->place);
    }
    p->scope = outer;
    return names;
}

const Type *template_placeholder(Parser *p, const TemplateParameter *parameter, size_t number) {
    Type *type = ARENA_NEW(p->arena, 1, Type);
    *type = (Type){.kind = TYPE_STRUCT, .size = 4, .align = 4, .name = parameter->name};
    type->letter = (char)(number + 1); // no letter of a scalar type
    return type;
}

bool template_is_placeholder(const Type *type, size_t *number) {
    bool is = type->kind == TYPE_STRUCT && type->letter > 0 && type->letter <= TEMPLATE_MOST;
    if (is) *number = (size_t)type->letter - 1;
    return is;
}

// One argument, at its first token.
static TemplateArgument take_argument(Parser *p, const TemplateParameter *parameter) {
    if (!parameter->type) return (TemplateArgument){.type = declare_type_name(p)};
    bool in_template = p->in_template;
    p->in_template = true;
    Place place = p->token->place;
    int64_t value = expression_constant(p, "the argument of a template");
    p->in_template = in_template;
    Expression *e = operator_integer(p, value, &type_long, place);
    return (TemplateArgument){parameter->type, true, operator_cast(p, e, parameter->type)->integer};
}

static void take_explicit(Parser *p, const Token *from, const TemplateParameter *parameters,
                          size_t count, TemplateArgument *out) {
    parser_seek(p, from);
    for (size_t i = 0; !parser_failed(p); i++) {
        if (parser_at(p, TOKEN_GREATER)) return;
        if (i == count)
            parser_fail(p, p->token->place, "this template takes fewer arguments, %zu", count);
        else
            out[i] = take_argument(p, &parameters[i]);
        if (parser_at(p, TOKEN_GREATER)) return;
        parser_expect(p, TOKEN_COMMA, "between the arguments of a template");
    }
}

// Finds the types for which `formal` becomes `actual`.
static void unify(Parser *p, const Type *formal, const Type *actual, TemplateArgument *out) {
    size_t number;
    for (; !template_is_placeholder(formal, &number); formal = formal->base, actual = actual->base)
        if (formal->kind != actual->kind || !formal->base || !actual->base) return;
    if (out[number].type) return;
    Type *type = ARENA_NEW(p->arena, 1, Type);
    *type = *actual;
    if (formal->is_const) type->is_const = false;
    if (formal->is_volatile) type->is_volatile = false;
    out[number].type = type;
}

static void deduce(Parser *p, Definition *definition, Expression **arguments, size_t count,
                   TemplateArgument *out) {
    const Type *type = function_pattern(p, definition)->function->type;
    for (size_t i = 0; i < count && i < type->count && !parser_failed(p); i++) {
        const Type *formal = type->parameters[i], *actual = arguments[i]->type;
        if (formal->is_reference) {
            unify(p, formal->base, actual, out);
            continue;
        }
        if (actual->kind == TYPE_ARRAY) actual = type_pointer(p->arena, actual->base);
        unify(p, formal, type_plain(p->arena, actual), out);
    }
}

bool template_arguments(Parser *p, Definition *definition, const Token *explicit_ones,
                        Expression **arguments, size_t count, TemplateArgument *out) {
    TemplateParameter parameters[TEMPLATE_MOST];
    const Token *token = p->token;
    Names *names = p->scope;
    size_t parameter_count = template_parameters(p, definition, parameters);
    for (size_t i = 0; i < TEMPLATE_MOST; i++) out[i] = (TemplateArgument){0};
    if (explicit_ones) take_explicit(p, explicit_ones, parameters, parameter_count, out);
    if (arguments && !parser_failed(p)) deduce(p, definition, arguments, count, out);
    bool known = true;
    for (size_t i = 0; i < parameter_count && !parser_failed(p); i++) {
        if (!out[i].type && parameters[i].fallback) {
            p->scope = template_scope(p, definition, out);
            parser_seek(p, parameters[i].fallback);
            out[i] = take_argument(p, &parameters[i]);
        }
        known &= out[i].type != NULL;
    }
    p->scope = names;
    parser_seek(p, token);
    return known && !parser_failed(p);
}

bool template_same(const TemplateArgument *a, const TemplateArgument *b) {
    for (; a->type && b->type; a++, b++) {
        bool same = a->is_value
                        ? a->value == b->value
                        : type_same(a->type, b->type) && a->type->is_const == b->type->is_const;
        if (!same) return false;
    }
    return !a->type && !b->type;
}

Instance *template_instance(Parser *p, Definition *definition, const TemplateArgument *arguments) {
    Instance *instance = ARENA_NEW(p->arena, 1, Instance);
    *instance = (Instance){.next = definition->instances, .definition = definition};
    if (arguments) {
        TemplateArgument *copy = ARENA_NEW(p->arena, TEMPLATE_MOST + 1, TemplateArgument);
        for (size_t i = 0; i < TEMPLATE_MOST && arguments[i].type; i++) copy[i] = arguments[i];
        instance->arguments = copy;
    }
    definition->instances = instance;
    return instance;
}

Str template_name(Parser *p, const Definition *definition, const TemplateArgument *arguments) {
    Buf name = {.arena = p->arena};
    buf_format(&name, "%.*s<", STR_ARG(definition->name));
    for (size_t i = 0; i < TEMPLATE_MOST && arguments[i].type; i++) {
        if (i) buf_add(&name, STR(", "));
        if (!arguments[i].is_value)
            buf_add(&name, type_name(p->arena, arguments[i].type));
        else if (arguments[i].type->kind == TYPE_BOOL)
            buf_add(&name, arguments[i].value ? STR("true") : STR("false"));
        else
            buf_format(&name, "%lld", (long long)arguments[i].value);
    }
    buf_char(&name, '>');
    return buf_str(&name);
}

// Parses declarations: types with names, and variables of namespace scope and of functions.
#include "simt/base/limits.h"
#include "simt/cudac/parse/parser.h"

static void require_name(Parser *p, const Declarator *d) {
    if (d->name.len) return;
    Str found = p->token->text.len ? p->token->text : token_spelling(p->token->kind);
    parser_fail(p, d->place, "a name is missing before `%.*s`", STR_ARG(found));
}

// --- what both scopes have ---

// typedef = specifiers declarator ("," declarator)* ";"
static void typedefs(Parser *p, const Type *base) {
    do {
        Declarator d = declare_declarator(p, base);
        require_name(p, &d);
        if (d.type->kind == TYPE_STRUCT && !d.type->name.len) {
            Type *named = ARENA_NEW(p->arena, 1, Type);
            *named = *d.type;
            named->name = d.name, d.type = named;
        }
        parser_declare(p, SYMBOL_TYPE, d.name)->type = d.type;
    } while (parser_accept(p, TOKEN_COMMA));
    parser_expect(p, TOKEN_SEMICOLON, "after a typedef");
}

// using = "using" NAME "=" type ";" | "using" "namespace" NAME ";"
// namespace = "namespace" NAME "=" NAME ";"
// static_assert = "static_assert" "(" condition ("," TEXT)? ")" ";"
// Returns whether it took one of them.
static bool special(Parser *p) {
    const Token *token = p->token;
    if (parser_accept(p, TOKEN_USING)) {
        const Token *name = p->token;
        if (parser_accept(p, TOKEN_NAMESPACE))
            p->token += parser_at(p, TOKEN_NAME);
        else if (parser_accept(p, TOKEN_NAME)) {
            parser_expect(p, TOKEN_ASSIGN, "after the new name");
            const Type *type = declare_type_name(p);
            parser_declare(p, SYMBOL_TYPE, name->text)->type = type;
        }
    } else if (parser_accept(p, TOKEN_NAMESPACE)) {
        declare_namespace(p, p->token);
        while (!parser_at(p, TOKEN_SEMICOLON) && !parser_at(p, TOKEN_END)) p->token++;
    } else if (parser_accept(p, TOKEN_STATIC_ASSERT)) {
        parser_expect(p, TOKEN_LEFT_PAREN, "after static_assert");
        if (!expression_constant(p, "the condition of static_assert"))
            parser_fail(p, token->place, "this static_assert does not hold");
        if (parser_accept(p, TOKEN_COMMA)) parser_expect(p, TOKEN_STRING, "as the message");
        parser_expect(p, TOKEN_RIGHT_PAREN, "after the condition");
    } else
        return false;
    parser_expect(p, TOKEN_SEMICOLON, "after this declaration");
    return true;
}

void declare_namespace(Parser *p, const Token *name) {
    bool groups = name->kind == TOKEN_NAME && name[1].kind == TOKEN_ASSIGN &&
                  str_equal(name[2].text, STR("cooperative_groups"));
    if (groups && p->group_count < sizeof p->groups / sizeof *p->groups)
        p->groups[p->group_count++] = name->text;
}

Variable *declare_variable(Parser *p, VariableKind kind, Str name, const Type *type, Place place) {
    if (type->kind == TYPE_VOID) parser_fail(p, place, "a variable cannot be void");
    if (type->base && type->base->kind == TYPE_FUNCTION && p->at.function && !call_is_in_host(p))
        parser_fail(p, place,
                    "pointers to functions are not compiled in device code: call the function by "
                    "its name");
    Variable *v = ARENA_NEW(p->arena, 1, Variable);
    *v = (Variable){.kind = kind, .name = name, .symbol = name, .type = type, .place = place};
    v->number = p->at.next_number++;
    Function *f = p->at.function;
    if (kind <= VARIABLE_SHARED && kind != VARIABLE_PARAMETER && f) {
        ARENA_GROW(p->arena, f->locals, f->local_count, p->at.local_capacity);
        f->locals[f->local_count++] = v;
    }
    if (kind < VARIABLE_SHARED || kind == VARIABLE_STATIC) return v;
    ARENA_GROW(p->arena, p->tree->variables, p->tree->variable_count, p->variable_capacity);
    p->tree->variables[p->tree->variable_count++] = v;
    return v;
}

Variable *declare_temporary(Parser *p, const Type *type, Place place) {
    return declare_variable(p, VARIABLE_LOCAL, STR(""), type_plain(p->arena, type), place);
}

// The one array of a name that the launch gives its size.
static Variable *dynamic_array(Parser *p, const Declarator *d) {
    for (size_t i = 0; i < p->tree->variable_count; i++) {
        Variable *v = p->tree->variables[i];
        if (v->kind != VARIABLE_DYNAMIC || !str_equal(v->name, d->name)) continue;
        if (!type_same(v->type, d->type))
            parser_fail(p, d->place,
                        "`%.*s` is `%.*s` elsewhere: declare it with one type, or give "
                        "it another name",
                        STR_ARG(d->name), STR_ARG(type_name(p->arena, v->type)));
        return v;
    }
    return declare_variable(p, VARIABLE_DYNAMIC, d->name, d->type, d->place);
}

// --- namespace scope ---

static bool is_number(const Type *type) {
    return type_is_arithmetic(type) && type->is_const && !type->is_volatile;
}

Symbol *declare_constant(Parser *p, Str name, const Type *type, const Expression *value) {
    int64_t integer;
    double floating;
    Expression *constant = operator_integer(p, 0, type_plain(p->arena, type), value->place);
    if (type_is_integer(type) && constant_integer(value, &integer))
        constant->integer = integer;
    else if (type_is_floating(type) && constant_floating(value, &floating))
        constant->kind = EXPRESSION_FLOATING, constant->floating = floating;
    else
        return NULL;
    Symbol *symbol = parser_declare(p, SYMBOL_CONSTANT, name);
    symbol->constant = constant;
    return symbol;
}

static void skip_initial(Parser *p) {
    while (!parser_at(p, TOKEN_COMMA) && !parser_at(p, TOKEN_SEMICOLON) &&
           !parser_at(p, TOKEN_END)) {
        bool opens = parser_at(p, TOKEN_LEFT_BRACE) || parser_at(p, TOKEN_LEFT_PAREN);
        parser_seek(p, opens ? parser_skip(p, p->token) : p->token + 1);
    }
}

static Symbol *variable_with_bytes(Parser *p, VariableKind kind, Declarator *d) {
    const uint8_t *bytes = initial_bytes(p, &d->type, d->unsized);
    Symbol *symbol = parser_declare(p, SYMBOL_VARIABLE, d->name);
    symbol->variable = declare_variable(p, kind, d->name, d->type, d->place);
    symbol->variable->initial = bytes;
    return symbol;
}

// `in_host`: a function of the host needs it.
static void global_variable(Parser *p, const Specifiers *s, Declarator *d, Definition *definition,
                            bool in_host) {
    Symbol *symbol = NULL;
    bool on_device = s->has[TOKEN_DEVICE] || s->has[TOKEN_CONSTANT_SPACE];
    if (s->has[TOKEN_MANAGED])
        parser_fail(p, d->place, "__managed__ is not compiled here: write __device__");
    if (s->has[TOKEN_SHARED] && (!s->has[TOKEN_EXTERN] || !d->unsized))
        parser_fail(p, d->place, "declare shared memory in the kernel that uses it");
    if (!on_device && !s->has[TOKEN_SHARED] && is_number(d->type) &&
        parser_accept(p, TOKEN_ASSIGN)) {
        Expression *value = expression_assignment(p);
        value = operator_convert(p, value, d->type, "this value");
        symbol = declare_constant(p, d->name, d->type, value);
    } else if (on_device) {
        symbol = variable_with_bytes(
            p, s->has[TOKEN_CONSTANT_SPACE] ? VARIABLE_CONSTANT : VARIABLE_DEVICE, d);
    } else if (s->has[TOKEN_SHARED]) {
        symbol = parser_declare(p, SYMBOL_VARIABLE, d->name);
        symbol->variable = dynamic_array(p, d);
    } else if (in_host) {
        symbol = variable_with_bytes(p, VARIABLE_STATIC, d);
    }
    if (!symbol) symbol = parser_declare(p, SYMBOL_VARIABLE, d->name); // of the host
    if (!symbol->variable) skip_initial(p);
    symbol->definition = definition;
}

void declare_global(Parser *p, Definition *definition) {
    const Token *token = p->token;
    Names *names = p->scope;
    FunctionState at = p->at;
    const bool in_host = call_is_in_host(p);
    p->scope = NULL, p->at = (FunctionState){0};
    definition->parsed = true;
    parser_seek(p, definition->start);
    size_t first = p->global_count;
    if (parser_enter(p) && !special(p)) {
        Specifiers s = declare_specifiers(p);
        if (s.has[TOKEN_TYPEDEF])
            typedefs(p, s.type);
        else if (!parser_accept(p, TOKEN_SEMICOLON)) {
            do {
                Declarator d = declare_declarator(p, s.type);
                global_variable(p, &s, &d, definition, in_host);
            } while (parser_accept(p, TOKEN_COMMA));
            parser_expect(p, TOKEN_SEMICOLON, "after a declaration");
        }
    }
    for (size_t i = first; i < p->global_count; i++)
        if (!p->globals[i]->definition) p->globals[i]->definition = definition;
    parser_leave(p);
    parser_seek(p, token);
    p->scope = names, p->at = at;
}

// --- functions ---

static void shared_variable(Parser *p, const Specifiers *s, Declarator *d) {
    if (s->has[TOKEN_EXTERN] != d->unsized)
        parser_fail(p, d->place,
                    s->has[TOKEN_EXTERN] ? "leave out the size, [], after extern __shared__"
                                         : "give the array a size, or write extern before "
                                           "__shared__");
    if (d->type->is_reference) parser_fail(p, d->place, "a reference cannot be __shared__");
    Variable *v = NULL;
    if (s->has[TOKEN_EXTERN])
        v = dynamic_array(p, d);
    else {
        v = declare_variable(p, VARIABLE_SHARED, d->name, d->type, d->place);
        size_t same = 0; // of this name, in other blocks
        uint64_t bytes = d->type->size;
        for (size_t i = 0; i + 1 < p->at.function->local_count; i++) {
            const Variable *other = p->at.function->locals[i];
            if (other->kind != VARIABLE_SHARED) continue;
            same += str_equal(other->name, d->name), bytes += other->type->size;
        }
        if (bytes > DEVICE_SHARED_DEFAULT)
            parser_fail(p, d->place,
                        "%llu bytes of shared memory; a block has at most %d of known size: use "
                        "extern __shared__",
                        (unsigned long long)bytes, DEVICE_SHARED_DEFAULT);
        v->symbol = mangle_static(p->arena, p->at.function->symbol, d->name, same);
    }
    parser_declare(p, SYMBOL_VARIABLE, d->name)->variable = v;
    if (parser_at(p, TOKEN_ASSIGN) || parser_at(p, TOKEN_LEFT_BRACE))
        parser_fail(p, p->token->place,
                    "shared memory has no initial value: let a thread store it");
}

// `auto` takes the type of the value.
static Statement *automatic(Parser *p, const Specifiers *s, Declarator *d) {
    if (!parser_accept(p, TOKEN_ASSIGN))
        parser_fail(p, d->place, "auto needs an initial value: write = and the value");
    Expression *value = expression_assignment(p);
    bool reference = d->type->is_reference;
    if (!reference) value = operator_value(p, value);
    const Type *type = reference ? value->type : type_plain(p->arena, value->type);
    const Type *base = reference ? d->type->base : d->type;
    type = type_qualified(p->arena, type, base->is_const || s->has[TOKEN_CONSTEXPR],
                          base->is_volatile);
    if (reference) type = type_reference(p->arena, type);
    Variable *v = declare_variable(p, VARIABLE_LOCAL, d->name, type, d->place);
    parser_declare(p, SYMBOL_VARIABLE, d->name)->variable = v;
    Statement *statement = statement_new(p, STATEMENT_DECLARE, d->place);
    statement->variable = v;
    statement->expression = operator_convert(p, value, type, "this value");
    return statement;
}

static Statement *local_variable(Parser *p, const Specifiers *s, Declarator *d) {
    if (s->has[TOKEN_AUTO]) return automatic(p, s, d);
    if (d->unsized && !parser_at(p, TOKEN_ASSIGN) && !parser_at(p, TOKEN_LEFT_BRACE))
        parser_fail(p, d->place, "give the array a size");
    if (d->type->is_reference && !parser_at(p, TOKEN_ASSIGN))
        parser_fail(p, d->place, "a reference needs a variable to refer to: write = and its name");
    if (is_number(d->type) && parser_at(p, TOKEN_ASSIGN) && p->token[1].kind != TOKEN_LEFT_BRACE) {
        p->token++;
        Expression *value = expression_assignment(p);
        value = operator_convert(p, value, d->type, "the initial value");
        if (declare_constant(p, d->name, d->type, value)) return NULL;
        if (s->has[TOKEN_CONSTEXPR])
            parser_fail(p, value->place,
                        "this is not a constant: write const in place of constexpr");
        Statement *statement = statement_new(p, STATEMENT_DECLARE, d->place);
        statement->variable = declare_variable(p, VARIABLE_LOCAL, d->name, d->type, d->place);
        statement->expression = value;
        parser_declare(p, SYMBOL_VARIABLE, d->name)->variable = statement->variable;
        return statement;
    }
    Variable *v = declare_variable(p, VARIABLE_LOCAL, d->name, d->type, d->place);
    parser_declare(p, SYMBOL_VARIABLE, d->name)->variable = v;
    return initial_statements(p, v, d->unsized);
}

static void refuse_again(Parser *p, const Declarator *d) {
    Names *scopes[] = {p->scope, p->scope->outer};
    const size_t count = scopes[1] && scopes[1]->is_parameters ? 2 : 1;
    for (size_t i = 0; i < count; i++)
        for (Symbol *s = scopes[i]->symbols; s; s = s->next)
            if (str_equal(s->name, d->name))
                parser_fail(p, d->place, "`%.*s` is %s: give one of the two another name",
                            STR_ARG(d->name), i ? "a parameter" : "declared above in this block");
}

// local = special | typedef | specifiers (declarator initial? ("," declarator initial?)*)? ";"
Statement *declare_local(Parser *p) {
    Statement *first = NULL, **tail = &first;
    if (special(p)) return NULL;
    Place place = p->token->place;
    Specifiers s = declare_specifiers(p);
    if (s.has[TOKEN_TYPEDEF]) {
        typedefs(p, s.type);
        return NULL;
    }
    if (parser_accept(p, TOKEN_SEMICOLON)) return NULL;
    bool is_static = s.has[TOKEN_STATIC] && call_is_in_host(p); // it keeps its value between calls
    bool outlives = s.has[TOKEN_DEVICE] || s.has[TOKEN_CONSTANT_SPACE] ||
                    (s.has[TOKEN_STATIC] && !s.has[TOKEN_SHARED] && !s.type->is_const);
    do {
        Declarator d = declare_declarator(p, s.type);
        require_name(p, &d);
        if (expression_precedence(p->token->kind))
            parser_fail(p, d.place,
                        "a declaration ends before this name: write `;` in place of `,`");
        if (outlives && !is_static && !parser_at(p, TOKEN_LEFT_PAREN))
            parser_fail(p, place,
                        "a variable that outlives the kernel is declared outside of "
                        "functions, with __device__");
        refuse_again(p, &d);
        bool function =
            s.has[TOKEN_GLOBAL] || s.has[TOKEN_DEVICE] || p->token[1].kind == TOKEN_RIGHT_PAREN;
        if (parser_at(p, TOKEN_LEFT_PAREN) && function)
            parser_fail(p, d.place, "a function is not inside another one: is a } missing above?");
        if (s.has[TOKEN_SHARED])
            shared_variable(p, &s, &d);
        else if (is_static && !(is_number(d.type) && !d.unsized))
            variable_with_bytes(p, VARIABLE_STATIC, &d);
        else
            *tail = local_variable(p, &s, &d);
        while (*tail) tail = &(*tail)->next;
    } while (parser_accept(p, TOKEN_COMMA));
    parser_expect(p, TOKEN_SEMICOLON, "after a declaration");
    return first;
}

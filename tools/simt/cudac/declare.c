// Parses declarations: specifiers, declarators, and variables of namespace scope and of functions.
#include "simt/cudac/parser.h"

// --- specifiers ---

// What the words of a scalar type add up to.
typedef struct {
    int longs, shorts, chars, ints, is_signed, is_unsigned;
    char letter; // of void, bool, float, double; 0: an integer
} Words;

static bool take_word(Parser *p, Words *words) {
    switch (p->token->kind) {
    case TOKEN_LONG:
        words->longs++;
        break;
    case TOKEN_SHORT:
        words->shorts++;
        break;
    case TOKEN_CHAR:
        words->chars++;
        break;
    case TOKEN_INT:
        words->ints++;
        break;
    case TOKEN_SIGNED:
        words->is_signed++;
        break;
    case TOKEN_UNSIGNED:
        words->is_unsigned++;
        break;
    case TOKEN_VOID:
        words->letter = 'v';
        break;
    case TOKEN_BOOL:
        words->letter = 'b';
        break;
    case TOKEN_FLOAT:
        words->letter = 'f';
        break;
    case TOKEN_DOUBLE:
        words->letter = 'd';
        break;
    default:
        return false;
    }
    p->token++;
    return true;
}

static const Type *type_of_words(const Words *w) {
    char letter = w->letter;
    if (!letter && w->chars)
        letter = w->is_unsigned ? 'h' : w->is_signed ? 'a' : 'c';
    else if (!letter && w->shorts)
        letter = w->is_unsigned ? 't' : 's';
    else if (!letter && w->longs > 1)
        letter = w->is_unsigned ? 'y' : 'x';
    else if (!letter && w->longs)
        letter = w->is_unsigned ? 'm' : 'l';
    else if (!letter)
        letter = w->is_unsigned ? 'j' : 'i';
    return type_of_letter(letter);
}

// Skips `cooperative_groups::` and `std::` before a type.
static void take_qualifier(Parser *p) {
    while (parser_at(p, TOKEN_NAME) && p->token[1].kind == TOKEN_SCOPE) {
        bool known = str_equal(p->token->text, STR("cooperative_groups"));
        for (size_t i = 0; i < p->group_count; i++)
            known |= str_equal(p->token->text, p->groups[i]);
        Symbol *type = p->token[2].kind == TOKEN_NAME ? parser_lookup(p, p->token[2].text) : NULL;
        known |= str_equal(p->token->text, STR("std")) && type && type->kind == SYMBOL_TYPE;
        if (known)
            parser_seek(p, p->token + 2);
        else
            parser_fail(p, p->token->place,
                        "`%.*s::` is not compiled here: write what you need as "
                        "a function with __device__",
                        STR_ARG(p->token->text));
    }
    if (parser_at(p, TOKEN_SCOPE)) p->token++;
}

void declare_qualifier(Parser *p) { take_qualifier(p); }

static uint32_t positive(Parser *p, const char *what) {
    Place place = p->token->place;
    int64_t value = expression_constant(p, what);
    if (value >= 1 && value <= 1 << 20) return (uint32_t)value;
    parser_fail(p, place, "%s must be at least 1", what);
    return 1;
}

// launch_bounds = "(" threads ("," blocks ("," cluster)?)? ")"
static void launch_bounds(Parser *p, Specifiers *s) {
    parser_expect(p, TOKEN_LEFT_PAREN, "after __launch_bounds__");
    s->max_threads = positive(p, "the number of threads");
    if (parser_accept(p, TOKEN_COMMA)) s->min_blocks = positive(p, "the number of blocks");
    if (parser_accept(p, TOKEN_COMMA)) positive(p, "the size of a cluster");
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the bounds of a launch");
}

uint32_t declare_alignment(Parser *p) {
    Place place = p->token->place;
    parser_expect(p, TOKEN_LEFT_PAREN, "after the alignment's name");
    uint32_t align = 1;
    if (declare_starts(p))
        align = declare_type_name(p)->align;
    else
        align = positive(p, "an alignment");
    if (align & (align - 1)) parser_fail(p, place, "an alignment must be a power of two");
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the alignment");
    return align;
}

static bool take_storage(Parser *p, Specifiers *s) {
    const Token *token = p->token++;
    switch (token->kind) {
    case TOKEN_TYPEDEF:
        s->is_typedef = true;
        break;
    case TOKEN_STATIC:
        s->is_static = true;
        break;
    case TOKEN_EXTERN:
        s->is_extern = true;
        if (parser_at(p, TOKEN_STRING)) p->token++;
        break;
    case TOKEN_CONSTEXPR:
        s->is_constexpr = true;
        break;
    case TOKEN_SHARED:
        s->is_shared = true;
        break;
    case TOKEN_CONSTANT_SPACE:
        s->is_constant = true;
        break;
    case TOKEN_DEVICE:
        s->is_device = true;
        break;
    case TOKEN_MANAGED:
        s->is_managed = s->is_device = true;
        break;
    case TOKEN_GLOBAL:
        s->is_global = true;
        break;
    case TOKEN_HOST:
        s->is_host = true;
        break;
    case TOKEN_NO_INLINE:
        s->is_noinline = true;
        break;
    case TOKEN_INLINE:
    case TOKEN_INLINE_C:
    case TOKEN_FORCE_INLINE:
    case TOKEN_REGISTER:
    case TOKEN_TYPENAME:
    case TOKEN_GRID_CONSTANT:
        break;
    case TOKEN_LAUNCH_BOUNDS:
        launch_bounds(p, s);
        break;
    case TOKEN_ATTRIBUTE:
        parser_seek(p, parser_skip(p, p->token));
        break;
    case TOKEN_LEFT_BRACKET: // [[maybe_unused]]
        if (p->token->kind == TOKEN_LEFT_BRACKET) {
            parser_seek(p, parser_skip(p, token));
            break;
        }
        p->token--;
        return false;
    default:
        p->token--;
        return false;
    }
    return true;
}

static const Type *take_named_type(Parser *p) {
    if (parser_at(p, TOKEN_STRUCT) || parser_at(p, TOKEN_CLASS) || parser_at(p, TOKEN_UNION))
        return record_struct(p);
    if (parser_at(p, TOKEN_ENUM)) return record_enum(p);
    take_qualifier(p);
    if (!parser_at(p, TOKEN_NAME)) return NULL;
    Symbol *symbol = parser_lookup(p, p->token->text);
    if (symbol && symbol->kind == SYMBOL_TYPE) {
        if (!parser_failed(p)) p->token++;
        return symbol->type;
    }
    bool is_template = symbol && symbol->kind == SYMBOL_DEFINITION &&
                       !symbol->definition->is_function && p->token[1].kind == TOKEN_LESS;
    if (!is_template) return NULL;
    if (!parser_failed(p)) p->token++;
    return record_instance(p, symbol->definition);
}

static void no_type(Parser *p) {
    Str found = p->token->text.len ? p->token->text : token_spelling(p->token->kind);
    Str nearest = parser_at(p, TOKEN_NAME) ? parser_nearest(p, found) : (Str){0};
    if (nearest.len)
        parser_fail(p, p->token->place,
                    "`%.*s` is no type that is declared above: did you mean "
                    "`%.*s`?",
                    STR_ARG(found), STR_ARG(nearest));
    else
        parser_fail(p, p->token->place, "a type is missing before `%.*s`", STR_ARG(found));
}

// specifiers = (storage | qualifier | align | word+ | struct | enum | NAME)+
Specifiers declare_specifiers(Parser *p) {
    Specifiers s = {0};
    Words words = {0};
    bool any_word = false, is_const = false, is_volatile = false;
    uint32_t align = 0;
    while (!parser_failed(p))
        if (parser_accept(p, TOKEN_CONST))
            is_const = true;
        else if (parser_accept(p, TOKEN_VOLATILE))
            is_volatile = true;
        else if (parser_accept(p, TOKEN_ALIGN) || parser_accept(p, TOKEN_ALIGNAS))
            align = declare_alignment(p);
        else if (!s.type && !s.is_auto && take_word(p, &words))
            any_word = true;
        else if (parser_at(p, TOKEN_AUTO) && !s.type && !any_word)
            s.is_auto = true, p->token++;
        else if (take_storage(p, &s))
            continue;
        else if (s.type || any_word || s.is_auto)
            break;
        else if (!(s.type = take_named_type(p)))
            break;
    if (any_word) s.type = type_of_words(&words);
    if (s.is_auto) s.type = &type_int; // until the initial value is known
    if (!s.type) no_type(p), s.type = &type_int;
    s.type = type_qualified(p->arena, s.type, is_const || s.is_constexpr, is_volatile);
    if (align > s.type->align) {
        Type *aligned = ARENA_NEW(p->arena, 1, Type);
        *aligned = *s.type;
        aligned->align = align;
        s.type = aligned;
    }
    return s;
}

bool declare_starts(Parser *p) {
    switch (p->token->kind) {
    case TOKEN_LEFT_BRACKET:
        return p->token[1].kind == TOKEN_LEFT_BRACKET;
    case TOKEN_NAME:
        break;
    case TOKEN_ALIGN:
    case TOKEN_ALIGNAS:
    case TOKEN_AUTO:
    case TOKEN_BOOL:
    case TOKEN_CHAR:
    case TOKEN_CLASS:
    case TOKEN_CONST:
    case TOKEN_CONSTANT_SPACE:
    case TOKEN_CONSTEXPR:
    case TOKEN_DEVICE:
    case TOKEN_DOUBLE:
    case TOKEN_ENUM:
    case TOKEN_EXTERN:
    case TOKEN_FLOAT:
    case TOKEN_INT:
    case TOKEN_LONG:
    case TOKEN_NAMESPACE:
    case TOKEN_REGISTER:
    case TOKEN_SHARED:
    case TOKEN_SHORT:
    case TOKEN_SIGNED:
    case TOKEN_STATIC:
    case TOKEN_STATIC_ASSERT:
    case TOKEN_STRUCT:
    case TOKEN_TYPEDEF:
    case TOKEN_TYPENAME:
    case TOKEN_UNION:
    case TOKEN_UNSIGNED:
    case TOKEN_USING:
    case TOKEN_VOID:
    case TOKEN_VOLATILE:
        return true;
    default:
        return false;
    }
    const Token *name = p->token[1].kind == TOKEN_SCOPE ? p->token + 2 : p->token;
    Symbol *symbol = name->kind == TOKEN_NAME ? parser_lookup(p, name->text) : NULL;
    if (!symbol || symbol->kind == SYMBOL_TYPE) return symbol != NULL;
    return symbol->kind == SYMBOL_DEFINITION && !symbol->definition->is_function;
}

// --- declarators ---

// prefix = ("*" | "&" | "const" | "volatile" | "__restrict__")*
static const Type *pointers(Parser *p, const Type *type) {
    for (;;) {
        if (parser_at(p, TOKEN_LOGICAL_AND))
            parser_fail(p, p->token->place, "&& is not compiled here: write one &");
        if (type->is_reference && (parser_at(p, TOKEN_STAR) || parser_at(p, TOKEN_AND)))
            parser_fail(p, p->token->place,
                        "nothing can point to a reference: write * before the &");
        if (parser_accept(p, TOKEN_STAR))
            type = type_pointer(p->arena, type);
        else if (parser_accept(p, TOKEN_AND))
            type = type_reference(p->arena, type);
        else if (parser_accept(p, TOKEN_CONST))
            type = type_qualified(p->arena, type, true, false);
        else if (parser_accept(p, TOKEN_VOLATILE))
            type = type_qualified(p->arena, type, false, true);
        else if (parser_at(p, TOKEN_RESTRICT) || parser_at(p, TOKEN_RESTRICT_SHORT)) {
            Type *copy = ARENA_NEW(p->arena, 1, Type);
            *copy = *type;
            copy->is_restrict = true, type = copy, p->token++;
        } else
            return type;
    }
}

// suffix = ("[" size? "]")*
static const Type *arrays(Parser *p, const Type *type, bool *unsized) {
    Place place = p->token->place;
    if (!parser_accept(p, TOKEN_LEFT_BRACKET) || !parser_enter(p)) return type;
    int64_t count = 0;
    *unsized = parser_at(p, TOKEN_RIGHT_BRACKET);
    if (!*unsized) {
        count = expression_constant(p, "the size of an array");
        if (count <= 0) parser_fail(p, place, "an array needs at least one element");
    }
    parser_expect(p, TOKEN_RIGHT_BRACKET, "after the size of an array");
    bool inner = false;
    type = arrays(p, type, &inner);
    parser_leave(p);
    if (inner) parser_fail(p, place, "only the first size of an array can be left out");
    if ((uint64_t)count > UINT32_MAX || type->size * (uint64_t)count > UINT32_MAX)
        parser_fail(p, place, "this array is too large");
    if (type->kind == TYPE_VOID) parser_fail(p, place, "there are no arrays of void");
    return parser_failed(p) ? type : type_array(p->arena, type, (uint64_t)count);
}

// declarator = prefix (NAME | "(" declarator ")")? suffix
Declarator declare_declarator(Parser *p, const Type *base) {
    Declarator d = {.type = pointers(p, base), .place = p->token->place};
    bool nested = parser_at(p, TOKEN_LEFT_PAREN) &&
                  (p->token[1].kind == TOKEN_STAR || p->token[1].kind == TOKEN_AND);
    if (nested && parser_enter(p)) {
        const Token *open = p->token;
        parser_seek(p, parser_skip(p, open));
        if (parser_at(p, TOKEN_LEFT_PAREN))
            parser_fail(p, open->place,
                        "pointers to functions are not compiled here: call the "
                        "function by its name");
        const Type *type = arrays(p, d.type, &d.unsized);
        const Token *after = p->token;
        parser_seek(p, open + 1);
        Declarator inner = declare_declarator(p, type);
        parser_expect(p, TOKEN_RIGHT_PAREN, "after the declared name");
        parser_seek(p, after);
        parser_leave(p);
        return inner;
    }
    d.place = p->token->place;
    if (parser_accept(p, TOKEN_OPERATOR)) {
        Buf name = {.arena = p->arena};
        buf_format(&name, "operator%.*s", STR_ARG(p->token->text));
        d.name = buf_str(&name);
        if (!parser_failed(p)) p->token++;
        return d;
    }
    if (parser_at(p, TOKEN_NAME)) d.name = (p->token++)->text;
    d.type = arrays(p, d.type, &d.unsized);
    return d;
}

const Type *declare_type_name(Parser *p) {
    Specifiers s = declare_specifiers(p);
    Declarator d = declare_declarator(p, s.type);
    if (d.name.len) parser_fail(p, d.place, "a type without a name is needed here");
    return d.type;
}

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
    Variable *v = ARENA_NEW(p->arena, 1, Variable);
    *v = (Variable){.kind = kind, .name = name, .symbol = name, .type = type, .place = place};
    v->number = p->at.next_number++;
    Function *f = p->at.function;
    if (kind <= VARIABLE_SHARED && kind != VARIABLE_PARAMETER && f) {
        ARENA_GROW(p->arena, f->locals, f->local_count, p->at.local_capacity);
        f->locals[f->local_count++] = v;
    }
    if (kind < VARIABLE_SHARED) return v;
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

static void global_variable(Parser *p, const Specifiers *s, Declarator *d, Definition *definition) {
    Symbol *symbol = NULL;
    bool on_device = s->is_device || s->is_constant;
    if (s->is_managed)
        parser_fail(p, d->place, "__managed__ is not compiled here: write __device__");
    if (s->is_shared && (!s->is_extern || !d->unsized))
        parser_fail(p, d->place, "declare shared memory in the kernel that uses it");
    if (!on_device && !s->is_shared && is_number(d->type) && parser_accept(p, TOKEN_ASSIGN)) {
        Expression *value = expression_assignment(p);
        value = operator_convert(p, value, d->type, "this value");
        symbol = declare_constant(p, d->name, d->type, value);
    } else if (on_device) {
        const uint8_t *bytes = initial_bytes(p, &d->type, d->unsized);
        VariableKind kind = s->is_constant ? VARIABLE_CONSTANT : VARIABLE_DEVICE;
        symbol = parser_declare(p, SYMBOL_VARIABLE, d->name);
        symbol->variable = declare_variable(p, kind, d->name, d->type, d->place);
        symbol->variable->initial = bytes;
    } else if (s->is_shared) {
        symbol = parser_declare(p, SYMBOL_VARIABLE, d->name);
        symbol->variable = dynamic_array(p, d);
    }
    if (!symbol) symbol = parser_declare(p, SYMBOL_VARIABLE, d->name); // of the host
    if (!symbol->variable) skip_initial(p);
    symbol->definition = definition;
}

void declare_global(Parser *p, Definition *definition) {
    const Token *token = p->token;
    Names *names = p->scope;
    FunctionState at = p->at;
    p->scope = NULL, p->at = (FunctionState){0};
    definition->parsed = true;
    parser_seek(p, definition->start);
    size_t first = p->global_count;
    if (parser_enter(p) && !special(p)) {
        Specifiers s = declare_specifiers(p);
        if (s.is_typedef)
            typedefs(p, s.type);
        else if (!parser_accept(p, TOKEN_SEMICOLON)) {
            do {
                Declarator d = declare_declarator(p, s.type);
                global_variable(p, &s, &d, definition);
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
    if (s->is_extern != d->unsized)
        parser_fail(p, d->place,
                    s->is_extern ? "leave out the size, [], after extern __shared__"
                                 : "give the array a size, or write extern before "
                                   "__shared__");
    if (d->type->is_reference) parser_fail(p, d->place, "a reference cannot be __shared__");
    Variable *v = NULL;
    if (s->is_extern)
        v = dynamic_array(p, d);
    else {
        v = declare_variable(p, VARIABLE_SHARED, d->name, d->type, d->place);
        size_t same = 0; // of this name, in other blocks
        for (size_t i = 0; i + 1 < p->at.function->local_count; i++) {
            const Variable *other = p->at.function->locals[i];
            same += other->kind == VARIABLE_SHARED && str_equal(other->name, d->name);
        }
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
    type = type_qualified(p->arena, type, base->is_const || s->is_constexpr, base->is_volatile);
    if (reference) type = type_reference(p->arena, type);
    Variable *v = declare_variable(p, VARIABLE_LOCAL, d->name, type, d->place);
    parser_declare(p, SYMBOL_VARIABLE, d->name)->variable = v;
    Statement *statement = statement_new(p, STATEMENT_DECLARE, d->place);
    statement->variable = v;
    statement->expression = operator_convert(p, value, type, "this value");
    return statement;
}

static Statement *local_variable(Parser *p, const Specifiers *s, Declarator *d) {
    if (s->is_auto) return automatic(p, s, d);
    if (d->unsized && !parser_at(p, TOKEN_ASSIGN) && !parser_at(p, TOKEN_LEFT_BRACE))
        parser_fail(p, d->place, "give the array a size");
    if (d->type->is_reference && !parser_at(p, TOKEN_ASSIGN))
        parser_fail(p, d->place, "a reference needs a variable to refer to: write = and its name");
    if (is_number(d->type) && parser_at(p, TOKEN_ASSIGN) && p->token[1].kind != TOKEN_LEFT_BRACE) {
        p->token++;
        Expression *value = expression_assignment(p);
        value = operator_convert(p, value, d->type, "the initial value");
        if (declare_constant(p, d->name, d->type, value)) return NULL;
        if (s->is_constexpr)
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
    for (Symbol *s = p->scope->symbols; s; s = s->next)
        if (str_equal(s->name, d->name))
            parser_fail(p, d->place,
                        "`%.*s` is declared above in this block: give one of the two "
                        "another name",
                        STR_ARG(d->name));
}

// local = special | typedef | specifiers (declarator initial? ("," declarator initial?)*)? ";"
Statement *declare_local(Parser *p) {
    Statement *first = NULL, **tail = &first;
    if (special(p)) return NULL;
    Place place = p->token->place;
    Specifiers s = declare_specifiers(p);
    if (s.is_typedef) {
        typedefs(p, s.type);
        return NULL;
    }
    if (parser_accept(p, TOKEN_SEMICOLON)) return NULL;
    bool is_static = s.is_static && !s.is_shared && !s.type->is_const;
    if (is_static || s.is_device || s.is_constant)
        parser_fail(p, place,
                    "a variable that outlives the kernel is declared outside of functions, "
                    "with __device__");
    do {
        Declarator d = declare_declarator(p, s.type);
        require_name(p, &d);
        refuse_again(p, &d);
        if (parser_at(p, TOKEN_LEFT_PAREN) && p->token[1].kind == TOKEN_RIGHT_PAREN)
            parser_fail(p, d.place, "functions are declared outside of functions");
        if (s.is_shared)
            shared_variable(p, &s, &d);
        else
            *tail = local_variable(p, &s, &d);
        while (*tail) tail = &(*tail)->next;
    } while (parser_accept(p, TOKEN_COMMA));
    parser_expect(p, TOKEN_SEMICOLON, "after a declaration");
    return first;
}

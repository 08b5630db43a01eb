// Parses structs and enumerations.
#include "simt/cudac/parse/parser.h"

typedef struct {
    Member *at;
    size_t count, capacity;
} Members;

static void refuse_method(Parser *p, const Specifiers *s, const Declarator *d) {
    if (!parser_failed(p) && !d->name.len && !parser_at(p, TOKEN_LEFT_PAREN))
        parser_fail(p, p->token->place, "a member needs a name");
    if (parser_at(p, TOKEN_LEFT_PAREN))
        parser_fail(p, d->place,
                    "functions inside a struct are not compiled here: write a function "
                    "outside that takes the struct");
    if (parser_at(p, TOKEN_ASSIGN) || parser_at(p, TOKEN_LEFT_BRACE))
        parser_fail(p, p->token->place, "give members their values where a variable is declared");
    if (s->has[TOKEN_STATIC] || d->type->is_reference || d->unsized)
        parser_fail(p, d->place, "a member must be a plain variable here");
    if (d->type->kind == TYPE_VOID || (d->type->kind == TYPE_STRUCT && d->type->align == 0))
        parser_fail(p, d->place, "a member of type `%.*s` is not possible",
                    STR_ARG(type_name(p->arena, d->type)));
}

// member = specifiers declarator ("," declarator)* ";"
static void member(Parser *p, Type *type, Members *members) {
    Specifiers s = declare_specifiers(p);
    do {
        Declarator d = declare_declarator(p, s.type);
        refuse_method(p, &s, &d);
        if (parser_failed(p)) return;
        uint64_t align = d.type->align, at = (type->size + align - 1) / align * align;
        ARENA_GROW(p->arena, members->at, members->count, members->capacity);
        members->at[members->count++] = (Member){d.name, d.type, (uint32_t)at};
        type->size = at + d.type->size;
        if (type->size > UINT32_MAX) parser_fail(p, d.place, "this struct is too large");
        if (d.type->align > type->align) type->align = d.type->align;
    } while (parser_accept(p, TOKEN_COMMA));
    parser_expect(p, TOKEN_SEMICOLON, "after a member");
}

// After "{". The type has its name and is declared; it has no size until its members are known.
static void members_of(Parser *p, Type *type, uint32_t align, Place opened) {
    Members members = {0};
    while (parser_more(p, TOKEN_RIGHT_BRACE, opened))
        if (parser_at(p, TOKEN_NAME) && p->token[1].kind == TOKEN_COLON)
            p->token += 2; // public:
        else
            member(p, type, &members);
    if (align > type->align) type->align = align;
    if (!type->align) type->align = 1;
    type->size = (type->size + type->align - 1) / type->align * type->align;
    if (!type->size) type->size = 1;
    type->members = members.at ? members.at : ARENA_NEW(p->arena, 1, Member);
    type->count = members.count;
}

static Type *new_struct(Parser *p, Str name) {
    Type *type = ARENA_NEW(p->arena, 1, Type);
    *type = (Type){.kind = TYPE_STRUCT, .name = name};
    return type;
}

static void skip_bases(Parser *p) {
    if (parser_at(p, TOKEN_COLON))
        parser_fail(p, p->token->place,
                    "a struct that extends another is not compiled here: make "
                    "the other one a member");
}

// struct = "struct" align? NAME? "{" member* "}" | "struct" NAME
const Type *record_struct(Parser *p) {
    const Token *keyword = p->token++;
    if (keyword->kind == TOKEN_UNION)
        parser_fail(p, keyword->place,
                    "unions are not compiled here: write __float_as_int(x) and "
                    "the like");
    uint32_t align = 0;
    while (parser_accept(p, TOKEN_ALIGN) || parser_accept(p, TOKEN_ALIGNAS))
        align = declare_alignment(p);
    const Token *name = p->token;
    if (!parser_accept(p, TOKEN_NAME)) name = NULL;
    skip_bases(p);
    Place opened = p->token->place;
    if (parser_accept(p, TOKEN_LEFT_BRACE)) {
        Type *type = new_struct(p, name ? name->text : STR(""));
        if (name) parser_declare(p, SYMBOL_TYPE, name->text)->type = type;
        if (!parser_enter(p)) return type;
        members_of(p, type, align, opened);
        parser_leave(p);
        return type;
    }
    Symbol *symbol = name ? parser_lookup(p, name->text) : NULL;
    if (symbol && symbol->kind == SYMBOL_TYPE) return symbol->type;
    if (name)
        parser_fail(p, name->place, "`struct %.*s` is not defined above", STR_ARG(name->text));
    parser_fail(p, opened, "a struct needs its members, { ... }");
    return &type_int;
}

// The struct of a template, at its "<".
const Type *record_instance(Parser *p, Definition *definition) {
    Place place = p->token->place;
    TemplateArgument arguments[TEMPLATE_MOST];
    const Token *open = p->token, *close = template_close(open);
    if (!close || !template_arguments(p, definition, open + 1, NULL, 0, arguments)) {
        parser_fail(p, place, "this template needs its arguments, <...>");
        return &type_int;
    }
    parser_seek(p, close);
    for (Instance *i = definition->instances; i; i = i->next)
        if (template_same(i->arguments, arguments)) return i->type;
    Instance *instance = template_instance(p, definition, arguments);
    Type *type = new_struct(p, template_name(p, definition, arguments));
    instance->type = type;
    const Token *after = p->token;
    Names *names = p->scope;
    p->scope = template_scope(p, definition, arguments);
    parser_seek(p, definition->start);
    uint32_t align = 0;
    while (!parser_failed(p) && !parser_at(p, TOKEN_LEFT_BRACE)) {
        bool aligns = parser_at(p, TOKEN_ALIGN) || parser_at(p, TOKEN_ALIGNAS);
        p->token++;
        if (aligns) align = declare_alignment(p);
        skip_bases(p);
        if (parser_at(p, TOKEN_END)) parser_fail(p, place, "this template is no struct");
    }
    parser_declare(p, SYMBOL_TYPE, definition->name)->type = type;
    Place opened = p->token->place;
    if (parser_enter(p) && parser_accept(p, TOKEN_LEFT_BRACE)) members_of(p, type, align, opened);
    parser_leave(p);
    p->scope = names;
    parser_seek(p, after);
    return type;
}

// enumerators = NAME ("=" constant)? ("," NAME ("=" constant)?)* ","? "}"
static char enumerators(Parser *p, Place opened, const Type *type) {
    int64_t value = 0;
    char letter = 'i';
    while (parser_more(p, TOKEN_RIGHT_BRACE, opened)) {
        const Token *name = p->token;
        parser_expect(p, TOKEN_NAME, "in an enumeration");
        if (parser_accept(p, TOKEN_ASSIGN)) value = expression_constant(p, "an enumerator");
        char own = value > INT32_MAX ? (value > UINT32_MAX ? 'l' : 'j') : 'i';
        if (own != 'i') letter = own;
        if (type->letter != 'i') own = type->letter; // given by enum NAME : type
        Symbol *symbol = parser_declare(p, SYMBOL_CONSTANT, name->text);
        symbol->constant = operator_integer(p, value++, type_of_letter(own), name->place);
        if (!parser_at(p, TOKEN_RIGHT_BRACE)) parser_expect(p, TOKEN_COMMA, "between enumerators");
    }
    return letter;
}

// enum = "enum" NAME? (":" type)? "{" enumerators | "enum" NAME
const Type *record_enum(Parser *p) {
    Place place = (p->token++)->place;
    if (parser_at(p, TOKEN_CLASS) || parser_at(p, TOKEN_STRUCT))
        parser_fail(p, p->token->place, "write enum, without class");
    const Token *name = p->token;
    if (!parser_accept(p, TOKEN_NAME)) name = NULL;
    const Type *base = &type_int;
    if (parser_accept(p, TOKEN_COLON)) base = declare_specifiers(p).type;
    Place opened = p->token->place;
    if (parser_accept(p, TOKEN_LEFT_BRACE)) {
        char letter = enumerators(p, opened, base);
        Type *type = ARENA_NEW(p->arena, 1, Type);
        *type = *(base == &type_int ? type_of_letter(letter) : base);
        if (!name) return type;
        type->name = name->text;
        parser_declare(p, SYMBOL_TYPE, name->text)->type = type;
        return type;
    }
    Symbol *symbol = name ? parser_lookup(p, name->text) : NULL;
    if (symbol && symbol->kind == SYMBOL_TYPE) return symbol->type;
    parser_fail(p, place, "this enumeration needs its values, { ... }");
    return &type_int;
}

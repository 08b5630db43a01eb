// Parses the two parts of a declaration: specifiers, such as `static const float`, and declarators,
// such as `*rows[32]`.
#include "simt/cudac/parse/parser.h"

// --- specifiers ---

// What the words of a scalar type add up to.
typedef struct {
    int longs, shorts, chars, ints, is_signed, is_unsigned;
    char letter; // of void, bool, float, double; 0: an integer
} Words;

static bool take_word(Parser *p, Words *words) {
    static const struct {
        TokenKind kind;
        char letter;
    } whole[] = {{TOKEN_VOID, 'v'}, {TOKEN_BOOL, 'b'}, {TOKEN_FLOAT, 'f'}, {TOKEN_DOUBLE, 'd'}};
    TokenKind kind = p->token->kind;
    char letter = 0;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (kind == whole[i].kind) letter = whole[i].letter;
    int *count = kind == TOKEN_LONG       ? &words->longs
                 : kind == TOKEN_SHORT    ? &words->shorts
                 : kind == TOKEN_CHAR     ? &words->chars
                 : kind == TOKEN_INT      ? &words->ints
                 : kind == TOKEN_SIGNED   ? &words->is_signed
                 : kind == TOKEN_UNSIGNED ? &words->is_unsigned
                                          : NULL;
    if (!letter && !count) return false;
    int before = words->longs + words->shorts + words->chars + words->ints + words->is_signed +
                 words->is_unsigned;
    if (words->letter || (letter && before) || (count && *count > (kind == TOKEN_LONG)))
        parser_fail(p, p->token->place,
                    "`%.*s` does not go with the type before it: is a name or a "
                    "comma missing?",
                    STR_ARG(p->token->text));
    if (count)
        ++*count;
    else
        words->letter = letter;
    p->token += !parser_failed(p);
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
void declare_qualifier(Parser *p) {
    while (parser_at(p, TOKEN_NAME) && p->token[1].kind == TOKEN_SCOPE) {
        bool known = str_equal(p->token->text, STR("cooperative_groups"));
        for (size_t i = 0; i < p->group_count; i++)
            known |= str_equal(p->token->text, p->groups[i]);
        Symbol *type = p->token[2].kind == TOKEN_NAME ? parser_lookup(p, p->token[2].text) : NULL;
        known |= str_equal(p->token->text, STR("std")) && type && type->kind == SYMBOL_TYPE;
        if (known)
            parser_seek(p, p->token + 2);
        else if (builtin_has(p->token[2].text))
            parser_fail(p, p->token->place, "leave out `%.*s::` in a kernel",
                        STR_ARG(p->token->text));
        else
            parser_fail(p, p->token->place,
                        "`%.*s::` is not compiled here: write what you need as "
                        "a function with __device__",
                        STR_ARG(p->token->text));
    }
    if (parser_at(p, TOKEN_SCOPE)) p->token++;
}

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

// A word that is no type, such as `static`, or an attribute.
static bool take_word_of_storage(Parser *p, Specifiers *s) {
    const Token *token = p->token++;
    if (token->kind >= TOKEN_AUTO && token->kind <= TOKEN_VOLATILE) {
        s->has[token->kind] = true;
        if (token->kind == TOKEN_EXTERN) parser_accept(p, TOKEN_STRING);
    } else if (token->kind == TOKEN_LAUNCH_BOUNDS) {
        launch_bounds(p, s);
    } else if (token->kind == TOKEN_ATTRIBUTE && parser_at(p, TOKEN_LEFT_PAREN)) {
        parser_seek(p, parser_skip(p, p->token));
    } else if (token->kind == TOKEN_LEFT_BRACKET && parser_at(p, TOKEN_LEFT_BRACKET)) {
        parser_seek(p, parser_skip(p, token)); // [[maybe_unused]]
    } else {
        p->token--;
        return false;
    }
    return true;
}

static const Type *take_named_type(Parser *p) {
    if (parser_at(p, TOKEN_STRUCT) || parser_at(p, TOKEN_CLASS) || parser_at(p, TOKEN_UNION))
        return record_struct(p);
    if (parser_at(p, TOKEN_ENUM)) return record_enum(p);
    declare_qualifier(p);
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
    Place place = p->token->place;
    Str found = p->token->text.len ? p->token->text : token_spelling(p->token->kind);
    Str nearest = parser_at(p, TOKEN_NAME) ? parser_nearest(p, found) : (Str){0};
    Symbol *symbol = parser_globals(p, found);
    if (symbol && !parser_sees(p, symbol))
        parser_fail(p, place, "`%.*s` is declared only below: move it up", STR_ARG(found));
    else if (nearest.len)
        parser_fail(p, place, "`%.*s` is no type: did you mean `%.*s`?", STR_ARG(found),
                    STR_ARG(nearest));
    else
        parser_fail(p, place, "a type is missing before `%.*s`", STR_ARG(found));
}

// specifiers = (storage | align | word+ | struct | enum | NAME)+
Specifiers declare_specifiers(Parser *p) {
    Specifiers s = {0};
    Words words = {0};
    bool any_word = false;
    uint32_t align = 0;
    while (!parser_failed(p)) {
        bool typed = s.type || any_word || s.has[TOKEN_AUTO];
        bool again = p->token->kind >= TOKEN_AUTO && p->token->kind <= TOKEN_VOID;
        if (s.type && again && p->token[-1].kind == TOKEN_RIGHT_BRACE)
            parser_expect(p, TOKEN_SEMICOLON, "after the members");
        if (parser_accept(p, TOKEN_ALIGN) || parser_accept(p, TOKEN_ALIGNAS))
            align = declare_alignment(p);
        else if (!s.type && !s.has[TOKEN_AUTO] && take_word(p, &words))
            any_word = true;
        else if (take_word_of_storage(p, &s))
            continue;
        else if (typed || !(s.type = take_named_type(p)))
            break;
    }
    if (any_word) s.type = type_of_words(&words);
    if (s.has[TOKEN_AUTO]) s.type = &type_int; // until the initial value is known
    if (!s.type) no_type(p), s.type = &type_int;
    bool is_const = s.has[TOKEN_CONST] || s.has[TOKEN_CONSTEXPR];
    s.type = type_qualified(p->arena, s.type, is_const, s.has[TOKEN_VOLATILE]);
    if (align > s.type->align) {
        Type *aligned = ARENA_NEW(p->arena, 1, Type);
        *aligned = *s.type;
        aligned->align = align;
        s.type = aligned;
    }
    return s;
}

bool declare_starts(Parser *p) {
    if (parser_at(p, TOKEN_LEFT_BRACKET)) return p->token[1].kind == TOKEN_LEFT_BRACKET;
    if (!parser_at(p, TOKEN_NAME))
        return p->token->kind >= TOKEN_AUTO && p->token->kind <= TOKEN_VOID;
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

// declarator = prefix (NAME | "(" declarator ")")? (suffix | "(" parameters)
Declarator declare_declarator(Parser *p, const Type *base) {
    Declarator d = {.type = pointers(p, base), .place = p->token->place};
    bool nested = parser_at(p, TOKEN_LEFT_PAREN) &&
                  (p->token[1].kind == TOKEN_STAR || p->token[1].kind == TOKEN_AND);
    if (nested && parser_enter(p)) {
        const Token *open = p->token;
        parser_seek(p, parser_skip(p, open));
        const Type *type = parser_accept(p, TOKEN_LEFT_PAREN) ? function_parameters(p, d.type)
                                                              : arrays(p, d.type, &d.unsized);
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

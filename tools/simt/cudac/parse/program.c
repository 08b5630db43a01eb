// Notes the declarations of namespace scope, and finds the kernels to compile. The host's functions
// are never parsed; only the names of kernels and templates in them count.
#include "simt/cudac/parse/program.h"

#include "simt/cudac/parse/parser.h"

// --- declarations of namespace scope ---

static void note(Parser *p, Definition *definition, Str name) {
    Symbol *newest = parser_globals(p, name);
    if (newest && newest->definition == definition) return; // typedef struct S {} S;
    parser_declare(p, SYMBOL_DEFINITION, name)->definition = definition;
}

// The enumerators, from "{" on.
static void note_enumerators(Parser *p, Definition *definition, const Token *open) {
    for (const Token *token = open; token->kind != TOKEN_RIGHT_BRACE && token->kind != TOKEN_END;
         token++) {
        bool first = token->kind == TOKEN_LEFT_BRACE || token->kind == TOKEN_COMMA;
        if (first && token[1].kind == TOKEN_NAME) note(p, definition, token[1].text);
        if (token->kind == TOKEN_LEFT_PAREN) token = parser_skip(p, token) - 1;
    }
}

// Skips an initial value, up to "," or ";".
static void skip_value(Parser *p) {
    while (!parser_at(p, TOKEN_COMMA) && !parser_at(p, TOKEN_SEMICOLON) &&
           !parser_at(p, TOKEN_END)) {
        bool opens = parser_at(p, TOKEN_LEFT_PAREN) || parser_at(p, TOKEN_LEFT_BRACE) ||
                     parser_at(p, TOKEN_LEFT_BRACKET);
        parser_seek(p, opens ? parser_skip(p, p->token) : p->token + 1);
    }
}

// The rest of a function, after its name: "(" parameters ")" ... ("{" body "}" | ";")
static void note_function(Parser *p, Definition *definition, Str name) {
    definition->is_function = true, definition->name = name;
    Place place = p->token->place;
    parser_seek(p, parser_skip(p, p->token));
    while (!parser_at(p, TOKEN_LEFT_BRACE) && !parser_at(p, TOKEN_SEMICOLON) &&
           !parser_at(p, TOKEN_END))
        if (parser_at(p, TOKEN_RIGHT_PAREN))
            parser_fail(p, p->token->place, "there is no ( for this ): remove it");
        else
            p->token++;
    if (parser_at(p, TOKEN_END))
        parser_fail(p, place, "the body of this function, { ... }, is missing");
    if (parser_at(p, TOKEN_LEFT_BRACE)) {
        definition->body = p->token;
        Refusal none = *p->refusal;
        const Token *end = parser_skip(p, p->token);
        if (parser_failed(p)) // an error in the body may be nearer to the mistake
            p->unclosed = definition, *p->refusal = none, end = p->source_end;
        parser_seek(p, end);
    } else
        parser_accept(p, TOKEN_SEMICOLON);
    note(p, definition, name);
}

static bool takes_parens(TokenKind kind) {
    return kind == TOKEN_LAUNCH_BOUNDS || kind == TOKEN_ALIGN || kind == TOKEN_ALIGNAS ||
           kind == TOKEN_ATTRIBUTE;
}

static void refuse_statement(Parser *p) {
    switch (p->token->kind) {
    case TOKEN_IF:
    case TOKEN_ELSE:
    case TOKEN_FOR:
    case TOKEN_WHILE:
    case TOKEN_DO:
    case TOKEN_SWITCH:
    case TOKEN_RETURN:
        parser_fail(p, p->token->place,
                    "`%.*s` stands outside of any function: is there a } too "
                    "many above?",
                    STR_ARG(p->token->text));
        break;
    case TOKEN_NAME:
        if (p->token[1].kind == TOKEN_LEFT_BRACKET || p->token[1].kind == TOKEN_DOT ||
            p->token[1].kind == TOKEN_ARROW || p->token[1].kind == TOKEN_LEFT_PAREN ||
            (p->token[1].kind >= TOKEN_SHIFT_LEFT && p->token[1].kind <= TOKEN_XOR_ASSIGN))
            parser_fail(p, p->token->place,
                        "this statement is outside of any function: is there a "
                        "} too many above?");
        break;
    case TOKEN_RIGHT_BRACE:
        parser_fail(p, p->token->place, "there is no { for this }: remove it");
        break;
    default:
        if (p->token->kind >= TOKEN_LAUNCH_OPEN && p->token->kind <= TOKEN_DOT &&
            p->token->kind != TOKEN_SCOPE && p->token[1].kind != TOKEN_LEFT_BRACKET)
            parser_fail(p, p->token->place, "no declaration begins with `%.*s`: remove it",
                        STR_ARG(p->token->text));
    }
}

static void skip_group(Parser *p) { parser_seek(p, parser_skip(p, p->token)); }

// "(" after a name: the parameters of a function, or a pointer such as int (*rows)[32]. Returns the
// name that is declared; NULL: the function has ended.
static const Token *note_parens(Parser *p, Definition *definition, const Token *name) {
    const Token *open = p->token;
    if (open[1].kind == TOKEN_STAR) {
        skip_group(p);
        if (parser_at(p, TOKEN_LEFT_PAREN)) skip_group(p);
        for (name = open; name->kind != TOKEN_NAME && name + 1 < p->token;) name++;
        return name;
    }
    Buf function = {.arena = p->arena};
    if (name->kind == TOKEN_OPERATOR) buf_add(&function, STR("operator"));
    buf_add(&function, name->kind == TOKEN_OPERATOR ? name[1].text : name->text);
    note_function(p, definition, buf_str(&function));
    return NULL;
}

// One word or group of a declaration. `record` is the word struct or enum before it.
static const Token *note_part(Parser *p, Definition *definition, const Token *name,
                              const Token **record) {
    const Token *token = p->token;
    bool is_name = token->kind == TOKEN_NAME || token->kind == TOKEN_OPERATOR;
    if (takes_parens(token->kind) && token[1].kind == TOKEN_LEFT_PAREN) {
        parser_seek(p, parser_skip(p, token + 1));
    } else if (token->kind == TOKEN_LEFT_BRACE && *record) {
        if (name > *record) note(p, definition, definition->name = name->text);
        if ((*record)->kind == TOKEN_ENUM) note_enumerators(p, definition, token);
        *record = NULL;
        skip_group(p);
    } else if (token->kind == TOKEN_ASSIGN) {
        if (name) note(p, definition, name->text);
        skip_value(p);
    } else if (token->kind == TOKEN_LEFT_BRACE || token->kind == TOKEN_LEFT_BRACKET ||
               token->kind == TOKEN_LEFT_PAREN) {
        skip_group(p);
    } else if (is_name && token[1].kind == TOKEN_LESS && template_close(token + 1)) {
        parser_seek(p, template_close(token + 1));
    } else {
        if (token->kind == TOKEN_RIGHT_BRACE) refuse_statement(p);
        p->token += !parser_failed(p);
    }
    return is_name ? token : name;
}

// One declaration up to its ";" or the end of its body.
static void note_declaration(Parser *p, Definition *definition) {
    const Token *name = NULL, *record = NULL, *start = p->token;
    definition->start = start;
    refuse_statement(p);
    if (start->kind == TOKEN_USING) name = start + 1;
    while (!parser_accept(p, TOKEN_SEMICOLON) && !parser_failed(p)) {
        TokenKind kind = p->token->kind;
        definition->is_kernel |= kind == TOKEN_GLOBAL;
        definition->is_device |= kind == TOKEN_DEVICE;
        if (kind == TOKEN_STRUCT || kind == TOKEN_CLASS || kind == TOKEN_UNION ||
            kind == TOKEN_ENUM)
            record = p->token;
        if (kind == TOKEN_END)
            parser_fail(p, start->place, "a `;` is missing after this declaration");
        else if (kind == TOKEN_LEFT_PAREN &&
                 (p->token[1].kind == TOKEN_STAR || (name && start->kind != TOKEN_TYPEDEF))) {
            if (!(name = note_parens(p, definition, name))) return;
        } else
            name = note_part(p, definition, name, &record);
        if (name && parser_at(p, TOKEN_COMMA)) note(p, definition, name->text);
    }
    if (name) note(p, definition, name->text);
}

// --- what to compile ---

static void add_definition(Parser *p, Definition *definition) {
    ARENA_GROW(p->arena, p->definitions, p->definition_count, p->definition_capacity);
    p->definitions[p->definition_count++] = definition;
}

// after "template": "<" parameters ">" declaration | declaration of an instance
static void note_template(Parser *p, bool is_c) {
    Definition *definition = ARENA_NEW(p->arena, 1, Definition);
    definition->is_c = is_c;
    const Token *open = p->token;
    if (!parser_accept(p, TOKEN_LESS)) { // its name is found with the names in host code
        definition->start = p->token;
        skip_value(p);
        while (!parser_accept(p, TOKEN_SEMICOLON) && !parser_at(p, TOKEN_END)) p->token++;
    } else {
        const Token *close = template_close(open);
        if (!close) parser_fail(p, open->place, "this < is never closed: add >");
        definition->parameters = open + 1;
        parser_seek(p, close ? close : p->end);
        note_declaration(p, definition);
        bool special = open[1].kind == TOKEN_GREATER;
        if (special && (definition->is_kernel || definition->is_device))
            parser_fail(p, open->place,
                        "a template for some arguments only is not compiled here: "
                        "write if (sizeof(T) == ...) inside the template");
    }
    definition->end = p->token;
    add_definition(p, definition);
}

// declarations = (";" | "namespace" ... | "extern" TEXT "{" | "template" ... | declaration)*
static void note_all(Parser *p) {
    int braces = 0; // of namespace {} and extern "C" {}
    while (!parser_at(p, TOKEN_END) && !parser_failed(p)) {
        const Token *token = p->token;
        bool is_c = token->kind == TOKEN_EXTERN && token[1].kind == TOKEN_STRING;
        if (parser_accept(p, TOKEN_SEMICOLON) || parser_accept(p, TOKEN_UNROLL)) continue;
        if (braces && parser_accept(p, TOKEN_RIGHT_BRACE)) {
            braces--;
        } else if (is_c && token[2].kind == TOKEN_LEFT_BRACE) {
            p->token += 3, braces++;
        } else if (parser_accept(p, TOKEN_NAMESPACE)) {
            declare_namespace(p, p->token);
            if (parser_accept(p, TOKEN_LEFT_BRACE))
                braces++;
            else
                skip_value(p);
        } else if (token->kind == TOKEN_STATIC_ASSERT ||
                   (token->kind == TOKEN_USING && token[1].kind == TOKEN_NAMESPACE)) {
            skip_value(p);
            while (parser_accept(p, TOKEN_COMMA)) skip_value(p);
        } else if (parser_accept(p, TOKEN_TEMPLATE)) {
            note_template(p, is_c);
        } else {
            Definition *definition = ARENA_NEW(p->arena, 1, Definition);
            definition->is_c = is_c;
            note_declaration(p, definition);
            definition->end = p->token;
            add_definition(p, definition);
        }
    }
}

static void compile(Parser *p, Definition *definition, const TemplateArgument *arguments) {
    Place place = definition->start->place;
    Instance *instance = function_instance(p, definition, arguments);
    function_body(p, instance, place);
}

static void compile_unclosed(Parser *p) {
    Definition *definition = p->unclosed;
    bool parses = (definition->is_kernel || definition->is_device) && !definition->parameters;
    if (parses) compile(p, definition, NULL);
    parser_fail(p, definition->body->place, "this bracket is never closed: add `}`");
}

// Functions that no kernel calls: nvcc reports the errors in them, too. Those of included files may
// have what this compiler lacks.
static void compile_unused(Parser *p) {
    for (size_t i = 0; i < p->definition_count && !parser_failed(p); i++) {
        Definition *definition = p->definitions[i];
        bool own = str_equal(definition->start->place.file, p->source_end->place.file);
        if (own && definition->is_device && definition->body && !definition->parameters)
            compile(p, definition, NULL);
    }
}

static void scan(Parser *p, const Token *from, const Token *end);

// A template of a function that host code names with arguments. Errors in them do not count: they
// may depend on the parameters of the host's template.
static void named_instance(Parser *p, Definition *definition, const Token *name) {
    TemplateArgument arguments[TEMPLATE_MOST];
    Refusal refusal = *p->refusal;
    const Token *token = p->token;
    int depth = p->depth;
    p->token = name;
    bool known = template_arguments(p, definition, name + 2, NULL, 0, arguments);
    *p->refusal = refusal, p->token = token, p->depth = depth, p->in_template = false;
    if (!known) return;
    if (definition->is_kernel) {
        compile(p, definition, arguments);
        return;
    }
    for (Instance *i = definition->instances; i; i = i->next)
        if (template_same(i->arguments, arguments)) return;
    template_instance(p, definition, arguments);
    Names *names = p->scope;
    p->scope = template_scope(p, definition, arguments);
    if (parser_enter(p)) scan(p, definition->start, definition->end);
    parser_leave(p);
    p->scope = names;
}

// Finds the names of templates in host code.
static void scan(Parser *p, const Token *from, const Token *end) {
    for (const Token *token = from; token < end && !parser_failed(p); token++) {
        if (token->kind != TOKEN_NAME || token[1].kind != TOKEN_LESS) continue;
        for (Symbol *s = parser_globals(p, token->text); s; s = s->next) {
            Definition *definition = s->definition;
            if (s->kind != SYMBOL_DEFINITION || !definition->is_function ||
                !definition->parameters || (definition->is_device && !definition->is_kernel) ||
                !definition->body)
                continue;
            named_instance(p, definition, token);
            break;
        }
    }
}

static void compile_kernels(Parser *p) {
    for (size_t i = 0; i < p->definition_count && !parser_failed(p); i++) {
        Definition *definition = p->definitions[i];
        if (definition->is_kernel && definition->body && !definition->parameters)
            compile(p, definition, NULL);
    }
}

static void compile_all(Parser *p) {
    compile_kernels(p);
    for (size_t i = 0; i < p->definition_count && !parser_failed(p); i++) {
        const Definition *definition = p->definitions[i];
        bool instance = !definition->is_function; // or a variable, which may name kernels
        bool host = !definition->is_kernel && !definition->is_device && !definition->parameters;
        if (host || instance) scan(p, definition->start, definition->end);
    }
    compile_unused(p);
}

// request = NAME ("<" arguments ">")?
static void compile_request(Parser *p) {
    const Token *name = p->token;
    TemplateArgument arguments[TEMPLATE_MOST];
    Definition *definition = NULL;
    bool is_template = name->kind == TOKEN_NAME && name[1].kind == TOKEN_LESS;
    for (Symbol *s = parser_globals(p, name->text); s && !definition; s = s->next)
        if (s->kind == SYMBOL_DEFINITION && s->definition->is_kernel && s->definition->body &&
            !s->definition->parameters == !is_template)
            definition = s->definition;
    if (!definition)
        parser_fail(p, name->place, "the source has no %s of this name, `%.*s`",
                    is_template ? "template of a kernel" : "kernel", STR_ARG(name->text));
    else if (!is_template)
        compile(p, definition, NULL);
    else if (template_arguments(p, definition, name + 2, NULL, 0, arguments))
        compile(p, definition, arguments);
    else
        parser_fail(p, name->place, "this kernel needs more template arguments");
    while (!parser_at(p, TOKEN_END)) p->token++;
}

// launch = assignment, whose value is the host function of a stage
static Function *compile_launch(Parser *p) {
    Function host = {.is_host = true};
    p->at = (FunctionState){.function = &host};
    const Expression *e = expression_assignment(p);
    p->at = (FunctionState){0};
    if (e->kind != EXPRESSION_FUNCTION)
        parser_fail(p, e->place, "a row of `stages` needs a function that launches its kernel");
    return e->function;
}

// The next column of a row, whose first token is returned; NULL: it was the last one.
static const Token *next_column(Parser *p) {
    while (!parser_at(p, TOKEN_COMMA) && !parser_at(p, TOKEN_RIGHT_BRACE) &&
           !parser_at(p, TOKEN_END)) {
        const Token *close = parser_at(p, TOKEN_LESS) ? template_close(p->token) : NULL;
        if (parser_at(p, TOKEN_LEFT_PAREN)) close = parser_skip(p, p->token);
        parser_seek(p, close ? close : p->token + 1);
    }
    return parser_accept(p, TOKEN_COMMA) && !parser_at(p, TOKEN_RIGHT_BRACE) ? p->token : NULL;
}

static bool has_text(const Token *token, Str text) { return token && str_equal(token->text, text); }

static Str function_of(const Token *column) {
    bool none = !column || (column->kind == TOKEN_INTEGER && !column->integer);
    return none ? STR("") : column->text;
}

// row = "{" TEXT "," launch ("," column)* "}", after the "{"
static Stage *stage_row(Parser *p) {
    enum { LAUNCH, NOTE, BLOCK, ELEMENT, MODE, SWEEP, SIZES, INPUT, CHECK, HALF, COLUMNS };
    const Token *columns[COLUMNS] = {NULL};
    Stage *stage = ARENA_NEW(p->arena, 1, Stage);
    stage->place = p->token->place;
    for (int k = 0; k < COLUMNS && (columns[k] = next_column(p)); k++) continue;
    if (columns[BLOCK] && columns[BLOCK]->kind == TOKEN_INTEGER)
        stage->block = (uint32_t)columns[BLOCK]->integer;
    stage->element = columns[ELEMENT] ? columns[ELEMENT]->text : STR("FLOAT");
    stage->input = function_of(columns[INPUT]);
    stage->check = function_of(columns[CHECK]);
    stage->half_as_many = has_text(columns[HALF], STR("true"));
    parser_seek(p, columns[LAUNCH]);
    stage->launch = columns[LAUNCH] ? compile_launch(p) : NULL;
    return stage;
}

// Compiles the row of this name of the table: "stages" "[" "]" "=" "{" (row ",")* "}"
static void compile_stage(Parser *p, Str name) {
    Symbol *table = parser_globals(p, STR("stages"));
    const Token *token = table && table->definition ? table->definition->start : p->end;
    while (token->kind != TOKEN_ASSIGN && token < p->end) token++;
    if (token < p->end) token++; // the "{" of the table
    for (token++; token < p->end && token->kind == TOKEN_LEFT_BRACE; token++) {
        if (token[1].kind == TOKEN_STRING && str_equal(token[1].value, name)) {
            parser_seek(p, token + 1);
            p->tree->stage = stage_row(p);
            return;
        }
        token = parser_skip(p, token);
    }
    parser_fail(p, p->end->place, "the table `stages` has no row `%.*s`", STR_ARG(name));
}

static void compile_main(Parser *p) {
    const Symbol *found = parser_globals(p, STR("main"));
    Definition *definition = found ? found->definition : NULL;
    if (definition && definition->is_function && !definition->parameters) {
        p->tree->main =
            function_body(p, function_instance(p, definition, NULL), definition->start->place);
    } else {
        parser_fail(p, p->source_end->place, "the program has no function `main`");
        p->refusal->undeclared = STR("main");
    }
}

static void start(Parser *p, const TokenList *tokens) {
    p->begin = p->token = tokens->at, p->end = &tokens->at[tokens->count - 1];
    p->names.arena = p->arena;
    parser_declare(p, SYMBOL_TYPE, STR("__half"))->type = type_of_letter('D');
    p->source_end = p->begin;
    while (p->source_end->kind != TOKEN_END) p->source_end++;
    note_all(p);
    if (p->unclosed) compile_unclosed(p);
}

const Tree *program_parse_main(Arena *arena, const TokenList *tokens, Refusal *refusal) {
    Tree *tree = ARENA_NEW(arena, 1, Tree);
    Parser p = {.arena = arena, .refusal = refusal, .tree = tree};
    start(&p, tokens);
    compile_kernels(&p);
    if (!parser_failed(&p)) compile_main(&p);
    compile_unused(&p);
    return parser_failed(&p) ? NULL : tree;
}

const Tree *program_parse_stage(Arena *arena, const TokenList *tokens, Str stage,
                                Refusal *refusal) {
    Tree *tree = ARENA_NEW(arena, 1, Tree);
    Parser p = {.arena = arena, .refusal = refusal, .tree = tree};
    start(&p, tokens);
    if (!parser_failed(&p)) compile_stage(&p, stage);
    compile_unused(&p);
    return parser_failed(&p) ? NULL : tree;
}

const Tree *program_parse(Arena *arena, const TokenList *tokens, Refusal *refusal) {
    Tree *tree = ARENA_NEW(arena, 1, Tree);
    Parser p = {.arena = arena, .refusal = refusal, .tree = tree};
    start(&p, tokens);
    if (p.token == p.end) compile_all(&p);
    while (p.token < p.end && !parser_failed(&p)) {
        p.token++;
        compile_request(&p);
    }
    return parser_failed(&p) ? NULL : tree;
}

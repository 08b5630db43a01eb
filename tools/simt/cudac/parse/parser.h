// Parser: what the files of the parser share. At namespace scope the parser only notes where each
// declaration begins and ends; it parses one when a kernel needs it. After the first error, the
// parser remains at a TOKEN_END, so every loop ends, and expressions are zeros.
#ifndef CUDAC_PARSER_H
#define CUDAC_PARSER_H

#include "base/map.h"
#include "simt/cudac/parse/token.h"
#include "simt/cudac/parse/type.h"

typedef struct Symbol Symbol;
typedef struct Definition Definition;
typedef struct Instance Instance;

// --- names ---

typedef enum {
    SYMBOL_VARIABLE,
    SYMBOL_CONSTANT, // an enumerator, a constexpr, a template's argument
    SYMBOL_TYPE,
    SYMBOL_DEFINITION, // of namespace scope: a function, a template, or what is not yet parsed
} SymbolKind;

struct Symbol {
    SymbolKind kind;
    Str name;
    Symbol *next; // declared before: in the same block, or of the same name at namespace scope
    const Type *type;
    Variable *variable;
    const Expression *constant;
    Definition *definition;
};

typedef struct Names Names;
struct Names {
    Names *outer;
    Symbol *symbols;    // newest first
    bool is_parameters; // of a function; names of its outermost block differ from these
};

// A template's parameters, and their values in an instance.
typedef struct {
    Str name;
    const Type *type;      // of a value; NULL: the parameter is a type
    const Token *fallback; // the tokens of its default, or NULL
} TemplateParameter;
typedef struct {
    const Type *type; // NULL until it is known; of a value: its type
    bool is_value;
    int64_t value;
} TemplateArgument;

// What is known while a function is parsed.
typedef struct {
    Function *function;
    size_t local_capacity;
    uint32_t next_number;
    int loops, switches; // around this place
    const Type *switch_type;
} FunctionState;

// A declaration of namespace scope.
struct Definition {
    Str name;
    const Token *start, *end; // after `template <...>`
    const Token *parameters;  // of a template: after `template <`; NULL: no template
    const Token *body;        // of a function: its {, or NULL
    bool is_function, is_kernel, is_device, is_c;
    bool parsed;         // or being parsed; not for functions and templates
    Instance *instances; // of a function or a template, newest first
    Instance *pattern;   // of a function template, with its parameters in place of arguments
};

// A function, or a struct or function made from a template.
struct Instance {
    Instance *next;
    Definition *definition;
    const TemplateArgument *arguments;
    const Type *type; // of a struct
    Function *function;
    const Token **fallbacks; // the default value of each parameter, or NULL
    FunctionState at;        // after the parameters
    bool is_parsed, is_parsing;
};

typedef struct {
    Arena *arena;
    Refusal *refusal;
    const Token *token;              // the next one
    const Token *begin, *source_end; // of the source; *source_end is a TOKEN_END
    const Token *end;                // of the whole source; *end is a TOKEN_END
    Map names;                       // of namespace scope: index in globals, plus 1
    Symbol **globals;
    size_t global_count, global_capacity;
    Definition **definitions; // in the order of the source
    Definition *unclosed;     // a function whose body has no end, or NULL
    size_t definition_count, definition_capacity;
    Names *scope; // NULL: namespace scope
    FunctionState at;
    bool in_template; // a > ends the expression
    Str groups[4];    // names of namespaces that stand for cooperative_groups
    size_t group_count;
    Tree *tree;
    size_t function_capacity, variable_capacity;
    int depth;
} Parser;

// --- parser.c: tokens, errors and scopes ---

bool parser_failed(const Parser *p);
void parser_fail(Parser *p, Place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool parser_at(const Parser *p, TokenKind kind);
bool parser_accept(Parser *p, TokenKind kind);
void parser_expect(Parser *p, TokenKind kind, const char *where); // "after ..."
// Whether a list goes on: takes `close` and returns false at its end, and after an error.
bool parser_more(Parser *p, TokenKind close, Place opened);
void parser_seek(Parser *p, const Token *token); // does nothing after an error
bool parser_enter(Parser *p);                    // false, and an error, if nesting is too deep
void parser_leave(Parser *p);
const Token *parser_skip(Parser *p, const Token *open); // after the bracket that closes this one
void parser_push_scope(Parser *p, Names *scope);
void parser_pop_scope(Parser *p);
Symbol *parser_declare(Parser *p, SymbolKind kind, Str name);
Symbol *parser_lookup(Parser *p, Str name);  // parses a definition if needed; NULL: not declared
Symbol *parser_globals(Parser *p, Str name); // the newest of namespace scope, seen or not
bool parser_sees(const Parser *p, const Symbol *symbol); // whether it is declared above
Str parser_nearest(Parser *p, Str name); // a declared name that looks like it, or empty

// --- declare.c, record.c: declarations ---

typedef struct {
    const Type *type;
    bool has[TOKEN_KINDS]; // TOKEN_STATIC ...: whether the word is among them
    uint32_t max_threads, min_blocks;
} Specifiers;
typedef struct {
    const Type *type;
    Str name;
    Place place;
    bool unsized; // an array [] whose size follows from its initial value
} Declarator;

bool declare_starts(Parser *p); // whether a declaration, or a type, begins here
Specifiers declare_specifiers(Parser *p);
Declarator declare_declarator(Parser *p, const Type *base);
const Type *declare_type_name(Parser *p); // as in a cast
void declare_global(Parser *p, Definition *definition);
Statement *declare_local(Parser *p); // a list of statements
Variable *declare_variable(Parser *p, VariableKind kind, Str name, const Type *type, Place place);
void declare_qualifier(Parser *p); // skips `cooperative_groups::` and the like
uint32_t declare_alignment(Parser *p);
void declare_namespace(Parser *p, const Token *name); // after `namespace`
// A constant symbol with the value as this type; NULL: the value is not constant.
Symbol *declare_constant(Parser *p, Str name, const Type *type, const Expression *value);
Variable *declare_temporary(Parser *p, const Type *type, Place place);
const Type *record_struct(Parser *p);
const Type *record_enum(Parser *p);
const Type *record_instance(Parser *p, Definition *definition);

// --- initial.c: initial values ---

// Parses `= value`, `= {...}`, `(value)` or `{...}` for a new variable, and returns its statements,
// the first of which declares it.
Statement *initial_statements(Parser *p, Variable *variable, bool unsized);
// T{...}, and {...} where a value of type T is expected.
Expression *initial_braces(Parser *p, const Type *type);
// The bytes of a variable of namespace scope.
const uint8_t *initial_bytes(Parser *p, const Type **type, bool unsized);

// --- expression.c, operator.c, constant.c: expressions ---

Expression *expression_comma(Parser *p);
Expression *expression_assignment(Parser *p);
int64_t expression_constant(Parser *p, const char *what);
// The value of the expression of #if; the tokens end with a TOKEN_END.
int64_t expression_condition(Arena *arena, const TokenList *tokens, Refusal *refusal);
// How tightly a binary operator binds, from 1 for || to 10 for *; 0: the token is none.
int expression_precedence(TokenKind kind);

Expression *operator_new(Parser *p, ExpressionKind kind, const Type *type, Place place);
Expression *operator_zero(Parser *p, Place place); // after an error
Expression *operator_integer(Parser *p, int64_t value, const Type *type, Place place);
Expression *operator_variable(Parser *p, Variable *variable, Place place);
Expression *operator_value(Parser *p, Expression *e); // an array becomes a pointer
Expression *operator_cast(Parser *p, Expression *e, const Type *type);
Expression *operator_convert(Parser *p, Expression *e, const Type *type, const char *what);
Expression *operator_condition(Parser *p, Expression *e);
Expression *operator_bind(Parser *p, Expression *e, const Type *type); // to a reference
Expression *operator_binary(Parser *p, TokenKind kind, Expression *a, Expression *b, Place place);
Expression *operator_unary(Parser *p, TokenKind kind, Expression *e, Place place);
Expression *operator_assign(Parser *p, TokenKind kind, Expression *to, Expression *e, Place place);
Expression *operator_step_after(Parser *p, TokenKind kind, Expression *to, Place place); // x++
Expression *operator_comma(Parser *p, Expression *a, Expression *b);
Expression *operator_conditional(Parser *p, Expression *condition, Expression *a, Expression *b,
                                 Place place);
Expression *operator_dereference(Parser *p, Expression *e, Place place);
Expression *operator_member(Parser *p, Expression *e, Str name, Place place);
bool operator_is_lvalue(const Expression *e);
// 0: the same type; 1: a promotion; 2: a conversion; -1: cannot be converted.
int operator_conversion(Parser *p, const Expression *e, const Type *type);

bool constant_integer(const Expression *e, int64_t *value);
bool constant_floating(const Expression *e, double *value); // also of an integer

// --- call.c, builtin.c: calls ---

// A call of this name, at its "(" or "<"; in host code also the function as a value.
Expression *call_named(Parser *p, const Token *name);
Expression **call_arguments(Parser *p, size_t *count); // after the "(", takes the ")"
// A call of an operator that the program defines; NULL: there is none.
Expression *call_operator(Parser *p, Str operator, Expression * a, Expression *b, Place place);
Expression *call_pointer(Parser *p, Expression *pointer, Place place); // at its "("
// A call of the CUDA runtime or of exercise() in host code, at its "("; NULL: it is not one.
Expression *call_host(Parser *p, const Token *name);
bool call_is_in_host(const Parser *p); // whether a function of the host is being parsed
Expression *builtin_call(Parser *p, const Token *name); // at its "("; NULL: no such function
Expression *builtin_name(Parser *p, const Token *name); // threadIdx ...; NULL: no such variable
Expression *builtin_method(Parser *p, Expression *group, Str name, Place place);
bool builtin_has(Str name);
Str builtin_nearest(Str name, size_t *edits);                 // or empty
Statement *assembly_statement(Parser *p, const Token *token); // after the word asm

// --- statement.c, function.c, template.c, mangle.c ---

Statement *statement_block(Parser *p); // after the "{"
Statement *statement_new(Parser *p, StatementKind kind, Place place);
Statement *statement_of(Parser *p, Expression *e);

// The instance of a function with these arguments (NULL: it is no template), with its signature.
Instance *function_instance(Parser *p, Definition *definition, const TemplateArgument *arguments);
Instance *function_pattern(Parser *p, Definition *definition); // of a template
// The type of a function with this result, of which a pointer is declared: after the "(".
const Type *function_parameters(Parser *p, const Type *result);
// Parses the body of an instance, once, from its definition. NULL: it has none, or an error.
Function *function_body(Parser *p, Instance *instance, Place place);

// The parameters of a template; at most `most`.
size_t template_parameters(Parser *p, Definition *definition, TemplateParameter *out);
enum { TEMPLATE_MOST = 16 };
// Parses `<...>` if it is there, deduces the rest from the arguments of a call (NULL: no call), and
// takes defaults. False: some are unknown.
bool template_arguments(Parser *p, Definition *definition, const Token *explicit_ones,
                        Expression **arguments, size_t count, TemplateArgument *out);
const Token *template_close(const Token *open); // after the ">" of the "<" here, or NULL
// A new instance, in the definition's list.
Instance *template_instance(Parser *p, Definition *definition, const TemplateArgument *arguments);
bool template_same(const TemplateArgument *a, const TemplateArgument *b);
Names *template_scope(Parser *p, Definition *definition, const TemplateArgument *arguments);
// The type that stands for a type parameter in a pattern, and which parameter a type stands for.
const Type *template_placeholder(Parser *p, const TemplateParameter *parameter, size_t number);
bool template_is_placeholder(const Type *type, size_t *number);
Str template_name(Parser *p, const Definition *definition, const TemplateArgument *arguments);

Str mangle_function(Arena *arena, const Instance *instance, size_t argument_count);
Str mangle_static(Arena *arena, Str function, Str name, size_t same); // a function's variable

#endif

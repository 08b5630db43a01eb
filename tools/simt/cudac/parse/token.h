// Token: splits source text into words, numbers, texts and punctuators, each with its place.
#ifndef CUDAC_TOKEN_H
#define CUDAC_TOKEN_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

// Punctuators; where one is the start of another, the longer one comes first.
// clang-format off
#define TOKEN_PUNCTUATORS(X)                                                                       \
    X(LAUNCH_OPEN, "<<<") X(SHIFT_LEFT_ASSIGN, "<<=") X(ELLIPSIS, "...") X(SCOPE, "::")            \
    X(ARROW, "->") X(INCREMENT, "++") X(DECREMENT, "--") X(SHIFT_LEFT, "<<") X(LESS_EQUAL, "<=")   \
    X(GREATER_EQUAL, ">=") X(EQUAL, "==") X(NOT_EQUAL, "!=") X(LOGICAL_AND, "&&")                  \
    X(LOGICAL_OR, "||") X(ADD_ASSIGN, "+=") X(SUBTRACT_ASSIGN, "-=") X(MULTIPLY_ASSIGN, "*=")      \
    X(DIVIDE_ASSIGN, "/=") X(REMAINDER_ASSIGN, "%=") X(AND_ASSIGN, "&=") X(OR_ASSIGN, "|=")        \
    X(XOR_ASSIGN, "^=") X(PASTE, "##") X(HASH, "#") X(LEFT_PAREN, "(") X(RIGHT_PAREN, ")")         \
    X(LEFT_BRACKET, "[") X(RIGHT_BRACKET, "]") X(LEFT_BRACE, "{") X(RIGHT_BRACE, "}")              \
    X(LESS, "<") X(GREATER, ">") X(ASSIGN, "=") X(PLUS, "+") X(MINUS, "-") X(STAR, "*")            \
    X(SLASH, "/") X(PERCENT, "%") X(AND, "&") X(OR, "|") X(XOR, "^") X(TILDE, "~") X(NOT, "!")     \
    X(QUESTION, "?") X(COLON, ":") X(SEMICOLON, ";") X(COMMA, ",") X(DOT, ".")
// clang-format on

// Operators that the parser joins from two tokens, since a > may also close template arguments.
#define TOKEN_JOINED(X) X(SHIFT_RIGHT, ">>") X(SHIFT_RIGHT_ASSIGN, ">>=")

// Words with a meaning of their own: first the specifiers, up to `volatile`, then other words with
// which a declaration can begin, up to `void`.
// clang-format off
#define TOKEN_KEYWORDS(X)                                                                          \
    X(AUTO, "auto") X(CONST, "const") X(CONSTANT_SPACE, "__constant__") X(CONSTEXPR, "constexpr")  \
    X(DEVICE, "__device__") X(EXTERN, "extern") X(FORCE_INLINE, "__forceinline__")                 \
    X(GLOBAL, "__global__") X(GRID_CONSTANT, "__grid_constant__") X(HOST, "__host__")              \
    X(INLINE, "inline") X(INLINE_C, "__inline__") X(MANAGED, "__managed__")                        \
    X(NO_INLINE, "__noinline__") X(REGISTER, "register") X(SHARED, "__shared__")                   \
    X(STATIC, "static") X(TYPEDEF, "typedef") X(TYPENAME, "typename") X(VOLATILE, "volatile")      \
    X(ALIGN, "__align__") X(ALIGNAS, "alignas") X(BOOL, "bool") X(CHAR, "char") X(CLASS, "class")  \
    X(DOUBLE, "double") X(ENUM, "enum") X(FLOAT, "float") X(INT, "int") X(LONG, "long")            \
    X(NAMESPACE, "namespace") X(SHORT, "short") X(SIGNED, "signed")                                \
    X(STATIC_ASSERT, "static_assert") X(STRUCT, "struct") X(UNION, "union")                        \
    X(UNSIGNED, "unsigned") X(USING, "using") X(VOID, "void") X(ASM, "asm")                        \
    X(ATTRIBUTE, "__attribute__") X(BREAK, "break") X(CASE, "case") X(CATCH, "catch")              \
    X(CONST_CAST, "const_cast") X(CONTINUE, "continue") X(DEFAULT, "default") X(DELETE, "delete")  \
    X(DO, "do") X(DYNAMIC_CAST, "dynamic_cast") X(ELSE, "else") X(FALSE, "false") X(FOR, "for")    \
    X(GOTO, "goto") X(IF, "if") X(LAUNCH_BOUNDS, "__launch_bounds__") X(NEW, "new")                \
    X(NOEXCEPT, "noexcept") X(NULLPTR, "nullptr") X(OPERATOR, "operator")                          \
    X(REINTERPRET_CAST, "reinterpret_cast") X(RESTRICT, "__restrict__")                            \
    X(RESTRICT_SHORT, "__restrict") X(RETURN, "return") X(SIZEOF, "sizeof")                        \
    X(STATIC_CAST, "static_cast") X(SWITCH, "switch") X(TEMPLATE, "template") X(THROW, "throw")    \
    X(TRUE, "true") X(TRY, "try") X(WHILE, "while")
// clang-format on

typedef enum {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_INTEGER,  // .integer, also of a character
    TOKEN_FLOATING, // .floating
    TOKEN_STRING,   // .value: its bytes
    TOKEN_UNROLL,   // #pragma unroll; its number follows in parentheses, if there is one
#define X(name, text) TOKEN_##name,
    TOKEN_PUNCTUATORS(X) TOKEN_JOINED(X) TOKEN_KEYWORDS(X)
#undef X
        TOKEN_KINDS
} TokenKind;

typedef struct {
    TokenKind kind;
    bool starts_line, after_space;
    Str text; // as written
    Place place;
    uint64_t integer;
    double floating;
    Str value;
    char letter; // of a number: the type's letter in mangled names
} Token;

typedef struct {
    Token *at;
    size_t count, capacity;
} TokenList;

void token_add(Arena *arena, TokenList *list, Token token);

// Splits a text. The list ends with a TOKEN_END. False: see *refusal.
bool token_split(Arena *arena, Str file, Str text, TokenList *tokens, Refusal *refusal);

// How a kind of token is written, for messages and for tokens that are joined.
Str token_spelling(TokenKind kind);

// The kind of a word: a keyword, or TOKEN_NAME.
TokenKind token_word(Str word);

#endif

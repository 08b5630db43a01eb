// Splits PTX text into tokens, one at a time.
#ifndef PTX_LEX_H
#define PTX_LEX_H

#include "simt/ptx/ptx.h"

typedef enum {
    TOKEN_END,
    TOKEN_WORD,   // name, register, directive or dotted opcode
    TOKEN_INT,    // value
    TOKEN_DOUBLE, // value: bits of a double
    TOKEN_SINGLE, // value: bits of a float
    TOKEN_STRING, // text without its quotes
    TOKEN_SIGN,   // one character of punctuation
    TOKEN_BAD     // not PTX
} TokenKind;

typedef struct {
    TokenKind kind;
    Str text;
    uint64_t value;
    uint32_t line;
} Token;

typedef struct {
    Str text;
    size_t at;
    uint32_t line;
} Lexer;

Token ptx_token(Lexer *lexer);

#endif

// The tokenizer. Its rules are in PTX ISA, chapter "Syntax".
#include "simt/ptx/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

static char peek(const Lexer *lexer, size_t ahead) {
    size_t at = lexer->at + ahead;
    return at < lexer->text.len ? lexer->text.at[at] : '\0';
}

// Skips white space and comments. False if a comment does not end.
static bool skip_blank(Lexer *lexer) {
    while (lexer->at < lexer->text.len) {
        char c = peek(lexer, 0);
        if (c == '\n') lexer->line++;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < lexer->text.len && peek(lexer, 0) != '\n') lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->at += 2;
            while (lexer->at < lexer->text.len &&
                   !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
                if (peek(lexer, 0) == '\n') lexer->line++;
                lexer->at++;
            }
            if (lexer->at >= lexer->text.len) return false;
            lexer->at += 2;
        } else {
            return true;
        }
    }
    return true;
}

// How a number is written.
typedef struct {
    int base;
    size_t start;  // of the digits
    size_t digits; // the required number of digits, or 0
} Notation;

static Notation notation(Str s) {
    char second = s.len > 1 && s.at[0] == '0' ? s.at[1] : '\0';
    switch (second) {
    case 'f':
    case 'F':
        return (Notation){16, 2, 8};
    case 'd':
    case 'D':
        return (Notation){16, 2, 16};
    case 'x':
    case 'X':
        return (Notation){16, 2, 0};
    case 'b':
    case 'B':
        return (Notation){2, 2, 0};
    case '\0':
    case '.':
    case 'U':
        return (Notation){10, 0, 0};
    default:
        return (Notation){8, 1, 0};
    }
}

// A version number such as 9.0, or a plain decimal fraction.
static Token fraction(Token token) {
    char copy[64];
    if (token.text.len >= sizeof copy) return token;
    memcpy(copy, token.text.at, token.text.len);
    copy[token.text.len] = '\0';
    char *rest;
    double value = strtod(copy, &rest);
    if (*rest != '\0') return token;
    memcpy(&token.value, &value, sizeof value);
    token.kind = TOKEN_DOUBLE;
    return token;
}

// A number that starts at the lexer's position: decimal, octal, hexadecimal, binary, or one of the
// forms 0f and 0d that give the bits of a float or a double.
static Token number(Lexer *lexer, Token token) {
    size_t start = lexer->at;
    while (lexer->at < lexer->text.len && is_name(lexer->text.at[lexer->at])) lexer->at++;
    Str s = token.text = str_slice(lexer->text, start, lexer->at);
    token.kind = TOKEN_BAD;
    Notation form = notation(s);
    if (form.base == 10 && str_find(s, STR(".")) != SIZE_MAX) return fraction(token);
    size_t end = s.len;
    if (!form.digits && end > form.start && s.at[end - 1] == 'U') end--;
    if (end == form.start || (form.digits && end - form.start != form.digits)) return token;
    for (size_t at = form.start; at < end; at++) {
        int digit = hex_digit(s.at[at]);
        uint64_t next;
        if (digit >= form.base || __builtin_mul_overflow(token.value, (uint64_t)form.base, &next) ||
            __builtin_add_overflow(next, (uint64_t)digit, &token.value))
            return token;
    }
    token.kind = form.digits == 8 ? TOKEN_SINGLE : form.digits ? TOKEN_DOUBLE : TOKEN_INT;
    return token;
}

static Token string(Lexer *lexer, Token token) {
    size_t start = lexer->at;
    while (lexer->at < lexer->text.len && peek(lexer, 0) != '"' && peek(lexer, 0) != '\n')
        lexer->at += peek(lexer, 0) == '\\' && lexer->at + 1 < lexer->text.len ? 2 : 1;
    token.text = str_slice(lexer->text, start, lexer->at);
    token.kind = peek(lexer, 0) == '"' ? TOKEN_STRING : TOKEN_BAD;
    if (lexer->at < lexer->text.len) lexer->at++;
    return token;
}

Token ptx_token(Lexer *lexer) {
    bool closed = skip_blank(lexer);
    Token token = {.line = lexer->line};
    if (!closed) {
        token.kind = TOKEN_BAD;
        token.text = STR("/*");
        return token;
    }
    if (lexer->at >= lexer->text.len) return token;
    char c = peek(lexer, 0);
    size_t start = lexer->at;
    if (is_digit(c)) return number(lexer, token);
    if (is_name(c)) {
        // "::" joins the parts of modifiers such as .L1::no_allocate
        while (is_name(peek(lexer, 0)) ||
               (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && is_name(peek(lexer, 2))))
            lexer->at += peek(lexer, 0) == ':' ? 2 : 1;
        token.kind = TOKEN_WORD;
        token.text = str_slice(lexer->text, start, lexer->at);
        return token;
    }
    lexer->at++;
    if (c == '"') return string(lexer, token);
    token.text = str_slice(lexer->text, start, lexer->at);
    token.kind = strchr("{}()[]<>,;:+-*/!|&^~=@?", c) && c != '\0' ? TOKEN_SIGN : TOKEN_BAD;
    return token;
}

// The tokenizer: see ptx_lex.h. Lexical rules: PTX ISA, chapter "Syntax".
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

// A number that starts at the lexer's position: decimal, octal, hexadecimal, binary, or one of the
// forms 0f and 0d that give the bits of a float or a double.
static Token number(Lexer *lexer, Token token) {
    size_t start = lexer->at, end = start;
    while (end < lexer->text.len && is_name(lexer->text.at[end])) end++;
    Str s = str_slice(lexer->text, start, end);
    lexer->at = end;
    token.text = s;
    token.kind = TOKEN_BAD;
    char second = s.len > 1 ? s.at[1] : '\0';
    int base = 10;
    size_t at = 0;
    size_t digits_wanted = 0;
    if (s.at[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
        base = 16;
        at = 2;
        digits_wanted = second == 'f' || second == 'F' ? 8 : 16;
    } else if (s.at[0] == '0' && (second == 'x' || second == 'X')) {
        base = 16;
        at = 2;
    } else if (s.at[0] == '0' && (second == 'b' || second == 'B')) {
        base = 2;
        at = 2;
    } else if (s.at[0] == '0' && s.len > 1 && second != '.' && second != 'U') {
        base = 8;
        at = 1;
    }
    bool decimal = false;
    for (size_t k = 0; k < s.len; k++) decimal |= base == 10 && s.at[k] == '.';
    if (decimal) { // a version number such as 9.0, or a plain decimal fraction
        char copy[64];
        if (s.len >= sizeof copy) return token;
        memcpy(copy, s.at, s.len);
        copy[s.len] = '\0';
        char *rest;
        double value = strtod(copy, &rest);
        if (*rest != '\0') return token;
        memcpy(&token.value, &value, sizeof value);
        token.kind = TOKEN_DOUBLE;
        return token;
    }
    size_t end_digits = s.len;
    if (!digits_wanted && end_digits > at && s.at[end_digits - 1] == 'U') end_digits--;
    if (end_digits == at || (digits_wanted && end_digits - at != digits_wanted)) return token;
    for (; at < end_digits; at++) {
        int digit = hex_digit(s.at[at]);
        if (digit >= base) return token;
        uint64_t next;
        if (__builtin_mul_overflow(token.value, (uint64_t)base, &next) ||
            __builtin_add_overflow(next, (uint64_t)digit, &token.value))
            return token;
    }
    token.kind = digits_wanted == 8 ? TOKEN_SINGLE : digits_wanted ? TOKEN_DOUBLE : TOKEN_INT;
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
    if (c == '"') {
        while (lexer->at < lexer->text.len && peek(lexer, 0) != '"' && peek(lexer, 0) != '\n')
            lexer->at += peek(lexer, 0) == '\\' && lexer->at + 1 < lexer->text.len ? 2 : 1;
        token.text = str_slice(lexer->text, start + 1, lexer->at);
        token.kind = peek(lexer, 0) == '"' ? TOKEN_STRING : TOKEN_BAD;
        if (lexer->at < lexer->text.len) lexer->at++;
        return token;
    }
    token.text = str_slice(lexer->text, start, lexer->at);
    token.kind = strchr("{}()[]<>,;:+-*/!|&^~=@?", c) && c != '\0' ? TOKEN_SIGN : TOKEN_BAD;
    return token;
}

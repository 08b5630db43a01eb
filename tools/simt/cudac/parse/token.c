// Splits source text into tokens, by the rules of C++17.
#include "simt/cudac/parse/token.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Str file, text;
    size_t at, line_start; // offsets into the text
    uint32_t line;
    Refusal *refusal;
    bool starts_line, after_space;
} Splitter;

static const Str SPELLINGS[] = {[TOKEN_END] = {"the end of the file", 19},
                                [TOKEN_NAME] = {"a name", 6},
                                [TOKEN_INTEGER] = {"a number", 8},
                                [TOKEN_FLOATING] = {"a number", 8},
                                [TOKEN_STRING] = {"a text", 6},
                                [TOKEN_UNROLL] = {"#pragma unroll", 14},
#define X(name, text) [TOKEN_##name] = {text, sizeof text - 1},
                                TOKEN_PUNCTUATORS(X) TOKEN_JOINED(X) TOKEN_KEYWORDS(X)
#undef X
};

Str token_spelling(TokenKind kind) { return SPELLINGS[kind]; }

TokenKind token_word(Str word) {
    for (TokenKind kind = TOKEN_AUTO; kind < TOKEN_KINDS; kind++)
        if (str_equal(word, SPELLINGS[kind])) return kind;
    return TOKEN_NAME;
}

void token_add(Arena *arena, TokenList *list, Token token) {
    ARENA_GROW(arena, list->at, list->count, list->capacity);
    list->at[list->count++] = token;
}

static char peek(const Splitter *s, size_t ahead) {
    return s->at + ahead < s->text.len ? s->text.at[s->at + ahead] : '\0';
}

static Place here(const Splitter *s) {
    Str rest = str_from(s->text, s->line_start), line = {"", 0};
    str_line(&rest, &line);
    return (Place){s->file, s->line, (uint32_t)(s->at - s->line_start + 1), line};
}

static bool refuse(Splitter *s, Place place, const char *message) {
    *s->refusal = (Refusal){.place = place, .message = str_of(message)};
    return false;
}

static void new_line(Splitter *s) {
    s->line++, s->line_start = s->at;
    s->starts_line = true;
}

// Skips white space, comments, and line ends after a backslash.
static bool skip_space(Splitter *s) {
    while (s->at < s->text.len) {
        char c = peek(s, 0);
        if (c == '\n') {
            s->at++, new_line(s);
        } else if (strchr(" \t\r\f\v", c)) {
            s->at++;
        } else if (c == '\\' &&
                   (peek(s, 1) == '\n' || (peek(s, 1) == '\r' && peek(s, 2) == '\n'))) {
            s->at += peek(s, 1) == '\n' ? 2 : 3;
            s->line++, s->line_start = s->at;
        } else if (c == '/' && peek(s, 1) == '/') {
            while (s->at < s->text.len && peek(s, 0) != '\n') s->at++;
        } else if (c == '/' && peek(s, 1) == '*') {
            Place place = here(s);
            bool started = s->starts_line;
            size_t length = str_find(str_from(s->text, s->at + 2), STR("*/"));
            if (length == SIZE_MAX) return refuse(s, place, "this comment is never closed: add */");
            for (size_t end = s->at + length + 4; s->at < end;)
                if (s->text.at[s->at++] == '\n') new_line(s);
            s->starts_line = s->starts_line && started;
        } else {
            return true;
        }
        s->after_space = true;
    }
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The letter of an integer's type: the first type that holds the value.
static char integer_letter(uint64_t value, bool decimal, unsigned longs, bool is_unsigned) {
    if (longs < 1 && !is_unsigned && value <= INT32_MAX) return 'i';
    if (longs < 1 && (is_unsigned || !decimal) && value <= UINT32_MAX) return 'j';
    bool is_signed = !is_unsigned && value <= INT64_MAX;
    return longs == 2 ? (is_signed ? 'x' : 'y') : is_signed ? 'l' : 'm';
}

static unsigned digit_value(char c) {
    return is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
}

// integer = (0x hex+ | 0b bin+ | 0 octal* | decimal+) (u | l | ll)*
static bool read_integer(Str text, Token *token) {
    Str digits = {text.at, 0}, rest = text;
    unsigned base = 10, longs = 0;
    bool is_unsigned = false;
    if (text.len > 1 && text.at[0] == '0') {
        char mark = (char)(text.at[1] | 32);
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        rest = str_from(text, base == 8 ? 1 : 2);
    }
    digits = rest;
    while (rest.len && (is_digit(rest.at[0]) || is_letter(rest.at[0]) || rest.at[0] == '\'')) {
        char c = rest.at[0];
        if (c != '\'' && digit_value(c) >= base) break;
        if (c != '\'') {
            if (token->integer > (UINT64_MAX - digit_value(c)) / base) return false;
            token->integer = token->integer * base + digit_value(c);
        }
        rest = str_from(rest, 1);
    }
    if (rest.at == digits.at && base != 8) return false;
    for (; rest.len; rest = str_from(rest, 1))
        if ((rest.at[0] | 32) == 'u' && !is_unsigned)
            is_unsigned = true;
        else if ((rest.at[0] | 32) == 'l' && longs < 2)
            longs++;
        else
            return false;
    token->letter = integer_letter(token->integer, base == 10, longs, is_unsigned);
    return true;
}

static bool read_floating(Arena *arena, Str text, Token *token) {
    char *end, *copy = str_terminated(arena, text);
    token->kind = TOKEN_FLOATING, token->letter = 'd';
    token->floating = strtod(copy, &end);
    if ((*end | 32) != 'f') return !*end;
    token->letter = 'f', token->floating = strtof(copy, NULL);
    return !end[1];
}

// Takes the characters of a number, by the rule for preprocessing numbers.
static bool split_number(Splitter *s, Token *token) {
    size_t start = s->at;
    bool floating = false, hex = peek(s, 0) == '0' && (peek(s, 1) | 32) == 'x';
    for (;; s->at++) {
        char c = peek(s, 0), before = s->at > start ? s->text.at[s->at - 1] : ' ';
        bool exponent = (before | 32) == (hex ? 'p' : 'e');
        if (c == '.' || ((c == '+' || c == '-') && exponent))
            floating = true;
        else if (!is_digit(c) && !is_letter(c) && !(c == '\'' && is_digit(before)))
            break;
        if ((c | 32) == (hex ? 'p' : 'e')) floating = true;
    }
    token->text = str_slice(s->text, start, s->at);
    token->kind = TOKEN_INTEGER;
    if (floating ? read_floating(s->arena, token->text, token) : read_integer(token->text, token))
        return true;
    return refuse(s, token->place, "this is not a number that fits into 64 bits");
}

static bool escape(Splitter *s, char *c) {
    static const char names[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *found = strchr(names, peek(s, 0));
    unsigned value = 0;
    if (peek(s, 0) && found) {
        *c = values[found - names], s->at++;
        return true;
    }
    bool hex = peek(s, 0) == 'x';
    if (!hex && !(peek(s, 0) >= '0' && peek(s, 0) <= '7')) return false;
    for (s->at += hex; is_digit(peek(s, 0)) || (hex && is_letter(peek(s, 0))); s->at++)
        value = value * (hex ? 16 : 8) + digit_value(peek(s, 0));
    *c = (char)value;
    return true;
}

// Takes a text or a character, up to the same mark.
static bool split_text(Splitter *s, Token *token) {
    size_t start = s->at++;
    char mark = s->text.at[start];
    Buf value = {.arena = s->arena};
    while (peek(s, 0) != mark) {
        char c = peek(s, 0);
        if (c == '\n' || s->at >= s->text.len)
            return refuse(s, token->place, "this text is not closed on its line");
        s->at++;
        if (c == '\\' && !escape(s, &c))
            return refuse(s, here(s), "an escape that is not known: write \\n, \\t, \\\\ or \\\"");
        buf_char(&value, c);
    }
    s->at++;
    token->text = str_slice(s->text, start, s->at);
    token->value = buf_str(&value);
    token->kind = mark == '"' ? TOKEN_STRING : TOKEN_INTEGER;
    if (mark == '"') return true;
    if (value.len != 1) return refuse(s, token->place, "write one character between the marks");
    token->integer = (uint64_t)(int64_t)value.at[0], token->letter = 'c';
    return true;
}

// Spaces, marks of direction and such like
static bool is_unseen(unsigned code) {
    static const unsigned ranges[][2] = {
        {0, ' '},         {0x7F, 0xA0},         {0xAD, 0xAD},     {0x2000, 0x200F},
        {0x2028, 0x202F}, {0x205F, 0x206F},     {0x3000, 0x3000}, {0xFE00, 0xFE0F},
        {0xFEFF, 0xFEFF}, {0xE0000, UINT32_MAX}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
    return false;
}

// Refuses the UTF-8 character here.
static bool refuse_character(Splitter *s, Place place) {
    const unsigned char *at = (const unsigned char *)s->text.at + s->at;
    size_t length = 1;
    unsigned code = *at < 0xC0 ? *at : *at & (*at < 0xE0 ? 0x1F : *at < 0xF0 ? 0x0F : 0x07);
    while (s->at + length < s->text.len && (at[length] & 0xC0) == 0x80)
        code = code << 6 | (at[length++] & 0x3F);
    Buf message = {.arena = s->arena};
    if (!is_unseen(code))
        buf_format(&message, "the character `%.*s`", (int)length, at);
    else
        buf_format(&message, "the character U+%04X, which cannot be seen,", code);
    buf_format(&message, " cannot be in code here: remove it%c", '\0');
    return refuse(s, place, message.at);
}

static bool split_punctuator(Splitter *s, Token *token) {
    Str rest = str_from(s->text, s->at);
    for (TokenKind kind = TOKEN_LAUNCH_OPEN; kind <= TOKEN_DOT; kind++)
        if (str_starts(rest, SPELLINGS[kind])) {
            token->kind = kind, token->text = str_slice(rest, 0, SPELLINGS[kind].len);
            s->at += token->text.len;
            return true;
        }
    return refuse_character(s, token->place);
}

static bool split_token(Splitter *s, Token *token) {
    char c = peek(s, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)))) return split_number(s, token);
    if (c == '"' || c == '\'') return split_text(s, token);
    if (!is_letter(c)) return split_punctuator(s, token);
    size_t start = s->at;
    while (is_letter(peek(s, 0)) || is_digit(peek(s, 0))) s->at++;
    token->text = str_slice(s->text, start, s->at);
    token->kind = token_word(token->text);
    return true;
}

bool token_split(Arena *arena, Str file, Str text, TokenList *tokens, Refusal *refusal) {
    Splitter s = {arena, file, text, 0, 0, 1, refusal, true, false};
    for (;;) {
        if (!skip_space(&s)) return false;
        Token token = {.kind = TOKEN_END, .starts_line = s.starts_line, .place = here(&s)};
        token.after_space = s.after_space;
        s.starts_line = s.after_space = false;
        bool more = s.at < text.len;
        if (more && !split_token(&s, &token)) return false;
        token_add(arena, tokens, token);
        if (!more) return true;
    }
}

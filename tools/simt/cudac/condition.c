// Evaluates conditions of the preprocessor by precedence climbing, in 64-bit integers.
#include "simt/cudac/condition.h"

typedef struct {
    const Token *at;
    int depth;
    bool bad;
} Reader;

int condition_precedence(TokenKind kind) {
    switch (kind) {
    case TOKEN_LOGICAL_OR:
        return 1;
    case TOKEN_LOGICAL_AND:
        return 2;
    case TOKEN_OR:
        return 3;
    case TOKEN_XOR:
        return 4;
    case TOKEN_AND:
        return 5;
    case TOKEN_EQUAL:
    case TOKEN_NOT_EQUAL:
        return 6;
    case TOKEN_LESS:
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER:
    case TOKEN_GREATER_EQUAL:
        return 7;
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT:
        return 8;
    case TOKEN_PLUS:
    case TOKEN_MINUS:
        return 9;
    case TOKEN_STAR:
    case TOKEN_SLASH:
    case TOKEN_PERCENT:
        return 10;
    default:
        return 0;
    }
}

static int64_t apply(Reader *r, TokenKind kind, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (kind) {
    case TOKEN_LOGICAL_OR:
        return a || b;
    case TOKEN_LOGICAL_AND:
        return a && b;
    case TOKEN_OR:
        return a | b;
    case TOKEN_XOR:
        return a ^ b;
    case TOKEN_AND:
        return a & b;
    case TOKEN_EQUAL:
        return a == b;
    case TOKEN_NOT_EQUAL:
        return a != b;
    case TOKEN_LESS:
        return a < b;
    case TOKEN_LESS_EQUAL:
        return a <= b;
    case TOKEN_GREATER:
        return a > b;
    case TOKEN_GREATER_EQUAL:
        return a >= b;
    case TOKEN_SHIFT_LEFT:
        return y < 64 ? (int64_t)(x << y) : 0;
    case TOKEN_SHIFT_RIGHT:
        return y < 64 ? a >> y : 0;
    case TOKEN_PLUS:
        return (int64_t)(x + y);
    case TOKEN_MINUS:
        return (int64_t)(x - y);
    case TOKEN_STAR:
        return (int64_t)(x * y);
    default:
        break; // a division
    }
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        r->bad = true;
        return 0;
    }
    return kind == TOKEN_SLASH ? a / b : a % b;
}

static int64_t conditional(Reader *r);

// unary = ("+" | "-" | "!" | "~") unary | "(" conditional ")" | NUMBER | NAME
static int64_t unary(Reader *r) {
    const Token *token = r->at++;
    if (token->kind == TOKEN_INTEGER) return (int64_t)token->integer;
    if (token->kind == TOKEN_TRUE) return 1;
    if (token->kind == TOKEN_NAME || token->kind >= TOKEN_ALIGN) return 0;
    int64_t value = 0;
    r->bad |= ++r->depth > 100;
    if (r->bad || token->kind == TOKEN_END) {
        r->bad = true, r->at--;
        return 0;
    }
    switch (token->kind) {
    case TOKEN_PLUS:
        value = unary(r);
        break;
    case TOKEN_MINUS:
        value = (int64_t)(0 - (uint64_t)unary(r));
        break;
    case TOKEN_NOT:
        value = !unary(r);
        break;
    case TOKEN_TILDE:
        value = ~unary(r);
        break;
    case TOKEN_LEFT_PAREN:
        value = conditional(r);
        r->bad |= r->at->kind != TOKEN_RIGHT_PAREN;
        r->at += !r->bad;
        break;
    default:
        r->bad = true;
    }
    r->depth--;
    return value;
}

static int64_t binary(Reader *r, int least) {
    int64_t value = unary(r);
    for (int precedence; (precedence = condition_precedence(r->at->kind)) >= least && !r->bad;) {
        TokenKind kind = (r->at++)->kind;
        int64_t right = binary(r, precedence + 1);
        bool skips = (kind == TOKEN_LOGICAL_AND && !value) || (kind == TOKEN_LOGICAL_OR && value);
        if (skips) r->bad = false;
        value = apply(r, kind, value, right);
    }
    return value;
}

// conditional = binary ("?" conditional ":" conditional)?
static int64_t conditional(Reader *r) {
    int64_t value = binary(r, 1);
    r->bad |= ++r->depth > 100;
    if (r->bad || r->at->kind != TOKEN_QUESTION) {
        r->depth--;
        return value;
    }
    r->at++;
    int64_t yes = conditional(r);
    if (r->at->kind != TOKEN_COLON) {
        r->bad = true;
        return 0;
    }
    r->at++;
    int64_t no = conditional(r);
    r->depth--;
    return value ? yes : no;
}

bool condition_value(const Token *tokens, int64_t *value) {
    Reader r = {tokens, 0, false};
    *value = conditional(&r);
    return !r.bad && r.at->kind == TOKEN_END;
}

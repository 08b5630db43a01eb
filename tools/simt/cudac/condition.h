// Condition: the value of the expression of #if and #elif.
#ifndef CUDAC_CONDITION_H
#define CUDAC_CONDITION_H

#include "simt/cudac/token.h"

// Evaluates expanded tokens that end with a TOKEN_END; a name counts as 0. False: not constant.
bool condition_value(const Token *tokens, int64_t *value);

// How tightly a binary operator binds, from 1 for || to 10 for *; 0: the token is none.
int condition_precedence(TokenKind kind);

#endif

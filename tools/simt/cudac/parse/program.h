// Program: finds the kernels of a source and parses them, with all that they need.
#ifndef CUDAC_PROGRAM_H
#define CUDAC_PROGRAM_H

#include "simt/cudac/parse/token.h"

// The tokens are those of preprocess(). After them may come kernels to be compiled, such as
// block_sum<8>, each with a TOKEN_END; if there are none, all are compiled that host code names.
// Returns NULL after an error: see *refusal. program_parse_stage() compiles what a row of the table
// `stages` launches, and program_parse_main() main() with the functions that it names,
// and every kernel that is not a template.
const Tree *program_parse_main(Arena *arena, const TokenList *tokens, Refusal *refusal);
const Tree *program_parse_stage(Arena *arena, const TokenList *tokens, Str stage, Refusal *refusal);
const Tree *program_parse(Arena *arena, const TokenList *tokens, Refusal *refusal);

#endif

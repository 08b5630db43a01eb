// Preprocess: macros, conditions and included files.
#ifndef CUDAC_PREPROCESS_H
#define CUDAC_PREPROCESS_H

#include "simt/cudac/parse/token.h"

// Reads a file that a source includes by #include "PATH". False: there is no such file.
typedef bool PreprocessRead(Arena *arena, Str path, Str *text);

// Returns the tokens of CUDA's own declarations (prelude.h) and then those of a source file. The
// list ends with a TOKEN_END. Headers in angle brackets are ignored. False: see *refusal.
bool preprocess(Arena *arena, Str path, Str text, PreprocessRead *read, TokenList *tokens,
                Refusal *refusal);

#endif

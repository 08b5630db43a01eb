// Shared by the fuzz targets. A target is LLVMFuzzerTestOneInput, which libFuzzer calls; without
// libFuzzer the main below replays corpora. A corpus is one file: for each input its length in
// decimal digits, a newline, and its bytes.
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// Checks a condition that must hold for every input. A failure ends the program, so that libFuzzer
// saves the input.
static inline void must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

// A message must be one line, not be empty, and name a line that its file has.
static inline void must_be_located(Str message, size_t line, Str text) {
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++) lines += text.at[i] == '\n';
    must(message.len > 0, "an error says nothing");
    must(line <= lines, "an error is past the end of its file");
}

#ifndef WITH_LIBFUZZER
// Replays CORPUS: each input is in a block of exactly its size, so that sanitizers see a read past
// it.
int main(int argc, char **argv) {
    Arena arena = {0};
    Str rest;
    size_t count = 0;
    if (argc != 2 || !file_read(&arena, argv[1], &rest)) return 2;
    for (Str length; str_line(&rest, &length); count++) {
        size_t size = strtoul(length.at, NULL, 10);
        must(size <= rest.len, "the corpus is cut off");
        uint8_t *bytes = malloc(size + (size == 0));
        must(bytes != NULL, "no memory");
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)rest.at[i];
        LLVMFuzzerTestOneInput(bytes, size);
        free(bytes);
        rest = str_from(rest, size);
    }
    printf("%zu inputs\n", count);
    arena_free(&arena);
    return 0;
}
#endif

#endif

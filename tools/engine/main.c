// engine-native: makes one run of the page's engine as a program, for tests.
//
//     engine-native COMMANDS PTX       reads two files and prints the result as JSON
//     engine-native REQUEST            answers a request of the page
//
// The exit status is 1 if the run failed, 2 if a file cannot be read.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "engine/engine.h"

static bool print(void) {
    return fwrite(engine_result(), 1, engine_result_bytes(), stdout) == engine_result_bytes() &&
           putchar('\n') != EOF && fflush(stdout) == 0;
}

// A run that cannot go on ends the program.
static void print_and_exit(void) {
    print();
    exit(1);
}

int main(int count, char **arguments) {
    static Arena arena;
    Str texts[2];
    if (count != 2 && count != 3) {
        fprintf(stderr, "usage: engine-native COMMANDS PTX | REQUEST\n");
        return 2;
    }
    for (int k = 0; k < count - 1; k++) {
        if (file_read(&arena, arguments[k + 1], &texts[k])) continue;
        fprintf(stderr, "engine-native: cannot read %s\n", arguments[k + 1]);
        return 2;
    }
    engine_ended = print_and_exit;
    const bool good = count == 2 ? engine_answer(texts[0].at, texts[0].len)
                                 : engine_run(texts[0].at, texts[0].len, texts[1].at, texts[1].len);
    return print() && good ? 0 : 1;
}

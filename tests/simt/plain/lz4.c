// The LZ4 decoder: unpacks a block made by hand, and damaged copies of one without leaving it.
//
// usage: lz4
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/cuda/unpack.h"

// "abcd", a match of 20 three back, then 17 letters: a length of 15 and 2 more.
static const char block[] = "\x4f"
                            "abcd"
                            "\x03\x00"
                            "\x01"
                            "\xf0\x02"
                            "01234567890123456";
static const char text[] = "abcdbcdbcdbcdbcdbcdbcdbc01234567890123456";

int main(void) {
    char to[sizeof text - 1];
    Str whole = {block, sizeof block - 1};
    bool right = unpack_lz4(whole, to, sizeof to) && memcmp(to, text, sizeof to) == 0;
    printf("%s a block\n", right ? "ok" : "not ok");
    bool refused = !unpack_lz4(whole, to, sizeof to - 1);
    for (size_t len = 0; len + 1 < sizeof block; len++)
        refused &= !unpack_lz4((Str){block, len}, to, sizeof to);
    printf("%s a block cut short, or of another length\n", refused ? "ok" : "not ok");
    unsigned long long state = 1;
    for (int round = 0; round < 200000; round++) {
        char *copy = malloc(sizeof block - 1), *room = malloc(sizeof to);
        memcpy(copy, block, sizeof block - 1);
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            copy[(state >> 33) % (sizeof block - 1)] = (char)(state >> 50);
        }
        (void)unpack_lz4((Str){copy, sizeof block - 1}, room, sizeof to);
        free(copy);
        free(room);
    }
    printf("ok damaged blocks stay within their bounds\n");
    return 0;
}

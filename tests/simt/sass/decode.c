// Reads lines "ADDRESS LOW HIGH ..." of machine instructions and prints the text of each, or which
// part of it is unknown.
#include <stdio.h>

#include "simt/sass/inst.h"

int main(void) {
    static Arena arena;
    char line[512];
    unsigned long long at, low, high;
    while (fgets(line, sizeof line, stdin)) {
        SassInst inst;
        Buf text = {.arena = &arena};
        if (sscanf(line, "%llx %llx %llx", &at, &low, &high) != 3) return 2;
        if (sass_decode((SassWord){low, high}, at, &inst)) {
            sass_write(&inst, &text);
            printf("%.*s\t%u %u %u %u %x\n", (int)text.len, text.at, inst.stall, inst.yields,
                   inst.write_barrier, inst.read_barrier, inst.wait_mask);
        } else {
            printf("unknown %s\t\n", inst.op ? sass_opcodes[inst.op].name : "opcode");
        }
    }
    return 0;
}

// simt --opcodes: the machine instructions that are known, and those of a program.
#ifndef OPCODES_H
#define OPCODES_H

#include "base/str.h"

// Writes the table to standard output: every opcode that can be decoded, whether it can be executed
// and how its meaning is known; of a program (a file, as a whole, empty: none) how often each
// occurs in its machine code, with what could not be decoded. False: the file holds no machine code
// for the device.
bool opcodes_write(Arena *arena, Str file);

#endif

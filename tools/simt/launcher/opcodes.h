// simt --opcodes: the machine instructions that are known, and those of a program.
#ifndef OPCODES_H
#define OPCODES_H

#include "base/str.h"

// Writes the table to standard output: every opcode, how many encodings it has, and how its meaning
// is known. `file` is a program as a whole, or empty: how often each opcode occurs in its machine
// code, and how many instructions could not be decoded. False: the file holds no machine code for
// the device.
bool opcodes_write(Str file);

#endif

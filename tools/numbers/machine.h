// Machine: what a device can do, as chapter 17's lab has measured it: results/<device>-machine.csv,
// a row `name,value,unit` for each latency and rate. Formulas call them `machine.NAME`.
#ifndef NUMBERS_MACHINE_H
#define NUMBERS_MACHINE_H

#include "numbers/key.h"

// Whether the name of a results file, without `.csv`, is that of such a file: cpu-machine is none,
// it holds counts.
bool machine_is(Str name);

// Checks such a table when it has been read. False: `error` says what is
// wrong with it, and where.
bool machine_check(Arena *arena, ResultTable *table, ResultError *error);

// A value of the device that the asking chapter's keys mean. Cycles are plain numbers, and a
// gigahertz is UNIT_CLOCK: 700 cycles over a clock are a time. Bytes a cycle are bytes.
bool machine_value(const KeyScope *scope, Str name, Value *value, Buf *why);

#endif

// Notes: what compilers and the CPU device have printed, as places and sentences.
#ifndef GRADE_NOTES_H
#define GRADE_NOTES_H

#include "grade/program.h"

// The first error that nvcc printed, and how many follow.
ProgramNote notes_compiler(Arena *arena, Str log);

// What the program itself printed: all in front of the CPU device's report.
Str notes_output(Str log);

// The hazards that simt --check printed; their number.
size_t notes_hazards(Arena *arena, Str log, ProgramNote **hazards);

// Why simt ended a kernel or refused one: `simt: KERNEL: FILE:LINE: TEXT`. Empty: it did not.
ProgramNote notes_stop(Str log);

// Why a program with this exit status has not told its results: its last line.
Str notes_last_words(Arena *arena, Str log, int status);

#endif

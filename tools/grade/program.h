// Program: one version of an exercise's program, compiled, run on the CPU device and on a GPU that
// is there, and the numbers that came out.
//
// Three runs: all sizes with --check; `--once`, whose launches are what is counted; and on a GPU
// all sizes again. The numbers, by the names that demands call them:
//
//   every column of the CPU device's CSV from warp_insts to longest_warp, of all launches of --once
//   together, which run one after another
//   launches, blocks, threads     of the same run
//   hazards                       that --check found
//   NAME                          for each line `NAME = NUMBER` that the first run printed, such as
//                                 wrong and runs, which the exercises' driver tells
//   time                          microseconds on the GPU, or predicted: program_time
#ifndef GRADE_PROGRAM_H
#define GRADE_PROGRAM_H

#include "numbers/key.h"

typedef struct {
    const char *build;  // BUILD/exercises/ is written
    const char *nvcc;   // NULL: not at hand
    const char *native; // the architecture of the GPU here, sm_90; NULL: there is none
    const char *speeds; // without a GPU: of a device, for predicted times; NULL: there are none
} ProgramTools;

typedef struct {
    Str file; // a file with a line number, or empty
    size_t line;
    Str text;
    Str more; // of a hazard: the lines below it
} ProgramNote;

// A limit, and by how many percent of its time a launch would be shorter without it.
typedef struct {
    Str name;
    double pct;
} ProgramGain;

// A line of the source, its percentage of a launch's time, and what warps wait for there.
typedef struct {
    Str file, stall;
    size_t line;
    double pct;
} ProgramLine;

// Where predicted time goes, of the launch that takes the most of it. The greatest first; those
// that are not there have 0 percent.
enum { PROGRAM_GAINS = 3, PROGRAM_LINES = 2 };
typedef struct {
    ProgramGain gains[PROGRAM_GAINS];
    ProgramLine lines[PROGRAM_LINES];
} ProgramTime;

typedef struct {
    Str name;            // its files are BUILD/exercises/NAME.*
    Str binary;          // the compiled program's name, if that is another
    Str source;          // path of the source
    ProgramNote fault;   // why there are no numbers: it does not compile, or cannot be run; else
                         // the text is empty
    ProgramNote stopped; // where and why a kernel or the program was ended, if it was
    ProgramNote *hazards;
    size_t hazard_count;
    Str *said; // what it printed about wrong results, line by line
    size_t said_count;
    const ResultTable *lines; // counters by line, of --once; NULL: none
    KeyNamed *numbers;
    size_t number_count, number_capacity;
    ProgramTime predicted;
    bool on_gpu, right_on_gpu; // was it run there, and was all right?
} Program;

// Writes a source to BUILD/exercises/NAME.cu, for program_compile.
bool program_write(Arena *arena, const ProgramTools *tools, Str name, Str text, Str *path);

// Compiles without running. False: program->fault.
bool program_compile(Arena *arena, const ProgramTools *tools, Program *program);

// Runs what is compiled. `which` is an argument in front of the program's own; NULL: none.
void program_measure(Arena *arena, const ProgramTools *tools, Program *program, const char *which);

// The time of both on the GPU, run in turn, as the number `time`. Without a GPU what `simt --time`
// predicts of one launch, or nothing.
void program_time(Arena *arena, const ProgramTools *tools, Program *program, Program *other);

// The number of that name, or NULL.
const KeyNamed *program_number(const Program *program, Str name);

// --- what compilers and the CPU device have printed, as places and sentences: notes.c ---

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

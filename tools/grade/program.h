// Program: one version of an exercise's program: compiles it, runs it on the CPU device and on a
// GPU if there is one, and collects the resulting numbers.
//
// There are three runs: all sizes with --check; `--once`, whose launches are counted; and all sizes
// on the GPU. Demands refer to these numbers:
//
//   every column of the CPU device's CSV from warp_insts to longest_warp, summed over all launches
//   of --once, which run one after another
//   launches, blocks, threads     of the same run
//   smallest_wrong                the smallest n of the lines `n elements: WRONG: ...`, or 0
//   hazards                       found by --check
//   races, out_of_bounds, divergent_barriers  those of one kind among them
//   NAME                          for each line `NAME = NUMBER` that the first run printed, such as
//                                 wrong and runs, which the exercises' driver prints
//   time                          microseconds on the GPU, or predicted: program_time
#ifndef GRADE_PROGRAM_H
#define GRADE_PROGRAM_H

#include "numbers/key.h"

typedef struct {
    const char *build;  // files are written to BUILD/exercises/
    const char *nvcc;   // NULL: no compiler
    const char *native; // the architecture of the GPU here, such as sm_90; NULL: there is none
    const char *speeds; // DEVICE-machine.csv, to predict times without a GPU; NULL: no predictions
} ProgramTools;

typedef struct {
    Str file; // the file of `line`, or empty
    size_t line;
    Str text;
    Str kernel; // its name without template arguments, or empty
    Str more;   // for a hazard: its further lines
} ProgramNote;

// A limit, and the percentage by which a launch would be shorter without it.
typedef struct {
    Str name;
    double pct;
} ProgramGain;

// A line of the source, its percentage of a launch's time, and its longest stall.
typedef struct {
    Str file, stall;
    size_t line;
    double pct;
} ProgramLine;

// The largest gains and slowest lines of the launch with the longest predicted time, in descending
// order. Unused entries have 0 percent.
enum { PROGRAM_GAINS = 3, PROGRAM_LINES = 2, PROGRAM_FAILURES = 3 };
typedef struct {
    ProgramGain gains[PROGRAM_GAINS];
    ProgramLine lines[PROGRAM_LINES];
} ProgramTime;

typedef struct {
    Str name;            // its files are BUILD/exercises/NAME.*
    Str binary;          // name of the compiled program, if it differs
    Str source;          // path of the source
    ProgramNote fault;   // why there are no numbers: it does not compile or cannot be run; else the
                         // text is empty
    ProgramNote stopped; // where and why a kernel or the program was stopped, if it was
    ProgramNote *hazards;
    size_t hazard_count;
    Str failures[PROGRAM_FAILURES]; // the first lines it printed about wrong results
    size_t failure_count;           // of all such lines
    const ResultTable *lines;       // counters per line, of --once; NULL: none
    KeyNamed *numbers;
    size_t number_count, number_capacity;
    ProgramTime predicted;
    bool on_gpu, right_on_gpu; // whether it ran there, and with right results
} Program;

// Writes a source to BUILD/exercises/NAME.cu, for program_compile.
bool program_write(Arena *arena, const ProgramTools *tools, Str name, Str text, Str *path);

// Compiles a program. False: see program->fault.
bool program_compile(Arena *arena, const ProgramTools *tools, Program *program);

// Runs a compiled program. `which` is an argument before the program's own; NULL: none.
void program_measure(Arena *arena, const ProgramTools *tools, Program *program, const char *which);

// Measures the time of both on the GPU, in alternating runs, as the number `time`. Without a GPU,
// the time is the prediction of `simt --time` for one launch, if it has one.
void program_time(Arena *arena, const ProgramTools *tools, Program *program, Program *other);

// --- counts.c: the numbers ---

// The number with that name, or NULL.
const KeyNamed *program_number(const Program *program, Str name);
// Adds a number, unless the program has one with that name.
void program_add(Arena *arena, Program *program, Str name, Unit unit, double number);
// Parses a line `NAME = NUMBER` that the driver printed.
bool program_is_number(Str line, Str *name, double *number);
// Adds what the driver printed: its numbers, smallest_wrong, and the first failures.
void program_read_output(Arena *arena, Program *program, Str text);
// Adds the numbers of hazards, after all are in program->hazards and it is known whether it was
// stopped.
void program_count_hazards(Arena *arena, Program *program);

// --- notes.c: errors, hazards and outputs from logs ---

// The first error that nvcc printed, with the number of further ones.
ProgramNote notes_compiler(Arena *arena, Str log);

// The program's own output: everything before the CPU device's report.
Str notes_output(Str log);

// The hazards that simt --check printed. Returns their number.
size_t notes_hazards(Arena *arena, Str log, ProgramNote **hazards);

// Why simt stopped or refused a kernel: `simt: KERNEL: FILE:LINE: TEXT`. Empty if it did not.
ProgramNote notes_stop(Str log);

// Why a program with this exit status printed no results, with its last line of output.
Str notes_exit(Arena *arena, Str log, int status);

// --- argument.c ---

// A line of a report, in which `argument 2` becomes `argument 2 (out)`, as this kernel calls it in
// the source.
Str argument_names(Arena *arena, Str source, Str kernel, Str line);

#endif

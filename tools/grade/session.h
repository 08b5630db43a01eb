// Session: what one run of grade works on, and what its parts have in common.
#ifndef GRADE_SESSION_H
#define GRADE_SESSION_H

#include "book/book.h"
#include "grade/judge.h"
#include "grade/progress.h"

typedef struct {
    Arena *arena;
    const ChunkTable *table;
    Book *book;
    ProgramTools tools;
    const char *work;   // the reader's folder
    const char *answer; // that was given, or NULL
    bool solution;      // the solution is graded, not the reader's file
} Session;

// `4.1`.
Str session_number(const Session *session, const Exercise *exercise);

// The chapter that the exercise stands in.
Str session_chapter(const Session *session, const Exercise *exercise);

// Where recorded numbers are looked up for its formulas.
KeyScope session_scope(const Session *session, const Exercise *exercise);

// 04_padded_doubles, of code/exercises/04_padded_doubles.cu; empty: it has no program.
Str session_name(const Session *session, const Exercise *exercise);

// WORK/04_padded_doubles.cu.
Str session_file(const Session *session, const Exercise *exercise);

// What that file starts as: the starter, below a line that says whose file it is.
Str session_work(const Session *session, const Exercise *exercise);

// What has been graded before: WORK/progress.csv.
Progress session_progress(const Session *session);

// What the reader's file is graded by, in a hash: it changes with the file and with the exercise.
Str session_hash(const Session *session, const Exercise *exercise, Str text);

// Is BUILD/exercises/NAME the program of NAME.cu beside it, by this compiler and this grade? Then
// it need not be compiled again.
bool session_is_compiled(const Session *session, Str name);

// Runs the exercise's own program: the solution, or that of a number that is asked. What is there
// from an earlier run of the same source is taken. False: a fault was printed.
bool session_own(const Session *session, const Exercise *exercise, Program *program);

// Prints FILE:LINE: message for a place in the exercise's chapter.
void session_say(const Session *session, const Exercise *exercise, size_t line, Str message);

// --- what is done with a session ---

// Prints a line for each exercise, how far the reader is with it, and how many are done. Returns
// the exit status, 0.
int list(const Session *session);

// Grades one exercise for its reader, and says what is missing and what helps. The exit status: 0
// if all demands hold, 1 if not, 2 if there is nothing to grade it by.
int verdict(const Session *session, const Exercise *exercise);

// Checks that an exercise does what it is for: its solution passes, its starter does not, and the
// demand that names a wrong variant catches it. Prints `ok NUMBER: WHAT`, or `not ok NUMBER: WHAT`
// with indented lines below. False: something does not hold.
bool prove(const Session *session, const Exercise *exercise);

#endif

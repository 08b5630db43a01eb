// Session: the inputs of one run of grade, and functions that its commands share.
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
    const char *answer; // the reader's answer, or NULL
    bool solution;      // grade the solution, not the reader's file
} Session;

// The exercise's number, such as 4.1.
Str session_number(const Session *session, const Exercise *exercise);

// The path of the exercise's chapter.
Str session_chapter(const Session *session, const Exercise *exercise);

// The scope for recorded numbers in the exercise's formulas.
KeyScope session_scope(const Session *session, const Exercise *exercise);

// The program's name, as 04_padded_doubles of code/exercises/04_padded_doubles.cu, or empty.
Str session_name(const Session *session, const Exercise *exercise);

// The reader's file: WORK/04_padded_doubles.cu.
Str session_file(const Session *session, const Exercise *exercise);

// The initial content of that file: the starter, after a line that says whose file it is.
Str session_work(const Session *session, const Exercise *exercise);

// Whether the text of the reader's file is still that of the starter.
bool session_is_starter(const Session *session, const Exercise *exercise, Str text);

// The reader's progress, from WORK/progress.csv.
Progress session_progress(const Session *session);

// A hash of the reader's file and of the exercise, which changes when either does.
Str session_hash(const Session *session, const Exercise *exercise, Str text);

// Whether BUILD/exercises/NAME is up to date with NAME.cu, the compiler and grade.
bool session_is_compiled(const Session *session, Str name);

// Runs the exercise's own program: its solution, or the program of a question. Reuses an up-to-date
// program. False: an error was printed.
bool session_own(const Session *session, const Exercise *exercise, Program *program);

// Prints FILE:LINE: message for a line of the exercise's chapter.
void session_error(const Session *session, const Exercise *exercise, size_t line, Str message);

// --- commands ---

// Prints the reader's progress on each exercise, and how many are done. Returns exit status 0.
int list(const Session *session);

// Grades one exercise and prints what fails, with a hint. Returns the exit status: 0 if all demands
// hold, 1 if not, 2 if it cannot be graded.
int verdict(const Session *session, const Exercise *exercise);

// Checks that an exercise works: its solution passes, its starter fails, and every wrong variant
// fails the demand that it names. Prints `ok NUMBER: WHAT`, or `not ok NUMBER: WHAT` with indented
// lines below. Returns whether all checks passed.
bool prove(const Session *session, const Exercise *exercise);

#endif

// Key: the name of a recorded number, `[CHAPTER/]KERNEL[@N[xC]].FIELD`, and its lookup.
//
// CHAPTER is two digits or a capital letter (default: the scope's chapter). KERNEL is a name from
// the lab's table. N is a number of elements such as 4096 or 4Ki (default: 25,600,000 if it was
// recorded, else the only n). `*` means every kernel or, after @, every n. NxC is a shape, N
// elements in rows of C each, and is looked up in another file: shapes.h. FIELD is a field of the
// GPU tables (key_field) or a counter, a column of cpu.csv.
#ifndef NUMBERS_KEY_H
#define NUMBERS_KEY_H

#include "numbers/results.h"
#include "numbers/value.h"

// The current source of a chapter's lab. hash[PROGRAM_LAB] is the hash of its tangled code; the
// others also cover the program that measures in the lab's place. `device` is the one named by
// device= of the lab's block; empty: the reference device.
typedef struct {
    Str chapter;
    uint64_t hash[PROGRAM_COUNT];
    Str device;
} KeySource;

// A number that formulas refer to by name, one or more words with dots between.
typedef struct {
    Str name;
    Value value;
} KeyNamed;

// The context in which keys are looked up.
typedef struct {
    Arena *arena;
    const Results *results;
    Str reference; // name of the reference device
    const KeySource *sources;
    size_t source_count;
    Str chapter;           // of keys without a chapter
    Str device;            // overrides the chapter's device; empty: it does not
    const KeyNamed *named; // numbers besides the recorded ones, such as the counts of one run
    size_t named_count;
} KeyScope;

typedef struct {
    Str chapter;
    Str kernel; // `*`: every kernel of the chapter except read_ceiling
    bool has_n;
    bool every_n;
    bool or_largest; // if there are several n without a default, take the largest
    double n;
    double cols; // of a shape: the length of its rows; 0: not a shape
} Key;

// The file of a field: results/<device>.csv, <device>-limits.csv or predicted/<device>.csv.
typedef enum { FROM_TIMES, FROM_LIMITS, FROM_PREDICTED, KEY_ORIGINS } KeyOrigin;

typedef struct {
    Str name;   // in keys and tables of the book
    Str column; // in results/<device>.csv
    Unit unit;
    Str title; // heading of a table column
    KeyOrigin from;
} KeyField;

// The field of the GPU tables with that name, or NULL.
const KeyField *key_field(Str name);

// Explains that a name is neither a field nor a counter, and suggests the most similar one.
void key_say_unknown(const ResultTable *counters, Str name, Buf *why);

// The heading of a counter column: "shared load conflicts" for `shared_ld_conflicts`.
Str key_counter_title(Arena *arena, Str column);

// The chapter that a file's name starts with: `04` for `chapters/04-bank-conflicts.md`, `A` for
// `chapters/A-tools.md`; empty when there is none.
Str key_chapter_of(Str path);

// The chapter's number in prose: `4` for `04`, `A` for `A`.
Str key_chapter_number(Str chapter);

// Takes a count such as 4096 or 4Ki off *text. False: *text does not start with one.
bool key_take_count(Str *text, double *count);

// Takes a key without its field off *text. False: *text does not start with one.
bool key_take(const KeyScope *scope, Str *text, Key *key);

// The rows of a table that a key selects, in file order.
typedef struct {
    const ResultTable *table;
    const ResultRow **rows;
    size_t count;
} KeyRows;

// Looks up the rows of a GPU table that a key selects: one row, or with `*` at least one. If a
// kernel was recorded with several launch shapes at one n, the first counts. False: `why` says what
// is missing.
bool key_rows(const KeyScope *scope, const ResultTable *device, const Key *key, KeyRows *rows,
              Buf *why);

// Looks up the row of cpu.csv for a key without `*`. Of several launch shapes, prefers the one that
// the reference device recorded, else the one with the most thread instructions.
const ResultRow *key_counters(const KeyScope *scope, const Key *key, Buf *why);

// The value of a field in a row of a GPU table, or of a counter of cpu.csv.
bool key_field_value(const KeyScope *scope, const ResultTable *device, const ResultRow *row,
                     const KeyField *field, Value *value, Buf *why);
bool key_counter_value(const KeyScope *scope, const Key *key, Str column, Value *value, Buf *why);

// Whether this hash in the results differs from the one of the chapter's lab now.
bool key_source_is_stale(const KeyScope *scope, Str chapter, Str source);
// Whether the row was recorded from another source than the lab's current one.
bool key_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row);
// The same for a counter, possibly one of machine code.
bool key_counter_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                          Str column);
// The same for a value from one of a device's files.
bool key_origin_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                         KeyOrigin from);

// The value of `device`, `device.NAME` or `cpu.NAME`, a fact of the file of the chapter's device or
// of cpu.csv, of `machine.NAME`, a latency or rate of that device from DEVICE-machine.csv, or of
// `model.NAME`, an error of the times predicted for it.
bool key_fact(const KeyScope *scope, Str table, Str name, Value *value, Buf *why);

// A fact as text, with versions in the form 13.0; empty if the file lacks it. A fact of the scope's
// chapter, such as `toolkit of 18`, takes precedence over that of the whole file.
Str key_fact_text(const KeyScope *scope, const ResultTable *table, Str name);

// A latency or rate of the chapter's device. Cycles are plain numbers and a gigahertz is
// UNIT_CLOCK, so that 700 cycles divided by a clock are a time. Bytes per cycle are bytes.
bool key_machine(const KeyScope *scope, Str name, Value *value, Buf *why);

// A column of the chapter's device and a group of kernels in predicted/errors.csv: `seen_median` is
// the median of the group `seen`. Errors are ratios, the others counts.
bool key_model(const KeyScope *scope, Str name, Value *value, Buf *why);

// The table for keys of a chapter: that of the device its lab names, else the reference device's.
// NULL: `why` says which file is missing.
const ResultTable *key_device(const KeyScope *scope, Str chapter, Buf *why);

#endif

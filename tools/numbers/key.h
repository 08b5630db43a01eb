// Key: the name of a recorded number, `[CHAPTER/]KERNEL[@N[xC]].FIELD`, and how it is looked up.
//
// CHAPTER is two digits or a capital letter (default: the chapter that asks), KERNEL a name from
// the lab's table, N a number of elements, Ki, Mi and Gi allowed (default: 25,600,000 when it was
// recorded, else the only n). `*` stands for every kernel or, after @, every n. N elements in rows
// of C each are a shape, which stands in another file: shapes.h. FIELD is a field of the GPU tables
// (key_field) or a counter: a column of cpu.csv.
#ifndef NUMBERS_KEY_H
#define NUMBERS_KEY_H

#include "numbers/results.h"
#include "numbers/value.h"

// What a chapter's lab is now: the hash of its tangled code, or of this with the program behind
// it that measures in its place, by ResultProgram; and the device that its rows come from when that
// is not the reference device (device= of the lab's block).
typedef struct {
    Str chapter;
    uint64_t hash[PROGRAM_COUNT];
    Str device;
} KeySource;

// A number that formulas call by a word, or by words with dots between.
typedef struct {
    Str name;
    Value value;
} KeyNamed;

// Where keys are looked up.
typedef struct {
    Arena *arena;
    const Results *results;
    Str reference; // name of the reference device
    const KeySource *sources;
    size_t source_count;
    Str chapter;           // the chapter that asks
    Str device;            // whose rows are meant, whatever the chapter; empty: as the chapter says
    const KeyNamed *named; // known besides what is recorded, such as what one run has counted
    size_t named_count;
} KeyScope;

typedef struct {
    Str chapter;
    Str kernel; // `*`: every kernel of the chapter, the pure-read kernel excepted
    bool has_n;
    bool every_n;
    bool or_largest; // of several n without a default: the largest one
    double n;
    double cols; // of a shape: the length of its rows; 0: none is meant
} Key;

// Where a field stands: in results/<device>.csv, <device>-limits.csv or predicted/<device>.csv.
typedef enum { FROM_TIMES, FROM_LIMITS, FROM_PREDICTED, KEY_ORIGINS } KeyOrigin;

typedef struct {
    Str name;   // in keys and tables
    Str column; // in results/<device>.csv
    Unit unit;
    Str title; // heading of a table column
    KeyOrigin from;
} KeyField;

// The field of that name of the GPU tables, or NULL.
const KeyField *key_field(Str name);

// Says of a name that it is no field and no counter, and which one is most like it.
void key_say_unknown(const ResultTable *counters, Str name, Buf *why);

// The words of a counter column: `shared_ld_conflicts` reads "shared load conflicts".
Str key_counter_title(Arena *arena, Str column);

// The chapter that a file's name starts with: `04` for `chapters/04-bank-conflicts.md`, `A` for
// `chapters/A-tools.md`; empty when there is none.
Str key_chapter_of(Str path);

// How text calls a chapter: `4` for `04`, `A` for `A`.
Str key_chapter_number(Str chapter);

// Takes a count off *text: 4096 or 4Ki. False: *text does not start with one.
bool key_take_count(Str *text, double *count);

// Takes a key without its field off *text. False: *text does not start with one.
bool key_take(const KeyScope *scope, Str *text, Key *key);

// Rows of a table that a key names, in file order.
typedef struct {
    const ResultTable *table;
    const ResultRow **rows;
    size_t count;
} KeyRows;

// The rows of a GPU table that the key names: one row, or for `*` at least one. Where one kernel
// was recorded with several launch shapes at one n, the first counts. False: `why` says what is
// missing.
bool key_rows(const KeyScope *scope, const ResultTable *device, const Key *key, KeyRows *rows,
              Buf *why);

// The row of cpu.csv for a key without `*`. Of several launch shapes the one that the reference
// device recorded is taken, else the one with the most thread instructions.
const ResultRow *key_counters(const KeyScope *scope, const Key *key, Buf *why);

// A field of a row of a GPU table, or a counter of cpu.csv.
bool key_field_value(const KeyScope *scope, const ResultTable *device, const ResultRow *row,
                     const KeyField *field, Value *value, Buf *why);
bool key_counter_value(const KeyScope *scope, const Key *key, Str column, Value *value, Buf *why);

// Whether a lab's source with this hash, as results give it, is another than the chapter's is now.
bool key_source_is_stale(const KeyScope *scope, Str chapter, Str source);
// Whether the row came from another source than the chapter's lab has now.
bool key_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row);
// The same for a counter, which may be one of machine code.
bool key_counter_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                          Str column);
// The same for what stands in one of the files of a device.
bool key_origin_is_stale(const KeyScope *scope, const ResultTable *table, const ResultRow *row,
                         KeyOrigin from);

// `device`, `device.NAME` or `cpu.NAME`: facts of the file of the asking chapter's device or of
// cpu.csv; `machine.NAME`: a latency or rate of that device, from DEVICE-machine.csv.
bool key_fact(const KeyScope *scope, Str table, Str name, Value *value, Buf *why);

// The same as text, versions in the form 13.0; empty when the file has no such fact. A fact of the
// asking chapter, `toolkit of 18`, comes before that of the whole file.
Str key_fact_text(const KeyScope *scope, const ResultTable *table, Str name);

// A latency or rate of the asking chapter's device. Cycles are plain numbers and a gigahertz is
// UNIT_CLOCK, so 700 cycles over a clock are a time. Bytes a cycle are bytes.
bool key_machine(const KeyScope *scope, Str name, Value *value, Buf *why);

// The table that keys of a chapter are looked up in: that of the device its lab names, else the
// reference device's. NULL: `why` says which file is missing.
const ResultTable *key_device(const KeyScope *scope, Str chapter, Buf *why);

#endif

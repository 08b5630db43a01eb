// Chunk: the table of all named chunks and file targets of a set of Markdown files, with the
// references between them and all errors in them. tangle/expand.h expands them to programs.
//
// A fenced block with an #id is a chunk. One with file=code/NAME is a file target, and also a chunk
// if it has an #id. All other blocks are prose. A body line with only <<name>>, indented or not, is
// a reference. Names are global over all files.
//
//     ChunkTable table = {.arena = &arena};
//     for each path: chunk_read(&table, path);
//     chunk_check(&table);
//     if (table.error_count) print chunk_errors(&table) and stop
//     for each i in table.chunks: if it has a target, expand_text(&table, i, EXPAND_CLEAN)
//
// Names are unique, except that the variants of an exercise's hole share one: exercise.h.
#ifndef MARKDOWN_CHUNK_H
#define MARKDOWN_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "markdown/exercise.h"
#include "markdown/fence.h"

#define CHUNK_NONE SIZE_MAX

// Limits on the output of one run, so that chunks that double each other end in an error.
#define CHUNK_LIMIT_BYTES ((uint64_t)16 << 20) // of all targets
#define CHUNK_LIMIT_LINES                                                                          \
    ((uint64_t)1000000) // of all targets; an included chunk counts as one more line

typedef struct {
    Str path; // as given
    bool readable;
    Str text;
    FenceParts parts; // empty if unreadable
} ChunkFile;

typedef struct {
    size_t body; // index into the part's body; the source line is part->line + 1 + body
    Str indent;  // white space before <<name>>
    Str name;
    size_t chunk; // the chunk it includes, set by chunk_check; CHUNK_NONE if undefined
} ChunkReference;

typedef struct {
    Str name;              // #id; empty for a file target without one
    Str target;            // file=; empty for a plain chunk
    bool misplaced;        // the target is not a path below code/, which is an error
    size_t file;           // index of the defining file in the table's files
    size_t line;           // of the opening fence
    const FencePart *part; // its text
    size_t exercise; // the exercise around it: index into the table's exercises, or CHUNK_NONE
    Variant variant; // which variant of that exercise's hole it is
    ChunkReference *references; // in line order
    size_t reference_count;
    size_t *users; // chunks that refer to this one, each once, in table order; set by chunk_check
    size_t user_count;
} Chunk;

typedef struct {
    size_t file;
    size_t line;
    Str message;
} ChunkError;

struct ChunkTable {
    Arena *arena;
    ChunkFile *files;
    size_t file_count, file_capacity;
    Chunk *chunks; // in file and line order
    size_t chunk_count, chunk_capacity;
    Exercise *exercises; // in file and line order; complete after chunk_check
    size_t exercise_count, exercise_capacity;
    bool
        swallowed; // a chunk contains the opening line of another, so do not report undefined names
    ChunkError *errors; // after chunk_check: in file and line order
    size_t error_count, error_capacity;
    size_t *slots; // hash table from names to the first chunk of that name; CHUNK_NONE if free
    size_t slot_count;
};

// Reads and scans one more file. Adds errors to the table if it is unreadable, is not UTF-8, or has
// an unterminated fence, bad attributes or a bad target.
void chunk_read(ChunkTable *table, Str path);

// Like chunk_read, for a text in memory, which must outlive the table.
void chunk_add(ChunkTable *table, Str path, Str text);

// Call this once, after the last file. Resolves references, fills `users`, reports chunks that are
// undefined, unused, defined twice, cyclic or too large, and sorts the errors.
void chunk_check(ChunkTable *table);

// Adds an error of the caller's. Call it before chunk_check, which sorts the errors.
void chunk_fail(ChunkTable *table, size_t file, size_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// All errors, one "path:line: message" per line.
Str chunk_errors(const ChunkTable *table);

// The chunk with this name, or CHUNK_NONE; for variants, the starter. Valid after chunk_check.
size_t chunk_find(const ChunkTable *table, Str name);

// The chunk defined by the part with this index in the file's parts, or CHUNK_NONE.
size_t chunk_of_part(const ChunkTable *table, size_t file, size_t part);

// Whether this body line is a reference; if so, sets its indent and name.
bool chunk_is_reference(Str line, Str *indent, Str *name);

#endif

// Chunk: the table of all named chunks and file targets of a set of Markdown files, the references
// between them, and everything that can be wrong with them. tangle/expand.h makes programs of them.
//
// A fenced block with an #id is a chunk, one with file=code/NAME is a file target (it may carry an
// #id too and is then also a chunk); all other blocks are prose. A body line that holds nothing but
// <<name>>, indented or not, is a reference. Names are global over all files.
//
//     ChunkTable table = {.arena = &arena};
//     for each path: chunk_read(&table, path);
//     chunk_check(&table);
//     if (table.error_count) print chunk_errors(&table) and stop
//     for each i in table.chunks: if it has a target, expand_text(&table, i, EXPAND_CLEAN)
//
// Only the hole of an exercise has several chunks of one name, its variants: exercise.h.
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

// What one run may produce at most, so that chunks that double each other end in an error.
#define CHUNK_LIMIT_BYTES ((uint64_t)16 << 20) // of all targets together
#define CHUNK_LIMIT_LINES ((uint64_t)1000000)  // and lines, every chunk pulled in counting as one

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
    size_t chunk; // what it pulls in, set by chunk_check; CHUNK_NONE if undefined
} ChunkReference;

typedef struct {
    Str name;              // #id; empty for a file target without one
    Str target;            // file=; empty for a plain chunk
    bool misplaced;        // the target is no path below code/, which is an error
    size_t file;           // where it is defined: index into the table's files
    size_t line;           // of the opening fence
    const FencePart *part; // its text
    size_t exercise;       // that it stands in: index into the table's exercises, or CHUNK_NONE
    Variant variant;       // of that exercise's hole
    ChunkReference *references; // in line order
    size_t reference_count;
    size_t *users; // chunks with a reference to this one, each once, in table order; chunk_check
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
    bool swallowed;     // a chunk holds the head of another: what is undefined now is no fault
    ChunkError *errors; // after chunk_check: in file and line order
    size_t error_count, error_capacity;
    size_t *slots; // hash table from name to the chunk that defined it first, CHUNK_NONE if free
    size_t slot_count;
};

// Reads and scans one more file. Faults (unreadable, not UTF-8, unterminated fence, bad attributes
// or target) become errors in the table.
void chunk_read(ChunkTable *table, Str path);

// As chunk_read, for a text that is in memory already; it must outlive the table.
void chunk_add(ChunkTable *table, Str path, Str text);

// Call once, after the last file: resolves references, fills `users`, and finds what is undefined,
// unused, doubly defined, cyclic or too large. Sorts the errors. (chunk_check.c)
void chunk_check(ChunkTable *table);

// Adds an error of the caller's own, before chunk_check to have it sorted in.
void chunk_fail(ChunkTable *table, size_t file, size_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// All errors, one "path:line: message" a line.
Str chunk_errors(const ChunkTable *table);

// The chunk with this name, or CHUNK_NONE; of variants the starter. Valid after chunk_check.
size_t chunk_find(const ChunkTable *table, Str name);

// The chunk that the part with this index in the file's parts defines, or CHUNK_NONE.
size_t chunk_of_part(const ChunkTable *table, size_t file, size_t part);

// Is this body line a reference? If so, sets what it is indented by and the name.
bool chunk_is_reference(Str line, Str *indent, Str *name);

#endif

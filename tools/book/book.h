// Book: the state of weaving that all kinds of blocks share: output, errors and key lookup.
//
// blocks.h lists the kinds of blocks. Each has a function that adds one block to the output in the
// form that the target needs, or reports an error with its line. chapters.h combines the blocks.
#ifndef BOOK_BOOK_H
#define BOOK_BOOK_H

#include "book/anchor.h"
#include "numbers/expr.h"

typedef enum {
    BOOK_GITHUB, // Markdown for code hosts: no attributes, no divs, anchors as the host makes them
    BOOK_PANDOC, // Markdown for pandoc: attributes, divs, explicit identifiers
    BOOK_NOTEBOOK, // Markdown cells, as for code hosts but with explicit anchors
} BookStyle;

typedef struct {
    size_t file;
    size_t line;
    Str message;
} BookError;

enum { BOOK_DIV_MAX = 16 };

typedef struct {
    Str name; // its first class
    size_t line;
    bool plain;   // shown without quote marks in targets that have no divs
    bool hidden;  // left out of this target
    size_t hints; // how many hints of an exercise have been woven so far
} BookDiv;

// Where links to a chapter's headings lead. An empty path is the text that is being woven.
typedef struct {
    Str path;
    bool apart; // a separate file, with the anchors of a code host
} BookHome;

// One of several files that a book is woven into.
typedef struct {
    Str path, text;
} BookFile;

typedef struct Prediction Prediction; // predict.h

typedef struct Book Book;
struct Book {
    Arena *arena;
    BookStyle style;
    bool stale_is_error;
    Str title; // of the book; may be empty
    Str up;    // from the output's folder to the working folder: "", "../", …
    const ChunkTable *chunks;
    const bool *harness; // one per chunk: is it part of the harness that all labs share?
    size_t *named_by;    // one per chunk: 1 + the last chunk whose caption has named it
    Anchors anchors;
    const Results *results;
    Str reference; // name of the reference device
    KeySource *sources;
    size_t source_count;
    struct Names *names;               // names.h
    struct Rungs *rungs;               // rungs.h
    const struct Runnables *runnables; // runnable.h; NULL: the page has no engine

    Buf out;
    size_t file; // the chapter that is being woven
    BookDiv divs[BOOK_DIV_MAX];
    int div_count;
    Prediction **predictions; // of that chapter, up to here
    size_t prediction_count;
    size_t prediction_capacity;
    Prediction *prediction; // the one whose div is open, or NULL
    bool more_exercises;    // whether the fold "More exercises" is open
    Str container;          // the prefix of each line of a block inside a list or quote

    BookError *errors;
    size_t error_count;
    size_t error_capacity;

    // Set when the output is notebooks; otherwise NULL.
    const BookHome *homes; // one per chapter
    void (*add_chunk)(Book *book, size_t chunk);
    void (*add_grading)(Book *book, const Exercise *exercise); // at the end of a graded exercise
    void (*add_prediction)(Book *book); // after its question, before its answer
    bool (*add_image)(Book *book, Str path, Buf *text, Buf *why); // the target of an image
    void *cells;                                                  // their state
};

// Reports an error at that line of the chapter that is being woven.
void book_error(Book *book, size_t line, Buf message);
void book_sort_errors(Book *book); // by file and line, without duplicates

// Reports an error if the value is stale and stale values are errors.
void book_check_stale(Book *book, size_t line, Str what, bool stale);

// Reports attributes of a directive that are not in `known`, which ends with an empty name.
bool book_check_attributes(Book *book, const FencePart *part, const Str *known);

// Finds the file that from= of a directive names. Reports an error if the attribute is missing.
bool book_from(Book *book, const FencePart *part, const char **path);

Str book_chapter(const Book *book);          // 04, A: from the file's name
KeyScope book_scope(const Book *book);       // for keys in that chapter
Str book_source(const Book *book, Str path); // the first line of a file woven from `path`
Str book_provenance(const Book *book);       // one or two sentences about the sources

// Adds text to the output, each line prefixed by the marks of its container.
void book_add(Book *book, Str text);
void book_blank(Book *book); // adds a blank line, unless the output ends with one

// Opens and closes a fold under a label, followed by `number` unless that is 0.
void book_open_fold(Book *book, Str class_name, const char *label, size_t number);
void book_close_fold(Book *book);

#endif

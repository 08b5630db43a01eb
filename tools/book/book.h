// Book: what is being woven, and what all its blocks stand on: text to the output, faults, and
// where keys are looked up.
//
// blocks.h lists the kinds of blocks. The function of each adds one block of a chapter to the text,
// in the form that the target needs, or says in a located error why it cannot. chapters.h puts the
// blocks together.
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
    bool plain;   // shown without the marks of a quote, where there are no divs
    size_t hints; // of an exercise: those that were woven
} BookDiv;

// Where the headings of a chapter are: empty for the text that is being woven.
typedef struct {
    Str path;
    bool apart; // as a file by itself, with the anchors that a code host makes
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
    const bool *harness; // one per chunk: is it part of what the labs have in common?
    size_t *named_by;    // one per chunk: the chunk whose caption has named it last, plus one
    Anchors anchors;
    const Results *results;
    Str reference; // name of the reference device
    KeySource *sources;
    size_t source_count;
    struct Names *names; // names.h
    struct Rungs *rungs; // rungs.h

    Buf out;
    size_t file; // the chapter that is being woven
    BookDiv divs[BOOK_DIV_MAX];
    int div_count;
    Prediction **predictions; // of that chapter, so far
    size_t prediction_count;
    size_t prediction_capacity;
    Prediction *prediction; // the one whose div is open, or NULL
    bool more_exercises;    // the fold of those behind the first few is open
    Str container;          // what a block inside a list or quote has before each of its lines

    BookError *errors;
    size_t error_count;
    size_t error_capacity;

    // Set where the book is taken apart into several files of cells; otherwise NULL.
    const BookHome *homes; // one per chapter
    void (*add_chunk)(Book *book, size_t chunk);
    void (*add_grading)(Book *book, const Exercise *exercise); // at the end of one that is graded
    void (*add_prediction)(Book *book); // whose question has been woven, and whose answer not
    bool (*add_image)(Book *book, Str path, Buf *text, Buf *why); // the target of an image
    void *cells;                                                  // what these work on
};

// A fault at that line of the chapter that is being woven.
void book_error(Book *book, size_t line, Buf message);
void book_sort_errors(Book *book); // into file and line order, each once

// Reports a value that is stale if that is an error.
void book_check_stale(Book *book, size_t line, Str what, bool stale);

// Every attribute of a directive must be one of these names (ended by an empty one).
bool book_check_attributes(Book *book, const FencePart *part, const Str *known);

Str book_chapter(const Book *book);          // of the file: 04, A
KeyScope book_scope(const Book *book);       // where the keys of that chapter are looked up
Str book_source(const Book *book, Str path); // what a file woven from `path` says first
Str book_provenance(const Book *book);       // in one sentence or two

// Text to the output, each line behind the marks of the container that it stands in.
void book_add(Book *book, Str text);
void book_blank(Book *book); // a blank line, unless there is one

// The lines that open and close what is folded below some words, with a number if it is not 0.
void book_open_fold(Book *book, Str class_name, const char *label, size_t number);
void book_close_fold(Book *book);

#endif

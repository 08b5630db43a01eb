// Book: chapters and results on their way into one Markdown text.
//
// Each book_* function adds one block of a chapter to the text, in the form that the target needs,
// or says in a located error why it cannot.
#ifndef BOOK_H
#define BOOK_H

#include "book/anchor.h"
#include "book/expr.h"

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
} BookDiv;

// Where the headings of a chapter are: empty for the text that is being woven.
typedef struct {
    Str path;
    bool apart; // as a file by itself, with the anchors that a code host makes
} BookHome;

typedef struct Book Book;
struct Book {
    Arena *arena;
    BookStyle style;
    bool stale_is_error;
    Str title; // of the book; may be empty
    Str up;    // from the output's folder to the working folder: "", "../", …
    const ChunkTable *chunks;
    Anchors anchors;
    const Results *results;
    Str reference; // name of the reference device
    KeySource *sources;
    size_t source_count;

    Buf out;
    size_t file; // the chapter that is being woven
    BookDiv divs[BOOK_DIV_MAX];
    int div_count;
    Str container; // what a block inside a list or quote has before each of its lines

    BookError *errors;
    size_t error_count;
    size_t error_capacity;

    // Set where the book is taken apart into several files of cells; otherwise NULL.
    const BookHome *homes; // one per chapter
    void (*add_chunk)(Book *book, size_t chunk);
    bool (*add_image)(Book *book, Str path, Buf *text, Buf *why); // the target of an image
    void *cells;                                                  // what these two work on
};

// The whole book; its text is in book->out, its faults in book->errors, in file and line order.
void book_weave(Book *book);

// Its steps, for a book that does not become one text: open once, then set book->file and weave
// each chapter that is wanted.
void book_open(Book *book);
void book_chapter_text(Book *book);
void book_sort_errors(Book *book);
Str book_provenance(const Book *book); // in one sentence or two

// What the blocks stand on: book_text.c.
void book_error(Book *book, size_t line, Buf message);
KeyScope book_scope(const Book *book);
Str book_chapter(const Book *book);

// Text to the output, each line behind the marks of the container that it stands in.
void book_add(Book *book, Str text);
void book_blank(Book *book); // a blank line, unless there is one

// The blocks of a chapter.
void book_prose(Book *book, const FencePart *part); // book_prose.c
void book_chunk(Book *book, size_t chunk);          // book_code.c
void book_plain_code(Book *book, const FencePart *part);
void book_lines(Book *book, const FencePart *part);  // book_lines.c
void book_table(Book *book, const FencePart *part);  // book_table.c
void book_csv(Book *book, const FencePart *part);    // book_csv.c
void book_claims(Book *book, const FencePart *part); // book.c

// Running text as it stands in the book: values filled, links followed, measurements checked.
Str book_inline(Book *book, Str text, size_t line); // book_prose.c

// The name of a chunk's anchor, and what readers call it.
Str book_chunk_anchor(const Book *book, size_t chunk);
Str book_chunk_name(const Book *book, size_t chunk);

// Reports a value that is stale if that is an error.
void book_check_stale(Book *book, size_t line, Str what, bool stale);

// Every attribute of a directive must be one of these names (ended by an empty one).
bool book_check_attributes(Book *book, const FencePart *part, const Str *known);

#endif

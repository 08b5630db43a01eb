// Runnable: which listings are kernels that the page can run with its engine, and which exercises
// it can check.
#ifndef BOOK_RUNNABLE_H
#define BOOK_RUNNABLE_H

#include "book/book.h"
#include "book/stages.h"

typedef struct {
    Str chapter;
    size_t chunk; // the file target
    Stage *stages;
    size_t stage_count;
} RunnableLab;

// A listing: the kernel that it defines and the lab that launches it.
typedef struct {
    Str kernel;
    const RunnableLab *lab; // NULL: not runnable
} RunnableListing;

struct Runnables {
    RunnableLab *labs;
    size_t lab_count;
    RunnableListing *listings; // one per chunk
};

// Finds the kernels of the labs, and sets book->runnables: the page has an engine.
void runnable_collect(Book *book);

// Whether the page can check this exercise. Without an engine, it checks none.
bool runnable_is_checked(const Book *book, const Exercise *exercise);

// Adds the classes and attributes of a listing to a div: .runnable data-kernel="NAME" data-lab="04"
// for a kernel of a lab that the page can run, .editable for the hole of an exercise. Nothing if
// the page has no engine.
void runnable_add_classes(const Book *book, Buf *text, size_t chunk);
void runnable_add_attributes(const Book *book, Buf *text, size_t chunk);

// A chunk's lines, as they are in the chapter.
Str runnable_text(const ChunkTable *table, size_t chunk);

#endif

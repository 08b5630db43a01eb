// Code: chunks with their links both ways, and code that belongs to no program.
#ifndef BOOK_CODE_H
#define BOOK_CODE_H

#include "book/book.h"

void code_weave(Book *book, size_t chunk);
void code_weave_plain(Book *book, const FencePart *part);

// ``` {.output from=../results/first/NAME.txt}: the text of this file, which a program printed.
void code_weave_output(Book *book, const FencePart *part);

void code_weave_bare(Book *book, const FencePart *part); // without caption, name or attributes

// What readers call a chunk: its name, or the path of its file.
Str code_name(const Book *book, size_t chunk);

// Is a chunk the program of an exercise that is linked and not shown? It is a file to open where it
// is worked on, around a hole, and where the reader is among files: on a code host.
bool code_links_program(const Book *book, size_t chunk);

#endif

// Anchor: the headings of a set of Markdown files, the names that links use for them, and the names
// that they get when the files become one book.
//
// In a link, `other.md#a-heading` names a heading as a code host does: lower case, punctuation
// dropped, spaces as hyphens, -1, -2 … for repetitions in one file; or by its own {#id}.
// Headings are ATX headings (`## Title`) outside fences.
#ifndef BOOK_ANCHOR_H
#define BOOK_ANCHOR_H

#include "base/map.h"
#include "markdown/chunk.h"

typedef struct {
    size_t file;
    size_t line;
    int level;
    Str title; // Markdown, without hashes and attributes
    Str id;    // of its own, or empty
    Str slug;  // within its file
    Str name;  // within the book
} Anchor;

typedef struct {
    Arena *arena;
    Anchor *items; // in file and line order
    size_t count;
    size_t capacity;
    Map fragments; // what a link may say, behind the number of its file: the index of the heading
} Anchors;

typedef enum {
    ANCHOR_HOST,    // what a code host derives from the headings of the book
    ANCHOR_CHAPTER, // ch-04, ch-04-a-heading: explicit, independent of other chapters
} AnchorNames;

// A heading line taken apart: level 1 to 6, title, the {…} at its end. False: not a heading.
bool anchor_heading(Str line, int *level, Str *title, Str *attributes);

// A title of level 1 without an `Appendix A:` that the author wrote before it.
Str anchor_chapter_title(Str chapter, Str title);

// The title with which a heading stands in the book: those of level 1 get their chapter before it.
Str anchor_book_title(Arena *arena, Str chapter, int level, Str title);

// Collects the headings of all files. `first` are titles that the book has before the chapters.
Anchors anchor_collect(const ChunkTable *files, AnchorNames names, const Str *first,
                       size_t first_count);

// The heading at that line, or NULL.
const Anchor *anchor_at(const Anchors *anchors, size_t file, size_t line);

// The heading that `fragment` names in a file; an empty one names the file's first heading. NULL:
// there is none.
const Anchor *anchor_find(const Anchors *anchors, size_t file, Str fragment);

#endif

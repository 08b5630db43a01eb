// Anchor: the headings of a set of Markdown files, the names by which links refer to them, and
// their names in the book that the files become.
//
// The link `other.md#a-heading` refers to a heading as on a code host: lower case, no punctuation,
// hyphens for spaces, and -1, -2 … for repetitions within a file. A heading with {#id} can also be
// named by that id. Headings are ATX headings (`## Title`) outside fences.
#ifndef BOOK_ANCHOR_H
#define BOOK_ANCHOR_H

#include "base/map.h"
#include "markdown/chunk.h"

typedef struct {
    size_t file;
    size_t line;
    int level;
    Str title; // Markdown, without hashes and attributes
    Str id;    // from {#id}, or empty
    Str slug;  // unique within its file
    Str name;  // unique within the book
} Anchor;

typedef struct {
    Arena *arena;
    Anchor *items; // in file and line order
    size_t count;
    size_t capacity;
    Map fragments; // from a file's number and a link's fragment to the heading's index
} Anchors;

typedef enum {
    ANCHOR_HOST,    // what a code host derives from the headings of the book
    ANCHOR_CHAPTER, // ch-04, ch-04-a-heading: explicit, independent of other chapters
} AnchorNames;

// Parses a heading line: its level (1 to 6), title and trailing {…}. False: it is no heading.
bool anchor_heading(Str line, int *level, Str *title, Str *attributes);

// The title of a level-1 heading, without a leading `Appendix A:`.
Str anchor_chapter_title(Str chapter, Str title);

// The heading's title in the book. At level 1 the chapter's number comes first.
Str anchor_book_title(Arena *arena, Str chapter, int level, Str title);

// Collects the headings of all files. `first` lists the titles that precede the chapters in the
// book.
Anchors anchor_collect(const ChunkTable *files, AnchorNames names, const Str *first,
                       size_t first_count);

// The heading at that line, or NULL.
const Anchor *anchor_at(const Anchors *anchors, size_t file, size_t line);

// The heading of a file that `fragment` names, or NULL. An empty fragment names the first heading.
const Anchor *anchor_find(const Anchors *anchors, size_t file, Str fragment);

#endif

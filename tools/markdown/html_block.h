// HTML blocks in Markdown, CommonMark 0.31 section 4.6: a fence inside one is not a fence.
#ifndef MARKDOWN_HTML_BLOCK_H
#define MARKDOWN_HTML_BLOCK_H

#include <stdbool.h>

#include "base/str.h"

// The seven kinds of the specification, in its order: they differ in how they end.
typedef enum {
    HTML_VERBATIM = 1, // <pre>, <script>, <style>, <textarea>
    HTML_COMMENT,
    HTML_INSTRUCTION,
    HTML_DECLARATION,
    HTML_CDATA,
    HTML_STRUCTURE, // <div>, <table> and so on; ends at a blank line
    HTML_ANY_TAG    // a complete tag alone on its line; ends at a blank line
} HtmlBlock;

// Does this line, without its indent, start an HTML block? An HTML_ANY_TAG never does in the
// middle of a paragraph.
bool html_block_starts(Str line, bool in_paragraph, HtmlBlock *kind);

// Is this the last line of such a block? It can be the one that started it.
bool html_block_ends(HtmlBlock kind, Str line);

#endif

// HTML blocks in Markdown, CommonMark 0.31 section 4.6: a fence inside one is not a fence.
#ifndef MARKDOWN_HTML_BLOCK_H
#define MARKDOWN_HTML_BLOCK_H

#include <stdbool.h>

#include "base/str.h"

// The seven kinds of CommonMark, in its order; each ends differently.
typedef enum {
    HTML_VERBATIM = 1, // <pre>, <script>, <style>, <textarea>
    HTML_COMMENT,
    HTML_INSTRUCTION,
    HTML_DECLARATION,
    HTML_CDATA,
    HTML_STRUCTURE, // <div>, <table> and so on; ends at a blank line
    HTML_ANY_TAG    // a complete tag alone on its line; ends at a blank line
} HtmlBlock;

// Whether a line without its indent starts an HTML block. HTML_ANY_TAG cannot interrupt a
// paragraph.
bool html_block_starts(Str line, bool in_paragraph, HtmlBlock *kind);

// Whether this line, which may also be the first, ends such a block.
bool html_block_ends(HtmlBlock kind, Str line);

#endif

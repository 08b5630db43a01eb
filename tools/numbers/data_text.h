// Data text: names, notes and dates from results, as Markdown that shows them and nothing else.
//
// Whatever a CSV file says is data: no tag, link, emphasis, formula, list or cell of a table begins
// in it, on code hosts (CommonMark and GitHub's extensions), in notebooks, or in pandoc.
#ifndef NUMBERS_DATA_TEXT_H
#define NUMBERS_DATA_TEXT_H

#include "base/str.h"

// As running text, also at the start of a paragraph or in a cell of a table.
void data_text_add(Buf *out, Str text);

// As code in backticks. `bars_escaped`: in a cell of a table for code hosts, where a bar ends the
// cell even inside of code.
void data_text_add_code(Buf *out, Str text, bool bars_escaped);

#endif

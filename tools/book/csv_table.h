// Csv table: ``` {.csv from=../results/NAME.csv columns="a b" caption="…"} shows a CSV file as it
// is, all its columns or those that are named, and where="COLUMN=VALUE COLUMN=VALUE" such rows
// alone; in a column `device`, recorded ones by their names.
#ifndef BOOK_CSV_TABLE_H
#define BOOK_CSV_TABLE_H

#include "book/book.h"

void csv_table_weave(Book *book, const FencePart *part);

#endif

// List: all exercises, and how far the reader is with each.
#ifndef GRADE_LIST_H
#define GRADE_LIST_H

#include "grade/session.h"

// Prints a line for each, and how many are done. Returns the exit status, 0.
int list(const Session *session);

#endif

// Verdict: grades one exercise for its reader, and says what is missing and what helps.
#ifndef GRADE_VERDICT_H
#define GRADE_VERDICT_H

#include "grade/session.h"

// The exit status: 0 if all demands hold, 1 if not, 2 if there is nothing to grade it by.
int verdict(const Session *session, const Exercise *exercise);

#endif

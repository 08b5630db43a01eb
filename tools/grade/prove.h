// Prove: whether an exercise does what it is for: its solution passes, its starter does not, and
// each wrong variant is caught by the demand that names it.
#ifndef GRADE_PROVE_H
#define GRADE_PROVE_H

#include "grade/session.h"

// Prints `ok NUMBER: WHAT`, or `not ok NUMBER: WHAT` with indented lines below, for each thing that
// must hold. False: something does not.
bool prove(const Session *session, const Exercise *exercise);

#endif

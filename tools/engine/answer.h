// Answer: a run that a reader of the page requests. See tools/page/run-engine.js.
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/run.h"

// Compiles the program of a request and runs its stage. False: see run->error, or the compiler's
// message, which answer_written() knows.
bool answer_run(Run *run, Str request);
// Members of Run.
void answer_launched(Run *run, const LaunchReport *report, const char *error, Str trace);
Str answer_written(Run *run, const char *error);

#endif

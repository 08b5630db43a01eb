// Answer: a run that a reader of the page requests: of a stage of a lab, or of an exercise.
// tools/page/run-engine.js documents requests and answers.
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "engine/host.h"
#include "engine/request.h"
#include "engine/run.h"
#include "simt/cudac/parse/token.h"

// --- for engine.c ---

// False: see run->error, or the compiler's message, which answer_written() knows.
bool answer_run(Run *run, Str request);
// Members of Run.
void answer_launched(Run *run, const LaunchReport *report, const char *error, Str trace);
Str answer_written(Run *run, const char *error);

// --- what both kinds of run use ---

// The file of the reader's text.
extern const char answer_listing[];

// Compiles files of a request, as `parse` finds what to compile in them, and makes the result the
// module of the launches that follow. NULL: it was refused.
typedef const Tree *AnswerParse(Arena *arena, const TokenList *tokens, const void *context,
                                Refusal *refusal);
const Tree *answer_compile(Run *run, const RequestValue *files, AnswerParse *parse,
                           const void *context);
// Refuses a place of the source. Returns false.
bool answer_refuse(Place place, const char *message);
bool answer_is_refused(void);
// Makes a host that launches in the run, which is its context.
void answer_host(Run *run, Host *host);

// The sums over launches.
typedef struct {
    Counters counters;
    LineCounters *lines;
    size_t line_count, line_capacity;
    uint64_t launches, blocks, threads, longest_warp;
} Totals;
void answer_add(Totals *totals, Arena *arena, const Pending *launch, const LaunchReport *report);

// The members "file" and "line".
void answer_put_place(Json *json, const char *file, uint32_t line);

// --- stage.c ---

bool stage_run(Run *run, const RequestValue *request);
void stage_launched(Run *run, const LaunchReport *report, Str trace);
// Writes its members of the answer.
void stage_put(Run *run, Json *json, const char *error);

// --- exercise.c ---

bool exercise_run(Run *run, const RequestValue *request);
void exercise_launched(Run *run, const LaunchReport *report);
void exercise_put(Run *run, Json *json);

#endif

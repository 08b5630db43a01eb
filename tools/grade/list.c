// Lists all exercises with the reader's progress.
#include <stdio.h>

#include "base/file.h"
#include "grade/session.h"

typedef struct {
    const Session *session;
    Progress progress;
    size_t graded, done;
} Listing;

// Reads the reader's file; false: there is none, or it is still the starter.
static bool read_work(const Session *session, const Exercise *exercise, Str *text) {
    char *path = str_terminated(session->arena, session_file(session, exercise));
    return file_read_text(session->arena, path, text) &&
           !session_is_starter(session, exercise, *text);
}

static void add_state(Listing *listing, const Exercise *exercise, Buf *out) {
    const Session *session = listing->session;
    const ProgressRow *row = progress_of(&listing->progress, exercise->id);
    Str text;
    if (exercise->kind == EXERCISE_EXPLORE) {
        buf_add(out, STR("not graded"));
        return;
    }
    listing->graded++;
    bool tried = exercise->kind == EXERCISE_COUNT || read_work(session, exercise, &text);
    bool same = row && tried &&
                (exercise->kind == EXERCISE_COUNT ||
                 str_equal(row->graded, session_hash(session, exercise, text)));
    if (row && row->met == row->of) {
        listing->done++;
        buf_add(out, tried && !same ? STR("done, and changed since") : STR("done"));
        return;
    }
    if (!tried) {
        buf_add(out, STR("never tried"));
        return;
    }
    if (!row) {
        buf_add(out, exercise->kind == EXERCISE_BUILD ? STR("not graded yet") : STR("never tried"));
        return;
    }
    if (!same)
        buf_add(out, STR("changed since it was graded"));
    else if (exercise->kind == EXERCISE_COUNT)
        buf_format(out, "not solved yet: %.*s is wrong", STR_ARG(row->graded));
    else
        buf_format(out, "not solved yet: %zu of %zu requirements met", row->met, row->of);
}

int list(const Session *session) {
    Listing listing = {.session = session, .progress = session_progress(session)};
    for (size_t i = 0; i < session->table->exercise_count; i++) {
        const Exercise *exercise = &session->table->exercises[i];
        Buf state = {.arena = session->arena};
        add_state(&listing, exercise, &state);
        printf("%6.*s  %-10s  %-44.*s  %.*s\n", STR_ARG(session_number(session, exercise)),
               exercise_kind_name(exercise->kind), STR_ARG(exercise->title),
               STR_ARG(buf_str(&state)));
    }
    printf("%zu of %zu are done.\n", listing.done, listing.graded);
    return 0;
}

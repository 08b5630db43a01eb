// Names, files and programs of the exercises in a session.
#define _POSIX_C_SOURCE 200809L
#include "grade/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "book/exercises.h"
#include "tangle/expand.h"

Str session_chapter(const Session *session, const Exercise *exercise) {
    return session->table->files[exercise->file].path;
}

Str session_number(const Session *session, const Exercise *exercise) {
    return exercises_number(session->book, exercise);
}

KeyScope session_scope(const Session *session, const Exercise *exercise) {
    session->book->file = exercise->file;
    return book_scope(session->book);
}

Str session_name(const Session *session, const Exercise *exercise) {
    if (exercise->program == EXERCISE_NONE) return STR("");
    return path_stem(session->table->chunks[exercise->program].target);
}

Str session_file(const Session *session, const Exercise *exercise) {
    Str target = session->table->chunks[exercise->program].target;
    return path_join(session->arena, str_of(session->work), path_name(target));
}

Str session_work(const Session *session, const Exercise *exercise) {
    Buf text = {.arena = session->arena};
    Str number = session_number(session, exercise);
    buf_format(&text,
               "// Edit this file: it is your answer to exercise %.*s of %.*s. make exercise-%.*s "
               "never changes it.\n",
               STR_ARG(number), STR_ARG(session_chapter(session, exercise)), STR_ARG(number));
    buf_add(&text, expand_variant(session->table, exercise, exercise->starter));
    return buf_str(&text);
}

bool session_is_starter(const Session *session, const Exercise *exercise, Str text) {
    return str_ends(text, expand_variant(session->table, exercise, exercise->starter));
}

Progress session_progress(const Session *session) {
    Buf path = {.arena = session->arena};
    buf_format(&path, "%s/progress.csv", session->work);
    return progress_read(session->arena, str_terminated(session->arena, buf_str(&path)));
}

Str session_hash(const Session *session, const Exercise *exercise, Str text) {
    Buf all = {.arena = session->arena}, hash = {.arena = session->arena};
    buf_add(&all, text);
    buf_add(&all, expand_variant(session->table, exercise, exercise->solution));
    for (size_t i = 0; i < exercise->demand_count; i++) buf_add(&all, exercise->demands[i].text);
    buf_format(&hash, "%016llx", (unsigned long long)str_hash(buf_str(&all)));
    return buf_str(&hash);
}

void session_error(const Session *session, const Exercise *exercise, size_t line, Str message) {
    fprintf(stderr, "%.*s:%zu: %.*s\n", STR_ARG(session_chapter(session, exercise)), line,
            STR_ARG(message));
}

// --- the exercise's own program ---

// Whether the file exists and is not older than those of the others that exist.
static bool is_newest(const char *path, const char *const *others, size_t count) {
    struct stat own, other;
    if (stat(path, &own)) return false;
    for (size_t i = 0; i < count; i++) {
        if (stat(others[i], &other)) continue;
        if (other.st_mtim.tv_sec > own.st_mtim.tv_sec ||
            (other.st_mtim.tv_sec == own.st_mtim.tv_sec &&
             other.st_mtim.tv_nsec > own.st_mtim.tv_nsec))
            return false;
    }
    return true;
}

static const char *path_of(const Session *session, const char *folder, Str name,
                           const char *ending) {
    Buf path = {.arena = session->arena};
    buf_format(&path, "%s/%s%.*s%s", session->tools.build, folder, STR_ARG(name), ending);
    return str_terminated(session->arena, buf_str(&path));
}

bool session_is_compiled(const Session *session, Str name) {
    const char *others[] = {path_of(session, "exercises/", name, ".cu"),
                            path_of(session, "grade", STR(""), ""), session->tools.nvcc};
    size_t count = session->tools.nvcc ? 3 : 2;
    return is_newest(path_of(session, "exercises/", name, ""), others, count) &&
           (!session->tools.native ||
            is_newest(path_of(session, "exercises/", name, ".gpu"), others, count));
}

bool session_own(const Session *session, const Exercise *exercise, Program *program) {
    Arena *arena = session->arena;
    bool hole = exercise->kind == EXERCISE_BUILD;
    Buf name = {.arena = arena};
    buf_format(&name, "%.*s%s", STR_ARG(session_name(session, exercise)), hole ? ".solution" : "");
    *program = (Program){.name = buf_str(&name)};
    Str text = hole ? expand_variant(session->table, exercise, exercise->solution)
                    : expand_text(session->table, exercise->program, EXPAND_CLEAN);
    if (!program_write(arena, &session->tools, program->name, text, &program->source)) {
        fprintf(stderr, "%.*s: %s\n", STR_ARG(program->source), strerror(errno));
        return false;
    }
    if (session_is_compiled(session, program->name) ||
        program_compile(arena, &session->tools, program))
        program_measure(arena, &session->tools, program, NULL);
    if (!program->fault.text.len) return true;
    if (program->fault.line)
        fprintf(stderr, "%.*s:%zu: ", STR_ARG(program->fault.file), program->fault.line);
    fprintf(stderr, "%.*s\n", STR_ARG(program->fault.text));
    return false;
}

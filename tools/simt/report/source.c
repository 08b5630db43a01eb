// Reads the source files of a page and writes their lines as JSON: see source.h.
#define _POSIX_C_SOURCE 200809L
#include "simt/report/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "simt/report/escape.h"

enum { AROUND = 10, LARGEST = 1 << 26 }; // context lines on each side; bytes of a file

typedef struct {
    const char *name, *missing; // missing: why there is no text, or NULL
    bool newer;                 // the file is newer than the program
    Str text;
    bool *wanted; // by line, from 0; the last: a line past the end
    size_t wanted_count;
} Source;

static Source *sources;
static size_t source_count, source_capacity;

static bool later(struct timespec a, struct timespec b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static void read_source(Arena *arena, Source *source) {
    struct stat file, program;
    if (stat(source->name, &file) != 0)
        source->missing = strerror(errno);
    else if (!S_ISREG(file.st_mode))
        source->missing = "not a file";
    else if (file.st_size > LARGEST)
        source->missing = "too large";
    else if (!file_read(arena, source->name, &source->text))
        source->missing = strerror(errno);
    else
        source->newer =
            stat("/proc/self/exe", &program) == 0 && later(file.st_mtim, program.st_mtim);
    if (source->missing) source->missing = str_terminated(arena, str_of(source->missing));
}

size_t source_file(Arena *arena, const char *name) {
    if (!name) return 0;
    for (size_t k = 0; k < source_count; k++)
        if (strcmp(sources[k].name, name) == 0) return k + 1;
    Source source = {.name = str_terminated(arena, str_of(name))};
    read_source(arena, &source);
    ARENA_GROW(arena, sources, source_count, source_capacity);
    sources[source_count++] = source;
    return source_count;
}

static size_t count_lines(Str text) {
    size_t count = 0;
    for (Str line; str_line(&text, &line);) count++;
    return count;
}

void source_want(Arena *arena, size_t file, uint32_t line) {
    if (!file || !line) return;
    Source *source = &sources[file - 1];
    if (!source->wanted) {
        source->wanted_count = count_lines(source->text);
        source->wanted = ARENA_NEW(arena, source->wanted_count + 1, bool);
    }
    if (line <= source->wanted_count)
        source->wanted[line - 1] = true;
    else if (!source->missing)
        source->wanted[source->wanted_count] = true; // the file is now shorter
}

// Whether a line (from 0) is shown.
static bool near(const Source *source, size_t line) {
    size_t first = line > AROUND ? line - AROUND : 0;
    for (size_t k = first; k <= line + AROUND && k < source->wanted_count; k++)
        if (source->wanted[k]) return true;
    return false;
}

static void write_ranges(Buf *buf, const Source *source) {
    Str rest = source->text, line;
    bool open = false, any = false;
    for (size_t k = 0; source->wanted && str_line(&rest, &line); k++) {
        bool shown = near(source, k);
        if (open && !shown) buf_add(buf, STR("]]"));
        if (shown && !open) buf_format(buf, "%s[%zu,[", any ? "," : "", k + 1);
        if (shown && open) buf_add(buf, STR(",\n"));
        if (shown) escape_json(buf, line);
        open = shown;
        any |= shown;
    }
    if (open) buf_add(buf, STR("]]"));
}

static void write_note(Buf *buf, const Source *source) {
    if (source->missing) {
        Buf note = {.arena = buf->arena};
        buf_format(&note, "cannot be shown: %s", source->missing);
        escape_json(buf, buf_str(&note));
    } else if (source->wanted && source->wanted[source->wanted_count]) {
        buf_format(buf, "\"has only %zu lines: it is not the text that was compiled\"",
                   source->wanted_count);
    } else if (source->newer) {
        buf_add(buf, STR("\"is newer than the program, so its lines may have moved: build the "
                         "program again\""));
    } else {
        buf_add(buf, STR("\"\""));
    }
}

void source_write(Buf *buf) {
    buf_char(buf, '[');
    for (size_t k = 0; k < source_count; k++) {
        const Source *source = &sources[k];
        buf_add(buf, k ? STR(",\n{\"name\":") : STR("{\"name\":"));
        escape_json(buf, str_of(source->name));
        buf_add(buf, STR(",\"note\":"));
        write_note(buf, source);
        buf_add(buf, STR(",\"pieces\":["));
        write_ranges(buf, source);
        buf_add(buf, STR("]}"));
    }
    buf_char(buf, ']');
}

// Splits, joins and normalizes paths as text.
#include "base/path.h"

#include <stdint.h>

static size_t name_start(Str path) {
    size_t start = path.len;
    while (start && path.at[start - 1] != '/') start--;
    return start;
}

Str path_folder(Str path) { return str_slice(path, 0, name_start(path)); }

Str path_name(Str path) { return str_from(path, name_start(path)); }

Str path_stem(Str path) {
    Str name = path_name(path);
    size_t end = name.len;
    while (end && name.at[end - 1] != '.') end--;
    return str_slice(name, 0, end ? end - 1 : name.len);
}

Str path_join(Arena *arena, Str folder, Str name) {
    Buf path = {.arena = arena};
    while (folder.len > 1 && folder.at[folder.len - 1] == '/') folder.len--;
    if (!str_equal(folder, STR("."))) {
        buf_add(&path, folder);
        if (!str_equal(folder, STR("/"))) buf_char(&path, '/');
    }
    buf_add(&path, name);
    return buf_str(&path);
}

// Removes the last part of `path`, unless that is "..", the root, or missing.
static bool leave_folder(Buf *path) {
    size_t parent = path->len ? path->len - 1 : 0;
    while (parent && path->at[parent - 1] != '/') parent--;
    Str last = str_from(buf_str(path), parent);
    if (last.len == 0 || str_equal(last, STR("../")) || str_equal(last, STR("/"))) return false;
    path->len = parent;
    return true;
}

Str path_resolve(Arena *arena, Str folder, Str relative) {
    Buf joined = {.arena = arena}, path = {.arena = arena};
    if (!str_starts(relative, STR("/"))) buf_add(&joined, folder);
    buf_add(&joined, relative);
    for (Str rest = buf_str(&joined); rest.len;) {
        size_t slash = str_find(rest, STR("/"));
        Str part = str_slice(rest, 0, slash);
        bool last = slash == SIZE_MAX;
        rest = str_from(rest, last ? rest.len : slash + 1);
        if (str_equal(part, STR(".")) || (part.len == 0 && path.len)) continue;
        if (str_equal(part, STR("..")) && leave_folder(&path)) continue;
        buf_add(&path, part);
        if (!last) buf_char(&path, '/');
    }
    return buf_str(&path);
}

Str path_up(Arena *arena, Str path) {
    Buf up = {.arena = arena};
    if (str_starts(path, STR("/")) || str_find(path, STR("../")) != SIZE_MAX) return STR("");
    for (size_t i = 0; i < path.len; i++)
        if (path.at[i] == '/' && !(i == 1 && path.at[0] == '.')) buf_add(&up, STR("../"));
    return buf_str(&up);
}

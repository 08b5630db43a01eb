// Devices for --time: see launcher.h.
#define _GNU_SOURCE
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "simt/launcher/launcher.h"

static const char ending[] = "-machine.csv";

// Those of a folder of results, or of both where they are two.
static void add_names(Buf *buf, const char *folder) {
    Buf pattern = {.arena = buf->arena};
    glob_t found;
    buf_format(&pattern, "%s*%s", folder, ending);
    if (glob(str_terminated(buf->arena, buf_str(&pattern)), 0, NULL, &found) != 0) return;
    for (size_t k = 0; k < found.gl_pathc; k++) {
        const Str file = str_from(str_of(found.gl_pathv[k]), strlen(folder));
        const Str name = str_slice(file, 0, file.len - (sizeof ending - 1));
        Str text; // there are counts of machine code, too
        if (!file_read(buf->arena, found.gl_pathv[k], &text)) continue;
        if (str_find(text, STR("name,value,unit")) == SIZE_MAX) continue;
        buf_format(buf, "%s%.*s", buf_str(buf).len ? ", " : "", STR_ARG(name));
    }
    globfree(&found);
}

// The file of a device; NULL: there is none, and `error` says which there are.
static const char *find(Arena *arena, const char *name, Str *error) {
    const char *const folders[] = {"results/", file_beside(arena, "../results/")};
    for (int k = 0; k < 2; k++) {
        Buf path = {.arena = arena};
        buf_format(&path, "%s%s%s", folders[k], name, ending);
        const char *there = str_terminated(arena, buf_str(&path));
        if (access(there, R_OK) == 0) return there;
    }
    Buf names = {.arena = arena}, buf = {.arena = arena};
    for (int k = 0; k < 2 && !buf_str(&names).len; k++) add_names(&names, folders[k]);
    buf_format(&buf, "--time %s: no results/%s%s; ", name, name, ending);
    if (buf_str(&names).len)
        buf_format(&buf, "there is %.*s", STR_ARG(buf_str(&names)));
    else
        buf_add(&buf, STR("make record writes one on a machine with the GPU"));
    *error = buf_str(&buf);
    return NULL;
}

static void set_number(const char *variable, double value) {
    char text[32];
    if (getenv(variable)) return;
    snprintf(text, sizeof text, "%.0f", value);
    setenv(variable, text, 1);
}

bool machine_choose(Arena *arena, const char *name, Str *error) {
    const bool is_file = strchr(name, '/') || str_ends(str_of(name), STR(".csv"));
    const char *path = is_file ? name : find(arena, name, error);
    TimeDevice device;
    char absolute[PATH_MAX];
    if (!path || !time_device_read(arena, path, &device, error)) return false;
    if (!realpath(path, absolute)) return false;
    setenv("SIMT_TIME", absolute, 1);
    setenv("SIMT_TIME_NAME", name, 1);
    setenv("SIMT_MACHINE", "1", 1);
    set_number("SIMT_SMS", device.sms);
    set_number("SIMT_SM_THREADS", device.warps * 32);
    return true;
}

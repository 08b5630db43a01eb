// Finds the measured speeds of the device that --time names.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalog.h"
#include "base/file.h"
#include "simt/launcher/launcher.h"

// Appends the names of the devices in `folder` whose speeds were measured.
static void add_names(Buf *buf, const char *folder) {
    CatalogFile *files;
    const size_t count = catalog_list(buf->arena, folder, &files);
    for (size_t i = 0; i < count; i++)
        if (files[i].kind == CATALOG_MACHINE)
            buf_format(buf, "%s%.*s", buf->len ? ", " : "", STR_ARG(files[i].device));
}

// The path of a device's file. NULL if there is none; then `error` lists the devices that have one.
static const char *find(Arena *arena, const char *name, Str *error) {
    const char *const folders[] = {"results", file_beside(arena, "../results")};
    for (int k = 0; k < 2; k++) {
        const char *path = catalog_path(arena, folders[k], CATALOG_MACHINE, str_of(name));
        if (access(path, R_OK) == 0) return path;
    }
    Buf names = {.arena = arena}, buf = {.arena = arena};
    for (int k = 0; k < 2 && !names.len; k++) add_names(&names, folders[k]);
    buf_format(&buf, "--time %s: no %s; ", name,
               catalog_path(arena, "results", CATALOG_MACHINE, str_of(name)));
    if (names.len)
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

// Reads and writes whole files.
#define _XOPEN_SOURCE 700
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read(Arena *arena, const char *path, Str *text) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) return false;
    Buf buf = {.arena = arena};
    char block[65536];
    ssize_t got;
    while ((got = read(fd, block, sizeof block)) > 0) buf_add(&buf, (Str){block, (size_t)got});
    int error = errno;
    close(fd);
    errno = error;
    *text = buf_str(&buf);
    return got == 0;
}

bool file_read_text(Arena *arena, const char *path, Str *text) {
    Str rest, line;
    Buf plain = {.arena = arena};
    if (!file_read(arena, path, &rest)) return false;
    if (str_starts(rest, STR("\xEF\xBB\xBF"))) rest = str_from(rest, 3);
    *text = rest;
    if (str_find(rest, STR("\r\n")) == SIZE_MAX) return true;
    bool ended = str_ends(rest, STR("\n"));
    while (str_line(&rest, &line)) {
        buf_add(&plain, line);
        if (rest.len || ended) buf_char(&plain, '\n');
    }
    *text = buf_str(&plain);
    return true;
}

const char *file_beside(Arena *arena, const char *name) {
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    size_t folder = length > 0 ? (size_t)length : 0;
    while (folder && self[folder - 1] != '/') folder--;
    Buf path = {.arena = arena};
    buf_format(&path, "%.*s%s", (int)folder, self, name);
    return str_terminated(arena, buf_str(&path));
}

static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

static bool write_all(int fd, Str text) {
    while (text.len) {
        ssize_t wrote = write(fd, text.at, text.len);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        text = str_from(text, (size_t)wrote);
    }
    return true;
}

// Writes to a device or a pipe, which a temporary file cannot replace.
static FileResult write_into(const char *path, Str text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0) return FILE_FAILED;
    bool written = write_all(fd, text);
    return close(fd) == 0 && written ? FILE_WRITTEN : FILE_FAILED;
}

// Returns the target of a symbolic link, or any other path unchanged. NULL: a dangling link.
static const char *follow_link(Arena *arena, const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode)) return path;
    char *real = realpath(path, NULL);
    if (!real) return NULL;
    const char *target = str_terminated(arena, str_of(real));
    free(real);
    return target;
}

FileResult file_write_if_changed(Arena *arena, const char *path, Str text) {
    Str current;
    struct stat status;
    if (!(path = follow_link(arena, path))) return FILE_FAILED;
    bool exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return write_into(path, text);
    if (file_read(arena, path, &current) && str_equal(current, text)) return FILE_UNCHANGED;
    Buf name = {.arena = arena};
    buf_format(&name, "%s.%ld.tmp", path, (long)getpid());
    char *temporary = str_terminated(arena, buf_str(&name));
    if (!make_folders(temporary)) return FILE_FAILED;
    unlink(temporary); // left by an earlier process with this id
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return FILE_FAILED;
    bool written = write_all(fd, text);
    written = close(fd) == 0 && written;
    if (written && rename(temporary, path) == 0) return FILE_WRITTEN;
    int error = errno;
    unlink(temporary);
    errno = error;
    return FILE_FAILED;
}

// Files as wholes: see file.h.
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
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

FileResult file_write_if_changed(Arena *arena, const char *path, Str text) {
    Str current;
    if (file_read(arena, path, &current) && str_equal(current, text)) return FILE_UNCHANGED;
    Buf name = {.arena = arena};
    buf_format(&name, "%s.%ld.tmp", path, (long)getpid());
    char *temporary = str_terminated(arena, buf_str(&name));
    if (!make_folders(temporary)) return FILE_FAILED;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return FILE_FAILED;
    bool written = write_all(fd, text);
    written = close(fd) == 0 && written;
    if (written && rename(temporary, path) == 0) return FILE_WRITTEN;
    int error = errno;
    unlink(temporary);
    errno = error;
    return FILE_FAILED;
}

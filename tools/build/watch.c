// watch: has make build what was saved, each time something is.
//
//     watch [-c] make [ARGS...]       (make watch calls it)
//
// It looks at chapters/*.md and work/*.cu, and asks for the goal `saved` with the names of those
// that are new, gone or other than before in SAVED: what that means stands in run.mk. inotify
// says when to look; every two seconds it looks anyway, for folders where that stays silent
// (another machine's, or one that is not there yet), and twice a second where there is no inotify,
// or with -c. Editors save by rename, or in pieces, or many files at once: it waits until nothing
// moves any more. What is saved while make is at work comes next. A draft that does not build is
// make's to explain; watch goes on, until it is interrupted.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

enum { LOOK_MS = 2000, CLOCK_MS = 500, SETTLE_MS = 100, SETTLE_ROUNDS = 30 };

static const struct {
    const char *folder, *suffix;
} places[] = {{"chapters", ".md"}, {"work", ".cu"}};
enum { PLACES = sizeof places / sizeof *places };

typedef struct {
    char *path;
    struct timespec changed;
    off_t size;
    ino_t inode;
} Entry;

// What is there, in the order of paths.
typedef struct {
    Entry *entries;
    size_t count, capacity;
} Listing;

static volatile sig_atomic_t told;
static volatile pid_t child;

_Noreturn static void die(const char *what) {
    fprintf(stderr, "watch: %s: %s\n", what, strerror(errno));
    exit(2);
}

// --- what is there ---

static void listing_free(Listing *listing) {
    for (size_t i = 0; i < listing->count; i++) free(listing->entries[i].path);
    free(listing->entries);
    *listing = (Listing){0};
}

static void listing_add(Listing *listing, char *path, const struct stat *file) {
    if (listing->count == listing->capacity) {
        listing->capacity = listing->capacity ? 2 * listing->capacity : 32;
        listing->entries = realloc(listing->entries, listing->capacity * sizeof *listing->entries);
        if (!listing->entries) die("realloc");
    }
    listing->entries[listing->count++] = (Entry){path, file->st_mtim, file->st_size, file->st_ino};
}

// Not the files that editors keep beside the one that is open; nor names that make cannot hold.
static bool is_watched(const char *name, const char *suffix) {
    size_t length = strlen(name), end = strlen(suffix);
    return name[0] != '.' && length > end && strcmp(name + length - end, suffix) == 0 &&
           !strpbrk(name, " \t$#:%\\'\"");
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const Entry *)a)->path, ((const Entry *)b)->path);
}

static Listing list(void) {
    Listing listing = {0};
    for (int k = 0; k < PLACES; k++) {
        DIR *folder = opendir(places[k].folder);
        for (struct dirent *next; folder && (next = readdir(folder));) {
            struct stat file;
            char *path;
            if (!is_watched(next->d_name, places[k].suffix)) continue;
            if (asprintf(&path, "%s/%s", places[k].folder, next->d_name) < 0) die("asprintf");
            if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
                listing_add(&listing, path, &file);
            else
                free(path);
        }
        if (folder) closedir(folder);
    }
    if (listing.count) qsort(listing.entries, listing.count, sizeof *listing.entries, by_path);
    return listing;
}

static bool is_same(const Entry *a, const Entry *b) {
    return a->size == b->size && a->inode == b->inode && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

// The paths that are in one of the two alone or differ, each behind a space; NULL: there are none.
static char *differences(const Listing *before, const Listing *after) {
    char *paths = NULL;
    for (size_t i = 0, k = 0; i < before->count || k < after->count;) {
        const Entry *old = i < before->count ? &before->entries[i] : NULL;
        const Entry *new = k < after->count ? &after->entries[k] : NULL;
        int order = !old ? 1 : !new ? -1 : strcmp(old->path, new->path);
        i += order <= 0, k += order >= 0;
        if (order == 0 && is_same(old, new)) continue;
        char *longer;
        if (asprintf(&longer, "%s %s", paths ? paths : "", order < 0 ? old->path : new->path) < 0)
            die("asprintf");
        free(paths);
        paths = longer;
    }
    return paths;
}

// --- waiting ---

static void pause_for(int milliseconds) { poll(NULL, 0, milliseconds); }

// Until inotify says that something has moved, or it is time to look. -1: there is no inotify.
static void wait_for_change(int notify) {
#ifdef __linux__
    char events[4096];
    if (notify >= 0) {
        for (int k = 0; k < PLACES; k++) // those that are watched already stay so
            inotify_add_watch(notify, places[k].folder,
                              IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE);
        struct pollfd polled = {notify, POLLIN, 0};
        if (poll(&polled, 1, LOOK_MS) > 0)
            while (read(notify, events, sizeof events) > 0) continue;
        return;
    }
#else
    (void)notify;
#endif
    pause_for(CLOCK_MS);
}

// What is there once nothing moves any more.
static Listing settled(Listing seen) {
    for (int round = 0; round < SETTLE_ROUNDS && !told; round++) {
        pause_for(SETTLE_MS);
        Listing now = list();
        char *moving = differences(&seen, &now);
        listing_free(&seen);
        seen = now;
        if (!moving) break;
        free(moving);
    }
    return seen;
}

// --- make ---

static void stop(int number) {
    told = number;
    if (child > 0) kill(child, SIGTERM); // make ends its children by the same signal
}

// Runs make for these paths; its exit status.
static int build(int count, char **make, const char *paths) {
    char **arguments = calloc((size_t)count + 3, sizeof *arguments), *saved;
    if (!arguments || asprintf(&saved, "SAVED=%s", paths + 1) < 0) die("calloc");
    memcpy(arguments, make, (size_t)count * sizeof *arguments);
    arguments[count] = (char[]){"saved"};
    arguments[count + 1] = saved;
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        execvp(arguments[0], arguments);
        die(arguments[0]);
    }
    child = pid;
    if (told) kill(pid, SIGTERM);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) die("waitpid");
    child = 0;
    free(saved);
    free(arguments);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void say(const char *text, const char *more) {
    printf("watch:%s%s\n", text, more);
    fflush(stdout);
}

int main(int argc, char **argv) {
    bool clock_alone = argc > 1 && strcmp(argv[1], "-c") == 0;
    argc -= clock_alone, argv += clock_alone;
    if (argc < 2) {
        fprintf(stderr, "usage: watch [-c] make [ARGS...]\n");
        return 2;
    }
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    int notify = -1;
#ifdef __linux__
    if (!clock_alone) notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
#endif
    Listing known = list();
    say(" save a file of chapters/ or work/, and what it touches is built; Ctrl-C ends it", "");
    while (!told) {
        wait_for_change(notify);
        Listing now = list();
        char *paths = differences(&known, &now);
        if (paths) {
            now = settled(now);
            free(paths);
            paths = differences(&known, &now); // all that moved, and not what is back as it was
        }
        listing_free(&known);
        known = now;
        if (!paths || told) continue;
        say(paths, "");
        int status = build(argc - 1, argv + 1, paths);
        if (!told) say(paths, status ? ": not yet; waiting for the next save" : ": built");
        free(paths);
    }
    say(" ended", "");
    return 0;
}

// drive: runs make for a person. One make at a time in a build folder, a short line for each step,
// and what went wrong repeated at the end.
//
//     drive [-v] BUILD make [ARGS...]       (the Makefile calls it; nobody else needs to)
//
// It first asks `make -n` what will be done: the number of steps, and which programs of
// tools/build/toolchain.sh will be needed, so that what is missing is installed, or named, before
// anything else happens. What the Makefile includes is made while it answers, so steps are told
// then too. -v asks nothing and leaves nothing out. Recipes tell a step by a line on file
// descriptor 9:
//
//     nvcc 04_bank_conflicts         a step
//     - cc tools/base/str.c          a small one: shown in place on a terminal, else only counted
//     = 15 labs right                a sentence of the summary after a success
//
// The line of progress is drawn in place on a terminal and printed line by line elsewhere. The exit
// status is make's; 128 + the signal if drive was told to stop. Under make -n, -q, -t and -p there
// is nothing to frame: make takes drive's place.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_FD = 9, LINE_MAX_BYTES = 1 << 16, KEPT_MAX = 60, SENTENCES = 8 };

typedef enum { FROM_OUT, FROM_ERR, FROM_STEPS, SOURCES } Source;

// Text that arrives in pieces, on its way to becoming lines.
typedef struct {
    int fd; // -1 once its end was seen
    char line[LINE_MAX_BYTES];
    size_t length;
} Stream;

static struct {
    bool terminal;
    int width;
    bool drawn;      // the line of progress stands on the terminal, without a line end
    int done, total; // steps; total is 0 as long as make was not asked
    bool verbose;
    bool lines;           // has anything been printed but steps?
    char unsaid[512];     // the last line of make's own that was left out
    char *kept[KEPT_MAX]; // the last lines of standard error, oldest first
    int kept_count, lines_since;
    char *sentences[SENTENCES];
    int sentence_count;
} screen = {.width = 80};

static volatile pid_t child;
static volatile sig_atomic_t told;

static const char *const tools[] = {"nvcc", "pandoc", "python"};
enum { TOOLS = sizeof tools / sizeof *tools };

_Noreturn static void die(const char *what) {
    fprintf(stderr, "make: %s: %s\n", what, strerror(errno));
    exit(2);
}

// --- the screen ---

static void screen_open(void) {
    struct winsize size;
    screen.terminal =
        isatty(STDOUT_FILENO) && getenv("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
    if (screen.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        screen.width = size.ws_col;
    char columns[16];
    snprintf(columns, sizeof columns, "%d", screen.width);
    setenv("COLUMNS", columns, 0); // for the tables of the programs below, which see a pipe
}

static void screen_clear(void) {
    if (screen.drawn) fputs("\r\033[K", stdout);
    screen.drawn = false;
}

static void screen_step(const char *text) {
    bool small = text[0] == '-' && text[1] == ' ';
    if (small) text += 2;
    screen.done++;
    if (screen.total && screen.total < screen.done) screen.total = screen.done;
    if (!screen.terminal && small) return;
    screen_clear();
    int digits = snprintf(NULL, 0, "%d", screen.total);
    int used = screen.total ? printf("[%*d/%d] ", digits, screen.done, screen.total)
                            : printf("[%d] ", screen.done);
    printf("%.*s%s", screen.width - used - 1, text, screen.terminal ? "" : "\n");
    screen.drawn = screen.terminal;
    screen.lines_since++;
    fflush(stdout);
}

static void screen_line(FILE *to, const char *text) {
    screen.lines = true;
    screen_clear();
    fflush(stdout);
    fprintf(to, "%s\n", text);
    fflush(to);
    screen.lines_since++;
}

static void keep(const char *text) {
    if (screen.kept_count == KEPT_MAX) {
        free(screen.kept[0]);
        memmove(screen.kept, screen.kept + 1, sizeof screen.kept - sizeof *screen.kept);
        screen.kept_count--;
    }
    screen.kept[screen.kept_count++] = strdup(text);
    screen.lines_since = 0;
}

// What make says of a failure that its recipe has told already, and of a goal without a recipe.
static bool only_make_says(const char *text) {
    static const char *const words[] = {"] Error ",
                                        "] Terminated",
                                        "] Interrupt",
                                        ": *** Deleting file ",
                                        "Waiting for unfinished jobs",
                                        "Nothing to be done for ",
                                        " is up to date."};
    if (strncmp(text, "make", 4) != 0) return false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strstr(text, words[k])) return true;
    return false;
}

static void take_line(Source source, const char *text) {
    if (source != FROM_STEPS && !screen.verbose && only_make_says(text)) {
        if (source == FROM_ERR) snprintf(screen.unsaid, sizeof screen.unsaid, "%s", text);
        return;
    }
    if (source == FROM_OUT) {
        screen_line(stdout, text);
    } else if (source == FROM_ERR) {
        screen_line(stderr, text);
        if (strncmp(text, "toolchain: installing ", 22) != 0) keep(text);
    } else if (text[0] == '=') {
        if (screen.sentence_count < SENTENCES)
            screen.sentences[screen.sentence_count++] = strdup(text + 1 + (text[1] == ' '));
    } else {
        screen_step(text);
    }
}

// --- processes ---

static void stop(int number) {
    told = number;
    if (child > 0) kill(child, SIGTERM); // make ends its children by the same signal
}

// Starts a program; fds[k] becomes its descriptor targets[k].
static pid_t start(char **arguments, const int *fds, const int *targets, int count) {
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid > 0) return pid;
    for (int k = 0; k < count; k++)
        if (fds[k] == targets[k] ? fcntl(fds[k], F_SETFD, 0) : dup2(fds[k], targets[k]) < 0)
            die("dup2");
    execvp(arguments[0], arguments);
    die(arguments[0]);
}

static int finish(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) die("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Reads what has arrived; hands on whole lines, and at the end what is left without a line end.
static void drain(Stream *stream, void (*take)(Source, const char *), Source source) {
    ssize_t got =
        read(stream->fd, stream->line + stream->length, sizeof stream->line - 1 - stream->length);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        stream->line[stream->length] = '\0';
        if (stream->length) take(source, stream->line);
        return;
    }
    stream->length += (size_t)got;
    char *from = stream->line, *end;
    char *stop_at = stream->line + stream->length;
    while ((end = memchr(from, '\n', (size_t)(stop_at - from)))) {
        *end = '\0';
        take(source, from);
        from = end + 1;
    }
    stream->length = (size_t)(stop_at - from);
    memmove(stream->line, from, stream->length);
    if (stream->length < sizeof stream->line - 1) return;
    stream->line[stream->length] = '\0'; // a line as long as this is handed on in pieces
    take(source, stream->line);
    stream->length = 0;
}

// --- make, and what it says ---

typedef void (*Take)(Source, const char *);

// Runs make with its output, its errors and its steps going to `take` line by line; its status.
static int run_make(char **make, Take take) {
    static Stream streams[SOURCES];
    static const int targets[SOURCES] = {STDOUT_FILENO, STDERR_FILENO, STEPS_FD};
    int fds[SOURCES];
    for (int k = 0; k < SOURCES; k++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) die("pipe");
        streams[k] = (Stream){.fd = ends[0]};
        fds[k] = ends[1];
    }
    child = start(make, fds, targets, SOURCES);
    for (int k = 0; k < SOURCES; k++) close(fds[k]);
    for (;;) {
        struct pollfd polled[SOURCES];
        bool open = false;
        for (int k = 0; k < SOURCES; k++) {
            polled[k] = (struct pollfd){streams[k].fd, POLLIN, 0};
            open |= streams[k].fd >= 0;
        }
        if (!open) break;
        if (poll(polled, SOURCES, -1) < 0) {
            if (errno != EINTR) die("poll");
            continue;
        }
        // Steps first: they stand above what they print. Last what went wrong.
        static const Source order[SOURCES] = {FROM_STEPS, FROM_OUT, FROM_ERR};
        for (int k = 0; k < SOURCES; k++) {
            Source from = order[k];
            if (streams[from].fd >= 0 && polled[from].revents) drain(&streams[from], take, from);
        }
    }
    int status = finish(child);
    child = 0;
    return status;
}

// --- what will be done ---

static struct {
    int steps;
    bool needs[TOOLS];
} plan;

static void plan_line(Source source, const char *text) {
    if (source == FROM_STEPS) take_line(source, text);
    if (source != FROM_OUT) return;
    if (strstr(text, ">&9") && !strstr(text, "echo '= ")) plan.steps++;
    for (int k = 0; k < TOOLS; k++) {
        char call[64];
        snprintf(call, sizeof call, "toolchain.sh %s)", tools[k]);
        if (strstr(text, call)) plan.needs[k] = true;
    }
}

// Asks make -n. A fault in the chapters or the Makefile shows up again when they are made for real.
static void make_plan(int count, char **make) {
    char **dry = calloc((size_t)count + 2, sizeof *dry);
    if (!dry) die("calloc");
    dry[0] = make[0];
    dry[1] = (char[]){"-n"};
    memcpy(dry + 2, make + 1, (size_t)count * sizeof *dry);
    run_make(dry, plan_line);
    free(dry);
    screen.total = screen.done + plan.steps;
}

// Installs what will be needed and is missing. False if something cannot be had: each has been
// named.
static bool have_tools(void) {
    bool all = true;
    screen_clear();
    fflush(stdout);
    for (int k = 0; k < TOOLS && !told; k++) {
        if (!plan.needs[k]) continue;
        char *call[] = {(char[]){"tools/build/toolchain.sh"}, (char *)tools[k], NULL};
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        const int fds[] = {nowhere}, targets[] = {STDOUT_FILENO};
        child = start(call, fds, targets, 1);
        close(nowhere);
        all &= finish(child) == 0;
        child = 0;
    }
    return all;
}

// --- around it ---

static void report_failure(void) {
    fflush(stdout);
    if (!screen.kept_count) {
        fprintf(stderr, "%s\n", screen.unsaid); // a recipe that failed without a word
    } else if (screen.lines_since > 0) {
        fprintf(stderr, "\nWhat went wrong:\n");
        for (int k = 0; k < screen.kept_count; k++) fprintf(stderr, "  %s\n", screen.kept[k]);
    }
}

static void report_success(double seconds) {
    if (!screen.sentence_count && (screen.done || screen.lines)) return;
    if (!screen.sentence_count) printf("nothing to do");
    for (int k = 0; k < screen.sentence_count; k++)
        printf("%s%s", k ? "; " : "", screen.sentences[k]);
    if (seconds < 60)
        printf(" (%.1f s)\n", seconds);
    else
        printf(" (%d min %d s)\n", (int)seconds / 60, (int)seconds % 60);
}

// Held, and inherited by all that make starts, until the last of them has ended. `make clean` may
// remove the file while others wait for it: then they begin again with the new one.
static void take_lock(const char *build) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", build) >= (int)sizeof path) die(build);
    for (bool waits = false;;) {
        struct stat held, named;
        if (mkdir(build, 0777) && errno != EEXIST) die(build);
        int lock = open(path, O_RDWR | O_CREAT, 0666);
        if (lock < 0) die(path);
        if (flock(lock, LOCK_EX | LOCK_NB)) {
            if (!waits)
                fprintf(stderr, "make: another make is at work in %s/: waiting for it\n", build);
            waits = true;
            while (flock(lock, LOCK_EX))
                if (errno != EINTR || told) exit(128 + told);
        }
        if (!fstat(lock, &held) && !stat(path, &named) && held.st_ino == named.st_ino) return;
        close(lock);
    }
}

// The single-letter options of the make that calls are the first word of MAKEFLAGS.
static bool only_asks(void) {
    const char *flags = getenv("MAKEFLAGS");
    size_t length = flags ? strcspn(flags, " ") : 0;
    if (!length || flags[0] == '-' || memchr(flags, '=', length)) return false;
    return strcspn(flags, "nqtp") < length;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    screen.verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    argc -= screen.verbose, argv += screen.verbose;
    if (argc < 3) {
        fprintf(stderr, "usage: drive [-v] BUILD make [ARGS...]\n");
        return 2;
    }
    if (only_asks()) {
        execvp(argv[2], argv + 2);
        die(argv[2]);
    }
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    double start_time = now();
    take_lock(argv[1]);
    screen_open();
    if (!screen.verbose) {
        make_plan(argc - 2, argv + 2);
        if (!told && !have_tools()) return 1;
    }
    int status = told ? 0 : run_make(argv + 2, take_line);
    screen_clear();
    if (told) return 128 + told;
    if (status)
        report_failure();
    else
        report_success(now() - start_time);
    return status;
}

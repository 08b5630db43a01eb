// Watches the C library's clocks: see clock.h.
#define _GNU_SOURCE
#include "simt/cuda/clock.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "simt/program/runtime.h"
#include "simt/report/name.h"
#include "simt/report/report.h"

enum { FRAMES = 16, NO_CLOCK = -1, TIME_OF_DAY = -2 };

// The thread's latest reading, and what it has launched since.
static _Thread_local struct {
    int clock;
    uint64_t calls;      // of the CUDA runtime until then, without launches
    const char *mangled; // of the latest kernel; NULL: none, or it is done
    uint64_t launched_from;
} latest = {.clock = NO_CLOCK};

// A reading to note.
static struct {
    void *frames[FRAMES];
    int count;
    const char *mangled;
    uint64_t launched_from;
    uint64_t calls;
} early;

// If the next call only waits, and the clock is read once more, the program measures both the
// launch and the whole.
static void forget_if_both(void) {
    uint64_t from;
    if (runtime_calls() == early.calls + 1 && strstr(runtime_call(&from), "Synchronize"))
        early.mangled = NULL;
}

static bool on_main_thread(void) {
    static _Thread_local bool known, is_main;
    if (!known) is_main = gettid() == getpid();
    known = true;
    return is_main;
}

// Takes no lock, since the program may read a clock anywhere. Only the main thread writes `early`.
static void clock_read(int clock) {
    if (!runtime_options()->check || runtime_inside() || !on_main_thread()) return;
    const uint64_t calls = runtime_calls();
    if (early.mangled)
        forget_if_both();
    else if (latest.mangled && latest.clock == clock && latest.calls == calls) {
        early.count = backtrace(early.frames, FRAMES);
        early.calls = calls;
        early.launched_from = latest.launched_from;
        early.mangled = latest.mangled;
    }
    latest.clock = clock;
    latest.calls = calls;
    latest.mangled = NULL;
}

void clock_launched(const char *mangled) {
    latest.mangled = mangled;
    runtime_call(&latest.launched_from);
}

void clock_done(void) { latest.mangled = NULL; }

void clock_report(void) {
    enum { PLACE = 300 };
    char name[256], place[PLACE], launch[PLACE], text[1200];
    if (!early.mangled || runtime_broken()) return;
    host_line_of(early.frames, early.count, place, PLACE);
    host_line(early.launched_from, launch, PLACE);
    name_kernel(early.mangled, name, sizeof name);
    const char *colon = strrchr(launch, ':');
    const bool here = colon && strncmp(launch, place, (size_t)(colon - launch) + 1) == 0;
    snprintf(text, sizeof text,
             "%s%snote: host code does not wait: it reads a clock while %s may still run\n"
             "    the time since the last reading is that of the launch%s%s alone: call "
             "cudaDeviceSynchronize() first\n",
             place, place[0] ? ": " : "", name,
             here        ? " in line "
             : launch[0] ? " at "
                         : "",
             here ? colon + 1 : launch);
    const Hazard hazard = {
        .kind = "host code does not wait", .note = true, .told = text, .occurrences = 1};
    report_host(name, &hazard);
}

// --- replacements of the C library's functions ---

// Two threads may look a function up at the same time, with the same result.
static void *next(void **known, const char *name) {
    void *function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!function) function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, function, __ATOMIC_RELAXED);
    return function;
}

API int clock_gettime(clockid_t clock, struct timespec *time) {
    static void *known;
    clock_read((int)clock);
    return ((int (*)(clockid_t, struct timespec *))next(&known, "clock_gettime"))(clock, time);
}

API int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    static void *known;
    clock_read(TIME_OF_DAY);
    return ((int (*)(struct timeval *, void *))next(&known, "gettimeofday"))(time, zone);
}

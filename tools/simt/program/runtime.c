// The CUDA runtime's state: the lock, the options, the last error, and the work at exit.
#define _GNU_SOURCE
#include "simt/program/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simt/base/host.h"
#include "simt/base/limits.h"
#include "simt/memory/memory.h"
#include "simt/observe/trace.h"
#include "simt/program/handshake.h"
#include "simt/report/report.h"

enum { STATUS_REFUSED = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static SimtOptions options;
static bool check_leaks, strict; // strict: notes fail the run
static CudaError broken;         // returned by every call once a kernel has failed
static bool failed_unseen;       // a kernel failed and the program has not read the error
static _Thread_local CudaError last_error;
static bool refused;                       // something was refused; never reset
static int exit_status = -1;               // of the program; negative until it ends
static _Thread_local volatile bool inside; // whether this thread holds the lock

static CudaError (*at_end)(void);

void runtime_at_end(CudaError (*run)(void)) { at_end = run; }

int runtime_exit_status(void) { return exit_status; }

static void (*before_report)(void);

void runtime_before_report(void (*run)(void)) { before_report = run; }

static const char *current_call = "";
static uint64_t called_from;
static bool by_arrows;
static uint64_t call_count; // without launches

const char *runtime_call(uint64_t *from) {
    *from = called_from;
    return current_call;
}

bool runtime_enter_call(const char *call, const void *back) {
    const bool is_broken = runtime_enter();
    const bool launches = strncmp(call, "cudaLaunch", strlen("cudaLaunch")) == 0 ||
                          strncmp(call, "__cudaLaunch", strlen("__cudaLaunch")) == 0 ||
                          strncmp(call, "__cudaGetKernel", strlen("__cudaGetKernel")) == 0 ||
                          strncmp(call, "cudaGraphLaunch", strlen("cudaGraphLaunch")) == 0;
    __atomic_store_n(&call_count, call_count + !launches, __ATOMIC_RELAXED);
    current_call = call;
    called_from = (uint64_t)(uintptr_t)back - 1;
    by_arrows = false;
    return is_broken;
}

uint64_t runtime_calls(void) { return __atomic_load_n(&call_count, __ATOMIC_RELAXED); }

void runtime_called_by_arrows(uint64_t from) {
    called_from = from;
    by_arrows = true;
}

// --- errors that the program has not read ---

enum { UNREAD_MOST = 8 };
typedef struct {
    char text[1024];
    bool launch;
} Unread;
static Unread unread[UNREAD_MOST];
static size_t unread_count;
static _Thread_local bool launch_reported;

__attribute__((format(printf, 2, 3))) static void add_unread(bool launch, const char *format, ...) {
    if (unread_count == UNREAD_MOST) return;
    Unread *next = &unread[unread_count];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(next->text, sizeof next->text, format, arguments);
    va_end(arguments);
    next->launch = launch;
    for (const Unread *one = unread; one < next; one++)
        if (strcmp(one->text, next->text) == 0) return;
    unread_count++;
}

// The call's name without the suffix for per-thread default streams.
static int call_length(const char *call) {
    const char *end = strstr(call, "_pt");
    return (int)(end ? (size_t)(end - call) : strlen(call));
}

void runtime_failed_launch(const char *kernel, const char *why, CudaError error) {
    enum { PLACE = 300 };
    char place[PLACE];
    if (by_arrows)
        host_line(called_from, place, PLACE);
    else
        host_line_of_call(place, PLACE);
    const char *hint = by_arrows ? " (nvcc -g adds the line of the launch)"
                                 : " (nvcc -g -O0 adds the line of the launch)";
    if (place[0] && isdigit((unsigned char)place[strlen(place) - 1])) hint = "";
    const char *colon = place[0] ? ": " : "";
    launch_reported = true;
    if (by_arrows)
        add_unread(true,
                   "%s: %s%snot launched: %s; the program ignores the error: check "
                   "cudaGetLastError() after the launch%s",
                   kernel, place, colon, why, hint);
    else
        add_unread(false, "note: %s: %s%snot launched: %s; %.*s returned %s: check it%s", kernel,
                   place, colon, why, call_length(current_call), current_call, error_name(error),
                   hint);
}

// Records a failed call, as a note since the program may have checked the returned error.
static void failed_call(const char *call, CudaError error) {
    add_unread(false, "note: %.*s returned %s (%s)", call_length(call), call, error_name(error),
               error_text(error));
}

static void forget_unread(void) {
    unread_count = 0;
    failed_unseen = false;
}

// Prints the unread errors. Returns whether one should fail the run: a launch, or any if `strict`.
static bool report_unread(int status) {
    bool failed = failed_unseen;
    for (size_t i = 0; i < unread_count; i++) {
        const Unread *one = &unread[i];
        if (one->launch || (options.check && status == 0))
            console_say_as(one->launch ? "launch-failed" : "call-failed", "%s", one->text);
        failed |= one->launch || strict;
    }
    return failed;
}

// --- memory that was never freed ---

static bool report_leaks(void) {
    static const char *const calls[] = {[MEMORY_DEVICE] = "cudaMalloc",
                                        [MEMORY_HEAP] = "malloc in kernels",
                                        [MEMORY_MANAGED] = "cudaMallocManaged",
                                        [MEMORY_PINNED] = "cudaMallocHost"};
    enum { KINDS = sizeof calls / sizeof *calls };
    size_t counts[KINDS] = {0}, bytes[KINDS] = {0};
    bool any = false;
    for (const Allocation *at = memory_before(memory_high); at; at = memory_before(at->address - 1))
        if (at->live && !memory_of_module(at->kind)) {
            counts[at->kind]++;
            bytes[at->kind] += at->bytes;
        }
    for (int k = 0; k < KINDS; k++) {
        if (!counts[k]) continue;
        console_say_as("never-freed", "never freed: %zu allocation%s by %s or its like, %zu bytes",
                       counts[k], counts[k] == 1 ? "" : "s", calls[k], bytes[k]);
        any = true;
    }
    return any;
}

static void enter(void) {
    pthread_mutex_lock(&lock);
    inside = true;
}

static void leave(void) {
    inside = false;
    pthread_mutex_unlock(&lock);
}

static void remember_status(int status, void *unused) {
    (void)unused;
    exit_status = status;
}

// The size of device memory: three quarters of the memory that the process may have, in whole MiB.
static size_t memory_size(void) { return host_memory() / 4 * 3 >> 20 << 20; }

static bool option_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static uint32_t option_number(const char *name) {
    return option_set(name) ? (uint32_t)strtoul(getenv(name), NULL, 10) : 0;
}

// Saves freed memory for the next launch. If it went back to the system, the next launch would
// fault it in again page by page, which takes longer than running a small kernel.
static void keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 1 << 25); // the largest value that mallopt accepts
}

// Ends the process. The caller has printed why.
static _Noreturn void refuse_to_start(void) {
    handshake_refused();
    console_end(STATUS_REFUSED);
}

// Reads the measured speeds of the device, from a file that the launcher has checked.
static const char *read_device(void) {
    static TimeDevice device;
    static Arena arena;
    Str error;
    if (!option_set("SIMT_TIME")) return NULL;
    if (!time_device_read(&arena, getenv("SIMT_TIME"), &device, &error)) {
        console_say("%.*s", STR_ARG(error));
        refuse_to_start();
    }
    options.time = &device;
    options.warm = option_set("SIMT_WARM");
    return option_set("SIMT_TIME_NAME") ? getenv("SIMT_TIME_NAME") : getenv("SIMT_TIME");
}

// Reads the options. The launcher has checked them, unless the program was started without it.
static void start(void) {
    keep_freed_memory();
    options.path = option_set("SIMT_TRACE") ? getenv("SIMT_TRACE") : NULL;
    options.lines = option_set("SIMT_LINES");
    options.check = option_set("SIMT_CHECK");
    options.allow_volatile = option_set("SIMT_ALLOW_VOLATILE");
    check_leaks = option_set("SIMT_LEAKS");
    strict = option_set("SIMT_STRICT");
    options.longest = option_set("SIMT_LONGEST");
    options.machine = option_set("SIMT_MACHINE") || option_set("SIMT_TIME");
    if (option_set("SIMT_ORDER")) options.order = strtoull(getenv("SIMT_ORDER"), NULL, 10);
    options.orders = option_number("SIMT_ORDERS");
    options.host_threads = option_number("SIMT_THREADS");
    if (option_set("SIMT_WATCHDOG"))
        options.watchdog_seconds = strtod(getenv("SIMT_WATCHDOG"), NULL);
    if (options.check && options.machine) {
        console_say(
            "SIMT_CHECK checks PTX, but SIMT_MACHINE and SIMT_TIME run machine code: unset one");
        console_end(2);
    }
    limits_choose(option_number("SIMT_SMS"), option_number("SIMT_SM_THREADS"),
                  option_number("SIMT_AS"));
    ReportOptions report = {
        .csv = option_set("SIMT_CSV") ? getenv("SIMT_CSV") : NULL,
        .lines_csv = option_set("SIMT_LINES_CSV") ? getenv("SIMT_LINES_CSV") : NULL,
        .merge = option_set("SIMT_MERGE"),
        .longest = options.longest,
        .last = option_set("SIMT_LAST"),
        .lines = options.lines,
        .html = option_set("SIMT_HTML") ? getenv("SIMT_HTML") : NULL,
        .machine = options.machine,
        .checked = options.check,
        .sarif = option_set("SIMT_REPORT") ? getenv("SIMT_REPORT") : NULL,
        .quiet = option_set("SIMT_QUIET"),
        .strict = strict,
        .time = read_device(),
        .warm = option_set("SIMT_WARM"),
    };
    options.instructions = report.html || (report.lines && report.machine);
    options.lines = report.lines || report.lines_csv;
    report_start(&report);
    if (!memory_open(memory_size())) {
        console_say(
            "cannot reserve addresses for device memory: %s; raise the memory limit (ulimit -v)",
            strerror(errno));
        refuse_to_start();
    }
    if (options.check && !memory_track()) {
        console_say("cannot reserve the record of initialized memory for --check: %s; raise the "
                    "memory limit (ulimit -v)",
                    strerror(errno));
        refuse_to_start();
    }
    signal_watch();
    on_exit(remember_status, NULL);
}

// The first caller writes the report; any later caller waits for the process to end.
static int report(bool *hazards) {
    static bool begun;
    while (__atomic_exchange_n(&begun, true, __ATOMIC_ACQ_REL)) pause();
    if (before_report) before_report();
    return report_finish(hazards);
}

void runtime_end_by_signal(int number) {
    bool hazards = false;
    report_unread(number);
    report(&hazards);
    console_flush();
    console_end_by_signal(number);
}

// Writes the report and returns the exit status: hazards turn 0 into 86. The launcher learns of a
// refusal separately, in case the program never gets here.
static int report_status(int status) {
    bool hazards = false, failed = !refused && report_unread(status) && options.check;
    const bool leaks = !refused && check_leaks && report_leaks();
    int failure = report(&hazards) || trace_lost();
    handshake_reported();
    if (refused) return STATUS_REFUSED;
    if (status) return status;
    return failure ? failure : hazards || failed || leaks ? 86 : 0;
}

// Runs after the program's own exit handlers and destructors.
__attribute__((destructor)) static void finish(void) {
    if (exit_status < 0) { // no call was ever made
        handshake_reported();
        return;
    }
    runtime_enter();
    if (at_end) at_end();
    runtime_leave(CUDA_SUCCESS);
    const int status = report_status(exit_status);
    if (status != exit_status) console_end(status);
}

void runtime_end(int status) { console_end(report_status(status)); }

bool runtime_inside(void) { return inside; }

const SimtOptions *runtime_options(void) { return &options; }

bool runtime_enter(void) {
    pthread_once(&once, start); // before anything else
    enter();
    return broken != CUDA_SUCCESS;
}

CudaError runtime_leave(CudaError error) {
    if (broken) error = broken;
    leave();
    if (error) last_error = error;
    return error;
}

CudaError runtime_leave_call(const char *call, CudaError error) {
    if (error && error != CUDA_NOT_READY && !broken && !launch_reported) failed_call(call, error);
    launch_reported = false;
    return runtime_leave(error);
}

void runtime_break(CudaError error) {
    if (!broken) failed_unseen = true;
    if (!broken) broken = error;
}

CudaError runtime_refuse(CudaError error) {
    handshake_refused();
    refused = true;
    runtime_break(error);
    return error;
}

CudaError runtime_broken(void) { return broken; }

void runtime_reset_errors(void) {
    if (!refused) broken = CUDA_SUCCESS;
    last_error = CUDA_SUCCESS;
}

void runtime_call_host(void (*call)(void *), void *data) {
    leave();
    call(data);
    enter();
}

CudaError runtime_unsupported(const char *what) {
    console_say_as("refused", "%s is not supported by the CPU device", what);
    return runtime_refuse(CUDA_NOT_SUPPORTED);
}

API CudaError cudaGetLastError(void) {
    runtime_enter();
    CudaError error = broken ? broken : last_error;
    if (error) forget_unread();
    leave();
    last_error = CUDA_SUCCESS;
    return error;
}

API CudaError cudaPeekAtLastError(void) {
    runtime_enter();
    CudaError error = broken ? broken : last_error;
    if (error) forget_unread();
    leave();
    return error;
}

API const char *cudaGetErrorName(CudaError error) { return error_name(error); }
API const char *cudaGetErrorString(CudaError error) { return error_text(error); }

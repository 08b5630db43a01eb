// Forks a child for each further order of a launch and receives its observer's findings. See
// module_inside.h.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simt/base/console.h"
#include "simt/device/module_inside.h"
#include "simt/exec/block.h"
#include "simt/memory/memory.h"

// Without --orders, LAUNCHES launches of each kernel run in a second order, until all second orders
// together have run BUDGET basic blocks of warps, which takes a second or two. A fork costs as much
// as TO_BEGIN basic blocks and one more for each page of memory.
enum { LAUNCHES = 4, BUDGET = 1 << 22, TO_BEGIN = 1 << 13, PAGE = 4096 };
enum { MOST_IMAGES = 16 }; // further orders are compared by their hazards alone
#define HANG_SECONDS 10    // the watchdog of a child if none was requested

static bool child;

// The header that a child writes before its findings.
typedef struct {
    uint64_t work_left;
    SimtStatus status;
    SimtError error;
    size_t bytes;
} Result;

static bool put(int to, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = write(to, (const char *)from + done, bytes - done);
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) done += (size_t)got;
    }
    return true;
}

// Reads from a child. An interrupt of the program kills the child, so that the read ends.
static bool take(int from, pid_t who, void *to, size_t bytes) {
    enum { POLL_MS = 100 };
    for (size_t done = 0; done < bytes;) {
        struct pollfd ready = {from, POLLIN, 0};
        if (machine_interrupted) kill(who, SIGKILL);
        if (poll(&ready, 1, POLL_MS) <= 0) continue;
        const ssize_t got = read(from, (char *)to + done, bytes - done);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        if (got > 0) done += (size_t)got;
    }
    return true;
}

void orders_leave(void) {
    if (child) console_end(1);
}

static void be_silent(void) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) console_end(1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
}

static _Noreturn void run_child(Machine *machine, int to, pid_t parent, Image *image) {
    Observer *observer = machine->observer;
    Tally *tally = calloc(machine->slot_count + 1u, sizeof *tally);
    Result result = {0};
    child = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !tally || !memory_make_private()) console_end(1);
    be_silent();
    observer->forked();
    if (!schedule_run(machine, tally, machine->slot_count)) console_end(1);
    result.work_left = machine->spent ? 0 : machine->work_left;
    result.status = machine->status;
    result.error = machine->error;
    if (image->bytes && result.status == SIMT_OK && !machine->spent)
        observer->fill(observer, image);
    const void *found = observer->send(observer, &result.bytes);
    console_end(put(to, &result, sizeof result) && put(to, found, result.bytes) ? 0 : 1);
}

// False: the child ended before it had written everything.
static bool receive(Observer *observer, int from, pid_t who, Result *result) {
    if (!take(from, who, result, sizeof *result)) return false;
    void *found = malloc(result->bytes + 1);
    const bool good = found && take(from, who, found, result->bytes);
    if (good) observer->receive(observer, found, result->bytes);
    free(found);
    return good;
}

// Runs one more order. False: it could not run, or not to its end.
static bool run_order(Machine *machine, Result *result, Image *image) {
    int ends[2], status;
    *result = (Result){0};
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const pid_t parent = getpid(), who = fork();
    if (who == 0) run_child(machine, ends[1], parent, image);
    close(ends[1]);
    const bool good = who > 0 && receive(machine->observer, ends[0], who, result);
    close(ends[0]);
    while (who > 0 && waitpid(who, &status, 0) < 0 && errno == EINTR) continue;
    return good && result->status != SIMT_TIMEOUT;
}

// The basic blocks that a second order of a launch may run. 0: none is affordable.
static uint64_t affordable(uint64_t *left, uint32_t *tried) {
    const uint64_t begin = TO_BEGIN + memory_used() / PAGE;
    if (*tried == LAUNCHES || *left <= begin) return 0;
    ++*tried;
    return *left -= begin;
}

static bool is_failure(SimtStatus status) {
    return status == SIMT_ASSERT || status == SIMT_TRAP || status == SIMT_DEADLOCK;
}

static void keep_image(Arena *arena, Orders *orders, Image *image) {
    if (!image->bytes) return;
    ARENA_GROW(arena, orders->images, orders->image_count, orders->image_capacity);
    orders->images[orders->image_count++] = *image;
}

void orders_forget(Orders *orders) {
    while (orders->image_count) image_close(&orders->images[--orders->image_count]);
}

// Tries one more order with a limit of `work` basic blocks, 0: no limit. Returns how many are left.
static uint64_t try_order(Machine *machine, uint64_t order, uint64_t work, LaunchReport *report) {
    const double watchdog = machine->watchdog_seconds;
    Orders *orders = &report->orders;
    Result result;
    Image image = {0};
    if (orders->image_count < MOST_IMAGES) image_open(&image, order);
    machine->order = order;
    machine->work_left = work;
    if (watchdog <= 0) machine->watchdog_seconds = HANG_SECONDS;
    orders->cut |= !run_order(machine, &result, &image);
    keep_image(&report->arena, orders, &image);
    if (is_failure(result.status) && !result.bytes && !orders->failed_in) {
        orders->failed_in = order;
        orders->failure = result.error;
    }
    machine->order = machine->work_left = 0;
    machine->watchdog_seconds = watchdog;
    return result.work_left;
}

void orders_run(Machine *machine, uint32_t count, uint32_t *tried, LaunchReport *report) {
    static uint64_t left = BUDGET;
    Orders *orders = &report->orders;
    if (!machine->observer || !machine->observer->send) return;
    if (machine->order || machine->trace || machine->after) return;
    const bool several = machine->block_count > 1 || machine->warps_per_block > 1;
    orders->matters = several && machine->code->order_matters;
    orders->asked = count > 1;
    if (!count && orders->matters) {
        const uint64_t work = affordable(&left, tried);
        orders->cut = !work;
        if (work) left = try_order(machine, ORDER_REVERSED, work, report);
    }
    for (uint32_t k = 1; k < count && !machine_interrupted; k++)
        try_order(machine, k == 1 ? ORDER_REVERSED : k, 0, report);
}

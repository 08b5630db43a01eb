// Launches in other orders: see orders.h.
#define _GNU_SOURCE
#include "simt/device/orders.h"

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
#include "simt/exec/schedule.h"
#include "simt/memory/memory.h"

// Where nobody has asked for orders: so many launches of a kernel have a second one, until all of
// them have spent so many basic blocks of warps, a second or two. To begin one takes as long as
// TO_BEGIN of these, and as one for each page of memory.
enum { LAUNCHES = 4, BUDGET = 1 << 22, TO_BEGIN = 1 << 13, PAGE = 4096 };
#define HANG_SECONDS 10 // without a warp that ends, where no watchdog was asked for

static bool child;

// What a child tells, in front of what it found.
typedef struct {
    uint64_t work_left;
    SimtStatus status;
    SimtError error;
    size_t bytes;
} Told;

static bool put(int to, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = write(to, (const char *)from + done, bytes - done);
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) done += (size_t)got;
    }
    return true;
}

// Who interrupts the program does not wait for a child.
static bool take(int from, pid_t who, void *to, size_t bytes) {
    enum { LOOK_MS = 100 };
    for (size_t done = 0; done < bytes;) {
        struct pollfd ready = {from, POLLIN, 0};
        if (machine_interrupted) kill(who, SIGKILL);
        if (poll(&ready, 1, LOOK_MS) <= 0) continue;
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

static _Noreturn void run_child(Machine *machine, Check *check, int to, pid_t parent) {
    Tally *tally = calloc(machine->slot_count + 1u, sizeof *tally);
    Told told = {0};
    child = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !tally || !memory_keep_apart()) console_end(1);
    be_silent();
    check_start_anew();
    if (!schedule_run(machine, tally, machine->slot_count)) console_end(1);
    told.work_left = machine->spent ? 0 : machine->work_left;
    told.status = machine->status;
    told.error = machine->error;
    const void *found = check_tell(check, &told.bytes);
    console_end(put(to, &told, sizeof told) && put(to, found, told.bytes) ? 0 : 1);
}

// False: it did not come to tell.
static bool hear(Check *check, int from, pid_t who, Told *told) {
    if (!take(from, who, told, sizeof *told)) return false;
    void *found = malloc(told->bytes + 1);
    const bool good = found && take(from, who, found, told->bytes);
    if (good) check_hear(check, found, told->bytes);
    free(found);
    return good;
}

// One more order. False: it could not be looked at, or not to its end.
static bool run_order(Machine *machine, Check *check, Told *told) {
    int ends[2], status;
    *told = (Told){0};
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const pid_t parent = getpid(), who = fork();
    if (who == 0) run_child(machine, check, ends[1], parent);
    close(ends[1]);
    const bool good = who > 0 && hear(check, ends[0], who, told);
    close(ends[0]);
    while (who > 0 && waitpid(who, &status, 0) < 0 && errno == EINTR) continue;
    return good && told->status != SIMT_TIMEOUT;
}

// What is left for a launch to spend on a second order. 0: nothing.
static uint64_t affordable(uint64_t *left, uint32_t *tried) {
    const uint64_t begin = TO_BEGIN + memory_used() / PAGE;
    if (*tried == LAUNCHES || *left <= begin) return 0;
    ++*tried;
    return *left -= begin;
}

static bool is_failure(SimtStatus status) {
    return status == SIMT_ASSERT || status == SIMT_TRAP || status == SIMT_DEADLOCK;
}

// One more order, with so much to spend, 0: any amount. What is left of it.
static uint64_t look(Machine *machine, Check *check, uint64_t order, uint64_t work,
                     Orders *orders) {
    const double watchdog = machine->watchdog_seconds;
    Told told;
    machine->order = order;
    machine->work_left = work;
    if (watchdog <= 0) machine->watchdog_seconds = HANG_SECONDS;
    orders->cut |= !run_order(machine, check, &told);
    if (is_failure(told.status) && !told.bytes && !orders->failed_in) {
        orders->failed_in = order;
        orders->failure = told.error;
    }
    machine->order = machine->work_left = 0;
    machine->watchdog_seconds = watchdog;
    return told.work_left;
}

void orders_run(Machine *machine, Check *check, uint32_t count, uint32_t *tried,
                LaunchReport *report) {
    static uint64_t left = BUDGET;
    Orders *orders = &report->orders;
    orders->matters = tried != NULL;
    orders->asked = count > 1;
    if (!count && tried) {
        const uint64_t work = affordable(&left, tried);
        orders->cut = !work;
        if (work) left = look(machine, check, ORDER_REVERSED, work, orders);
    }
    for (uint32_t k = 1; k < count && !machine_interrupted; k++)
        look(machine, check, k == 1 ? ORDER_REVERSED : k, 0, orders);
}

// Runs a launch in another order in a forked child and receives its observer's findings. See
// order.h.
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
#include "simt/device/order.h"
#include "simt/exec/block.h"
#include "simt/memory/memory.h"

static bool child;

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

void order_leave(void) {
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
    OrderResult result = {0};
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
static bool receive(Observer *observer, int from, pid_t who, OrderResult *result) {
    if (!take(from, who, result, sizeof *result)) return false;
    void *found = malloc(result->bytes + 1);
    const bool good = found && take(from, who, found, result->bytes);
    if (good) observer->receive(observer, found, result->bytes);
    free(found);
    return good;
}

bool order_run(Observed *observed, OrderResult *result, Image *image) {
    Machine *machine = observed->machine;
    int ends[2], status;
    *result = (OrderResult){0};
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    const pid_t parent = getpid(), who = fork();
    if (who == 0) run_child(machine, ends[1], parent, image);
    close(ends[1]);
    const bool good = who > 0 && receive(machine->observer, ends[0], who, result);
    close(ends[0]);
    while (who > 0 && waitpid(who, &status, 0) < 0 && errno == EINTR) continue;
    return good && result->status != SIMT_TIMEOUT;
}

// Runs a launch in another order on the native platform, which cannot fork: the launch runs in
// place, and then memory, the machine and the observers are as they were before.
#include "simt/device/order.h"

#include <stdlib.h>
#include <string.h>

#include "simt/exec/block.h"
#include "simt/memory/memory.h"
#include "simt/native/native.h"

enum { WORD = 4 }; // bytes of memory per byte of its shadow

// Everything that a run changes and the next one reads.
typedef struct {
    Machine machine;
    uint8_t *bytes, *shadow; // of memory; NULL: there are none
} Saved;

static void *copy_of(const void *from, size_t bytes) {
    void *copy = from ? malloc(bytes + 1) : NULL;
    return copy ? memcpy(copy, from, bytes) : NULL;
}

static size_t memory_bytes(void) { return memory_high - memory_base; }

static bool save(Saved *saved, const Machine *machine) {
    saved->machine = *machine;
    saved->bytes = copy_of(memory_at(memory_base), memory_bytes());
    saved->shadow = copy_of(memory_shadow, memory_bytes() / WORD);
    return saved->bytes && (saved->shadow || !memory_shadow);
}

// Memory that the run has allocated stays allocated.
static void restore(const Saved *saved, size_t bytes, Machine *machine) {
    *machine = saved->machine;
    machine->observers = machine->observer = machine->profile = machine->trace = NULL;
    memcpy(memory_at(memory_base), saved->bytes, bytes);
    if (memory_shadow) memcpy(memory_shadow, saved->shadow, bytes / WORD);
}

static void *run(Observed *observed, Tally *tally, OrderResult *result, Image *image) {
    Machine *machine = observed->machine;
    Observer *observer = machine->observer;
    if (!schedule_run(machine, tally, machine->slot_count)) return NULL;
    result->work_left = machine->spent ? 0 : machine->work_left;
    result->status = machine->status;
    result->error = machine->error;
    if (image->bytes && result->status == SIMT_OK && !machine->spent)
        observer->fill(observer, image);
    const void *found = observer->send(observer, &result->bytes);
    return copy_of(found, result->bytes);
}

bool order_run(Observed *observed, OrderResult *result, Image *image) {
    Machine *machine = observed->machine;
    Tally *tally = calloc(machine->slot_count + 1u, sizeof *tally);
    const size_t bytes = memory_bytes();
    Saved saved;
    *result = (OrderResult){0};
    const bool saves = save(&saved, machine) && tally;
    native_silent = true;
    void *found = saves ? run(observed, tally, result, image) : NULL;
    native_silent = false;
    if (saves) {
        observers_close(observed);
        restore(&saved, bytes, machine);
        observers_open(observed);
        observer_watch(machine);
    }
    const bool good = machine->observer && (found || !result->bytes);
    if (found && good) machine->observer->receive(machine->observer, found, result->bytes);
    free(found);
    free(tally);
    free(saved.bytes);
    free(saved.shadow);
    return saves && good && result->status != SIMT_TIMEOUT;
}

// Nothing jumps back to the launch.
void order_leave(void) {}

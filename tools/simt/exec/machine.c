// The watchdog and the prerequisite of a launch, and the PTX of its instructions. See machine.h.
#define _POSIX_C_SOURCE 200809L
#include "simt/exec/machine.h"

#include "simt/base/clock.h"

volatile sig_atomic_t machine_interrupted;

const Code *machine_code(const Machine *machine, const Inst *inst) {
    for (uint32_t k = 0; k < machine->code_count; k++) {
        const Code *code = machine->codes[k];
        if (code && inst >= code->insts && inst < code->insts + code->count) return code;
    }
    return NULL;
}

const PtxInst *machine_instruction(const Machine *machine, const Inst *inst) {
    const Code *code = machine_code(machine, inst);
    if (!code || inst->ptx >= code->source->inst_count) return NULL;
    return &code->source->insts[inst->ptx];
}

void machine_await_prerequisite(Machine *machine) {
    void (*run)(void *) = machine->run_prerequisite;
    machine->run_prerequisite = NULL;
    if (run) run(machine->prerequisite_context);
}

static int64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// Moves the deadline only if it grows by a hundredth of the watchdog's time, since all host threads
// read its cache line.
void machine_progress(Machine *machine) {
    enum { PARTS = 100 };
    if (machine->watchdog_seconds <= 0) return;
    const int64_t distance = (int64_t)(machine->watchdog_seconds * 1e9);
    const int64_t deadline = now_ns() + distance;
    const int64_t last = __atomic_load_n(&machine->deadline_ns, __ATOMIC_RELAXED);
    if (deadline - last < distance / PARTS) return;
    __atomic_store_n(&machine->deadline_ns, deadline, __ATOMIC_RELAXED);
}

bool machine_expired(const Machine *machine) {
    if (machine->spent) return true;
    int64_t deadline = __atomic_load_n(&machine->deadline_ns, __ATOMIC_RELAXED);
    return deadline && now_ns() >= deadline;
}

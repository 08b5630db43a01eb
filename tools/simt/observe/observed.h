// The options of observers, their reports, and how they are opened.
//
// Each observer has a function that opens it, if SimtOptions ask for it; device/observer_list.c
// lists these functions. From then on the observer is one of Machine.observers, and the functions
// in its Observer report and close it. None of these functions returns an error: they call
// observed_fail.
#ifndef OBSERVED_H
#define OBSERVED_H

#include <stdio.h>

#include "simt/exec/observer.h"
#include "simt/observe/count/banks.h"
#include "simt/observe/count/counters.h"
#include "simt/observe/race/hazard.h"
#include "simt/observe/race/touched.h"
#include "simt/sass/cubin.h"

typedef struct Difference Difference; // device/ is above this header
typedef struct TimeDevice TimeDevice; // time/ is above this header
typedef struct TimePrediction TimePrediction;
typedef struct TimeLine TimeLine;

typedef struct SimtOptions {
    const char *path;        // where `simt --trace` writes accesses; NULL: no trace
    FILE *trace;             // an open file for them instead of `path`, or NULL
    bool lines;              // attribute counters to source lines
    bool instructions;       // counters and accesses to shared memory by PTX instruction
    bool check;              // find hazards
    bool allow_volatile;     // do not report unordered volatile accesses
    bool longest;            // count the longest warp
    bool machine;            // execute machine code, not PTX
    uint64_t order;          // seed that permutes the order of warps and blocks; 0: in order
    uint32_t orders;         // in how many orders --check runs a launch; 0: two, if that is cheap
    uint32_t host_threads;   // 0: one for each processor that the process may use
    double watchdog_seconds; // end a kernel if no warp ends for this long; 0: never
    const TimeDevice *time;  // predict how long launches of machine code take there; NULL: do not
    bool warm;               // L2 holds what earlier launches read
} SimtOptions;

// The result of running a launch in other orders of its blocks and warps.
typedef struct {
    bool matters;       // other orders may find more
    bool asked;         // the user requests all SimtOptions.orders
    bool cut;           // at least one order was not tried, or did not run to its end
    uint64_t failed_in; // the seed of an order in which it failed without a finding; 0: none
    SimtError failure;
    Image *images; // what the orders that ended have left in memory, until the launch is over
    size_t image_count, image_capacity;
} Orders;

// The results of one launch. If it failed, these are only those that do not depend on the number
// of host threads (schedule.c).
typedef struct LaunchReport {
    uint64_t serial; // number of the launch, from 1
    Counters total;
    uint64_t longest_warp; // the most instructions of one warp; 0 without SimtOptions.longest
    bool waits;            // threads spin until others change memory
    LineCounters *lines;   // sorted by file and line; NULL without SimtOptions.lines
    size_t line_count;
    Hazard *hazards;
    size_t hazard_count;
    Orders orders;
    TouchedList touched;     // see Launch.touched
    Difference *differences; // what depends on the order, see device/result.h
    size_t difference_count;
    // With SimtOptions.instructions. They point into the module and are valid as long as it lives.
    SpanCounters *spans;
    size_t span_count;
    BankAccesses *banks;
    size_t bank_count;
    const PtxModule *module;
    const PtxFunction *function; // the kernel's own
    // With SimtOptions.time. Lines are sorted by file and line.
    TimePrediction *time; // NULL: the launch failed, or no prediction was requested
    TimeLine *time_lines;
    size_t time_line_count;
    Arena arena; // owns the arrays; arena_free(&report->arena)
} LaunchReport;

// A launch as its observers see it, from before it runs until it has ended.
struct Observed {
    Machine *machine;
    const char *kernel;               // its mangled name
    const SlotTable *slots;           // of the module: the launch has the first machine->slot_count
    const Tally *tally;               // by slot
    const SassFunction *machine_code; // the kernel's; NULL: it is PTX
    const SimtOptions *options;
    TouchedWhere touched;
    LaunchReport *report; // when memory runs out, arenas jump to report->arena.leave
    SimtStatus status;
    SimtError *error; // says why, where status is not SIMT_OK
};

// Makes an observer: `bytes` of zeroed memory that begin with a copy of `functions`; its close
// frees it. `place` is &machine->observer, ->trace or ->profile; NULL: it receives no events. If
// another observer has the place, or memory runs out, the result is NULL and the launch has failed;
// `what` names what the memory was for.
void *observed_open(Observed *of, Observer **place, const Observer *functions, size_t bytes,
                    const char *what);
// Makes the launch fail, unless it has failed before.
void observed_fail(Observed *of, SimtStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

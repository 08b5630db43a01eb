// What a launch is to be observed for, what its observers report, and how they open.
//
// Each observer has a function that opens it, if SimtOptions ask for it; device/observers.c lists
// these functions. From then on the observer is one of Machine.observers, and the functions in its
// Observer report and close it. None of these functions returns an error: they call observed_fail.
#ifndef OBSERVED_H
#define OBSERVED_H

#include "simt/exec/observer.h"
#include "simt/observe/count/banks.h"
#include "simt/observe/count/counters.h"
#include "simt/observe/race/hazard.h"
#include "simt/observe/race/touched.h"
#include "simt/sass/cubin.h"

typedef struct TimeDevice TimeDevice; // time/ is above this header
typedef struct TimePrediction TimePrediction;
typedef struct TimeLine TimeLine;

typedef struct SimtOptions {
    const char *path;        // where `simt --trace` writes accesses; NULL: no trace
    bool lines;              // attribute counters to source lines
    bool instructions;       // counters and accesses to shared memory by PTX instruction
    bool check;              // find hazards
    bool allow_volatile;     // but for unordered volatile accesses
    bool longest;            // count the longest warp
    bool machine;            // execute machine code, not PTX
    uint64_t order;          // seed that permutes the order of warps and blocks; 0: in order
    uint32_t orders;         // in which the checks look at a launch; 0: two, where that is cheap
    uint32_t host_threads;   // 0: one for each processor that the process may use
    double watchdog_seconds; // a kernel of which no warp ends for this long is ended; 0: never
    const TimeDevice *time;  // predict how long launches of machine code take there; NULL: do not
    bool warm;               // what earlier launches read lies in L2
} SimtOptions;

// The result of running a launch in other orders of its blocks and warps.
typedef struct {
    bool matters;       // they may show more
    bool asked;         // somebody wants all that SimtOptions.orders says
    bool cut;           // at least one was not tried, or not to its end
    uint64_t failed_in; // the seed of one in which it failed, though nothing was found; 0: none
    SimtError failure;
} Orders;

// The results of one launch. A launch that failed has those that do not depend on the number of
// host threads (schedule.c).
typedef struct LaunchReport {
    uint64_t serial; // of the launch, from 1 on
    Counters total;
    uint64_t longest_warp; // the most instructions of one warp; 0 without SimtOptions.longest
    bool waits;            // threads go round loops until others change memory
    LineCounters *lines;   // sorted by file and line; NULL without SimtOptions.lines
    size_t line_count;
    Hazard *hazards;
    size_t hazard_count;
    Orders orders;
    TouchedList touched; // as Launch.touched asks
    // With SimtOptions.instructions. What they point to in the module lives as long as that.
    SpanCounters *spans;
    size_t span_count;
    BankAccesses *banks;
    size_t bank_count;
    const PtxModule *module;
    const PtxFunction *function; // the kernel's own
    // With SimtOptions.time; by source line in the order of files and lines.
    TimePrediction *time; // NULL: the launch failed, or nothing was asked
    TimeLine *time_lines;
    size_t time_line_count;
    Arena arena; // owns the arrays; arena_free(&report->arena)
} LaunchReport;

// A launch as its observers see it, from before it runs until it is over.
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

// Makes an observer: `bytes` of zeroed memory that begin with a copy of `functions`, for close to
// free. `place` is &machine->observer, ->trace or ->profile; NULL: no event concerns it. If another
// observer has the place, or memory runs out, the result is NULL and the launch has failed; `what`
// names what the memory was for.
void *observed_open(Observed *of, Observer **place, const Observer *functions, size_t bytes,
                    const char *what);
// The launch fails, unless it has failed before.
void observed_fail(Observed *of, SimtStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

// The list of all observers: to add one, add the function that opens it.
#include "simt/device/module_inside.h"
#include "simt/observe/race/checker.h"
#include "simt/observe/trace.h"
#include "simt/time/record.h"

static void (*const openers[])(Observed *of) = {counters_open, record_open, check_open, banks_open,
                                                trace_open};

void observers_open(Observed *of) {
    for (size_t k = 0; k < sizeof openers / sizeof *openers && of->status == SIMT_OK; k++)
        openers[k](of);
}

void observers_report(Observed *of) {
    for (Observer *one = of->machine->observers; one; one = one->next)
        if (one->report) one->report(one, of);
}

void observers_close(Observed *of) {
    for (Observer *one = of->machine->observers, *next; one; one = next) {
        next = one->next;
        one->close(one, of);
    }
    of->machine->observers = NULL;
}

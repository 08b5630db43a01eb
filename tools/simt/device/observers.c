// Opens and closes the observers of a launch, and lets them report.
#include "simt/device/observer_list.h"

void observers_open(Observed *of) {
    for (size_t k = 0; observer_list[k] && of->status == SIMT_OK; k++) observer_list[k](of);
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

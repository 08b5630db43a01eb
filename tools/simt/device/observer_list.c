// The observers of the CPU device. See observer_list.h.
#include "simt/device/observer_list.h"

#include "simt/observe/race/checker.h"
#include "simt/observe/trace.h"
#include "simt/time/record.h"

void (*const observer_list[])(Observed *of) = {counters_open, record_open, check_open,
                                               banks_open,    trace_open,  NULL};

// The observers of the native platform, which executes PTX and thus predicts no times.
#include "simt/device/observer_list.h"

#include "simt/observe/race/checker.h"
#include "simt/observe/trace.h"

void (*const observer_list[])(Observed *of) = {counters_open, check_open, banks_open, trace_open,
                                               NULL};

// Events, as far as others run them.
#ifndef EVENT_H
#define EVENT_H

#include "simt/cuda/work.h"

void event_record(Event *event);

#endif

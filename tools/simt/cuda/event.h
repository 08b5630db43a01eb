// Events, as far as others run them.
#ifndef EVENT_H
#define EVENT_H

#include "simt/cuda/work.h"

void event_record(Event *event);

// The work of the queue (queue.h) that records the event; 0: none.
void event_waits(Event *event, uint64_t number);
uint64_t event_number(const Event *event);

#endif

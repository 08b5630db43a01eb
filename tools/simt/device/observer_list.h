// The list of all observers: to add one, add the function that opens it to observer_list.c. The
// native platform (simt/native) has another list.
#ifndef OBSERVER_LIST_H
#define OBSERVER_LIST_H

#include "simt/device/module_inside.h"

extern void (*const observer_list[])(Observed *of); // ends with NULL

#endif

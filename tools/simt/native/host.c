// The host of the native platform: one processor, which only rounds to nearest.
#include "simt/base/host.h"

uint32_t host_processors(void) { return 1; }
bool host_rounds(void) { return false; }

// What the machine offers: the processors and the memory that this process may use, as limited by
// its affinity and its control groups (cgroups(7), versions 1 and 2), since a container often has
// less than the machine; and how it rounds.
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stdint.h>

uint32_t host_processors(void); // at least 1
uint64_t host_memory(void);     // bytes

// Whether fesetround() can choose directed rounding.
bool host_rounds(void);

// The limits of the control groups, UINT32_MAX or UINT64_MAX if there are none. They are read from
// files below `root`, which is "" except in tests. A fraction of a processor is rounded up.
uint32_t host_quota(const char *root);
uint64_t host_memory_limit(const char *root);

#endif

// Prints the limits of the control groups below a folder, and the processors this process may use.
#include "simt/base/host.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv) {
    printf("%" PRIu32 " %" PRIu64 " %" PRIu32 "\n", host_quota(argv[argc - 1]),
           host_memory_limit(argv[argc - 1]), host_processors());
    return 0;
}

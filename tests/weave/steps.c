// Counts the steps of a program that was compiled with -fsanitize-coverage=trace-pc: one for each
// branch target that it reaches. The count does not depend on how busy the machine is.
#include <stdint.h>
#include <stdio.h>

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { steps++; }

__attribute__((destructor)) static void print_steps(void) {
    fprintf(stderr, "steps %llu\n", (unsigned long long)steps);
}

// Notes host clocks that are read before a launched kernel has finished: with --check.
//
// It is noted only where it is certain: between two readings of a clock by the main thread, the
// only CUDA calls were launches. Then their difference is the time of the launches alone.
#ifndef CLOCK_H
#define CLOCK_H

// A kernel has been launched, and may still run; or the host knows that it is done.
void clock_launched(const char *mangled);
void clock_done(void);

void clock_report(void); // at the end of the program

#endif

// The page's engine: the CPU device as a library for a host that can only pass bytes. One instance
// makes one run and is then thrown away.
//
// A run is a module of PTX and a text of commands, one a line:
//
//     check                            find hazards; comes first
//     orders COUNT                     with check: in how many orders of its blocks and warps a
//                                      launch runs; without it a second one, if that is cheap
//     trace                            list the steps of block 0, for the player
//     watchdog SECONDS                 end a launch in which no warp ends for this long
//     buffer NAME TYPE COUNT CONTENT   allocate memory; CONTENT is element, as in the labs, zero,
//                                      ones (0xFF bytes), or nothing
//     launch KERNEL NAME               KERNEL as in the PTX; reports call it NAME. Then may come:
//     grid X Y Z                       Y and Z may be left out
//     block X Y Z
//     shared BYTES                     of dynamic shared memory
//     cooperative
//     pointer NAME ELEMENT             the next argument: the address of an element of a buffer
//     int VALUE                        or a value; also uint, long, float, double, uchar
//     read NAME FIRST COUNT            read elements back
//
// A launch starts at the next launch or read, or at the end. The result is JSON:
//
//     {"error": text, or null,         of the first command that failed, or "" without memory
//      "launches": [{"kernel": NAME, "grid": [x, y, z], "block": [x, y, z], "shared_bytes": N,
//          "error": text or null, "counters": {name: value..},     the names of simt --csv
//          "lines": [{"file", "line", "counters"}..],
//          "banks": [{"file", "line", "block", "access": {as in report/bank_data.h}}..],
//          "steps": rows as in collect/steps.h, without the header, or null,
//          "no_steps": why there are none, if a trace was requested}..],
//      "hazards": [{"kind", "kernel", "text", "note": bool, "advice", "count", "file", "line",
//          "other_file", "other_line"}..],     as simt --check prints them, notes last; the other
//                                              access: null, 0 if there is none
//      "cut": whether a launch in which order matters ran in only one,
//      "reads": [[value..]..], "printed": what kernels printed}
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>

// Memory for the texts of a run. NULL: there is none.
void *engine_alloc(size_t bytes);
// Makes the run. False: it failed, and the result says why. If it cannot go on, it does not return
// but calls engine_ended, if that is set, and then traps.
bool engine_run(const char *commands, size_t command_bytes, const char *ptx, size_t ptx_bytes);
// Answers a request of the page: compiles its program, runs a stage of it, and checks the sum.
// tools/page/run-engine.js documents requests and results.
bool engine_answer(const char *request, size_t bytes);
extern void (*engine_ended)(void);
// The result, also after a trap. No bytes: there was no memory for it.
const char *engine_result(void);
size_t engine_result_bytes(void);

#endif

// Writes the data of a page, as JSON for its scripts:
//
//     {"counters": [{"name", "group", "label"}..],      in the order of their numbers; with --time
//                                          followed by stalls, which count picoseconds
//      "stalls": number of the first stall, "code": "PTX" or "machine code",
//      "files": [{"name", "note", "pieces": [[first line, [text..]]..]}..],    numbers from 1
//      "kernels": [{"name", "short",         as in the table
//          "ptx": [text..],                  lines, of all its functions
//          "at": [file, line, ..],           for each of them; 0, 0: unknown
//          "insts": [index in ptx..],
//          "launches": [{"launch", "launches", "grid", "block", "predicted": text,
//                        "total": [value..],           without the stalls
//                        "entries": [first, last, counter, value, ..]}..],
//                        each instruction first..last counted the value;
//                        launch 0: the sum of several different launches
//          "banks": [{"inst", "load", "bytes", "wavefronts", "launch", "block", "warp",
//                     "groups": [mask of the lanes in one wavefront..],
//                     "address": [of each active lane..],
//                     "accesses": [wavefronts, accesses that took that many, ..]}..]}..],
//      "hazards": [{"kernel", "text", "at": [file, line], "other": [file, line]}..]}
#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "simt/report/report.h"

void page_data_write(Buf *buf, const ReportOptions *options);

#endif

// What a page shows, as JSON for its scripts:
//
//     {"counters": [{"name", "group", "label"}..],      in the order of their numbers; with --time
//                                          behind them reasons to wait, which count picoseconds
//      "stalls": number of the first of these, "code": "PTX" or "machine code",
//      "files": [{"name", "note", "pieces": [[first line, [text..]]..]}..],    numbers from 1
//      "kernels": [{"name", "short",         as in the table
//          "ptx": [text..],                  lines, of all its functions
//          "at": [file, line, ..],           for each of them; 0, 0: no place is known
//          "insts": [index in ptx..],
//          "launches": [{"launch", "launches", "grid", "block", "predicted": text,
//                        "total": [value..],           of the counters that are no reasons
//                        "entries": [first, last, counter, value, ..]}..],
//                        each of the instructions first..last counted the value;
//                        launch 0: several different ones, added up
//          "banks": [{"inst", "load", "bytes", "wavefronts", "launch", "block", "warp",
//                     "groups": [mask of lanes that are served together..],
//                     "address": [of each lane that is on..],
//                     "accesses": [wavefronts, how many took so many, ..]}..]}..],
//      "hazards": [{"kernel", "text", "at": [file, line], "other": [file, line]}..]}
#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "simt/report/report.h"

void page_data_write(Buf *buf, const ReportOptions *options);

#endif

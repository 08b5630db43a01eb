// Writes the accesses of an instruction to shared memory as members of a JSON object:
//
//     "load": bool, "bytes": per lane,
//     "wavefronts", "warp", "groups", "address":    of the worst access: the masks of the lanes in
//                                                   one wavefront, and each active lane's address
//     "accesses": [wavefronts, accesses that took that many, ..]
#ifndef BANK_DATA_H
#define BANK_DATA_H

#include "base/str.h"
#include "simt/observe/count/banks.h"

void bank_data_write(Buf *buf, const BankAccesses *found);

#endif

// Copies as calls describe them.
#ifndef MEMCPY_H
#define MEMCPY_H

#include "simt/cuda/work.h"

CudaError memcpy_3d_work(const void *params, Work *work); // cudaMemcpy3DParms

#endif

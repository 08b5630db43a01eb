// The version of libcudart that this build replaces. Compiled once for each version.
#include "simt/program/runtime.h"

const int runtime_abi = SIMT_CUDART;

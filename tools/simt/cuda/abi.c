// Which libcudart this build stands in for: compiled once for each.
#include "simt/program/runtime.h"

const int runtime_abi = SIMT_CUDART;

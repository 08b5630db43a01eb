// Names of kernels. A kernel has three: the demangled name, `void sum<64u>(float const*)`; the bare
// name that the CPU device writes, `sum<64u>`; and the name in results, `sum_64`.
#ifndef BASE_KERNEL_NAME_H
#define BASE_KERNEL_NAME_H

#include "base/arena.h"
#include "base/str.h"

// Removes the parameters and a template's return type from a demangled name, if it has them.
Str kernel_name_bare(Str demangled);

// The name in results: `f<float, (Kind)1, 256u>` is f_float_1_256. A kernel in a namespace loses
// its namespace and its template arguments: `cub::DeviceReduceKernel<...>` is DeviceReduceKernel.
Str kernel_name_recorded(Arena *arena, Str bare);

// Whether a name has a namespace; the kernels of labs have none.
bool kernel_name_is_library(Str bare);

#endif

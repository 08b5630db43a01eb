// Names of kernels. A kernel has three: the demangled one, `void sum<64u>(float const*)`; the bare
// one, `sum<64u>`, which the CPU device writes; and the one that results have, `sum_64`.
#ifndef BASE_KERNEL_NAME_H
#define BASE_KERNEL_NAME_H

#include "base/arena.h"
#include "base/str.h"

// A demangled name without its parameters and without the return type that templates have. A bare
// name stays as it is.
Str kernel_name_bare(Str demangled);

// The name in results: `f<float, (Kind)1, 256u>` is f_float_1_256. A kernel in a namespace keeps
// neither this nor its template arguments: `cub::DeviceReduceKernel<...>` is DeviceReduceKernel.
Str kernel_name_recorded(Arena *arena, Str bare);

// Whether a name has a namespace in it. Kernels of labs have none.
bool kernel_name_is_library(Str bare);

#endif

// fesetround() for the native platform, which rounds only to nearest. Lowering refuses instructions
// with directed rounding, see host_rounds().
#ifndef NATIVE_FENV_H
#define NATIVE_FENV_H

enum { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };

#define fesetround(mode) ((void)(mode))

#endif

// The types of PTX: one list gives their names, sizes and kinds, and the first modifiers of opcodes
// (opcode.h). PTX ISA, "State Spaces, Types, and Variables: Types".
#ifndef PTX_TYPE_H
#define PTX_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

// X(name, text, bytes, kind of number)
// clang-format off
#define PTX_TYPE_LIST(X) \
    X(PRED, "pred", 0, BITS) \
    X(B8, "b8", 1, BITS) \
    X(B16, "b16", 2, BITS) \
    X(B32, "b32", 4, BITS) \
    X(B64, "b64", 8, BITS) \
    X(B128, "b128", 16, BITS) \
    X(U8, "u8", 1, UNSIGNED) \
    X(U16, "u16", 2, UNSIGNED) \
    X(U32, "u32", 4, UNSIGNED) \
    X(U64, "u64", 8, UNSIGNED) \
    X(S8, "s8", 1, SIGNED) \
    X(S16, "s16", 2, SIGNED) \
    X(S32, "s32", 4, SIGNED) \
    X(S64, "s64", 8, SIGNED) \
    X(F16, "f16", 2, FLOATING) \
    X(F16X2, "f16x2", 4, FLOATING) \
    X(BF16, "bf16", 2, FLOATING) \
    X(BF16X2, "bf16x2", 4, FLOATING) \
    X(E4M3X2, "e4m3x2", 2, FLOATING) \
    X(E5M2X2, "e5m2x2", 2, FLOATING) \
    X(F32, "f32", 4, FLOATING) \
    X(F64, "f64", 8, FLOATING)
// clang-format on

typedef enum {
    PTX_NOTYPE,
#define X(name, ...) PTX_##name,
    PTX_TYPE_LIST(X)
#undef X
        PTX_TYPES
} PtxType;

// Bytes a value of this type takes; 0 for PTX_PRED and PTX_NOTYPE.
uint32_t ptx_type_bytes(PtxType type);
bool ptx_type_is_float(PtxType type);
bool ptx_type_is_signed(PtxType type);
bool ptx_type_is_pair(PtxType type); // two 16-bit floats
bool ptx_type_is_fp8(PtxType type);  // two 8-bit floats
// The type named without its dot ("u32"), PTX_NOTYPE if there is none.
PtxType ptx_type_named(Str name);

#endif

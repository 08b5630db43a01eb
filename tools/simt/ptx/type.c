// What is known of each type. PTX ISA, "State Spaces, Types, and Variables: Types".
#include "simt/ptx/ptx.h"

typedef enum { BITS, UNSIGNED, SIGNED, FLOATING } Number;

static const struct {
    Str name;
    uint8_t bytes;
    Number number;
} types[PTX_TYPES] = {
    [PTX_PRED] = {STR("pred"), 0, BITS},         [PTX_B8] = {STR("b8"), 1, BITS},
    [PTX_B16] = {STR("b16"), 2, BITS},           [PTX_B32] = {STR("b32"), 4, BITS},
    [PTX_B64] = {STR("b64"), 8, BITS},           [PTX_B128] = {STR("b128"), 16, BITS},
    [PTX_U8] = {STR("u8"), 1, UNSIGNED},         [PTX_U16] = {STR("u16"), 2, UNSIGNED},
    [PTX_U32] = {STR("u32"), 4, UNSIGNED},       [PTX_U64] = {STR("u64"), 8, UNSIGNED},
    [PTX_S8] = {STR("s8"), 1, SIGNED},           [PTX_S16] = {STR("s16"), 2, SIGNED},
    [PTX_S32] = {STR("s32"), 4, SIGNED},         [PTX_S64] = {STR("s64"), 8, SIGNED},
    [PTX_F16] = {STR("f16"), 2, FLOATING},       [PTX_F16X2] = {STR("f16x2"), 4, FLOATING},
    [PTX_BF16] = {STR("bf16"), 2, FLOATING},     [PTX_BF16X2] = {STR("bf16x2"), 4, FLOATING},
    [PTX_E4M3X2] = {STR("e4m3x2"), 2, FLOATING}, [PTX_E5M2X2] = {STR("e5m2x2"), 2, FLOATING},
    [PTX_F32] = {STR("f32"), 4, FLOATING},       [PTX_F64] = {STR("f64"), 8, FLOATING},
};

PtxType ptx_type_named(Str name) {
    for (int type = PTX_PRED; type < PTX_TYPES; type++)
        if (str_equal(name, types[type].name)) return (PtxType)type;
    return PTX_NOTYPE;
}

Str ptx_type_name(PtxType type) { return types[type].name; }
uint32_t ptx_type_bytes(PtxType type) { return types[type].bytes; }
bool ptx_type_is_float(PtxType type) { return types[type].number == FLOATING; }
bool ptx_type_is_signed(PtxType type) { return types[type].number == SIGNED; }
bool ptx_type_is_fp8(PtxType type) { return type == PTX_E4M3X2 || type == PTX_E5M2X2; }
bool ptx_type_is_pair(PtxType type) { return type == PTX_F16X2 || type == PTX_BF16X2; }

// The table of types.
#include "simt/ptx/type.h"

typedef enum { BITS, UNSIGNED, SIGNED, FLOATING } Number;

static const struct {
    Str name;
    uint8_t bytes;
    Number number;
} types[PTX_TYPES] = {
#define X(name, text, bytes, number) [PTX_##name] = {STR(text), bytes, number},
    PTX_TYPE_LIST(X)
#undef X
};

PtxType ptx_type_named(Str name) {
    for (int type = PTX_PRED; type < PTX_TYPES; type++)
        if (str_equal(name, types[type].name)) return (PtxType)type;
    return PTX_NOTYPE;
}

uint32_t ptx_type_bytes(PtxType type) { return types[type].bytes; }
bool ptx_type_is_float(PtxType type) { return types[type].number == FLOATING; }
bool ptx_type_is_signed(PtxType type) { return types[type].number == SIGNED; }
bool ptx_type_is_fp8(PtxType type) { return type == PTX_E4M3X2 || type == PTX_E5M2X2; }
bool ptx_type_is_pair(PtxType type) { return type == PTX_F16X2 || type == PTX_BF16X2; }

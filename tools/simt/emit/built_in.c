// The functions without PTX, such as malloc, that the CPU device executes itself.
#include "simt/emit/emit.h"

static const BuiltIn built_ins[] = {
    {STR("vprintf"), op_print, true, 2, {8, 8}},
    {STR("__assertfail"), op_assert_fail, false, 4, {8, 8, 4, 8}},
    {STR("malloc"), op_malloc, true, 1, {8}},
    {STR("free"), op_free, true, 1, {8}},
};

const BuiltIn *lower_built_in(Str name) {
    for (size_t k = 0; k < sizeof built_ins / sizeof *built_ins; k++)
        if (str_equal(name, built_ins[k].name)) return &built_ins[k];
    return NULL;
}

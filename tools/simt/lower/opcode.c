// See opcode.h, also for how to add one.
#include "simt/lower/opcode.h"

#include <pthread.h>

#include "simt/lower/lower.h"

// Order within a thread is kept and caches are not modelled.
static const Str memory_hints[] = {
    STR("weak"),    STR("ca"),   STR("cg"),   STR("cs"),   STR("lu"),
    STR("cv"),      STR("wb"),   STR("wt"),   STR("nc"),   STR("noftz"),
    STR("unified"), STR("mmio"), STR("L1::"), STR("L2::"), STR(""),
};
static const Str mbarrier_hints[] = {STR("b64"), STR("noComplete"), STR("")};
static const Str barrier_hints[] = {STR("cta"), STR("aligned"), STR("")};
static const Str shuffle_hints[] = {STR("b32"), STR("")};
static const Str uniform[] = {STR("uni"), STR("")};

#define OPCODE(text, function, ...)                                                                \
    { .name = STR(text), .lower = function, __VA_ARGS__ }

static const Opcode opcodes[] = {
    // Arithmetic: rows in ops/. Rounding to nearest is what is done without a modifier.
    OPCODE("add", lower_rounded),
    OPCODE("sub", lower_rounded),
    OPCODE("mul", lower_rounded),
    OPCODE("fma", lower_rounded),
    OPCODE("mad", lower_rounded),
    OPCODE("div", lower_rounded),
    OPCODE("sqrt", lower_rounded),
    OPCODE("rcp", lower_rounded),
    OPCODE("addc", lower_arithmetic),
    OPCODE("subc", lower_arithmetic),
    OPCODE("madc", lower_arithmetic),
    OPCODE("mul24", lower_arithmetic),
    OPCODE("mad24", lower_arithmetic),
    OPCODE("sad", lower_arithmetic),
    OPCODE("dp2a", lower_arithmetic),
    OPCODE("dp4a", lower_arithmetic),
    OPCODE("rem", lower_arithmetic),
    OPCODE("abs", lower_arithmetic),
    OPCODE("neg", lower_arithmetic),
    OPCODE("min", lower_arithmetic),
    OPCODE("max", lower_arithmetic),
    OPCODE("copysign", lower_arithmetic),
    OPCODE("testp", lower_arithmetic),
    OPCODE("rsqrt", lower_arithmetic),
    OPCODE("sin", lower_arithmetic),
    OPCODE("cos", lower_arithmetic),
    OPCODE("lg2", lower_arithmetic),
    OPCODE("ex2", lower_arithmetic),
    OPCODE("tanh", lower_arithmetic),
    // bits
    OPCODE("and", lower_arithmetic),
    OPCODE("or", lower_arithmetic),
    OPCODE("xor", lower_arithmetic),
    OPCODE("not", lower_arithmetic),
    OPCODE("cnot", lower_arithmetic),
    OPCODE("lop3", lower_arithmetic),
    OPCODE("shl", lower_arithmetic),
    OPCODE("shr", lower_arithmetic),
    OPCODE("shf", lower_arithmetic),
    OPCODE("popc", lower_arithmetic),
    OPCODE("clz", lower_arithmetic),
    OPCODE("brev", lower_arithmetic),
    OPCODE("bfind", lower_arithmetic),
    OPCODE("bfe", lower_arithmetic),
    OPCODE("bfi", lower_arithmetic),
    OPCODE("bmsk", lower_arithmetic),
    OPCODE("szext", lower_arithmetic),
    OPCODE("fns", lower_arithmetic),
    OPCODE("prmt", lower_arithmetic),
    OPCODE("vabsdiff2", lower_arithmetic),
    OPCODE("vabsdiff4", lower_arithmetic),
    // selection, comparison, moves, conversion
    OPCODE("selp", lower_arithmetic),
    OPCODE("slct", lower_slct),
    OPCODE("setp", lower_setp),
    OPCODE("set", lower_set),
    OPCODE("mov", lower_mov),
    OPCODE("cvt", lower_cvt),
    OPCODE("cvta", lower_cvta),
    OPCODE("isspacep", lower_isspacep),
    // memory
    OPCODE("ld", lower_ld, .hints = memory_hints),
    OPCODE("ldu", lower_ld, .hints = memory_hints),
    OPCODE("st", lower_st, .hints = memory_hints),
    OPCODE("atom", lower_atom, .hints = memory_hints),
    OPCODE("red", lower_red, .hints = memory_hints),
    OPCODE("cp", lower_cp),
    OPCODE("mbarrier", lower_mbarrier, .hints = mbarrier_hints),
    OPCODE("createpolicy", lower_createpolicy),
    OPCODE("prefetch", lower_nothing),
    OPCODE("prefetchu", lower_nothing),
    OPCODE("discard", lower_nothing),
    OPCODE("applypriority", lower_nothing),
    OPCODE("membar", lower_fence),
    OPCODE("fence", lower_fence),
    // what lanes and threads do together
    OPCODE("shfl", lower_shfl, .waits = true, .hints = shuffle_hints),
    OPCODE("vote", lower_vote, .waits = true),
    OPCODE("match", lower_match, .waits = true),
    OPCODE("redux", lower_redux, .waits = true),
    OPCODE("elect", lower_elect, .waits = true),
    OPCODE("bar", lower_bar, .reads_first = true, .waits = true, .hints = barrier_hints),
    OPCODE("barrier", lower_bar, .reads_first = true, .waits = true, .hints = barrier_hints),
    OPCODE("activemask", lower_activemask),
    OPCODE("mapa", lower_mapa),
    OPCODE("getctarank", lower_getctarank),
    // matrices
    OPCODE("wmma", lower_wmma, .waits = true),
    OPCODE("mma", lower_mma, .waits = true),
    OPCODE("ldmatrix", lower_ldmatrix, .waits = true),
    OPCODE("stmatrix", lower_stmatrix, .waits = true),
    OPCODE("movmatrix", lower_movmatrix, .waits = true),
    // control
    OPCODE("bra", lower_bra, .flow = FLOW_BRANCH, .hints = uniform),
    OPCODE("brx", lower_brx, .reads_first = true, .flow = FLOW_TABLE, .waits = true,
           .hints = uniform),
    OPCODE("call", lower_call, .reads_first = true, .flow = FLOW_CALL, .waits = true,
           .hints = uniform),
    OPCODE("ret", lower_ret, .flow = FLOW_RETURN, .hints = uniform),
    OPCODE("exit", lower_exit, .flow = FLOW_EXIT, .hints = uniform),
    OPCODE("trap", lower_trap, .flow = FLOW_TRAP),
    OPCODE("brkpt", lower_trap),
    OPCODE("nanosleep", lower_nanosleep, .reads_first = true),
    OPCODE("griddepcontrol", lower_griddepcontrol),
    // Nobody profiles; registers are not counted.
    OPCODE("pmevent", lower_nothing),
    OPCODE("setmaxnreg", lower_nothing),
};

#define SLOTS 512 // open addressing, about four times as many as there are opcodes
static const Opcode *slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// The slot of this base opcode, or where it belongs.
static const Opcode **slot_of(Str base) {
    size_t at = (size_t)str_hash(base) % SLOTS;
    while (slots[at] && !str_equal(slots[at]->name, base)) at = (at + 1) % SLOTS;
    return &slots[at];
}

static void index_opcodes(void) {
    for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++)
        *slot_of(opcodes[k].name) = &opcodes[k];
}

const Opcode *opcode_find(Str opcode) {
    size_t dot = 0;
    while (dot < opcode.len && opcode.at[dot] != '.') dot++;
    pthread_once(&once, index_opcodes);
    return *slot_of(str_slice(opcode, 0, dot));
}

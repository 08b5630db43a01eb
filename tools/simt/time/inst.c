// Which pipe executes an instruction, and how fast: see trace.h.
#include <string.h>

#include "simt/time/trace.h"

// Numbers that no microbenchmark of chapter 17 gives, and that had to be chosen: cycles.
enum {
    CHOSEN_UNIFORM = 2, // of a scheduler for a uniform instruction
    CHOSEN_CONTROL = 2, // for EXIT, BSSY and the like
    CHOSEN_UNIFORM_LATE = 12,
    CHOSEN_READ = 2, // from leaving the queue until registers may be written again
    CHOSEN_READ_GLOBAL = 12,
    CHOSEN_MATRIX = 8,
    CHOSEN_MATRIX_LATE = 32,
};

static const struct {
    const char *name;
    TimePipe pipe;
    TimeAct act;
} known[] = {
    {"FADD", PIPE_FMA, ACT_NONE},         {"FMUL", PIPE_FMA, ACT_NONE},
    {"FFMA", PIPE_FMA, ACT_NONE},         {"HADD2", PIPE_HALF, ACT_NONE},
    {"HMUL2", PIPE_HALF, ACT_NONE},       {"HFMA2", PIPE_HALF, ACT_NONE},
    {"IMAD", PIPE_IMAD, ACT_NONE},        {"IDP", PIPE_IMAD, ACT_NONE},
    {"DADD", PIPE_FP64, ACT_NONE},        {"DMUL", PIPE_FP64, ACT_NONE},
    {"DFMA", PIPE_FP64, ACT_NONE},        {"DSETP", PIPE_FP64, ACT_NONE},
    {"MUFU", PIPE_XU, ACT_NONE},          {"I2F", PIPE_XU, ACT_NONE},
    {"F2I", PIPE_XU, ACT_NONE},           {"F2F", PIPE_CONVERT, ACT_NONE},
    {"FRND", PIPE_XU, ACT_NONE},          {"POPC", PIPE_XU, ACT_NONE},
    {"FLO", PIPE_XU, ACT_NONE},           {"BREV", PIPE_XU, ACT_NONE},
    {"BRA", PIPE_BRANCH, ACT_NONE},       {"EXIT", PIPE_BRANCH, ACT_EXIT},
    {"BSSY", PIPE_BRANCH, ACT_NONE},      {"BSYNC", PIPE_BRANCH, ACT_NONE},
    {"CALL", PIPE_BRANCH, ACT_NONE},      {"RET", PIPE_BRANCH, ACT_NONE},
    {"WARPSYNC", PIPE_BRANCH, ACT_NONE},  {"BREAK", PIPE_BRANCH, ACT_NONE},
    {"YIELD", PIPE_BRANCH, ACT_NONE},     {"BRX", PIPE_BRANCH, ACT_NONE},
    {"NANOSLEEP", PIPE_BRANCH, ACT_NONE}, {"BMOV", PIPE_BRANCH, ACT_NONE},
    {"LDS", PIPE_SHARED, ACT_NONE},       {"STS", PIPE_SHARED, ACT_STORE},
    {"LDSM", PIPE_SHARED, ACT_NONE},      {"STSM", PIPE_SHARED, ACT_STORE},
    {"ATOMS", PIPE_SHARED, ACT_ATOMIC},   {"SHFL", PIPE_SHUFFLE, ACT_NONE},
    {"LDG", PIPE_GLOBAL, ACT_NONE},       {"STG", PIPE_GLOBAL, ACT_STORE},
    {"LD", PIPE_GLOBAL, ACT_NONE},        {"ST", PIPE_GLOBAL, ACT_STORE},
    {"LDL", PIPE_GLOBAL, ACT_NONE},       {"STL", PIPE_GLOBAL, ACT_STORE},
    {"ATOM", PIPE_GLOBAL, ACT_ATOMIC},    {"ATOMG", PIPE_GLOBAL, ACT_ATOMIC},
    {"RED", PIPE_GLOBAL, ACT_REDUCE},     {"REDG", PIPE_GLOBAL, ACT_REDUCE},
    {"LDGSTS", PIPE_GLOBAL, ACT_NONE},    {"MEMBAR", PIPE_NONE, ACT_FENCE},
    {"UBLKCP", PIPE_GLOBAL, ACT_BULK},    {"LDC", PIPE_CONSTANT, ACT_NONE},
    {"S2R", PIPE_SPECIAL, ACT_NONE},      {"S2UR", PIPE_SPECIAL, ACT_NONE},
    {"R2UR", PIPE_SPECIAL, ACT_NONE},     {"MATCH", PIPE_SPECIAL, ACT_NONE},
    {"REDUX", PIPE_REDUX, ACT_NONE},      {"VOTE", PIPE_VOTE, ACT_NONE},
    {"BAR", PIPE_BARRIER, ACT_BARRIER},   {"HMMA", PIPE_MATRIX, ACT_NONE},
    {"IMMA", PIPE_MATRIX, ACT_NONE},      {"DMMA", PIPE_MATRIX, ACT_NONE},
    {"NOP", PIPE_NONE, ACT_NONE},         {"DEPBAR", PIPE_NONE, ACT_NONE},
    {"LDGDEPBAR", PIPE_NONE, ACT_NONE},   {"CCTL", PIPE_NONE, ACT_NONE},
    {"ERRBAR", PIPE_NONE, ACT_NONE},
};

// Latencies that are unknown, of what has a scoreboard of its own.
static bool is_unknown(const TimeInst *inst, const char *name) {
    static const char *const names[] = {"MATCH",        "UBLKCP",  "SYNCS",  "UCGABAR_ARV",
                                        "UCGABAR_WAIT", "UTMALDG", "LDGSTS", "ARRIVES"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return inst->pipe == PIPE_MATRIX;
}

static bool says(Str opcode, const char *modifier) {
    return str_find(opcode, str_of(modifier)) != SIZE_MAX;
}

TimeInst time_inst(Arena *arena, const SassInst *inst) {
    const char *name = inst->name ? inst->name : "NOP";
    TimeInst out = {.pipe = PIPE_ALU,
                    .stall = inst->stall,
                    .write_barrier = inst->write_barrier,
                    .read_barrier = inst->read_barrier,
                    .wait_mask = inst->wait_mask};
    Buf buf = {.arena = arena};
    if (inst->row) sass_write_opcode(inst, &buf);
    const Str opcode = buf_str(&buf);
    if (name[0] == 'U') out.pipe = PIPE_UNIFORM;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k].name) == 0) {
            out.pipe = (uint8_t)known[k].pipe;
            out.act = (uint8_t)known[k].act;
            break;
        }
    if (out.pipe == PIPE_IMAD && (says(opcode, ".WIDE") || says(opcode, ".HI")))
        out.pipe = PIPE_WIDE;
    if (out.pipe == PIPE_XU && says(opcode, "64")) out.pipe = PIPE_CONVERT;
    if (says(opcode, ".PHASECHK")) out.act = ACT_AWAIT;
    if (out.act == ACT_FENCE && says(opcode, ".CTA")) out.act = ACT_FENCE_BLOCK;
    if (out.pipe == PIPE_GLOBAL && out.act == ACT_NONE && says(opcode, ".STRONG"))
        out.act = ACT_STRONG;
    out.floats = says(opcode, ".F32") || says(opcode, ".F64") || says(opcode, ".F16");
    out.swaps = says(opcode, ".CAS");
    out.unknown = is_unknown(&out, name);
    return out;
}

TimePipes time_pipes(const TimeDevice *d) {
    return (TimePipes){
        .issue = {[PIPE_ALU] = d->rate_alu,
                  [PIPE_FMA] = d->rate_fma,
                  [PIPE_HALF] = d->rate_half,
                  [PIPE_IMAD] = d->rate_imad,
                  [PIPE_WIDE] = d->rate_wide,
                  [PIPE_FP64] = d->rate_fp64,
                  [PIPE_XU] = d->rate_xu,
                  [PIPE_CONVERT] = d->rate_f2d / 2,
                  [PIPE_UNIFORM] = CHOSEN_UNIFORM,
                  [PIPE_BRANCH] = CHOSEN_CONTROL,
                  [PIPE_VOTE] = d->rate_alu,
                  [PIPE_REDUX] = d->rate_redux,
                  [PIPE_SPECIAL] = d->rate_special,
                  [PIPE_CONSTANT] = d->rate_constant,
                  [PIPE_BARRIER] = CHOSEN_CONTROL,
                  [PIPE_MATRIX] = CHOSEN_MATRIX,
                  [PIPE_SHARED] = d->rate_way,
                  [PIPE_SHUFFLE] = d->rate_way,
                  [PIPE_GLOBAL] = d->rate_way},
        .read = {[PIPE_SHARED] = CHOSEN_READ,
                 [PIPE_SHUFFLE] = CHOSEN_READ,
                 [PIPE_GLOBAL] = CHOSEN_READ_GLOBAL},
        .latency = {[PIPE_FP64] = d->fp64,
                    [PIPE_XU] = d->xu,
                    [PIPE_CONVERT] = d->f2d / 2,
                    [PIPE_UNIFORM] = CHOSEN_UNIFORM_LATE,
                    [PIPE_VOTE] = d->vote / 2,
                    [PIPE_REDUX] = d->redux,
                    [PIPE_SPECIAL] = d->special,
                    [PIPE_CONSTANT] = d->constant,
                    [PIPE_MATRIX] = CHOSEN_MATRIX_LATE,
                    [PIPE_SHARED] = d->shared,
                    [PIPE_SHUFFLE] = d->shuffle,
                    [PIPE_GLOBAL] = d->l1},
    };
}

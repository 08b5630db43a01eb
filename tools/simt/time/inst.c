// Which pipe executes an instruction: see time.h.
#include "simt/time/time.h"

static const struct {
    const char *name;
    TimePipe pipe;
} pipes[] = {
    {"FADD", PIPE_FMA},   {"FMUL", PIPE_FMA},    {"FFMA", PIPE_FMA},   {"HADD2", PIPE_FMA},
    {"HMUL2", PIPE_FMA},  {"HFMA2", PIPE_FMA},   {"IMAD", PIPE_IMAD},  {"IDP", PIPE_IMAD},
    {"DADD", PIPE_FP64},  {"DMUL", PIPE_FP64},   {"DFMA", PIPE_FP64},  {"DSETP", PIPE_FP64},
    {"MUFU", PIPE_XU},    {"I2F", PIPE_XU},      {"F2I", PIPE_XU},     {"F2F", PIPE_XU},
    {"FRND", PIPE_XU},    {"POPC", PIPE_XU},     {"FLO", PIPE_XU},     {"BREV", PIPE_XU},
    {"BRA", PIPE_BRANCH}, {"EXIT", PIPE_BRANCH}, {"BSSY", PIPE_BRANCH}, {"BSYNC", PIPE_BRANCH},
    {"CALL", PIPE_BRANCH}, {"RET", PIPE_BRANCH}, {"WARPSYNC", PIPE_BRANCH}, {"BREAK", PIPE_BRANCH},
    {"YIELD", PIPE_BRANCH}, {"BRX", PIPE_BRANCH}, {"NANOSLEEP", PIPE_BRANCH}, {"BMOV", PIPE_BRANCH},
    {"LDS", PIPE_SHARED}, {"STS", PIPE_SHARED},  {"LDSM", PIPE_SHARED}, {"STSM", PIPE_SHARED},
    {"ATOMS", PIPE_SHARED}, {"SHFL", PIPE_SHUFFLE},
    {"LDG", PIPE_GLOBAL}, {"STG", PIPE_GLOBAL},  {"LD", PIPE_GLOBAL},  {"ST", PIPE_GLOBAL},
    {"LDL", PIPE_GLOBAL}, {"STL", PIPE_GLOBAL},  {"ATOM", PIPE_GLOBAL}, {"ATOMG", PIPE_GLOBAL},
    {"RED", PIPE_GLOBAL}, {"LDGSTS", PIPE_GLOBAL}, {"MEMBAR", PIPE_GLOBAL},
    {"LDC", PIPE_CONSTANT},
    {"S2R", PIPE_SPECIAL}, {"S2UR", PIPE_SPECIAL}, {"CS2R", PIPE_ALU}, {"R2UR", PIPE_SPECIAL},
    {"MATCH", PIPE_SPECIAL}, {"REDUX", PIPE_SPECIAL},
    {"BAR", PIPE_BARRIER},
    {"HMMA", PIPE_MATRIX}, {"IMMA", PIPE_MATRIX}, {"DMMA", PIPE_MATRIX},
    {"NOP", PIPE_NONE},   {"DEPBAR", PIPE_NONE}, {"LDGDEPBAR", PIPE_NONE},
    {"CCTL", PIPE_NONE}, {"ERRBAR", PIPE_NONE},
};

TimeInst time_inst(const SassInst *inst) {
    const char *name = inst->name ? inst->name : "NOP";
    TimeInst out = {.pipe = PIPE_ALU,
                    .stall = inst->stall,
                    .write_barrier = inst->write_barrier,
                    .read_barrier = inst->read_barrier,
                    .wait_mask = inst->wait_mask,
                    .yields = inst->yields};
    for (size_t k = 0; k < sizeof pipes / sizeof *pipes; k++)
        if (strcmp(name, pipes[k].name) == 0) {
            out.pipe = (uint8_t)pipes[k].pipe;
            goto found;
        }
    if (name[0] == 'U') out.pipe = PIPE_UNIFORM;
found:
    out.ends = strcmp(name, "EXIT") == 0;
    out.joins = strcmp(name, "BAR") == 0;
    return out;
}

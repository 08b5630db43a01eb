// Maps an instruction to its pipe and operation, and sets the pipes' speeds. See trace.h.
#include "simt/time/trace.h"

// Cycles that no microbenchmark of chapter 17 measures: these values are assumed.
enum {
    CHOSEN_UNIFORM = 2, // of the scheduler, for a uniform instruction
    CHOSEN_CONTROL = 2, // of the scheduler, for EXIT, BSSY and the like
    CHOSEN_UNIFORM_LATE = 12,
    CHOSEN_READ = 2, // from the queue until its registers may be overwritten
    CHOSEN_READ_GLOBAL = 12,
    CHOSEN_MATRIX = 8,
    CHOSEN_MATRIX_LATE = 32,
};

// Adjusts an instruction's pipe and operation, which come from its opcode, for one of its
// modifiers.
static void refine(TimeInst *inst, SassModifier modifier) {
    switch (modifier) {
    case SASS_MOD_WIDE:
    case SASS_MOD_HI:
    case SASS_MOD_2A_HI: // not measured: assumed to be as slow as .HI
        if (inst->pipe == PIPE_IMAD) inst->pipe = PIPE_WIDE;
        break;
    case SASS_MOD_U64:
    case SASS_MOD_S64:
    case SASS_MOD_F64:
    case SASS_MOD_RCP64H:
    case SASS_MOD_RSQ64H:
        if (inst->pipe == PIPE_XU) inst->pipe = PIPE_CONVERT;
        break;
    case SASS_MOD_STRONG_SM:
    case SASS_MOD_STRONG_GPU:
    case SASS_MOD_STRONG_SYS:
        if (inst->pipe == PIPE_GLOBAL && inst->act == ACT_NONE) inst->act = ACT_STRONG;
        break;
    case SASS_MOD_CTA:
        if (inst->act == ACT_FENCE) inst->act = ACT_FENCE_BLOCK;
        break;
    case SASS_MOD_PHASECHK:
        inst->act = ACT_AWAIT;
        break;
    case SASS_MOD_F16x2_RN:
    case SASS_MOD_F32_FTZ_RN:
    case SASS_MOD_F64_RN:
        inst->floats = true;
        break;
    case SASS_MOD_CAS:
    case SASS_MOD_CAST:
        inst->swaps = true;
        break;
    default:
        break;
    }
}

TimeInst time_inst(const SassInst *inst) {
    const SassOpcodeRow *row = &sass_opcodes[inst->op];
    TimeInst out = {.pipe = row->pipe,
                    .act = row->act,
                    .stall = inst->stall,
                    .write_barrier = inst->write_barrier,
                    .read_barrier = inst->read_barrier,
                    .wait_mask = inst->wait_mask,
                    .unknown = sass_is(inst, SASS_UNMEASURED)};
    for (uint32_t k = 0; k < inst->modifier_count; k++) refine(&out, inst->modifiers[k]);
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
                  [PIPE_SHARED] = d->rate_lsu,
                  [PIPE_SHUFFLE] = d->rate_lsu,
                  [PIPE_GLOBAL] = d->rate_lsu},
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

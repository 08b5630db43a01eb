// A device's speeds: see time.h. (While the model is built: typed in.)
#include <stdlib.h>

#include "simt/time/time.h"

static double env(const char *name, double value) {
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : value;
}

TimeDevice time_device(void) {
    TimeDevice d = {
        .sms = 132,
        .warps = 64,
        .blocks = 32,
        .clock_ghz = env("T_CLOCK", 1.98),
        .dram_gbps = env("T_DRAM", 4670),
        .launch_ns = env("T_LAUNCH", 700),
        .block_cycles = env("T_BLOCK", 1.2),
        .block_start = env("T_BSTART", 50),
        .l1 = env("T_L1", 38),
        .l2 = env("T_L2", 270),
        .dram = env("T_DRAMLAT", 650),
        .atomic = env("T_ATOM", 600),
        .atomic_same = env("T_SAME", 3.5),
        .l2_bytes = env("T_L2B", 64),
        .branch = env("T_BRANCH", 0),
        .read = env("T_READ", 12),
        .queue = (uint32_t)env("T_QUEUE", 8),
        .shared_more = env("T_MORE", 0),
        .wake = env("T_WAKE", 12),
        .arrival = env("T_ARRIVE", 2.1),
    };
    const double issue[PIPES] = {
        [PIPE_ALU] = 2,    [PIPE_FMA] = 1,      [PIPE_IMAD] = 2,    [PIPE_FP64] = 2,
        [PIPE_XU] = 8,     [PIPE_UNIFORM] = 2,  [PIPE_BRANCH] = 2,  [PIPE_SHARED] = 2,
        [PIPE_SHUFFLE] = 2, [PIPE_GLOBAL] = 2,  [PIPE_CONSTANT] = 2, [PIPE_SPECIAL] = 4,
        [PIPE_BARRIER] = 2, [PIPE_MATRIX] = 4,
    };
    const double latency[PIPES] = {
        [PIPE_FP64] = 16,   [PIPE_XU] = 20,      [PIPE_SHARED] = 23,  [PIPE_SHUFFLE] = 23,
        [PIPE_CONSTANT] = 30, [PIPE_SPECIAL] = 20, [PIPE_UNIFORM] = 10, [PIPE_MATRIX] = 30,
        [PIPE_BRANCH] = 10,
    };
    memcpy(d.issue, issue, sizeof issue);
    memcpy(d.latency, latency, sizeof latency);
    return d;
}

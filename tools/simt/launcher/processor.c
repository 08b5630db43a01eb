// Chooses the build for this processor. tools/build/tools.mk has these features as compiler flags.
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <unistd.h>

#include "simt/launcher/launcher.h"

#ifdef __x86_64__
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif

const char *processor_folder(Arena *arena, const char *runtime) {
#ifdef __x86_64__
    static const struct {
        const char *folder;
        bool (*runs)(void);
    } builds[] = {{"avx512", has_avx512}, {"avx2", has_avx2}};
    for (size_t k = 0; k < sizeof builds / sizeof *builds; k++) {
        Buf path = {.arena = arena};
        buf_format(&path, "%s/%s", runtime, builds[k].folder);
        const char *folder = str_terminated(arena, buf_str(&path));
        if (builds[k].runs() && access(folder, X_OK) == 0) return folder;
    }
#else
    (void)arena;
#endif
    return runtime;
}

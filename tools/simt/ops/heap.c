// Executes malloc and free in kernels, which are built-in functions.
#include <string.h>

#include "simt/exec/observer.h"
#include "simt/memory/memory.h"
#include "simt/ops/ops.h"

static uint64_t argument(const Warp *warp, const CallSite *site, int lane) {
    uint64_t value;
    memcpy(&value, warp->frame + site->arguments[0] + site->stride * (uint32_t)lane, sizeof value);
    return value;
}

const Inst *op_malloc(Warp *warp, const Inst *inst) {
    const CallSite *site = inst->call.site;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t address = heap_alloc(argument(warp, site, lane));
        if (site->result_count)
            memcpy(warp->frame + site->results[0] + site->stride * (uint32_t)lane, &address,
                   sizeof address);
    }
    return inst + 1;
}

const Inst *op_free(Warp *warp, const Inst *inst) {
    const Observer *observer = observer_of(warp->block);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t address = argument(warp, inst->call.site, lane);
        if (heap_free(address)) continue;
        if (!observer || !observer->bad_free)
            return warp_fail(
                warp, inst, lane, SIMT_TRAP,
                "free of 0x%llx, which malloc did not return or which was already freed",
                (unsigned long long)address);
        observer->bad_free(warp, inst, lane, address);
    }
    return inst + 1;
}

// cudaGraphSetConditional: a function that is built in.
#include "simt/memory/condition.h"

#include <string.h>

#include "simt/ops/ops.h"

const Inst *op_set_condition(Warp *warp, const Inst *inst) {
    const CallSite *site = inst->call.site;
    const PtxInst *at = machine_instruction(warp->block->machine, inst);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        const uint32_t apart = site->stride * (uint32_t)lane;
        uint64_t handle;
        uint32_t value;
        memcpy(&handle, warp->frame + site->arguments[0] + apart, sizeof handle);
        memcpy(&value, warp->frame + site->arguments[1] + apart, sizeof value);
        Condition *condition = condition_find(handle);
        if (!condition)
            return warp_fail(warp, inst, lane, SIMT_TRAP,
                             "0x%llx is not from cudaGraphConditionalHandleCreate",
                             (unsigned long long)handle);
        *condition = (Condition){.value = value,
                                 .set = true,
                                 .module = warp->block->machine->module,
                                 .place = at->call.line ? at->call : at->place,
                                 .ptx_line = at->ptx_line};
    }
    return inst + 1;
}

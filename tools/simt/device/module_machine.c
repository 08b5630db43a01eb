// Loads modules of machine code. A program that loads only PTX does not link this file and sass/.
#include "simt/device/module_inside.h"
#include "simt/sass/lower.h"

// For machine code ptxas has placed shared memory, after the part reserved for the system.
static void machine_kernel_new(Module *module, PtxFunction *function) {
    const SassFunction *machine = &module->machine->functions[function - module->ptx->functions];
    Kernel *kernel = module_kernel_new(module, function);
    kernel->shared_bytes = machine->shared_bytes;
    kernel->shared_reserved = SASS_SHARED_RESERVED;
    kernel->registers = machine->registers;
}

static bool load_machine(Module *module, Str cubin, const char *origin, SimtStatus *status,
                         SimtError *error) {
    module->machine = ARENA_NEW(&module->arena, 1, SassModule);
    if (!sass_read(&module->arena, cubin, origin, module->machine, status, error)) return false;
    PtxModule *ptx = module->ptx = module->machine->module;
    module->lower_machine = sass_lower;
    module->dynamic_align = 1;
    module->codes = ARENA_NEW(&module->arena, ptx->function_count + 1u, Code *);
    if (!module_place_variables(module, status, error)) return false;
    for (uint32_t k = 0; k < ptx->function_count; k++)
        if (ptx->functions[k].entry) machine_kernel_new(module, &ptx->functions[k]);
    return true;
}

Module *module_load_machine(Str cubin, const char *origin, SimtStatus *status, SimtError *error) {
    return module_new(load_machine, cubin, origin, status, error);
}

// Reports accesses to shared and local memory that are out of bounds or misaligned, and finds the
// extents and names of variables of shared memory.
#include <stdio.h>

#include "simt/observe/race/checker.h"

// --- variables of shared memory ---

// The last part of a mangled name: "tile" of _ZZ9transposePfE4tile, or the name as it is.
static Str short_name(Str name) {
    if (!str_starts(name, STR("_Z"))) return name;
    for (size_t start = name.len; start-- > 2;) {
        size_t length = 0, at = start;
        if (name.at[start] < '1' || name.at[start] > '9') continue;
        while (at < name.len && name.at[at] >= '0' && name.at[at] <= '9' && length < name.len)
            length = length * 10 + (size_t)(name.at[at++] - '0');
        bool ends =
            at + length == name.len || (at + length < name.len && name.at[at + length] == '_');
        bool word = at < name.len && (name.at[at] < '0' || name.at[at] > '9') && name.at[at] != '_';
        if (length && ends && word) return str_slice(name, at, at + length);
    }
    return name;
}

static Extent extent_of(const Machine *machine, const PtxVariable *variable, uint64_t limit) {
    if (variable->external) return (Extent){machine->dynamic_base, limit};
    return (Extent){variable->offset, variable->offset + variable->bytes};
}

static const PtxVariable *origin_of(const Machine *machine, const Inst *inst) {
    const Code *code = machine_code(machine, inst);
    if (!code || !code->origins || inst->ptx >= code->source->inst_count) return NULL;
    return code->origins[inst->ptx];
}

Extent bounds_extent(const Machine *machine, const Inst *inst, uint64_t limit) {
    const PtxVariable *variable = origin_of(machine, inst);
    return variable ? extent_of(machine, variable, limit) : (Extent){0, limit};
}

// The variable at an address; dynamic shared memory if there is no other.
static const PtxVariable *find(const Machine *machine, PtxVariable *const *variables,
                               uint32_t count, uint64_t address) {
    const PtxVariable *dynamic = NULL;
    for (uint32_t k = 0; k < count; k++) {
        const PtxVariable *variable = variables[k];
        if (variable->space != PTX_SHARED) continue;
        if (variable->external) {
            if (address >= machine->dynamic_base) dynamic = variable;
        } else if (address >= variable->offset && address - variable->offset < variable->bytes) {
            return variable;
        }
    }
    return dynamic;
}

static const PtxVariable *variable_at(const Machine *machine, uint64_t address) {
    const PtxFunction *kernel = machine->code->source;
    const PtxVariable *own = find(machine, kernel->variables, kernel->variable_count, address);
    if (own) return own;
    return find(machine, machine->module->variables, machine->module->variable_count, address);
}

int64_t bounds_name(const Machine *machine, uint64_t address, char *to, size_t room) {
    const PtxVariable *variable = address < 1u << 31 ? variable_at(machine, address) : NULL;
    if (room) to[0] = '\0';
    if (!variable) return 0;
    Str name = short_name(variable->name);
    uint64_t offset = address - extent_of(machine, variable, 0).low;
    snprintf(to, room, "%.*s", (int)(name.len > 60 ? 60 : name.len), name.at);
    return (int64_t)offset;
}

void bounds_outside(const Machine *machine, const Inst *inst, uint64_t address, char *to,
                    size_t room) {
    const PtxVariable *variable = origin_of(machine, inst);
    const PtxVariable *there = variable_at(machine, address);
    if (room) to[0] = '\0';
    if (!variable) return;
    Str name = short_name(variable->name), other = there ? short_name(there->name) : STR("");
    long long offset = (long long)(address - extent_of(machine, variable, 0).low);
    int used = snprintf(to, room, "at byte %lld of %.*s", offset,
                        (int)(name.len > 40 ? 40 : name.len), name.at);
    if (used < 0 || (size_t)used >= room) return;
    if (!variable->external)
        used += snprintf(to + used, room - (size_t)used, ", which has %llu bytes",
                         (unsigned long long)variable->bytes);
    if (there && (size_t)used < room)
        snprintf(to + used, room - (size_t)used, ", and in %.*s",
                 (int)(other.len > 40 ? 40 : other.len), other.at);
}

// --- accesses ---

uint32_t bounds_between(const Access *access, const uint64_t address[LANES], uint64_t low,
                        uint64_t high) {
    uint64_t size = address_bytes(access);
    uint64_t wrong = 0;
    uint32_t good = 0;
    if (low > high || size > high - low) return 0;
    LANE_LOOP wrong |= (uint64_t)(address[l] - low > high - low - size) | (address[l] & (size - 1));
    if (!wrong) return ALL_LANES;
    LANE_LOOP good |=
        (uint32_t)((address[l] - low <= high - low - size) & !(address[l] & (size - 1))) << l;
    return good;
}

uint32_t bounds_within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], uint64_t limit) {
    const uint32_t good = bounds_between(access, address, 0, limit), size = address_bytes(access);
    const char *space = access->space == PTX_SHARED ? "shared" : "local";
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        const bool fits = address[lane] < limit && limit - address[lane] >= size;
        finding_add(checker, fits ? KIND_MISALIGNED : KIND_BOUNDS, access->space, access->inst,
                    thread, NULL, 0, address[lane],
                    ": %u bytes at byte %llu of %llu of %s memory\n%s", size,
                    (unsigned long long)address[lane], (unsigned long long)limit, space,
                    fits ? "align the address to the size" : advice_guard_index);
    }
    return mask & good;
}

uint32_t bounds_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES]) {
    Extent *extent = &checker->check->variables[check_site(checker, access)];
    const uint64_t limit = warp->block->shared_bytes;
    if (!extent->high) *extent = bounds_extent(checker->machine, access->inst, limit);
    const uint32_t good = mask & bounds_between(access, address, extent->low, extent->high);
    if (good == mask) return mask;
    const uint32_t inside = bounds_within(checker, warp, access, mask & ~good, address, limit);
    for (uint32_t m = inside; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        char text[160];
        bounds_outside(checker->machine, access->inst, address[lane], text, sizeof text);
        finding_add(checker, KIND_BOUNDS, PTX_SHARED, access->inst, thread, NULL, 0, address[lane],
                    ": %u bytes %s\n%s", address_bytes(access), text, advice_guard_index);
    }
    return good;
}

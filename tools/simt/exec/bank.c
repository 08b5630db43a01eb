// Counts the wavefronts of shared-memory accesses. The rules were measured on an H200 with Nsight
// Compute; the measured rows are a test (tests/simt/patterns).
#include "simt/exec/bank.h"

#include <string.h>

#define BANKS 32

// Whether each active lane's address is first + k * stride, with k counted from the first active
// lane.
static bool affine(const uint32_t address[LANES], uint32_t mask, uint32_t *stride) {
    int first = __builtin_ctz(mask);
    uint32_t rest = mask & (mask - 1);
    if (!rest) {
        *stride = 0;
        return true;
    }
    int second = __builtin_ctz(rest);
    uint32_t difference = address[second] - address[first];
    uint32_t step = (uint32_t)(second - first);
    uint32_t s = step == 1 ? difference : (uint32_t)((int32_t)difference / (int32_t)step);
    uint32_t origin = address[first] - s * (uint32_t)first;
    uint32_t wrong = 0;
    LANE_LOOP wrong |= (address[l] ^ (origin + s * (uint32_t)l)) & (0 - (mask >> l & 1));
    *stride = s;
    return wrong == 0;
}

// 4-byte accesses with a stride of `words`: every 32/gcd(words, 32)-th lane has the same bank.
static uint32_t strided_wavefronts(uint32_t mask, uint32_t words) {
    if (words == 0) return 1;
    int shift = __builtin_ctz(words | BANKS);
    if (shift == 0) return 1;
    int period = BANKS >> shift;
    if (mask == ALL_LANES) return 1u << shift;
    uint32_t comb = 0, most = 0;
    for (int lane = 0; lane < LANES; lane += period) comb |= 1u << lane;
    for (int start = 0; start < period; start++) {
        uint32_t together = (uint32_t)__builtin_popcount(mask & (comb << start));
        if (together > most) most = together;
    }
    return most;
}

// Whether all words lie in one row of the banks, so that no bank has two.
static bool one_row(const uint32_t address[LANES], uint32_t mask) {
    const uint32_t row = address[__builtin_ctz(mask)] / (4 * BANKS);
    uint32_t wrong = 0;
    LANE_LOOP wrong |= (address[l] / (4 * BANKS) ^ row) & (0 - (mask >> l & 1));
    return wrong == 0;
}

// A bit for each lane whose unit equals that of the lane `distance` ahead. `unit` has LANES more
// entries.
static uint32_t equal_ahead(const uint32_t unit[2 * LANES], uint32_t distance) {
    const uint32_t *ahead = unit + distance;
    uint32_t equal = 0;
    LANE_LOOP equal |= (uint32_t)(unit[l] == ahead[l]) << l;
    return equal;
}

// Drops most lanes whose unit an earlier lane also has: those in runs of equal lanes, or in
// repeated sequences.
static uint32_t without_copies(const uint32_t unit[2 * LANES], uint32_t lanes) {
    uint32_t copies = 0;
    for (uint32_t distance = 1; distance < LANES; distance *= 2)
        copies |= (equal_ahead(unit, distance) & lanes) << distance;
    return lanes & ~copies;
}

// Whether all lanes' units are in different banks.
static bool all_apart(const uint32_t unit[2 * LANES], uint32_t lanes, uint32_t banks) {
    uint32_t used = 0;
    LANE_LOOP used |= (lanes >> l & 1) << (unit[l] & (banks - 1));
    return __builtin_popcount(used) == __builtin_popcount(lanes);
}

// The largest number of distinct units in one bank, for one group of lanes. A unit is the width of
// one lane's access, and a bank here is as wide: `banks` units make up a row.
static uint32_t group_wavefronts(const uint32_t unit[2 * LANES], uint32_t lanes, uint32_t banks) {
    if (all_apart(unit, lanes, banks)) return 1;
    lanes = without_copies(unit, lanes);
    if (all_apart(unit, lanes, banks)) return 1;
    uint32_t seen[BANKS][LANES], count[BANKS] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t mine = unit[__builtin_ctz(lanes)], bank = mine & (banks - 1);
        uint32_t at = 0;
        while (at < count[bank] && seen[bank][at] != mine) at++;
        if (at < count[bank]) continue;
        seen[bank][at] = mine;
        if (++count[bank] > most) most = count[bank];
    }
    return most;
}

// True if no active lane's unit differs from that of an active partner `distance` away, 1 or 2:
// such loads are merged.
static bool paired(const uint32_t unit[2 * LANES], uint32_t mask, uint32_t distance) {
    const uint32_t lower = distance == 1 ? 0x55555555u : 0x33333333u;
    return !(mask & mask >> distance & lower & ~equal_ahead(unit, distance));
}

// The lanes' addresses in units of the access width, at least one word; then LANES zeros.
static void units_of(const uint32_t address[LANES], uint32_t bytes, uint32_t unit[2 * LANES]) {
    const uint32_t shift = (uint32_t)__builtin_ctz(bytes < 4 ? 4 : bytes);
    LANE_LOOP unit[l] = address[l] >> shift;
    memset(unit + LANES, 0, LANES * sizeof *unit);
}

static BankGroups groups_of(const uint32_t unit[2 * LANES], uint32_t mask, uint32_t bytes,
                            bool load) {
    BankGroups groups = {0, {0}};
    uint32_t lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (bytes > 4 && load && (paired(unit, mask, 1) || paired(unit, mask, 2))) lanes *= 2;
    for (uint32_t start = 0; start < LANES; start += lanes) {
        uint32_t group = mask & ((lanes == 32 ? ALL_LANES : (1u << lanes) - 1) << start);
        if (group) groups.group[groups.count++] = group;
    }
    return groups;
}

BankGroups bank_groups(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load) {
    uint32_t unit[2 * LANES];
    units_of(address, bytes, unit);
    return groups_of(unit, mask, bytes, load);
}

BankCount bank_count(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load) {
    if (!mask) return (BankCount){0, 0};
    uint32_t unit[2 * LANES], stride;
    if (bytes <= 4) {
        if (affine(address, mask, &stride) && stride % 4 == 0)
            return (BankCount){strided_wavefronts(mask, stride / 4), 1};
        if (one_row(address, mask)) return (BankCount){1, 1};
    }
    units_of(address, bytes, unit);
    const BankGroups groups = groups_of(unit, mask, bytes, load);
    const uint32_t banks = BANKS * 4 / (bytes < 4 ? 4 : bytes);
    BankCount count = {0, groups.count};
    for (uint32_t k = 0; k < groups.count; k++)
        count.wavefronts += group_wavefronts(unit, groups.group[k], banks);
    return count;
}

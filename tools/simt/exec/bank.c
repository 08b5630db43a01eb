// Wavefronts of shared-memory accesses. Rules measured on an H200 with Nsight Compute; the measured
// rows are a test (tests/simt/core).
#include "simt/exec/bank.h"

#define BANKS 32

// Lanes whose address is first + k * stride, k counted from the first active lane.
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

// 4-byte accesses at a fixed distance of `words`: lanes meet in a bank every 32/gcd(words, 32).
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

// All words lie in one row of the banks: none is asked for two.
static bool one_row(const uint32_t address[LANES], uint32_t mask) {
    const uint32_t row = address[__builtin_ctz(mask)] / (4 * BANKS);
    uint32_t wrong = 0;
    LANE_LOOP wrong |= (address[l] / (4 * BANKS) ^ row) & (0 - (mask >> l & 1));
    return wrong == 0;
}

// The largest number of distinct words in one bank, for one group of lanes.
static uint32_t group_wavefronts(const uint32_t address[LANES], uint32_t lanes, uint32_t words) {
    uint32_t seen[BANKS][LANES], count[BANKS] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t word = address[__builtin_ctz(lanes)] / 4;
        for (uint32_t k = 0; k < words; k++, word++) {
            uint32_t bank = word % BANKS, at = 0;
            while (at < count[bank] && seen[bank][at] != word) at++;
            if (at < count[bank]) continue;
            seen[bank][at] = word;
            if (++count[bank] > most) most = count[bank];
        }
    }
    return most;
}

// True if no active lane differs from an active lane `distance` away: such loads are merged.
static bool paired(const uint32_t address[LANES], uint32_t mask, uint32_t distance) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), other = lane ^ distance;
        if ((mask >> other & 1) && address[lane] != address[other]) return false;
    }
    return true;
}

BankGroups bank_groups(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load) {
    BankGroups groups = {0, {0}};
    uint32_t lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (bytes > 4 && load && (paired(address, mask, 1) || paired(address, mask, 2))) lanes *= 2;
    for (uint32_t start = 0; start < LANES; start += lanes) {
        uint32_t group = mask & ((lanes == 32 ? ALL_LANES : (1u << lanes) - 1) << start);
        if (group) groups.group[groups.count++] = group;
    }
    return groups;
}

BankCount bank_count(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load) {
    BankCount count = {0, 0};
    if (!mask) return count;
    if (bytes <= 4) {
        uint32_t stride;
        count.groups = 1;
        if (affine(address, mask, &stride) && stride % 4 == 0)
            count.wavefronts = strided_wavefronts(mask, stride / 4);
        else if (one_row(address, mask))
            count.wavefronts = 1;
        else
            count.wavefronts = group_wavefronts(address, mask, 1);
        return count;
    }
    BankGroups groups = bank_groups(address, mask, bytes, load);
    count.groups = groups.count;
    for (uint32_t k = 0; k < groups.count; k++)
        count.wavefronts += group_wavefronts(address, groups.group[k], bytes / 4);
    return count;
}

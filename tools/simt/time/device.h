// What is known of a device's speed: results/<device>-machine.csv, which chapter 17's lab measures.
// Cycles are those of the SM clock; a rate is cycles that something is taken for.
#ifndef TIME_DEVICE_H
#define TIME_DEVICE_H

#include "base/arena.h"
#include "base/str.h"

enum { TIME_WAYS = 6, TIME_SIZES = 3, TIME_LOADS = 11, TIME_WARPS = 6, TIME_LOAD_LEAST = 128 };
enum { TIME_GATHERS = 5, TIME_PERCENTS = 4, TIME_GATHER_LEAST = 1024 };

typedef struct TimeDevice {
    // The device: counts, bytes, SM cycles per ns.
    double sms, warps, blocks, shared_bytes, registers, l2_bytes, clock_ghz;
    // Cycles of a scheduler for an instruction of each pipe.
    double rate_alu, rate_imad, rate_wide, rate_fma, rate_half, rate_xu, rate_f2d, rate_fp64;
    double rate_shuffle, rate_redux, rate_vote, rate_constant, rate_branch, rate_special, rate_way;
    // From its issue to what needs its result.
    double add, special, xu, f2d, fp64, shuffle, redux, vote, constant, shared, shared_atomic,
        branch, warpsync;
    double shared_atomic_same, rate_atoms; // 32 lanes at one address; of a scheduler
    // Cycles of the SM for an access: by ways of conflict 1, 2, 4 .. 32; of 4, 8, 16 bytes a lane;
    // with 1, 2, 4 .. 32 lines of 128 bytes touched.
    double load_ways[TIME_WAYS], store_ways[TIME_WAYS];
    double load_wide[TIME_SIZES], store_wide[TIME_SIZES];
    double shared_mix, shuffle_mix;
    double barrier[TIME_WARPS]; // of a block of 1, 2, 4 .. 32 warps
    double barrier_full;        // of 32 blocks of 2 warps on an SM
    double l1, l1_wide[TIME_SIZES], l1_lines[TIME_WAYS];
    double l1_tags; // of 32 lines, and no two lanes on one bank
    // Bytes that each SM gets in a cycle while it has 128, 256 .. 131,072 in flight.
    double l2_load[TIME_LOADS], dram_load[TIME_LOADS];
    // The same where each lane has a sector of its own, with 1,024, 4,096 .. 262,144 bytes in
    // flight.
    double l2_gather[TIME_GATHERS], dram_gather[TIME_GATHERS];
    double l2_spread[TIME_PERCENTS], dram_spread[TIME_PERCENTS]; // cycles that 10, 50, 90 and 99 %
                                                                 // of loads take at most
    double dram_slowest; // what the SM that gets the least from DRAM has of the mean
    double l2, l2_sm_rate, l2_rate, l2_write_rate, l2_sectors; // latency; bytes in a cycle
    double dram, dram_sm_rate;                                 // the same
    double dram_read, dram_write, dram_copy, dram_sectors;     // GB/s; of single sectors
    // Atomic operations on global memory: latencies; cycles of the device.
    double atom, atom_float, cas, strong_load;
    // returning or not, of integers or floats: one lane of each warp at one address, 32 lanes
    // there, 32 lanes at addresses of their own side by side, in lines of their own, and these of
    // 16 KiB.
    double atomics[2][2][5];
    double red_sm, atom_sm, red_sm_lines; // cycles of an SM: side by side, in lines of their own
    double fence, store_fence, block_fence;
    // Of blocks of few threads, and of 1,024: cycles of the device between two that start; of an
    // SM, idle before; from the end of a block to the first instruction of the next.
    double block_start[2], block_start_sm[2], block_turnover[2];
    double launch_us;       // of a launch of one block, beyond what that takes
    double launch_store_us; // the same of one that stores something
    double launch_early_us; // of one that starts before the kernel in front has ended
    double memset_us;       // of a memset of a few bytes in front of one
} TimeDevice;

// Reads such a file. False: `error` says path:line and what is wrong.
bool time_device_read(Arena *arena, const char *path, TimeDevice *device, Str *error);

#endif

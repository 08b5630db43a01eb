// A device's measured speeds: results/<device>-machine.csv, which chapter 17's lab measures. Cycles
// are SM clock cycles; a rate is the number of cycles for which a unit is occupied.
#ifndef TIME_DEVICE_H
#define TIME_DEVICE_H

#include "base/arena.h"
#include "base/str.h"

enum { TIME_WAYS = 6, TIME_SIZES = 3, TIME_LOADS = 11, TIME_WARPS = 6, TIME_LOAD_LEAST = 128 };
enum { TIME_WORDS = 6, TIME_WORDS_LEAST = 16 };
enum { TIME_GATHERS = 5, TIME_PERCENTS = 4, TIME_GATHER_LEAST = 1024 };

typedef struct TimeDevice {
    // The device: counts, bytes, SM cycles per ns.
    double sms, warps, blocks, shared_bytes, registers, l2_bytes, clock_ghz;
    // Cycles of a scheduler per instruction, for each pipe.
    double rate_alu, rate_imad, rate_wide, rate_fma, rate_half, rate_xu, rate_f2d, rate_fp64;
    double rate_shuffle, rate_redux, rate_vote, rate_constant, rate_branch, rate_special, rate_lsu;
    // Latency: cycles from issue until a dependent instruction can issue.
    double add, special, xu, f2d, fp64, shuffle, redux, vote, constant, shared, shared_atomic,
        branch, warpsync;
    double shared_atomic_same,
        rate_atoms; // latency for 32 lanes at one address; cycles of a scheduler
    // Cycles of the SM per access: for 1, 2, 4 .. 32-way conflicts; for 4, 8, 16 bytes per lane;
    // for 1, 2, 4 .. 32 lines of 128 bytes.
    double load_ways[TIME_WAYS], store_ways[TIME_WAYS];
    double load_by_size[TIME_SIZES], store_by_size[TIME_SIZES];
    double shared_mix, shuffle_mix;
    double barrier[TIME_WARPS]; // for a block of 1, 2, 4 .. 32 warps
    double barrier_full;        // for 32 blocks of 2 warps on an SM
    double l1, l1_by_size[TIME_SIZES], l1_lines[TIME_WAYS];
    double l1_tags; // for 32 lines without bank conflicts
    // Bytes per cycle that each SM gets with 128, 256 .. 131,072 bytes in flight.
    double l2_load[TIME_LOADS], dram_load[TIME_LOADS];
    // The same if each lane reads its own sector, with 1,024, 4,096 .. 262,144 bytes in flight.
    double l2_gather[TIME_GATHERS], dram_gather[TIME_GATHERS];
    double l2_spread[TIME_PERCENTS],
        dram_spread[TIME_PERCENTS]; // percentiles 10, 50, 90 and 99 of the latency
    double dram_slowest;            // DRAM rate of the slowest SM, relative to the mean
    double l2, l2_sm_rate, l2_rate, l2_write_rate, l2_sectors; // latency; bytes per cycle
    double dram, dram_sm_rate;                                 // the same
    double dram_read, dram_write, dram_copy, dram_sectors;     // GB/s; the last for single sectors
    // Atomic operations on global memory: latencies, then cycles of the device.
    double atom, atom_float, cas, strong_load;
    // [returns][float]: one lane of each warp at one address; 32 lanes there; 32 lanes at
    // consecutive addresses; in lines of their own; and in lines of their own within 16 KiB.
    double atomics[2][2][5];
    // [returns][float][in order]: 32 lanes at 16, 64 .. 16,384 words, any or consecutive ones. NaN:
    // not measured.
    double atomic_words[2][2][2][TIME_WORDS];
    double red_sm, atom_sm, red_sm_lines; // cycles of an SM: consecutive; in lines of their own
    double fence, store_fence, block_fence;
    // For blocks of few threads, and of 1,024: cycles of the device between two block starts; of an
    // idle SM; from the end of a block to the first instruction of the next.
    double block_start[2], block_start_sm[2], block_turnover[2];
    double stream_us;       // a launch of one block in a stream, without a graph; NaN: not measured
    double launch_us;       // overhead of a launch of one block
    double launch_store_us; // the same for a kernel that stores
    double
        launch_early_us; // the same for a launch that starts before the previous kernel has ended
    double memset_us;    // of a small memset before a launch
} TimeDevice;

// Reads such a file. False: `error` says path:line and the fault.
bool time_device_read(Arena *arena, const char *path, TimeDevice *device, Str *error);

#endif

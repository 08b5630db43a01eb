// The device that programs see, documented by `simt -h`. Its size can be chosen.
#ifndef LIMITS_H
#define LIMITS_H

#include <stdint.h>

// Limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"); 132 multiprocessors as an H100 or H200 SXM has.
enum {
    DEVICE_ARCH = 90,
    DEVICE_SMS = 132,          // if not chosen
    DEVICE_WARP = 32,          // lanes
    DEVICE_MAX_THREADS = 1024, // per block
    DEVICE_MAX_BLOCK_Z = 64,
    DEVICE_MAX_GRID_X = 2147483647,
    DEVICE_MAX_GRID_YZ = 65535,
    DEVICE_THREADS_PER_SM = 2048, // if not chosen
    DEVICE_BLOCKS_PER_SM = 32,    // if not chosen
    DEVICE_REGISTERS = 65536,     // per multiprocessor and per block
    DEVICE_SHARED_DEFAULT = 48 * 1024,
    DEVICE_SHARED_OPTIN = 227 * 1024,
    DEVICE_SHARED_PER_SM = 228 * 1024,
    DEVICE_SHARED_RESERVED = 1024, // per block
    DEVICE_SHARED_UNIT = 128,      // in which it is given (CUDA Occupancy Calculator, 9.0)
    DEVICE_LOCAL = 512 * 1024,     // per thread
    DEVICE_CLUSTER = 8,            // blocks that any kernel may ask for,
    DEVICE_CLUSTER_MOST = 16,      // and one that need not be portable
    DEVICE_L2_BYTES = 4 * 1024 * 1024
};

// How many multiprocessors the device has, and what one of them holds: threads, and blocks (16 with
// 1,024 threads, 24 with 1,536, 32 with 2,048, as compute capability 7.5, 8.9 and 9.0 have it).
uint32_t limits_sms(void);
uint32_t limits_sm_threads(void);
uint32_t limits_sm_blocks(void);

// Chooses them, before the first call of the CUDA runtime; 0 leaves one as it is.
void limits_choose(uint32_t sms, uint32_t sm_threads);

#endif

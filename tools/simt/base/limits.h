// The limits of the device that programs see, which `simt -h` documents, and its size, which can be
// chosen.
#ifndef LIMITS_H
#define LIMITS_H

#include <stdint.h>

// Limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"). An H100 or H200 SXM has 132 multiprocessors.
enum {
    DEVICE_ARCH = 90,
    DEVICE_SMS = 132,          // the default
    DEVICE_WARP = 32,          // lanes
    DEVICE_MAX_THREADS = 1024, // per block
    DEVICE_MAX_BLOCK_Z = 64,
    DEVICE_MAX_GRID_X = 2147483647,
    DEVICE_MAX_GRID_YZ = 65535,
    DEVICE_THREADS_PER_SM = 2048, // the default
    DEVICE_BLOCKS_PER_SM = 32,    // with the default number of threads
    DEVICE_REGISTERS = 65536,     // per multiprocessor and per block
    DEVICE_SHARED_DEFAULT = 48 * 1024,
    DEVICE_SHARED_OPTIN = 227 * 1024,
    DEVICE_SHARED_PER_SM = 228 * 1024,
    DEVICE_SHARED_RESERVED = 1024, // per block
    DEVICE_SHARED_UNIT = 128,      // allocation granularity (CUDA Occupancy Calculator, 9.0)
    DEVICE_LOCAL = 512 * 1024,     // per thread
    DEVICE_CLUSTER = 8,            // blocks, the portable limit
    DEVICE_CLUSTER_MOST = 16,      // blocks, if the kernel allows a non-portable size
    DEVICE_L2_BYTES = 4 * 1024 * 1024
};

// The number of multiprocessors, and the threads and blocks that one of them holds: 16 blocks with
// 1,024 threads, 24 with 1,536, 32 with 2,048, as in compute capability 7.5, 8.9 and 9.0.
uint32_t limits_sms(void);
uint32_t limits_sm_threads(void);
uint32_t limits_sm_blocks(void);

// The compute capability, times 10, of the device that decides which of a program's images are
// eligible: DEVICE_ARCH unless chosen.
uint32_t limits_arch(void);

// Chooses these numbers before the first call of the CUDA runtime; 0 keeps the default.
void limits_choose(uint32_t sms, uint32_t sm_threads, uint32_t arch);

#endif

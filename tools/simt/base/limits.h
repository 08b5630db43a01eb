// The device that programs see: one fixed description, documented by `simt -h`.
#ifndef LIMITS_H
#define LIMITS_H

// Limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"); 132 multiprocessors as an H100 or H200 SXM has.
enum {
    DEVICE_ARCH = 90,
    DEVICE_SMS = 132,
    DEVICE_WARP = 32,          // lanes
    DEVICE_MAX_THREADS = 1024, // per block
    DEVICE_MAX_BLOCK_Z = 64,
    DEVICE_MAX_GRID_X = 2147483647,
    DEVICE_MAX_GRID_YZ = 65535,
    DEVICE_THREADS_PER_SM = 2048,
    DEVICE_BLOCKS_PER_SM = 32,
    DEVICE_REGISTERS = 65536, // per multiprocessor and per block
    DEVICE_SHARED_DEFAULT = 48 * 1024,
    DEVICE_SHARED_OPTIN = 227 * 1024,
    DEVICE_SHARED_PER_SM = 228 * 1024,
    DEVICE_SHARED_RESERVED = 1024, // per block
    DEVICE_LOCAL = 512 * 1024,     // per thread
    DEVICE_CLUSTER = 8,            // blocks that any kernel may ask for,
    DEVICE_CLUSTER_MOST = 16,      // and one that need not be portable
    DEVICE_L2_BYTES = 4 * 1024 * 1024
};

#endif

// Checks and runs copies and fills of memory.
#ifndef COPY_H
#define COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/program/error.h"

// driver_types.h: enum cudaMemcpyKind.
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, COPY_DEFAULT };

typedef struct {
    uint64_t to, from; // host or device addresses
    size_t to_pitch, to_slice, from_pitch, from_slice;
    size_t width, height, depth; // bytes, rows, slices
    int kind;                    // HOST_TO_HOST, ...
} Copy;

typedef struct {
    uint64_t to;
    size_t pitch, width, height; // width in elements
    uint32_t value, element;     // bytes per element: 1, 2 or 4
    bool queued;                 // the call returns before the fill is done
} Fill;

CudaError copy_check(const Copy *copy);
CudaError copy_run(const Copy *copy);
CudaError copy_fill_check(const Fill *fill);
CudaError copy_fill_run(const Fill *fill);

// Whether one side is host memory that is not pinned; whether the host can access neither side.
bool copy_pageable(const Copy *copy);
bool copy_inside_device(const Copy *copy);
bool copy_fill_inside_device(const Fill *fill);

// driver_types.h: cudaPitchedPtr, cudaExtent.
typedef struct {
    void *pointer;
    size_t pitch, width, height;
} Pitched;

typedef struct {
    size_t width, height, depth;
} Extent;

#endif

// Checks and runs copies and fills of memory.
#include "simt/cuda/copy.h"

#include <stdio.h>
#include <string.h>

#include "simt/memory/memory.h"
#include "simt/report/read_back.h"
#include "simt/report/report.h"

static bool device_address(uint64_t address) { return memory_reserved(address); }

// The size of a region with its gaps. Returns false on overflow.
static bool span(size_t width, size_t pitch, size_t height, size_t slice, size_t depth,
                 size_t *bytes) {
    size_t rows, slices;
    return !__builtin_mul_overflow(depth - 1, slice, &slices) &&
           !__builtin_mul_overflow(height - 1, pitch, &rows) &&
           !__builtin_add_overflow(slices, rows, bytes) &&
           !__builtin_add_overflow(*bytes, width, bytes) && *bytes <= PTRDIFF_MAX;
}

// Whether [address, address + bytes) is valid for that side of a copy. On the device it must be in
// one live allocation; on the host it must not reach into device-only memory.
static bool side_valid(uint64_t address, size_t bytes, bool device, bool either) {
    if (!device_address(address))
        return (either || !device) && (address > memory_base || bytes <= memory_base - address);
    const Allocation *allocation = memory_find(address);
    if (!allocation || !allocation->live) return false;
    if (bytes > allocation->bytes - (address - allocation->address)) return false;
    bool touchable = allocation->kind == MEMORY_MANAGED || allocation->kind == MEMORY_PINNED;
    return either || device || touchable;
}

static bool empty(const Copy *copy) {
    return copy->width == 0 || copy->height == 0 || copy->depth == 0;
}

CudaError copy_check(const Copy *copy) {
    if (copy->kind < HOST_TO_HOST || copy->kind > COPY_DEFAULT)
        return CUDA_INVALID_MEMCPY_DIRECTION;
    if (empty(copy)) return CUDA_SUCCESS;
    if (!copy->to || !copy->from) return CUDA_INVALID_VALUE;
    if (copy->height > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width))
        return CUDA_INVALID_PITCH_VALUE;
    bool either = copy->kind == COPY_DEFAULT;
    bool to_device = copy->kind == HOST_TO_DEVICE || copy->kind == DEVICE_TO_DEVICE;
    bool from_device = copy->kind == DEVICE_TO_HOST || copy->kind == DEVICE_TO_DEVICE;
    size_t to, from;
    const bool good =
        span(copy->width, copy->to_pitch, copy->height, copy->to_slice, copy->depth, &to) &&
        span(copy->width, copy->from_pitch, copy->height, copy->from_slice, copy->depth, &from) &&
        side_valid(copy->to, to, to_device, either) &&
        side_valid(copy->from, from, from_device, either);
    return good ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static void *reach(uint64_t address) {
    return device_address(address) ? memory_at(address) : (void *)(uintptr_t)address;
}

// Whether only the device can access the address.
static bool device_only(uint64_t address) {
    const Allocation *allocation = device_address(address) ? memory_find(address) : NULL;
    return allocation && (allocation->kind == MEMORY_DEVICE || allocation->kind == MEMORY_MODULE ||
                          allocation->kind == MEMORY_CONSTANTS);
}

// Uninitialized bytes in a copy to the host.
typedef struct {
    size_t bytes;
    uint64_t first;
    bool holes; // found gaps that may be padding in structures
} Unwritten;

static void find_unwritten(Unwritten *found, uint64_t from, size_t bytes) {
    enum { PADDING = 15, MANY = 1024 };
    const uint64_t end = from + bytes;
    for (uint64_t at = from; (at = memory_seek(at, end, false)) < end;) {
        const uint64_t next = memory_seek(at, end, true);
        const bool last = next == end && bytes >= MANY && !found->holes;
        if (next - at <= PADDING && !last) {
            found->holes = true;
        } else {
            if (!found->bytes) found->first = at;
            found->bytes += next - at;
        }
        at = next;
    }
}

// Reports uninitialized bytes in a copy, as a note because the program may read only part of it.
static void report_unwritten(const Copy *copy) {
    Unwritten found = {0};
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            find_unwritten(&found, copy->from + z * copy->from_slice + y * copy->from_pitch,
                           copy->width);
    if (!found.bytes) return;
    Hazard hazard = {.kind = "uninitialized read",
                     .note = true,
                     .host = true,
                     .address = found.first,
                     .space = "global",
                     .occurrences = 1};
    snprintf(hazard.advice, sizeof hazard.advice,
             "%zu of %zu bytes were never written, the first at byte %llu: check that the grid "
             "covers all elements and that sizes are in bytes",
             found.bytes, copy->width * copy->height * copy->depth,
             (unsigned long long)(found.first - copy->from));
    report_host("a copy to the host", &hazard);
}

CudaError copy_run(const Copy *copy) {
    CudaError error = copy_check(copy);
    if (error || empty(copy)) return error;
    memory_find_touched();
    if (memory_shadow && device_only(copy->from) && !device_only(copy->to)) report_unwritten(copy);
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            uint64_t to = copy->to + z * copy->to_slice + y * copy->to_pitch;
            uint64_t from = copy->from + z * copy->from_slice + y * copy->from_pitch;
            memmove(reach(to), reach(from), copy->width);
            if (device_address(to)) read_back_written(to, copy->width);
            if (device_address(from) && !device_only(to)) read_back_read(from, copy->width);
            if (device_address(to) && device_address(from)) {
                memory_copied(to, from, copy->width);
                read_back_moved(to, from, copy->width);
            } else if (device_address(to)) {
                memory_written(to, copy->width);
            }
        }
    }
    return CUDA_SUCCESS;
}

CudaError copy_fill_check(const Fill *fill) {
    if (fill->width == 0 || fill->height == 0) return CUDA_SUCCESS;
    if (fill->element != 1 && fill->element != 2 && fill->element != 4) return CUDA_INVALID_VALUE;
    if (fill->width > SIZE_MAX / fill->element) return CUDA_INVALID_VALUE;
    size_t width = fill->width * fill->element;
    if (fill->height > 1 && fill->pitch < width) return CUDA_INVALID_PITCH_VALUE;
    size_t bytes;
    const bool good = span(width, fill->pitch, fill->height, 0, 1, &bytes) &&
                      side_valid(fill->to, bytes, true, false);
    return good ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

CudaError copy_fill_run(const Fill *fill) {
    CudaError error = copy_fill_check(fill);
    if (error || fill->width == 0) return error;
    for (size_t y = 0; y < fill->height; y++) {
        uint64_t row = fill->to + y * fill->pitch;
        unsigned char *at = memory_at(row);
        if (fill->element == 1)
            memset(at, (int)(fill->value & 0xFF), fill->width);
        else
            for (size_t x = 0; x < fill->width; x++)
                memcpy(at + x * fill->element, &fill->value, fill->element);
        memory_written(row, fill->width * fill->element);
        read_back_written(row, fill->width * fill->element);
    }
    return CUDA_SUCCESS;
}

bool copy_pageable(const Copy *copy) {
    return !empty(copy) && !(device_address(copy->to) && device_address(copy->from));
}

bool copy_inside_device(const Copy *copy) {
    return empty(copy) || (device_only(copy->to) && device_only(copy->from));
}

bool copy_fill_inside_device(const Fill *fill) { return fill->width == 0 || device_only(fill->to); }

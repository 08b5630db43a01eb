// Copies of what launches in other orders leave in device memory. A child process fills an image,
// and its parent compares it with its own memory.
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_SHIFT = 16, IMAGE_PART = 1 << IMAGE_SHIFT }; // memory is copied in parts of this size

typedef struct {
    uint64_t order;  // of blocks and warps
    uint8_t *bytes;  // of all memory up to memory_high, shared with the child; NULL: none
    uint8_t *filled; // by part: whether it was copied
    size_t parts, filled_count;
} Image;

// Reserves an empty image. False: the host refuses.
bool image_open(Image *image, uint64_t order);
// Copies the part that contains this address, unless the image already holds 256 MiB.
void image_fill(Image *image, uint64_t address);
// Copies all live allocations, unless they are so large that this takes long.
void image_fill_small(Image *image);
// Moves the address to the first byte from there on that differs from memory. False: there is none.
bool image_differs(const Image *image, uint64_t *address);
void image_close(Image *image);

#endif

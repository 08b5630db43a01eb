// Copies device memory into an image. See image.h.
#define _GNU_SOURCE
#include "simt/memory/image.h"

#include <string.h>
#include <sys/mman.h>

#include "simt/memory/memory.h"

enum { MOST = 1 << 12 }; // parts of an image

bool image_open(Image *image, uint64_t order) {
    const size_t parts = (memory_high - memory_base + IMAGE_PART - 1) >> IMAGE_SHIFT;
    void *bytes = mmap(NULL, parts * (IMAGE_PART + 1u), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *image = (Image){.order = order};
    if (bytes == MAP_FAILED) return false;
    image->bytes = bytes;
    image->filled = image->bytes + parts * IMAGE_PART;
    image->parts = parts;
    return true;
}

void image_fill(Image *image, uint64_t address) {
    const size_t part = (address - memory_base) >> IMAGE_SHIFT;
    if (part >= image->parts || image->filled[part] || image->filled_count == MOST) return;
    image->filled[part] = true;
    image->filled_count++;
    memcpy(image->bytes + part * IMAGE_PART, memory_at(memory_base + part * IMAGE_PART),
           IMAGE_PART);
}

void image_fill_small(Image *image) {
    enum { SMALL = 1 << 22 };
    if (memory_used() > SMALL) return;
    const Allocation *at = memory_before(memory_high);
    for (; at; at = memory_before(at->address - 1))
        for (uint64_t low = at->address; at->live && low < at->address + at->bytes;
             low += IMAGE_PART)
            image_fill(image, low);
}

bool image_differs(const Image *image, uint64_t *address) {
    uint64_t at = *address - memory_base;
    for (size_t part = at >> IMAGE_SHIFT; part < image->parts;
         at = (uint64_t)++part << IMAGE_SHIFT) {
        const uint8_t *here = memory_at(memory_base), *there = image->bytes;
        const uint64_t end = (uint64_t)(part + 1) << IMAGE_SHIFT;
        if (!image->filled[part] || !memcmp(here + at, there + at, end - at)) continue;
        while (here[at] == there[at]) at++;
        *address = memory_base + at;
        return true;
    }
    return false;
}

void image_close(Image *image) {
    if (image->bytes) munmap(image->bytes, image->parts * (IMAGE_PART + 1u));
    *image = (Image){0};
}

// Dim3: shapes of grids, clusters and blocks, and positions in them, which are numbered x first.
#ifndef DIM3_H
#define DIM3_H

#include <stdint.h>

typedef struct {
    uint32_t x, y, z;
} Dim3;

static inline Dim3 dim3_at(uint64_t number, Dim3 shape) {
    return (Dim3){(uint32_t)(number % shape.x), (uint32_t)(number / shape.x % shape.y),
                  (uint32_t)(number / shape.x / shape.y)};
}

static inline uint64_t dim3_number(Dim3 at, Dim3 shape) {
    return at.x + shape.x * (at.y + (uint64_t)shape.y * at.z);
}

// Divides by the shape of a part. A position gives the part that it is in, and a shape gives the
// number of its parts.
static inline Dim3 dim3_in_parts(Dim3 at, Dim3 part) {
    return (Dim3){at.x / part.x, at.y / part.y, at.z / part.z};
}

#endif

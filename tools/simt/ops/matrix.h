// The matrices that a warp multiplies: their types and shapes, and which lane holds which elements.
#ifndef MATRIX_H
#define MATRIX_H

#include "simt/exec/warp.h"

typedef enum {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S32
} ElementType;

uint32_t matrix_bytes(ElementType type); // per element

// a is m by k, b is k by n; c and d are m by n.
typedef enum { MATRIX_A, MATRIX_B, MATRIX_C } MatrixRole;

typedef struct {
    uint8_t m, n, k;
} MatrixShape;

enum { MATRIX_REGISTERS = 8, MATRIX_ELEMENTS = 512 }; // limits: per lane, per matrix

// The part of a matrix that each lane holds.
struct MatrixFragment {
    MatrixRole role;
    ElementType type;
    MatrixShape shape;
    uint32_t registers, per_register; // registers per lane, elements per register
    uint32_t reg[MATRIX_REGISTERS];   // offsets in the frame
    // For products: the results of matrix_place for all indices of lane 0, then of lane 1, ...
    const uint16_t *places;
};

// The position in the matrix of the element that a lane holds at `index`, as row * 32 + column. The
// index counts through the registers from their lowest bits.
//
// mma follows the PTX ISA, "Matrix Fragments for mma". The PTX ISA does not specify wmma's layout;
// we use that of ptxas for sm_90: a product of 16 by 16 or 32 by 8 is two of 16 by 8, and one of 8
// by 32 is the transpose of one of 32 by 8. Fragments of f16 for wmma repeat their elements.
uint32_t matrix_place(const MatrixFragment *fragment, uint32_t lane, uint32_t index);

// d = a * b + c.
struct Matrix {
    MatrixFragment a, b, c, d;
    bool saturates; // .satfinite
    // The number of products that are added before the sum is rounded.
    uint32_t terms;
};

// Multiplies the matrices, whose elements are stored by rows, as their bits.
void tensor_multiply(const Matrix *matrix, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     uint64_t *d);

#endif

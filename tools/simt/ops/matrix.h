// Matrices that a warp multiplies: their forms, and which lane holds which elements.
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

uint32_t matrix_bytes(ElementType type); // of an element

// a is m by k, b is k by n; c and d are m by n.
typedef enum { MATRIX_A, MATRIX_B, MATRIX_C } MatrixRole;

typedef struct {
    uint8_t m, n, k;
} MatrixShape;

enum { MATRIX_REGISTERS = 8, MATRIX_ELEMENTS = 512 }; // at most: of a lane, of a matrix

// What each lane holds of a matrix.
struct MatrixFragment {
    MatrixRole role;
    ElementType type;
    MatrixShape shape;
    uint32_t registers, per_register; // that many elements in a register of 4 bytes, of f64 8
    uint32_t reg[MATRIX_REGISTERS];   // in the frame
    // Of a product: places as matrix_place gives them, of each lane by index.
    const uint16_t *places;
};

// The element that a lane holds at `index`, as row * 32 + column; the index counts through the
// registers from their lowest bits.
//
// Of mma by the PTX ISA, "Matrix Fragments for mma". The PTX ISA leaves open what wmma has where;
// here it is as ptxas does it for sm_90: a product of 16 by 16 or 32 by 8 is two of 16 by 8; one of
// 8 by 32 is the transposed one of 32 by 8. Fragments of f16 for wmma repeat their elements.
uint32_t matrix_place(const MatrixFragment *fragment, uint32_t lane, uint32_t index);

// d = a * b + c.
struct Matrix {
    MatrixFragment a, b, c, d;
    bool saturates; // .satfinite
    // How many products are added at once; the sum is rounded, and the next are added to it.
    uint32_t terms;
};

// The product of all elements, which are given and wanted by rows, as their bits.
void tensor_multiply(const Matrix *matrix, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     uint64_t *d);

#endif

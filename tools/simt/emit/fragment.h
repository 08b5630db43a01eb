// The fragments of a matrix product that lanes hold, for lowering PTX and machine code.
#ifndef FRAGMENT_H
#define FRAGMENT_H

#include "simt/emit/emit.h"
#include "simt/ops/matrix.h"

RegisterClass fragment_class(const MatrixFragment *fragment); // of its registers

// A fragment without its registers. wmma's fragments of f16 have eight registers.
MatrixFragment fragment_of(MatrixRole role, ElementType type, MatrixShape shape, bool wmma);

// Sets the positions of its elements in the matrix.
void fragment_places(Lower *lower, MatrixFragment *fragment);

// Emits the product. Its fragments must have their registers.
void fragment_multiply(Lower *lower, const Matrix *matrix);

#endif

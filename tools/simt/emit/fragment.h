// What lanes hold of the factors and sums of a product, which PTX and machine code share.
#ifndef FRAGMENT_H
#define FRAGMENT_H

#include "simt/emit/emit.h"
#include "simt/ops/matrix.h"

RegisterClass fragment_class(const MatrixFragment *fragment); // of its registers

// A fragment without its registers. Of f16, wmma's have eight.
MatrixFragment fragment_of(MatrixRole role, ElementType type, MatrixShape shape, bool wmma);

// Sets where its elements are in the matrix.
void fragment_places(Lower *lower, MatrixFragment *fragment);

// Emits the product, whose fragments have their registers.
void fragment_multiply(Lower *lower, const Matrix *matrix);

#endif

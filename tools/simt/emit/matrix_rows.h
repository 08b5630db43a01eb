// Matrices of 8 by 8 elements of 16 bits over a warp, one in each register: ldmatrix, stmatrix and
// movmatrix of PTX, LDSM, STSM and MOVM of machine code. See ops/matrix.h.
#ifndef MATRIX_ROWS_H
#define MATRIX_ROWS_H

#include "simt/emit/emit.h"

// Temporary 32-bit registers of an access.
typedef struct {
    uint32_t row[4], straight[4];
} MatrixRowsTemps;

// Load or store 1, 2 or 4 matrices. Lanes hold the addresses of their rows of 16 bytes.
void matrix_rows_load(Lower *lower, InstMemory memory, uint32_t count, const uint32_t *d,
                      bool transposed, const MatrixRowsTemps *temps);
void matrix_rows_store(Lower *lower, InstMemory memory, uint32_t count, const uint32_t *from,
                       bool transposed, const MatrixRowsTemps *temps);
// Transposes the matrix of each register.
void matrix_rows_transpose(Lower *lower, uint32_t count, const uint32_t *from, const uint32_t *d);

// Emits an ordinary access of `count` registers. `rows`: count it as an access of whole rows.
void matrix_rows_access(Lower *lower, InstMemory memory, uint32_t bytes, uint32_t count,
                        const uint32_t *reg, bool load, bool rows);

#endif

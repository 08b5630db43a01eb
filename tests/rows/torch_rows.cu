// The header's softmax and layer norm with C names, for torch_rows.py to call.
#include "reduce_rows.cuh"

#define ROWS(T, type)                                                                              \
    extern "C" int softmax_##type(const T *in, T *out, size_t rows, size_t cols, const T *,        \
                                  const T *, void *workspace, cudaStream_t stream) {               \
        return reduction::rows_softmax(in, out, rows, cols, cols, cols, workspace, stream);        \
    }                                                                                              \
    extern "C" int layer_norm_##type(const T *in, T *out, size_t rows, size_t cols,                \
                                     const T *weights, const T *bias, void *workspace,             \
                                     cudaStream_t stream) {                                        \
        return reduction::rows_layer_norm(in, out, rows, cols, cols, cols, weights, bias, 1e-5f,   \
                                          workspace, stream);                                      \
    }
ROWS(float, float)
ROWS(__nv_bfloat16, bfloat16)

extern "C" size_t workspace_bytes() { return reduction::ROWS_WORKSPACE_BYTES; }

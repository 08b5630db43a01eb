// EXPECT: right
// ON A GPU: right: each branch names exactly the lanes that are in it (Programming Guide, "Warp Shuffle Functions")
#include <stdio.h>

__global__ void halves(const int *in, int *out) {
    int t = threadIdx.x, lane = t % 32, v = in[t];
    if (lane < 16) {
        for (int o = 8; o > 0; o /= 2)
            v += __shfl_xor_sync(0x0000ffff, v, o);
    } else {
        for (int o = 8; o > 0; o /= 2)
            v = max(v, __shfl_down_sync(0xffff0000, v, o, 16));
    }
    if (lane % 16 == 0)
        out[t / 16] = v;
}

int main(void) {
    int h[80], r[5], *in, *out;              // two warps and a half
    for (int i = 0; i < 80; i++) h[i] = i;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(r));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    halves<<<1, 80>>>(in, out);
    cudaMemcpy(r, out, sizeof(r), cudaMemcpyDeviceToHost);
    printf("%d %d %d, should be 120 31 1144\n", r[0], r[1], r[4]);
    cudaFree(in); cudaFree(out);
    return r[0] != 120 || r[1] != 31 || r[4] != 1144;
}

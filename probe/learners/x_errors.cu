// What error has a launch that cannot be, and what is unknown of the machine? (Prints only; neither right nor wrong.)
#include <stdio.h>
__global__ void k(int *a) { a[0] = 1; }
static void show(const char *what) {
    cudaError_t e = cudaGetLastError();
    printf("%-28s %s: %s\n", what, cudaGetErrorName(e), cudaGetErrorString(e));
}
int main(void) {
    int *a, *z = (int *)1, pageable = -1, tables = -1;
    float ms = -1;
    cudaEvent_t s, t;
    cudaMalloc(&a, 4);
    k<<<0, 1>>>(a); show("0 blocks");
    k<<<1, 0>>>(a); show("0 threads");
    k<<<1, 2048>>>(a); show("2048 threads");
    k<<<1, dim3(1, 1, 65)>>>(a); show("65 threads in z");
    k<<<dim3(1, 65536), 1>>>(a); show("65536 blocks in y");
    k<<<1, 1, 1 << 20>>>(a); show("1 MB of shared memory");
    cudaMalloc(&z, 0); show("cudaMalloc of 0 bytes"); printf("  gives %p\n", (void *)z);
    cudaMemcpy(z, a, 0, cudaMemcpyDeviceToDevice); show("cudaMemcpy of 0 bytes");
    cudaMemset(z, 0, 0); show("cudaMemset of 0 bytes");
    cudaMemcpy(a, &ms, 8, cudaMemcpyHostToDevice); show("cudaMemcpy of 8 into 4");
    cudaFree((void *)((char *)a + 4)); show("cudaFree of an inner pointer");
    cudaMalloc(&z, (size_t)(int)(50000u * 50000u) * sizeof(float)); show("cudaMalloc, int overflow");
    cudaEventCreate(&s); cudaEventCreate(&t);
    cudaEventElapsedTime(&ms, s, t); show("elapsed, never recorded");
    cudaEventRecord(s); cudaEventElapsedTime(&ms, s, t); show("elapsed, end not recorded");
    cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0);
    cudaDeviceGetAttribute(&tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0);
    printf("pageableMemoryAccess %d, uses host page tables %d\n", pageable, tables);
    return 0;
}

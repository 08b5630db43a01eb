// A program that closes descriptors before or after its first CUDA call, and may open files of its own
// under their numbers, into which simt must not write: closed WHEN FIRST-LAST FOLDER END
//
//     WHEN    early or late
//     FIRST, LAST  the descriptors to close
//     FOLDER  the folder of the files, one for each number up to 40; none: it opens no file
//     END     how it ends: return, interrupt (by its own signal), refuse (killed after a refused
//             call),
//             kernel (with an error), _exit
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

__global__ void add(int *at, int by, size_t behind) { atomicAdd(at + behind, by); }

static bool is(const char *word, const char *what) { return strcmp(word, what) == 0; }

static void close_all(const char *range, const char *folder) {
    int first, last;
    if (sscanf(range, "%d-%d", &first, &last) != 2) abort();
    for (int fd = first; fd <= last; fd++) close(fd);
    for (int k = 0; !is(folder, "none") && k <= 40; k++) {
        char name[512];
        snprintf(name, sizeof name, "%s/%d", folder, k);
        if (open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) < 0) abort();
    }
}

int main(int argc, char **argv) {
    const char *end = argv[4];
    int *sum, *managed;
    if (is(argv[1], "early")) close_all(argv[2], argv[3]);
    cudaMalloc(&sum, sizeof *sum);
    if (is(argv[1], "late")) close_all(argv[2], argv[3]);
    cudaMallocManaged(&managed, sizeof *managed);
    cudaMemset(sum, 0, sizeof *sum);
    *managed = 1;
    add<<<2, 32>>>(sum, 1, 0);
    add<<<2, 32>>>(managed, 1, 0);
    cudaDeviceSynchronize();
    if (is(end, "interrupt")) {
        raise(SIGINT);
        pause();
    }
    if (is(end, "refuse")) {
        cudaGraphicsUnregisterResource(NULL);
        raise(SIGKILL);
    }
    if (is(end, "kernel")) add<<<1, 1>>>(sum, 1, (size_t)1 << 40);
    if (is(end, "_exit")) _exit(0);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}

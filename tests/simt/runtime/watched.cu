// A program with a race, and ways to escape from the CPU device, which the launcher must notice.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void races(int *sum) { *sum += threadIdx.x; }

// watched WAY [PROGRAM]
int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    char *const next[] = {argv[2], nullptr};
    int *sum, status = 0;
    if (!strcmp(way, "idle")) return 0;
    if (!strcmp(way, "idle _exit")) _exit(0);
    if (!strcmp(way, "descriptors"))
        for (int fd = 3; fd < 1024; fd++) close(fd);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    races<<<1, 32>>>(sum);
    printf("launched: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fflush(stdout);
    if (!strcmp(way, "exec")) execv(next[0], next);
    if (!strcmp(way, "system call")) syscall(SYS_exit_group, 0);
    if (argc > 2) {
        const pid_t child = fork();
        if (child == 0) execv(next[0], next), _exit(errno);
        waitpid(child, &status, 0);
        printf("child: %d\n", WEXITSTATUS(status));
    }
    return 0;
}

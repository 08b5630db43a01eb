// Launches each row that `make record` would time on a GPU once, for tools/build/predict.py. Compile it
// with -DLAB='"code/04_bank_conflicts.cu"'. An empty kernel, row_mark, precedes each row's launches.
#define main lab_main
#include LAB
#undef main

__global__ void row_mark() {}
__global__ void row_skip() {}

static void launch_row(const Stage *stage, unsigned grid) {
    fill(stage);
    // A first launch initializes state; for HOT rows it also brings the elements into the cache.
    unsigned before = stage->mode == HOT || bench.n < 65536 ? bench.n : 65536;
    row_skip<<<1, 32, 0, bench.stream>>>();
    stage->launch(run_of(stage, before, grid, 0));
    row_mark<<<1, 32, 0, bench.stream>>>();
    unsigned partials = stage->launch(run_of(stage, bench.n, grid, 0)), block = bench.shape[1];
    if (bench.shape[0]) partials = bench.shape[0];
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(bench.stream));
    printf("row,%s,%u,%u,%u,%d,%d\n", stage->name, bench.n, block, partials, grid != 0,
           (int)stage->mode);
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    open_device();
    if (!bench.only) launch_row(&ceiling, 0);
    for (const Stage *stage = lab.stages; stage < lab.stages + lab.count; stage++) {
        if (stage->mode >= UNTIMED || (bench.only && strcmp(bench.only, stage->name))) continue;
        launch_row(stage, 0);
        for (const unsigned *grid = stage->sweep; grid && *grid != END; grid++)
            launch_row(stage, *grid);
    }
    return 0;
}

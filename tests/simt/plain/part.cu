// One file of device code of several, with -rdc=true.
__device__ int twice(int x) { return 2 * x; }

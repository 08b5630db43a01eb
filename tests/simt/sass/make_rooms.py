"""Writes a program whose kernels print the addresses of their variables in shared memory.

    python3 make_rooms.py SEED > rooms.cu

Variables of several sizes and alignments are declared in the module, in functions, inlined or not, and in
kernels. Functions call others by name and by pointer, through tables of two types; some kernels have
dynamic shared memory. For each kernel the program prints the size of its static shared memory, and the
addresses of the variables that it and its functions use; with an argument, less the 1,024 bytes that
machine code reserves before them.
"""
import random
import sys

TYPES = ("char", "short", "int", "double", "float4")
ALIGNMENTS = ("", "", "", "", "alignas(32) ", "alignas(128) ")
FUNCTIONS, KERNELS, IN_MODULE = 9, 16, 5
HEAD = """#include <stdio.h>

#define TELL(v)                                                                                    \\
    (*(volatile char *)&v[threadIdx.x & 1] = 1,                                                    \\
     printf("    %s %u\\n", #v, (unsigned)__cvta_generic_to_shared(&v) - reserved))
"""
MAIN = """
#define RUN(kernel, which)                                                                         \\
    cudaFuncGetAttributes(&attributes, kernel);                                                    \\
    printf("%s: %d bytes\\n", #kernel, (int)attributes.sharedSizeBytes);                            \\
    kernel<<<1, 1, 64>>>(which, reserved);                                                         \\
    if (cudaDeviceSynchronize() != cudaSuccess) puts("it failed")
int main(int argc, char **argv) {
    (void)argv;
    cudaFuncAttributes attributes;
    const unsigned reserved = argc > 1 ? 1024 : 0;"""


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.module = [f"module_{k}" for k in range(IN_MODULE)]
        self.callable = []  # how each is called

    def variable(self, name):
        pick = self.random.choice
        return f"__shared__ {pick(ALIGNMENTS)}{pick(TYPES)} {name}[{self.random.randint(2, 90)}];"

    def body(self, own, others):
        """A body that declares its own variables, prints these and some others, and calls some functions."""
        some = [name for name in others if self.random.random() < 0.25]
        does = [f"TELL({name});" for name in own + some]
        does += [f"{call};" for call in self.callable if self.random.random() < 0.25]
        self.random.shuffle(does)
        return "\n    ".join([self.variable(name) for name in own] + does)

    def program(self):
        parts = [HEAD, "\n".join(map(self.variable, self.module)), "extern __shared__ int dynamic[];"]
        tables = {"": [], ", int": []}
        for k in range(FUNCTIONS):
            more = self.random.choice(["", "", ", int"])
            inlined = self.random.random() < 0.3
            own = [f"of_{k}_{v}" for v in range(self.random.choice([0, 1, 1, 2]))]
            parts.append(f"__device__ {'inline' if inlined else '__noinline__'} "
                         f"void f{k}(int which, unsigned reserved{more}) {{\n    {self.body(own, self.module)}\n}}")
            self.callable.append(f"f{k}(which, reserved{', 1' if more else ''})")
            if not inlined and self.random.random() < 0.6:
                tables[more].append(f"f{k}")
        for number, (more, functions) in enumerate(tables.items()):
            if functions:
                parts.append(f"__device__ void (*table_{number}[])(int, unsigned{more}) = {{{', '.join(functions)}}};")
                self.callable.append(f"table_{number}[which % {len(functions)}](which, reserved{', 2' if more else ''})")
        for k in range(KERNELS):
            own = [f"own_{v}" for v in range(self.random.choice([0, 0, 1, 2]))]
            parts.append(f"__global__ void kernel_{k}(int which, unsigned reserved) {{\n"
                         f"    {self.body(own, [*self.module, 'dynamic'])}\n}}")
        runs = "\n".join(f"    RUN(kernel_{k}, {k});" for k in range(KERNELS))
        return "\n".join(parts) + MAIN + "\n" + runs + "\n}"


print(Writer(int(sys.argv[1])).program())

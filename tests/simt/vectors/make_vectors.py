"""Writes the programs that run one PTX instruction at a time over interesting inputs.

    python3 make_vectors.py FAMILY > FAMILY.cu      (families: see table.FAMILIES)

The program prints one line for each case: its name, a 64-bit FNV-1a hash of all results, the same
hash with every NaN counted as one NaN, and some of the results in hexadecimal. `PROGRAM --all`
prints every result, `PROGRAM --show NAME` the inputs as well.
"""
import sys

import table

# Operand kinds: register constraint, C type of the operand, its bits as an integer, width.
KINDS = {
    "b16": ("h", "uint16_t", "(uint16_t)(%s)", 16),
    "b32": ("r", "uint32_t", "(uint32_t)(%s)", 32),
    "b64": ("l", "uint64_t", "(uint64_t)(%s)", 64),
    "f32": ("f", "float", "__uint_as_float((uint32_t)(%s))", 32),
    "f64": ("d", "double", "__longlong_as_double((long long)(%s))", 64),
}
BITS = {"b16": "%s", "b32": "%s", "b64": "%s", "f32": "__float_as_uint(%s)",
        "f64": "(uint64_t)__double_as_longlong(%s)"}


def register_of(kind):
    """The register class that holds values of an input kind such as 'shift' or 'f16'."""
    return table.INPUTS[kind][0]


def kernel(number, case):
    text = ["// %s" % case.name,
            'extern "C" __global__ void case%03d(const uint64_t *in, uint64_t *out, '
            "uint64_t *memory) {" % number,
            "    unsigned i = THREAD;"]
    for name, kind in zip("abc", case.ins):
        register = register_of(kind)
        text.append("    %s %s = %s;" % (KINDS[register][1], name, KINDS[register][2] %
                                         ("in[%d * COUNT + i]" % "abc".index(name))))
    if case.body:
        text.append("    uint64_t d = 0;")
        text += ["    " + line for line in case.body.strip().splitlines()]
        text.append("    out[i] = d;")
    else:
        text.append("    %s d;" % KINDS[case.out][1])
        ptx = case.ptx.replace("$d", "%0")
        for position, name in enumerate("abc"[:len(case.ins)], 1):
            ptx = ptx.replace("$" + name, "%%%d" % position)
        if "{" in ptx and ".reg" in ptx:
            ptx = ptx.replace("\n", " ")
        operands = ", ".join('"%s"(%s)' % (KINDS[register_of(kind)][0], name)
                             for name, kind in zip("abc", case.ins))
        text.append('    asm volatile("%s" : "=%s"(d) : %s);' % (ptx, KINDS[case.out][0], operands))
        text.append("    out[i] = %s;" % (BITS[case.out] % "d"))
    text.append("}")
    return "\n".join(text) + "\n"


HOST = r"""
typedef void Case(const uint64_t *, uint64_t *, uint64_t *);
typedef struct {
    const char *name;
    Case *kernel;
    int inputs[3];  // kinds, -1: none
    int nan_bits;   // the float format of the results, for the second hash; 0: integers
    int shown;      // how many results are printed
    int solid;      // launched as 2x2x2 blocks of 8x8x4 threads
} Entry;

static uint64_t input[3 * COUNT], output[COUNT];

static uint64_t next_random(uint64_t *state) {  // Marsaglia's xorshift64*
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Dull;
}

// Every pair of values of the first two operands' lists, then random bits; the third runs along.
static void make_inputs(const Entry *entry) {
    uint64_t state = 88172645463325252ull;
    const Kind *kind[3];
    for (int k = 0; k < 3; k++) kind[k] = &kinds[entry->inputs[k] < 0 ? 0 : entry->inputs[k]];
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned la = kind[0]->count, lb = kind[1]->count, lc = kind[2]->count;
        int listed = entry->inputs[1] < 0 ? i < la : i < la * lb;
        uint64_t pick[3] = {i % la, i / la % lb, (i * 7 + i / la * 5 + 3) % lc};
        for (int k = 0; k < 3; k++) {
            uint64_t bits = next_random(&state);
            const Kind *from = kind[k];
            if (listed || from->closed) {
                uint64_t at = listed ? pick[k] : bits % from->count;
                input[k * COUNT + i] = from->value[at];
            } else {
                if (from->exponent_mask && bits >> 63) {  // half of them near one
                    bits = (bits & ~from->exponent_mask) | (from->one & from->exponent_mask);
                    bits ^= (next_random(&state) & 7) * (from->exponent_mask & -from->exponent_mask);
                }
                input[k * COUNT + i] = from->width == 64 ? bits : bits & ((1ull << from->width) - 1);
            }
        }
    }
}

static uint64_t one_nan(uint64_t bits, int format) {
    switch (format) {
    case 32: return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
    case 64: return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull ? ~(1ull << 63) : bits;
    case 16: return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
    case 17: return (bits & 0x7fff) > 0x7f80 ? 0x7fff : bits;
    case 162: return one_nan(bits & 0xffff, 16) | one_nan(bits >> 16, 16) << 16;
    case 172: return one_nan(bits & 0xffff, 17) | one_nan(bits >> 16, 17) << 16;
    default: return bits;
    }
}

static uint64_t fnv(uint64_t hash, uint64_t value) {
    for (int i = 0; i < 8; i++) hash = (hash ^ (value >> 8 * i & 255)) * 0x100000001b3ull;
    return hash;
}

static int run_case(const Entry *entry, const char *mode, uint64_t *d_in, uint64_t *d_out,
                    uint64_t *d_memory) {
    make_inputs(entry);
    cudaMemcpy(d_in, input, sizeof input, cudaMemcpyHostToDevice);
    cudaMemset(d_out, 0xee, sizeof output);
    cudaMemset(d_memory, 0, MEMORY * sizeof(uint64_t));
    dim3 grid = entry->solid ? dim3(2, 2, 2) : dim3(COUNT / 256);
    dim3 block = entry->solid ? dim3(8, 8, 4) : dim3(256);
    entry->kernel<<<grid, block>>>(d_in, d_out, d_memory);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpy(output, d_out, sizeof output, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("%s error %s\n", entry->name, cudaGetErrorName(error));
        return 1;
    }
    uint64_t raw = 0xcbf29ce484222325ull, canonical = raw;
    for (int i = 0; i < COUNT; i++) {
        raw = fnv(raw, output[i]);
        canonical = fnv(canonical, one_nan(output[i], entry->nan_bits));
    }
    printf("%s %016llx %016llx", entry->name, (unsigned long long)raw,
           (unsigned long long)canonical);
    if (!strcmp(mode, "--show")) {
        for (int i = 0; i < COUNT; i++) {
            printf("\n%d:", i);
            for (int k = 0; k < 3 && entry->inputs[k] >= 0; k++)
                printf(" %llx", (unsigned long long)input[k * COUNT + i]);
            printf(" -> %llx", (unsigned long long)output[i]);
        }
    } else {
        int shown = strcmp(mode, "--all") ? entry->shown : COUNT;
        for (int i = 0; i < shown; i++)
            printf(" %llx", (unsigned long long)output[shown == COUNT ? i : i * STRIDE % COUNT]);
    }
    printf("\n");
    return 0;
}

int main(int argc, char **argv) {
    uint64_t *d_in, *d_out, *d_memory;
    if (cudaMalloc((void **)&d_in, sizeof input) || cudaMalloc((void **)&d_out, sizeof output) ||
        cudaMalloc((void **)&d_memory, MEMORY * sizeof(uint64_t))) {
        fprintf(stderr, "no device memory\n");
        return 3;
    }
    const char *mode = argc > 1 ? argv[1] : "", *only = argc > 2 ? argv[2] : NULL;
    int failures = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!only || !strcmp(only, entries[i].name))
            failures += run_case(&entries[i], mode, d_in, d_out, d_memory);
    return failures != 0;
}
"""


def program(cases):
    kinds = sorted(table.INPUTS)
    out = ["// Written by make_vectors.py: PTX instructions over interesting inputs, family %s."
           % ", ".join(sorted({case.family for case in cases})),
           "#include <stdint.h>", "#include <stdio.h>", "#include <string.h>",
           "#include <cuda_runtime.h>", "#include <cuda_fp16.h>", "",
           "#pragma nv_diag_suppress 177,550", "",
           "#define COUNT %d" % table.COUNT, "#define STRIDE %d" % table.STRIDE,
           "#define MEMORY (8 * COUNT)",
           "#define BLOCK_OF (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))",
           "#define IN_BLOCK (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))",
           "#define THREAD (BLOCK_OF * 256 + IN_BLOCK)", ""]
    out.append(table.DEVICE)
    if any(case.family == "matrix" for case in cases):
        import matrices
        out.append(matrices.DEVICE)
    out += [kernel(number, case) for number, case in enumerate(cases)]
    out.append("typedef struct {\n    unsigned width, count, closed;\n"
               "    uint64_t one, exponent_mask;\n    uint64_t value[64];\n} Kind;\n")
    out.append("static const Kind kinds[] = {")
    for kind in kinds:
        register, values, closed, one, mask = table.INPUTS[kind]
        assert len(values) <= 64, kind
        out.append("    {%d, %d, %d, 0x%xull, 0x%xull, {%s}},  // %s" % (
            KINDS[register][3] if kind not in ("f16", "bf16") else 16, len(values), closed, one,
            mask, ", ".join("0x%xull" % value for value in values), kind))
    out.append("};")
    host = HOST.split("static uint64_t input")
    out.append(host[0])
    out.append("static const Entry entries[] = {")
    for number, case in enumerate(cases):
        inputs = [kinds.index(kind) for kind in case.ins] + [-1] * (3 - len(case.ins))
        out.append('    {"%s", case%03d, {%s}, %d, %d, %d},' % (
            case.name, number, ", ".join(map(str, inputs)), case.nan, case.shown, case.solid))
    out.append("};\n")
    out.append("static uint64_t input" + host[1])
    return "\n".join(out)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in table.FAMILIES:
        sys.exit("usage: make_vectors.py " + "|".join(table.FAMILIES))
    print(program([case for case in table.cases() if case.family == sys.argv[1]]))

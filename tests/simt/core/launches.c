// Modules, kernels and launches by the device's own interface: where variables lie and what they
// hold, what a launch may ask for, to the last thread and byte. Prints `ok NAME` or `not ok NAME`
// with what was wrong below.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "simt/device/device.h"
#include "simt/memory/memory.h"
#include "told.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HEAD         ".version 9.0\n.target sm_90\n.address_size 64\n"
#define OUT(declared, body)                                                                        \
    HEAD declared ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<30>;\n"    \
                  ".reg .b64 %rd<30>;\nld.param.u64 %rd1, [p];\n" body "ret;\n}\n"

static void same(const char *name, const char *what, unsigned long long found,
                 unsigned long long wanted) {
    if (found != wanted) wrong("%s: %s %llu, not %llu", name, what, found, wanted);
}

static uint64_t out; // room for results

static Module *load(const char *text) {
    SimtStatus status;
    SimtError error = {""};
    Module *module = module_load(str_of(text), "PTX", &status, &error);
    if (!module) wrong("%s", error.text);
    return module;
}

static SimtStatus launch_as(Module *module, const char *kernel, Launch launch, SimtOptions options,
                            LaunchReport *report, SimtError *error) {
    void *arguments[] = {&out};
    launch.arguments = arguments;
    options.watchdog_seconds = 5;
    return kernel_launch(module_kernel(module, kernel), &launch, &options, report, error);
}

static SimtStatus launch(Module *module, Dim3 grid, Dim3 block, uint32_t shared, SimtError *error) {
    LaunchReport report;
    Launch one = {
        .grid = grid, .block = block, .cluster = {1, 1, 1}, .dynamic_shared_bytes = shared};
    SimtStatus status = launch_as(module, "k", one, (SimtOptions){0}, &report, error);
    arena_free(&report.arena);
    return status;
}

// --- launches ---

static const struct {
    const char *name;
    Dim3 grid, block, cluster;
    uint32_t shared;
    SimtStatus status;
    const char *error;
} launch_rows[] = {
    {"one thread", {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"a cluster of nothing",
     {1, 1, 1},
     {1, 1, 1},
     {0, 0, 0},
     0,
     SIMT_INVALID_CONFIG,
     "a grid of 1x1x1 blocks has no clusters of 0x0x0"},
    {"no blocks in x",
     {0, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"no blocks in y",
     {1, 0, 1},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"no blocks in z",
     {1, 1, 0},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"no threads in x",
     {1, 1, 1},
     {0, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"no threads in y",
     {1, 1, 1},
     {1, 0, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"no threads in z",
     {1, 1, 1},
     {1, 1, 0},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a dimension of the launch is 0"},
    {"1024 threads", {1, 1, 1}, {1024, 1, 1}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"1024 threads in space", {1, 1, 1}, {8, 8, 16}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"1025 threads",
     {1, 1, 1},
     {1025, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "threads per block: 1025, at most 1024"},
    {"threads in space",
     {1, 1, 1},
     {8, 8, 17},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "threads per block: 1088, at most 1024"},
    {"a product of 33 bits",
     {1, 1, 1},
     {1u << 16, 1u << 16, 2},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "threads per block: "},
    {"a product of 64 bits",
     {1, 1, 1},
     {1u << 31, 1u << 31, 4},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "threads per block: "},
    {"64 in z", {1, 1, 1}, {1, 1, 64}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"65 in z",
     {1, 1, 1},
     {1, 1, 65},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "block z: 65, at most 64"},
    {"65535 blocks in y", {1, 65535, 1}, {1, 1, 1}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"65536 blocks in y",
     {1, 65536, 1},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "the grid is too large"},
    {"65535 blocks in z", {1, 1, 65535}, {1, 1, 1}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"65536 blocks in z",
     {1, 1, 65536},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "the grid is too large"},
    {"65536 blocks in x", {65536, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, SIMT_OK, ""},
    {"2^31 blocks in x",
     {1u << 31, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "the grid is too large"},
    {"a cluster", {2, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0, SIMT_OK, ""},
    {"a cluster in z", {1, 1, 2}, {1, 1, 1}, {1, 1, 2}, 0, SIMT_OK, ""},
    {"a grid of one and a half",
     {1, 3, 1},
     {1, 1, 1},
     {1, 2, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a grid of 1x3x1 blocks has no clusters of 1x2x1"},
    {"the largest cluster", {4, 2, 2}, {1, 1, 1}, {4, 2, 2}, 0, SIMT_OK, ""},
    {"a larger one",
     {17, 1, 1},
     {1, 1, 1},
     {17, 1, 1},
     0,
     SIMT_INVALID_CONFIG,
     "a grid of 17x1x1 blocks has no clusters of 17x1x1"},
    {"all shared memory", {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 227 * 1024 - 100, SIMT_OK, ""},
    {"a byte more",
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     227 * 1024 - 99,
     SIMT_OUT_OF_RESOURCES,
     "bytes of shared memory per block: 232449, at most 232448"},
    {"a sum of 33 bits",
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     0xffffffff,
     SIMT_OUT_OF_RESOURCES,
     "bytes of shared memory per block: "},
};

static void test_limits(void) {
    Module *module = load(OUT("", ".shared .align 4 .b8 s[100];\nst.shared.u32 [s], 1;\n"));
    for (size_t k = 0; module && k < COUNT(launch_rows); k++) {
        Launch one = {.grid = launch_rows[k].grid,
                      .block = launch_rows[k].block,
                      .cluster = launch_rows[k].cluster,
                      .dynamic_shared_bytes = launch_rows[k].shared};
        SimtError error = {"not set"};
        LaunchReport report;
        SimtStatus status = launch_as(module, "k", one, (SimtOptions){0}, &report, &error);
        const char *want = launch_rows[k].error;
        if (status != launch_rows[k].status || strncmp(error.text, want, strlen(want)) != 0 ||
            (want[0] == '\0' && error.text[0]))
            wrong("%s: status %d: %s", launch_rows[k].name, (int)status, error.text);
        arena_free(&report.arena);
    }
    module_unload(module);
    told("limits of a launch");
}

static void test_bounds_of_kernels(void) {
    static const char text[] =
        HEAD ".entry exact() .reqntid 4, 2, 3 { ret; }\n.entry most() .maxntid 64, 2, 1 { ret; }\n"
             ".entry more() .maxntid 2048, 1, 1 { ret; }\n";
    static const struct {
        const char *kernel;
        Dim3 block;
        const char *error;
    } rows[] = {{"exact", {4, 2, 3}, ""},
                {"exact", {5, 2, 2}, "the kernel requires blocks of 4x2x3"},
                {"exact", {4, 3, 2}, "the kernel requires blocks of 4x2x3"},
                {"exact", {4, 2, 2}, "the kernel requires blocks of 4x2x3"},
                {"exact", {4, 2, 4}, "threads per block: 32, at most 24"},
                {"most", {128, 1, 1}, ""},
                {"most", {43, 3, 1}, "threads per block: 129, at most 128"},
                {"more", {1024, 1, 1}, ""},
                {"more", {1025, 1, 1}, "threads per block: 1025, at most 1024"}};
    Module *module = load(text);
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        Launch one = {.grid = {1, 1, 1}, .block = rows[k].block, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report;
        SimtStatus status =
            launch_as(module, rows[k].kernel, one, (SimtOptions){0}, &report, &error);
        if (strcmp(error.text, rows[k].error) != 0 ||
            (status == SIMT_OK) != (rows[k].error[0] == '\0'))
            wrong("%s: %s", rows[k].kernel, error.text);
        arena_free(&report.arena);
    }
    module_unload(module);
    told("bounds that a kernel sets");
}

// Where threads are: out[i] of thread i of all in order, x first, is made of tid, ctaid and sizes.
static void test_places(void) {
    Module *module = load(OUT(
        "",
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
        "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %ctaid.z;\n"
        "mov.u32 %r7, %ntid.x;\nmov.u32 %r8, %ntid.y;\nmov.u32 %r9, %ntid.z;\n"
        "mov.u32 %r10, %nctaid.x;\nmov.u32 %r11, %nctaid.y;\n"
        "mad.lo.u32 %r12, %r3, %r8, %r2;\nmad.lo.u32 %r12, %r12, %r7, %r1;\n" // thread in the block
        "mad.lo.u32 %r13, %r6, %r11, %r5;\nmad.lo.u32 %r13, %r13, %r10, %r4;\n" // block in the grid
        "mul.lo.u32 %r14, %r7, %r8;\nmul.lo.u32 %r14, %r14, %r9;\nmad.lo.u32 %r15, %r13, %r14, "
        "%r12;\n"
        "mul.wide.u32 %rd2, %r15, 4;\nadd.s64 %rd2, %rd1, %rd2;\natom.global.add.u32 %r16, [%rd2], "
        "1;\n"));
    static const struct {
        Dim3 grid, block;
    } rows[] = {{{1, 1, 1}, {33, 1, 1}},
                {{2, 3, 4}, {5, 3, 2}},
                {{3, 1, 2}, {1, 7, 5}},
                {{4, 2, 1}, {32, 2, 3}}};
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        SimtError error;
        Dim3 grid = rows[k].grid, block = rows[k].block;
        uint32_t all = grid.x * grid.y * grid.z * block.x * block.y * block.z;
        const uint32_t *times = memory_at(out);
        memset(memory_at(out), 0, 65536);
        if (launch(module, grid, block, 0, &error) != SIMT_OK) wrong("%s", error.text);
        for (uint32_t i = 0; i < 16384; i++)
            if (times[i] != (i < all))
                wrong("shape %zu: place %u was taken %u times", k, i, times[i]);
    }
    module_unload(module);
    told("every thread has its place");
}

// --- memory that a kernel needs ---

static void test_shared(void) {
    // Each as ptxas places it: a kernel's own in front of a and b, the module's, where it uses
    // them, and of the function's where it calls one. All end where dynamic shared memory may
    // begin.
    static const char text[] = HEAD
        ".shared .align 4 .b8 a[12];\n.shared .align 8 .b8 b[4];\n.extern .shared .align 32 .b8 "
        "dynamic[];\n"
        ".func f() { .shared .align 4 .b8 inner[8]; .reg .b32 %r<2>; ld.shared.u32 %r1, [inner]; "
        "ret; }\n"
        ".entry none() { .shared .align 16 .b8 own[10]; .reg .b32 %r<2>; ld.shared.u32 %r1, [own]; "
        "ret; }\n"
        ".entry uses(.param .u64 p) { .shared .align 16 .b8 own[10]; .reg .b32 %r<2>; .reg .b64 "
        "%rd<2>;\n"
        " ld.param.u64 %rd1, [p]; mov.u32 %r1, a; st.global.u32 [%rd1], %r1; mov.u32 %r1, b;\n"
        " st.global.u32 [%rd1+4], %r1; mov.u32 %r1, own; st.global.u32 [%rd1+8], %r1;\n"
        " mov.u32 %r1, dynamic; st.global.u32 [%rd1+12], %r1; mov.u32 %r1, %dynamic_smem_size;\n"
        " st.global.u32 [%rd1+16], %r1; mov.u32 %r1, %total_smem_size; st.global.u32 [%rd1+20], "
        "%r1; ret; }\n"
        ".entry calls() { call f; ret; }\n.entry empty() { ret; }\n"
        ".entry both() { .shared .align 4 .b8 own[3]; .shared .align 2 .b8 more[2]; ret; }\n";
    static const struct {
        const char *kernel;
        size_t bytes;
    } rows[] = {{"none", 32}, {"uses", 32}, {"calls", 32}, {"empty", 0}, {"both", 32}};
    Module *module = load(text);
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        KernelInfo info;
        kernel_info(module_kernel(module, rows[k].kernel), &info);
        same(rows[k].kernel, "bytes", info.static_shared_bytes, rows[k].bytes);
    }
    SimtError error;
    LaunchReport report = {0};
    Launch one = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}, .dynamic_shared_bytes = 7};
    if (module && launch_as(module, "uses", one, (SimtOptions){0}, &report, &error) != SIMT_OK)
        wrong("%s", error.text);
    static const uint32_t places[] = {12, 24, 0, 32, 7};
    for (size_t k = 0; module && k < COUNT(places); k++)
        same("uses", "place", ((const uint32_t *)memory_at(out))[k], places[k]);
    arena_free(&report.arena);
    module_unload(module);
    module = load(
        HEAD
        ".extern .shared .align 4 .b8 dynamic[];\n.entry uses(.param .u64 p) {\n"
        ".shared .align 4 .b8 own[10]; .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n"
        "mov.u32 %r1, own; mov.u32 %r1, dynamic; st.global.u32 [%rd1], %r1; ret; }\n");
    if (module && launch_as(module, "uses", one, (SimtOptions){0}, &report, &error) != SIMT_OK)
        wrong("%s", error.text);
    same("dynamic", "place", *(const uint32_t *)memory_at(out), 16);
    arena_free(&report.arena);
    module_unload(module);
    told("shared memory: the module's, the function's, the kernel's own");
}

static void test_variables(void) {
    static const char text[] =
        HEAD ".global .align 1 .b8 first[3] = {1, 2, 3};\n.global .align 64 .b8 aligned[5];\n"
             ".const .align 4 .u32 table[4] = {10, 20};\n.global .align 4 .u32 word = 7;\n"
             ".global .align 8 .u64 pointers[3] = {table, table+4, generic(word)+8};\n"
             ".global .align 1 .b8 bytes[2] = {0xFF(word), 0xFF00(word)};\n"
             ".shared .align 4 .b8 s[4];\n.const .align 1 .b8 small = 5;\n";
    static const struct {
        const char *name;
        size_t bytes;
    } rows[] = {{"first", 3},     {"aligned", 5}, {"table", 16}, {"word", 4},
                {"pointers", 24}, {"bytes", 2},   {"small", 1}};
    uint64_t address[COUNT(rows)] = {0};
    Module *module = load(text);
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        size_t bytes = 0;
        if (!module_variable(module, rows[k].name, &address[k], &bytes))
            wrong("no %s", rows[k].name);
        same(rows[k].name, "bytes", bytes, rows[k].bytes);
        if (address[k] % 16) wrong("%s is not aligned", rows[k].name);
        if (k && address[k] < address[k - 1] + rows[k - 1].bytes)
            wrong("%s lies in another", rows[k].name);
    }
    uint64_t none;
    size_t bytes;
    if (module) {
        same("aligned", "rest", address[1] % 64, 0);
        same("small", "end", address[6] + 1 <= memory_high, true);
        const uint8_t *first = memory_at(address[0]), *aligned = memory_at(address[1]),
                      *parts = memory_at(address[5]);
        const uint32_t *table = memory_at(address[2]), *word = memory_at(address[3]);
        const uint64_t *pointers = memory_at(address[4]);
        if (first[0] != 1 || first[2] != 3 || table[0] != 10 || table[1] != 20 || table[2] ||
            table[3] || *word != 7)
            wrong("values");
        for (int i = 0; i < 5; i++)
            if (aligned[i]) wrong("what has no value is not 0");
        same("pointers", "0", pointers[0], address[2]);
        same("pointers", "1", pointers[1], address[2] + 4);
        same("pointers", "2", pointers[2], address[3] + 8);
        same("bytes", "0", parts[0], address[3] & 0xff);
        same("bytes", "1", parts[1], address[3] >> 8 & 0xff);
        if (module_variable(module, "s", &none, &bytes) ||
            module_variable(module, "nothing", &none, &bytes))
            wrong("a variable that has no address");
    }
    module_unload(module);
    module = load(HEAD ".const .align 4 .u32 a[5];\n.global .u32 b;\n.const .align 1 .b8 "
                       "c[3];\n.entry k() { ret; }\n");
    KernelInfo info;
    if (module)
        kernel_info(module_kernel(module, "k"), &info),
            same("k", "constant bytes", info.constant_bytes, 23);
    module_unload(module);
    size_t used = memory_used();
    module = load(HEAD ".global .b8 a[1000];\n");
    if (memory_used() < used + 1000) wrong("variables take no memory");
    module_unload(module);
    same("memory", "used", memory_used(), used);
    told("variables: place, value, address");
}

static const struct {
    const char *name, *text;
    SimtStatus status;
    const char *error;
} module_rows[] = {
    {"unknown name", HEAD ".global .u64 a = b;\n", SIMT_INVALID_PTX, "PTX:4: unknown name `b`"},
    {"too much", HEAD ".global .b8 a[4000000000];\n", SIMT_OUT_OF_MEMORY,
     "PTX: no memory for its variables"},
    {"shared", HEAD ".shared .b8 a[1000000000];\n.shared .b8 b[2000000000];\n",
     SIMT_OUT_OF_RESOURCES, "PTX:5: no room for `b`"},
};

static void test_bad_modules(void) {
    for (size_t k = 0; k < COUNT(module_rows); k++) {
        SimtStatus status = SIMT_OK;
        SimtError error = {"not set"};
        Module *module = module_load(str_of(module_rows[k].text), "PTX", &status, &error);
        if (module || status != module_rows[k].status ||
            strcmp(error.text, module_rows[k].error) != 0)
            wrong("%s: status %d: %s", module_rows[k].name, (int)status, error.text);
        module_unload(module);
    }
    told("variables for which there is no room");
}

// Local memory and recursion: f calls itself as often as its argument says and adds what it is
// given.
#define DEEP(bytes)                                                                                \
    HEAD ".func (.param .u32 sum) f(.param .u32 n)\n{\n.local .align 8 .b8 l[" bytes               \
         "];\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"                                               \
         "ld.param.u32 %r1, [n];\nst.local.u32 [l], %r1;\nmov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, " \
         "0;\n@%p1 bra E;\n"                                                                       \
         "sub.u32 %r2, %r1, 1;\n{\n.param .u32 a;\n.param .u32 b;\nst.param.u32 [a], %r2;\n"       \
         "call.uni (b), f, (a);\nld.param.u32 %r3, [b];\n}\nE: ld.local.u32 %r4, [l];\nadd.u32 "   \
         "%r4, %r4, %r3;\n"                                                                        \
         "st.param.u32 [sum], %r4;\nret;\n}\n"                                                     \
         ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 " \
         "%rd1, [p];\n"                                                                            \
         "ld.global.u32 %r1, [%rd1];\n{\n.param .u32 a;\n.param .u32 b;\nst.param.u32 [a], %r1;\n" \
         "call.uni (b), f, (a);\nld.param.u32 %r2, [b];\n}\nst.global.u32 [%rd1+4], "              \
         "%r2;\nret;\n}\n"

static void test_recursion(void) {
    uint32_t *words = memory_at(out);
    SimtError error;
    Module *module = load(DEEP("8"));
    for (uint32_t n = 0; module && n < 31; n += 5) {
        words[0] = n;
        if (launch(module, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, 0, &error) != SIMT_OK)
            wrong("%u: %s", n, error.text);
        same("sum", "to n", words[1], n * (n + 1) / 2);
    }
    module_unload(module);
    told("local memory along calls");
}

// The deepest call of f that there is room for, with so much stack, 0: none is asked for.
static uint32_t deepest(Module *module, size_t stack_bytes) {
    uint32_t *words = memory_at(out), low = 0, high = 100000;
    Launch one = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
    one.stack_bytes = stack_bytes;
    while (low + 1 < high) {
        const uint32_t n = (low + high) / 2;
        LaunchReport report;
        SimtError error;
        words[0] = n;
        const SimtStatus status = launch_as(module, "k", one, (SimtOptions){0}, &report, &error);
        arena_free(&report.arena);
        if (status != SIMT_OK && status != SIMT_STACK_OVERFLOW) wrong("%s", error.text);
        if (status == SIMT_OK && words[1] != n * (n + 1) / 2) wrong("%u calls: %u", n, words[1]);
        if (status == SIMT_OK)
            low = n;
        else
            high = n;
    }
    return low;
}

// One call of f, and as many within it as there is stack: 64 KB at least, 512 KB at most.
static void test_stack(void) {
    Module *module = load(DEEP("8")); // rounded to 16
    if (module) same("f", "calls", deepest(module, 0), 4096);
    if (module) same("f", "calls of 128 KB", deepest(module, (128 << 10) - 8), 8192);
    if (module) same("f", "calls of 1 MB", deepest(module, 1 << 20), 32767);
    module_unload(module);
    module = load(DEEP("16384"));
    if (module) same("f with 16 KB", "calls", deepest(module, 1024), 4);
    if (module) same("f with 16 KB", "calls of 512 KB", deepest(module, 512 << 10), 31);
    module_unload(module);
    module = load(DEEP("524288"));
    if (module) same("f with 512 KB", "calls", deepest(module, 0), 0);
    module_unload(module);
    module = load(HEAD ".visible .entry k(.param .u64 p)\n{\n.local .align 8 .b8 l[524296];\n"
                       "ret;\n}\n");
    SimtError error = {""};
    if (module && launch(module, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, 0, &error) != SIMT_UNSUPPORTED)
        wrong("too much local memory");
    if (!strstr(error.text, ": bytes of local memory per thread: 524304, at most 524288"))
        wrong("%s", error.text);
    module_unload(module);
    told("local memory of recursion");
}

static void test_info(void) {
    Module *module = load(".version 8.1\n.target sm_75\n.address_size 64\n"
                          ".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 "
                          "c[12])\n{\n.local .align 4 .b8 l[20];\n"
                          ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<3>;\nret;\n}\n"
                          ".entry few() .maxntid 96, 1, 1\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                          ".reg .pred %p<3>;\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\n"
                          "mov.u64 %rd1, 1;\nsetp.eq.u32 %p1, %r1, 1;\nret;\n}\n");
    KernelInfo info = {0};
    if (module) {
        kernel_info(module_kernel(module, "k"), &info);
        same("k", "parameters", info.parameter_count, 3);
        static const size_t bytes[] = {1, 8, 12};
        for (size_t k = 0; k < COUNT(bytes); k++)
            same("k", "parameter", info.parameter_bytes[k], bytes[k]);
        same("k", "local bytes", info.local_bytes, 20);
        same("k", "threads", info.max_threads_per_block, 1024);
        same("k", "version", info.ptx_version, 81);
        same("k", "target", info.sm_target, 75);
        if (strcmp(info.mangled, "k") != 0) wrong("its name is %s", info.mangled);
        kernel_info(module_kernel(module, "few"), &info);
        same("few", "threads", info.max_threads_per_block, 96);
        same("few", "registers", info.registers, 16 + (1 + 1 + 2 + 1) / 4);
        if (module_kernel(module, "none")) wrong("a kernel that is not there");
    }
    module_unload(module);
    static char many[100000];
    size_t at = (size_t)snprintf(many, sizeof many, HEAD ".entry k() {\n.reg .b64 %%rd<900>;\n");
    for (int k = 0; k < 900; k++)
        at += (size_t)snprintf(many + at, sizeof many - at, "mov.u64 %%rd%d, 1;\n", k);
    (void)snprintf(many + at, sizeof many - at, "ret;\n}\n");
    module = load(many);
    if (module) kernel_info(module_kernel(module, "k"), &info);
    same("many", "registers", info.registers, 255);
    module_unload(module);
    told("what a kernel says of itself");
}

// A launch that is watched leaves nothing behind for one that is not.
static void test_watched(void) {
    Module *module =
        load(OUT("", ".shared .align 4 .u32 s;\nmov.u32 %r1, %tid.x;\nst.shared.u32 [s], %r1;\n"
                     "bar.warp.sync -1;\nld.shared.u32 %r2, [s];\nst.global.u32 [%rd1], %r2;\n"));
    static const SimtOptions options[] = {
        {0}, {.check = true}, {0}, {.lines = true}, {.check = true, .lines = true}};
    Counters first = {{0}};
    for (size_t k = 0; module && k < COUNT(options); k++) {
        Launch one = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report;
        if (launch_as(module, "k", one, options[k], &report, &error) != SIMT_OK)
            wrong("%zu: %s", k, error.text);
        if (k == 0) first = report.total;
        if (memcmp(&first, &report.total, sizeof first) != 0) wrong("launch %zu counts else", k);
        same("launch", "hazards", report.hazard_count > 0, options[k].check);
        same("launch", "lines", report.line_count > 0, options[k].lines);
        arena_free(&report.arena);
    }
    module_unload(module);
    told("a launch that is watched, one that is not");
}

// What is counted adds up over the rounds of a loop, on the short way and on the long one.
static void test_tallies(void) {
    Module *module = load(OUT(
        ".shared .align 16 .b8 s[1024];\n",
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
        "mul.wide.u32 %rd3, %r1, 64;\nadd.s64 %rd3, %rd1, %rd3;\nshl.b32 %r2, %r1, 2;\n"
        "shl.b32 %r3, %r1, 3;\nmov.u32 %r4, s;\nadd.u32 %r2, %r2, %r4;\nadd.u32 %r3, %r3, %r4;\n"
        "cvt.u64.u32 %rd4, %r3;\ncvta.shared.u64 %rd4, %rd4;\nmov.u32 %r9, 0;\n"
        "L: ld.global.u32 %r5, [%rd2];\nld.global.u32 %r6, [%rd3];\nst.global.u32 [%rd2], %r5;\n"
        "st.global.u32 [%rd3], %r6;\nld.shared.u32 %r5, [%r2];\nld.shared.u32 %r6, [%r3];\n"
        "st.shared.u32 [%r2], %r5;\nst.shared.u32 [%r3], %r6;\nld.u32 %r7, [%rd4];\nld.u32 %r7, "
        "[%rd3];\n"
        "bar.sync 0;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 3;\n@%p1 bra L;\n"));
    static const struct {
        Counter counter;
        uint64_t one_round;
    } rows[] = {{COUNT_GLOBAL_LD_REQUESTS, 3},
                {COUNT_GLOBAL_LD_SECTORS, 4 + 32 + 32},
                {COUNT_GLOBAL_ST_REQUESTS, 2},
                {COUNT_GLOBAL_ST_SECTORS, 4 + 32},
                {COUNT_SHARED_LD_INSTS, 3},
                {COUNT_SHARED_LD_WAVEFRONTS, 1 + 2 + 2},
                {COUNT_SHARED_LD_CONFLICTS, 2},
                {COUNT_SHARED_ST_INSTS, 2},
                {COUNT_SHARED_ST_WAVEFRONTS, 1 + 2},
                {COUNT_SHARED_ST_CONFLICTS, 1},
                {COUNT_BARRIERS, 1}};
    for (int watched = 0; module && watched < 2; watched++) {
        Launch one = {.grid = {5, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report;
        SimtOptions options = {.check = watched, .lines = true};
        if (launch_as(module, "k", one, options, &report, &error) != SIMT_OK)
            wrong("%s", error.text);
        for (size_t k = 0; k < COUNT(rows); k++) {
            uint64_t lines = 0;
            for (size_t i = 0; i < report.line_count; i++)
                lines += report.lines[i].counters.value[rows[k].counter];
            same(counters_names[rows[k].counter], "in all", report.total.value[rows[k].counter],
                 15 * rows[k].one_round);
            same(counters_names[rows[k].counter], "by line", lines, 15 * rows[k].one_round);
        }
        arena_free(&report.arena);
    }
    module_unload(module);
    told("counters add up over rounds and blocks");
}

// A failure says which thread of which block, in three dimensions; what --check found up to that
// block is kept.
static void test_failure(void) {
    Module *module = load(OUT(
        "",
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n"
        "mov.u32 %r4, %tid.x;\nmov.u32 %r5, %tid.y;\nmov.u32 %r6, %tid.z;\n"
        "xor.b32 %r1, %r1, 1;\nxor.b32 %r2, %r2, 2;\nxor.b32 %r3, %r3, 3;\nxor.b32 %r4, %r4, 4;\n"
        "xor.b32 %r5, %r5, 2;\nxor.b32 %r6, %r6, 1;\nor.b32 %r1, %r1, %r2;\nor.b32 %r1, %r1, %r3;\n"
        "or.b32 %r1, %r1, %r4;\nor.b32 %r1, %r1, %r5;\nor.b32 %r1, %r1, %r6;\nsetp.ne.u32 %p1, "
        "%r1, 0;\n"
        "@%p1 bra E;\nmov.u64 %rd2, 64;\nld.global.u32 %r7, [%rd2];\nE: "));
    for (int watched = 0; module && watched < 2; watched++) {
        Launch one = {.grid = {2, 3, 4}, .block = {5, 3, 2}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report;
        SimtOptions options = {.check = watched, .host_threads = 1};
        if (launch_as(module, "k", one, options, &report, &error) != SIMT_ILLEGAL_ADDRESS)
            wrong("it did not fail");
        if (!strstr(error.text, "; block (1,2,3), thread (4,2,1)")) wrong("%s", error.text);
        if (report.hazard_count != (size_t)watched) wrong("%zu hazards", report.hazard_count);
        if (report.hazard_count) {
            const Hazard *hazard = report.hazards;
            same("block", "x", hazard->block.x, 1), same("block", "y", hazard->block.y, 2);
            same("block", "z", hazard->block.z, 3), same("thread", "x", hazard->thread.x, 4);
            same("thread", "y", hazard->thread.y, 2), same("thread", "z", hazard->thread.z, 1);
            same("hazard", "address", hazard->address, 64);
            same("hazard", "occurrences", hazard->occurrences, 0);
        }
        arena_free(&report.arena);
    }
    module_unload(module);
    told("a failure says where");
}

// Hazards of two lines in three blocks: each once, with its place and how often it was found.
static void test_hazards(void) {
    Module *module = load(HEAD ".visible .entry k(.param .u64 p)\n{\n.shared .align 4 .b8 "
                               "s[64];\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
                               "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 5;\n.loc 1 20 "
                               "0\nld.shared.u32 %r2, [s];\nst.shared.u32 [s+16], %r2;\n"
                               ".loc 1 10 0\nld.shared.u32 %r3, [s+4];\n"
                               "st.shared.u32 [s+20], %r3;\n.loc 2 10 0\n@%p1 bra E;\n"
                               "ld.shared.u32 %r4, [s+8];\nst.shared.u32 [s+24], %r4;\n"
                               "E: ret;\n}\n"
                               ".file 1 \"b.cu\"\n.file 2 \"a.cu\"\n");
    static const struct {
        const char *file;
        uint32_t line;
        uint64_t occurrences, address;
        uint32_t thread;
    } rows[] = {{"b.cu", 10, 96, 4, 0}, {"b.cu", 20, 96, 0, 0}, {"a.cu", 10, 3, 8, 5}};
    Launch one = {.grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    SimtError error;
    LaunchReport report = {0};
    if (module &&
        launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error) != SIMT_OK)
        wrong("%s", error.text);
    same("report", "hazards", report.hazard_count, COUNT(rows));
    for (size_t k = 0; k < report.hazard_count && k < COUNT(rows); k++) {
        const Hazard *hazard = &report.hazards[k];
        char advice[64];
        if (strcmp(hazard->kind, "uninitialized read") != 0) wrong("%s", hazard->kind);
        if (!hazard->file || strcmp(hazard->file, rows[k].file) != 0)
            wrong("file %s", hazard->file);
        same(rows[k].file, "line", hazard->line, rows[k].line);
        same(rows[k].file, "occurrences", hazard->occurrences, rows[k].occurrences);
        same(rows[k].file, "address", hazard->address, rows[k].address);
        same(rows[k].file, "thread", hazard->thread.x, rows[k].thread);
        same(rows[k].file, "block", hazard->block.x, 0);
        same(rows[k].file, "other line", hazard->other_line, 0);
        if (!hazard->space || strcmp(hazard->space, "shared") != 0)
            wrong("space %s", hazard->space);
        (void)snprintf(advice, sizeof advice, "thread %u reads shared memory", rows[k].thread);
        if (strncmp(hazard->advice, advice, strlen(advice)) != 0) wrong("%s", hazard->advice);
    }
    arena_free(&report.arena);
    module_unload(module);
    told("hazards: once for each line, counted");
}

// What is said of global memory: thread 5 of block 1 accesses it at the address given.
static void test_global_hazards(void) {
    uint64_t freed = memory_alloc_kind(100, MEMORY_DEVICE),
             room = memory_alloc_kind(1000, MEMORY_DEVICE);
    memory_free(freed);
    struct {
        const char *access, *kind, *advice;
        uint64_t address;
    } rows[] = {
        {"ld.global.u32 %r3, [%rd1];\n", "use after free",
         "thread 5 reads memory that was freed: keep the allocation until the kernel has ended",
         freed + 8},
        {"st.global.u64 [%rd1], %rd1;\n", "out of bounds",
         "thread 5 writes 8 bytes at offset 1000 of an allocation of 1000 bytes: guard the index",
         room + 1000},
        {"ld.global.u64 %rd2, [%rd1];\n", "out of bounds",
         "thread 5 reads 8 bytes at offset 996 of an allocation of 1000 bytes: guard the index",
         room + 996},
        {"atom.global.add.u32 %r3, [%rd1], 1;\n", "out of bounds",
         "thread 5 updates 4 bytes at an address that is not the device's: pass a pointer from "
         "cudaMalloc",
         0},
        {"ld.global.u32 %r3, [%rd1];\n", "misaligned access",
         "thread 5 reads 4 bytes at an address that is no multiple of 4: align it", room + 10},
        {"ld.global.u32 %r3, [%rd1];\n", "uninitialized read",
         "thread 5 reads global memory that nothing has written: fill it first", room + 16}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<3>;\n.reg .b32 %%r<9>;\n"
                 ".reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\nmov.u32 "
                 "%%r2, %%ctaid.x;\n"
                 "setp.ne.u32 %%p1, %%r1, 5;\n@%%p1 bra E;\nsetp.ne.u32 %%p1, %%r2, 1;\n@%%p1 bra "
                 "E;\n%sE: ret;\n}\n",
            rows[k].access);
        Module *module = load(text);
        uint64_t old = out;
        Launch one = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report = {0};
        out = rows[k].address; // the kernel's argument
        if (module) launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error);
        out = old;
        same(rows[k].kind, "hazards", report.hazard_count, 1);
        if (report.hazard_count == 1) {
            const Hazard *hazard = report.hazards;
            if (strcmp(hazard->kind, rows[k].kind) != 0)
                wrong("%s, not %s", hazard->kind, rows[k].kind);
            if (strcmp(hazard->advice, rows[k].advice) != 0) wrong("%s", hazard->advice);
            if (!hazard->space || strcmp(hazard->space, "global") != 0)
                wrong("space %s", hazard->space);
            same(rows[k].kind, "thread", hazard->thread.x, 5);
            same(rows[k].kind, "block", hazard->block.x, 1);
            same(rows[k].kind, "address", hazard->address, rows[k].address);
        }
        arena_free(&report.arena);
        module_unload(module);
    }
    told("hazards of global memory, in words");
}

// Of blocks behind the one that failed nothing is told, in whatever order they ran.
static void test_uncertain(void) {
    Module *module = load(HEAD ".visible .entry k(.param .u64 p)\n{\n.shared .align 4 .b8 "
                               "s[64];\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
                               ".reg .b64 %rd<3>;\n.loc 1 20 0\nld.shared.u32 %r2, [s];\n"
                               "st.shared.u32 [s+4], %r2;\nbar.sync 0;\n"
                               "mov.u32 %r1, %ctaid.x;\n"
                               "setp.ne.u32 %p1, %r1, 3;\n@%p1 bra E;\nmov.u64 %rd2, 64;\n.loc 1 "
                               "30 0\nld.global.u32 %r3, [%rd2];\nE: ret;\n}\n"
                               ".file 1 \"b.cu\"\n");
    size_t alone = 0;
    for (uint64_t seed = 1; module && seed <= 12; seed++) {
        Launch one = {.grid = {8, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report;
        SimtOptions options = {.check = true, .order = seed, .host_threads = 1};
        if (launch_as(module, "k", one, options, &report, &error) != SIMT_ILLEGAL_ADDRESS)
            wrong("it did not fail");
        for (size_t k = 0; k < report.hazard_count; k++)
            if (report.hazards[k].block.x > 3)
                wrong("seed %llu: block %u", (unsigned long long)seed, report.hazards[k].block.x);
        alone += report.hazard_count < 2;
        same("report", "hazards", report.hazard_count > 0, true);
        arena_free(&report.arena);
    }
    if (alone == 12) wrong("no block ran before");
    module_unload(module);
    told("nothing is told of blocks behind the one that failed");
}

// A join takes the place of a path that has ended, and lanes exit below it: the others go on at
// once, and warp 1, which runs behind warp 0, sees that they have.
static void test_reused_path(void) {
    Module *module = load(OUT(
        "",
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
        "setp.ge.u32 %p4, %r1, 32;\n@%p4 bra W;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nmov.u32 "
        "%r2, 1;\nbra M;\n"
        "A: setp.lt.u32 %p2, %r1, 8;\n@%p2 bra B;\nsetp.lt.u32 %p3, %r1, 12;\n@%p3 bra X;\nmov.u32 "
        "%r2, 2;\nbra N;\n"
        "B: mov.u32 %r2, 3;\nN: add.u32 %r2, %r2, 10;\nM: st.global.u32 [%rd2], "
        "%r2;\nst.global.u32 [%rd1+256], 1;\nret;\n"
        "W: ld.global.u32 %r2, [%rd1+256];\nst.global.u32 [%rd2], %r2;\nX: "));
    uint32_t *words = memory_at(out);
    SimtError error;
    memset(words, 0, 260);
    if (module && launch(module, (Dim3){1, 1, 1}, (Dim3){64, 1, 1}, 0, &error) != SIMT_OK)
        wrong("%s", error.text);
    for (uint32_t t = 0; t < 32; t++)
        same("lane", "value", words[t], t < 8 ? 13 : t < 12 ? 0 : t < 16 ? 12 : 1);
    for (uint32_t t = 32; t < 64; t++) same("lane of warp 1", "value", words[t], 1);
    module_unload(module);
    told("lanes exit below a join in the first path's place");
}

// The system's shared memory: behind the program's, never at 0, all zero, 1 KiB.
static void test_reserved(void) {
    static const uint32_t shared[] = {0, 1, 127, 128, 300}, begins[] = {128, 128, 128, 256, 384};
    Module *module = load(OUT(
        "", "mov.u32 %r1, %reserved_smem_offset_begin;\nst.global.u32 [%rd1], %r1;\n"
            "mov.u32 %r2, %reserved_smem_offset_end;\nst.global.u32 [%rd1+4], %r2;\nld.shared.u32 "
            "%r3, [%r1];\n"
            "ld.shared.u32 %r4, [%r2+-4];\nor.b32 %r3, %r3, %r4;\nst.global.u32 [%rd1+8], %r3;\n"));
    Module *beyond =
        load(OUT("", "mov.u32 %r2, %reserved_smem_offset_end;\nld.shared.u32 %r3, [%r2];\n"));
    const uint32_t *words = memory_at(out);
    SimtError error;
    for (size_t k = 0; module && k < COUNT(shared); k++) {
        if (launch(module, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, shared[k], &error) != SIMT_OK)
            wrong("%s", error.text);
        same("it", "begins", words[0], begins[k]);
        same("it", "ends", words[1], begins[k] + 1024);
        same("it", "holds", words[2], 0);
    }
    if (beyond &&
        launch(beyond, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, 0, &error) != SIMT_ILLEGAL_ADDRESS)
        wrong("it has no end");
    module_unload(module);
    module_unload(beyond);
    told("the system's shared memory");
}

// Lanes that a mask names meet where they are on different paths, while others are elsewhere.
static void test_partial_meeting(void) {
    Module *module =
        load(OUT("", "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                     "mov.u32 %r2, 100;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra B;\nsetp.lt.u32 %p2, "
                     "%r1, 8;\n@%p2 bra C;\n"
                     "shfl.sync.bfly.b32 %r2, %r1, 8, 31, 0xffff;\nbra B;\nC: shfl.sync.bfly.b32 "
                     "%r2, %r1, 8, 31, 0xffff;\n"
                     "B: st.global.u32 [%rd2], %r2;\n"));
    uint32_t *words = memory_at(out);
    SimtError error;
    memset(words, 0, 128);
    if (module && launch(module, (Dim3){1, 1, 1}, (Dim3){32, 1, 1}, 0, &error) != SIMT_OK)
        wrong("%s", error.text);
    for (uint32_t t = 0; t < 32; t++) same("lane", "value", words[t], t < 16 ? t ^ 8 : 100);
    module_unload(module);
    told("some lanes meet on different paths");
}

// Lanes wait for all; one of the warp ends elsewhere, behind them and without a join.
static void test_awaited_end(void) {
    Module *module =
        load(OUT("", "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                     "setp.eq.u32 %p1, %r1, 5;\n@%p1 bra A;\nbar.warp.sync -1;\n"
                     "st.global.u32 [%rd2], 7;\nret;\nA: st.global.u32 [%rd2], 8;\n"));
    uint32_t *words = memory_at(out);
    SimtError error;
    memset(words, 0, 128);
    if (module && launch(module, (Dim3){1, 1, 1}, (Dim3){32, 1, 1}, 0, &error) != SIMT_OK)
        wrong("%s", error.text);
    for (uint32_t t = 0; t < 32; t++) same("lane", "value", words[t], t == 5 ? 8 : 7);
    module_unload(module);
    told("lanes that wait for one that ends");
}

// Four blocks of 2 MiB of local memory each, of which each waits for the next one: all are there.
static void test_residents(void) {
    Module *module =
        load(OUT("", ".local .align 4 .b8 l[16384];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r3, 1;\n"
                     "st.local.u32 [l], %r3;\nmul.wide.u32 %rd2, %r1, 4;\n"
                     "add.s64 %rd2, %rd1, %rd2;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra E;\n"
                     "L: ld.volatile.global.u32 %r2, [%rd2+4];\nsetp.eq.u32 %p2, %r2, 0;\n"
                     "@%p2 bra L;\nE: st.volatile.global.u32 [%rd2], %r3;\n"));
    uint32_t *words = memory_at(out);
    SimtError error;
    memset(words, 0, 16);
    if (module && launch(module, (Dim3){4, 1, 1}, (Dim3){128, 1, 1}, 0, &error) != SIMT_OK)
        wrong("%s", error.text);
    module_unload(module);
    told("blocks that wait for later ones");
}

static size_t pages_held(void) {
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0', fclose(file);
    char *end = strchr(text, ' ');
    return end ? strtoul(end, NULL, 10) : 0;
}

// Local memory holds what nothing has written in every block, and is given back behind the launch.
static void test_local(void) {
    Module *module =
        load(OUT("", ".local .align 4 .b8 l[65536];\nmov.u32 %r1, %ctaid.x;\n"
                     "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                     "ld.local.u32 %r2, [l+400];\nst.global.u32 [%rd2], %r2;\nmov.u32 %r3, 5;\n"
                     "st.local.u32 [l+400], %r3;\n"));
    const uint32_t *words = memory_at(out);
    size_t before = pages_held();
    for (int k = 0; module && k < 20; k++) { // 4 MiB each
        LaunchReport report;
        SimtError error;
        Launch one = {.grid = {2, 1, 1}, .block = {64, 1, 1}, .cluster = {1, 1, 1}};
        if (launch_as(module, "k", one, (SimtOptions){.host_threads = 1}, &report, &error) !=
            SIMT_OK)
            wrong("%s", error.text);
        arena_free(&report.arena);
    }
    size_t grown = pages_held() - before;
    same("block 0", "local memory", words[0], 0xffffffff);
    same("block 1", "local memory", words[1], 0xffffffff);
    if (before && (ssize_t)grown > 32 << 8) wrong("%zu pages are not given back", grown);
    module_unload(module);
    told("local memory");
}

// Generic addresses are checked in the memory they lead to.
static void test_generic_hazards(void) {
    Module *module =
        load(OUT("", ".shared .align 4 .b8 s[64];\nmov.u32 %r1, s;\ncvt.u64.u32 %rd2, %r1;\n"
                     "cvta.shared.u64 %rd2, %rd2;\nld.u32 %r2, [%rd2+8];\nst.u32 [%rd2], %r2;\n"));
    Launch one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    SimtError error;
    LaunchReport report = {0};
    if (module &&
        launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error) != SIMT_OK)
        wrong("%s", error.text);
    same("report", "hazards", report.hazard_count, 1);
    for (size_t k = 0; k < report.hazard_count; k++) {
        if (strcmp(report.hazards[k].kind, "uninitialized read") != 0)
            wrong("%s", report.hazards[k].kind);
        if (strcmp(report.hazards[k].space, "shared") != 0)
            wrong("space %s", report.hazards[k].space);
    }
    arena_free(&report.arena);
    module_unload(module);
    told("hazards at generic addresses");
}

// A whole warp reads 32 bytes in a row; each of them is written, or one of them is not.
static void test_missing_byte(void) {
    Module *module =
        load(OUT("", "mov.u32 %r1, %tid.x;\ncvt.u64.u32 %rd2, %r1;\nadd.s64 %rd2, %rd1, %rd2;\n"
                     "ld.global.u8 %r2, [%rd2];\n"));
    uint64_t old = out;
    for (uint32_t missing = 0; module && missing <= 32; missing++) {
        out = memory_alloc_kind(32, MEMORY_DEVICE); // the kernel's argument
        memory_written(out, missing);
        if (missing < 32) memory_written(out + missing + 1, 31 - missing);
        Launch one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report = {0};
        if (launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error) != SIMT_OK)
            wrong("%s", error.text);
        same("report", "hazards", report.hazard_count, missing < 32);
        if (report.hazard_count) same("hazard", "address", report.hazards->address - out, missing);
        arena_free(&report.arena);
        memory_free(out);
    }
    out = old;
    module_unload(module);
    told("the byte that nothing has written");
}

// Lines are told in order, also of neighbours, whatever their places in a table.
static void test_line_order(void) {
    for (int file = 0; file < 16; file++) {
        static char text[8192];
        size_t at = (size_t)snprintf(text, sizeof text, HEAD ".visible .entry k()\n{\n");
        at += (size_t)snprintf(text + at, sizeof text - at, ".reg .b32 %%r<2>;\n");
        for (int line = 1; line <= 100; line++)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   ".loc 1 %d 0\nmov.u32 %%r1, %%tid.x;\n", line);
        (void)snprintf(text + at, sizeof text - at, "ret;\n}\n.file 1 \"%d.cu\"\n", file);
        Module *module = load(text);
        Launch one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report = {0};
        if (module &&
            launch_as(module, "k", one, (SimtOptions){.lines = true}, &report, &error) != SIMT_OK)
            wrong("%s", error.text);
        same("report", "lines", report.line_count, 100);
        for (uint32_t k = 0; k < report.line_count && !trouble[0]; k++)
            same("report", "line", report.lines[k].line, k + 1);
        arena_free(&report.arena);
        module_unload(module);
    }
    told("lines in order");
}

// What lane 2 knows of lane 0 stays what it was when lanes 0 and 1 meet: its write to the first
// word, behind which they met, and not the one to the second word.
static void test_lanes_apart(void) {
    Module *module =
        load(OUT(".shared .align 4 .b8 s[8];\n",
                 "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 2;\n"
                 "setp.eq.u32 %p3, %r1, 1;\nor.pred %p4, %p1, %p2;\nor.pred %p5, %p1, %p3;\n"
                 "@%p1 st.shared.u32 [s], %r1;\n@%p4 bar.warp.sync 5;\n@%p5 bar.warp.sync 3;\n"
                 "@%p2 ld.shared.u32 %r2, [s];\n@%p1 st.shared.u32 [s+4], %r1;\n"
                 "@%p2 ld.shared.u32 %r2, [s+4];\n"));
    Launch one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    SimtError error;
    LaunchReport report = {0};
    if (module &&
        launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error) != SIMT_OK)
        wrong("%s", error.text);
    same("report", "hazards", report.hazard_count, 1);
    for (size_t k = 0; k < report.hazard_count; k++) {
        if (strcmp(report.hazards[k].kind, "race") != 0) wrong("%s", report.hazards[k].kind);
        same("hazard", "address", report.hazards[k].address, 4);
    }
    arena_free(&report.arena);
    module_unload(module);
    told("lanes of a warp that meet in pairs");
}

// A flag that lane 2 sets tells of what lane 1 has written only behind a meeting of the two.
static void test_told_further(void) {
    static const char *const meeting[] = {"", "@%p3 bar.warp.sync 6;\n"};
    for (int met = 0; met < 2; met++) {
        char text[2048];
        (void)snprintf(
            text, sizeof text, "%s%s%s",
            HEAD ".visible .entry k(.param .u64 p)\n{\n.shared .align 4 .b8 s[8];\n"
                 ".reg .pred %p<9>;\n.reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\n"
                 "setp.eq.u32 %p1, %r1, 1;\nsetp.eq.u32 %p2, %r1, 2;\nor.pred %p3, %p1, %p2;\n"
                 "@%p1 st.shared.u32 [s+4], 0;\nbar.sync 0;\nsetp.ge.u32 %p4, %r1, 32;\n"
                 "@%p4 bra W;\n@%p1 st.shared.u32 [s], 7;\n",
            meeting[met],
            "@%p2 st.release.cta.shared.u32 [s+4], 1;\nret;\n"
            "W: setp.ne.u32 %p5, %r1, 32;\n@%p5 bra E;\n"
            "L: ld.acquire.cta.shared.u32 %r2, [s+4];\nsetp.eq.u32 %p6, %r2, 0;\n@%p6 bra L;\n"
            "ld.shared.u32 %r3, [s];\nE: ret;\n}\n");
        Module *module = load(text);
        Launch one = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error;
        LaunchReport report = {0};
        if (module &&
            launch_as(module, "k", one, (SimtOptions){.check = true}, &report, &error) != SIMT_OK)
            wrong("%s", error.text);
        same(met ? "met" : "not met", "hazards", report.hazard_count, !met);
        arena_free(&report.arena);
        module_unload(module);
    }
    told("a flag tells of lanes that met the one that sets it");
}

// --- memory that is not there ---

static long allocations_left = -1; // negative: no end

static bool refused(void) { return allocations_left >= 0 && allocations_left-- == 0; }

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes) { return refused() ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t size) { return refused() ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t bytes) { return refused() ? NULL : __libc_realloc(old, bytes); }

// One allocation of a launch that is checked fails, each in turn: it says so, or loses nothing.
static void test_refused(void) {
    Module *module = load(OUT(".shared .align 4 .b8 s[8];\n",
                              "ld.shared.u32 %r2, [s];\nst.shared.u32 [s+4], %r2;\n"));
    long tried = 0, failed = 0;
    for (bool ended = false; module && !ended && !trouble[0]; tried++) {
        Launch one = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        SimtError error = {""};
        LaunchReport report = {0};
        allocations_left = tried;
        SimtOptions options = {.check = true, .host_threads = 1};
        SimtStatus status = launch_as(module, "k", one, options, &report, &error);
        ended = allocations_left >= 0;
        allocations_left = -1;
        failed += status != SIMT_OK;
        if (status == SIMT_OK && report.hazard_count != 1) wrong("allocation %ld: lost", tried);
        if (status != SIMT_OK && status != SIMT_OUT_OF_MEMORY)
            wrong("allocation %ld: status %d", tried, (int)status);
        if (status != SIMT_OK && !error.text[0]) wrong("allocation %ld: nothing said", tried);
        arena_free(&report.arena);
    }
    if (failed < 5) wrong("%ld allocations, %ld failed", tried, failed);
    module_unload(module);
    told("memory that is not there in a launch that is checked");
}

#define TRACE_HEAD                                                                                 \
    "kernel,launch,block,warp,pc_line,space,op,bytes,lane,address,value,file,other_thread,"        \
    "other_line,other_file"

// Of a trace that is checked, and of what a warp does by itself: three lanes store, read the next
// one's word, meet, and shuffle.
static void test_trace_checked(void) {
    Module *module = load(HEAD ".visible .entry k(.param .u64 p)\n{\n.shared .align 8 .b8 s[512];\n"
                               ".reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                               ".loc 1 12 0\nst.shared.u32 [%r2], %r1;\n"
                               ".loc 1 13 0\nxor.b32 %r3, %r2, 4;\nld.shared.u32 %r4, [%r3];\n"
                               ".loc 1 14 0\nbar.warp.sync 3;\n"
                               ".loc 1 15 0\nshfl.sync.down.b32 %r5, %r1, 1, 1, 3;\n"
                               "ret;\n}\n.file 1 \"a.cu\"\n");
    static const char *const rows[] = {"12,shared,store,4,0,0,00000000,a.cu,,,",
                                       "12,shared,store,4,1,4,00000001,a.cu,,,",
                                       "13,shared,load,4,0,4,00000001,a.cu,,,",
                                       "13,shared,load,4,1,0,00000000,a.cu,,,",
                                       "13,shared,race,0,0,4,,a.cu,1,12,a.cu",
                                       "13,shared,race,0,1,0,,a.cu,0,12,a.cu",
                                       "14,warp,syncwarp,0,0,0,,a.cu,,,",
                                       "14,warp,syncwarp,0,1,0,,a.cu,,,",
                                       "15,warp,shuffle,4,0,0,00000000,a.cu,1,15,a.cu",
                                       "15,warp,shuffle,4,1,0,00000001,a.cu,1,15,a.cu"};
    const size_t count = sizeof rows / sizeof *rows;
    char path[] = "/tmp/trace-of-races-XXXXXX", line[256];
    int made = mkstemp(path);
    if (made < 0) wrong("no file");
    close(made);
    SimtError error;
    LaunchReport report;
    Launch one = {.grid = {2, 1, 1}, .block = {2, 1, 1}, .cluster = {1, 1, 1}};
    if (module && launch_as(module, "k", one, (SimtOptions){.path = path, .check = true}, &report,
                            &error) != SIMT_OK)
        wrong("%s", error.text);
    if (report.hazard_count != 1) wrong("%zu hazards", report.hazard_count);
    arena_free(&report.arena);
    FILE *file = fopen(path, "r");
    size_t k = 0;
    for (; file && fgets(line, sizeof line, file); k++) {
        const char *row = strstr(line, ",0,0,"); // behind the kernel and the launch
        line[strcspn(line, "\n")] = '\0';
        if (!row || k >= count || strcmp(row + 5, rows[k]) != 0) wrong("row %zu: %s", k, line);
    }
    if (file) fclose(file);
    if (k != count) wrong("%zu rows", k);
    remove(path);
    module_unload(module);
    told("a trace with checks: races, lanes that meet, shuffles");
}

// The rows of a trace: shared memory and barriers of block 0, launch behind launch in one file.
static void test_trace(void) {
    Module *module = load(HEAD ".visible .entry k(.param .u64 p)\n{\n.shared .align 8 .b8 "
                               "s[512];\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n"
                               ".reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, "
                               "%tid.x;\nsetp.lt.u32 %p1, %r1, 31;\nshl.b32 %r2, %r1, 3;\n"
                               ".loc 1 12 0\n@%p1 bra L;\nst.shared.v2.u32 [%r2], {%r1, "
                               "%r1};\nst.global.u32 [%rd1], %r1;\nL: "
                               ".loc 1 13 0\nbar.sync 0;\n.loc 1 14 0\n@%p1 bra E;\nld.shared.u32 "
                               "%r3, [%r2+4];\natom.shared.add.u32 %r3, [%r2], 1;\n"
                               "E: ret;\n}\n.file 1 \"a.cu\"\n");
    char path[] = "/tmp/trace-of-launches-XXXXXX", text[2048], want[2048];
    int made = mkstemp(path);
    if (made < 0) wrong("no file");
    close(made);
    SimtError error;
    unsigned long long first = 0;
    size_t length = 0, at = 0;
    for (int k = 0; module && k < 2; k++) {
        LaunchReport report;
        Launch one = {.grid = {2, 1, 1}, .block = {33, 1, 1}, .cluster = {1, 1, 1}};
        if (launch_as(module, "k", one, (SimtOptions){.path = path}, &report, &error) != SIMT_OK)
            wrong("%s", error.text);
        arena_free(&report.arena);
    }
    FILE *file = fopen(path, "r");
    if (file) length = fread(text, 1, sizeof text - 1, file), fclose(file);
    text[length] = '\0';
    (void)sscanf(text, TRACE_HEAD " k,%llu,", &first);
    at = (size_t)snprintf(want, sizeof want, TRACE_HEAD "\n");
    for (unsigned long long k = first; k < first + 2; k++)
        at += (size_t)snprintf(want + at, sizeof want - at,
                               "k,%llu,0,0,12,shared,store,8,31,248,0000001f0000001f,a.cu,,,\n"
                               "k,%llu,0,0,13,barrier,barrier,0,0,0,,a.cu,,,\n"
                               "k,%llu,0,1,12,shared,store,8,0,256,0000002000000020,a.cu,,,\n"
                               "k,%llu,0,1,13,barrier,barrier,0,0,0,,a.cu,,,\n"
                               "k,%llu,0,,,barrier,complete,0,,0,,,,,\n"
                               "k,%llu,0,1,14,shared,load,4,0,260,00000020,a.cu,,,\n"
                               "k,%llu,0,1,14,shared,atomic,4,0,256,00000020,a.cu,,,\n"
                               "k,%llu,0,0,14,shared,load,4,31,252,0000001f,a.cu,,,\n"
                               "k,%llu,0,0,14,shared,atomic,4,31,248,0000001f,a.cu,,,\n",
                               k, k, k, k, k, k, k, k, k);
    if (strcmp(text, want) != 0) wrong("%s", text);
    remove(path);
    LaunchReport report;
    Launch one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    if (module && (launch_as(module, "k", one, (SimtOptions){.path = "/dev/full"}, &report,
                             &error) != SIMT_OUT_OF_RESOURCES ||
                   strcmp(error.text, "cannot write /dev/full") != 0))
        wrong("a full disk: %s", error.text);
    arena_free(&report.arena);
    if (module && (launch_as(module, "k", one, (SimtOptions){.path = "/none/trace"}, &report,
                             &error) != SIMT_OUT_OF_RESOURCES ||
                   strcmp(error.text, "/none/trace: No such file or directory") != 0))
        wrong("no folder: %s", error.text);
    arena_free(&report.arena);
    module_unload(module);
    told("the rows of a trace");
}

int main(void) {
    if (!memory_open((size_t)1 << 30)) return 1;
    out = memory_alloc_kind(1 << 16, MEMORY_DEVICE);
    test_limits();
    test_bounds_of_kernels();
    test_places();
    test_shared();
    test_variables();
    test_bad_modules();
    test_recursion();
    test_stack();
    test_info();
    if (!memory_track()) return 1;
    test_watched();
    test_tallies();
    test_failure();
    test_hazards();
    test_global_hazards();
    test_uncertain();
    test_reused_path();
    test_reserved();
    test_partial_meeting();
    test_awaited_end();
    test_residents();
    test_local();
    test_generic_hazards();
    test_missing_byte();
    test_line_order();
    test_lanes_apart();
    test_told_further();
    test_refused();
    test_trace();
    test_trace_checked();
    return 0;
}

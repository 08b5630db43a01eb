// Tests modules, kernels and launches through the device's own interface: the place and value of
// variables, the limits of a launch to the last thread and byte, traces. Prints `ok NAME` or
// `not ok NAME` with what was wrong below it.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "launch.h"

static const Launch ONE = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {1, 1, 1}};

// --- launches ---

static const struct {
    const char *name, *shape; // of grid, block and cluster; bytes of shared memory
    const char *error;        // its beginning
} launch_rows[] = {
    {"one thread", "1 1 1, 1 1 1, 1 1 1, 0", ""},
    {"no blocks in x", "0 1 1, 1 1 1, 1 1 1, 0", "a dimension of the launch is 0"},
    {"no blocks in y", "1 0 1, 1 1 1, 1 1 1, 0", "a dimension of the launch is 0"},
    {"no blocks in z", "1 1 0, 1 1 1, 1 1 1, 0", "a dimension of the launch is 0"},
    {"no threads in x", "1 1 1, 0 1 1, 1 1 1, 0", "a dimension of the launch is 0"},
    {"no threads in y", "1 1 1, 1 0 1, 1 1 1, 0", "a dimension of the launch is 0"},
    {"no threads in z", "1 1 1, 1 1 0, 1 1 1, 0", "a dimension of the launch is 0"},
    {"1024 threads", "1 1 1, 1024 1 1, 1 1 1, 0", ""},
    {"1024 threads in space", "1 1 1, 8 8 16, 1 1 1, 0", ""},
    {"1025 threads", "1 1 1, 1025 1 1, 1 1 1, 0", "threads per block: 1025, at most 1024"},
    {"threads in space", "1 1 1, 8 8 17, 1 1 1, 0", "threads per block: 1088, at most 1024"},
    {"a product of 33 bits", "1 1 1, 65536 65536 2, 1 1 1, 0", "threads per block: "},
    {"a product of 64 bits", "1 1 1, 2147483648 2147483648 4, 1 1 1, 0", "threads per block: "},
    {"64 in z", "1 1 1, 1 1 64, 1 1 1, 0", ""},
    {"65 in z", "1 1 1, 1 1 65, 1 1 1, 0", "block z: 65, at most 64"},
    {"65535 blocks in y", "1 65535 1, 1 1 1, 1 1 1, 0", ""},
    {"65536 blocks in y", "1 65536 1, 1 1 1, 1 1 1, 0", "the grid is too large"},
    {"65535 blocks in z", "1 1 65535, 1 1 1, 1 1 1, 0", ""},
    {"65536 blocks in z", "1 1 65536, 1 1 1, 1 1 1, 0", "the grid is too large"},
    {"65536 blocks in x", "65536 1 1, 1 1 1, 1 1 1, 0", ""},
    {"2^31 blocks in x", "2147483648 1 1, 1 1 1, 1 1 1, 0", "the grid is too large"},
    {"a cluster", "2 1 1, 1 1 1, 2 1 1, 0", ""},
    {"a cluster in z", "1 1 2, 1 1 1, 1 1 2, 0", ""},
    {"a cluster of nothing", "1 1 1, 1 1 1, 0 0 0, 0",
     "a grid of 1x1x1 blocks has no clusters of 0x0x0"},
    {"a grid of one and a half", "1 3 1, 1 1 1, 1 2 1, 0",
     "a grid of 1x3x1 blocks has no clusters of 1x2x1"},
    {"the largest cluster", "4 2 2, 1 1 1, 4 2 2, 0", ""},
    {"a larger one", "17 1 1, 1 1 1, 17 1 1, 0",
     "a grid of 17x1x1 blocks has no clusters of 17x1x1"},
    {"all shared memory", "1 1 1, 1 1 1, 1 1 1, 232348", ""},
    {"a byte more", "1 1 1, 1 1 1, 1 1 1, 232349",
     "bytes of shared memory per block: 232449, at most 232448"},
    {"a sum of 33 bits", "1 1 1, 1 1 1, 1 1 1, 4294967295", "bytes of shared memory per block: "},
};

static void test_limits(void) {
    load(OUT("", ".shared .align 4 .b8 s[100];\nst.shared.u32 [s], 1;\n"));
    for (size_t k = 0; k < COUNT(launch_rows); k++) {
        const char *want = launch_rows[k].error;
        Launch l = {0};
        if (sscanf(launch_rows[k].shape, "%u %u %u, %u %u %u, %u %u %u, %u", &l.grid.x, &l.grid.y,
                   &l.grid.z, &l.block.x, &l.block.y, &l.block.z, &l.cluster.x, &l.cluster.y,
                   &l.cluster.z, &l.dynamic_shared_bytes) != 10)
            wrong("%s: its shape", launch_rows[k].name);
        const SimtStatus status = launched_as("k", l, PLAIN);
        const SimtStatus wanted = !want[0]                         ? SIMT_OK
                                  : strncmp(want, "bytes", 5) == 0 ? SIMT_OUT_OF_RESOURCES
                                                                   : SIMT_INVALID_CONFIG;
        if (status != wanted || strncmp(error.text, want, strlen(want)) != 0 ||
            (!want[0] && error.text[0]))
            wrong("%s: status %d: %s", launch_rows[k].name, (int)status, error.text);
    }
    done("limits of a launch");
}

static void test_bounds_of_kernels(void) {
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
    load(HEAD ".entry exact() .reqntid 4, 2, 3 { ret; }\n"
              ".entry most() .maxntid 64, 2, 1 { ret; }\n"
              ".entry more() .maxntid 2048, 1, 1 { ret; }\n");
    for (size_t k = 0; k < COUNT(rows); k++) {
        Launch one = ONE;
        one.block = rows[k].block;
        const SimtStatus status = launched_as(rows[k].kernel, one, PLAIN);
        if ((status == SIMT_OK) != (rows[k].error[0] == '\0')) wrong("status %d", (int)status);
        same_text(rows[k].kernel, error.text, rows[k].error);
    }
    done("bounds that a kernel sets");
}

// Special registers: thread i of the grid, x first, stores a number made of tid, ctaid and sizes.
static void test_places(void) {
    static const struct {
        Dim3 grid, block;
    } rows[] = {{{1, 1, 1}, {33, 1, 1}},
                {{2, 3, 4}, {5, 3, 2}},
                {{3, 1, 2}, {1, 7, 5}},
                {{4, 2, 1}, {32, 2, 3}}};
    load(OUT("",
             "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
             "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ctaid.y;\nmov.u32 %r6, %ctaid.z;\n"
             "mov.u32 %r7, %ntid.x;\nmov.u32 %r8, %ntid.y;\nmov.u32 %r9, %ntid.z;\n"
             "mov.u32 %r10, %nctaid.x;\nmov.u32 %r11, %nctaid.y;\n"
             "mad.lo.u32 %r12, %r3, %r8, %r2;\nmad.lo.u32 %r12, %r12, %r7, %r1;\n"   // in the block
             "mad.lo.u32 %r13, %r6, %r11, %r5;\nmad.lo.u32 %r13, %r13, %r10, %r4;\n" // the block
             "mul.lo.u32 %r14, %r7, %r8;\nmul.lo.u32 %r14, %r14, %r9;\n"
             "mad.lo.u32 %r15, %r13, %r14, %r12;\nmul.wide.u32 %rd2, %r15, 4;\n"
             "add.s64 %rd2, %rd1, %rd2;\natom.global.add.u32 %r16, [%rd2], 1;\n"));
    for (size_t k = 0; k < COUNT(rows); k++) {
        const Dim3 grid = rows[k].grid, block = rows[k].block;
        const uint32_t all = grid.x * grid.y * grid.z * block.x * block.y * block.z;
        memset(words, 0, 65536);
        if (launched(grid, block, PLAIN) != SIMT_OK) wrong("%s", error.text);
        for (uint32_t i = 0; i < 16384; i++)
            if (words[i] != (i < all))
                wrong("shape %zu: place %u was taken %u times", k, i, words[i]);
    }
    done("special registers of every thread");
}

// --- memory that a kernel needs ---

// Variables are placed as ptxas does: a kernel's own before a and b of the module, if it uses them,
// and those of the functions that it calls. Dynamic shared memory may begin where all these end.
static void test_shared(void) {
    static const struct {
        const char *kernel;
        size_t bytes;
    } rows[] = {{"none", 32}, {"uses", 32}, {"calls", 32}, {"empty", 0}, {"both", 32}};
    static const uint32_t places[] = {12, 24, 0, 32, 7};
    Launch one = ONE;
    one.dynamic_shared_bytes = 7;
    load(HEAD
         ".shared .align 4 .b8 a[12];\n.shared .align 8 .b8 b[4];\n"
         ".extern .shared .align 32 .b8 dynamic[];\n.func f() { .shared .align 4 .b8 inner[8];\n"
         ".reg .b32 %r<2>; ld.shared.u32 %r1, [inner]; ret; }\n.entry none() {\n"
         ".shared .align 16 .b8 own[10]; .reg .b32 %r<2>; ld.shared.u32 %r1, [own]; ret; }\n"
         ".entry uses(.param .u64 p) { .shared .align 16 .b8 own[10]; .reg .b32 %r<2>;\n"
         ".reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\nmov.u32 %r1, a; st.global.u32 [%rd1], %r1;\n"
         "mov.u32 %r1, b; st.global.u32 [%rd1+4], %r1;\n"
         "mov.u32 %r1, own; st.global.u32 [%rd1+8], %r1;\n"
         "mov.u32 %r1, dynamic; st.global.u32 [%rd1+12], %r1;\n"
         "mov.u32 %r1, %dynamic_smem_size; st.global.u32 [%rd1+16], %r1;\n"
         "mov.u32 %r1, %total_smem_size; st.global.u32 [%rd1+20], %r1; ret; }\n"
         ".entry calls() { call f; ret; }\n.entry empty() { ret; }\n"
         ".entry both() { .shared .align 4 .b8 own[3]; .shared .align 2 .b8 more[2]; ret; }\n");
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        KernelInfo info;
        kernel_info(module_kernel(module, rows[k].kernel), &info);
        same(rows[k].kernel, "bytes", info.static_shared_bytes, rows[k].bytes);
    }
    if (launched_as("uses", one, PLAIN) != SIMT_OK) wrong("%s", error.text);
    for (size_t k = 0; k < COUNT(places); k++) same("uses", "place", words[k], places[k]);
    load(HEAD ".extern .shared .align 4 .b8 dynamic[];\n.entry uses(.param .u64 p) {\n"
              ".shared .align 4 .b8 own[10]; .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
              "ld.param.u64 %rd1, [p]; mov.u32 %r1, own; mov.u32 %r1, dynamic;\n"
              "st.global.u32 [%rd1], %r1; ret; }\n");
    if (launched_as("uses", one, PLAIN) != SIMT_OK) wrong("%s", error.text);
    same("dynamic", "place", words[0], 16);
    done("shared memory: the module's, the function's, the kernel's own");
}

static void test_variables(void) {
    static const struct {
        const char *name;
        size_t bytes;
    } rows[] = {{"first", 3}, {"aligned", 5}, {"table", 16}, {"word", 4},  {"pointers", 24},
                {"bytes", 2}, {"small", 1},   {"rows", 32},  {"flat", 32}, {"cubes", 48}};
    uint64_t address[COUNT(rows)] = {0}, none;
    size_t bytes = 0;
    load(HEAD ".global .align 1 .b8 first[3] = {1, 2, 3};\n.global .align 64 .b8 aligned[5];\n"
              ".const .align 4 .u32 table[4] = {10, 20};\n.global .align 4 .u32 word = 7;\n"
              ".global .align 8 .u64 pointers[3] = {table, table+4, generic(word)+8};\n"
              ".global .align 1 .b8 bytes[2] = {0xFF(word), 0xFF00(word)};\n"
              ".shared .align 4 .b8 s[4];\n.const .align 1 .b8 small = 5;\n"
              ".global .align 16 .u32 rows[][4] = {{1}, {2}};\n"
              ".global .align 16 .u32 flat[][4] = {1, 2, 3, 4, 5};\n"
              ".global .align 16 .u32 cubes[][3][2] = {{{1}, {3, 4}, {5}}, {{7}}};\n");
    for (size_t k = 0; module && k < COUNT(rows); k++) {
        if (!module_variable(module, rows[k].name, &address[k], &bytes))
            wrong("no %s", rows[k].name);
        same(rows[k].name, "bytes", bytes, rows[k].bytes);
        if (address[k] % 16) wrong("%s is not aligned", rows[k].name);
        for (size_t j = 0; j < k; j++)
            if (address[k] < address[j] + rows[j].bytes && address[j] < address[k] + rows[k].bytes)
                wrong("%s overlaps %s", rows[k].name, rows[j].name);
    }
    if (module) {
        same("aligned", "rest", address[1] % 64, 0);
        same("small", "end", address[6] + 1 <= memory_high, true);
        const uint8_t *first = memory_at(address[0]), *aligned = memory_at(address[1]),
                      *parts = memory_at(address[5]);
        const uint32_t *table = memory_at(address[2]), *word = memory_at(address[3]);
        const uint64_t *pointers = memory_at(address[4]);
        const uint32_t *in_rows = memory_at(address[7]), *flat = memory_at(address[8]),
                       *cubes = memory_at(address[9]);
        if (in_rows[0] != 1 || in_rows[1] || in_rows[4] != 2 || in_rows[7] || flat[4] != 5 ||
            flat[7] || cubes[2] != 3 || cubes[4] != 5 || cubes[6] != 7 || cubes[11])
            wrong("rows");
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
    load(HEAD ".const .align 4 .u32 a[5];\n.global .u32 b;\n.const .align 1 .b8 c[3];\n"
              ".entry k() { ret; }\n");
    KernelInfo info = {0};
    if (module) kernel_info(module_kernel(module, "k"), &info);
    same("k", "constant bytes", info.constant_bytes, 23);
    module_unload(module), module = NULL;
    const size_t used = memory_used();
    load(HEAD ".global .b8 a[1000];\n");
    if (memory_used() < used + 1000) wrong("variables take no memory");
    module_unload(module), module = NULL;
    same("memory", "used", memory_used(), used);
    done("variables: place, value, address");
}

static void test_bad_modules(void) {
    static const struct {
        const char *text;
        SimtStatus status;
        const char *error;
    } rows[] = {
        {HEAD ".global .u64 a = b;\n", SIMT_INVALID_PTX, "PTX:4: unknown name `b`"},
        {HEAD ".global .b8 a[4000000000];\n", SIMT_OUT_OF_MEMORY,
         "PTX: no memory for its variables"},
        {HEAD ".shared .b8 a[1000000000];\n.shared .b8 b[2000000000];\n", SIMT_OUT_OF_RESOURCES,
         "PTX:5: no room for `b`"},
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        same("module", "status", loaded(rows[k].text), rows[k].status);
        same_text("module", error.text, rows[k].error);
    }
    done("variables that do not fit are refused");
}

// f calls itself as often as its argument says and adds up the results.
#define DEEP(bytes)                                                                                \
    HEAD ".func (.param .u32 sum) f(.param .u32 n)\n{\n.local .align 8 .b8 l[" bytes "];\n"        \
         ".reg .pred %p<2>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, [n];\nst.local.u32 [l], %r1;\n"   \
         "mov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra E;\nsub.u32 %r2, %r1, 1;\n"          \
         "{\n.param .u32 a;\n.param .u32 b;\nst.param.u32 [a], %r2;\ncall.uni (b), f, (a);\n"      \
         "ld.param.u32 %r3, [b];\n}\nE: ld.local.u32 %r4, [l];\nadd.u32 %r4, %r4, %r3;\n"          \
         "st.param.u32 [sum], %r4;\nret;\n}\n"                                                     \
         ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"              \
         "ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\n{\n.param .u32 a;\n"                \
         ".param .u32 b;\nst.param.u32 [a], %r1;\ncall.uni (b), f, (a);\n"                         \
         "ld.param.u32 %r2, [b];\n}\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n"

// The deepest call of f for which so much stack is enough; 0: the default stack.
static uint32_t deepest(size_t stack_bytes) {
    uint32_t low = 0, high = 100000;
    Launch one = ONE;
    one.stack_bytes = stack_bytes;
    while (low + 1 < high) {
        const uint32_t n = (low + high) / 2;
        words[0] = n;
        const SimtStatus status = launched_as("k", one, PLAIN);
        if (status != SIMT_OK && status != SIMT_STACK_OVERFLOW) wrong("%s", error.text);
        if (status == SIMT_OK && words[1] != n * (n + 1) / 2) wrong("%u calls: %u", n, words[1]);
        *(status == SIMT_OK ? &low : &high) = n;
    }
    return low;
}

// Calls f as deep as the stack allows: 64 KB at least, 512 KB at most.
static void test_stack(void) {
    load(DEEP("8")); // rounded to 16
    same("f", "calls", deepest(0), 4096);
    same("f", "calls of 128 KB", deepest((128 << 10) - 8), 8192);
    same("f", "calls of 1 MB", deepest(1 << 20), 32767);
    load(DEEP("16384"));
    same("f with 16 KB", "calls", deepest(1024), 4);
    same("f with 16 KB", "calls of 512 KB", deepest(512 << 10), 31);
    load(DEEP("524288"));
    same("f with 512 KB", "calls", deepest(0), 0);
    load(OUT(".local .align 8 .b8 l[524296];\n", ""));
    if (launched(ONE.grid, ONE.block, PLAIN) != SIMT_UNSUPPORTED) wrong("too much local memory");
    if (!strstr(error.text, ": bytes of local memory per thread: 524304, at most 524288"))
        wrong("%s", error.text);
    done("local memory of recursion");
}

// An observed launch leaves no state that affects one without an observer.
static void test_watched(void) {
    static const SimtOptions options[] = {
        {0}, {.check = true}, {0}, {.lines = true}, {.check = true, .lines = true}};
    Counters first = {{0}};
    load(OUT("", ".shared .align 4 .u32 s;\nmov.u32 %r1, %tid.x;\nst.shared.u32 [s], %r1;\n"
                 "bar.warp.sync -1;\nld.shared.u32 %r2, [s];\nst.global.u32 [%rd1], %r2;\n"));
    for (size_t k = 0; k < COUNT(options); k++) {
        run(2, 32, options[k]);
        if (k == 0) first = report.total;
        if (memcmp(&first, &report.total, sizeof first) != 0) wrong("launch %zu counts else", k);
        same("launch", "hazards", report.hazard_count > 0, options[k].check);
        same("launch", "lines", report.line_count > 0, options[k].lines);
    }
    done("a launch with an observer, one without");
}

// --- failures and hazards ---

// Accesses of a whole warp that reach past the last address there is.
static void test_last_addresses(void) {
    static const char *const kernels[] = {EACH("", "ld.global.u32 %r3, [%rd2];\n"),
                                          EACH("", "st.global.u32 [%rd2], %r1;\n")};
    const uint64_t old = out;
    for (size_t k = 0; k < COUNT(kernels); k++) {
        load(kernels[k]);
        for (out = 0 - (uint64_t)128; out; out += 4)
            if (launched(ONE.grid, (Dim3){32, 1, 1}, CHECKED) != SIMT_ILLEGAL_ADDRESS)
                wrong("kernel %zu at %llx: %s", k, (unsigned long long)out, error.text);
    }
    out = old;
    done("accesses at the end of the addresses are out of bounds");
}

// No hazard of a block after the one that failed is reported, in whatever order they ran.
static void test_uncertain(void) {
    load(OUT(".shared .align 4 .b8 s[64];\n",
             ".loc 1 20 0\nld.shared.u32 %r2, [s];\nst.shared.u32 [s+4], %r2;\nbar.sync 0;\n"
             "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 3;\n@%p1 bra E;\nmov.u64 %rd2, 64;\n"
             ".loc 1 30 0\nld.global.u32 %r3, [%rd2];\nE: ") ".file 1 \"b.cu\"\n");
    size_t alone = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        SimtOptions options = {.check = true, .order = seed, .host_threads = 1};
        if (launched((Dim3){8, 1, 1}, ONE.block, options) != SIMT_ILLEGAL_ADDRESS)
            wrong("it did not fail");
        for (size_t k = 0; k < report.hazard_count; k++)
            if (report.hazards[k].block.x > 3)
                wrong("seed %llu: block %u", (unsigned long long)seed, report.hazards[k].block.x);
        alone += report.hazard_count < 2;
        same("report", "hazards", report.hazard_count > 0, true);
    }
    if (alone == 12) wrong("no block ran before");
    done("no hazard of a block after the one that failed is reported");
}

// --- lanes ---

// The lanes of a mask exchange values from different paths, while other lanes are elsewhere.
static void test_partial_meeting(void) {
    load(EACH("", "mov.u32 %r2, 100;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra B;\n"
                  "setp.lt.u32 %p2, %r1, 8;\n@%p2 bra C;\n"
                  "shfl.sync.bfly.b32 %r2, %r1, 8, 31, 0xffff;\nbra B;\n"
                  "C: shfl.sync.bfly.b32 %r2, %r1, 8, 31, 0xffff;\n"
                  "B: st.global.u32 [%rd2], %r2;\n"));
    memset(words, 0, 128);
    run(1, 32, PLAIN);
    for (uint32_t t = 0; t < 32; t++) same("lane", "value", words[t], t < 16 ? t ^ 8 : 100);
    done("lanes of a mask exchange values from different paths");
}

// The system's shared memory: after the program's, never at 0, all zero, 1 KiB.
static void test_reserved(void) {
    static const uint32_t shared[] = {0, 1, 127, 128, 300}, begins[] = {128, 128, 128, 256, 384};
    load(OUT("", "mov.u32 %r1, %reserved_smem_offset_begin;\nst.global.u32 [%rd1], %r1;\n"
                 "mov.u32 %r2, %reserved_smem_offset_end;\nst.global.u32 [%rd1+4], %r2;\n"
                 "ld.shared.u32 %r3, [%r1];\nld.shared.u32 %r4, [%r2+-4];\nor.b32 %r3, %r3, %r4;\n"
                 "st.global.u32 [%rd1+8], %r3;\n"));
    for (size_t k = 0; k < COUNT(shared); k++) {
        Launch one = ONE;
        one.dynamic_shared_bytes = shared[k];
        if (launched_as("k", one, PLAIN) != SIMT_OK) wrong("%s", error.text);
        same("it", "begins", words[0], begins[k]);
        same("it", "ends", words[1], begins[k] + 1024);
        same("it", "holds", words[2], 0);
    }
    load(OUT("", "mov.u32 %r2, %reserved_smem_offset_end;\nld.shared.u32 %r3, [%r2];\n"));
    if (launched(ONE.grid, ONE.block, PLAIN) != SIMT_ILLEGAL_ADDRESS) wrong("it has no end");
    done("the system's shared memory");
}

static size_t pages_held(void) {
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) text[fread(text, 1, sizeof text - 1, file)] = '\0', fclose(file);
    char *end = strchr(text, ' ');
    return end ? strtoul(end, NULL, 10) : 0;
}

// Local memory is poisoned again for every block, and is given back after the launch.
static void test_local(void) {
    load(OUT(".local .align 4 .b8 l[65536];\n",
             "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
             "ld.local.u32 %r2, [l+400];\nst.global.u32 [%rd2], %r2;\nmov.u32 %r3, 5;\n"
             "st.local.u32 [l+400], %r3;\n"));
    const size_t before = pages_held();
    for (int k = 0; k < 20; k++) run(2, 64, (SimtOptions){.host_threads = 1}); // 4 MiB each
    const size_t grown = pages_held() - before;
    same("block 0", "local memory", words[0], 0x7f7f7f7f);
    same("block 1", "local memory", words[1], 0x7f7f7f7f);
    if (before && (ssize_t)grown > 32 << 8) wrong("%zu pages are not given back", grown);
    done("local memory");
}

// --- hazards, one at a time ---

// Lane 2's knowledge of lane 0 does not change when lanes 0 and 1 synchronize: lane 0's write to
// the first word is ordered before lane 2's access, its write to the second word is not.
static void test_lanes_apart(void) {
    load(OUT(".shared .align 4 .b8 s[8];\n",
             "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 2;\n"
             "setp.eq.u32 %p3, %r1, 1;\nor.pred %p4, %p1, %p2;\nor.pred %p5, %p1, %p3;\n"
             "@%p1 st.shared.u32 [s], %r1;\n@%p4 bar.warp.sync 5;\n@%p5 bar.warp.sync 3;\n"
             "@%p2 ld.shared.u32 %r2, [s];\n@%p1 st.shared.u32 [s+4], %r1;\n"
             "@%p2 ld.shared.u32 %r2, [s+4];\n"));
    run(1, 32, CHECKED);
    same("report", "hazards", report.hazard_count, 1);
    for (size_t k = 0; k < report.hazard_count; k++) {
        same_text("kind", report.hazards[k].kind, "race");
        same("hazard", "address", report.hazards[k].address, 4);
    }
    done("lanes that synchronise in pairs");
}

// --- traces ---

#define TRACE_HEAD                                                                                 \
    "kernel,launch,block,warp,pc_line,space,op,bytes,lane,address,value,file,other_thread,"        \
    "other_line,other_file"

// The trace of several launches is a header, written once per process, and then `wanted` for each
// launch, in which # is the launch's number.
static void traced(int launches, uint32_t threads, bool check, const char *head,
                   const char *wanted) {
    static char text[4096], want[4096];
    char trace_path[] = "/tmp/trace-of-launches-XXXXXX";
    const int made = mkstemp(trace_path);
    if (made < 0) wrong("no file");
    close(made);
    for (int k = 0; k < launches; k++)
        run(2, threads, (SimtOptions){.path = trace_path, .check = check});
    FILE *file = fopen(trace_path, "r");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    remove(trace_path);
    unsigned long long first = 0;
    size_t at = (size_t)snprintf(want, sizeof want, "%s", head);
    (void)sscanf(text + at, "k,%llu,", &first);
    for (int k = 0; k < launches; k++)
        for (const char *c = wanted; *c && at < sizeof want - 30; c++)
            at += (size_t)(*c == '#' ? sprintf(want + at, "k,%llu", first + (unsigned)k)
                                     : sprintf(want + at, "%c", *c));
    same_text("the trace", text, want);
}

// Traces shared memory and barriers of block 0, with all launches in one file.
static void test_trace(void) {
    load(OUT(".shared .align 8 .b8 s[512];\n",
             "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 31;\nshl.b32 %r2, %r1, 3;\n"
             ".loc 1 12 0\n@%p1 bra L;\nst.shared.v2.u32 [%r2], {%r1, %r1};\n"
             "st.global.u32 [%rd1], %r1;\nL: .loc 1 13 0\nbar.sync 0;\n.loc 1 14 0\n@%p1 bra E;\n"
             "ld.shared.u32 %r3, [%r2+4];\natom.shared.add.u32 %r3, [%r2], 1;\n"
             "E: ") ".file 1 \"a.cu\"\n");
    traced(2, 33, false, TRACE_HEAD "\n",
           "#,0,0,12,shared,store,8,31,248,0000001f0000001f,a.cu,,,\n"
           "#,0,0,13,barrier,barrier,0,0,0,,a.cu,,,\n"
           "#,0,1,12,shared,store,8,0,256,0000002000000020,a.cu,,,\n"
           "#,0,1,13,barrier,barrier,0,0,0,,a.cu,,,\n"
           "#,0,,,barrier,complete,0,,0,,,,,\n"
           "#,0,1,14,shared,load,4,0,260,00000020,a.cu,,,\n"
           "#,0,1,14,shared,atomic,4,0,256,00000020,a.cu,,,\n"
           "#,0,0,14,shared,load,4,31,252,0000001f,a.cu,,,\n"
           "#,0,0,14,shared,atomic,4,31,248,0000001f,a.cu,,,\n");
    static const char *const faults[][2] = {
        {"/dev/full", "cannot write /dev/full"},
        {"/none/trace", "/none/trace: No such file or directory"}};
    for (size_t k = 0; k < COUNT(faults); k++) {
        const SimtOptions options = {.path = faults[k][0]};
        if (launched(ONE.grid, (Dim3){32, 1, 1}, options) != SIMT_OUT_OF_RESOURCES)
            wrong("%s is written", faults[k][0]);
        same_text("it", error.text, faults[k][1]);
    }
    done("the rows of a trace");
}

// Traces a single warp: two lanes store, read the other one's word, converge, and shuffle.
static void test_trace_checked(void) {
    load(OUT(".shared .align 8 .b8 s[512];\n",
             "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n.loc 1 12 0\nst.shared.u32 [%r2], %r1;\n"
             ".loc 1 13 0\nxor.b32 %r3, %r2, 4;\nld.shared.u32 %r4, [%r3];\n"
             ".loc 1 14 0\nbar.warp.sync 3;\n"
             ".loc 1 15 0\nshfl.sync.down.b32 %r5, %r1, 1, 1, 3;\n") ".file 1 \"a.cu\"\n");
    traced(1, 2, true, "",
           "#,0,0,12,shared,store,4,0,0,00000000,a.cu,,,\n"
           "#,0,0,12,shared,store,4,1,4,00000001,a.cu,,,\n"
           "#,0,0,13,shared,load,4,0,4,00000001,a.cu,,,\n"
           "#,0,0,13,shared,load,4,1,0,00000000,a.cu,,,\n"
           "#,0,0,13,shared,race,0,0,4,,a.cu,1,12,a.cu\n"
           "#,0,0,13,shared,race,0,1,0,,a.cu,0,12,a.cu\n"
           "#,0,0,14,warp,syncwarp,0,0,0,,a.cu,,,\n"
           "#,0,0,14,warp,syncwarp,0,1,0,,a.cu,,,\n"
           "#,0,0,15,warp,shuffle,4,0,0,00000000,a.cu,1,15,a.cu\n"
           "#,0,0,15,warp,shuffle,4,1,0,00000001,a.cu,1,15,a.cu\n");
    same("report", "hazards", report.hazard_count, 1);
    done("a trace with checks: races, converging lanes, shuffles");
}

int main(void) {
    if (!memory_open((size_t)1 << 30)) return 1;
    words = memory_at(out = memory_alloc_kind(1 << 16, MEMORY_DEVICE));
    test_limits();
    test_bounds_of_kernels();
    test_places();
    test_shared();
    test_variables();
    test_bad_modules();
    test_stack();
    if (!memory_track()) return 1;
    test_watched();
    test_last_addresses();
    test_uncertain();
    test_partial_meeting();
    test_reserved();
    test_local();
    test_lanes_apart();
    test_trace();
    test_trace_checked();
    return 0;
}

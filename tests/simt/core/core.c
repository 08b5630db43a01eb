// Unit tests of the CPU device's core: parser, reconvergence, wavefronts, number formats, counters.
// Prints `ok NAME`, or `not ok NAME` with what was wrong below it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "launch.h"
#include "simt/emit/row.h"
#include "simt/exec/address.h"
#include "simt/exec/bank.h"
#include "simt/exec/cluster.h"
#include "simt/memory/guard.h"
#include "simt/observe/observed.h"
#include "simt/ops/half.h"
#include "simt/ops/ops.h"

#define ALL 0xffffffffu

// Compares the formulas for regular addresses with a count of the words in each bank.
static void test_strides(void) {
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t stride = (uint32_t)(random >> 33) % 70, start = (uint32_t)(random >> 45) % 64;
        uint32_t mask = round % 3 ? (uint32_t)(random >> 20) | 1 : ALL;
        uint32_t address[LANES], count[32] = {0}, most = 0;
        uint64_t seen[32] = {0};
        for (uint32_t t = 0; t < LANES; t++) address[t] = 4 * (start + stride * t);
        for (uint32_t t = 0; t < LANES; t++) {
            uint32_t word = address[t] / 4;
            if (!(mask >> t & 1) || seen[word % 32] >> (word / 32 % 64) & 1) continue;
            seen[word % 32] |= 1ull << (word / 32 % 64);
            if (word / 32 >= 64) continue;
            if (++count[word % 32] > most) most = count[word % 32];
        }
        if (start + stride * 31 >= 64 * 32) continue;
        BankCount got = bank_count(address, mask, 4, true);
        if (got.wavefronts != most) {
            wrong("stride %u, mask %08x: %u wavefronts, not %u", stride, mask, got.wavefronts,
                  most);
            break;
        }
    }
    told("wavefronts of strided words");
}

// The lanes of one access are in all the spaces that generic addresses reach, and outside of them.
static void test_spaces(void) {
    static const PtxSpace spaces[] = {PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM, PTX_GENERIC};
    uint64_t address[LANES], within[LANES];
    for (uint32_t l = 0; l < LANES; l++) {
        uint64_t window = l % 5 < 4 ? address_window(spaces[l % 5]) : (uint64_t)4 << 48;
        address[l] = window + 100 + l;
    }
    uint32_t left = ALL & ~1u; // lane 0 is off
    for (int k = 1; left; k++) {
        PtxSpace space;
        uint32_t same = address_same_space(address, left, &space, within), want = 0;
        for (uint32_t l = 1; l < LANES; l++) want |= (uint32_t)(l % 5 == (uint32_t)k % 5) << l;
        if (space != spaces[k % 5] || same != want)
            wrong("group %d: space %d, lanes %08x, not %08x", k, (int)space, same, want);
        for (uint32_t m = same; m; m &= m - 1) {
            int l = __builtin_ctz(m);
            if (within[l] != 100 + (uint64_t)l)
                wrong("lane %d: %llx", l, (unsigned long long)within[l]);
        }
        if (!same) break;
        left &= ~same;
    }
    Block blocks[3] = {{.rank = 0}, {.rank = 1}, {.rank = 2}};
    Block *ranks[] = {&blocks[0], &blocks[1], &blocks[2]};
    Cluster cluster = {.blocks = ranks, .count = 3};
    for (int k = 0; k < 3; k++) blocks[k].cluster = &cluster;
    const Block *own = &blocks[1];
    if (!address_in_space(own, address[1], PTX_SHARED) ||
        address_in_space(own, address[2], PTX_SHARED) ||
        address_in_space(own, address_map(address[1], 2), PTX_SHARED) ||
        !address_in_space(own, address_map(address[1], 1), PTX_SHARED) ||
        !address_in_space(own, address_map(address[1], 2), PTX_SHARED_CLUSTER) ||
        address_in_space(own, address[2], PTX_SHARED_CLUSTER))
        wrong("isspacep.shared");
    for (uint32_t l = 0; l < LANES; l++) address[l] = address_map(l * 4, l % 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        Block *of;
        uint32_t same = address_same_block(own, address, ALL << rank, &of);
        if (same != (0x11111111u << rank & ALL << rank) || of != (rank < 3 ? ranks[rank] : NULL))
            wrong("rank %u: lanes %08x", rank, same);
    }
    if (address_rank(own, 100) != 1 || address_rank(own, address_map(100, 0)) != 0)
        wrong("getctarank");
    told("generic addresses: lanes by space");
}

// Every row of ops/ is found by its name, and by the opcode and modifiers in its name.
static void test_opcodes(void) {
    uint8_t modifiers[PTX_MODIFIER_LIMIT], count;
    static const OpRow *const tables[] = {op_integer_rows, op_bits_rows,    op_float_rows,
                                          op_half_rows,    op_compare_rows, op_convert_rows,
                                          op_move_rows};
    for (size_t t = 0; t < COUNT(tables); t++) {
        for (const OpRow *row = tables[t]; row->name; row++) {
            const PtxOpcode opcode = ptx_split_opcode(str_of(row->name), modifiers, &count);
            const Row *found = row_find(opcode, modifiers, count);
            if (!found || found->run != row->run) wrong("%s has two rows or none", row->name);
            if (found && found->count != strlen(row->shape)) wrong("%s: operands", row->name);
            if (found != row_named(str_of(row->name))) wrong("%s: another by name", row->name);
            for (uint32_t k = 0; k < count; k++)
                if (modifiers[k] >= PTX_MOD_CACHE_HINT) wrong("%s: modifier %u", row->name, k);
        }
    }
    static const struct {
        const char *opcode;
        OpcodeFlow flow;
        bool waits;
    } rows[] = {
        {"bra.uni", FLOW_BRANCH, false}, {"brx.idx", FLOW_TABLE, true},
        {"ret", FLOW_RETURN, false},     {"exit", FLOW_EXIT, false},
        {"trap", FLOW_TRAP, false},      {"call", FLOW_CALL, true},
        {"bar.sync", FLOW_ON, true},     {"add.f32", FLOW_ON, false},
        {"ld.global", FLOW_ON, false},
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        const PtxOpcode opcode = ptx_split_opcode(str_of(rows[k].opcode), modifiers, &count);
        const PtxOpcodeRow *row = &ptx_opcodes[opcode];
        if (!opcode || row->flow != rows[k].flow || row->waits != rows[k].waits)
            wrong("%s: flow", rows[k].opcode);
    }
    static const char *const none[] = {"", "addd.u32", "ld.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a"};
    for (size_t k = 0; k < COUNT(none); k++)
        if (ptx_split_opcode(str_of(none[k]), modifiers, &count)) wrong("`%s` is none", none[k]);
    told("opcodes: every row of ops/ is one");
}

// Parser

static const struct {
    const char *name, *text, *error; // NULL: none
} parser_rows[] = {
    {"empty", "", "PTX:1: no `.version`"},
    {"not PTX", "int main(void) { return 0; }", "PTX:1: expected a directive"},
    {"address size", ".version 9.0\n.target sm_90\n.address_size 32\n", "PTX:4: only 64-bit"},
    {"register not declared", HEAD ".entry k() {\n.reg .u32 %r<2>;\nmov.u32 %r1, %r2;\nret;\n}\n",
     NULL},
    {"no end", HEAD ".entry k() {\nret;\n", "PTX:6: the text ends inside a function"},
    {"twice", HEAD ".entry k() {\n.reg .u32 a;\n.reg .f32 a;\n}", "PTX:6: `a` is declared twice"},
    {"comment", HEAD "/* never closed", "PTX:4: cannot read `/*`"},
    {"number", HEAD ".global .u32 a = 99999999999999999999999;", "PTX:4: cannot read"},
    {"too many values", HEAD ".global .u32 a[2] = {1, 2, 3};", "PTX:4: more initial values"},
    {"bracket", HEAD ".entry k() {\n.reg .u64 %rd<2>;\nld.global.u32 %rd1, [%rd1;\n}",
     "PTX:6: expected `]`"},
    {"scopes", HEAD ".entry k() {\n{ .reg .u32 a;\nL: bra L; }\n{ .reg .f32 a;\nL: bra L; }\n}",
     NULL},
    {"deep", HEAD ".entry k() {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
     "PTX:4: the text ends inside a function"},
    {"many registers", HEAD ".entry k() {\n.reg .b32 %r<4000000000>;\nmov.u32 %r3999999999, 1;\n}",
     NULL},
    {"huge variable", HEAD ".global .b8 a[1000000][10000000];", "PTX:4: variable too large"},
};

static void test_parser(void) {
    for (size_t k = 0; k < COUNT(parser_rows); k++) {
        SimtStatus status;
        error.text[0] = '\0';
        Arena arena = {0};
        PtxModule *parsed = ptx_parse(&arena, str_of(parser_rows[k].text), "PTX", &status, &error);
        const char *want = parser_rows[k].error;
        if (!want && !parsed) wrong("%s: %s", parser_rows[k].name, error.text);
        if (want && (parsed || strncmp(error.text, want, strlen(want)) != 0))
            wrong("%s: \"%s\", not \"%s\"", parser_rows[k].name, error.text, want);
        arena_free(&arena);
    }
    told("parser: errors are located");
}

// A line of an inlined header belongs to the user's line it was inlined into.
static void test_places(void) {
    static const char text[] = HEAD ".entry k() {\n"
                                    ".reg .u32 %r<9>;\n"
                                    ".loc 1 10 0\nmov.u32 %r1, 1;\n"
                                    ".loc 1 12 5\n"
                                    ".loc 2 77 3, function_name $L, inlined_at 1 12 5\n"
                                    ".loc 3 88 9, function_name $L, inlined_at 2 77 3\n"
                                    "mov.u32 %r2, 2;\n"
                                    ".loc 4 5 1, function_name $L, inlined_at 1 12 5\n"
                                    "mov.u32 %r3, 3;\n"
                                    ".loc 1 0 0\nmov.u32 %r4, 4;\nret;\n}\n"
                                    ".file 1 \"chapters/04.md\"\n"
                                    ".file 2 \"/usr/local/cuda/include/a.h\"\n"
                                    ".file 3 \"/usr/local/cuda/include/cub/b.cuh\"\n"
                                    ".file 4 \"/home/me/mine.cuh\"\n";
    static const uint32_t want[4][2] = {{1, 10}, {1, 12}, {4, 5}, {4, 5}};
    SimtStatus status;
    Arena arena = {0};
    PtxModule *parsed = ptx_parse(&arena, str_of(text), "PTX", &status, &error);
    if (!parsed) wrong("%s", error.text);
    for (uint32_t k = 0; parsed && k < 4; k++) {
        PtxPlace place = parsed->functions[0].insts[k].place;
        if (place.file != want[k][0] || place.line != want[k][1])
            wrong("instruction %u: file %u line %u", k, place.file, place.line);
    }
    arena_free(&arena);
    told("parser: lines of headers are charged to the user");
}

// Kernels

// Half of the lanes execute the instruction here, the others one later; the halves return
// separately.
#define GUARDED(instruction)                                                                       \
    {                                                                                              \
        "guarded " instruction,                                                                    \
            EACH("",                                                                               \
                 "setp.lt.u32 %p1, %r1, 16;\n@%p1 " instruction ";\n@!%p1 " instruction ";\n"),    \
            4 + 3 + 2, 6 * 32 + 2 * 16, 0, false                                                   \
    }

static const struct {
    const char *name, *text;
    uint64_t warp_insts, thread_insts, divergent; // of one warp
    bool counted;                                 // out[t] is t + 1
} flow_rows[] = {
    // both sides of a branch, then together again: 4 + 2 + 1 + 2 (else) + 1 (then) + 2
    {"if and else",
     EACH("", "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nmov.u32 %r2, 1;\nbra B;\n"
              "A: mov.u32 %r2, 2;\nB: st.global.u32 [%rd2], %r2;\n"),
     11, 6 * 32 + 2 * 24 + 8 + 2 * 32, 1, false},
    // lane t goes round t + 1 times: 4 + 1 + 3 * 32 rounds + 2
    {"loops of different lengths",
     EACH("", "mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.le.u32 %p1, %r2, %r1;\n"
              "@%p1 bra L;\nst.global.u32 [%rd2], %r2;\n"),
     4 + 1 + 3 * 32 + 2, 5 * 32 + 3 * (33 * 16) + 2 * 32, 31, true},
    // lanes that return early leave the others together
    {"early exit",
     EACH("", "st.global.u32 [%rd2], %r1;\nsetp.ge.u32 %p1, %r1, 16;\n@%p1 bra E;\n"
              "add.u32 %r2, %r1, 1;\nst.global.u32 [%rd2], %r2;\nE: "),
     4 + 3 + 1 + 2 + 1, 7 * 32 + 16 + 2 * 16 + 16, 1, false},
    // odd lanes do one more; then all are together in a loop at the kernel's end
    {"a final loop",
     EACH("", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\nmov.u32 %r3, 1;\n"
              "A: mov.u32 %r4, %r1;\nL: st.global.u32 [%rd2], %r4;\nadd.u32 %r4, %r4, 32;\n"
              "setp.lt.u32 %p2, %r4, 96;\n@%p2 bra L;\n"),
     4 + 3 + 1 + 1 + 3 * 4 + 1, 9 * 32 + 16 - 32 + 3 * 4 * 32 + 32, 1, false},
    // lanes 1 and 3 leave the loop from within an if, in rounds 2 and 4; all lanes rejoin after
    // the loop
    {"break in an if",
     EACH("", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r3, 0;\n"
              "L: add.u32 %r3, %r3, 1;\n@%p1 bra Y;\nsetp.gt.u32 %p2, %r3, %r1;\n@%p2 bra E;\n"
              "Y: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r3, 4;\n@%p3 bra L;\n"
              "E: st.global.u32 [%rd2], %r4;\n"),
     4 + 3 + 4 * (2 + 2 + 3) + 2,
     7 * 32 + 2 * (32 + 32 + 31 + 31) + 2 * (16 + 16 + 15 + 15) + 3 * (32 + 31 + 31 + 30) + 2 * 32,
     6, false},
    // lanes 1 and 3 skip the rest of their rounds 2 and 4 from within an if
    {"continue in an if",
     EACH("", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r3, 0;\n"
              "L: add.u32 %r3, %r3, 1;\n@%p1 bra Y;\nsub.u32 %r5, %r3, 1;\n"
              "setp.eq.u32 %p2, %r5, %r1;\n@%p2 bra C;\n"
              "Y: add.u32 %r4, %r4, 1;\nC: setp.lt.u32 %p3, %r3, 4;\n@%p3 bra L;\n"
              "st.global.u32 [%rd2], %r4;\n"),
     4 + 3 + 4 * (2 + 3 + 1 + 2) + 2,
     7 * 32 + 4 * 2 * 32 + 4 * 3 * 16 + (32 + 31 + 32 + 31) + 4 * 2 * 32 + 2 * 32, 6, false},
    // lanes that return from within an if, after a loop of their own, are not waited for
    {"an early way out with work",
     EACH("", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra Y;\n"
              "setp.gt.u32 %p2, %r1, 7;\n@%p2 bra A;\nst.global.u32 [%rd2], %r1;\nret;\n"
              "A: mov.u32 %r3, 1;\nY: st.global.u32 [%rd2], %r2;\nadd.u32 %r4, %r4, 1;\n"),
     4 + 3 + 2 + 2 + 1 + 3, 7 * 32 + 2 * 16 + 2 * 4 + 12 + 3 * 28, 2, false},
    // a guarded instruction runs for the lanes whose guard is true; all active lanes are counted
    {"guards",
     EACH("", "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r3, 7;\n"
              "@%p1 mov.u32 %r3, 9;\n@!%p1 add.u32 %r3, %r3, 1;\nst.global.u32 [%rd2], %r3;\n"),
     4 + 6 + 1, 11 * 32, 0, false},
    // the halves of a warp call the same shuffle in different places
    {"shuffle across paths",
     EACH("", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\n"
              "shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nbra B;\n"
              "A: shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nB: st.global.u32 [%rd2], %r2;\n"),
     4 + 2 + 2 + 1 + 2, 6 * 32 + 2 * 16 + 16 + 2 * 32, 1, false},
    // the same if a guard splits the warp: it becomes a branch around the waiting instruction
    GUARDED("shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1"),
    GUARDED("vote.sync.ballot.b32 %r2, %p1, -1"),
    GUARDED("match.any.sync.b32 %r2, %r1, -1"),
    GUARDED("redux.sync.add.u32 %r2, %r1, -1"),
    GUARDED("elect.sync %r2|%p2, -1"),
    GUARDED("bar.sync 0"),
    GUARDED("barrier.sync 0"),
    GUARDED("bar.warp.sync -1"),
    // one lane of the warp holds a lock that the others want
    {"lock inside a warp",
     EACH(".shared .align 4 .u32 lock;\n",
          "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra Z;\nst.shared.u32 [lock], 0;\nZ: bar.sync 0;\n"
          "L: atom.shared.cas.b32 %r2, [lock], 0, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\n"
          "atom.shared.exch.b32 %r3, [lock], 0;\nst.global.u32 [%rd2], %r3;\n"),
     0, 0, 0, false},
};

static void test_reconvergence(void) {
    for (size_t k = 0; k < COUNT(flow_rows); k++) {
        const char *name = flow_rows[k].name;
        load(flow_rows[k].text);
        run(1, 32, PLAIN);
        const uint64_t *value = report.total.value;
        if (flow_rows[k].warp_insts) {
            same(name, "warp instructions", value[COUNT_WARP_INSTS], flow_rows[k].warp_insts);
            same(name, "lanes", value[COUNT_THREAD_INSTS], flow_rows[k].thread_insts);
            same(name, "branches", value[COUNT_DIVERGENT_BRANCHES], flow_rows[k].divergent);
        }
        for (uint32_t t = 0; t < 32 && flow_rows[k].counted; t++)
            same(name, "word", words[t], t + 1);
    }
    done("reconvergence: instructions, lanes and divergent branches");
}

// A product and a sum are rounded separately, as the PTX says.
static void test_contraction(void) {
    load(EACH("", "mov.f32 %f1, 0f3F800001;\nmul.f32 %f2, %f1, %f1;\nmov.f32 %f3, 0fBF800002;\n"
                  "add.f32 %f4, %f2, %f3;\nfma.rn.f32 %f5, %f1, %f1, %f3;\n"
                  "st.global.f32 [%rd1], %f4;\nst.global.f32 [%rd1+4], %f5;\n"));
    run(1, 1, PLAIN);
    const float *found = memory_at(out);
    if (found[0] != 0.0f) wrong("mul and add were fused");
    if (found[1] != 0x1p-46f) wrong("fma was rounded twice: %a", (double)found[1]);
    done("mul and add stay apart, fma rounds once");
}

// Counters and results do not depend on the number of host threads.
static void test_threads(void) {
    Counters first = {{0}};
    uint32_t sum = 0;
    load(EACH(
        ".shared .align 4 .b8 s[1024];\n",
        "mov.u32 %r2, %ctaid.x;\nmov.u32 %r4, s;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r4, %r4, %r5;\n"
        "L: st.shared.u32 [%r4], %r2;\nbar.sync 0;\nsub.u32 %r2, %r2, 1;\n"
        "setp.gt.s32 %p1, %r2, 0;\n@%p1 bra L;\nred.global.add.u32 [%rd2], %r2;\n"));
    for (uint32_t threads = 1; threads <= 4; threads++) {
        memset(words, 0, 4096);
        run(300, 256, (SimtOptions){.host_threads = threads});
        if (threads == 1) first = report.total, sum = words[0];
        if (memcmp(&first, &report.total, sizeof first) != 0)
            wrong("%u threads count else", threads);
        if (words[0] != sum) wrong("%u threads sum else", threads);
    }
    // block b > 0 has b rounds, block 0 one
    same("all blocks", "barriers", first.value[COUNT_BARRIERS], 1 + 299 * 300 / 2);
    done("counters are the same for any number of host threads");
}

// The launch reports the failure of the first block that failed in launch order, although a later
// block fails earlier in time.
static void test_threads_fail(void) {
    load(OUT("", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra F;\n"
                 "L: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 200000;\n@%p1 bra L;\n"
                 "F: setp.gt.u32 %p1, %r1, 1;\n@%p1 ret;\nst.global.u32 [0], %r1;\n"));
    for (uint32_t k = 0; k < 12; k++) {
        const SimtOptions options = {.host_threads = 1 + k % 4,
                                     .order = k < 8 ? 0 : ORDER_REVERSED};
        const uint32_t first = k < 8 ? 0 : 1;
        char at[32];
        if (launched((Dim3){64, 1, 1}, (Dim3){32, 1, 1}, options) != SIMT_ILLEGAL_ADDRESS)
            wrong("%s", error.text);
        snprintf(at, sizeof at, "block (%u,0,0)", first);
        if (!strstr(error.text, at)) wrong("%u threads: %s", options.host_threads, error.text);
        same("a launch that fails", "instructions", report.total.value[COUNT_WARP_INSTS], 0);
    }
    done("a launch reports the same failure for any number of host threads");
}

static const struct {
    const char *name, *text;
    SimtStatus status;
    const char *error;
} failing_rows[] = {
    {"address", EACH("", "mov.u64 %rd3, 64;\nst.global.u32 [%rd3], %r1;\n"), SIMT_ILLEGAL_ADDRESS,
     "PTX:15: global store of 4 bytes at 0x40"},
    {"alignment", EACH("", "ld.global.u32 %r2, [%rd1+2];\n"), SIMT_MISALIGNED_ADDRESS,
     "PTX:14: global load"},
    {"shared", EACH(".shared .align 4 .b8 s[64];\n", "st.shared.u32 [s+64], %r1;\n"),
     SIMT_ILLEGAL_ADDRESS, "PTX:15: shared store of 4 bytes at 0x40"},
    {"trap", EACH("", "trap;\n"), SIMT_TRAP, "PTX:14: trap"},
    {"deadlock", EACH("", "bar.sync 1, 64;\n"), SIMT_DEADLOCK, "PTX:14: deadlock"},
    {"unknown instruction", EACH("", "add.fast.f32 %f1, %f2, %f3;\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `add.fast.f32`"},
    {"video instruction", EACH("", "vadd4.u32.u32.u32 %r1, %r1, %r1, %r1;\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `vadd4.u32.u32.u32`"},
    {"unknown modifier", EACH("", "ld.global.sideways.u32 %r2, [%rd1];\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `ld.global.sideways.u32`"},
    {"a modifier twice", EACH("", "ld.weak.weak.global.u32 %r2, [%rd1];\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `ld.weak.weak.global.u32`"},
    {"a hint for loads only",
     EACH("", "cp.async.ca.shared.global.L1::no_allocate [%r1], [%rd1], 4;\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `cp.async.ca.shared.global.L1::no_allocate`"},
    {"unknown opcode", EACH("", "flush.f32 %f1, %f2;\n"), SIMT_UNSUPPORTED,
     "PTX:14: unsupported instruction `flush.f32`"},
    {"sizes", EACH("", "add.u32 %r1, %r2, %rd1;\n"), SIMT_INVALID_PTX,
     "PTX:14: register `%rd1` has the wrong size"},
    {"label", EACH("", "bra NOWHERE;\n"), SIMT_INVALID_PTX, "PTX:14: unknown label `NOWHERE`"},
    {"a line of a file that is not named", EACH("", ".loc 7 5 0\ntrap;\n"), SIMT_TRAP,
     "PTX:15: trap"},
    {"different instructions",
     EACH("", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\n"
              "bra B;\nA: vote.sync.ballot.b32 %r2, %p1, -1;\nB: st.global.u32 [%rd2], %r2;\n"),
     SIMT_DEADLOCK, "PTX:16: deadlock"},
    {"a row with too many values", HEAD ".global .u32 a[][2] = {{1}, {2, 3, 4}};\n",
     SIMT_INVALID_PTX, "PTX:4: more initial values than a row of the array holds"},
    {"rows of nothing", HEAD ".global .u32 a[][0] = {1};\n", SIMT_INVALID_PTX,
     "PTX:4: initial values of an array without elements"},
    {"endless", EACH("", "L: bra L;\n"), SIMT_TIMEOUT, "PTX:14: no progress for"},
};

static void test_failures(void) {
    for (size_t k = 0; k < COUNT(failing_rows); k++) {
        const bool endless = failing_rows[k].status == SIMT_TIMEOUT;
        SimtStatus status = loaded(failing_rows[k].text);
        if (module)
            status = launched((Dim3){1, 1, 1}, (Dim3){32, 1, 1},
                              (SimtOptions){.watchdog_seconds = endless ? 0.25 : 5});
        const char *want = failing_rows[k].error;
        if (status != failing_rows[k].status || strncmp(error.text, want, strlen(want)) != 0)
            wrong("%s: status %d, \"%s\"", failing_rows[k].name, (int)status, error.text);
    }
    done("failures: status, line and words");
}

// Nesting so deep that recursion would overflow the stack.
static void test_deep(void) {
    static const struct {
        const char *before, *again, *behind;
        SimtStatus status;
        const char *error;
    } rows[] = {
        {HEAD ".visible .entry k()\n{\n.reg .pred %p<9>;\n@%p1 and.pred %p2, ", "!",
         "%p1;\nret;\n}\n", SIMT_INVALID_PTX, "PTX:7: `!` needs a predicate register"},
        {HEAD ".visible .entry k()\n{\n", "{", "ret;\n}\n", SIMT_INVALID_PTX,
         "PTX:6: braces nested too deeply"},
        {HEAD ".visible .entry k()\n{\ncall f, ", "(", ");\nret;\n}\n", SIMT_INVALID_PTX,
         "PTX:6: operands nested too deeply"},
        {HEAD ".global .b32 a[1][1] = ", "{", "1}};\n", SIMT_INVALID_PTX,
         "PTX:4: braces deeper than the array"},
    };
    enum { TIMES = 300000 };
    for (size_t k = 0; k < COUNT(rows); k++) {
        char *text = malloc(strlen(rows[k].before) + TIMES + strlen(rows[k].behind) + 1), *at;
        strcpy(text, rows[k].before);
        at = text + strlen(text);
        for (int i = 0; i < TIMES; i++) *at++ = *rows[k].again;
        strcpy(at, rows[k].behind);
        if (loaded(text) != rows[k].status || strcmp(error.text, rows[k].error) != 0)
            wrong("%s: \"%s\"", rows[k].again, error.text);
        free(text);
    }
    done("nesting of 300,000 levels is refused");
}

enum { GUARDED_PAGES = 16, TOUCHES = 30000 };
static uint64_t guarded;
static int touching = 2; // threads

// Touches one address after another, every other one of them.
static void *touch(void *first) {
    for (uint64_t k = *(const uint64_t *)first; k < TOUCHES; k += 2) {
        const uint64_t address = guarded + k;
        if (!guard_fault(&(GuardFault){address, ~address, k % 4 < 2}))
            wrong("a page is not guarded");
    }
    __atomic_fetch_sub(&touching, 1, __ATOMIC_RELEASE);
    return NULL;
}

// Faults of several threads are each taken completely and once, while more come.
static void test_guard(void) {
    const size_t bytes = GUARDED_PAGES * 4096;
    guarded = (uint64_t)(uintptr_t)mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    guard_pages(guarded, guarded + bytes, true);
    uint64_t firsts[2] = {0, 1}, next[2] = {0, 0}, taken = 0;
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, touch, &firsts[k]);
    for (bool more = true; more;) {
        GuardFault fault;
        more = __atomic_load_n(&touching, __ATOMIC_ACQUIRE);
        if (!guard_take(&fault)) continue;
        const uint64_t k = fault.address - guarded;
        taken++;
        if (fault.pc != ~fault.address || fault.write != (k % 4 < 2))
            wrong("fault %llu in parts", (unsigned long long)k);
        if (k < next[k % 2]) wrong("fault %llu again", (unsigned long long)k);
        next[k % 2] = k + 1;
    }
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    guard_clear();
    if (!taken) wrong("no fault");
    done("faults of guarded pages, from several threads");
}

// A whole warp accesses consecutive addresses, which takes the fast path, at the ends of memory.
// Lane t accesses `address` + its element; 131 bytes are allocated last, so no allocation follows
// them.
#define WHOLE(instruction)                                                                         \
    EACH(".shared .align 16 .b8 s[144];\n",                                                        \
         "mov.u32 %r4, s;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r4, %r4, %r5;\n"                         \
         "mul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd3, %rd1, %rd3;\n" instruction ";\n")
enum { START = 1 };
static const struct {
    const char *name, *text;
    int64_t shift; // of the address that the kernel gets; START: the start of all memory
    SimtStatus status;
} edge_rows[] = {
    {"load", WHOLE("ld.global.u32 %r2, [%rd2]"), 0, SIMT_OK},
    {"store", WHOLE("st.global.u32 [%rd2], %r2"), 0, SIMT_OK},
    {"load a byte past the end", WHOLE("ld.global.u32 %r2, [%rd2+4]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"store a byte past the end", WHOLE("st.global.u32 [%rd2+4], %r2"), 0, SIMT_ILLEGAL_ADDRESS},
    {"load 4 bytes past the end", WHOLE("ld.global.u32 %r2, [%rd2+8]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"load beyond the end", WHOLE("ld.global.u32 %r2, [%rd2+132]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"load a row beyond the end", WHOLE("ld.global.u32 %r2, [%rd2+4096]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"load askew", WHOLE("ld.global.u32 %r2, [%rd2+2]"), -128, SIMT_MISALIGNED_ADDRESS},
    {"store askew", WHOLE("st.global.u32 [%rd2+1], %r2"), -128, SIMT_MISALIGNED_ADDRESS},
    {"vector", WHOLE("ld.global.v2.u32 {%r2, %r3}, [%rd3]"), -128, SIMT_OK},
    {"vector a byte past the end", WHOLE("ld.global.v2.u32 {%r2, %r3}, [%rd3+8]"), -128,
     SIMT_ILLEGAL_ADDRESS},
    {"vector askew", WHOLE("ld.global.v2.u32 {%r2, %r3}, [%rd3+4]"), -256, SIMT_MISALIGNED_ADDRESS},
    {"shared load", WHOLE("ld.shared.u32 %r2, [%r4+16]"), 0, SIMT_OK},
    {"shared load 4 bytes past the end", WHOLE("ld.shared.u32 %r2, [%r4+20]"), 0,
     SIMT_ILLEGAL_ADDRESS},
    {"shared store 4 bytes past the end", WHOLE("st.shared.u32 [%r4+20], %r2"), 0,
     SIMT_ILLEGAL_ADDRESS},
    {"shared load beyond the end", WHOLE("ld.shared.u32 %r2, [%r4+144]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"shared load a row beyond the end", WHOLE("ld.shared.u32 %r2, [%r4+256]"), 0,
     SIMT_ILLEGAL_ADDRESS},
    {"shared load before the start", WHOLE("ld.shared.u32 %r2, [%r4+-4]"), 0, SIMT_ILLEGAL_ADDRESS},
    {"shared load askew", WHOLE("ld.shared.u32 %r2, [%r4+2]"), 0, SIMT_MISALIGNED_ADDRESS},
    {"before the start", WHOLE("ld.global.u32 %r2, [%rd2+-4]"), START, SIMT_ILLEGAL_ADDRESS},
};

static void test_edges(void) {
    const uint64_t before = memory_alloc(4096), last = memory_alloc(131), old = out;
    if (last + 131 != memory_high || last - before < 4096 || before + 4096 > last) wrong("place");
    for (size_t k = 0; k < COUNT(edge_rows); k++) {
        load(edge_rows[k].text);
        out = edge_rows[k].shift == START ? memory_low : last + (uint64_t)edge_rows[k].shift;
        const SimtStatus status = launched((Dim3){1, 1, 1}, (Dim3){32, 1, 1}, PLAIN);
        if (status != edge_rows[k].status)
            wrong("%s: status %d: %s", edge_rows[k].name, (int)status, error.text);
    }
    out = old;
    done("whole warps at the ends of memory");
}

// Compares the record of written bytes with a plain array: any start, any end, copies that overlap.
static void test_written(void) {
    enum { ROOM = 64, BYTES = 40 };
    bool model[ROOM] = {false};
    uint64_t random = 3, start = memory_alloc_kind(ROOM, MEMORY_DEVICE);
    if (!memory_track()) wrong("no shadow");
    for (int round = 0; round < 20000 && !trouble[0]; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t from = (random >> 33) % BYTES, to = (random >> 43) % BYTES;
        size_t bytes = (random >> 53) % (ROOM - BYTES);
        if (round % 3) {
            bool copy[ROOM];
            memcpy(copy, model, sizeof copy);
            for (size_t i = 0; i < bytes; i++) model[to + i] = copy[from + i];
            memory_copied(start + to, start + from, bytes);
        } else {
            if (round % 12 == 0) {
                memset(model, 0, sizeof model);
                memset(memory_shadow + (start - memory_base) / 4, 0, ROOM / 4);
            }
            for (size_t i = 0; i < bytes % 11; i++) model[from + i] = true;
            memory_written(start + from, bytes % 11);
        }
        for (size_t i = 0; i < ROOM; i++) {
            uint64_t byte = start - memory_base + i;
            bool written = memory_shadow[byte / 4] >> byte % 4 & 1;
            if (written != model[i]) wrong("round %d: byte %zu", round, i);
        }
    }
    told("written bytes");
}

// A second observer in the same slot would be called with the first one's state.
static void test_observers(void) {
    static const Observer functions = {0};
    Machine machine = {0};
    Observed of = {.machine = &machine, .error = &error};
    Observer *first = observed_open(&of, &machine.observer, &functions, sizeof *first, "one");
    Observer *second = observed_open(&of, &machine.observer, &functions, sizeof *first, "two");
    if (second || machine.observer != first || machine.observers != first || first->next)
        wrong("the second observer has the first one's place");
    if (of.status != SIMT_INVALID_CONFIG || !error.text[0]) wrong("the launch does not fail");
    free(first);
    done("an observer's slot is not given to another");
}

int main(void) {
    if (!memory_open((size_t)1 << 30)) return 1;
    words = memory_at(out = memory_alloc(1 << 16));
    test_strides();
    test_spaces();
    test_opcodes();
    test_parser();
    test_places();
    test_reconvergence();
    test_contraction();
    test_threads();
    test_threads_fail();
    test_failures();
    test_deep();
    test_guard();
    test_edges();
    test_written();
    test_observers();
    return 0;
}

// What the checks found: recorded, merged, put in order, described.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "simt/observe/check/inside.h"

PtxPlace check_place(const Checker *checker, const Inst *inst) {
    const PtxInst *ptx = machine_instruction(checker->machine, inst);
    return ptx ? ptx->place : (PtxPlace){0, 0};
}

static bool same_place(PtxPlace a, PtxPlace b) { return a.file == b.file && a.line == b.line; }

static bool same_finding(const Finding *a, const Finding *b) {
    return a->kind == b->kind && a->space == b->space && same_place(a->place, b->place) &&
           same_place(a->other, b->other);
}

static Finding *find(Checker *checker, const Finding *key) {
    for (size_t i = checker->finding_count; i > 0; i--)
        if (same_finding(&checker->findings[i - 1], key)) return &checker->findings[i - 1];
    return NULL;
}

static void add_finding(Checker *checker, const Finding *finding) {
    if (checker->finding_count == checker->finding_capacity) {
        size_t capacity = checker->finding_capacity ? checker->finding_capacity * 2 : 16;
        Finding *grown = realloc(checker->findings, capacity * sizeof *grown);
        if (!grown) {
            checker->lost = true;
            return;
        }
        checker->findings = grown;
        checker->finding_capacity = capacity;
    }
    checker->findings[checker->finding_count++] = *finding;
}

void check_found(Checker *checker, const Warp *warp, HazardKind kind, PtxSpace space,
                 const Inst *inst, uint32_t thread, const Inst *other, uint32_t other_thread,
                 uint64_t address, const char *format, ...) {
    Finding finding = {.kind = kind,
                       .space = space,
                       .place = check_place(checker, inst),
                       .thread = thread,
                       .other_thread = other_thread,
                       .block = warp->block->number,
                       .address = address,
                       .occurrences = 1};
    if (other) finding.other = check_place(checker, other);
    Finding *known = find(checker, &finding);
    if (known) {
        known->occurrences++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding.text, sizeof finding.text, format, arguments);
    va_end(arguments);
    add_finding(checker, &finding);
}

const char *check_verb(const Inst *inst) {
    static const char *const verbs[] = {[ACCESS_LOAD] = "reads",
                                        [ACCESS_STORE] = "writes",
                                        [ACCESS_ATOMIC] = "updates",
                                        [ACCESS_COPY] = "writes"};
    return verbs[inst->access];
}

// --- the report ---

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare(const void *left, const void *right) {
    const Finding *a = left, *b = right;
    const uint64_t keys[][2] = {
        {a->place.file, b->place.file},
        {a->place.line, b->place.line},
        {a->other.file, b->other.file},
        {a->other.line, b->other.line},
        {a->kind, b->kind},
        {a->space, b->space},
        {a->block, b->block},
    };
    int order = 0;
    for (size_t i = 0; !order && i < sizeof keys / sizeof *keys; i++)
        order = compare_numbers(keys[i][0], keys[i][1]);
    return order;
}

static Dim3 unlinear(uint64_t number, Dim3 shape) {
    return (Dim3){(uint32_t)(number % shape.x), (uint32_t)(number / shape.x % shape.y),
                  (uint32_t)(number / shape.x / shape.y)};
}

static const char *file_name(const PtxModule *module, uint32_t file) {
    return file < module->file_count ? module->file_short[file] : NULL;
}

static void describe(const Machine *machine, const Finding *finding, Hazard *hazard) {
    static const char *const kinds[] = {
        [KIND_RACE] = "race",
        [KIND_BARRIER] = "divergent barrier",
        [KIND_MASK] = "mask of lanes",
        [KIND_BOUNDS] = "out of bounds",
        [KIND_MISALIGNED] = "misaligned access",
        [KIND_FREED] = "use after free",
        [KIND_FREE] = "invalid free",
        [KIND_UNWRITTEN] = "uninitialized read",
    };
    static const char *const spaces[] = {
        [PTX_GLOBAL] = "global", [PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    bool space =
        finding->space == PTX_GLOBAL || finding->space == PTX_SHARED || finding->space == PTX_LOCAL;
    *hazard = (Hazard){.kind = kinds[finding->kind],
                       .file = file_name(machine->module, finding->place.file),
                       .line = finding->place.line,
                       .block = unlinear(finding->block, machine->grid),
                       .thread = unlinear(finding->thread, machine->block),
                       .address = finding->address,
                       .space = space ? spaces[finding->space] : NULL,
                       .occurrences = finding->occurrences};
    if (finding->other.line) {
        hazard->other_file = file_name(machine->module, finding->other.file);
        hazard->other_line = finding->other.line;
        hazard->other_thread = unlinear(finding->other_thread, machine->block);
    }
    snprintf(hazard->advice, sizeof hazard->advice, "%s", finding->text);
}

// When a kernel failed, blocks behind the one that did may or may not have run: what only they
// found is left out, and so are the numbers of findings.
static bool certain(const Machine *machine, const Finding *finding) {
    return machine->status == SIMT_OK || finding->block <= machine->failed_block;
}

size_t check_report(const Observer *observer, Arena *arena, Hazard **hazards) {
    const Check *check = (const Check *)(const void *)observer;
    const Machine *machine = check->machine;
    if (check->found_count) qsort(check->found, check->found_count, sizeof *check->found, compare);
    *hazards = check->found_count ? ARENA_NEW(arena, check->found_count, Hazard) : NULL;
    size_t count = 0;
    const Finding *last = NULL;
    for (size_t i = 0; i < check->found_count; i++) {
        const Finding *finding = &check->found[i];
        if (!certain(machine, finding)) continue;
        if (last && same_finding(last, finding)) {
            (*hazards)[count - 1].occurrences += finding->occurrences;
            continue;
        }
        describe(machine, finding, &(*hazards)[count++]);
        last = finding;
    }
    for (size_t i = 0; machine->status != SIMT_OK && i < count; i++) (*hazards)[i].occurrences = 0;
    return count;
}

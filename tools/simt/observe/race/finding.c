// Records, merges, sorts and describes findings. See finding.h.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/exec/address.h"
#include "simt/observe/race/checker.h"
#include "simt/ops/ops.h"

PtxPlace finding_place(const Machine *machine, const Inst *inst) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    return ptx ? ptx->place : (PtxPlace){0, 0};
}

// --- sites ---

uint32_t finding_new_site(Check *check, const Access *access) {
    const Inst *inst = access->inst;
    const bool uses_old = inst->plain == op_atomic && inst->atomic.old != PTX_NONE;
    const PtxInst *ptx = machine_instruction(check->machine, inst);
    const bool constant = ptx && ptx_is_load(ptx) && ptx_has(ptx, PTX_MOD_NC);
    const uint32_t site =
        check->site_count < check->site_capacity ? check->site_count++ : check->site_count - 1;
    check->sites[site] =
        (Site){.inst = inst, .kind = access->kind, .uses_old = uses_old, .constant = constant};
    check->site_of_slot[access->slot] = (uint16_t)site;
    check->constants |= constant && !check->library;
    return site;
}

// --- recording ---

static bool same_instructions(const Finding *a, const Finding *b) {
    return a->seed == b->seed && a->kind == b->kind && a->space == b->space &&
           a->at.inst == b->at.inst && a->at.kind == b->at.kind && a->other.inst == b->other.inst &&
           a->other.kind == b->other.kind;
}

// Whether the threads of both access their elements of the same arrays.
static bool same_arrays(const Finding *a, const Finding *b) {
    return advice_start(&a->at, a->address) == advice_start(&b->at, b->address) &&
           advice_start(&a->other, a->address) == advice_start(&b->other, b->address);
}

// Adds a finding to the one with the same instructions, and returns that. It describes the
// occurrence in the block with the lowest number; *fresh: this one has a lower number.
static Finding *record(Check *check, const Finding *key, bool *fresh) {
    Findings *findings = &check->findings;
    size_t k = 0;
    while (k < findings->count && !same_instructions(&findings->at[k], key)) k++;
    if (k == findings->count) {
        ARENA_GROW(&check->arena, findings->at, findings->count, findings->capacity);
        findings->at[findings->count++] = (Finding){.order = k, .at.block = UINT64_MAX};
    }
    Finding *finding = &findings->at[k];
    finding->scattered |=
        key->kind == KIND_RACE && finding->occurrences && !same_arrays(finding, key);
    *fresh = key->at.block < finding->at.block;
    if (*fresh) {
        const Finding before = *finding;
        *finding = *key;
        finding->order = before.order;
        finding->occurrences = before.occurrences;
        finding->between = before.between;
        finding->more = before.more;
        finding->scattered = before.scattered;
    }
    finding->between |= key->between;
    finding->more |= key->more;
    finding->occurrences++;
    return finding;
}

void finding_add(Checker *checker, HazardKind kind, PtxSpace space, const Inst *inst,
                 uint32_t thread, const Inst *other, uint32_t other_thread, uint64_t address,
                 const char *format, ...) {
    const uint64_t block = checker->block;
    const Finding key = {.kind = kind,
                         .space = space,
                         .at = {inst, inst->access, thread, block},
                         .other = {.inst = other, .thread = other_thread, .block = block},
                         .address = address};
    bool fresh;
    Finding *finding = record(checker->check, &key, &fresh);
    if (!fresh) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

static Side side_of(const Checker *checker, Record record, uint64_t block) {
    const Site *site = check_site_of(checker, record);
    return (Side){site->inst, site->kind, record_thread(record), block};
}

static void show_race(const Checker *checker, const Finding *found) {
    Observer *trace = checker->machine->trace;
    if (!trace || found->space != PTX_SHARED || found->other.block != found->at.block) return;
    const ObserverRace race = {found->at.block,  found->at.inst,      found->other.inst,
                               found->at.thread, found->other.thread, found->address};
    trace->race(trace, &race);
}

static uint32_t between(const Checker *checker, Record mine, Record earlier, uint64_t block) {
    if (record_is_copy(earlier)) return BETWEEN_COPY;
    const uint32_t near = (mine ^ earlier) & RECORD_WARP_MASK ? BETWEEN_WARPS : BETWEEN_LANES;
    const uint32_t narrow = record_scope(mine) && record_scope(earlier) ? BETWEEN_NARROW : 0;
    return (block != checker->block ? BETWEEN_BLOCKS : near) | narrow;
}

void finding_race(Checker *checker, HazardKind kind, PtxSpace space, Record mine, Record earlier,
                  uint64_t address) {
    enum { MOST_UNSURE = 1 << 14 }; // further ones are omitted
    Check *check = checker->check;
    uint64_t block = checker->block;
    const bool other_blocks = space == PTX_GLOBAL || check_clusters(checker->machine);
    if (other_blocks && !record_is_copy(earlier)) block = shadow_block(record_time(earlier));
    const bool many = ++checker->finding.races[record_site(mine)] >= check_many_races(checker);
    const Finding key = {.kind = kind,
                         .space = space,
                         .at = side_of(checker, mine, checker->block),
                         .other = side_of(checker, earlier, block),
                         .between = between(checker, mine, earlier, block),
                         .address = address,
                         .more = many};
    bool fresh;
    if (kind == KIND_RACE) show_race(checker, &key);
    if (kind != KIND_VOLATILE) {
        record(check, &key, &fresh);
    } else if (check->unsure.count < MOST_UNSURE) {
        Findings *unsure = &check->unsure;
        ARENA_GROW(&check->arena, unsure->at, unsure->count, unsure->capacity);
        unsure->at[unsure->count++] = key;
    }
}

// --- the report ---

static bool same_place(PtxPlace a, PtxPlace b) { return a.file == b.file && a.line == b.line; }

static bool same_finding(const Finding *a, const Finding *b) {
    return a->kind == b->kind && a->space == b->space && a->seed == b->seed &&
           same_place(a->place, b->place) && same_place(a->other_place, b->other_place);
}

// The usual order first, then the reversed one.
static uint64_t place_among_orders(uint64_t seed) { return seed == ORDER_REVERSED ? 1 : seed; }

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare(const void *left, const void *right) {
    const Finding *a = left, *b = right;
    const uint64_t keys[][2] = {
        {a->place.file, b->place.file},
        {a->place.line, b->place.line},
        {a->other_place.file, b->other_place.file},
        {a->other_place.line, b->other_place.line},
        {a->kind, b->kind},
        {a->space, b->space},
        {place_among_orders(a->seed), place_among_orders(b->seed)},
        {a->at.block, b->at.block},
        {a->order, b->order},
    };
    int order = 0;
    for (size_t i = 0; !order && i < sizeof keys / sizeof *keys; i++)
        order = compare_numbers(keys[i][0], keys[i][1]);
    return order;
}

static const char *file_name(const PtxModule *module, uint32_t file) {
    return file < module->file_count ? module->file_short[file] : NULL;
}

// The source line of an instruction or, if it is not known, its line in the PTX, of file 0.
static PtxPlace place_of(const Machine *machine, const Inst *inst) {
    const PtxPlace place = finding_place(machine, inst);
    const PtxInst *ptx = place.line || !inst ? NULL : machine_instruction(machine, inst);
    return ptx ? (PtxPlace){0, ptx->ptx_line} : place;
}

static PtxPlace call_of(const Machine *machine, const Inst *inst) {
    const PtxInst *ptx = inst ? machine_instruction(machine, inst) : NULL;
    return ptx ? ptx->call : (PtxPlace){0, 0};
}

// Adds the name of the variable that is accessed, and the size of its elements by the opcode's
// type.
static void name_memory(const Machine *machine, const Finding *finding, Arena *arena,
                        Hazard *hazard) {
    const PtxInst *ptx = finding->at.inst ? machine_instruction(machine, finding->at.inst) : NULL;
    const uint64_t address = finding->address;
    if (finding->space == PTX_SHARED)
        hazard->offset = bounds_name(machine, address, hazard->variable, sizeof hazard->variable);
    if (finding->space == PTX_GLOBAL)
        hazard->offset = argument_name(machine, address, hazard->variable, sizeof hazard->variable);
    if (!ptx) return;
    if (!hazard->file) hazard->opcode = str_terminated(arena, ptx->text);
    const uint8_t last =
        ptx->modifier_count ? ptx->modifiers[ptx->modifier_count - 1] : PTX_MOD_NONE;
    hazard->element_bytes = last < PTX_TYPES ? ptx_type_bytes((PtxType)last) : 0;
}

static void describe(const Machine *machine, const Finding *finding, Arena *arena, Hazard *hazard) {
    static const char *const kinds[] = {
        [KIND_RACE] = "race",
        [KIND_CONSTANT] = "write to read-only data",
        [KIND_VOLATILE] = "unordered volatile accesses",
        [KIND_BARRIER] = "divergent barrier",
        [KIND_MASK] = "mask of lanes",
        [KIND_WIDTH] = "shuffle width",
        [KIND_LANE] = "shuffle from an absent lane",
        [KIND_BOUNDS] = "out of bounds",
        [KIND_MISALIGNED] = "misaligned access",
        [KIND_FREED] = "use after free",
        [KIND_FREE] = "invalid free",
        [KIND_UNWRITTEN] = "uninitialized read",
        [KIND_CLUSTER] = "block of a cluster",
        [KIND_COPY] = "asynchronous copy",
        [KIND_EARLY] = "race between launches",
        [KIND_ENDED] = "divergent barrier",
        [KIND_UNTOUCHED] = "uninitialized read",
        [KIND_GUESS] = "race",
        [KIND_LEADER] = "mask of lanes",
    };
    static const char *const spaces[] = {
        [PTX_GLOBAL] = "global", [PTX_SHARED] = "shared", [PTX_LOCAL] = "local"};
    bool space =
        finding->space == PTX_GLOBAL || finding->space == PTX_SHARED || finding->space == PTX_LOCAL;
    *hazard = (Hazard){.kind = kinds[finding->kind],
                       .file = file_name(machine->module, finding->place.file),
                       .line = finding->place.line,
                       .seed = finding->seed,
                       .block = dim3_at(finding->at.block, machine->grid),
                       .thread = dim3_at(finding->at.thread, machine->block),
                       .address = finding->address,
                       .space = space ? spaces[finding->space] : NULL,
                       .note = finding->kind >= FIRST_NOTE,
                       .occurrences = finding->occurrences,
                       .more = finding->more};
    const PtxPlace call = call_of(machine, finding->at.inst);
    hazard->call_file = file_name(machine->module, call.file);
    hazard->call_line = call.line;
    name_memory(machine, finding, arena, hazard);
    if (finding->other_place.line) {
        const PtxPlace other_call = call_of(machine, finding->other.inst);
        hazard->other_call_file = file_name(machine->module, other_call.file);
        hazard->other_call_line = other_call.line;
        hazard->other_file = file_name(machine->module, finding->other_place.file);
        hazard->other_line = finding->other_place.line;
        hazard->other_block = dim3_at(finding->other.block, machine->grid);
        hazard->other_thread = dim3_at(finding->other.thread, machine->block);
    }
    if (space) hazard->does = advice_verb(finding->at.kind);
    if (finding->text[0]) {
        Str advice = str_of(finding->text), fact;
        str_line(&advice, &fact);
        hazard->fact = str_terminated(arena, fact);
        snprintf(hazard->advice, sizeof hazard->advice, "%.*s", STR_ARG(advice));
        return;
    }
    hazard->span = advice_span(machine, finding);
    advice_write(machine, finding, &hazard->span, hazard->advice, sizeof hazard->advice);
    hazard->other_does = advice_verb(finding->other.kind);
    hazard->ordered = finding->kind == KIND_CONSTANT;
}

// If a kernel failed, blocks after the one that failed may or may not have run, so what only they
// found is omitted, and so are the numbers of occurrences. Other orders run on one thread, so all
// that they found is certain.
static bool certain(const Machine *machine, const Finding *finding) {
    return machine->order || finding->seed || machine->status == SIMT_OK ||
           finding->at.block <= machine->failed_block;
}

// Marks a race between an atomic operation and a plain read that is only a first guess (guess.c).
// The read becomes the first of the two accesses.
static void mark_guess(const Machine *machine, Finding *finding) {
    const bool reads = finding->at.kind == ACCESS_LOAD;
    const Side load = reads ? finding->at : finding->other;
    const Side update = reads ? finding->other : finding->at;
    if (finding->kind != KIND_RACE || update.kind != ACCESS_ATOMIC) return;
    if (load.kind != ACCESS_LOAD || !guess_checked(machine, load.inst)) return;
    finding->kind = KIND_GUESS;
    finding->at = load;
    finding->other = update;
}

// Reports unordered volatile accesses to words for which no thread has waited.
static void report_unsure(Check *check) {
    bool fresh;
    for (size_t i = 0; i < check->unsure.count; i++)
        if (!order_waited(&check->words, check->unsure.at[i].address))
            record(check, &check->unsure.at[i], &fresh);
    check->unsure.count = 0;
}

// Finds the places of all findings and merges those that are equal. Returns their number.
static size_t merge(Check *check) {
    const Machine *machine = check->machine;
    report_unsure(check);
    for (size_t i = 0; i < check->findings.count; i++) {
        Finding *finding = &check->findings.at[i];
        mark_guess(machine, finding);
        finding->place = place_of(machine, finding->at.inst);
        finding->other_place = place_of(machine, finding->other.inst);
    }
    if (check->findings.count)
        qsort(check->findings.at, check->findings.count, sizeof *check->findings.at, compare);
    size_t count = 0;
    for (size_t i = 0; i < check->findings.count; i++) {
        const Finding *finding = &check->findings.at[i];
        if (!certain(machine, finding)) continue;
        if (count && same_finding(&check->findings.at[count - 1], finding)) {
            check->findings.at[count - 1].occurrences += finding->occurrences;
            check->findings.at[count - 1].between |= finding->between;
            check->findings.at[count - 1].more |= finding->more;
            check->findings.at[count - 1].scattered = true; // by several instructions
        } else {
            check->findings.at[count++] = *finding;
        }
    }
    return count;
}

// Whether a finding of another order adds nothing to a known one: it is equal, or the same race
// with the accesses in reverse order, or a read of unwritten memory that a known race explains.
static bool adds_nothing(const Finding *one, const Finding *known) {
    const bool here = same_place(one->place, known->place);
    const bool reversed = same_place(one->place, known->other_place);
    if (one->kind == KIND_UNWRITTEN && known->kind == KIND_RACE) return here || reversed;
    return one->kind == known->kind && one->space == known->space &&
           ((here && same_place(one->other_place, known->other_place)) ||
            (reversed && same_place(one->other_place, known->place)));
}

static bool is_known(const Finding *findings, size_t count, const Finding *one) {
    for (size_t i = 0; one->seed && i < count; i++) {
        const Finding *known = &findings[i];
        if (place_among_orders(known->seed) < place_among_orders(one->seed) &&
            adds_nothing(one, known))
            return true;
    }
    return false;
}

size_t finding_report(Check *check, Arena *arena, Hazard **hazards) {
    const Machine *machine = check->machine;
    const size_t count = merge(check);
    const Finding *findings = check->findings.at;
    size_t reported = 0;
    *hazards = count ? ARENA_NEW(arena, count, Hazard) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_known(findings, count, &findings[i])) continue;
        Hazard *hazard = &(*hazards)[reported++];
        describe(machine, &findings[i], arena, hazard);
        if (machine->status != SIMT_OK) hazard->occurrences = 0;
    }
    return reported;
}

const void *finding_send(Observer *self, size_t *bytes) {
    Check *check = (Check *)(void *)self;
    const size_t count = merge(check);
    for (size_t i = 0; i < count; i++) check->findings.at[i].seed = check->machine->order;
    *bytes = count * sizeof *check->findings.at;
    return check->findings.at;
}

void finding_receive(Observer *self, const void *found, size_t bytes) {
    Check *check = (Check *)(void *)self;
    Findings *findings = &check->findings;
    for (size_t k = 0; k < bytes / sizeof(Finding); k++) {
        ARENA_GROW(&check->arena, findings->at, findings->count, findings->capacity);
        memcpy(&findings->at[findings->count++], (const Finding *)found + k, sizeof(Finding));
    }
}

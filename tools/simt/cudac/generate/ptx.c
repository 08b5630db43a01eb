// Writes kernels as PTX text: blocks, the moves between them, lines, declarations.
#include "simt/cudac/generate/ptx.h"

#include <string.h>

#include "simt/cudac/generate/instruction.h"

static bool is_float(TypeKind kind) {
    return kind == TYPE_F16 || kind == TYPE_F32 || kind == TYPE_F64;
}

// --- lines ---

size_t ptx_number(Map *map, Str key) {
    bool is_new;
    size_t *number = map_at(map, key, &is_new);
    if (is_new) *number = map->count;
    return *number;
}

static void write_site(Writer *w, const Site *site) {
    if (!site || site == w->site) return;
    if (w->site && site->call == w->site->call && site->place.line == w->site->place.line &&
        site->place.column == w->site->place.column &&
        str_equal(site->place.file, w->site->place.file))
        return;
    // The chain of calls first, so that a reader knows what this place was inlined into.
    if (site->call && (!w->site || w->site->call != site->call)) write_site(w, site->call);
    w->site = site;
    buf_format(w->out, "\t.loc\t%zu %u %u", ptx_number(&w->text->files, site->place.file),
               site->place.line, site->place.column);
    if (site->call) {
        const Place *call = &site->call->place;
        buf_format(w->out, ", function_name $L__info_string%zu, inlined_at %zu %u %u",
                   ptx_number(&w->text->functions, site->function->symbol),
                   ptx_number(&w->text->files, call->file), call->line, call->column);
    }
    buf_char(w->out, '\n');
}

// --- blocks ---

static size_t edge_of(const Block *to, const Block *from) {
    size_t k = 0;
    while (to->before[k] != from) k++;
    return k;
}

typedef struct {
    const Value *to, *from;
    uint32_t from_reg; // a register that holds the value instead; 0: none
} Move;

static void write_move(Writer *w, const Move *move) {
    const char *type = move->to->kind == TYPE_BOOL || move->to->kind == TYPE_F16
                           ? instruction_bit_type(move->to->kind)
                           : instruction_number_type(move->to->kind);
    buf_format(w->out, "\tmov.%s \t", type);
    instruction_register(w, (move->to)->kind, (move->to)->reg);
    buf_add(w->out, STR(", "));
    if (move->from_reg)
        instruction_register(w, move->to->kind, move->from_reg);
    else
        instruction_operand(w, move->from);
    buf_add(w->out, STR(";\n"));
}

static bool reads(const Move *move, const Value *target) {
    if (move->from_reg) return false;
    return move->from->kind == target->kind && move->from->op != OP_CONSTANT &&
           move->from->reg == target->reg;
}

// The moves happen at once: one whose target is still read has to wait, and a circle is opened with
// one more register.
static void write_moves(Writer *w, Move *moves, size_t count) {
    while (count) {
        size_t ready = count;
        for (size_t k = 0; k < count && ready == count; k++) {
            bool waits = false;
            for (size_t j = 0; j < count; j++)
                if (j != k && reads(&moves[j], moves[k].to)) waits = true;
            if (!waits) ready = k;
        }
        if (ready < count) {
            write_move(w, &moves[ready]);
            moves[ready] = moves[--count];
            continue;
        }
        Value saved = *moves[0].to;
        saved.reg = ++w->counts[saved.kind];
        write_move(w, &(Move){&saved, moves[0].to, 0});
        for (size_t j = 1; j < count; j++)
            if (reads(&moves[j], moves[0].to)) moves[j].from_reg = saved.reg;
    }
}

static void write_phis(Writer *w, const Block *from, const Block *to) {
    if (!to->phi_count) return;
    Move *moves = ARENA_NEW(w->graph->arena, to->phi_count, Move);
    size_t count = 0, edge = edge_of(to, from);
    for (size_t p = 0; p < to->phi_count; p++) {
        const Value *phi = to->phis[p], *arg = phi->args[edge];
        bool same = arg->op != OP_CONSTANT && arg->reg == phi->reg;
        if (arg->op != OP_UNDEFINED && !same) moves[count++] = (Move){phi, arg, 0};
    }
    write_moves(w, moves, count);
}

static void write_jump(Writer *w, const char *how, const Block *to) {
    buf_format(w->out, "%s \t$L__BB%u_%u;\n", how, w->text->kernel_count, to->number);
}

static void write_end(Writer *w, const Block *block, const Block *following) {
    if (block->end == END_BRANCH || block->end == END_RETURN) write_site(w, block->site);
    if (block->end == END_JUMP) {
        write_phis(w, block, block->next[0]);
        if (block->next[0] != following) write_jump(w, "\tbra.uni", block->next[0]);
    } else if (block->end == END_BRANCH) {
        for (int k = 0; k < 2; k++) write_phis(w, block, block->next[k]);
        const Value *condition = block->condition;
        bool negated = condition->op == OP_NOT && condition->uses == 1;
        int way = block->next[0] == following ? 1 : 0;
        if (negated) condition = condition->args[0];
        buf_format(w->out, "\t@%s", negated != (way == 1) ? "!" : "");
        instruction_operand(w, condition);
        write_jump(w, " bra", block->next[way]);
        if (block->next[1 - way] != following) write_jump(w, "\tbra.uni", block->next[1 - way]);
    } else if (block->end == END_RETURN) {
        buf_add(w->out, STR("\tret;\n"));
    }
}

static bool is_folded(const Block *block, const Value *value) {
    return block->end == END_BRANCH && value == block->condition && value->op == OP_NOT &&
           value->uses == 1;
}

static void write_blocks(Writer *w) {
    for (size_t k = 0; k < w->graph->block_count; k++) {
        const Block *block = w->graph->blocks[k];
        const Block *following = k + 1 < w->graph->block_count ? w->graph->blocks[k + 1] : NULL;
        w->constant_count = 0;
        if (k) buf_format(w->out, "\n$L__BB%u_%u:\n", w->text->kernel_count, block->number);
        for (size_t v = 0; v < block->value_count; v++) {
            if (is_folded(block, block->values[v])) continue;
            if (registers_needed(block->values[v]) || block->values[v]->op >= OP_FIRST_PINNED)
                write_site(w, block->values[v]->site);
            instruction_write(w, block->values[v]);
        }
        write_end(w, block, following);
    }
}

// --- kernels ---

static void write_parameters(Buf *out, const Function *kernel) {
    for (size_t k = 0; k < kernel->parameter_count; k++) {
        const Type *type = kernel->parameters[k]->type;
        buf_add(out, k ? STR(",\n\t.param ") : STR("\n\t.param "));
        bool bytes = type->kind == TYPE_STRUCT || type->kind == TYPE_F16;
        if (bytes)
            buf_format(out, ".align %u .b8 ", type->align);
        else if (graph_size(type->kind) == 1)
            buf_add(out, STR(".u8 "));
        else
            buf_format(out, ".%s ",
                       type->kind == TYPE_S16 ? "u16" : instruction_memory_type(type->kind));
        buf_format(out, "%.*s_param_%zu", STR_ARG(kernel->symbol), k);
        if (bytes) buf_format(out, "[%llu]", (unsigned long long)type->size);
    }
}

static void write_registers(Buf *out, const uint32_t counts[TYPE_F64 + 1]) {
    static const TypeKind kinds[] = {TYPE_BOOL, TYPE_F16, TYPE_F32, TYPE_U32, TYPE_F64, TYPE_U64};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        buf_format(out, "\t.reg .%s \t%%%s<%u>;\n",
                   is_float(kinds[k]) && kinds[k] != TYPE_F16 ? instruction_number_type(kinds[k])
                                                              : instruction_bit_type(kinds[k]),
                   instruction_prefix(kinds[k]), counts[kinds[k]] + 1);
}

static void write_shared(Writer *w, Buf *out) {
    Map seen = {.arena = w->text->arena};
    for (size_t k = 0; k < w->graph->block_count; k++)
        for (size_t v = 0; v < w->graph->blocks[k]->value_count; v++) {
            const Value *value = w->graph->blocks[k]->values[v];
            if (value->op != OP_SYMBOL || value->space != SPACE_SHARED) continue;
            const Variable *variable = value->object;
            bool is_new;
            map_at(&seen, variable->symbol, &is_new);
            if (is_new && variable->kind == VARIABLE_SHARED)
                ptx_write_variable(out, variable, STR("\t"));
        }
}

void ptx_kernel(PtxText *text, Graph *graph, const Function *kernel,
                const uint32_t counts[TYPE_F64 + 1], uint64_t local_bytes, uint32_t local_align) {
    Buf body = {.arena = text->arena}, *out = &text->out;
    Writer writer = {.text = text, .out = &body, .graph = graph, .kernel = kernel}, *w = &writer;
    memcpy(w->counts, counts, sizeof w->counts);
    write_blocks(w);
    buf_format(out, "\n.visible .entry %.*s(", STR_ARG(kernel->symbol));
    write_parameters(out, kernel);
    buf_add(out, kernel->parameter_count ? STR("\n)\n") : STR(")\n"));
    if (kernel->max_threads) buf_format(out, ".maxntid %u, 1, 1\n", kernel->max_threads);
    if (kernel->min_blocks) buf_format(out, ".minnctapersm %u\n", kernel->min_blocks);
    buf_add(out, STR("{\n"));
    if (local_bytes)
        buf_format(out, "\t.local .align %u .b8 \t__local_depot%u[%llu];\n",
                   local_align < 8 ? 8 : local_align, text->kernel_count,
                   (unsigned long long)local_bytes);
    write_registers(out, w->counts);
    write_shared(w, out);
    buf_format(out, "\t.loc\t%zu %u 0\n", ptx_number(&text->files, kernel->place.file),
               kernel->place.line);
    buf_add(out, buf_str(&body));
    buf_add(out, STR("}\n"));
    text->kernel_count++;
}

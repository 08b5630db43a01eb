// Parses functions' bodies: scopes, registers, labels, instructions with their operands, and source
// lines.
#include <string.h>

#include "simt/base/align.h"
#include "simt/ptx/parse.h"

#define OPERAND_DEPTH  4
#define REGISTER_LIMIT (1u << 20)

// --- registers ---

static void parse_registers(Parser *parser) {
    Str type_name = parse_word(parser, "a type");
    PtxType type = parse_dotted_type(type_name);
    if (type == PTX_NOTYPE) {
        parser->status = SIMT_UNSUPPORTED;
        parse_fail(parser, "cannot declare registers of type `%.*s`", STR_ARG(type_name));
    }
    do {
        Str name = parse_word(parser, "a register");
        bool range = parse_take(parser, "<");
        PtxName *entry = name_add(parser, name, range ? NAME_RANGE : NAME_REG, parser->scope);
        entry->type = type;
        entry->index = PTX_NONE; // until it is used
        if (range) {
            uint64_t count = parse_int(parser, "a number of registers");
            entry->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
            parse_expect(parser, ">");
        }
    } while (parse_take(parser, ","));
    parse_expect(parser, ";");
}

static uint32_t register_new(Parser *parser, Str name, PtxType type) {
    PtxFunction *function = parser->function;
    if (function->register_count >= REGISTER_LIMIT) parse_fail(parser, "too many registers");
    size_t count = function->register_count;
    ARENA_GROW(parser->arena, function->registers, count, parser->register_capacity);
    function->registers[count] = (PtxRegister){name, type};
    return function->register_count++;
}

// The register of this name, PTX_NONE if none is declared.
static uint32_t register_named(Parser *parser, Str name) {
    PtxName *entry = name_visible(parser, name, NAME_REG);
    if (!entry) {
        size_t digits = name.len;
        while (digits > 0 && name.at[digits - 1] >= '0' && name.at[digits - 1] <= '9') digits--;
        if (digits == name.len || name.len - digits > 9) return PTX_NONE;
        if (name.at[digits] == '0' && name.len - digits > 1) return PTX_NONE;
        uint32_t number = 0;
        for (size_t k = digits; k < name.len; k++)
            number = number * 10 + (uint32_t)(name.at[k] - '0');
        PtxName *range = name_visible(parser, str_slice(name, 0, digits), NAME_RANGE);
        if (!range || number >= range->count) return PTX_NONE;
        PtxType type = range->type;
        entry = name_add(parser, name, NAME_REG, range->scope);
        entry->type = type;
        entry->index = PTX_NONE;
    }
    if (entry->index == PTX_NONE) entry->index = register_new(parser, name, entry->type);
    return entry->index;
}

// --- operands ---

static void parse_operand(Parser *parser, PtxOperand *operand, uint32_t depth);

// Operands up to this token. They are collected on a stack, since lists nest and their length is
// not known in advance.
static PtxOperand *parse_list(Parser *parser, const char *close, uint32_t depth, uint32_t *count) {
    const size_t first = parser->collected_count;
    while (!parse_at(parser, close)) {
        PtxOperand item;
        parse_operand(parser, &item, depth);
        ARENA_GROW(parser->arena, parser->collected, parser->collected_count,
                   parser->collected_capacity);
        parser->collected[parser->collected_count++] = item;
        if (!parse_take(parser, ",")) break;
    }
    parse_expect(parser, close);
    *count = (uint32_t)(parser->collected_count - first);
    PtxOperand *list = ARENA_NEW(parser->arena, *count, PtxOperand);
    if (*count) memcpy(list, parser->collected + first, *count * sizeof *list);
    parser->collected_count = first;
    return list;
}

static void parse_items(Parser *parser, PtxOperand *operand, const char *close, uint32_t depth) {
    if (depth >= OPERAND_DEPTH) parse_fail(parser, "operands nested too deeply");
    operand->items = parse_list(parser, close, depth + 1, &operand->count);
}

static void parse_name(Parser *parser, PtxOperand *operand) {
    operand->name = parse_word(parser, "an operand");
    bool sink = str_equal(operand->name, STR("_"));
    if (!sink) operand->reg = register_named(parser, operand->name);
    if (sink || operand->reg != PTX_NONE) {
        operand->kind = sink ? PTX_OPERAND_SINK : PTX_OPERAND_REG;
        if (parse_take(parser, "|")) {
            Str second = parse_word(parser, "a register");
            if (str_equal(second, STR("_"))) return;
            operand->reg2 = register_named(parser, second);
            if (operand->reg2 == PTX_NONE)
                parse_fail(parser, "unknown register `%.*s`", STR_ARG(second));
        }
        return;
    }
    operand->kind = PTX_OPERAND_NAME;
    operand->special = (uint8_t)ptx_special_named(operand->name);
    PtxName *variable = name_visible(parser, operand->name, NAME_VARIABLE);
    if (variable) operand->variable = variable->variable;
}

static void parse_offset(Parser *parser, PtxOperand *operand) {
    while (parse_at(parser, "+") || parse_at(parser, "-"))
        operand->addend += parse_int(parser, "an offset");
}

static void operand_float(PtxOperand *operand, Token number, bool negative) {
    if (number.kind == TOKEN_SINGLE) {
        operand->kind = PTX_OPERAND_SINGLE;
        operand->single_bits = (uint32_t)number.value ^ (negative ? 1u << 31 : 0);
    } else {
        operand->kind = PTX_OPERAND_DOUBLE;
        operand->double_bits = number.value ^ (negative ? 1ull << 63 : 0);
    }
}

// A number: an integer with any signs, or a floating-point number with at most one.
static void parse_number(Parser *parser, PtxOperand *operand) {
    bool negative = parse_at(parser, "-");
    Token number = parser->token;
    if (negative) {
        Lexer ahead = parser->lexer;
        number = ptx_token(&ahead);
    }
    if (number.kind == TOKEN_DOUBLE || number.kind == TOKEN_SINGLE) {
        if (negative) parse_next(parser);
        parse_next(parser);
        operand_float(operand, number, negative);
        return;
    }
    operand->kind = PTX_OPERAND_INT;
    operand->integer = parse_int(parser, "a number");
}

// [base + offset, items...], after the bracket.
static void parse_address(Parser *parser, PtxOperand *operand, uint32_t depth) {
    if (parser->token.kind == TOKEN_INT)
        operand->addend = parse_int(parser, "an address");
    else
        parse_name(parser, operand);
    parse_offset(parser, operand);
    if (parse_take(parser, ","))
        parse_items(parser, operand, "]", depth);
    else
        parse_expect(parser, "]");
    operand->kind = PTX_OPERAND_ADDRESS;
}

static void parse_operand(Parser *parser, PtxOperand *operand, uint32_t depth) {
    *operand = (PtxOperand){.reg = PTX_NONE, .reg2 = PTX_NONE};
    Token token = parser->token;
    if (token.kind == TOKEN_SINGLE || token.kind == TOKEN_DOUBLE || token.kind == TOKEN_INT ||
        parse_at(parser, "-") || parse_at(parser, "+")) {
        parse_number(parser, operand);
    } else if (parse_take(parser, "!")) {
        const bool named = parser->token.kind == TOKEN_WORD;
        if (named) parse_name(parser, operand);
        if (!named || operand->kind != PTX_OPERAND_REG)
            parse_fail(parser, "`!` needs a predicate register");
        operand->negated = true;
    } else if (parse_take(parser, "{")) {
        parse_items(parser, operand, "}", depth);
        operand->kind = PTX_OPERAND_VECTOR;
    } else if (parse_take(parser, "(")) {
        parse_items(parser, operand, ")", depth);
        operand->kind = PTX_OPERAND_LIST;
    } else if (parse_take(parser, "[")) {
        parse_address(parser, operand, depth);
    } else if (token.kind == TOKEN_WORD) {
        parse_name(parser, operand);
        if (operand->kind == PTX_OPERAND_NAME) parse_offset(parser, operand);
    } else {
        Str text = str_slice(token.text, 0, 40);
        parse_fail(parser, "expected an operand, found `%.*s`", STR_ARG(text));
    }
}

// A name that is neither a register nor a variable may be a label defined later.
static void note_pending(Parser *parser, PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_NAME && !operand->variable && !operand->special) {
        ARENA_GROW(parser->arena, parser->pending, parser->pending_count, parser->pending_capacity);
        parser->pending[parser->pending_count++] = (PtxPending){operand, parser->scope};
    }
    for (uint32_t k = 0; k < operand->count; k++) note_pending(parser, &operand->items[k]);
}

static void resolve_pending(Parser *parser) {
    for (size_t k = 0; k < parser->pending_count; k++) {
        PtxOperand *operand = parser->pending[k].operand;
        parser->scope = parser->pending[k].scope;
        PtxName *label = name_visible(parser, operand->name, NAME_LABEL);
        if (!label) continue;
        operand->kind = PTX_OPERAND_LABEL;
        operand->label = label->index;
    }
    parser->pending_count = 0;
}

// --- source places ---

static PtxSeen *seen_slot(Parser *parser, uint64_t file, uint64_t line, uint64_t column) {
    uint64_t at = (file * 0x9E3779B97F4A7C15u) ^ (line * 0xC2B2AE3D27D4EB4Fu) ^
                  (column * 0x165667B19E3779F9u);
    at ^= at >> 29;
    PtxSeen *slot = &parser->seen[at % PTX_SEEN];
    if (slot->at != at) *slot = (PtxSeen){.at = at};
    return slot;
}

static bool user_file(const Parser *parser, uint64_t file) {
    const PtxModule *module = parser->module;
    return file < module->file_count && module->files[file] &&
           !ptx_toolkit_file(module->files[file]);
}

static bool collective_file(const Parser *parser, uint64_t file) {
    const PtxModule *module = parser->module;
    return file < module->file_count && module->files[file] &&
           ptx_collective_file(module->files[file]);
}

// .loc file line column [, function_name label [+ n], inlined_at file line column]
// Code inlined from the toolkit's headers is charged to the user's line that it was inlined into.
static void parse_loc(Parser *parser) {
    uint64_t at[3], inlined[3] = {0};
    for (int k = 0; k < 3; k++) at[k] = parse_int(parser, "a number");
    while (parse_take(parser, ",")) {
        if (parse_take(parser, "function_name")) {
            parse_word(parser, "a label");
            if (parse_take(parser, "+")) parse_int(parser, "an offset");
        } else {
            parse_expect(parser, "inlined_at");
            for (int k = 0; k < 3; k++) inlined[k] = parse_int(parser, "a number");
        }
    }
    PtxPlace place = {(uint32_t)at[0], (uint32_t)at[1]}, call = {0, 0};
    bool collective = false;
    if (inlined[1]) {
        const PtxSeen *outer = seen_slot(parser, inlined[0], inlined[1], inlined[2]);
        call = (PtxPlace){(uint32_t)inlined[0], (uint32_t)inlined[1]};
        collective = outer->collective || collective_file(parser, at[0]);
        if (!user_file(parser, at[0])) place = outer->place.line ? outer->place : call;
        if (outer->call.line) call = outer->call;
        bool same = call.line == place.line && call.file == place.file;
        if (same || !user_file(parser, call.file)) call = (PtxPlace){0, 0};
    }
    if (place.line == 0) return; // code without a line belongs to the previous line
    PtxSeen *seen = seen_slot(parser, at[0], at[1], at[2]);
    seen->place = parser->place = place;
    seen->call = parser->call = call;
    seen->collective = parser->collective = collective;
}

// --- statements ---

static void parse_local_variable(Parser *parser, PtxSpace space) {
    PtxFunction *function = parser->function;
    do {
        PtxVariable *variable = ARENA_NEW(parser->arena, 1, PtxVariable);
        parse_variable(parser, variable, space);
        name_add(parser, variable->name, NAME_VARIABLE, parser->scope)->variable = variable;
        if (space == PTX_LOCAL) {
            variable->offset = align_up(function->local_bytes, variable->align);
            if (variable->offset + variable->bytes > 1 << 20)
                parse_fail(parser, "local variables too large");
            function->local_bytes = (uint32_t)(variable->offset + variable->bytes);
        } else if (space == PTX_PARAM) {
            variable->offset = align_up(parser->scratch, variable->align);
            parser->scratch = variable->offset + variable->bytes;
            if (parser->scratch > 1 << 20) parse_fail(parser, "parameters too large");
            if (parser->scratch > function->scratch_bytes)
                function->scratch_bytes = (uint32_t)parser->scratch;
        } else if (variable->bytes > 1 << 30) {
            parse_fail(parser, "shared variable too large");
        }
        size_t count = function->variable_count;
        ARENA_GROW(parser->arena, function->variables, count, parser->local_capacity);
        function->variables[function->variable_count++] = variable;
    } while (parse_take(parser, ","));
    parse_expect(parser, ";");
}

static void parse_targets(Parser *parser, Str name) {
    PtxOperand *list = ARENA_NEW(parser->arena, 1, PtxOperand);
    size_t capacity = 0;
    do {
        ARENA_GROW(parser->arena, list->items, list->count, capacity);
        list->items[list->count++] = (PtxOperand){.kind = PTX_OPERAND_NAME,
                                                  .reg = PTX_NONE,
                                                  .reg2 = PTX_NONE,
                                                  .name = parse_word(parser, "a label")};
    } while (parse_take(parser, ","));
    parse_expect(parser, ";");
    note_pending(parser, list);
    ARENA_GROW(parser->arena, parser->targets, parser->target_count, parser->target_capacity);
    parser->targets[parser->target_count++] = (PtxTargetNames){name, list->items, list->count};
}

static void resolve_targets(Parser *parser) {
    PtxFunction *function = parser->function;
    function->targets = ARENA_NEW(parser->arena, parser->target_count + 1, PtxTargets);
    for (size_t k = 0; k < parser->target_count; k++) {
        const PtxTargetNames *names = &parser->targets[k];
        uint32_t *targets = ARENA_NEW(parser->arena, names->count, uint32_t);
        for (uint32_t j = 0; j < names->count; j++) {
            const PtxOperand *label = &names->labels[j];
            if (label->kind != PTX_OPERAND_LABEL)
                parse_fail(parser, "unknown label `%.*s`", STR_ARG(label->name));
            targets[j] = label->label;
        }
        function->targets[k] = (PtxTargets){names->name, targets, names->count};
    }
    function->target_count = (uint32_t)parser->target_count;
    parser->target_count = 0;
}

// Splits each opcode once, since modules repeat a few of them.
static void parse_opcode(Parser *parser, PtxInst *inst) {
    inst->text = parse_word(parser, "an instruction");
    PtxInst *known = &parser->split[str_hash(inst->text) % PTX_SPLIT];
    if (!str_equal(known->text, inst->text)) {
        known->text = inst->text;
        known->opcode = ptx_split_opcode(inst->text, known->modifiers, &known->modifier_count);
    }
    inst->opcode = known->opcode;
    inst->modifier_count = known->modifier_count;
    memcpy(inst->modifiers, known->modifiers, sizeof inst->modifiers);
}

static void parse_instruction(Parser *parser) {
    PtxFunction *function = parser->function;
    PtxInst inst = {.guard = PTX_NONE,
                    .ptx_line = parser->token.line,
                    .place = parser->place,
                    .call = parser->call,
                    .collective = parser->collective};
    if (parse_take(parser, "@")) {
        inst.guard_negated = parse_take(parser, "!");
        Str name = parse_word(parser, "a predicate register");
        inst.guard = register_named(parser, name);
        if (inst.guard == PTX_NONE || function->registers[inst.guard].type != PTX_PRED)
            parse_fail(parser, "`%.*s` is not a predicate register", STR_ARG(name));
    }
    inst.ptx_line = parser->token.line;
    parse_opcode(parser, &inst);
    function->releases |=
        inst.opcode == OPCODE_GRIDDEPCONTROL && ptx_has(&inst, PTX_MOD_LAUNCH_DEPENDENTS);
    inst.operands = parse_list(parser, ";", 0, &inst.operand_count);
    for (uint32_t k = 0; k < inst.operand_count; k++) note_pending(parser, &inst.operands[k]);
    size_t count = function->inst_count;
    ARENA_GROW(parser->arena, function->insts, count, parser->inst_capacity);
    function->insts[function->inst_count++] = inst;
}

// A name followed by a colon is the label of the next instruction, or the name of a list of targets
// or of a prototype. A word with a dot is a directive or an opcode.
static bool parse_label(Parser *parser) {
    const Str word = parser->token.text;
    if (parser->token.kind != TOKEN_WORD || memchr(word.at, '.', word.len)) return false;
    Lexer ahead = parser->lexer;
    Token colon = ptx_token(&ahead);
    if (colon.kind != TOKEN_SIGN || colon.text.at[0] != ':') return false;
    Str name = parse_word(parser, "a label");
    parse_expect(parser, ":");
    if (parse_take(parser, ".branchtargets"))
        parse_targets(parser, name);
    else if (parse_at(parser, ".callprototype") || parse_at(parser, ".calltargets"))
        parse_skip_past(parser, ";");
    else
        name_add(parser, name, NAME_LABEL, parser->scope)->index = parser->function->inst_count;
    return true;
}

// The toolkit's headers write ".reg.b32" as one word.
static void split_register_word(Parser *parser) {
    const Str start = STR(".reg");
    if (parser->token.kind != TOKEN_WORD || !str_starts(parser->token.text, STR(".reg."))) return;
    parser->lexer.at -= parser->token.text.len - start.len;
    parser->token.text = start;
}

static void parse_statement(Parser *parser) {
    split_register_word(parser);
    if (parse_label(parser)) return;
    if (parser->token.kind == TOKEN_WORD && parser->token.text.at[0] != '.')
        parse_instruction(parser);
    else if (parse_take(parser, ".reg"))
        parse_registers(parser);
    else if (parse_take(parser, ".loc"))
        parse_loc(parser);
    else if (parse_take(parser, ".file"))
        parse_file_directive(parser);
    else if (parse_take(parser, ".local"))
        parse_local_variable(parser, PTX_LOCAL);
    else if (parse_take(parser, ".shared"))
        parse_local_variable(parser, PTX_SHARED);
    else if (parse_take(parser, ".param"))
        parse_local_variable(parser, PTX_PARAM);
    else if (parse_take(parser, ".pragma"))
        parse_skip_past(parser, ";");
    else if (!parse_take(parser, ";"))
        parse_instruction(parser);
}

void parse_body(Parser *parser, PtxFunction *function) {
    parser->function = function;
    parser->register_capacity = parser->local_capacity = parser->inst_capacity = 0;
    parser->scratch = 0;
    parser->place = parser->call = (PtxPlace){0};
    parser->collective = false;
    memset(parser->seen, 0, PTX_SEEN * sizeof *parser->seen);
    uint32_t level = 0;
    uint64_t scratch[256];
    do {
        if (parse_take(parser, "{")) {
            scratch[level] = parser->scratch;
            scope_open(parser); // fails before `level` could leave scratch[]
            level++;
        } else if (parse_at(parser, "}")) {
            function->text.len = (size_t)(parser->token.text.at + 1 - function->text.at);
            parse_next(parser);
            scope_close(parser, parser->scope_parent[parser->scope]);
            parser->scratch = scratch[--level];
        } else {
            if (parser->token.kind == TOKEN_END)
                parse_fail(parser, "the text ends inside a function");
            parse_statement(parser);
        }
    } while (level > 0);
    uint32_t outer = parser->scope;
    resolve_pending(parser);
    resolve_targets(parser);
    parser->scope = outer;
}

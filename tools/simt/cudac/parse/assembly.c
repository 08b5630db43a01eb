// Parses inline assembly: asm volatile("..." : outputs : inputs : "memory");
#include "simt/cudac/parse/parser.h"

enum { MOST_OPERANDS = 30 };

static bool fits(char constraint, const Type *type) {
    uint64_t size = type->kind == TYPE_POINTER || type_is_arithmetic(type) ? type->size : 0;
    bool floating = type_is_floating(type) && type->kind != TYPE_F16;
    switch (constraint) {
    case 'h':
        return size == 2;
    case 'r':
        return size == 4 && !floating;
    case 'l':
        return size == 8 && !floating;
    case 'f':
        return size == 4 && floating;
    case 'd':
        return size == 8 && floating;
    default:
        return false;
    }
}

// operand = TEXT "(" value ")"
static void operand(Parser *p, Assembly *assembly, char *constraints, bool output) {
    const Token *text = p->token;
    parser_expect(p, TOKEN_STRING, "before an operand of asm, such as \"r\"");
    parser_expect(p, TOKEN_LEFT_PAREN, "before the operand");
    Expression *e = operator_value(p, expression_comma(p));
    parser_expect(p, TOKEN_RIGHT_PAREN, "after the operand");
    if (parser_failed(p)) return;
    Str letters = text->value;
    if (output != (letters.len == 2 && letters.at[0] == '='))
        parser_fail(p, text->place,
                    output ? "an output is \"=r\", \"=l\", \"=f\" or \"=d\""
                           : "an input is \"r\", \"l\", \"f\" or \"d\"");
    if (output && !operator_is_lvalue(e))
        parser_fail(p, e->place, "an output must be a variable or an element");
    if (assembly->operand_count == MOST_OPERANDS)
        parser_fail(p, text->place, "asm takes at most %d operands", MOST_OPERANDS);
    char letter = letters.len ? letters.at[letters.len - 1] : ' ';
    if (letter == 'r' && type_is_integer(e->type) && e->type->size < 4 && !output)
        e = operator_cast(p, e, type_promoted(e->type));
    if (!fits(letter, e->type))
        parser_fail(p, e->place, "`%.*s` does not fit \"%.*s\"",
                    STR_ARG(type_name(p->arena, e->type)), STR_ARG(letters));
    if (parser_failed(p)) return;
    constraints[assembly->operand_count] = letter;
    assembly->operands[assembly->operand_count++] = e;
}

static void operands(Parser *p, Assembly *assembly, char *constraints, bool output) {
    if (!parser_at(p, TOKEN_STRING)) return;
    do operand(p, assembly, constraints, output);
    while (parser_accept(p, TOKEN_COMMA));
}

// Refuses assembly that names an operand that does not exist: %9 with one operand. "%%" is a
// percent sign.
static void check_numbers(Parser *p, const Assembly *assembly, Place place) {
    const Str text = assembly->text;
    for (size_t i = 0; i + 1 < text.len;) {
        if (text.at[i++] != '%') continue;
        const size_t start = i;
        size_t number = 0;
        for (; i < text.len && i < start + 3 && text.at[i] >= '0' && text.at[i] <= '9'; i++)
            number = 10 * number + (size_t)(text.at[i] - '0');
        if (i == start)
            i++;
        else if (number >= assembly->operand_count)
            parser_fail(p, place, "this text names operand %%%zu of %zu: they are counted from 0",
                        number, assembly->operand_count);
    }
}

// assembly = "asm" "volatile"? "(" TEXT (":" outputs (":" inputs (":" clobbers)?)?)? ")" ";"
// The splitter takes "::" for one token; it stands for two colons here.
Statement *assembly_statement(Parser *p, const Token *token) {
    Place place = token->place;
    Assembly *assembly = ARENA_NEW(p->arena, 1, Assembly);
    char *constraints = ARENA_NEW(p->arena, MOST_OPERANDS + 1, char);
    assembly->operands = ARENA_NEW(p->arena, MOST_OPERANDS, Expression *);
    assembly->constraints = constraints;
    assembly->is_volatile = parser_accept(p, TOKEN_VOLATILE);
    parser_expect(p, TOKEN_LEFT_PAREN, "after asm");
    Buf text = {.arena = p->arena};
    for (; parser_at(p, TOKEN_STRING); p->token++) buf_add(&text, p->token->value);
    assembly->text = buf_str(&text);
    for (int section = 0; section < 3 && !parser_failed(p);) {
        if (parser_accept(p, TOKEN_SCOPE))
            section += 2;
        else if (parser_accept(p, TOKEN_COLON))
            section++;
        else
            break;
        if (section == 1) operands(p, assembly, constraints, true);
        if (section == 1) assembly->output_count = assembly->operand_count;
        if (section == 2) operands(p, assembly, constraints, false);
        for (; section == 3 && parser_at(p, TOKEN_STRING); p->token++) {
            assembly->clobbers_memory |= str_equal(p->token->value, STR("memory"));
            if (p->token[1].kind == TOKEN_COMMA) p->token++;
        }
    }
    parser_expect(p, TOKEN_RIGHT_PAREN, "after asm(...");
    parser_expect(p, TOKEN_SEMICOLON, "after asm(...)");
    check_numbers(p, assembly, place);
    Expression *e = operator_new(p, EXPRESSION_ASSEMBLY, &type_void, place);
    e->assembly = assembly;
    return statement_of(p, e);
}

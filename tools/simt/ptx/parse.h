// The state and the functions that the parser's files share. An error is a longjmp to
// parser->leave.
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include <setjmp.h>

#include "simt/ptx/lex.h"

// Names of a module: registers, ranges of registers (`%r<9>`), variables, functions and labels,
// each declared in a scope. Scope 0 is the module, and every `{` opens another one.
typedef enum { NAME_REG, NAME_RANGE, NAME_VARIABLE, NAME_FUNCTION, NAME_LABEL } NameKind;

typedef struct {
    Str name;
    uint32_t scope;
    NameKind kind;
    PtxVariable *variable;
    uint32_t index, count;
    PtxType type;
} PtxName;

// A `.loc` line.
typedef struct {
    uint64_t at; // hash of file, line and column
    PtxPlace place;
    PtxPlace call;   // of the outermost function inlined around it
    bool collective; // inlined from CUB
} PtxSeen;

typedef struct {
    PtxOperand *operand;
    uint32_t scope;
} PtxPending;

// A `.branchtargets` list whose labels are not known yet: the operands that name them.
typedef struct {
    Str name;
    PtxOperand *labels;
    uint32_t count;
} PtxTargetNames;

typedef struct {
    PtxModule *module;
    Arena *arena;
    Lexer lexer;
    Token token; // the next one, not yet consumed
    jmp_buf leave;
    SimtStatus status;
    SimtError *error;

    PtxName *names; // open addressing, size a power of two
    size_t name_slots, name_count;
    uint32_t *scope_parent; // by scope
    size_t scope_count, scope_capacity;
    uint32_t scope, depth;

    size_t function_capacity, variable_capacity, file_capacity, short_capacity;

    // The function being parsed.
    PtxFunction *function;
    size_t register_capacity, local_capacity, inst_capacity;
    PtxTargetNames *targets;
    size_t target_count, target_capacity;
    uint64_t scratch; // bytes of the .param variables in scope
    PtxPending *pending;
    size_t pending_count, pending_capacity;
    PtxOperand *collected; // operands of the instruction being parsed
    size_t collected_count, collected_capacity;
    PtxSeen *seen;  // a direct-mapped cache
    PtxInst *split; // a direct-mapped cache of opcodes that were split, by the hash of their text
    PtxPlace place, call;
    bool collective;
} Parser;

#define PTX_SEEN  1024
#define PTX_SPLIT 256

_Noreturn void parse_fail(Parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void parse_next(Parser *parser);
bool parse_at(const Parser *parser,
              const char *text);                      // whether the next token is this word or sign
bool parse_take(Parser *parser, const char *text);    // consumes it if it is
void parse_expect(Parser *parser, const char *text);  // fails if it is not
Str parse_word(Parser *parser, const char *what);     // any word
uint64_t parse_int(Parser *parser, const char *what); // an integer with signs
// Skips tokens up to this one and consumes it. Tokens in braces do not count.
void parse_skip_past(Parser *parser, const char *text);

PtxName *name_add(Parser *parser, Str name, NameKind kind, uint32_t scope); // fails if it exists
// Searches from the current scope outwards. NULL if there is none.
PtxName *name_visible(Parser *parser, Str name, NameKind kind);
void scope_open(Parser *parser);
void scope_close(Parser *parser, uint32_t parent);

// The type that a word such as ".u32" names, PTX_NOTYPE if it names none.
PtxType parse_dotted_type(Str word);
// Parses a declaration after its space: alignment, type, name, array bounds, initialiser.
void parse_variable(Parser *parser, PtxVariable *variable, PtxSpace space);
// Parses a function's body with its braces.
void parse_body(Parser *parser, PtxFunction *function);
void parse_file_directive(Parser *parser);

#endif

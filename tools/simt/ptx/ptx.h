// A parsed PTX module: its functions, variables and instructions with names resolved. The grammar
// and the meaning are in NVIDIA's PTX ISA, version 9.0, whose sections are cited by title.
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "simt/base/dim3.h"
#include "simt/base/status.h"
#include "simt/ptx/opcode.h"
#include "simt/ptx/special.h"

#define PTX_NONE UINT32_MAX

typedef enum {
    PTX_REG_SPACE,
    PTX_GLOBAL,
    PTX_CONST,
    PTX_SHARED,
    PTX_LOCAL,
    PTX_PARAM,
    PTX_GENERIC,
    PTX_SHARED_CLUSTER // of any block of the cluster: only in instructions
} PtxSpace;

// A line of the user's source.
typedef struct {
    uint32_t file; // number from `.file`, 0 if unknown
    uint32_t line;
} PtxPlace;

typedef struct {
    Str name;
    PtxType type; // as declared; PTX_PRED is a mask of lanes
} PtxRegister;

// An address in an initialiser: `symbol + addend`, shifted right by `shift` bits, is stored at
// `offset` in the variable.
typedef struct {
    uint64_t offset;
    uint32_t bytes, shift;
    Str symbol;
    int64_t addend;
    uint32_t ptx_line;
} PtxReference;

typedef struct PtxVariable {
    Str name;
    PtxSpace space;
    PtxType type;
    uint32_t align;
    uint64_t bytes;
    const struct PtxVariable *whole; // machine code: the variable that contains it, at `offset`
    bool managed;                    // host code may use it too
    bool external;                   // `.extern`: dynamic shared memory, or a definition elsewhere
    uint8_t *data;                   // initial bytes, data_bytes of them; the rest is zero
    size_t data_bytes;
    PtxReference *references;
    size_t reference_count, reference_capacity;
    uint64_t offset; // in its frame, for local and parameter variables
    uint32_t ptx_line;
} PtxVariable;

typedef enum {
    PTX_OPERAND_REG,     // reg, and reg2 for `%r1|%p1`; negated for `!%p1`
    PTX_OPERAND_INT,     // integer
    PTX_OPERAND_DOUBLE,  // double_bits
    PTX_OPERAND_SINGLE,  // single_bits (0f...)
    PTX_OPERAND_NAME,    // a variable, function or special register: name + addend
    PTX_OPERAND_LABEL,   // label: index of the target instruction
    PTX_OPERAND_VECTOR,  // {a, b, ...}
    PTX_OPERAND_LIST,    // (a, b, ...)
    PTX_OPERAND_ADDRESS, // [base + addend, items...]: base is reg, name or nothing
    PTX_OPERAND_SINK     // _, and reg2 for `_|%p1`
} PtxOperandKind;

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
    PtxOperandKind kind;
    bool negated;
    uint8_t special;    // the PtxSpecial that `name` refers to, or 0
    uint32_t reg, reg2; // PTX_NONE if there is none
    union {
        uint64_t integer;
        uint64_t double_bits;
        uint32_t single_bits;
        uint64_t addend;
        uint32_t label;
    };
    uint32_t count; // of items
    Str name;
    const PtxVariable *variable; // the variable that `name` refers to, or NULL
    PtxOperand *items;
};

typedef struct {
    Str text;         // the opcode as written, "ld.global.nc.v4.f32": for messages only
    PtxOpcode opcode; // OPCODE_NONE if unknown, or for machine code
    uint8_t modifier_count, modifiers[PTX_MODIFIER_LIMIT]; // PtxModifiers in the order written
    bool guard_negated;
    uint32_t guard; // a predicate register, PTX_NONE if unconditional
    uint32_t operand_count;
    PtxOperand *operands;
    uint32_t ptx_line;
    PtxPlace place;
    PtxPlace call;   // where the outermost function around it was inlined; line 0 if none was
    bool collective; // inlined from CUB
} PtxInst;

bool ptx_has(const PtxInst *inst, PtxModifier modifier);
static inline bool ptx_is_load(const PtxInst *inst) {
    return inst->opcode == OPCODE_LD || inst->opcode == OPCODE_LDU;
}
static inline OpcodeFlow ptx_flow(const PtxInst *inst) { return ptx_opcodes[inst->opcode].flow; }
// Whether the first operand is a result.
bool ptx_has_result(const PtxInst *inst);
// The first operand that is an address, or NULL.
const PtxOperand *ptx_address(const PtxInst *inst);

// The list of labels of one `.branchtargets`, for brx.idx.
typedef struct {
    Str name;
    uint32_t *targets; // instruction indices
    uint32_t count;
} PtxTargets;

typedef struct {
    Str name;
    Str text; // its lines, from the one with the name to the last brace; empty if it has no body
    bool entry, defined;
    PtxVariable *params; // in order; their offset is in the parameter block
    uint32_t param_count;
    PtxVariable *results;
    uint32_t result_count;
    uint32_t param_bytes;   // of the parameter block
    uint32_t max_threads;   // from .maxntid or .reqntid; 0: not given
    Dim3 required;          // .reqntid; x is 0 if not given
    Dim3 cluster;           // .reqnctapercluster; x is 0 if not given
    uint32_t max_cluster;   // .maxclusterrank; 0: not given
    bool explicit_cluster;  // .explicitcluster
    bool releases;          // it lets the next kernel start early, by griddepcontrol or PREEXIT
    PtxRegister *registers; // only those used
    uint32_t register_count;
    PtxVariable **variables; // local, shared and parameter-passing variables declared inside
    uint32_t variable_count;
    uint32_t local_bytes;   // per thread, of its own .local variables
    uint32_t scratch_bytes; // per thread, of the .param variables declared inside
    PtxInst *insts;
    uint32_t inst_count;
    PtxTargets *targets;
    uint32_t target_count;
    uint32_t ptx_line;
} PtxFunction;

typedef struct {
    const char *origin;
    uint32_t version, target; // 90 for 9.0, 75 for sm_75
    PtxFunction *functions;
    uint32_t function_count;
    PtxVariable **variables; // of the module
    uint32_t variable_count;
    char **files; // by number from `.file`, NULL if unused
    uint32_t file_count;
    char **file_short; // the same as messages and reports show them
} PtxModule;

// Parses a module. The module and a copy of its text are in the arena. NULL on error; the error
// names the PTX line.
PtxModule *ptx_parse(Arena *arena, Str text, const char *origin, SimtStatus *status,
                     SimtError *error);

// NULL if there is none.
const PtxFunction *ptx_function(const PtxModule *module, Str name);
const PtxVariable *ptx_variable(const PtxModule *module, Str name);

// Writes "chapters/04.md:17", or the line of the PTX text if the source line is not known.
void ptx_write_place(const PtxModule *module, PtxPlace place, uint32_t ptx_line, char *to,
                     size_t room);

// Whether this file belongs to the CUDA toolkit. Its lines are counted for the user's line that
// they were inlined into.
bool ptx_toolkit_file(const char *path);
// Whether a file is of CUB, whose functions all threads of a warp or block call together.
bool ptx_collective_file(const char *path);
// A path as messages and reports show it: relative to the working directory if it is inside.
char *ptx_short_path(char *path);

#endif

// The typed tree of a program: what the parser hands to the generator of PTX. Every conversion is
// explicit, every reference is a pointer, every template is instantiated, and sizes are those of
// the device (64-bit pointers).
#ifndef CUDAC_TREE_H
#define CUDAC_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

// A place in the source, after #line directives.
typedef struct {
    Str file;
    uint32_t line, column; // from 1
    Str text;              // the line, to be shown below a message
} Place;

// Why a program is refused: the first error. The message is empty if there is none.
typedef struct {
    Place place;
    Str message;
    Str undeclared; // the name, if that is why
} Refusal;

// --- types ---
typedef enum {
    TYPE_VOID,
    TYPE_BOOL,
    TYPE_S8,
    TYPE_U8,
    TYPE_S16,
    TYPE_U16,
    TYPE_S32,
    TYPE_U32,
    TYPE_S64,
    TYPE_U64,
    TYPE_F16,
    TYPE_F32,
    TYPE_F64,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_STRUCT, // float4 and dim3 too; the operations on them are in terms of their members
    TYPE_FUNCTION,
} TypeKind;

typedef struct Type Type;
typedef struct Member Member;
struct Member {
    Str name;
    const Type *type;
    uint32_t offset; // bytes
};
struct Type {
    TypeKind kind;
    uint64_t size; // bytes
    uint32_t align;
    bool is_const, is_volatile; // of the object that has this type
    bool is_restrict;           // of a pointer
    bool is_reference;          // a pointer that the source declares with &
    const Type *base; // pointer: what it points to; array: of an element; function: result
    uint64_t count;   // elements of an array, members, or parameters of a function
    const Member *members;
    const Type *const *parameters;
    Str name;    // of a struct, an enumeration or a scalar type, as the program calls it
    char letter; // of a scalar type in mangled names; long and long long differ
};

// --- variables and functions ---
typedef enum {
    VARIABLE_LOCAL,
    VARIABLE_PARAMETER,
    VARIABLE_SHARED,   // of known size
    VARIABLE_DYNAMIC,  // extern __shared__
    VARIABLE_DEVICE,   // __device__
    VARIABLE_CONSTANT, // __constant__
    VARIABLE_STATIC,   // of the host: static in a function, or of namespace scope
} VariableKind;

typedef struct {
    VariableKind kind;
    Str name;
    Str symbol; // as the assembler and the host call it: mangled where C++ mangles it
    const Type *type;
    Place place;
    const uint8_t *initial; // type->size bytes of a variable that outlives functions, or NULL: 0
    uint32_t number;        // unique in its function, for the generator's tables
    bool address_taken;     // other than by indexing, a member, or a load and a store of it all
} Variable;

typedef struct Statement Statement;
typedef struct {
    Str name;
    Str symbol; // mangled, as nvcc does, so that a host program finds the kernel
    const Type *type;
    Place place;
    bool is_kernel;
    bool is_host; // only of the host; its parameters and body may have what those of others lack
    bool on_host; // of the host, or __host__ __device__
    bool is_noinline;
    uint32_t max_threads, min_blocks; // __launch_bounds__; 0: not given
    Variable **parameters;
    size_t parameter_count;
    Variable **locals; // with its shared variables and those of its inner blocks
    size_t local_count;
    Statement *body; // NULL: declared and never defined; the parser has refused a call of it
} Function;

// --- expressions ---
typedef enum {
    EXPRESSION_INTEGER,  // .integer; also of bool and pointer type
    EXPRESSION_FLOATING, // .floating
    EXPRESSION_VARIABLE, // lvalue: .variable
    EXPRESSION_TEXT,     // .text: a string literal, in constant memory; only for printf and assert
    EXPRESSION_FUNCTION, // a pointer to .function, in host code
    EXPRESSION_DEREFERENCE, // lvalue: *left
    EXPRESSION_MEMBER,      // lvalue if left is one: left.member
    EXPRESSION_ADDRESS,     // &left; an array that decays to a pointer, too
    EXPRESSION_CAST,        // left as .type
    EXPRESSION_NEGATE,
    EXPRESSION_COMPLEMENT,
    EXPRESSION_NOT, // of a bool
    // Arithmetic has both operands and the result of one type, except for shifts (the right operand
    // is u32) and for pointers: + and - take a pointer on the left and bytes, as an s64, on the
    // right. A pointer minus a pointer is a subtraction of two s64.
    EXPRESSION_ADD,
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,
    EXPRESSION_REMAINDER,
    EXPRESSION_SHIFT_LEFT,
    EXPRESSION_SHIFT_RIGHT,
    EXPRESSION_AND,
    EXPRESSION_OR,
    EXPRESSION_XOR,
    // Comparisons: operands of one type, the result is a bool.
    EXPRESSION_LESS,
    EXPRESSION_LESS_EQUAL,
    EXPRESSION_EQUAL,
    EXPRESSION_NOT_EQUAL,
    EXPRESSION_LOGICAL_AND, // of bools; the right side is evaluated only if needed
    EXPRESSION_LOGICAL_OR,
    EXPRESSION_CONDITIONAL, // condition ? left : right
    EXPRESSION_COMMA,
    EXPRESSION_ASSIGN,   // lvalue left = right; the value is the new left. Structs too.
    EXPRESSION_CALL,     // .function(.arguments); if it is NULL, in host code, (*left)(.arguments)
    EXPRESSION_BUILT_IN, // .built_in(.arguments), checked and converted by the parser
    EXPRESSION_ASSEMBLY, // .assembly
} ExpressionKind;
// The parser writes `a op= b`, `++a` and `a++` with assignments, commas and temporaries, such that
// the lvalue is evaluated once.

// Functions that the compiler knows. Overloads are distinguished by the type of the expression and
// of its arguments.
typedef enum {
    BUILT_IN_SPECIAL,     // threadIdx.x ...: .integer is a SPECIAL()
    BUILT_IN_SYNCTHREADS, // ()
    BUILT_IN_SYNCTHREADS_COUNT,
    BUILT_IN_SYNCTHREADS_AND,
    BUILT_IN_SYNCTHREADS_OR,
    BUILT_IN_SYNCWARP, // (mask)
    BUILT_IN_SHUFFLE,  // (mask, value, lane, width); 8, 16, 32 and 64-bit values
    BUILT_IN_SHUFFLE_UP,
    BUILT_IN_SHUFFLE_DOWN,
    BUILT_IN_SHUFFLE_XOR,
    BUILT_IN_BALLOT, // (mask, predicate)
    BUILT_IN_ANY,
    BUILT_IN_ALL,
    BUILT_IN_ACTIVE_MASK,
    BUILT_IN_MATCH_ANY,  // (mask, value)
    BUILT_IN_REDUCE_ADD, // (mask, value)
    BUILT_IN_REDUCE_MIN,
    BUILT_IN_REDUCE_MAX,
    BUILT_IN_REDUCE_AND,
    BUILT_IN_REDUCE_OR,
    BUILT_IN_REDUCE_XOR,
    BUILT_IN_ATOMIC_ADD, // (pointer, value); .integer is a MemoryScope
    BUILT_IN_ATOMIC_SUB,
    BUILT_IN_ATOMIC_MIN,
    BUILT_IN_ATOMIC_MAX,
    BUILT_IN_ATOMIC_INC,
    BUILT_IN_ATOMIC_DEC,
    BUILT_IN_ATOMIC_AND,
    BUILT_IN_ATOMIC_OR,
    BUILT_IN_ATOMIC_XOR,
    BUILT_IN_ATOMIC_EXCHANGE,
    BUILT_IN_ATOMIC_CAS, // (pointer, compare, value)
    BUILT_IN_FENCE,      // .integer is a MemoryScope
    BUILT_IN_LOAD,       // (pointer): __ldg, __ldcg ...; .text is the suffix: "nc", "cg", "cs"
    BUILT_IN_STORE,      // (pointer, value): __stcg ...
    BUILT_IN_ABS,
    BUILT_IN_MIN,
    BUILT_IN_MAX,
    BUILT_IN_FMA, // (a, b, c)
    BUILT_IN_SQRT,
    BUILT_IN_RSQRT,
    BUILT_IN_POPC,
    BUILT_IN_CLZ, // count of leading zeros
    BUILT_IN_FFS,
    BUILT_IN_BREV,
    BUILT_IN_MULHI,
    BUILT_IN_BYTE_PERM,
    BUILT_IN_FUNNEL_LEFT, // (low, high, shift)
    BUILT_IN_FUNNEL_RIGHT,
    BUILT_IN_BIT_CAST, // (value): __float_as_int ...
    BUILT_IN_EXP,
    BUILT_IN_LOG,
    BUILT_IN_CLOCK,     // clock64()
    BUILT_IN_GRID_SYNC, // cooperative_groups::this_grid().sync()
    BUILT_IN_TRAP,      // __trap(), and a failed assert
    BUILT_IN_UNREACHABLE,
    BUILT_IN_PRINTF,
    // In host code, a call of the CUDA runtime, or of the driver of an exercise, exercise(): .text
    // is its name.
    BUILT_IN_HOST,
    // kernel<<<grid, block, bytes, stream>>>(...) in host code: .function is the kernel. The first
    // arguments are grid and block (an unsigned or a dim3), bytes, and the stream (NULL: 0).
    BUILT_IN_LAUNCH,
} BuiltIn;

typedef enum { MEMORY_SCOPE_DEVICE, MEMORY_SCOPE_BLOCK, MEMORY_SCOPE_SYSTEM } MemoryScope;

typedef enum {
    REGISTER_TID,
    REGISTER_NTID,
    REGISTER_CTAID,
    REGISTER_NCTAID,
    REGISTER_LANEID,
    REGISTER_WARPSIZE
} SpecialName;
#define SPECIAL(name, axis) ((int64_t)(name)*4 + (axis)) // axis: 0, 1, 2 for x, y, z

typedef struct Expression Expression;

// asm volatile("..." : outputs : inputs : "memory")
typedef struct {
    Str text;                // with %0, %1, ...
    const char *constraints; // 'r', 'l', 'h', 'f' or 'd' of each operand
    Expression **operands;   // the outputs, which are lvalues, come first
    size_t output_count, operand_count;
    bool is_volatile, clobbers_memory;
} Assembly;

struct Expression {
    ExpressionKind kind;
    BuiltIn built_in;
    const Type *type;
    Place place;
    Expression *condition, *left, *right;
    int64_t integer;
    double floating;
    Variable *variable;
    const Member *member;
    Function *function;
    Expression **arguments;
    size_t argument_count;
    const Assembly *assembly;
    Str text;
};

// --- statements ---
typedef enum {
    STATEMENT_EXPRESSION,
    STATEMENT_BLOCK,   // .body, then its .next, ...
    STATEMENT_DECLARE, // .variable begins to live; .expression is its initial value, or NULL. An
                       // array or struct is initialized by the assignments that follow.
    STATEMENT_IF,
    STATEMENT_FOR, // .initial; .condition (NULL: true); .step; .body
    STATEMENT_WHILE,
    STATEMENT_DO,
    STATEMENT_SWITCH, // .condition, .body; the cases are among the statements of .body
    STATEMENT_CASE,   // .value, or .is_default
    STATEMENT_BREAK,
    STATEMENT_CONTINUE,
    STATEMENT_RETURN, // .expression, or NULL
} StatementKind;

struct Statement {
    StatementKind kind;
    Place place;
    Statement *next;
    Expression *expression, *condition, *step;
    Statement *initial, *body, *otherwise;
    Variable *variable;
    int64_t value;
    bool is_default;
    int32_t unroll; // #pragma unroll N before a loop; 0: no pragma; -1: without a number
};

// A row of a lab's table `stages`: which host function launches its kernel, and how. appendix C of
// the book documents the columns.
typedef struct {
    Function *launch;
    uint32_t block; // 0: the lab's
    Str element;    // FLOAT, INT, DOUBLE or HALF
    Str input;      // the function of the elements, or empty
    Str check;      // the function that checks the result, or empty: partial sums
    bool half_as_many;
    Place place;
} Stage;

typedef struct {
    Function **functions; // kernels and the functions that they call, callees first
    size_t function_count;
    Variable **variables; // of namespace scope, and shared variables of functions
    size_t variable_count;
    const Stage *stage;   // NULL: none was requested
    const Function *main; // NULL: it was not requested
} Tree;

#endif

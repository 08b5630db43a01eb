// The graph of one kernel: basic blocks that hold the operations with effects in order, and pure
// values that belong to no block until they are scheduled. A value has one definition (SSA). Equal
// pure values are one value, so that common subexpressions need no pass of their own.
#ifndef CUDAC_GRAPH_H
#define CUDAC_GRAPH_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

typedef enum {
    // Leaves.
    OP_CONSTANT,  // .integer: the bits
    OP_UNDEFINED, // the value of a variable before its first assignment
    OP_PARAMETER, // .integer: offset; .object: the Variable
    OP_SPECIAL,   // .integer: a SpecialRegister
    OP_SYMBOL,    // the address of the Variable .object, plus .integer
    OP_SLOT,      // the address of a local variable in registers: .object is its Instance
    OP_PHI,       // one argument for each predecessor of .block; of kind void: a state of memory
    OP_PART,      // .integer: which result of the operation args[0]
    // Pure operations; .from is the type of the operation if sign or width matter.
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_MULTIPLY_WIDE, // u32 or s32 times u32 or s32, 64 bits
    OP_MULTIPLY_HIGH,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_NOT,
    OP_NEGATE,
    OP_LESS, // comparisons: a bool
    OP_LESS_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_SELECT,  // args[0] ? args[1] : args[2]
    OP_CONVERT, // from .from to .integer, a TypeKind, as C does; the value is of that type
    OP_BITS,    // the same bits in another kind of register
    OP_MIN,
    OP_MAX,
    OP_ABS,
    OP_FMA,
    OP_SQRT,
    OP_RSQRT,
    OP_POPC,
    OP_CLZ,
    OP_FFS_BIT, // bfind of the lowest bit
    OP_BREV,
    OP_PERMUTE,
    OP_FUNNEL_LEFT,
    OP_FUNNEL_RIGHT,
    OP_EXP2,
    OP_LOG2,
    OP_TO_GLOBAL,  // cvta.to.global
    OP_TO_GENERIC, // cvta of an address of .from's space, 64 bits
    // Operations that stay in their block, in order.
    OP_LOAD,  // args: address, state of memory
    OP_STORE, // args: address, state, then one value per lane
    OP_ATOMIC,
    OP_FENCE,
    OP_BARRIER, // .built_in: which
    OP_SYNCWARP,
    OP_SHUFFLE,
    OP_VOTE,
    OP_MATCH,
    OP_REDUCE,
    OP_ACTIVE_MASK,
    OP_CLOCK,
    OP_ASSEMBLY,
    OP_TRAP,
} Op;
#define OP_FIRST_PURE   OP_ADD
#define OP_FIRST_PINNED OP_LOAD

typedef enum { SPACE_GENERIC, SPACE_SHARED, SPACE_GLOBAL, SPACE_CONSTANT, SPACE_LOCAL } Space;

// Where an operation comes from: a place, and the place of the call if it was inlined.
typedef struct Site Site;
struct Site {
    Place place;
    const Function *function;
    const Site *call;
};

typedef struct Block Block;
typedef struct Value Value;
struct Value {
    Op op;
    TypeKind kind; // of the result: void, bool, u32, u64, f16, f32 or f64
    TypeKind from; // of the operation; of an access: of what is in memory
    Space space;   // what a pointer points to
    Space access;  // of a load, store or atomic
    BuiltIn built_in;
    bool is_volatile;
    bool is_invariant; // a load from memory that no one writes to: ld.global.nc
    uint8_t lanes;     // of a vector access; results of inline assembly
    uint32_t arg_count, uses;
    uint32_t number; // in the order of their creation
    uint32_t place;  // in its block, from 1; of a phi 0
    uint32_t reg;    // its register, from 1 among those of its kind; 0: none
    bool is_found;   // by the search for what is used
    Value **parts;   // the OP_PARTs of this value, or NULL where one is not used
    Value **args;
    Value *same;  // what this value turned out to be, or NULL
    Value *chain; // in the table of equal values
    Block *block; // NULL: not scheduled yet
    Block *home;  // where it was written first
    int64_t integer;
    const void *object;
    Str text; // the suffix of an access: "cg", "nc"
    const Site *site;
};

typedef enum { END_JUMP, END_BRANCH, END_RETURN, END_UNREACHABLE } End;

struct Block {
    uint32_t number, order, loop_depth, dominator_depth;
    Block *dominator;
    bool is_sealed; // all predecessors are known
    bool is_loop;   // a loop's first block, and the other edges into it come from inside the loop
    bool is_live, is_placed;
    End end;
    Value *condition; // END_BRANCH: to next[0] if true, else to next[1]
    Block *next[2];
    const Site *site; // of the branch
    Block **before;   // predecessors
    size_t before_count, before_capacity;
    Value **values; // with effects; after scheduling all
    size_t value_count, value_capacity;
    Value **phis;
    size_t phi_count, phi_capacity;
    Value **defined; // for each variable: its value at the end of the block so far, or NULL
    size_t defined_count;
    const struct LoopScan *scan; // of a loop: what it changes
};

// A local variable of one inlined call, or a temporary.
typedef struct Instance {
    const void *key; // the Variable, or the Expression that needs a temporary
    const Type *type;
    bool is_memory;  // in local memory, at .offset
    bool is_exposed; // a pointer to it may be somewhere
    uint64_t offset;
    size_t *slots; // its pieces
    size_t slot_count, slot_capacity;
} Instance;

// A variable of the SSA form: a scalar piece of a local variable, or a state of memory.
typedef struct {
    const Instance *instance; // NULL: a state of memory
    uint64_t offset;
    TypeKind type; // as in the source
} Slot;
enum { STATE_SHARED, STATE_OTHER, STATE_COUNT };

typedef struct Graph {
    Arena *arena;
    Block **blocks;
    size_t block_count, block_capacity;
    Slot *slots;
    size_t slot_count, slot_capacity;
    Value **table; // of pure values and loads, by hash
    size_t table_size, table_count;
    uint32_t value_count;
    Block *here;                                            // where values are added
    const Site *site;                                       // of what is added
    void (*escape)(struct Graph *graph, const Value *slot); // an address that has to be real
    void (*mixed)(struct Graph *graph, size_t slot);        // a pointer to different spaces
    void *owner;
} Graph;

// --- graph.c ---
TypeKind graph_register_kind(TypeKind type); // void, bool, u32, u64, f16, f32 or f64
uint32_t graph_size(TypeKind type);          // in memory, bytes
Value *graph_value(Value *value);            // follows .same

// A value with the given fields: an equal one if there is one, simplified if that is possible.
Value *graph_pure(Graph *graph, Value fields, size_t count, Value *const *args);
// A value with effects at the end of the current block.
Value *graph_pin(Graph *graph, Value fields, size_t count, Value *const *args);
Value *graph_constant(Graph *graph, TypeKind kind, int64_t bits);
Value *graph_unary(Graph *graph, Op op, TypeKind from, Value *a);
Value *graph_binary(Graph *graph, Op op, TypeKind from, Value *a, Value *b);
Value *graph_select(Graph *graph, Value *condition, Value *a, Value *b);
Value *graph_convert(Graph *graph, TypeKind from, TypeKind to, Value *a);
Value *graph_bits(Graph *graph, TypeKind to, Value *a);
Value *graph_not(Graph *graph, Value *a);
Value *graph_part(Graph *graph, Value *of, int64_t which, TypeKind kind);

// A load that was made before under the same state of memory, in a block that dominates this one.
Value *graph_same_load(Graph *graph, const Value *fields, Value *const *args);

Block *graph_block(Graph *graph);
void graph_jump(Graph *graph, Block *to);
void graph_branch(Graph *graph, Value *condition, Block *yes, Block *no);
void graph_seal(Graph *graph, Block *block); // computes its dominator, completes its phis
bool graph_dominates(const Block *a, const Block *b);
void graph_end(Graph *graph, End end); // what follows is not reached

Value *graph_read(Graph *graph, Block *block, size_t slot);
void graph_write(Graph *graph, size_t slot, Value *value);
Value *graph_phi(Graph *graph, Block *block, const Value *like);
Value *graph_trivial(Value *phi); // what a phi is if it has only one value

// --- fold.c ---
// What the operation is, if it is simpler than it looks; or NULL.
Value *fold_value(Graph *graph, Value *fields);
bool fold_is_constant(const Value *value);
int64_t fold_signed(const Value *constant); // of a u32 or u64

// --- loop.c, called by graph_read ---
bool loop_changes(const struct LoopScan *scan, const Slot *slot, size_t number);

// --- tidy.c, schedule.c, registers.c ---
void tidy_graph(Graph *graph);     // merges blocks, turns cheap branches into selections
void schedule_graph(Graph *graph); // removes what is unused and gives each value a block
// Gives each value that needs one a register of its kind, and counts them. Splits edges that need
// a block for moves.
void registers_assign(Graph *graph, uint32_t counts[TYPE_F64 + 1]);
bool registers_needed(const Value *value);

#endif

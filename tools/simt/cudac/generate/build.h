// Builds the graph of a kernel from its tree: every call is inlined, loops with few trips are
// unrolled, and local variables become values. An array or struct whose address has to be real is
// found while building; the kernel is then built again with this variable in local memory.
#ifndef CUDAC_BUILD_H
#define CUDAC_BUILD_H

#include "simt/cudac/generate/graph.h"

typedef struct Frame {
    struct Frame *up;
    const Function *function;
    const Site *call;     // NULL: the kernel itself
    Instance **instances; // by the number of the variable
    size_t instance_count;
    Instance *result; // NULL: void
    Block *exit;
    Block *on_break, *on_continue;
    const struct Cases *cases; // of the innermost switch
} Frame;

// Variables that have to be real, found in earlier attempts.
typedef struct {
    const void **keys;
    size_t count, capacity;
} Keys;

typedef struct {
    Graph graph;
    Arena *arena;
    Refusal *refusal;
    Frame *frame;
    Keys in_memory;   // variables whose address has to be real
    Keys generic;     // pointers that point to different spaces
    bool is_complete; // all blocks are built
    bool again;       // one of these grew
    uint64_t local_bytes;
    uint32_t local_align;
    size_t size; // what unrolling has added so far, in expressions
} Builder;

// Returns the graph, or NULL if something is refused.
Builder *build_kernel(Arena *arena, const Function *kernel, Refusal *refusal);

void build_refuse(Builder *builder, const Place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool build_refused(const Builder *builder);
void build_site(Builder *builder, const Place *place);
void build_statement(Builder *builder, const Statement *statement);
void build_statements(Builder *builder, const Statement *first);
void build_require(Builder *builder, Keys *keys, const void *key); // another attempt is needed

// --- access.c ---
typedef struct {
    uint64_t offset;
    const Type *type;
} Leaf;
enum { LEAVES_MOST = 64 };

Instance *access_temporary(Builder *builder, const Type *type, const void *key);
Instance *access_variable(Builder *builder, const Variable *variable);
Instance *access_declare(Builder *builder, const Variable *variable);
Value *access_slot(Builder *builder, Instance *instance);
Value *access_address(Builder *builder, const Expression *lvalue);
Value *access_generic(Builder *builder, Value *pointer);
Value *access_load(Builder *builder, Value *address, const Type *type, Str suffix);
// Replaces loads whose value is known now that the graph is complete.
void access_reload(Builder *builder);
void access_store(Builder *builder, Value *address, const Type *type, Value *value, Str suffix);
// Structs: their scalar parts.
size_t access_leaves(Builder *builder, const Type *type, Leaf leaves[LEAVES_MOST]);
void access_load_parts(Builder *builder, Value *address, const Type *type, Value **parts,
                       Str suffix);
void access_store_parts(Builder *builder, Value *address, const Type *type, Value *const *parts,
                        Str suffix);
void access_clobber(Builder *builder, Value *by); // memory may be another after this
Value *access_state(Builder *builder, Space space);
void access_written(Builder *builder, Space space, Value *by);

// --- evaluate.c ---
Value *evaluate_value(Builder *builder, const Expression *expression);
// The scalar parts of a struct.
void evaluate_parts(Builder *builder, const Expression *expression, Value **parts);
void evaluate_effect(Builder *builder, const Expression *expression); // its value is not used
void evaluate_branch(Builder *builder, const Expression *condition, Block *yes, Block *no);

// --- inline.c ---
Instance *inline_call(Builder *builder, const Expression *call); // where the result is, or NULL

// --- built_in.c ---
Value *built_in_value(Builder *builder, const Expression *call);
void built_in_parts(Builder *builder, const Expression *call, Value **parts); // of a struct
Value *built_in_assembly(Builder *builder, const Expression *expression);

// --- loop.c ---
void loop_build(Builder *builder, const Statement *loop);

#endif

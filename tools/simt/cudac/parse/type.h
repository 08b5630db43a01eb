// Type: the types of CUDA C, how they are named, compared and converted.
#ifndef CUDAC_TYPE_H
#define CUDAC_TYPE_H

#include "base/arena.h"
#include "simt/cudac/tree.h"

// The scalar types, in the order in which type_of_letter() finds them.
extern const Type type_void, type_bool, type_int, type_unsigned, type_long, type_unsigned_long,
    type_long_long, type_unsigned_long_long, type_float, type_double;

const Type *type_of_letter(char letter); // as in mangled names: 'f' is float
const Type *type_pointer(Arena *arena, const Type *base);
const Type *type_reference(Arena *arena, const Type *base);
const Type *type_array(Arena *arena, const Type *base, uint64_t count);
const Type *type_qualified(Arena *arena, const Type *type, bool is_const, bool is_volatile);
const Type *type_plain(Arena *arena, const Type *type); // without const, volatile and restrict

bool type_is_integer(const Type *type); // bool too
bool type_is_floating(const Type *type);
bool type_is_arithmetic(const Type *type);
bool type_is_signed(const Type *type);
bool type_is_scalar(const Type *type); // arithmetic or a pointer

// Whether two types are the same, without their own const, volatile and restrict.
bool type_same(const Type *a, const Type *b);
// Whether what a pointer points to has the same type and at least the qualifiers of another.
bool type_points_alike(const Type *to, const Type *from);

// The bits as a value of an integer or pointer type.
static inline int64_t type_value(TypeKind kind, uint64_t bits) {
    switch (kind) {
    case TYPE_BOOL:
        return bits != 0;
    case TYPE_S8:
        return (int8_t)bits;
    case TYPE_U8:
        return (uint8_t)bits;
    case TYPE_S16:
        return (int16_t)bits;
    case TYPE_U16:
        return (uint16_t)bits;
    case TYPE_S32:
        return (int32_t)bits;
    case TYPE_U32:
        return (uint32_t)bits;
    default:
        return (int64_t)bits;
    }
}

const Type *type_promoted(const Type *type);           // small integers become int
const Type *type_common(const Type *a, const Type *b); // the usual arithmetic conversions

const Member *type_member(const Type *type, Str name); // or NULL
Str type_name(Arena *arena, const Type *type);         // as a program writes it

#endif

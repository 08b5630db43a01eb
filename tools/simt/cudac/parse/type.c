// The types of CUDA C. Sizes are those of a GPU and of nvcc's hosts.
#include "simt/cudac/parse/type.h"

#define SCALAR(KIND, size, letter, name)                                                           \
    {                                                                                              \
        TYPE_##KIND, size, size ? size : 1, false, false, false, false, NULL, 0, NULL, NULL,       \
            {name, sizeof name - 1}, letter                                                        \
    }

const Type type_void = SCALAR(VOID, 0, 'v', "void");
const Type type_bool = SCALAR(BOOL, 1, 'b', "bool");
static const Type CHAR = SCALAR(S8, 1, 'c', "char");
static const Type SIGNED_CHAR = SCALAR(S8, 1, 'a', "signed char");
static const Type UNSIGNED_CHAR = SCALAR(U8, 1, 'h', "unsigned char");
static const Type SHORT = SCALAR(S16, 2, 's', "short");
static const Type UNSIGNED_SHORT = SCALAR(U16, 2, 't', "unsigned short");
const Type type_int = SCALAR(S32, 4, 'i', "int");
const Type type_unsigned = SCALAR(U32, 4, 'j', "unsigned");
const Type type_long = SCALAR(S64, 8, 'l', "long");
const Type type_unsigned_long = SCALAR(U64, 8, 'm', "unsigned long");
const Type type_long_long = SCALAR(S64, 8, 'x', "long long");
const Type type_unsigned_long_long = SCALAR(U64, 8, 'y', "unsigned long long");
static const Type HALF = SCALAR(F16, 2, 'D', "__half");
const Type type_float = SCALAR(F32, 4, 'f', "float");
const Type type_double = SCALAR(F64, 8, 'd', "double");

const Type *type_of_letter(char letter) {
    static const Type *const scalars[] = {&type_void,
                                          &type_bool,
                                          &CHAR,
                                          &SIGNED_CHAR,
                                          &UNSIGNED_CHAR,
                                          &SHORT,
                                          &UNSIGNED_SHORT,
                                          &type_int,
                                          &type_unsigned,
                                          &type_long,
                                          &HALF,
                                          &type_float,
                                          &type_double,
                                          &type_long_long,
                                          &type_unsigned_long,
                                          &type_unsigned_long_long};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (scalars[i]->letter == letter) return scalars[i];
    return &type_int;
}

static Type *copy_of(Arena *arena, const Type *type) {
    Type *copy = ARENA_NEW(arena, 1, Type);
    *copy = *type;
    return copy;
}

const Type *type_pointer(Arena *arena, const Type *base) {
    return copy_of(arena, &(Type){.kind = TYPE_POINTER, .size = 8, .align = 8, .base = base});
}

const Type *type_reference(Arena *arena, const Type *base) {
    Type *type = copy_of(arena, type_pointer(arena, base));
    type->is_reference = true;
    return type;
}

const Type *type_array(Arena *arena, const Type *base, uint64_t count) {
    return copy_of(arena, &(Type){.kind = TYPE_ARRAY,
                                  .size = base->size * count,
                                  .align = base->align,
                                  .base = base,
                                  .count = count});
}

const Type *type_qualified(Arena *arena, const Type *type, bool is_const, bool is_volatile) {
    if ((!is_const || type->is_const) && (!is_volatile || type->is_volatile)) return type;
    Type *copy = copy_of(arena, type);
    copy->is_const |= is_const, copy->is_volatile |= is_volatile;
    if (type->kind == TYPE_ARRAY) // the elements are const too
        copy->base = type_qualified(arena, type->base, is_const, is_volatile);
    return copy;
}

const Type *type_plain(Arena *arena, const Type *type) {
    if (!type->is_const && !type->is_volatile && !type->is_restrict) return type;
    Type *copy = copy_of(arena, type);
    copy->is_const = copy->is_volatile = copy->is_restrict = false;
    return copy;
}

bool type_is_integer(const Type *type) { return type->kind >= TYPE_BOOL && type->kind <= TYPE_U64; }
bool type_is_floating(const Type *type) { return type->kind >= TYPE_F16 && type->kind <= TYPE_F64; }
bool type_is_arithmetic(const Type *type) {
    return type_is_integer(type) || type_is_floating(type);
}
bool type_is_scalar(const Type *type) {
    return type_is_arithmetic(type) || type->kind == TYPE_POINTER;
}

bool type_is_signed(const Type *type) {
    return type->kind == TYPE_S8 || type->kind == TYPE_S16 || type->kind == TYPE_S32 ||
           type->kind == TYPE_S64;
}

bool type_same(const Type *a, const Type *b) {
    for (; a->kind == b->kind; a = a->base, b = b->base) {
        if (a->kind == TYPE_STRUCT) return a->members == b->members && str_equal(a->name, b->name);
        if (a->kind == TYPE_ARRAY && a->count != b->count) return false;
        if (!a->base || !b->base) return a->letter == b->letter && str_equal(a->name, b->name);
        if (a->base->is_const != b->base->is_const || a->base->is_volatile != b->base->is_volatile)
            return false;
        if (a->is_reference != b->is_reference) return false;
        bool same = a->kind != TYPE_FUNCTION || a->count == b->count;
        for (uint64_t i = 0; same && a->kind == TYPE_FUNCTION && i < a->count; i++)
            same = type_same(a->parameters[i], b->parameters[i]);
        if (!same) return false;
    }
    return false;
}

bool type_points_alike(const Type *to, const Type *from) {
    const Type *a = to->base, *b = from->base;
    for (; a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY; a = a->base, b = b->base)
        if (a->count != b->count) return false;
    if ((b->is_const && !a->is_const) || (b->is_volatile && !a->is_volatile)) return false;
    return a->kind == TYPE_VOID || type_same(a, b);
}

const Type *type_promoted(const Type *type) {
    if (type->kind >= TYPE_BOOL && type->kind <= TYPE_U16) return &type_int;
    return type->letter ? type_of_letter(type->letter) : type;
}

const Type *type_common(const Type *a, const Type *b) {
    a = type_promoted(a), b = type_promoted(b);
    if (a->kind == TYPE_F64 || b->kind == TYPE_F64) return &type_double;
    if (a->kind == TYPE_F32 || b->kind == TYPE_F32) return &type_float;
    if (a->kind == TYPE_F16 || b->kind == TYPE_F16) return &HALF;
    static const char ranks[] = "ijlmxy"; // a later one wins, except that long long beats unsigned
    int at = 0, rank_a = 0, rank_b = 0;
    for (; ranks[at]; at++) {
        if (ranks[at] == a->letter) rank_a = at;
        if (ranks[at] == b->letter) rank_b = at;
    }
    int most = rank_a > rank_b ? rank_a : rank_b, least = rank_a > rank_b ? rank_b : rank_a;
    if (most == 4 && least == 3) most = 5; // long long and unsigned long: unsigned long long
    return type_of_letter(ranks[most]);
}

const Member *type_member(const Type *type, Str name) {
    for (size_t i = 0; type->kind == TYPE_STRUCT && i < type->count; i++)
        if (str_equal(type->members[i].name, name)) return &type->members[i];
    return NULL;
}

static void add_name(Buf *buf, const Type *type);

static void add_pointer_to_function(Buf *buf, const Type *function) {
    add_name(buf, function->base);
    buf_add(buf, STR(" (*)("));
    for (uint64_t i = 0; i < function->count; i++) {
        if (i) buf_add(buf, STR(", "));
        add_name(buf, function->parameters[i]);
    }
    buf_char(buf, ')');
}

static void add_name(Buf *buf, const Type *type) {
    if (type->kind == TYPE_POINTER && type->base->kind == TYPE_FUNCTION) {
        add_pointer_to_function(buf, type->base);
        return;
    }
    if (type->kind != TYPE_POINTER && type->kind != TYPE_ARRAY) {
        if (type->is_const) buf_add(buf, STR("const "));
        if (type->is_volatile) buf_add(buf, STR("volatile "));
        buf_add(buf, type->kind == TYPE_FUNCTION ? STR("function") : type->name);
        return;
    }
    if (type->kind == TYPE_ARRAY) {
        const Type *element = type;
        while (element->kind == TYPE_ARRAY) element = element->base;
        add_name(buf, element);
        for (; type->kind == TYPE_ARRAY; type = type->base)
            buf_format(buf, "[%llu]", (unsigned long long)type->count);
        return;
    }
    add_name(buf, type->base);
    if (buf->len && buf->at[buf->len - 1] != '*') buf_char(buf, ' ');
    buf_char(buf, type->is_reference ? '&' : '*');
    if (type->is_const) buf_add(buf, STR("const"));
}

Str type_name(Arena *arena, const Type *type) {
    Buf buf = {.arena = arena};
    add_name(&buf, type);
    return buf_str(&buf);
}

// Mangles names by the rules of the Itanium C++ ABI, as nvcc does, so that host programs find their
// kernels: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
#include "simt/cudac/parse/parser.h"

enum { MOST_SUBSTITUTES = 128 };

typedef struct {
    Arena *arena;
    Buf out;
    Str seen[MOST_SUBSTITUTES]; // what S_, S0_, S1_, ... stand for, in full
    size_t count;
    bool in_full; // without substitutes
} Mangler;

static void encode(Mangler *m, const Type *type);

static Str in_full(const Mangler *m, const Type *type) {
    Mangler full = {.arena = m->arena, .out = {.arena = m->arena}, .in_full = true};
    encode(&full, type);
    return buf_str(&full.out);
}

static void remember(Mangler *m, Str text) {
    if (!m->in_full && m->count < MOST_SUBSTITUTES) m->seen[m->count++] = text;
}

static void number36(Buf *out, size_t number) {
    if (number >= 36) number36(out, number / 36);
    buf_char(out, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]);
}

static bool substituted(Mangler *m, Str text) {
    for (size_t i = 0; i < m->count && !m->in_full; i++) {
        if (!str_equal(m->seen[i], text)) continue;
        buf_char(&m->out, 'S');
        if (i) number36(&m->out, i - 1);
        buf_char(&m->out, '_');
        return true;
    }
    return false;
}

static void source_name(Mangler *m, Str name) {
    buf_format(&m->out, "%zu%.*s", name.len, STR_ARG(name));
}

static bool is_builtin(const Type *type) {
    return type->kind < TYPE_POINTER && type->letter != 'D' &&
           str_equal(type->name, type_of_letter(type->letter)->name);
}

static void unqualified(Mangler *m, const Type *type) {
    size_t number;
    if (type->kind == TYPE_POINTER) {
        buf_char(&m->out, type->is_reference ? 'R' : 'P');
        encode(m, type->base);
    } else if (type->kind == TYPE_ARRAY) {
        buf_format(&m->out, "A%llu_", (unsigned long long)type->count);
        encode(m, type->base);
    } else if (type->kind == TYPE_FUNCTION) {
        buf_char(&m->out, 'F');
        encode(m, type->base);
        for (uint64_t i = 0; i < type->count; i++) encode(m, type->parameters[i]);
        buf_add(&m->out, type->count ? STR("E") : STR("vE"));
    } else if (template_is_placeholder(type, &number)) {
        buf_char(&m->out, 'T');
        if (number) number36(&m->out, number - 1);
        buf_char(&m->out, '_');
    } else
        source_name(m, type->name);
}

static void encode(Mangler *m, const Type *type) {
    bool array = type->kind == TYPE_ARRAY; // its elements are qualified
    bool is_const = type->is_const && !array, is_volatile = type->is_volatile && !array;
    bool qualified = is_const || is_volatile || type->is_restrict;
    Type plain = *type;
    plain.is_const = plain.is_volatile = plain.is_restrict = false;
    if (!qualified && is_builtin(type)) {
        buf_char(&m->out, type->letter);
        return;
    }
    Str text = m->in_full ? (Str){0} : in_full(m, type);
    if (substituted(m, text)) return;
    if (type->is_restrict) buf_char(&m->out, 'r');
    if (is_volatile) buf_char(&m->out, 'V');
    if (is_const) buf_char(&m->out, 'K');
    if (qualified)
        encode(m, &plain);
    else
        unqualified(m, type);
    remember(m, text);
}

static void template_argument(Mangler *m, const TemplateArgument *argument) {
    if (!argument->is_value) {
        encode(m, argument->type);
        return;
    }
    bool negative = type_is_signed(argument->type) && argument->value < 0;
    unsigned long long size = (unsigned long long)argument->value;
    buf_char(&m->out, 'L');
    encode(m, argument->type);
    buf_format(&m->out, "%s%lluE", negative ? "n" : "", negative ? 0 - size : size);
}

Str mangle_function(Arena *arena, const Instance *instance, size_t argument_count) {
    const Definition *definition = instance->definition;
    if (definition->is_c) return definition->name;
    Mangler m = {.arena = arena, .out = {.arena = arena}};
    buf_add(&m.out, STR("_Z"));
    source_name(&m, definition->name);
    const Type *type = instance->function->type;
    if (instance->arguments) {
        remember(&m, definition->name);
        buf_char(&m.out, 'I');
        for (size_t i = 0; i < argument_count; i++) template_argument(&m, &instance->arguments[i]);
        buf_char(&m.out, 'E');
        type = definition->pattern->function->type;
        encode(&m, type->base);
    }
    for (size_t i = 0; i < type->count; i++) {
        Type plain = *type->parameters[i];
        plain.is_const = plain.is_volatile = plain.is_restrict = false;
        encode(&m, &plain);
    }
    if (!type->count) buf_char(&m.out, 'v');
    return buf_str(&m.out);
}

Str mangle_static(Arena *arena, Str function, Str name, size_t same) {
    Buf out = {.arena = arena};
    bool mangled = str_starts(function, STR("_Z"));
    Str rest = str_from(function, mangled ? 2 : 0);
    buf_add(&out, STR("_ZZ"));
    if (!mangled) buf_format(&out, "%zu", rest.len);
    buf_format(&out, "%.*sE%zu%.*s", STR_ARG(rest), name.len, STR_ARG(name));
    if (same) buf_format(&out, "_%zu", same - 1);
    return buf_str(&out);
}

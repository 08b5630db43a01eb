// printf in host code. See host.h.
#include <stdio.h>
#include <string.h>

#include "engine/host.h"
#include "simt/cudac/parse/type.h"

enum { MOST = 1 << 20, LONGEST = 400 };

// The text that a pointer of host code points to.
static bool add_text(Host *host, HostValue pointer) {
    const uint8_t *byte;
    uint64_t address = (uint64_t)pointer.integer;
    while ((byte = host_at(host, address++, 1)) && *byte) buf_char(&host->printed, (char)*byte);
    return byte;
}

static bool is_among(char letter, const char *letters) { return letter && strchr(letters, letter); }

// An integer as C converts it for d and i, or for the other letters.
static long long converted(const Type *type, char letter, int64_t integer) {
    if (type->size > 4) return integer;
    return is_among(letter, "di") ? (long long)(int32_t)integer : (long long)(uint32_t)integer;
}

// Prints an argument. `flags` are those of the conversion, with its width and precision.
static bool add(Host *host, Str flags, char letter, const Expression *argument) {
    char format[64], text[LONGEST];
    const HostValue value = host_value(host, argument);
    const bool floating = type_is_floating(argument->type);
    const bool whole = is_among(letter, "diuxXoc");
    if (letter == 's' && !flags.len && argument->type->kind == TYPE_POINTER)
        return add_text(host, value);
    if (flags.len > 16 || floating == whole || !(whole || is_among(letter, "fFeEgG"))) return false;
    snprintf(format, sizeof format, "%%%.*s%s%c", STR_ARG(flags),
             whole && letter != 'c' ? "ll" : "", letter);
    if (floating)
        snprintf(text, sizeof text, format, value.floating);
    else if (letter == 'c')
        snprintf(text, sizeof text, format, (int)value.integer);
    else
        snprintf(text, sizeof text, format, converted(argument->type, letter, value.integer));
    buf_add(&host->printed, str_of(text));
    return true;
}

// The length of the first characters of a text that are among these.
static size_t count_among(Str text, const char *letters) {
    size_t count = 0;
    while (count < text.len && is_among(text.at[count], letters)) count++;
    return count;
}

HostValue host_print(Host *host, const Expression *call) {
    Str format = call->arguments[0]->text;
    const size_t before = host->printed.len;
    for (size_t next = 1; format.len && !host->ended;) {
        const size_t percent = str_find(format, STR("%"));
        buf_add(&host->printed, str_slice(format, 0, percent));
        format = str_from(format, percent == SIZE_MAX ? format.len : percent + 1);
        if (percent == SIZE_MAX) break;
        const Str flags = str_slice(format, 0, count_among(format, "-+ #0123456789."));
        format = str_from(format, flags.len);
        format = str_from(format, count_among(format, "hlzjt"));
        const char letter = format.len ? *format.at : '\0';
        format = str_from(format, 1);
        if (letter == '%')
            buf_char(&host->printed, '%');
        else if (next == call->argument_count || !add(host, flags, letter, call->arguments[next++]))
            host_fault(host, call->place, "a conversion of this printf does not fit its argument");
    }
    if (host->printed.len > MOST) host_fault(host, call->place, "printf has printed a megabyte");
    return (HostValue){.integer = (int64_t)(host->printed.len - before)};
}

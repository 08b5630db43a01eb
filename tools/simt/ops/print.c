// Executes printf and assert in kernels, which are calls of vprintf(format, arguments) and
// __assertfail(message, file, line, function, char_bytes).
#include <stdio.h>
#include <string.h>

#include "simt/base/align.h"
#include "simt/base/console.h"
#include "simt/exec/address.h"
#include "simt/ops/ops.h"

static uint64_t argument(const Warp *warp, const Inst *inst, uint32_t k, int lane, uint32_t bytes) {
    const CallSite *site = inst->call.site;
    uint64_t value = 0;
    memcpy(&value, warp->frame + site->arguments[k] + site->stride * (uint32_t)lane, bytes);
    return value;
}

#define TEXT_LIMIT 4096

static bool read_text(const Warp *warp, int lane, uint64_t address, char text[TEXT_LIMIT]) {
    for (uint32_t k = 0; k < TEXT_LIMIT - 1; k++) {
        if (!address_read(warp, lane, address + k, &text[k], 1)) return false;
        if (!text[k]) return true;
    }
    text[TEXT_LIMIT - 1] = '\0';
    return true;
}

// A conversion specification of a format, rewritten for the host's printf. Flags, width and
// precision stay; all integers are widened, so a size prefix becomes ll.
typedef struct {
    char text[40];
    char kind; // the letter
    uint32_t bytes;
    bool star[2];
    bool is_signed;
} Conversion;

static const char *read_conversion(const char *at, Conversion *c) {
    size_t len = 0;
    *c = (Conversion){.bytes = 4};
    c->text[len++] = '%';
    at++;
    while (*at && strchr("-+ #0123456789.*", *at) && len < 30) {
        if (*at == '*') c->star[c->star[0]] = true;
        c->text[len++] = *at++;
    }
    for (; *at && strchr("hlLqjzt", *at); at++)
        if (*at != 'h' && *at != 'L') c->bytes = 8;
    c->kind = *at;
    if (!*at) return NULL;
    if (strchr("diouxX", *at)) {
        c->text[len++] = 'l';
        c->text[len++] = 'l';
        c->is_signed = *at == 'd' || *at == 'i';
    } else if (strchr("aAeEfFgGps", *at)) {
        c->bytes = 8;
    } else if (*at != 'c') {
        return NULL;
    }
    c->text[len] = *at == 'p' ? 's' : *at; // addresses may be larger than the host's
    return at + 1;
}

// Reads the next argument, which is aligned to its size.
static bool next_argument(const Warp *warp, int lane, uint64_t *next, void *to, uint32_t bytes) {
    *next = align_up(*next, bytes);
    if (!address_read(warp, lane, *next, to, bytes)) return false;
    *next += bytes;
    return true;
}

static bool print_one(const Warp *warp, int lane, const Conversion *c, uint64_t *next) {
    int stars[2] = {0, 0};
    uint64_t bits = 0;
    for (int k = 0; k < 2 && c->star[k]; k++)
        if (!next_argument(warp, lane, next, &stars[k], sizeof stars[k])) return false;
    if (!next_argument(warp, lane, next, &bits, c->bytes)) return false;
    char text[TEXT_LIMIT];
    double value;
    memcpy(&value, &bits, sizeof value);
    if (c->kind == 's' && !read_text(warp, lane, bits, text)) return false;
    long long integer = c->is_signed && c->bytes == 4 ? (int32_t)bits : (long long)bits;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define PRINT(argument)                                                                            \
    (c->star[1]   ? console_print(c->text, stars[0], stars[1], argument)                           \
     : c->star[0] ? console_print(c->text, stars[0], argument)                                     \
                  : console_print(c->text, argument))
    switch (c->kind) {
    case 's':
        return PRINT(text);
    case 'p':
        snprintf(text, sizeof text, bits ? "0x%llx" : "(nil)", (unsigned long long)bits);
        return PRINT(text);
    case 'c':
        return PRINT((int)bits);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return PRINT(integer);
    default:
        return PRINT(value);
    }
#pragma GCC diagnostic pop
}

static bool print_lane(const Warp *warp, int lane, uint64_t format, uint64_t next) {
    char text[TEXT_LIMIT];
    if (!read_text(warp, lane, format, text)) return false;
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "%");
        console_write(at, plain);
        at += plain;
        if (!*at) break;
        if (at[1] == '%') {
            console_write("%", 1);
            at += 2;
            continue;
        }
        Conversion conversion;
        const char *after = read_conversion(at, &conversion);
        if (!after) { // not a conversion: printed unchanged
            console_write(at, strlen(at));
            return true;
        }
        if (!print_one(warp, lane, &conversion, &next)) return false;
        at = after;
    }
    return true;
}

static uint32_t conversions(const Warp *warp, int lane, uint64_t format) {
    char text[TEXT_LIMIT];
    uint32_t count = 0;
    if (!read_text(warp, lane, format, text)) return 0;
    for (const char *at = text; *at; at++) {
        if (*at != '%') continue;
        if (at[1] == '%')
            at++;
        else
            count++;
    }
    return count;
}

const Inst *op_print(Warp *warp, const Inst *inst) {
    const CallSite *site = inst->call.site;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t format = argument(warp, inst, 0, lane, 8);
        if (!print_lane(warp, lane, format, argument(warp, inst, 1, lane, 8))) {
            return warp_fail(warp, inst, lane, SIMT_ILLEGAL_ADDRESS,
                             "printf cannot read its arguments or its format at 0x%llx",
                             (unsigned long long)format);
        }
        uint32_t count = conversions(warp, lane, format); // the result of CUDA's printf
        if (site->result_count)
            memcpy(warp->frame + site->results[0] + site->stride * (uint32_t)lane, &count, 4);
    }
    return inst + 1;
}

const Inst *op_assert_fail(Warp *warp, const Inst *inst) {
    char message[TEXT_LIMIT], file[TEXT_LIMIT], function[TEXT_LIMIT];
    int lane = __builtin_ctz(warp->exec);
    if (!read_text(warp, lane, argument(warp, inst, 0, lane, 8), message)) message[0] = '\0';
    if (!read_text(warp, lane, argument(warp, inst, 1, lane, 8), file)) file[0] = '\0';
    if (!read_text(warp, lane, argument(warp, inst, 3, lane, 8), function)) function[0] = '\0';
    const Dim3 at = warp->block->index;
    // The text is that of the CUDA runtime.
    return warp_fail(warp, inst, lane, SIMT_ASSERT,
                     "%.200s:%u: %.200s: block: [%u,%u,%u], thread: [%u,%u,%u] "
                     "Assertion `%.200s` failed.",
                     file, (unsigned)argument(warp, inst, 2, lane, 4), function, at.x, at.y, at.z,
                     warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane], message);
}

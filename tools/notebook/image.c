// Embeds figures into cells as data: URIs: see parts.h.
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "notebook/parts.h"

// Adds bytes in base64: RFC 4648, section 4.
static void add_base64(Buf *text, Str bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++)
            group = group << 8 | (i + k < bytes.len ? (unsigned char)bytes.at[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            buf_char(text, i + k > bytes.len ? '=' : digits[group >> (18 - 6 * k) & 63]);
    }
}

bool image_embed(Arena *arena, Str path, Buf *text, Buf *why) {
    Buf bitmap = {.arena = arena};
    Str bytes, kind = STR("png");
    bool vector = str_ends(path, STR(".svg"));
    buf_add(&bitmap, str_slice(path, 0, path.len - (vector ? 4 : 0)));
    if (vector) buf_add(&bitmap, STR(".webp"));
    if (vector || str_ends(path, STR(".webp"))) kind = STR("webp");
    if (str_ends(path, STR(".jpg")) || str_ends(path, STR(".jpeg"))) kind = STR("jpeg");
    if (!file_read(arena, str_terminated(arena, buf_str(&bitmap)), &bytes)) {
        buf_format(why, "notebooks cannot show `%.*s` without %.*s: %s", STR_ARG(path),
                   STR_ARG(buf_str(&bitmap)), strerror(errno));
        return false;
    }
    buf_format(text, "data:image/%.*s;base64,", STR_ARG(kind));
    add_base64(text, bytes);
    return true;
}

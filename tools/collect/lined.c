// Lined: see lined.h.
#include "collect/lined.h"

#include <stdlib.h>

size_t lined_code_line(Str lined, Str file, size_t line) {
    Str rest = lined, text, path = STR("");
    size_t source = 0, code = 0;
    while (str_line(&rest, &text)) {
        if (str_starts(text, STR("#line "))) {
            source = strtoul(text.at + 6, NULL, 10);
            path = str_from(text, str_find(text, STR("\"")) + 1);
            path.len -= path.len > 0;
            continue;
        }
        code++;
        if (source == line && str_equal(path, file)) return code;
        source++;
    }
    return 0;
}

// Reads a lab's table of stages: see stages.h.
#include "book/stages.h"

#include <ctype.h>

#include "base/kernel_name.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Takes what comes before the next `mark`, and the mark, off *rest. False: there is no mark.
static bool take_to(Str *rest, Str mark, Str *before) {
    size_t at = str_find(*rest, mark);
    if (at == SIZE_MAX) return false;
    *before = str_slice(*rest, 0, at);
    *rest = str_from(*rest, at + mark.len);
    return true;
}

static Str take_word(Str *rest) {
    size_t end = 0;
    while (end < rest->len && is_word(rest->at[end])) end++;
    Str word = str_slice(*rest, 0, end);
    *rest = str_from(*rest, end);
    return word;
}

// The word that a text ends with.
static Str last_word(Str text) {
    size_t start = text.len;
    while (start && is_word(text.at[start - 1])) start--;
    return str_from(text, start);
}

// --- what a launch function launches ---

// Splits `name<arguments>` at the end of a text. Without arguments, they are empty.
static Str kernel_before(Str text, Str *arguments) {
    *arguments = STR("");
    if (str_ends(text, STR(">"))) {
        size_t open = text.len - 1;
        while (open && text.at[open] != '<') open--;
        *arguments = str_slice(text, open + 1, text.len - 1);
        text = str_slice(text, 0, open);
    }
    return last_word(text);
}

static bool is_number(Str text) { return text.len && isdigit((unsigned char)text.at[0]); }

// Finds the kernel that the function `launch` launches. `given` are the function's own template
// arguments, which it passes on if those of the kernel are not numbers.
static bool find_kernel(Arena *arena, Str lab, Str launch, Str given, Stage *stage) {
    Buf head = {.arena = arena}, bare = {.arena = arena};
    Str before, body, arguments = STR("");
    buf_format(&head, "static unsigned %.*s(", STR_ARG(launch));
    if (!take_to(&lab, buf_str(&head), &before) || !take_to(&lab, STR("\n}"), &body)) return false;
    if (take_to(&body, STR("cudaLaunchCooperativeKernel((void *)"), &before))
        stage->function = take_word(&body);
    else if (take_to(&body, STR("<<<"), &before))
        stage->function = kernel_before(before, &arguments);
    else
        return false;
    if (arguments.len && !is_number(arguments)) arguments = given;
    buf_add(&bare, stage->function);
    if (arguments.len) buf_format(&bare, "<%.*s>", STR_ARG(arguments));
    stage->kernel = kernel_name_recorded(arena, buf_str(&bare));
    return stage->function.len > 0;
}

// --- the table ---

// Reads a row, which begins after its opening {".
static bool read_row(Arena *arena, Str lab, Str row, Stage *stage) {
    Str given = STR(""), note;
    *stage = (Stage){.block = STR("")};
    if (!take_to(&row, STR("\""), &stage->name) || !str_starts(row, STR(", "))) return false;
    row = str_from(row, 2);
    Str launch = take_word(&row);
    if (str_starts(row, STR("<"))) {
        row = str_from(row, 1);
        if (!take_to(&row, STR(">"), &given)) return false;
    }
    if (!take_to(&row, STR("\""), &note) || !take_to(&row, STR("\""), &note)) return false;
    if (str_starts(row, STR(", "))) {
        row = str_from(row, 2);
        Str block = take_word(&row);
        if (is_number(block) && !str_equal(block, STR("0"))) stage->block = block;
    }
    return find_kernel(arena, lab, launch, given, stage);
}

size_t stages_of(Arena *arena, Str lab, Stage **stages) {
    Str rest = lab, before, table;
    size_t count = 0, capacity = 0;
    *stages = NULL;
    if (!take_to(&rest, STR("static const Stage stages[] = {"), &before) ||
        !take_to(&rest, STR("\n};"), &table))
        return 0;
    while (take_to(&table, STR("{\""), &before)) {
        Stage stage;
        if (!read_row(arena, lab, table, &stage)) continue;
        ARENA_GROW(arena, *stages, count, capacity);
        (*stages)[count++] = stage;
    }
    return count;
}

// --- kernels ---

bool stages_kernel(Str *rest, Str *name) {
    Str before;
    if (!take_to(rest, STR("__global__"), &before)) return false;
    while (take_to(rest, STR("("), &before)) {
        *name = last_word(before);
        if (!str_equal(*name, STR("__launch_bounds__"))) return name->len > 0;
        if (!take_to(rest, STR(")"), &before)) return false;
    }
    return false;
}

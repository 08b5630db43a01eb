// Fills the chunk table from Markdown files and looks up names in it.
#include "markdown/chunk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

void chunk_fail(ChunkTable *table, size_t file, size_t line, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = ARENA_NEW(table->arena, size, char);
    vsnprintf(text, size, format, again);
    va_end(again);
    ARENA_GROW(table->arena, table->errors, table->error_count, table->error_capacity);
    table->errors[table->error_count++] = (ChunkError){file, line, {text, size - 1}};
}

bool chunk_is_reference(Str line, Str *indent, Str *name) {
    size_t start = 0;
    while (start < line.len && (line.at[start] == ' ' || line.at[start] == '\t')) start++;
    Str text = str_trim(str_from(line, start));
    if (!str_starts(text, STR("<<")) || !str_ends(text, STR(">>")) || text.len < 5) return false;
    Str inside = str_slice(text, 2, text.len - 2);
    if (braces_name_length(inside) != inside.len) return false;
    *indent = str_slice(line, 0, start);
    *name = inside;
    return true;
}

// What is wrong with a file target, or NULL. A target must be below code/.
static const char *target_fault(Str target) {
    if (target.len == 0) return "is empty";
    if (target.at[0] == '/') return "is absolute";
    for (size_t i = 0; i < target.len; i++)
        if ((unsigned char)target.at[i] < ' ' || target.at[i] == 127 || target.at[i] == '\\')
            return "has a backslash or a control character";
    for (size_t start = 0, end; start <= target.len; start = end + 1) {
        for (end = start; end < target.len && target.at[end] != '/';) end++;
        Str component = str_slice(target, start, end);
        if (str_equal(component, STR(".."))) return "leaves code/";
        if (component.len == 0 || str_equal(component, STR("."))) return "has an empty component";
    }
    return str_starts(target, STR("code/")) ? NULL : "is outside code/";
}

static void find_references(ChunkTable *table, Chunk *chunk) {
    const FencePart *part = chunk->part;
    size_t capacity = 0;
    for (size_t i = 0; i < part->body_count; i++) {
        ChunkReference reference = {.body = i, .chunk = CHUNK_NONE};
        if (!chunk_is_reference(part->body[i], &reference.indent, &reference.name)) continue;
        ARENA_GROW(table->arena, chunk->references, chunk->reference_count, capacity);
        chunk->references[chunk->reference_count++] = reference;
    }
}

// Reports the opening line of a block inside a chunk: the chunk's closing fence is missing.
static void find_swallowed_head(ChunkTable *table, size_t file, const FencePart *part) {
    for (size_t i = 0; i < part->body_count; i++) {
        Str line = str_trim(part->body[i]);
        if (!str_starts(line, part->ticks)) continue;
        if (!str_starts(str_trim(str_from(line, part->ticks.len)), STR("{"))) continue;
        table->swallowed = true;
        chunk_fail(table, file, part->line,
                   "this block is not closed before the next one begins, at line %zu",
                   part->line + 1 + i);
        return;
    }
}

static void add_part(ChunkTable *table, size_t file, const FencePart *part, size_t exercise) {
    if (!part->closed)
        chunk_fail(table, file, part->line, "unterminated fence: %.*s is not closed before %s ends",
                   STR_ARG(part->ticks), part->nested ? "its list item or quote" : "the file");
    if (part->braces.error.len)
        chunk_fail(table, file, part->line, "%.*s", STR_ARG(part->braces.error));
    Chunk chunk = {.name = part->braces.id,
                   .file = file,
                   .line = part->line,
                   .part = part,
                   .exercise = exercise,
                   .variant = exercise_variant(part)};
    bool has_target = fence_attribute(part, STR("file"), &chunk.target);
    if (part->braces.id.len == 0 && !has_target && chunk.variant == VARIANT_NONE) return;
    find_swallowed_head(table, file, part);
    const char *fault = has_target ? target_fault(chunk.target) : NULL;
    chunk.misplaced = fault != NULL;
    if (fault)
        chunk_fail(table, file, part->line,
                   "file target `%.*s` %s: expected a path below code/, such as code/name.cu",
                   STR_ARG(chunk.target), fault);
    find_references(table, &chunk);
    ARENA_GROW(table->arena, table->chunks, table->chunk_count, table->chunk_capacity);
    table->chunks[table->chunk_count++] = chunk;
}

static void check_utf8(ChunkTable *table, size_t file, Str text) {
    size_t bad = str_invalid_utf8(text);
    if (bad == SIZE_MAX) return;
    size_t line = 1, start = 0;
    for (size_t i = 0; i < bad; i++) {
        if (text.at[i] != '\n') continue;
        line++;
        start = i + 1;
    }
    chunk_fail(table, file, line, "invalid UTF-8: byte 0x%02X at byte column %zu",
               (unsigned)(unsigned char)text.at[bad], bad - start + 1);
}

// In CommonMark a line of backticks with another backtick after them is text. If attributes follow
// the first ones, the author meant a block.
static void find_broken_fences(ChunkTable *table, size_t file, const FencePart *prose) {
    Str rest = prose->source, line;
    for (size_t number = prose->line; str_line(&rest, &line); number++) {
        Str info = str_trim(line);
        if (!str_starts(info, STR("```"))) continue;
        while (info.len && info.at[0] == '`') info = str_from(info, 1);
        if (str_starts(str_trim(info), STR("{")) && str_find(info, STR("`")) != SIZE_MAX)
            chunk_fail(table, file, number,
                       "a ` in the attributes turns this block into text: remove it");
    }
}

static size_t add_file(ChunkTable *table, Str path) {
    ARENA_GROW(table->arena, table->files, table->file_count, table->file_capacity);
    table->files[table->file_count] = (ChunkFile){.path = path};
    return table->file_count++;
}

void chunk_add(ChunkTable *table, Str path, Str text) {
    size_t file = add_file(table, path);
    check_utf8(table, file, text);
    FenceParts parts = fence_scan(table->arena, text);
    table->files[file].readable = true;
    table->files[file].text = text;
    table->files[file].parts = parts;
    size_t *inside = ARENA_NEW(table->arena, parts.count + 1, size_t);
    exercise_scan(table, file, inside);
    for (size_t i = 0; i < parts.count; i++)
        if (parts.parts[i].fenced)
            add_part(table, file, &parts.parts[i], inside[i]);
        else
            find_broken_fences(table, file, &parts.parts[i]);
}

void chunk_read(ChunkTable *table, Str path) {
    Str text;
    if (file_read_text(table->arena, str_terminated(table->arena, path), &text)) {
        chunk_add(table, path, text);
        return;
    }
    int error = errno;
    chunk_fail(table, add_file(table, path), 1, "cannot read this file: %s", strerror(error));
}

Str chunk_errors(const ChunkTable *table) {
    Buf buf = {.arena = table->arena};
    for (size_t i = 0; i < table->error_count; i++) {
        const ChunkError *error = &table->errors[i];
        buf_add(&buf, table->files[error->file].path);
        buf_format(&buf, ":%zu: ", error->line);
        buf_add(&buf, error->message);
        buf_char(&buf, '\n');
    }
    return buf_str(&buf);
}

size_t chunk_find(const ChunkTable *table, Str name) {
    if (table->slot_count == 0 || name.len == 0) return CHUNK_NONE;
    size_t mask = table->slot_count - 1;
    for (size_t slot = (size_t)str_hash(name) & mask;; slot = (slot + 1) & mask) {
        size_t chunk = table->slots[slot];
        if (chunk == CHUNK_NONE || str_equal(table->chunks[chunk].name, name)) return chunk;
    }
}

size_t chunk_of_part(const ChunkTable *table, size_t file, size_t part) {
    const FencePart *sought = &table->files[file].parts.parts[part];
    size_t low = 0, high = table->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Chunk *chunk = &table->chunks[middle];
        if (chunk->file < file || (chunk->file == file && chunk->line < sought->line))
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->chunk_count && table->chunks[low].part == sought ? low : CHUNK_NONE;
}

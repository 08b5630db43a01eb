// Finds the headings of Markdown files and names them for links. Slugs follow GitHub's rules.
#include "book/anchor.h"

#include "base/path.h"
#include "markdown/inline.h"
#include "numbers/key.h"

bool anchor_heading(Str line, int *level, Str *title, Str *attributes) {
    size_t indent = 0, hashes = 0;
    while (indent < line.len && indent < 3 && line.at[indent] == ' ') indent++;
    Str rest = str_from(line, indent);
    while (hashes < rest.len && rest.at[hashes] == '#') hashes++;
    if (hashes == 0 || hashes > 6) return false;
    if (hashes < rest.len && rest.at[hashes] != ' ' && rest.at[hashes] != '\t') return false;
    *level = (int)hashes;
    *title = str_trim(str_from(rest, hashes));
    *attributes = (Str){NULL, 0};
    if (str_ends(*title, STR("}"))) {
        size_t open = title->len;
        while (open && title->at[open - 1] != '{') open--;
        if (open) {
            *attributes = str_from(*title, open - 1);
            *title = str_trim(str_slice(*title, 0, open - 1));
        }
    }
    size_t end = title->len;
    while (end && title->at[end - 1] == '#') end--;
    if (end < title->len && (end == 0 || title->at[end - 1] == ' '))
        *title = str_trim(str_slice(*title, 0, end));
    return true;
}

Str anchor_chapter_title(Str chapter, Str title) {
    Str appendix = STR("Appendix ");
    if (chapter.len != 1 || !str_starts(title, appendix)) return title;
    Str rest = str_from(title, appendix.len);
    bool named =
        str_starts(rest, chapter) && rest.len > 1 && (rest.at[1] == ':' || rest.at[1] == '.');
    return named ? str_trim(str_from(rest, 2)) : title;
}

Str anchor_book_title(Arena *arena, Str chapter, int level, Str title) {
    if (level != 1 || chapter.len == 0) return title;
    Buf text = {.arena = arena};
    bool letter = chapter.at[0] >= 'A';
    Str number = key_chapter_number(chapter);
    Str own = anchor_chapter_title(chapter, title);
    buf_format(&text, letter ? "Appendix %.*s. %.*s" : "%.*s. %.*s", STR_ARG(number), STR_ARG(own));
    return buf_str(&text);
}

// Whether a slug drops the multi-byte character at the start of s. Punctuation and symbols are
// recognized by Unicode block; letters of all scripts remain.
static bool is_symbol(Str s, size_t *length) {
    unsigned char a = (unsigned char)s.at[0];
    *length = a >= 0xf0 ? 4 : a >= 0xe0 ? 3 : 2;
    if (*length > s.len) *length = s.len;
    unsigned code = a & (0xffu >> (*length + 1));
    for (size_t i = 1; i < *length; i++) code = code << 6 | ((unsigned char)s.at[i] & 0x3f);
    bool latin = code < 0xc0 && code != 0xaa && code != 0xb5 && code != 0xba;
    bool sign = code == 0xd7 || code == 0xf7 || (code >= 0x2000 && code < 0x2c00);
    return latin || sign || (code >= 0x3000 && code < 0x3040) || code >= 0x1f000;
}

static void add_slug(Buf *slug, Str text, bool code) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if ((unsigned char)c >= 0x80) {
            size_t length;
            if (!is_symbol(str_from(text, i), &length))
                buf_add(slug, str_slice(text, i, i + length));
            i += length - 1;
        } else if (c >= 'A' && c <= 'Z') {
            buf_char(slug, (char)(c + 'a' - 'A'));
        } else if (c == ' ') {
            buf_char(slug, '-');
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                   (c == '_' && (code || (i && i + 1 < text.len && text.at[i - 1] != ' ' &&
                                          text.at[i + 1] != ' ')))) {
            buf_char(slug, c);
        }
    }
}

// The slug of a title, made from its text without markup.
static Str slug_of(Arena *arena, Str title) {
    Buf slug = {.arena = arena};
    InlineScan scan = inline_scan(title);
    for (Inline piece; inline_next(&scan, &piece);)
        if (piece.kind == INLINE_TEXT || piece.kind == INLINE_CODE || piece.kind == INLINE_MATH)
            add_slug(&slug, piece.text, piece.kind == INLINE_CODE);
    return buf_str(&slug);
}

// A map key for a name that is unique within one file.
static Str in_file(Arena *arena, size_t file, Str name) {
    Buf key = {.arena = arena};
    buf_format(&key, "%zu ", file);
    buf_add(&key, name);
    return buf_str(&key);
}

// Returns the first of slug, slug-1, slug-2 … that is not yet in the map under `prefix`. The map
// stores the last number tried, so that many equal slugs do not take quadratic time.
static Str unused(Map *taken, Str prefix, Str slug) {
    Buf key = {.arena = taken->arena};
    bool is_new;
    buf_add(&key, prefix);
    buf_add(&key, slug);
    Str base = buf_str(&key);
    size_t number = *map_at(taken, base, &is_new);
    while (!is_new) {
        Buf next = {.arena = taken->arena};
        buf_format(&next, "%.*s-%zu", STR_ARG(base), ++number);
        map_at(taken, buf_str(&next), &is_new);
        if (!is_new) continue;
        *map_at(taken, base, &(bool){false}) = number;
        return str_from(buf_str(&next), prefix.len);
    }
    return slug;
}

static Str chapter_name(Arena *arena, Str path, const Anchor *anchor) {
    Str chapter = key_chapter_of(path);
    Str stem = path_stem(path);
    Buf name = {.arena = arena};
    buf_format(&name, "ch-%.*s", STR_ARG(chapter.len ? chapter : slug_of(arena, stem)));
    if (anchor->level > 1)
        buf_format(&name, "-%.*s", STR_ARG(anchor->id.len ? anchor->id : anchor->slug));
    return buf_str(&name);
}

static Str id_of(Arena *arena, Str attributes) {
    Braces braces = {0};
    if (attributes.len) braces_read(arena, attributes, 1, &braces);
    return braces.id;
}

typedef struct {
    Anchors *anchors;
    const ChunkTable *files;
    AnchorNames kind;
    Map names, slugs; // already taken in the book, and in each file
} Collector;

// A fragment refers to the first heading with that slug or {#id}; an empty one to the file's first.
static void add_fragment(Anchors *anchors, size_t file, Str fragment) {
    bool is_new;
    size_t *index = map_at(&anchors->fragments, in_file(anchors->arena, file, fragment), &is_new);
    if (is_new) *index = anchors->count;
}

static void add_anchor(Collector *collector, Anchor anchor, Str attributes) {
    Anchors *anchors = collector->anchors;
    Arena *arena = anchors->arena;
    Str path = collector->files->files[anchor.file].path;
    Str book = anchor_book_title(arena, key_chapter_of(path), anchor.level, anchor.title);
    Str prefix = in_file(arena, anchor.file, STR(""));
    anchor.id = id_of(arena, attributes);
    anchor.slug = unused(&collector->slugs, prefix, slug_of(arena, anchor.title));
    Str name =
        collector->kind == ANCHOR_HOST ? slug_of(arena, book) : chapter_name(arena, path, &anchor);
    anchor.name = unused(&collector->names, STR(""), name);
    add_fragment(anchors, anchor.file, STR(""));
    add_fragment(anchors, anchor.file, anchor.slug);
    if (anchor.id.len) add_fragment(anchors, anchor.file, anchor.id);
    ARENA_GROW(arena, anchors->items, anchors->count, anchors->capacity);
    anchors->items[anchors->count++] = anchor;
}

Anchors anchor_collect(const ChunkTable *files, AnchorNames names, const Str *first,
                       size_t first_count) {
    Arena *arena = files->arena;
    Anchors anchors = {.arena = arena, .fragments = {.arena = arena}};
    Collector collector = {&anchors, files, names, {.arena = arena}, {.arena = arena}};
    for (size_t i = 0; i < first_count; i++)
        map_at(&collector.names, slug_of(arena, first[i]), &(bool){false});
    for (size_t f = 0; f < files->file_count; f++) {
        const ChunkFile *file = &files->files[f];
        for (size_t p = 0; p < file->parts.count; p++) {
            const FencePart *part = &file->parts.parts[p];
            Str rest = part->source, line, attributes;
            Anchor anchor = {.file = f, .line = part->line};
            for (; !part->fenced && str_line(&rest, &line); anchor.line++)
                if (anchor_heading(line, &anchor.level, &anchor.title, &attributes))
                    add_anchor(&collector, anchor, attributes);
        }
    }
    return anchors;
}

const Anchor *anchor_at(const Anchors *anchors, size_t file, size_t line) {
    size_t low = 0, high = anchors->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Anchor *anchor = &anchors->items[middle];
        if (anchor->file < file || (anchor->file == file && anchor->line < line))
            low = middle + 1;
        else
            high = middle;
    }
    const Anchor *found = low < anchors->count ? &anchors->items[low] : NULL;
    return found && found->file == file && found->line == line ? found : NULL;
}

const Anchor *anchor_find(const Anchors *anchors, size_t file, Str fragment) {
    const size_t *index = map_find(&anchors->fragments, in_file(anchors->arena, file, fragment));
    return index ? &anchors->items[*index] : NULL;
}

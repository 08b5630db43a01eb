// Finds the kernels that the page can run: see runnable.h.
#include "book/runnable.h"

#include <math.h>

#include "book/lab.h"
#include "tangle/expand.h"

enum { LAST_CHAPTER = 10, EXHIBITS = 18 }; // whose code the engine's compiler understands

static double number_of(Str chapter) {
    double number;
    return results_number(chapter, &number) ? number : INFINITY;
}

static Str chapter_of(const ChunkTable *table, size_t file) {
    return key_chapter_of(table->files[file].path);
}

// --- the kernels of a lab ---

static bool launches(const RunnableLab *lab, Str kernel) {
    for (size_t i = 0; i < lab->stage_count; i++)
        if (str_equal(lab->stages[i].function, kernel)) return true;
    return false;
}

Str runnable_text(const ChunkTable *table, size_t chunk) {
    const FencePart *part = table->chunks[chunk].part;
    Buf text = {.arena = table->arena};
    for (size_t i = 0; i < part->body_count; i++)
        buf_format(&text, "%.*s\n", STR_ARG(part->body[i]));
    return buf_str(&text);
}

// Assigns the listings of the lab's chapter that it contains, and those of other chapters that no
// lab before it has.
static void assign_listings(struct Runnables *all, const ChunkTable *table, const Lab *lab,
                            const RunnableLab *runnable) {
    for (size_t i = 0; i < lab->need_count; i++) {
        const size_t chunk = lab->needs[i];
        const bool own = table->chunks[chunk].file == table->chunks[lab->chunk].file;
        Str rest = runnable_text(table, chunk), kernel;
        if (chunk == lab->chunk || (all->listings[chunk].lab && !own)) continue;
        while (stages_kernel(&rest, &kernel)) {
            if (!launches(runnable, kernel)) continue;
            all->listings[chunk] = (RunnableListing){kernel, runnable};
            break;
        }
    }
}

void runnable_collect(Book *book) {
    const ChunkTable *table = book->chunks;
    const Labs labs = lab_collect(table);
    struct Runnables *all = ARENA_NEW(book->arena, 1, struct Runnables);
    all->labs = ARENA_NEW(book->arena, labs.count + 1, RunnableLab);
    all->listings = ARENA_NEW(book->arena, table->chunk_count + 1, RunnableListing);
    for (size_t i = 0; i < labs.count; i++) {
        const Lab *lab = &labs.items[i];
        if (number_of(lab->chapter) > LAST_CHAPTER) continue;
        RunnableLab *runnable = &all->labs[all->lab_count];
        *runnable = (RunnableLab){.chapter = lab->chapter, .chunk = lab->chunk};
        runnable->stage_count =
            stages_of(book->arena, expand_text(table, lab->chunk, EXPAND_CLEAN), &runnable->stages);
        if (runnable->stage_count == 0) continue;
        all->lab_count++;
        assign_listings(all, table, lab, runnable);
    }
    book->runnables = all;
}

bool runnable_is_checked(const Book *book, const Exercise *exercise) {
    const double chapter = number_of(chapter_of(book->chunks, exercise->file));
    return book->runnables && exercise->kind == EXERCISE_BUILD &&
           (chapter <= LAST_CHAPTER || (size_t)chapter == EXHIBITS);
}

static bool is_hole(const Book *book, size_t chunk) {
    const Chunk *at = &book->chunks->chunks[chunk];
    return at->variant == VARIANT_STARTER && at->exercise != CHUNK_NONE &&
           runnable_is_checked(book, &book->chunks->exercises[at->exercise]);
}

void runnable_add_classes(const Book *book, Buf *text, size_t chunk) {
    if (!book->runnables) return;
    if (book->runnables->listings[chunk].lab) buf_add(text, STR(" .runnable"));
    if (is_hole(book, chunk)) buf_add(text, STR(" .editable"));
}

void runnable_add_attributes(const Book *book, Buf *text, size_t chunk) {
    const RunnableListing *listing = book->runnables ? &book->runnables->listings[chunk] : NULL;
    if (listing && listing->lab)
        buf_format(text, " data-kernel=\"%.*s\" data-lab=\"%.*s\"", STR_ARG(listing->kernel),
                   STR_ARG(listing->lab->chapter));
}

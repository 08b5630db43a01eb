// Turns woven chapters into the cells of notebooks, between the sections of the frame.
#include "notebook/notebook.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "book/chapters.h"
#include "book/code.h"
#include "book/exercises.h"
#include "book/lab.h"
#include "notebook/cells.h"
#include "notebook/parts.h"
#include "tangle/expand.h"

typedef struct {
    Book *book;
    const NotebookPlan *plan;
    const Labs *labs;
    Str name;         // 04-bank-conflicts
    bool *inside;     // one per file: is this chapter in the notebook?
    bool whole;       // whether all are
    bool *needed;     // one per chunk: is it part of a lab in the notebook?
    bool *written;    // one per chunk: does an earlier cell write it?
    size_t *missing;  // one per lab: how many of its chunks are not yet written
    size_t *complete; // labs whose chunks are all written and that have not been run
    size_t complete_count;
    size_t compared; // how many predictions of the chapter have been compared with results
    bool ran;        // an earlier cell runs a lab of the chapter
    Str section;     // the name of the next cell's heading
    Str frame;       // the sections of the frame that have not been added yet
    bool opened;     // the sections before the chapters have been added
    Cells cells;
} Notebook;

static void open_frame(Notebook *notebook);

// --- names ---

// The file that a chunk's cell writes. It cannot collide with a target: the name of a target starts
// with a digit or does not end in .cu.
static Str file_of(const Notebook *notebook, size_t chunk) {
    const Chunk *at = &notebook->book->chunks->chunks[chunk];
    Buf name = {.arena = notebook->book->arena};
    if (at->target.len == 0) {
        const char *ending = at->variant == VARIANT_SOLUTION ? ".solution.cu" : ".cu";
        buf_format(&name, "%.*s%s", STR_ARG(at->name), ending);
        return buf_str(&name);
    }
    return path_name(at->target);
}

static Str joined(Arena *arena, const char *first, Str second) {
    Buf text = {.arena = arena};
    buf_format(&text, "%s%.*s", first, STR_ARG(second));
    return buf_str(&text);
}

// --- prose ---

// Ends the current Markdown cell; the next one belongs to `section`. The first cell of a chapter is
// its title and question, after which the frame starts.
static void end_cell(Notebook *notebook, Buf *cell) {
    if (str_trim(buf_str(cell)).len == 0) return;
    cells_add_markdown(&notebook->cells, notebook->section, buf_str(cell));
    cell->len = 0;
    if (!notebook->whole) open_frame(notebook);
}

// The name in the anchor line at the start of a cell.
static Str anchor_name(Arena *arena, Str text) {
    Str line, mark = STR("<a name=\"");
    if (!str_line(&text, &line) || !str_starts(line, mark)) return STR("text");
    line = str_from(line, mark.len);
    return joined(arena, "", str_slice(line, 0, str_find(line, STR("\""))));
}

// Turns the text woven since the last code cell into Markdown cells, one per heading.
static void flush_text(Notebook *notebook) {
    Book *book = notebook->book;
    FenceParts parts = fence_scan(book->arena, buf_str(&book->out));
    Buf cell = {.arena = book->arena};
    for (size_t i = 0; i < parts.count; i++) {
        Str rest = parts.parts[i].source, line, title, attributes;
        int level;
        while (str_line(&rest, &line)) {
            if (!parts.parts[i].fenced && anchor_heading(line, &level, &title, &attributes)) {
                end_cell(notebook, &cell);
                notebook->section = anchor_name(book->arena, rest);
            }
            buf_add(&cell, line);
            buf_char(&cell, '\n');
        }
    }
    end_cell(notebook, &cell);
    book->out.len = 0;
}

// --- code ---

static void add_body(Buf *text, const FencePart *part) {
    for (size_t i = 0; i < part->body_count; i++) {
        buf_add(text, part->body[i]);
        if (i + 1 < part->body_count) buf_char(text, '\n');
    }
}

static void mark_written(Notebook *notebook, size_t chunk) {
    const Labs *labs = notebook->labs;
    if (notebook->written[chunk]) return;
    notebook->written[chunk] = true;
    for (size_t i = labs->user_start[chunk]; i < labs->user_start[chunk + 1]; i++)
        if (--notebook->missing[labs->users[i]] == 0)
            notebook->complete[notebook->complete_count++] = labs->users[i];
}

// Adds a title, which folds the cell, to the program and the solution of an exercise.
static void add_cell_title(Notebook *notebook, Buf *text, const Chunk *chunk) {
    const Book *book = notebook->book;
    if (chunk->exercise == CHUNK_NONE || chunk->variant == VARIANT_STARTER) return;
    Str number = exercises_number(book, &book->chunks->exercises[chunk->exercise]);
    const char *what = chunk->variant == VARIANT_SOLUTION ? "Solution of" : "The program of";
    buf_format(text, "#@title %s exercise %.*s\n", what, STR_ARG(number));
}

static void add_chunk_cell(Notebook *notebook, size_t chunk) {
    Str file = file_of(notebook, chunk);
    Buf text = {.arena = notebook->book->arena};
    buf_format(&text, "%%%%writefile %.*s\n", STR_ARG(file));
    add_cell_title(notebook, &text, &notebook->book->chunks->chunks[chunk]);
    add_body(&text, notebook->book->chunks->chunks[chunk].part);
    cells_add_code(&notebook->cells, file, buf_str(&text));
    mark_written(notebook, chunk);
}

static void add_run_cell(Notebook *notebook, const Lab *lab) {
    Buf text = {.arena = notebook->book->arena};
    const FencePart *part = notebook->book->chunks->chunks[lab->chunk].part;
    Str link, machine, exhibits, number = key_chapter_number(lab->chapter);
    const bool wrong = fence_attribute(part, STR("exhibits"), &exhibits);
    buf_format(&text, "# Chapter %.*s: assembles the lab, compiles it, %s.\n", STR_ARG(number),
               wrong ? "counts how often each exhibit is right"
                     : "checks every sum, times every kernel");
    buf_format(&text, "run(\"%.*s\"", STR_ARG(lab->name));
    if (fence_attribute(part, STR("link"), &link)) {
        buf_add(&text, STR(", link="));
        json_string(&text, link);
    }
    if (fence_attribute(part, STR("machine"), &machine)) buf_add(&text, STR(", machine=True"));
    if (wrong) buf_add(&text, STR(", exhibits=True"));
    buf_char(&text, ')');
    cells_add_code(&notebook->cells, joined(notebook->book->arena, "run-", lab->name),
                   buf_str(&text));
}

static int by_index(const void *a, const void *b) {
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

// Adds a cell that compares the predictions since the last such cell with results.
static void add_comparison(Notebook *notebook) {
    const Book *book = notebook->book;
    Prediction *const *first = book->predictions + notebook->compared;
    size_t count = book->prediction_count - notebook->compared;
    if (count == 0) return;
    Str id = joined(book->arena, "compare-", first[0]->name);
    cells_add_code(&notebook->cells, id, forms_comparison(book, first, count));
    cells_add_markdown(&notebook->cells, notebook->section, forms_why(book, first, count));
    notebook->compared = book->prediction_count;
}

// Runs the labs whose last chunk has just been written.
static void run_complete_labs(Notebook *notebook) {
    size_t *complete = notebook->complete, count = notebook->complete_count;
    Str chapter = book_chapter(notebook->book);
    if (count) qsort(complete, count, sizeof *complete, by_index);
    for (size_t i = 0; i < count; i++) {
        const Lab *lab = &notebook->labs->items[complete[i]];
        add_run_cell(notebook, lab);
        if (!str_equal(lab->chapter, chapter)) continue;
        notebook->ran = true;
        add_comparison(notebook);
    }
    notebook->complete_count = 0;
}

// Lists the chunks that a lab takes from chapters outside the notebook.
static void add_borrowed(Notebook *notebook, const Lab *lab) {
    const ChunkTable *table = notebook->labs->table;
    bool first = true;
    for (size_t k = 0; k < lab->need_count; k++) {
        size_t i = lab->needs[k];
        if (notebook->written[i] || notebook->inside[table->chunks[i].file]) continue;
        if (first)
            cells_add_markdown(&notebook->cells, notebook->section,
                               STR("Parts of this lab from other chapters:"));
        first = false;
        add_chunk_cell(notebook, i);
    }
}

// Which chunks are in the notebook's labs or exercises.
static bool *needed_chunks(const Labs *labs, const bool *inside) {
    bool *needed = ARENA_NEW(labs->table->arena, labs->table->chunk_count + 1, bool);
    for (size_t i = 0; i < labs->count; i++) {
        const Lab *lab = &labs->items[i];
        if (!inside[labs->table->chunks[lab->chunk].file]) continue;
        for (size_t k = 0; k < lab->need_count; k++) needed[lab->needs[k]] = true;
    }
    const ChunkTable *table = labs->table;
    for (size_t i = 0; i < table->exercise_count; i++) {
        const Exercise *exercise = &table->exercises[i];
        if (!inside[exercise->file] || exercise->kind != EXERCISE_BUILD) continue;
        Lab program = lab_of_program(table, exercise->program);
        needed[exercise->solution] = true;
        for (size_t k = 0; k < program.need_count; k++) needed[program.needs[k]] = true;
    }
    return needed;
}

// Shows a chunk that no lab of the notebook needs as text.
static void show_chunk(Book *book, size_t chunk) {
    Str name = code_name(book, chunk);
    Buf text = {.arena = book->arena};
    buf_format(&text, "`%.*s`:\n\n", STR_ARG(name));
    book_blank(book);
    book_add(book, buf_str(&text));
    code_weave_plain(book, book->chunks->chunks[chunk].part);
}

// Replaces code_weave in notebooks.
static void add_chunk(Book *book, size_t chunk) {
    Notebook *notebook = book->cells;
    const Lab *lab = notebook->labs->of_chunk[chunk];
    const Chunk *at = &book->chunks->chunks[chunk];
    if (notebook->labs->harness[chunk] || !notebook->needed[chunk]) {
        show_chunk(book, chunk);
        return;
    }
    flush_text(notebook);
    open_frame(notebook);
    if (lab) add_borrowed(notebook, lab);
    if (!lab && at->target.len) {
        Lab program = lab_of_program(book->chunks, chunk);
        add_borrowed(notebook, &program);
    }
    add_chunk_cell(notebook, chunk);
    run_complete_labs(notebook);
}

static void add_grading(Book *book, const Exercise *exercise) {
    Notebook *notebook = book->cells;
    Arena *arena = book->arena;
    Buf text = {.arena = arena}, id = {.arena = arena};
    Str number = exercises_number(book, exercise);
    if (exercise->kind == EXERCISE_BUILD) {
        uint64_t starter = str_hash(expand_text(book->chunks, exercise->program, EXPAND_CLEAN));
        buf_format(
            &text, "grade(\"%.*s\", \"%.*s\", \"%.*s\", starter=\"%016llx\")", STR_ARG(number),
            STR_ARG(path_stem(book->chunks->chunks[exercise->program].target)),
            STR_ARG(book->chunks->chunks[exercise->starter].name), (unsigned long long)starter);
    } else {
        buf_format(&text, "answer(\"%.*s\", None)  # replace None with your answer",
                   STR_ARG(number));
    }
    buf_format(&id, "exercise-%.*s", STR_ARG(exercise->id));
    flush_text(notebook);
    open_frame(notebook);
    cells_add_code(&notebook->cells, buf_str(&id), buf_str(&text));
}

// Replaces a prediction's answer: adds a form to fill in; the answer follows the lab's run.
static void add_prediction(Book *book) {
    Notebook *notebook = book->cells;
    const Prediction *prediction = book->predictions[book->prediction_count - 1];
    while (str_ends(buf_str(&book->out), STR("\n>\n"))) book->out.len -= 2;
    flush_text(notebook);
    cells_add_form(&notebook->cells, joined(book->arena, "predict-", prediction->name),
                   forms_field(book, prediction));
    if (notebook->ran) add_comparison(notebook);
}

static bool add_image(Book *book, Str path, Buf *text, Buf *why) {
    return image_embed(book->arena, path, text, why);
}

// --- the parts of the frame ---

static void add_harness(Notebook *notebook) {
    const ChunkTable *table = notebook->labs->table;
    Buf text = {.arena = notebook->book->arena};
    buf_add(&text, STR("%%writefile harness.md\n#@title The harness, the same in every lab\n"));
    for (size_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = &table->chunks[i];
        if (!notebook->labs->harness[i] || !notebook->needed[i]) continue;
        mark_written(notebook, i);
        buf_format(&text, "\n%.*s {.cuda #%.*s}\n", STR_ARG(chunk->part->ticks),
                   STR_ARG(chunk->name));
        for (size_t k = 0; k < chunk->part->body_count; k++)
            buf_format(&text, "%.*s\n", STR_ARG(chunk->part->body[k]));
        buf_format(&text, "%.*s\n", STR_ARG(chunk->part->ticks));
    }
    cells_add_code(&notebook->cells, STR("harness"), str_trim(buf_str(&text)));
}

// Adds the front page, or the title of the whole book. Chapters have their own titles.
static void add_title(Notebook *notebook) {
    Book *book = notebook->book;
    size_t front = chapters_front(book);
    if (!notebook->whole) return;
    if (front != CHUNK_NONE) {
        book->file = front;
        chapters_weave_file(book);
        flush_text(notebook);
    } else if (book->title.len) {
        cells_add_markdown(&notebook->cells, STR("title"), joined(book->arena, "# ", book->title));
    }
}

static void add_contents(Notebook *notebook, Buf *text) {
    const Book *book = notebook->book;
    for (size_t i = 0; i < book->anchors.count; i++) {
        const Anchor *anchor = &book->anchors.items[i];
        if (anchor->level != 1 || !notebook->inside[anchor->file]) continue;
        Str chapter = key_chapter_of(book->chunks->files[anchor->file].path);
        buf_format(text, "- [%.*s](#%.*s)\n",
                   STR_ARG(anchor_book_title(book->arena, chapter, 1, anchor->title)),
                   STR_ARG(anchor->name));
    }
    buf_char(text, '\n');
}

static void add_front(Notebook *notebook) {
    Book *book = notebook->book;
    const NotebookPlan *plan = notebook->plan;
    Buf text = {.arena = book->arena};
    if (notebook->whole) add_contents(notebook, &text);
    if (plan->repository.len)
        buf_format(&text,
                   "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
                   "(https://colab.research.google.com/github/%.*s/blob/main/%.*s/%.*s.ipynb)\n\n",
                   STR_ARG(plan->repository), STR_ARG(plan->folder), STR_ARG(notebook->name));
    buf_format(&text, "*%.*s*\n", STR_ARG(book_provenance(book)));
    cells_add_markdown(&notebook->cells, STR("front"), buf_str(&text));
}

static void add_recorded(Notebook *notebook) {
    cells_add_code(&notebook->cells, STR("recorded"),
                   recorded_text(notebook->book, notebook->labs, notebook->inside));
}

static void add_chapters(Notebook *notebook) {
    Book *book = notebook->book;
    for (size_t file = 0; file < book->chunks->file_count; file++) {
        if (!notebook->inside[file]) continue;
        book->file = file;
        notebook->compared = 0;
        notebook->ran = false;
        chapters_weave_file(book);
        flush_text(notebook);
        add_comparison(notebook);
    }
}

// Adds a Markdown cell of the frame, whose lines start with `# `.
static void add_comment_cell(Notebook *notebook, Str text) {
    Buf plain = {.arena = notebook->book->arena};
    for (Str line; str_line(&text, &line);) {
        buf_add(&plain, str_from(line, str_starts(line, STR("# ")) ? 2 : 1));
        buf_char(&plain, '\n');
    }
    cells_add_markdown(&notebook->cells, STR("frame"), buf_str(&plain));
}

// Replaces @name@ in the frame's code by the notebook's name.
static Str with_name(const Notebook *notebook, Str text) {
    const Str mark = STR("@name@");
    Buf filled = {.arena = notebook->book->arena};
    for (size_t at; (at = str_find(text, mark)) != SIZE_MAX; text = str_from(text, at + mark.len)) {
        buf_add(&filled, str_slice(text, 0, at));
        buf_add(&filled, notebook->name);
    }
    buf_add(&filled, text);
    return buf_str(&filled);
}

static void add_section(Notebook *notebook, Str mark, Str text) {
    if (str_equal(mark, STR("[front]")))
        add_front(notebook);
    else if (str_equal(mark, STR("[harness]")))
        add_harness(notebook);
    else if (str_equal(mark, STR("[recorded]")))
        add_recorded(notebook);
    else if (str_equal(mark, STR("[markdown]")) ||
             (str_equal(mark, STR("[markdown of all]")) && notebook->whole))
        add_comment_cell(notebook, text);
    else if (!str_equal(mark, STR("[markdown of all]")))
        cells_add_code(&notebook->cells, mark, with_name(notebook, str_trim(text)));
}

// Takes the next section of the frame: its mark and its text. False: there is none.
static bool next_section(Str *frame, Str *mark, Str *text) {
    const Str sign = STR("# %% ");
    Str line, rest;
    do
        if (!str_line(frame, &line)) return false;
    while (!str_starts(line, sign));
    *mark = str_trim(str_from(line, sign.len));
    for (rest = *text = *frame; str_line(&rest, &line) && !str_starts(line, sign);) *frame = rest;
    text->len = (size_t)(frame->at - text->at);
    return true;
}

// Adds sections of the frame up to the place of the chapters or, from there, to the end.
static void add_sections(Notebook *notebook) {
    for (Str mark, text; next_section(&notebook->frame, &mark, &text);) {
        if (str_equal(mark, STR("[chapters]"))) return;
        add_section(notebook, mark, text);
    }
}

static void open_frame(Notebook *notebook) {
    if (notebook->opened) return;
    notebook->opened = true;
    add_sections(notebook);
}

// --- whole notebooks ---

static const BookHome *homes_of(const Notebook *notebook) {
    const Book *book = notebook->book;
    BookHome *homes = ARENA_NEW(book->arena, book->chunks->file_count + 1, BookHome);
    for (size_t i = 0; i < book->chunks->file_count; i++) {
        Str path = book->chunks->files[i].path;
        Buf home = {.arena = book->arena};
        bool front = i == chapters_front(book);
        bool apart = !lab_of_file(notebook->labs, i) && !(front && notebook->whole);
        if (front && apart)
            buf_format(&home, "%.*sbook.md", STR_ARG(book->up));
        else if (apart)
            buf_format(&home, "%.*sbook/%.*s.md", STR_ARG(book->up), STR_ARG(path_stem(path)));
        else if (!notebook->inside[i] && !front)
            buf_format(&home, "%.*s.ipynb", STR_ARG(path_stem(path)));
        homes[i] = (BookHome){buf_str(&home), apart};
    }
    return homes;
}

// Weaves the notebook of file `only`, or of all chapters if that is CHUNK_NONE.
static BookFile weave(Book *book, const NotebookPlan *plan, const Labs *labs, Str name,
                      bool *inside, size_t only) {
    const bool whole = only == CHUNK_NONE;
    const Str source = book->chunks->files[whole ? 0 : only].path;
    Notebook notebook = {.book = book,
                         .plan = plan,
                         .labs = labs,
                         .name = name,
                         .inside = inside,
                         .whole = whole,
                         .needed = needed_chunks(labs, inside),
                         .written = ARENA_NEW(book->arena, book->chunks->chunk_count + 1, bool),
                         .missing = ARENA_NEW(book->arena, labs->count + 1, size_t),
                         .complete = ARENA_NEW(book->arena, labs->count + 1, size_t),
                         .section = STR("text"),
                         .frame = plan->frame};
    for (size_t i = 0; i < labs->count; i++) notebook.missing[i] = labs->items[i].need_count;
    book->cells = &notebook;
    book->homes = homes_of(&notebook);
    book->add_chunk = add_chunk;
    book->add_grading = add_grading;
    book->add_image = add_image;
    book->add_prediction = add_prediction;
    book->out.len = 0;
    cells_open(&notebook.cells, book->arena);
    add_title(&notebook);
    if (whole) open_frame(&notebook);
    add_chapters(&notebook);
    open_frame(&notebook);
    add_sections(&notebook);
    Buf path = {.arena = book->arena};
    buf_format(&path, "%.*s/%.*s.ipynb", STR_ARG(plan->folder), STR_ARG(name));
    return (BookFile){
        buf_str(&path),
        cells_close(&notebook.cells, book_source(book, whole ? path_folder(source) : source))};
}

size_t notebook_weave(Book *book, const NotebookPlan *plan, BookFile **files) {
    Labs labs = lab_collect(book->chunks);
    size_t file_count = book->chunks->file_count, count = 0;
    bool *all = ARENA_NEW(book->arena, file_count + 1, bool);
    *files = ARENA_NEW(book->arena, file_count + 1, BookFile);
    for (size_t i = 0; i < file_count; i++) all[i] = lab_of_file(&labs, i) != NULL;
    chapters_open(book);
    (*files)[count++] = weave(book, plan, &labs, STR("workbook"), all, CHUNK_NONE);
    // Single chapters can have no other errors than all of them together.
    for (size_t i = 0; book->error_count == 0 && i < file_count; i++) {
        if (!all[i]) continue;
        bool *one = ARENA_NEW(book->arena, file_count + 1, bool);
        one[i] = true;
        (*files)[count++] =
            weave(book, plan, &labs, path_stem(book->chunks->files[i].path), one, i);
    }
    book_sort_errors(book);
    return count;
}

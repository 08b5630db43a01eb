// Checks the comparisons in {.claim} blocks: see blocks.h.
#include "book/blocks.h"

// The claim that starts at line i of the block; *next is the line of the next claim. Lines that
// start with a space continue a claim.
static Str whole_claim(Book *book, const FencePart *part, size_t i, size_t *next) {
    Buf claim = {.arena = book->arena};
    buf_add(&claim, str_trim(part->body[i]));
    for (i++; i < part->body_count && str_starts(part->body[i], STR(" ")); i++) {
        buf_char(&claim, ' ');
        buf_add(&claim, str_trim(part->body[i]));
    }
    *next = i;
    return buf_str(&claim);
}

void claims_check(Book *book, const FencePart *part) {
    static const Str known[] = {STR("device"), {NULL, 0}};
    KeyScope scope = book_scope(book);
    if (!book_check_attributes(book, part, known)) return;
    fence_attribute(part, STR("device"), &scope.device);
    for (size_t i = 0, next; i < part->body_count; i = next) {
        Str claim = whole_claim(book, part, i, &next);
        if (claim.len == 0 || claim.at[0] == '#') continue;
        Buf why = {.arena = book->arena};
        bool stale = false;
        if (expr_claim(&scope, claim, &stale, &why)) {
            book_check_stale(book, part->line + 1 + i, claim, stale);
            continue;
        }
        Buf message = {.arena = book->arena};
        buf_format(&message, "`%.*s`: %.*s", STR_ARG(claim), STR_ARG(buf_str(&why)));
        book_error(book, part->line + 1 + i, message);
    }
}

// Claims: see claims.h.
#include "book/claims.h"

void claims_check(Book *book, const FencePart *part) {
    static const Str known[] = {STR("device"), {NULL, 0}};
    KeyScope scope = book_scope(book);
    if (!book_check_attributes(book, part, known)) return;
    fence_attribute(part, STR("device"), &scope.device);
    for (size_t i = 0; i < part->body_count; i++) {
        Str claim = str_trim(part->body[i]);
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

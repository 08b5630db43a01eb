// Json: writes JSON in the layout of Python's json.dumps(indent=1, ensure_ascii=False), which
// nbformat uses for notebooks. The caller gives the members of an object in sorted order.
//
//     Json json = {.out = &buf};
//     json_open(&json, STR(""), '{');
//     json_text(&json, STR("id"), STR("a"));
//     json_open(&json, STR("source"), '[');
//     json_text(&json, STR(""), STR("x = 1\n"));
//     json_close(&json, ']');
//     json_close(&json, '}');
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/str.h"

typedef struct {
    Buf *out;
    int depth;
    bool filled; // the innermost object or array has a member already
} Json;

// `key` is the member's name; it is empty in an array and at the top level.
void json_open(Json *json, Str key, char bracket);
void json_close(Json *json, char bracket);
void json_text(Json *json, Str key, Str text);   // text: valid UTF-8
void json_plain(Json *json, Str key, Str value); // a number, true, false or null

// Adds a JSON string, with its quotes.
void json_string(Buf *out, Str text);

// Adds JSON with "<" and "&" escaped, so that it cannot close an HTML script element, open a
// comment in it, or begin a character reference.
void json_in_html(Buf *out, Str json);

#endif

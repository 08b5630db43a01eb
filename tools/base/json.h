// Json: writes JSON laid out as Python's json.dumps(indent=1, ensure_ascii=False) does, which is
// also how nbformat writes notebooks. The caller gives the members of an object in sorted order.
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

// In each of these, `key` is the member's name; empty in an array and at the top.
void json_open(Json *json, Str key, char bracket);
void json_close(Json *json, char bracket);
void json_text(Json *json, Str key, Str text);   // text: valid UTF-8
void json_plain(Json *json, Str key, Str value); // a number, true, false or null

// A string of JSON, with its quotes.
void json_string(Buf *out, Str text);

// The same JSON without "<", which could end a script element or open a comment in it, and without
// "&", which elsewhere would begin the name of a character.
void json_in_html(Buf *out, Str json);

#endif

// Writes JSON with one member or element per line.
#include "base/json.h"

void json_string(Buf *out, Str text) {
    static const char escaped[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    buf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        size_t which = 0;
        while (escaped[which] && escaped[which] != c) which++;
        if (escaped[which]) {
            buf_char(out, '\\');
            buf_char(out, letters[which]);
        } else if ((unsigned char)c < ' ') {
            buf_format(out, "\\u%04x", (unsigned)c);
        } else {
            buf_char(out, c);
        }
    }
    buf_char(out, '"');
}

void json_in_html(Buf *out, Str json) {
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];
        if (c == '<' || c == '&')
            buf_format(out, "\\u%04x", (unsigned)c);
        else
            buf_char(out, c);
    }
}

static void new_line(Json *json) {
    buf_char(json->out, '\n');
    for (int i = 0; i < json->depth; i++) buf_char(json->out, ' ');
}

static void start_member(Json *json, Str key) {
    if (json->filled) buf_char(json->out, ',');
    if (json->depth) new_line(json);
    json->filled = true;
    if (key.len == 0) return;
    json_string(json->out, key);
    buf_add(json->out, STR(": "));
}

void json_open(Json *json, Str key, char bracket) {
    start_member(json, key);
    buf_char(json->out, bracket);
    json->depth++;
    json->filled = false;
}

void json_close(Json *json, char bracket) {
    const bool lines = json->filled;
    json->depth--;
    if (lines) new_line(json);
    buf_char(json->out, bracket);
    json->filled = true;
}

void json_text(Json *json, Str key, Str text) {
    start_member(json, key);
    json_string(json->out, text);
}

void json_plain(Json *json, Str key, Str value) {
    start_member(json, key);
    buf_add(json->out, value);
}

// Request: reads JSON, in which the page sends its requests.
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include "base/arena.h"
#include "base/str.h"

typedef enum {
    REQUEST_TEXT,
    REQUEST_NUMBER,
    REQUEST_WORD,
    REQUEST_LIST,
    REQUEST_OBJECT
} RequestKind;

typedef struct RequestValue RequestValue;
struct RequestValue {
    RequestKind kind;
    Str key;  // of a member of an object
    Str text; // a text; or true, false or null
    double number;
    RequestValue *first, *next; // of a list or an object: its members; the member after this one
};

// NULL: the text is not JSON, or is nested too deeply.
const RequestValue *request_read(Arena *arena, Str text);

// A member of an object, or what is used in its place: NULL, "" or 0.
const RequestValue *request_member(const RequestValue *object, Str key);
Str request_text(const RequestValue *object, Str key);
double request_number(const RequestValue *object, Str key);
bool request_true(const RequestValue *object, Str key);

#endif

// Conditions: see condition.h. Handles begin far from the numbers that a program makes up.
#include "simt/memory/condition.h"

#include <stdlib.h>

#define FIRST_HANDLE 0xC0D1710000000000u

static Condition *conditions;
static uint64_t count, capacity;

uint64_t condition_new(void) {
    if (count == capacity) {
        uint64_t room = capacity ? 2 * capacity : 16;
        Condition *grown = realloc(conditions, room * sizeof *grown);
        if (!grown) return 0;
        conditions = grown;
        capacity = room;
    }
    conditions[count] = (Condition){0};
    return FIRST_HANDLE + count++;
}

Condition *condition_find(uint64_t handle) {
    uint64_t index = handle - FIRST_HANDLE;
    return handle >= FIRST_HANDLE && index < count ? &conditions[index] : NULL;
}

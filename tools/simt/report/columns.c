// Columns: see table.h.
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "simt/report/table.h"

int columns_told(void) {
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int columns = told ? atoi(told) : 0;
    if (columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns <= 0 ? 0 : columns < 40 ? 40 : columns;
}

int columns_screen(void) {
    const int told = columns_told();
    return told ? told : 80;
}

int columns_choose(Column *columns, int count, int room, int gap) {
    int left_out = 0;
    for (int step = 0; step < count; step++) {
        Column *next = NULL; // the lowest rank above those of the steps before
        for (int k = 0; k < count; k++) {
            int before = 0;
            for (int other = 0; other < count; other++)
                before += columns[other].rank < columns[k].rank;
            if (before == step) next = &columns[k];
        }
        if (!next || !next->wanted) continue;
        next->wanted = next->width + gap <= room;
        if (next->wanted) room -= next->width + gap;
        left_out += !next->wanted;
    }
    return left_out;
}

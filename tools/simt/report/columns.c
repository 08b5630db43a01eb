// Chooses the columns of a table that fit the screen.
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "simt/report/table.h"

int columns_known(void) {
    const char *given = getenv("COLUMNS");
    struct winsize size;
    int columns = given ? atoi(given) : 0;
    if (columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns <= 0 ? 0 : columns < 40 ? 40 : columns;
}

int columns_screen(void) {
    const int known = columns_known();
    return known ? known : 80;
}

int columns_choose(Column *columns, int count, int width, int gap) {
    int left_out = 0;
    for (int step = 0; step < count; step++) {
        Column *next = NULL; // the column whose rank is number `step`
        for (int k = 0; k < count; k++) {
            int before = 0;
            for (int other = 0; other < count; other++)
                before += columns[other].rank < columns[k].rank;
            if (before == step) next = &columns[k];
        }
        if (!next || !next->wanted) continue;
        next->wanted = next->width + gap <= width;
        if (next->wanted) width -= next->width + gap;
        left_out += !next->wanted;
    }
    return left_out;
}

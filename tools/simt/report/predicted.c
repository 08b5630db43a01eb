// Formats predicted times.
#include "simt/report/predicted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simt/report/name.h"

enum { SHOWN_STALLS = 4 };

Stall predicted_stall(const double cycles[STALLS]) {
    Stall most = STALLS;
    for (int k = 0; k < STALLS; k++)
        if (k != STALL_SELECTED && cycles[k] > 0 && (most == STALLS || cycles[k] > cycles[most]))
            most = (Stall)k;
    return most;
}

void predicted_us(Buf *buf, double us) {
    buf_format(buf, us < 10 ? "%.3f" : us < 100 ? "%.2f" : us < 1000 ? "%.1f" : "%.0f", us);
}

static void add_us(Buf *buf, double us) {
    predicted_us(buf, us);
    buf_add(buf, STR(" us"));
}

// Adds the largest stalls first, in cycles per instruction as in Nsight Compute.
static void add_stalls(Buf *buf, const TimePrediction *p) {
    double cycles[STALLS];
    memcpy(cycles, p->stalls, sizeof cycles);
    for (int k = 0; k < SHOWN_STALLS; k++) {
        const Stall most = predicted_stall(cycles);
        if (most == STALLS || !p->insts) break;
        buf_format(buf, "%s %s %.2f", k ? "," : "", time_stall_names[most],
                   cycles[most] / (double)p->insts);
        cycles[most] = 0;
    }
}

// Adds the time without each limit, the largest gain first, down to a gain of 1 %.
static void add_gains(Buf *buf, const TimePrediction *p) {
    bool shown[LIMITERS] = {false};
    for (int k = 0; k < LIMITERS; k++) {
        int best = -1;
        for (int i = 0; i < LIMITERS; i++)
            if (!shown[i] && (best < 0 || p->without[i] < p->without[best])) best = i;
        if (p->without[best] > p->us * 0.99) break;
        shown[best] = true;
        buf_format(buf, "%s without %s ", k ? "," : "", time_limit_names[best]);
        add_us(buf, p->without[best]);
    }
}

void predicted_text(Buf *buf, const TimePrediction *p, const char *device, bool warm) {
    if (p->unknown) {
        buf_format(buf, "unknown on %s: %s\n", device, p->unknown);
        return;
    }
    buf_add(buf, STR("predicted "));
    add_us(buf, p->us);
    buf_format(buf, " in a graph on %s, caches %s\n", device, warm ? "warm" : "cold");
    if (!isnan(p->stream_us)) {
        buf_add(buf, STR("  in a stream "));
        add_us(buf, p->us + p->stream_us);
        buf_add(buf, STR("; under Nsight Compute longer still\n"));
    }
    buf_format(buf, "  %.0f cycles, issue slots %.0f %%, memory %.0f %%, warps resident %.1f\n",
               p->cycles, 100 * p->issue_share, 100 * p->memory_share, p->warps);
    buf_add(buf, STR("  stalls per instruction:"));
    add_stalls(buf, p);
    buf_format(buf, "\n  limiter: %s;", time_limit_names[p->limit]);
    add_gains(buf, p);
    buf_char(buf, '\n');
}

void predicted_print(Arena *arena, const TableRow *row, const TimePrediction *p, const char *device,
                     bool warm) {
    Buf buf = {.arena = arena};
    name_short(&buf, str_of(row->kernel));
    buf_add(&buf, STR(", grid "));
    table_shape(&buf, row->grid);
    buf_add(&buf, STR(", block "));
    table_shape(&buf, row->block);
    buf_add(&buf, STR(": "));
    predicted_text(&buf, p, device, warm);
    printf("\n%.*s", STR_ARG(buf_str(&buf)));
}

// Prints a table of predicted and recorded times.
#include "collect/answers.h"
#include "numbers/join.h"

// The name of a launch. If it was not recorded and its kernel was launched with several shapes, the
// name includes the block size.
static Str label_of(Arena *arena, const ResultTable *predicted, const ResultTable *device,
                    const JoinLaunch *launches, size_t count, const JoinLaunch *launch) {
    Buf label = {.arena = arena};
    size_t shapes = 0;
    if (launch->recorded) return results_cell(device, launch->recorded, STR("kernel"));
    for (size_t i = 0; i < count; i++) shapes += str_equal(launches[i].name, launch->name);
    buf_add(&label, launch->name);
    if (shapes > 1)
        buf_format(&label, ", block %.*s",
                   STR_ARG(results_cell(predicted, launch->predicted, STR("block"))));
    return buf_str(&label);
}

static void add_launch(Buf *out, const ResultTable *predicted, const ResultTable *device,
                       const JoinLaunch *launch) {
    const Str unknown = results_cell(predicted, launch->predicted, STR("unknown"));
    const double us = results_cell_number(predicted, launch->predicted, STR("predicted_us"));
    if (unknown.len)
        buf_format(out, "%9s ", "unknown");
    else
        buf_format(out, "%9.2f ", us);
    if (launch->recorded && unknown.len) {
        buf_format(out, "%9.2f %7s",
                   results_cell_number(device, launch->recorded, STR("median_us")), "");
    } else if (launch->recorded) {
        const double recorded = results_cell_number(device, launch->recorded, STR("median_us"));
        buf_format(out, "%9.2f %+6.1f%%", recorded, 100 * (us / recorded - 1));
    } else {
        buf_format(out, "%9s %7s", "-", "");
    }
    buf_format(out, "  %.*s", STR_ARG(results_cell(predicted, launch->predicted, STR("limiter"))));
    if (unknown.len) buf_format(out, "%.*s", STR_ARG(unknown));
    buf_char(out, '\n');
}

void beside_add(Buf *out, const ResultTable *predicted, const ResultTable *device, Str device_name,
                Str chapter, Str n) {
    JoinLaunch *launches;
    const size_t count = join_launches(out->arena, predicted, device, chapter, n, &launches);
    Str *labels = ARENA_NEW(out->arena, count + 1, Str);
    Buf head = {.arena = out->arena};
    int width = 32;
    if (count == 0) return;
    for (size_t i = 0; i < count; i++) {
        labels[i] = label_of(out->arena, predicted, device, launches, count, &launches[i]);
        if ((int)labels[i].len > width) width = (int)labels[i].len;
    }
    buf_format(&head, "microseconds on %.*s", STR_ARG(device_name));
    buf_format(out, "\n%-*.*s %9s %9s %7s  %s\n", width, STR_ARG(buf_str(&head)), "predicted",
               "recorded", "off by", "predicted limiter");
    for (size_t i = 0; i < count; i++) {
        buf_format(out, "%-*.*s ", width, STR_ARG(labels[i]));
        add_launch(out, predicted, device, &launches[i]);
    }
}

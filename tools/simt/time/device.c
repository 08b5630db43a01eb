// Reads a device's measured speeds from a file. See device.h.
#include "simt/time/device.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"

// The rows to read and their fields: one number each, or several, with powers of two from `first`
// on in place of `*`.
typedef struct {
    const char *name;
    size_t to;
    uint32_t count, first, shift;
    uint32_t step, least, most; // for counts: a multiple of `step` in this range; 0: a measurement
    bool optional;              // older files do not have it
} TimeRow;

#define ONE(row, field)                                                                            \
    { .name = row, .to = offsetof(TimeDevice, field), .count = 1 }
#define WHOLE(row, field, ...)                                                                     \
    { row, offsetof(TimeDevice, field), 1, 0, 0, __VA_ARGS__, false }
#define MANY(row, field, many, from, bits)                                                         \
    { .name = row, .to = offsetof(TimeDevice, field), .count = many, .first = from, .shift = bits }
#define PERCENTS(name, field)                                                                      \
    ONE(name "_p10", field[0]), ONE(name "_p50", field[1]), ONE(name "_p90", field[2]),            \
        ONE(name "_p99", field[3])
#define ATOMICS(kind, of, field)                                                                   \
    ONE(kind "_one_address_" of, field[0]), ONE(kind "_one_address_" of "_warp", field[1]),        \
        ONE(kind "_own_address_" of "_warp", field[2]),                                            \
        ONE(kind "_own_line_" of "_warp", field[3]), ONE(kind "_16_kib_" of "_warp", field[4])
#define NEWER(row, field, many)                                                                    \
    {                                                                                              \
        .name = row, .to = offsetof(TimeDevice, field), .count = many, .first = TIME_WORDS_LEAST,  \
        .shift = 2, .optional = true                                                               \
    }
#define WORDS(kind, of, field)                                                                     \
    NEWER(kind "_*_words_" of "_warp", field[0], TIME_WORDS),                                      \
        NEWER(kind "_*_words_in_order_" of "_warp", field[1], TIME_WORDS)
static const TimeRow wanted[] = {
    WHOLE("sm_count", sms, 1, 1, 1024), // these two have the limits of --sms and --sm-threads
    WHOLE("warps_per_sm", warps, 16, 32, 64),
    WHOLE("blocks_per_sm", blocks, 1, 1, 64),
    WHOLE("shared_bytes_per_sm", shared_bytes, 1, 1, 1 << 24),
    WHOLE("registers_per_sm", registers, 1, 1, 1 << 24),
    WHOLE("l2_bytes", l2_bytes, 1, 1, 1 << 30),
    ONE("clock_ghz", clock_ghz),
    ONE("rate_iadd3", rate_alu),
    ONE("rate_imad", rate_imad),
    ONE("rate_imad_wide", rate_wide),
    ONE("rate_ffma", rate_fma),
    ONE("rate_hfma2", rate_half),
    ONE("rate_ex2", rate_xu),
    ONE("rate_f2d", rate_f2d),
    ONE("rate_dfma", rate_fp64),
    ONE("rate_shfl", rate_shuffle),
    ONE("rate_redux", rate_redux),
    ONE("rate_vote", rate_vote),
    ONE("rate_ldc", rate_constant),
    ONE("rate_branch", rate_branch),
    ONE("rate_s2r", rate_special),
    ONE("rate_lds_1_warp", rate_lsu),
    ONE("rate_atoms", rate_atoms),
    ONE("latency_iadd3", add),
    ONE("latency_s2r", special),
    ONE("latency_ex2", xu),
    ONE("latency_f2d", f2d),
    ONE("latency_dfma", fp64),
    ONE("latency_shfl", shuffle),
    ONE("latency_redux", redux),
    ONE("latency_vote", vote),
    ONE("latency_ldc", constant),
    ONE("latency_lds", shared),
    ONE("latency_atoms", shared_atomic),
    ONE("latency_atoms_one_address", shared_atomic_same),
    ONE("latency_branch", branch),
    ONE("latency_warpsync", warpsync),
    MANY("shared_ld_*_ways", load_ways, TIME_WAYS, 1, 1),
    MANY("shared_st_*_ways", store_ways, TIME_WAYS, 1, 1),
    MANY("shared_ld_*_bytes", load_by_size[1], TIME_SIZES - 1, 8, 1),
    MANY("shared_st_*_bytes", store_by_size[1], TIME_SIZES - 1, 8, 1),
    ONE("shared_mix", shared_mix),
    ONE("shared_shuffle_mix", shuffle_mix),
    MANY("barrier_*_warps", barrier, TIME_WARPS, 1, 1),
    ONE("barrier_32_blocks_2_warps", barrier_full),
    ONE("latency_l1", l1),
    MANY("rate_l1_*_bytes", l1_by_size, TIME_SIZES, 4, 1),
    MANY("l1_*_lines", l1_lines[1], TIME_WAYS - 1, 2, 1),
    ONE("l1_32_lines_own_banks", l1_tags),
    ONE("latency_l2", l2),
    ONE("rate_l2_sm", l2_sm_rate),
    ONE("rate_l2", l2_rate),
    ONE("rate_l2_write", l2_write_rate),
    ONE("rate_l2_sectors", l2_sectors),
    ONE("latency_dram", dram),
    ONE("rate_dram_sm", dram_sm_rate),
    ONE("rate_dram_read", dram_read),
    ONE("rate_dram_write", dram_write),
    ONE("rate_dram_copy", dram_copy),
    ONE("rate_dram_sectors", dram_sectors),
    MANY("load_l2_*", l2_load, TIME_LOADS, TIME_LOAD_LEAST, 1),
    MANY("load_dram_*", dram_load, TIME_LOADS, TIME_LOAD_LEAST, 1),
    MANY("gather_l2_*", l2_gather, TIME_GATHERS, 1, 2),
    MANY("gather_dram_*", dram_gather, TIME_GATHERS, 1, 2),
    PERCENTS("latency_l2_8_warps", l2_spread),
    PERCENTS("latency_dram_8_warps", dram_spread),
    ONE("dram_slowest_sm", dram_slowest),
    ONE("latency_atom_int", atom),
    ONE("latency_atom_float", atom_float),
    ONE("latency_cas", cas),
    ONE("latency_strong_load", strong_load),
    ATOMICS("red", "int", atomics[0][0]),
    ATOMICS("red", "float", atomics[0][1]),
    ATOMICS("atom", "int", atomics[1][0]),
    ATOMICS("atom", "float", atomics[1][1]),
    WORDS("red", "int", atomic_words[0][0]),
    WORDS("red", "float", atomic_words[0][1]),
    WORDS("atom", "int", atomic_words[1][0]),
    WORDS("atom", "float", atomic_words[1][1]),
    ONE("rate_red_sm", red_sm),
    ONE("rate_atom_sm", atom_sm),
    ONE("rate_red_sm_own_line", red_sm_lines),
    ONE("latency_fence", fence),
    ONE("latency_store_fence", store_fence),
    ONE("latency_fence_block", block_fence),
    ONE("block_start", block_start[0]),
    ONE("block_start_1024", block_start[1]),
    ONE("block_start_sm", block_start_sm[0]),
    ONE("block_start_sm_1024", block_start_sm[1]),
    ONE("block_turnover", block_turnover[0]),
    ONE("block_turnover_1024", block_turnover[1]),
    ONE("launch_1_block", launch_us),
    NEWER("launch_stream", stream_us, 1),
    ONE("launch_store", launch_store_us),
    ONE("launch_overlapped", launch_early_us),
    ONE("launch_memset", memset_us),
};

enum { WANTED = sizeof wanted / sizeof *wanted };

// The k-th name of a row that stands for several numbers.
static Str name_of(Arena *arena, const TimeRow *row, uint32_t k) {
    Buf buf = {.arena = arena};
    const char *star = row->count > 1 ? strchr(row->name, '*') : NULL;
    if (!star) return str_of(row->name);
    buf_format(&buf, "%.*s%u%s", (int)(star - row->name), row->name, row->first << k * row->shift,
               star + 1);
    return buf_str(&buf);
}

static double *place_of(TimeDevice *device, const TimeRow *row, uint32_t k) {
    return (double *)(void *)((char *)device + row->to) + k;
}

// The row of a name, and which of its numbers that is; NULL: the name is not used.
static const TimeRow *row_of(Arena *arena, Str name, uint32_t *k) {
    for (size_t r = 0; r < WANTED; r++)
        for (*k = 0; *k < wanted[r].count; ++*k)
            if (str_equal(name_of(arena, &wanted[r], *k), name)) return &wanted[r];
    return NULL;
}

static bool number_of(Arena *arena, Str text, double *value) {
    const char *terminated = str_terminated(arena, text);
    char *end;
    errno = 0;
    *value = strtod(terminated, &end);
    return text.len && !*end && !errno && isfinite(*value);
}

// Says why a value is out of range, or returns NULL. Measurements are in cycles, bytes per cycle,
// GB/s and us. The prediction rounds them, and divides by all except those that may be 0.
static const char *fault_of(Arena *arena, const TimeRow *row, double value) {
    const double measured_least = 1e-3, measured_most = 1e6;
    Buf buf = {.arena = arena};
    if (row->step) {
        const bool whole = value == floor(value) && fmod(value, row->step) == 0;
        if (whole && value >= row->least && value <= row->most) return NULL;
        buf_format(&buf, "must be a whole number from %u to %u", row->least, row->most);
        if (row->step > 1) buf_format(&buf, ", a multiple of %u", row->step);
        return str_terminated(arena, buf_str(&buf));
    }
    const bool zero = str_starts(str_of(row->name), STR("latency_")) ||
                      str_equal(str_of(row->name), STR("rate_redux")) ||
                      str_equal(str_of(row->name), STR("rate_branch"));
    if ((zero && value == 0) || (value >= measured_least && value <= measured_most)) return NULL;
    buf_format(&buf, "must be %sfrom %g to %g", zero ? "0 or " : "", measured_least, measured_most);
    return str_terminated(arena, buf_str(&buf));
}

static const char *take(Arena *arena, Csv *csv, Str line, TimeDevice *device, Str *name) {
    Str *cells;
    size_t count;
    double value;
    if (!csv_cells(csv, line, &cells, &count)) return csv->fault;
    if (count != 3) return "expected three cells: name,value,unit";
    *name = cells[0];
    uint32_t k;
    const TimeRow *row = row_of(arena, cells[0], &k);
    if (!row) return NULL;
    if (!number_of(arena, cells[1], &value)) return "the value is not a number";
    const char *fault = fault_of(arena, row, value);
    if (fault) return fault;
    double *to = place_of(device, row, k);
    if (!isnan(*to)) return "a second row of this name";
    *to = value;
    return NULL;
}

static void say(Arena *arena, Str *error, const char *path, size_t line, const char *what,
                Str name) {
    Buf buf = {.arena = arena};
    if (line)
        buf_format(&buf, "%s:%zu: ", path, line);
    else
        buf_format(&buf, "%s: ", path);
    if (name.len) buf_format(&buf, "%.*s: ", STR_ARG(name));
    buf_format(&buf, "%s", what);
    *error = buf_str(&buf);
}

static bool complete(Arena *arena, const char *path, TimeDevice *device, Str *error) {
    for (size_t r = 0; r < WANTED; r++)
        for (uint32_t k = 0; k < wanted[r].count; k++) {
            if (wanted[r].optional || !isnan(*place_of(device, &wanted[r], k))) continue;
            say(arena, error, path, 0, "no row of this name", name_of(arena, &wanted[r], k));
            return false;
        }
    // A point of a curve may exceed the peak rate, since data for a few lines comes faster.
    const double dram = device->dram_read / device->clock_ghz / device->sms;
    for (int k = 0; k < TIME_LOADS; k++) {
        device->l2_load[k] = fmin(device->l2_load[k], device->l2_rate);
        device->dram_load[k] = fmin(device->dram_load[k], dram);
    }
    // The store kernel reads its block and thread index before it stores.
    const double special_us = 2 * device->special / device->clock_ghz / 1000;
    device->launch_store_us = fmax(device->launch_store_us - special_us, 0);
    device->load_by_size[0] = device->load_ways[0];
    device->store_by_size[0] = device->store_ways[0];
    device->l1_lines[0] = device->l1_by_size[0];
    return true;
}

bool time_device_read(Arena *arena, const char *path, TimeDevice *device, Str *error) {
    Str text, line, name = {"", 0};
    if (!file_read(arena, path, &text)) {
        say(arena, error, path, 0, strerror(errno), (Str){"", 0});
        return false;
    }
    for (size_t r = 0; r < WANTED; r++)
        for (uint32_t k = 0; k < wanted[r].count; k++) *place_of(device, &wanted[r], k) = NAN;
    Csv csv = csv_open(arena, text);
    bool headed = false;
    while (csv_line(&csv, &line)) {
        if (line.at[0] == '#') continue;
        const char *wrong = NULL;
        if (!headed)
            wrong = str_equal(line, STR("name,value,unit")) ? NULL : "not name,value,unit";
        else
            wrong = take(arena, &csv, line, device, &name);
        headed = true;
        if (!wrong) continue;
        say(arena, error, path, csv.line, wrong, name);
        return false;
    }
    if (csv.fault) {
        say(arena, error, path, csv.line, csv.fault, (Str){"", 0});
        return false;
    }
    return complete(arena, path, device, error);
}

// Reads the commands of a run and executes them. See engine.h.
#define _POSIX_C_SOURCE 200809L
#include "engine/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/answer.h"
#include "engine/run.h"
#include "simt/memory/memory.h"
#include "simt/native/native.h"

enum { MEGABYTE = 1 << 20 };
enum { MOST_BUFFERS = 64 * MEGABYTE, SPARE = 16 * MEGABYTE }; // bytes; SPARE: for modules, malloc()

void (*engine_ended)(void);

static Run the_run;
static Str result;

// --- errors ---

bool run_fail(Run *run, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->error.text, sizeof run->error.text, format, arguments);
    va_end(arguments);
    return false;
}

// Called when the run cannot go on. Memory may have run out, then there is no result.
static void write_failure(void) {
    native_ending = NULL;
    const Json empty = {0};
    the_run.launch_text.len = the_run.read_text.len = 0;
    the_run.launches = the_run.reads = empty;
    the_run.launches.out = &the_run.launch_text;
    the_run.reads.out = &the_run.read_text;
    json_open(&the_run.launches, STR(""), '[');
    json_open(&the_run.reads, STR(""), '[');
    result =
        the_run.written(&the_run, the_run.error.text[0] ? the_run.error.text : "out of memory");
    if (engine_ended) engine_ended();
}

// --- words of a command ---

static bool take_name(Run *run, Str *rest, Str *name) {
    return str_word(rest, name) || run_fail(run, "a name is missing");
}

// A whole number from `least` to `most`.
static bool take_integer(Run *run, Str *rest, int64_t least, int64_t most, int64_t *value) {
    Str word;
    char *end;
    *value = 0;
    if (!str_word(rest, &word)) return run_fail(run, "a number is missing");
    const char *text = str_terminated(&run->arena, word);
    *value = strtoll(text, &end, 10);
    if (*end || *value < least || *value > most)
        return run_fail(run, "%s is not a number from %lld to %lld", text, (long long)least,
                        (long long)most);
    return true;
}

static bool take_real(Run *run, Str *rest, double *value) {
    Str word;
    char *end;
    *value = 0;
    if (!str_word(rest, &word)) return run_fail(run, "a number is missing");
    const char *text = str_terminated(&run->arena, word);
    *value = strtod(text, &end);
    return !*end || run_fail(run, "%s is not a number", text);
}

static bool take_shape(Run *run, Str *rest, Dim3 *shape) {
    uint32_t *const sizes[] = {&shape->x, &shape->y, &shape->z};
    *shape = (Dim3){1, 1, 1};
    for (int k = 0; k < 3 && (k == 0 || str_trim(*rest).len); k++) {
        int64_t value;
        if (!take_integer(run, rest, 0, INT32_MAX, &value)) return false;
        *sizes[k] = (uint32_t)value;
    }
    return true;
}

static const ElementType types[] = {
    {STR("int"), ELEMENT_INT, 4},       {STR("uint"), ELEMENT_UINT, 4},
    {STR("long"), ELEMENT_LONG, 8},     {STR("float"), ELEMENT_FLOAT, 4},
    {STR("double"), ELEMENT_DOUBLE, 8}, {STR("uchar"), ELEMENT_UCHAR, 1},
};

static const ElementType *type_named(Str name) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (str_equal(types[k].name, name)) return &types[k];
    return NULL;
}

static bool take_buffer(Run *run, Str *rest, const Buffer **buffer) {
    Str name;
    if (!take_name(run, rest, &name)) return false;
    for (size_t k = 0; k < run->buffer_count; k++)
        if (str_equal(run->buffers[k].name, name)) *buffer = &run->buffers[k];
    return *buffer || run_fail(run, "there is no buffer %.*s", STR_ARG(name));
}

// --- buffers ---

// Element i of the labs' input: an integer from -8 to 8, never 0, from a hash of i (the finalizer
// of MurmurHash3). The same function is in the labs' harness.
int run_element(uint32_t i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

static void put_element(ElementKind type, size_t bytes, int value, uint8_t *to) {
    const float single = (float)value;
    const double number = value;
    const int64_t integer = value;
    const void *from = type == ELEMENT_FLOAT    ? (const void *)&single
                       : type == ELEMENT_DOUBLE ? (const void *)&number
                                                : (const void *)&integer;
    memcpy(to, from, bytes); // of an integer the low bytes, which come first
}

static bool fill(Run *run, const Buffer *buffer, Str content) {
    const size_t bytes = buffer->type->bytes;
    uint8_t *at = memory_at(buffer->address);
    if (!content.len) return true;
    const bool zero = str_equal(content, STR("zero"));
    if (str_equal(content, STR("ones"))) {
        memset(at, 0xFF, buffer->count * bytes);
        memory_written(buffer->address, buffer->count * bytes);
        return true;
    }
    if (!zero && !str_equal(content, STR("element")))
        return run_fail(run, "a buffer contains element, zero or ones, not %.*s", STR_ARG(content));
    for (size_t i = 0; i < buffer->count; i++)
        put_element(buffer->type->type, bytes, zero ? 0 : run_element((uint32_t)i), at + i * bytes);
    memory_written(buffer->address, buffer->count * bytes);
    return true;
}

static bool add_buffer(Run *run, Str *rest) {
    Buffer made = {0};
    Str type, content = {NULL, 0};
    int64_t count;
    if (!take_name(run, rest, &made.name) || !take_name(run, rest, &type)) return false;
    made.type = type_named(type);
    if (!made.type) return run_fail(run, "there is no type %.*s", STR_ARG(type));
    if (!take_integer(run, rest, 1, UINT32_MAX, &count)) return false;
    const uint64_t bytes = (uint64_t)count * made.type->bytes;
    if (bytes > MOST_BUFFERS || memory_used() + bytes > MOST_BUFFERS)
        return run_fail(run, "more than %d MB of data: choose a smaller size",
                        MOST_BUFFERS / MEGABYTE);
    made.count = (size_t)count;
    made.address = memory_alloc_kind((size_t)bytes, MEMORY_DEVICE);
    if (!made.address) return run_fail(run, "out of device memory");
    ARENA_GROW(&run->arena, run->buffers, run->buffer_count, run->buffer_capacity);
    run->buffers[run->buffer_count++] = made;
    str_word(rest, &content);
    return fill(run, &made, content);
}

// --- launches ---

static bool add_argument(Run *run, uint64_t value, size_t bytes) {
    Pending *pending = &run->pending;
    if (!pending->kernel) return run_fail(run, "an argument comes after its launch");
    if (pending->count == MOST_ARGUMENTS) return run_fail(run, "too many arguments");
    pending->bytes[pending->count] = bytes;
    pending->values[pending->count++] = value;
    return true;
}

static bool add_pointer(Run *run, Str *rest) {
    const Buffer *buffer = NULL;
    int64_t index;
    if (!take_buffer(run, rest, &buffer)) return false;
    if (!take_integer(run, rest, 0, (int64_t)buffer->count, &index)) return false;
    return add_argument(run, buffer->address + (uint64_t)index * buffer->type->bytes, 8);
}

static bool add_value(Run *run, const ElementType *type, Str *rest) {
    double number;
    int64_t integer;
    uint64_t bits = 0;
    if (type->type == ELEMENT_FLOAT || type->type == ELEMENT_DOUBLE) {
        if (!take_real(run, rest, &number)) return false;
        const float single = (float)number;
        memcpy(&bits, type->type == ELEMENT_FLOAT ? (const void *)&single : (const void *)&number,
               type->bytes);
        return add_argument(run, bits, type->bytes);
    }
    static const int64_t least[] = {[ELEMENT_INT] = INT32_MIN, [ELEMENT_LONG] = INT64_MIN};
    static const int64_t most[] = {[ELEMENT_INT] = INT32_MAX,
                                   [ELEMENT_UINT] = UINT32_MAX,
                                   [ELEMENT_LONG] = INT64_MAX,
                                   [ELEMENT_UCHAR] = UINT8_MAX};
    const int64_t low =
        type->type == ELEMENT_LONG || type->type == ELEMENT_INT ? least[type->type] : 0;
    if (!take_integer(run, rest, low, most[type->type], &integer)) return false;
    return add_argument(run, (uint64_t)integer, type->bytes);
}

// The CUDA runtime also loads a module at its first launch.
static bool load(Run *run) {
    SimtStatus status;
    if (!run->module) run->module = module_load(run->ptx, "kernel.ptx", &status, &run->error);
    return run->module != NULL;
}

static bool begin_launch(Run *run, Str *rest) {
    Str kernel, name;
    if (!take_name(run, rest, &kernel) || !take_name(run, rest, &name)) return false;
    if (!load(run)) return false;
    run->pending =
        (Pending){.kernel = module_kernel(run->module, str_terminated(&run->arena, kernel)),
                  .name = str_terminated(&run->arena, name),
                  .grid = {1, 1, 1},
                  .block = {1, 1, 1}};
    return run->pending.kernel || run_fail(run, "the module has no kernel %.*s", STR_ARG(kernel));
}

static bool arguments_fit(Run *run) {
    const Pending *pending = &run->pending;
    KernelInfo info;
    kernel_info(pending->kernel, &info);
    bool fit = info.parameter_count == pending->count;
    for (size_t k = 0; fit && k < pending->count; k++)
        fit = info.parameter_bytes[k] == pending->bytes[k];
    return fit || run_fail(run, "%s has other parameters than these %zu arguments", pending->name,
                           pending->count);
}

// Runs the pending launch, if there is one. A launch that fails ends the run.
bool run_launch(Run *run) {
    Pending *pending = &run->pending;
    void *arguments[MOST_ARGUMENTS];
    char *text = NULL;
    size_t bytes = 0;
    if (!pending->kernel) return true;
    if (!arguments_fit(run)) return false;
    for (size_t k = 0; k < pending->count; k++) arguments[k] = &pending->values[k];
    const Launch launch = {.grid = pending->grid,
                           .block = pending->block,
                           .cluster = {1, 1, 1},
                           .dynamic_shared_bytes = pending->shared,
                           .cooperative = pending->cooperative,
                           .arguments = arguments};
    if (run->trace) run->options.trace = open_memstream(&text, &bytes);
    LaunchReport report;
    const SimtStatus status =
        kernel_launch(pending->kernel, &launch, &run->options, &report, &run->error);
    if (run->options.trace) fclose(run->options.trace);
    const Str trace = {text ? text : "", bytes};
    run->launched(run, &report, status == SIMT_OK ? NULL : run->error.text, trace);
    arena_free(&report.arena);
    free(text);
    pending->kernel = NULL;
    return status == SIMT_OK;
}

static bool read_back(Run *run, Str *rest) {
    const Buffer *buffer = NULL;
    int64_t first, count;
    if (!take_buffer(run, rest, &buffer)) return false;
    if (!take_integer(run, rest, 0, (int64_t)buffer->count, &first)) return false;
    if (!take_integer(run, rest, 0, (int64_t)buffer->count - first, &count)) return false;
    output_read(run, buffer, (size_t)first, (size_t)count);
    return true;
}

// --- commands ---

static bool set_check(Run *run, Str *rest) {
    (void)rest;
    run->options.check = true;
    if (memory_used() > 0) return run_fail(run, "check comes before buffers and launches");
    return memory_track() || run_fail(run, "out of memory");
}

static bool set_orders(Run *run, Str *rest) {
    int64_t value;
    if (!take_integer(run, rest, 1, 100, &value)) return false;
    run->options.orders = (uint32_t)value;
    return true;
}

static bool set_trace(Run *run, Str *rest) {
    (void)rest;
    return run->trace = true;
}

static bool set_watchdog(Run *run, Str *rest) {
    return take_real(run, rest, &run->options.watchdog_seconds);
}

static bool set_grid(Run *run, Str *rest) { return take_shape(run, rest, &run->pending.grid); }
static bool set_block(Run *run, Str *rest) { return take_shape(run, rest, &run->pending.block); }

static bool set_shared(Run *run, Str *rest) {
    int64_t value;
    if (!take_integer(run, rest, 0, INT32_MAX, &value)) return false;
    run->pending.shared = (uint32_t)value;
    return true;
}

static bool set_cooperative(Run *run, Str *rest) {
    (void)rest;
    return run->pending.cooperative = true;
}

static const struct {
    Str name;
    bool (*execute)(Run *run, Str *rest);
    bool after_launch; // the launch before it must have run
} commands[] = {
    {STR("check"), set_check, false},     {STR("orders"), set_orders, false},
    {STR("trace"), set_trace, false},     {STR("watchdog"), set_watchdog, false},
    {STR("buffer"), add_buffer, true},    {STR("launch"), begin_launch, true},
    {STR("grid"), set_grid, false},       {STR("block"), set_block, false},
    {STR("shared"), set_shared, false},   {STR("cooperative"), set_cooperative, false},
    {STR("pointer"), add_pointer, false}, {STR("read"), read_back, true},
};

bool run_command(Run *run, Str line) {
    Str word;
    if (!str_word(&line, &word)) return true;
    const ElementType *type = type_named(word);
    if (type) return add_value(run, type, &line);
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
        if (!str_equal(commands[k].name, word)) continue;
        if (commands[k].after_launch && !run_launch(run)) return false;
        return commands[k].execute(run, &line);
    }
    return run_fail(run, "there is no command %.*s", STR_ARG(word));
}

static bool execute_all(Run *run, Str text, Str ptx) {
    Str line;
    run->ptx = ptx;
    if (!memory_open(MOST_BUFFERS + SPARE)) return run_fail(run, "out of memory");
    while (str_line(&text, &line))
        if (!run_command(run, line)) return false;
    return run_launch(run);
}

// --- the interface ---

void *engine_alloc(size_t bytes) { return malloc(bytes); }

static Run *start(void) {
    Run *run = &the_run;
    static jmp_buf leave; // never jumped to: see simt/native/native.h
    native_ending = write_failure;
    run->arena.leave = &leave;
    run->options = (SimtOptions){.lines = true, .instructions = true, .host_threads = 1};
    return run;
}

bool engine_run(const char *text, size_t text_bytes, const char *ptx, size_t ptx_bytes) {
    Run *run = start();
    run->launched = output_launch, run->written = output_all;
    run->launch_text.arena = run->read_text.arena = &run->arena;
    run->launches.out = &run->launch_text;
    run->reads.out = &run->read_text;
    json_open(&run->launches, STR(""), '[');
    json_open(&run->reads, STR(""), '[');
    const bool good = execute_all(run, (Str){text, text_bytes}, (Str){ptx, ptx_bytes});
    result = output_all(run, good ? NULL : run->error.text);
    return good;
}

bool engine_answer(const char *request, size_t bytes) {
    Run *run = start();
    run->launched = answer_launched, run->written = answer_written;
    const bool good = memory_open(MOST_BUFFERS + SPARE) ? answer_run(run, (Str){request, bytes})
                                                        : run_fail(run, "out of memory");
    result = answer_written(run, good ? NULL : run->error.text);
    return good;
}

const char *engine_result(void) { return result.at; }
size_t engine_result_bytes(void) { return result.len; }

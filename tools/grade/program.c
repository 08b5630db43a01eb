// Compiles, runs and times programs of exercises, and reads the numbers that they produce.
#include "grade/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "grade/child.h"
#include "numbers/read.h"
#include "numbers/verdict.h"

enum { COMPILE_SECONDS = 120, RUN_SECONDS = 20, TIMES = 3 };

// The path BUILD/exercises/NAME + ending.
static char *file_of(Arena *arena, const ProgramTools *tools, Str name, const char *ending) {
    Buf path = {.arena = arena};
    buf_format(&path, "%s/exercises/%.*s%s", tools->build, STR_ARG(name), ending);
    return str_terminated(arena, buf_str(&path));
}

static char *binary_of(Arena *arena, const ProgramTools *tools, const Program *program,
                       const char *ending) {
    return file_of(arena, tools, program->binary.len ? program->binary : program->name, ending);
}

static char *simt_of(Arena *arena) {
    return str_terminated(arena, str_of(file_beside(arena, "simt")));
}

static Str log_of(Arena *arena, const char *path) {
    Str text = STR("");
    return file_read(arena, path, &text) ? text : STR("");
}

static void fault(Arena *arena, Program *program, const char *what, const char *which) {
    Buf text = {.arena = arena};
    buf_format(&text, "%s%s", what, which);
    program->fault.text = buf_str(&text);
}

bool program_write(Arena *arena, const ProgramTools *tools, Str name, Str text, Str *path) {
    char *file = file_of(arena, tools, name, ".cu");
    *path = str_of(file);
    return file_write_if_changed(arena, file, text) != FILE_FAILED;
}

// --- compiling ---

// An argument for execvp, whose parameters are not const.
#define WORD(text) ((char[]){text})

bool program_compile(Arena *arena, const ProgramTools *tools, Program *program) {
    char *source = str_terminated(arena, program->source);
    char *binary = binary_of(arena, tools, program, ""),
         *log = file_of(arena, tools, program->name, ".compile.log"),
         *gpu = binary_of(arena, tools, program, ".gpu"),
         *gpu_log = file_of(arena, tools, program->name, ".gpu.log");
    if (!tools->nvcc) {
        fault(arena, program,
              "nvcc is missing: install the CUDA Toolkit, or name a compiler with -c", "");
        return false;
    }
    Buf arch = {.arena = arena};
    buf_format(&arch, "-arch=%s", tools->native ? tools->native : "");
    char *nvcc = str_terminated(arena, str_of(tools->nvcc));
    char *ptx[] = {nvcc,
                   WORD("-arch=compute_90"),
                   WORD("-lineinfo"),
                   WORD("-cudart"),
                   WORD("shared"),
                   WORD("--no-compress"),
                   WORD("-o"),
                   binary,
                   source,
                   NULL};
    char *native[] = {nvcc,   WORD("-O3"), str_terminated(arena, buf_str(&arch)), WORD("-o"), gpu,
                      source, NULL};
    unlink(binary);
    unlink(gpu);
    Child first = child_start(ptx, log, COMPILE_SECONDS), second = {.pid = -1};
    if (tools->native) second = child_start(native, gpu_log, COMPILE_SECONDS);
    ChildEnd end = child_wait(first), other = end;
    if (tools->native) other = child_wait(second);
    if (end.status == 0 && other.status == 0) return true;
    if (end.absent)
        fault(arena, program, "cannot find the compiler: ", tools->nvcc);
    else if (end.hung)
        fault(arena, program, "the compiler did not finish in 120 seconds", "");
    else
        program->fault = notes_compiler(arena, log_of(arena, end.status ? log : gpu_log));
    return false;
}

// --- numbers ---

// Adds the sums of the counters over all launches of the counted run.
static void add_counters(Arena *arena, Program *program, const char *path) {
    ResultTable table;
    ReadError error;
    if (!read_csv(arena, path, &table, &error)) return;
    double blocks = 0, threads = 0;
    for (size_t r = 0; r < table.row_count; r++) {
        const ResultRow *row = &table.rows[r];
        const double grid = results_cell_number(&table, row, STR("grid"));
        blocks += grid;
        threads += grid * results_cell_number(&table, row, STR("block"));
    }
    program_add(arena, program, STR("launches"), UNIT_COUNT, (double)table.row_count);
    program_add(arena, program, STR("blocks"), UNIT_COUNT, blocks);
    program_add(arena, program, STR("threads"), UNIT_COUNT, threads);
    for (size_t c = 4; c < table.column_count; c++) { // after kernel, launch, grid, block
        double sum = 0;
        for (size_t r = 0; r < table.row_count; r++)
            sum += results_cell_number(&table, &table.rows[r], table.columns[c]);
        program_add(arena, program, table.columns[c], UNIT_COUNT, sum);
    }
}

// --- running ---

static void read_check(Arena *arena, Program *program, Str log, ChildEnd end) {
    program_read_output(arena, program, notes_output(log));
    program->hazard_count = notes_hazards(arena, log, &program->hazards);
    program->stopped = notes_stop(log);
    bool finished = program_number(program, STR("wrong")) != NULL;
    if (end.hung)
        program->stopped.text =
            STR("the program did not finish: it ran for 20 seconds or printed 16 MB");
    else if (!finished && !program->stopped.text.len)
        program->stopped.text = notes_exit(arena, log, end.status);
    program_count_hazards(arena, program);
}

static void read_once(Arena *arena, const ProgramTools *tools, Program *program, ChildEnd end) {
    Str log = log_of(arena, file_of(arena, tools, program->name, ".once.log"));
    bool ended =
        end.status == 0 || end.status == 1; // 1: the results are wrong, but the counts are valid
    if (!ended || notes_stop(log).text.len) return;
    ReadError error;
    ResultTable *lines = ARENA_NEW(arena, 1, ResultTable);
    add_counters(arena, program, file_of(arena, tools, program->name, ".once.csv"));
    if (read_csv(arena, file_of(arena, tools, program->name, ".lines.csv"), lines, &error))
        program->lines = lines;
}

static void run_on_gpu(Arena *arena, const ProgramTools *tools, Program *program, char *which) {
    char *run[] = {binary_of(arena, tools, program, ".gpu"), which, NULL};
    char *log = file_of(arena, tools, program->name, ".gpu.log");
    program->on_gpu = true;
    program->right_on_gpu = child_wait(child_start(run, log, RUN_SECONDS)).status == 0;
}

void program_measure(Arena *arena, const ProgramTools *tools, Program *program, const char *which) {
    char *simt = simt_of(arena), *binary = binary_of(arena, tools, program, "");
    char *version = which ? str_terminated(arena, str_of(which)) : NULL;
    char *check_log = file_of(arena, tools, program->name, ".check.log"),
         *once_log = file_of(arena, tools, program->name, ".once.log"),
         *counts = file_of(arena, tools, program->name, ".once.csv"),
         *lines = file_of(arena, tools, program->name, ".lines.csv");
    char *check[] = {simt, WORD("--check"), WORD("--watchdog"), WORD("2"), binary, version, NULL};
    char *once[] = {simt,
                    WORD("--watchdog"),
                    WORD("2"),
                    WORD("--longest"),
                    WORD("--csv"),
                    counts,
                    WORD("--lines-csv"),
                    lines,
                    binary,
                    version ? version : WORD("--once"),
                    version ? WORD("--once") : NULL,
                    NULL};
    unlink(counts);
    unlink(lines);
    Child first = child_start(check, check_log, RUN_SECONDS);
    Child second = child_start(once, once_log, RUN_SECONDS);
    ChildEnd checked = child_wait(first), counted = child_wait(second);
    Str log = log_of(arena, check_log);
    if (checked.absent) {
        fault(arena, program, "cannot find the CPU device: ", simt);
        return;
    }
    read_once(arena, tools, program, counted);
    read_check(arena, program, log, checked);
    if (tools->native) run_on_gpu(arena, tools, program, version);
}

// Finds the greatest gains of a launch without a limit, from its row's columns `without ...`.
static void find_gains(ProgramTime *time, const ResultTable *table, const ResultRow *row,
                       double us) {
    const Str without = STR("without ");
    for (size_t c = 0; c < table->column_count; c++) {
        const Str column = table->columns[c];
        if (!str_starts(column, without)) continue;
        ProgramGain gain = {str_from(column, without.len),
                            100 * (us - results_cell_number(table, row, column)) / us};
        for (int k = 0; k < PROGRAM_GAINS; k++) {
            const ProgramGain there = time->gains[k];
            if (gain.pct <= there.pct) continue;
            time->gains[k] = gain;
            gain = there;
        }
    }
}

// Finds the lines in which the warps of a kernel spend the most time.
static void find_slowest_lines(Arena *arena, ProgramTime *time, const char *path, Str kernel) {
    ResultTable table;
    ReadError error;
    if (!read_csv(arena, path, &table, &error)) return;
    for (size_t r = 0; r < table.row_count; r++) {
        const ResultRow *row = &table.rows[r];
        ProgramLine line = {results_cell(&table, row, STR("file")),
                            verdict_stall_name(results_cell(&table, row, STR("stall"))),
                            (size_t)results_cell_number(&table, row, STR("line")),
                            results_cell_number(&table, row, STR("predicted_pct"))};
        if (!str_equal(results_cell(&table, row, STR("kernel")), kernel)) continue;
        for (int k = 0; k < PROGRAM_LINES; k++) {
            const ProgramLine there = time->lines[k];
            if (line.pct <= there.pct) continue;
            time->lines[k] = line;
            line = there;
        }
    }
}

// Adds the predicted time of all launches, and finds the limits of the longest.
static void read_predicted(Arena *arena, Program *program, const char *csv, const char *lines) {
    ResultTable table;
    ReadError error;
    double sum = 0, most = 0;
    size_t longest = 0;
    if (!read_csv(arena, csv, &table, &error)) return;
    for (size_t r = 0; r < table.row_count; r++) {
        const double us = results_cell_number(&table, &table.rows[r], STR("predicted_us"));
        sum += us;
        if (us <= most) continue;
        most = us;
        longest = r;
    }
    if (sum <= 0) return;
    program_add(arena, program, STR("time"), UNIT_TIME, sum);
    find_gains(&program->predicted, &table, &table.rows[longest], most);
    find_slowest_lines(arena, &program->predicted, lines,
                       results_cell(&table, &table.rows[longest], STR("kernel")));
}

// Predicts the time from machine code, which is compiled only for this.
static void predict_time(Arena *arena, const ProgramTools *tools, Program *program) {
    char *csv = file_of(arena, tools, program->name, ".predicted.csv"),
         *log = file_of(arena, tools, program->name, ".predicted.log"),
         *lines = file_of(arena, tools, program->name, ".predicted-lines.csv"),
         *binary = file_of(arena, tools, program->name, ".predicted"),
         *nvcc = str_terminated(arena, str_of(tools->nvcc)),
         *speeds = str_terminated(arena, str_of(tools->speeds)),
         *source = str_terminated(arena, program->source);
    char *compile[] = {nvcc,
                       WORD("-arch=sm_90"),
                       WORD("-lineinfo"),
                       WORD("-cudart"),
                       WORD("shared"),
                       WORD("--no-compress"),
                       WORD("-o"),
                       binary,
                       source,
                       NULL};
    char *run[] = {
        simt_of(arena),      WORD("--time"), speeds, WORD("--quiet"),  WORD("--csv"), csv,
        WORD("--lines-csv"), lines,          binary, WORD("--launch"), NULL};
    unlink(csv);
    if (child_wait(child_start(compile, log, COMPILE_SECONDS)).status == 0 &&
        child_wait(child_start(run, log, RUN_SECONDS)).status == 0)
        read_predicted(arena, program, csv, lines);
}

// Runs both programs alternately and takes the minimum of each one's medians, since other work on
// the machine only adds time.
void program_time(Arena *arena, const ProgramTools *tools, Program *program, Program *other) {
    if (!tools->native) {
        if (tools->speeds) predict_time(arena, tools, program);
        if (tools->speeds && other != program) predict_time(arena, tools, other);
        return;
    }
    Program *both[] = {program, other};
    double least[2] = {0, 0};
    for (int k = 0; k < 2 * TIMES; k++) {
        Program *at = both[k % 2];
        char *run[] = {binary_of(arena, tools, at, ".gpu"), WORD("--time"), NULL};
        char *log = file_of(arena, tools, at->name, ".gpu.log");
        if (child_wait(child_start(run, log, RUN_SECONDS)).status) return;
        Str text = log_of(arena, log), name;
        double time;
        for (Str line; str_line(&text, &line);)
            if (program_is_number(line, &name, &time) && str_equal(name, STR("time")) &&
                (least[k % 2] == 0 || time < least[k % 2]))
                least[k % 2] = time;
    }
    for (int k = 0; k < 2; k++)
        if (least[k] > 0) program_add(arena, both[k], STR("time"), UNIT_TIME, least[k]);
}

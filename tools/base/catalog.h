// Catalog: the kind of results that a file holds, according to its path in the results folder.
//
//     times           DEVICE.csv               what a GPU measured
//     newest          DEVICE-newest.csv        the same labs with a CUB newer than the toolkit's
//     shapes          DEVICE-shapes.csv        rows of every shape; also DEVICE-newest-shapes.csv
//     limits          DEVICE-limits.csv        what Nsight Compute says of each kernel
//     machine         DEVICE-machine.csv       latencies and rates of the device
//     wrong           DEVICE-wrong.csv         how many runs of chapter 18's kernels were right;
//                                              cpu-wrong.csv: what simt --check says of them
//     predicted       predicted/DEVICE.csv     what `simt --time` says of the rows of DEVICE.csv
//     counts          cpu.csv                  what the CPU device counted per kernel, of PTX
//     counts-machine  cpu-machine.csv          the same of machine code
//     counts-lines    cpu-lines.csv            the same of PTX, per line of code
//     counts-small    cpu-small.csv            of PTX, for stages that the page runs
//     trace           trace-NN-KERNEL.csv      which lane accesses which word, for figures
//     steps           steps/NN-KERNEL-B.csv    what the page's player shows
//     errors          errors/NAME.csv          rounding errors
//     compare         compare-NAME.csv         the CPU device against hardware, for appendix B
#ifndef BASE_CATALOG_H
#define BASE_CATALOG_H

#include "base/arena.h"
#include "base/str.h"

typedef enum {
    CATALOG_TIMES,
    CATALOG_NEWEST,
    CATALOG_SHAPES,
    CATALOG_LIMITS,
    CATALOG_MACHINE,
    CATALOG_WRONG,
    CATALOG_PREDICTED,
    CATALOG_COUNTS,
    CATALOG_COUNTS_MACHINE,
    CATALOG_COUNTS_LINES,
    CATALOG_COUNTS_SMALL,
    CATALOG_TRACE,
    CATALOG_STEPS,
    CATALOG_ERRORS,
    CATALOG_COMPARE
} CatalogKind;

typedef struct {
    CatalogKind kind;
    Str device;  // `nvidia-h200`; for shapes with a newer CUB `nvidia-h200-newest`; else empty
    Str chapter; // `04`, for a trace or steps; else empty
    Str name;    // the path in the results folder, without `.csv`
} CatalogFile;

// Classifies a file by its path in the results folder, given without `.csv`.
CatalogFile catalog_file(Str name);

// Whether a file of this kind holds counts of the CPU device.
bool catalog_is_counts(CatalogKind kind);

// The kind's name in the list above.
Str catalog_kind_name(CatalogKind kind);

// The path of a device's file, such as FOLDER/DEVICE-machine.csv. Takes the kinds from
// CATALOG_TIMES to CATALOG_PREDICTED.
char *catalog_path(Arena *arena, const char *folder, CatalogKind kind, Str device);

// The path of a listed file.
char *catalog_file_path(Arena *arena, const char *folder, const CatalogFile *file);

// Lists the CSV files of a results folder, sorted by name, and after them those of each subfolder.
// A missing folder counts as empty. Returns the number of files.
size_t catalog_list(Arena *arena, const char *folder, CatalogFile **files);

#endif

// Writes the graph of a kernel, with its registers assigned, as PTX.
#ifndef CUDAC_PTX_H
#define CUDAC_PTX_H

#include "base/map.h"
#include "simt/cudac/generate/graph.h"

typedef struct {
    Arena *arena;
    Buf out;
    Map files;     // of .loc, numbered from 1
    Map functions; // names of inlined functions, numbered from 1
    uint32_t kernel_count;
} PtxText;

void ptx_kernel(PtxText *text, Graph *graph, const Function *kernel,
                const uint32_t counts[TYPE_F64 + 1], uint64_t local_bytes, uint32_t local_align);
void ptx_write_variable(Buf *out, const Variable *variable, Str indent);
void ptx_end(PtxText *text); // the files and names
// The number of a file or a name.
size_t ptx_number(Map *map, Str key);

#endif

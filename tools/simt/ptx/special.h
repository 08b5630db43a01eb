// Special registers as numbers. PTX ISA, "Special Registers".
#ifndef PTX_SPECIAL_H
#define PTX_SPECIAL_H

#include "base/str.h"

// X(name, text, the Op that reads it, fields of PtxSpecialRow). Only ops/ uses the Op.
// clang-format off
#define PTX_SPECIALS(X) \
    X(TID_X, "%tid.x", tid_x) \
    X(TID_Y, "%tid.y", tid_y) \
    X(TID_Z, "%tid.z", tid_z) \
    X(NTID_X, "%ntid.x", ntid_x, .uniform = true) \
    X(NTID_Y, "%ntid.y", ntid_y, .uniform = true) \
    X(NTID_Z, "%ntid.z", ntid_z, .uniform = true) \
    X(CTAID_X, "%ctaid.x", ctaid_x, .uniform = true) \
    X(CTAID_Y, "%ctaid.y", ctaid_y, .uniform = true) \
    X(CTAID_Z, "%ctaid.z", ctaid_z, .uniform = true) \
    X(NCTAID_X, "%nctaid.x", nctaid_x, .uniform = true) \
    X(NCTAID_Y, "%nctaid.y", nctaid_y, .uniform = true) \
    X(NCTAID_Z, "%nctaid.z", nctaid_z, .uniform = true) \
    X(CLUSTERID_X, "%clusterid.x", clusterid_x) \
    X(CLUSTERID_Y, "%clusterid.y", clusterid_y) \
    X(CLUSTERID_Z, "%clusterid.z", clusterid_z) \
    X(NCLUSTERID_X, "%nclusterid.x", nclusterid_x) \
    X(NCLUSTERID_Y, "%nclusterid.y", nclusterid_y) \
    X(NCLUSTERID_Z, "%nclusterid.z", nclusterid_z) \
    X(CLUSTER_CTAID_X, "%cluster_ctaid.x", cluster_ctaid_x) \
    X(CLUSTER_CTAID_Y, "%cluster_ctaid.y", cluster_ctaid_y) \
    X(CLUSTER_CTAID_Z, "%cluster_ctaid.z", cluster_ctaid_z) \
    X(CLUSTER_NCTAID_X, "%cluster_nctaid.x", cluster_nctaid_x) \
    X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y", cluster_nctaid_y) \
    X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z", cluster_nctaid_z) \
    X(CLUSTER_CTARANK, "%cluster_ctarank", cluster_ctarank) \
    X(CLUSTER_NCTARANK, "%cluster_nctarank", cluster_nctarank) \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster", is_explicit_cluster) \
    X(LANEID, "%laneid", laneid) \
    X(WARPID, "%warpid", warpid) \
    X(NWARPID, "%nwarpid", nwarpid) \
    X(SMID, "%smid", smid) \
    X(NSMID, "%nsmid", nsmid) \
    X(GRIDID, "%gridid", gridid) \
    X(LANEMASK_EQ, "%lanemask_eq", lanemask_eq) \
    X(LANEMASK_LT, "%lanemask_lt", lanemask_lt) \
    X(LANEMASK_LE, "%lanemask_le", lanemask_le) \
    X(LANEMASK_GT, "%lanemask_gt", lanemask_gt) \
    X(LANEMASK_GE, "%lanemask_ge", lanemask_ge) \
    X(CLOCK, "%clock", clock_low) \
    X(CLOCK_HI, "%clock_hi", clock_high) \
    X(CLOCK64, "%clock64", clock_all) \
    X(GLOBALTIMER, "%globaltimer", timer_all) \
    X(GLOBALTIMER_LO, "%globaltimer_lo", timer_low) \
    X(GLOBALTIMER_HI, "%globaltimer_hi", timer_high) \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size", dynamic_shared) \
    X(TOTAL_SMEM_SIZE, "%total_smem_size", total_shared) \
    X(AGGR_SMEM_SIZE, "%aggr_smem_size", total_shared) \
    X(RESERVED_SMEM_OFFSET_BEGIN, "%reserved_smem_offset_begin", reserved_begin, .reserved = true) \
    X(RESERVED_SMEM_OFFSET_END, "%reserved_smem_offset_end", reserved_end, .reserved = true) \
    X(RESERVED_SMEM_OFFSET_CAP, "%reserved_smem_offset_cap", reserved_size, .reserved = true) \
    X(RESERVED_SMEM_OFFSET_0, "%reserved_smem_offset_0", reserved_begin, .reserved = true) \
    X(RESERVED_SMEM_OFFSET_1, "%reserved_smem_offset_1", reserved_half, .reserved = true) \
    X(WARP_SZ, "WARP_SZ", warp_size, .uniform = true) \
    X(ENVREG1, "%envreg1", envreg1) \
    X(ENVREG2, "%envreg2", envreg2)
// clang-format on

typedef enum {
    SPECIAL_NONE,
#define X(name, ...) SPECIAL_##name,
    PTX_SPECIALS(X)
#undef X
        SPECIALS
} PtxSpecial;

typedef struct {
    Str text;
    bool uniform;  // all threads of a block read the same value
    bool reserved; // it describes the shared memory that the system reserves
} PtxSpecialRow;

extern const PtxSpecialRow ptx_specials[SPECIALS];

PtxSpecial ptx_special_named(Str name); // SPECIAL_NONE if there is none

#endif

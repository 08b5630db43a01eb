// Shared by the programs with clusters: addresses in shared memory, waiting at an mbarrier,
// launches.
#ifndef CLUSTERS_H
#define CLUSTERS_H

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

#define TRY(barrier, parity)                                                                       \
    ({                                                                                             \
        unsigned done_;                                                                            \
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"            \
                     " selp.u32 %0, 1, 0, p; }"                                                    \
                     : "=r"(done_)                                                                 \
                     : "r"(shared_address(barrier)), "r"(parity)                                   \
                     : "memory");                                                                  \
        done_;                                                                                     \
    })

// A launch in clusters of this shape; without a shape, in the kernel's own clusters, if any.
struct Shape {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config;
    Shape(dim3 grid, dim3 block, dim3 cluster, size_t shared_bytes = 0) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = cluster.x;
        attribute.val.clusterDim.y = cluster.y;
        attribute.val.clusterDim.z = cluster.z;
        config = {grid, block, shared_bytes, 0, &attribute, cluster.x ? 1u : 0u};
    }
};

#endif

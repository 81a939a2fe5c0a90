// targets: sm_90 sm_100 sm_120
// Clusters: places, distributed shared memory through generic and shared addresses, the cluster's barrier.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define READ(name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(value)); out[at++] = value
__device__ void places(unsigned *all)
{
    unsigned value, flat = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, *out = all + flat * 16;
    int at = 0;
    READ("clusterid.x");
    READ("clusterid.y");
    READ("clusterid.z");
    READ("nclusterid.x");
    READ("nclusterid.y");
    READ("nclusterid.z");
    READ("cluster_ctaid.x");
    READ("cluster_ctaid.y");
    READ("cluster_ctaid.z");
    READ("cluster_nctaid.x");
    READ("cluster_nctaid.y");
    READ("cluster_nctaid.z");
    READ("cluster_ctarank");
    READ("cluster_nctarank");
    asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(value));
    out[at++] = value;
    READ("aggr_smem_size");
}
extern "C" __global__ void shape(unsigned *all) { places(all); }
extern "C" __global__ void __cluster_dims__(3, 2, 1) fixed_shape(unsigned *all) { places(all); }

extern "C" __global__ void neighbours(int *out)
{
    __shared__ int mine[64];
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), size = cluster.num_blocks();
    mine[threadIdx.x] = rank * 1000 + threadIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(mine, (rank + 1) % size);
    out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
    cluster.sync();
    atomicAdd(&other[threadIdx.x / 2], 100000);
    cluster.sync();
    if (threadIdx.x < 32)
        out[blockIdx.x * 64 + threadIdx.x] += mine[threadIdx.x];
    if (threadIdx.x == 63)
        out[blockIdx.x * 64 + 63] = cluster.query_shared_rank(other);
}

extern "C" __global__ void raw(int *out, int whom)
{
    __shared__ int cell[4];
    unsigned mine = (unsigned)__cvta_generic_to_shared(cell), theirs;
    int got, shared_cta, shared_cluster;
    cell[threadIdx.x & 3] = blockIdx.x;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"(whom));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(theirs) : "memory");
    asm volatile("{.reg .pred p; .reg .b64 a; mapa.u64 a, %1, %2; isspacep.shared::cta p, a; selp.b32 %0, 1, 0, p;}"
                 : "=r"(shared_cta) : "l"(cell), "r"(whom));
    asm volatile("{.reg .pred p; .reg .b64 a; mapa.u64 a, %1, %2; isspacep.shared::cluster p, a; selp.b32 %0, 1, 0, p;}"
                 : "=r"(shared_cluster) : "l"(cell), "r"(whom));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x] = got + 10 * shared_cta + 100 * shared_cluster;
}

extern "C" __global__ void never_all(int *out)
{
    if (blockIdx.x == 1 && threadIdx.x < 32)
        while (true)
            asm volatile("bar.sync 1, 64;");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[0] = 1;
}

extern "C" __global__ void late(int *out)
{
    __shared__ int cell;
    auto cluster = cg::this_cluster();
    cell = 5;
    cluster.sync();
    if (cluster.block_rank() == 1)
        return;
    for (int i = 0; i < 10000; i++)
        asm volatile("" ::: "memory");
    int *other = cluster.map_shared_rank(&cell, 1);
    for (int i = 0; i < 4000; i++)
        out[0] = *(volatile int *)other;
}

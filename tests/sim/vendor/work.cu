// targets: sm_100a sm_120a
// Work that a cluster takes over from clusters that have not begun (clusterlaunchcontrol): each block says who has done it.
__device__ static unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// out[block]: one more than the block that did it, 256 times; taken[block]: how many it did.
extern "C" __global__ void steal(int *out, int *taken)
{
    __shared__ __align__(16) unsigned long long answer[2];
    __shared__ __align__(8) unsigned long long barrier;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    __syncthreads();
    unsigned x = blockIdx.x, y = blockIdx.y, z = blockIdx.z, more = 1, phase = 0;
    while (more) {
        unsigned block = (z * gridDim.y + y) * gridDim.x + x;
        atomicAdd(out + block, (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x + 1);
        if (threadIdx.x == 0) {
            atomicAdd(taken + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, 1);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(shared_address(&barrier)) : "memory");
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(
                             shared_address(answer)),
                         "r"(shared_address(&barrier))
                         : "memory");
        }
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again; }" ::"r"(shared_address(&barrier)),
                     "r"(phase)
                     : "memory");
        phase ^= 1;
        asm volatile("{ .reg .b128 r; .reg .pred p;\n"
                     "mov.b128 r, {%4, %5};\n"
                     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %2, r;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %3, r; }"
                     : "=r"(more), "+r"(x), "+r"(y), "+r"(z)
                     : "l"(answer[0]), "l"(answer[1]));
        __syncthreads();
    }
}

// As above for clusters of two in one dimension: the first block asks for both.
extern "C" __global__ void steal_pairs(int *out, int *taken)
{
    __shared__ __align__(16) unsigned long long answer[2];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned rank, x = blockIdx.x, more = 1, phase = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    while (more) {
        atomicAdd(out + x, blockIdx.x + 1);
        if (threadIdx.x == 0) {
            atomicAdd(taken + blockIdx.x, 1);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(shared_address(&barrier)) : "memory");
        }
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        if (threadIdx.x == 0 && rank == 0)
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                         ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(shared_address(answer)),
                         "r"(shared_address(&barrier))
                         : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again; }" ::"r"(shared_address(&barrier)),
                     "r"(phase)
                     : "memory");
        phase ^= 1;
        asm volatile("{ .reg .b128 r; .reg .pred p;\n"
                     "mov.b128 r, {%2, %3};\n"
                     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r; }"
                     : "=r"(more), "+r"(x)
                     : "l"(answer[0]), "l"(answer[1]));
        x += rank;
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    }
}

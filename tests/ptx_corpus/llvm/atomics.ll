; Read-modify-write operations, exchanges, fences.
target triple = "nvptx64-nvidia-cuda"

define void @words(ptr addrspace(1) %g, ptr addrspace(3) %s, ptr %p, i32 %v, i64 %w) {
  %1 = atomicrmw add ptr addrspace(1) %g, i32 %v seq_cst
  %2 = atomicrmw sub ptr addrspace(3) %s, i32 %v monotonic
  %3 = atomicrmw and ptr %p, i32 %v acquire
  %4 = atomicrmw or ptr addrspace(1) %g, i64 %w release
  %5 = atomicrmw xor ptr addrspace(3) %s, i64 %w acq_rel
  %6 = atomicrmw max ptr addrspace(1) %g, i32 %v seq_cst
  %7 = atomicrmw umin ptr %p, i64 %w seq_cst
  %8 = atomicrmw min ptr addrspace(3) %s, i32 %v seq_cst
  %9 = atomicrmw umax ptr addrspace(1) %g, i64 %w seq_cst
  %10 = atomicrmw xchg ptr addrspace(1) %g, i32 %v seq_cst
  %11 = cmpxchg ptr addrspace(1) %g, i32 %1, i32 %v seq_cst seq_cst
  %12 = cmpxchg ptr addrspace(3) %s, i64 %4, i64 %w monotonic monotonic
  %13 = extractvalue { i32, i1 } %11, 0
  %14 = add i32 %13, %2
  store i32 %14, ptr %p
  ret void
}
define void @floats(ptr addrspace(1) %g, ptr %p, float %f, double %d) {
  %1 = atomicrmw fadd ptr addrspace(1) %g, float %f seq_cst
  %2 = atomicrmw fadd ptr %p, double %d seq_cst
  ret void
}
define void @more(ptr %p, i32 %v) {
  %1 = call i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr %p, i32 %v)
  %2 = call i32 @llvm.nvvm.atomic.load.dec.32.p0(ptr %p, i32 %v)
  %3 = add i32 %1, %2
  store atomic i32 %3, ptr %p monotonic, align 4
  %4 = load atomic i32, ptr %p monotonic, align 4
  store i32 %4, ptr %p
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.membar.gl()
  call void @llvm.nvvm.membar.sys()
  ret void
}
declare i32 @llvm.nvvm.atomic.load.inc.32.p0(ptr, i32)
declare i32 @llvm.nvvm.atomic.load.dec.32.p0(ptr, i32)
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.membar.sys()

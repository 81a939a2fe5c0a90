; Matrix instructions and asynchronous copies (sm_80).
target triple = "nvptx64-nvidia-cuda"

define void @ldmatrix(ptr addrspace(3) %s, ptr addrspace(1) %g) {
  %a = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3) %s)
  %b = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %s)
  %c = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %s)
  %d = extractvalue { i32, i32 } %b, 1
  %e = extractvalue { i32, i32, i32, i32 } %c, 3
  %f = add i32 %a, %d
  %h = add i32 %e, %f
  store i32 %h, ptr addrspace(1) %g
  ret void
}
define { float, float, float, float } @mma(<2 x half> %a, float %c) {
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, <2 x half> %a, float %c, float %c, float %c, float %c)
  ret { float, float, float, float } %r
}
define { i32, i32, i32, i32 } @whole(i32 %a, i32 %c) {
  %r = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, i32 %c, i32 %c, i32 %c, i32 %c)
  ret { i32, i32, i32, i32 } %r
}
define { double, double } @doubles(double %a, double %c) {
  %r = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double %a, double %a, double %c, double %c)
  ret { double, double } %r
}
define { float, float, float, float } @tf32(i32 %a, float %c) {
  %r = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, i32 %a, float %c, float %c, float %c, float %c)
  ret { float, float, float, float } %r
}
define void @copies(ptr addrspace(3) %s, ptr addrspace(1) %g, ptr addrspace(3) %b) {
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s, ptr addrspace(1) %g)
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %s, ptr addrspace(1) %g)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 3)
  call void @llvm.nvvm.cp.async.wait.all()
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %b, i32 32)
  %t = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %b)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3) %b)
  %d = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) %b, i64 %t)
  %n = call i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3) %b, i32 2)
  %p = call i32 @llvm.nvvm.mbarrier.pending.count(i64 %n)
  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) %b)
  %z = zext i1 %d to i32
  %y = add i32 %z, %p
  store i32 %y, ptr addrspace(1) %g
  ret void
}
define i32 @reductions(i32 %v) {
  %a = call i32 @llvm.nvvm.redux.sync.add(i32 %v, i32 -1)
  %b = call i32 @llvm.nvvm.redux.sync.umin(i32 %a, i32 -1)
  %c = call i32 @llvm.nvvm.redux.sync.max(i32 %b, i32 -1)
  %d = call i32 @llvm.nvvm.redux.sync.xor(i32 %c, i32 255)
  ret i32 %d
}
declare i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3))
declare { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3))
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3))
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
declare i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3), i32)
declare i32 @llvm.nvvm.mbarrier.pending.count(i64)
declare void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3))
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)
declare i32 @llvm.nvvm.redux.sync.max(i32, i32)
declare i32 @llvm.nvvm.redux.sync.xor(i32, i32)

; Special registers, barriers, warp operations.
target triple = "nvptx64-nvidia-cuda"

define i32 @registers() {
  %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %e = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %f = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.smid()
  %h = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %i = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %j = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %k = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  %l = call i32 @llvm.nvvm.read.ptx.sreg.gridid()
  %m = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.pm2()
  %1 = add i32 %a, %b
  %2 = add i32 %1, %c
  %3 = add i32 %2, %d
  %4 = add i32 %3, %e
  %5 = add i32 %4, %f
  %6 = add i32 %5, %g
  %7 = add i32 %6, %h
  %8 = add i32 %7, %i
  %9 = trunc i64 %j to i32
  %10 = add i32 %8, %9
  %11 = add i32 %10, %k
  %12 = add i32 %11, %l
  %13 = add i32 %12, %m
  %14 = add i32 %13, %n
  ret i32 %14
}
define i32 @barriers(i32 %p) {
  call void @llvm.nvvm.barrier0()
  %a = call i32 @llvm.nvvm.barrier0.popc(i32 %p)
  %b = call i32 @llvm.nvvm.barrier0.and(i32 %p)
  %c = call i32 @llvm.nvvm.barrier0.or(i32 %p)
  call void @llvm.nvvm.barrier.sync(i32 3)
  call void @llvm.nvvm.barrier.sync.cnt(i32 %p, i32 64)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %d = add i32 %a, %b
  %e = add i32 %c, %d
  ret i32 %e
}
define i32 @exchanges(i32 %v, float %f, i32 %m) {
  %a = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v, i32 1, i32 31)
  %b = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 %m, float %f, i32 %v, i32 31)
  %c = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %m, i32 %v, i32 3, i32 %v)
  %d = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 15, i32 %v, i32 %m, i32 0)
  %e = extractvalue { i32, i1 } %c, 0
  %g = extractvalue { i32, i1 } %c, 1
  %h = fptosi float %b to i32
  %i = select i1 %g, i32 %e, i32 %h
  %j = add i32 %i, %a
  %k = add i32 %j, %d
  ret i32 %k
}
define i32 @votes(i1 %p, i32 %v, i64 %w) {
  %a = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %p)
  %b = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %a)
  %c = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %b)
  %d = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)
  %e = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %v)
  %f = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %v)
  %g = extractvalue { i32, i1 } %f, 0
  %h = add i32 %d, %e
  %i = add i32 %g, %h
  ret i32 %i
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare i32 @llvm.nvvm.read.ptx.sreg.smid()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i32 @llvm.nvvm.read.ptx.sreg.clock()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i32 @llvm.nvvm.read.ptx.sreg.gridid()
declare i32 @llvm.nvvm.read.ptx.sreg.envreg3()
declare i32 @llvm.nvvm.read.ptx.sreg.pm2()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.barrier0.popc(i32)
declare i32 @llvm.nvvm.barrier0.and(i32)
declare i32 @llvm.nvvm.barrier0.or(i32)
declare void @llvm.nvvm.barrier.sync(i32)
declare void @llvm.nvvm.barrier.sync.cnt(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)

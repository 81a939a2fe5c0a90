; Loads and stores in all address spaces, of all shapes; copies; the stack.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@buffer = internal addrspace(3) global [1024 x float] undef, align 16
@table = internal addrspace(4) constant [5 x i32] [i32 1, i32 -2, i32 3, i32 4, i32 5], align 4
@dynamic = external addrspace(3) global [0 x i8], align 16

define void @all_spaces(ptr addrspace(1) %g, ptr addrspace(3) %s, ptr addrspace(4) %c, ptr addrspace(5) %l, ptr %p) {
  %a = load i8, ptr addrspace(1) %g
  %b = load i16, ptr addrspace(3) %s
  %d = load i32, ptr addrspace(4) %c
  %e = load i64, ptr addrspace(5) %l
  %f = load volatile float, ptr %p
  %h = load half, ptr addrspace(1) %g
  %i = load double, ptr addrspace(3) %s
  %j = load i1, ptr %p
  store i8 %a, ptr addrspace(3) %s
  store i16 %b, ptr addrspace(1) %g
  store volatile i32 %d, ptr addrspace(1) %g
  store i64 %e, ptr %p
  store float %f, ptr addrspace(5) %l
  store half %h, ptr addrspace(3) %s
  store double %i, ptr addrspace(1) %g
  store i1 %j, ptr %p
  ret void
}
define void @vectors(ptr addrspace(1) %g, ptr addrspace(3) %s) {
  %a = load <4 x float>, ptr addrspace(1) %g, align 16
  %b = load <2 x i64>, ptr addrspace(1) %g, align 16
  %c = load <4 x i8>, ptr addrspace(1) %g, align 4
  %d = load <2 x half>, ptr addrspace(1) %g, align 4
  %e = load <8 x half>, ptr addrspace(1) %g, align 16
  %f = load <3 x i32>, ptr addrspace(1) %g, align 4
  %i = load <2 x double>, ptr addrspace(1) %g, align 16
  %j = load volatile <4 x i32>, ptr addrspace(3) %s, align 16
  store <4 x float> %a, ptr addrspace(3) %s, align 16
  store <2 x i64> %b, ptr addrspace(3) %s, align 16
  store <4 x i8> %c, ptr addrspace(3) %s, align 4
  store <2 x half> %d, ptr addrspace(3) %s, align 4
  store <8 x half> %e, ptr addrspace(3) %s, align 16
  store <3 x i32> %f, ptr addrspace(3) %s, align 4
  store volatile <2 x double> %i, ptr addrspace(3) %s, align 16
  store <4 x i32> %j, ptr addrspace(1) %g, align 1
  ret void
}
define float @casts(ptr addrspace(1) %g, i32 %i) {
  %p = addrspacecast ptr addrspace(1) %g to ptr
  %q = addrspacecast ptr %p to ptr addrspace(3)
  %r = getelementptr [1024 x float], ptr addrspace(3) @buffer, i32 0, i32 %i
  %s = addrspacecast ptr addrspace(3) %r to ptr
  %a = load float, ptr %s
  %b = load float, ptr addrspace(3) %q
  %c = load i32, ptr addrspace(4) getelementptr ([5 x i32], ptr addrspace(4) @table, i32 0, i32 3)
  %d = load i8, ptr addrspace(3) @dynamic
  %e = add i32 %c, 4
  %f = sitofp i32 %e to float
  %x = fadd float %a, %b
  %y = fadd float %x, %f
  %z = uitofp i8 %d to float
  %w = fadd float %y, %z
  ret float %w
}
define i32 @read_only(ptr addrspace(1) noalias readonly %g) {
  %a = load i32, ptr addrspace(1) %g, !invariant.load !0
  %v = load <4 x i32>, ptr addrspace(1) %g, align 16, !invariant.load !0
  %b = extractelement <4 x i32> %v, i32 2
  %c = add i32 %a, %b
  ret i32 %c
}
define i32 @stack(i32 %n, i32 %i) {
  %a = alloca [64 x i32], align 8
  %b = alloca { i8, double, i16 }, align 16
  %p = getelementptr [64 x i32], ptr %a, i32 0, i32 %i
  store i32 %n, ptr %p
  %q = getelementptr { i8, double, i16 }, ptr %b, i32 0, i32 1
  store double 2.5, ptr %q
  call void @llvm.memset.p0.i64(ptr %a, i8 7, i64 40, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 24, i1 false)
  call void @escape(ptr %a, ptr %b)
  %r = load i32, ptr %p
  ret i32 %r
}
define void @moves(ptr %a, ptr %b, i64 %n) {
  call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %a, ptr align 4 %b, i64 %n, i1 true)
  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 %n, i1 false)
  ret void
}
declare void @escape(ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
!0 = !{}

; Textures, surfaces and samplers by name and by handle.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@image = internal addrspace(1) global i64 0, align 8
@surface = internal addrspace(1) global i64 0, align 8
declare { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64, i32)
declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.3d.v4s32.f32(i64, float, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.2d.array.v4u32.s32(i64, i32, i32, i32)
declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.level.v4f32.f32(i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.grad.v4f32.f32(i64, float, float, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tex.unified.cube.v4f32.f32(i64, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64, float, float)
declare i32 @llvm.nvvm.suld.1d.i32.trap(i64, i32)
declare { i32, i32 } @llvm.nvvm.suld.2d.v2i32.clamp(i64, i32, i32)
declare { i16, i16, i16, i16 } @llvm.nvvm.suld.3d.v4i16.zero(i64, i32, i32, i32)
declare void @llvm.nvvm.sust.b.1d.i32.trap(i64, i32, i32)
declare void @llvm.nvvm.sust.b.2d.v4i32.clamp(i64, i32, i32, i32, i32, i32, i32)
declare void @llvm.nvvm.sust.p.1d.i32.trap(i64, i32, i32)
declare i32 @llvm.nvvm.txq.width(i64)
declare i32 @llvm.nvvm.txq.height(i64)
declare i32 @llvm.nvvm.txq.channel.order(i64)
declare i32 @llvm.nvvm.suq.width(i64)
declare i32 @llvm.nvvm.suq.channel.data.type(i64)
declare i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1))

define void @handles(i64 %t, i64 %s, ptr %out, float %x, float %y, i32 %i) {
  %a = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %t, i32 %i)
  %b = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64 %t, float %x, float %y)
  %c = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.3d.v4s32.f32(i64 %t, float %x, float %y, float %x)
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.2d.array.v4u32.s32(i64 %t, i32 %i, i32 3, i32 4)
  %e = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.level.v4f32.f32(i64 %t, float %x, float %y, float 1.0)
  %f = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.grad.v4f32.f32(i64 %t, float %x, float %y, float %x, float %y, float %x, float %y)
  %g = call { float, float, float, float } @llvm.nvvm.tex.unified.cube.v4f32.f32(i64 %t, float %x, float %y, float %x)
  %h = call { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64 %t, float %x, float %y)
  store { float, float, float, float } %a, ptr %out
  store { float, float, float, float } %b, ptr %out
  store { i32, i32, i32, i32 } %c, ptr %out
  store { i32, i32, i32, i32 } %d, ptr %out
  store { float, float, float, float } %e, ptr %out
  store { float, float, float, float } %f, ptr %out
  store { float, float, float, float } %g, ptr %out
  store { float, float, float, float } %h, ptr %out
  %j = call i32 @llvm.nvvm.suld.1d.i32.trap(i64 %s, i32 %i)
  %k = call { i32, i32 } @llvm.nvvm.suld.2d.v2i32.clamp(i64 %s, i32 %i, i32 3)
  %l = call { i16, i16, i16, i16 } @llvm.nvvm.suld.3d.v4i16.zero(i64 %s, i32 %i, i32 3, i32 5)
  store { i32, i32 } %k, ptr %out
  store { i16, i16, i16, i16 } %l, ptr %out
  call void @llvm.nvvm.sust.b.1d.i32.trap(i64 %s, i32 %i, i32 %j)
  call void @llvm.nvvm.sust.b.2d.v4i32.clamp(i64 %s, i32 %i, i32 3, i32 %j, i32 %j, i32 2, i32 1)
  call void @llvm.nvvm.sust.p.1d.i32.trap(i64 %s, i32 %i, i32 7)
  %m = call i32 @llvm.nvvm.txq.width(i64 %t)
  %n = call i32 @llvm.nvvm.txq.height(i64 %t)
  %o = call i32 @llvm.nvvm.txq.channel.order(i64 %t)
  %p = call i32 @llvm.nvvm.suq.width(i64 %s)
  %q = call i32 @llvm.nvvm.suq.channel.data.type(i64 %s)
  %r = add i32 %m, %n
  %u = add i32 %o, %p
  %v = add i32 %r, %u
  %w = add i32 %v, %q
  store i32 %w, ptr %out
  ret void
}
define void @names(ptr %out, i32 %i) {
  %t = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @image)
  %a = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %t, i32 %i)
  store { float, float, float, float } %a, ptr %out
  %s = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @surface)
  call void @llvm.nvvm.sust.b.1d.i32.trap(i64 %s, i32 %i, i32 4)
  ret void
}
!nvvm.annotations = !{!0, !1, !2, !3}
!0 = !{ptr @handles, !"kernel", i32 1}
!1 = !{ptr @names, !"kernel", i32 1}
!2 = !{ptr addrspace(1) @image, !"texture", i32 1}
!3 = !{ptr addrspace(1) @surface, !"surface", i32 1}

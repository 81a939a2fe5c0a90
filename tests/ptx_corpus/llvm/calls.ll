; Functions: aggregates by value, vectors, indirect calls, recursion, weak and external ones; kernels with bounds.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%pair = type { i32, double }
%large = type { [20 x i32], i8 }

declare i32 @outside(i32, float) readonly
declare void @stop() noreturn
declare <4 x float> @vector_outside(<4 x float>)

define internal i32 @fibonacci(i32 %n) noinline {
  %c = icmp slt i32 %n, 2
  br i1 %c, label %end, label %more
more:
  %a = sub i32 %n, 1
  %b = sub i32 %n, 2
  %x = call i32 @fibonacci(i32 %a)
  %y = call i32 @fibonacci(i32 %b)
  %s = add i32 %x, %y
  ret i32 %s
end:
  ret i32 %n
}
define %pair @pairs(%pair %p, i8 signext %c, i1 zeroext %b, half %h) noinline {
  %a = extractvalue %pair %p, 0
  %d = sext i8 %c to i32
  %e = add i32 %a, %d
  %z = zext i1 %b to i32
  %f = add i32 %e, %z
  %q = insertvalue %pair %p, i32 %f, 0
  %g = fpext half %h to double
  %r = insertvalue %pair %q, double %g, 1
  ret %pair %r
}
define void @by_value(ptr byval(%large) align 4 %v, ptr %out) noinline {
  %p = getelementptr %large, ptr %v, i32 0, i32 0, i32 7
  %a = load i32, ptr %p
  store i32 %a, ptr %out
  ret void
}
define <4 x float> @vectors(<4 x float> %a, <2 x half> %b, <3 x i8> %c) {
  %r = call <4 x float> @vector_outside(<4 x float> %a)
  %x = extractelement <2 x half> %b, i32 1
  %y = fpext half %x to float
  %z = insertelement <4 x float> %r, float %y, i32 2
  ret <4 x float> %z
}
define [3 x i64] @arrays([3 x i64] %a) {
  %x = extractvalue [3 x i64] %a, 2
  %r = insertvalue [3 x i64] %a, i64 %x, 0
  ret [3 x i64] %r
}
define i32 @indirect(ptr %f, ptr %g, i32 %x, float %y) {
  %a = call i32 %f(i32 %x, float %y)
  %p = call %pair %g(ptr %f, <4 x i32> <i32 1, i32 2, i32 3, i32 4>)
  %b = extractvalue %pair %p, 0
  %c = add i32 %a, %b
  ret i32 %c
}
define weak i32 @maybe(i32 %x) {
  ret i32 %x
}
define linkonce_odr i32 @shared(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}
define void @kernel(ptr addrspace(1) %out, i32 %n, i8 %c, ptr byval(%large) align 4 %v, <2 x float> %w) {
  %a = call i32 @fibonacci(i32 %n)
  %b = call i32 @outside(i32 %a, float 2.5)
  %d = call i32 @maybe(i32 %b)
  %s = call i32 @shared(i32 %d)
  call void @by_value(ptr byval(%large) align 4 %v, ptr addrspacecast (ptr addrspace(1) null to ptr))
  store i32 %s, ptr addrspace(1) %out
  %e = extractelement <2 x float> %w, i32 0
  %f = fptosi float %e to i32
  %g = icmp eq i32 %f, 3
  br i1 %g, label %bad, label %good
bad:
  call void @stop()
  unreachable
good:
  ret void
}
define void @bounded(ptr %out) {
  store i32 1, ptr %out
  call void @llvm.trap()
  ret void
}
define void @required(ptr %out) {
  store i32 1, ptr %out
  ret void
}
declare void @llvm.trap()
!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7, !8}
!0 = !{ptr @kernel, !"kernel", i32 1}
!1 = !{ptr @bounded, !"kernel", i32 1}
!2 = !{ptr @bounded, !"maxntidx", i32 256}
!3 = !{ptr @bounded, !"maxntidy", i32 2}
!4 = !{ptr @bounded, !"minctasm", i32 2}
!5 = !{ptr @bounded, !"maxnreg", i32 32}
!6 = !{ptr @required, !"kernel", i32 1}
!7 = !{ptr @required, !"reqntidx", i32 32}
!8 = !{ptr @required, !"reqntidy", i32 4}

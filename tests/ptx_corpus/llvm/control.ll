; Branches: switches, tangled loops, selects, unreachable ends.
target triple = "nvptx64-nvidia-cuda"

define i32 @dense(i32 %x) {
  switch i32 %x, label %other [
    i32 0, label %a
    i32 1, label %b
    i32 2, label %c
    i32 3, label %d
    i32 4, label %a
    i32 5, label %e
    i32 6, label %d
  ]
a:
  ret i32 10
b:
  call void @llvm.nvvm.barrier0()
  ret i32 11
c:
  ret i32 %x
d:
  %y = mul i32 %x, %x
  ret i32 %y
e:
  call void @llvm.debugtrap()
  ret i32 3
other:
  ret i32 -1
}
define i32 @sparse(i64 %x) {
  switch i64 %x, label %other [
    i64 1000000000000, label %a
    i64 -5, label %b
    i64 77, label %a
  ]
a:
  ret i32 1
b:
  ret i32 2
other:
  unreachable
}
define i32 @tangled(i32 %n, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %i = phi i32 [ 0, %entry ], [ %k, %right ]
  %j = add i32 %i, 3
  %t = icmp sgt i32 %j, %n
  br i1 %t, label %end, label %right
right:
  %m = phi i32 [ 7, %entry ], [ %j, %left ]
  %k = mul i32 %m, 5
  %u = icmp eq i32 %k, %n
  br i1 %u, label %end, label %left
end:
  %r = phi i32 [ %j, %left ], [ %k, %right ]
  ret i32 %r
}
define void @nest(ptr %p, i32 %n, i32 %m) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %next ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %inner, label %end
inner:
  %j = phi i32 [ 0, %outer ], [ %j2, %inner ]
  %q = getelementptr i32, ptr %p, i32 %j
  %v = load i32, ptr %q
  %w = add i32 %v, %i
  store i32 %w, ptr %q
  %j2 = add nuw nsw i32 %j, 1
  %d = icmp ult i32 %j2, %m
  br i1 %d, label %inner, label %next, !llvm.loop !0
next:
  %i2 = add i32 %i, 1
  br label %outer
end:
  ret void
}
declare void @llvm.nvvm.barrier0()
declare void @llvm.debugtrap()
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}

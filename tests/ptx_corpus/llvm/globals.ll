; Variables with initialisers of all kinds, linkage of all kinds.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
%record = type { i8, i32, ptr, [3 x i16], double }

@byte = addrspace(1) global i8 -7
@word = addrspace(1) global i16 300, align 2
@single = addrspace(1) global float 0x3FB99999A0000000
@real = addrspace(1) constant double 1.0e-300
@small = addrspace(1) global half 0xH3C00
@flag = addrspace(1) global i1 true
@zero = addrspace(1) global [100 x i32] zeroinitializer, align 8
@text = addrspace(1) constant [14 x i8] c"quotes \22 \0A\09\\ \00", align 1
@numbers = addrspace(1) global [6 x i32] [i32 1, i32 -2, i32 2147483647, i32 0, i32 5, i32 6]
@longs = addrspace(1) global [2 x i64] [i64 -9223372036854775808, i64 81985529216486895]
@matrix = addrspace(1) global [2 x [3 x float]] [[3 x float] [float 1.0, float 2.0, float 0x7FF0000000000000], [3 x float] [float -0.0, float 0x7FF8000000000000, float 6.0]]
@quad = addrspace(1) global <4 x i32> <i32 1, i32 2, i32 3, i32 4>
@pointer = addrspace(1) global ptr addrspace(1) @numbers
@generic = addrspace(1) global ptr addrspacecast (ptr addrspace(1) @numbers to ptr)
@inside = addrspace(1) global ptr addrspace(1) getelementptr ([6 x i32], ptr addrspace(1) @numbers, i32 0, i32 3)
@both = addrspace(1) global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @text to ptr), ptr null]
@handlers = addrspace(1) global [2 x ptr] [ptr @first, ptr @second]
@mixed = addrspace(1) global %record { i8 1, i32 -2, ptr addrspacecast (ptr addrspace(1) @byte to ptr), [3 x i16] [i16 1, i16 2, i16 3], double 2.5 }, align 8
@packed = addrspace(1) global <{ i8, i32, i8 }> <{ i8 1, i32 2, i8 3 }>
@constants = addrspace(4) constant [3 x float] [float 1.0, float 2.0, float 3.0]
@elsewhere = external addrspace(1) global [0 x i32]
@weak = weak addrspace(1) global i32 3
@once = linkonce_odr addrspace(1) global i32 4
@shared_weak = weak addrspace(3) global [16 x i32] undef, align 4
@hidden = internal addrspace(1) global i32 77
@wide = addrspace(1) global i128 170141183460469231731687303715884105727

define i32 @first(i32 %x) {
  %a = load i32, ptr addrspace(1) @hidden
  %b = load i32, ptr addrspace(1) @elsewhere
  store i32 %b, ptr addrspace(1) @weak
  store i32 %a, ptr addrspace(1) @once
  store i32 %a, ptr addrspace(3) @shared_weak
  %c = add i32 %a, %x
  ret i32 %c
}
define i32 @second(i32 %x) {
  %a = load float, ptr addrspace(4) getelementptr ([3 x float], ptr addrspace(4) @constants, i32 0, i32 2)
  %b = fptosi float %a to i32
  %c = sub i32 %b, %x
  ret i32 %c
}

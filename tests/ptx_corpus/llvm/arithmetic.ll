; Whole numbers and floats of all widths.
target triple = "nvptx64-nvidia-cuda"

define i8 @narrow(i8 %a, i8 %b) {
  %s = add i8 %a, %b
  %d = sdiv i8 %s, %b
  %m = mul i8 %d, 7
  %r = lshr i8 %m, 3
  ret i8 %r
}
define i1 @bits(i1 %a, i1 %b) {
  %x = xor i1 %a, %b
  %y = and i1 %x, %a
  %z = or i1 %y, true
  %s = select i1 %z, i1 %a, i1 %y
  ret i1 %s
}
define i16 @halfwords(i16 %a, i16 %b) {
  %s = sub i16 %a, %b
  %d = udiv i16 %s, %b
  %m = srem i16 %d, 100
  %h = shl i16 %m, %b
  %r = ashr i16 %h, 2
  ret i16 %r
}
define i32 @words(i32 %a, i32 %b, i32 %c) {
  %p = call i32 @llvm.ctpop.i32(i32 %a)
  %l = call i32 @llvm.ctlz.i32(i32 %b, i1 false)
  %t = call i32 @llvm.cttz.i32(i32 %c, i1 true)
  %v = call i32 @llvm.bitreverse.i32(i32 %a)
  %w = call i32 @llvm.bswap.i32(i32 %b)
  %f = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %c)
  %g = call i32 @llvm.fshr.i32(i32 %a, i32 %b, i32 7)
  %x = call i32 @llvm.smax.i32(i32 %p, i32 %l)
  %y = call i32 @llvm.umin.i32(i32 %t, i32 %v)
  %z = call i32 @llvm.abs.i32(i32 %w, i1 false)
  %q = call i32 @llvm.sadd.sat.i32(i32 %f, i32 %g)
  %u = call i32 @llvm.usub.sat.i32(i32 %x, i32 %y)
  %m1 = mul i32 %z, %q
  %m2 = add i32 %m1, %u
  %d = sdiv i32 %m2, %c
  %r = urem i32 %d, 10
  ret i32 %r
}
define i64 @long(i64 %a, i64 %b, i32 %c) {
  %p = call i64 @llvm.ctpop.i64(i64 %a)
  %l = call i64 @llvm.ctlz.i64(i64 %b, i1 false)
  %v = call i64 @llvm.bitreverse.i64(i64 %a)
  %w = zext i32 %c to i64
  %x = sext i32 %c to i64
  %m = mul i64 %w, %x
  %s = shl i64 %m, %p
  %o = sub i64 %s, %l
  %h = lshr i64 %o, %v
  %d = udiv i64 %h, %b
  %r = srem i64 %d, 1000003
  ret i64 %r
}
define i128 @wide(i128 %a, i128 %b) {
  %s = add i128 %a, %b
  %m = mul i128 %s, %b
  %h = lshr i128 %m, 31
  %r = sub i128 %h, %a
  ret i128 %r
}
define { i32, i1 } @overflow(i32 %a, i32 %b) {
  %s = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %a, i32 %b)
  ret { i32, i1 } %s
}
define float @single(float %a, float %b, float %c) {
  %s = fadd float %a, %b
  %m = fmul float %s, 0x3FB99999A0000000
  %f = call float @llvm.fma.f32(float %m, float %b, float %c)
  %q = call float @llvm.sqrt.f32(float %f)
  %d = fdiv float %q, %c
  %l = call float @llvm.floor.f32(float %d)
  %n = call float @llvm.ceil.f32(float %l)
  %t = call float @llvm.trunc.f32(float %n)
  %r = call float @llvm.rint.f32(float %t)
  %x = call float @llvm.maxnum.f32(float %r, float %a)
  %y = call float @llvm.minnum.f32(float %x, float %b)
  %z = call float @llvm.fabs.f32(float %y)
  %k = call float @llvm.copysign.f32(float %z, float %c)
  %g = fneg float %k
  %e = frem float %g, %b
  ret float %e
}
define float @approximate(float %a, float %b) {
  %s = call float @llvm.nvvm.sin.approx.f(float %a)
  %c = call float @llvm.nvvm.cos.approx.f(float %b)
  %d = fdiv arcp afn float %s, %c
  %e = call float @llvm.nvvm.ex2.approx.f(float %d)
  %l = call float @llvm.nvvm.lg2.approx.ftz.f(float %e)
  %r = call float @llvm.nvvm.rsqrt.approx.f(float %l)
  %q = call float @llvm.nvvm.rcp.rn.f(float %r)
  ret float %q
}
define double @double(double %a, double %b, double %c) {
  %s = fsub double %a, %b
  %f = call double @llvm.fma.f64(double %s, double %b, double %c)
  %q = call double @llvm.sqrt.f64(double %f)
  %d = fdiv double %q, 1.0e300
  %x = call double @llvm.maxnum.f64(double %d, double 0x7FF8000000000000)
  %r = call double @llvm.nvvm.add.rz.d(double %x, double %c)
  %n = call double @llvm.nearbyint.f64(double %r)
  ret double %n
}
define half @half(half %a, half %b) {
  %s = fadd half %a, %b
  %m = fmul half %s, 0xH3C01
  %c = fcmp olt half %m, %b
  %r = select i1 %c, half %m, half %a
  ret half %r
}
define <2 x half> @halves(<2 x half> %a, <2 x half> %b) {
  %s = fadd <2 x half> %a, %b
  %m = fmul <2 x half> %s, %b
  %f = call <2 x half> @llvm.fma.v2f16(<2 x half> %m, <2 x half> %a, <2 x half> %b)
  %e = extractelement <2 x half> %f, i32 1
  %r = insertelement <2 x half> %f, half %e, i32 0
  ret <2 x half> %r
}
define <4 x float> @vectors(<4 x float> %a, <4 x float> %b, <4 x i1> %m) {
  %s = fadd <4 x float> %a, %b
  %t = select <4 x i1> %m, <4 x float> %s, <4 x float> %a
  %r = shufflevector <4 x float> %t, <4 x float> %b, <4 x i32> <i32 3, i32 4, i32 1, i32 6>
  ret <4 x float> %r
}
define i32 @conversions(float %f, double %d, half %h, i32 %i, i64 %l, i8 %c, ptr %out) {
  %a = fptosi float %f to i32
  %b = fptoui double %d to i64
  %e = sitofp i64 %l to float
  %g = uitofp i32 %i to double
  %j = fpext half %h to float
  %k = fptrunc double %d to half
  %m = fptrunc double %d to float
  %n = sitofp i8 %c to half
  %o = fptoui float %f to i8
  %p = bitcast float %f to i32
  %q = bitcast i64 %l to double
  %r = trunc i64 %l to i16
  store float %e, ptr %out
  store double %g, ptr %out
  store float %j, ptr %out
  store half %k, ptr %out
  store float %m, ptr %out
  store half %n, ptr %out
  store i8 %o, ptr %out
  store double %q, ptr %out
  store i16 %r, ptr %out
  store i64 %b, ptr %out
  %s = add i32 %a, %p
  ret i32 %s
}
define i32 @comparisons(float %a, float %b, i32 %c, i32 %d, i64 %e, i64 %f, ptr %p, ptr %q) {
  %1 = fcmp oeq float %a, %b
  %2 = fcmp ueq float %a, %b
  %3 = fcmp ogt float %a, %b
  %4 = fcmp uge float %a, %b
  %5 = fcmp ord float %a, %b
  %6 = fcmp uno float %a, %b
  %7 = fcmp one float %a, %b
  %8 = fcmp ule float %a, 0.0
  %9 = icmp slt i32 %c, %d
  %10 = icmp uge i32 %c, %d
  %11 = icmp ne i64 %e, %f
  %12 = icmp ugt i64 %e, 17
  %13 = icmp eq ptr %p, %q
  %a1 = xor i1 %1, %2
  %a2 = xor i1 %a1, %3
  %a3 = and i1 %a2, %4
  %a4 = or i1 %a3, %5
  %a5 = xor i1 %a4, %6
  %a6 = xor i1 %a5, %7
  %a7 = xor i1 %a6, %8
  %a8 = and i1 %a7, %9
  %a9 = xor i1 %a8, %10
  %b1 = xor i1 %a9, %11
  %b2 = or i1 %b1, %12
  %b3 = xor i1 %b2, %13
  %r = sext i1 %b3 to i32
  ret i32 %r
}
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.bitreverse.i32(i32)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.bitreverse.i64(i64)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.ceil.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.rint.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.fabs.f32(float)
declare float @llvm.copysign.f32(float, float)
declare float @llvm.nvvm.sin.approx.f(float)
declare float @llvm.nvvm.cos.approx.f(float)
declare float @llvm.nvvm.ex2.approx.f(float)
declare float @llvm.nvvm.lg2.approx.ftz.f(float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.nvvm.rcp.rn.f(float)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.nvvm.add.rz.d(double, double)
declare double @llvm.nearbyint.f64(double)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)

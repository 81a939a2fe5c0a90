"""CUDA source with a kernel for every function: one thread an operand."""

from __future__ import annotations

from collections.abc import Iterable

from .functions import ARGUMENTS, TYPES, Function

_HEAD = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef unsigned long long u64; typedef long long i64; typedef signed char i8;
typedef unsigned char u8; typedef unsigned short u16;
static __device__ u64 both(float x, float y) { return (u64)__float_as_uint(x) << 32 | __float_as_uint(y); }
static __device__ u64 both(double x, double y) { return (u64)__double_as_longlong(x) * 31 + (u64)__double_as_longlong(y); }
static __device__ u64 with(float x, int n) { return (u64)__float_as_uint(x) << 32 | (unsigned)n; }
static __device__ u64 with(double x, int n) { return (u64)__double_as_longlong(x) * 31 + (u64)n; }
static __device__ u64 of_frexp(float a) { int n = 0; float x = frexpf(a, &n); return with(x, n); }
static __device__ u64 of_frexp(double a) { int n = 0; double x = frexp(a, &n); return with(x, n); }
static __device__ u64 of_modf(float a) { float n; float x = modff(a, &n); return both(x, n); }
static __device__ u64 of_modf(double a) { double n; double x = modf(a, &n); return both(x, n); }
static __device__ u64 of_remquo(float a, float b) { int n; float x = remquof(a, b, &n); return with(x, n & 7); }
static __device__ u64 of_remquo(double a, double b) { int n; double x = remquo(a, b, &n); return with(x, n & 7); }
static __device__ u64 of_sincos(float a) { float s, c; sincosf(a, &s, &c); return both(s, c); }
static __device__ u64 of_sincos(double a) { double s, c; sincos(a, &s, &c); return both(s, c); }
static __device__ u64 of_sincospi(float a) { float s, c; sincospif(a, &s, &c); return both(s, c); }
static __device__ u64 of_sincospi(double a) { double s, c; sincospi(a, &s, &c); return both(s, c); }
static __device__ u64 of_fast_sincos(float a) { float s, c; __sincosf(a, &s, &c); return both(s, c); }
"""


def kernel(function: Function) -> str:
    """The kernel of a function: ``NAME(result *, argument *, ...)``."""
    types = [TYPES[letter][0] for letter in function.arguments]
    pointers = "".join(f", const {t} *{n}_" for t, n in zip(types, ARGUMENTS, strict=False))
    loads = "".join(f" {t} {n} = {n}_[i];" for t, n in zip(types, ARGUMENTS, strict=False))
    result = TYPES[function.result][0]
    body = f"int i = blockIdx.x * blockDim.x + threadIdx.x;{loads} r[i] = {function.call};"
    return f'extern "C" __global__ void {function.name}({result} *r{pointers}) {{ {body} }}\n'


def source(functions: Iterable[Function]) -> str:
    """A whole source file."""
    return _HEAD + "".join(map(kernel, functions))

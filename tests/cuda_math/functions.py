"""The functions of CUDA's mathematics API, by group and signature (CUDA Math API Reference Manual 13.0).

A signature is ``result(arguments)`` in letters of :data:`TYPES`; a name stands for a call of it with all arguments, and a
name with ``=`` for the expression behind it, in which the arguments are ``a b c e``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TYPES = {  # letter -> C++ type, bytes
    "f": ("float", 4),
    "d": ("double", 8),
    "h": ("__half", 2),
    "H": ("__half2", 4),
    "b": ("__nv_bfloat16", 2),
    "B": ("__nv_bfloat162", 4),
    "i": ("int", 4),
    "u": ("unsigned", 4),
    "l": ("long long", 8),
    "m": ("unsigned long long", 8),
    "s": ("short", 2),
    "t": ("unsigned short", 2),
    "c": ("signed char", 1),
    "y": ("unsigned char", 1),
}
ARGUMENTS = "abce"


@dataclass(frozen=True)
class Function:
    """``name``: of the kernel; ``call``: the expression; ``result`` and ``arguments``: letters."""

    group: str
    name: str
    call: str
    result: str
    arguments: str


_UNARY = """acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erfc erfcinv erfcx erf erfinv
exp10 exp2 exp expm1 fabs floor j0 j1 lgamma log10 log1p log2 logb log nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin
sinh sinpi sqrt tan tanh tgamma trunc y0 y1"""
_BINARY = "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot"
_ROUNDINGS = ("rn", "rz", "ru", "rd")


def _each(pattern: str, ways: tuple[str, ...] = _ROUNDINGS) -> str:
    return " ".join(pattern.replace("$", way) for way in ways)


def _standard(f: str, t: str) -> dict[str, str]:
    """The functions of <cmath> for float (suffix f) and double."""

    def with_suffix(names: str) -> str:
        return " ".join(name + f for name in names.split())

    c = TYPES[t][0]
    return {
        f"{t}({t})": with_suffix(_UNARY),
        f"{t}({t}{t})": with_suffix(_BINARY),
        f"{t}({t}{t}{t})": with_suffix("fma norm3d rnorm3d"),
        f"{t}({t}{t}{t}{t})": with_suffix("norm4d rnorm4d"),
        f"i({t})": with_suffix("ilogb") + " isfinite isinf isnan signbit",
        f"l({t})": with_suffix("llrint llround lrint lround"),
        f"{t}({t}i)": with_suffix("ldexp scalbn")
        + f" scalbln{f}=scalbln{f}(a,(long)b) powi{f}=pow{f}(a,({c})b) jn{f}=jn{f}(b&15,a) yn{f}=yn{f}(b&15,a)",
        f"m({t})": f"frexp{f}=of_frexp(a) modf{f}=of_modf(a) sincos{f}=of_sincos(a) sincospi{f}=of_sincospi(a)",
        f"m({t}{t})": f"remquo{f}=of_remquo(a,b)",
    }


_SMALL_COMPARE = "eq ge gt le lt ne equ geu gtu leu ltu neu"
_SMALL_UNARY = "ceil cos exp exp10 exp2 floor log log10 log2 rcp rint rsqrt sin sqrt tanh trunc"


def _small(h: str, vector: str) -> dict[str, str]:
    """Arithmetic and functions of half (h, H) and bfloat16 (b, B), of which the names are the same."""
    two = "__h{}2"
    compare, unary = _SMALL_COMPARE.split(), _SMALL_UNARY.split()
    return {
        f"{h}({h})": "__hneg __habs " + " ".join("h" + n for n in unary),
        f"{h}({h}{h})": "__hadd __hsub __hmul __hdiv __hadd_rn __hsub_rn __hmul_rn __hadd_sat __hsub_sat __hmul_sat"
        " __hmax __hmin __hmax_nan __hmin_nan",
        f"{h}({h}{h}{h})": "__hfma __hfma_sat __hfma_relu",
        f"i({h}{h})": " ".join(f"__h{n}" for n in compare),
        f"i({h})": "__hisnan __hisinf",
        f"{vector}({vector})": " ".join(["__hneg2", "__habs2"] + [f"h2{n}" for n in unary]),
        f"{vector}({vector}{vector})": " ".join(two.format(n) for n in ("add", "sub", "mul"))
        + " __h2div __hadd2_rn __hsub2_rn __hmul2_rn __hadd2_sat __hsub2_sat __hmul2_sat __hmax2 __hmin2 __hmax2_nan __hmin2_nan "
        + " ".join(two.format(n) for n in compare),
        f"{vector}({vector}{vector}{vector})": "__hfma2 __hfma2_sat __hfma2_relu __hcmadd",
        f"u({vector}{vector})": " ".join(f"__h{n}2_mask" for n in compare),
        f"i({vector}{vector})": " ".join(f"__hb{n}2" for n in compare),
    }


def _small_casts(h: str, name: str, of: str, vector: str) -> dict[str, str]:
    """Conversions of half or bfloat16; ``name``: half, bfloat16; ``of``: the same as prefix of bit casts."""
    found: dict[str, str] = {f"f({h})": f"__{name}2float", f"{h}(d)": f"__double2{name}", f"{h}(f)": _each(f"__float2{name}_$")}
    for letter, word in {"i": "int", "u": "uint", "l": "ll", "m": "ull", "s": "short", "t": "ushort"}.items():
        found[f"{letter}({h})"] = _each(f"__{name}2{word}_$")
        found[f"{h}({letter})"] = _each(f"__{word}2{name}_$")
    found[f"c({h})"] = f"__{name}2char_rz"
    found[f"y({h})"] = f"__{name}2uchar_rz"
    found[f"s({h})"] += f" __{of}_as_short"
    found[f"t({h})"] += f" __{of}_as_ushort"
    found[f"{h}(s)"] += f" __short_as_{of}"
    found[f"{h}(t)"] += f" __ushort_as_{of}"
    found[f"{vector}(ff)"] = f"__floats2{name}2_rn"
    found[f"f({vector})"] = "__low2float __high2float"
    found[f"{vector}({vector})"] = f"__lowhigh2highlow __low2{name}2 __high2{name}2"
    found[f"{vector}({vector}{vector})"] = f"__lows2{name}2 __highs2{name}2"
    return found


_INTRINSICS = {
    "f(f)": "__cosf __exp10f __expf __log10f __log2f __logf __saturatef __sinf __tanf "
    + _each("__frcp_$")
    + " "
    + _each("__fsqrt_$")
    + " __frsqrt_rn __tanhf",
    "f(ff)": "__fdividef __powf " + " ".join(_each(f"__f{n}_$") for n in ("add", "sub", "mul", "div")),
    "f(fff)": _each("__fmaf_$") + " " + _each("__fmaf_ieee_$"),
    "m(f)": "__sincosf=of_fast_sincos(a)",
    "d(d)": _each("__drcp_$") + " " + _each("__dsqrt_$"),
    "d(dd)": " ".join(_each(f"__d{n}_$") for n in ("add", "sub", "mul", "div")),
    "d(ddd)": _each("__fma_$"),
}

_CASTS = {
    "f(d)": _each("__double2float_$"),
    "i(d)": _each("__double2int_$") + " __double2hiint __double2loint",
    "u(d)": _each("__double2uint_$"),
    "l(d)": _each("__double2ll_$") + " __double_as_longlong",
    "m(d)": _each("__double2ull_$"),
    "i(f)": _each("__float2int_$") + " __float_as_int",
    "u(f)": _each("__float2uint_$") + " __float_as_uint",
    "l(f)": _each("__float2ll_$"),
    "m(f)": _each("__float2ull_$"),
    "f(i)": _each("__int2float_$") + " __int_as_float",
    "f(u)": _each("__uint2float_$") + " __uint_as_float",
    "f(l)": _each("__ll2float_$"),
    "f(m)": _each("__ull2float_$"),
    "d(i)": "__int2double_rn",
    "d(u)": "__uint2double_rn",
    "d(l)": _each("__ll2double_$") + " __longlong_as_double",
    "d(m)": _each("__ull2double_$"),
    "d(ii)": "__hiloint2double",
    "d(f)": "widened=(double)a",
    "f(c)": "from_char=(float)a",
    "f(y)": "from_uchar=(float)a",
    "d(s)": "from_short=(double)a",
    "c(f)": "to_char=(i8)a",
    "y(f)": "to_uchar=(u8)a",
    "s(d)": "to_short=(short)a",
    "t(d)": "to_ushort=(u16)a",
}

_INTEGERS = {
    "i(i)": "abs __ffs=__ffs(a)",
    "l(l)": "llabs",
    "u(u)": "__brev",
    "m(m)": "__brevll",
    "i(u)": "__clz=__clz((int)a) __popc",
    "i(m)": "__clzll=__clzll((i64)a) __popcll __ffsll=__ffsll((i64)a)",
    "i(ii)": "__hadd __mul24 __mulhi __rhadd div=a/b rem=a%b max min",
    "u(uu)": "__uhadd __umul24 __umulhi __urhadd udiv=a/b urem=a%b umax=max(a,b) umin=min(a,b)",
    "l(ll)": "__mul64hi lldiv=a/b llrem=a%b llmul=a*b llmax=max(a,b) llmin=min(a,b) llshr=a>>(b&63)",
    "m(mm)": "__umul64hi ulldiv=a/b ullrem=a%b ullmax=max(a,b) ullmin=min(a,b) ullshr=a>>(b&63) ullshl=a<<(b&63)",
    "u(iiu)": "__sad",
    "u(uuu)": "__usad __byte_perm __funnelshift_l __funnelshift_lc __funnelshift_r __funnelshift_rc"
    " __fns=__fns(a,b&31,(int)(c%9)-4) __dp4a __dp2a_lo=__dp2a_lo(*(ushort2*)&a,*(uchar4*)&b,c)"
    " __dp2a_hi=__dp2a_hi(*(ushort2*)&a,*(uchar4*)&b,c)",
    "i(iii)": "idp4a=__dp4a(a,b,c) idp2a_lo=__dp2a_lo(a,b,c) idp2a_hi=__dp2a_hi(a,b,c)",
    "i(fff)": "triple=a<b&&b<c",
}

_SIMD_ARITHMETIC = "absdiffs absdiffu add addss addus avgs avgu maxs maxu mins minu sads sadu sub subss subus"
_SIMD_COMPARE = "eq ges geu gts gtu les leu lts ltu ne"
_SIMD = {
    "u(u)": " ".join(f"__v{n}{w}" for w in "24" for n in ("abs", "absss", "neg", "negss")),
    "u(uu)": " ".join(
        f"__v{n}{w}"
        for w in "24"
        for n in (
            *_SIMD_ARITHMETIC.split(),
            *(f"cmp{n}" for n in _SIMD_COMPARE.split()),
            *(f"set{n}" for n in _SIMD_COMPARE.split()),
        )
    )
    + " "
    + " ".join(f"__vi{n}_{t}_relu" for n in ("max", "min") for t in ("s16x2", "s32")),
    "u(uuu)": " ".join(f"__vi{n}3_{t}{r}" for n in ("max", "min") for t in ("s16x2", "s32") for r in ("", "_relu"))
    + " "
    + " ".join(f"__vi{n}3_{t}" for n in ("max", "min") for t in ("u16x2", "u32"))
    + " "
    + " ".join(f"__viadd{n}_{t}{r}" for n in ("max", "min") for t in ("s16x2", "s32") for r in ("", "_relu"))
    + " "
    + " ".join(f"__viadd{n}_{t}" for n in ("max", "min") for t in ("u16x2", "u32")),
}

GROUPS: dict[str, dict[str, str]] = {
    "float": _standard("f", "f"),
    "double": _standard("", "d"),
    "intrinsics": _INTRINSICS,
    "casts": _CASTS,
    "integers": _INTEGERS,
    "simd": _SIMD,
    "half": _small("h", "H"),
    "half_casts": _small_casts("h", "half", "half", "H"),
    "bfloat": _small("b", "B"),
    "bfloat_casts": _small_casts("b", "bfloat16", "bfloat16", "B"),
}


def functions(group: str) -> Iterator[Function]:
    """The functions of a group, each once."""
    for signature, names in GROUPS[group].items():
        result, _, arguments = signature.rstrip(")").partition("(")
        for entry in names.split():
            name, _, call = entry.partition("=")
            kernel = f"{group}_{name.strip('_')}_{arguments}"
            yield Function(group, kernel, call or f"{name}({','.join(ARGUMENTS[: len(arguments)])})", result, arguments)

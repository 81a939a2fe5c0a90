"""Asynchronous stores and reductions of global memory (sm_100), whose end nobody hears of: what is there behind the launch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import oric
import pytest

TARGETS = [("sm_100", 0), ("sm_100a", 3), ("sm_120a", 3)]
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout)
{{
  .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f; .reg .f64 %g;
  ld.param.u64 %d0, [pout]; mov.u32 %r0, %tid.x; sub.u32 %r1, %r0, 7; mov.u32 %r2, 3; cvt.s64.s32 %d1, %r1;
"""
STORES = (
    "gpu.global",
    "sys.global",
    "release.gpu.global",
    "release.sys.global",
    "release.gpu",
    "mmio.release.gpu.global",
    "mmio.release.sys",
)
VALUES = {"u16": ("%h1", 0x1234), "s32": ("%r3", 0x89ABCDEF), "f32": ("%f", 0x40490FDB), "b64": ("%d2", 0x123456789ABCDEF0)}
SIGNED: dict[str, Callable[[int, int], int]] = {"min": min, "max": max, "add": lambda old, a: old + a}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    **SIGNED,
    "inc": lambda old, a: 0 if old >= a else old + 1,
    "dec": lambda old, a: a if old == 0 or old > a else old - 1,
    "and": lambda old, a: old & a,
    "or": lambda old, a: old | a,
    "xor": lambda old, a: old ^ a,
}
FORMS = (
    "relaxed.gpu.global",
    "relaxed.sys.global",
    "release.gpu.global",
    "release.sys.global",
    "mmio.release.sys.global",
    "relaxed.gpu",
    "release.sys",
)


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_stores(target: str, level: int) -> None:
    lines = ["mov.b16 %h1, 0x1234; mov.b32 %r3, 0x89ABCDEF; mov.b32 %f, 0x40490FDB; mov.b64 %d2, 0x123456789ABCDEF0;"]
    places = [(qualifiers, type_) for qualifiers in STORES for type_ in VALUES]
    for at, (qualifiers, type_) in enumerate(places):
        lines.append(f"  st.async.{qualifiers}.{type_} [%d0+{8 * at}], {VALUES[type_][0]};")
    text = HEAD.format(target=target) + "\n".join(lines) + "\n  ret;\n}\n"
    out = np.zeros(len(places), np.uint64)
    oric.sim.load(oric.compile(text, arch=target, opt_level=level).image).launch("k", grid=(1,), block=(1,), args=[out])
    assert [int(value) for value in out] == [VALUES[type_][1] for _, type_ in places]


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_reductions(target: str, level: int) -> None:
    """Each thread adds to the same places; what is there in the end does not depend on their order."""
    places = [(form, op, "b32" if op in ("and", "or", "xor") else "u32") for form in FORMS for op in UNSIGNED]
    places += [(form, op, "s32") for form in FORMS for op in SIGNED]
    places += [(form, "add", type_) for form in FORMS if "global" in form for type_ in ("u64", "s64")]
    lines, want = [], []
    for at, (form, op, type_) in enumerate(places):
        register = "%d1" if type_[1:] == "64" else "%r2" if op in ("inc", "dec") else "%r1"
        lines.append(f"  red.async.{form}.{op}.{type_} [%d0+{8 * at}], {register};")
        operation = (SIGNED if type_[0] == "s" else UNSIGNED)[op]
        bits = int(type_[1:])
        value = 5
        for thread in range(32):
            a = 3 if register == "%r2" else thread - 7
            value = operation(value, a if type_[0] == "s" else a % (1 << bits))
            value = value if type_[0] == "s" else value % (1 << bits)
        want.append(value % (1 << bits))
    text = HEAD.format(target=target) + "\n".join(lines) + "\n  ret;\n}\n"
    out = np.full(len(places), 5, np.uint64)
    oric.sim.load(oric.compile(text, arch=target, opt_level=level).image).launch("k", grid=(1,), block=(32,), args=[out])
    assert [int(value) for value in out] == want

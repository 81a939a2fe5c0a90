# ruff: noqa: E501 (PTX and tables)
"""Atomics and reductions of every space: the sum of what all threads do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oric.ir.text import all_instructions, write

from .support import launch, lowered, name, names, source

ARCHES = [("sm_90", 3), ("sm_90", 0), ("sm_80", 3), ("sm_75", 3), ("sm_75", 0)]
_TYPES: dict[str, Any] = {"u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64,
                          "f32": np.float32, "f64": np.float64}  # fmt: skip
_REGS = {"u32": "r", "s32": "r", "b32": "r", "u64": "d", "s64": "d", "b64": "d", "f32": "f", "f64": "g"}

OPS = [
    *(("add", t) for t in ("u32", "s32", "u64", "f32", "f64")),
    *((op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")),
    *((op, t) for op in ("and", "or", "xor") for t in ("b32", "b64")),
    ("inc", "u32"), ("dec", "u32"), ("exch", "b32"), ("exch", "b64"),
]  # fmt: skip


def _fold(op: str, start: Any, values: list[Any], dtype: Any) -> Any:
    x = start
    for v in values:
        with np.errstate(over="ignore"):
            x = {"add": lambda x=x, v=v: dtype(x + v), "min": lambda x=x, v=v: min(x, v), "max": lambda x=x, v=v: max(x, v),
                 "and": lambda x=x, v=v: x & v, "or": lambda x=x, v=v: x | v, "xor": lambda x=x, v=v: x ^ v,
                 "inc": lambda x=x, v=v: dtype(0) if x >= v else dtype(x + 1),
                 "dec": lambda x=x, v=v: v if x == 0 or x > v else dtype(x - 1), "exch": lambda v=v: v}[op]()  # fmt: skip
    return x


@pytest.mark.row("R2-55")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("form", ["atom", "red"])
@pytest.mark.parametrize("space", ["global", "shared", "generic"])
@pytest.mark.parametrize(("op", "type_"), OPS)
def test_atomics(op: str, type_: str, space: str, form: str, arch: str, level: int) -> None:
    """One variable, 32 threads: the final value, and for `atom` that the old values are a permutation of the history."""
    if op == "exch" and form == "red":
        return
    dtype = _TYPES[type_]
    size = np.dtype(dtype).itemsize
    c = _REGS[type_]
    rng = np.random.default_rng(7)
    raw = rng.integers(0, 50, 33) if op in ("inc", "dec", "add") else rng.integers(0, 2**31 - 1, 33)
    data = raw.astype(dtype)
    if type_ in ("s32", "s64") and op in ("min", "max"):
        data[::2] = -data[::2]
    if op in ("inc", "dec"):
        data[1:] = 9
    move = f"mul.wide.u32 %d20, %i, {size}; add.u64 %d21, %in, %d20; ld.global.b{8 * size} %{c}1, [%d21+{size}]; ld.global.b{8 * size} %{c}2, [%in];"
    begin = f"{move} add.u64 %d22, %out, %d20; setp.eq.u32 %p1, %i, 0;\n"
    sp = f".{space}" if space != "generic" else ""
    if space == "shared":
        begin += (
            f"  .shared .align 8 .b8 cell[16]; mov.u64 %d30, cell;\n @%p1 st.shared.b{8 * size} [%d30+8], %{c}2; bar.sync 0;\n"
        )
        target, finish = "[%d30+8]", f"bar.sync 0; ld.shared.b{8 * size} %{c}4, [%d30+8];"
    else:
        begin += f"  @%p1 st.global.b{8 * size} [%out], %{c}2; membar.gl; bar.sync 0;\n"
        target, finish = "[%out]", f"membar.gl; bar.sync 0; ld.volatile.global.b{8 * size} %{c}4, [%out];"
    instruction = f"atom{sp}.{op}.{type_} %{c}3, {target}, %{c}1;" if form == "atom" else f"red{sp}.{op}.{type_} {target}, %{c}1;"
    end = f"\n  {finish} bar.sync 0; @%p1 st.global.b{8 * size} [%out], %{c}4;"
    if form == "atom":
        end += f" st.global.b{8 * size} [%d22+{size}], %{c}3;"
    out = launch(source(begin + "  " + instruction + end, arch), data, np.zeros(34, dtype), arch, level)
    values = list(data[1:])
    if op == "exch":
        assert sorted([*out[1:33], out[0]]) == sorted(data)
        return
    want = _fold(op, data[0], values, dtype)
    assert out[0] == want, (out[0], want)
    if form == "atom" and op == "add":
        seen = list(out[1:33])
        assert data[0] in seen
        # every old value plus the addend of its thread is another old value or the end
        after = sorted(dtype(o + v) for o, v in zip(seen, values, strict=True))
        assert after == sorted([*[s for k, s in enumerate(sorted(seen)) if k], want])


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("space", ["global", "shared", "generic"])
@pytest.mark.parametrize("bits", [32, 64])
def test_cas(bits: int, space: str, arch: str, level: int) -> None:
    """A counter made of compare-and-swap."""
    c = "r" if bits == 32 else "d"
    sp = f".{space}" if space != "generic" else ""
    size = bits // 8
    init = ".shared .align 8 .b8 cell[8]; mov.u64 %d30, cell;" if space == "shared" else "mov.u64 %d30, %out;"
    ls = "shared" if space == "shared" else "global"
    body = f"""
  {init} setp.eq.u32 %p1, %i, 0; mov.u{bits} %{c}9, 0; @%p1 st.{ls}.b{bits} [%d30], %{c}9; bar.sync 0;
  ld.volatile.{ls}.b{bits} %{c}1, [%d30];
again:
  add.u{bits} %{c}2, %{c}1, 3; mov.b{bits} %{c}3, %{c}1;
  atom{sp}.cas.b{bits} %{c}1, [%d30], %{c}3, %{c}2; setp.ne.u{bits} %p2, %{c}1, %{c}3; @%p2 bra again;
  bar.sync 0; ld.volatile.{ls}.b{bits} %{c}4, [%d30]; mul.wide.u32 %d5, %i, {size}; add.u64 %d6, %out, %d5;
  bar.sync 0; st.global.b{bits} [%d6], %{c}4;
"""
    dtype = np.uint32 if bits == 32 else np.uint64
    out = launch(source(body, arch), np.zeros(1, dtype), np.zeros(32, dtype), arch, level)
    assert (out == 96).all()


ORDERS = ["relaxed.cta", "relaxed.gpu", "relaxed.sys", "acquire.gpu", "release.gpu", "acq_rel.gpu", "acq_rel.sys", "acq_rel.cta"]


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("order", ORDERS)
def test_orders(order: str, arch: str) -> None:
    body = f"atom.{order}.global.add.u32 %r1, [%out], 2; atom.{order}.shared.add.u32 %r2, [cell], 1;"
    if order.startswith(("relaxed", "release")):
        body += f" red.{order}.global.add.u32 [%out+4], 5;"
    out = launch(source(".shared .align 4 .b32 cell;\n" + body, arch), np.zeros(1, np.uint32), np.zeros(2, np.uint32), arch)
    assert out[0] == 64
    assert out[1] == (160 if order.startswith(("relaxed", "release")) else 0)


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_scope_behind_the_space(scope: str, arch: str) -> None:
    """The older order of the qualifiers."""
    body = f"atom.global.{scope}.add.u32 %r1, [%out], 2; red.global.{scope}.max.u32 [%out+4], %i; atom.shared.{scope}.or.b32 %r2, [cell], 1;"
    out = launch(source(".shared .align 4 .b32 cell;\n" + body, arch), np.zeros(1, np.uint32), np.zeros(2, np.uint32), arch)
    assert list(out) == [64, 31]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_half2_add(space: str, arch: str, level: int) -> None:
    """Two half sums at once."""
    ls = space
    init = ".shared .align 8 .b8 cell[8]; mov.u64 %d30, cell;" if space == "shared" else "mov.u64 %d30, %out;"
    body = f"""
  {init} setp.eq.u32 %p1, %i, 0; mov.u32 %r9, 0; @%p1 st.{ls}.b32 [%d30], %r9; bar.sync 0;
  mov.u32 %r1, 0x40003c00; atom.{space}.add.noftz.f16x2 %r2, [%d30], %r1; bar.sync 0;
  ld.volatile.{ls}.b32 %r4, [%d30]; bar.sync 0; add.u64 %d6, %out, %tid4; st.global.b32 [%d6], %r4;
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros(32, np.uint32), arch, level)
    assert (out.view(np.float16).reshape(32, 2) == [32.0, 64.0]).all()


LOOPS = [
    ("add", "f32"),
    ("add", "f64"),
    ("add", "u64"),
    ("min", "s64"),
    ("max", "u64"),
    ("and", "b64"),
    ("xor", "b64"),
    ("exch", "b64"),
]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("place", ["shared", "global"])
@pytest.mark.parametrize(("op", "type_"), LOOPS)
def test_a_generic_address_and_operands_that_overlap(op: str, type_: str, place: str, arch: str, level: int) -> None:
    """The result in the register of the operand, or nowhere; under a guard; the address behind a symbol or in a register."""
    dtype, c = _TYPES[type_], _REGS[type_]
    size = np.dtype(dtype).itemsize
    bits = 8 * size
    start = "cvta.shared.u64 %d22, %d30;" if place == "shared" else "mov.u64 %d22, %out;"
    body = f"""
  .shared .align 8 .b8 cell[64]; mov.u64 %d30, cell; {start}
  mul.wide.u32 %d20, %i, {size}; add.u64 %d21, %in, %d20; ld.global.b{bits} %{c}1, [%d21+{size}]; ld.global.b{bits} %{c}2, [%in];
  setp.eq.u32 %p1, %i, 0; setp.lt.u32 %p2, %i, 8;
  @%p1 st.b{bits} [%d22+16], %{c}2; @%p1 st.b{bits} [%d22+24], %{c}2; bar.sync 0;
  mov.b{bits} %{c}3, %{c}1; @%p2 atom.{op}.{type_} %{c}3, [%d22+16], %{c}3;
  @%p2 atom.{op}.{type_} _, [%d22+24], %{c}1; bar.sync 0;
  @%p1 ld.b{bits} %{c}4, [%d22+16]; @%p1 ld.b{bits} %{c}5, [%d22+24]; bar.sync 0;
  add.u64 %d24, %out, %d20; @%p1 st.global.b{bits} [%out+16], %{c}4; @%p1 st.global.b{bits} [%out+24], %{c}5;
  st.global.b{bits} [%d24+32], %{c}3;
"""
    data = np.random.default_rng(3).integers(1, 50, 33).astype(dtype)
    out = launch(source(body, arch), data, np.zeros(48, dtype), arch, level)
    seen, last, first = out[32 // size : 32 // size + 32], out[16 // size], out[24 // size]
    assert list(seen[8:]) == list(data[9:])  # the guard
    if op == "exch":
        assert sorted([*seen[:8], last]) == sorted(data[:9]) and first in data[1:9]
        return
    assert last == first == _fold(op, data[0], list(data[1:9]), dtype)
    assert data[0] in seen[:8]


@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
def test_loops_stay_whole_until_phase_45(arch: str) -> None:
    """One operation each behind lowering, with the order and the scope of the instruction."""
    body = """
  .shared .align 8 .b8 cell[64]; mov.u64 %d30, cell;
  atom.shared.add.f32 %f1, [cell+8], %f2; red.shared.max.s64 [%d30+16], %d1; atom.acq_rel.sys.add.f64 %g1, [%in+8], %g2;
  red.and.b64 [%in], %d1; atom.exch.b64 %d3, [%in], %d1;
"""
    f = lowered(source(body, arch), arch).functions[0]
    found = [n for n in names(f) if n.startswith("ATOM")]
    far = "CLUSTER" if arch == "sm_90" else "ANY"
    assert found == ["ATOMS.LOOP.ADD.F32", "ATOMS.LOOP.MAX.S64", f"ATOM.{far}.ADD.F64", "ATOM.ANY.AND.64", "ATOM.ANY.EXCH.64"]
    text = write(f)
    assert text.count("order=STRONG.SYS") == 1 and text.count("order=STRONG.GPU") == 2


@pytest.mark.parametrize(("arch", "level"), [(arch, level) for arch, level in ARCHES if arch != "sm_75"])
def test_a_policy_is_of_threads_that_have_one(arch: str, level: int) -> None:
    """Under a guard nobody else is there when the policy becomes a uniform value."""
    body = """
  setp.gt.u32 %p1, %i, 4; mov.u64 %d5, 0x12f0000000000000; selp.u64 %d5, %d5, -1, %p1;
  @%p1 atom.global.add.L2::cache_hint.u32 %r1, [%out], 1, %d5; @%p1 st.global.u32 [%out+4], %r1;
  @%p1 red.global.max.L2::cache_hint.u32 [%out+8], %i, %d5;
"""
    f = lowered(source(body, arch), arch).functions[0]
    assert not any(f.guard[i] for i in all_instructions(f) if name(f, i) == "R2UR")
    blocks = {f.block[i] for i in all_instructions(f) if name(f, i) == "R2UR"}
    assert len(blocks) == 2 and 0 not in blocks
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros(3, np.uint32), arch, level)
    assert out[0] == 27 and out[1] < 27 and out[2] == 31

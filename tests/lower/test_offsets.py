"""Constant offsets of everything that has an address: those that fit the field, those that do not, and negative ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from .support import launch, source

OFFSETS = (
    -1,
    -8,
    -16,
    0x3FFFF0,
    0x400000,
    -0x400000,
    -0x400010,
    0x7FFFF0,
    0x800000,
    -0x800000,
    -0x800010,
    0x7FFFFFF0,
    -0x80000000,
)
EVERYWHERE = ("", ".global", ".shared")
WORDS = 4  # of 64 bits, what an instruction may change


class Form(NamedTuple):
    """``text``: {s} its space, {a} its address; ``spaces``: those it is tried in; ``least``: the first target."""

    text: str
    spaces: tuple[str, ...] = EVERYWHERE
    least: int = 75


FORMS = {
    "load": Form("ld{s}.u64 %d2, [{a}];"),
    "vector": Form("ld{s}.v2.u64 {{%d2, %d3}}, [{a}]; xor.b64 %d2, %d2, %d3;"),
    "store": Form("st{s}.u64 [{a}], %d4;"),
    "strong": Form("ld.acquire.gpu{s}.u32 %r2, [{a}]; st.release.gpu{s}.u32 [{a}], %r3; cvt.u64.u32 %d2, %r2;"),
    "volatile": Form("ld.volatile{s}.u32 %r2, [{a}]; st.volatile{s}.u32 [{a}], %r3; cvt.u64.u32 %d2, %r2;"),
    "of 256 bits": Form("ld.global.v4.u64 {{%d2, %d3, %d5, %d6}}, [{a}]; xor.b64 %d2, %d2, %d5;", (".global",), 100),
    "prefetch": Form("prefetch.global.L2 [{a}]; ld{s}.u32 %r2, [{a}]; cvt.u64.u32 %d2, %r2;", (".global",)),
    "add": Form("atom{s}.add.u32 %r2, [{a}], %r3; cvt.u64.u32 %d2, %r2;"),
    "add64": Form("atom{s}.add.u64 %d2, [{a}], %d4;"),
    "min64": Form("atom{s}.min.s64 %d2, [{a}], %d4;"),
    "or64": Form("atom{s}.or.b64 %d2, [{a}], %d4;"),
    "exch": Form("atom{s}.exch.b32 %r2, [{a}], %r3; cvt.u64.u32 %d2, %r2;"),
    "cas": Form("atom{s}.cas.b32 %r2, [{a}], 7, %r3; cvt.u64.u32 %d2, %r2;"),
    "cas64": Form("atom{s}.cas.b64 %d2, [{a}], 7, %d4;"),
    "cas16": Form("atom{s}.cas.b16 %h2, [{a}], 7, %h3; cvt.u64.u16 %d2, %h2;"),
    "f32": Form("atom{s}.add.f32 %f2, [{a}], %f3; mov.b32 %r2, %f2; cvt.u64.u32 %d2, %r2;"),
    "f64": Form("atom{s}.add.f64 %g2, [{a}], %g3; mov.b64 %d2, %g2;"),
    "f16": Form("atom{s}.add.noftz.f16 %h2, [{a}], %h3; cvt.u64.u16 %d2, %h2;"),
    "f16x2": Form("atom{s}.add.noftz.f16x2 %r2, [{a}], %r3; cvt.u64.u32 %d2, %r2;"),
    "red": Form("red{s}.add.u32 [{a}], %r3;"),
    "red64": Form("red{s}.add.u64 [{a}], %d4;"),
    "red of f32": Form("red{s}.add.f32 [{a}], %f3;"),
    "exch of 128 bits": Form("mov.b128 %q, {{%d4, %d4}}; atom{s}.exch.b128 %q, [{a}], %q; mov.b128 {{%d2, %d3}}, %q;", least=90),
    "vector of floats": Form("atom.global.add.v2.f32 {{%f2, %f4}}, [{a}], {{%f3, %f3}}; mov.b64 %d2, {{%f2, %f4}};",
                             (".global",), 90),
    "copy": Form("cp.async.ca.shared.global [sh], [{a}], 16; cp.async.wait_all; ld.shared.u64 %d2, [sh];", (".global",), 80),
    "copy to": Form("cp.async.ca.shared.global [{a}], [%in], 16; cp.async.wait_all;", (".shared",), 80),
    "mbarrier": Form("mbarrier.init.shared.b64 [{a}], 3; mbarrier.arrive.shared.b64 %d2, [{a}]; mbarrier.inval.shared.b64 [{a}]; "
                     "mov.b64 %d2, 0; st.shared.u64 [{a}], %d2;", (".shared",), 80),
}  # fmt: skip
BODY = """
  .shared .align 32 .b8 sh[64]; .reg .b128 %q;
  mov.u32 %r1, sh; {through} ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%in]; st.shared.v4.u32 [sh], {{%r5, %r6, %r7, %r8}};
  ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%in+16]; st.shared.v4.u32 [sh+16], {{%r5, %r6, %r7, %r8}};
  mov.b64 %d2, 0; mov.b64 %d3, 0; mov.b64 %d4, 0x3ff8000000003c00; mov.u32 %r3, 0x3fc03e00; mov.b32 %f3, 0x40100000;
  mov.b64 %g3, 0x4004000000000000; mov.b16 %h3, 0x4100;
  sub.s64 %d1, %in, %d9; cvt.u32.u64 %r4, %d9; sub.s32 %r1, %r1, %r4;
  {instruction}
  ld{back}.v4.u32 {{%r5, %r6, %r7, %r8}}, [{where}]; st.global.v4.u32 [%out+16], {{%r5, %r6, %r7, %r8}};
  st.global.v2.u64 [%out], {{%d2, %d3}};
"""


def program(form: Form, space: str, offset: int, arch: str, known: bool) -> str:
    """The instruction ``offset`` bytes behind a register; ``known``: what is in the register follows from what is seen."""
    register = "%r1" if space.startswith(".shared") else "%d1"
    through = f"mov.b64 %d9, {offset};" if known else "ld.global.u64 %d9, [%in+32];"
    back, where = (".shared", "sh") if space.startswith(".shared") else (".global", "%in")
    instruction = form.text.format(s=space, a=f"{register}+{offset}" if offset else register)
    return source(BODY.format(through=through, instruction=instruction, back=back, where=where), arch)


def results(form: Form, space: str, offset: int, arch: str, level: int, known: bool) -> list[int]:
    data = np.array([0x40000000_3F804500, 0x3FF00000_12345678, 11, 13, offset & 0xFFFFFFFFFFFFFFFF, 0, 0, 0], np.uint64)
    text = program(form, space, offset, arch, known)
    made: list[int] = launch(text, data, np.zeros(WORDS, np.uint64), arch, level, 1).tolist()
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FORMS)
def test_offsets(name: str) -> None:
    """As with the sum in the register: spaces, targets, levels and offsets in turn."""
    form = FORMS[name]
    number = list(FORMS).index(name)
    for n, arch in enumerate(("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")):
        if int(arch[3:].rstrip("a")) < form.least:
            continue
        cluster = (".shared::cluster",) if form.spaces == EVERYWHERE and int(arch[3:].rstrip("a")) >= 90 else ()
        for space in form.spaces + cluster:
            wanted = results(form, space, 0, arch, 3, False)
            for k, offset in enumerate(OFFSETS):
                if (k + n + number) % 3 == 0 or -16 <= offset < 0:
                    level, known = (3, 0)[(k + n) % 2], (k + n) % 4 < 2
                    assert results(form, space, offset, arch, level, known) == wanted, (arch, space, offset, level, known)


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("offset", [0xFFFC, 0x10000, 0x7FFFFFF0, -4, -0x10000, -0x10004, -0x80000000])
def test_places_behind_a_constant(offset: int, level: int) -> None:
    """What lies outside of a variable is no mistake where nothing comes to it."""
    for arch in ("sm_75", "sm_90a", "sm_120a"):
        body = f"""setp.gt.u32 %p1, %i, 99; mov.u32 %r1, 7; @%p1 bra FAR; bra NEAR; FAR: ld.const.u32 %r1, [table+{offset}];
 ld.param.u32 %r2, [pin+{offset}]; add.u32 %r1, %r1, %r2; NEAR: st.global.u32 [%out], %r1;"""
        module = ".const .u32 table[4] = {1, 2, 3, 4};"
        assert launch(source(body, arch, module), np.zeros(1, np.uint32), np.zeros(1, np.uint32), arch, level, 1) == [7]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
def test_indices_that_a_condition_keeps_out(target: str, level: int) -> None:
    """Constants and parameters are read where the condition holds, and nowhere else."""
    body = """ld.global.u32 %r1, [%in]; mov.u32 %r9, 7; setp.gt.u32 %p1, %r1, 3; @%p1 bra JOIN;
 shl.b32 %r2, %r1, 2; mov.u32 %r3, table; add.u32 %r3, %r3, %r2; ld.const.u32 %r4, [%r3]; add.u32 %r9, %r4, 1;
JOIN:
 setp.gt.u32 %p2, %r1, 1; @%p2 bra END; shl.b32 %r5, %r1, 2; mov.u32 %r6, pin; add.u32 %r6, %r6, %r5; ld.param.u32 %r7, [%r6];
 and.b32 %r7, %r7, 0; add.u32 %r9, %r9, %r7;
END:
 st.global.u32 [%out], %r9;"""
    text = source(body, target, ".const .u32 table[4] = {10, 20, 30, 40};")
    for index, wanted in ((0, 11), (3, 41), (4, 7), (0x10000000, 7), (0xFFFFFFFF, 7)):
        assert launch(text, np.array([index], np.uint32), np.zeros(1, np.uint32), target, level, 1) == [wanted]

"""Sums of negated values: the hardware has no addition whose first two sources both have a sign (observed on an H100)."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.ir import operand as opd
from oric.ir.function import Function, R
from oric.ir.legality import legality_of
from oric_tables import op

from tests.lower.support import source

SUMS = {
    "neg.s32 %t1, %a; sub.s32 %t1, %t1, %b;": lambda a, b, c: -a - b,
    "add.s32 %t1, %a, %b; add.s32 %t1, %t1, %c; neg.s32 %t1, %t1;": lambda a, b, c: -(a + b + c),
    "add.s32 %t1, %a, %b; neg.s32 %t1, %t1; sub.s32 %t1, %t1, %c;": lambda a, b, c: -(a + b) - c,
    "add.s32 %t1, %a, %b; neg.s32 %t1, %t1; add.s32 %t1, %t1, %c;": lambda a, b, c: c - (a + b),
    "shl.b32 %t1, %a, 3; add.s32 %t1, %t1, %b; neg.s32 %t1, %t1;": lambda a, b, c: -(8 * a + b),
    "neg.s32 %t1, %a; shl.b32 %t1, %t1, 2; sub.s32 %t1, %t1, %b;": lambda a, b, c: -4 * a - b,
    "shl.b32 %t2, %b, 1; neg.s32 %t1, %a; sub.s32 %t1, %t1, %t2; sub.s32 %t1, %t1, %c;": lambda a, b, c: -a - 2 * b - c,
    "neg.s32 %t1, %a; neg.s32 %t2, %b; add.s32 %t1, %t1, %t2; add.s32 %t1, %t1, 77;": lambda a, b, c: 77 - a - b,
    "not.b32 %t1, %a; not.b32 %t2, %b; add.s32 %t1, %t1, %t2; add.s32 %t1, %t1, %c;": lambda a, b, c: ~a + ~b + c,
}  # fmt: skip
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a")


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_one_source_of_the_first_two_has_a_sign(target: str, level: int) -> None:
    """The simulator stops at the other instructions, as the hardware does; the results are right."""
    body = "ld.global.s32 %a, [%in]; ld.global.s32 %b, [%in+4]; ld.global.s32 %c, [%in+8];" + "".join(
        f"{text} st.global.u32 [%out+{4 * at}], %t1;" for at, text in enumerate(SUMS)
    )
    places = "mul.lo.u32 %t3, %i, 12; cvt.u64.u32 %d1, %t3; add.u64 %in, %in, %d1;"
    places += f"mul.lo.u32 %t3, %i, {4 * len(SUMS)}; cvt.u64.u32 %d1, %t3; add.u64 %out, %out, %d1;"
    text = source(f".reg .b32 %a, %b, %c, %t<9>; {places} {body}", target)
    data = np.random.default_rng(3).integers(-(2**31), 2**31, (32, 3), dtype=np.int64).astype(np.int32)
    got = np.zeros((32, len(SUMS)), np.int32)
    oric.sim.load(oric.compile(text, arch=target, opt_level=level).image).launch("k", 1, 32, [data, got])
    a, b, c = data.T.astype(np.int64)
    want = np.stack([formula(a, b, c) for formula in SUMS.values()], axis=1)
    assert (got == want.astype(np.uint64).astype(np.uint32).view(np.int32)).all()


def test_passes_and_encoder_refuse_two_signs() -> None:
    """What holds for one source at a time does not for two; the third may have one besides."""
    f = Function("k", "sm_90")
    legal = legality_of("sm_90")
    a, b, c = (opd.reg(f.new_reg(R, 1)) for _ in range(3))
    minus = opd.NEGATE
    assert legal.takes(f, op.IADD3, a | minus, b, c | minus)
    assert legal.takes(f, op.IADD3, a, b | minus, c | minus)
    assert not legal.takes(f, op.IADD3, a | minus, b | minus, c)
    assert not legal.takes(f, op.LEA, a | minus, b | minus, 0)
    assert legal.takes(f, op.LEA, a, b | minus, 0)

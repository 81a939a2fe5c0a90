"""Products in tensor memory that several threads of a warp ask for, each with operands of its own."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

from tests.sim import test_tensor_memory as memory
from tests.sim.tensor_forms import Product, product_kernel

from .tensor_programs import LEVELS


def _by_two_threads() -> str:
    """A product that two threads ask for, the second one into columns from 64 on; whether D counts, others have the opposite
    of what the first one has."""
    text = ".version 9.0\n.target sm_100a\n.address_size 64\n" + product_kernel(Product("f16"))
    text = text.replace("setp.ne.u32 q4, y, 0;", "setp.ne.u32 q4, y, 0; xor.pred q4, q4, q2; setp.lt.u32 q5, t, 2;")
    text = text.replace("@!q2 tcgen05.mma", "shl.b32 y, t, 6; add.u32 y, y, base; @q5 tcgen05.mma").replace(
        "f16 [base]", "f16 [y]"
    )
    return text.replace("@!q2 tcgen05.commit", "@q5 tcgen05.commit").replace("b64 [s+8], 1;", "b64 [s+8], 2;")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("used", [False, True])
def test_each_thread_says_whether_its_matrix_counts(used: bool, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c in memory.cases() if c.product == Product("f16") and c.used == used and c.n <= 64 and c.ctype == "f32")
    module = oric.sim.load(oric.compile(_by_two_threads(), arch="sm_100a", opt_level=level).image)
    monkeypatch.setattr(memory, "module", lambda: module)
    run = memory.Run(case, "integers")
    np.testing.assert_array_equal(run.got, run.terms.sum(axis=2) + run.c)
    if used:
        np.testing.assert_array_equal(run.cells[run.lane, run.column + 64].view(np.float32), run.terms.sum(axis=2))


ELECTED = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u32 a, .param .u64 ad, .param .u64 bd, .param .u32 id, .param .u32 n) {{
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
ld.param.u32 %r1, [a]; ld.param.u64 %d1, [ad]; ld.param.u64 %d2, [bd]; ld.param.u32 %r2, [id]; ld.param.u32 %r3, [n];
mov.u32 %r4, %tid.x; {tested}
elect.sync _|%p2, 0xffffffff;
@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;
@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1;
ret;
}}
"""
TESTED = "setp.lt.u32 %p1, %r4, %r3;"


def test_an_elected_thread_is_not_elected_again() -> None:
    """Neither to have a turn nor for its predicate, which a vote brings into a uniform one; where the rest leave, too."""
    image = oric.compile(ELECTED.format(tested=TESTED), arch="sm_100a").image
    code = disassemble(elf.read(image).functions["k"].text, "sm_100a")
    assert sum("ELECT" in line for line in code) == 1
    assert sum("VOTEU.ANY" in line for line in code) == 2


@pytest.mark.parametrize(("number", "want"), [(5, " UPT"), (6, " !UPT")])
def test_a_predicate_that_is_known_needs_no_vote(number: int, want: str) -> None:
    image = oric.compile(ELECTED.format(tested=f"mov.u32 %r4, 5; setp.eq.u32 %p1, %r4, {number};"), arch="sm_100a").image
    code = disassemble(elf.read(image).functions["k"].text, "sm_100a")
    products = [line for line in code if "UTCHMMA" in line]
    assert len(products) == 2
    assert all(line.endswith(want) for line in products)
    assert not any("VOTEU" in line for line in code)

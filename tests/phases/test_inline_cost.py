"""Functions that are too large to be copied to each of their calls stay functions."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest
from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_functions
from oric.sim import Modes
from oric_tables import knobs

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
THREADS = 32
M32 = 0xFFFFFFFF


def call(name: str) -> str:
    return f"{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), {name}, (a); ld.param.b32 %r1, [r]; }}"


def function(name: str, body: str) -> str:
    return (
        f".func (.param .b32 res) {name}(.param .b32 x)\n{{ .reg .b32 %r<4>; ld.param.b32 %r1, [x]; {body}\n"
        "st.param.b32 [res], %r1; ret; }\n"
    )


def module(functions: str, body: str) -> str:
    return (
        f"{HEAD}{functions}.visible .entry k(.param .u64 out)\n{{ .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [out];\n"
        f"mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n{body}\nst.global.u32 [%d1], %r1; ret; }}\n"
    )


def doubling(levels: int) -> str:
    """Each function calls the one before twice."""
    text = function("f0", "mul.lo.u32 %r1, %r1, 3;")
    for n in range(1, levels):
        text += function(f"f{n}", f"{call(f'f{n - 1}')} add.u32 %r1, %r1, {n}; {call(f'f{n - 1}')} xor.b32 %r1, %r1, {5 * n};")
    return module(text, call(f"f{levels - 1}"))


def doubled(level: int, x: int) -> int:
    if level == 0:
        return 3 * x & M32
    return doubled(level - 1, doubled(level - 1, x) + level & M32) ^ 5 * level


def compiled(text: str) -> tuple[int, list[str]]:
    """Instructions of the kernel and its functions, and the names of those."""
    ((kernel, _),) = compile_functions(text, CompileOptions("sm_90", 3))
    return sum(int(f.length()) for f in (kernel, *kernel.functions)), [f.name for f in kernel.functions]


def test_copies_do_not_double_for_ever() -> None:
    few, kept_of_few = compiled(doubling(8))
    many, kept = compiled(doubling(40))
    assert not kept_of_few and few < 2**8 * 4
    assert kept and many < 40 * knobs.NUMBERS[knobs.INLINE_GROWTH]


@pytest.mark.parametrize("levels", [6, 13, 15])
def test_what_stays_a_function_does_the_same(levels: int) -> None:
    out = np.zeros(THREADS, np.uint32)
    image = oric.compile(doubling(levels), arch="sm_90", verify=True).image
    done = oric.sim.load(image).launch("k", grid=1, block=THREADS, args=[out], modes=Modes(strict=True, memcheck=True))
    assert not done.reports and [int(x) for x in out] == [doubled(levels - 1, t) for t in range(THREADS)]


def large(size: int) -> str:
    return function("large", " ".join(f"mad.lo.u32 %r1, %r1, {2 * n + 3}, {n};" for n in range(size)))


def test_a_large_function_with_one_call_is_copied() -> None:
    assert compiled(module(large(knobs.NUMBERS[knobs.INLINE_GROWTH]), call("large")))[1] == []


def test_a_large_function_with_several_calls_is_copied_while_that_is_little() -> None:
    text = large(knobs.NUMBERS[knobs.INLINE_SMALL] + 8)
    assert compiled(module(text, call("large") * 3))[1] == []
    sites = knobs.NUMBERS[knobs.INLINE_GROWTH] // knobs.NUMBERS[knobs.INLINE_SMALL] + 2
    assert compiled(module(text, call("large") * sites))[1] == ["$k$large"]
    assert compiled(module(function("small", "add.u32 %r1, %r1, 7;"), call("small") * 2 * sites))[1] == []

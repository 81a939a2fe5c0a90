"""Code of divisions that a kernel has once and calls gives what copies of it give, to the bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import oric
import pytest
from oric.driver.options import CompileOptions, Extras
from oric.driver.pipeline import compile_functions
from oric.ir.text import all_instructions
from oric.sim import Modes
from oric.support import elf
from oric_tables import knobs, ops
from oric_tables.macros import SHARED
from oric_tables.op import CALL_REL, CALL_REL_R
from oric_tables.targets import TARGETS

from . import harness
from .support import name, source

# Instruction -> the macro that is shared, its register's letter and bytes.
INSTRUCTIONS = {
    "div.rn.f64": ("DDIV.ANY", "%g", 8),
    "div.rn.f32": ("FDIV.ANY", "%f", 4),
    "rcp.rn.f32": ("FRCP.ANY", "%f", 4),
    "sqrt.rn.f32": ("FSQRT.ANY", "%f", 4),
    "sqrt.rn.f64": ("DSQRT.ANY", "%g", 8),
    "rsqrt.approx.f64": ("DRSQ.ANY", "%g", 8),
    "div.u64": ("UDIV64.ANY", "%d", 8),
    "div.s64": ("SDIV64.ANY", "%d", 8),
    "rem.u64": ("UREM64.ANY", "%d", 8),
    "rem.s64": ("SREM64.ANY", "%d", 8),
}
TARGETS_RUN = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
FEW = 40  # registers: too few for calls
RESULTS = 5
WEAK = 2  # binding of a symbol
THREADS = 96


def kernel(instruction: str, arch: str) -> str:
    """Operands of each thread's own; even and odd threads compute the same by different instructions, apart from each other."""
    _, letter, size = INSTRUCTIONS[instruction]
    form = instruction.rpartition(".")[2]
    x = [f"{letter}{20 + n}" for n in range(2 + RESULTS)]
    steps = [(0, 1), (1, 0), (2, 1), (3, 2), (0, 3)]

    def compute(order: list[int]) -> str:
        given = [f"{x[a]}" if "div" not in instruction and "rem" not in instruction else f"{x[a]}, {x[b]}" for a, b in steps]
        return "\n".join(f"  {instruction} {x[2 + k]}, {given[k]};" for k in order)

    stores = "\n".join(f"  st.global.{form} [%d2+{size * k}], {x[2 + k]};" for k in range(RESULTS))
    return source(
        f"""
  mul.wide.u32 %d1, %i, {2 * size}; add.u64 %d1, %in, %d1;
  mul.wide.u32 %d2, %i, {RESULTS * size}; add.u64 %d2, %out, %d2;
  ld.global.{form} {x[0]}, [%d1]; ld.global.{form} {x[1]}, [%d1+{size}];
  and.b32 %r1, %i, 1; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $even;
{compute([1, 0, 2, 3, 4])}
  bra $met;
$even:
{compute([0, 1, 2, 3, 4])}
$met:
{stores}
""",
        arch,
    )


def operands(instruction: str) -> Any:
    """Special values and others, so that threads of a warp need the code and others do not."""
    size = INSTRUCTIONS[instruction][2]
    rng = np.random.default_rng(size)
    word = {4: np.uint32, 8: np.uint64}[size]
    if "64" in instruction and "f" not in instruction:
        found = rng.integers(0, 1 << 64, (THREADS, 2), np.uint64, False) >> rng.integers(0, 64, (THREADS, 2), np.uint64)
        return np.where(rng.random((THREADS, 2)) < 0.2, np.uint64(0) - found, found)
    special = np.array(harness.FLOATS[8 * size], word)
    ordinary = (rng.random((THREADS, 2)) * 100 - 50).astype({4: np.float32, 8: np.float64}[size]).view(word)
    return np.where(rng.random((THREADS, 2)) < 0.3, rng.choice(special, (THREADS, 2)), ordinary)


def launched(text: str, arch: str, level: int, limit: int | None, data: Any) -> Any:
    image = oric.compile(text, arch=arch, opt_level=level, maxrregcount=limit).image
    out = np.zeros((THREADS, RESULTS), data.dtype)
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", (1, 1, 1), (THREADS, 1, 1), [data, out], modes=modes)
    assert not done.reports, done.reports
    return out


def test_every_macro_that_may_be_shared_is_tried() -> None:
    assert {ops.OPS[number].name for number in SHARED} == {macro for macro, _, _ in INSTRUCTIONS.values()}


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
@pytest.mark.parametrize(("arch", "level"), [(arch, (0, 3)[n % 2]) for n, arch in enumerate(TARGETS_RUN)])
def test_calls_give_what_copies_give(instruction: str, arch: str, level: int) -> None:
    text, data = kernel(instruction, arch), operands(instruction)
    assert (launched(text, arch, level, None, data) == launched(text, arch, level, FEW, data)).all()


@pytest.mark.measure
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("arch", TARGETS_RUN)
@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_calls_give_what_copies_give_at_every_level(instruction: str, arch: str, level: int) -> None:
    test_calls_give_what_copies_give(instruction, arch, level)


def calls(text: str, arch: str, **options: Any) -> int:
    """How many calls there are in a kernel."""
    (code, _), *_ = compile_functions(text, CompileOptions(arch, 3, **options))
    return sum(code.op[i] in (CALL_REL, CALL_REL_R) for i in all_instructions(code))


@pytest.mark.row("R2-59")
@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_the_code_stands_once_behind_the_kernel(instruction: str) -> None:
    text = kernel(instruction, "sm_90")
    (code, encoded), *_ = compile_functions(text, CompileOptions("sm_90", 3))
    assert [f.name for f in code.functions] == [name_ for name_, _, _ in encoded.functions]
    assert [f.name.partition("_$")[0] for f in code.functions] == ["$__internal_0"]
    assert sum(name(code, i) == "CALL.REL" for i in all_instructions(code)) >= knobs.NUMBERS[knobs.SHARED_COPIES]
    helper = {ops.OPS[number].name: row[0] for number, row in SHARED.items()}[INSTRUCTIONS[instruction][0]]
    (symbol,) = [s for s in elf.read(oric.compile(text, arch="sm_90").image).symbols if "internal" in s.name]
    assert (symbol.name, symbol.info >> 4) == (f"$__internal_0_${helper}", WEAK)
    assert symbol.size == len(encoded.words) - symbol.value


def test_the_code_has_no_frame_beside_one_of_the_kernel() -> None:
    text = kernel("div.rn.f64", "sm_80").replace(".reg .b64 %in;", ".local .b8 room[64]; .reg .b64 %in;")
    used = "mov.u64 %d9, room; add.u64 %d9, %d9, %tid8; st.local.u64 [%d9], %d1; ld.local.u64 %d1, [%d9];"
    text = text.replace("$met:", f"$met: {used}")
    cubin = elf.read(oric.compile(text.replace("\n  ret;", "  st.global.u64 [%out], %d1;\n  ret;"), arch="sm_80").image)
    sizes = [record.words() for record in cubin.records if record.name == "FRAME_SIZE"]
    frames = {cubin.symbols[number].name.partition("_$")[0]: size for number, size in sizes}
    assert frames == {"k": 64, "$__internal_0": 0}


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_the_code_has_no_barrier_of_convergence(instruction: str) -> None:
    """Those of its callers are in use around the call."""
    (code, _), *_ = compile_functions(kernel(instruction, "sm_90"), CompileOptions("sm_90", 3))
    assert code.functions
    assert not {name(f, i) for f in code.functions for i in all_instructions(f)} & {"BSSY", "BSYNC", "BREAK", "WARPSYNC"}


DIVISORS = (3, 5, 6, 7, 9, 10)


def executed(text: str, arch: str, numerators: Any) -> int:
    """Instructions of a warp whose threads divide these by several numbers, one division behind the other."""
    out = np.zeros(32, np.float32)
    image = oric.compile(text, arch=arch).image
    done = oric.sim.load(image).launch("k", (1, 1, 1), (32, 1, 1), [numerators, out], modes=Modes(strict=True))
    want = np.float32(0) * numerators
    for divisor in DIVISORS:
        want = want + numerators / np.float32(divisor)
    assert (out.view(np.uint32) == want.view(np.uint32)).all()
    return int(done.warp_instructions)


@pytest.mark.parametrize("arch", TARGETS_RUN)
def test_zeros_need_few_instructions_and_their_threads_wait_for_the_others(arch: str) -> None:
    """Zeros take the way out at once; what follows the division runs once for all threads."""
    lines = ["add.u64 %d1, %in, %tid4; ld.global.f32 %f1, [%d1]; add.u64 %d2, %out, %tid4; mul.f32 %f3, %f1, 0f00000000;"]
    lines += [f"mov.b32 %f2, {float_bits(n)}; div.rn.f32 %f4, %f1, %f2; add.f32 %f3, %f3, %f4;" for n in DIVISORS]
    lines += ["sin.approx.f32 %f9, %f3; st.volatile.global.f32 [%d2], %f9;"] * 200
    text = source("\n".join([*lines, "st.global.f32 [%d2], %f3;"]), arch)
    zeros, tiny = np.zeros(32, np.float32), np.full(32, 1e-40, np.float32)
    mixed = np.where(np.arange(32) % 3, -zeros, tiny).astype(np.float32)
    plain = executed(text, arch, np.full(32, 7, np.float32))
    assert plain < executed(text, arch, zeros) < plain + 20 * len(DIVISORS)
    assert executed(text, arch, mixed) < plain + 80 * len(DIVISORS)


def float_bits(value: float) -> str:
    return f"0f{np.float32(value).view(np.uint32):08X}"


def test_few_copies_stay_copies() -> None:
    few = source("ld.global.f64 %g1, [%in]; " + " ".join(f"div.rn.f64 %g{n + 1}, %g{n}, 0d4008000000000000;" for n in range(1, 4))
                 + " st.global.f64 [%out], %g4;")  # fmt: skip
    assert calls(few, "sm_90") == 0
    assert calls(few.replace("%g2, %g1,", "%g2, %g1, %g1; div.rn.f64 %g2, %g2,"), "sm_90") == 4


def test_where_registers_are_few_there_are_copies() -> None:
    text = kernel("div.rn.f64", "sm_90")
    assert calls(text, "sm_90", maxrregcount=FEW) == 0
    assert calls(text, "sm_90", maxrregcount=64) > 0


def test_objects_and_functions_have_copies() -> None:
    text = kernel("div.rn.f64", "sm_90")
    assert calls(text, "sm_90", extras=Extras(relocatable=True)) == 0


@pytest.mark.sampled(5)
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_the_code_changes_no_more_than_is_said_on_any_target(instruction: str, level: int) -> None:
    """The compiler refuses to make code that does."""
    for arch in TARGETS:
        assert oric.compile(kernel(instruction, arch), arch=arch, opt_level=level).image


def test_values_beside_calls_of_functions_live_on() -> None:
    """A kernel with calls of both kinds: the stack pointer and what is kept go through either."""
    module = """
.func (.param .f64 r) twice(.param .f64 a, .param .u64 fuel)
{
  .reg .f64 %x<3>; .reg .u64 %n; .reg .pred %q; .local .align 8 .b8 room[32];
  ld.param.f64 %x1, [a]; ld.param.u64 %n, [fuel]; st.local.f64 [room+8], %x1;
  setp.eq.u64 %q, %n, 0; @%q bra $end; sub.u64 %n, %n, 1;
  { .param .f64 b; .param .u64 c; .param .f64 s; st.param.f64 [b], %x1; st.param.u64 [c], %n;
    call (s), twice, (b, c); ld.param.f64 %x1, [s]; }
$end: ld.local.f64 %x2, [room+8]; add.f64 %x1, %x1, %x2; st.param.f64 [r], %x1; ret;
}
"""
    call = """
  {{ .param .f64 b; .param .u64 c; .param .f64 s; st.param.f64 [b], {0}; st.param.u64 [c], 3;
    call (s), twice, (b, c); ld.param.f64 {0}, [s]; }}
"""
    body = "add.u64 %d1, %in, %tid8; ld.global.f64 %g1, [%d1]; add.u64 %d2, %out, %tid8; mov.f64 %g2, 0d4014000000000000;\n"
    for n, following in pairwise(range(1, 7)):
        body += f"div.rn.f64 %g{10 + following}, %g{n if n == 1 else 10 + n}, %g2;" + call.format(f"%g{10 + following}")
    body += "add.f64 %g3, %g16, %g1; add.f64 %g3, %g3, %g12; st.global.f64 [%d2], %g3;"
    data = np.linspace(1, 2, 32)
    x, kept = data, []
    for _ in range(5):
        x = x / 5
        x = x * 5  # four times itself and once at the bottom
        kept.append(x)
    want = kept[4] + data + kept[0]
    for arch in TARGETS_RUN:
        for level in (0, 3):
            image = oric.compile(source(body, arch, module), arch=arch, opt_level=level).image
            out = np.zeros(32)
            done = oric.sim.load(image).launch("k", (1, 1, 1), (32, 1, 1), [data, out], modes=Modes(strict=True, memcheck=True))
            assert not done.reports, done.reports
            assert (out == want).all(), (arch, level, out - want)

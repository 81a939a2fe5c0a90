"""Phase 1, the recipes of NvOpt levels, and how far phase 22 goes by them: loops are unrolled (without: test_unroll)."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.cli import main
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.function import control_flow
from oric.ir.text import all_instructions
from oric.phases.manager import list_phases
from oric.phases.recipes import recipe_of, recipes_of
from oric.sim import Modes
from oric_tables import knobs
from oric_tables.ops import op
from oric_tables.phases import NVOPT_LEVELS, PHASES, RECIPES

from tests.e2e.test_compile_and_run import MODES, run
from tests.kernels import cases

LEVELS = range(NVOPT_LEVELS)
KERNEL = """.version 8.0
.target sm_75
.address_size 64
{module}
.visible .entry k(.param .u64 p){entry}
{{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  mov.f32 %f1, 0f00000000; mov.u32 %r2, {start}; mov.u64 %d3, %d1; mov.u32 %r3, 0;
L: {body}
  ld.global.f32 %f2, [%d3]; fma.rn.f32 %f1, %f2, %f1, %f2; add.u64 %d3, %d3, 128; {more}
  add.u32 %r2, %r2, {step}; setp.{cmp} %p1, %r2, {end}; @%p1 bra L;
  st.global.f32 [%d1], %f1; st.global.u32 [%d1+8192], %r2; st.global.u32 [%d1+8320], %r3;
  ret;
}}
"""
PLAIN = {"module": "", "entry": "", "body": "", "more": "", "start": "0", "step": "1", "cmp": "lt.u32", "end": "12"}


def text(**changes: str) -> str:
    return KERNEL.format(**{**PLAIN, **changes})


def options(level: int | None, target: str = "sm_90", opt_level: int = 3) -> CompileOptions:
    return CompileOptions(target, opt_level, nvopt=level, verify=True)


def shape(source: str, level: int | None, target: str = "sm_90") -> tuple[int, int]:
    """How many loads the code has, and how many loops."""
    ((f, _),) = compile_functions(source, options(level, target))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    return sum(name.startswith("LDG") for name in names), control_flow(f).loops().count


def result(image: bytes, rounds: int, last: int, more: int) -> None:
    """A launch of one warp gives what the loop says."""
    data = np.zeros(8320 // 4 + 32, np.float32)
    data[: 32 * rounds] = np.arange(32 * rounds) % 7 / 8
    expected = np.zeros(32, np.float32)
    for n in range(rounds):
        value = data[32 * n : 32 * n + 32].copy()
        expected = (value.astype(np.float64) * expected + value).astype(np.float32)
    module = oric.sim.load(image)
    buffer = data.copy()
    done = module.launch("k", grid=1, block=32, args=[buffer], modes=Modes(strict=True))
    assert [str(r) for r in done.reports] == []
    assert np.array_equal(buffer[:32], expected)
    words = buffer.view(np.uint32)
    assert set(words[2048:2080]) == {last} and set(words[2080:2112]) == {more}


@pytest.mark.row("R2-20")
def test_looking_up_a_recipe_gives_what_a_search_gives() -> None:
    """By hash, by bisection in the sorted table and one after another, for every phase and beyond."""
    indices = [recipe.phase for recipe in RECIPES]
    assert indices == sorted(set(indices))
    for phase in range(-1, len(PHASES) + 1):
        searched = next((recipe for recipe in RECIPES if recipe.phase == phase), None)
        at = bisect_left(indices, phase)
        halved = RECIPES[at] if at < len(RECIPES) and RECIPES[at].phase == phase else None
        assert recipe_of(phase) is searched is halved


@pytest.mark.row("R2-19", "R2-20")
@pytest.mark.parametrize("level", [None, *LEVELS])
def test_the_level_decides_which_phases_run(level: int | None) -> None:
    """Those that the dump shows are those of the table, and --list-phases says so; without a level all run."""
    ran: list[int] = []
    made = options(level)
    made.dump, made.dump_sink = ("all",), lambda text: ran.append(int(text.split(" after phase ")[1].split()[0]))
    compile_text(text(), made)
    off = {recipe.phase for recipe in RECIPES if level is not None and not recipe.levels[level]}
    assert set(ran) == {phase.index for phase in PHASES if phase.function and phase.index not in off}
    assert set(ran) == {index for index, _, runs in list_phases(3, nvopt=level) if runs}
    assert bool(off) == (level in (0, 1, 2))


@pytest.mark.row("R2-19")
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_levels_unroll_loops(target: str) -> None:
    """Twelve rounds: without a level -O3 leaves no loop, 0 leaves it alone, 3 makes turns of four, 4 of six, 5 none."""
    shapes = [shape(text(), level, target) for level in (None, *LEVELS)]
    assert shapes == [(12, 0), (1, 1), (1, 1), (1, 1), (4, 1), (6, 1), (12, 0)]
    for level in (0, 3, 4, 5):
        result(compile_text(text(), options(level, target)).image, 12, 12, 0)


@pytest.mark.row("R2-19", "R3-10")
def test_the_documented_factor_is_the_most() -> None:
    """Thirty rounds at the last level: two of fifteen."""
    assert shape(text(end="30"), NVOPT_LEVELS - 1) == (knobs.NUMBERS[knobs.UNROLL_FACTOR_DEFAULT], 1) == (15, 1)


LOOPS: list[tuple[dict[str, str], tuple[int, int, int], int]] = [
    # what the loop is; rounds, the counter behind them, what more counts; rounds one behind the other at level 3
    ({"start": "10", "step": "-2", "cmp": "gt.s32", "end": "-6"}, (8, -6, 0), 4),
    ({"start": "5", "step": "3", "cmp": "ne.u32", "end": "14"}, (3, 14, 0), 3),
    ({"end": "13"}, (13, 13, 0), 1),
    ({"end": "1"}, (1, 1, 0), 1),
    ({"more": "add.u32 %r3, %r3, %r2;", "end": "6"}, (6, 6, 15), 3),
    ({"more": "setp.gt.u32 %p2, %r2, 2; @%p2 add.u32 %r3, %r3, 2;", "end": "8"}, (8, 8, 10), 4),
    ({"body": "mov.u32 %r4, %r3;", "more": "add.u32 %r3, %r4, 5;", "end": "8"}, (8, 8, 40), 4),
    ({"more": "shl.b32 %r5, %r2, 1; xor.b32 %r3, %r3, %r5;", "end": "4"}, (4, 4, 4 ^ 2 ^ 6), 4),
]


@pytest.mark.row("R2-19")
@pytest.mark.parametrize(("changes", "expected", "copies"), LOOPS)
def test_rounds_are_counted_and_carried(changes: dict[str, str], expected: tuple[int, int, int], copies: int) -> None:
    """Counters up, down and of steps; values carried from round to round, also under a guard and through a copy."""
    rounds, last, more = expected
    source = text(**changes)
    assert shape(source, 3)[0] == copies
    for level, opt_level in ((3, 3), (5, 1), (5, 2), (5, 3), (3, 0)):
        result(compile_text(source, options(level, opt_level=opt_level)).image, rounds, last & 0xFFFFFFFF, more)


NOUNROLL = '.pragma "nounroll";'


@pytest.mark.row("R2-19")
@pytest.mark.parametrize(
    "changes",
    [
        {"module": NOUNROLL}, {"entry": NOUNROLL}, {"body": NOUNROLL},
        {"more": "activemask.b32 %r4;"}, {"more": "atom.global.add.u32 %r4, [%d1+8320], 0;"}, {"more": "bar.sync 0;"},
        {"more": "ld.volatile.global.u32 %r4, [%d1];"}, {"end": "%r1"}, {"start": "%r1"}, {"more": "ld.global.u32 %r2, [%d1];"},
    ],
    ids=lambda changes: next(iter(changes.values())).split()[0],
)  # fmt: skip
def test_loops_that_stay(changes: dict[str, str]) -> None:
    """What a pragma forbids to unroll, what threads do together or wait for, and rounds that nobody can count."""
    source = text(**changes)
    assert shape(source, 5)[0] == shape(source, 0)[0]


@pytest.mark.row("R2-19")
def test_a_pragma_comes_along_when_a_function_is_inlined() -> None:
    function = """.func (.reg .u32 %o) f(.reg .u32 %i) {{ .reg .u32 %c; .reg .pred %q; mov.u32 %o, %i; mov.u32 %c, 0;
      M: {} add.u32 %o, %o, %o; xor.b32 %o, %o, 5; add.u32 %c, %c, 1; setp.lt.u32 %q, %c, 8; @%q bra M; ret; }}"""
    loops = {}
    for pragma in ("", NOUNROLL):
        source = text(module=function.format(pragma), start="%r1")
        source = source.replace("  ret;", "  call (%r4), f, (%r1); st.global.u32 [%d1], %r4; ret;")
        loops[pragma] = shape(source, 5)[1]
    assert loops == {"": 1, NOUNROLL: 2}


@pytest.mark.parametrize("body", [f"{NOUNROLL} L: bra L;", f"{NOUNROLL} ret;", f"bra L; {NOUNROLL} L: ret; {NOUNROLL}"])
def test_a_pragma_where_no_block_is(body: str) -> None:
    compile_text(f".version 8.0\n.target sm_90\n.address_size 64\n.entry f() {{ {body} }}", options(3))


@pytest.mark.row("R2-19")
@pytest.mark.parametrize("level", [-1, 6, 99])
def test_a_level_that_there_is_not(level: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = f"Invalid nvopt level : {level}."
    (tmp_path / "a.ptx").write_text(text())
    assert main(["--nvopt-level", str(level), str(tmp_path / "a.ptx"), "-o", str(tmp_path / "a.cubin")]) == 255
    assert capsys.readouterr().err == f"oric: error: {message}\n" and not (tmp_path / "a.cubin").exists()
    for refuse in (lambda: CompileOptions(nvopt=level), lambda: recipes_of(level)):
        with pytest.raises(ValueError, match=message.replace(".", r"\.")):
            refuse()


def test_the_command_line_passes_the_level_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.ptx").write_text(text())
    sizes = {}
    for level in ("0", "5"):
        assert main(["--nvopt-level", level, "-arch", "sm_90", str(tmp_path / "a.ptx"), "-o", str(tmp_path / "a.cubin")]) == 0
        sizes[level] = (tmp_path / "a.cubin").stat().st_size
    assert sizes["0"] < sizes["5"]
    capsys.readouterr()
    assert main(["--list-phases", "--nvopt-level", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[13].endswith("runs") and lines[22].endswith("-") and lines[63].endswith("-")


@pytest.mark.row("R2-19")
@pytest.mark.parametrize("file", cases.files())
def test_kernels_at_the_outermost_levels(file: str) -> None:
    """The last case of every kernel of a file."""
    last = {case.build()[0].kernel: case for case in cases.CASES if case.file == file}
    for level, target in ((0, "sm_90"), (5, "sm_80")):
        image = compile_text(cases.ptx(file, target), options(level, target)).image
        for case in last.values():
            run(case, image, MODES[-1])

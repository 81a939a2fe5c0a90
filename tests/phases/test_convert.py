"""Phase 5: which operations become others, on which targets; the documented dispatch behind it."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import numpy as np
import pytest
from oric.driver import CompileOptions, compile_text
from oric.ir.function import Function
from oric.ir.text import all_instructions
from oric.lower import convert
from oric.support.diagnostics import InternalError
from oric_tables import conversions as generated
from oric_tables import dispatch as documented
from oric_tables import op, ops
from oric_tables.targets import TARGETS as ARCHES
from oricgen.outputs import lowering
from oricgen.tables import conversions, dispatch

from tests import specification
from tests.ir.functions import context
from tests.lower import support
from tests.lower.support import launch, lowered, name, names

RUNTIME = specification.ROOT / "runtime/oric"
SPEC = specification.spec()
ROWS = conversions.load(SPEC)
ABSENT = conversions.absent(SPEC)
CASES = dispatch.load(SPEC).by_id
CONVERTED = {row.id for row in ROWS}


def source(body: str, arch: str) -> str:
    """PTX of a kernel, of the version that has all targets."""
    return support.source(body, arch).replace(".version 8.6", ".version 9.0")


def case_of(number: int) -> int:
    """The documented id of an operation, -1 of a macro."""
    found = ops.OPS[number]
    assert found is not None
    return found.word & 0xFFF if found.isas else -1


@cache
def written() -> dict[int, set[str]]:
    """Documented id -> the encoding models on which a rule or a template writes an operation of it, or phase 5 does."""
    out: dict[int, set[str]] = {}
    for row in ROWS:
        if row.to is not None:
            out.setdefault(case_of(row.to.number), set()).update(row.isas)
    for compiled in lowering.compiled(SPEC).values():
        rules = [rule for _, _, rule in compiled.rules]
        for alternative in [a for rule in rules for a in rule[2]] + [a for rows in compiled.named.values() for a in rows]:
            for line in alternative[-1]:
                if not isinstance(line, int):
                    models = set(ops.ISAS if alternative[0] is None else alternative[0])
                    out.setdefault(case_of(line[0]), set()).update(models if line[5] is None else models & set(line[5]))
    return out


# -- the dispatch ------------------------------------------------------------------------------------------


@pytest.mark.row("R2-40")
def test_every_case_is_converted_or_passes_or_says_why_there_is_none() -> None:
    """No rule and no template writes what is absent; what is neither absent nor converted is written by one.

    A new rule may make a case of an absent one: its id goes from ``absent`` of conversions.yaml then.
    """
    assert set(ABSENT) | CONVERTED <= set(CASES) and not set(ABSENT) & CONVERTED
    assert sorted(set(ABSENT) & set(written())) == []
    assert sorted(set(CASES) - set(ABSENT) - CONVERTED - set(written())) == []


@pytest.mark.row("R2-40")
def test_no_module_in_front_of_phase_5_names_an_absent_operation() -> None:
    """Beside the rules, code of lowering and of the passes that run before makes instructions: by the operations' names."""
    behind = ("turns.py", "bankwords.py")  # phases of their own, 79 and behind allocation
    modules = [
        *(p for p in (RUNTIME / "lower").glob("*.py") if p.name not in behind),
        *(RUNTIME / "phases" / f"{name}.py" for name in ("inline", "flow", "control")),
    ]
    found = {
        alias.name
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "oric_tables.op"
        for alias in node.names
    }
    numbers = {getattr(op, name) for name in found}
    assert op.BRA in numbers and op.RETURN in numbers
    assert not {case_of(number) for number in numbers} & set(ABSENT)


@pytest.mark.row("R2-40")
def test_what_passes_is_there_on_every_model_that_it_is_written_for() -> None:
    """Where a model lacks all operations of a case, it is converted or nothing writes it there."""
    have: dict[int, set[str]] = {}
    for found in ops.OPS:
        if found is not None:
            have.setdefault(found.word & 0xFFF, set()).update(found.isas)
    for one, models in written().items():
        if one >= 0 and not models <= have[one]:
            rows = [row for row in ROWS if row.id == one]
            assert models - have[one] <= {isa for row in rows for isa in row.isas}, one


@pytest.mark.row("R2-40")
def test_the_table_of_the_compiler_is_the_specification() -> None:
    for arch in generated.CASES:
        numbers = {row.op.number: row.id for row in ROWS if arch in row.isas}
        assert {number: case for number, case in enumerate(convert.cases_of(arch)) if case} == numbers
    for row in ROWS:
        assert row.id == (72 if row.op.name == "RETURN" else case_of(row.op.number))
        assert row.predication == documented.dispatch(row.id, flags=1).predication


@pytest.mark.row("R2-40", "R1-36")
def test_the_compiler_goes_by_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its case a minimum of sm_80 stays what that target does not have, and is refused with its place."""
    text = source("  ld.global.u32 %r1, [%in];\n  min.s32 %r2, %r1, 7;\n  st.global.u32 [%out], %r2;", "sm_80")
    compile_text(text, CompileOptions("sm_80"))
    monkeypatch.setitem(generated.CASES, "sm_80", bytes(len(generated.CASES["sm_80"])))
    convert.cases_of.cache_clear()
    try:
        with pytest.raises(InternalError, match=r"phase 5 ConvertUnsupportedOps: sm_80 has no VIMNMX: 'VIMNMX .*' from line 12 "):
            compile_text(text, CompileOptions("sm_80"))
    finally:
        convert.cases_of.cache_clear()


# -- one conversion after the other ------------------------------------------------------------------------


def converted(body: str, arch: str) -> tuple[list[str], convert.Converter, Function]:
    """The operations of a kernel's body behind phase 5, and what has converted them."""
    (f,) = lowered(source(body, arch), arch).functions
    before = names(f)
    ctx = context(arch)
    converter = convert.Converter(f, ctx, convert.cases_of(ARCHES[arch].isa_name))
    for b in range(f.blocks()):
        converter.convert_block(b)
    assert names(f) != before
    convert.convert_unsupported_ops(f, ctx)  # nothing is left
    assert ctx.stats.get("operations converted", 0) == 0
    return names(f), converter, f


# Body, target, what was lowered, what it becomes: an operation of each row that its family does.
BODIES: list[tuple[str, str, str, list[str]]] = [
    ("cvt.rn.f32.s32 %f1, %r1;", "sm_90", "I2F", ["I2FP"]),
    ("cvt.rz.f32.u32 %f1, %r1;", "sm_120", "I2F", ["I2FP"]),
    ("sad.s32 %r2, %r1, %r3, %r4;", "sm_120", "VABSDIFF", ["IMNMX", "IMNMX", "IADD3"]),
    ("fence.proxy.tensormap::generic.acquire.cta [%in], 128;", "sm_90", "CCTL.LDCU", []),
    ("add.u16x2 %r2, %r1, %r3;", "sm_110", "VIADD", ["IADD3", "LOP3", "IADD3", "PRMT"]),
    ("min.s32 %r2, %r1, %r3;", "sm_80", "VIMNMX", ["IMNMX"]),
    ("max.u32 %r2, %r1, %r3;", "sm_75", "VIMNMX", ["IMNMX"]),
    ("min.u16x2 %r2, %r1, %r3;", "sm_120", "VIMNMX", ["VIMNMX.104"]),
    ("min.relu.s32 %r2, %r1, %r3;", "sm_110", "VIMNMX", ["IMNMX", "IMNMX"]),
    *(
        (f"max.{t} %r2, %r1, %r3;", "sm_110", "VIMNMX", [*(["PRMT", "PRMT", "IMNMX", "IMNMX"] * 2), "PRMT"])
        for t in ("s16x2", "u16x2", "relu.s16x2")
    ),
    ("min.f32 %f1, %f2, %f3, %f4;", "sm_120", "FMNMX3", ["FMNMX", "FMNMX"]),
]


@pytest.mark.row("R2-40", "R2-43", "R2-46")
@pytest.mark.parametrize(("ptx", "arch", "old", "new"), BODIES, ids=[f"{b[0].split()[0]}-{b[1]}" for b in BODIES])
def test_what_becomes_of_it(ptx: str, arch: str, old: str, new: list[str]) -> None:
    """Where it stood; nothing else changes but `ret`. The predication step comes once, and not for `ret`."""
    (f,) = lowered(source(ptx, arch), arch).functions
    before = names(f)
    assert before.count(old) == 1
    at = before.index(old)
    after, converter, f = converted(ptx, arch)
    assert after[:at] == before[:at] and after[at:] == [*new, *before[at + 1 : -1], "EXIT"]
    assert (before[-1], after[-1]) == ("RETURN", "EXIT")
    assert (converter.count, converter.steps) == (2, 1)


@pytest.mark.row("R2-46")
def test_every_family_has_callers_and_a_test() -> None:
    families = {row.family for row in ROWS}
    assert families == set(convert.FAMILIES) == set(SPEC.load("conversions.yaml")["families"])
    named = {old for _, _, old, _ in BODIES} | {"RETURN"}
    assert named == {row.op.name for row in ROWS}


@pytest.mark.row("R2-46")
def test_what_becomes_of_the_documented_categories() -> None:
    """The handlers that the document describes: which of their cases something is done with; the others pass or are absent."""
    described = {
        "sub_9D80E0", "sub_9DA6B0", "sub_9D54B0", "sub_9D4C10", "sub_9E6600", "sub_9E5EE0", "sub_9D09C0", "sub_9EAC30",
        "sub_9EC340", "sub_9E8B20", "sub_9D76D0",
    }  # fmt: skip
    roles = dispatch.load(SPEC).handlers
    assert all(roles[handler] != "undocumented" for handler in described)
    done = {CASES[row.id].handler: row.family for row in ROWS if CASES[row.id].handler in described}
    assert done == {"sub_9D09C0": "rename", "sub_9D76D0": "leave_out"}
    for one, entry in CASES.items():
        if entry.handler in described and one not in CONVERTED:
            assert (one in ABSENT) != (one in written()), one


@pytest.mark.row("R2-41")
@pytest.mark.parametrize(
    ("ptx", "arch", "new"),
    [
        ("cvt.rn.f32.s32 %f1, %r1;", "sm_86", "I2FP"),
        ("cvt.rz.f32.u32 %f1, %r1;", "sm_86", "I2FP"),
        ("cvt.rm.f32.s32 %f1, %r1;", "sm_86", "I2F"),
        ("cvt.rn.f16.s32 %h1, %r1;", "sm_86", "I2F"),
        ("cvt.rn.f32.s16 %f1, %h1;", "sm_86", "I2F"),
        ("cvt.rn.f32.s32 %f1, %r1;", "sm_80", "I2F"),
    ],
)
def test_i2f_goes_by_its_flag(ptx: str, arch: str, new: str) -> None:
    """Case 47 is the handler's where the predicate of the specification holds; otherwise it passes."""
    assert CASES[47].when == "info_flag"
    after, _, _ = converted(ptx, arch)
    assert [n for n in after if n.startswith("I2F")] == [new]


@pytest.mark.row("R2-41")
def test_no_instruction_is_case_277() -> None:
    """Its predicate looks at an operand, which the machine's operation does not have; no rule writes it."""
    assert CASES[277].when == "operand_type_5" and 277 in ABSENT and 277 not in written()
    (found,) = [o for o in ops.OPS if o is not None and o.isas and o.word & 0xFFF == 277]
    assert not found.operands


# -- the predication step ----------------------------------------------------------------------------------


@pytest.mark.row("R2-43")
def test_five_cases_skip_the_predication_step() -> None:
    """Of the five, `ret` is the one that something is done with: it is renamed under its guard, without the step."""
    skipping = {one for one in CASES if not CASES[one].predication}
    assert skipping == {15, 52, 54, 72, 97}
    assert skipping & CONVERTED == {72} and {row.predication for row in ROWS if row.id not in skipping} == {True}
    _, converter, f = converted("setp.eq.u32 %p1, %r1, 0;\n  @%p1 ret;\n  st.global.u32 [%out], %r1;", "sm_90")
    assert (converter.count, converter.steps) == (2, 0)
    guarded = [bool(f.guard[i]) for i in range(f.instructions()) if f.op[i] == op.EXIT]
    assert guarded == [True, False]


@pytest.mark.row("R2-43")
@pytest.mark.parametrize(("ptx", "arch", "old", "new"), [b for b in BODIES if b[3] and not b[0].startswith("cvt")])
def test_the_step_gives_the_guard(ptx: str, arch: str, old: str, new: list[str]) -> None:
    """What writes a register of the program has the guard, what writes one that is new has none."""
    _, converter, f = converted(f"setp.eq.u32 %p1, %i, 0;\n  @%p1 {ptx}", arch)
    assert converter.steps == 1
    line = support.HEAD.partition("{body}")[0].count("\n") + 2
    made = [i for i in all_instructions(f) if f.line[i] == line][-len(new) :]
    assert [name(f, i) for i in made] == new
    assert [bool(f.guard[i]) for i in made] == [False] * (len(new) - 1) + [True]


# -- what they compute -------------------------------------------------------------------------------------

_KERNEL = """  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; ld.global.u32 %r3, [%d1+128]; and.b32 %r5, %i, 1;
  setp.ne.u32 %p1, %r5, 0; mov.b32 %r2, 77; mov.b32 %r4, %r1;
  @%p1 {ptx}
  {again}
  add.u64 %d2, %out, %tid4; st.global.u32 [%d2], %r2; st.global.u32 [%d2+128], %r4;"""


def _halves(pick: Any, kind: str) -> Any:
    """A function of two halves on both halves of words."""
    return lambda a, b: pick(a.view(kind), b.view(kind)).view(np.uint32)


def _signed(values: Any) -> Any:
    return values.view(np.int32)


MEANINGS: list[tuple[str, str, Any]] = [
    ("add.u16x2 %r2, %r1, %r3;", "sm_110", _halves(np.add, "u2")),
    ("max.relu.s16x2 %r2, %r1, %r3;", "sm_110", _halves(lambda a, b: np.maximum(np.maximum(a, b), 0), "i2")),
    ("min.u16x2 %r2, %r1, %r3;", "sm_110", _halves(np.minimum, "u2")),
    ("min.s16x2 %r2, %r1, %r3;", "sm_120", _halves(np.minimum, "i2")),
    ("min.s32 %r2, %r1, %r3;", "sm_80", lambda a, b: np.minimum(_signed(a), _signed(b)).view(np.uint32)),
    ("max.s32 %r2, %r1, -5;", "sm_75", lambda a, b: np.maximum(_signed(a), -5).view(np.uint32)),
    ("sad.u32 %r2, %r1, %r3, 9;", "sm_120", lambda a, b: np.maximum(a, b) - np.minimum(a, b) + np.uint32(9)),
]


@pytest.mark.row("R2-40", "R2-46")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("ptx", "arch", "meaning"), MEANINGS, ids=[f"{m[0].split()[0]}-{m[1]}" for m in MEANINGS])
def test_meaning(ptx: str, arch: str, meaning: Any, level: int) -> None:
    """Under a guard, and with a destination that is a source."""
    again = ptx.replace("%r1", "%r4").replace("%r2", "%r4")
    text = source(_KERNEL.format(ptx=ptx, again=again), arch)
    data = np.random.default_rng(5).integers(0, 1 << 32, 64, dtype=np.uint32)
    got = launch(text, data, np.zeros(64, np.uint32), arch, level)
    want = meaning(data[:32].copy(), data[32:].copy())
    assert list(got[:32]) == [int(w) if i & 1 else 77 for i, w in enumerate(want)]
    assert list(got[32:]) == list(want)

# ruff: noqa: E501 (PTX)
"""Forms of operands: signs, conversions, lists, predicates (PTX-to-Ori lowering, "Operand Processing")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oric.cli import main
from oric.driver import front
from oric.driver.options import CompileOptions
from oric.driver.pipeline import compile_functions
from oric.ir import operand as opd
from oric.ir.function import Function, P
from oric.ir.text import all_instructions, format_instruction, operands_of
from oric.support import nodes
from oric.support.diagnostics import InternalError

from .support import launch, lowered, name, source

MARK = "//!"  # lines that a test looks at


def marked(f: Function, text: str) -> list[int]:
    """The instructions of the lines that carry the mark."""
    wanted = {number for number, line in enumerate(text.splitlines(), 1) if MARK in line}
    return [i for i in all_instructions(f) if f.line[i] in wanted]


def built(body: str) -> tuple[Function, list[int]]:
    """A kernel before any phase, and the instructions of its marked lines."""
    (f,) = lowered(source(body)).functions
    return f, marked(f, source(body))


def compiled(body: str, level: int = 3) -> tuple[Function, list[int]]:
    """A kernel after all phases, and the instructions of its marked lines but for stores."""
    ((f, _),) = compile_functions(source(body), CompileOptions("sm_90", opt_level=level))
    return f, [i for i in marked(f, source(body)) if not name(f, i).startswith("STG")]


# -- negation and complement --------------------------------------------------------------------------------

LOADS = "ld.global.v2.f32 {%f1, %f2}, [%in]; ld.global.v2.f64 {%g1, %g2}, [%in+16]; ld.global.v2.u32 {%r1, %r2}, [%in+32];"
SIGNS = [
    ("neg.f32 %f3, %f1; add.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FADD", opd.NEGATE),
    ("neg.f32 %f3, %f1; mul.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FMUL", opd.NEGATE),
    ("neg.f32 %f3, %f1; fma.rn.f32 %f4, %f2, %f2, %f3; st.global.f32 [%out], %f4;", "FFMA", opd.NEGATE),
    ("neg.ftz.f32 %f3, %f1; add.ftz.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FADD", opd.NEGATE),
    ("abs.f32 %f3, %f1; add.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FADD", opd.ABSOLUTE),
    ("abs.f32 %f3, %f1; neg.f32 %f3, %f3; add.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FADD", opd.ABSOLUTE | opd.NEGATE),
    ("neg.f32 %f3, %f1; abs.f32 %f3, %f3; add.f32 %f4, %f3, %f2; st.global.f32 [%out], %f4;", "FADD", opd.ABSOLUTE),
    ("neg.f64 %g3, %g1; add.f64 %g4, %g3, %g2; st.global.f64 [%out], %g4;", "DADD", opd.NEGATE),
    ("neg.f64 %g3, %g1; fma.rn.f64 %g4, %g3, %g2, %g2; st.global.f64 [%out], %g4;", "DFMA", opd.NEGATE),
    ("neg.s32 %r3, %r1; add.s32 %r4, %r3, %r2; st.global.u32 [%out], %r4;", "IADD3", opd.NEGATE),
    ("sub.f32 %f4, %f2, %f1; st.global.f32 [%out], %f4;", "FADD", opd.NEGATE),
]


def signs_of(f: Function, i: int) -> list[int]:
    every = opd.NEGATE | opd.ABSOLUTE | opd.COMPLEMENT
    return [o & every for o in operands_of(f, i) if opd.is_register(o) and o & every]


@pytest.mark.row("R2-11")
@pytest.mark.parametrize(("text", "operation", "signs"), SIGNS, ids=[text.split(" st.")[0] for text, _, _ in SIGNS])
def test_a_sign_is_a_modifier_of_the_operand_and_no_instruction(text: str, operation: str, signs: int) -> None:
    f, found = compiled(f"{LOADS}\n{text} {MARK}")
    assert [name(f, i) for i in found] == [operation]
    assert signs_of(f, found[0]) == [signs]


def test_a_complement_goes_into_the_table_of_the_operation() -> None:
    f, found = compiled(f"{LOADS}\nnot.b32 %r3, %r1; and.b32 %r4, %r3, %r2; st.global.u32 [%out], %r4; {MARK}")
    assert [name(f, i) for i in found] == ["LOP3"]


@pytest.mark.row("R2-11")
@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("neg.s32 %r3, %r1; shl.b32 %r4, %r3, 3;", ["IADD3", "SHF"]),  # no form with a sign
        ("neg.f32 %f3, %f1; mov.b32 %r4, %f3;", ["FADD"]),
        ("neg.ftz.f32 %f3, %f1; add.f32 %f4, %f3, %f2; mov.b32 %r4, %f4;", ["FADD", "FADD"]),  # takes subnormal numbers for 0
        ("neg.f32 %f3, %f1; add.f32 %f1, %f1, %f2; mul.f32 %f4, %f3, %f1; mov.b32 %r4, %f4;", ["FADD", "FADD", "FMUL"]),
    ],
)
def test_where_no_modifier_says_it_an_instruction_does(text: str, operations: list[str]) -> None:
    f, found = compiled(f"{LOADS}\n{text} st.global.u32 [%out], %r4; {MARK}")
    assert [name(f, i).split(".")[0] for i in found] == operations


SPECIAL = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, 1e-38]


@pytest.mark.parametrize("level", [0, 3])
def test_signs_in_operands_compute_what_instructions_do(level: int) -> None:
    body = """
  add.u64 %d1, %in, %tid8; ld.global.v2.f32 {%f1, %f2}, [%d1]; mul.lo.u64 %d2, %tid8, 5; add.u64 %d2, %d2, %out;
  neg.f32 %f3, %f1; add.f32 %f4, %f3, %f2; neg.f32 %f5, %f2; fma.rn.f32 %f6, %f5, %f1, %f3; neg.ftz.f32 %f7, %f1; add.f32 %f8, %f7, %f2;
  abs.f32 %f9, %f1; neg.f32 %f9, %f9; mul.f32 %f9, %f9, %f2; neg.f32 %f10, %f1; min.f32 %f10, %f10, %f2; neg.f32 %f11, %f2;
  setp.lt.f32 %p1, %f11, %f1; selp.f32 %f11, 1.0, 0.0, %p1; cvt.f64.f32 %g1, %f1; cvt.f64.f32 %g2, %f2; neg.f64 %g3, %g1;
  fma.rn.f64 %g4, %g3, %g2, %g2; st.global.v2.f32 [%d2], {%f4, %f6}; st.global.v2.f32 [%d2+8], {%f8, %f9};
  st.global.v2.f32 [%d2+16], {%f10, %f11}; st.global.f64 [%d2+24], %g4;
  neg.f32 %f12, %f1; mov.f32 %f1, 1.0; add.f32 %f12, %f12, %f1; st.global.f32 [%d2+32], %f12;
"""
    pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL], np.float32)
    out = launch(source(body), pairs, np.zeros((len(pairs), 10), np.float32), level=level, threads=len(pairs))
    with np.errstate(all="ignore"):
        a, b = pairs.T
        wide = (b.astype(np.float64) - a.astype(np.float64) * b.astype(np.float64)).astype(np.float64)
        flushed = np.where(np.abs(a) < np.float32(1.17549435e-38), np.copysign(np.float32(0), a), a)
        want = [b - a, None, b - flushed, -np.abs(a) * b, np.fmin(-a, b), (-b < a).astype(np.float32)]
        fused = (-b.astype(np.float64) * a.astype(np.float64) - a.astype(np.float64)).astype(np.float32)
    for column, values in enumerate(want):
        np.testing.assert_array_equal(out[:, column], fused if values is None else values, err_msg=f"column {column}")
    np.testing.assert_array_equal(out[:, 8], np.float32(1) - a)
    np.testing.assert_array_equal(out[:, 6:8].copy().view(np.float64)[:, 0], wide)


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("outer", ["abs", "neg"])
@pytest.mark.parametrize("inner", ["abs", "neg"])
@pytest.mark.parametrize("number", [-(2.0**65), 2.0**65, 1.5])
def test_signs_of_signs_of_constants(number: float, inner: str, outer: str, type_: str, level: int) -> None:
    wide = type_ == "f64"
    given = f"0d{np.float64(number).view(np.uint64):016x}" if wide else f"0f{np.float32(number).view(np.uint32):08x}"
    x, y = ("%g1", "%g2") if wide else ("%f1", "%f2")
    body = f"{inner}.{type_} {x}, {given}; {outer}.{type_} {y}, {x}; st.global.{type_} [%out], {y};"
    out = launch(source(body), np.zeros(1), np.zeros(1, np.float64 if wide else np.float32), level=level, threads=1)
    signs = {"abs": abs, "neg": lambda value: -value}
    assert out[0] == signs[outer](signs[inner](number))


@pytest.mark.parametrize("half", ["{%r1, %r5}", "{%r5, %r2}"])
@pytest.mark.parametrize("level", [0, 3])
def test_a_negation_of_which_half_is_left_is_none(half: str, level: int) -> None:
    body = f"""
  ld.global.v2.f64 {{%g1, %g2}}, [%in]; mov.b32 %r5, 0x40100000; neg.f64 %g3, %g1; mov.b64 {{%r1, %r2}}, %g3; mov.b64 %g3, {half};
  add.f64 %g4, %g3, %g2; st.global.f64 [%out], %g4;
"""
    words = [0x55555555, 0xBFF55555]  # of -1.3333
    made = np.array([words[0], 0x40100000] if half.endswith("%r5}") else [0x40100000, words[1]], np.uint32).view(np.float64)
    first = -np.array(words, np.uint32).view(np.float64)
    assert launch(source(body), np.append(first, 2.0), np.zeros(1), level=level, threads=1)[0] == made[0] + 2.0


# -- conversions ----------------------------------------------------------------------------------------------

CONVERSIONS = [
    ("cvt.f64.f32 %g3, %f1;", ["F2F.X{dtype=F64}"]),
    ("cvt.rn.f32.f64 %f3, %g1;", ["F2F.X{stype=F64}"]),
    ("cvt.rz.f32.f64 %f3, %g1;", ["F2F.X{stype=F64 rnd=RZ}"]),
    ("cvt.rp.sat.f32.f64 %f3, %g1;", ["F2F.X{stype=F64 rnd=RP}", "FADD{sat}"]),
    ("cvt.f32.f32 %f3, %f1;", ["MOV"]),
    ("cvt.sat.f32.f32 %f3, %f1;", ["FADD{sat}"]),
    ("cvt.rni.f32.f32 %f3, %f1;", ["FRND"]),
    ("cvt.rni.sat.f32.f32 %f3, %f1;", ["FRND", "FADD{sat}"]),
    ("cvt.rzi.s32.f32 %r3, %f1;", ["F2I{rnd=TRUNC ntz}"]),
    ("cvt.rpi.ftz.u32.f32 %r3, %f1;", ["F2I{dtype=U32 rnd=CEIL ftz ntz}"]),
    ("cvt.rp.f32.s32 %f3, %r1;", ["I2F{rnd=RP}"]),
    ("cvt.rn.sat.f32.s32 %f3, %r1;", ["I2F", "FADD{sat}"]),
    ("cvt.s16.s32 %h1, %r1;", ["MOV"]),
    ("cvt.sat.s16.s32 %h1, %r1;", ["VIMNMX", "VIMNMX"]),
    ("cvt.rn.relu.f16x2.f32 %r3, %f1, %f2;", ["F2FP.PACK_AB{relu}"]),
    # The operand of a conversion may be an expression: its value is converted like any other.
    ("cvt.rz.f32.s64 %f3, (.s64) 0xFFFFFFFFFFFFFFFB / 3;", ["I2F.X{stype=S64 rnd=RZ}"]),
]


@pytest.mark.row("R2-12")
@pytest.mark.parametrize(("text", "operations"), CONVERSIONS, ids=[text for text, _ in CONVERSIONS])
def test_rounding_and_saturation_are_applied_where_a_conversion_has_them(text: str, operations: list[str]) -> None:
    f, found = built(f"{text} {MARK}")
    made = [format_instruction(f, i).split(" R")[0] for i in found]
    assert [text for text in made if not text.startswith("MOV") or len(made) == 1] == operations


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(.s64) 0xFFFFFFFFFFFFFFFB / 3", -1),
        ("(.u64) -5 / 3", 0x5555555555555553),
        ("(.u64) (.s64) (.u64) -1 >> 60", 15),
        ("(.s64) (.u64) -1 >> 60", -1),
        ("((((7))))", 7),
        ("-(-(3))", 3),
        ("~(0)", -1),
    ],
)
def test_casts_and_parentheses_in_constants(text: str, value: int) -> None:
    out = launch(source(f"mov.u64 %d1, {text}; st.global.u64 [%out], %d1;"), np.zeros(1), np.zeros(1, np.int64), threads=1)
    assert out[0] == value


# -- lists ---------------------------------------------------------------------------------------------------

FUNCTIONS = """
.func (.reg .u32 low, .reg .u32 high) digits (.reg .u32 a, .reg .u32 b, .reg .u64 c, .reg .u32 d)
{
  .reg .b32 %r<4>;
  cvt.u32.u64 %r1, c; mad.lo.u32 low, a, 10, b; mad.lo.u32 high, %r1, 10, d;
  ret;
}
.func (.param .b32 result) number (.param .b32 a, .param .b8 b, .param .b64 c, .param .b16 d, .param .align 4 .b8 e[8])
{
  .reg .b32 %r<9>; .reg .b64 %d1; .reg .b16 %h1;
  ld.param.u32 %r1, [a]; ld.param.u8 %r2, [b]; ld.param.u64 %d1, [c]; ld.param.u16 %h1, [d]; ld.param.u32 %r5, [e]; ld.param.u32 %r6, [e+4];
  cvt.u32.u64 %r3, %d1; cvt.u32.u16 %r4, %h1; mad.lo.u32 %r1, %r1, 10, %r2; mad.lo.u32 %r1, %r1, 10, %r3; mad.lo.u32 %r1, %r1, 10, %r4;
  mad.lo.u32 %r1, %r1, 10, %r5; mad.lo.u32 %r1, %r1, 10, %r6; st.param.b32 [result], %r1; ret;
}
"""


@pytest.mark.row("R2-14")
@pytest.mark.parametrize("level", [0, 3])
def test_lists_of_a_call_keep_their_order(level: int) -> None:
    body = """
  mov.u32 %r3, 3; mov.u64 %d5, 5; call (%r1, %r2), digits, (%r3, (4), %d5, 6); st.global.v2.u32 [%out], {%r1, %r2};
  call (%r2, %r1), digits, (7, %r3, %d5, %r3); st.global.v2.u32 [%out+8], {%r1, %r2};
  { .param .b32 a; .param .b8 b; .param .b64 c; .param .b16 d; .param .align 4 .b8 e[8]; .param .b32 q;
    mov.b16 %h4, 4; st.param.b16 [d], %h4; st.param.b64 [c], %d5; st.param.b32 [e+4], 8; st.param.b32 [e], 9; st.param.b8 [b], 2; st.param.b32 [a], 1;
    call.uni (q), number, (a, b, c, d, e); ld.param.b32 %r6, [q]; }
  st.global.u32 [%out+16], %r6;
"""
    out = launch(source(body, "sm_90", FUNCTIONS), np.zeros(1), np.zeros(5, np.uint32), level=level, threads=1)
    assert list(out) == [34, 56, 53, 73, 125498]


@pytest.mark.row("R2-08")
@pytest.mark.parametrize("first", [0, 1])
def test_constants_in_the_list_of_a_call(first: int) -> None:
    """The function may stand in front of its caller or behind it."""
    header = ".func (.param .f64 r) sum (.param .f64 a, .reg .f32 b, .reg .u64 c, .param .b16 d)"
    function = f"""{header}
{{
  .reg .f64 %g<6>; .reg .b16 %h;
  ld.param.f64 %g1, [a]; cvt.f64.f32 %g2, b; cvt.rn.f64.u64 %g3, c; ld.param.u16 %h, [d]; cvt.rn.f64.u16 %g4, %h;
  fma.rn.f64 %g1, %g1, 0d4024000000000000, %g2; fma.rn.f64 %g1, %g1, 0d4024000000000000, %g3; add.f64 %g1, %g1, %g4;
  st.param.f64 [r], %g1; ret;
}}
"""
    body = "{ .param .f64 q; call (q), sum, (1.0, 0f40000000, 0x500000000, 40000); ld.param.f64 %g1, [q]; st.global.f64 [%out], %g1; }"
    text = source(body, "sm_90", function) if first else source(body, "sm_90", header + ";\n") + function
    assert launch(text, np.zeros(1), np.zeros(1), threads=1)[0] == 120 + 0x500000000 + 40000


@pytest.mark.row("R2-08")
def test_elements_of_vectors_keep_their_order() -> None:
    body = "mov.b64 %d1, {1, %i}; mov.b64 {%r1, %r2}, %d1; st.global.v4.u32 [%out], {%r2, 7, %r1, (9)};"
    assert list(launch(source(body), np.zeros(1), np.full(4, 5, np.uint32), threads=1)) == [0, 7, 1, 9]


# -- predicates ----------------------------------------------------------------------------------------------


@pytest.mark.row("R2-15")
def test_predicates_are_operands_of_one_bit() -> None:
    f, found = built(f"setp.eq.u32 %p1, %i, 3; @!%p1 add.u32 %r1, %i, %i; @%p1 and.pred %p2, !%p1, %p1; {MARK}")
    compare, add, logic = found
    predicate = f.get(compare, 0)
    register = opd.index_of(predicate)
    assert (f.reg_type[register], f.reg_size[register]) == (P, 1) and predicate == opd.reg(register)
    assert [f.guard[i] for i in (compare, add, logic)] == [0, predicate | opd.NEGATE, predicate]
    read = [o for o in operands_of(f, logic) if opd.is_register(o) and opd.index_of(o) == register]
    assert read == [predicate | opd.NEGATE, predicate]


@pytest.mark.row("R2-70")
def test_a_negated_guard_stays_what_it_is() -> None:
    body = """
  rem.u32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5; @!%p1 mul.lo.u32 %r2, %r2, %i; @%p1 sub.u32 %r2, %r2, 1;
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r2;
"""
    out = launch(source(body), np.zeros(1), np.zeros(32, np.uint32))
    assert list(out) == [5 * t if t % 3 else 4 for t in range(32)]


UNKNOWN = (len(nodes.KIND_NAMES), 1)
PLANTED = [
    ("add.s32 %r1, %r2, %r3;", 0),
    ("add.s32 %r1, %r2, %r3;", 1),
    ("mov.u32 %r1, %r2;", 1),
    ("mov.b64 %d1, {%r1, %r2};", 0),
    ("ld.global.u32 %r1, [%d1];", 1),
    ("ld.const.u32 %r1, [%r2];", 1),
    ("st.shared.u32 [%r1], %r2;", 0),
    ("st.global.u32 [%d1], %r2;", 1),
    ("atom.global.add.u32 %r1, [%d1], %r2;", 1),
    ("setp.lt.f32 %p1, %f1, %f2;", 2),
    ("cvt.rn.f32.s32 %f1, %r1;", 1),
    ("bar.sync %r1;", 0),
    ("shl.b64 %d1, %d2, %r1;", 2),
    ("div.u32 %r1, %r2, %r3;", 1),
]


class Planting:
    """A builder that is told of an operand of an unknown kind, in an instruction or (-1) in each."""

    def __init__(self, builder: Any, place: int, at: int) -> None:
        self._builder, self._place, self._at = builder, place, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)

    def instruction(self, variant: Any, guard: Any, operands: list[Any], loc: int) -> None:
        if self._at in (loc, -1):
            operands = [*operands[: self._place], UNKNOWN, *operands[self._place + 1 :]]
        self._builder.instruction(variant, guard, operands, loc)


def plant(monkeypatch: pytest.MonkeyPatch, place: int, at: int) -> None:
    """From now on compilations have a :class:`Planting` between the parser and the builder."""
    plain = front.parse_input

    def parse_input(text: str, filename: str, builder: Any, target: Any, diag: Any) -> None:
        plain(text, filename, Planting(builder, place, at), target, diag)

    monkeypatch.setattr(front, "parse_input", parse_input)


@pytest.mark.row("R2-15")
@pytest.mark.parametrize(("text", "place"), PLANTED, ids=[f"{text} {place}" for text, place in PLANTED])
def test_an_operand_of_an_unknown_kind_is_an_internal_error_with_its_line(
    text: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = source(text)
    plant(monkeypatch, place, module.index(text))
    line = module[: module.index(text)].count("\n") + 1
    with pytest.raises(InternalError, match=rf"operand of unknown kind {UNKNOWN[0]} .*from line {line} of the PTX, in 'k'"):
        lowered(module)


def test_the_command_reports_it_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ptx").write_text(source("add.s32 %r1, %r2, %r3;"), encoding="utf-8")
    plant(monkeypatch, 0, -1)
    assert main(["a.ptx", "-arch", "sm_90", "-o", "a.cubin"]) == 255
    said = capsys.readouterr().err
    assert "Internal compiler error" in said and "of unknown kind" in said and "line 9" in said
    assert not Path("a.cubin").exists()

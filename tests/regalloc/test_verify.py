"""The allocation verifier: silent about allocations that are right, and names what is wrong with others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from oric.ir.verify import MalformedCode
from oric_tables.ori_operands import PROBLEM_TEXTS

from tests.kernels import cases

from . import planted
from .test_general import live_values

LIMITS = (None, 24, 32)
SAMPLE = 12  # plants of a kind
MANY = 75
PRESSED = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry pressed(.param .u64 in, .param .u64 out)
{{
.reg .b32 %i; .reg .b64 %in, %out, %d<20>; .reg .pred %p<60>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x;
{body}
ret;
}}
"""


def predicates(count: int) -> str:
    """As many predicates that live at one time, of pairs of values that do not: nothing is gained by comparing once more."""
    body = ".reg .b32 %v<3>; mov.u32 %v0, 0; mov.u32 %v1, %i; mov.u32 %v2, 5;\n"
    for n in range(count):
        body += f"  mad.lo.u32 %v1, %v1, 77, {n}; xor.b32 %v2, %v2, %v1; setp.gt.u32 %p{n}, %v1, %v2;\n"
    for n in (*range(count), *range(count)):
        body += f"  @%p{n} mad.lo.u32 %v0, %v0, %v0, {1 << n % 31};\n"
    return body + "  mul.wide.u32 %d1, %i, 4; add.u64 %d2, %out, %d1; st.global.u32 [%d2], %v0;\n"


def predicates_of_a_loop(count: int) -> str:
    """Predicates that a loop reads and changes, some of them under other ones."""
    body = ".reg .b32 %v<3>; mov.u32 %v0, 0; mov.u32 %v1, 0;\n"
    for n in range(count):
        body += f"  setp.gt.u32 %p{n}, %i, {n};\n"
    body += "AGAIN:\n"
    for n in range(count):
        body += f"  @!%p{n} mad.lo.u32 %v0, %v0, %v0, {1 << n % 31};\n"
    for n in range(0, count - 2, 3):
        body += f"  @%p{n + 1} setp.lt.u32 %p{n}, %v0, {3 * n}; xor.pred %p{n + 2}, %p{n}, %p{n + 1};\n"
    body += "  add.u32 %v1, %v1, 1; setp.lt.u32 %p59, %v1, 3; @%p59 bra AGAIN;\n"
    return body + "  mul.wide.u32 %d1, %i, 4; add.u64 %d2, %out, %d1; st.global.u32 [%d2], %v0;\n"


@cache
def crowds() -> list[tuple[str, str]]:
    """Programs with so many predicates that they share registers where those are few: (text, target)."""
    return [(PRESSED.format(body=body), "sm_90") for body in (predicates(40), predicates_of_a_loop(30), predicates_of_a_loop(45))]


@cache
def programs() -> list[tuple[str, str]]:
    """Kernels of the tests, and some with many live values and predicates: (text, target)."""
    out = [(path.read_text(encoding="utf-8"), path.name.split(".")[-2]) for path in sorted(cases.HERE.glob("*.sm_*.ptx"))]
    out.append((PRESSED.format(body=live_values(60, "u32")), "sm_90"))
    out.append((PRESSED.format(body=live_values(30, "u64")), "sm_90"))
    return [*out, (PRESSED.format(body=predicates(20)), "sm_90"), *crowds()]


def plants(kind: str, count: int) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """What is planted where, by which problems it may be called, and what the verifier says; "" when it says nothing."""
    rng = random.Random(kind)
    done = tries = 0
    while done < count:
        tries += 1
        assert tries < 60 * count, f"{kind}: {done} places only"
        text, arch = rng.choice(crowds() if kind.startswith("shared") else programs())
        limit, level = rng.choice(LIMITS), rng.choice((0, 3))
        for f, ctx in planted.before_allocation(text, arch, level, limit):
            one = planted.allocated(f, ctx)
            wanted = planted.PLANTS[kind](one, rng)
            if wanted is None:
                continue
            done += 1
            said = ""
            try:
                one.check()
            except MalformedCode as error:
                said = str(error)
            yield f"{f.name} on {arch} -O{level} at {limit}", wanted, said


def prove(kind: str, count: int) -> Counter[str]:
    """Every plant is found, and called by one of its names."""
    named: Counter[str] = Counter()
    for place, wanted, said in plants(kind, count):
        names = [PROBLEM_TEXTS[n] for n in wanted]
        assert any(name in said for name in names), f"{kind} in {place}: {said or 'nothing'}"
        named[next(name for name in names if name in said)] += 1
    return named


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", planted.PLANTS)
def test_planted_faults_are_found(kind: str) -> None:
    prove(kind, SAMPLE)


@pytest.mark.row("R1-34")
def test_each_of_the_ten_problems_is_told() -> None:
    """Some plant shows as each of them, in the documented words."""
    told = {name for kind in planted.PLANTS for name in prove(kind, 6)}
    assert set(PROBLEM_TEXTS[1:11]) <= told


@pytest.mark.row("R3-71")
def test_what_is_made_again_otherwise_is_told_with_its_original_definition() -> None:
    """In the documented words, under the documented names, with what stands there now."""
    told = [said for _, _, said in plants("another_constant", SAMPLE) if "Rematerialization problem" in said]
    assert told
    for said in told:
        head, _, rest = said.partition("REMATERIALIZATION PROBLEM in '")
        lines = rest.splitlines()[1:]
        assert "Rematerialization problem" in head and lines and lines[0].startswith("  _ORI_R") and ": MOV " in lines[0]
        assert any(line.startswith("    now 'MOV ") for line in lines)
    others = [said for _, _, said in plants("no_number", SAMPLE)]
    assert not any("_ORI_" in said for said in others)


@pytest.mark.measure
@pytest.mark.parametrize("kind", planted.PLANTS)
def test_many_planted_faults_are_found(kind: str) -> None:
    prove(kind, MANY)


@pytest.mark.parametrize("limit", LIMITS)
def test_right_allocations_are_proved(limit: int | None) -> None:
    for text, arch in programs():
        for level in (0, 3):
            for f, ctx in planted.before_allocation(text, arch, level, limit):
                planted.allocated(f, ctx).check()


def test_an_entry_without_operands() -> None:
    """Its image is empty, and so is what is compared with it."""
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
    for f, ctx in planted.before_allocation(text, "sm_90", 0, None):
        planted.allocated(f, ctx).check()


UNDER_TWO_GUARDS = """.version 8.7
.target {arch}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b32 %r<5>; .reg .pred %p<2>; .reg .b64 %a, %o;
  ld.param.u64 %a, [in]; ld.param.u64 %o, [out];
  ld.global.v4.u32 {{%r3, %r1, %r0, %r2}}, [%a];
  setp.lt.s32 %p0, %r3, %r1;
  setp.lt.s32 %p1, %r2, %r1;
  @%p0 bra L;
  clz.b32 %r0, %r0;
L:
  @!%p1 mov.b32 %r0, %r2;
  @!%p0 add.u32 %r0, %r1, %r0;
  selp.b32 %r4, 1, 0, %p0;
  st.global.u32 [%o], %r4;
  @!%p0 st.global.u32 [%o+4], %r0;
  ret;
}}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_what_a_word_holds_under_one_guard_stays_when_it_gets_something_under_another(arch: str) -> None:
    """The register of the word has something else where the first guard does not hold, and nobody reads it there."""
    for level in range(4):
        for f, ctx in planted.before_allocation(UNDER_TWO_GUARDS.format(arch=arch), arch, level, None):
            planted.allocated(f, ctx).check()

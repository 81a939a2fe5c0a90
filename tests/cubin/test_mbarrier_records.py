"""What the container says of instructions on mbarriers: which have a record and what is in it; a check finds what is wrong."""

from __future__ import annotations

import struct

import oric
import pytest
from oric.sass.code import Code
from oric.sass.loader_check import problems
from oric.sass.mbarrier_check import COUNT, PLACES, MbarrierRecord, mbarrier_problems, records_in
from oric.support.elf import Function, model_of, read
from oric_tables.cubin_layout import GENERIC_MBARRIERS, MBARRIER_KINDS

from tests.cubin.loader_modules import kernel

OBJECTS = ".shared .align 8 .b64 s; .shared .b64 t[4];"
# Kind and PTX; all of them from sm_80 on.
SHARED = [
    ("init", "mbarrier.init.shared.b64 [s], %r1;"),
    ("arrive", "mbarrier.arrive.shared.b64 %d2, [t+8];"),
    ("arrive.noComplete", "mbarrier.arrive.noComplete.shared.b64 %d2, [s], 2;"),
    ("arrive_drop", "mbarrier.arrive_drop.shared.b64 %d2, [s];"),
    ("arrive_drop.noComplete", "mbarrier.arrive_drop.noComplete.shared.b64 %d2, [s], %r1;"),
    ("test_wait", "mbarrier.test_wait.shared.b64 %p1, [s], %d1;"),
    ("test_wait.parity", "mbarrier.test_wait.parity.shared.b64 %p1, [s], %r1;"),
    ("cp.async", "cp.async.mbarrier.arrive.noinc.shared.b64 [s];"),
    ("cp.async", "cp.async.mbarrier.arrive.shared.b64 [s];"),
]
SINCE_90 = [
    ("inval", "mbarrier.inval.shared.b64 [s];"),
    ("try_wait", "mbarrier.try_wait.shared.b64 %p1, [s], %d1;"),
    ("try_wait", "mbarrier.try_wait.shared.b64 %p1, [s], %d1, 40;"),
    ("try_wait.parity", "mbarrier.try_wait.parity.shared.b64 %p1, [s], 1, %r1;"),
    ("expect_tx", "mbarrier.expect_tx.relaxed.cta.shared.b64 [s], %r1;"),
    ("complete_tx", "mbarrier.complete_tx.relaxed.cta.shared.b64 [s], 8;"),
]
GENERIC = [
    ("init", "mbarrier.init.b64 [%d5], 3;"),
    ("arrive", "mbarrier.arrive.b64 %d2, [%d5];"),
    ("arrive_drop.noComplete", "mbarrier.arrive_drop.noComplete.b64 %d2, [%d5], %r1;"),
    ("test_wait", "mbarrier.test_wait.b64 %p1, [%d5], %d1;"),
]
WITHOUT = ["mbarrier.pending_count.b64 %r2, %d1;", "mbarrier.arrive.expect_tx.shared.b64 %d2, [s], 8;"]
RESULTS = "selp.u64 %d3, 1, 0, %p1; xor.b64 %d2, %d2, %d3; cvt.u64.u32 %d3, %r2; xor.b64 %d2, %d2, %d3; st.global.u64 [%d1], %d2;"


def compiled(body: str, target: str, level: int) -> bytes:
    text = f".version 9.0\n.target {target}\n.address_size 64\n" + kernel(OBJECTS + body + RESULTS)
    return oric.compile(text, arch=target, opt_level=level).image


def described(image: bytes) -> tuple[Function, list[MbarrierRecord], int | None]:
    function = read(image).functions["k"]
    found = {r.name: r for r in function.records}
    count = found[COUNT].value if COUNT in found else None
    return function, records_in(found[PLACES].data if PLACES in found else b""), count


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_each_instruction_has_its_record(target: str, level: int) -> None:
    number = int(target[3:].rstrip("af"))
    for kind, text in [*SHARED, *(SINCE_90 if number >= 90 else [])]:
        image = compiled(text, target, level)
        _, found, count = described(image)
        assert [r.kind for r in found] == [MBARRIER_KINDS[kind][0]], text
        assert count == (kind == "init")
        assert problems(read(image)) == []


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120a"])
def test_addresses_of_no_space(target: str) -> None:
    """Up to sm_89 the generic operations are marked; later ones take the lower half of the address."""
    before = "mov.u64 %d5, t; cvta.shared.u64 %d5, %d5; mad.wide.u32 %d5, %r1, 8, %d5;"
    for kind, text in GENERIC:
        _, found, _ = described(compiled(before + text, target, 3))
        assert [r.kind & 0x3F for r in found] == [MBARRIER_KINDS[kind][0]], text
        assert {r.kind & ~0x3F for r in found} <= (set(GENERIC_MBARRIERS.values()) if target == "sm_80" else {0}), text


def test_records_in_the_order_of_the_code_and_the_number_of_objects() -> None:
    """Objects are counted where they are made, also in a function that is called twice."""
    text = "".join(text for _, text in SHARED)
    _, found, count = described(compiled(text + SHARED[0][1], "sm_90a", 3))
    assert len(found) == len(SHARED) + 1 and count == 2
    assert [r.place for r in found] == sorted(r.place for r in found)
    module = (
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 s[2];\n"
        ".func make(.reg .u32 a) { mbarrier.init.shared.b64 [a], 1; ret; }\n"
        ".visible .entry k() { .reg .u32 %r<3>; mov.u32 %r1, s; add.u32 %r2, %r1, 8; call make, (%r1); call make, (%r2); ret; }\n"
    )
    _, found, count = described(oric.compile(module, arch="sm_90a").image)
    assert (len(found), count) == (2, 2)


@pytest.mark.parametrize("text", WITHOUT)
def test_instructions_without_a_record(text: str) -> None:
    _, found, count = described(compiled(text, "sm_90a", 3))
    assert (found, count) == ([], None)


def test_a_loop_of_tests_is_recorded_once() -> None:
    """A record is of an instruction, however often it runs."""
    text = "W: mbarrier.try_wait.parity.shared.b64 %p1, [s], 0; @!%p1 bra W;"
    _, found, _ = described(compiled(text, "sm_90a", 3))
    assert [r.kind for r in found] == [MBARRIER_KINDS["try_wait.parity"][0]]


WRONG = {
    "which is no instruction": {"place": 8},
    "kind": {"kind": 5},
    "register": {"register": 77},
    "displacement": {"displacement": 4},
    "uniform register": {"uniform": 9},
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_record_is_found(message: str) -> None:
    function, found, _ = described(compiled(SHARED[1][1], "sm_90a", 3))
    code = Code(model_of(read(compiled(SHARED[1][1], "sm_90a", 3))), function.text)
    right = struct.pack("<IIiBBBB", *found[0])
    wrong = struct.pack("<IIiBBBB", *found[0]._replace(**WRONG[message]))
    assert list(mbarrier_problems(code, right, 0, 0x3F)) == []
    assert [message in problem for problem in mbarrier_problems(code, wrong, 0, 0x3F)] == [True]
    assert "NUM_MBARRIERS" in next(mbarrier_problems(code, right, None, 0x3F))
    assert "17 bytes" in next(mbarrier_problems(code, right + b"\0", 0, 0x3F))

"""The order in front of allocation: as many general registers as are worth the cycles that they save."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from oric.driver import CompileOptions, compile_text
from oric.ir.machine import NO_LIMIT
from oric_tables._native import ffi, lib

from tests.regalloc.programs import Program
from tests.regalloc.programs import programs as virtual_programs
from tests.sched.test_dependences import order_of


def options(general: int) -> object:
    return ffi.new("oric_list_options *", {"limit": [general, 2, NO_LIMIT, 4, 2]})


@settings(max_examples=60)
@given(virtual_programs(max_insns=20, defined=True), st.lists(st.integers(0, 12), min_size=1, max_size=5, unique=True), st.data())
def test_what_is_measured_is_what_the_order_takes(program: Program, limits: list[int], data: st.DataObject) -> None:
    """For every limit, and the function stays as it was."""
    limits.sort()
    often = [data.draw(st.integers(1, 64)) for _ in program.blocks]
    fn = program.build()
    assert lib.oric_liveness(fn) == 0
    before = order_of(fn)
    spent, reached = ffi.new("int64_t[]", len(limits)), ffi.new("int32_t[]", len(limits))
    assert lib.oric_list_measure(fn, options(0), limits, len(limits), often, spent, reached) == 0
    assert order_of(fn) == before
    for k, limit in enumerate(limits):
        total, most = 0, 0
        for b in range(len(program.blocks)):  # the cycles of one block are what is more when it alone counts
            alone, one, live = [int(at == b) for at in range(len(program.blocks))], ffi.new("int64_t *"), ffi.new("int32_t *")
            assert lib.oric_list_measure(fn, options(0), [limit], 1, alone, one, live) == 0
            total, most = total + often[b] * one[0], max(most, live[0])
        assert (spent[k], reached[k]) == (total, most)
        other = program.build()
        assert lib.oric_liveness(other) == 0
        every = ffi.new("int64_t *")
        assert lib.oric_list_measure(other, options(0), [limit], 1, [1] * len(program.blocks), every, live) == 0
        assert lib.oric_list_schedule(other, options(limit)) == every[0]


def kernel(before: int, within: int) -> str:
    """Products of loaded words that can all be under way together, some in front of a loop and some in it."""
    lines = [".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry k(.param .u64 p, .param .u32 n)", "{"]
    lines += [".reg .b64 %a, %b;", ".reg .f32 %s, %t, %f<100>;", ".reg .u32 %i, %n;", ".reg .pred %q;"]
    lines += ["ld.param.u64 %a, [p];", "ld.param.u32 %n, [n];", "mov.u32 %i, 0;", "mov.f32 %s, 0f00000000;"]
    lines += [*loads(before), "LOOP:", *loads(within)]
    lines += ["add.u64 %a, %a, 512;", "add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, %n;", "@%q bra LOOP;"]
    return "\n".join([*lines, "st.global.f32 [%a], %s;", "ret;", "}"]) + "\n"


def loads(count: int) -> list[str]:
    out = []
    for k in range(count):
        out += [f"ld.global.f32 %f{k}, [%a+{4 * k}];", f"sqrt.approx.f32 %f{k}, %f{k};", f"fma.rn.f32 %s, %s, %f{k}, %f{k};"]
    return out


def registers(before: int, within: int) -> int:
    (made,) = compile_text(kernel(before, within), CompileOptions("sm_90")).kernels.values()
    return int(made.registers)


def test_what_is_in_loops_counts_more() -> None:
    """Loads in front of a loop are not worth the registers that those in it are."""
    assert registers(before=24, within=2) + 8 <= registers(before=2, within=24)

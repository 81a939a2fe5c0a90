"""What was saved behind a phase and is compiled on gives the cubin of one go: behind every phase, with options of every kind."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from oric.driver import CompileError, CompileOptions, Extras, SaveRecords, compile_inputs, compile_text
from oric.driver.front import PtxInput
from oric.driver.saving import CLASSES, load, resume
from oric.ir.module import Module
from oric.records import sections_of, write

from tests import specification
from tests.kernels import cases
from tests.ptx_corpus import code

from . import samples

EMPTY = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .global .u32 alone[4] = {1, 2, 3, 4};\n"
PORTABLE = specification.ROOT / "tests/programs/portable"
# Options that change what the state has in it.
VARIANTS: dict[str, dict[str, Any]] = {
    "-O3": {},
    "-O0": {"opt_level": 0},
    "-O1": {"opt_level": 1},
    "few registers": {"maxrregcount": 24},
    "lines": {"line_info": True},
    "debug": {"opt_level": 0, "debug": True},
    "object": {"extras": Extras(relocatable=True)},
    "NvOpt": {"nvopt": 4},
    "no contraction": {"contract": False, "register_usage": 9},
}


def check(text: str, arch: str, phase: int, **others: Any) -> int:
    """Save, read, write, go on; returns how many Code Objects there are."""
    made = compile_text(text, CompileOptions(arch, **others), "kernel.ptx")
    kept = compile_text(text, CompileOptions(arch, records=SaveRecords(str(phase)), **others), "kernel.ptx")
    assert kept.image == made.image and not made.records
    saved = load(kept.records)
    assert write(sections_of(saved, CLASSES), saved.flags) == kept.records
    assert resume(kept.records).image == made.image
    return len(saved.parts)


@cache
def _goes_on(name: str, phase: int) -> bool:
    return resume(samples.saved(samples.kernel(name, "sm_90"), "sm_90", phase)).image == samples.image(
        samples.kernel(name, "sm_90"), "sm_90"
    )


@pytest.mark.sampled(3)
@pytest.mark.row("R3-67")
@pytest.mark.parametrize("name", ["saxpy", "jump_table", "tables"])
def test_it_goes_on_behind_every_phase(name: str) -> None:
    assert [phase for phase in samples.PHASE_NUMBERS if not _goes_on(name, phase)] == []


@pytest.mark.measure
@pytest.mark.parametrize("name", sorted({path.name.split(".")[0] for path in cases.HERE.glob("*.sm_90.ptx")}))
def test_every_kernel_goes_on_behind_every_phase(name: str) -> None:
    assert [phase for phase in samples.PHASE_NUMBERS if not _goes_on(name, phase)] == []


@pytest.mark.sampled(9)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("program", ["recursion", "dispatch"])
def test_calls_and_options(program: str, variant: str) -> None:
    """Several functions a kernel, calls that stay calls, tables of functions; line tables, debug data, objects."""
    rng = random.Random(program + variant)
    text = (PORTABLE / f"{program}.ptx").read_text(encoding="utf-8")
    assert check(text, "sm_90", rng.choice(samples.PHASE_NUMBERS), **VARIANTS[variant]) > 1


def test_a_module_without_code() -> None:
    assert check(EMPTY, "sm_75", 50) == 0


def test_several_inputs() -> None:
    inputs = [PtxInput(samples.SMALL, "a.ptx"), PtxInput(samples.SMALL.replace("small", "other"), "b.ptx")]
    made = compile_inputs(inputs, CompileOptions("sm_75"))
    kept = compile_inputs(inputs, CompileOptions("sm_75", records=SaveRecords("60")))
    saved = load(kept.records)
    assert [name for _, name in saved.start.inputs] == ["a.ptx", "b.ptx"] and saved.start.sources == [0, 1]
    assert resume(kept.records).image == made.image == kept.image


def test_what_the_phases_behind_say_is_said_again() -> None:
    """Warnings of phases that are left, with the places in the PTX that was saved."""
    from oric.driver import Watch

    text = samples.SMALL.replace("mad.lo.u32 %r3, %r2,", "mad.lo.u32 %r3, %r1,").replace("ld.global.u32 %r2, [%d2];", "")
    text = text.replace("%r1, 77, 1234567", "%r2, 77, 1234567")
    watch = Watch(uninitialized=True)
    made = compile_text(text, CompileOptions("sm_75", watch=watch), "kernel.ptx")
    first = compile_text(text, CompileOptions("sm_75", watch=watch, records=SaveRecords("0")), "kernel.ptx")
    assert made.warnings and resume(first.records).warnings == made.warnings


def test_verified_phases_go_on() -> None:
    for phase in (0, 13, 40, 72, 100, 126):
        data = samples.saved(samples.kernel("nests", "sm_90"), "sm_90", phase)
        assert resume(data, verify=True).image == samples.image(samples.kernel("nests", "sm_90"), "sm_90")


def test_the_same_file_every_time() -> None:
    first = samples.saved(samples.kernel("switch", "sm_90"), "sm_90", 60, full=True)
    assert first == samples.saved(samples.kernel("switch", "sm_90"), "sm_90", 60, full=True)


def test_a_phase_that_is_none() -> None:
    with pytest.raises(ValueError, match="there is no phase 'nonsense'"):
        compile_text(samples.SMALL, CompileOptions("sm_75", records=SaveRecords("nonsense")))
    with pytest.raises(ValueError, match="one phase"):
        compile_text(samples.SMALL, CompileOptions("sm_75", records=SaveRecords("all")))


def test_nothing_is_forgotten_of_a_module() -> None:
    """Restoring sets every field but the list of functions."""
    from oric.records.state import restore

    a, b = Module("sm_90"), Module("sm_75", (8, 1), "b.ptx")
    b.symbols.clear()
    b.constant_size, b.tensor_maps = 77, 2
    restore(a, b)
    assert (a.target, a.ptx_version, a.filename, a.constant_size, a.tensor_maps) == ("sm_75", (8, 1), "b.ptx", 77, 2)
    assert a.symbols is b.symbols and a.functions is not b.functions


def _modules() -> list[tuple[str, str, str]]:
    """Name, text and target of stored modules of other compilers and of the programs of the tests."""
    found = [(stored.name, stored.text, stored.target) for stored in code.modules()]
    for path in sorted((specification.ROOT / "tests/programs").rglob("*.ptx")):
        found.append((str(path.relative_to(specification.ROOT)), path.read_text(encoding="utf-8"), "sm_90"))
    return found


def _one(number: int, name: str, text: str, target: str) -> int:
    rng = random.Random(name)
    variant = VARIANTS[rng.choice(sorted(VARIANTS))]
    try:
        return check(text, target, rng.choice(samples.PHASE_NUMBERS), **variant)
    except CompileError:
        return 0  # it needs other modules


@pytest.mark.measure
def test_modules_of_other_compilers() -> None:
    found = [row for row in _modules() if len(row[1]) < 6000]
    counts = [_one(number, *row) for number, row in enumerate(found[:: max(len(found) // 12, 1)])]
    assert sum(counts) >= 8


@pytest.mark.measure
@pytest.mark.row("R3-67")
def test_a_thousand_code_objects() -> None:
    """Whatever the tests have in PTX: at least a thousand functions come back and go on to the same cubin."""
    assert sum(_one(number, *row) for number, row in enumerate(_modules())) >= 1000

"""The cubin writer: the same structure as ptxas's file for the same module, deterministic, read back without loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from oric.cubin import write
from oric.cubin.records import FACTS
from oric.ir.encoded import EncodedFunction
from oric.ir.function import Function
from oric.ir.module import Module, Param, Relocation, Symbol
from oric.support.elf import read, target_of
from oric_tables.cubin_layout import LAYOUTS
from oric_tables.targets import TARGETS

from tests.cubin.compare import structure
from tests.cubin.reconstruct import reconstruct

STRUCTURE = Path(__file__).parents[1] / "data" / "cubin" / "structure"
FILES = sorted(STRUCTURE.glob("*.cubin"))
CODE = bytes(range(256)) * 2


def source_of(path: Path) -> str:
    return (STRUCTURE / f"{path.name.split('.')[0]}.ptx").read_text()


@pytest.mark.row("R3-51", "R3-09")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_structure_is_that_of_ptxas(path: Path) -> None:
    original = read(path.read_bytes())
    module, encoded = reconstruct(original, source_of(path))
    ours = read(write(module, encoded, target_of(original)))
    assert structure(ours) == structure(original)


def test_there_is_an_original_for_every_layout_in_use() -> None:
    used = {t.elf["layout"] for t in TARGETS.values()}
    seen = {target_of(read(p.read_bytes())).elf["layout"] for p in FILES}
    assert used <= seen


def test_every_fact_of_the_tables_is_known() -> None:
    wanted = {fact for layout in LAYOUTS.values() for _, _, fact, _ in layout.records if fact}
    assert wanted <= set(FACTS)


def small_module(target: str = "sm_90") -> tuple[Module, list[EncodedFunction]]:
    module = Module(target)
    for name in ("first", "second"):
        code = Function(name, target)
        code.attributes.params.append(Param(0, "p", 0, 8, 8))
        code.attributes.params.append(Param(1, "n", 8, 4, 4))
        code.attributes.param_size = 12
        module.add_function(code)
    return module, [EncodedFunction("first", CODE, 10, [0x10, 0x40]), EncodedFunction("second", CODE[:256], 12, [0x20])]


@pytest.mark.parametrize("target", list(TARGETS))
def test_what_is_written_is_read_back(target: str) -> None:
    module, encoded = small_module(target)
    second = module.functions[1].attributes
    second.static_shared, second.shared_align, second.num_barriers, second.frame_size = 20, 8, 3, 200
    second.reqntid = (32, 2, 1)
    encoded[1].constant2 = bytes(8)
    encoded[1].indirect_branches = [(0x30, [0x40, 0x50])]
    row = TARGETS[target]
    image = read(write(module, encoded, row))
    assert target_of(image).name == target.rstrip("f")  # nothing in a file tells the targets of a family apart from the plain one
    assert list(image.kernels) == ["second", "first"]
    first, other = image.kernels["first"], image.kernels["second"]
    assert (first.text, first.registers, first.exits) == (CODE, 10, (0x10, 0x40))
    assert [(p.offset, p.size) for p in first.params] == [(0, 8), (8, 4)]
    assert (first.param_base, first.param_size) == (row.bank0_params, 12)
    assert len(first.constants[0]) == row.bank0_params + 12
    assert (first.shared_size, first.barriers, first.frame_size) == (0, 0, 0)
    assert other.shared_size == row.shared_base + 20
    assert (other.barriers, other.frame_size, other.min_stack) == (3, 200, 200)
    assert other.required_threads == (32, 2, 1)
    assert other.branch_targets == {0x30: (0x40, 0x50)}
    assert other.constants[2] == bytes(8)


def test_same_input_same_bytes() -> None:
    images = {write(*small_module(), TARGETS["sm_90"]) for _ in range(3)}
    assert len(images) == 1


def test_options_are_in_the_note() -> None:
    image = read(write(*small_module(), TARGETS["sm_90"], options="-arch sm_90 -O 3"))
    note = image.section(".note.nv.tkinfo")
    assert note is not None
    assert b"\0oric\0" in note.data and b"\0-arch sm_90 -O 3\0" in note.data


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_pointers_in_initialisers(target: str) -> None:
    module, encoded = small_module(target)
    table = module.add_symbol(Symbol("table", "const", 8, 4, b"\1\0\0\0\2\0\0\0"))
    data = module.add_symbol(Symbol("data", "global", 16, 4, b"\7"))
    pointers = Symbol("pointers", "global", 32, 8)
    pointers.relocations = [
        Relocation(0, data, 8), Relocation(8, table, 4), Relocation(16, table, 4, generic=True), Relocation(24, data)
    ]  # fmt: skip
    module.add_symbol(pointers)
    module.constant_offset(module.add_symbol(Symbol("pad", "const", 4, 4)))
    module.address_slot(data)
    image = read(write(module, encoded, TARGETS[target]))
    init = image.section(".nv.global.init")
    assert init is not None
    value = next(s.value for s in image.symbols if s.name == "pointers")
    found = {r.offset - value: (image.symbols[r.symbol].name, r.type, r.addend) for r in image.relocations_of(init.index)}
    assert found == {0: ("data", 4, 8), 16: ("table", 4, 4), 24: ("data", 4, 0)}
    own_bank = int.from_bytes(init.data[value + 8 : value + 16], "little")
    assert own_bank == module.symbols[table].offset + 4


def test_frames_describe_every_kernel() -> None:
    module, encoded = small_module()
    module.functions[0].attributes.frame_size = 300
    image = read(write(module, encoded, TARGETS["sm_90"]))
    frames = image.section(".debug_frame")
    assert frames is not None
    units, at = [], 0
    while at < len(frames.data):
        assert frames.data[at : at + 4] == b"\xff" * 4
        size = int.from_bytes(frames.data[at + 4 : at + 12], "little")
        units.append(frames.data[at + 12 : at + 12 + size])
        at += 12 + size
    assert at == len(frames.data) and len(units) == 4
    sizes = [int.from_bytes(u[16:24], "little") for u in units[1::2]]
    assert sizes == [len(CODE[:256]), len(CODE)]
    assert b"\x0c\x81\x80\x80\x28\xac\x02" in units[3]  # def_cfa R1 + 300
    places = [r.offset for r in image.relocations_of(frames.index)]
    assert [frames.data[at + 8 : at + 16] for at in places] == [u[16:24] for u in units[1::2]]  # each before its size


def test_unknown_function_is_refused() -> None:
    module, _ = small_module()
    with pytest.raises(ValueError, match="no function 'third'"):
        write(module, [EncodedFunction("third", CODE)], TARGETS["sm_90"])

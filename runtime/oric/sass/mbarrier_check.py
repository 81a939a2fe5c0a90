"""The records of instructions on mbarriers, held against the code: MBARRIER_INSTR_OFFSETS and NUM_MBARRIERS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import iter_unpack
from typing import Final, NamedTuple

from oric_tables.cubin_layout import GENERIC_MBARRIERS, MBARRIER_KINDS, MBARRIER_SCALE

from .code import INSTRUCTION_BYTES, Code
from .instruction import Instruction

PLACES: Final = "MBARRIER_INSTR_OFFSETS"
COUNT: Final = "NUM_MBARRIERS"
_FORMAT: Final = "<IIiBBBB"
_BYTES: Final = 16
_NO_REGISTER: Final = 255
_NUMBER: Final = (1 << MBARRIER_SCALE) - 1
_NO_ACCESS: Final = "NOP"  # what stands where ptxas's code has no instruction with the address
_OPERATIONS: Final = {number: names for number, names, _ in MBARRIER_KINDS.values() if number >= 0}


class MbarrierRecord(NamedTuple):
    """A record: byte offset of the instruction, register and displacement of the address, number and marks, uniform register."""

    place: int
    register: int
    displacement: int
    kind: int
    one: int
    uniform: int
    zero: int


def records_in(data: bytes) -> list[MbarrierRecord]:
    """The records of MBARRIER_INSTR_OFFSETS; what is left behind the last whole one is passed over."""
    return [MbarrierRecord(*row) for row in iter_unpack(_FORMAT, data[: len(data) - len(data) % _BYTES])]


def mbarrier_problems(code: Code, data: bytes | None, count: int | None, no_uniform: int) -> Iterator[str]:
    """What the records say that the code does not; ``data`` and ``count``: of the two records, None where they are missing."""
    if (data is None) != (count is None):
        yield f"there is no {PLACES if data is None else COUNT}, but {COUNT if data is None else PLACES}"
    found = records_in(data or b"")
    if data is not None and (len(data) % _BYTES or not data):
        yield f"{PLACES} has {len(data)} bytes, not some of {_BYTES}"
    for record in found:
        if record.place % INSTRUCTION_BYTES or record.place // INSTRUCTION_BYTES >= code.count:
            yield f"{PLACES} names {record.place:#x}, which is no instruction"
        else:
            yield from _differences(Instruction(code, record.place // INSTRUCTION_BYTES), record, no_uniform)


def _differences(instruction: Instruction, record: MbarrierRecord, no_uniform: int) -> Iterator[str]:
    where = f"{PLACES} of {record.place:#x} {instruction.text}"
    name = instruction.op.name
    if name == _NO_ACCESS:
        return
    scale = instruction.op.mods.get("scale")
    times = scale.values[str(instruction.modifiers["scale"])] if scale is not None else 0
    marks = GENERIC_MBARRIERS.get(name, 0) | times << MBARRIER_SCALE
    if name not in _OPERATIONS.get(record.kind & _NUMBER, ()) or record.kind & ~_NUMBER != marks:
        yield f"{where}: kind {record.kind:#x}"
    has = _address(instruction, no_uniform)
    said = {"register": record.register, "displacement": record.displacement, "uniform register": record.uniform}
    for what, value in said.items():
        if value != has[what]:
            yield f"{where}: {what} {value:#x}"


def _address(instruction: Instruction, no_uniform: int) -> Mapping[str, int]:
    """What a record says of the address of an instruction."""
    found = {o.name: o for o in instruction.operands}
    register, uniform = found.get("Ra"), found.get("URa")
    return {
        "register": _NO_REGISTER if register is None else register.reg,
        "displacement": found["off"].value if "off" in found else 0,
        "uniform register": no_uniform if uniform is None or uniform.reg == _NO_REGISTER else uniform.reg,
    }

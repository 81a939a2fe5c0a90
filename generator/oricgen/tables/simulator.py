"""What the driver does for a launch, and the simulator in its place: ``spec/simulator.yaml``."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import SpecError
from ..isa import rows as machine
from ..isa.ranges import pick
from ..rows import Row
from ..spec import Spec
from . import targets
from ._shared import entries

NAME = "simulator"
FILES = ("simulator.yaml",)
_FILE = FILES[0]
_TARGET_WORDS = {
    "ntid": 3, "nctaid": 3, "shared_window": 2, "local_window": 2, "stack": 1, "dynamic_shared": 1,
    "constants": 2, "parameters": 2, "parameters_end": 2,
}  # fmt: skip


class LaunchValue(NamedTuple):
    """Words of constant bank 0 on one encoding model."""

    name: str
    offset: int
    words: int
    first: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # words of the system at the start of CTAs of even and odd rank


def load(spec: Spec, group: str = "launch_values") -> dict[str, list[LaunchValue]]:
    """Encoding model -> its launch values, or its ``system_words`` (with offsets in shared memory)."""
    isas = machine.load(spec).isas
    found = spec.load(_FILE)[group]
    out: dict[str, list[LaunchValue]] = {isa: [] for isa in isas}
    for name, row in found.items():
        for isa in isas:
            try:
                offset = pick(row["at"], isa, isas)
            except ValueError as error:
                raise SpecError(spec.path(_FILE), row.line_of("at"), f"{name}: {error}") from error
            if offset is not None:
                odd = tuple(row.get("first", ()))
                out[isa].append(LaunchValue(str(name), int(offset), int(row["words"]), (tuple(row.get("first_even", odd)), odd)))
    return out


def places(spec: Spec) -> dict[str, dict[str, int]]:
    """Launch value -> encoding model -> byte offset in constant bank 0."""
    out: dict[str, dict[str, int]] = {}
    for isa, values in load(spec).items():
        for value in values:
            out.setdefault(value.name, {})[isa] = value.offset
    return out


class External(NamedTuple):
    """A function that the driver provides: its name, the C function, the first register of each argument."""

    name: str
    call: str
    registers: tuple[int, ...]


def externals(spec: Spec) -> list[External]:
    """The functions that the driver provides."""
    found = spec.load(_FILE)["externals"]
    return [External(str(name), row["call"], tuple(row["registers"])) for name, row in found.items()]


def bank_values(target: targets.Target) -> list[LaunchValue]:
    """The launch values among the columns of a target's ``bank0``."""
    known = {name: offset for name, offset in target.bank0.items() if offset not in (targets.UNKNOWN, targets.NONE)}
    return [LaunchValue(name, int(known[name]), words) for name, words in _TARGET_WORDS.items() if name in known]


def rows(spec: Spec) -> list[Row]:
    """One row a launch value, one an external function."""
    data = spec.load(_FILE)
    values = entries(data, "launch_values", f"spec/{_FILE}", "bank 0 ")
    words = entries(data, "system_words", f"spec/{_FILE}", "shared ")
    return values + words + entries(data, "externals", f"spec/{_FILE}", "external ")


def counts(spec: Spec) -> dict[str, int]:
    """How many values a launch fills in, how many functions it provides."""
    data = spec.load(_FILE)
    return {"launch values": len(data["launch_values"]), "external functions": len(data["externals"])}


def check(spec: Spec) -> None:
    """No word belongs to two values.

    Raises:
        SpecError: two values overlap on an encoding model.
    """
    for isa, values in load(spec).items():
        taken: dict[int, str] = {}
        for value in values:
            for offset in range(value.offset, value.offset + 4 * value.words, 4):
                if offset in taken:
                    line = spec.load(_FILE)["launch_values"].line_of(value.name)
                    raise SpecError(spec.path(_FILE), line, f"{value.name}: {offset:#x} on {isa} is also of {taken[offset]}")
                taken[offset] = value.name

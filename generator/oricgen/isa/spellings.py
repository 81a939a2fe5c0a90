"""Values of modifiers that the compiler calls by the name of most models: ``spellings`` of ``spec/formats.yaml``.

Lowering and the passes say ``STRONG.SM`` on every target; where a model has another value for the same, its words get that one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Mistakes, SpecError
from ..names import did_you_mean
from ..spec import Spec
from ..strictyaml import Map
from .model import Machine, Modifier, Operation

_FILE = "formats.yaml"


@dataclass(frozen=True)
class Spelling:
    """Of an operation: the packed code ``said`` at ``shift`` is encoded as ``meant``."""

    op: int
    shift: int
    width: int
    said: int
    meant: int


def load(spec: Spec, machine: Machine) -> dict[str, list[Spelling]]:
    """The spellings of every encoding model, by operation.

    Raises:
        SpecError: a model, a modifier or a value that does not exist.
    """
    data = spec.load(_FILE)["spellings"]
    out: dict[str, list[Spelling]] = {isa: [] for isa in machine.isas}
    with Mistakes() as each:
        for isa, mods in data.items():
            for name, values in mods.items():
                with each:
                    if isa not in out:
                        raise _error(data.line_of(isa), f"there is no encoding model '{isa}'{did_you_mean(isa, out)}")
                    out[isa] += _of(machine, isa, name, values, mods.line_of(name))
    return {isa: sorted(found, key=lambda s: (s.op, s.shift, s.said)) for isa, found in out.items()}


def _of(machine: Machine, isa: str, name: str, values: Map, line: int) -> list[Spelling]:
    """The spellings of a modifier on a model: of each operation that knows both values and has the one meant there."""
    holders = [(o, m) for o in machine.operations if o.forms.get(isa) for m in o.mods if m.name == name]
    if not holders:
        raise _error(line, f"no operation has a modifier '{name}' on {isa}")
    out: list[Spelling] = []
    for said, meant in values.items():
        found = [
            Spelling(o.number, m.shift, m.width, m.codes[said], m.codes[str(meant)])
            for o, m in holders
            if said in m.codes and str(meant) in _there(o, m, isa)
        ]
        if not found:
            raise _error(values.line_of(said), f"no operation of {isa} has the value '{meant}' of '{name}' for '{said}'")
        out += found
    return out


def _there(operation: Operation, mod: Modifier, isa: str) -> set[str]:
    """The values of a modifier that some form on a model has."""
    index = operation.mods.index(mod)
    codes = {code for form in operation.forms[isa] for m in form.mods if m.mod == index for code in m.decode}
    return {name for name, code in mod.codes.items() if code in codes}


def _error(line: int, message: str) -> SpecError:
    return SpecError(Spec.path(_FILE), line, message)

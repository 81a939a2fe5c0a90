"""The names of C that texts of meanings and values may use: those of headers that the generated C includes, modifier values."""

from __future__ import annotations

import re

from .ctext import headers
from .ctext.headers import Declared, Names
from .isa import rows
from .isa.model import Machine, Modifier
from .outputs import numbers
from .spec import Spec

ABSENT = "V_ABSENT"  # the value of a modifier that a form has not
_LANE = {"w": "sim_warp *", "in": "oric_insn *", "mask": "uint32_t", "l": "uint32_t"}
_THREAD = {"from": "value_source *"}
_SPECIAL = {"w": "sim_warp *", "lane": "uint32_t", "tid": "uint32_t *", "launch": "oric_sim_launch *"}


def value_name(name: str) -> str:
    """The C name of a modifier value: ``V_`` and the name with ``_`` for what an identifier cannot have."""
    return "V_" + re.sub(r"\W", "_", name)


def is_switch(mod: Modifier) -> bool:
    """Whether a modifier is there or not there, without values of its own."""
    return mod.kind == "enum" and set(mod.codes) == {"false", "true"}


def value_names(machine: Machine) -> list[str]:
    """The names of all modifier values, in order."""
    mods = [m for o in machine.operations for m in o.mods if m.kind == "enum" and not is_switch(m)]
    return sorted({value_name(name) for m in mods for name in m.codes})


def of_lanes(spec: Spec) -> Names:
    """What the generated functions of meanings know, and the warp's conditions."""
    return spec.memo("names of lanes", lambda: _names(spec, headers.of_lanes(), _LANE))


def of_threads(spec: Spec) -> Names:
    """What the generated functions of values know."""
    return spec.memo("names of threads", lambda: _names(spec, headers.of_threads(), _THREAD))


def of_special(spec: Spec) -> Names:
    """What the generated function of system registers knows, of one lane."""
    return spec.memo("names of system registers", lambda: _names(spec, headers.of_lanes(), _SPECIAL))


def _names(spec: Spec, declared: Declared, variables: dict[str, str]) -> Names:
    declared.add(headers.declarations(numbers.render(spec)["c/tables/numbers.h"]))
    return Names(declared, frozenset({ABSENT, *value_names(rows.load(spec))}), variables)

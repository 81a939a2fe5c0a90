"""The simulator's C: one file of lane loops per family of ``spec/encoding``, the dispatch table, the names of modifier values."""

from __future__ import annotations

from ..isa import rows
from ..isa.model import Machine
from ..known import of_lanes, value_names
from ..meaning import Meaning, in_order, read
from ..render import header, numbered, template
from ..spec import Spec
from ..tables import system_registers

_ME = "generator/oricgen/outputs/sim.py"


def render(spec: Spec) -> dict[str, str]:
    """Render the simulator's generated C.

    Raises:
        SpecError: a meaning that does not fit its row.
    """
    machine = rows.load(spec)
    operations = {o.name: o for o in machine.operations}
    known = of_lanes(spec)
    families: dict[str, list[Meaning]] = {}
    for path, data in spec.family("encoding").items():
        found = [read(operations[name], row, known) for name, row in data["operations"].items()]
        families[path] = [m for m in found if m is not None]
    everything = [m for f in families.values() for m in f]
    out = {}
    for path, meanings in families.items():
        stem = path.split("/")[1].removesuffix(".yaml")
        name = f"c/sim/exec_{stem}.c"
        out[name] = numbered(header("//", _ME, [f"spec/{path}"]) + template("sim_exec.c.j2", meanings=meanings), name)
    sources = ["spec/encoding", "spec/system_registers.yaml"]
    out["c/sim/exec.h"] = header("//", _ME, sources) + template("sim_exec.h.j2", meanings=everything)
    out["c/arith/names.h"] = header("//", _ME, sources) + template("value_names.h.j2", names=value_names(machine))
    ordered = [
        (operations[name].number, condition)
        for data in spec.family("encoding").values()
        for name, row in data["operations"].items()
        if (condition := in_order(operations[name], row, known)) is not None
    ]
    code = header("//", _ME, sources) + template("sim_in_order.c.j2", ordered=ordered)
    out["c/sim/in_order.c"] = numbered(code, "c/sim/in_order.c")
    out["c/sim/table.c"] = numbered(header("//", _ME, sources) + _table(spec, machine, everything), "c/sim/table.c")
    return out


def _addresses(machine: Machine, isa: str) -> list[str]:
    """For each form of an ISA how it builds a global address, as its printed text says."""
    forms = machine.forms_of(isa)
    out = []
    for place in machine.form_order(isa):
        text = forms[place][0].text
        out.append("A32_UR64" if "Ra.U32" in text else "A32" if "[Ra+" in text and "{e}" in text else "A64")
    return out


def _table(spec: Spec, machine: Machine, meanings: list[Meaning]) -> str:
    count = max(o.number for o in machine.operations) + 1
    by_number = {o.number: {"number": o.number, "name": o.name, "ident": o.ident, "guard": o.guard} for o in machine.operations}
    nothing = {"number": 0, "name": "no operation", "ident": "", "guard": "P"}
    ops = [by_number.get(n, nothing) for n in range(count)]
    addresses = [_addresses(machine, isa) for isa in machine.isas]
    known = {m.ident for m in meanings}
    return template(
        "sim_table.c.j2", addresses=addresses, ops=ops, count=count, known=known, special=system_registers.meanings(spec)
    )

"""``build/c/tables/slots.{h,c}``: how many registers each operand of an operation has, their alignment, implicit accesses."""

from __future__ import annotations

from ..isa.model import EFFECTS, Machine, Operation
from ..isa.rows import load
from ..latency import FILES
from ..render import header, template
from ..spec import Spec

_REGIONS = ("", "enter", "sync", "leave")


def render(spec: Spec) -> dict[str, str]:
    """The two C files; empty as long as there are no encoding rows."""
    if not (spec.root / "encoding").is_dir():
        return {}
    head = header("//", "oricgen.outputs.access", ["spec/encoding/*.yaml"])
    machine = load(spec)
    most = max((len(r.mods) for op in machine.operations for r in op.registers), default=0)
    return {
        "c/tables/slots.h": template(
            "slots.h.j2", header=head, n_ops=len(machine.operations) + 1, most_mods=most or 1, effects=EFFECTS, regions=_REGIONS
        ),
        "c/tables/slots.c": head + _source(machine),
    }


class _Tables:
    """Pools of rows; equal tables of counts are kept once."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.at: dict[tuple[int, ...], int] = {}
        self.slots: list[str] = []
        self.implicit: list[str] = []
        self.first_slot = [0]
        self.first_implicit = [0]

    def add(self, operation: Operation) -> None:
        self.first_slot.append(len(self.slots))
        self.first_implicit.append(len(self.implicit))
        for operand, registers, align in zip(operation.operands, operation.registers, operation.align, strict=True):
            mods = [operation.mods[m] for m in registers.mods]
            table = registers.table
            if table not in self.at:
                self.at[table] = len(self.counts)
                self.counts += table
            shifts = ", ".join([str(m.shift) for m in mods] or ["0"])
            widths = ", ".join([str(m.width) for m in mods] or ["0"])
            self.slots.append(
                f"{{{int(operand.writes)}, {align}, {len(mods)}, {{{shifts}}}, {{{widths}}}, {self.at[table]}}}, "
                f"/* {operation.name} {operand.name} */"
            )
        for i in operation.implicit:
            mask = 255 if i.mask < 0 else i.mask
            self.implicit.append(
                f"{{{FILES.index(i.file)}, {i.first}, {i.count}, {int(i.writes)}, {mask}}}, /* {operation.name} */"
            )


def _source(machine: Machine) -> str:
    tables = _Tables()
    for operation in machine.operations:
        tables.add(operation)
    firsts = {"slots": [*tables.first_slot, len(tables.slots)], "implicits": [*tables.first_implicit, len(tables.implicit)]}
    lines = ['#include "tables/slots.h"', ""]
    for name, values in firsts.items():
        lines += [f"const uint16_t oric_op_{name}[ORIC_SLOT_OPS + 1] = {{", _numbers(values), "};"]
    lines += ["const oric_slot oric_slots[] = {", *(f"    {row}" for row in tables.slots), "    {0, 0, 0, {0}, {0}, 0},", "};"]
    lines += [
        "const oric_implicit oric_implicits[] = {",
        *(f"    {row}" for row in tables.implicit),
        "    {0, 0, 0, 0, 0},",
        "};",
    ]
    lines += ["const oric_flow oric_flows[ORIC_SLOT_OPS] = {", "    {0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0},"]
    lines += [f"    {_flow(o)}, /* {o.name} */" for o in machine.operations]
    lines += ["};", "const uint8_t oric_slot_counts[] = {", _numbers(tables.counts), "};", ""]
    return "\n".join(lines)


def _flow(operation: Operation) -> str:
    flow = operation.flow
    mask = operation.mods[flow.boards] if flow.boards >= 0 else None
    asks = operation.mods[flow.conditional] if flow.conditional >= 0 else None
    shift, width = (mask.shift, mask.width) if mask else (0, 0)
    numbers = (
        sum(1 << EFFECTS.index(e) for e in operation.effects), int(operation.guard == "UP"),
        asks.shift if asks else 0, asks.width if asks else 0, int(flow.hidden_reuse), _REGIONS.index(flow.region),
        flow.board & 255, flow.left & 255, shift, width, sum(1 << a for a in flow.adds),
        sum(1 << a for a in flow.one_sign),
    )  # fmt: skip
    return "{" + ", ".join(map(str, numbers)) + "}"


def _numbers(values: list[int]) -> str:
    words = [str(v) for v in values]
    return "\n".join("    " + ", ".join(words[i : i + 24]) + "," for i in range(0, len(words), 24))

"""Dumps of registers: what each virtual register got, and how many there are of each sub-class.

Source: Register Model, "Register Name Table" (sub-classes, the line about fat points), "Seven Allocator Register Classes".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric_tables import ops, registers
from oric_tables.reports import FATPOINTS, SRZ, SUBCLASSES

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.machine import FILES
from oric.ir.text import LETTERS, all_instructions, operands_of

from .facts import Facts, Record, head, is_allocated, register_name, title, used_registers
from .live import peaks

_UNIFORM_KINDS: Final = ("ugpr", "upred")


def fatpoint_lines(name: str, peak: dict[str, int]) -> list[str]:
    """The documented line of every file: the number of units that are live at its fattest point."""
    return [FATPOINTS % (name, file, peak[file]) for file in FILES]


def allocation_record(f: Function, facts: Facts) -> Record:
    """By file: the virtual registers that code names, and what became of them.

    ``hardware``: the first hardware register, -1: none yet; ``joined``: the register that has the same place as a copy.
    """
    files: dict[str, list[Record]] = {file: [] for file in FILES}
    for r in used_registers(f):
        files.setdefault(LETTERS[f.reg_type[r]], []).append({
            "register": register_name(f, r),
            "words": int(f.reg_size[r]),
            "hardware": int(f.physical[r]) if f.physical[r] != NONE else -1,
            "joined": register_name(f, f.parent[r]) if f.parent[r] != NONE else "",
            "fixed": bool(f.reg_flags[r] & registers.FLAG_FIXED),
            "spilled": bool(f.reg_flags[r] & registers.FLAG_SPILLED),
        })  # fmt: skip
    peak = peaks(f, facts)
    return {
        **head("allocation", f, facts),
        "allocated": is_allocated(f),
        "files": [{
            "file": file,
            "registers": found,
            "used": max((r["hardware"] + r["words"] for r in found if r["hardware"] >= 0), default=0),
            "peak": peak.get(file, 0),
        } for file, found in files.items()],
        "spills": {"stores": f.attributes.spill_stores, "loads": f.attributes.spill_loads},
    }  # fmt: skip


def allocation_lines(record: Record) -> Iterator[str]:
    """Files with their registers, then the documented lines about fat points."""
    yield title(record)
    for file in record["files"]:
        if file["registers"]:
            yield f"{file['file']}: {len(file['registers'])} virtual registers, {file['used']} hardware registers"
        for r in file["registers"]:
            place = f"{file['file']}{r['hardware']}" if r["hardware"] >= 0 else "none"
            if r["words"] > 1 and r["hardware"] >= 0:
                place += f"-{file['file']}{r['hardware'] + r['words'] - 1}"
            notes = [f"joined with {r['joined']}"] * bool(r["joined"]) + [name for name in ("fixed", "spilled") if r[name]]
            yield f"    {r['register']} -> {place}" + (f" ({', '.join(notes)})" if notes else "")
    spills = record["spills"]
    yield f"spills: {spills['stores']} bytes stored, {spills['loads']} bytes loaded"
    yield from (FATPOINTS % (record["function"], file["file"], file["peak"]) for file in record["files"])


def subclass_counts(f: Function) -> list[tuple[str, int]]:
    """How many registers, or operands that are a fixed register, each sub-class has (spec/registers.yaml)."""
    used = used_registers(f)
    fixed = _fixed_operands(f)
    found = []
    for name, types, least, most, flags, register in SUBCLASSES:
        if register:
            found.append((name, fixed[register]))
        else:
            chosen = [r for r in used if f.reg_type[r] in types and least <= f.reg_size[r] <= most]
            found.append((name, sum(not flags or bool(f.reg_flags[r] & flags) for r in chosen)))
    return found


def _fixed_operands(f: Function) -> dict[str, int]:
    """How many operands are each register that reads as a constant."""
    found = {"RZ": 0, "PT": 0, "URZ": 0, "UPT": 0, "SRZ": 0}
    for i in all_instructions(f):
        slots = ops.op(f.op[i]).operands
        for at, operand in enumerate(operands_of(f, i)):
            kind = slots[at].kind if at < len(slots) else ""
            if opd.type_of(operand) == opd.REG and opd.index_of(operand) in (opd.RZ, opd.PT):
                name = "RZ" if opd.index_of(operand) == opd.RZ else "PT"
                found["U" * (kind in _UNIFORM_KINDS) + name] += 1
            elif opd.type_of(operand) == opd.SPECIAL and kind == "sreg":
                found["SRZ"] += opd.index_of(operand) == SRZ
    return found


def registers_record(f: Function, facts: Facts) -> Record:
    """The counts of the sub-classes."""
    counts = [{"name": name, "count": count} for name, count in subclass_counts(f)]
    return {**head("registers", f, facts), "subclasses": counts}


def registers_lines(record: Record) -> Iterator[str]:
    """A line for every sub-class."""
    yield title(record)
    yield from (f"{row['name']:<14} {row['count']}" for row in record["subclasses"])

"""What a PTX instruction is: its forms, and the code that it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..lowering import patterns
from ..lowering.patterns import Pattern
from ..rows import Row
from ..tables import lowering as lowering_table
from ..tables._line import levels
from ..tables.targets import Target
from . import uses
from .index import Index
from .page import Page


def split(index: Index, name: str) -> tuple[str, list[str]] | None:
    """Instruction and qualifiers of a mnemonic (``add.cc.u32`` is ``add.cc`` with ``u32``); None when it is none."""
    known = {row.values["instruction"] for row in index.rows("ptx") if "instruction" in row.values}
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        if ".".join(parts[:count]) in known:
            return ".".join(parts[:count]), parts[count:]
    return None


def forms_of(index: Index, instruction: str, words: list[str]) -> list[Row]:
    """The signatures of an instruction that have every one of ``words`` among their qualifiers."""
    return [
        row
        for row in index.rows("ptx")
        if row.values.get("instruction") == instruction and _takes(row.values.get("qualifiers", {}).values(), words)
    ]


def _takes(slots: Iterable[Iterable[str]], words: list[str]) -> bool:
    """Whether the words fit slots of their own, in order."""
    remaining: Iterator[Iterable[str]] = iter(slots)
    return all(any(word in slot for slot in remaining) for word in words)


def instruction_page(index: Index, instruction: str, words: list[str], target: Target | None) -> Page:
    """The page of an instruction, limited to the forms and rules that take ``words``, and to a target."""
    page = Page()
    forms = forms_of(index, instruction, words)
    first = forms[0]
    page.heading(f"{'.'.join([instruction, *words])}: PTX instruction", f"PTX ISA {first.values['section']}")
    page.heading(f"Forms: {len(forms)}")
    for row in forms:
        page.line(f"{row.key}  ({row.path}:{row.line})")
        values = {k: v for k, v in row.values.items() if k not in ("instruction", "family", "section") and v != 0}
        page.fields(values, 6)
        if target is not None and row.values.get("sm", 0) > levels(index.spec)[target.name]:
            page.line(f"not on {target.name}: it needs sm_{row.values['sm']}", 6)
    rules = [(row, made) for row, made in uses.lowering_rules(index) if _fits(index, row, instruction, words)]
    page.heading(f"Lowering rules: {len(rules) or 'none (the instruction is refused with its name and place)'}")
    for row, made in rules:
        _rule(page, row, made, target)
    others = [f for f in index.naming(instruction) if f.table not in ("phases", "options")]
    for found in others:
        page.heading(f"{found.table}: {found.row.key}", f"{found.row.path}:{found.row.line}")
        page.fields(found.row.values)
    return page


def _fits(index: Index, row: Row, instruction: str, words: list[str]) -> bool:
    if "instruction" not in row.values:
        return False
    pattern: Pattern = patterns.parse(row.key.partition(" ")[0], lowering_table.load(index.spec).sets, row.path, row.line)
    own = instruction.split(".")
    return pattern.family == own[0] and _takes([s.tokens for s in pattern.slots], [*own[1:], *words])


def _rule(page: Page, row: Row, made: list[str], target: Target | None) -> None:
    page.line(f"{row.key}  ({row.path}:{row.line})")
    if target is not None and row.values.get("isa") and target.isa not in row.values["isa"]:
        page.line(f"not on {target.name}: only {', '.join(row.values['isa'])} can do it", 6)
        return
    alternatives = uses.alternatives(row)
    for number, alternative in enumerate(alternatives, 1):
        conditions = [f"{key} {alternative[key]}" for key in ("when", "if", "expand", "with") if key in alternative]
        if len(alternatives) > 1:
            conditions.insert(0, f"case {number} of {len(alternatives)}, the first that the target can do is taken")
        if conditions:
            page.line("; ".join(conditions), 6)
        for line in alternative.get("emit", ()):
            page.line(line, 8 if conditions else 6)

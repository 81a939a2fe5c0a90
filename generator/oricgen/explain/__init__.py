"""``oricgen explain``: everything that the specification knows under a name.

A name is that of an opcode (or its ROT13 name, or its id), a machine operation, a target, a PTX instruction with or without
qualifiers, or the key of any row of any table.
"""

from __future__ import annotations

from ..errors import UsageError
from ..isa import rows as machine_rows
from ..names import did_you_mean, nearest
from ..rows import Row
from ..spec import Spec
from ..tables import targets as targets_table
from ..tables.targets import Target
from .index import Found, Index
from .instruction import forms_of, instruction_page, split
from .machine import opcode_page
from .page import Page

# Tables whose rows have no page of their own: an opcode's page shows them.
_PARTS = ("operations", "forms")


def explain(spec: Spec, name: str, sm: str | None = None) -> str:
    """The page or pages of ``name``; with ``sm`` the machine forms and timings of that target only.

    Raises:
        UsageError: nothing has that name, or several things nearly do; an unknown target.
    """
    index = Index.of(spec)
    target = None if sm is None else _target(spec, sm)
    isas = list(machine_rows.load(spec).isas) if target is None else [target.isa]
    pages = _pages(index, name, isas, target)
    if not pages:
        known = _names(index)
        same = [other for other in known if other.lower() == name.lower()]
        if len(same) != 1:
            raise UsageError(_unknown(index, name, known))
        pages = _pages(index, same[0], isas, target)
    if target is not None and not target.code:
        words = "its machine code can be read, written by hand, checked and run"
        pages[-1].heading(f"No code can be made for {target.name} yet: {words}.", f"spec/{targets_table.FILES[0]}:{target.line}")
    return "\n".join(map(str, pages))


def _target(spec: Spec, sm: str) -> Target:
    known = targets_table.load(spec).by_name
    able = ", ".join(target.name for target in known.values() if target.code)
    if sm not in known:
        raise UsageError(f"there is no target '{sm}'{did_you_mean(sm, known) or f'; code can be made for {able}'}")
    if not known[sm].isa:
        models = ", ".join(target.name for target in known.values() if target.isa)
        raise UsageError(f"the machine code of {sm} is not known: no forms, no timings; they are for {models}")
    return known[sm]


def _pages(index: Index, name: str, isas: list[str], target: Target | None) -> list[Page]:
    """One page for each thing that has exactly this name."""
    opcode, only = _opcode(index, name)
    if opcode is not None:
        return [opcode_page(index, opcode, isas, only)]
    pages = []
    mnemonic = split(index, name)
    if mnemonic is not None and forms_of(index, *mnemonic):
        pages.append(instruction_page(index, *mnemonic, target))
    pages += [row_page(index, found) for found in index.by_key.get(name, ()) if found.table not in _PARTS]
    return pages


def _opcode(index: Index, name: str) -> tuple[Row | None, str]:
    """The row of an opcode by name, ROT13 name, id or operation; and the operation when it is one of several."""
    for row in index.rows("opcodes"):
        if name in (row.key, row.values.get("rot13"), str(row.values["id"])):
            return row, ""
    operation = next((o for o in machine_rows.load(index.spec).operations if o.name == name), None)
    return (index.row("opcodes", operation.opcode), operation.name) if operation else (None, "")


def row_page(index: Index, found: Found) -> Page:
    """Any row: its columns, and the rows of other tables that name it."""
    page = Page()
    page.heading(f"{found.row.key}: row of the table {found.table}", f"{found.row.path}:{found.row.line}")
    page.fields(found.row.values)
    naming = index.naming(found.row.key)
    if naming:
        page.heading("Named by")
        tables: dict[str, list[str]] = {}
        for other in naming:
            tables.setdefault(other.table, []).append(other.row.key)
        for table, keys in tables.items():
            page.line(f"{table}: {len(keys)}")
            page.items(keys, 4)
    return page


def _names(index: Index) -> list[str]:
    names = [key for key, found in index.by_key.items() if any(f.table not in _PARTS for f in found)]
    names += [operation.name for operation in machine_rows.load(index.spec).operations]
    names += [str(row.values["instruction"]) for row in index.rows("ptx") if "instruction" in row.values]
    return sorted(set(names))


def _unknown(index: Index, name: str, known: list[str]) -> str:
    if name.isdigit():
        ids = sorted(int(row.values["id"]) for row in index.rows("opcodes"))
        return f"no opcode has the id {name}; the ids are {_runs(ids)}"
    mnemonic = split(index, name)
    if mnemonic is not None:
        instruction, words = mnemonic
        forms = list(dict.fromkeys(row.key for row in forms_of(index, instruction, [])))
        return f"PTX instruction '{instruction}' has no form with {'.'.join(['', *words])}; its forms: {', '.join(forms)}"
    same = [other for other in known if other.lower() == name.lower()]
    if same:
        return f"'{name}' is ambiguous: {', '.join(same)}"
    inside = [other for other in known if name.lower() in other.lower()]
    hint = did_you_mean(name, known)
    if not nearest(name, known) and inside:
        hint = f"; names with it: {', '.join(inside[:8])}{' ...' if len(inside) > 8 else ''}"
    return f"nothing is called '{name}'{hint}"


def _runs(numbers: list[int]) -> str:
    """``0-354, 512-536``."""
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)

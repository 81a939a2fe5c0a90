"""What an opcode is: identity, operations, forms, scheduling, the rules that make it."""

from __future__ import annotations

from ..isa import rows as machine_rows
from ..isa.model import Form, Operation
from ..latency import KIND_FILES, ClassColumns, class_rows, columns_on, like
from ..rows import Row
from ..tables import latency as latency_table
from ..tables import regclass
from . import uses
from .index import WOVEN, Index
from .page import Page
from .picture import KEY, picture

_OPCODE = 0xFFF
_EVIDENCE = ("spacing", "stall")  # columns that are [value, smallest value seen]
_DIRECTION = {True: "written", False: "read"}


def opcode_page(index: Index, opcode: Row, isas: list[str], only: str = "") -> Page:
    """The page of a row of the table ``opcodes``; ``only`` limits it to one operation."""
    page = Page()
    page.heading(f"{opcode.key}: {opcode.values.get('kind', 'opcode')} {opcode.values['id']}", f"{opcode.path}:{opcode.line}")
    page.fields({name: value for name, value in opcode.values.items() if name not in ("id", "kind")})
    others = [f for f in index.by_key.get(opcode.key, ()) if f.table not in (*WOVEN, "opcodes")]
    others += index.naming(opcode.key)
    for found in others:
        page.heading(f"{found.table}: {found.row.key}", f"{found.row.path}:{found.row.line}")
        page.fields(found.row.values)
    case = regclass.load(index.spec).of.get(opcode.key)
    if case is None:
        page.heading("No case of regclass.yaml is this opcode's: no document gives it an encoding category.")
    elif case.key not in {found.row.key for found in others}:
        found_case = index.row(regclass.NAME, case.key)
        assert found_case is not None, case.key
        page.heading(f"regclass: {case.key}", f"{found_case.path}:{found_case.line}")
        page.fields(found_case.values)
    machine = machine_rows.load(index.spec)
    operations = [o for o in machine.operations if o.opcode == opcode.key and only in ("", o.name)]
    for operation in operations:
        operation_section(index, page, operation, isas)
    if not operations:
        page.heading("No operation of spec/encoding has this opcode: nothing can be encoded or decoded as it.")
    return page


def operation_section(index: Index, page: Page, operation: Operation, isas: list[str]) -> None:
    """One operation with its forms, scheduling and rules."""
    row = index.row("operations", operation.name)
    assert row is not None, operation.name
    page.heading(f"Operation {operation.name}", f"{row.path}:{row.line}")
    page.fields({name: value for name, value in row.values.items() if name not in ("operands", "modifiers")})
    operands = dict(row.values.get("operands", {}))
    if operands:
        page.line("operands (kind, direction, registers, marks: - negation, | absolute value, ~ complement, = when left out)")
        page.table([[o.name, _DIRECTION[o.writes], operands[o.name].replace(" written", "")] for o in operation.operands], 4)
    if operation.mods:
        page.line("modifiers (values in the order of their code in Ori; the first is the default)")
        page.table([[name, str(text)] for name, text in row.values["modifiers"].items()], 4)
    have = [isa for isa in isas if isa in operation.forms]
    for isa in isas:
        if isa not in operation.forms:
            page.heading(f"{operation.name} does not exist on {isa}.")
    if have:
        _forms(page, operation, have)
    drawn: dict[tuple[str, ...], list[str]] = {}
    for isa in have:
        drawn.setdefault(tuple(_scheduling(index, operation, isa).lines), []).append(isa)
    for (title, *lines), where in drawn.items():
        page.heading(f"Scheduling on {', '.join(where)}: {title}")
        page.lines += lines
    _rules(index, page, operation)


def _forms(page: Page, operation: Operation, isas: list[str]) -> None:
    page.heading(f"Forms of {operation.name}", KEY)
    drawn: dict[tuple[str, ...], list[str]] = {}
    for isa in isas:
        for form in operation.forms[isa]:
            drawn.setdefault((_title(operation, form), *picture(operation, form)), []).append(isa)
    for (title, *lines), where in drawn.items():
        page.line(f"{title}  [{', '.join(where)}]")
        for line in lines[:2]:
            page.line(line, 4)
        page.items(lines[2:], 8)


def _title(operation: Operation, form: Form) -> str:
    match = form.mask & ~_OPCODE
    conditions = " ".join(f"{bit}={form.value >> bit & 1}" for bit in range(128) if match >> bit & 1)
    text = f"  {form.text}" if form.text != operation.text else ""
    name = "" if form.name.startswith("0x") else f"{form.name}  "
    return f"{name}{form.value & _OPCODE:#05x} {conditions}{text}"


def _scheduling(index: Index, operation: Operation, isa: str) -> Page:
    """Class, readers and distances of an operation on one encoding model, under the class's name."""
    page = Page()
    tables = latency_table.load(index.spec)
    schedule = next(o for o in tables.operations if o.operation.name == operation.name)
    columns = tables.classes[schedule.klass][isa]
    row = index.row("latency", f"{schedule.klass}/{isa}")
    assert row is not None, schedule.klass
    page.heading(f"class {schedule.klass}", f"{row.path}:{row.line}")
    hidden = ("class", "isa", "operations", "reads", *(() if columns.estimate else ("estimate",)))
    raw = class_rows(index.spec).rows[schedule.klass].row
    seen = {name: figures[1] for name, figures in columns_on(raw, isa, tables.isas).items() if name in _EVIDENCE}
    values = {name: f"{value}, seen {seen[name]}" if name in seen else value for name, value in row.values.items()}
    page.fields({name: value for name, value in values.items() if name not in hidden})
    read = [
        [o.name, "is read as " + "/".join(dict.fromkeys(groups))]
        for o, groups in zip(operation.operands, schedule.readers, strict=True)
        if not o.writes
    ]
    page.table(read)
    _distances(index, page, operation, columns, isa)
    return page


def _distances(index: Index, page: Page, operation: Operation, columns: ClassColumns, isa: str) -> None:
    """Cycles that readers of each result must wait, with the evidence."""
    files = dict.fromkeys(KIND_FILES[o.kind] for o in operation.operands if o.writes and o.kind in KIND_FILES)
    names = dict.fromkeys(f"{file} {half}" for file in files for half in columns.results.get(file, ()))
    for name in names:
        file, _, kind = name.partition(" ")
        figures_of = f"{file} {like(index.spec, isa).get(kind, kind)}"
        row = index.row("distances", f"{isa}/{name}") or index.row("distances", f"{isa}/{figures_of}")
        assert row is not None, name
        page.line(f"cycles from '{name}' to a reader: kept, smallest seen (pairs at it, of all)  ({row.path}:{row.line})")
        readers = {**row.values["readers"], "any other": str(row.values["other"]), "written again": str(row.values["rewrite"])}
        page.items([f"{group} {figures}" for group, figures in readers.items()], 4)


def _rules(index: Index, page: Page, operation: Operation) -> None:
    made = [row for row, operations in uses.lowering_rules(index) if operation.name in operations]
    instructions = sorted({row.values["instruction"] for row in made if "instruction" in row.values})
    page.heading(f"Lowering rules that make {operation.name}: {len(made) or 'none'}")
    if instructions:
        page.wrapped(", ".join(instructions), "  PTX: ")
    entries: dict[str, list[str]] = {}
    for row in made:
        entries.setdefault(f"{row.path}:{row.line}", []).append(row.key)
    more = {place: f" and {len(keys) - 1} more of its `each`" if len(keys) > 1 else "" for place, keys in entries.items()}
    page.table([[place, keys[0] + more[place]] for place, keys in entries.items()])
    found = uses.rewrites(index, operation.name)
    if found:
        page.heading(f"Rewrites with {operation.name}")
        page.table([[row.key, _rewrite(row), f"{row.path}:{row.line}"] for row in found])


def _rewrite(row: Row) -> str:
    values = row.values
    if "rule" in values:
        place = f", in {values['within']}" if values["within"] else ""
        return f"becomes {values['make']}, {values['if']}{place}"
    if "sources" in values:
        return "sources may change places: " + ", ".join(values["sources"])
    return "is evaluated when all sources are constants"

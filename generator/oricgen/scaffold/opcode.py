"""A new opcode: its row, a machine operation copied from another, a place in that one's scheduling class."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .. import latency
from ..errors import UsageError
from ..isa import rows as machine_rows
from ..isa.model import Operation
from ..names import did_you_mean
from ..spec import Spec
from ..strictyaml import Map
from ..tables import opcodes as table
from ..tables.opcodes import Opcode, Opcodes, rot13
from ..textedit import Document
from . import MARK, Plan

_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]{3}\b")
_SPACES = "memory_spaces.yaml"
_KEPT = ("category", "memory", "attributes")  # columns that the new row takes from the old one
_BASE = 0x1FF  # bits 0-8 of a word; 9-11 say what the sources are
_WIDTH = 130


def plan(root: Path, spec: Spec, name: str, like: str, number: int | None, base: int | None) -> Plan:
    """The edits for opcode ``name`` after ``like``; ``number`` is its id, ``base`` its machine opcode (bits 0-8).

    Raises:
        UsageError: a name or id that is taken or not possible, a model that does not exist or has no machine form.
    """
    known = table.load(spec)
    _check_name(known, name)
    model = _model(known, like)
    operation, path = _operation(spec, model)
    opcode = _id(known, number)
    out = Plan(root)
    if base is not None and not 0 <= base <= _BASE:
        raise UsageError(f"the machine opcode is bits 0-8 of the word, a number up to {_BASE:#x}, not {base:#x}")
    _add_row(out, spec, known, model, name, opcode)
    key = _add_operation(out, path, operation, model, name, base)
    _add_value(out, spec, operation, key)
    _add_class(out, spec, operation, key)
    _add_space(out, spec, model, name)
    out.next = [
        f"oricgen explain {name}        # what the specification now says of it",
        "oricgen check                  # until it passes",
        "oricgen build && oricgen native",
        "oricgen diff                   # what a reviewer sees",
        "python tests/sass/make_vectors.py   # golden words from a real nvdisasm; the tests ask for some of every form",
    ]
    return out


def _check_name(known: Opcodes, name: str) -> None:
    if not _NAME.match(name):
        raise UsageError(f"'{name}' is no name for an opcode: capitals and digits, parts joined by '_', like IMAD_WIDE")
    if name in known.by_name:
        found = known.by_name[name]
        raise UsageError(f"there is an opcode {name} already: id {found.id}, {found.path}:{found.line}")


def _model(known: Opcodes, like: str) -> Opcode:
    if like not in known.by_name:
        raise UsageError(f"there is no opcode '{like}'{did_you_mean(like, known.by_name)}")
    return known.by_name[like]


def _operation(spec: Spec, model: Opcode) -> tuple[Operation, str]:
    """The first operation of an opcode and the file below ``spec/`` that it stands in."""
    for path, data in spec.family("encoding").items():
        for operation in machine_rows.load(spec).operations:
            if operation.opcode == model.name and operation.sub == 0 and operation.name in data["operations"]:
                return operation, path
    raise UsageError(f"{model.name} has no operation in spec/encoding that could be copied: choose an opcode that has one")


def _id(known: Opcodes, number: int | None) -> int:
    if number is None:
        return max(known.own - 1, *known.by_id) + 1
    found = known.by_id.get(number)
    if found is not None and found.name:
        raise UsageError(f"id {number} is that of {found.name} ({found.path}:{found.line})")
    if found is None and number < known.own:
        raise UsageError(
            f"{number} is no id: the documented ones are 0 to {known.ids - 1}, this project's own begin at {known.own}"
        )
    return number


# -- opcodes.yaml ------------------------------------------------------------------------------------------------


def _add_row(out: Plan, spec: Spec, known: Opcodes, model: Opcode, name: str, number: int) -> None:
    document = out.document(table.FILES[0])
    raw: Map = spec.load(table.FILES[0])["opcodes"][model.name]
    columns: dict[str, Any] = {"id": number, "rot13": rot13(name)}
    columns |= {key: raw[key] for key in _KEPT if key in raw}
    if number >= known.own:
        columns |= {"since": model.since, "source": table.ASSIGNED}
        where = "a number of this project's own; since which target?"
    else:
        _drop_undocumented(document, known, number)
        gap = _neighbours(known, number)
        columns |= {"between": gap} if len(gap) == 2 else {"source": table.INFERRED}
        where = "what tells that this id is it? (`between` is the gap that it fills)"
    row = f"  {name}: {{{', '.join(f'{key}: {_flow(value)}' for key, value in columns.items())}}}"
    question = f"  {MARK} {name}: is it of this category, with these effects? (copied from {model.name}); id {number}: {where}"
    before = [o.name for o in known.rows if o.name and o.id < number]
    line = document.entry("opcodes", before[-1])[1] if before else document.entry("opcodes")[0]
    document.insert(line, [question, row])
    out.done.append(f"spec/{table.FILES[0]}: {name} has the id {number}")


def _flow(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _neighbours(known: Opcodes, number: int) -> list[int]:
    documented = [o.id for o in known.rows if o.basis == "documented" and o.id < known.ids]
    below, above = [i for i in documented if i < number], [i for i in documented if i > number]
    return [*below[-1:], *above[:1]]


def _drop_undocumented(document: Document, known: Opcodes, number: int) -> None:
    """Take an id out of the list of undocumented ones: ``115-117`` without 116 is ``115, 117``."""
    first, last = document.entry(table.UNDOCUMENTED)
    for index in range(first, last + 1):
        line = document.lines[index]
        for match in re.finditer(r"(?<![\d-])(\d+)(?:-(\d+))?(?![\d-])(, ?)?", line):
            low, high = int(match[1]), int(match[2] or match[1])
            if low <= number <= high:
                parts = [(low, number - 1), (number + 1, high)]
                left = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts if a <= b)
                document.lines[index] = line[: match.start()] + (left + (match[3] or "") if left else "") + line[match.end() :]
                return


# -- encoding ------------------------------------------------------------------------------------------------------


def _add_operation(out: Plan, path: str, operation: Operation, model: Opcode, name: str, base: int | None) -> str:
    """Copy the operation behind itself under the new name; returns the name of the new operation."""
    document = out.document(path)
    last = document.entry("operations", operation.name)[1]
    key = name.replace("_", ".")
    mnemonic = _mnemonic(operation)
    lines = [f"  {key}:"] + ([f"    opcode: {name}"] if key != name else [])
    for line in document.block("operations", operation.name)[1:]:
        if not re.match(r"    (opcode|sub): ", line):
            lines.append(re.sub(rf'(text: )"{re.escape(mnemonic)}(?=[.{{ "])', rf'\1"{key}', line))
    numbers = list(dict.fromkeys(int(n, 16) & _BASE for line in _forms(lines) for n in _HEX.findall(line)))
    if base is not None:
        lines = _renumbered(lines, numbers[0], base)
        del numbers[0]
    document.insert(last, ["", *(part for line in lines for part in _question(line, operation, numbers))])
    out.done.append(f"spec/{path}: operation {key}, as {operation.name}")
    return key


def _mnemonic(operation: Operation) -> str:
    """What the new name replaces at the beginning of a text: the operation's name, or its first word."""
    if re.match(rf"{re.escape(operation.name)}(?=[.{{ ]|\Z)", operation.text):
        return operation.name
    return re.split(r"[.{ ]", operation.text, maxsplit=1)[0]


def _forms(lines: list[str]) -> list[str]:
    """The lines of the columns ``forms``, those of the deltas first: from the first of them to the end of the last."""
    starts = [i for i, line in enumerate(lines) if re.match(r" +forms:", line)]
    end = next((i for i in range(starts[-1] + 1, len(lines)) if re.match(r"    \S", lines[i])), len(lines))
    return lines[starts[0] : end]


def _renumbered(lines: list[str], old: int, new: int) -> list[str]:
    """The lines with another machine opcode in the forms; what the sources are (bits 9-11) stays."""
    forms = _forms(lines)

    def number(match: re.Match[str]) -> str:
        word = int(match[0], 16)
        return f"0x{word & ~_BASE | new:03x}" if word & _BASE == old else match[0]

    start = lines.index(forms[0])
    return [*lines[:start], *(_HEX.sub(number, line) for line in forms), *lines[start + len(forms) :]]


def _question(line: str, operation: Operation, numbers: list[int]) -> list[str]:
    """A line of the copy with the question that it raises in front; ``numbers`` are the model's own that are still there."""
    if line.startswith("    forms:") and numbers:
        taken = ", ".join(f"{n:#05x}" for n in numbers)
        return [f"    {MARK} which machine opcode? {taken} is {operation.name}'s, so `oricgen check` refuses it", line]
    if line.startswith("    meaning:"):
        return [f"    {MARK} what does it compute? (copied from {operation.name})", line]
    return [line]


def _add_value(out: Plan, spec: Spec, operation: Operation, key: str) -> None:
    """A row of its own behind the model's value, or a place in its list of opaque operations."""
    for path, data in spec.family("values").items():
        for column in ("opaque", "unseen"):
            for reason, names in data.get(column, {}).items():
                if operation.name in names:
                    question = f"{key}: is it {column} for this reason? (as {operation.name})"
                    _join(out.document(path), (column, reason), operation.name, key, question)
                    out.done.append(f"spec/{path}: {key} is {column}, as {operation.name}")
        if operation.name in data.get("values", {}):
            document = out.document(path)
            first, *rest = document.block("values", operation.name)
            row = [first.replace(f"  {operation.name}:", f"  {key}:", 1), *rest]
            question = f"  {MARK} {key}: what does it compute? (copied from {operation.name})"
            document.insert(document.entry("values", operation.name)[1], [question, *row])
            out.done.append(f"spec/{path}: {key} has the value of {operation.name}")


# -- lists that have the model in them ---------------------------------------------------------------------------


def _add_class(out: Plan, spec: Spec, operation: Operation, key: str) -> None:
    """Put the operation behind its model in the list of the scheduling class."""
    klass, found = next((n, c) for n, c in latency.class_rows(spec).rows.items() if operation.name in c.row["operations"])
    question = f"{key}: does it run in this pipe, with these latencies? (class {klass}, as {operation.name})"
    _join(out.document(found.name), ("classes", klass, "operations"), operation.name, key, question)
    out.done.append(f"spec/{found.name}: {key} is of the class {klass}")


def _add_space(out: Plan, spec: Spec, model: Opcode, name: str) -> None:
    """An opcode that accesses memory has the space of its model."""
    if any(model.name in row["mnemonics"] for row in spec.load(_SPACES)["mnemonics"]):
        _join(out.document(_SPACES), ("mnemonics",), model.name, name, f"{name}: does it access this space? (as {model.name})")
        out.done.append(f"spec/{_SPACES}: {name} accesses the space of {model.name}")


def _join(document: Document, entry: tuple[str, ...], old: str, new: str, question: str) -> None:
    """Put ``new`` behind ``old`` in the first list of an entry that has it, and the question above that line."""
    first, last = document.entry(*entry)
    word = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    index = next(i for i in range(first, last + 1) if word.search(document.lines[i].partition("#")[0]))
    line = word.sub(f"{old}, {new}", document.lines[index], count=1)
    start = index if "[" in line else first  # a list over several lines: the question stands above its first one
    document.replace(index, index, _wrapped(line))
    document.insert(start - 1, [f"{' ' * _indent(document.lines[start])}{MARK} {question}"])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _wrapped(line: str) -> list[str]:
    """A line that has become too long is cut at its last comma; the rest stands below the first item of the list."""
    if len(line) <= _WIDTH or ", " not in line:
        return [line]
    indent = line.index("[") + 1 if "[" in line else _indent(line)
    cut = line.rindex(", ", 0, _WIDTH) + 1
    return [line[:cut], " " * indent + line[cut:].lstrip()]

"""A new target: a row that inherits from another, or a row of facts that becomes one that code can be made for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..isa import bits, rows
from ..names import did_you_mean
from ..spec import Spec
from ..strictyaml import Map
from ..tables import targets as table
from ..tables.targets import Target
from ..textedit import Document
from . import MARK, Plan

_NAME = re.compile(r"sm_([1-9][0-9]*)([af]?)\Z")
_FILE = table.FILES[0]
_SHORT, _WIDTH = 0xFFFF, 130
_PLAIN = {"guard": 7, "stall": 5, "yield": 1, "write_barrier": 7, "read_barrier": 7}  # always executed, waits for nothing
_GROUPS = ("limits", "bank0", "elf")
_ASKED: dict[str, tuple[str, ...]] = {  # what a new row asks about; () is all of a group
    "limits": ("max_regs", "static_shared", "max_shared", "warps_per_sm", "param_bytes"),
    "bank0": ("params", "ntid", "nctaid", "stack", "desc"),
    "elf": (),
}
_HEX = ("bank0", "flags_base", "osabi", "shared_base")  # columns and groups whose numbers are read in hexadecimal


def plan(root: Path, spec: Spec, name: str, base: str) -> Plan:
    """The edits for target ``name`` from ``base``.

    Raises:
        UsageError: a name that is none or taken, a base that does not exist or cannot make the target one with code.
    """
    known = table.load(spec).by_name
    if not _NAME.match(name):
        raise UsageError(f"'{name}' is no name for a target: sm_ and a number, perhaps with a or f behind it, like sm_90a")
    if base not in known:
        raise UsageError(f"there is no target '{base}'{did_you_mean(base, known) or '; there are ' + ', '.join(known)}")
    out = Plan(root)
    if name not in known:
        _add(out, known, name, known[base])
    elif known[name].code:
        raise UsageError(f"there is a target {name} already, and code can be made for it: spec/{_FILE}:{known[name].line}")
    elif not known[base].code:
        able = ", ".join(target.name for target in known.values() if target.code)
        raise UsageError(
            f"spec/{_FILE} has facts of {name}; for code it needs a base that has code, and {base} has none: {able} have"
        )
    else:
        _complete(out, spec, known[name], known[base])
    code = name in known or known[base].code
    out.next = [
        f"oricgen explain {name}        # every column, resolved",
        "oricgen check",
        "oricgen build && oricgen native",
        *(_compiling(name) if code else _reading(spec, name, known[base].isa)),
        "oricgen diff                   # what a reviewer sees",
    ]
    return out


def _compiling(name: str) -> list[str]:
    """What shows that code is made for a target."""
    return [f"oric examples/saxpy.ptx -arch {name} -o saxpy.cubin -v && oric disasm saxpy.cubin && oric check saxpy.cubin"]


def _reading(spec: Spec, name: str, isa: str) -> list[str]:
    """What shows that the words of a target without code are read: one that ends a thread; nothing where no model is known."""
    found = next(((form, o) for form, o in rows.load(spec).forms_of(isa) if "exit" in o.effects), None)
    if found is None:
        return []
    form, operation = found
    frame = spec.load("formats.yaml")["frame"]
    word = form.value | form.fixed | sum(bits.parse(str(frame[part])).place(value) for part, value in _PLAIN.items())
    word |= sum(operand.bits.place(operand.default.reg) for operand in form.operands if operand.default)
    file, text = f"{name}.bin", "".join(f"\\{byte:03o}" for byte in word.to_bytes(16, "little"))
    return [
        f"oricgen explain {operation.name} --sm {name}",
        f"printf '{text}' > {file} && oric disasm --raw --arch {name} {file} && oric check --raw --arch {name} {file}",
    ]


# -- a new row -------------------------------------------------------------------------------------------------------


def _add(out: Plan, known: Mapping[str, Target], name: str, base: Target) -> None:
    document = out.document(_FILE)
    line = document.entry("targets", _last_variant(known, base))[1]
    document.insert(line, _row(name, base))
    out.done.append(f"spec/{_FILE}: {name}, which inherits {base.name}")


def _last_variant(known: Mapping[str, Target], base: Target) -> str:
    """The last row of the base's number: behind it begins what is younger."""
    return [name for name, target in known.items() if target.number == base.number][-1]


def _row(name: str, base: Target) -> list[str]:
    lines = [f"  {name}:", f"    inherits: {base.name}", f"    code: {str(base.code).lower()}"]
    if base.ptx:
        lines += [f"    {MARK} from which PTX version on does .target take the name?", f"    ptx: {_version(base)}"]
    if base.isa:
        lines.append(
            f"    {MARK} are its words and timings those of {base.isa}? if not: `isa:` of a model of its own (docs/spec.md)"
        )
    lines.append(f"    {MARK} what does it have beyond {base.name}, what not? `features: [...]`, `without: [...]`")
    for group, keys in _ASKED.items():
        values = getattr(base, group)
        known = ", ".join(f"{key} {_value(group, key, values[key])}" for key in keys or values if key in values)
        lines.append(f"    {MARK} which {group} differ? `{group}: {{...}}`; {base.name} has {known}")
    return [*lines, f"    {MARK} where is this known from? documents and sections, observed, or inferred", "    source: inferred"]


def _version(base: Target) -> str:
    return f'"{base.ptx // 10}.{base.ptx % 10}"'


def _flow(group: str, values: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_value(group, key, value)}" for key, value in values.items()) + "}"


def _value(group: str, key: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and {group, key} & set(_HEX):
        return f"{value:#x}" if value <= _SHORT else f"{value:#010x}"
    return str(value)


# -- a row of facts --------------------------------------------------------------------------------------------------


def _complete(out: Plan, spec: Spec, target: Target, base: Target) -> None:
    """Make ``code: false`` true, and give what is unknown the value of the base; known facts stay."""
    document = out.document(_FILE)
    data: Map = spec.load(_FILE)["targets"]
    row = data[target.name]
    _as_block(document, target.name, row)
    first, last = document.entry("targets", target.name)
    at = next(i for i in range(first, last + 1) if document.lines[i].startswith("    code: false"))
    document.replace(at, at, [document.lines[at].replace("code: false", "code: true", 1)])
    model = f"    {MARK} are its words and timings those of {base.isa}? if not: `isa:` of a model of its own (docs/spec.md)"
    if "inherits" in row or any(group in row for group in _GROUPS):
        _columns(document, at, data, target, base)
        for group in _GROUPS:
            own, theirs = getattr(target, group), dict(getattr(base, group))
            lacking = {k: v for k, v in theirs.items() if own.get(k, table.UNKNOWN) == table.UNKNOWN}
            if lacking:
                _fill(document, target.name, group, lacking, base.name)
                _keep_unknown(document, data, target.name, group, lacking)
    else:
        _inherit(document, at, target, base)
    if not any(line.startswith("    isa: ") for line in document.block("targets", target.name)):
        document.insert(at, [model])
    out.done.append(f"spec/{_FILE}: code can be made for {target.name}; what was unknown of it is that of {base.name}")


def _inherit(document: Document, at: int, target: Target, base: Target) -> None:
    """A row without columns gets those of the base, behind line ``at``."""
    question = f"    {MARK} it had no columns at all: is it like {base.name} in everything that is not stated here?"
    lines = [question, f"    inherits: {base.name}"] + ([] if target.ptx else [f"    ptx: {_version(base)}"])
    document.insert(at, lines)
    first, last = document.entry("targets", target.name)
    for index in range(first, last + 1):
        if document.lines[index].strip() == f"backend: {table.UNKNOWN}":
            document.replace(index, index, [])
            return


def _columns(document: Document, at: int, data: Map, target: Target, base: Target) -> None:
    """Columns that a row with code must have, where no row on the way up states them: behind line ``at``."""
    new: dict[str, str] = {}
    if not target.ptx:
        new["ptx"] = _version(base)
    if not any("isa" in data[name] for name in (target.name, *target.inherits)):
        new["isa"] = base.isa
    if target.generation is None:
        new["backend"] = str(base.backend)
    if target.shared_base == table.UNKNOWN:
        new["shared_base"] = _value("", "shared_base", base.shared_base)
    for key, value in reversed(new.items()):
        document.insert(at, [f"    {MARK} {key}: not known so far; as on {base.name}?", f"    {key}: {value}"])


def _keep_unknown(document: Document, data: Map, name: str, group: str, values: Mapping[str, Any]) -> None:
    """Rows that inherit from this one keep what is unknown of them unknown: it was answered for this target alone."""
    for child, row in data.items():
        lacking = {key: table.UNKNOWN for key in values if key not in row.get(group, {})}
        if row.get("inherits") == name and lacking:
            _as_block(document, child, row)
            _put(document, child, group, lacking)


def _put(document: Document, name: str, group: str, values: Mapping[str, Any]) -> None:
    """Put values at the end of a group of a row, or make the group."""
    first, last = document.entry("targets", name)
    if any(document.lines[i].startswith(f"    {group}:") for i in range(first, last + 1)):
        _append(document, document.entry("targets", name, group)[1], group, values)
    else:
        document.insert(last, _wrapped(f"    {group}: {_flow(group, values)}"))


def _fill(document: Document, name: str, group: str, values: Mapping[str, Any], base: str) -> None:
    """Put values into a group of a row: in place of ``unknown``, at the end of the group, or as a group of its own."""
    question = f"    {MARK} {', '.join(values)}: not known so far; as on {base}?"
    first, last = document.entry("targets", name)
    start = next((i for i in range(first, last + 1) if document.lines[i].startswith(f"    {group}:")), None)
    if start is None:
        document.insert(last, [question, *_wrapped(f"    {group}: {_flow(group, values)}")])
        return
    end = document.entry("targets", name, group)[1]
    rest = dict(values)
    for index in range(start, end + 1):
        for key, value in values.items():
            old, new = f"{key}: {table.UNKNOWN}", f"{key}: {_value(group, key, value)}"
            aligned = rf"\b{old}(?=\s+#)", new.ljust(len(old))  # a comment behind it stays in its column
            for pattern, word in (aligned, (rf"\b{old}\b", new)):
                document.lines[index], found = re.subn(pattern, word, document.lines[index])
                if found:
                    rest.pop(key, None)
    if rest:
        _append(document, end, group, rest)
    document.insert(start - 1, [question])


def _append(document: Document, end: int, group: str, values: Mapping[str, Any]) -> None:
    """Put values at the end of a group whose last line is ``end``."""
    code, mark, comment = document.lines[end].partition("#")
    if not code.rstrip().endswith("}"):
        document.insert(end, [f"      {key}: {_value(group, key, value)}" for key, value in values.items()])
        return
    inside = code.rstrip()[:-1]
    line = f"{inside}{'' if inside.endswith('{') else ', '}{_flow(group, values)[1:]}"
    document.replace(end, end, _wrapped(line))
    if mark:
        document.insert(end - 1, [f"    {mark}{comment}"])


def _wrapped(line: str) -> list[str]:
    """A long flow map cut at commas; what follows stands below its first entry."""
    indent = line.index("{") + 1 if "{" in line else len(line) - len(line.lstrip())
    out = [line]
    while len(out[-1]) > _WIDTH and ", " in out[-1][: _WIDTH + 1]:
        cut = out[-1].rindex(", ", 0, _WIDTH + 1) + 1
        out[-1:] = [out[-1][:cut], " " * indent + out[-1][cut:].lstrip()]
    return out


def _as_block(document: Document, name: str, row: Map) -> None:
    """A row on one line becomes one of a column a line."""
    first, last = document.entry("targets", name)
    if not document.lines[first].partition(":")[2].strip().startswith("{"):
        return
    lines = [f"  {name}:"]
    for key, value in row.items():
        quoted = json.dumps(value) if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_]\w*", value) else value
        text = f"[{', '.join(value)}]" if isinstance(value, list) else _flow(key, value) if isinstance(value, dict) else quoted
        lines.append(f"    {key}: {str(text).lower() if isinstance(value, bool) else text}")
    document.replace(first, last, lines)

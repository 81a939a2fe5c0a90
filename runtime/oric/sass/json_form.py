"""Disassembled images as JSON: an object for one image, an array of such objects for several; an instruction a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .listing import FunctionListing, Line, control_code

if TYPE_CHECKING:
    from .cli import Document

_LOW_BITS = 64


def json_lines(documents: Sequence[Document], elf: bool) -> Iterator[str]:
    """The lines of the document; ``elf`` adds the facts of the container.

    An instruction: ``offset`` in bytes, ``word`` (128 bits, hexadecimal), ``text`` as nvdisasm's with one space between tokens,
    ``control`` as ``[B0-----:R-:W1:-:S04]``, ``reads`` and ``writes`` (names of 32-bit registers and of predicates, in
    order of the operands), ``labels`` where there are some, ``source`` and ``live`` when they were asked for.
    """
    many = len(documents) != 1
    if many:
        yield "["
    for document in documents:
        yield from _document(document, elf)
        if many and document is not documents[-1]:
            yield ","
    if many:
        yield "]"


def _document(document: Document, elf: bool) -> Iterator[str]:
    head: dict[str, Any] = {"arch": document.listing.target}
    if document.place:
        head["place"] = document.place
    if document.cubin is not None:
        head["constants"] = {str(bank): len(data) for bank, data in sorted(document.cubin.constants.items())}
        if elf:
            from .facts import facts

            head["elf"] = facts(document.cubin)
    yield f"{json.dumps(head)[:-1]},"
    yield ' "functions": ['
    for function in document.listing.functions:
        yield from _function(function)
        if function is not document.listing.functions[-1]:
            yield "  ,"
    yield " ]}"


def _function(function: FunctionListing) -> Iterator[str]:
    yield f"  {json.dumps(_function_facts(function))[:-1]},"
    yield '   "instructions": ['
    uses = function.code.uses()
    last = len(function.lines) - 1
    for number, line in enumerate(function.lines):
        reads = list(dict.fromkeys(name for use in uses[number] if not use.writes for name in use.names))
        writes = list(dict.fromkeys(name for use in uses[number] if use.writes for name in use.names))
        row = _instruction(function, number, line) | {"reads": reads, "writes": writes}
        yield f"    {json.dumps(row)}{',' if number < last else ''}"
    yield "   ]}"


def _function_facts(function: FunctionListing) -> dict[str, Any]:
    out: dict[str, Any] = {"name": function.name}
    facts = function.facts
    if facts is not None:
        out |= {
            "entry": facts.is_entry,
            "registers": facts.registers,
            "shared": facts.shared_size,
            "stack": facts.frame_size,
            "barriers": facts.barriers,
            "params": [{"offset": facts.param_base + p.offset, "size": p.size} for p in facts.params],
        }
    return out


def _instruction(function: FunctionListing, number: int, line: Line) -> dict[str, Any]:
    text = f"{line.text} {line.note}" if line.note.endswith("*)") else line.text
    out: dict[str, Any] = {
        "offset": line.offset,
        "word": f"{line.words[1] << _LOW_BITS | line.words[0]:#034x}",
        "text": " ".join(text.split()) if "  " in text else text,
        "control": control_code(line.control),
    }
    if line.offset in function.labels:
        out["labels"] = function.labels[line.offset]
    if line.note.startswith("//"):
        out["relocation"] = line.note[3:]
    if line.offset in function.sources:
        out["source"] = [place._asdict() for place in function.sources[line.offset]]
    if function.live is not None:
        out["live"] = list(function.live[number])
    return out

"""``oric show`` and ``oric resume``: record files as text or JSON, and compiled on (docs/records.md)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oric.sass.arguments import Parser, UsageError
from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from . import ERROR_STATUS
from .messages import Messages

if TYPE_CHECKING:
    from oric.records import RecordFile, Saved

_STANDARD_INPUT: Final = "-"
_DEFAULT_OUTPUT: Final = "elf.o"


def resume(argv: list[str]) -> int:
    """Run ``oric resume``; returns the exit status, 255 on errors, and then nothing is written."""
    from oric.driver.saving import resume as compile_on
    from oric.records import RecordError

    try:
        args = _resume_parser().parse_args(argv)
        try:
            cubin = compile_on(_data(args.file), args.verify)
        except RecordError as error:
            raise UsageError(_told(args.file, error)) from error
        messages = Messages("oric", plain=False)
        messages.diagnostics(cubin.messages)
        write_atomically(args.output, cubin.image)
    except CompileError as error:
        print(error, file=sys.stderr)
    except (UsageError, OutputError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    else:
        return 0
    return ERROR_STATUS


def show(argv: list[str]) -> int:
    """Run ``oric show``; returns the exit status, 255 on errors."""
    from oric.records import RecordError, read

    try:
        args = _show_parser().parse_args(argv)
        data = _data(args.file)
        try:
            file = read(data)
            saved = _load(data) if file.own_build else None
        except RecordError as error:
            raise UsageError(_told(args.file, error)) from error
    except UsageError as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    if args.json:
        print(json.dumps(_document(file, saved, args.elements), indent=1))
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(file, saved, args.elements))
    return 0


def _load(data: bytes) -> Saved:
    from oric.driver.saving import load

    return load(data)


def _data(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == _STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error


def _told(name: str, error: Any) -> str:
    return f"{name}: at offset {error.offset:#x}: {error.message}"


def _resume_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="oric resume", description="Compile on from what 'oric --save-records' has saved behind a phase.")
    parser.add_argument("file", metavar="FILE", help="a record file; - is standard input")
    parser.add_argument("-o", "--output", default=_DEFAULT_OUTPUT, metavar="FILE", help=f"the cubin ({_DEFAULT_OUTPUT})")
    parser.add_argument("--verify", action="store_true", help="run the verifier after every phase that is left")
    return parser


def _show_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="oric show", description="Print a record file: sections, code, the compilation that it is of.")
    parser.add_argument("file", metavar="FILE", help="a record file; - is standard input")
    parser.add_argument("--json", action="store_true", help="print JSON (docs/records.schema.json)")
    parser.add_argument("--elements", action="store_true", help="print what documented sections hold, too")
    return parser


def _phase(index: int) -> str:
    from oric_tables.phases import PHASES

    return next((f"phase {index} {phase.name}" for phase in PHASES if phase.index == index), f"phase {index}")


def _lines(file: RecordFile, saved: Saved | None, elements: bool) -> Iterator[str]:
    """The file as text."""
    from oric.ir.text import write_with_notes
    from oric.records.elements import name_and_content, rows_of

    if saved is None:
        yield "// made by another build of Oric: its sections are listed, what they hold is not known"
    else:
        yield f"// {saved.options.arch} -O{saved.options.opt_level}, saved behind {_phase(saved.start.phase)}"
        yield from (f"// input {number}: {name}" for number, (_, name) in enumerate(saved.start.inputs))
    yield "//  section      tag    offset     bytes  elements  name"
    for number, section in enumerate(file.sections):
        name, content = name_and_content(section.tag)
        shared = f" (that of section {section.shares})" if section.shares >= 0 else ""
        yield (f"// {number:8} {section.tag:#8x} {section.offset:#9x} {len(section.payload):9} {section.elements:9}  "
               f"{name}: {content}{shared}")  # fmt: skip
        if elements and saved is not None:
            yield from (f"//{'':12}{' '.join(f'{key}={value}' for key, value in row.items())}" for row in rows_of(section))
    for part in saved.parts if saved is not None else ():
        yield f"\n// {part.function.name}: the last phase that ran is {_phase(part.head.ran)}"
        yield write_with_notes(part.function).rstrip("\n")


def _document(file: RecordFile, saved: Saved | None, elements: bool) -> dict[str, Any]:
    """The file as JSON has it."""
    from oric_tables.record_tags import VERSION

    from oric.ir.text import write_with_notes
    from oric.records.elements import name_and_content, rows_of

    sections = []
    for section in file.sections:
        name, content = name_and_content(section.tag)
        row = {"tag": section.tag, "name": name, "content": content, "offset": section.offset, "bytes": len(section.payload),
               "elements": section.elements, "aux": section.aux, "aux_2": section.aux_2, "shares": section.shares}  # fmt: skip
        if elements and saved is not None:
            row["rows"] = list(rows_of(section))
        sections.append(row)
    out: dict[str, Any] = {"version": VERSION, "flags": file.flags, "own_build": file.own_build, "sections": sections}
    if saved is not None:
        out["target"], out["level"] = saved.options.arch, saved.options.opt_level
        out["phase"] = saved.start.phase
        out["inputs"] = [name for _, name in saved.start.inputs]
        out["functions"] = [
            {"name": part.function.name, "kernel": part.head.kernel, "unit": part.head.unit, "ran": part.head.ran,
             "code": write_with_notes(part.function)}
            for part in saved.parts
        ]  # fmt: skip
    return out

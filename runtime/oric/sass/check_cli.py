"""``oric check``: is machine code scheduled safely? Findings as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from oric.support.containers import read_contents
from oric.support.elf import CubinError, read
from oric.support.targets import TargetError, find_model

from .arguments import Parser, UsageError, read_input
from .check import Report, Section, check_code, check_cubin
from .code import INSTRUCTION_BYTES, Code

ERROR_STATUS = 1
FOUND_STATUS = 2  # something was found


def main(argv: list[str]) -> int:
    """Run ``oric check``; returns the exit status: 0 nothing found, 1 the input cannot be read, 2 something was found."""
    try:
        args = _parser().parse_args(argv)
        if args.raw != (args.arch is not None):
            raise UsageError("--raw needs --arch" if args.raw else "--arch is for --raw files; a cubin names its target")
        reports, errors = _check(args)
    except (UsageError, CubinError, TargetError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    sys.stdout.writelines(f"{line}\n" for line in (_json(reports) if args.json else _text(reports)))
    for place, report in reports:
        for problem in report.unknown:
            print(f"oric: warning: {args.file}: {_prefix(place)}{problem}", file=sys.stderr)
    for message in errors:
        print(f"oric: error: {args.file}: {message}", file=sys.stderr)
    if errors:
        return ERROR_STATUS
    return FOUND_STATUS if any(report.findings for _, report in reports) else 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="oric check", description="Find hazards in machine code: dependences that control bits do not protect.")
    parser.add_argument("file", metavar="FILE", help="a cubin, fatbin, host object or program, or archive; - is standard input")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--raw", action="store_true", help="FILE holds nothing but instruction words (needs --arch)")
    parser.add_argument("--arch", metavar="SM", help="target of a --raw file")
    return parser


def _check(args: argparse.Namespace) -> tuple[list[tuple[str, Report]], list[str]]:
    """A report an image, by place, and what went wrong with single images.

    Raises:
        CubinError: nothing of the input can be read.
    """
    data = read_input(args.file)
    if args.raw:
        if len(data) % INSTRUCTION_BYTES:
            raise CubinError(f"{args.file}: {len(data)} bytes are not whole instructions of {INSTRUCTION_BYTES} bytes")
        return [("", check_code(Code(find_model(args.arch, "arch"), data), Section(""), args.arch))], []
    try:
        contents = read_contents(data)
    except CubinError as error:
        raise CubinError(f"{args.file}: {error}") from error
    reports, errors = [], []
    for image in contents.images:
        try:
            reports.append((image.place, check_cubin(read(image.data))))
        except CubinError as error:
            errors.append(f"{_prefix(image.place)}{error}")
    return reports, errors


def _prefix(place: str) -> str:
    return f"{place}: " if place else ""


def _text(reports: list[tuple[str, Report]]) -> Iterator[str]:
    for place, report in reports:
        for f in report.findings:
            where = f"{f.function}+{f.offset:#06x}" if f.function else f"{f.offset:#06x}"
            yield f"{_prefix(place)}{where}: {f.kind}: {f.text}"
            yield f"    {f.message}"
        found = f"{len(report.findings)} findings" if len(report.findings) != 1 else "1 finding"
        yield f"{_prefix(place)}{report.target}: {report.instructions} instructions, {found}"


def _json(reports: list[tuple[str, Report]]) -> Iterator[str]:
    images = [
        {
            "place": place, "arch": report.target, "instructions": report.instructions, "unknown": report.unknown,
            "findings": [asdict(f) for f in report.findings],
        }
        for place, report in reports
    ]  # fmt: skip
    yield json.dumps({"images": images}, indent=1)

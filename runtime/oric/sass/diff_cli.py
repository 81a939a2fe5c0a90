"""``oric diff``: do two cubins load alike? Differences as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any, Final

from oric.support.containers import read_contents
from oric.support.elf import Cubin, CubinError, read
from oric.support.targets import TargetError

from .arguments import Parser, UsageError, read_input
from .diff import MISSING, Comparison, Difference, compare

DIFFERS_STATUS: Final = 1
TROUBLE_STATUS: Final = 2
_LONGEST: Final = 96  # characters of a value that are shown


def main(argv: list[str]) -> int:
    """Run ``oric diff``; returns the exit status: 0 nothing differs, 1 something does, 2 a file cannot be read."""
    try:
        args = _parser().parse_args(argv)
        if args.a == args.b == "-":
            raise UsageError("standard input cannot be both files")
        found = compare(*(_cubin(name) for name in (args.a, args.b)))
    except (UsageError, CubinError, TargetError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return TROUBLE_STATUS
    sys.stdout.writelines(f"{line}\n" for line in (_json(args, found) if args.json else _text(args, found)))
    return 0 if found.same else DIFFERS_STATUS


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="oric diff",
        description="Compare two cubins as a loader sees them: everything but the machine code, and what follows from it.",
    )
    parser.add_argument("a", metavar="A", help="a cubin, or a container with one cubin; - is standard input")
    parser.add_argument("b", metavar="B", help="the other one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _cubin(name: str) -> Cubin:
    """The one cubin of a file.

    Raises:
        CubinError: the file cannot be read, or has several.
    """
    data = read_input(name)
    try:
        images = read_contents(data).images
        if len(images) != 1:
            places = ", ".join(image.place for image in images)
            raise CubinError(f"there are {len(images)} cubins in this file ({places}); give one of them")
        return read(images[0].data)
    except CubinError as error:
        raise CubinError(f"{name}: {error}") from error


def _text(args: argparse.Namespace, found: Comparison) -> Iterator[str]:
    for d in found.differences:
        where = " ".join(part for part in (d.key.kind, d.key.name) if part)
        if d.key.field:
            yield f"{where}: {d.key.field}: {_shown(d.a)} | {_shown(d.b)}"
        else:
            side, facts = (args.a, d.a) if d.b is MISSING else (args.b, d.b)
            yield f"{where}: only in {side}: {', '.join(f'{name} {_shown(value)}' for name, value in facts.items())}"
    for side, problems in zip((args.a, args.b), found.problems, strict=True):
        for p in problems:
            yield f"{side}: {f'{p.function}: ' if p.function else ''}{p.message}"


def _shown(value: Any) -> str:
    if value is MISSING:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _json(args: argparse.Namespace, found: Comparison) -> Iterator[str]:
    sides = [
        [{"function": p.function, "message": p.message} for p in problems] for problems in found.problems
    ]  # fmt: skip
    yield json.dumps(
        {
            "a": args.a, "b": args.b, "same": found.same, "differences": [_row(d) for d in found.differences],
            "problems": {"a": sides[0], "b": sides[1]},
        }, indent=1,
    )  # fmt: skip


def _row(d: Difference) -> dict[str, Any]:
    return {"kind": d.key.kind, "name": d.key.name, "field": d.key.field, "a": d.a, "b": d.b}

"""``oric disasm``: cubins in, and what is in them out: SASS, JSON, facts of the container, control-flow graphs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from oric.support.containers import read_contents
from oric.support.elf import Cubin, CubinError, read
from oric.support.targets import TargetError, find_model

from .arguments import Parser, UsageError, read_input
from .listing import Listing, list_cubin, list_raw

ERROR_STATUS = 1


@dataclass(slots=True)
class Document:
    """One disassembled image: ``place`` says where in the file it was ("" for a file that is a cubin)."""

    place: str
    cubin: Cubin | None  # None: raw machine words
    listing: Listing


@dataclass(slots=True)
class _Input:
    """What was read of the input: images, and for each that could not be, why."""

    documents: list[Document] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)


def main(argv: list[str]) -> int:
    """Run ``oric disasm``; returns the exit status: 0, or 1 with one line on standard error for each problem."""
    try:
        args = _parser().parse_args(argv)
        _check(args)
        found = _read(args)
    except (UsageError, CubinError, TargetError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    for message in found.errors:
        print(f"oric: error: {args.file}: {message}", file=sys.stderr)
    try:
        sys.stdout.writelines(f"{line}\n" for line in _output(args, found))
    except CubinError as error:
        print(f"oric: error: {args.file}: {error}", file=sys.stderr)
        return ERROR_STATUS
    for document in found.documents:
        for problem in document.listing.problems:
            print(f"oric: warning: {args.file}: {_prefix(document)}{problem}", file=sys.stderr)
    return ERROR_STATUS if found.errors else 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="oric disasm", description="Print the machine code of a cubin, or of the cubins that a file holds.")
    parser.add_argument("file", metavar="FILE", help="a cubin, fatbin, host object or program, or archive; - is standard input")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--plain", action="store_true", help="print what nvdisasm -c prints: no control codes, no directives")
    parser.add_argument("--elf", action="store_true", help="print the facts of the container (with --json: add them)")
    parser.add_argument("--cfg", action="store_true", help="print control-flow graphs in the language of DOT")
    parser.add_argument("--lines", action="store_true", help="add source lines where the file has line information")
    parser.add_argument("--live", action="store_true", help="add the registers that are live in front of each instruction")
    parser.add_argument("--function", metavar="NAME", action="append", help="only the code of this function; may be repeated")
    parser.add_argument("--raw", action="store_true", help="FILE holds nothing but instruction words (needs --arch)")
    parser.add_argument("--arch", metavar="SM", help="target of a --raw file")
    return parser


def _check(args: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if args.raw != (args.arch is not None):
        raise UsageError("--raw needs --arch" if args.raw else "--arch is for --raw files; a cubin names its target")
    chosen = [f"--{name}" for name in ("json", "plain", "cfg") if getattr(args, name)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together")
    for other in ("elf", "lines"):
        if args.raw and getattr(args, other):
            raise UsageError(f"--{other} is for cubins, not for --raw files")
    for one, other in (("elf", "plain"), ("elf", "cfg"), ("live", "plain"), ("live", "cfg"), ("lines", "cfg")):
        if getattr(args, one) and getattr(args, other):
            raise UsageError(f"--{one} and --{other} do not go together")


def _read(args: argparse.Namespace) -> _Input:
    """Read the images of the input.

    Raises:
        CubinError: nothing of the input can be read.
    """
    data = read_input(args.file)
    out = _Input()
    try:
        if args.raw:
            out.documents.append(Document("", None, list_raw(data, find_model(args.arch, "arch"), args.arch)))
            return out
        contents = read_contents(data)
    except CubinError as error:
        raise CubinError(f"{args.file}: {error}") from error
    out.passed_over = contents.passed_over
    for image in contents.images:
        try:
            cubin = read(image.data)
            listing = Listing(cubin.target, []) if args.elf and not args.json else list_cubin(cubin)
            out.documents.append(Document(image.place, cubin, listing))
        except CubinError as error:
            out.errors.append(f"{image.place}: {error}" if image.place else str(error))
    if args.function:
        _choose(out, args.function)
    return out


def _choose(found: _Input, names: list[str]) -> None:
    """Keep the functions that are asked for; one that is nowhere is an error."""
    there = {f.name for document in found.documents for f in document.listing.functions}
    found.errors += [f"there is no function {name}" for name in names if name not in there]
    for document in found.documents:
        chosen = [f for f in document.listing.functions if f.name in names]
        document.listing.functions = chosen


def _output(args: argparse.Namespace, found: _Input) -> Iterator[str]:
    """The lines that the options ask for. What only some need is imported there."""
    for document in found.documents:
        if args.lines and document.cubin is not None:
            from .lines import add_sources

            add_sources(document.listing, document.cubin)
        if args.live:
            from .live import add_live

            add_live(document.listing)
    if args.json:
        from .json_form import json_lines

        return json_lines(found.documents, args.elf)
    if args.cfg:
        from .dot import dot_lines

        return dot_lines(found.documents)
    if args.elf:
        from .facts import fact_lines

        return _parted(found, lambda document: fact_lines(document.cubin) if document.cubin else iter(()))
    from .text import text_lines

    return _parted(found, lambda document: iter(text_lines(document.listing, document.cubin, args.plain)))


def _parted(found: _Input, lines_of: Callable[[Document], Iterator[str]]) -> Iterator[str]:
    """The lines of every image, behind a line that says where it was."""
    for document in found.documents:
        if document is not found.documents[0]:
            yield ""
        if document.place:
            yield f"// {document.place}"
        yield from lines_of(document)


def _prefix(document: Document) -> str:
    return f"{document.place}: " if document.place else ""

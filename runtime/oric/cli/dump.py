"""``oric dump``: what the compiler knows of a PTX module, as text, or as it lies in memory.

A dump is a row of :data:`DUMPS`: its option, what it prints, and a function from a compiled function to lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from . import ERROR_STATUS
from .arguments import Arguments, UsageError, parse, register_limit
from .compile import read_input

if TYPE_CHECKING:
    from oric.driver import CompileOptions
    from oric.ir.encoded import EncodedFunction
    from oric.ir.function import Function
    from oric.ir.image import Image

_OPTIONS: Final = frozenset({"gpu-name", "opt-level", "maxrregcount", "verify", "help"})  # of compiling, that count here too
_FUNCTION: Final = "--function"
_IMAGE: Final = "--image"


class Dump(NamedTuple):
    """A kind of dump: ``lines`` makes the text of one function."""

    help: str
    lines: Callable[[Function, EncodedFunction, CompileOptions], Iterator[str]]


def main(argv: list[str]) -> int:
    """Dump as the command line says; returns the exit status (255 on errors, as the compiler's)."""
    kinds = [word for word in argv if word in DUMPS]
    try:
        name, rest = _function([word for word in argv if word not in DUMPS])
        return _run(list(dict.fromkeys(kinds)), name, parse(rest))
    except (UsageError, OutputError, ValueError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    except CompileError as error:
        print(error, file=sys.stderr)
    return ERROR_STATUS


def help_text() -> str:
    """What ``oric dump --help`` prints."""
    usage = "Usage: oric dump <what> [--function <name>] [-arch <target>] [-O<level>] [-maxrregcount <n>] [--verify] <ptx file>"
    lines = [usage, f"       oric dump {_IMAGE} [--function <name>] -o <file> [options] <ptx file>", "", "What:"]
    return "\n".join(lines + [f"  {name}\n        {kind.help}" for name, kind in DUMPS.items()])


def _function(words: list[str]) -> tuple[str, list[str]]:
    """The function that is asked for, "" for all, and the other words."""
    if _FUNCTION not in words:
        return "", words
    at = words.index(_FUNCTION)
    if at + 1 == len(words):
        raise UsageError(f"'{_FUNCTION}' needs the name of a function")
    return words[at + 1], words[:at] + words[at + 2 :]


def _run(kinds: list[str], wanted: str, args: Arguments) -> int:
    if args.has("help"):
        print(help_text())
        return 0
    file = args.values.get("output-file", "")
    for name in args.values:
        if name not in _OPTIONS and not (name == "output-file" and kinds == [_IMAGE]):
            raise UsageError(f"option '--{name}' means nothing to 'oric dump{' ' if kinds else ''}{' '.join(kinds)}'")
    if not kinds:
        raise UsageError(f"'oric dump' needs one of {', '.join(DUMPS)}")
    if len(args.inputs) != 1:
        raise UsageError(f"exactly one input file is expected, {len(args.inputs)} given")
    from oric.driver import CompileOptions, compile_functions

    options = CompileOptions(
        args.get("gpu-name"), args.integer("opt-level"), maxrregcount=register_limit(args), verify=args.has("verify")
    )
    functions = compile_functions(read_input(args.inputs[0]), options, args.inputs[0])
    names = ", ".join(f.name for f, _ in functions)
    chosen = [(f, encoded) for f, encoded in functions if wanted in ("", f.name)]
    if not chosen:
        raise UsageError(f"there is no function '{wanted}' (there is {names})")
    if file:
        if len(chosen) != 1:
            raise UsageError(f"'-o' takes the image of one function: {_FUNCTION} with one of {names}")
        write_atomically(Path(file), _image(chosen[0][0], options).data())
        return 0
    lines = [line for kind in kinds for f, encoded in chosen for line in DUMPS[kind].lines(f, encoded, options)]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _descriptors(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from oric.ir.text import all_instructions
    from oric.sass.listing import list_raw

    from .descriptors import descriptor_lines

    listed = list_raw(encoded.words, options.target.isa, options.arch).functions[0].lines
    instructions = all_instructions(f)
    yield f"// {f.name} for {options.arch}: {len(instructions)} instructions, their encoding descriptors a3[0..4]"
    for i, line in zip(instructions, listed, strict=False):  # the machine code ends with padding
        yield f"/*{line.offset:04x}*/ {line.text}"
        yield from (f"    {text}" for text in descriptor_lines(f, i))
    yield ""


def _image(f: Function, options: CompileOptions) -> Image:
    from oric.ir.image import Image

    return Image(f, options.target.isa)


def _image_lines(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from .images import image_lines

    return image_lines(_image(f, options))


def _intrinsics(f: Function, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from oric.lower.ocg import Matched
    from oric.lower.ocg_record import Record

    records = [Record(f.name, found) for found in f.intrinsics if isinstance(found, Matched)]
    yield f"// {f.name} for {options.arch}: {len(records)} calls of intrinsics"
    for record in records:
        yield from record.lines()
    yield ""


DUMPS: Final[dict[str, Dump]] = {
    "--descriptors": Dump("The encoding descriptor of every instruction: words, fields, operand words.", _descriptors),
    "--ocg": Dump("The calls of intrinsics: operation, route, operand buffer of 312 bytes, instruction.", _intrinsics),
    _IMAGE: Dump("The memory image: 296-byte instructions, 40-byte blocks, 160-byte registers; -o: as it is.", _image_lines),
}

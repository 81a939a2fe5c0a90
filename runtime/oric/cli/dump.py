"""``oric dump``: what the compiler knows of a PTX module, as text.

A dump is a row of :data:`DUMPS`: its option, what it prints, and a function from a compiled module to lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from oric.support.diagnostics import CompileError

from . import ERROR_STATUS
from .arguments import Arguments, UsageError, parse, register_limit
from .compile import read_input

if TYPE_CHECKING:
    from oric.driver import CompileOptions
    from oric.ir.code import CodeObject
    from oric.ir.encoded import EncodedFunction

_OPTIONS: Final = frozenset({"gpu-name", "opt-level", "maxrregcount", "verify", "help"})  # of compiling, that count here too


class Dump(NamedTuple):
    """A kind of dump: ``lines`` makes the text of one function."""

    help: str
    lines: Callable[[CodeObject, EncodedFunction, CompileOptions], Iterator[str]]


def main(argv: list[str]) -> int:
    """Dump as the command line says; returns the exit status (255 on errors, as the compiler's)."""
    kinds = [word for word in argv if word in DUMPS]
    try:
        return _run(list(dict.fromkeys(kinds)), parse([word for word in argv if word not in DUMPS]))
    except (UsageError, ValueError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    except CompileError as error:
        print(error, file=sys.stderr)
    return ERROR_STATUS


def help_text() -> str:
    """What ``oric dump --help`` prints."""
    lines = ["Usage: oric dump <what> [-arch <target>] [-O<level>] [-maxrregcount <n>] [--verify] <ptx file>", "", "What:"]
    return "\n".join(lines + [f"  {name}\n        {kind.help}" for name, kind in DUMPS.items()])


def _run(kinds: list[str], args: Arguments) -> int:
    if args.has("help"):
        print(help_text())
        return 0
    for name in args.values:
        if name not in _OPTIONS:
            raise UsageError(f"option '--{name}' means nothing to 'oric dump'")
    if not kinds:
        raise UsageError(f"'oric dump' needs one of {', '.join(DUMPS)}")
    if len(args.inputs) != 1:
        raise UsageError(f"exactly one input file is expected, {len(args.inputs)} given")
    from oric.driver import CompileOptions, compile_functions

    options = CompileOptions(
        args.get("gpu-name"), args.integer("opt-level"), maxrregcount=register_limit(args), verify=args.has("verify")
    )
    functions = compile_functions(read_input(args.inputs[0]), options, args.inputs[0])
    lines = [line for kind in kinds for code, encoded in functions for line in DUMPS[kind].lines(code, encoded, options)]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _descriptors(code: CodeObject, encoded: EncodedFunction, options: CompileOptions) -> Iterator[str]:
    from oric.sass.listing import list_raw

    from .descriptors import descriptor_lines

    listed = list_raw(encoded.words, options.target.isa, options.arch).functions[0].lines
    nodes = list(code.instructions())
    yield f"// {code.name} for {options.arch}: {len(nodes)} instructions, their encoding descriptors a3[0..4]"
    for node, line in zip(nodes, listed, strict=False):  # the machine code ends with padding
        yield f"/*{line.offset:04x}*/ {line.text}"
        yield from (f"    {text}" for text in descriptor_lines(code, node))
    yield ""


DUMPS: Final[dict[str, Dump]] = {
    "--descriptors": Dump("The encoding descriptor of every instruction: words, fields, operand words.", _descriptors),
}

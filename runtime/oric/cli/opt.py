"""``oric opt``: phases of the compiler on a function in Ori text (docs/ori.md)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from oric_tables.phases import COMPLETE, PHASES
from oric_tables.targets import Target

from oric.driver.registry import passes
from oric.ir.function import Function
from oric.ir.module import Module
from oric.ir.passes import PassContext, PassFunction
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import MalformedCode, verify
from oric.phases.backend import phase_functions
from oric.phases.manager import select
from oric.regalloc import OutOfRegisters
from oric.sass.arguments import Parser, UsageError
from oric.support.diagnostics import CompileError, InternalError
from oric.support.targets import TargetError, find_target

from . import ERROR_STATUS
from .arguments import UsageError as NoInput
from .compile import read_input

_TARGET: Final = "sm_90"
_ALL: Final = "all"
FAILURES: Final = (CompileError, MalformedCode, OutOfRegisters, InternalError)  # what a phase says of code that it refuses


def main(argv: list[str]) -> int:
    """Run as the command line says; returns the exit status, 255 on errors."""
    try:
        args = _parser().parse_args(argv)
        text = read_input(args.file)
        f = opt(text, args.phase, "<stdin>" if args.file == "-" else args.file, target=args.sm, level=args.level)
    except CompileError as error:
        print(error, file=sys.stderr)
        return ERROR_STATUS
    except (UsageError, NoInput, TargetError, *FAILURES) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    sys.stdout.write(write(f, exact=args.exact))
    return 0


def opt(text: str, phases: Sequence[str], filename: str = "<ori>", *, target: str | None = None, level: int = 3) -> Function:
    """The function of a text after phases, in the order of their names; verified before the first and behind each.

    ``target``: in place of the one that the text names, sm_90 when it names none.

    Raises:
        CompileError: mistakes in the text, or a phase refuses the code.
        UsageError: a name fits no phase, or one that nothing runs in.
        TargetError: code cannot be made for the target.
        MalformedCode: the code breaks a rule of Ori, as it was read or as a phase left it.
        OutOfRegisters, InternalError: allocation, scheduling.
    """
    asked = find_target(target).name if target else ""
    f = read(text, filename, asked or _TARGET)
    f.target = asked or f.target
    chosen = find_target(f.target)
    context = PassContext(chosen, Module(chosen.name), level)
    runs = [found for name in phases for found in passes_named(name, chosen, level)]
    verify(f, "reading")
    for name, run, progress in runs:
        context.progress = progress
        try:
            run(f, context)
        except (*FAILURES, MemoryError):
            raise
        except Exception as error:
            raise InternalError.found(name, error, f"in '{f.name}'") from error
        verify(f, name)
    return f


def passes_named(name: str, target: Target, level: int) -> list[tuple[str, PassFunction, int]]:
    """The passes that a phase means, by its name or number or by that of the pass, each with its name and the progress of the
    pipeline where it runs, first if it runs more than once.

    ``all``: what runs at that level, in order.

    Raises:
        UsageError: there is no such phase, or nothing runs in it.
    """
    registry = passes()
    if name in registry:
        return [(name, registry[name], next((phase.enters for phase in PHASES if phase.function == name), COMPLETE))]
    own = phase_functions(target)
    try:
        chosen = [(phase, own.get(phase.index, phase.function)) for phase in PHASES if phase.index in select([name])]
    except ValueError as error:
        raise UsageError(str(error)) from error
    if name == _ALL:
        chosen = [(phase, function) for phase, function in chosen if function in registry and phase.min_level <= level]
    for phase, function in chosen:
        if function not in registry:
            raise UsageError(f"nothing runs in phase {phase.index} '{name}' for {target.name}")
    return [(f"phase {phase.index} {function}", registry[function], phase.enters) for phase, function in chosen]


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="oric opt", description="Run phases on a function in Ori text and print it (docs/ori.md).")
    parser.add_argument("file", metavar="FILE", help="a function in Ori text; - is standard input")
    parser.add_argument("--phase", action="append", default=[], metavar="NAME",
                        help="a phase by name or number, or a pass; several run in order, 'all': those of the level; "
                        "without one the text is read and printed")  # fmt: skip
    parser.add_argument("--sm", "-arch", metavar="SM", help="the target, in place of that of the text (default: sm_90)")
    parser.add_argument("-O", dest="level", type=int, choices=range(4), default=3, metavar="LEVEL", help="0 to 3 (default)")
    parser.add_argument("--exact", action="store_true", help="print PTX lines and unused registers too")
    return parser

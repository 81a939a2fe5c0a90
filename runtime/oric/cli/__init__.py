"""The command ``oric``: compiling and the subcommands, ``asm`` to ``run``."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from oric.support.collection import no_collection

ERROR_STATUS = 255  # ptxas's


def main(argv: list[str], tool: str = "oric") -> int:
    """Run a command line; returns the exit status. Every failure is a message on standard error.

    ``tool``: the name under which the program runs; any other than our own means the drop-in for ptxas, without subcommands.
    """
    try:
        if tool != "oric":
            return _compile(argv, tool)
        return _dispatch(argv)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR_STATUS
    except KeyboardInterrupt:
        print("oric: interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print("oric: error: out of memory", file=sys.stderr)
        return ERROR_STATUS
    except Exception as error:
        if os.environ.get("ORIC_DEBUG"):
            raise
        name = "" if type(error).__name__ == "InternalError" else f"{type(error).__name__}: "
        print(f"oric: Internal compiler error. {name}{error}", file=sys.stderr)
        print("oric: set ORIC_DEBUG=1 to see where; --save-reproducer FILE keeps what is needed to see it again", file=sys.stderr)
        return ERROR_STATUS


def _dispatch(argv: list[str]) -> int:
    command = argv[0] if argv else ""
    if command == "asm":
        from oric.sass.asm_cli import main as asm

        return asm(argv[1:])
    if command == "disasm":
        from oric.sass.cli import main as disasm

        return disasm(argv[1:])
    if command == "check":
        from oric.sass.check_cli import main as check

        return check(argv[1:])
    if command == "diff":
        from oric.sass.diff_cli import main as diff

        return diff(argv[1:])
    if command == "dump":
        from .dump import main as dump

        return dump(argv[1:])
    if command == "explain":
        from .explain import main as explain

        return explain(argv[1:])
    if command == "explore":
        from .explore import main as explore

        return explore(argv[1:])
    if command == "fmt":
        from .format import main as fmt

        return fmt(argv[1:])
    if command == "fuzz":
        from .fuzz import main as fuzz

        return fuzz(argv[1:])
    if command == "lsp":
        from .lsp import main as lsp

        return lsp(argv[1:])
    if command == "opt":
        from .opt import main as opt

        return opt(argv[1:])
    if command == "reduce":
        from .reduce import main as reduce

        return reduce(argv[1:])
    if command == "reproduce":
        from .compile import reproduce

        return reproduce(argv[1:])
    if command == "resume":
        from .records import resume

        return resume(argv[1:])
    if command == "show":
        from .records import show

        return show(argv[1:])
    if command == "run":
        from oric.sim.run import main as run

        return run(argv[1:])
    return _compile(argv)


def _compile(argv: list[str], *tool: str) -> int:
    with no_collection():  # tables are many objects too
        from .compile import main as compile_main

        return compile_main(argv, *tool)


def entry() -> NoReturn:
    """The console script."""
    _leave(main(sys.argv[1:]))


def ptxas_entry() -> NoReturn:
    """The console script ``oric-ptxas``, whatever name it is installed under."""
    _leave(main(sys.argv[1:], "ptxas"))


def _leave(status: int) -> NoReturn:
    """End the process without taking the interpreter apart, which costs as much as starting it."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        status = ERROR_STATUS
    except OSError as error:
        os.write(2, f"oric: error: what was printed could not be written: {error.strerror}\n".encode())
        status = ERROR_STATUS
    os._exit(status)

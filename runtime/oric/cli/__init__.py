"""The ``oric`` command: compile (the default), ``asm``, ``disasm``, ``check``, ``dump``, ``fmt`` and ``run``."""

from __future__ import annotations

import os
import sys

ERROR_STATUS = 255  # ptxas's


def main(argv: list[str], tool: str = "oric") -> int:
    """Run a command line; returns the exit status. Every failure is a message on standard error.

    ``tool``: the name under which the program runs; any other than our own means the drop-in for ptxas, without subcommands.
    """
    try:
        if tool != "oric":
            from .compile import main as drop_in

            return drop_in(argv, tool)
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
        print(f"oric: Internal compiler error. {type(error).__name__}: {error}", file=sys.stderr)
        print("oric: set ORIC_DEBUG=1 to see where", file=sys.stderr)
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
    if command == "dump":
        from .dump import main as dump

        return dump(argv[1:])
    if command == "fmt":
        from .format import main as fmt

        return fmt(argv[1:])
    if command == "run":
        from oric.sim.run import main as run

        return run(argv[1:])
    from .compile import main as compile_main

    return compile_main(argv)


def entry() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def ptxas_entry() -> None:
    """The console script ``oric-ptxas``, whatever name it is installed under."""
    sys.exit(main(sys.argv[1:], "ptxas"))

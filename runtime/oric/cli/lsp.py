"""``oric lsp``: the language server of PTX, for editors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from . import ERROR_STATUS

_HELP: Final = """Usage: oric lsp [--stdio]
       oric lsp --vscode <folder>

Serves editors by the Language Server Protocol on standard input and output: messages, hovers with the machine code of a line,
completion, definitions and references, symbols, renaming, formatting of PTX.

  --stdio            Standard input and output (that is what it does; editors like to say so).
  --vscode <folder>  Write the extension for Visual Studio Code into a folder that does not exist yet, and exit."""
_MISSING: Final = "'oric lsp' needs pygls: pip install 'oric[lsp]'"
_NEEDED: Final = ("pygls", "lsprotocol", "cattrs", "attrs", "attr")


def main(argv: list[str]) -> int:
    """Serve, or write the extension; returns the exit status: 0, 255 on errors."""
    if argv in (["-h"], ["--help"]):
        print(_HELP)
        return 0
    if argv[:1] == ["--vscode"]:
        return _write_extension(argv[1:])
    unknown = next((word for word in argv if word != "--stdio"), None)
    if unknown is not None:
        return _refuse(f"Unknown option '{unknown[:80]}'" if unknown.startswith("-") else "'oric lsp' takes no files")
    try:
        from oric.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        return _refuse(_MISSING)
    return serve()


def _write_extension(words: list[str]) -> int:
    from oric.lsp.vscode import write_extension

    if len(words) != 1:
        return _refuse("'--vscode' needs one folder")
    try:
        write_extension(Path(words[0]))
    except OSError as error:
        return _refuse(f"'{words[0]}' could not be written: {error.strerror}")
    return 0


def _refuse(message: str) -> int:
    print(f"oric: error: {message}", file=sys.stderr)
    return ERROR_STATUS

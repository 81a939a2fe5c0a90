"""``oric fmt``: PTX files laid out the same way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from oric.ptx import format_text, parse
from oric.support.diagnostics import CompileError

from . import ERROR_STATUS

_HELP: Final = """Usage: oric fmt [--check | -i] <ptx file>...

Lays PTX out: one statement a line, comments kept, nothing but white space changed. '-' is standard input.
A file with mistakes is not touched; the mistakes are printed as the compiler prints them.

  -i, --in-place  Write the files; without it, the text goes to standard output.
  --check         Write nothing; name the files that would change, and exit with 1 if there are any."""
_OPTIONS: Final = {"-i": "in-place", "--in-place": "in-place", "--check": "check", "-h": "help", "--help": "help"}


def main(argv: list[str]) -> int:
    """Lay out as the command line says; returns the exit status: 0, 1 (``--check``: a file would change), 255 on errors."""
    words = [word for word in argv if word.startswith("-") and word != "-"]
    files = [word for word in argv if word not in words]
    for word in words:
        if word not in _OPTIONS:
            return _usage(f"Unknown option '{word[:80]}'")
    wanted = {_OPTIONS[word] for word in words}
    if "help" in wanted:
        print(_HELP)
        return 0
    if len(wanted) > 1:
        return _usage("'--check' and '--in-place' exclude each other")
    if not files:
        return _usage("'oric fmt' needs a file")
    if "in-place" in wanted and "-" in files:
        return _usage("standard input cannot be written in place")
    return max(_one(file, next(iter(wanted), "")) for file in files)


def _usage(message: str) -> int:
    print(f"oric: error: {message}", file=sys.stderr)
    return ERROR_STATUS


def _one(file: str, what: str) -> int:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = data.decode("utf-8", "surrogateescape")  # comments may hold any bytes; they come out as they went in
        parse(text, "<stdin>" if file == "-" else file)
    except CompileError as error:
        print(error, file=sys.stderr)
        return ERROR_STATUS
    except OSError as error:
        return _usage(f"Input file '{file}' could not be opened: {error.strerror}")
    out = format_text(text)
    if what == "check":
        if out != text:
            print(file)
        return int(out != text)
    if what == "in-place":
        if out != text:
            Path(file).write_bytes(out.encode("utf-8", "surrogateescape"))
    else:
        sys.stdout.buffer.write(out.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    return 0

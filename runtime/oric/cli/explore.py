"""``oric explore``: a page with PTX, Ori behind every phase and machine code side by side; written to a file or served."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from oric_tables.options import LONG, OPTIONS, SHORT
from oric_tables.targets import TARGETS

from oric.explore import Exploration, Request, explore, pack, page
from oric.explore.model import EXPECTED
from oric.explore.serve import ADDRESS, Explorer, Field, RequestError, serve
from oric.support.diagnostics import CompileError
from oric.support.files import OutputError, write_atomically

from . import ERROR_STATUS
from .arguments import Arguments, UsageError, parse
from .compile import compile_options, read_input

_OWN: Final = {"--run": "a launch file", "--compare": "a cubin"}  # with a value
_SERVE: Final = "--serve"
_PORT: Final = 8127
_MOST_PORT: Final = 65535
# What prints, writes or lists something else: it means nothing to a page.
_OTHERS: Final = frozenset({
    "compiler-stats", "compiler-stats-file", "dump-ir", "ftrace", "input-as-string", "list-knobs", "list-phases", "list-targets",
    "list-version", "profile", "save-reproducer", "stats", "time-phases", "verbose", "version",
})  # fmt: skip
# Options that have a control of their own on the served page; all others are written into the last one.
_CONTROLS: Final = {
    "gpu-name": ("Target", tuple(TARGETS), ""),
    "opt-level": ("Level", ("0", "1", "2", "3"), ""),
    "maxrregcount": ("Registers", (), "no limit"),
    "disable-phase": ("Phases off", (), "numbers, names"),
}
_MORE: Final = "more"


@dataclass(frozen=True)
class _Words:
    """A command line: own options by name, the port (None: nothing is served), and the words of compiling."""

    own: Mapping[str, str]
    port: int | None
    rest: tuple[str, ...]


def main(argv: list[str]) -> int:
    """Run ``oric explore``; returns the exit status: 0, or 255 when anything went wrong; then no page is written."""
    try:
        return _run(_split(argv))
    except CompileError as error:
        print(error, file=sys.stderr)
    except (UsageError, OutputError, RequestError, *EXPECTED) as error:
        print(f"oric: error: {error}", file=sys.stderr)
    return ERROR_STATUS


def help_text() -> str:
    """What ``oric explore --help`` prints."""
    return f"""Usage: oric explore <ptx file> -o <page.html> [--run <launch file>] [--compare <cubin>] [options of compiling]
       oric explore <ptx file> {_SERVE} [<port>] [--run <launch file>] [--compare <cubin>] [options of compiling]

  -o <page.html>
        Write one page that needs nothing else: PTX, the code behind every phase, machine code, graph, live registers.
  {_SERVE} [<port>]
        Serve the page at http://{ADDRESS}:<port>/ (default {_PORT}, 0: any that is free) and compile again when a file changes.
  --run <launch file>
        Run the launches of the file in the simulator with the cubin that was made, and show where warps waited.
  --compare <cubin>
        Show the machine code of another cubin beside ours."""


def _split(argv: list[str]) -> _Words:
    own: dict[str, str] = {}
    port: int | None = None
    rest: list[str] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in _OWN:
            if not equals and not words:
                raise UsageError(f"'{name}' needs {_OWN[name]}")
            own[name] = value if equals else words.pop(0)
        elif name == _SERVE:
            if not equals and words and words[0].isdecimal():
                value = words.pop(0)
            port = _port(value) if value or equals else _PORT
        else:
            rest.append(word)
    return _Words(own, port, tuple(rest))


def _port(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 5 or int(text) > _MOST_PORT:
        raise UsageError(f"'{text[:20]}' is no port: expected a number up to {_MOST_PORT}")
    return int(text)


def _run(words: _Words) -> int:
    args = parse(words.rest)
    if args.has("help"):
        print(help_text())
        return 0
    _judge(args)
    output = args.get("output-file") if args.has("output-file") else ""
    if bool(output) == (words.port is not None):
        raise UsageError(f"'oric explore' needs one of -o <page.html> and {_SERVE}")
    for remark in args.remarks:
        print(f"oric: {remark.severity}: {remark.text}", file=sys.stderr)
    if words.port is not None:
        return _serve(args, words)
    found = explore(_request(args, words.own))
    if found.error is not None:
        raise found.error
    for warning in found.document["warnings"]:
        print(warning, file=sys.stderr)
    write_atomically(output, page(pack(found.document)).encode())
    return 0


def _judge(args: Arguments) -> None:
    """Refuse what makes no page.

    Raises:
        UsageError: an option that means nothing here, or not one input.
    """
    for name in args.values:
        if name in _OTHERS:
            raise UsageError(f"option '--{name}' means nothing to 'oric explore'")
    if args.virtual:
        raise UsageError(f"'oric explore' shows machine code: '{args.get('gpu-name')}' has none")
    if len(args.inputs) != 1:
        raise UsageError(f"exactly one input file is expected, {len(args.inputs)} given")


def _request(args: Arguments, own: Mapping[str, str]) -> Request:
    """What is to be shown.

    Raises:
        UsageError: a file cannot be read.
    """
    other: tuple[str, bytes] | None = None
    if "--compare" in own:
        try:
            with open(own["--compare"], "rb") as file:
                other = own["--compare"], file.read()
        except OSError as error:
            raise UsageError(f"Input file '{own['--compare']}' could not be opened: {error.strerror}") from error
    return Request(
        read_input(args.inputs[0]), args.inputs[0], compile_options(args), tuple(_spelled(args)), other, own.get("--run")
    )


def _spelled(args: Arguments) -> list[str]:
    """The options of a command line, in one form."""
    return [f"--{name}={value}" if value else f"--{name}" for name, value in args.values.items() if name != "output-file"]


# -- the served page -----------------------------------------------------------------------------------------------


def _serve(args: Arguments, words: _Words) -> int:
    assert words.port is not None
    name = args.inputs[0]
    if name == "-":
        raise UsageError(f"{_SERVE} needs a file: standard input cannot change")
    read_input(name)  # a wrong name is told here, not on the page

    def make(values: Mapping[str, str]) -> Exploration:
        try:
            return explore(_request(_chosen(values, name), words.own))
        except (UsageError, ValueError) as error:
            raise RequestError(str(error)) from error

    explorer = Explorer(_fields(args), make, [name, *words.own.values()])
    explorer.data({})  # so are options that make no sense
    try:
        server = serve(explorer, words.port)
    except OSError as error:
        raise UsageError(f"port {words.port} of {ADDRESS} cannot be served: {error.strerror}") from error
    with server:
        print(f"oric: http://{ADDRESS}:{server.server_address[1]}/ shows {name}; Ctrl-C ends it", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("oric: ended", file=sys.stderr)
    return 0


def _fields(args: Arguments) -> list[Field]:
    """The controls, with what the command line says."""
    fields = [
        Field(name, title, args.get(name) if args.has(name) or choices else "", choices, hint)
        for name, (title, choices, hint) in _CONTROLS.items()
    ]
    rest = Arguments()
    rest.values = {name: value for name, value in args.values.items() if name not in _CONTROLS}
    return [*fields, Field(_MORE, "More options", shlex.join(_spelled(rest)), hint="--fmad=false ...")]


def _chosen(values: Mapping[str, str], name: str) -> Arguments:
    """The command line that the controls say.

    Raises:
        UsageError: as :func:`parse`; an option that names a file, or means nothing here.
    """
    words = [f"--{option}={values[option]}" for option in _CONTROLS if values.get(option)]
    try:
        more = shlex.split(values.get(_MORE, ""))
    except ValueError as error:
        raise UsageError(f"more options: {error}") from error
    for word in more:
        _refuse_files(word)
    args = parse([*words, *more, name])
    _judge(args)
    return args


def _refuse_files(word: str) -> None:
    """A page does not make us read or write files.

    Raises:
        UsageError: the word is no option, or one that names a file.
    """
    shown = word.partition("=")[0]
    number = LONG.get(shown[2:]) if shown.startswith("--") else SHORT.get(shown[1:])
    if not word.startswith("-") or (number is not None and OPTIONS[number].value == "path"):
        raise UsageError(f"'{word[:80]}': the page takes no files")

"""``--help`` and ``--version``, in the layout of ptxas's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from oric_tables.options import OPTIONS, Option
from oric_tables.targets import TARGETS

from oric.support.version import VERSION

_COLUMN: Final = 52  # where short names stand
_SHORT: Final = 28
_WIDTH: Final = 88
_STATES: Final = {"warned": "Not done yet: accepted with a warning.", "refused": "Not done yet: refused."}
_COMMANDS: Final = (
    "asm <assembly file>",
    "disasm <cubin>",
    "check <cubin>",
    "dump <what> [--after <phase>] [options] <ptx file>",
    "explain ocg:<intrinsic> [--sm <target>]",
    "explore [options] (-o <page.html> | --serve [<port>]) <ptx file>",
    "fmt [--check | -i] <ptx file>...",
    "lsp [--stdio] | --vscode <folder>",
    "opt --phase <name> [options] <Ori file>",
    "reduce (--test <command> | --crash | --differs <launch file>) -o <file> <ptx file>",
    "reproduce <file of --save-reproducer>",
    "resume <record file> [-o <file>]",
    "run <launch file>",
    "show [--json] <record file>",
)
_BOOLEAN: Final = "true|false"
COMPATIBLE: Final = "Takes the command lines and the PTX of Cuda compilation tools, release 13.0, V13.0.88"


def help_text(tool: str, own: bool) -> str:
    """The text of ``--help``: ptxas's options by name, then ours when ``own``."""
    lines = ["", f"Usage  : {tool} [options] <ptx file>,..."]
    if own:
        lines += [f"         {tool} {command}" for command in _COMMANDS]
    lines += ["", "Options", "=======", ""]
    shown = sorted((o for o in OPTIONS if not o.hidden), key=lambda option: option.name)
    for option in (o for o in shown if o.origin == "ptxas"):
        lines += _option(option)
    if own:
        lines += ["Options that ptxas does not have", "================================", ""]
        for option in (o for o in shown if o.origin != "ptxas"):
            lines += _option(option)
    return "\n".join(lines)


def version_text(tool: str) -> str:
    """The text of ``--version``; tools look for the release in it."""
    name = "an open PTX-to-SASS optimizing assembler"
    first = f"oric {VERSION}: {name}" if tool == "oric" else f"{tool}: Oric {VERSION}, {name}"
    return f"{first}\n{COMPATIBLE}"


def _option(option: Option) -> Iterator[str]:
    shown = _BOOLEAN if option.value == "boolean" else option.shown
    value = f" <{shown}>" if shown else ""
    several = ",..." if option.list else ""
    short = f"(-{option.short})" if option.short else ""
    yield f"{f'--{option.name}{value}{several}':<{_COLUMN}}{short:<{_SHORT}}".rstrip()
    paragraphs = [option.help]
    if option.choices:
        paragraphs.append(f"Allowed values for this option:  {','.join(_quoted(option, c) for c in option.choices)}.")
    if option.name == "gpu-name":
        paragraphs.append(f"Code can be made for {', '.join(TARGETS)}.")
    if option.state in _STATES:
        paragraphs.append(_STATES[option.state])
    if option.default:
        paragraphs.append(f"Default value:  {_quoted(option, option.default)}.")
    for paragraph in paragraphs:
        for line in textwrap.wrap(paragraph.replace("','", "', '"), _WIDTH - 8, break_on_hyphens=False):
            yield f"        {line}"
    yield ""


def _quoted(option: Option, value: str) -> str:
    """Numbers and truth values stand without quotes."""
    return value if value in ("true", "false") or (value.isdigit() and option.value != "string") else f"'{value}'"

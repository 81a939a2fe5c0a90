"""Reproducers: what a compilation was that ended in an internal error, in one JSON file (``--save-reproducer``).

It holds the inputs, the options, the message and the versions. ``oric reproduce FILE`` compiles the same again and writes no
output.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from typing import Any, Final

from oric.support.files import write_atomically
from oric.support.version import VERSION

from .arguments import Arguments, UsageError

OPTION: Final = "save-reproducer"
_KIND: Final = "oric reproducer"
# Options about files, and what is kept by itself.
_FILES: Final = frozenset({
    OPTION, "output-file", "compiler-stats-file", "input-as-string", "save-records", "records-full", "records-wrap", "knob",
    "knobs-file", "timeout",
})  # fmt: skip
_MESSAGE: Final = "{0}: not a reproducer that oric --save-reproducer has written: {1}"


def save(
    path: str, args: Arguments, inputs: Sequence[tuple[str, str]], error: BaseException, knobs: Sequence[tuple[str, str]] = ()
) -> None:
    """Write a reproducer; ``inputs``: text and name of each; ``knobs``: place and text of what set some.

    Raises:
        OutputError: it cannot be written.
    """
    kept = {
        "kind": _KIND,
        "command": "oric reproduce FILE",
        "error": f"{type(error).__name__}: {error}",
        "versions": {"oric": VERSION, "python": platform.python_version(), "system": f"{sys.platform} {platform.machine()}"},
        "options": {name: value for name, value in sorted(args.values.items()) if name not in _FILES},
        "knobs": [text for _, text in knobs],
        "inputs": [{"name": name, "text": text} for text, name in inputs],
    }
    write_atomically(path, (json.dumps(kept, indent=1) + "\n").encode())


def load(path: str, text: str) -> tuple[Arguments, list[tuple[str, str]]]:
    """Options, and text and name of each input, of a reproducer with that text; ``path`` names it in messages.

    Raises:
        UsageError: it is none.
    """
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(_MESSAGE.format(path, error)) from error
    args = Arguments()
    args.values = _texts(path, _field(path, kept, "options", dict))
    inputs = [_texts(path, one) for one in _field(path, kept, "inputs", list)]
    if kept.get("kind") != _KIND or not all(set(one) == {"name", "text"} for one in inputs):
        raise UsageError(_MESSAGE.format(path, f"it is no '{_KIND}'"))
    args.knobs = kept.get("knobs", [])
    if not isinstance(args.knobs, list) or not all(isinstance(one, str) for one in args.knobs):
        raise UsageError(_MESSAGE.format(path, "knobs are texts"))
    if args.knobs:
        args.values["knob"] = ""
    return args, [(one["text"], one["name"]) for one in inputs]


def _field(path: str, kept: Any, name: str, kind: type) -> Any:
    found = kept.get(name) if isinstance(kept, dict) else None
    if not isinstance(found, kind):
        raise UsageError(_MESSAGE.format(path, f"it has no '{name}'"))
    return found


def _texts(path: str, values: Any) -> dict[str, str]:
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise UsageError(_MESSAGE.format(path, "options and inputs are texts"))
    return values

"""The extension for Visual Studio Code, as a folder that it can load.

The files lie in ``files``; the grammar is generated from ``spec/ptx`` and comes from ``oric_tables``.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Final

from oric.support.version import VERSION

GRAMMAR: Final = "syntaxes/ptx.tmLanguage.json"
_FILES: Final = ("extension.js", "language-configuration.json", "README.md", ".vscodeignore")


def extension() -> dict[str, str]:
    """The files of the extension by their paths in its folder."""
    folder = files(__package__) / "files"
    out = {name: (folder / name).read_text(encoding="utf-8") for name in _FILES}
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    out["package.json"] = json.dumps({**manifest, "version": VERSION}, indent=2) + "\n"
    out[GRAMMAR] = (files("oric_tables") / "ptx.tmLanguage.json").read_text(encoding="utf-8")
    return out


def write_extension(folder: Path) -> None:
    """Write the extension into a new folder.

    Raises:
        OSError: the folder is there already, or cannot be written.
    """
    found = extension()
    folder.mkdir(parents=True)
    for name, text in found.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

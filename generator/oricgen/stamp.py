"""Whether ``build/`` is what the inputs give: hashes of everything that goes in and comes out, without reading any YAML.

``build/stamp`` has the hash of the inputs on its first line and one line for each generated file behind it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from . import disk, handlers

_GENERATOR = Path(__file__).resolve().parent


def current(root: Path) -> bool:
    """Whether the inputs are those of the last build, and every generated file below ``root/build`` is as it left it."""
    try:
        inputs, *outputs = (root / "build" / "stamp").read_text(encoding="utf-8").splitlines()
        now = _inputs(root)
    except (OSError, ValueError):  # what cannot be read is not what it was: the check says why
        return False
    if inputs != now or len(outputs) != len(list(_generated(root))):
        return False
    lines = (line.partition(" ") for line in outputs)
    return all(_hash(root / "build" / name) == digest for digest, _, name in lines)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Note that ``files`` (path below ``root/build`` -> text) were made from the inputs as they are now."""
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()} {name}" for name, text in sorted(files.items())]
    disk.write(root / "build" / "stamp", ("\n".join([_inputs(root), *lines]) + "\n").encode())


def stale(root: Path, names: Iterable[str]) -> list[Path]:
    """Generated files below ``root/build`` that are none of ``names``: left over from an older specification."""
    keep = {root / "build" / name for name in names}
    return [path for path in _generated(root) if path not in keep]


def _generated(root: Path) -> Iterable[Path]:
    """Files in the folders of ``build`` that belong to the generator."""
    owned = {"oric_tables": {".py"}, "oric_rules": {".py"}, "c": {".c", ".h"}, "flat": {".txt", ".json", ".md"}}
    for folder, suffixes in owned.items():
        yield from (path for path in (root / "build" / folder).rglob("*.*") if path.suffix in suffixes)


def _inputs(root: Path) -> str:
    """Hash over names and contents of the specification, the generator, and the compiler's sources that it looks at."""
    spec = root / "spec"
    read = (p for p in spec.rglob("*") if p.suffix in {".yaml", ".json"} and not p.name.startswith("."))
    return _contents([(spec, read), *_reader()], *_lying(spec))


def generator() -> str:
    """Hash over names and contents of the generator, and the compiler's sources that it looks at."""
    return _contents(_reader())


def _reader() -> list[tuple[Path, Iterable[Path]]]:
    """The files that read a specification: folder, files below it."""
    own = (p for p in _GENERATOR.rglob("*") if p.suffix in {".py", ".j2"})
    return [(_GENERATOR, own), (handlers.folder(), [*handlers.sources(), *handlers.headers()])]


def _contents(groups: Iterable[tuple[Path, Iterable[Path]]], *names: str) -> str:
    hasher = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for base, paths in groups:
        for path in sorted(paths):
            hasher.update(f"\0{path.relative_to(base).as_posix()}\0".encode())
            hasher.update(path.read_bytes())
    hasher.update("\0".join(names).encode())
    return hasher.hexdigest()


def _lying(folder: Path) -> list[str]:
    """Names of all files, since one that nothing reads is a mistake; those that editors leave come and go."""
    names = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if not (p.name[0] in ".#" or p.name.endswith("~")))
    return sorted(names)


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""

"""What earlier commands have read and found sound, kept in ``build/known``: a command reads again only what has changed.

It has the models of a :class:`~oricgen.spec.Spec`, the files that each was made from, and digests of these files. What depends
on a file that differs is dropped, as for an edit (:meth:`~oricgen.spec.Spec.edited`); all is dropped when the generator, a source
that it looks at, a schema or Python is another. Where there is no ``build`` nothing is kept; a file that is damaged or cannot be
read counts as none, and one that cannot be written is not. Whoever writes last writes the whole file.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, cast

from . import spec as specification
from . import stamp
from .errors import SpecError, UsageError

FILE = "known"
_MAGIC = b"oricgen knows 1\n"
_PARTS, _SIZE, _DIGEST = 3, 8, hashlib.sha256().digest_size  # facts, models, rows
_LISTING = "/"  # stands for the names of all files
Steps = dict[str, frozenset[str]]


class Known:
    """A specification, and ``steps``: the checks that it has passed as it stands, each with the files that it has read.

    Whoever does a step adds it there.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.steps: Steps = {}

    @cached_property
    def spec(self) -> specification.Spec:
        """The specification, with the models that are known of it."""
        return specification.Spec(self.root / "spec")

    def conclude(self, name: str) -> None:
        """Note that the specification has passed the step ``name``, which looks at all steps, and at all files by name."""
        self.steps[name] = frozenset({_LISTING}.union(*self.steps.values()))

    def save(self) -> None:
        """Keep what is known; here it goes with the process."""


class _Kept(Known):
    """The same, taken from the file and written to it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._path = root / "build" / FILE
        self._files, self._generator = _digests(root / "spec"), _generator()
        self._touched: set[str] = set()
        self._models = self._rows = _Part()
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            self._open(self._path.read_bytes())
        self._before = dict(self.steps)

    def _open(self, data: bytes) -> None:
        """Read the steps; the models wait until they are needed."""
        facts, models, rows = _Part.split(data if data.startswith(_MAGIC) else b"")
        known = json.loads(bytes(facts.sound()))
        touched = _touched(known["files"], self._files)
        if known["generator"] == self._generator and touched is not None:
            self._models, self._rows, self._touched = models, rows, touched
            steps = {name: frozenset(files) for name, files in known["steps"].items()}
            self.steps = {name: files for name, files in steps.items() if not files & touched}

    @cached_property
    def spec(self) -> specification.Spec:
        """The specification, with the models of the file that do not depend on what has changed."""
        spec = specification.Spec(self.root / "spec")
        if self._models.sound():
            reader = _Unpickler(io.BytesIO(b"".join((self._models.data, self._rows.data))), spec)

            def rows() -> specification.Rows:
                return cast(specification.Rows, reader.load()) if self._rows.sound() else ({}, {}, [])

            spec.restore(cast(specification.Models, reader.load()), rows, self._touched)
        return spec

    def save(self) -> None:
        """Write the file, when more is known than it has and no input has changed meanwhile."""
        if self.steps == self._before and ("spec" not in vars(self) or not self.spec.made):
            return
        if (self._files, self._generator) != (_digests(self.root / "spec"), _generator()):
            return
        steps = {name: sorted(files) for name, files in self.steps.items()}
        facts = json.dumps({"generator": self._generator, "files": self._files, "steps": steps}).encode()
        try:
            parts = [_Part(facts), *_pickled(self.spec)]
        except (pickle.PicklingError, TypeError, AttributeError):  # a model that cannot be kept; a test finds it
            return
        with contextlib.suppress(OSError):
            _replace(self._path, _Part.join(parts))


@contextlib.contextmanager
def opened(root: Path, *, keep: bool) -> Iterator[Known]:
    """The specification of a project; ``keep``: with what is known of it, and what is learned is known from then on."""
    known = _Kept(root) if keep and (root / "build").is_dir() else Known(root)
    try:
        yield known
    except (SpecError, UsageError):
        known.save()  # what is sound besides is not looked at again when the mistake is mended
        raise
    known.save()


@dataclass(frozen=True)
class _Part:
    """A part of the file, with its digest; a part is checked when it is used."""

    data: bytes | memoryview = b""
    digest: bytes = b""

    def sound(self) -> bytes | memoryview:
        """The part, empty when it is damaged."""
        return self.data if _hash(self.data) == self.digest else b""

    @staticmethod
    def join(parts: list[_Part]) -> bytes:
        """A file of these parts."""
        sizes = [len(part.data).to_bytes(_SIZE, "little") for part in parts]
        return b"".join((_MAGIC, *sizes, *(_hash(part.data) for part in parts), *(part.data for part in parts)))

    @staticmethod
    def split(data: bytes) -> list[_Part]:
        """The parts of a file; what is none of ours has none that is sound."""
        first, place = len(_MAGIC) + _PARTS * _SIZE, len(_MAGIC) + _PARTS * (_SIZE + _DIGEST)
        whole, out = memoryview(data), []
        for number in range(_PARTS):
            at, digest = len(_MAGIC) + number * _SIZE, first + number * _DIGEST
            size = int.from_bytes(data[at : at + _SIZE], "little")
            out.append(_Part(whole[place : place + size], data[digest : digest + _DIGEST]))
            place += size
        return out


class _Pickler(pickle.Pickler):
    """Models refer to the specification that they were made from, which is not one of them: :func:`_here` stands for it.

    A table of reducers, not ``persistent_id``: that is asked for each of the millions of values.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.dispatch_table = {
            specification.Spec: lambda _: (_here, ()),
            MappingProxyType: lambda proxy: (_proxy, (dict(proxy),)),
        }


class _Unpickler(pickle.Unpickler):
    """The other way round."""

    def __init__(self, file: io.BytesIO, spec: specification.Spec) -> None:
        super().__init__(file)
        self._spec = spec

    def find_class(self, module: str, name: str) -> Any:
        return (lambda: self._spec) if (module, name) == (__name__, _here.__name__) else super().find_class(module, name)


def _here() -> None:
    """Stands in the file for the specification; whoever reads it puts its own there."""


def _pickled(spec: specification.Spec) -> Iterator[_Part]:
    """Models and rows; what both have they share when they are read again, by one reader and in this order."""
    for_reader = io.BytesIO()
    writer = _Pickler(for_reader)
    for value in spec.state():
        start = for_reader.tell()
        writer.dump(value)
        yield _Part(for_reader.getvalue()[start:])


def _proxy(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """What stands for its class, which cannot be looked up by its name."""
    return MappingProxyType(content)


def _touched(before: Mapping[str, str], after: Mapping[str, str]) -> set[str] | None:
    """Files that differ, and folders in which some are new or gone (``FOLDER/``, and then ``/``); None when a schema differs."""
    differ = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if any(name.endswith(".json") for name in differ):
        return None
    listed = differ - (before.keys() & after.keys())
    return differ | {f"{PurePosixPath(name).parent}/" for name in listed} | ({_LISTING} if listed else set())


def _digests(folder: Path) -> dict[str, str]:
    """Name -> digest of the files of a specification; of a file that nothing reads the name alone says all."""
    return {path.relative_to(folder).as_posix(): _digest(path) for path in sorted(folder.rglob("*")) if not path.is_dir()}


def _digest(path: Path) -> str:
    if path.suffix not in {".yaml", ".json"}:
        return ""
    try:
        return _hash(path.read_bytes()).hex()
    except OSError as error:  # the check says so
        return str(error.strerror)


def _generator() -> str:
    """What reads the specification."""
    import yaml

    return f"{sys.version} {yaml.__version__} {stamp.generator()}"


def _hash(data: bytes | memoryview) -> bytes:
    return hashlib.sha256(data).digest()


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that nobody reads half of it."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)

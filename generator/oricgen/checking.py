"""The whole check of a specification: all mistakes that can be told apart, in one run."""

from __future__ import annotations

import fnmatch
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import SpecError, UsageError, raise_all
from .outputs import all_outputs
from .spec import Spec
from .tables import all_tables, checks

_GENERATOR = Path(__file__).resolve().parent
_README = "README.md"
_SCHEMAS = "schema"


def checked(spec: Spec, passed: dict[str, frozenset[str]] | None = None, *, render: bool = True) -> dict[str, str]:
    """Check every file, every table and every output; returns what is to be written below ``build/`` (``render``).

    ``passed`` has the steps that the specification has passed as it stands, with the files that each has read: these are not done
    again, and those that it passes now are added.

    Raises:
        SpecError: the first mistake in order of file and line; the others are its ``others``.
        UsageError: there is no specification.
    """
    if not spec.root.is_dir():
        raise UsageError(f"there is no folder '{spec.root}'")
    run = _Run(spec, {} if passed is None else passed)
    for name, schema in owned(spec).items():
        run.step(f"file {name}", name, partial(spec.load, name, schema))
    run.read.clear()  # what is read only to see whether it is sound is not used yet
    for table in all_tables():
        run.step(f"table {table.NAME}", table.FILES[0], partial(table.check, spec))
    run.step("", "", lambda: _refuse(strays(spec)))
    files: dict[str, str] = {}
    for output in all_outputs():
        made = run.step(f"output {output.__name__}", "", partial(output.render, spec), whole=True, again=render)
        files.update(made or {})
    if not run.found:
        run.step("", "", lambda: _refuse(unread(spec, run.read)))
    if run.found:
        raise_all(sorted(run.found, key=lambda error: (error.path, error.line, error.message)))
    return files


class _Run:
    """The steps of a check, and what they found."""

    def __init__(self, spec: Spec, passed: dict[str, frozenset[str]]) -> None:
        self._spec = spec
        self._passed = passed
        self.found: list[SpecError] = []
        self.read: set[str] = set()

    def step(self, key: str, name: str, work: Callable[[], Any], *, whole: bool = False, again: bool = False) -> Any:
        """Do ``work``, which is about the file ``name``; None when it fails, or has passed before (``key``) and not ``again``.

        What it says of a line that an earlier step spoke of follows from that mistake, and is not said again. A ``whole`` step
        needs all that it reads: when some of that has mistakes, whatever it says may follow from them.
        """
        if key in self._passed and not again:
            self.read |= self._passed[key]
            return None
        told = {(error.path, error.line) for error in self.found}
        wrong = {error.path.removeprefix("spec/") for error in self.found}
        with self._spec.reading() as used:
            try:
                made = work()
            except SpecError as error:
                if not (whole and wrong & used):
                    self.found += [one for one in error.all() if (one.path, one.line) not in told]
            except Exception as error:
                if not self.found:  # otherwise a mistake that is known may be its cause
                    self.found.append(SpecError(Spec.path(name), 0, f"this cannot be checked: {_crash(error)}"))
            else:
                if key:
                    self._passed[key] = frozenset(used)
                return made
            finally:
                self.read |= used
        return None


def _crash(error: Exception) -> str:
    """What happened where in the generator: for those who mend it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_GENERATOR)]
    place = f"{Path(frames[-1].filename).relative_to(_GENERATOR).as_posix()}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} in {place}: {str(error)[:200]}"


def owned(spec: Spec) -> dict[str, str]:
    """Files below ``spec/`` that a table reads -> the names of their schemas: of the file, or of its folder."""
    places = {place for table in all_tables() for place in table.FILES}
    single = {place: place.removesuffix(".yaml").replace("/", "_") for place in sorted(places) if place.endswith(".yaml")}
    folders = sorted(places - single.keys())
    return single | {name: folder.replace("/", "_") for folder in folders for name in spec.names(folder) if name not in single}


def strays(spec: Spec) -> Iterator[SpecError]:
    """Files in ``spec/`` that nothing reads, and that are no editor's."""
    schemas = owned(spec)
    known = {*schemas, *(f"{_SCHEMAS}/{stem}.schema.json" for stem in schemas.values())}
    known |= {(PurePosixPath(name).parent / _README).as_posix() for name in known}
    passing = checks.passing(spec)
    for name in sorted(set(_files(spec.root)) - known):
        if not _fits(name, passing):
            yield SpecError(Spec.path(name), 0, f"nothing reads this file{_meant(name, known)}")


def _meant(name: str, known: Iterable[str]) -> str:
    """What may be wrong with the name of a file."""
    path = PurePosixPath(name)
    if path.suffix.lower() in {".yml", ".yaml"} and path.suffix != ".yaml":
        return ": write the suffix .yaml"
    folders = {PurePosixPath(one).parent for one in known}
    if path.suffix == ".yaml" and path.parent not in folders:
        return ": no table reads this folder"
    return f": {path.stem} is no table" if path.suffix == ".yaml" else ""


def remarks(spec: Spec) -> list[str]:
    """What is said of files of editors in ``spec/``, which are no mistakes."""
    passing = checks.passing(spec)
    return [
        f"{Spec.path(name)}: nothing reads this file: {passing[pattern]}"
        for name in sorted(_files(spec.root))
        if (pattern := _fits(name, passing))
    ]


def _fits(name: str, patterns: Iterable[str]) -> str:
    """The first of the patterns that a file's name fits; "" for none."""
    last = PurePosixPath(name).name
    return next((pattern for pattern in patterns if fnmatch.fnmatchcase(last, pattern)), "")


def _files(root: Path) -> Iterator[str]:
    """All that is no folder below ``root``; a link to a folder is none.

    Raises:
        SpecError: a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        place = Path(str(error.filename)).relative_to(root).as_posix()
        raise SpecError(Spec.path(place), 0, f"the folder cannot be read: {error.strerror}") from error

    for folder, inner, files in os.walk(root, onerror=refuse):
        base = Path(folder)
        for name in (*files, *(one for one in inner if (base / one).is_symlink())):
            yield (base / name).relative_to(root).as_posix()


def unread(spec: Spec, read: Iterable[str]) -> Iterator[SpecError]:
    """Files that are a table's by their place, and that no table has read."""
    for name in sorted(owned(spec).keys() - set(read)):
        yield SpecError(Spec.path(name), 1, "no table reads this file: nothing names it")


def _refuse(found: Iterable[SpecError]) -> None:
    errors: Mapping[str, SpecError] = {str(error): error for error in found}
    if errors:
        raise_all(errors.values())

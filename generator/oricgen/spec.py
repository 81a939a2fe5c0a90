"""The specification as a whole: which files there are, loaded strictly and checked against their schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar, cast

from . import schema, strictyaml
from .errors import Mistakes, SpecError
from .strictyaml import Map

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
Models = dict[str, tuple[object, frozenset[str]]]
Parts = list[tuple[tuple[object, ...], tuple[int, ...], object]]
Rows = tuple[dict[str, str], dict[str, Map], Parts]  # and schemas
MOST_PARTS = 2048  # that are kept


@dataclass
class Spec:
    """Access to ``spec/``: every file is loaded once, validated by ``schema/NAME.schema.json``.

    ``overlay`` holds texts that stand in place of files (path below ``spec/`` -> text): an edit that is tried without being
    written. Every file that is read, and every folder that is listed (as ``FOLDER/``), is noted, so that :meth:`edited`
    knows what depends on an edit.
    """

    root: Path
    overlay: Mapping[str, str] = field(default_factory=dict)
    schemas: dict[str, str] = field(default_factory=dict)  # of the files that were read
    _cache: dict[str, Map] = field(default_factory=dict)
    _before: dict[str, Map] = field(default_factory=dict)  # of files that were edited: as they were
    _models: dict[str, tuple[object, frozenset[str]]] = field(default_factory=dict)
    _parts: dict[tuple[object, ...], tuple[tuple[object, ...], tuple[int, ...], object]] = field(default_factory=dict)
    _readers: list[set[str]] = field(default_factory=list)
    _gone: dict[str, object] = field(default_factory=dict)  # models of files that were edited: as they were
    _failures: dict[tuple[str, str], SpecError] = field(default_factory=dict)  # of files and models: said once, again quickly
    _rows: Callable[[], None] | None = None
    made: int = 0  # how many files, models and parts were read or made here

    def load(self, name: str, schema_name: str | None = None) -> Map:
        """Load ``spec/NAME`` (for example ``sm_targets.yaml`` or ``ptx/arith.yaml``).

        The schema is ``schema/SCHEMA_NAME.schema.json``; by default the folder's name for files in a folder,
        the file's stem otherwise.

        Raises:
            SpecError: unreadable file, broken YAML, schema violation.
        """
        self._note({name})
        self._fetch()
        if name not in self._cache:
            self.made += 1
            with self._failing("file", name):
                self._cache[name] = self._read(name, schema_name)
        return self._cache[name]

    def _read(self, name: str, schema_name: str | None) -> Map:
        path = self.path(name)
        data = strictyaml.loads(self._text(name), path)
        stem = schema_name or (name.split("/", maxsplit=1)[0] if "/" in name else Path(name).stem)
        schema.validate(data, path, self.root / "schema" / f"{stem}.schema.json")
        self.schemas[name] = stem
        return cast(Map, strictyaml.kept(data, self._before.get(name)))

    @contextmanager
    def _failing(self, kind: str, name: str) -> Iterator[None]:
        """What has failed once fails again with the same mistake: nobody makes it anew to find that out."""
        known = self._failures.get((kind, name))
        if known is not None:
            raise known
        try:
            yield
        except SpecError as error:
            self._failures[kind, name] = error
            raise

    def _text(self, name: str) -> str:
        if name in self.overlay:
            return self.overlay[name]
        return strictyaml.read(self.root / name, self.path(name))

    def names(self, folder: str) -> list[str]:
        """Names of the YAML files of ``spec/FOLDER``, relative to ``spec/``, sorted; none when there is no such folder."""
        self._note({f"{folder}/"})
        found = {f"{folder}/{p.name}" for p in (self.root / folder).glob("*.yaml") if not p.name.startswith(".")}
        return sorted(found | {n for n in self.overlay if PurePosixPath(n).parent == PurePosixPath(folder)})

    def family(self, folder: str) -> dict[str, Map]:
        """All YAML files of ``spec/FOLDER``, sorted by name: relative name -> content.

        Raises:
            SpecError: a mistake in one of them; those of the others are its ``others``.
        """
        out: dict[str, Map] = {}
        with Mistakes() as each:
            for name in self.names(folder):
                with each:
                    out[name] = self.load(name)
        return out

    @staticmethod
    def path(name: str) -> PurePosixPath:
        """How messages call ``spec/NAME``: relative to the project folder, wherever that is."""
        return PurePosixPath("spec", name)

    def memo(self, name: str, make: Callable[[], T], *, same: bool = False) -> T:
        """The model ``name``, made once: several outputs and checks read the same tables.

        ``same``: when what is made after an edit equals what there was before, that stays, and so does what is made from it
        alone (:meth:`part`); for models whose order says nothing.
        """
        if name not in self._models:
            self.made += 1
            with self._failing("model", name), self.reading() as used:
                made = make()
                before = self._gone.pop(name, None) if same else None
            self._models[name] = before if same and before == made else made, frozenset(used)
        model, used_files = self._models[name]
        self._note(used_files)
        return cast(T, model)

    def part(self, rows: tuple[object, ...], numbers: tuple[int, ...], make: Callable[[], T]) -> T:
        """What is made from ``rows`` as they stand (and from ``numbers``) alone: made once, also for edited specifications."""
        self._fetch()
        key = (*map(id, rows), *numbers)
        if key not in self._parts:
            self.made += 1
            self._parts[key] = rows, numbers, make()  # keeping the rows keeps their ids
        return cast(T, self._parts[key][2])

    @contextmanager
    def reading(self) -> Iterator[set[str]]:
        """Collects what is read inside the ``with``: file names, and ``FOLDER/`` for a folder that is listed."""
        used: set[str] = set()
        self._readers.append(used)
        try:
            yield used
        finally:
            self._readers.pop()  # `with` blocks end in the reverse order of their beginning

    def _note(self, names: set[str] | frozenset[str]) -> None:
        for reader in self._readers:
            reader |= names

    def edited(self, texts: Mapping[str, str]) -> Spec:
        """The same specification with other texts for some files; what does not depend on them is not read again.

        In the files themselves, rows that are as they were stay the same objects, so that :meth:`part` knows them.
        """
        self._fetch()
        folders = {f"{PurePosixPath(n).parent}/" for n in texts if n not in self.overlay and not (self.root / n).exists()}
        touched = {*texts, *folders}
        return type(self)(
            self.root,
            {**self.overlay, **texts},
            dict(self.schemas),
            {name: data for name, data in self._cache.items() if name not in touched},
            {**self._before, **{name: data for name, data in self._cache.items() if name in touched}},
            {name: model for name, model in self._models.items() if not model[1] & touched},
            dict(self._parts),  # its own: what is made for an edit goes with it
            _gone={**self._gone, **{name: model for name, (model, used) in self._models.items() if used & touched}},
        )

    def state(self) -> tuple[Models, Rows]:
        """All that was made so far, for :meth:`restore`; of the parts the newest of those whose rows are still there."""
        self._fetch()
        there = {id(row) for data in self._cache.values() for row in strictyaml.maps(data)}
        parts = [one for one in self._parts.values() if all(type(row) is not Map or id(row) in there for row in one[0])]
        return self._models, (self.schemas, self._cache, parts[-MOST_PARTS:])

    def restore(self, models: Models, rows: Callable[[], Rows], touched: Set[str]) -> None:
        """Take over, before anything is read, what was made when the files ``touched`` were other ones; ``rows`` when needed."""
        self._models |= {name: model for name, model in models.items() if not model[1] & touched}
        self._gone |= {name: model for name, (model, used) in models.items() if used & touched}

        def fetch() -> None:
            schemas, cache, parts = rows()
            self.schemas |= schemas
            self._cache |= {name: data for name, data in cache.items() if name not in touched}
            self._before |= {name: data for name, data in cache.items() if name in touched}
            self._parts |= {(*map(id, key), *numbers): (key, numbers, made) for key, numbers, made in parts}

        self._rows = fetch

    def _fetch(self) -> None:
        """Get the rows that :meth:`restore` has left where they are."""
        if self._rows is not None:
            fetch, self._rows = self._rows, None
            fetch()

"""SM targets: ``spec/sm_targets.yaml``, inheritance resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Mistakes, SpecError
from ..names import did_you_mean
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map
from . import _target_names, backends

NAME = "targets"
FILES = ("sm_targets.yaml",)
UNKNOWN = "unknown"
NONE = "none"
WORD_BITS = 128  # of a machine word from sm_70 on
GENERATION_SHIFT = 12  # of the encoded architecture number (Ori IR, Field Map, +24)
MAY_LACK = ("shared_window",)  # code reads it where there are no clusters; later targets have no such word
GROUPS = ("limits", "bank0", "elf", "overrides")  # columns that are merged name by name
OWN = ("code", "ptx", "ptxas", "encoded_arch", "renamed", "source", "note")  # columns that are not inherited
VALUES = ("encoded_arch", "capabilities", "isa")  # columns outside `limits` that a backend may answer with
_FILE = FILES[0]
_NAME = re.compile(r"sm_([0-9]+)([af]?)\Z")

Value = int | str  # a number, or "unknown"


@dataclass(frozen=True)
class Feature:
    """A feature that a target may have; ``bit`` of the capability flags, None when it is none of them."""

    name: str
    about: str
    source: str
    bit: int | None


@dataclass(frozen=True)
class Prologue:
    """Code that every kernel of a target begins with: machine words of 128 bits, and their texts."""

    name: str
    about: str
    source: str
    words: tuple[int, ...]
    texts: tuple[str, ...]

    @property
    def code(self) -> bytes:
        """The words as they stand in a file."""
        return b"".join(word.to_bytes(WORD_BITS // 8, "little") for word in self.words)


@dataclass(frozen=True)
class Target:
    """One resolved target.

    A column that no row states, and one that nobody knows, is "unknown" (``Value``) or empty; a row with ``code`` has all.
    ``isa`` is empty where the machine code is not known.
    ``encoded_arch`` has minor number 0 where ``encoded_known`` is false. ``generation`` is None
    for a target without a backend. ``overrides`` are those of the backend and its own: operation -> function, or None for
    nothing. ``prologue`` is None where kernels begin with no such code. ``family`` is 0 for a target of none. ``ptx`` is the PTX
    version times 10, 0 for a name unknown to ``.target``.
    """

    name: str
    number: int
    variant: str
    code: bool
    isa: str
    backend: int | str
    generation: int | None
    encoded_arch: int
    encoded_known: bool
    capabilities: int
    family: int
    ptx: int
    ptxas: bool
    renamed: str
    features: tuple[str, ...]
    shared_base: Value
    limits: Mapping[str, Value]
    bank0: Mapping[str, Value]
    elf: Mapping[str, Value]
    prologue: Prologue | None
    overrides: Mapping[str, str | None]
    inherits: tuple[str, ...]
    source: str
    note: str
    line: int


@dataclass(frozen=True)
class Targets:
    """The table: features and prologues by name, targets by name in order of the file."""

    features: dict[str, Feature]
    prologues: dict[str, Prologue]
    by_name: dict[str, Target]

    @property
    def with_code(self) -> list[Target]:
        """The targets that code can be made for."""
        return [t for t in self.by_name.values() if t.code]


def load(spec: Spec) -> Targets:
    """The resolved table.

    Raises:
        SpecError: the first row that :func:`check` would name.
    """
    return spec.memo(NAME, lambda: _load(spec))


def isa_names(spec: Spec) -> list[str]:
    """Names of the encoding models; the index is the number that the C code knows a model by."""
    return list(spec.load("formats.yaml")["isas"])


def rows(spec: Spec) -> list[Row]:
    """One row a feature (``feature redux``), a prologue and a target, resolved; what is not known says so."""
    table, path = load(spec), f"spec/{_FILE}"
    data = spec.load(_FILE)
    out = []
    for f in table.features.values():
        bit = {} if f.bit is None else {"bit": f.bit}
        out.append(
            Row(f"feature {f.name}", {**bit, "about": f.about, "source": f.source}, path, data["features"].line_of(f.name))
        )
    for p in table.prologues.values():
        code = [f"{word:#034x}  {text}" for word, text in zip(p.words, p.texts, strict=True)]
        line = data["prologues"].line_of(p.name)
        out.append(Row(f"prologue {p.name}", {"about": p.about, "code": code, "source": p.source}, path, line))
    return out + [Row(t.name, columns(t), path, t.line) for t in table.by_name.values()]


def columns(target: Target) -> dict[str, Any]:
    """The resolved columns of a target, in the order to show them."""
    out: dict[str, Any] = {"code": target.code}
    out |= {"inherits": target.inherits[0]} if target.inherits else {}
    out |= {"isa": target.isa} if target.isa else {}
    out |= {"backend": target.backend}
    if target.generation is not None:
        known = target.encoded_known
        out |= {"generation": target.generation, "encoded_arch": target.encoded_arch if known else UNKNOWN}
    out |= {"ptx": f"{target.ptx // 10}.{target.ptx % 10}"} if target.ptx else {}
    out |= {"ptxas": target.ptxas}
    for key in ("family", "renamed"):
        out |= {key: getattr(target, key)} if getattr(target, key) else {}
    out |= {
        "features": list(target.features),
        "capabilities": target.capabilities if target.generation is not None else UNKNOWN,
        "shared_base": target.shared_base,
    }
    out |= {"limits": dict(target.limits), "bank0": dict(target.bank0), "elf": dict(target.elf)}
    out |= {"prologue": target.prologue.name} if target.prologue else {}
    out |= {"overrides": {name: function or NONE for name, function in target.overrides.items()}} if target.overrides else {}
    return out | {"source": target.source} | ({"note": target.note} if target.note else {})


def counts(spec: Spec) -> dict[str, int]:
    """Targets, those of -arch and .target, those with code, features, capability bits."""
    table = load(spec)
    all_targets = table.by_name.values()
    return {
        "targets": len(all_targets),
        "targets with code": len(table.with_code),
        "targets that ptxas 13.0.88 compiles for": sum(t.ptxas for t in all_targets),
        "targets that .target takes": sum(t.ptx > 0 for t in all_targets),
        "features": len(table.features),
        "prologues": len(table.prologues),
        "capability bits": sum(f.bit is not None for f in table.features.values()),
    }


def check(spec: Spec) -> None:
    """Inheritance, references to features, backends and operations, complete rows with code; targets that other files name.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    _target_names.check(spec, load(spec).by_name)


def _load(spec: Spec) -> Targets:
    data = spec.load(_FILE)
    features, prologues = _features(data["features"]), _prologues(data["prologues"])
    table = backends.load(spec)
    out: dict[str, Target] = {}
    with Mistakes() as each:
        for name in data["targets"]:
            with each:
                out[name] = _read(spec, name, data["targets"], features, prologues, table)
    with Mistakes() as each:
        for target in out.values():
            with each:
                _check_references(target, data["targets"][target.name], out)
                _check_model(target, data["targets"][target.name], isa_names(spec))
            if target.code:
                with each:
                    _check_complete(target, out, data["targets"])
    _check_values(table, {key for t in out.values() for key in t.limits})
    used = {f for t in out.values() for f in t.features}
    begun = {t.prologue.name for t in out.values() if t.prologue}
    with Mistakes() as each:
        for name in features:
            with each:
                if name not in used:
                    raise _error(data["features"].line_of(name), f"{name}: no target has this feature")
        for name in prologues:
            with each:
                if name not in begun:
                    raise _error(data["prologues"].line_of(name), f"{name}: no target has this prologue")
    return Targets(features, prologues, out)


def _read(
    spec: Spec, name: str, data: Map, features: Mapping[str, Feature], prologues: Mapping[str, Prologue], table: backends.Backends
) -> Target:
    """A resolved target with the overrides of its backend.

    Raises:
        SpecError: something that it names does not exist.
    """
    target = _target(name, data, features, prologues)
    _check_backend(target, data[name], table)
    backends.check_overrides(spec, data[name].get("overrides", Map()), table.operations, name, _FILE)
    inherited = table.by_case[target.backend].overrides if isinstance(target.backend, int) else {}
    return replace(target, overrides={**inherited, **target.overrides})


def _features(data: Map) -> dict[str, Feature]:
    out: dict[str, Feature] = {}
    bits: dict[int, str] = {}
    for name, row in data.items():
        bit = row.get("bit")
        if bit in bits:
            raise _error(data.line_of(name), f"{name}: capability bit {bit} is that of {bits[bit]}")
        if bit is not None:
            bits[bit] = name
        out[name] = Feature(name, row["about"], row["source"], bit)
    return out


def _prologues(data: Map) -> dict[str, Prologue]:
    out: dict[str, Prologue] = {}
    for name, row in data.items():
        words, texts = tuple(i["word"] for i in row["code"]), tuple(i["text"] for i in row["code"])
        for at, word in enumerate(words):
            if word >> WORD_BITS:
                raise _error(row["code"].line_of(at), f"{name}: {word:#x} is no word of {WORD_BITS} bits")
        out[name] = Prologue(name, row["about"], row["source"], words, texts)
    return out


def _target(name: str, data: Map, features: Mapping[str, Feature], prologues: Mapping[str, Prologue]) -> Target:
    row, columns = data[name], _inherited(name, data, features, ())
    line = data.line_of(name)
    match = _NAME.match(name)
    assert match is not None, "the schema allows no other name"
    backend = columns.get("backend", UNKNOWN)
    encoded, generation = _architecture(name, data)
    if "encoded_arch" in row and generation != backend and "note" not in row:
        wanted = f"generation {generation}, its backend is case {backend}; a 'note' must say why"
        raise _error(row.line_of("encoded_arch"), f"{name}: encoded_arch {encoded} is of {wanted}")
    found = columns.get("features", {})
    prologue = columns.get("prologue", NONE)
    if prologue != NONE and prologue not in prologues:
        known = did_you_mean(prologue, prologues)
        raise _error(row.line_of("prologue") if "prologue" in row else line, f"{name}: there is no prologue '{prologue}'{known}")
    return Target(
        name=name,
        number=int(match[1]),
        variant=match[2],
        code=row["code"],
        isa=str(columns.get("isa", "")),
        backend=backend,
        generation=generation,
        encoded_arch=encoded if encoded is not None else (generation or 0) << GENERATION_SHIFT,
        encoded_known=encoded is not None,
        capabilities=sum(1 << bit for f in found if (bit := features[f].bit) is not None),
        family=columns.get("family", 0),
        ptx=_version(row.get("ptx", "0.0")),
        ptxas=row.get("ptxas", False),
        renamed=row.get("renamed", ""),
        features=tuple(sorted(found)),
        shared_base=columns.get("shared_base", UNKNOWN),
        limits=dict(columns.get("limits", {})),
        bank0=dict(columns.get("bank0", {})),
        elf=dict(columns.get("elf", {})),
        prologue=prologues.get(prologue),
        overrides=dict(columns.get("overrides", {})),
        inherits=_chain(name, data),
        source=row["source"],
        note=row.get("note", ""),
        line=line,
    )


def _architecture(name: str, data: Map) -> tuple[int | None, int | None]:
    """The encoded number (None: unknown) and the generation of a target: of the nearest row that says something of either.

    The encoded number is inherited among variants of one SM number only.
    """
    chain = (name, *_chain(name, data))
    place = next((n for n in chain if {"encoded_arch", "backend"} & set(data[n])), name)
    found = data[place]
    encoded: int | None = found.get("encoded_arch")
    generation = found.get("backend") if encoded is None else encoded >> GENERATION_SHIFT
    same = place.rstrip("af") == name.rstrip("af")
    return encoded if same else None, generation if isinstance(generation, int) else None


def _inherited(name: str, data: Map, features: Mapping[str, Feature], chain: tuple[str, ...]) -> dict[str, Any]:
    row = data[name]
    base: dict[str, Any] = {}
    parent = row.get("inherits")
    if parent is not None:
        line = row.line_of("inherits")
        if parent not in data:
            raise _error(line, f"{name}: inherits from '{parent}', which is no target{did_you_mean(parent, data)}")
        if parent in (*chain, name):
            raise _error(line, f"{name}: circular inheritance: {' -> '.join((*chain, name, parent))}")
        base = _inherited(parent, data, features, (*chain, name))
    for key in (k for k in row if k not in OWN):
        if key in GROUPS:
            base[key] = {**base.get(key, {}), **row[key]}
        elif key not in ("inherits", "features", "without"):
            base[key] = row[key]
    base["features"] = _feature_set(name, row, base.get("features", {}), features)
    return base


def _feature_set(name: str, row: Map, inherited: Mapping[str, None], known: Mapping[str, Feature]) -> dict[str, None]:
    out = dict(inherited)
    for feature in row.get("without", ()):
        line = row.line_of("without")
        if feature not in out:
            raise _error(line, f"{name}: is to be without '{feature}', which it does not inherit")
        del out[feature]
    for feature in row.get("features", ()):
        line = row.line_of("features")
        if feature not in known:
            raise _error(line, f"{name}: there is no feature '{feature}'{did_you_mean(feature, known)}")
        if feature in out:
            raise _error(line, f"{name}: inherits the feature '{feature}' already")
        out[feature] = None
    return out


def _chain(name: str, data: Map) -> tuple[str, ...]:
    parent = data[name].get("inherits")
    return () if parent is None else (parent, *_chain(parent, data))


def _check_backend(target: Target, row: Map, table: backends.Backends) -> None:
    if isinstance(target.backend, int) and target.backend not in table.by_case:
        raise _error(row.line_of("backend"), f"{target.name}: backends.yaml has no case {target.backend}")


def _check_values(table: backends.Backends, limits: Set[str]) -> None:
    """What a backend answers without running anything is a column that targets have."""
    for operation in table.operations.values():
        for column in operation.columns:
            if column not in limits and column not in VALUES:
                path, known = Spec.path(backends.FILES[0]), ", ".join(VALUES)
                wanted = f"'{column}' is no column of a target: {known}, or one of limits"
                raise SpecError(path, operation.line, f"operation {operation.name}: {wanted}")


def _check_references(target: Target, row: Map, known: Mapping[str, Target]) -> None:
    if target.renamed and target.renamed not in known:
        raise _error(row.line_of("renamed"), f"{target.name}: is renamed to '{target.renamed}', which is no target")
    if target.family and f"sm_{target.family}" not in known:
        line = row.line_of("family")
        raise _error(line, f"{target.name}: family {target.family} is named after sm_{target.family}, which is no target")


def _check_model(target: Target, row: Map, isas: list[str]) -> None:
    """The machine code of a target is that of a model of formats.yaml; older targets have none."""
    if target.isa and target.isa not in isas:
        raise _error(
            row.line_of("isa"), f"{target.name}: encoding model '{target.isa}' is not one of formats.yaml: {', '.join(isas)}"
        )


def _check_complete(target: Target, known: Mapping[str, Target], data: Map) -> None:
    """A row with code has a value in every column that any row has.

    Raises:
        SpecError: the first that it has not; the others are its others.
    """
    with Mistakes() as each:
        for line, gap in _gaps(target, known, data):
            with each:
                raise _error(line, f"{target.name}: code can be made for it, but {gap}")


def _gaps(target: Target, known: Mapping[str, Target], data: Map) -> Iterator[tuple[int, str]]:
    """(line, what is missing) of all that code needs."""
    line = data[target.name].line_of("code")
    if not target.isa:
        yield line, "it names no encoding model ('isa')"
    if target.generation is None:
        yield line, f"its backend is {target.backend}"
    if not target.ptx:
        yield line, "column 'ptx' is missing"
    if target.shared_base == UNKNOWN:
        yield _stated(target, data, "shared_base"), "shared_base is unknown"
    for group in ("limits", "bank0", "elf"):
        values: Mapping[str, Value] = getattr(target, group)
        wanted = dict.fromkeys(key for t in known.values() for key in getattr(t, group))
        for key in wanted:
            if values.get(key, UNKNOWN) == UNKNOWN and key not in MAY_LACK:
                yield _stated(target, data, group, key), f"{group}.{key} is unknown"


def _stated(target: Target, data: Map, column: str, key: str = "") -> int:
    """Line on which the row states a column, else that of its ``code``, which asks for it."""
    row: Map = data[target.name]
    if column in row and (not key or key in row[column]):
        return row[column].line_of(key) if key else row.line_of(column)
    return row.line_of("code")


def _version(text: str) -> int:
    major, minor = text.split(".")
    return int(major) * 10 + int(minor)


def _error(line: int, message: str) -> SpecError:
    return SpecError(Spec.path(_FILE), line, message)

"""The line of targets: which of two is older. The tables say it by their order; the number in a name says nothing.

Encoding models are in the order of ``formats.yaml``, and a target stands where its model does. A target without a model stands in
front of the next row of ``sm_targets.yaml`` that a model is named after, in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..spec import Spec
from ..strictyaml import Map
from . import targets

Place = tuple[float, int]  # model, place in front of it: places compare as ages do


def places(spec: Spec) -> Mapping[str, Place]:
    """The place of every target, and of every model, in the line."""
    return spec.memo("line of targets", lambda: _places(spec))


def in_line(models: Iterable[str], model_of: Mapping[str, str]) -> dict[str, Place]:
    """The places of these models and targets, both in the order of their tables; a target without a model has ""."""
    index = {name: number for number, name in enumerate(models)}
    out: dict[str, Place] = {}
    following = float(len(index))
    for row, (name, model) in reversed(list(enumerate(model_of.items()))):
        following = index.get(name, following)
        out[name] = (index[model], 0) if model in index else (following - 0.5, row)
    return out | {name: (number, 0) for name, number in index.items()}


def level(name: str, parents: Mapping[str, str]) -> int:
    """The number that PTX compares: that of the name, or that of a row it inherits from where that is greater.

    The language orders targets by number: a module for sm_86 is one for sm_87 too. A target that has all that sm_86 has takes it
    as well, whatever it is called.
    """
    return max(int(one.removeprefix("sm_").rstrip("af")) for one in _chain(name, parents))


def levels(spec: Spec) -> dict[str, int]:
    """The level of every target."""
    data = spec.load(targets.FILES[0])["targets"]
    parents = {name: row["inherits"] for name, row in data.items() if "inherits" in row}
    return {name: level(name, parents) for name in data}


def _places(spec: Spec) -> dict[str, Place]:
    data = spec.load(targets.FILES[0])["targets"]
    return in_line(targets.isa_names(spec), {name: _model(name, data) for name in data})


def _model(name: str, data: Map) -> str:
    """The model that a row states or inherits, "" when it has none. Rows that are wrong are refused elsewhere."""
    chain = _chain(name, {child: row["inherits"] for child, row in data.items() if "inherits" in row})
    return next((str(data[one]["isa"]) for one in chain if one in data and "isa" in data[one]), "")


def _chain(name: str, parents: Mapping[str, str]) -> list[str]:
    """A target and those that it inherits from, the nearest first."""
    out = [name]
    while out[-1] in parents and parents[out[-1]] not in out:
        out.append(parents[out[-1]])
    return out

"""Distances between dependent instructions: ``spec/latency/ISA.yaml``."""

from __future__ import annotations

from ..latency import Latency
from ..rows import Row
from ..spec import Spec
from . import latency as classes

NAME = "distances"
FILES = ("latency",)


def load(spec: Spec) -> Latency:
    """All scheduling tables."""
    return classes.load(spec)


def rows(spec: Spec) -> list[Row]:
    """One row for each model, ``sm_90/model``, and one for each kind of result on it, ``sm_90/R alu``: cycles kept (seen)."""
    out = []
    for isa in load(spec).isas:
        name = f"latency/{isa}.yaml"
        data = spec.load(name, "latency")
        results = data["results"]
        model = {"isa": isa, **data["model"], "source": data["source"]}
        out.append(Row(f"{isa}/model", model, f"spec/{name}", data.line_of("model")))
        for key, row in results.items():
            values = {
                "isa": isa,
                "other": row["other"],
                "rewrite": _figures(row["rewrite"]),
                "readers": {group: _figures(figures) for group, figures in row["readers"].items()},
                "source": data["source"],
            }
            out.append(Row(f"{isa}/{key}", values, f"spec/{name}", results.line_of(key)))
    return out


def _figures(figures: list[int]) -> str:
    """``4, seen 4 (13525 of 31898)``."""
    if len(figures) < 4:
        return ", seen ".join(map(str, figures[:2]))
    return f"{figures[0]}, seen {figures[1]} ({figures[2]} of {figures[3]})"


def counts(spec: Spec) -> dict[str, int]:
    """Rows and figures by encoding model."""
    out = {}
    for isa in load(spec).isas:
        results = spec.load(f"latency/{isa}.yaml", "latency")["results"].values()
        out[f"kinds of results on {isa}"] = len(results)
        out[f"distances on {isa}"] = sum(len(row["readers"]) for row in results)
    return out


def check(spec: Spec) -> None:
    """Nothing beyond what the classes check: both are one model."""

"""Scheduling classes: ``spec/latency/classes`` resolved per encoding model."""

from __future__ import annotations

from .. import latency
from ..isa import rows as machine_rows
from ..latency import ClassColumns, Latency
from ..rows import Row, plain
from ..spec import Spec
from ._shared import without_empty

NAME = "latency"
FILES = (latency.CLASSES,)


def load(spec: Spec) -> Latency:
    """All scheduling tables."""
    return latency.load(spec, machine_rows.load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row for each class on each encoding model: ``alu/sm_90``."""
    tables = load(spec)
    data = latency.class_rows(spec)
    out = []
    for name, found in data.rows.items():
        for isa, columns in tables.classes[name].items():
            raw = latency.columns_on(found.row, isa, tables.isas)
            reads = raw["reads"]
            values = {
                "class": name,
                "isa": isa,
                **_columns(columns),
                "reads": plain(data.reads.get(reads, reads) if isinstance(reads, str) else reads),
                "order": plain(raw.get("order")),
                "completes": plain(raw.get("completes")),
                "operations": plain(found.row["operations"]),
                "source": raw.get("source", found.source),
            }
            out.append(Row(f"{name}/{isa}", without_empty(values), found.path, found.line))
    return out


def _columns(c: ClassColumns) -> dict[str, object]:
    return {
        "pipe": c.pipe,
        "spacing": c.spacing,
        "stall": c.stall,
        "result": c.result,
        "results": {file: "/".join(dict.fromkeys(pair)) for file, pair in c.results.items()},
        "estimate": c.estimate,
        "flags": sorted(c.flags - {"completes"}),
        "memory": list(c.spaces),
        "does": list(c.does),
    }


def counts(spec: Spec) -> dict[str, int]:
    """Classes, and the operations in them."""
    tables = load(spec)
    return {"scheduling classes": len(tables.classes), "operations with a class": len(tables.operations)}


def check(spec: Spec) -> None:
    """Load the tables, which check themselves.

    Raises:
        SpecError: an operation without a class or in two, a figure below its evidence, an unknown name.
    """
    load(spec)

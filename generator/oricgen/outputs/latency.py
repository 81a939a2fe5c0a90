"""``build/c/tables/latency.{h,c}``: the scheduler's tables; ``build/flat/latency_ISA.txt``: the same to read."""

from __future__ import annotations

from dataclasses import asdict, astuple

from ..isa.model import KINDS
from ..isa.rows import load as load_machine
from ..latency import ASYNC, FILES, FLAGS, RESULTS, SPACES, ClassColumns, Latency, OperationSchedule, load
from ..render import header, template
from ..spec import Spec

_SOURCES = ["spec/latency/*.yaml", "spec/latency/classes/*.yaml"]
_SCALE = "scale"  # the modifier that multiplies an address register


def render(spec: Spec) -> dict[str, str]:
    """Render the C tables and the readable form."""
    tables = load(spec, load_machine(spec))
    head = header("//", "generator/oricgen/outputs/latency.py", _SOURCES)
    out = {
        "c/tables/latency.h": template("latency.h.j2", **_sizes(tables)),
        "c/tables/latency.c": head + _source(tables),
    }
    for isa in tables.isas:
        out[f"flat/latency_{isa}.txt"] = _flat(tables, isa)
    return out


def _sizes(tables: Latency) -> dict[str, object]:
    return {
        "isas": len(tables.isas),
        "classes": list(tables.classes),
        "rows": tables.rows,
        "groups": tables.groups,
        "pipes": tables.pipes,
        "operations": len(tables.operations) + 1,
        "flags": FLAGS,
        "results": RESULTS,
        "spaces": SPACES,
        "files": len(FILES),
        "slots": max(len(o.readers) for o in tables.operations),
        "asyncs": ASYNC,
        "variant_mods": max([1, *(len(o.variant_mods) for o in tables.operations)]),
        "queues": tables.queues,
    }


def _source(tables: Latency) -> str:
    lines = ['#include "tables/latency.h"', ""]
    lines.append("const oric_model oric_models[ORIC_ISAS] = {")
    lines += [f"    {{{', '.join(map(str, astuple(model)))}}}, /* {isa} */" for isa, model in tables.models.items()]
    lines += ["};", "", "const oric_class oric_classes[ORIC_ISAS][ORIC_CLASSES] = {"]
    for isa in tables.isas:
        lines.append(f"    {{ /* {isa} */")
        lines += [f"        {_class(tables, by_isa[isa])}, /* {name} */" for name, by_isa in tables.classes.items()]
        lines.append("    },")
    lines += ["};", "", "const oric_op_schedule oric_op_schedules[ORIC_SCHEDULED_OPERATIONS] = {", "    {0},"]
    chosen: list[int] = []
    lines += [f"    {_operation(tables, o, chosen)}, /* {o.operation.name} */" for o in tables.operations]
    lines += ["};", "", "const uint8_t oric_variant_rows[] = {", f"    {', '.join(map(str, chosen)) or 0}", "};", ""]
    by_name = {"oric_distance": "kept", "oric_least": "least"}
    for name, table in by_name.items():
        cells = {isa: getattr(d, table) for isa, d in tables.distances.items()}
        lines += _matrix(f"{name}[ORIC_ISAS][ORIC_RESULT_ROWS][ORIC_READER_GROUPS]", tables, cells, tables.groups)
    over = {isa: d.over for isa, d in tables.distances.items()}
    lines += _matrix("oric_least_over[ORIC_ISAS][ORIC_RESULT_ROWS][ORIC_RESULT_ROWS]", tables, over, tables.rows)
    for name, names in (("row", tables.rows), ("group", tables.groups)):
        lines += [f"const char *const oric_{name}_names[] = {{", *(f'    "{n}",' for n in names), "};", ""]
    lines += ["const char *const oric_class_names[ORIC_CLASSES] = {"]
    lines += [f'    "{name}",' for name in tables.classes]
    lines += ["};", ""]
    return "\n".join(lines)


def _matrix(declarator: str, tables: Latency, cells: dict[str, dict[str, dict[str, int]]], columns: tuple[str, ...]) -> list[str]:
    """A table by encoding model and row of results; what has no figure is 1, rows that a model does not have are 0."""
    lines = [f"const uint8_t {declarator} = {{"]
    for isa in tables.isas:
        lines.append(f"    {{ /* {isa} */")
        for row in tables.rows:
            found = cells[isa].get(row)
            values = ", ".join(str(found.get(c, 1)) for c in columns) if found is not None else "0"
            lines.append(f"        {{{values}}}, /* {row} */")
        lines.append("    },")
    return [*lines, "};", ""]


def _class(tables: Latency, c: ClassColumns) -> str:
    flags = sum(1 << i for i, f in enumerate(FLAGS) if f in c.flags)
    spaces = sum(1 << i for i, s in enumerate(SPACES) if s in c.spaces)
    does = ("read" in c.does) | ("write" in c.does) << 1
    rows = []
    for file in FILES:
        pair = c.results.get(file)
        rows.append("{255, 255}" if pair is None else "{" + ", ".join(str(tables.rows.index(f"{file} {p}")) for p in pair) + "}")
    numbers = (
        tables.pipes.index(c.pipe),
        c.spacing,
        c.stall,
        RESULTS.index(c.result),
        tables.groups.index(c.own),
        flags,
        spaces,
        does,
        c.estimate,
        tables.queues.index(c.queue),
        c.least_stall,
        c.settle,
        c.least_settle,
        ASYNC.index(c.asynchronous),
    )
    return "{" + ", ".join(map(str, numbers)) + ", {" + ", ".join(rows) + "}}"


def _operation(tables: Latency, o: OperationSchedule, chosen: list[int]) -> str:
    """The initializer of an operation; rows that its modifiers choose are added to ``chosen``."""
    op = o.operation
    writes = sum(1 << i for i, operand in enumerate(op.operands) if operand.writes)
    kinds = ", ".join(str(KINDS[operand.kind]) for operand in op.operands) or "0"
    readers = ", ".join("{" + ", ".join(str(tables.groups.index(g)) for g in pair) + "}" for pair in o.readers) or "{0, 0}"
    klass = list(tables.classes).index(o.klass)
    shift, width, plain, free = o.order
    mods = [op.mods[i] for i in o.variant_mods]
    places = f"{{{', '.join(str(m.shift) for m in mods) or 0}}}, {{{', '.join(str(m.width) for m in mods) or 0}}}"
    variant = f"{len(mods)}, {places}, {len(chosen)}"
    chosen += [tables.rows.index(f"R {row}") if row else 255 for row in o.variants]
    order = f"{shift}, {width}, {plain:#x}u, {free:#x}u"
    scale = next((f"{m.shift}, {m.width}" for m in op.mods if m.name == _SCALE), "0, 0")
    return f"{{{klass}, {len(op.operands)}, {writes}, {order}, {scale}, {{{kinds}}}, {{{readers}}}, {variant}}}"


def _flat(tables: Latency, isa: str) -> str:
    lines = [header("#", "generator/oricgen/outputs/latency.py", _SOURCES).rstrip()]
    lines.append(" ".join(["model", *(f"{name}={cycles}" for name, cycles in asdict(tables.models[isa]).items())]))
    for o in tables.operations:
        c = tables.classes[o.klass][isa]
        parts = [f"{o.operation.name:20}", f"{o.klass:22}", f"pipe {c.pipe}/{c.spacing}", f"stall {c.stall}", c.result]
        if (c.settle, c.least_settle) != (tables.models[isa].settle,) * 2:
            parts.append(f"settle {c.settle}({c.least_settle})")
        if c.estimate:
            parts.append(f"~{c.estimate}")
        parts += [f"{f}:{'/'.join(dict.fromkeys(pair))}" for f, pair in c.results.items()]
        slots = zip(o.operation.operands, o.readers, strict=True)
        reads = [f"{operand.name}:{'/'.join(dict.fromkeys(pair))}" for operand, pair in slots if not operand.writes]
        parts += [f"or {'/'.join(sorted(set(o.variants) - {''}))}"] * bool(o.variants)
        parts += ["<-", *reads] if reads else []
        parts += [f"queue {c.queue}"] * bool(c.queue) + [f"async {c.asynchronous}"] * (c.asynchronous != ASYNC[0])
        parts += sorted(c.flags) + [f"{'+'.join(c.does)} {'|'.join(c.spaces)}"] * bool(c.spaces)
        lines.append(" ".join(parts).rstrip())
    lines.append("")
    for row, cells in tables.distance[isa].items():
        least = tables.distances[isa].least[row]
        shown = (f"{g}={v}" + f"({least[g]})" * (least[g] != v) for g, v in cells.items() if v != cells["other"] or g == "other")
        lines.append(f"{row:14} " + " ".join(shown))
    return "\n".join(lines) + "\n"

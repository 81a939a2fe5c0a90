"""Scheduling classes and distances: read, checked against their evidence, resolved per ISA."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from .errors import Mistakes, SpecError
from .isa import ranges
from .isa.model import Machine, Operation
from .spec import Spec
from .strictyaml import Map
from .tables import opcodes

FILES = ("R", "P", "B", "UR", "UP")  # order of ORIC_FILE_*
KIND_FILES = {"gpr": "R", "pred": "P", "breg": "B", "ugpr": "UR", "upred": "UP"}
RESULTS = ("none", "fixed", "variable", "unknown")
SPACES = ("global", "shared", "local")
FLAGS = (
    "late", "ordered", "fence", "completes", "drain", "copy", "late_uniform", "refused",
    "finish", "early_predicate", "reads_over", "by_write", "group_mark", "releases", "by_space",
)  # fmt: skip
ASYNC = ("none", "group", "wait")  # results and sources are over with a wait for groups; the instruction is that wait
REWRITE = "rewrite"  # pseudo reader group: an instruction of unknown completion time that writes the register
OTHER = "other"  # reader group of readers that are not known
MOST_CYCLES = 127  # of a distance
CLASSES = "latency/classes"  # folder of the scheduling classes


@dataclass(frozen=True)
class ClassRow:
    """A scheduling class as it stands in a file of ``spec/latency/classes``."""

    row: Map
    name: str  # of the file below spec/
    path: str  # as messages call it
    line: int
    source: str


@dataclass(frozen=True)
class ClassRows:
    """All of them by name; ``reads``: reader groups by operand, by the name that classes use."""

    rows: dict[str, ClassRow]
    reads: dict[str, Map]


@dataclass(frozen=True)
class ClassColumns:
    """One scheduling class on one ISA; ``results`` maps a file to the rows of the low and the high half."""

    pipe: str
    spacing: int
    stall: int
    result: str
    own: str  # reader group of its pipe
    estimate: int
    results: dict[str, tuple[str, str]]
    flags: frozenset[str]
    spaces: tuple[str, ...]
    does: tuple[str, ...]
    queue: str  # instructions of one queue read and finish in order; "" = none
    least_stall: int  # smallest seen
    settle: int  # cycles between the use of a scoreboard and a wait for it
    least_settle: int  # smallest seen
    asynchronous: str  # of ASYNC


@dataclass(frozen=True)
class ModelColumns:
    """What holds for all instructions of an encoding model, in cycles (spec/latency/README.md)."""

    settle: int
    over_read: int
    over_read_variable: int
    over_read_late: int
    late_read: int
    block_barrier: int


@dataclass(frozen=True)
class Distances:
    """Cycles of one encoding model; every row has every reader group.

    ``kept`` is what the scheduler keeps, ``least`` the smallest that was seen (where a pair never was: the smallest of the
    row); ``over[first][second]`` the smallest seen between two results of fixed latency in one register.
    """

    kept: dict[str, dict[str, int]]
    least: dict[str, dict[str, int]]
    over: dict[str, dict[str, int]]


@dataclass(frozen=True)
class OperationSchedule:
    """What the scheduler knows of an operation: its class and the reader groups (low, high) of its operands."""

    operation: Operation
    klass: str
    readers: tuple[tuple[str, str], ...]
    order: tuple[int, int, int, int]  # shift, width, mask of plain values, mask of free values
    variant_mods: tuple[int, ...] = ()  # modifiers that choose another kind of general-register result
    variants: tuple[str, ...] = ()  # by their packed codes, the first in the lowest bits; "" = that of the class


@dataclass(frozen=True)
class Latency:
    """All tables. ``distance[isa][row][group]`` is in cycles, and the ``kept`` of ``distances``."""

    isas: tuple[str, ...]
    models: dict[str, ModelColumns]  # by isa
    classes: dict[str, dict[str, ClassColumns]]  # class -> isa -> columns
    operations: tuple[OperationSchedule, ...]
    groups: tuple[str, ...]
    rows: tuple[str, ...]  # "R alu"
    pipes: tuple[str, ...]
    distance: dict[str, dict[str, dict[str, int]]]
    distances: dict[str, Distances]
    queues: tuple[str, ...]


def load(spec: Spec, machine: Machine) -> Latency:
    """Read ``spec/latency``, once for a specification.

    Raises:
        SpecError: a figure below its evidence, an operation without a class or in two, an unknown name.
    """
    return spec.memo("latency", lambda: _load(spec, machine))


def class_rows(spec: Spec) -> ClassRows:
    """The scheduling classes of all files, as they are written.

    Raises:
        SpecError: a class or the name of reader groups stands in two files.
    """
    return spec.memo("latency classes", lambda: _class_rows(spec))


def _class_rows(spec: Spec) -> ClassRows:
    found = ClassRows({}, {})
    at: dict[str, str] = {}
    for name in spec.names(CLASSES):
        data, path = spec.load(name, "latency_classes"), str(spec.path(name))
        for key, row in data["classes"].items():
            line = data["classes"].line_of(key)
            if key in found.rows:
                raise SpecError(path, line, f"class '{key}' is also in {found.rows[key].path}")
            found.rows[key] = ClassRow(row, name, path, line, row.get("source", data["source"]))
        for key, groups in data.get("reads", {}).items():
            if key in found.reads:
                raise SpecError(path, data["reads"].line_of(key), f"reads: '{key}' is also in {at[key]}")
            found.reads[key], at[key] = groups, path
    return found


def _load(spec: Spec, machine: Machine) -> Latency:
    data = class_rows(spec)
    models = {isa: ModelColumns(**spec.load(f"latency/{isa}.yaml", "latency")["model"]) for isa in machine.isas}
    classes: dict[str, dict[str, ClassColumns]] = {}
    with Mistakes() as each:
        for name in data.rows:
            with each:
                classes[name] = {isa: _columns(data, name, isa, machine, models[isa]) for isa in machine.isas}
    operations = _operations(data, machine, opcodes.load(spec).markers)
    used = {g for o in operations for pair in o.readers for g in pair}
    distances: dict[str, Distances] = {}
    with Mistakes() as each:
        for isa in machine.isas:
            with each:
                distances[isa] = _distances(spec, isa, used)
    distance = {isa: d.kept for isa, d in distances.items()}
    with Mistakes() as each:
        for name, by_isa in classes.items():
            with each:
                for columns in by_isa.values():
                    if columns.own not in used | {OTHER}:
                        written = data.rows[name]
                        message = f"{name}: no operand of an operation reads as '{columns.own}'"
                        raise SpecError(written.path, written.row.line_of("reads"), message)
    rows = tuple(sorted({r for table in distance.values() for r in table}))
    _check_results(data, classes, distance)
    _check_variants(data, operations, classes, distance)
    _check_readers(spec, data, machine.isas)
    pipes = tuple(sorted({c.pipe for by_isa in classes.values() for c in by_isa.values()}))
    queues = ("", *sorted({c.queue for by_isa in classes.values() for c in by_isa.values()} - {""}))
    groups = (OTHER, REWRITE, *sorted(used))
    return Latency(machine.isas, models, classes, operations, groups, rows, pipes, distance, distances, queues)


def _check_readers(spec: Spec, data: ClassRows, isas: tuple[str, ...]) -> None:
    """Every group of readers has figures on some model: a group of a wrong name would have those of all others.

    Raises:
        SpecError: the first class with one that has none.
    """
    known = {OTHER, REWRITE}
    for isa in isas:
        model = spec.load(f"latency/{isa}.yaml", "latency")
        known |= {group for row in model["results"].values() for group in row["readers"]} | model.get("like", {}).keys()
    with Mistakes() as each:
        for name, written in data.rows.items():
            for group in (g for one in _reader_map(data, written.row).values() for g in ([one] if isinstance(one, str) else one)):
                with each:
                    if group not in known:
                        line = written.row.line_of("reads")
                        raise SpecError(written.path, line, f"{name}: reads: no model has figures for readers '{group}'")


def columns_on(row: Map, isa: str, isas: tuple[str, ...]) -> dict[str, Any]:
    """A class's columns on one encoding model: those of its ``isa`` entries that name it replace the row's."""
    found = dict(row)
    for models, columns in row.get("isa", {}).items():
        if isa in ranges.expand(models, isas):
            found.update(columns)
    return found


def like(spec: Spec, isa: str) -> dict[str, str]:
    """Reader groups and kinds of results that an encoding model does not tell apart from others: name -> whose figures it has."""
    return spec.memo(f"results alike on {isa}", lambda: dict(spec.load(f"latency/{isa}.yaml", "latency").get("like", {})))


def _figure(row: Map, key: str, default: int, fail: Any) -> int:
    if key not in row:
        return default
    value, seen = row[key]
    if value < seen:
        raise fail(key, f"{key} {value} is below the smallest value seen, {seen}")
    return int(value)


def _reader_map(data: ClassRows, row: Map) -> dict[str, Any]:
    """Reader groups by operand, with `default`."""
    reads = row["reads"]
    if isinstance(reads, str):
        found: dict[str, Any] = data.reads.get(reads, {"default": reads})
        return found
    return dict(reads)


def _columns(data: ClassRows, name: str, isa: str, machine: Machine, model: ModelColumns) -> ClassColumns:
    row, path = data.rows[name].row, data.rows[name].path
    for models in row.get("isa", {}):
        try:
            ranges.expand(models, machine.isas)
        except ValueError as error:
            raise SpecError(path, row["isa"].line_of(models), f"{name}: {error}") from error
    merged = Map(columns_on(row, isa, machine.isas))
    merged.line, merged.lines = row.line, row.lines

    def fail(key: str, message: str) -> SpecError:
        return SpecError(path, row.line_of(key), f"{name}: {message} (on {isa})")

    results = {file: (r, r) if isinstance(r, str) else (r[0], r[1]) for file, r in merged.get("results", {}).items()}
    if (merged["result"] == "fixed") != bool(results):
        raise fail("result", "'results' belong to classes with a fixed result, and only to those")
    if merged["result"] == "variable" and "estimate" not in merged:
        raise fail("result", "a variable result needs an 'estimate'")
    if ("memory" in merged) != ("does" in merged):
        raise fail("memory", "'memory' and 'does' belong together")
    return ClassColumns(
        pipe=merged["pipe"],
        spacing=_figure(merged, "spacing", 1, fail),
        stall=_figure(merged, "stall", 1, fail),
        result=merged["result"],
        own=_reader_map(data, merged)["default"],
        estimate=merged.get("estimate", 0),
        results=results,
        flags=frozenset(f for f in FLAGS if merged.get(f)),
        spaces=tuple(merged.get("memory", ())),
        does=tuple(merged.get("does", ())),
        queue=merged.get("queue", ""),
        least_stall=merged["stall"][1] if "stall" in merged else 0,
        settle=_figure(merged, "settle", model.settle, fail),
        least_settle=merged["settle"][1] if "settle" in merged else model.settle,
        asynchronous=merged.get("async", ASYNC[0]),
    )


def _operations(data: ClassRows, machine: Machine, markers: frozenset[str]) -> tuple[OperationSchedule, ...]:
    known = {o.name: o for o in machine.operations}
    found: dict[str, OperationSchedule] = {}
    for name, klass in data.rows.items():
        row, path = klass.row, klass.path
        for position, op in enumerate(row["operations"]):
            line = row["operations"].line_of(position)
            if op in markers:
                raise SpecError(path, line, f"class '{name}': {op} is a range marker of opcodes.yaml; it cannot be scheduled")
            if op not in known:
                raise SpecError(path, line, f"{name}: there is no operation '{op}' in spec/encoding")
            if op in found:
                raise SpecError(path, line, f"{name}: operation '{op}' is also in class {found[op].klass}")
            found[op] = OperationSchedule(
                known[op], name, _readers(data, name, row, known[op], path), _order(name, row, known[op], path),
                *_variants(name, row, known[op], path),
            )  # fmt: skip
    for operation in machine.operations:
        if operation.name not in found:
            raise SpecError(operation.path, operation.line, f"{operation.name}: no class of spec/{CLASSES} lists the operation")
    return tuple(found[o.name] for o in machine.operations)


def _readers(data: ClassRows, name: str, row: Map, operation: Operation, path: str) -> tuple[tuple[str, str], ...]:
    reads = _reader_map(data, row)
    out = []
    for operand in operation.operands:
        group = reads.get(operand.name, reads["default"])
        out.append((group, group) if isinstance(group, str) else (group[0], group[1]))
    return tuple(out)


def _variants(name: str, row: Map, operation: Operation, path: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The modifiers that decide which row the results have, and that row by their packed codes."""
    rules = row.get("variants", [])
    names = list(dict.fromkeys(mod for rule in rules for mod in rule["when"]))
    known = {m.name: i for i, m in enumerate(operation.mods)}
    for mod in names:
        if mod not in known:
            raise SpecError(path, row.line_of("variants"), f"{name}: operation '{operation.name}' has no modifier '{mod}'")
    mods = [operation.mods[known[mod]] for mod in names]
    for rule in rules:
        for mod, wanted in rule["when"].items():
            for value in wanted:
                if value not in operation.mods[known[mod]].codes:
                    line = rule["when"].line_of(mod)
                    raise SpecError(
                        path, line, f"{name}: modifier '{mod}' of operation '{operation.name}' has no value '{value}'"
                    )
    table = []
    for codes in product(*(range(1 << m.width) for m in reversed(mods))):
        values = {m.name: {v for v, code in m.codes.items() if code == c} for m, c in zip(reversed(mods), codes, strict=True)}
        fits = (r["result"] for r in rules if all(values[mod] & set(wanted) for mod, wanted in r["when"].items()))
        table.append(next(fits, ""))
    return tuple(known[mod] for mod in names), tuple(table) if names else ()


def _order(name: str, row: Map, operation: Operation, path: str) -> tuple[int, int, int, int]:
    """Place of the modifier that decides, and its values: (shift, width, plain or completing ones, free ones)."""
    completing = [c for c in (row, *row.get("isa", {}).values()) if "completes" in c]
    if "order" in row:
        key, rule = "order", row["order"]
    elif completing:
        plain = [value for c in completing for value in c["completes"]["values"]]
        key, rule = "isa", {"mod": completing[0]["completes"]["mod"], "plain": plain, "free": []}
    else:
        return (0, 0, 0, 0)
    mods = [m for m in operation.mods if m.name == rule["mod"]]
    if not mods:
        raise SpecError(path, row.line_of(key), f"{name}: operation '{operation.name}' has no modifier '{rule['mod']}'")

    def mask(prefixes: list[str]) -> int:
        bits = 0
        for prefix in prefixes:
            fitting = [packed for v, packed in mods[0].codes.items() if v == prefix or v.startswith((prefix + ".", prefix + "_"))]
            if not fitting:
                message = f"modifier '{rule['mod']}' of operation '{operation.name}' has no value '{prefix}'"
                raise SpecError(path, row.line_of(key), f"{name}: {message}")
            for packed in fitting:
                bits |= 1 << packed
        return bits

    return (mods[0].shift, mods[0].width, mask(rule["plain"]), mask(rule["free"]))


def _distances(spec: Spec, isa: str, used: set[str]) -> Distances:
    name = f"latency/{isa}.yaml"
    data = spec.load(name, "latency")
    path = str(spec.path(name))
    if data["isa"] != isa:
        raise SpecError(path, data.line_of("isa"), f"isa: the file of {isa} says '{data['isa']}'")
    like = _like(data, used, path)
    found = Distances({}, {}, {})
    for row_name, row in data["results"].items():
        line = data["results"].line_of(row_name)
        cells = _cells(row_name, row, used, path)
        if row["other"] < max((figures[0] for figures in cells.values()), default=0):
            raise SpecError(path, line, f"{row_name}: 'other' is below the distance to a known reader group")
        rewrite = _rewrite(row_name, row, path, line)
        cells |= {g: cells[other] for g, other in like.items() if g not in cells and other in cells}
        floor = min((figures[1] for figures in cells.values()), default=row.get("floor", 1))
        floor = min(floor, row.get("floor", floor))
        kept = {g: cells[g][0] if g in cells else row["other"] for g in sorted(used)}
        least = {g: cells[g][1] if g in cells else floor for g in sorted(used)}
        found.kept[row_name] = {**kept, OTHER: row["other"], REWRITE: rewrite[0]}
        found.least[row_name] = {**least, OTHER: floor, REWRITE: rewrite[1] if len(rewrite) > 1 else 1}
    for row_name, row in data["results"].items():
        found.over[row_name] = _over(row_name, row, data["results"], path)
    for table in (found.kept, found.least, found.over):
        _add_like_rows(table, like)
    for over in found.over.values():
        file = next(iter(over), "").partition(" ")[0]
        over |= {
            f"{file} {k}": over[f"{file} {v}"] for k, v in like.items() if f"{file} {v}" in over and f"{file} {k}" not in over
        }
    return found


def _like(data: Map, used: set[str], path: str) -> dict[str, str]:
    like: dict[str, str] = dict(data.get("like", {}))
    names = used | {row.partition(" ")[2] for row in data["results"]}
    for key, value in like.items():
        if value in like or value not in names:
            raise SpecError(
                path, data["like"].line_of(key), f"like: '{value}' is no reader group and no row with figures of its own"
            )
    return like


def _add_like_rows(table: dict[str, dict[str, int]], like: dict[str, str]) -> None:
    """Rows of results that this model does not tell apart from others."""
    for file in FILES:
        for key, value in like.items():
            if f"{file} {value}" in table and f"{file} {key}" not in table:
                table[f"{file} {key}"] = table[f"{file} {value}"]


def _cells(row_name: str, row: Map, used: set[str], path: str) -> dict[str, tuple[int, int]]:
    """Cycles kept and smallest seen by reader group."""
    cells = {}
    for group, figures in row["readers"].items():
        line = row["readers"].line_of(group)
        place = f"{row_name}: reader '{group}'"
        if not 1 <= figures[0] <= MOST_CYCLES:
            raise SpecError(path, line, f"{place}: {figures[0]}: tables hold 1 to {MOST_CYCLES} cycles")
        if figures[0] < figures[1]:
            raise SpecError(path, line, f"{place}: {figures[0]} cycles is below the smallest distance seen, {figures[1]}")
        if group not in used:
            raise SpecError(path, line, f"{place}: no class reads as '{group}'")
        cells[group] = (figures[0], figures[1])
    return cells


def _rewrite(row_name: str, row: Map, path: str, line: int) -> list[int]:
    rewrite: list[int] = row["rewrite"]
    if not 1 <= rewrite[0] <= MOST_CYCLES:
        raise SpecError(path, line, f"{row_name}: rewrite {rewrite[0]}: the tables of the scheduler hold 1 to {MOST_CYCLES}")
    if len(rewrite) > 1 and rewrite[0] < rewrite[1]:
        raise SpecError(path, line, f"{row_name}: rewrite {rewrite[0]} is below the smallest distance seen, {rewrite[1]}")
    return rewrite


def _over(row_name: str, row: Map, results: Map, path: str) -> dict[str, int]:
    """Smallest distance to a second result in the same register, by its row."""
    file = row_name.partition(" ")[0]
    found = {}
    for second, figures in row.get("over", {}).items():
        if f"{file} {second}" not in results:
            raise SpecError(path, row["over"].line_of(second), f"{row_name}: over: there is no row '{file} {second}'")
        found[f"{file} {second}"] = int(figures[0])
    return found


def _check_results(data: ClassRows, classes: Any, distance: Any) -> None:
    for name, by_isa in classes.items():
        for isa, columns in by_isa.items():
            for file, pair in columns.results.items():
                for row in pair:
                    if f"{file} {row}" not in distance[isa]:
                        found = data.rows[name]
                        raise SpecError(found.path, found.line, f"{name}: the distances of {isa} have no row '{file} {row}'")


def _check_variants(data: ClassRows, operations: tuple[OperationSchedule, ...], classes: Any, distance: Any) -> None:
    for o in operations:
        for row in set(o.variants) - {""}:
            for isa, columns in classes[o.klass].items():
                if columns.result == "fixed" and f"R {row}" not in distance[isa]:
                    found = data.rows[o.klass]
                    line = found.row.line_of("variants")
                    raise SpecError(found.path, line, f"{o.klass}: spec/latency/{isa}.yaml has no row 'R {row}' of a variant")

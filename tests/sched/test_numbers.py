"""Thresholds and columns of the machine are read where they say: another number gives other code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from oric.ir.function import Function
from oric.ir.knobs import DEFAULTS
from oric.regalloc.order import comfortable
from oric_tables import knobs
from oric_tables._native import lib
from oricgen.isa.rows import load as load_machine
from oricgen.latency import load as load_latency
from oricgen.outputs import latency as latency_output
from oricgen.spec import Spec
from oricgen.tables import thresholds as table

from tests.sched import variants
from tests.sched.model import tables
from tests.sched.variants import NO_LIMIT, ROOT, Variant, Workshop

SPEC = Spec(ROOT / "spec")
ROWS = {row.values["name"]: row.values for row in table.load(SPEC)["thresholds"]}
OF_C = {name: row for name, row in ROWS.items() if table.read_by_c(row["reader"])}
LOADS = ("load_global", "load_shared", "store_global", "alu", "double")

Made = Callable[[Variant, int], Any]


def controls(variant: Variant, seed: int) -> Any:
    return variant.controls(variants.physical(seed))


def loads(variant: Variant, seed: int) -> Any:
    return variant.controls(variants.physical(seed, LOADS))


def edges(variant: Variant, seed: int) -> Any:
    return variant.edges(variants.physical(seed, ("load_global", "store_global", "alu"), 80))


def order(variant: Variant, seed: int) -> Any:
    return variant.order(variants.physical(seed), [NO_LIMIT] * 5)


def frugal(variant: Variant, seed: int) -> Any:
    return variant.order(variants.virtual(seed), [4, 2, NO_LIMIT, 1, 1])


def few_predicates(variant: Variant, seed: int) -> Any:
    return variant.order(variants.virtual(seed), [NO_LIMIT, 1, NO_LIMIT, NO_LIMIT, NO_LIMIT])


def lean(variant: Variant, seed: int) -> Any:
    return variant.lean_order(variants.virtual(seed), 4)


def registers(variant: Variant, seed: int) -> Any:
    return variant.registers(variants.short_lived(seed))


def packed(variant: Variant, seed: int) -> Any:
    return variant.registers(variants.interleaved_sums(seed), 0)


def stored(variant: Variant, seed: int) -> Any:
    return variant.registers(variants.stored_soon(seed))


# threshold -> another value, and what must come out otherwise
OTHER: dict[str, tuple[int, Made]] = {
    "allocation_quiet": (1, registers),
    "allocation_quiet_late": (1, stored),
    "allocation_fresh": (100, registers),
    "allocation_crowded": (1, registers),
    "allocation_wide": (8, packed),
    "list_look": (1, order),
    "list_scan": (1, frugal),
    "list_predicate_weight": (0, frugal),
    "list_wait": (10000, few_predicates),
    "lean_predicate_weight": (0, lean),
    "memory_window": (2, edges),
    "board_pace": (40, loads),
    "board_similar": (1, loads),
    "board_scarce": (1000, loads),
}

# column of a model -> what must come out otherwise with some cycles more
COLUMNS: dict[str, Made] = {
    "settle": controls,
    "over_read": controls,
    "over_read_variable": controls,
    "over_read_late": controls,
    "late_read": edges,
}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("kernels"))


def differs(workshop: Workshop, variant: Variant, made: Made) -> bool:
    return any(made(workshop.plain, seed) != made(variant, seed) for seed in range(60))


def test_every_threshold_of_c_is_tried() -> None:
    assert OTHER.keys() == OF_C.keys()


@pytest.mark.parametrize("name", OF_C)
def test_a_threshold_of_c_makes_a_difference(workshop: Workshop, name: str) -> None:
    value, made = OTHER[name]
    row = OF_C[name]
    assert row["least"] <= value <= row["most"]
    assert differs(workshop, workshop.with_knob(getattr(knobs, name.upper()), value), made)


def test_no_other_file_of_c_reads_a_threshold() -> None:
    """Nor has one its own number under that name."""
    for path in (ROOT / "runtime/oric/native").rglob("*.[ch]"):
        text = path.read_text(encoding="utf-8")
        used = {name for name in OF_C if re.search(rf"\b(ORIC_KNOB|ORIC_MOST|ORIC)_{name.upper()}\b", text)}
        reader = path.relative_to(ROOT / "runtime/oric").as_posix()
        assert used == {name for name, row in OF_C.items() if row["reader"] == reader}, path


def test_a_threshold_of_python_is_read_by_the_file_that_it_names() -> None:
    """By no other one, and under its name alone."""
    of_python = {name.upper(): row["reader"] for name, row in ROWS.items() if name not in OF_C}
    assert of_python
    for path in (ROOT / "runtime/oric").rglob("*.py"):
        used = set(re.findall(r"\bknobs\.([A-Z_]+)\b", path.read_text(encoding="utf-8"))) & of_python.keys()
        here = path.relative_to(ROOT / "runtime/oric").as_posix()
        assert used == {name for name, reader in of_python.items() if reader == here}, path


def test_the_order_stays_below_the_limit() -> None:
    f = Function("test", "sm_90")
    margin, floor = DEFAULTS.listed(knobs.ORDER_MARGIN, knobs.ORDER_MARGIN_COUNT), knobs.NUMBERS[knobs.ORDER_FLOOR]
    for limit in range(0, 256, 5):
        general = max(limit - margin[0], floor)
        assert comfortable(f, [limit, 7, 16, 63, 7]) == [general, 7 - margin[1], NO_LIMIT, 63 - margin[3], 7 - margin[4]]


def with_more(column: str, cycles: int) -> Spec:
    """The specification with more cycles in a column of all models."""
    texts = {}
    for isa in tables().isas:
        name = f"latency/{isa}.yaml"
        text = (ROOT / "spec" / name).read_text(encoding="utf-8")
        texts[name], count = re.subn(rf"(\b{column}: )([0-9]+)", lambda m: m[1] + str(int(m[2]) + cycles), text)
        assert count == 1, name
    return SPEC.edited(texts)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_of_the_model_is_kept_by_the_scheduler(workshop: Workshop, column: str) -> None:
    load_latency(SPEC, load_machine(SPEC))  # what the edit does not concern is not read again
    text = latency_output.render(with_more(column, 5))["c/tables/latency.c"]
    assert differs(workshop, workshop.with_source(column, "tables/latency.c", text), COLUMNS[column])


def test_every_column_of_the_model_is_tried() -> None:
    """The last one is of the simulator alone: tests/sim/test_clock_columns.py."""
    assert [*COLUMNS, "block_barrier"] == [field for field, _ in ffi_fields("oric_model")]


def ffi_fields(struct: str) -> list[tuple[str, Any]]:
    from oric_tables._native import ffi

    return list(ffi.typeof(struct).fields)


def test_a_class_has_its_own_time_to_settle() -> None:
    """Kept is never less than seen; a smaller figure of a class counts for the judges."""
    t = tables()
    least = {name: by_isa["sm_90"].least_settle for name, by_isa in t.classes.items()}
    assert {name for name, cycles in least.items() if cycles != t.models["sm_90"].settle} == {
        "register_return", "group_depend", "matrix_group", "group_wait",
    }  # fmt: skip
    for number, name in enumerate(t.classes):
        row = lib.oric_classes[t.isas.index("sm_90")][number]
        kept = t.classes[name]["sm_90"].settle
        assert (row.settle, row.least_settle) == (kept, least[name]) and kept >= max(2, least[name])

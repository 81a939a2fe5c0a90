"""The classes of the state: nothing is forgotten, and values come back as they were."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.vecs import vec
from mypy_extensions import i64
from oric.driver.saving import CLASSES as OPTIONS
from oric.ir.calls import CallSite, Formal, ParamVariable
from oric.ir.function import Function
from oric.records.codec import Codec, RecordError
from oric.records.state import CLASSES
from oric_tables.record_tags import STATE, State

KNOWN = {**CLASSES, **OPTIONS}
CODEC = Codec(KNOWN)


def fields_of(cls: type[Any]) -> set[str]:
    """The attributes that objects of a class have, as its source says."""
    module = inspect.getsourcefile(cls) or ""
    if not module.endswith(".py"):  # compiled: the source lies where the package does
        module = ""
    source = _source(cls.__module__)
    body = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    init = next((node for node in body.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    if init is None:
        return {node.target.id for node in body.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    found = set()
    for node in ast.walk(init):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                    found.add(one.attr)
    return found


def _source(module: str) -> str:
    from tests import specification

    return (specification.ROOT / "runtime" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


@pytest.mark.row("R3-67")
@pytest.mark.parametrize("row", STATE, ids=lambda row: row.name)
def test_every_field_is_written_or_left_out_for_a_reason(row: State) -> None:
    """Who adds a field says in spec/section_tags.yaml how it is written."""
    assert {name for name, _ in row.fields} | set(row.left_out) == fields_of(KNOWN[row.name])


def test_every_class_has_a_row() -> None:
    assert {row.name for row in STATE} == KNOWN.keys()


def test_a_function_comes_back() -> None:
    f = Function("f", "sm_90")
    f.op = vec[i64]([1, -5, 1 << 62])
    f.labels, f.window, f.homes = ["a", "\ud800"], {9, 3}, {4: 2, 1: 7}
    variable = ParamVariable("v", 12)
    f.formals.append(Formal(variable, 0, True))
    f.calls.append(CallSite(3, [variable, 7], 20))
    data = CODEC.encode("Function", f)
    g = CODEC.decode("Function", data)
    assert list(g.op) == [1, -5, 1 << 62] and (g.labels, g.window, g.homes) == (f.labels, f.window, f.homes)
    assert list(g.homes) == [4, 1] and g.formals[0].variable is g.calls[0].actuals[0]
    assert CODEC.encode("Function", g) == data


TYPES: list[tuple[str, Callable[[], st.SearchStrategy[Any]]]] = [
    ("int", lambda: st.integers(-(1 << 63), (1 << 64) - 1)),
    ("bool", st.booleans),
    ("str", lambda: st.text(st.characters())),
    ("bytes", st.binary),
    ("int | None", lambda: st.none() | st.integers(-9, 9)),
    ("list[tuple[int, str]]", lambda: st.lists(st.tuples(st.integers(-99, 99), st.text()))),
    ("set[int]", lambda: st.sets(st.integers(-999, 999))),
    ("dict[str, str | int]", lambda: st.dictionaries(st.text(), st.text() | st.integers(0, 9))),
    ("tuple[str, ...]", lambda: st.lists(st.text()).map(tuple)),
]


@pytest.mark.parametrize(("kind", "values"), TYPES, ids=[kind for kind, _ in TYPES])
def test_values_come_back(kind: str, values: Callable[[], st.SearchStrategy[Any]]) -> None:
    @given(values())
    def check(value: Any) -> None:
        data = CODEC.encode(kind, value)
        found = CODEC.decode(kind, data)
        assert found == value and type(found) is type(value) and CODEC.encode(kind, found) == data

    check()


@pytest.mark.parametrize("kind", [kind for kind, _ in TYPES])
def test_what_is_read_is_written_as_the_same_bytes(kind: str) -> None:
    @given(st.binary(max_size=12))
    def check(data: bytes) -> None:
        try:
            value = CODEC.decode(kind, data)
        except RecordError:
            return
        assert CODEC.encode(kind, value) == data

    check()


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("int", b"\x80", "in the middle of a number"),
        ("int", b"\x80\x00", "more bytes than it needs"),
        ("int", b"\xff" * 11, "more than 64 bits"),
        ("int", b"\xff" * 9 + b"\x7f", "more than 64 bits"),
        ("bool", b"\x03", "neither false nor true"),
        ("str", b"\x02\xff", "no UTF-8"),
        ("list[int]", b"\x7e", "63 elements are promised, and 0 bytes are left"),
        ("list[int]", b"\x01", "-1 elements are promised"),
        ("words", b"\x02" + bytes(7), "1 elements are promised, and 7 bytes are left"),
        ("set[int]", b"\x04\x02\x02", "out of order"),
        ("dict[int, int]", b"\x04\x02\x02\x02\x02", "stands there twice"),
        ("int | None", b"\x04", "there are 2 alternatives here, not number 2"),
        ("bool", b"\x00\x00", "1 bytes are left over"),
        ("JumpTable", b"\x02", "JumpTable 1 is named before it stands anywhere"),
    ],
)
def test_what_is_no_value_is_refused(kind: str, data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as raised:
        CODEC.decode(kind, data)
    assert message in raised.value.message and 0 <= raised.value.offset <= len(data)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int", True), ("int", 1 << 64), ("bool", 1), ("str", b""), ("list[int]", (1,)), ("tuple[int, int]", (1,)), ("None", 0)],
)
def test_values_of_another_type_are_not_written(kind: str, value: Any) -> None:
    with pytest.raises(TypeError):
        CODEC.encode(kind, value)

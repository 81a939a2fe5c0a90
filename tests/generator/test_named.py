"""The quick ``NamedTuple`` does what the original does."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest
from oric_tables.named import NamedTuple


class Quick(NamedTuple):
    a: int
    b: str = "x"
    c: tuple[int, ...] = ()


class Original(typing.NamedTuple):
    a: int
    b: str = "x"
    c: tuple[int, ...] = ()


@pytest.mark.parametrize(
    ("values", "named"),
    [((1,), {}), ((1, "y"), {}), ((1, "y", (2,)), {}), ((), {"a": 1}), ((1,), {"c": (3,)}), ((), {"c": (1,), "a": 0, "b": ""})],
)
def test_equal_to_the_original(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    quick, original = Quick(*values, **named), Original(*values, **named)
    assert tuple(quick) == tuple(original) and (quick.a, quick.b, quick.c) == (original.a, original.b, original.c)
    assert repr(quick).partition("(")[2] == repr(original).partition("(")[2]
    assert hash(quick) == hash(original) and quick._fields == original._fields
    assert tuple(quick._replace(b="z")) == tuple(original._replace(b="z"))
    assert quick == Quick(*original) and isinstance(quick._replace(a=5), Quick)
    for twin in (pickle.loads(pickle.dumps(quick)), copy.copy(quick), copy.deepcopy(quick)):
        assert type(twin) is Quick and twin == quick


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((1, "y", (), 4), {}), ((1,), {"a": 2}), ((1,), {"d": 2}), ((), {"b": "y"})]
)
def test_wrong_arguments(values: tuple[typing.Any, ...], named: dict[str, typing.Any]) -> None:
    for kind in (Quick, Original):
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_elements_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Quick(1).a = 2  # type: ignore[misc]

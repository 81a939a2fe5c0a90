"""Launch files: kernel launches, their data and expected results as JSON (``oric run FILE.json``).

    {"cubin": "saxpy.cubin", "kernel": "saxpy", "grid": [4], "block": [256],
     "params": [{"name": "n", "dtype": "int32", "value": 1000},
                {"name": "x", "dtype": "float32", "shape": [1000], "init": {"arange": [0, 1]}},
                {"name": "s", "bytes": "00010203"}],
     "expected": {"x": {"init": {"fill": 3}, "rtol": 1e-6}},
     "outputs": {"x": "x.npy"}}

Paths are relative to the launch file. The contents of an array (``init``, default zeros) are ``{"fill": v}``,
``{"arange": [start, step]}``, ``{"values": [...]}``, ``{"random": seed}`` (uniform in [0, 1), integers over their whole
range), ``{"file": path}`` (.npy, else raw bytes), or ``{"formula": text}``: arithmetic on the other parameters' values
before the first launch, elementwise, with the numpy functions of ``_FUNCTIONS``. An expected array has the dtype and shape of
its parameter.

``shared_bytes``, ``stack_bytes`` and ``cluster`` are those of ``Module.launch``. Several launches in order are
``"launches": [{"kernel": ..., "grid": ..., "block": ..., "params": [...]}, ...]`` in place of the keys of the one. Memory is
shared between them by name: ``"buffers": {"x": {"dtype": ..., "shape": ..., "init": ...}}`` and the parameter
``{"buffer": "x"}``, which also takes an array parameter of a launch before. ``"globals"`` has variables of the module in the same
form; with ``init`` they are written before the first launch. Buffers and globals can be expected and written out as well.

``strict``, ``memcheck``, ``timing``, ``perturb``, ``workers``, ``trace``, ``max_steps`` and ``max_seconds`` are what the
options of the command line say; these win.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from .arguments import Array
from .jsonplace import Path as JsonPath
from .jsonplace import line_and_column
from .module import MAX_STEPS

_MAX_SHIFT: Final = 64
_SHOWN: Final = 60  # characters of a formula in a message
_TOP: Final = {"cubin", "buffers", "globals", "expected", "outputs"}
_SETTINGS: Final = {"strict", "memcheck", "timing", "perturb", "workers", "max_steps", "max_seconds", "trace"}
_STEP: Final = {"kernel", "grid", "block", "cluster", "shared_bytes", "stack_bytes", "params"}
_ARRAY: Final = {"dtype", "shape", "init"}
_PARAM: Final = {"name", "value", "bytes", "buffer"} | _ARRAY
_EXPECTED: Final = {"init", "rtol", "atol"}
_SOURCES: Final = ("fill", "arange", "values", "random", "file", "formula")
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(np, name)
    for name in [
        "abs",
        "sqrt",
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
        "minimum",
        "maximum",
        "sum",
        "cumsum",
        "floor",
        "where",
    ]
}


def _shift_left(left: Any, right: Any) -> Any:
    """Python's own numbers would grow as far as the memory goes."""
    if isinstance(right, int) and right >= _MAX_SHIFT:
        raise OverflowError(f"a shift by {right}")
    return left << right


_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: _shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
}
_MAX_BYTES: Final = 1 << 31
_MOST: Final = 1 << 63
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_WRONG_CONTENTS: Final = (
    ValueError,
    TypeError,
    ArithmeticError,
    OSError,
    EOFError,
    MemoryError,
    RecursionError,
    zipfile.BadZipFile,
)


class LaunchFileError(Exception):
    """The launch file is wrong; ``str()`` is one line that says where."""

    def __init__(self, message: str, path: JsonPath = ()) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True)
class Place:
    """A value of the file: how to get there, and what messages call it."""

    path: JsonPath
    name: str

    def __str__(self) -> str:
        return self.name

    def error(self, message: str, *steps: str | int) -> LaunchFileError:
        """An error at this value, or at one below it."""
        return LaunchFileError(f"{self.name}: {message}" if self.name else message, (*self.path, *steps))


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name and what is passed: a number, bytes, or an array (that of a buffer)."""

    name: str
    value: Any


@dataclass(frozen=True)
class Step:
    """One launch."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    shared_bytes: int
    stack_bytes: int
    params: list[Parameter]


@dataclass(frozen=True)
class Settings:
    """How to run; the names are those of the command line's options."""

    strict: bool = False
    memcheck: bool = False
    timing: bool = False
    perturb: int | None = None
    workers: int = 1
    max_steps: int = MAX_STEPS
    max_seconds: float | None = None
    trace: Path | None = None


class LaunchFile:
    """A launch file that has been read and checked; the arrays are made.

    Attributes:
        arrays: every buffer and module variable by name, in the order of the file.
        globals: names of those that are module variables; True: written before the first launch.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text, data = _load(path)
        try:
            self._read(data)
        except LaunchFileError as error:
            line, column = line_and_column(text, error.path)
            raise LaunchFileError(f"line {line}, column {column}: {error}") from error

    def _read(self, data: dict[str, Any]) -> None:
        top = Place((), "")
        several = "launches" in data
        _only(data, _TOP | _SETTINGS | ({"launches"} if several else _STEP), top)
        self.cubin = self.path.parent / _text(data, "cubin", top)
        self.settings = self._settings(data, top)
        self.names: dict[str, Any] = {}  # values that formulas know
        self.arrays: dict[str, Array] = {}
        self.globals: dict[str, bool] = {}
        for name, entry in _mapping(data, "buffers").items():
            self._make(name, entry, Place(("buffers", name), f"buffers.{name}"))
        for name, entry in _mapping(data, "globals").items():
            self._make(name, entry, Place(("globals", name), f"globals.{name}"))
            self.globals[name] = "init" in entry
        if several:
            listed = _list(data, "launches", top)
            places = [Place(("launches", i), f"launches[{i}]") for i in range(len(listed))]
            self.steps = [self._step(entry, place) for entry, place in zip(listed, places, strict=True)]
        else:
            self.steps = [self._step(data, top)]
        self.expected = {n: self._expect(n, e) for n, e in _mapping(data, "expected").items()}
        self.outputs = {n: self._output(n, p) for n, p in _mapping(data, "outputs").items()}

    def _settings(self, data: dict[str, Any], place: Place) -> Settings:
        made: dict[str, Any] = {}
        for key in ("strict", "memcheck", "timing"):
            made[key] = data.get(key, False)
            if not isinstance(made[key], bool):
                raise place.error(f"'{key}' is not true or false", key)
        for key, default in (("perturb", None), ("workers", 1), ("max_steps", MAX_STEPS)):
            made[key] = default if data.get(key) is None else _number(data, key, 0, place)
        made["max_seconds"] = None if data.get("max_seconds") is None else float(_number(data, "max_seconds", 0.0, place))
        made["trace"] = self.path.parent / _text(data, "trace", place) if "trace" in data else None
        return Settings(**made)

    def _step(self, data: Any, place: Place) -> Step:
        if not isinstance(data, dict):
            raise place.error("is not an object")
        if place.path:
            _only(data, _STEP, place)
        cluster = _dims(data, "cluster", place) if "cluster" in data else None
        return Step(
            _text(data, "kernel", place),
            _dims(data, "grid", place),
            _dims(data, "block", place),
            cluster,
            _number(data, "shared_bytes", 0, place),
            _number(data, "stack_bytes", 0, place),
            [self._param(i, p, place) for i, p in enumerate(_list(data, "params", place))],
        )

    def array(self, name: str, place: Place) -> Array:
        """The buffer, array parameter or module variable of that name."""
        if name not in self.arrays:
            raise place.error(f"no array parameter '{name}'")
        return self.arrays[name]

    def _param(self, index: int, data: Any, step: Place) -> Parameter:
        prefix = f"{step}." if step.name else ""
        place = Place((*step.path, "params", index), f"{prefix}params[{index}]")
        if not isinstance(data, dict):
            raise LaunchFileError(f"{place} is not an object", place.path)
        _only(data, _PARAM, place)
        kinds = [k for k in ("value", "shape", "bytes", "buffer") if k in data]
        name = str(data.get("name", data.get("buffer", f"arg{index}")))
        if len(kinds) != 1:
            raise LaunchFileError(f"{place} ({name}) needs one of 'value', 'shape', 'bytes' and 'buffer'", place.path)
        if kinds == ["buffer"]:
            return Parameter(str(data["buffer"]), self.array(str(data["buffer"]), place))
        if kinds == ["bytes"]:
            try:
                return Parameter(name, bytes.fromhex(data["bytes"]))
            except (TypeError, ValueError):
                raise Place(place.path, f"{place} ({name})").error("'bytes' is not hexadecimal text", "bytes") from None
        if kinds == ["value"]:
            made = Parameter(name, _scalar(data["value"], _dtype(data, place), place))
            self.names[name] = made.value
            return made
        return Parameter(name, self._make(name, {k: v for k, v in data.items() if k != "name"}, place))

    def _make(self, name: str, data: Any, place: Place) -> Array:
        """A new named array."""
        if not isinstance(data, dict):
            raise place.error("is not an object")
        _only(data, _ARRAY, place)
        if name in self.arrays:
            raise place.error(f"there is a '{name}' already")
        dtype = _dtype(data, place)
        if f"({name})" not in place.name and "params" in place.path:
            place = Place(place.path, f"{place} ({name})")
        shape = data.get("shape")
        shape = [shape] if isinstance(shape, int) else shape
        if not isinstance(shape, list) or not all(type(s) is int and s >= 0 for s in shape):
            raise place.error("'shape' is not a list of sizes", "shape")
        count = math.prod(shape)
        if count * dtype.itemsize > _MAX_BYTES:
            raise place.error(f"{count} elements are too many", "shape")
        made = self._contents(data.get("init", {"fill": 0}), dtype, tuple(shape), place)
        self.arrays[name] = self.names[name] = made
        return made

    def _expect(self, name: str, data: Any) -> tuple[Array, float, float]:
        place = Place(("expected", name), f"expected.{name}")
        start = self.array(name, place)
        if not isinstance(data, dict):
            raise LaunchFileError(f"{place} is not an object", place.path)
        _only(data, _EXPECTED, place)
        if "init" not in data:
            raise place.error("'init' is missing")
        want = self._contents(data["init"], start.dtype, start.shape, place)
        return want, float(_number(data, "rtol", 0.0, place)), float(_number(data, "atol", 0.0, place))

    def _output(self, name: str, path: Any) -> Path:
        place = Place(("outputs", name), f"outputs.{name}")
        self.array(name, place)
        if not isinstance(path, str):
            raise LaunchFileError(f"{place} is not a path", place.path)
        return self.path.parent / path

    def _contents(self, data: Any, dtype: np.dtype[Any], shape: tuple[int, ...], place: Place) -> Array:
        if not isinstance(data, dict) or len(data) != 1 or next(iter(data)) not in _SOURCES:
            raise place.error(f"'init' is not one of {', '.join(_SOURCES)}", "init")
        ((kind, value),) = data.items()
        count = math.prod(shape)
        try:
            made = self._source(kind, value, dtype, count, place)
            with np.errstate(all="ignore"):
                values = np.asarray(made).astype(dtype)
            return np.array(np.broadcast_to(values, shape) if values.ndim == 0 else values.reshape(shape))
        except _WRONG_CONTENTS as error:
            what = str(error).partition("\n")[0] or type(error).__name__
            raise place.error(f"{kind}: {what}", "init", kind) from error

    def _source(self, kind: str, value: Any, dtype: np.dtype[Any], count: int, place: Place) -> Any:
        if kind == "fill":
            return np.full(count, value)
        if kind == "arange":
            start, step = value
            return start + step * np.arange(count)
        if kind == "values":
            return np.array(value)
        if kind == "random":
            rng = np.random.default_rng(value)
            if dtype.kind in "iu":
                limits = np.iinfo(dtype)
                return rng.integers(limits.min, limits.max, count, dtype, endpoint=True)
            return rng.random(count)
        if kind == "file":
            path = self.path.parent / value
            return np.load(path, allow_pickle=False) if path.suffix == ".npy" else np.fromfile(path, dtype)
        return _evaluate(value, self.names, place)


def _evaluate(text: Any, names: dict[str, Any], place: Place) -> Any:
    """A formula over the parameters: numbers, names, arithmetic, the functions of ``_FUNCTIONS``, nothing else."""
    try:
        tree = ast.parse(str(text), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        shown = str(text)[:_SHOWN] + ("..." if len(str(text)) > _SHOWN else "")
        raise place.error(f"formula '{shown}' is no expression", "init", "formula") from error

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[node.func.id](*(value(a) for a in node.args))
        raise place.error(f"formula '{text}': '{ast.unparse(node)}' is not known here", "init", "formula")

    with np.errstate(all="ignore"):
        return value(tree)


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    """The text and what it holds."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as error:
        raise LaunchFileError(error.strerror or "cannot be read") from error
    except UnicodeDecodeError as error:
        raise LaunchFileError("is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise LaunchFileError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise LaunchFileError("a number has too many digits") from error
    except RecursionError as error:
        raise LaunchFileError("is nested too deeply") from error
    half = _HALF_CHARACTER.search(json.dumps(data, ensure_ascii=False)) if "\\u" in text else None
    if half:
        raise LaunchFileError(f"half a surrogate pair, {half[0]!r}, is no character")
    if not isinstance(data, dict):
        raise LaunchFileError("holds no JSON object")
    return text, data


def _only(data: dict[str, Any], known: set[str], place: Place) -> None:
    for key in data:
        if key not in known:
            where = f"{place}: " if place.name else "the launch file: "
            raise LaunchFileError(f"{where}unknown key '{key}' (known: {', '.join(sorted(known))})", (*place.path, key))


def _text(data: dict[str, Any], key: str, place: Place) -> str:
    if not isinstance(data.get(key), str) or "\0" in data[key]:
        raise place.error(f"'{key}' is missing or no text", key)
    return str(data[key])


def _number(data: dict[str, Any], key: str, default: float, place: Place) -> Any:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, type(default))) or not 0 <= value < _MOST:
        raise place.error(f"'{key}' is no number of the right kind: {value!r}", key)
    return value


def _list(data: dict[str, Any], key: str, place: Place) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise place.error(f"'{key}' is no list", key)
    return value


def _mapping(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise LaunchFileError(f"'{key}' is no object", (key,))
    return value


def _dims(data: dict[str, Any], key: str, place: Place) -> tuple[int, ...]:
    value = data.get(key)
    value = [value] if isinstance(value, int) else value
    if not isinstance(value, list) or not 1 <= len(value) <= 3 or not all(type(v) is int for v in value):
        raise place.error(f"'{key}' is not one to three numbers", key)
    return tuple(value)


def _dtype(data: dict[str, Any], place: Place) -> np.dtype[Any]:
    name = data.get("dtype")
    try:
        dtype = np.dtype(name if isinstance(name, str) else "")
    except (TypeError, ValueError, SyntaxError):
        raise place.error(f"'{name}' is no dtype", "dtype") from None
    if dtype.hasobject or dtype.kind not in "iufb" or dtype.itemsize > 8:
        raise place.error(f"dtype '{name}' is not possible here", "dtype")
    return dtype


def _scalar(value: Any, dtype: np.dtype[Any], place: Place) -> Any:
    if not isinstance(value, (int, float)):
        raise place.error("'value' is no number", "value")
    try:
        return np.array(value, dtype)[()]
    except (OverflowError, ValueError) as error:
        raise place.error(str(error), "value") from error

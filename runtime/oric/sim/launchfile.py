"""Launch files: a kernel launch, its data and its expected results as JSON (``oric run FILE.json``).

    {"cubin": "saxpy.cubin", "kernel": "saxpy", "grid": [4], "block": [256],
     "params": [{"name": "n", "dtype": "int32", "value": 1000},
                {"name": "x", "dtype": "float32", "shape": [1000], "init": {"arange": [0, 1]}},
                {"name": "s", "bytes": "00010203"}],
     "expected": {"x": {"init": {"fill": 3}, "rtol": 1e-6}},
     "outputs": {"x": "x.npy"}}

Paths are relative to the launch file. The contents of an array (``init``, default zeros) are ``{"fill": v}``,
``{"arange": [start, step]}``, ``{"values": [...]}``, ``{"random": seed}`` (uniform in [0, 1), integers over their whole
range), ``{"file": path}`` (.npy, else raw bytes), or ``{"formula": text}``: arithmetic on the other parameters' values
before the launch, elementwise, with the numpy functions of ``_FUNCTIONS``. An expected array has the dtype and shape of its
parameter.
"""

from __future__ import annotations

import ast
import json
import operator
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from .arguments import Array
from .errors import SimError
from .module import MAX_STEPS, Module, load

_TOP: Final = {"cubin", "kernel", "grid", "block", "shared_bytes", "max_steps", "stack_bytes", "params", "expected", "outputs"}
_PARAM: Final = {"name", "dtype", "value", "shape", "init", "bytes"}
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
_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
}
_SHOWN: Final = 4
_MAX_ELEMENTS: Final = 1 << 31


class LaunchFileError(Exception):
    """The launch file is wrong; ``str()`` is one line that says where."""


class Parameter:
    """One parameter: its name, what is passed, and for arrays dtype and shape."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value


class LaunchFile:
    """A launch file that has been read and checked; the arrays are made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = _load(path)
        _only(data, _TOP, "the launch file")
        self.cubin = path.parent / _text(data, "cubin")
        self.kernel = _text(data, "kernel")
        self.grid = _dims(data, "grid")
        self.block = _dims(data, "block")
        self.shared_bytes = _number(data, "shared_bytes", 0)
        self.max_steps = _number(data, "max_steps", MAX_STEPS)
        self.stack_bytes = _number(data, "stack_bytes", 0)
        self.params = [self._param(i, p) for i, p in enumerate(_list(data, "params"))]
        self.expected = {n: self._expect(n, e) for n, e in _mapping(data, "expected").items()}
        self.outputs = {n: self._output(n, p) for n, p in _mapping(data, "outputs").items()}

    def array(self, name: str, what: str) -> Array:
        """The array parameter of that name."""
        for parameter in self.params:
            if parameter.name == name and isinstance(parameter.value, np.ndarray):
                return parameter.value
        raise LaunchFileError(f"{what}: no array parameter '{name}'")

    def _param(self, index: int, data: Any) -> Parameter:
        where = f"params[{index}]"
        if not isinstance(data, dict):
            raise LaunchFileError(f"{where} is not an object")
        _only(data, _PARAM, where)
        name = str(data.get("name", f"arg{index}"))
        if sum(k in data for k in ("value", "shape", "bytes")) != 1:
            raise LaunchFileError(f"{where} ({name}) needs one of 'value', 'shape' and 'bytes'")
        if "bytes" in data:
            try:
                return Parameter(name, bytes.fromhex(data["bytes"]))
            except (TypeError, ValueError):
                raise LaunchFileError(f"{where} ({name}): 'bytes' is not hexadecimal text") from None
        dtype = _dtype(data.get("dtype"), where)
        if "value" in data:
            return Parameter(name, _scalar(data["value"], dtype, where))
        shape = data["shape"]
        shape = [shape] if isinstance(shape, int) else shape
        if not isinstance(shape, list) or not all(isinstance(s, int) and s >= 0 for s in shape):
            raise LaunchFileError(f"{where} ({name}): 'shape' is not a list of sizes")
        count = 1
        for size in shape:
            count *= size
        if count * dtype.itemsize > _MAX_ELEMENTS:
            raise LaunchFileError(f"{where} ({name}): {count} elements are too many")
        return Parameter(name, self._contents(data.get("init", {"fill": 0}), dtype, tuple(shape), f"{where} ({name})"))

    def _expect(self, name: str, data: Any) -> tuple[Array, float, float]:
        where = f"expected.{name}"
        start = self.array(name, where)
        if not isinstance(data, dict):
            raise LaunchFileError(f"{where} is not an object")
        _only(data, _EXPECTED, where)
        if "init" not in data:
            raise LaunchFileError(f"{where}: 'init' is missing")
        want = self._contents(data["init"], start.dtype, start.shape, where)
        return want, float(_number(data, "rtol", 0.0)), float(_number(data, "atol", 0.0))

    def _output(self, name: str, path: Any) -> Path:
        self.array(name, f"outputs.{name}")
        if not isinstance(path, str):
            raise LaunchFileError(f"outputs.{name} is not a path")
        return self.path.parent / path

    def _contents(self, data: Any, dtype: np.dtype[Any], shape: tuple[int, ...], where: str) -> Array:
        if not isinstance(data, dict) or len(data) != 1 or next(iter(data)) not in _SOURCES:
            raise LaunchFileError(f"{where}: 'init' is not one of {', '.join(_SOURCES)}")
        ((kind, value),) = data.items()
        count = int(np.prod(shape, dtype=np.int64))
        try:
            made = self._source(kind, value, dtype, count, where)
            with np.errstate(all="ignore"):
                values = np.asarray(made).astype(dtype)
            return np.array(np.broadcast_to(values, shape) if values.ndim == 0 else values.reshape(shape))
        except (ValueError, TypeError, OverflowError, ZeroDivisionError, OSError) as error:
            raise LaunchFileError(f"{where}: {kind}: {error}") from error

    def _source(self, kind: str, value: Any, dtype: np.dtype[Any], count: int, where: str) -> Any:
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
        names = {p.name: p.value for p in self.params} if hasattr(self, "params") else {}
        return _evaluate(value, names, where)


def _evaluate(text: Any, names: dict[str, Any], where: str) -> Any:
    """A formula over the parameters: numbers, names, arithmetic, the functions of ``_FUNCTIONS``, nothing else."""
    try:
        tree = ast.parse(str(text), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise LaunchFileError(f"{where}: formula '{text}' is no expression") from error

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
        raise LaunchFileError(f"{where}: formula '{text}': '{ast.unparse(node)}' is not known here")

    with np.errstate(all="ignore"):
        return value(tree)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LaunchFileError(error.strerror or "cannot be read") from error
    except UnicodeDecodeError as error:
        raise LaunchFileError("is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise LaunchFileError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise LaunchFileError("is nested too deeply") from error
    if not isinstance(data, dict):
        raise LaunchFileError("holds no JSON object")
    return data


def _only(data: dict[str, Any], known: set[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise LaunchFileError(f"{where}: unknown key '{key}' (known: {', '.join(sorted(known))})")


def _text(data: dict[str, Any], key: str) -> str:
    if not isinstance(data.get(key), str) or "\0" in data[key]:
        raise LaunchFileError(f"'{key}' is missing or no text")
    return str(data[key])


def _number(data: dict[str, Any], key: str, default: float) -> Any:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, type(default))) or value < 0:
        raise LaunchFileError(f"'{key}' is no number of the right kind: {value!r}")
    return value


def _list(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise LaunchFileError(f"'{key}' is no list")
    return value


def _mapping(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise LaunchFileError(f"'{key}' is no object")
    return value


def _dims(data: dict[str, Any], key: str) -> tuple[int, ...]:
    value = data.get(key)
    value = [value] if isinstance(value, int) else value
    if not isinstance(value, list) or not 1 <= len(value) <= 3 or not all(type(v) is int for v in value):
        raise LaunchFileError(f"'{key}' is not one to three numbers")
    return tuple(value)


def _dtype(name: Any, where: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name if isinstance(name, str) else "")
    except TypeError:
        raise LaunchFileError(f"{where}: '{name}' is no dtype") from None
    if dtype.hasobject or dtype.kind not in "iufb" or dtype.itemsize > 8:
        raise LaunchFileError(f"{where}: dtype '{name}' is not possible here")
    return dtype


def _scalar(value: Any, dtype: np.dtype[Any], where: str) -> Any:
    if not isinstance(value, (int, float)):
        raise LaunchFileError(f"{where}: 'value' is no number")
    try:
        return np.array(value, dtype)[()]
    except (OverflowError, ValueError) as error:
        raise LaunchFileError(f"{where}: {error}") from error


def compare(got: Array, want: Array, rtol: float, atol: float) -> Array:
    """Which elements are not as expected. NaN equals NaN; without tolerances equality is exact."""
    if got.dtype.kind == "f":
        return ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    return np.asarray(got != want)


def _rows(file: LaunchFile, wrong: dict[str, Array]) -> list[tuple[str, str, str, str]]:
    out = [("parameter", "type", "value", "check")]
    for parameter in file.params:
        value = parameter.value
        if isinstance(value, np.ndarray):
            flat = value.reshape(-1)
            shown = " ".join(f"{v:.6g}" if value.dtype.kind == "f" else str(v) for v in flat[:_SHOWN])
            check = "-"
            if parameter.name in wrong:
                bad = int(wrong[parameter.name].sum())
                check = f"{bad} of {flat.size} wrong" if bad else "ok"
            kind = f"{value.dtype}[{','.join(map(str, value.shape))}]"
            out.append((parameter.name, kind, shown + (" ..." if flat.size > _SHOWN else ""), check))
        elif isinstance(value, bytes):
            out.append((parameter.name, f"bytes[{len(value)}]", value.hex()[:32], "-"))
        else:
            out.append((parameter.name, str(value.dtype), str(value), "-"))
    return out


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    widths = [max(len(r[i]) for r in rows) for i in range(4)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows)


def _first_wrong(name: str, got: Array, want: Array, wrong: Array) -> str:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{name}{list(index)} is {got[index]!s}, expected {want[index]!s}"


def _save(path: Path, array: Array) -> None:
    try:
        if path.suffix == ".npy":
            np.save(path, array)
        else:
            path.write_bytes(array.tobytes())
    except OSError as error:
        raise LaunchFileError(f"cannot write {path}: {error.strerror}") from error


def run(path: Path) -> int:
    """Run a launch file and print its table; 0 when all that is expected holds, 1 when it does not.

    Raises:
        LaunchFileError, SimError: the file or the launch is wrong.
    """
    file = LaunchFile(path)
    try:
        image = file.cubin.read_bytes()
    except OSError as error:
        raise LaunchFileError(f"cannot read {file.cubin}: {error.strerror}") from error
    try:
        module: Module = load(image)
    except SimError as error:
        raise LaunchFileError(f"{file.cubin}: {error}") from error
    start = time.perf_counter()
    done = module.launch(
        file.kernel, file.grid, file.block, [p.value for p in file.params],
        shared_bytes=file.shared_bytes, max_steps=file.max_steps, stack_bytes=file.stack_bytes,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    wrong = {n: compare(file.array(n, n), want, rtol, atol) for n, (want, rtol, atol) in file.expected.items()}
    print(f"{file.kernel}: {done.ctas} blocks, {done.thread_instructions} thread instructions in {seconds:.3f} s")
    print(_table(_rows(file, wrong)))
    for name, output in file.outputs.items():
        _save(output, file.array(name, name))
    failed = [n for n, w in wrong.items() if w.any()]
    for name in failed:
        first = _first_wrong(name, file.array(name, name), file.expected[name][0], wrong[name])
        print(f"{path}: wrong result: {first}", file=sys.stderr)
    return 1 if failed else 0


def main(argv: list[str]) -> int:
    """``oric run FILE.json...``: exit status 0: every launch gives what its file expects; 1: not so; 2: wrong usage."""
    if not argv or argv[0] in ("-h", "--help"):
        print("usage: oric run FILE.json...\nRuns the launches that the files describe in the simulator, checks their results.")
        return 0 if argv else 2
    status = 0
    for name in argv:
        try:
            status = max(status, run(Path(name)))
        except (LaunchFileError, SimError) as error:
            print(f"oric run: error: {name}: {error}", file=sys.stderr)
            status = 1
    return status

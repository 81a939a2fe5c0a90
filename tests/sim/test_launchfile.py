"""Launch files: contents of arrays, expectations, outputs, and errors that name the file and the place in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oric.sim.run import main

from tests.kernels import cases


def write(folder: Path, **changes: Any) -> Path:
    """The saxpy example with some keys replaced (None: left out), beside its cubin."""
    (folder / "saxpy.cubin").write_bytes(cases.golden_cubin("saxpy", "sm_90"))
    data: dict[str, Any] = {
        "cubin": "saxpy.cubin",
        "kernel": "saxpy",
        "grid": [4],
        "block": 256,
        "params": [
            {"name": "n", "dtype": "int32", "value": 1000},
            {"name": "a", "dtype": "float32", "value": 2},
            {"name": "x", "dtype": "float32", "shape": [1000], "init": {"arange": [0, 1]}},
            {"name": "y", "dtype": "float32", "shape": 1000, "init": {"fill": 1}},
        ],
        "expected": {"y": {"init": {"arange": [1, 2]}}},
    }
    data.update(changes)
    path = folder / "launch.json"
    path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
    return path


def params(**changes: Any) -> list[dict[str, Any]]:
    """The parameters with keys of `y` replaced."""
    y: dict[str, Any] = {"name": "y", "dtype": "float32", "shape": [1000], "init": {"fill": 1}}
    y.update(changes)
    return [
        {"name": "n", "dtype": "int32", "value": 1000},
        {"name": "a", "dtype": "float32", "value": 2},
        {"name": "x", "dtype": "float32", "shape": [1000], "init": {"arange": [0, 1]}},
        {k: v for k, v in y.items() if v is not None},
    ]


def test_table_and_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(tmp_path))]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("saxpy: 4 blocks, ")
    assert lines[1].split() == ["parameter", "type", "value", "check"]
    assert [line.split()[0] for line in lines[2:]] == ["n", "a", "x", "y"]
    assert lines[5].split() == ["y", "float32[1000]", "1", "3", "5", "7", "...", "ok"]


def test_wrong_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {"y": {"init": {"fill": 3}}}
    assert main([str(write(tmp_path, expected=expected))]) == 1
    out, err = capsys.readouterr()
    assert "999 of 1000 wrong" in out
    assert "launch.json: wrong result: y[0] is 1.0, expected 3.0" in err


@pytest.mark.parametrize(
    "init",
    [
        {"values": [1 + 2 * i for i in range(1000)]},
        {"formula": "a * x + y"},
        {"formula": "minimum(1e9, 2 * x + 1)"},
        {"file": "want.npy"},
        {"file": "want.bin"},
    ],
)
def test_sources_of_expectations(tmp_path: Path, init: dict[str, Any]) -> None:
    want = (1 + 2 * np.arange(1000)).astype(np.float32)
    np.save(tmp_path / "want.npy", want)
    (tmp_path / "want.bin").write_bytes(want.tobytes())
    assert main([str(write(tmp_path, expected={"y": {"init": init}}))]) == 0


def test_tolerance(tmp_path: Path) -> None:
    near = {"init": {"formula": "(a * x + y) * 1.00001"}}
    assert main([str(write(tmp_path, expected={"y": near}))]) == 1
    assert main([str(write(tmp_path, expected={"y": {**near, "rtol": 1e-4}}))]) == 0
    assert main([str(write(tmp_path, expected={"y": {**near, "atol": 0.1}}))]) == 0


def test_outputs(tmp_path: Path) -> None:
    assert main([str(write(tmp_path, outputs={"y": "y.npy", "x": "x.bin"}))]) == 0
    assert (np.load(tmp_path / "y.npy") == 1 + 2 * np.arange(1000)).all()
    assert (np.fromfile(tmp_path / "x.bin", np.float32) == np.arange(1000)).all()


def test_random_contents_depend_on_the_seed_only(tmp_path: Path) -> None:
    for seed, name in ((1, "a.npy"), (1, "b.npy"), (2, "c.npy")):
        path = write(tmp_path, params=params(init={"random": seed}), expected=None, outputs={"y": name})
        assert main([str(path)]) == 0
    a, b, c = (np.load(tmp_path / f"{n}.npy") for n in "abc")
    assert (a == b).all()
    assert (a != c).any()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"gird": 4}, "unknown key 'gird'"),
    "no kernel": ({"kernel": None}, "'kernel' is missing"),
    "no grid": ({"grid": None}, "'grid' is not one to three numbers"),
    "grid of text": ({"grid": ["4"]}, "'grid' is not one to three numbers"),
    "steps": ({"max_steps": -1}, "'max_steps'"),
    "params no list": ({"params": {}}, "'params' is no list"),
    "param no object": ({"params": [3]}, "params[0] is not an object"),
    "param key": ({"params": params(shap=3)}, "params[3]: unknown key 'shap'"),
    "neither value nor shape": ({"params": params(shape=None)}, "params[3] (y) needs one of"),
    "dtype": ({"params": params(dtype="float31")}, "params[3]: 'float31' is no dtype"),
    "dtype of a formula": ({"params": params(dtype="where(x, y)")}, "params[3]: 'where(x, y)' is no dtype"),
    "object dtype": ({"params": params(dtype="O")}, "params[3]: dtype 'O'"),
    "shape": ({"params": params(shape=[-1])}, "params[3] (y): 'shape'"),
    "huge shape": ({"params": params(shape=[1 << 40])}, "too many"),
    "init": ({"params": params(init={"zeros": 0})}, "params[3] (y): 'init' is not one of"),
    "values": ({"params": params(init={"values": [1, 2]})}, "params[3] (y): values: cannot reshape"),
    "arange": ({"params": params(init={"arange": 1})}, "params[3] (y): arange:"),
    "no such file": ({"params": params(init={"file": "none.npy"})}, "params[3] (y): file: [Errno 2]"),
    "empty file": ({"params": params(init={"file": "empty.npy"})}, "params[3] (y): file: No data left in file"),
    "half a file": ({"params": params(init={"file": "half.npy"})}, "params[3] (y): file: "),
    "formula that shifts": ({"params": params(init={"formula": "1 << 99999999999"})}, "formula: a shift by 99999999999"),
    "long formula": ({"params": params(init={"formula": "+".join(["1"] * 3000)})}, "params[3] (y): formula"),
    "formula of other shape": ({"params": params(init={"formula": "x @ 3"})}, "params[3] (y): formula:"),
    "tolerance": ({"expected": {"y": {"init": {"fill": 1}, "rtol": 10**400}}}, "expected.y: 'rtol' is no number"),
    "time": ({"max_seconds": float("nan")}, "'max_seconds' is no number of the right kind: nan"),
    "threads": ({"workers": 1 << 40}, "workers is 1099511627776, too many"),
    "shared memory": ({"shared_bytes": 1 << 40}, "1099511627776 bytes of shared memory: sm_90 has at most"),
    "formula": ({"params": params(init={"formula": "__import__('os')"})}, "is not known here"),
    "formula attribute": ({"params": params(init={"formula": "x.tofile"})}, "'x.tofile' is not known here"),
    "formula syntax": ({"params": params(init={"formula": "1 +"})}, "is no expression"),
    "bytes": ({"params": [{"bytes": "zz"}]}, "'bytes' is not hexadecimal"),
    "expected name": ({"expected": {"z": {}}}, "expected.z: no array parameter 'z'"),
    "expected scalar": ({"expected": {"n": {"init": {"fill": 1}}}}, "expected.n: no array parameter 'n'"),
    "expected init": ({"expected": {"y": {}}}, "expected.y: 'init' is missing"),
    "outputs": ({"outputs": {"y": 3}}, "outputs.y is not a path"),
    "cubin": ({"cubin": "none.cubin"}, "none.cubin: No such file"),
    "unknown kernel": ({"kernel": "sax"}, "no kernel 'sax'"),
    "too few parameters": ({"params": params()[:3], "expected": None}, "takes 4 parameters, 3 given"),
    "fault": ({"params": params(shape=[10]), "expected": None}, "out of bounds: 4-byte"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_launch_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    changes, message = BAD[what]
    np.save(tmp_path / "half.npy", np.zeros(1000, np.float32))
    (tmp_path / "half.npy").write_bytes((tmp_path / "half.npy").read_bytes()[:2000])
    (tmp_path / "empty.npy").write_bytes(b"")
    assert main([str(write(tmp_path, **changes))]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("oric run: error: ")
    assert "launch.json: " in err
    assert message in err
    assert err.count("\n") == 1


DIGITS = f'{{"grid": {"9" * 5000}}}'
HALF = '{"cubin": "\\ud800.cubin"}'


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", '{"kernel": ', "[" * 100000, DIGITS, HALF])
def test_no_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    assert main([str(tmp_path / "x.json")]) == 1
    err = capsys.readouterr().err
    assert "x.json: " in err
    assert err.count("\n") == 1


def test_missing_file_and_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json")]) == 1
    assert "none.json: No such file" in capsys.readouterr().err
    assert main([]) == 2
    assert main(["--help"]) == 0
    assert "usage: oric run" in capsys.readouterr().out

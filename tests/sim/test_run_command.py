"""`oric run`: options, several launches, module variables, places in messages, the GPU as a device."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oric.sim import load, progress
from oric.sim.jsonplace import line_and_column
from oric.sim.run import main

from tests.kernels import cases

HERE = Path(__file__).resolve().parent
DRIVER = HERE.parent / "gpu" / "simulated_driver"
N = 300


def array(name: str, init: dict[str, Any], dtype: str = "float32") -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "shape": [N], "init": init}


def number(name: str, value: float, dtype: str = "float32") -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "value": value}


def write(folder: Path, data: dict[str, Any], cubin: bytes | None = None) -> str:
    (folder / "k.cubin").write_bytes(cubin or cases.golden_cubin("saxpy", "sm_90"))
    path = folder / "launch.json"
    path.write_text(json.dumps({"cubin": "k.cubin", **data}, indent=1))
    return str(path)


def saxpy(*params: dict[str, Any]) -> dict[str, Any]:
    return {"kernel": "saxpy", "grid": [2], "block": [256], "params": [number("n", N, "int32"), *params]}


ONE = {
    **saxpy(number("a", 2), array("x", {"arange": [0, 1]}), array("y", {"fill": 1})),
    "expected": {"y": {"init": {"arange": [1, 2]}}},
}
TWO = {
    "buffers": {"x": {"dtype": "float32", "shape": N, "init": {"arange": [0, 1]}}},
    "launches": [
        saxpy(number("a", 2), {"buffer": "x"}, array("y", {"fill": 1})),
        saxpy(number("a", 3), {"buffer": "y"}, {"name": "out", "buffer": "x"}),
    ],
    "expected": {"y": {"init": {"arange": [1, 2]}}, "x": {"init": {"formula": "3 * (2 * x + 1) + x"}}},
}


def test_launches_in_order_share_buffers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, TWO), "--strict", "--memcheck"]) == 0
    out = capsys.readouterr().out
    assert out.count("saxpy: 2 blocks") == 2
    assert [line.split()[0] for line in out.splitlines()[3:]] == ["n", "a", "x", "y", "n", "a"]


def test_json_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**TWO, "expected": {"y": {"init": {"fill": 1}}}}
    assert main([write(tmp_path, wrong), "--json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert [entry["kernel"] for entry in made["launches"]] == ["saxpy", "saxpy"]
    assert made["launches"][0]["ctas"] == 2
    assert made["results"] == {"x": {"wrong": None, "differ": None}, "y": {"wrong": N - 1, "differ": None}}
    assert made["problems"] == ["wrong result: y[1] is 3.0, expected 1.0"]
    assert made["reports"] == []


def test_cycles_of_warps_and_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, ONE), "--timing"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    spread = {line[0]: [int(n) for n in line[1:]] for line in lines if line[:1] in (["warp"], ["block"])}
    assert sorted(spread["warp"]) == spread["warp"]
    assert spread["warp"][2] <= spread["block"][2]
    assert main([write(tmp_path, ONE), "--timing", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)["launches"][0]
    assert (entry["warp_cycles"], entry["block_cycles"]) == (spread["warp"], spread["block"])
    assert 0 < entry["warp_cycles"][0] <= entry["cycles"]


def test_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, ONE), "--stats"]) == 0
    counts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.startswith("  "))
    assert int(counts["ctas"]) == 2
    assert int(counts["warp_instructions"]) > 16


def test_module_variables(tmp_path: Path) -> None:
    file = "tables"
    step = next(iter(next(c for c in cases.CASES if c.file == file).build()))
    params = []
    for index, value in enumerate(step.args):
        if isinstance(value, np.ndarray):
            np.save(tmp_path / f"in{index}.npy", value)
            params.append({"dtype": str(value.dtype), "shape": list(value.shape), "init": {"file": f"in{index}.npy"}})
        else:
            params.append({"bytes": np.int32(value).tobytes().hex()})
    cubin = cases.golden_cubin(file, "sm_90")
    names = [s.name for s in load(cubin).image.cubin.symbols if s.size >= 8 and s.name and not s.is_function]
    variable = {"dtype": "uint8", "shape": 8, "init": {"arange": [1, 1]}}
    data = {
        "kernel": step.kernel, "grid": step.grid, "block": step.block, "params": params,
        "globals": {names[0]: variable}, "expected": {names[0]: {"init": {"arange": [1, 1]}}}, "outputs": {names[0]: "out.bin"},
    }  # fmt: skip
    assert main([write(tmp_path, data, cubin)]) == 0
    assert (tmp_path / "out.bin").read_bytes() == bytes(range(1, 9))


def test_variable_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, {**ONE, "globals": {"v": {"dtype": "int8", "shape": 4}}})]) == 1
    assert "globals.v: the module has no variable 'v'" in capsys.readouterr().err


PLACES: dict[str, tuple[dict[str, Any], str, str]] = {
    "key": ({"gird": 3}, '"gird"', "unknown key 'gird'"),
    "option": ({"strict": 1}, '"strict"', "'strict' is not true or false"),
    "dtype": ({"params": [array("x", {"fill": 0}, "float31")]}, '"dtype"', "params[0]: 'float31' is no dtype"),
    "buffer": ({"params": [{"buffer": "z"}]}, "{\n   ", "params[0]: no array parameter 'z'"),
    "expected": ({"expected": {"y": {"init": {"values": [1, 2]}}}}, '"values"', "expected.y: values: cannot reshape"),
    "twice": ({"buffers": {"y": {"dtype": "int8", "shape": 1}}}, '{\n   "name": "y"', "params[3]: there is a 'y' already"),
}


@pytest.mark.parametrize("what", PLACES)
def test_messages_name_line_and_column(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    changes, anchor, message = PLACES[what]
    path = write(tmp_path, {**ONE, **changes})
    text = Path(path).read_text()
    at = text.index(anchor)
    if anchor.startswith('"'):
        at = text.index(":", at) + 2  # the value
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    assert main([path]) == 1
    start = f"oric run: error: {path}: line {line}, column {column}: "
    error = capsys.readouterr().err
    assert error.startswith(start)
    assert message in error


ODD: list[Any] = [
    None, True, 0, -1, 3, 1 << 31, 1 << 70, 10**400, 0.5, 1e999, float("nan"), "", "x", "saxpy", "\ud800", "\0", "..",
    "x if x else y", "sum(x)", "x / 0", "1 // 0", [], [1], [1, 2, 3], [[1], [2, 3]], {}, {"fill": "a"}, {"fill": 10**400},
    {"values": [[1], [2, 3]]}, {"arange": ["a", "b"]}, {"random": -1}, {"random": "x"}, {"file": 3}, {"file": "."},
    {"file": "k.cubin"}, {"formula": 5}, {"formula": "x @ y"}, "complex64", "U4", "i4,f4", "zz",
]  # fmt: skip


def damaged(rng: random.Random, value: Any) -> Any:
    """The same with odd values here and there; keys are lost or have another's value."""
    if rng.random() < 0.04:
        return rng.choice(ODD)
    if isinstance(value, list):
        return [damaged(rng, v) for v in value if rng.random() < 0.98]
    if isinstance(value, dict):
        return {
            k: damaged(rng, value[k if rng.random() < 0.99 else rng.choice(list(value))]) for k in value if rng.random() < 0.98
        }
    return value


@pytest.mark.parametrize("seed", range(2))
def test_damaged_launch_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    """Whatever stands there: the launches run, or one line says where it is wrong."""
    rng = random.Random(seed)
    good = 0
    for _ in range(80):
        path = Path(write(tmp_path, {k: damaged(rng, v) for k, v in rng.choice((ONE, TWO)).items()}))
        text = path.read_text()
        if rng.random() < 0.2:
            at = rng.randrange(len(text))
            path.write_text(
                text[:at] + rng.choice(["", "{", "]", '"', "9" * 5000, "\\ud800", ",", ":"]) + text[at + rng.randrange(3) :]
            )
        status = main([str(path), "--max-seconds", "5"])
        told = capsys.readouterr().err.splitlines()
        assert status == bool(told), told
        good += status == 0
        assert len(told) <= 2
        assert all(line.startswith((f"oric run: error: {path}: ", f"{path}: wrong result: ")) for line in told), told
    assert 0 < good < 80


def test_places_of_values() -> None:
    text = '{"a": [1, {"b\\"": 2}],\n "a2": [],\n "c": {"d": "x"}}'
    assert line_and_column(text, ()) == (1, 1)
    assert line_and_column(text, ("a", 1, 'b"')) == (1, 19)
    assert line_and_column(text, ("a2", 0)) == (2, 8)
    assert line_and_column(text, ("c", "d")) == (3, 13)
    assert line_and_column(text, ("c", "none", 3)) == (3, 7)


def test_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, ONE)
    assert main([path, "--max-steps", "5"]) == 1
    assert "step limit" in capsys.readouterr().err
    assert main([write(tmp_path, {**ONE, "max_steps": 5})]) == 1
    assert main([path, "--max-seconds", "0"]) in {0, 1}  # shorter than the first look at the clock


@pytest.mark.parametrize("options", [["--max-steps", "0"], ["--workers", "x"], ["--nope"], ["--device", "tpu"], []])
def test_wrong_usage(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options if not options else ["x.json", *options]) == 2
    assert "usage: oric run" in capsys.readouterr().err


def test_options_of_the_simulator_are_not_for_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["x.json", "--device", "cuda", "--strict"]) == 2
    assert "--strict is of the simulator" in capsys.readouterr().err


def test_progress_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.Progress("k") as bar:
        bar(1, 10, 1000)
        assert capsys.readouterr().err == ""
        now[0] = 2.0
        bar(5, 10, 4_000_000)
        assert capsys.readouterr().err == "\rk [###############...............] 5/10 blocks, 2.0 M warp instructions/s "
        bar(6, 10, 4_000_000)
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == "\r\x1b[K"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that launches in the simulator."""
    monkeypatch.syspath_prepend(str(DRIVER))
    monkeypatch.setenv("ORIC_TEST_CAPABILITY", "9.0")
    for name in [n for n in sys.modules if n == "cuda" or n.startswith("cuda.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("gpu")
def test_launches_on_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, TWO), "--device", "cuda"]) == 0
    assert capsys.readouterr().out.count("us on the GPU") == 2


@pytest.mark.usefixtures("gpu")
def test_comparison_with_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, TWO)
    assert main([path, "--compare", "--strict"]) == 0
    from cuda.bindings import driver

    copy = driver.cuMemcpyDtoH

    def off_by_one(host: int, device: int, size: int) -> Any:
        status = copy(host, device, size)
        np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * N).from_address(host))[7] += 1
        return status

    monkeypatch.setattr(driver, "cuMemcpyDtoH", off_by_one)
    capsys.readouterr()
    assert main([path, "--compare"]) == 1
    assert f"simulator and GPU differ in 1 of {N}: x[7] is 52.0, the GPU has 53.0" in capsys.readouterr().err


@pytest.mark.usefixtures("gpu")
def test_machine_without_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ORIC_TEST_CAPABILITY", "")
    assert main([write(tmp_path, ONE), "--device", "cuda"]) == 1
    assert "the CUDA driver finds no GPU" in capsys.readouterr().err


@pytest.mark.usefixtures("gpu")
def test_faults_on_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(tmp_path, {**ONE, "kernel": "nope"}), "--device", "cuda"]) == 1
    assert "kernel 'nope': cuModuleGetFunction: CUDA_ERROR_NOT_FOUND" in capsys.readouterr().err
    small = saxpy(number("a", 2), {**array("x", {"fill": 0}), "shape": 3}, array("y", {"fill": 1}))
    assert main([write(tmp_path, small), "--device", "cuda"]) == 1
    assert "kernel saxpy on simulated device: cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED" in capsys.readouterr().err


def test_machine_without_bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from oric.sim import cuda

    monkeypatch.setattr(cuda, "_BINDINGS", ("cuda_bindings_that_are_not_there",))
    assert main([write(tmp_path, ONE), "--device", "cuda"]) == 1
    assert "cuda-bindings is not installed" in capsys.readouterr().err

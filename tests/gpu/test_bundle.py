"""The GPU bundle: complete, deterministic, and run by its runner against a driver that launches in the simulator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.gpu import bundle, runner
from tests.kernels import cases

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

FILES = ["saxpy", "tables", "struct_param"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of three kernel files without the large launches."""
    made = tmp_path_factory.mktemp("bundle")
    assert bundle.write_bundle(made, FILES, large=False) == []
    return made


def run(folder: Path, *arguments: str, capability: str = "9.0", driver: bool = True) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "runtime"), str(ROOT / "build"), *([str(HERE / "simulated_driver")] if driver else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "ORIC_TEST_CAPABILITY": capability}
    command = [sys.executable, str(folder / "runner.py"), "--launches", "3", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("capability", [*(pytest.param(c, marks=pytest.mark.measure) for c in ("8.0", "8.9")), "9.0"])
def test_everything_is_right(folder: Path, capability: str) -> None:
    done = run(folder, capability=capability)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "everything of oric is right" in done.stdout
    assert f"cubins for sm_{capability[0]}0" in done.stdout
    results = json.loads((folder / "results.json").read_text())["results"]
    assert list(results) == FILES
    for row in results.values():
        assert set(row) == {"oric", "ptxas"}
        assert all(r["problems"] == [] and r["time_us"] > 0 for r in row.values())


@pytest.fixture
def damaged(folder: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "bundle"
    shutil.copytree(folder, copy)
    return copy


def test_wrong_results_are_found(damaged: Path) -> None:
    path = damaged / "data" / "saxpy-saxpy-256-256.npz"
    with np.load(path) as data:
        arrays = dict(data)
    arrays["step0_want3"] = arrays["step0_want3"].copy()
    arrays["step0_want3"][7] += 1
    np.savez_compressed(path, **arrays)
    done = run(damaged, "saxpy")
    assert done.returncode == 1
    assert "saxpy (oric): saxpy-256-256: saxpy: argument 3[7] is" in done.stdout
    assert "(1 wrong)" in done.stdout and "wrong or missing: saxpy" in done.stdout


def test_input_that_a_kernel_must_not_change_is_checked(damaged: Path) -> None:
    document = json.loads((damaged / "bundle.json").read_text())
    for case in document["files"][0]["cases"]:
        case["steps"][0]["expected"] = {}
    (damaged / "bundle.json").write_text(json.dumps(document))
    assert "argument 3[0] is" in run(damaged, "saxpy").stdout


def test_fault_of_a_kernel_is_a_problem_of_that_kernel_only(damaged: Path) -> None:
    (damaged / "cubins" / "tables.sm_90.oric.cubin").write_bytes(b"no cubin")
    done = run(damaged, "saxpy", "tables")
    assert done.returncode == 1
    assert "wrong or missing: tables\n" in done.stdout
    assert "not an ELF file" in done.stdout


def test_missing_cubin_of_oric_fails(damaged: Path) -> None:
    document = json.loads((damaged / "bundle.json").read_text())
    del document["files"][0]["cubins"]["sm_90"]["oric"]
    (damaged / "bundle.json").write_text(json.dumps(document))
    done = run(damaged, "saxpy")
    assert done.returncode == 1 and "wrong or missing: saxpy" in done.stdout


def test_machine_without_gpu(folder: Path) -> None:
    done = run(folder, capability="")
    assert (done.returncode, done.stdout) == (0, "nothing was run: the CUDA driver finds no device\n")


def test_device_that_no_cubin_is_for(folder: Path) -> None:
    done = run(folder, capability="7.5")
    assert done.returncode == 0
    assert done.stdout == "nothing was run: this bundle has cubins for sm_80, sm_90; the device is sm_75\n"


@pytest.mark.parametrize(("present", "status"), [(False, 0), (True, 1)])
def test_machine_without_bindings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], present: bool, status: int
) -> None:
    monkeypatch.setattr(runner, "BINDINGS", ("cuda_bindings_that_are_not_there",))
    monkeypatch.setattr(runner, "HERE", folder)
    monkeypatch.setattr(runner, "gpu_present", lambda: present)
    assert runner.main([]) == status
    assert "cuda-bindings is not installed" in capsys.readouterr().out


def test_driver_that_is_not_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "DRIVER_LIBRARY", "libcuda_that_is_not_there.so")
    assert not runner.gpu_present()


def test_choice_of_target() -> None:
    targets = ["sm_80", "sm_86", "sm_90", "sm_90a"]
    assert runner.choose_target(targets, (8, 9)) == "sm_86"
    assert runner.choose_target(targets, (8, 0)) == "sm_80"
    assert runner.choose_target(targets, (9, 0)) == "sm_90"
    with pytest.raises(runner.NoGpu):
        runner.choose_target(targets, (10, 0))


def test_every_kernel_file_has_a_timed_launch() -> None:
    assert set(bundle.TIMED) == set(cases.files())


def test_same_bytes_every_time(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    bundle.write_bundle(again, FILES, large=False)
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    (folder / "results.json").unlink(missing_ok=True)
    bundle.write_zip(folder, first)
    bundle.write_zip(again, second)
    assert first.read_bytes() == second.read_bytes()


def test_ranking_of_pairs(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "bundle"
    shutil.copytree(folder, copy)
    names = ["coalesced or strided", "4 chains or 1"]
    bundle.write_pairs(copy, names)
    assert "pairs" not in run(copy, "saxpy").stdout
    document = json.loads((copy / "bundle.json").read_text())
    document["files"] = document["files"][:1]
    (copy / "bundle.json").write_text(json.dumps(document))
    done = run(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of 2 pairs as measured" in done.stdout
    pairs = json.loads((copy / "results.json").read_text())["pairs"]
    assert [p["name"] for p in pairs] == names
    assert all(p["cycles"][0] < p["cycles"][1] and min(p["time_us"]) > 0 for p in pairs)
    assert all(p["agrees"] == (p["time_us"][0] < p["time_us"][1]) for p in pairs)
    assert "pairs" not in run(copy, capability="8.0").stdout

"""Launches recorded in the simulator and repeated, here against a driver that launches in the simulator too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.sim.module import Module
from oric.sim.tensor import description

from bench.gpu import recording
from tests.kernels import cases
from tests.lower import test_tensor

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ADD = """.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry add(.param .u64 to, .param .u64 from, .param .u32 by) {
  .reg .u32 %r<5>; .reg .u64 %d<5>; ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r1, [by]; mov.u32 %r2, %tid.x;
  mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, %r1;
  st.global.u32 [%d1], %r3; red.global.add.u32 [total], 1; ret; }
.visible .entry stop() { trap; }
"""


@contextmanager
def recorder_of(folder: Path, target: str) -> Iterator[recording.Recorder]:
    """Launches for a target are recorded."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("__init__", "launch", "write_global"):
            patch.setattr(Module, name, getattr(Module, name))  # put back at the end
        recorder = recording.Recorder(folder, frozenset({target}))
        recording.install(recorder)
        yield recorder
    recorder.close()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Three launches: with arrays, with buffers of the device and a variable that has changed, of an own kernel."""
    with recorder_of(tmp_path / "records", "sm_90") as recorder:
        recorder.tag = "adds"
        module = oric.sim.load(oric.compile(ADD, arch="sm_90").image)
        module.launch("add", 1, 32, [np.zeros(32, np.uint32), np.arange(32, dtype=np.uint32), 5])
        module.write_global("total", np.array([7], np.uint32))
        into, out_of = module.buffer(bytes(128)), module.buffer(bytes(range(128)))
        module.launch("add", 1, 32, [into, out_of.address, 5])
        with pytest.raises(oric.sim.ExecutionError):
            module.launch("stop", 1, 1)
        oric.sim.load(oric.compile(ADD.replace("sm_90", "sm_80"), arch="sm_80").image).launch(
            "add", 1, 1, [np.zeros(1, np.uint32), np.zeros(1, np.uint32), 1]
        )
        oric.sim.load(cases.golden_cubin("saxpy", "sm_90")).launch("saxpy", 1, 32, [32, 2.0, *np.ones((2, 32), np.float32)])
    output = tmp_path / "recording.zip"
    assert recording.main([str(tmp_path / "records"), str(output)]) == 0
    return output


def replayed(path: Path, folder: Path) -> tuple[int, str, list[dict[str, Any]]]:
    paths = [str(ROOT / "runtime"), str(ROOT / "build"), str(HERE / "simulated_driver")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "ORIC_TEST_CAPABILITY": "9.0"}
    command = [sys.executable, str(ROOT / "bench/gpu/replay.py"), str(path), "--jobs", "2", "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert not done.stderr, done.stderr
    lines = (folder / "results.jsonl").read_text().splitlines()
    return done.returncode, done.stdout, sorted(map(json.loads, lines), key=lambda r: int(r["launch"]))


def changed(path: Path, change: Any) -> None:
    """Write a recording again with other launches."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    launches = [json.loads(line) for line in members["launches.jsonl"].splitlines()]
    change(launches)
    members["launches.jsonl"] = "".join(json.dumps(launch) + "\n" for launch in launches).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_everything_agrees(recorded: Path, tmp_path: Path) -> None:
    """Launches of other targets, and those that stop, are not among them."""
    with zipfile.ZipFile(recorded) as archive:
        launches = [json.loads(line) for line in archive.read("launches.jsonl").splitlines()]
    assert [(launch["kernel"], launch["tag"]) for launch in launches] == [("add", "adds"), ("add", "adds"), ("saxpy", "adds")]
    assert launches[1]["variables"] and len(launches[1]["buffers"]) == 2
    code, text, found = replayed(recorded, tmp_path)
    assert (code, found) == (0, [])
    assert "3 agree" in text


def test_other_memory_is_named(recorded: Path, tmp_path: Path) -> None:
    def change(launches: list[dict[str, Any]]) -> None:
        launches[0]["after"]["arrays"][0] = launches[0]["after"]["arrays"][1]
        launches[1]["after"]["variables"]["total"] = "0" * 24

    changed(recorded, change)
    code, text, found = replayed(recorded, tmp_path)
    assert code == 1 and "2 differ" in text and "1 agree" in text
    assert [(r["launch"], list(r)[1]) for r in found] == [(0, "arrays"), (1, "variables")]


def test_a_fault_takes_only_its_own_process_along(recorded: Path, tmp_path: Path) -> None:
    def change(launches: list[dict[str, Any]]) -> None:
        launches.insert(1, {**launches[0], "kernel": "stop", "args": []})
        launches.insert(2, {**launches[0], "kernel": "nothing"})

    changed(recorded, change)
    code, text, found = replayed(recorded, tmp_path)
    assert code == 1 and "3 agree" in text
    assert [r["launch"] for r in found] == [1, 2]
    assert "LAUNCH_FAILED" in found[0]["error"] and "NOT_FOUND" in found[1]["error"]


def test_maps_of_tensors_are_made_by_the_driver(tmp_path: Path) -> None:
    """Of tiles and of columns of images, in a parameter; memory that holds maps is told."""
    with recorder_of(tmp_path / "records", "sm_90a"):
        test_tensor.test_every_thread_loads_a_box("sm_90a", 3, 2, "")
        test_tensor.test_columns_of_pixels("sm_90a", 3, test_tensor.COLUMNS[0])
        module = oric.sim.load(oric.compile(ADD.replace("sm_90", "sm_90a"), arch="sm_90a").image)
        module.launch(
            "add", 1, 1, [module.buffer(4), module.buffer(oric.sim.tensor_map("float32", 4096, (8, 8), (32,), (8, 8))), 1]
        )
    launches, _ = recording.collect([tmp_path / "records"])
    assert [launch.get("skipped") for launch in launches] == [
        None,
        None,
        "NotRecorded: memory with tensor maps, which a GPU has in another form",
    ]
    output = tmp_path / "recording.zip"
    assert recording.main([str(tmp_path / "records"), str(output)]) == 0
    code, text, found = replayed(output, tmp_path)
    assert (code, found) == (0, [])
    assert "2 agree" in text


@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "int64"])
def test_a_map_says_what_it_was_made_of(dtype: str) -> None:
    size = {"uint8": 1, "float16": 2, "bfloat16": 2, "int64": 8}[dtype]
    common: dict[str, Any] = {"dtype": dtype, "address": 0x7FFF12345600, "dims": [300, 200, 7], "strides": [4096, (1 << 37) + 16]}
    tiles = {**common, "element_strides": [1, 3, 8], "swizzle": "128B_ATOM_32B", "fill": "zero", "box": [128 // size, 256, 2]}
    columns = {
        **common, "element_strides": [1, 1, 2], "swizzle": "32B", "fill": "nan" if "float" in dtype else "zero",
        "lower": [-7], "upper": [12], "channels": 32 // size, "pixels": 1024,
    }  # fmt: skip
    assert description(oric.sim.tensor_map(**tiles)) == tiles
    assert description(oric.sim.tensor_map_im2col(**columns)) == columns
    assert description(bytes(128)) is None
    assert description(b"") is None


def test_long_buffers_can_be_left_out(recorded: Path, tmp_path: Path) -> None:
    output = tmp_path / "short.zip"
    assert recording.main([str(recorded.parent / "records"), str(output), "--most", "100"]) == 0
    with zipfile.ZipFile(output) as archive:
        assert archive.read("launches.jsonl") == b""

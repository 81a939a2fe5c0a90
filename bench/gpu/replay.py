#!/usr/bin/env python3
"""Repeats recorded launches on the GPU of this machine and says where the memory afterwards is not what the simulator left.

    python replay.py RECORDING.zip [--jobs N] [--output FOLDER] [--limit SECONDS]

Needs numpy and cuda-bindings. Launches run in several processes; one that faults or hangs takes only its own process, which is
started again behind it. Writes results.jsonl into the folder: one line a launch that does not agree, with the memory of the GPU
(zlib, base64) where it differs. Exit status: 0 all agree, 1 some do not.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import hashlib
import importlib
import json
import multiprocessing
import multiprocessing.connection
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BINDINGS = ("cuda.bindings.driver", "cuda.cuda")
DIGEST = 12
MAP_BYTES = 128
PATIENCE_S = 20  # for a launch
MOST_SHOWN = 1 << 16  # bytes of memory in a result
DEFAULT_SHARED = 48 << 10
SPOILT = "what ran before has spoiled the context"
HARMLESS = ("cuModule", "cuLaunch", "cuFunc")  # calls whose errors do not spoil the context


def digest(data: bytes) -> str:
    """The name of a piece of data."""
    return hashlib.blake2b(data, digest_size=DIGEST).hexdigest()


class Recording:
    """A recording's launches and data."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.launches = [json.loads(line) for line in archive.read("launches.jsonl").splitlines()]
            self.index = json.loads(archive.read("index.json"))
            self.data = archive.read("data")

    def piece(self, name: str) -> bytes:
        """A piece of data."""
        at, size = self.index[name]
        return self.data[at : at + size]


def bindings() -> Any:
    """The driver API.

    Raises:
        ImportError: cuda-bindings is not installed.
    """
    for name in BINDINGS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError("the package cuda-bindings is not installed (pip install cuda-bindings)")


class DriverError(Exception):
    """A call of the driver API failed."""


class Gpu:
    """The first device with a context, and a module after the other."""

    def __init__(self) -> None:
        self.api = bindings()
        self.call("cuInit", 0)
        self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", self.call("cuDeviceGet", 0)))
        self.stack = 0

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the driver API; returns its result."""
        status, *values = getattr(self.api, name)(*args)
        if int(status) != 0:
            raise DriverError(f"{name}: {getattr(status, 'name', status)}")
        return values[0] if len(values) == 1 else tuple(values) or None

    def works(self) -> bool:
        """Whether no error has spoiled the context."""
        try:
            self.call("cuCtxSynchronize")
        except DriverError:
            return False
        return True

    def memory(self, data: bytes) -> int:
        """Device memory with contents."""
        address = int(self.call("cuMemAlloc", max(len(data), 1)))
        self.write(address, data)
        return address

    def write(self, address: int, data: bytes) -> None:
        """Host to device."""
        if data:
            host = np.frombuffer(data, np.uint8)
            self.call("cuMemcpyHtoD", address, host.ctypes.data, len(data))

    def read(self, address: int, size: int) -> bytes:
        """Device to host."""
        host = np.empty(size, np.uint8)
        if size:
            self.call("cuMemcpyDtoH", host.ctypes.data, address, size)
        return host.tobytes()

    def launch(self, function: Any, launch: dict[str, Any], pointers: int) -> None:
        """Launch and wait."""
        if launch["shared"] > DEFAULT_SHARED:
            attribute = self.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call("cuFuncSetAttribute", function, attribute, launch["shared"])
        if launch["stack"] > self.stack:
            self.stack = launch["stack"]
            self.call("cuCtxSetLimit", self.api.CUlimit.CU_LIMIT_STACK_SIZE, self.stack)
        shape = [*launch["grid"], *launch["block"], launch["shared"], 0, pointers]
        if launch["cluster"] is not None:
            self.clusters(function, launch, pointers)
        elif launch["cooperative"]:
            self.call("cuLaunchCooperativeKernel", function, *shape)
        else:
            self.call("cuLaunchKernel", function, *shape, 0)
        self.call("cuCtxSynchronize")

    def clusters(self, function: Any, launch: dict[str, Any], pointers: int) -> None:
        """Launch in clusters of blocks."""
        config, attribute = self.api.CUlaunchConfig(), self.api.CUlaunchAttribute()
        if int(np.prod(launch["cluster"])) > 8:
            allowed = self.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            self.call("cuFuncSetAttribute", function, allowed, 1)
        attribute.id = self.api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        config.gridDimX, config.gridDimY, config.gridDimZ = launch["grid"]
        config.blockDimX, config.blockDimY, config.blockDimZ = launch["block"]
        shape = attribute.value.clusterDim
        shape.x, shape.y, shape.z = launch["cluster"]
        config.sharedMemBytes, config.hStream = launch["shared"], 0
        config.attrs, config.numAttrs = [attribute], 1
        self.call("cuLaunchKernelEx", config, function, pointers, 0)


TYPES = {
    "int32": "INT32",
    "int64": "INT64",
    "float16": "FLOAT16",
    "float32": "FLOAT32",
    "float64": "FLOAT64",
    "bfloat16": "BFLOAT16",
}


def tensor_map(gpu: Gpu, tensor: dict[str, Any], address: int) -> bytes:
    """The driver's map of a tensor; ``tensor``: arguments of the simulator's ``tensor_map`` or ``tensor_map_im2col``."""
    api = gpu.api
    name = TYPES.get(tensor["dtype"], tensor["dtype"].upper())
    kind = getattr(api.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{name}")
    swizzle = getattr(api.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{tensor['swizzle'].upper()}")
    fill = "NONE" if tensor["fill"] == "zero" else "NAN_REQUEST_ZERO_FMA"
    end = (
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        getattr(api.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
    )  # fmt: skip
    dims, strides = ([api.cuuint64_t(v) for v in tensor[key]] for key in ("dims", "strides"))
    steps = [api.cuuint32_t(v) for v in tensor["element_strides"]]
    shape = (kind, len(dims), address, dims, strides)
    if "box" in tensor:
        made = gpu.call("cuTensorMapEncodeTiled", *shape, [api.cuuint32_t(v) for v in tensor["box"]], steps, *end)
    else:
        corners = (tensor["lower"], tensor["upper"], tensor["channels"], tensor["pixels"])
        made = gpu.call("cuTensorMapEncodeIm2col", *shape, *corners, steps, *end)
    return bytes(ctypes.string_at(made.getPtr(), MAP_BYTES))


def shown(data: bytes) -> str:
    """Memory in a result."""
    return base64.b64encode(zlib.compress(data[:MOST_SHOWN], 6)).decode()


def repeat(gpu: Gpu, recording: Recording, launch: dict[str, Any]) -> dict[str, Any]:
    """Run one launch; what differs: {"arrays": {number: memory}, "buffers": ..., "variables": {name: memory}}."""
    module = gpu.call("cuModuleLoadData", recording.piece(launch["cubin"]))
    owned: list[int] = []

    def memory(name: str) -> tuple[int, int]:
        data = recording.piece(name)
        owned.append(gpu.memory(data))
        return owned[-1], len(data)

    try:
        function = gpu.call("cuModuleGetFunction", module, launch["kernel"].encode())
        buffers = [memory(name) for name in launch["buffers"]]
        arrays, values = [], []
        for argument in launch["args"]:
            if "array" in argument:
                arrays.append(memory(argument["array"]))
                values.append(np.array([arrays[-1][0]], np.uint64))
                continue
            if "map" in argument:
                number, offset = argument["map"]["address"]
                values.append(np.frombuffer(tensor_map(gpu, argument["map"], buffers[number][0] + offset), np.uint8).copy())
                continue
            raw = bytearray.fromhex(argument["bytes"])
            for at, number, offset in argument["places"]:
                raw[at : at + 8] = (buffers[number][0] + offset).to_bytes(8, "little")
            values.append(np.frombuffer(bytes(raw) or b"\0", np.uint8).copy())
        for name, content in launch["variables"].items():
            gpu.write(int(gpu.call("cuModuleGetGlobal", module, name.encode())[0]), recording.piece(content))
        pointers = np.array([v.ctypes.data for v in values] or [0], np.uint64)
        gpu.launch(function, launch, pointers.ctypes.data)
        after = launch["after"]
        found: dict[str, Any] = {"arrays": {}, "buffers": {}, "variables": {}}
        for kind, places in (("arrays", arrays), ("buffers", buffers)):
            for number, (place, want) in enumerate(zip(places, after[kind], strict=True)):
                got = gpu.read(*place)
                if digest(got) != want:
                    found[kind][number] = shown(got)
        for name, want in after["variables"].items():
            address, size = gpu.call("cuModuleGetGlobal", module, name.encode())
            got = gpu.read(int(address), int(size))
            if digest(got) != want:
                found["variables"][name] = shown(got)
        return {k: v for k, v in found.items() if v}
    finally:
        try:
            for address in owned:
                gpu.call("cuMemFree", address)
            gpu.call("cuModuleUnload", module)
        except DriverError:
            pass


def work(recording: Recording, pipe: Any) -> None:
    """A process: does what it is sent and tells what came of it; an error of a kernel ends it, as it spoils the context."""
    gpu = Gpu()
    while True:
        at = pipe.recv()
        if at is None:
            return
        try:
            found = repeat(gpu, recording, recording.launches[at])
        except DriverError as error:
            harmless = str(error).startswith(HARMLESS)
            if harmless and not gpu.works():
                pipe.send((at, {"error": SPOILT}))
                return
            pipe.send((at, {"error": str(error)}))
            if not harmless:
                return
        else:
            pipe.send((at, found))


class Worker:
    """A process and the launch that it is at."""

    def __init__(self, recording: Recording) -> None:
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=work, args=(recording, other), daemon=True)
        self.process.start()
        other.close()
        self.at: int | None = None
        self.before = -1  # the launch before that one
        self.since = 0.0

    def send(self, at: int) -> None:
        """Give it a launch."""
        self.at, self.since = at, time.monotonic()
        self.pipe.send(at)

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Pool:
    """Processes, each with a pipe of its own, so that one that is killed takes nothing along."""

    def __init__(self, recording: Recording, jobs: int) -> None:
        self.recording = recording
        self.todo = list(range(len(recording.launches)))[::-1]
        self.left = len(self.todo)
        self.workers = [Worker(recording) for _ in range(jobs)]

    def _answer(self, worker: Worker) -> tuple[int, dict[str, Any]] | None:
        """What a process has to say, or that it has died or waits too long; None: nothing yet."""
        assert worker.at is not None
        if worker.pipe.poll():
            try:
                at, found = worker.pipe.recv()
            except (EOFError, ConnectionError):
                return worker.at, {"error": "the process died"}
            return at, found
        if time.monotonic() - worker.since > PATIENCE_S:
            return worker.at, {"error": f"still running after {PATIENCE_S} s"}
        return None

    def results(self, limit: float) -> Iterator[tuple[int, dict[str, Any]]]:
        """(launch, what was found) as they come."""
        end = time.monotonic() + limit
        while self.left and time.monotonic() < end:
            for worker in self.workers:
                if worker.at is None and self.todo:
                    worker.send(self.todo.pop())
            busy = [n for n, worker in enumerate(self.workers) if worker.at is not None]
            multiprocessing.connection.wait([self.workers[n].pipe for n in busy], timeout=0.5)
            for number in busy:
                answer = self._answer(self.workers[number])
                if answer is None:
                    continue
                self.workers[number].at = None
                error = answer[1].get("error", "")
                if error == SPOILT and self.workers[number].before >= 0:  # by a copy that went on when the kernel had ended
                    self.todo.append(answer[0])
                    yield self.workers[number].before, {"error": "spoils the context when it is over"}
                else:
                    self.left -= 1
                    yield answer
                self.workers[number].before = answer[0]
                if error and not error.startswith(HARMLESS):
                    self.workers[number].end()
                    self.workers[number] = Worker(self.recording)
        for worker in self.workers:
            worker.end()


def main(argv: list[str]) -> int:
    """Repeat a recording; returns the exit status."""
    parser = argparse.ArgumentParser(description="Repeat recorded launches on the GPU.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--output", type=Path, default=Path("."))
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which the rest is left")
    args = parser.parse_args(argv)
    recording = Recording(args.recording)
    bindings()  # once, for all processes
    start = time.monotonic()
    pool = Pool(recording, args.jobs)
    kinds: Counter[str] = Counter()
    with (args.output / "results.jsonl").open("w") as out:
        for at, found in pool.results(args.limit):
            kinds["agree" if not found else found.get("error", "differ")] += 1
            if found:
                out.write(json.dumps({"launch": at, **found}) + "\n")
                out.flush()
    if pool.left:
        kinds["not run"] = pool.left
    print(f"{len(recording.launches)} launches in {time.monotonic() - start:.1f} s")
    for kind, count in kinds.most_common():
        print(f"{count:8} {kind}")
    return int(set(kinds) != {"agree"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Runs the kernels of a bundle on the GPU of this machine: results right or wrong, median launch times.

    python runner.py [KERNEL...]

Needs numpy and the official bindings of the driver API (pip install cuda-bindings). The bundle is the folder of this
file: bundle.json says which cubins, inputs and expected outputs belong together. Every kernel file of every compiler runs in
a process of its own, because a fault in one kernel spoils the process. Exit status: 0 when everything of "oric" is right or
there is no GPU, 1 otherwise (also when there is a GPU but no bindings). Writes results.json beside itself.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
DRIVER_LIBRARY = "libcuda.so.1"
BINDINGS = ("cuda.bindings.driver", "cuda.cuda")  # the name today, and before version 12.6
TIMED_LAUNCHES = 200
TIMEOUT_S = 120
OK, WRONG, MISSING = "ok", "WRONG", "-"


class NoGpu(Exception):
    """There is no GPU here, or nothing to reach it with; ``str()`` says which."""


class NoBindings(Exception):
    """cuda-bindings is not installed."""


class DriverError(Exception):
    """A call of the driver API failed."""


class Gpu:
    """The first device, its primary context, and the few calls that are needed."""

    def __init__(self) -> None:
        self.api = _bindings()
        try:
            self.call("cuInit", 0)
            if self.call("cuDeviceGetCount") == 0:
                raise NoGpu("the CUDA driver finds no device")
            self.device = self.call("cuDeviceGet", 0)
        except (DriverError, RuntimeError) as error:  # RuntimeError: the bindings find no libcuda
            raise NoGpu(f"no usable CUDA device: {error}") from error
        self.name = self.call("cuDeviceGetName", 100, self.device).split(b"\0")[0].decode()
        attribute = self.api.CUdevice_attribute
        major = self.call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, self.device)
        minor = self.call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, self.device)
        self.capability = (int(major), int(minor))

    def open(self) -> None:
        """Make the context current; needed before anything below."""
        self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", self.device))

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the driver API; returns its result (None, a value or a tuple).

        Raises:
            DriverError: it returned anything but CUDA_SUCCESS.
        """
        status, *values = getattr(self.api, name)(*args)
        if int(status) != 0:
            raise DriverError(f"{name}: {getattr(status, 'name', status)}")
        return values[0] if len(values) == 1 else tuple(values) or None


def _bindings() -> Any:
    for name in BINDINGS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise NoBindings("the package cuda-bindings is not installed (pip install cuda-bindings)")


def gpu_present() -> bool:
    """True when the CUDA driver is installed and finds a device, asked without the bindings."""
    try:
        driver = ctypes.CDLL(DRIVER_LIBRARY)
        count = ctypes.c_int(0)
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except OSError:
        return False


class Launch:
    """One launch made ready: buffers on the device, arguments packed."""

    def __init__(self, gpu: Gpu, module: Any, step: dict[str, Any], data: Any) -> None:
        self.gpu = gpu
        self.step = step
        self.function = gpu.call("cuModuleGetFunction", module, step["kernel"].encode())
        self.buffers: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}
        self.values: list[np.ndarray[Any, Any]] = []
        for index, argument in enumerate(step["args"]):
            if "buffer" in argument:
                host = np.ascontiguousarray(data[argument["buffer"]])
                device = gpu.call("cuMemAlloc", max(host.nbytes, 1))
                if host.nbytes:
                    gpu.call("cuMemcpyHtoD", device, host.ctypes.data, host.nbytes)
                self.buffers[index] = (device, host)
                self.values.append(np.array([int(device)], np.uint64))
            else:
                self.values.append(np.frombuffer(bytes.fromhex(argument["bytes"]), np.uint8).copy())
        self.pointers = np.array([v.ctypes.data for v in self.values] or [0], np.uint64)

    def run(self, stream: Any = 0) -> None:
        """Launch; does not wait."""
        g, b = self.step["grid"], self.step["block"]
        self.gpu.call("cuLaunchKernel", self.function, *g, *b, self.step.get("shared", 0), stream, self.pointers.ctypes.data, 0)

    def results(self) -> dict[int, np.ndarray[Any, Any]]:
        """Wait and fetch every buffer."""
        self.gpu.call("cuCtxSynchronize")
        out = {}
        for index, (device, host) in self.buffers.items():
            out[index] = np.empty_like(host)
            if host.nbytes:
                self.gpu.call("cuMemcpyDtoH", out[index].ctypes.data, device, host.nbytes)
        return out

    def free(self) -> None:
        """Give the buffers back."""
        for device, _ in self.buffers.values():
            self.gpu.call("cuMemFree", device)


def check(step: dict[str, Any], data: Any, got: dict[int, np.ndarray[Any, Any]]) -> str:
    """ "" when every buffer holds what it should, else the first wrong element."""
    for index, found in got.items():
        want_name = step["expected"].get(str(index))
        want = data[want_name] if want_name else data[step["args"][index]["buffer"]]
        rtol, atol = (step["rtol"], step["atol"]) if want_name else (0.0, 0.0)
        if found.dtype.kind == "f":
            good = np.isclose(found, want, rtol=rtol, atol=atol, equal_nan=True)
        else:
            good = found == want
        if not good.all():
            place = tuple(int(i) for i in np.argwhere(~good)[0])
            wrong = int(good.size - np.count_nonzero(good))
            return (
                f"{step['kernel']}: argument {index}{list(place)} is {found[place]!r}, expected {want[place]!r} ({wrong} wrong)"
            )
    return ""


def run_case(gpu: Gpu, image: bytes, case: dict[str, Any]) -> str:
    """Run the launches of one case on a fresh module; "" or what is wrong."""
    module = gpu.call("cuModuleLoadData", image)
    try:
        with np.load(HERE / case["data"]) as data:
            for step in case["steps"]:
                launch = Launch(gpu, module, step, data)
                launch.run()
                problem = check(step, data, launch.results())
                launch.free()
                if problem:
                    return f"{case['name']}: {problem}"
    finally:
        gpu.call("cuModuleUnload", module)
    return ""


def time_case(gpu: Gpu, image: bytes, case: dict[str, Any], launches: int) -> float:
    """Median time of a launch of the case's first step, in microseconds, between two events on the device."""
    with np.load(HERE / case["data"]) as data:
        return time_step(gpu, image, case["steps"][0], data, launches)


def time_step(gpu: Gpu, image: bytes, step: dict[str, Any], data: Any, launches: int) -> float:
    """Median time of a launch in microseconds."""
    module = gpu.call("cuModuleLoadData", image)
    launch = Launch(gpu, module, step, data)
    first, second = gpu.call("cuEventCreate", 0), gpu.call("cuEventCreate", 0)
    times = []
    warm_up = launches // 10
    for number in range(warm_up + launches):
        gpu.call("cuEventRecord", first, 0)
        launch.run()
        gpu.call("cuEventRecord", second, 0)
        gpu.call("cuEventSynchronize", second)
        if number >= warm_up:
            times.append(float(gpu.call("cuEventElapsedTime", first, second)) * 1e3)
    launch.free()
    gpu.call("cuModuleUnload", module)
    return statistics.median(times)


def run_one(file: dict[str, Any], maker: str, target: str, launches: int) -> dict[str, Any]:
    """Everything of one kernel file with one compiler's cubin."""
    gpu = Gpu()
    gpu.open()
    image = (HERE / file["cubins"][target][maker]).read_bytes()
    problems = []
    for case in file["cases"]:
        problem = run_case(gpu, image, case)
        if problem:
            problems.append(problem)
    return {"problems": problems, "time_us": time_case(gpu, image, file["cases"][file["timed"]], launches)}


def run_pairs(launches: int) -> list[dict[str, Any]]:
    """Time the pairs of kernels that the simulator's clock has ranked; each with both times and whether the ranking holds."""
    gpu = Gpu()
    gpu.open()
    document = json.loads((HERE / "pairs.json").read_text())
    image = (HERE / document["cubin"]).read_bytes()
    out = []
    with np.load(HERE / document["data"]) as data:
        for pair in document["pairs"]:
            cycles = [step["cycles"] for step in pair["launches"]]
            times = [time_step(gpu, image, step, data, launches) for step in pair["launches"]]
            agrees = (cycles[0] < cycles[1]) == (times[0] < times[1])
            out.append({"name": pair["name"], "cycles": cycles, "time_us": times, "agrees": agrees})
    return out


def report_pairs(pairs: list[dict[str, Any]]) -> None:
    """Print what the clock says next to what was measured."""
    print(f"{'pair':46}{'cycles':>20}{'us':>20}")
    for pair in pairs:
        cycles, times = ("{:>10} {:>9}".format(*v) for v in (pair["cycles"], [f"{t:.2f}" for t in pair["time_us"]]))
        print(f"{pair['name']:46}{cycles}{times}{'' if pair['agrees'] else '  OTHER WAY ROUND'}")
    print(f"the clock ranks {sum(p['agrees'] for p in pairs)} of {len(pairs)} pairs as measured")


def choose_target(targets: list[str], capability: tuple[int, int]) -> str:
    """The target whose cubins run on a device: the same major number, the highest minor number not above the device's.

    Raises:
        NoGpu: none of them does.
    """
    major, minor = capability
    plain = {name: int(name[3:]) for name in targets if name[3:].isdigit()}
    usable = [name for name, number in plain.items() if number // 10 == major and number % 10 <= minor]
    if not usable:
        raise NoGpu(f"this bundle has cubins for {', '.join(targets)}; the device is sm_{major}{minor}")
    return max(usable, key=lambda name: plain[name])


def in_process(file: str, maker: str, target: str, launches: int) -> dict[str, Any]:
    """:func:`run_one` in a child process; a crash or a hang becomes a problem of that kernel."""
    command = [sys.executable, __file__, "--launches", str(launches), "--one", file, maker, target]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"problems": [f"still running after {TIMEOUT_S} s"], "time_us": None}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"problems": [last], "time_us": None}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ranking(target: str, launches: int) -> list[dict[str, Any]]:
    """:func:`run_pairs` in a child process, printed; nothing when the bundle has no pairs for the device."""
    path = HERE / "pairs.json"
    if not path.is_file() or json.loads(path.read_text())["target"] != target:
        return []
    command = [sys.executable, __file__, "--launches", str(launches), "--pairs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        print(f"pairs: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
        return []
    pairs: list[dict[str, Any]] = json.loads(done.stdout)
    report_pairs(pairs)
    return pairs


def report(results: dict[str, dict[str, Any]], makers: list[str]) -> None:
    """Print the table and every problem."""
    print(f"{'kernel file':16}" + "".join(f"{maker:>10}{'us':>12}" for maker in makers) + f"{'ratio':>8}")
    for file, row in results.items():
        line = f"{file:16}"
        for maker in makers:
            found = row.get(maker)
            state = MISSING if found is None else WRONG if found["problems"] else OK
            time = found["time_us"] if found else None
            line += f"{state:>10}" + (f"{time:12.2f}" if time is not None else f"{MISSING:>12}")
        times = [row[m]["time_us"] for m in makers if m in row and row[m]["time_us"]]
        print(line + (f"{times[0] / times[1]:8.2f}" if len(times) == 2 else f"{MISSING:>8}"))
    for file, row in results.items():
        for maker, found in row.items():
            for problem in found["problems"]:
                print(f"{file} ({maker}): {problem}")


def main(argv: list[str]) -> int:
    """Run the bundle; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run the kernels of this bundle on the GPU.")
    parser.add_argument("kernels", nargs="*", help="kernel files to run (default: all)")
    parser.add_argument("--launches", type=int, default=TIMED_LAUNCHES, help="timed launches of each kernel file")
    parser.add_argument("--pairs", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=3, metavar=("FILE", "COMPILER", "TARGET"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    bundle = json.loads((HERE / "bundle.json").read_text())
    files = {f["name"]: f for f in bundle["files"]}
    if args.one:
        file, maker, target = args.one
        print(json.dumps(run_one(files[file], maker, target, args.launches)))
        return 0
    if args.pairs:
        print(json.dumps(run_pairs(args.launches)))
        return 0
    try:
        gpu = Gpu()
        target = choose_target(bundle["targets"], gpu.capability)
    except NoGpu as error:
        print(f"nothing was run: {error}")
        return 0
    except NoBindings as error:
        present = gpu_present()
        print(f"nothing was run: {error}" + (", but there is a GPU" if present else "; there is no GPU either"))
        return 1 if present else 0
    print(f"{gpu.name}, sm_{gpu.capability[0]}{gpu.capability[1]}: cubins for {target}, median of {args.launches} launches")
    results: dict[str, dict[str, Any]] = {}
    for name in args.kernels or files:
        if name not in files:
            parser.error(f"no kernel file '{name}' in this bundle")
        made = files[name]["cubins"].get(target, {})
        results[name] = {maker: in_process(name, maker, target, args.launches) for maker in bundle["makers"] if maker in made}
    report(results, bundle["makers"])
    pairs = ranking(target, args.launches) if not args.kernels else []
    document = {"device": gpu.name, "capability": gpu.capability, "target": target, "results": results, "pairs": pairs}
    (HERE / "results.json").write_text(json.dumps(document, indent=1) + "\n")
    bad = [name for name, row in results.items() if row.get("oric", {"problems": ["missing"]})["problems"]]
    print("everything of oric is right" if not bad else f"wrong or missing: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

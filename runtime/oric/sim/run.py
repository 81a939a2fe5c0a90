"""``oric run``: launches of a launch file in the simulator or on a GPU, their results checked and printed."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from .arguments import Array
from .errors import SimError
from .launchfile import LaunchFile, LaunchFileError, Settings, Step
from .modes import Modes
from .module import Buffer, load
from .progress import Progress
from .statistics import Statistics
from .timing import Timing

_SHOWN: Final = 4
_SLOWEST: Final = 12  # instructions in the table of stalls
_USAGE_ERROR: Final = 2
Row = tuple[str, str, str, str]


class DeviceError(Exception):
    """The device is not there, or does not do what it is asked; ``str()`` is one line."""


@dataclass
class Outcome:
    """What a launch took."""

    kernel: str
    seconds: float
    statistics: Statistics | None = None  # of the simulator


class Device(Protocol):
    """What runs the launches of a file. The arrays of the file are its memory; ``take`` updates them."""

    name: str

    def launch(self, step: Step) -> Outcome:
        """Run a launch to its end."""

    def take(self) -> dict[str, Array]:
        """What the buffers and module variables hold now."""


class Simulator:
    """The simulator as a device."""

    name = "simulator"

    def __init__(self, file: LaunchFile, image: bytes, settings: Settings, shown: bool) -> None:
        try:
            self.module = load(image)
        except SimError as error:
            raise LaunchFileError(f"{file.cubin}: {error}") from error
        self.file = file
        self.settings = settings
        self.output = sys.stdout.write if shown else None
        self.buffers: dict[str, Buffer] = {}
        for name, array in file.arrays.items():
            if name not in file.globals:
                self.buffers[name] = self.module.buffer(array, name=name)
            elif file.globals[name]:
                self._global(name, array, write=True)

    def _global(self, name: str, array: Array, *, write: bool) -> bytes:
        try:
            if write:
                self.module.write_global(name, array)
            data = self.module.read_global(name)
        except (SimError, ValueError) as error:
            raise LaunchFileError(f"globals.{name}: {error}") from error
        if len(data) < array.nbytes:
            raise LaunchFileError(f"globals.{name}: the variable has {len(data)} bytes, {array.nbytes} are asked for")
        return data[: array.nbytes]

    def launch(self, step: Step) -> Outcome:
        """Run a launch to its end."""
        s = self.settings
        modes = Modes(strict=s.strict, memcheck=s.memcheck, timing=s.timing, perturb=s.perturb, workers=s.workers)
        args = [self.buffers[p.name] if isinstance(p.value, np.ndarray) else p.value for p in step.params]
        start = time.perf_counter()
        with Progress(step.kernel) as progress:
            done = self.module.launch(
                step.kernel, step.grid, step.block, args, shared_bytes=step.shared_bytes, max_steps=s.max_steps,
                stack_bytes=step.stack_bytes, modes=modes, cluster=step.cluster,
                max_seconds=s.max_seconds, output=self.output, progress=progress,
            )  # fmt: skip
        if s.trace is not None and done.timing is not None:
            done.timing.write_trace(s.trace)
        return Outcome(step.kernel, time.perf_counter() - start, done)

    def take(self) -> dict[str, Array]:
        """What the buffers and module variables hold now."""
        out = {}
        for name, array in self.file.arrays.items():
            raw = self.buffers[name].read() if name in self.buffers else self._global(name, array, write=False)
            out[name] = np.frombuffer(raw[: array.nbytes], array.dtype).reshape(array.shape)
        return out


@dataclass
class Result:
    """What a file's launches gave."""

    file: LaunchFile
    outcomes: list[Outcome] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    wrong: dict[str, Array] = field(default_factory=dict)  # by expected name: which elements are not as expected
    differ: dict[str, Array] = field(default_factory=dict)  # between simulator and GPU, where they were compared
    other: dict[str, Array] = field(default_factory=dict)  # the GPU's arrays there

    @property
    def reports(self) -> list[str]:
        """The findings of every launch, one line each."""
        return [str(r) for o in self.outcomes if o.statistics is not None for r in o.statistics.reports]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the results."""
        out = []
        for name in self.wrong:
            if self.wrong[name].any():
                want = self.file.expected[name][0]
                out.append(f"wrong result: {_first(name, self.arrays[name], want, self.wrong[name], 'expected')}")
        for name, differs in self.differ.items():
            if differs.any():
                first = _first(name, self.arrays[name], self.other[name], differs, "the GPU has")
                out.append(f"simulator and GPU differ in {int(differs.sum())} of {differs.size}: {first}")
        return out


def compare(got: Array, want: Array, rtol: float, atol: float) -> Array:
    """Which elements are not as expected. NaN equals NaN; without tolerances equality is exact."""
    if got.dtype.kind == "f":
        return ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    return np.asarray(got != want)


def _first(name: str, got: Array, want: Array, wrong: Array, word: str) -> str:
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{name}{list(index)} is {got[index]!s}, {word} {want[index]!s}"


def _rows(result: Result) -> list[Row]:
    out = [("parameter", "type", "value", "check")]
    seen = set()
    for step in result.file.steps:
        for parameter in step.params:
            value = parameter.value
            if isinstance(value, np.ndarray):
                if parameter.name not in seen:
                    out.append(_array_row(result, parameter.name))
                seen.add(parameter.name)
            elif isinstance(value, bytes):
                out.append((parameter.name, f"bytes[{len(value)}]", value.hex()[:32], "-"))
            else:
                out.append((parameter.name, str(value.dtype), str(value), "-"))
    out += [_array_row(result, name) for name in result.file.arrays if name not in seen]
    return out


def _array_row(result: Result, name: str) -> Row:
    value = result.arrays[name]
    flat = value.reshape(-1)
    shown = " ".join(f"{v:.6g}" if value.dtype.kind == "f" else str(v) for v in flat[:_SHOWN])
    check = "-"
    if name in result.wrong:
        bad = int(result.wrong[name].sum())
        check = f"{bad} of {flat.size} wrong" if bad else "ok"
    kind = f"{value.dtype}[{','.join(map(str, value.shape))}]"
    return name, kind, shown + (" ..." if flat.size > _SHOWN else ""), check


def _table(rows: list[Row]) -> str:
    widths = [max(len(r[i]) for r in rows) for i in range(4)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows)


def _save(path: Path, array: Array) -> None:
    try:
        if path.suffix == ".npy":
            np.save(path, array)
        else:
            path.write_bytes(array.tobytes())
    except OSError as error:
        raise LaunchFileError(f"cannot write {path}: {error.strerror}") from error


def _open(device: str, file: LaunchFile, image: bytes, settings: Settings, shown: bool) -> Device:
    if device == "cuda":
        from .cuda import Cuda

        return Cuda(file, image)
    return Simulator(file, image, settings, shown)


def run(path: Path, options: argparse.Namespace) -> Result:
    """Run the launches of a file and compare what it says to expect.

    Raises:
        LaunchFileError, SimError, DeviceError: the file, a launch or the device is wrong.
    """
    file = LaunchFile(path)
    given = {f.name: getattr(options, f.name) for f in dataclasses.fields(Settings)}
    settings = dataclasses.replace(file.settings, **{k: v for k, v in given.items() if v is not None})
    settings = dataclasses.replace(settings, timing=settings.timing or settings.trace is not None)
    try:
        image = file.cubin.read_bytes()
    except OSError as error:
        raise LaunchFileError(f"cannot read {file.cubin}: {error.strerror}") from error
    result = Result(file)
    device = _open(options.device, file, image, settings, not options.json)
    result.outcomes = [device.launch(step) for step in file.steps]
    result.arrays = device.take()
    for name, (want, rtol, atol) in file.expected.items():
        result.wrong[name] = compare(result.arrays[name], want, rtol, atol)
    if options.compare:
        _compare_devices(result, _open("cuda", file, image, settings, False))
    for name, output in file.outputs.items():
        _save(output, result.arrays[name])
    return result


def _compare_devices(result: Result, gpu: Device) -> None:
    """Run the launches on the GPU too. An array with a tolerance in `expected` has it here as well."""
    result.outcomes += [gpu.launch(step) for step in result.file.steps]
    result.other = gpu.take()
    for name, array in result.arrays.items():
        _, rtol, atol = result.file.expected.get(name, (None, 0.0, 0.0))
        result.differ[name] = compare(array, result.other[name], rtol, atol)


def _show(result: Result, options: argparse.Namespace) -> None:
    for outcome in result.outcomes:
        done = outcome.statistics
        if done is None:
            print(f"{outcome.kernel}: {outcome.seconds * 1e6:.1f} us on the GPU")
            continue
        print(f"{outcome.kernel}: {done.ctas} blocks, {done.thread_instructions} thread instructions in {outcome.seconds:.3f} s")
        if done.timing is not None:
            _show_timing(done.timing)
        if options.stats:
            for name, value in numbers(done).items():
                print(f"  {name:24} {value}")
    print(_table(_rows(result)))
    for report in result.reports:
        print(report)


def _show_timing(timing: Timing) -> None:
    print(
        f"  {timing.cycles} cycles, {timing.seconds * 1e6:.1f} us on {timing.machine}: {timing.blocks} blocks on an SM, "
        f"{timing.resident} at once, {timing.warps} warps"
    )
    print(f"  {'cycles':8} {'least':>9} {'median':>9} {'most':>9}")
    for what, cycles in (("warp", timing.warp_cycles), ("block", timing.block_cycles)):
        print(f"  {what:8} " + " ".join(f"{n:9}" for n in _spread(cycles)))
    print(f"  {'function+offset':26} {'issued':>9} {'scoreboard':>10} {'barrier':>9} {'pipe':>9}  instruction")
    waits = sorted(timing.stalls, key=lambda s: s.scoreboard + s.barrier + s.pipe, reverse=True)
    for s in waits[:_SLOWEST]:
        place = f"{s.function}+{s.offset:#06x}"
        print(f"  {place:26} {s.issued:9} {s.scoreboard:10} {s.barrier:9} {s.pipe:9}  {s.text}")


def _spread(cycles: list[int]) -> list[int]:
    """The least, the median, the most."""
    ordered = sorted(cycles)
    return [ordered[0], ordered[len(ordered) // 2], ordered[-1]]


def numbers(done: Statistics) -> dict[str, Any]:
    """The counts of a launch by name."""
    return {name: value for name, value in done._asdict().items() if isinstance(value, (int, float, dict))}


def _document(path: str, result: Result) -> dict[str, Any]:
    launches = []
    for outcome in result.outcomes:
        entry: dict[str, Any] = {"kernel": outcome.kernel, "seconds": outcome.seconds}
        if outcome.statistics is not None:
            entry |= numbers(outcome.statistics)
            if outcome.statistics.timing is not None:
                entry["cycles"] = outcome.statistics.timing.cycles
                entry["device_seconds"] = outcome.statistics.timing.seconds
                entry["warp_cycles"] = _spread(outcome.statistics.timing.warp_cycles)
                entry["block_cycles"] = _spread(outcome.statistics.timing.block_cycles)
            entry["printed"] = outcome.statistics.printed
        launches.append(entry)
    results = {}
    for name in result.arrays:
        results[name] = {
            "wrong": int(result.wrong[name].sum()) if name in result.wrong else None,
            "differ": int(result.differ[name].sum()) if name in result.differ else None,
        }
    return {"file": path, "launches": launches, "results": results, "problems": result.problems, "reports": result.reports}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oric run",
        description="Runs the launches that the files describe in the simulator, checks their results.",
        epilog="Exit status: 0 all as expected, 1 results differ, findings or errors, 2 wrong usage.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    on: dict[str, Any] = {"action": "store_const", "const": True}
    parser.add_argument("--strict", help="results become visible as late as the scheduling bits allow; report hazards", **on)
    parser.add_argument("--memcheck", help="report memory faults, races, uninitialised reads, barrier errors", **on)
    parser.add_argument("--timing", help="count cycles", **on)
    parser.add_argument("--perturb", type=_natural, metavar="SEED", help="move results within the hardware's tolerance")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the timing as a Chrome trace")
    parser.add_argument("--workers", type=_positive, metavar="N", help="host threads")
    parser.add_argument("--max-steps", type=_positive, metavar="N", help="warp instructions of a launch before it is given up")
    parser.add_argument("--max-seconds", type=float, metavar="S", help="time of a launch before it is given up")
    parser.add_argument("--stats", action="store_true", help="print the counts of each launch")
    parser.add_argument("--json", action="store_true", help="print one JSON document for each file instead of the table")
    parser.add_argument("--device", choices=("sim", "cuda"), default="sim", help="where to run (cuda: the first GPU)")
    parser.add_argument("--compare", action="store_true", help="run in the simulator and on the GPU and compare")
    return parser


def _natural(text: str) -> int:
    value = int(text, 0)
    if value < 0:
        raise ValueError(text)
    return value


def _positive(text: str) -> int:
    value = int(text, 0)
    if value < 1:
        raise ValueError(text)
    return value


def main(argv: list[str]) -> int:
    """Exit status 0: every launch gives what its file expects, without findings; 1: not so; 2: wrong usage."""
    parser = _parser()
    try:
        options = parser.parse_args(argv)
        modes = [
            f"--{name}" for name in ("strict", "memcheck", "timing", "trace", "perturb") if getattr(options, name) is not None
        ]
        if options.device == "cuda" and modes and not options.compare:
            parser.error(f"{modes[0]} is of the simulator, not of --device cuda")
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.compare:
        options.device = "sim"
    status = 0
    for name in options.files:
        try:
            result = run(Path(name), options)
        except (LaunchFileError, SimError, DeviceError) as error:
            print(f"oric run: error: {name}: {error}", file=sys.stderr)
            status = 1
            continue
        if options.json:
            print(json.dumps(_document(name, result)))
        else:
            _show(result, options)
        for problem in result.problems:
            print(f"{name}: {problem}", file=sys.stderr)
        status = max(status, 1 if result.problems or result.reports else 0)
    return status

"""Launches of the simulator as files that a GPU can repeat: what the tests run, for the hardware's answer to all of it.

    PYTEST_ADDOPTS="-p bench.gpu.recording" ORIC_RECORD=FOLDER make test
    python bench/gpu/recording.py FOLDER OUTPUT.zip

The first command records every launch of code for ORIC_RECORD_TARGETS (sm_90 and sm_90a when not set) that ends: cubin, arguments
and what every buffer and every visible variable of the module held before and after (after: a digest). The second packs what all
processes have written, every launch and every piece of data once. :mod:`bench.gpu.replay` runs the zip file on a GPU.

Not recorded: textures, launches that stop with a fault.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

TARGETS: Final = "sm_90 sm_90a"
MOST_BYTES: Final = 1 << 20
_POINTER: Final = 8
_OBJECTS: Final = (0x01, 0x11)  # st_info: STT_OBJECT, local or global
_DIGEST: Final = 12  # bytes
_STORED: Final = (1980, 1, 1, 0, 0, 0)


def digest(data: bytes) -> str:
    """The name of a piece of data."""
    return hashlib.blake2b(data, digest_size=_DIGEST).hexdigest()


class Recorder:
    """Writes the launches of one process to two files of its own.

    Attributes:
        tag: what the launches that follow belong to (a test).
    """

    def __init__(self, folder: Path, targets: frozenset[str]) -> None:
        self.folder = folder
        self.targets = targets
        self.tag = ""
        self._known: set[str] = set()
        self._files: tuple[int, IO[str], IO[bytes]] | None = None

    def _open(self) -> tuple[IO[str], IO[bytes]]:
        """The files; a process that was forked has its own."""
        if self._files is None or self._files[0] != os.getpid():
            self.folder.mkdir(parents=True, exist_ok=True)
            stem = self.folder / f"{os.getpid()}-{os.urandom(4).hex()}"
            self._known = set()
            self._files = (os.getpid(), stem.with_suffix(".jsonl").open("w"), stem.with_suffix(".blobs").open("wb"))
        return self._files[1:]

    def close(self) -> None:
        """The files are complete."""
        if self._files is not None:
            for file in self._files[1:]:
                file.close()
            self._files = None

    def keep(self, data: bytes) -> str:
        """Keep a piece of data; returns its name."""
        name = digest(data)
        blobs = self._open()[1]
        if name not in self._known:
            self._known.add(name)
            packed = zlib.compress(data, 1)
            blobs.write(bytes.fromhex(name) + len(packed).to_bytes(4, "little") + packed)
        return name

    def add(self, launch: dict[str, Any]) -> None:
        """Write a launch."""
        lines, blobs = self._open()
        identity = digest(json.dumps(launch, sort_keys=True).encode())
        if identity not in self._known:
            self._known.add(identity)
            lines.write(json.dumps({**launch, "tag": self.tag}) + "\n")
            lines.flush()
            blobs.flush()

    def wants(self, module: Any) -> bool:
        """Whether the launches of a module are recorded."""
        return str(module.image.target.name) in self.targets and not module.textures


def _three(size: Any) -> list[int]:
    """A size as three numbers."""
    return [*map(int, np.atleast_1d(size)), 1, 1][:3]


def _contiguous(value: Any) -> bool:
    return bool(value.flags.c_contiguous)


class _Launch:
    """What a launch is given: its memory by place, and how the arguments name it."""

    def __init__(self, recorder: Recorder, module: Any, name: str, args: list[Any]) -> None:
        self.recorder, self.module = recorder, module
        self.buffers: list[tuple[int, int]] = []  # address and size of the device's buffers that the launch can reach
        self.arrays: list[Any] = []
        self.before: list[str] = []
        params = sorted(module.image.cubin.kernels[name].params, key=lambda p: p.ordinal)
        self.args = [self._argument(index, value, params) for index, value in enumerate(args)]

    def _place(self, address: int) -> tuple[int, int] | None:
        """The buffer that an address lies in, and the offset there."""
        from oric.sim.tensor import MAGIC

        for start, (size, _) in self.module._buffers.items():
            if start <= address < start + max(size, 1):
                if (start, size) not in self.buffers:
                    data = self.module.image.read(start, size)
                    if MAGIC in data:
                        raise NotRecorded("memory with tensor maps, which a GPU has in another form")
                    self.buffers.append((start, size))
                    self.before.append(self.recorder.keep(data))
                return self.buffers.index((start, size)), address - start
        return None

    def _argument(self, index: int, value: Any, params: list[Any]) -> dict[str, Any]:
        if isinstance(value, np.ndarray) and value.dtype.isnative:
            if not _contiguous(value) or any(np.may_share_memory(value, other) for other in self.arrays):
                raise NotRecorded("arrays that share memory")
            self.arrays.append(value)
            return {"array": self.recorder.keep(value.tobytes()), "dtype": value.dtype.str}
        from oric.sim.arguments import pack
        from oric.sim.tensor import description

        data = pack(index, params[index], getattr(value, "address", value))
        if (tensor := description(data)) is not None:
            if (place := self._place(tensor["address"])) is None:
                raise NotRecorded("a tensor map of memory that is no buffer")
            return {"map": {**tensor, "address": place}}
        places = []
        for offset in range(0, len(data) - _POINTER + 1, 4):
            place = self._place(int.from_bytes(data[offset : offset + _POINTER], "little"))
            if place is not None:
                places.append([offset, *place])
        return {"bytes": data.hex(), "places": places}

    def after(self) -> dict[str, list[str]]:
        """Digests of what buffers and arrays hold now."""
        return {
            "buffers": [digest(self.module.image.read(*place)) for place in self.buffers],
            "arrays": [digest(a.tobytes()) for a in self.arrays],
        }


class NotRecorded(Exception):
    """A launch that cannot be repeated elsewhere; ``str()`` says why."""


def _variables(module: Any) -> dict[str, bytes]:
    """The module's variables and what they hold."""
    from oric.sim.errors import LoadError

    out = {}
    for symbol in module.image.cubin.symbols:
        if symbol.info in _OBJECTS and symbol.size:
            try:
                out[symbol.name] = module.read_global(symbol.name)
            except LoadError:  # one that has no memory of its own: shared, extern
                continue
    return out


def install(recorder: Recorder) -> None:
    """Record the launches of this process from here on."""
    from oric.sim.module import Module

    make, run, write = Module.__init__, Module.launch, Module.write_global

    def made(self: Any, data: bytes) -> None:
        make(self, data)
        self._recorded = [bytes(data), False]

    def written(self: Any, name: str, data: Any) -> None:
        self._recorded[1] = True
        write(self, name, data)

    def launched(self: Any, name: str, grid: Any, block: Any, args: Any = (), shared_bytes: int = 0, **options: Any) -> Any:
        launch: _Launch | None = None
        changed = {}
        if recorder.wants(self) and isinstance(name, str) and name in self.image.cubin.kernels:
            try:
                args = list(args)
                launch = _Launch(recorder, self, name, args)
                if self._recorded[1]:
                    changed = {k: recorder.keep(v) for k, v in _variables(self).items()}
            except Exception as error:
                launch = None
                recorder.add({"skipped": f"{type(error).__name__}: {error}"[:200], "kernel": name})
        done = run(self, name, grid, block, args, shared_bytes, **options)
        if launch is not None:
            dims = [_three(d) for d in (grid, block)]
            cluster, stack, cooperative = (options.get(name) for name in ("cluster", "stack_bytes", "cooperative"))
            recorder.add({
                "cubin": recorder.keep(self._recorded[0]), "kernel": name, "grid": dims[0], "block": dims[1],
                "shared": int(shared_bytes), "stack": int(stack or 0), "cooperative": bool(cooperative),
                "cluster": None if cluster is None else _three(cluster),
                "args": launch.args, "buffers": launch.before, "variables": changed,
                "after": {**launch.after(), "variables": {k: digest(v) for k, v in _variables(self).items()}},
            })  # fmt: skip
        self._recorded[1] = True
        return done

    setattr(Module, "__init__", made)  # noqa: B010
    setattr(Module, "launch", launched)  # noqa: B010
    setattr(Module, "write_global", written)  # noqa: B010


_recorder: list[Recorder] = []


def start() -> None:
    """Record as the environment says."""
    targets = frozenset(os.environ.get("ORIC_RECORD_TARGETS", TARGETS).split())
    _recorder.append(Recorder(Path(os.environ["ORIC_RECORD"]), targets))
    install(_recorder[0])


def pytest_configure() -> None:
    """As a plugin of pytest: record."""
    start()


def pytest_runtest_setup(item: Any) -> None:
    """Launches belong to tests."""
    _recorder[0].tag = str(item.nodeid)


def blobs_of(path: Path) -> dict[str, bytes]:
    """The compressed pieces of data of a process; the last may be cut off."""
    data, at, out = path.read_bytes(), 0, {}
    while at + _DIGEST + 4 <= len(data):
        size = int.from_bytes(data[at + _DIGEST : at + _DIGEST + 4], "little")
        piece = data[at + _DIGEST + 4 : at + _DIGEST + 4 + size]
        if len(piece) == size:
            out[data[at : at + _DIGEST].hex()] = piece
        at += _DIGEST + 4 + size
    return out


def collect(folders: list[Path]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The launches of all processes, each once, and the data that they name."""
    launches: dict[str, dict[str, Any]] = {}
    found: dict[str, bytes] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            found.update(blobs_of(path.with_suffix(".blobs")))
            for line in path.read_text().splitlines():
                launch = json.loads(line)
                key = {k: v for k, v in launch.items() if k != "tag"}
                launches.setdefault(digest(json.dumps(key, sort_keys=True).encode()), launch)
    return list(launches.values()), {name: zlib.decompress(piece) for name, piece in found.items()}


def names_in(launch: dict[str, Any]) -> list[str]:
    """The data that a launch needs."""
    arrays = [a["array"] for a in launch["args"] if "array" in a]
    return [launch["cubin"], *arrays, *launch["buffers"], *launch["variables"].values()]


def pack(launches: list[dict[str, Any]], data: dict[str, bytes], output: Path) -> None:
    """Write a zip file of launches and data; members are stored by size, so that what is alike lies together."""
    needed = sorted({n for launch in launches for n in names_in(launch)}, key=lambda n: (len(data[n]), n))
    index, body, at = {}, bytearray(), 0
    for name in needed:
        index[name] = [at, len(data[name])]
        body += data[name]
        at += len(data[name])
    with zipfile.ZipFile(output, "w", zipfile.ZIP_LZMA) as archive:
        for member, content in (
            ("launches.jsonl", "".join(json.dumps(launch) + "\n" for launch in launches).encode()),
            ("index.json", json.dumps(index).encode()),
            ("data", bytes(body)),
        ):
            archive.writestr(zipfile.ZipInfo(member, _STORED), content, zipfile.ZIP_LZMA)


def main(argv: list[str]) -> int:
    """Pack recordings."""
    parser = argparse.ArgumentParser(description="Pack recorded launches for a GPU.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--most", type=int, default=MOST_BYTES, help="leave out launches with more bytes of a buffer (%(default)s)"
    )
    args = parser.parse_args(argv)
    launches, data = collect(args.folders)
    whole = [launch for launch in launches if "skipped" not in launch and all(n in data for n in names_in(launch))]
    kept = [launch for launch in whole if all(len(data[n]) <= args.most for n in names_in(launch))]
    pack(kept, data, args.output)
    print(f"{args.output}: {len(kept)} launches of {len({launch['cubin'] for launch in kept})} cubins")
    print(f"left out: {len(whole) - len(kept)} with long buffers, {len(launches) - len(whole)} that cannot be repeated")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

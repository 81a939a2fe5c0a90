"""One side of a review: its tables and outputs, and a process that runs them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..errors import SpecError, UsageError
from ..render import write_tree
from ..rows import Row
from . import form, reading
from .reading import Reading
from .revisions import Version

HERE = Path(__file__).resolve()
GENERATOR = HERE.parents[2]  # the folder of the running oricgen
_LINE = "#line "
_PLACE = re.compile(r"(\bspec/[\w/.]+\.yaml):\d+")
_KEEP = 16  # built sides that are kept


@dataclass
class Side:
    """A version in ``folder``: rows and outputs. ``home`` is the project whose generator read it and whose runtime runs it."""

    label: str
    folder: Path
    home: Path
    tables: Mapping[str, list[Row]]
    outputs: Mapping[str, str]
    own: Path | None = None  # the generator of its own revision, when that has read it
    reading: Reading | None = None
    answers: dict[str, Any] = field(default_factory=dict)  # what its process has said, by request
    _process: subprocess.Popen[str] | None = None

    def runs_like(self, other: Side) -> bool:
        """Whether what is built from both is the same."""
        return self.home == other.home and _built(self.outputs) == _built(other.outputs)

    def start(self, workshop: Path, seed: Path) -> None:
        """Build its tables below ``workshop`` and start the process; objects that ``seed`` has are not compiled again.

        Raises:
            UsageError: the C compiler refuses its code.
        """
        if self._process is None:
            folder = build(self, workshop, seed)
            path = os.pathsep.join([str(self.home / "runtime"), str(folder / "build")])
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(HERE.with_name("probe.py"))],
                env={**os.environ, "PYTHONPATH": path, **form.environment(self.home, self.outputs)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )

    def ask(self, what: str, items: list[Any] | None = None) -> Any:
        """What the process says to a request; asked twice, it is asked once."""
        request = json.dumps({"what": what, "items": items})
        key = hashlib.sha256(request.encode()).hexdigest()
        if key not in self.answers:
            self.answers[key] = self._say(request)
        return self.answers[key]

    def _say(self, request: str) -> Any:
        assert self._process is not None, "not started"
        sender: IO[str] | None = self._process.stdin
        reader: IO[str] | None = self._process.stdout
        assert sender is not None
        assert reader is not None
        answer = ""
        with contextlib.suppress(BrokenPipeError):
            sender.write(request + "\n")
            sender.flush()
            answer = reader.readline()
        if not answer:
            raise UsageError(f"{self.label}: the process that runs its tables ended with status {self._process.wait()}")
        return json.loads(answer)

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None


def read(version: Version, root: Path, base: Side | None = None) -> Side:
    """Read a version: with the running generator, or, where that refuses it and it has another one, with its own.

    What ``base``, another version, knows of files that are the same is not read again.

    Raises:
        UsageError: its specification is invalid; the message begins with the version, file and line.
    """
    try:
        found = reading.read(version.folder, base.reading if base else None)
        return Side(version.label, version.folder, root, found.tables, found.outputs, reading=found)
    except (SpecError, LookupError, TypeError, ValueError, AttributeError) as error:
        own = version.folder / "generator"
        if version.folder != root and own.is_dir() and not _same(own, GENERATOR):
            return _by_itself(version, root, error)
        if not isinstance(error, SpecError):
            raise
        raise UsageError(f"{version.label}: {error}") from error


def _by_itself(version: Version, root: Path, error: Exception) -> Side:
    """Read a revision with the generator that it was written for, and its own runtime when it has one."""
    home = version.folder if (version.folder / "runtime").is_dir() else root
    path = os.pathsep.join([str(version.folder / "generator"), str(home / "runtime")])
    done = subprocess.run(
        [sys.executable, "-P", str(HERE.with_name("collect.py")), str(version.folder)],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise UsageError(f"{version.label}: this generator refuses it ({error}), and its own fails: {said}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise UsageError(f"{version.label}: {answer['error']}; of the same, this generator says: {error}")
    tables = {name: [Row(*row) for row in rows] for name, rows in answer["tables"].items()}
    return Side(version.label, version.folder, home, tables, answer["outputs"], own=version.folder / "generator")


def _same(one: Path, two: Path) -> bool:
    """Whether two generators have the same files."""

    def texts(folder: Path) -> dict[str, bytes]:
        files = [p for p in sorted((folder / "oricgen").rglob("*")) if p.suffix in (".py", ".j2")]
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}

    return texts(one) == texts(two)


def _built(outputs: Mapping[str, str]) -> dict[str, str]:
    """The outputs that the compiler is made of."""
    return {name: without_lines(text) for name, text in outputs.items() if not name.startswith("flat/")}


def without_lines(text: str) -> str:
    """A generated file without the directives that say which row something is from: a comment above the row moves them."""
    if _LINE not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(_LINE))


def without_places(text: str) -> str:
    """The same, also without the numbers of lines in comments that say where something is from."""
    return _PLACE.sub(r"\1", without_lines(text))


def build(side: Side, workshop: Path, seed: Path) -> Path:
    """The folder with the side's tables and C module; made once for the same content."""
    digest = hashlib.sha256(f"{sys.version}\0{json.dumps(sorted(_built(side.outputs).items()))}".encode())
    kernels = side.home / "runtime/oric/native"
    for source in sorted(kernels.rglob("*.[ch]")):
        digest.update(source.relative_to(kernels).as_posix().encode() + source.read_bytes())
    folder = workshop / digest.hexdigest()[:20]
    if folder.exists():
        folder.touch()
        return folder
    _prune(workshop)
    work = workshop / f"{folder.name}.{os.getpid()}"  # becomes the folder when it is whole
    try:
        write_tree(work / "build", dict(_built(side.outputs)))
        _compile(side, work, [seed, *(p / "build/obj" for p in workshop.iterdir() if not p.suffix)])
        with contextlib.suppress(OSError):  # somebody else was quicker
            work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _compile(side: Side, work: Path, seeds: list[Path]) -> None:
    """Make the C module in ``work``; objects that a folder of ``seeds`` has are taken from there."""
    objects = work / "build/obj"
    objects.mkdir()
    for made in (made for known in seeds if known.is_dir() for made in known.glob("*.o")):
        if not (objects / made.name).exists():
            try:
                os.link(made, objects / made.name)
            except OSError:  # another file system
                shutil.copyfile(made, objects / made.name)
    (work / "runtime").symlink_to((side.home / "runtime").resolve(), target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "oricgen", "--root", str(work), "native"],
        env={**os.environ, "PYTHONPATH": str(side.own or GENERATOR)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (work / "runtime").unlink()
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise UsageError(f"{side.label}: the C compiler refuses what is generated: {(errors or ['it says nothing'])[0]}")


def _prune(workshop: Path) -> None:
    """Forget the sides that were not used for the longest time."""
    workshop.mkdir(parents=True, exist_ok=True)
    known = sorted((p for p in workshop.iterdir() if not p.suffix), key=lambda p: p.stat().st_mtime)
    for old in known[: max(0, len(known) - _KEEP)]:
        shutil.rmtree(old, ignore_errors=True)

"""Compiles the hot modules with mypyc, each by itself, and links them into one library in ``build/compiled``.

:mod:`oric.loading` finds them there: opening libraries is what imports cost. mypyc makes C of what has changed (its cache lies in
``build/mypyc``), the C compiler makes objects of the files whose text, headers or flags have changed; the runtime of mypyc is
compiled once. A wheel has its library and an extension module for each source beside the sources (setup.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .errors import UsageError
from .native import c_compiler

# What a compilation runs through. What only tools use stays interpreted, and so do packages and classes of plain data.
PACKAGES = ("ir", "ptx", "lower", "phases", "regalloc", "sched", "encode", "cubin")
INTERPRETED = frozenset({
    *("ir/attributes", "ir/encoded", "ir/image", "ir/interpret", "ir/module", "ir/passes", "ir/pieces", "ir/read", "ir/text"),
    *("ptx/format", "ptx/recorder"),
    *("phases/backend", "phases/contracts", "phases/registry"),
    *("encode/descriptor", "lower/events", "lower/intrinsics", "lower/ocg_record"),
})  # fmt: skip
MODULES = ("support/arrays", "support/lend", "support/offsets")
TABLES = ("oric_tables/ori_operands", "oric_rules/matchers")  # generated modules with code
LIBRARY = "compiled.so"
PART = "__mypyc"
OPTIONS = ("--strict", "--explicit-package-bases")
CFLAGS = ("-O2", "-g0", "-fPIC", "-fwrapv", "-DNDEBUG", "-fvisibility=hidden", "-w")
_SHIFTED = re.compile(r"= (-?\d+) << (?=cpy_)")
_INCLUDE = re.compile(r'^#include [<"](.+)[>"]', re.MULTILINE)

Say = Callable[[str], None]


def sources(root: Path) -> list[str]:
    """The modules that are compiled, as paths below ``root``."""
    found = []
    for package in PACKAGES:
        for path in sorted((root / "runtime/oric" / package).glob("*.py")):
            if path.stem != "__init__" and f"{package}/{path.stem}" not in INTERPRETED:
                found.append(path.relative_to(root).as_posix())
    found += [f"runtime/oric/{name}.py" for name in MODULES]
    return found + [f"build/{name}.py" for name in TABLES]


def extensions(root: Path) -> list[Any]:
    """The extension modules for setuptools, for a wheel: one library with a module for each source.

    Raises:
        SystemExit: mypyc refuses a module (its messages are on standard output).
        ImportError: there is no mypyc.
    """
    from mypyc.build import mypycify

    with _mypy_path():
        found: list[Any] = mypycify(
            [*OPTIONS, f"--cache-dir={root}/build/mypyc/wheel", *sources(root)],
            opt_level="2", debug_level="0", multi_file=True, group_name="oric", target_dir=str(root / "build/mypyc/wheel-c"),
        )  # fmt: skip
    widen_shifts(root / "build/mypyc/wheel-c")
    return found


def build_compiled(root: Path, say: Say = lambda text: None) -> Path:
    """Make ``build/compiled`` and return it. Does nothing when no input has changed; ``say`` is told what is done.

    Raises:
        subprocess.CalledProcessError: the C compiler refused a file.
        SystemExit, ImportError: see :func:`extensions`.
    """
    target = root / "build/compiled"
    if is_current(root):
        return target
    say("compiling the compiler with mypyc")
    _forget_others(root / "build/mypyc")
    found = _translate(root)
    objects = _objects(root, found, say)
    # mypyc makes two extension modules of a source: NAME, and NAME__mypyc, from which the other takes everything.
    parts: dict[str, list[Path]] = {}
    for extension in found:
        own = parts.setdefault(extension.name.removesuffix(PART), [])
        own += (objects[source] for source in map(_absolute(root), extension.sources))
    groups = _groups(root / "build/mypyc/groups", parts)
    target.mkdir(parents=True, exist_ok=True)
    _link(target / LIBRARY, [*groups, *(objects[source] for source in _runtime_sources())])
    (target / "modules").write_text("\n".join(sorted(parts)), encoding="utf-8")
    (target / "stamp").write_text(_digest(root), encoding="utf-8")
    say(f"{len(parts)} modules linked")
    return target


def is_current(root: Path) -> bool:
    """True when ``build/compiled`` is there and made from the sources as they are."""
    stamp = root / "build/compiled/stamp"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _digest(root)


def _forget_others(work: Path) -> None:
    """Clear what was made in another way: mypyc would take its own old files for good."""
    from mypy.version import __version__

    key = hashlib.sha256(f"{sys.version} {__version__}".encode() + Path(__file__).read_bytes()).hexdigest()
    note = work / "key"
    if not note.exists() or note.read_text(encoding="utf-8") != key:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        note.write_text(key, encoding="utf-8")


def _translate(root: Path) -> list[Any]:
    """Let mypyc write C files; returns what it would have setuptools build."""
    from mypyc.build import mypycify

    with _inside(root), _mypy_path(), contextlib.redirect_stdout(sys.stderr):
        options = [*OPTIONS, f"--cache-dir={root}/build/mypyc/cache"]
        found: list[Any] = mypycify(
            [*options, *sources(root)], separate=True, include_runtime_files=False, target_dir=str(root / "build/mypyc/c")
        )
    widen_shifts(root / "build/mypyc/c")
    _refuse_native_attributes(root / "build/mypyc/c")
    copies = {path.name for path in _runtime_sources()}  # compiled once, for all
    for extension in found:
        extension.sources = [name for name in extension.sources if Path(name).name not in copies]
    return found


def widen_shifts(folder: Path) -> None:
    """Give constants that are shifted by native integers their type: mypyc writes them as C's int, which has 32 bits."""
    for path in sorted(folder.rglob("__native_*.c")):
        text = path.read_text(encoding="utf-8")
        wide = _SHIFTED.sub(r"= (int64_t)\1 << ", text)
        if wide != text:
            path.write_text(wide, encoding="utf-8")


def _refuse_native_attributes(folder: Path) -> None:
    """Attributes of native integers are refused: mypyc loses track of them when their module is not compiled anew.

    Raises:
        UsageError: a class has one.
    """
    for header in sorted(folder.rglob("__native_*.h")):
        text = header.read_text(encoding="utf-8")
        for struct in re.finditer(r"^typedef struct {\n((?: .*\n)*)} (\w+)Object;", text, re.MULTILINE):
            found = re.search(r"^ +(?:int\d+_t|uint8_t) _(?!__mypyc_)(\w+);", struct[1], re.MULTILINE)
            if found is not None:
                name = f"{struct[2].replace('___', '.')}.{found[1]}"
                raise UsageError(f"{name}: attributes of compiled classes are declared as int, not as native integers")


def _absolute(root: Path) -> Callable[[str], Path]:
    return lambda name: (root / name).resolve()


def _runtime_sources() -> list[Path]:
    """The runtime of mypyc: what its C files call, and the interface of librt's arrays."""
    from mypyc.common import RUNTIME_C_FILES

    folder = _runtime_folder()
    rest = [path for path in sorted(folder.glob("*_extra_ops.c")) if not path.name.startswith("byteswriter")]
    return [folder / name for name in RUNTIME_C_FILES] + [folder / "vecs/librt_vecs_api.c", *rest]


def _runtime_folder() -> Path:
    import mypyc

    return Path(mypyc.__file__).resolve().parent / "lib-rt"


def _objects(root: Path, found: Sequence[Any], say: Say) -> dict[Path, Path]:
    """Objects of all C files; those whose inputs have not changed are there already."""
    work = root / "build/mypyc/o"
    work.mkdir(parents=True, exist_ok=True)
    folders = [_runtime_folder(), root / "build/mypyc/c"]
    texts = _Texts(folders)
    files = dict.fromkeys([*_runtime_sources(), *(_absolute(root)(s) for e in found for s in e.sources)])
    flags = [*CFLAGS, *(f"-I{folder}" for folder in [*folders, sysconfig.get_paths()["include"]])]
    # Where the folders lie is left out, so that a copy of a checkout has what was compiled for it.
    out = {file: work / f"{file.stem}-{texts.digest(file, CFLAGS)[:16]}.o" for file in files}
    missing = [file for file in files if not out[file].exists()]
    if missing:
        say(f"compiling {len(missing)} of {len(files)} C files")
    missing.sort(key=lambda file: -file.stat().st_size)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(lambda file: _compile(file, out[file], flags), missing))
    for old in {*work.glob("*.o")} - {*out.values()}:
        old.unlink()
    return out


def _compile(source: Path, obj: Path, flags: Sequence[str]) -> None:
    part = obj.with_suffix(f".part{os.getpid()}")
    subprocess.run([*c_compiler(), *flags, "-c", str(source), "-o", str(part)], check=True)
    part.replace(obj)


def _groups(work: Path, parts: dict[str, list[Path]]) -> list[Path]:
    """One object for each module, with nothing in it that others see but the two functions that initialise it.

    Modules use the same names for what they have inside, and modules of the same name in different packages for those functions.
    """
    work.mkdir(parents=True, exist_ok=True)
    out: list[Path] = []
    for module, objects in parts.items():
        digest = hashlib.sha256("\n".join(obj.name for obj in objects).encode()).hexdigest()
        group = work / f"{module}-{digest[:16]}.o"
        out.append(group)
        if not group.exists():
            part = group.with_suffix(f".part{os.getpid()}")
            subprocess.run([*c_compiler(), "-r", "-nostdlib", "-o", str(part), *map(str, objects)], check=True)
            subprocess.run(["objcopy", *_names(module), str(part)], check=True)
            part.replace(group)
    for old in {*work.glob("*.o")} - {*out}:
        old.unlink()
    return out


def _names(module: str) -> list[str]:
    """What objcopy does to the names of a module's object; :mod:`oric.loading` knows the new ones."""
    leaf, whole = module.rpartition(".")[2], module.replace(".", "___")
    renamed = [f"--redefine-sym=PyInit_{leaf}{end}=PyInit_{whole}{end}" for end in ("", PART)]
    return ["--localize-hidden", "--localize-symbol=PyInit___init__", *renamed]


def _link(path: Path, objects: Sequence[Path]) -> None:
    """Link a library of objects."""
    part = path.with_suffix(f".part{os.getpid()}")
    subprocess.run([*c_compiler(), "-shared", "-o", str(part), *map(str, objects)], check=True)
    part.replace(path)


class _Texts:
    """Digests of C files together with everything that they include from the given folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.own: dict[Path, tuple[str, list[Path]]] = {}

    def digest(self, path: Path, flags: Sequence[str]) -> str:
        """The digest of a file for these flags."""
        reached = {path}
        todo = [path]
        while todo:
            new = set(self._read(todo.pop())[1]) - reached
            reached |= new
            todo += new
        hasher = hashlib.sha256("\0".join(flags).encode())
        for file in sorted(reached):
            hasher.update(self._read(file)[0].encode())
        return hasher.hexdigest()

    def _read(self, path: Path) -> tuple[str, list[Path]]:
        known = self.own.get(path)
        if known is None:
            text = path.read_text(encoding="utf-8")
            near = [path.parent, *self.folders]
            included = [next((f for f in (d / name for d in near) if f.is_file()), None) for name in _INCLUDE.findall(text)]
            known = self.own[path] = (hashlib.sha256(text.encode()).hexdigest(), [f.resolve() for f in included if f])
        return known


def _digest(root: Path) -> str:
    hasher = hashlib.sha256(sys.version.encode())
    tables = sorted((root / "build/oric_tables").glob("*.py"))  # mypyc takes their constants into its code
    for path in [Path(__file__), *(root / name for name in sources(root)), *tables]:
        hasher.update(path.name.encode() + path.read_bytes())
    return hasher.hexdigest()


@contextlib.contextmanager
def _mypy_path() -> Iterator[None]:
    before = os.environ.get("MYPYPATH")
    os.environ["MYPYPATH"] = os.pathsep.join(("runtime", "build"))
    try:
        yield
    finally:
        if before is None:
            del os.environ["MYPYPATH"]
        else:
            os.environ["MYPYPATH"] = before


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)

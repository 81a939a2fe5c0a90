"""Compiles the cffi module ``oric_tables._native`` from hand-written and generated C.

Sources are ``runtime/oric/native/FLOOR/*.c`` and ``build/c/FLOOR/*.c``; an include names floor and file, and goes down only
(``native-floors`` in pyproject.toml). The declarations that Python sees are the headers whose first line is ``/* cdef */``:
such a header holds plain declarations only (structs, enums, prototypes, integer ``#define``), so that cffi and the C compiler
read the same text. Objects are cached by the hash of everything that goes into them. Generated files tell by ``#line`` which
row of the specification a statement is from, so that what the compiler refuses is an error of that row.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cffi import FFI

from .errors import SpecError, UsageError

FOLDERS = ("runtime/oric/native", "build/c")
MODULE = "oric_tables._native"
_GLUE = "_native.c"
CFLAGS = ["-std=c11", "-O2", "-g1", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
# Generated code has no warnings: what a row computes is what its text says. Clang does not like brackets that a template writes.
GENERATED = ["-Wconversion", "-Wno-sign-conversion", "-Wno-parentheses-equality", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined"]


MOST = 10  # errors of one file that are reported
_PLACE = b"#line "
_REFUSED = re.compile(r"(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)")
_INSIDE = re.compile(r"In function '(\w+)(?:\.\w+)?'")


def files(root: Path) -> dict[str, Path]:
    """The C files by the name that an include has for them, ``floor/file``.

    Raises:
        ValueError: a hand-written and a generated file have the same name.
    """
    found: dict[str, Path] = {}
    for base in (root / folder for folder in FOLDERS):
        for path in sorted(base.rglob("*.[ch]")):
            name = path.relative_to(base).as_posix()
            if name in found:
                raise ValueError(f"{name} is both hand-written and generated")
            found[name] = path
    return found


def includes(path: Path) -> list[str]:
    """The names that a file includes between quotes."""
    return re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def headers(found: Mapping[str, Path]) -> list[str]:
    """The headers that cffi reads too: in order of name, but each after those that it includes."""
    ours = [name for name, path in found.items() if name.endswith(".h") and path.read_text("utf-8").startswith("/* cdef */")]
    ordered: dict[str, None] = {}

    def visit(name: str, chain: tuple[str, ...]) -> None:
        if name in chain:
            raise ValueError(f"{name} includes itself through {', '.join(chain)}")
        for other in includes(found[name]):
            if other in ours:
                visit(other, (*chain, name))
        ordered[name] = None

    for name in ours:
        visit(name, ())
    return list(ordered)


def _cdef_text(path: Path) -> str:
    keep = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(("#ifndef", "#endif", "#include", "#pragma")):
            continue
        if line.startswith("#define") and len(line.split()) < 3:
            continue
        keep.append(line)
    return "\n".join(keep)


def build_native(root: Path, sanitize: bool = False) -> Path:
    """Compile and link the module; returns its path. Does nothing when no input has changed.

    Raises:
        SpecError: the C compiler refused a file.
        subprocess.CalledProcessError: the linker refused the objects (its messages are on standard error).
    """
    found = files(root)
    cdefs = headers(found)
    ffi = FFI()
    ffi.cdef("\n".join(_cdef_text(found[name]) for name in cdefs))
    ffi.set_source(MODULE, "\n".join(f'#include "{name}"' for name in cdefs))
    work = root / "build" / ("obj-sanitize" if sanitize else "obj")
    work.mkdir(parents=True, exist_ok=True)
    found[_GLUE] = work / _GLUE
    ffi.emit_c_code(str(found[_GLUE]))
    flags = [*CFLAGS, *(SANITIZE if sanitize else [])]
    included = inclusions(found)
    sources = [name for name, path in found.items() if path.suffix == ".c"]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(lambda name: _compile(root, found, name, work, flags, included[name]), sources))
    for old in {*work.glob("*.o")} - {*objects}:
        old.unlink(missing_ok=True)
    target_dir = root / "build" / ("sanitize/oric_tables" if sanitize else "oric_tables")
    target_dir.mkdir(parents=True, exist_ok=True)
    target = target_dir / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    stamp = work / "linked"
    state = _digest(objects, flags)
    if target.exists() and stamp.exists() and stamp.read_text() == state:
        return target
    part = target.with_suffix(f".part{os.getpid()}")
    link = [*c_compiler(), "-shared", *(SANITIZE if sanitize else []), "-o", str(part), *map(str, objects), "-lm", "-lpthread"]
    subprocess.run(link, check=True)
    part.replace(target)
    stamp.write_text(state)
    return target


def c_compiler() -> list[str]:
    """The command of the C compiler: ``$CC``, or ``cc``.

    Raises:
        UsageError: there is none.
    """
    command = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(command[0]) is None:
        raise UsageError(f"there is no C compiler: '{command[0]}' is not on the path (install one, or name it in CC)")
    return command


def _digest(paths: list[Path], extra: list[str]) -> str:
    """A hash over names and contents; where text is from (``#line``) matters only to who reads an error."""
    hasher = hashlib.sha256("\0".join(extra).encode())
    for path in sorted(paths):
        hasher.update(path.name.encode())
        data = path.read_bytes()
        if path.suffix in {".c", ".h"} and _PLACE in data:
            data = b"".join(line for line in data.splitlines(keepends=True) if not line.startswith(_PLACE))
        hasher.update(data)
    return hasher.hexdigest()


def inclusions(found: Mapping[str, Path]) -> dict[str, list[str]]:
    """Each file with all that it includes, directly or not, of the files given (by name)."""
    direct = {name: [other for other in includes(path) if other in found] for name, path in found.items()}
    out: dict[str, list[str]] = {}
    for name in found:
        reached = {name}
        todo = [name]
        while todo:
            new = set(direct[todo.pop()]) - reached
            reached |= new
            todo += new
        out[name] = sorted(reached)
    return out


def _compile(root: Path, found: Mapping[str, Path], name: str, work: Path, flags: list[str], included: list[str]) -> Path:
    """Compile a source, unless there is an object of the same text, headers and flags."""
    stem = name.removesuffix(".c").replace("/", ".")
    flags = [*flags, *_extra(root, name, found[name])]
    obj = work / f"{stem}-{_digest([found[other] for other in included], flags)[:16]}.o"
    if obj.exists():
        return obj
    include = [*(f"-I{root}/{folder}" for folder in FOLDERS), f"-I{sysconfig.get_paths()['include']}"]
    part = obj.with_suffix(f".part{os.getpid()}")
    done = subprocess.run(
        [*c_compiler(), *flags, *include, "-c", str(found[name]), "-o", str(part)],
        env={**os.environ, "LC_ALL": "C"},  # the messages are read
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise refused(root, found[name], done.stderr)
    sys.stderr.write(done.stderr)  # warnings
    part.replace(obj)
    return obj


def _extra(root: Path, name: str, path: Path) -> list[str]:
    """The flags that a file has besides those of all."""
    if name == _GLUE:
        return ["-Wno-unused-parameter", "-Wno-missing-field-initializers"]
    return GENERATED if path.is_relative_to(root / "build" / "c") else []


def refused(root: Path, source: Path, messages: str) -> SpecError:
    """The error that a C compiler's messages are: the place is the row's, where a ``#line`` tells of one.

    Other mistakes of the file are its ``others``.
    """
    function, found = "", []
    for line in messages.splitlines():
        inside, place = _INSIDE.search(line), _REFUSED.match(line)
        if inside is not None:
            function = f" (in '{inside[1]}')"
        if place is not None:
            path = Path(place[1])
            shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else place[1]
            found.append(SpecError(shown, int(place[2]), f"the C compiler refuses it: {place[3]}{function}"))
    unique = list({str(error): error for error in found}.values())  # the lane loop stands twice in a file
    if not unique:
        said = messages.strip().splitlines() or ["it says nothing"]
        return SpecError(source.relative_to(root).as_posix(), 0, f"the C compiler does not compile it: {said[0]}")
    unique[0].others = tuple(unique[1:MOST])
    return unique[0]

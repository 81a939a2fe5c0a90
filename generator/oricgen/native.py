"""Compiles the cffi module ``oric_tables._native`` from hand-written and generated C.

Sources are ``runtime/oric/native/*.c`` and ``build/c/*.c``; the declarations that Python sees are the headers
``runtime/oric/native/*.h`` and ``build/c/*.h`` whose first line is ``/* cdef */``: such a header holds plain
declarations only (structs, enums, prototypes, integer ``#define``), so that cffi and the C compiler read the
same text. Objects are cached by the hash of everything that goes into them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cffi import FFI

MODULE = "oric_tables._native"
CFLAGS = ["-std=c11", "-O2", "-g1", "-fPIC", "-fno-math-errno", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined"]


def headers(root: Path) -> list[Path]:
    """The headers that cffi reads too: in order of name, but each after those that it includes."""
    found = sorted((root / "runtime/oric/native").glob("*.h")) + sorted((root / "build/c").glob("*.h"))
    texts = {h: text for h in found if (text := h.read_text(encoding="utf-8")).startswith("/* cdef */")}
    by_name = {h.name: h for h in texts}
    ordered: dict[Path, None] = {}

    def visit(header: Path, chain: tuple[Path, ...]) -> None:
        if header in chain:
            raise ValueError(f"{header.name} includes itself through {', '.join(h.name for h in chain)}")
        for name in re.findall(r'^#include "(.+)"$', texts[header], re.MULTILINE):
            if name in by_name:
                visit(by_name[name], (*chain, header))
        ordered[header] = None

    for header in texts:
        visit(header, ())
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
        subprocess.CalledProcessError: the C compiler refused a file (its messages are on standard error).
    """
    cdefs = headers(root)
    ffi = FFI()
    ffi.cdef("\n".join(_cdef_text(h) for h in cdefs))
    preamble = "\n".join(f'#include "{h.name}"' for h in cdefs)
    ffi.set_source(MODULE, preamble)
    work = root / "build" / ("obj-sanitize" if sanitize else "obj")
    work.mkdir(parents=True, exist_ok=True)
    glue = work / "_native.c"
    ffi.emit_c_code(str(glue))
    sources = sorted((root / "runtime/oric/native").glob("*.c")) + sorted((root / "build/c").glob("*.c")) + [glue]
    flags = [*CFLAGS, *(SANITIZE if sanitize else [])]
    included = inclusions([*(root / "runtime/oric/native").glob("*.[hi]*"), *(root / "build/c").glob("*.[hi]*"), *sources])
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(lambda s: _compile(root, s, work, flags, included[s]), sources))
    target_dir = root / "build" / ("sanitize/oric_tables" if sanitize else "oric_tables")
    target_dir.mkdir(parents=True, exist_ok=True)
    target = target_dir / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    stamp = work / "linked"
    state = _digest(objects, flags)
    if target.exists() and stamp.exists() and stamp.read_text() == state:
        return target
    part = target.with_suffix(f".part{os.getpid()}")
    link = [*_cc(), "-shared", *(SANITIZE if sanitize else []), "-o", str(part), *map(str, objects), "-lm", "-lpthread"]
    subprocess.run(link, check=True)
    part.replace(target)
    stamp.write_text(state)
    return target


def _cc() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def _digest(paths: list[Path], extra: list[str]) -> str:
    hasher = hashlib.sha256("\0".join(extra).encode())
    for path in sorted(paths):
        hasher.update(path.name.encode())
        hasher.update(path.read_bytes())
    return hasher.hexdigest()


def inclusions(files: list[Path]) -> dict[Path, list[Path]]:
    """Each file with all that it includes, directly or not, of the files given."""
    by_name = {path.name: path for path in files}
    direct = {path: re.findall(r'^#include "(.+)"', path.read_text(encoding="utf-8"), re.MULTILINE) for path in files}
    out: dict[Path, list[Path]] = {}
    for path in files:
        found = {path}
        todo = [path]
        while todo:
            new = {by_name[name] for name in direct[todo.pop()] if name in by_name} - found
            found |= new
            todo += new
        out[path] = sorted(found)
    return out


def _compile(root: Path, source: Path, work: Path, flags: list[str], included: list[Path]) -> Path:
    """Compile a source, unless there is an object of the same text, headers and flags."""
    obj = work / f"{source.stem}-{_digest(included, flags)[:16]}.o"
    if obj.exists():
        return obj
    for old in work.glob(f"{source.stem}-????????????????.o"):
        old.unlink(missing_ok=True)
    include = [f"-I{root}/runtime/oric/native", f"-I{root}/build/c", f"-I{sysconfig.get_paths()['include']}"]
    extra = ["-Wno-unused-parameter", "-Wno-missing-field-initializers"] if source.stem == "_native" else []
    subprocess.run([*_cc(), *flags, *extra, *include, "-c", str(source), "-o", str(obj)], check=True)
    return obj

"""Compiles the parser's hot modules with mypyc: a copy of the package ``oric`` in ``build/compiled`` with extension modules.

Nothing looks there by itself: who puts ``build/compiled`` before ``runtime`` on the path runs the compiled parser. A wheel
built with ``ORIC_MYPYC=1`` has the extension modules beside the sources (setup.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What a compilation runs through; what is for tools (recorder, formatter) and the protocol of builders stay interpreted.
HOT = (
    *("body", "calls", "check", "classes", "constants", "declarations", "initializers"),
    *("lexer", "operands", "parser", "recovery", "scopes", "signatures", "state"),
)


def extensions(root: Path) -> list[Any]:
    """The extension modules for setuptools; called with ``root`` as working directory.

    Raises:
        SystemExit: mypyc refuses a module (its messages are on standard output).
        ImportError: there is no mypyc.
    """
    from mypyc.build import mypycify

    os.environ["MYPYPATH"] = os.pathsep.join(("runtime", "build"))
    modules = [f"runtime/oric/ptx/{name}.py" for name in HOT]
    options = ["--strict", "--explicit-package-bases", f"--cache-dir={root}/build/mypyc/cache"]
    found: list[Any] = mypycify([*options, *modules], opt_level="3", debug_level="0", target_dir=str(root / "build/mypyc/c"))
    return found


def build_compiled(root: Path) -> Path:
    """Make ``build/compiled`` and return it. Does nothing when no input has changed.

    Raises:
        subprocess.CalledProcessError: the C compiler refused a file.
        SystemExit, ImportError: see :func:`extensions`.
    """
    from setuptools import Distribution

    target = root / "build/compiled"
    if is_current(root):
        return target
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / "runtime/oric", target / "oric", ignore=shutil.ignore_patterns("__pycache__", "*.c", "*.h", "*.inc"))
    with _inside(root), contextlib.redirect_stdout(sys.stderr):
        command = Distribution({"name": "oric-ptx", "ext_modules": extensions(root)}).get_command_obj("build_ext")
        command.build_lib = str(target)
        command.build_temp = str(root / "build/mypyc/temp")
        command.ensure_finalized()
        command.run()
    (target / "stamp").write_text(_digest(root), encoding="utf-8")
    return target


def is_current(root: Path) -> bool:
    """True when ``build/compiled`` is there and made from the sources as they are."""
    stamp = root / "build/compiled/stamp"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _digest(root)


def _digest(root: Path) -> str:
    hasher = hashlib.sha256(sys.version.encode())
    tables = sorted((root / "build/oric_tables").glob("*.py"))  # mypyc takes their constants into its code
    for path in [Path(__file__), *sorted((root / "runtime/oric").rglob("*.py")), *tables]:
        hasher.update(path.name.encode() + path.read_bytes())
    return hasher.hexdigest()


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)

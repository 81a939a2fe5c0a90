"""Makes the stored modules again: ``python3 -m tests.ptx_corpus FOLDER [nvcc] [triton] [llc]``.

FOLDER keeps what was compiled, so that a second run compiles only what changed.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from . import archive

OLDEST = "sm_75"  # that ptxas 13.0 assembles for; PTX for an older one is good for it too


def accepted(folder: Path, found: dict[str, str]) -> dict[str, str]:
    """The modules that ptxas assembles, each for the target that it names."""
    out = {}
    for name, text in found.items():
        mark = folder / f"{name}.accepted"
        path = folder / name
        if not mark.exists() or mark.stat().st_mtime < path.stat().st_mtime:
            target = text.split(".target", 1)[1].split()[0].rstrip(",")
            target = target if len(target) > 5 or target >= OLDEST else OLDEST
            command = ["ptxas", "-c", "-arch", target.replace("sm_", "compute_"), str(path), "-o", "/dev/null"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            mark.write_text("" if done.returncode else "yes")
            if done.returncode:
                print(f"{name}: ptxas says {(done.stdout + done.stderr).splitlines()[0]}", file=sys.stderr)
        if mark.read_text():
            out[name] = text
    return out


def main(argv: list[str]) -> int:
    if not argv:
        print(__doc__)
        return 1
    for compiler in argv[1:] or archive.COMPILERS:
        folder = Path(argv[0]) / compiler
        folder.mkdir(parents=True, exist_ok=True)
        found = accepted(folder, importlib.import_module(f"{__package__}.{compiler}").build(folder))
        archive.write(compiler, found)
        size = archive.path_of(compiler).stat().st_size
        print(f"{compiler}: {len(found)} modules, {sum(map(len, found.values()))} characters, {size} bytes stored")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Makes what tests/data/lines has of nvcc and ptxas 13.0.88: PTX and cubins of lines.cu for some targets, and the lines of the
code that ptxas makes of some stored modules at -O0.

    python -m tests.cubin.regenerate_lines
"""

from __future__ import annotations

import json
import lzma
import subprocess
from pathlib import Path

from oric.support.elf import read

from tests.cubin.line_twins import lines_of, ptxas
from tests.ptx_corpus.archive import modules

FOLDER = Path(__file__).parents[1] / "data" / "lines"
TARGETS = ("75", "80", "90", "100", "120")
# Stored modules with line information: archive, name, target.
MODULES = (
    ("nvcc", "kernels.histogram.sm_80.lineinfo.ptx", "sm_80"),
    ("nvcc", "kernels.half2.sm_80.lineinfo.ptx", "sm_86"),
    ("nvcc", "kernels.softmax.sm_80.lineinfo.ptx", "sm_80"),
    ("nvcc", "kernels.switch.sm_80.lineinfo.ptx", "sm_90"),
    ("nvcc", "kernels.reduction.sm_80.lineinfo.ptx", "sm_120"),
    ("nvcc", "groups.sm_90.lineinfo.ptx", "sm_90"),
    ("nvcc", "kernels.sgemm.sm_75.G.ptx", "sm_75"),
    ("triton", "layer_norm.sm_80.ptx", "sm_80"),
    ("triton", "softmax_bf16.sm_90.ptx", "sm_90a"),
    ("triton", "random_numbers.sm_100.ptx", "sm_100a"),
    ("triton", "atomics_f16.sm_100.ptx", "sm_100a"),
    ("llc", "programs2.sm_80.g.llc19.ptx", "sm_80"),
)
GOLDEN = FOLDER / "golden.json.xz"
# Stored modules with debug data, whose functions are kernels all.
DEBUGGED = (
    "kernels.transpose.sm_75.G.ptx",
    "kernels.collatz.sm_75.G.ptx",
    "kernels.tables.sm_75.G.ptx",
    "kernels.sgemm.sm_75.G.ptx",
)
DEBUG = FOLDER / "debug.json.xz"


def stored() -> dict[str, tuple[str, str]]:
    """Text and target of every module of ``MODULES``, by its name."""
    wanted = {(archive, name): target for archive, name, target in MODULES}
    out = {}
    for archive in sorted({archive for archive, _, _ in MODULES}):
        for name, text in modules(archive):
            if (archive, name) in wanted:
                out[name] = (text, wanted[archive, name])
    return out


def with_debug_data() -> dict[str, str]:
    """The texts of ``DEBUGGED``."""
    return {name: text for name, text in modules("nvcc") if name in DEBUGGED}


def debug_data(image: bytes) -> dict[str, tuple[str, list[tuple[int, int, str]]]]:
    """Sections of debug data that a cubin has of the PTX: contents and relocations (place, type, symbol)."""
    cubin = read(image)
    made = (".debug_frame", ".debug_line", ".debug_str")
    found = [s for s in cubin.sections if s.name.startswith(".debug_") and s.name not in made]
    return {
        s.name: (
            bytes(s.data).hex(),
            sorted((r.offset, r.type, cubin.symbols[r.symbol].name) for r in cubin.relocations_of(s.index)),
        )
        for s in found
    }


def main() -> None:
    """Write the files."""
    for number in TARGETS:
        command = ["nvcc", "-lineinfo", "-ptx", f"-arch=compute_{number}", "lines.cu", "-o", "-"]
        text = subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, text=True).stdout
        text = text.replace(str(FOLDER), "/src")
        (FOLDER / f"lines.sm_{number}.ptx").write_text(text, encoding="utf-8")
        image = ptxas(text, f"sm_{number}", "-lineinfo")
        assert image is not None
        (FOLDER / f"lines.sm_{number}.cubin.xz").write_bytes(lzma.compress(image))
    golden = {}
    for name, (text, target) in stored().items():
        image = ptxas(text, target, "-O0", "-lineinfo")
        assert image is not None, name
        golden[name] = {kernel: [list(line) for line in code] for kernel, code in lines_of(image).items()}
    debugged = {}
    for name, text in with_debug_data().items():
        image = ptxas(text, "sm_75", "-g")
        assert image is not None, name
        debugged[name] = debug_data(image)
    DEBUG.write_bytes(lzma.compress(json.dumps(debugged, separators=(",", ":")).encode(), preset=9))
    GOLDEN.write_bytes(lzma.compress(json.dumps(golden, separators=(",", ":")).encode(), preset=9))


if __name__ == "__main__":
    main()

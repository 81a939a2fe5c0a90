"""What Triton makes of the kernels of triton_kernels.py; no GPU is needed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PTX = 90  # the newest version that ptxas 13.0 reads
NEUTRAL = Path("/tmp/ptx_corpus")  # the debug information spells out the folder of the kernels in bytes


def build(folder: Path) -> dict[str, str]:
    """Compile every case for each of its targets; what Triton refuses is named on standard error and left out."""
    for variable in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
        os.environ[variable] = shutil.which("ptxas") or ""
    out = {}
    for name, kernel, types, constants, targets, options in _cases():
        for target in targets:
            path = folder / f"{name}.sm_{target}.ptx"
            if not path.exists():
                text = _compile(kernel, types, constants, target, options)
                if text is None:
                    print(f"{path.name}: Triton cannot compile it", file=sys.stderr)
                    continue
                path.write_text(text)
            out[path.name] = path.read_text()
    return out


def _cases() -> list[Any]:
    NEUTRAL.mkdir(exist_ok=True)
    path = Path(shutil.copy(HERE / "triton_kernels.py", NEUTRAL))
    spec = importlib.util.spec_from_file_location("triton_kernels", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["triton_kernels"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.CASES)


def _compile(kernel: Any, types: list[str], constants: dict[str, Any], target: int, options: dict[str, Any]) -> str | None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    signature = dict(zip([n for n in names if n not in constants], types, strict=True))
    signature |= dict.fromkeys(constants, "constexpr")
    attributes = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if signature[n].startswith("*")}
    attributes |= {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n in ("K", "N", "sa", "sb", "sc", "stride")}
    source = ASTSource(kernel, signature, {(names.index(n),): v for n, v in constants.items()}, attributes)
    try:
        made = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"ptx_version": PTX, **options})
    except Exception as error:  # whatever stops Triton leaves a gap and a line
        print(f"{kernel.__name__}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
        return None
    return re.sub(r'"/[^"\n]*/(?=[^/"\n]*")', '"/build/', made.asm["ptx"])

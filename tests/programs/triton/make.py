"""Make the PTX anew: ``python -m tests.programs.triton --make [NAME ...]``; needs Triton (made with 3.6.0), no GPU."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import multiprocessing
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.programs.triton import stored
from tests.programs.triton.case import Instance, instances
from tests.programs.triton.measure import judge

PTX = 90  # the newest version that ptxas 13.0 reads
_PLACES = re.compile(r'"/[^"\n]*/(?=[^/"\n]*")')
_COMMENT = re.compile(r"^\s*//[^\n]*\n|[ \t]+// [\w.]+:\d+:\d+[^\n]*(?=\n)", re.M)
_DEBUG = re.compile(
    r"^\t\.section\t\.debug_\w+\n\t\{\n.*?^\t\}\n", re.M | re.S
)  # with places in the maker's file system, as bytes


def make(names: list[str]) -> int:
    """Compile instances, all of them or those named; returns the exit status."""
    if _missing():
        return 1
    for variable in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
        os.environ[variable] = os.environ.get(variable) or shutil.which("ptxas") or ""
    found = {n: stored.ptx(*_parts(n)) for n in stored.names()} if names and stored.FILE.exists() else {}
    todo = [(name, target) for name in names or instances() for target in instances()[name].targets]
    with multiprocessing.Pool(2) as pool:
        texts = dict(zip(todo, pool.imap(_text, todo, chunksize=4), strict=True))
    found |= {f"{name}.sm_{target}.ptx": text for (name, target), text in texts.items() if text}
    failed = sum(not text for text in texts.values())
    wanted = {f"{i.name}.sm_{t}.ptx" for i in instances().values() for t in i.targets}
    stored.write({n: text for n, text in found.items() if n in wanted})
    return int(failed > 0)


def drive(ptxas: str, which: list[tuple[str, int]]) -> int:
    """Have Triton compile instances to cubins with another program in place of ptxas; prints what fails."""
    if _missing():
        return 1
    failed = 0
    for variable in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
        os.environ[variable] = str(Path(ptxas).resolve())
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    for name, target in which:
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # where it prints the PTX with an error
                image = compiled(instances()[name], target).asm["cubin"]
            problem = judge(name, target, image, checked=False)
        except Exception as error:  # as Triton tells it
            problem = next(
                (line for line in str(error).splitlines() if "error" in line and "PTXAS" not in line), str(error)[:200]
            )
        failed += bool(problem)
        if problem:
            print(f"{name} sm_{target}: {problem}", flush=True)
    print(f"{len(which) - failed} of {len(which)} cubins are right")
    return int(failed > 0)


def _missing() -> bool:
    if importlib.util.find_spec("triton") is None:
        print("this needs Triton: pip install triton==3.6.0 (no GPU, no torch)", file=sys.stderr)
        return True
    return False


def _text(question: tuple[str, int]) -> str:
    name, target = question
    try:
        return text_of(instances()[name], target)
    except Exception as error:  # whatever stops Triton leaves a gap and a line
        print(f"{name} sm_{target}: {type(error).__name__}: {str(error)[-300:]}", file=sys.stderr)
        return ""


def _parts(file: str) -> tuple[str, int]:
    name, target = file.removesuffix(".ptx").split(".sm_")
    return name, int(target)


def compiled(instance: Instance, target: int) -> Any:
    """What Triton makes of an instance.

    Raises:
        Exception: Triton cannot compile it.
    """
    import triton  # type: ignore[import-not-found, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, unused-ignore]
    from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found, unused-ignore]
    from triton.compiler import ASTSource  # type: ignore[import-not-found, unused-ignore]

    file, function = instance.kernel.split(".")
    kernel = getattr(import_module(f"tests.programs.triton.kernels.{file}"), function)
    names = kernel.arg_names
    signature = dict(zip([n for n in names if n not in instance.constants], instance.types, strict=True))
    signature |= dict.fromkeys(instance.constants, "constexpr")
    aligned = [i for i, n in enumerate(names) if signature[n].startswith("*") or n in instance.aligned]
    values = {
        (names.index(n),): getattr(tl, v[3:]) if isinstance(v, str) and v.startswith("tl.") else v
        for n, v in instance.constants.items()
    }
    source = ASTSource(kernel, {n: signature[n] for n in names}, values, {(i,): [["tt.divisibility", 16]] for i in aligned})
    return triton.compile(source, target=GPUTarget("cuda", target, 32), options={"ptx_version": PTX, **instance.options})


def text_of(instance: Instance, target: int) -> str:
    """The PTX as it is stored: with a first line that says what a launch needs, without comments and debug sections.

    Raises:
        Exception: Triton cannot compile it.
    """
    made = compiled(instance, target)
    data = made.metadata
    tensors = [
        {k: m[k] for k in ("swizzle", "elem_size", "elem_type", "block_size", "fp4_padded")} for m in data.tensordesc_meta or ()
    ]
    facts = {
        "kernel": data.name,
        "warps": data.num_warps,
        "ctas": data.num_ctas,
        "shared": data.shared,
        "scratch": data.global_scratch_size,
        "tensors": [m | {"block_size": list(m["block_size"])} for m in tensors],
    }
    text = _COMMENT.sub("", _DEBUG.sub("", _PLACES.sub('"/build/', made.asm["ptx"])))
    text = re.sub(r"^\t\.section\t\.debug_\w+\t\{[^}]*\}\n", "", text, flags=re.M)
    return f"//{json.dumps(facts)}\n" + re.sub(r"^[ \t]*\n", "", text, flags=re.M)

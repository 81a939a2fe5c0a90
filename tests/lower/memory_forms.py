"""Loads, stores and hints to caches in every combination of qualifiers that ptxas takes, and what it makes of each.

    python -m tests.lower.memory_forms        # asks ptxas, writes tests/data/memory/operations.json

A form is a text with ``V`` for the value, ``A`` for the address and, where a policy follows, ``P``. What is kept of the code that
ptxas makes of it are the operations that touch memory or wait, without their registers: ``LDG.E.STRONG.GPU CCTL.IVALL``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from oric.sass import decode
from oric.support import elf

GOLDEN = Path(__file__).parents[1] / "data" / "memory" / "operations.json"
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
PTXAS = shutil.which("ptxas")
LEVEL = 3

_EVICT = ("", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate")
_PREFETCH = ("", ".L2::64B", ".L2::128B", ".L2::256B")
_HINT = ("", ".L2::cache_hint")
_SCOPES = (".cta", ".cluster", ".gpu", ".sys")
_SHARED = (".shared", ".shared::cta", ".shared::cluster")
_SPACES = (".global", "")
_KERNEL = """.visible .entry k{number}(.param .u64 in, .param .u64 out, .param .u64 policy)
{{
  .reg .b32 %v, %s, %t; .reg .b64 %i, %o, %p, %n;
  .shared .align 16 .b8 cell[512]; .local .align 16 .b8 own[32];
  ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.u64 %p, [policy];
  mov.u32 %t, %tid.x; mul.wide.u32 %n, %t, 4; add.u64 %i, %i, %n; add.u64 %o, %o, %n; {address}
{body}
  ret;
}}
"""
_SEEN = re.compile(r"(LDG|LD|LDS|LDL|STG|ST|STS|STL|MEMBAR|ERRBAR|CGAERRBAR|CCTL|CCTLL|NOP)\b[^ ]*")


def loads() -> Iterator[str]:
    """All forms of ld and ldu of 32 bits, local memory and constant banks apart, which have no orders."""
    for space in _SPACES:
        for weak, cop, hint, prefetch in product(("", ".weak"), ("", ".ca", ".cg", ".cs", ".lu", ".cv"), _HINT, _PREFETCH):
            yield f"ld{weak}{space}{cop}{hint}{prefetch}.u32"
        for evict, hint, prefetch in product(_EVICT[1:], _HINT, _PREFETCH):
            yield f"ld{space}{evict}{hint}{prefetch}.u32"
        for prefetch in _PREFETCH:
            yield f"ld.volatile{space}{prefetch}.u32"
        for order, scope, evict, hint, prefetch in product((".relaxed", ".acquire"), _SCOPES, _EVICT, _HINT, _PREFETCH):
            yield f"ld{order}{scope}{space}{evict}{hint}{prefetch}.u32"
        yield f"ld.mmio.relaxed.sys{space}.u32"
        yield f"ldu{space}.u32"
    for cop, hint, prefetch in product(("", ".ca", ".cg", ".cs"), _HINT, _PREFETCH):
        yield f"ld.global{cop}.nc{hint}{prefetch}.u32"
    for evict, hint, prefetch in product(_EVICT[1:], _HINT, _PREFETCH):
        yield f"ld.global.nc{evict}{hint}{prefetch}.u32"
    for space, cop in product(_SHARED, ("", ".ca", ".cg", ".cs", ".lu", ".cv")):
        yield f"ld{space}{cop}.u32"
    for space in _SHARED:
        yield f"ld.volatile{space}.u32"
        for order, scope in product((".relaxed", ".acquire"), _SCOPES):
            yield f"ld{order}{scope}{space}.u32"


def stores() -> Iterator[str]:
    """All forms of st of 32 bits, local memory apart."""
    for space in _SPACES:
        for weak, cop, hint in product(("", ".weak"), ("", ".wb", ".cg", ".cs", ".wt"), _HINT):
            yield f"st{weak}{space}{cop}{hint}.u32"
        for evict, hint in product(_EVICT[1:], _HINT):
            yield f"st{space}{evict}{hint}.u32"
        yield f"st.volatile{space}.u32"
        for order, scope, evict, hint in product((".relaxed", ".release"), _SCOPES, _EVICT, _HINT):
            yield f"st{order}{scope}{space}{evict}{hint}.u32"
        yield f"st.mmio.relaxed.sys{space}.u32"
    for space, cop in product(_SHARED, ("", ".wb", ".cg", ".cs", ".wt")):
        yield f"st{space}{cop}.u32"
    for space in _SHARED:
        yield f"st.volatile{space}.u32"
        for order, scope in product((".relaxed", ".release"), _SCOPES):
            yield f"st{order}{scope}{space}.u32"


def hints() -> Iterator[str]:
    """Instructions that move data between caches alone."""
    for space in _SPACES:
        for level in (".L1", ".L2", ".L2::evict_last", ".L2::evict_normal"):
            yield f"prefetch{space}{level}"
        yield f"discard{space}.L2"
        yield f"applypriority{space}.L2::evict_normal"
    yield "prefetch.local.L1"
    yield "prefetch.local.L2"
    yield "prefetchu.L1"


def forms() -> list[str]:
    """All of them."""
    return [*loads(), *stores(), *hints()]


def body(form: str) -> tuple[str, str]:
    """What makes the address of a form, and the instructions that use it; the value goes from ``in`` to ``out``."""
    place, address = "", "%i" if form.startswith("ld") else "%o"
    if ".shared" in form:
        place = "mov.u32 %s, cell; shl.b32 %v, %t, 2; add.u32 %s, %s, %v;"
        address = "%s"
    if ".local" in form:
        place, address = "mov.u64 %n, own;", "%n"
    policy = ", %p" if "cache_hint" in form else ""
    if form.startswith("ld"):
        filled = ""
        if address == "%s":
            filled = "ld.global.u32 %v, [%i]; st.shared.u32 [%s], %v; bar.sync 0; "
        return place, f"  {filled}{form} %v, [{address}]{policy}; st.global.u32 [%o], %v;"
    if form.startswith("st"):
        read = ""
        if address == "%s":
            read = " bar.sync 0; ld.shared.u32 %v, [%s]; st.global.u32 [%o], %v;"
        return place, f"  ld.global.u32 %v, [%i]; {form} [{address}], %v{policy};{read}"
    size = ", 128" if form.startswith(("discard", "applypriority")) else ""
    return place, f"  {form} [{address}]{size};"


def source(target: str, chosen: Iterable[str]) -> str:
    """A module with a kernel for each form, named by its place: ``k0`` ..."""
    kernels = []
    for number, form in enumerate(chosen):
        address, text = body(form)
        kernels.append(_KERNEL.format(number=number, address=address, body=text))
    return f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(kernels)


def operations(image: bytes, target: str) -> list[str]:
    """Of each kernel what touches memory or waits, in order."""
    cubin = elf.read(image)
    found: dict[int, str] = {}
    for section in cubin.sections:
        if section.name.startswith(".text.k"):
            lines = [instruction.text.partition("@")[0] or instruction.text for instruction in decode(section.data, target)]
            last = max(n for n, line in enumerate(lines) if line.startswith("EXIT"))
            found[int(section.name.removeprefix(".text.k"))] = " ".join(m[0] for line in lines[:last] if (m := _SEEN.match(line)))
    return [found[number] for number in sorted(found)]


def by_ptxas(target: str, chosen: list[str]) -> list[str]:
    """What ptxas makes of forms; "" where it refuses or crashes."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "forms.ptx"), Path(folder, "forms.cubin")
        path.write_text(source(target, chosen))
        done = subprocess.run(
            [str(PTXAS), f"-arch={target}", f"-O{LEVEL}", str(path), "-o", str(out)], capture_output=True, check=False
        )
        if not done.returncode:
            return operations(out.read_bytes(), target)
    if len(chosen) == 1:
        return [""]
    half = len(chosen) // 2
    return by_ptxas(target, chosen[:half]) + by_ptxas(target, chosen[half:])


def golden() -> dict[str, dict[str, str]]:
    """Form -> target -> what ptxas makes of it."""
    found: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text())
    rows = {names: {t: made for targets, made in row.items() for t in targets.split()} for names, row in found.items()}
    return {form: row for names, row in rows.items() for form in names.split()}


def main() -> None:
    """Ask ptxas. Forms of which it makes the same stand together, and targets for which it does."""
    chosen = forms()
    answers = {target: by_ptxas(target, chosen) for target in TARGETS}
    rows: dict[str, list[str]] = {}
    for number, form in enumerate(chosen):
        row: dict[str, list[str]] = {}
        for target in TARGETS:
            row.setdefault(answers[target][number], []).append(target)
        same = {" ".join(targets): made for made, targets in row.items() if made}
        rows.setdefault(json.dumps(same), []).append(form)
    lines = [f"  {json.dumps(' '.join(names))}:\n    {row}" for row, names in rows.items()]
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(chosen)} forms, {len(rows)} kinds of answers")


if __name__ == "__main__":
    main()

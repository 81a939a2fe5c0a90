"""Options that change scalar code: qualifiers that loads and stores get, exits that wait for errors, annotations, and those
that change nothing.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.cli import main
from oric.sass import decode
from oric.support import elf

from .memory_forms import PTXAS, golden, loads, operations, source, stores
from .test_memory_forms import MODES

KERNELS = Path(__file__).parents[1] / "kernels"
ANSWERS = golden()
TARGETS = ("sm_75", "sm_90", "sm_120")
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="no ptxas here: what it makes is not compared")
# What no cache operator changes: orders, other state spaces, priorities of the first level.
_FIRM = re.compile(r"\.(volatile|relaxed|acquire|release|mmio|shared|local|const|param|L1::)")


def by_command(options: str, text: str, target: str, folder: Path) -> bytes:
    """The cubin of a module by our command."""
    path, out = folder / "a.ptx", folder / "a.cubin"
    path.write_text(text)
    assert main(["-arch", target, *options.split(), str(path), "-o", str(out)], "oric") == 0
    return out.read_bytes()


def by_ptxas(options: str, text: str, target: str, folder: Path) -> bytes:
    """The same by ptxas."""
    path, out = folder / "v.ptx", folder / "v.cubin"
    path.write_text(text)
    subprocess.run([str(PTXAS), "-arch", target, *options.split(), str(path), "-o", str(out)], check=True, capture_output=True)
    return out.read_bytes()


# -- cache operators -------------------------------------------------------------------------------------------------

CASES = [  # option, whether it replaces an operator that stands there, instructions, value
    ("-dlcm", False, "ld", "ca"), ("-dlcm", False, "ld", "cg"), ("-def-load-cache", False, "ld", "cs"),
    ("-dlcm", False, "ld", "cv"),
    ("-flcm", True, "ld", "cg"), ("-flcm", True, "ld", "cs"), ("-force-load-cache", True, "ld", "lu"),
    ("-dscm", False, "st", "wb"), ("-def-store-cache", False, "st", "cs"), ("-fscm", True, "st", "wt"),
    ("-force-store-cache", True, "st", "cg"),
]  # fmt: skip
OPERATORS = {"ld": ("ca", "cg", "cs", "lu", "cv"), "st": ("wb", "cg", "cs", "wt")}


def with_operator(form: str, kind: str, value: str, forced: bool) -> str:
    """The form that an option makes of one, by the rules that ptxas was seen to follow."""
    if not form.startswith(kind) or _FIRM.search(form):
        return form
    words = form.split(".")
    there = [word for word in words if word in OPERATORS[kind]]
    if there and not forced:
        return form
    words = [word for word in words if word not in there]
    if "nc" in words and value in ("lu", "cv"):  # no form has both
        return ".".join(words)
    words[0] = kind  # ldu has no operator of its own in PTX, but gets that of ld
    at = words.index("global") + 1 if "global" in words else 2 if "weak" in words else 1
    return ".".join([*words[:at], value, *words[at:]])


def rewritten(text: str, kind: str, value: str, forced: bool) -> str:
    """A module with the operators written out."""
    return re.sub(r"\b(ldu?|st)\.[\w.:]+", lambda found: with_operator(found[0], kind, value, forced), text)


def plain_forms(target: str) -> list[str]:
    """Forms that the target has, without orders, which options leave alone, but for some."""
    forms = [form for form in (*loads(), *stores()) if target in ANSWERS[form]]
    return [form for n, form in enumerate(forms) if not _FIRM.search(form) or n % 16 == 0]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("option", "forced", "kind", "value"), CASES)
@pytest.mark.parametrize("target", [pytest.param(t, marks=[pytest.mark.measure] * (t == "sm_120")) for t in TARGETS])
def test_cache_operators(option: str, forced: bool, kind: str, value: str, target: str, tmp_path: Path) -> None:
    """The code is that of a module in which the operators are written out."""
    text = source(target, plain_forms(target)[:: 1 if forced else 3])
    other = rewritten(text, kind, value, forced)
    assert other.count(f".{value}") > text.count(f".{value}") + 8
    long = f"-{option}" if option.count("-") > 1 else option
    made = by_command(f"{long}={value}", text, target, tmp_path)
    assert operations(made, target) == operations(oric.compile(other, arch=target).image, target)
    assert operations(made, target) != operations(oric.compile(text, arch=target).image, target)


@needs_ptxas
@pytest.mark.measure
@pytest.mark.parametrize(("option", "forced", "kind", "value"), CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_cache_operators_as_ptxas(option: str, forced: bool, kind: str, value: str, target: str, tmp_path: Path) -> None:
    text = source(target, [form for form in plain_forms(target) if "L1::" not in form])
    long = f"-{option}" if option.count("-") > 1 else option
    made = [build(f"{long}={value}", text, target, tmp_path) for build in (by_command, by_ptxas)]
    assert operations(made[0], target) == operations(made[1], target)


# -- exits -----------------------------------------------------------------------------------------------------------

EXITS = """.version 8.0
.target sm_75
.address_size 64
.func leave(.reg .b32 %a) { .reg .pred %q; setp.eq.u32 %q, %a, 7; @%q exit; ret; }
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  setp.eq.u32 %p1, %r1, 3; @%p1 exit;
  setp.eq.u32 %p2, %r1, 5; @%p2 ret;
  call leave, (%r1);
  st.global.u32 [%d1], %r1;
  ret;
}
"""


def texts(image: bytes, target: str) -> list[str]:
    """The instructions of the kernel."""
    (section,) = (s for s in elf.read(image).sections if s.name.startswith(".text."))
    return [instruction.text for instruction in decode(section.data, target)]


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_exits_that_wait_for_errors(target: str, level: int, tmp_path: Path) -> None:
    """In front of every exit stand the barriers of errors, under its guard; the file tells it; the results are the same."""
    image = by_command(f"-make-errors-visible-at-exit -O{level}", EXITS, target, tmp_path)
    lines = texts(image, target)
    waits = ["ERRBAR"] + ["CGAERRBAR"] * (target not in ("sm_75", "sm_80"))
    exits = [n for n, line in enumerate(lines) if re.search(r"\bEXIT\b", line)]
    assert len(exits) >= 3
    for before, n in zip([-1, *exits], exits, strict=False):
        guard = re.match(r"@!?P\d |", lines[n])[0]  # type: ignore[index]
        part = lines[before + 1 : n]
        at = [line.rstrip(" ;") for line in part].index(f"{guard}ERRBAR")
        assert [line.rstrip(" ;") for line in part[at:] if "ERRBAR" in line] == [f"{guard}{wait}" for wait in waits]
        assert not any(re.search(r"\b(LD|ST|ATOM|RED)", line) for line in part[at:])
    assert sum("ERRBAR" in line for line in lines) == len(exits) * len(waits)
    (info,) = (s for s in elf.read(image).sections if s.name == ".nv.info")
    assert info.data.count(b"\x01\x53\x00\x00") == 1
    out = np.full(16, 99, np.uint32)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(16, 1, 1), args=[out], modes=MODES)
    assert not done.reports
    assert out.tolist() == [99 if n in (3, 5, 7) else n for n in range(16)]
    assert not any("ERRBAR" in line for line in texts(oric.compile(EXITS, arch=target).image, target))


# -- annotations ------------------------------------------------------------------------------------------------------


def annotation(image: bytes, name: str) -> bytes:
    """The record of annotations of a kernel; empty when there is none."""
    (info,) = (s for s in elf.read(image).sections if s.name == f".nv.info.{name}")
    at = 0
    while at < len(info.data):
        form, code, value = info.data[at], info.data[at + 1], int.from_bytes(info.data[at + 2 : at + 4], "little")
        at += 4
        if form == 4:
            if code == 0x55:
                return info.data[at : at + value]
            at += value
    return b""


@pytest.mark.row("R4-52")
@pytest.mark.parametrize("target", TARGETS)
def test_annotations(target: str, tmp_path: Path) -> None:
    """The numbers of instructions, without what fills the section up, and of registers, as the rest of the file has them."""
    image = by_command("-annotate", EXITS, target, tmp_path)
    lines = texts(image, target)
    count = max(n for n, line in enumerate(lines) if "EXIT" in line) + 1
    record = annotation(image, "k")
    kind, length = (int.from_bytes(record[n : n + 4], "little") for n in (0, 4))
    registers = oric.compile(EXITS, arch=target).kernels["k"].registers
    assert record[8 : 8 + length] == f"instr/R-regs: {count} instructions, {registers} R-regs".encode() + b"\0"
    assert kind == 3 and len(record) % 4 == 0 and not record[8 + length :].strip(b"\0")
    assert annotation(oric.compile(EXITS, arch=target).image, "k") == b""


@needs_ptxas
@pytest.mark.parametrize("target", TARGETS)
def test_annotations_are_laid_out_as_ptxas_does(target: str, tmp_path: Path) -> None:
    ours, theirs = (annotation(build("-annotate", EXITS, target, tmp_path), "k") for build in (by_command, by_ptxas))
    assert re.sub(rb"\d+ ", b"# ", theirs[8:]).rstrip(b"\0") == re.sub(rb"\d+ ", b"# ", ours[8:]).rstrip(b"\0")
    assert theirs[:4] == ours[:4]


# -- options without effect -----------------------------------------------------------------------------------------------

IDLE = ("-no-bb-merge", "-ret-end", "-pic=true", "-allow-expensive-optimizations=false", "-gno-tmem-access-check")


def code_of(image: bytes) -> dict[str, bytes]:
    """Sections whose contents are code, data or records."""
    kept = (".text.", ".nv.info", ".nv.constant", ".nv.global")
    return {s.name: s.data for s in elf.read(image).sections if s.name.startswith(kept)}


@needs_ptxas
@pytest.mark.measure
@pytest.mark.parametrize("option", IDLE)
@pytest.mark.parametrize("name", ["bits", "divrem", "histogram", "nests", "jump_table"])
def test_options_that_change_nothing(option: str, name: str, tmp_path: Path) -> None:
    """Neither of ptxas's code nor of ours."""
    text = (KERNELS / f"{name}.sm_80.ptx").read_text()
    for build in (by_command, by_ptxas):
        with_it, without = (code_of(build(words, text, "sm_90", tmp_path)) for words in (option, ""))
        assert with_it == without

"""The golden data against this package: text, registers, and words that decode and encode to themselves."""

from __future__ import annotations

from typing import Any

from oric.sass.code import Code
from oric.support import elf
from oric.support.targets import find_model
from oric_tables._native import ffi, lib

from . import golden, judge, targets

Difference = tuple[int, str, str]  # word, what nvdisasm says, what this package says
# Where life ranges do not show what an instruction reads and writes.
LIFE_RANGES = {
    "CALL": "life ranges show what the callee may change",
    "P2R": "life ranges leave out the predicates that the mask selects",
    "R2P": "life ranges leave out the predicates that the mask selects",
    "UP2UR": "life ranges leave out the predicates",
    "UR2UP": "life ranges leave out the predicates",
    "LDGSTS": "life ranges show the predicate that turns the copy off as written too",
}
# Of these models life ranges show one register of the second result and of the second source of textures.
_SHORT_TEXTURES = frozenset({"sm_100", "sm_103", "sm_110", "sm_120"})
_TEXTURES = frozenset({"TEX", "TLD", "TLD4", "TXD"})
# What code for sm_87 begins with; life ranges leave UR2 out there.
_PROLOGUE = frozenset({"UMOV UR2, 0x1", "ISETP.NE.U32.AND P0, PT, RZ, UR2, PT"})
_NO_OPERATION = 3 << 102 | 15 << 122  # performance monitor triggers, reuse of operands
_LAST_UNIFORM = 62  # life ranges have columns for UR0 to UR62


def name(text: str) -> str:
    """The operation that a text begins with, without guard and modifiers."""
    return text.split(" ")[text.startswith("@")].partition(".")[0]


def isa_of(model: str) -> int:
    """The number of an encoding model, as the C code counts them."""
    return find_model(targets.MODELS[model][0])


def texts(model: str, words: list[golden.Word] | None = None) -> list[Difference]:
    """Words whose text differs; "" stands for a word that this package does not decode."""
    isa = isa_of(model)
    words = golden.words(model) if words is None else words
    data = b"".join(w.word.to_bytes(16, "little") for w in words)
    code = Code(isa, data)
    bad = set(code.bad)
    out = []
    buffer = ffi.new("char[]", 1024)
    for i, w in enumerate(words):
        said = ""
        if i not in bad:
            lib.oric_print(isa, code.insns + i, w.address, ffi.NULL, ffi.NULL, buffer, 1024)
            said = ffi.string(buffer).decode()
        if said != w.text:
            out.append((w.word, w.text, said))
    return out


def unexplained(model: str) -> dict[tuple[str, tuple[int, ...]], str]:
    """Operation and bits of it that no field of the specification explains -> a text; the simulator refuses such words."""
    words = golden.words(model)
    code = Code(isa_of(model), b"".join(w.word.to_bytes(16, "little") for w in words))
    bad = set(code.bad)
    found = {}
    for i, w in enumerate(words):
        residue = code.insns[i].residue
        bits = (residue[0] | residue[1] << 64) & ~_NO_OPERATION
        if bits and i not in bad:
            found[name(w.text), tuple(b for b in range(128) if bits >> b & 1)] = w.text
    return found


def round_trips(model: str, cubins: list[golden.Cubin] | None = None) -> list[Difference]:
    """Words of the code, scheduling bits included, that decode but do not encode to themselves."""
    isa = isa_of(model)
    seen: dict[int, None] = {}
    for cubin in golden.cubins(model) if cubins is None else cubins:
        for data in judge.code(cubin.image).values():
            seen.update(dict.fromkeys(judge.words(data)))
    words = list(seen)
    code = Code(isa, b"".join(w.to_bytes(16, "little") for w in words))
    bad = set(code.bad)
    out = []
    again = ffi.new("uint64_t[2]")
    for i, word in enumerate(words):
        if i in bad:
            continue
        error = lib.oric_encode(isa, code.insns + i, again)
        got = again[0] | again[1] << 64
        if error or got != word:
            out.append((word, "itself", f"error {error}" if error else f"{got:032x}"))
    return out


def comparable(model: str, word: golden.Word) -> bool:
    """Whether life ranges show the registers of an instruction, the same wherever it stands."""
    short = model in _SHORT_TEXTURES and name(word.text) in _TEXTURES
    return word.registers != golden.DIFFERS and not short and word.text not in _PROLOGUE


def registers(model: str, words: list[golden.Word] | None = None) -> list[Difference]:
    """Words whose written and read registers differ from those of nvdisasm's life ranges."""
    words = golden.words(model) if words is None else words
    words = [w for w in words if comparable(model, w)]
    code = Code(isa_of(model), b"".join(w.word.to_bytes(16, "little") for w in words))
    bad = set(code.bad)
    out = []
    for i, (w, uses) in enumerate(zip(words, code.uses(), strict=True)):
        if i not in bad and _facts(uses) != _sorted(w.registers):
            written, read = _facts(uses)
            out.append((w.word, f"{w.text} {w.registers}", f"{','.join(written)}={','.join(read)}"))
    return out


def _facts(uses: list[Any]) -> tuple[list[str], list[str]]:
    shown = [u for u in uses if u.file != "B"]  # life ranges have no barrier registers
    written, read = (
        sorted({n for u in shown if u.writes == writes for n in u.names if _has_column(n)}) for writes in (True, False)
    )
    return written, read


def _has_column(register: str) -> bool:
    return not register.startswith("UR") or int(register[2:]) <= _LAST_UNIFORM


def _sorted(registers: str) -> tuple[list[str], list[str]]:
    written, read = registers.split("=")
    return sorted(filter(None, written.split(","))), sorted(filter(None, read.split(",")))


def kernels(model: str) -> dict[str, int]:
    """How many functions each target of a model has in the corpus."""
    counts: dict[str, int] = {}
    for cubin in golden.cubins(model):
        counts[cubin.target] = counts.get(cubin.target, 0) + len(elf.read(cubin.image).functions)
    return counts

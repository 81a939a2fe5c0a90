"""Machine words for tests: random but legal fields for every form of the encoding rows."""

from __future__ import annotations

import random
from pathlib import Path

from oricgen.isa import rows
from oricgen.isa.model import Form, FormOperand, Machine, Operand, Operation

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests/data/vectors"
PLAIN_CONTROL = 7 << 8 | 7 << 5 | 1 << 4 | 5  # stall 5, no scoreboards
_SPECIAL_WORDS = (
    0, 1, 2, 0x10000, 0x80000000, 0xFFFFFFFF, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x8000, 0x3C003C00, 0x7C00BC00,
)  # fmt: skip


def load() -> Machine:
    """The machine model of this checkout."""
    return rows.load(specification.spec())


def word_of(operation: Operation, form: Form, rng: random.Random, turn: int) -> int:
    """A legal word of ``form``; modifier values take turns so that ``turn`` = 0, 1, 2 ... meets all of them."""
    codes = [_raw_values(m.decode)[(turn + i) % len(_raw_values(m.decode))] for i, m in enumerate(form.mods)]
    word = form.value | form.fixed
    for mod, raw in zip(form.mods, codes, strict=True):
        if mod.bits.mask & form.mask:  # the form says part of the value
            fitting = [r for r in _raw_values(mod.decode) if (mod.bits.place(r) ^ form.value) & form.mask & mod.bits.mask == 0]
            raw = fitting[turn % len(fitting)]
        word = word & ~mod.bits.mask | mod.bits.place(raw)
    widths = _register_counts(operation, form, word)
    reuse = False
    for place in form.operands:
        if place.same:
            continue
        word |= _operand(operation.operands[place.index], place, widths[place.index], "{base}" in form.text, rng)
        for bit in (place.neg, place.abs, place.inv):
            if bit >= 0 and rng.random() < 0.3:
                word |= 1 << bit
        if place.reuse >= 0 and rng.random() < 0.2:
            word |= 1 << place.reuse
            reuse = True
    guard = 7 if rng.random() < 0.8 else rng.randrange(16)
    control = PLAIN_CONTROL
    if not reuse and rng.random() < 0.5:
        control = rng.randrange(1, 12) | 1 << 4 | 7 << 5 | 7 << 8 | rng.randrange(64) << 11
    return word | guard << 12 | control << 105


def _raw_values(decode: tuple[int, ...]) -> list[int]:
    return [raw for raw, code in enumerate(decode) if code >= 0]


def _register_counts(operation: Operation, form: Form, word: int) -> list[int]:
    codes = {m.mod: m.decode[m.bits.extract(word)] for m in form.mods}
    out = []
    for registers in operation.registers:
        at = shift = 0
        for mod in registers.mods:
            at |= codes.get(mod, 0) << shift
            shift += operation.mods[mod].width
        out.append(registers.table[at])
    return out


def _operand(operand: Operand, place: FormOperand, count: int, wide_base: bool, rng: random.Random) -> int:
    bits = place.bits
    top = (1 << bits.width) - 1
    if place.kind in ("gpr", "ugpr"):
        if rng.random() < 0.15 and operand.name not in ("desc", "URa") and not wide_base:
            return bits.mask
        last = (top - 1) // 4 * 4
        return bits.place(rng.randrange(0, last, (1, 1, 2, 4)[min(count, 3)]))
    if place.kind in ("pred", "upred"):
        number = 7 if rng.random() < 0.3 else rng.randrange(7)
        return bits.place(7 - number if place.invert else number)
    if place.kind == "breg":
        return bits.place(rng.randrange(min(top + 1, 16)))
    if place.kind == "sb":
        return bits.place(rng.randrange(6))
    if place.kind == "sreg":
        return bits.place(rng.choice((0, 1, 2, 32, 33, 34, 35, 37, 38, 39, 80, 81, 255)))
    if place.second is not None:
        second = place.second.place(rng.randrange(0, min(18, (1 << place.second.width) - 1), 2))
        return bits.place(rng.randrange(top + 1) & ~7) | second
    if place.kind == "label":
        return bits.place(rng.randrange(-100, 100) * 4 >> (2 - place.shift) & top)
    if bits.width == 32 and rng.random() < 0.5:
        return bits.place(rng.choice(_SPECIAL_WORDS))
    return bits.place(rng.randrange(top + 1) & ~(3 if bits.width > 13 and bits.width != 32 else 0))


def turns(form: Form) -> int:
    """How many words of a form meet every value of every modifier, at least four and at most sixteen."""
    return max([4, *(min(16, len(_raw_values(m.decode))) for m in form.mods)])


def families(isa: str) -> list[str]:
    """The files of spec/encoding, without suffix, that have golden vectors for an ISA."""
    return sorted(path.stem for path in (VECTORS / isa).glob("*.txt"))


def family_of(operation: Operation) -> str:
    """The file of spec/encoding that an operation is in, without suffix."""
    return Path(operation.path).stem


def vectors(isa: str, family: str = "*") -> list[tuple[int, str]]:
    """The golden vectors of an ISA, of one file of spec/encoding or all: (word, text of nvdisasm)."""
    lines = [
        line for path in sorted((VECTORS / isa).glob(f"{family}.txt")) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [(int(line[:32], 16), line[33:].removesuffix(" ;")) for line in lines if not line.startswith("#")]

"""A machine word drawn as two rows of 64 letters, with a legend."""

from __future__ import annotations

from ..isa import bits
from ..isa.model import Form, FormOperand, Operation

_OPCODE = 0xFFF
_GUARD = 12
_CONTROL = range(105, 126)
_MARKS = (("-", "neg"), ("|", "abs"), ("~", "inv"))
KEY = "0 1 opcode and bits with a fixed value   . zero   !@@@ guard   : control   - | ~ sign bits of the operand above"


def picture(operation: Operation, form: Form) -> list[str]:
    """The word from bit 127 to 0 in two lines, then what each letter stands for, an entry a letter."""
    word = ["."] * bits.WORD
    for bit in range(bits.WORD):
        if form.mask >> bit & 1:
            word[bit] = str(form.value >> bit & 1)
        elif form.fixed >> bit & 1:
            word[bit] = "1"
    for bit in _CONTROL:
        word[bit] = ":"
    word[_GUARD : _GUARD + 4] = "@@@!"
    legend: list[tuple[int, str]] = []
    letters: set[str] = set()
    for place in form.operands:
        name = operation.operands[place.index].name
        letter = _letter(name[::-1].lower(), letters, "abcdefghijklmnopqrstuvwxyz")
        _paint(word, place.bits, letter)
        if place.second:
            _paint(word, place.second, letter)
        for sign, attribute in _MARKS:
            if getattr(place, attribute) >= 0:
                word[getattr(place, attribute)] = sign
        legend.append((place.bits.positions[0], f"{letter} {name} {operand_place(place)}"))
    for mod in form.mods:
        name = operation.mods[mod.mod].name
        letter = _letter(name.upper(), letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        _paint(word, mod.bits, letter)
        legend.append((mod.bits.positions[0], f"{letter} {name} {mod.bits}"))
    rows = ["".join(word[low : low + 64])[::-1] for low in (64, 0)]
    lines = [f"{high:>3} {' '.join(row[i : i + 8] for i in range(0, 64, 8))}" for high, row in zip((127, 63), rows, strict=True)]
    return [*lines, *(words for _, words in sorted(legend))]


def operand_place(place: FormOperand) -> str:
    """``gpr 24-31 (- 72, | 73, reuse 122)``: number format and bits of an operand."""
    extra = [f"{sign} {getattr(place, attribute)}" for sign, attribute in _MARKS if getattr(place, attribute) >= 0]
    extra += [f"reuse {place.reuse}"] if place.reuse >= 0 else []
    extra += [f"also {place.second}"] if place.second else []
    extra += [f"shifted right by {place.shift}"] if place.shift else []
    return f"{place.spec} {place.bits}" + (f" ({', '.join(extra)})" if extra else "")


def _paint(word: list[str], field: bits.Bits, letter: str) -> None:
    for position in field.positions:
        word[position] = letter


def _letter(wanted: str, taken: set[str], alphabet: str) -> str:
    """A letter of the name that is free, or any free one."""
    letter = next((c for c in [*wanted, *alphabet] if c in alphabet and c not in taken), "?")
    taken.add(letter)
    return letter

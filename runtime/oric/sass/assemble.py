"""Text of one instruction to its word, and what a text does not show.

The C code of ``sass/assemble.c`` matches a text against the templates that print it. Where a word has bits that its text does
not show (an operand that is not printed, the payload of a NaN, ignored bits that real code has otherwise), they are written
behind the instruction as ``^{desc=UR4}`` or, when they belong to no single operand or modifier, as positions: ``^{72,101-103}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.registers import INSN_PT, INSN_RZ

from .code import INSTRUCTION_BYTES, Code
from .instruction import explain

WORD_BITS: Final = 128
_FIELDS: Final = {lib.ORIC_K_GPR: "R", lib.ORIC_K_UGPR: "UR", lib.ORIC_K_PRED: "P", lib.ORIC_K_UPRED: "UP"}
_RESERVED: Final = {lib.ORIC_K_GPR: INSN_RZ, lib.ORIC_K_UGPR: INSN_RZ, lib.ORIC_K_PRED: INSN_PT, lib.ORIC_K_UPRED: INSN_PT}
_ITEM: Final = re.compile(r"(?P<low>\d+)(?:-(?P<high>\d+))?\Z|(?P<name>\w+)=(?P<value>!?[\w.]+)\Z")
_NAMED: Final = re.compile(r"`\(|\b\d+@\w+\(|\bfun@\w+\(")
_MOST_WISHES: Final = 8
_WHOLE: Final = "word="  # all bits, where the text itself does not assemble
_EVERY_BIT: Final = (1 << WORD_BITS) - 1


class TextError(Exception):
    """A text that is no instruction; ``column`` is the offset in it of what does not fit."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


class Assembler:
    """Turns texts into words for one encoding model (``Target.isa``)."""

    def __init__(self, isa: int) -> None:
        self.isa = isa
        self._word = ffi.new("uint64_t[2]")
        self._misfit = ffi.new("oric_misfit *")
        self._insn = ffi.new("oric_insn *")

    def word(
        self,
        text: str,
        offset: int,
        control: int,
        targets: Mapping[str, int] | None = None,
        immediate: str = "",
        unseen: str = "",
    ) -> int:
        """The 128-bit word of ``text`` (no guard is ``@PT``) at byte ``offset`` with these 17 control bits.

        Args:
            targets: texts of branch targets -> their byte offsets.
            immediate: text that stands for an immediate operand 0, which a relocation fills.
            unseen: what stands between the braces of ``^{}`` behind the instruction.

        Raises:
            TextError: no instruction reads like that, or it cannot be encoded.
        """
        if unseen.startswith(_WHOLE):
            return _whole(unseen)
        keep: list[Any] = []
        given = ffi.NULL
        if targets:
            keep = [ffi.new("char[]", name.encode()) for name in targets]
            address = ffi.new("uint64_t[]", [value % (1 << 64) for value in targets.values()])
            pointers = ffi.new("char *[]", keep)
            keep += [address, pointers]
            given = ffi.new("oric_labels *", {"n": len(targets), "address": address, "text": pointers})
        stands = immediate.encode() if immediate else ffi.NULL
        error = lib.oric_assemble(self.isa, text.encode(), offset, control, given, stands, self._word, self._misfit)
        if error:
            raise self._complaint(text)
        word = int(self._word[0] | self._word[1] << 64)
        return self._apply(word, unseen) if unseen else word

    def _complaint(self, text: str) -> TextError:
        misfit = self._misfit
        column = len(text.encode()[: misfit.column].decode(errors="ignore"))
        error = misfit.error & 0xFF
        if error == lib.ORIC_E_OPERATION:
            return TextError(_unknown(text[column:], self.isa), column)
        if error != lib.ORIC_E_WORD:
            return TextError(explain(misfit.error, _word_at(text, column)), column)
        wishes = [w.strip() for w in ffi.string(misfit.want).decode().split("\n") if w.strip()]
        if not wishes:
            return TextError("no form of this instruction reads like that", column)
        listed = ", ".join(wishes[:_MOST_WISHES]) + (" ..." if len(wishes) > _MOST_WISHES else "")
        found = text[column : column + 20].strip()
        return TextError(f"expected {listed}; found '{found}'" if found else f"expected {listed}; the text ends here", column)

    # -- what the text does not show ---------------------------------------------------------------------------

    def unseen(self, word: int, assembled: int) -> str:
        """The text between the braces that makes ``word`` of what its text assembles to; "" when that is the word."""
        if word == assembled:
            return ""
        out = list(self._named(word, assembled))
        rest = word ^ self._apply(assembled, ",".join(out))
        return ",".join([*out, *_runs(rest)])

    def _named(self, word: int, assembled: int) -> Iterator[str]:
        """Registers that differ while the operation, operand for operand, is the same."""
        old, new = self._decoded(assembled), self._decoded(word)
        if old is None or new is None or (old.op, old.form) != (new.op, new.form):
            return
        if lib.oric_aligned(new):  # what the encoder refuses has no name
            return
        for number, slot in enumerate(ops.op(new.op).operands):
            a, b = old.ops[number], new.ops[number]
            if b.kind == a.kind and b.kind in _FIELDS and (a.reg, a.flags & ~8) != (b.reg, b.flags & ~8) and not b.flags & ~9:
                prefix = _FIELDS[b.kind]
                register = prefix + ("Z" if prefix.endswith("R") else "T") if b.reg == _RESERVED[b.kind] else f"{prefix}{b.reg}"
                yield f"{slot.name}={'!' if b.flags & 1 else ''}{register}"

    def _decoded(self, word: int) -> Any:
        words = ffi.new("uint64_t[2]", [word & (1 << 64) - 1, word >> 64])
        insn = ffi.new("oric_insn *")
        return insn if lib.oric_decode(self.isa, words, insn) == lib.ORIC_E_OK else None

    def _apply(self, word: int, unseen: str) -> int:
        flips = 0
        for item in filter(None, (part.strip() for part in unseen.split(","))):
            match = _ITEM.match(item)
            if match is None:
                raise TextError(f"'{item}' is neither a bit, a range of bits, nor OPERAND=REGISTER", 0)
            if match["name"]:
                word = self._put(word, match["name"], match["value"])
                continue
            low, high = int(match["low"]), int(match["high"] or match["low"])
            if not low <= high < WORD_BITS:
                raise TextError(f"'{item}' is no range of bits 0 to {WORD_BITS - 1}", 0)
            flips |= (1 << high + 1) - (1 << low)
        return word ^ flips

    def _put(self, word: int, name: str, value: str) -> int:
        insn = self._decoded(word)
        op = ops.OPS[insn.op] if insn is not None else None
        if op is None or name not in [o.name for o in op.operands]:
            raise TextError(f"the instruction has no operand '{name}'", 0)
        operand = insn.ops[op.index(name)]
        prefix = _FIELDS.get(operand.kind)
        match = re.fullmatch(rf"(!?){prefix}(?:(\d{{1,3}})|[ZT])", value) if prefix else None
        if match is None:
            raise TextError(f"'{value}' cannot be the operand '{name}' of the instruction", 0)
        operand.reg = int(match[2]) if match[2] else _RESERVED[operand.kind]
        operand.flags = operand.flags & ~1 | bool(match[1])
        words = ffi.new("uint64_t[2]")
        if error := lib.oric_encode_form(self.isa, insn, words) or lib.oric_aligned(insn):
            raise TextError(f"{name}={value}: {explain(error)}", 0)
        return int(words[0] | words[1] << 64)


def unseen_parts(code: Code, relocated: Mapping[int, tuple[str, str]]) -> dict[int, str]:
    """Number of an instruction -> what its text does not show, as it stands between the braces of ``^{}``.

    ``relocated`` maps numbers to (text, text of the immediate operand) of the instructions with a text for that operand.
    Instructions without a word of their own (``Code.bad``) have none.
    """
    differ = ffi.new("uint64_t[]", max(2 * code.count, 1))
    lib.oric_unseen_all(code.isa, code.words, code.insns, code.count, 0, differ)
    flat: Sequence[int] = ffi.unpack(differ, 2 * code.count)
    changed = {n // 2 for n, bits in enumerate(flat) if bits} - relocated.keys()
    assembler = Assembler(code.isa)
    controls = code.controls() if relocated else []
    out = {}
    for number in sorted(changed):
        word, bits = code.word(number), flat[2 * number] | flat[2 * number + 1] << 64
        out[number] = f"{_WHOLE}{word:#x}" if bits == _EVERY_BIT else assembler.unseen(word, word ^ bits)
    for number, (text, immediate) in relocated.items():
        word = code.word(number)
        try:
            found = assembler.unseen(word, assembler.word(text, number * INSTRUCTION_BYTES, controls[number], {}, immediate))
        except TextError:
            found = f"{_WHOLE}{word:#x}"
        if found:
            out[number] = found
    return out


def operand_texts(text: str) -> list[str]:
    """The operands of a text that stand for something named: `` `(label)``, ``32@lo(symbol)``."""
    out = []
    place = 0
    while (match := _NAMED.search(text, place)) is not None:
        place, depth = match.end(), 1
        while place < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[place], 0)
            place += 1
        out.append(text[match.start() : place])
    return out


@cache
def mnemonics(isa: int) -> tuple[str, ...]:
    """Every mnemonic of an encoding model, without modifiers, in order of the alphabet."""
    out: list[str] = []
    size = ffi.new("int *")
    while (name := lib.oric_mnemonic(isa, len(out), size)) != ffi.NULL:
        out.append(bytes(ffi.buffer(name, size[0])).decode())
    return tuple(out)


def _whole(unseen: str) -> int:
    match = re.fullmatch(_WHOLE + r"(0x[0-9a-f]{1,32})", unseen)
    if match is None:
        raise TextError(f"expected {_WHOLE}0x and up to 32 digits; found '{unseen}'", 0)
    return int(match[1], 16)


def _unknown(text: str, isa: int) -> str:
    match = re.match(r"\w+", text)
    if match is None:
        return "expected a mnemonic"
    near = get_close_matches(match[0].upper(), mnemonics(isa), 3, 0.6)
    return f"unknown mnemonic '{match[0]}'" + (f"; there is {', '.join(near)}" if near else "")


def _word_at(text: str, column: int) -> str:
    match = re.compile(r"\w*").match(text, column)
    return match[0] if match else ""


def _runs(bits: int) -> Iterable[str]:
    place = 0
    while bits >> place:
        if bits >> place & 1:
            first = place
            while bits >> place + 1 & 1:
                place += 1
            yield str(first) if place == first else f"{first}-{place}"
        place += 1

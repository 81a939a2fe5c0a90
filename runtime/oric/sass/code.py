"""Code bytes decoded in C: the arrays that the disassembler, the analyses and the library share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from oric_tables._native import ffi, lib
from oric_tables.numbers import CONTROL_AT, CONTROL_BITS, INSN_BYTES

from oric.support.elf import CubinError

from .access import Use, uses

INSTRUCTION_BYTES: Final[int] = INSN_BYTES
_CONTROL_AT: Final = CONTROL_AT - 64  # bits of the second word
_CONTROL_MASK: Final = (1 << CONTROL_BITS) - 1
_TEXT_GUESS: Final = 64  # bytes of text an instruction
_TEXT_LEAST: Final = 1 << 16
_TEXT_MOST: Final = 1 << 26  # bytes of text of a section, or _LINE_MOST an instruction: names of a damaged file can be long
_LINE_MOST: Final = 1 << 10


class Code:
    """Decoded instructions. ``bad`` holds the numbers of words that no form of the ISA has; ``insns`` their operation 0."""

    def __init__(self, isa: int, data: bytes) -> None:
        self.isa = isa
        self.count = len(data) // INSTRUCTION_BYTES
        self.words: Any = ffi.new("uint64_t[]", max(2 * self.count, 1))
        ffi.memmove(self.words, data, self.count * INSTRUCTION_BYTES)
        self.insns: Any = ffi.new("oric_insn[]", max(self.count, 1))
        bad = lib.oric_decode_each(isa, self.words, self.count, self.insns)
        self.bad = [i for i in range(self.count) if self.insns[i].op == 0] if bad else []

    def word(self, number: int) -> int:
        """The 128 bits of an instruction."""
        return int(self.words[2 * number] | self.words[2 * number + 1] << 64)

    def controls(self) -> list[int]:
        """The 17 scheduling bits of every instruction."""
        return [high >> _CONTROL_AT & _CONTROL_MASK for high in ffi.unpack(self.words, 2 * self.count)[1::2]]

    def targets(self) -> list[int]:
        """Offsets that direct branches name, in order of the instructions."""
        return [target for _, target in self.branches()]

    def branches(self) -> list[tuple[int, int]]:
        """(offset of the instruction, offset that it names) of direct branches, in order of the instructions."""
        found = ffi.new("int64_t[]", max(2 * self.count, 1))
        source = ffi.new("int64_t[]", max(2 * self.count, 1))
        count = lib.oric_branch_targets(self.insns, self.count, source, found)
        return list(zip(source[0:count], found[0:count], strict=True))

    def uses(self) -> list[list[Use]]:
        """The registers that every instruction reads and writes; nothing for words that no form has."""
        return uses(self.insns, self.count)

    @cached_property
    def all_uses(self) -> list[list[Use]]:
        """:meth:`uses`, made once."""
        return self.uses()

    @cached_property
    def plain_texts(self) -> list[str]:
        """:meth:`texts` without labels, made once."""
        return self.texts()

    def texts(self, labels: Mapping[int, str] | None = None, immediates: Mapping[int, str] | None = None) -> list[str]:
        """The text of every instruction, as nvdisasm prints it but without the end of the line.

        Args:
            labels: byte offset -> text that branches there print; without them they print the offset.
            immediates: byte offset of an instruction -> text in place of its immediate operand.

        Raises:
            CubinError: names make the text absurdly long.
        """
        keep: list[Any] = []
        code = ffi.new("oric_code *")
        code.words, code.insns, code.n = self.words, self.insns, self.count
        code.labels = ffi.NULL if labels is None else _table(labels, keep)
        code.immediates = _table(immediates, keep) if immediates else ffi.NULL
        size = max(self.count * _TEXT_GUESS, _TEXT_LEAST)
        used = ffi.new("long *")
        done, parts = 0, []
        left = max(_TEXT_MOST, self.count * _LINE_MOST)
        while done < self.count:
            buffer = ffi.new("char[]", size)
            count = lib.oric_text_all(self.isa, code, done, buffer, size, used)
            if count == -lib.ORIC_E_SPACE:
                size *= 2  # a name longer than the buffer
                count = used[0] = 0
            assert count >= 0, count
            left -= used[0]
            if left < 0 or size > _TEXT_MOST * 2:
                raise CubinError("the names that the code refers to are too long to print")
            parts.append(ffi.buffer(buffer, used[0])[:])
            done += count
        del keep
        return b"".join(parts).decode().split("\n")[:-1]


def _table(texts: Mapping[int, str], keep: list[Any]) -> Any:
    """The C table of texts by address; what must stay alive as long as it is used goes to ``keep``."""
    places = sorted(texts)
    encoded = [ffi.new("char[]", texts[at].replace("\n", "\\n").encode()) for at in places]
    address = ffi.new("uint64_t[]", places or [0])
    pointers = ffi.new("char *[]", encoded or [ffi.NULL])
    table = ffi.new("oric_labels *", {"n": len(places), "address": address, "text": pointers})
    keep += [table, encoded, address, pointers]
    return table

"""Reads the text form of a function (:mod:`oric.ir.text`; docs/ori.md has the grammar).

Registers are declared by use; their ids are those of the text. A text without any ``->`` gets the edges that its
instructions say, one without a heading is a kernel called ``test``. What is read is well formed but for what ``?`` marks
(``?R9``, a register that is not there; ``?0x1234``, a packed operand as it is).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from oric_tables import ops
from oric_tables.ori_operands import SLOT_TYPES, TYPE_TEXTS
from oric_tables.targets import TARGETS

from oric.support.diagnostics import Diagnostics, Source

from . import operand as opd
from . import pieces
from .attributes import UNPLACED, JumpTable
from .cursor import Cursor
from .edges import make_edges
from .function import NONE, Function, signed64
from .lineinfo import LINE_BITS
from .optable import INDIRECT, OPS
from .phis import all_phis
from .pieces import Broken, Line
from .text import FACTS, LETTERS, SPECIAL, SPECIAL_WORDS, usual_type

_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_BANK: Final = 0xFFFF  # last byte of a constant bank
_PREDICATES: Final = ("P", "UP")
_ONE_WORD: Final = ("P", "UP", "B")
_PREDICATE_SLOTS: Final = ("pred", "upred")
_DECLARED: Final = re.compile(
    r"(UR|UP|R|P|B|X)(\d{1,9})(?::(\d{1,9}))?(?:=(UR|UP|R|P|B|X)(\d{1,9}))?(?:~(\d{1,9}))?(?:\[([^\]]*)\])?\Z"
)
_DOUBLE: Final = re.compile(r"double (0x[0-9a-f]{1,16}|\d{1,9}) (0x[0-9a-f]{1,16})\Z")
_TABLE: Final = re.compile(r"table (\d{1,9})(?: offset=(0x[0-9a-f]{1,16}|\d{1,9}))?((?: +bix\d{1,9})*)\Z")
_HEADING: Final = re.compile(
    r"bix(\d{1,9}):(?:[ \t]+(?!->|\[flags=)([^ \t]+))?(?:[ \t]+\[flags=(0x[0-9a-f]{1,16}|\d{1,9})\])?(?:[ \t]*->[ \t]*(.*))?\Z"
)
_HEAD: Final = re.compile(r"(?:@([^ \t]+)[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)(?:\{([^{}]*)\})?(?=[ \t]|\Z)")
_NOTES: Final = re.compile(r"[ \t]*\[([^\[\]]*=[^\[\]]*)\]\Z")
_REGISTER: Final = re.compile(r"(UR|UP|R|P|B|X|\?R)(\d{1,9})(?:\.(\d{1,9}))?(?::(\d{1,9}))?\Z")
_FIXED: Final = re.compile(r"U?(RZ|PT)(?:\.(\d{1,9}))?(?::(\d{1,9}))?\Z")
_CONSTANT: Final = re.compile(r"c\[(0x[0-9a-f]{1,16}|\d{1,9})\]\[(0x[0-9a-f]{1,16}|\d{1,9})\]\Z")
_SYMBOL: Final = re.compile(r"sym(\d{1,9})(?:\+(0x[0-9a-f]{1,16}|\d{1,9}))?\Z")
_NUMBERED: Final = re.compile(r"([A-Za-z]+)(\d{1,9})\Z")
_PACKED: Final = re.compile(r"\?(-?0x[0-9a-f]{1,16})\Z")


class _Use(NamedTuple):
    """An operand that names a register: its place, letter and number, the words, whether a predicate belongs there."""

    at: int
    letter: str
    register: int
    words: int
    predicate: bool


class _Declaration(NamedTuple):
    """A register of a ``reg`` line; ``facts``: type, physical, hint, parent, flags as far as they are said."""

    at: int
    letter: str
    size: int
    facts: dict[str, int]


class _Edges(NamedTuple):
    """The successors that a block names."""

    block: int
    targets: list[tuple[int, int]]  # place, block


def read(text: str, filename: str = "<ori>", target: str = "sm_90") -> Function:
    """The function that a text describes; ``target`` counts where the text names none.

    Raises:
        CompileError: mistakes in the text, each with line, column and what was expected.
    """
    diag = Diagnostics(Source(text, filename))
    reader = _Reader(text, target)
    for line in pieces.lines(text):
        try:
            reader.line(line)
        except Broken as mistake:
            diag.error(str(mistake), mistake.at, *mistake.notes)
    diag.check()  # what follows relies on the lines
    for problem in reader.problems():
        diag.error(str(problem), problem.at, *problem.notes)
    diag.check()
    reader.finish()
    return reader.f


class _Reader:
    """The state of one reading."""

    def __init__(self, text: str, target: str) -> None:
        self.end = len(text)
        self.f = Function("test", target)
        self.cursor = Cursor(self.f)
        self.operations = {op.name: op for op in ops.OPS if op is not None}
        self.has_heading = False
        self.declared: dict[int, _Declaration] = {}
        self.uses: list[_Use] = []
        self.register_count = 0  # at least; 0 = as many as there are
        self.count_at = 0  # where it is said
        self.blocks: list[tuple[int, bool]] = []  # place, whether it names its successors
        self.edges: list[_Edges] = []
        self.targets: list[tuple[int, int]] = []  # place, block that an operand or a table names
        self.branches: list[tuple[int, int]] = []  # place, instruction that needs a jump table
        self.words: dict[str, Callable[[Line], None]] = {
            "entry": self._heading, "function": self._heading, "facts": self._facts, "reg": self._registers, "table": self._table,
            "double": self._double,
        }  # fmt: skip

    def line(self, line: Line) -> None:
        """Take one line in.

        Raises:
            Broken: a mistake that shows in the line.
        """
        word = line.text.split(None, 1)[0]
        take = self.words.get(word)
        if take is not None:
            if self.blocks:
                raise Broken(line.at, f"expected '{word}' in front of the first block: a text holds one function")
            take(line)
        elif word.startswith("bix") and ":" in word:
            self._block(line)
        else:
            self._instruction(line)

    # -- declarations --------------------------------------------------------------------------------------

    def _heading(self, line: Line) -> None:
        kind, *words = line.text.split()
        if self.has_heading:
            raise Broken(line.at, "expected a declaration or a block: a text holds one function")
        if len(words) < 2 or words[1] not in TARGETS:
            raise Broken(line.at, f"expected '{kind} NAME TARGET', with a target that code can be made for")
        self.has_heading = True
        self.f.is_entry = kind == "entry"
        self.f.name, self.f.target = words[:2]
        for at, word in list(pieces.words(line.text, line.at))[3:]:
            name, _, value = word.partition("=")
            if name == "registers":
                self.register_count, self.count_at = pieces.number(value, at), at
                if not 0 <= self.register_count <= opd.INDEX:
                    raise Broken(at, f"expected a number of registers, found {value}")
            elif name == "expanded":
                self.f.expanded = pieces.number(value, at)
            elif word == "final_flow":
                self.f.final_flow = True
            elif word == "merged":
                self.f.merged = True
            elif word == "ssa":
                self.f.in_window = True
            else:
                known = "'final_flow', 'merged', 'ssa', 'expanded=PHASE' or 'registers=NUMBER'"
                raise Broken(at, f"expected {known}, found '{word}'")

    def _facts(self, line: Line) -> None:
        for at, word in list(pieces.words(line.text, line.at))[1:]:
            name, equals, value = word.partition("=")
            if name not in FACTS or not equals:
                raise Broken(
                    at, f"expected a fact of a function such as maxnreg=32, found '{word}'", *pieces.nearest(name, FACTS)
                )
            setattr(self.f.attributes, name, pieces.fact(FACTS[name], value, at + len(name) + 1))

    def _registers(self, line: Line) -> None:
        for at, word in list(pieces.words(line.text, line.at))[1:]:
            match = _DECLARED.match(word)
            if match is None or match[4] not in (None, match[1]):
                raise Broken(at, f"expected a register such as R4:2, R4=R7 or R4~1, found '{word}'")
            letter, index, size = match[1], int(match[2]), int(match[3] or 1)
            pieces.check_number(at, index)
            if index in self.declared:
                raise Broken(at, f"register {index} is declared twice")
            if not 1 <= size <= pieces.MOST_WORDS:
                raise Broken(at, f"expected 1 to {pieces.MOST_WORDS} words of a register, found {size}")
            facts = pieces.notes(match[7] or "", ",", ("type", "parent", "flags"), at + match.start(7))
            facts |= {name: int(text) for name, text in (("physical", match[5]), ("hint", match[6])) if text is not None}
            if "parent" in facts:
                pieces.check_number(at, facts["parent"])
            kind = facts.setdefault("type", usual_type(letter, size))
            if kind < 0 or LETTERS[kind] != letter:
                raise Broken(at, f"expected [type=...] of a register with letter {letter}, found '{word}'")
            self.declared[index] = _Declaration(at, letter, size, facts)

    def _table(self, line: Line) -> None:
        match = _TABLE.match(line.text)
        tables = self.f.attributes.jump_tables
        if match is None or int(match[1]) != len(tables) or int(match[2] or "0", 0) > _BANK:
            raise Broken(line.at, f"expected 'table {len(tables)} [offset=NUMBER] bixN ...', found '{line.text[:40]}'")
        targets = [(at, int(word[3:])) for at, word in pieces.words(match[3], line.at + match.start(3))]
        self.targets += targets
        tables.append(JumpTable(UNPLACED if match[2] is None else int(match[2], 0), [block for _, block in targets]))

    def _double(self, line: Line) -> None:
        match = _DOUBLE.match(line.text)
        if match is None or int(match[1], 0) > _BANK:
            raise Broken(line.at, f"expected 'double OFFSET NUMBER', found '{line.text[:40]}'")
        self.f.attributes.add_double(int(match[2], 16), int(match[1], 0))

    # -- blocks and instructions ---------------------------------------------------------------------------

    def _block(self, line: Line) -> None:
        match = _HEADING.match(line.text)
        if match is None:
            raise Broken(line.at, "expected 'bixN: LABEL -> bixN ...'")
        number, count = int(match[1]), self.f.blocks()
        if number < count:
            raise Broken(line.at, f"expected bix{count}, found bix{number}, which is there already")
        if number > count:
            raise Broken(line.at, f"expected bix{count}: blocks stand in order, found bix{number}")
        block = self._begin(line.at, match[4] is not None, match[2] or "")
        self.f.flags[block] = pieces.number(match[3] or "0", line.at + match.start(3))
        if match[4] is not None:
            self.edges.append(_Edges(block, list(pieces.successors(match[4], line.at + match.start(4)))))

    def _begin(self, at: int, explicit: bool, label: str = "") -> int:
        block: int = self.cursor.new_block(label)
        self.cursor.at_end(block)
        self.blocks.append((at, explicit))
        return block

    def _instruction(self, line: Line) -> None:
        match = _HEAD.match(line.text)
        if match is None:
            raise Broken(line.at, f"expected a block or an instruction, found '{line.text[:40]}'")
        op = self.operations.get(match[2])
        if op is None:
            raise Broken(
                line.at + match.start(2), f"expected an operation, found '{match[2]}'", *pieces.nearest(match[2], self.operations)
            )
        rest, end = line.text[match.end() :], line.at + match.end()
        notes = _NOTES.search(rest)
        mods = pieces.modifiers(op, match[3] or "", line.at + match.start(3))
        guard = self._guard(match[1], line.at + match.start(1)) if match[1] else 0
        operands = self._operands(op, rest[: notes.start()] if notes else rest, end)
        found = pieces.notes(notes[1], " ", ("line", "mark", "aux", "control"), end + notes.start(1)) if notes else {}
        if self.f.blocks() == 0:
            self._begin(line.at, False)
        self.cursor.line = found.get("line", line.number) | found.get("mark", 0) << LINE_BITS
        made: int = self.cursor.make(op.number, signed64(mods), guard)
        for operand in operands:
            self.cursor.put(operand)
        self.f.aux[made] = found.get("aux", 0)
        self.f.control[made] = found.get("control", 0)
        if OPS.flags[op.number] & INDIRECT:
            self.branches.append((line.at, made))

    def _operands(self, op: ops.Op, text: str, at: int) -> list[int]:
        parts = text.split(",") if text.strip() else []
        out = []
        for number, part in enumerate(parts):
            place = at + len(part) - len(part.lstrip())
            here = number
            repeats: int = OPS.repeats[op.number]
            if here >= len(op.operands) and repeats:
                here = len(op.operands) - repeats + (here - len(op.operands)) % repeats
            if here == len(op.operands):
                raise Broken(place, f"expected {number} operands of {op.name} at the most, found {len(parts)}")
            out.append(self._slot(op, op.operands[here], part.strip(), place))
            at += len(part) + 1
        for slot in op.operands[len(out) :]:
            if slot.default is None:
                raise Broken(at - 1 if parts else at, f"expected operand {slot.name} of {op.name}")
        return out

    def _slot(self, op: ops.Op, slot: ops.Operand, text: str, at: int) -> int:
        """The operand in a slot, which has to fit there unless it is marked."""
        operand = self._operand(at, text, slot.kind)
        if text.startswith("?"):
            return operand
        form = opd.type_of(operand)
        wanted = {opd.REG, opd.SPECIAL} if slot.writes else SLOT_TYPES[slot.kind]
        if form == opd.NONE:
            if slot.default is None:
                raise Broken(at, f"operand {slot.name} of {op.name} cannot be left out")
        elif form not in wanted:
            texts = " or ".join(TYPE_TEXTS[t] for t in sorted(wanted))
            raise Broken(at, f"expected {texts} as operand {slot.name} of {op.name}, found '{text[:40]}'")
        return operand

    def _guard(self, text: str, at: int) -> int:
        operand = self._operand(at, text, "pred")
        if opd.type_of(operand) != opd.REG and not text.startswith("?"):
            raise Broken(at, f"expected a predicate as guard, found '{text[:40]}'")
        return operand

    # -- operands ------------------------------------------------------------------------------------------

    def _operand(self, at: int, text: str, kind: str) -> int:
        """One operand in a slot of that kind."""
        packed = _PACKED.match(text)
        if packed is not None:
            return signed64(int(packed[1], 0))
        body, signs = text, 0
        if body.endswith(".reuse"):
            body, signs = body[:-6], opd.REUSE
        sign = body[:1] if body[:1] in ("-", "!") and not pieces.NUMBER.match(body) else ""
        if sign:
            body, signs = body[1:], signs | opd.NEGATE
            if body[:1] == "(" and body[-1:] == ")" and pieces.NUMBER.match(body[1:-1]):
                body = body[1:-1]
        if body[:1] == "~":
            body, signs = body[1:], signs | opd.COMPLEMENT
        if body[:1] == "|" == body[-1:] and len(body) > 2:
            body, signs = body[1:-1], signs | opd.ABSOLUTE
        if sign and (sign == "!") != body.startswith(("P", "UP")):
            raise Broken(at, f"expected '!' in front of predicates and '-' in front of others, found '{text[:40]}'")
        return self._body(at + text.find(body), body, kind) | signs

    def _body(self, at: int, text: str, kind: str) -> int:
        if text == "_":
            return opd.NO_OPERAND
        if match := _FIXED.match(text):
            return self._fixed(at, match, kind in _PREDICATE_SLOTS)
        if (match := _REGISTER.match(text)) and (match[1] != "B" or self._is_barrier(int(match[2]))):
            return self._register(at, match, kind in _PREDICATE_SLOTS)
        if match := pieces.BLOCK.match(text):
            self.targets.append((at, int(match[1])))
            return opd.label(int(match[1]) & opd.INDEX)
        if pieces.NUMBER.match(text):
            value = int(text, 0)
            if not -(1 << 63) <= value <= _MASK64:
                raise Broken(at, f"expected a number of 64 bits, found {text[:40]}")
            return self.f.imm(signed64(value))
        if match := _CONSTANT.match(text):
            bank, offset = int(match[1], 0), int(match[2], 0)
            if bank >> 24 or offset > opd.INDEX:
                raise Broken(at, f"expected a word of a constant bank, found {text[:40]}")
            return opd.const_bank(bank, offset)
        if match := _SYMBOL.match(text):
            index, addend = int(match[1]), int(match[2] or "0", 0)
            if index > opd.INDEX or addend >> 24:
                raise Broken(at, f"expected a symbol, found {text[:40]}")
            return opd.symbol(index, addend)
        match = _NUMBERED.match(text)
        if match and match[1] in (SPECIAL_WORDS.get(kind, SPECIAL), SPECIAL) and int(match[2]) <= opd.INDEX:
            return opd.special(int(match[2]))
        if match and match[1] == "pool" and int(match[2]) <= opd.INDEX:
            return opd.pool(int(match[2]))
        raise Broken(at, f"expected an operand for a slot of kind {kind}, found '{text[:40]}'")

    def _is_barrier(self, index: int) -> bool:
        return index in self.declared and self.declared[index].letter == "B"

    def _fixed(self, at: int, match: re.Match[str], predicate: bool) -> int:
        """RZ and PT; each belongs to one sort of slots."""
        if (match[1] == "PT") != predicate:
            raise Broken(at, f"expected a {'predicate' if predicate else 'register'}, found {match[0]}")
        first, count = pieces.accessed(at, match[2], match[3], match[0])
        return int(opd.PT_OPERAND if predicate else opd.RZ_OPERAND) | opd.reg(0, first, count)

    def _register(self, at: int, match: re.Match[str], predicate: bool) -> int:
        letter, index = match[1], int(match[2])
        first, count = pieces.accessed(at, match[3], match[4], match[0])
        if letter != "?R":
            pieces.check_number(at, index)
            self.uses.append(_Use(at, letter, index, first + count, predicate))
        elif index > opd.INDEX:
            raise Broken(at, f"no register can have the number {index}")
        return opd.reg(index, first, count)

    # -- the end -------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[Broken]:
        """Mistakes that show when all lines are known: registers, blocks, edges, jump tables."""
        count = self.f.blocks()
        if not count:
            yield Broken(self.end, "expected an instruction, found the end of the text")
        yield from self._register_problems()
        explicit = any(names for _, names in self.blocks)
        for at, names in self.blocks:
            if explicit and not names:
                yield Broken(at, "expected '->' and the successors of the block, as other blocks have them")
        for edges in self.edges:
            seen: set[int] = set()
            for at, block in edges.targets:
                if block in seen:
                    yield Broken(at, f"bix{block} is a successor already")
                seen.add(block)
        for at, block in self.targets + [target for edges in self.edges for target in edges.targets]:
            if block >= count:
                yield Broken(at, f"there is no block bix{block}; the last one is bix{count - 1}")
        for at, i in self.branches:
            if not 0 <= self.f.aux[i] < len(self.f.attributes.jump_tables):
                yield Broken(at, f"there is no jump table {self.f.aux[i]}; expected [aux=N] and 'table N' in front of the blocks")

    def _register_problems(self) -> Iterator[Broken]:
        letters = {index: found.letter for index, found in self.declared.items()}
        for use in self.uses:
            letter = letters.setdefault(use.register, use.letter)
            if letter != use.letter:
                yield Broken(
                    use.at, f"register {use.register} is {letter}{use.register} elsewhere, not {use.letter}{use.register}"
                )
            elif (letter in _PREDICATES) != use.predicate:
                wanted = "a predicate" if use.predicate else "a register that is no predicate"
                yield Broken(use.at, f"expected {wanted}, found {letter}{use.register}")
            elif use.register in self.declared and use.words > self.declared[use.register].size:
                size = self.declared[use.register].size
                yield Broken(
                    use.at, f"{letter}{use.register} has {size} word{'s' * (size != 1)}; 'reg {letter}{use.register}:N' says so"
                )
            elif letter == "X" and use.register not in self.declared:
                yield Broken(use.at, f"expected 'reg X{use.register}[type=...]' in front of the blocks")
            elif letter in _ONE_WORD and use.words > 1:
                yield Broken(use.at, f"{letter}{use.register} has one word")
        most = max(letters, default=-1) + 1
        if self.register_count and self.register_count < most:
            yield Broken(self.count_at, f"'registers={self.register_count}' says less than there are, which is {most}")

    def finish(self) -> None:
        """Make registers, the places of jump tables, edges."""
        f = self.f
        self._make_registers()
        for phis in all_phis(f).values():
            f.window.update(int(f.get(i, 0) & opd.INDEX) for i in phis)
        for table in f.attributes.jump_tables:
            if table.offset == UNPLACED:
                continue
            end = table.offset + 4 * len(table.targets)
            f.attributes.constant2.extend(bytes(max(0, end - len(f.attributes.constant2))))
        if not self.edges:
            make_edges(f)
            return
        self.cursor.begin_edges()
        for edges in self.edges:
            for _, target in edges.targets:
                self.cursor.edge(edges.block, target)

    def _make_registers(self) -> None:
        f = self.f
        seen: dict[int, tuple[str, int]] = {}
        for use in self.uses:
            seen[use.register] = (use.letter, max(use.words, seen.get(use.register, ("", 1))[1]))
        parents = [found.facts.get("parent", NONE) for found in self.declared.values()]
        count = max([self.register_count, *(index + 1 for index in (*seen, *self.declared, *parents))])
        for index in range(count):
            if index in (opd.PT, opd.RZ):
                continue  # made with the next one
            found = self.declared.get(index)
            if found is None:
                letter, size = seen.get(index, ("R", 1))
                f.new_reg(usual_type(letter, size), size)
                continue
            f.new_reg(found.facts["type"], found.size)
            f.physical[index] = found.facts.get("physical", NONE)
            f.hint[index] = found.facts.get("hint", NONE)
            f.parent[index] = found.facts.get("parent", NONE)
            f.reg_flags[index] = found.facts.get("flags", int(f.reg_flags[index]))

"""Rules made ready to run: selection by variant, substitution of qualifiers and target columns, flat tables.

The compiled rules of ``oric_tables.lower_*`` (their form: :mod:`oricgen.lowering.compiler`) become a :class:`Program` the
first time a variant is met for a target; its lines lie in the arrays of :class:`Tables`, which the emitter runs. After that,
lowering an instruction is one lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import storage

from oric.ir import mbarriers
from oric.ir import operand as opd
from oric.ir.attributes import TENSOR_COLUMNS, TENSOR_OWN, TENSOR_PAIR, TENSOR_USED, WMMA
from oric.ir.optable import CONSTANT, MEMORY, OPS, PINNED, WARP
from oric.support.added import Added
from oric.support.diagnostics import NotSupported
from oric.support.qualifiers import assign

from . import predicates

# Indices in the environment of a program: see oricgen.lowering.template.
D: Final = 0
A: Final = 1
B: Final = 2
C: Final = 3
E: Final = 4
F: Final = 5
Q: Final = 6
M: Final = 7
OFF: Final = 8
DESC: Final = 9
V: Final = 10
CC: Final = 11
N: Final = 12
NOFF: Final = 13
X: Final = 14
FIRST_TEMP: Final = 19  # behind four more operands

# Literal operand specifications and slot bits: see oricgen.lowering.compiler.
LITERAL: Final = -1
_CBANK: Final = -2
_COLUMN: Final = -3
LABEL: Final = -5
PACKED: Final = -6  # an operand that is ready
SLOT_PRED: Final = 1
SLOT_WIDE: Final = 2
SLOT_DEST: Final = 4
SLOT_VAR: Final = 8
SLOT_FIELD: Final = 16
SLOT_IMM: Final = 32
SLOT_SIGNED: Final = 64  # the number in a field has a sign
SLOT_WIDTH: Final = 12  # from this bit on: bits of a field in whose place a register may stand, 0 where none may
_FLAG_HAZARD: Final = 1
_TENSOR: Final = {"own": TENSOR_OWN, "pair": TENSOR_PAIR, "used": TENSOR_USED, "columns": TENSOR_COLUMNS}
_FLAG_GUARDED: Final = 2
_FLAG_CONTRACT: Final = 4
_ROUNDING: Final = "rnd"  # the slot of roundings

_EFFECTS: Final = PINNED | MEMORY | WARP
WORD_MASK: Final = ~opd.SPAN  # makes of a register operand its first word
_MORE: Final = 16  # in a view: the place of how many words come behind the first
_FIRST: Final = (1 << _MORE) - 1  # in a view: one more than the first word
NO_LABEL: Final = -1

# State spaces that field 281 has no value for: none, and the shared memory of all blocks of a cluster.
NO_SPACE: Final = -1
CLUSTER: Final = -2
_CLUSTER_NAME: Final = "shared::cluster"

Test = Callable[[Sequence[Any]], bool]


def _tensor_memory(words: list[str], tokens: dict[str, str]) -> int:
    """What a rule says of tensor memory; a slot among the words: whose it is."""
    bits = 0
    for word in words:
        if word in tokens:
            bits |= TENSOR_PAIR if tokens[word].endswith("2") else TENSOR_OWN
        else:
            bits |= _TENSOR[word]
    return bits


def _space(options: dict[str, str], name: str) -> int:
    """The state space that an option of a rule names."""
    text = options.get(name)
    if text is None:
        return NO_SPACE
    return CLUSTER if text == _CLUSTER_NAME else storage.SPACES[text]


@final
class Program:
    """One alternative of a rule for one variant and target.

    Attributes:
        text: the PTX mnemonic, for messages.
        first, last: its lines in the tables, ``last`` not among them.
        count: number of PTX operands, -1 for any; ``test``: predicate on the operands or None.
        args: environment index of each PTX operand.
        temps: ``(register type, size)`` of the temporaries.
        labels: number of labels.
        hazard: a destination is written before the last source is read.
        guarded: lines have guards or branches of their own.
        contract: products and sums of the lines may be fused with others.
        expand: name of the function that emits the instruction, or "" to run the lines.
        options, tokens: parameters of the rule; slot name -> qualifier.
        space, other, variables: state spaces of the address, of a second one, and of the variables that may stand for a generic
            address, as values of field 281; ``CLUSTER``, or ``NO_SPACE`` where the rule names none.
        uses_desc, uses_carry: lines name the memory descriptor, the carry flag.
        wide: the source type has 64 bits.
        record: what the container calls the instruction (:mod:`oric.ir.mbarriers`), -1: nothing.
        read, written: bit masks of the environment indices that lines read before one in front of them has written, that
            lines write.
        sinks: for each environment index, what takes a result that nobody wants.
        tensor_memory, sparse_products: what the kernel has of the facts of these names.
        isa_class, tensor_maps, tensor_products: what the container has to say of a module with the instruction
            (:class:`oric.ir.module.Module`).
    """

    def __init__(self, text: str, row: Sequence[Any], tokens: dict[str, str], types: tuple[str, ...]) -> None:
        _, _, test, expand, options, args, commute, temps, labels, flags, _ = row
        self.text = text
        self.first = 0
        self.last = 0
        self.count = -1
        self.tokens = tokens
        self.types = types
        self.options: dict[str, str] = dict(options)
        self.space = _space(self.options, "space")
        self.other = _space(self.options, "other")
        self.variables = _space(self.options, "variables")
        self.record: int = mbarriers.kind_of(self.options.get("record", ""))
        self.args: list[int] = list(args)
        self.commute: bool = commute
        self.temps: list[tuple[str, int]] = list(temps)
        self.labels: int = labels
        self.hazard = flags & _FLAG_HAZARD != 0
        self.guarded = flags & _FLAG_GUARDED != 0
        self.contract = flags & _FLAG_CONTRACT != 0 and not tokens.get(_ROUNDING)
        self.wide = bool(types) and types[-1].endswith("64")
        self.quad = bool(types) and types[-1].endswith("128")
        self.uses_desc = False
        self.uses_carry = False
        self.read = 0
        self.written = 0
        self.expand: str = expand
        self.test: Test | None = predicates.TESTS[test] if test else None
        self.sinks: list[int] = []
        self.isa_class = int(self.options.get("isa_class", "1"))
        self.tensor_maps = int(self.options.get("tensor_maps", "0"))
        self.tensor_products = int(self.options.get("tensor_products", "0"))
        self.tensor_memory = _tensor_memory(self.options.get("tensor", "").split(), tokens)
        self.sparse_products: int = int(self.options.get("sparse", "0")) | (WMMA if self.options.get("wmma", "") else 0)


@final
class Tables:
    """The lines and operands of all programs of one target, and the programs by variant.

    Line l: ``op[l]`` (or minus one less the number of a label that stands here), ``mods[l]``, ``own[l]``: operand number of
    its guard plus one or 0, operands ``start[l] .. start[l + 1] - 1``, ``free[l]``: only temporaries are written, so that it
    needs no guard of the PTX instruction; dynamic modifiers ``set_start[l] .. set_start[l + 1] - 1``: the immediate of entry
    ``set_index`` of the environment, combined with ``set_flip`` by exclusive or, cut to ``set_mask``, at bit ``set_shift``.

    Operand o: ``index[o]`` in the environment (its value is masked with ``keep[o]`` and combined with ``flip[o]`` by
    exclusive or), or ``PACKED`` (the operand is ``flip[o]``), ``LABEL`` (number in ``flip[o]``); ``slot[o]``, ``view[o]``.
    """

    def __init__(self, target: Any, added: tuple[Added, ...] = ()) -> None:
        self.target = target
        self.added = added
        self.programs: dict[Any, list[Program]] = {}
        self.templates: dict[str, Program] = {}
        self.op = vec[i64]()
        self.mods = vec[i64]()
        self.own = vec[i64]()
        self.free = vec[i64]()
        self.start = vec[i64]([0])
        self.set_start = vec[i64]([0])
        self.set_index = vec[i64]()
        self.set_shift = vec[i64]()
        self.set_mask = vec[i64]()
        self.set_flip = vec[i64]()
        self.index = vec[i64]()
        self.keep = vec[i64]()
        self.flip = vec[i64]()
        self.slot = vec[i64]()
        self.view = vec[i64]()

    # -- selection ---------------------------------------------------------------------------------------

    def select(self, variant: Any) -> list[Program]:
        """The programs of a variant, in the order in which operands decide; cached.

        Raises:
            NotSupported: no rule fits.
        """
        family, *words = variant.text.split(".")
        found: list[Program] = []
        for added in self.added:
            changed = added.to(family, words)
            if changed is not None:
                found = self._rules(variant, family, changed) or self._rules(variant, family, changed[1:])
        if not found:
            found = self._rules(variant, family, words)
        if not found:
            raise NotSupported(variant.text)
        if found[0].count < 0 and found[0].test is None:
            found = found[:1]
        self.programs[variant] = found
        return found

    def _rules(self, variant: Any, family: str, words: list[str]) -> list[Program]:
        """The programs of the rules that fit these qualifiers."""
        from oric_tables import lower_index

        found: list[Program] = []
        for module in lower_index.FAMILIES.get(family, ()):
            for slots, count, alternatives in import_module(f"oric_tables.{module}").RULES[family]:
                tokens = _match(slots, words)
                if tokens is not None:
                    found += self._alternatives(variant, tokens, count, alternatives)
        return found

    def _alternatives(self, variant: Any, tokens: dict[str, str], count: int, rows: Sequence[Any]) -> list[Program]:
        out = []
        target = self.target
        for row in rows:
            isas, when, test = row[0], row[1], row[2]
            if not _can_do(target, isas, when):
                continue
            program = self._program(variant.text, row, tokens, variant.types)
            if program is None:
                continue
            program.count = count
            out.append(program)
            if not test:
                break
        return out

    def template(self, name: str) -> Program:
        """A named template."""
        program = self.templates.get(name)
        if program is None:
            from oric_tables import lower_index

            rows = import_module(f"oric_tables.{lower_index.TEMPLATES[name]}").TEMPLATES[name]
            row = next((row for row in rows if _can_do(self.target, row[0], row[1])), None)
            if row is None:
                raise NotSupported(name.removeprefix("%") if name[0] == "%" else f"template '{name}'")
            program = self._program(name, row, {}, ())
            assert program is not None  # as it has no qualifiers
            self.templates[name] = program
        return program

    # -- tables ------------------------------------------------------------------------------------------

    def _program(self, text: str, row: Sequence[Any], tokens: dict[str, str], types: tuple[str, ...]) -> Program | None:
        """A row for these qualifiers; None when an operation cannot express one of them."""
        here = [line for line in row[-1] if isinstance(line, int) or self._stands(line, tokens)]
        lines: list[tuple[Any, int, list[tuple[int, int, int, int]]]] = []
        for line in here:
            if isinstance(line, int):
                lines.append((line, 0, []))
                continue
            found = _modifiers(line, tokens, self.target.isa_name)
            if found is None:
                return None
            lines.append((line, found[0], found[1]))
        program = Program(text, row, tokens, types)
        program.first = len(self.op)
        for line, mods, dynamic in lines:
            self._add_line(line, mods, dynamic)
        program.last = len(self.op)
        self._note_uses(program)
        return program

    def _stands(self, line: Any, tokens: dict[str, str]) -> bool:
        """Whether a line is for the target and these qualifiers."""
        if line[5] is not None and self.target.isa_name not in line[5]:
            return False
        return all(tokens.get(name[1:], "") in table for name, table in line[2] if name[0] == "?")

    def _add_line(self, line: Any, mods: int, dynamic: list[tuple[int, int, int, int]]) -> None:
        if isinstance(line, int):
            self.op = append(self.op, -1 - line)
            self.own = append(self.own, 0)
            self.free = append(self.free, 0)
        else:
            number, _, _, guard, operands, _ = line
            self.op = append(self.op, number)
            first: int = len(self.index)
            for operand in operands:
                self._add_operand(operand)
            self.free = append(self.free, 1 if self._is_free(number, first) else 0)
            self.start[len(self.start) - 1] = first
            own = 0
            if not (isinstance(guard, int) and guard == 0):
                self._add_operand(guard)  # behind the operands, outside of their range
                own = len(self.index)
            self.own = append(self.own, own)
        for index, shift, mask, flip in dynamic:
            self.set_index = append(self.set_index, index)
            self.set_shift = append(self.set_shift, shift)
            self.set_mask = append(self.set_mask, mask)
            self.set_flip = append(self.set_flip, flip)
        self.mods = append(self.mods, mods)
        self.start = append(self.start, len(self.index))
        self.set_start = append(self.set_start, len(self.set_index))

    def operands_end(self, line: i64) -> i64:
        """One behind the last operand of a line: its own guard does not belong to them."""
        return self.start[line + 1] - (1 if self.own[line] else 0)

    def _add_operand(self, spec: Any) -> None:
        if isinstance(spec, int):
            self._put_operand(PACKED, -1, spec, 0, 0)
            return
        index, view, flags, slot = spec
        if index == DESC and self.target.bank0_desc < 0:
            self._put_operand(PACKED, -1, opd.NO_OPERAND, 0, 0)
        elif index >= 0:
            if view:
                first = view & _FIRST
                self._put_operand(
                    index, WORD_MASK, opd.with_span(opd.with_first(0, first - 1), view >> _MORE) | flags, slot, first
                )
            else:
                self._put_operand(index, -1, flags, slot, 0)
        elif index == _CBANK:
            self._put_operand(PACKED, -1, opd.const_bank(0, getattr(self.target, f"bank0_{view}") + slot) ^ flags, 0, 0)
        elif index == LABEL:
            self._put_operand(LABEL, -1, view, 0, 0)
        else:
            value = getattr(self.target, view) + slot if index == _COLUMN else view
            self._put_operand(LITERAL, -1, value, 0, 0)

    def _put_operand(self, index: int, keep: int, flip: int, slot: int, view: int) -> None:
        self.index = append(self.index, index)
        self.keep = append(self.keep, keep)
        self.flip = append(self.flip, flip)
        self.slot = append(self.slot, slot)
        self.view = append(self.view, view)

    def _is_free(self, number: int, first: int) -> bool:
        """Whether an operation writes temporaries and nothing else; its operands are the last in the tables."""
        flags = OPS.flags[number]
        if flags & _EFFECTS and not flags & CONSTANT:
            return False
        for at in range(len(self.index) - first):
            if OPS.writes_at(number, at):
                index = self.index[first + at]
                packed: int = self.flip[first + at]
                nowhere = packed in (opd.NO_OPERAND, opd.RZ_OPERAND, opd.PT_OPERAND)
                if not (nowhere if index == PACKED else index >= FIRST_TEMP):
                    return False
        return True

    def _note_uses(self, program: Program) -> None:
        program.sinks = [opd.RZ_OPERAND] * FIRST_TEMP
        program.sinks[Q] = opd.PT_OPERAND
        seen: set[int] = set()
        index: int
        for line in range(program.first, program.last):
            behind = program.written
            for o in range(self.start[line], self.start[line + 1]):
                index = self.index[o]
                if 0 <= index < FIRST_TEMP and self.slot[o] & SLOT_DEST:
                    behind |= 1 << index
                elif 0 <= index < FIRST_TEMP and not program.written >> index & 1:
                    program.read |= 1 << index
            program.written = behind
        for o in range(self.start[program.first], self.start[program.last]):
            index = self.index[o]
            program.uses_desc = program.uses_desc or index == DESC
            program.uses_carry = program.uses_carry or index == CC
            if 0 <= index < FIRST_TEMP and index not in seen:
                seen.add(index)
                program.sinks[index] = opd.PT_OPERAND if self.slot[o] & SLOT_PRED else opd.RZ_OPERAND


def _modifiers(line: Any, tokens: dict[str, str], isa: str) -> tuple[int, list[tuple[int, int, int, int]]] | None:
    """The modifiers of a line and what depends on operands; None for a qualifier that the operation cannot express."""
    _, mods, sets, _, _, _ = line
    dynamic = []
    for name, table in sets:
        if name[0] == "?":
            continue
        if name.startswith("="):
            dynamic.append((int(name[1:]), table["shift"], table["mask"], table["flip"]))
            continue
        token = tokens.get(name)
        if token is not None:
            bits = table.get(token)
            if isinstance(bits, dict):
                bits = bits.get(isa)
            if bits is None:
                return None
            mods ^= bits
    return mods, dynamic


def _can_do(target: Any, isas: Sequence[str] | None, when: Sequence[str]) -> bool:
    """Whether an alternative is for a target: its operations exist there, and its features are as they must be."""
    if isas is not None and target.isa_name not in isas:
        return False
    return all((name[1:] not in target.features) if name[0] == "!" else name in target.features for name in when)


def _match(slots: Sequence[Any], words: Sequence[str]) -> dict[str, str] | None:
    """Slot name -> qualifier when the words, in whatever order the parser has let them pass, fill the slots."""
    present = set(words)
    for _, choices, optional in slots:  # most rules of a family end here
        if not optional and present.isdisjoint(choices):
            return None
    taken, extra = assign(slots, words)
    if extra or any(not word and not optional for word, (_, _, optional) in zip(taken, slots, strict=True)):
        return None
    return {name: word for word, (name, _, _) in zip(taken, slots, strict=True) if word and name}


@cache
def tables_of(name: str, added: tuple[Added, ...] = ()) -> Tables:
    """The tables of a target with the qualifiers that options add, shared by all compilations of the process."""
    from oric_tables.targets import TARGETS

    return Tables(TARGETS[name], added)

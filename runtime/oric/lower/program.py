"""Rules made ready to run: selection by variant, substitution of qualifiers and target columns.

The compiled rules of ``oric_tables.lower_*`` (their form: :mod:`oricgen.lowering.compiler`) become a
:class:`Program` the first time a variant is met for a target; after that, lowering an instruction is one lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from oric.ir import operand as opd
from oric.ir import optable
from oric.support.diagnostics import NotSupported
from oric.support.qualifiers import assign

# Indices in the environment of a program: see oricgen.lowering.template.
ARG_NAMES: Final = ("d", "a", "b", "c", "e", "f", "q", "m", "off", "desc", "v", "cc")
D, A, B, C, E, F, Q, M, OFF, DESC, V, CC = range(len(ARG_NAMES))
FIRST_TEMP: Final = len(ARG_NAMES)

# Literal operand specifications and slot bits: see oricgen.lowering.compiler.
_LITERAL, _CBANK, _COLUMN, LABEL = -1, -2, -3, -5
SLOT_IMM, SLOT_F32, SLOT_F64, SLOT_HALF, SLOT_PRED, SLOT_WIDE, SLOT_DEST, SLOT_VAR, SLOT_FIELD = (1 << n for n in range(9))
SLOT_ANY_IMM: Final = SLOT_IMM | SLOT_F32 | SLOT_F64 | SLOT_HALF
SLOT_FLOAT: Final = SLOT_F32 | SLOT_F64 | SLOT_HALF
_FLAG_HAZARD, _FLAG_GUARDED = 1, 2

_EFFECTS: Final = optable.PINNED | optable.MEMORY | optable.WARP
_NOWHERE: Final = (opd.NO_OPERAND, opd.RZ_OPERAND, opd.PT_OPERAND)

PART_MASK: Final = ~(opd.WIDE | 3 << opd.WIDTH_SHIFT)

Line = tuple[Any, ...]


class Program:
    """One alternative of a rule for one variant and target, ready to run.

    Attributes:
        text: the PTX mnemonic, for messages.
        lines: ``(op, mods, guard, operands, dynamic, free)`` or the number of a label. An operand is a packed operand, or
            ``(index, and_mask, xor_mask, slot, view)`` on the environment. ``free``: only temporaries are written, so the
            line needs no guard of the PTX instruction; without one, the temporaries do not live longer than the program.
        count: number of PTX operands, -1 for any; ``test``: predicate on the operands or None.
        args: environment index of each PTX operand.
        temps: ``(register type, size)`` of the temporaries.
        labels: number of labels.
        hazard: a destination is written before the last source is read.
        guarded: lines have guards or branches of their own.
        expand: function that emits the instruction, or None to run the lines.
        options, tokens: parameters of the rule; slot name -> qualifier.
        uses_desc, uses_carry: lines name the memory descriptor, the carry flag.
        wide: the source type has 64 bits.
    """

    __slots__ = ("args", "commute", "count", "expand", "guarded", "hazard", "labels", "lines", "options", "temps", "test",
                 "text", "tokens", "types", "uses_carry", "uses_desc", "wide")  # fmt: skip

    def __init__(self, text: str, row: Sequence[Any], tokens: dict[str, str], types: tuple[str, ...], target: Any) -> None:
        from . import expansions, predicates

        _, _, test, expand, options, args, commute, temps, labels, flags, lines = row
        self.text = text
        self.count = -1
        self.tokens = tokens
        self.types = types
        self.options = dict(options)
        self.args = args
        self.commute = commute
        self.temps = temps
        self.labels = labels
        self.hazard = bool(flags & _FLAG_HAZARD)
        self.guarded = bool(flags & _FLAG_GUARDED)
        self.wide = bool(types) and types[-1].endswith("64")
        here = [line for line in lines if isinstance(line, int) or line[5] is None or target.isa_name in line[5]]
        self.lines: list[Any] = [_line(line, tokens, target) for line in here]
        used = {spec[0] for line in self.lines if line.__class__ is not int for spec in line[3] if spec.__class__ is not int}
        self.uses_desc = DESC in used
        self.uses_carry = CC in used
        self.expand: Callable[..., None] | None = expansions.FUNCTIONS[expand] if expand else None
        self.test: Callable[..., bool] | None = getattr(predicates, test) if test else None


def _line(line: Any, tokens: dict[str, str], target: Any) -> Any:
    if isinstance(line, int):
        return line
    word, mods, sets, guard, operands, _ = line
    dynamic = []
    for name, table in sets:
        if name.startswith("="):
            dynamic.append((int(name[1:]), table["shift"], table["mask"]))
            continue
        token = tokens.get(name)
        if token is not None:
            if token not in table:
                raise KeyError(token)
            mods ^= table[token]
    found = [_operand(o, target) for o in operands]
    return word, mods, _operand(guard, target), found, tuple(dynamic), _is_free(word, found)


def _is_free(word: int, operands: list[Any]) -> bool:
    """Whether an operation writes temporaries and nothing else."""
    info = optable.INFO[word]
    if info.flags & _EFFECTS and not info.flags & optable.CONSTANT:
        return False
    written = [operands[i] for i in info.writes if i < len(operands)]
    return all(o in _NOWHERE if o.__class__ is int else o[0] >= FIRST_TEMP for o in written)


def _operand(spec: Any, target: Any) -> Any:
    if isinstance(spec, int):
        return spec
    index, view, flags, slot = spec
    if index >= 0:
        if view:
            return index, PART_MASK, (view - 1) << opd.COMPONENT_SHIFT | flags, slot, view
        return index, -1, flags, slot, 0
    if index == _CBANK:
        return opd.const_bank(0, getattr(target, f"bank0_{view}") + slot) ^ flags
    if index == _COLUMN:
        return _LITERAL, 0, 0, getattr(target, view), 0
    if index == _LITERAL:
        return _LITERAL, 0, 0, view, 0
    return LABEL, 0, 0, view, 0


class Selector:
    """Programs of one target by variant."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.programs: dict[Any, Any] = {}
        self.templates: dict[str, Program] = {}

    def select(self, variant: Any) -> Any:
        """The program of a variant, or a list of them when operands decide; cached.

        Raises:
            NotSupported: no rule fits.
        """
        from oric_tables import lower_index

        found: list[Program] = []
        family, *words = variant.text.split(".")
        for module in lower_index.FAMILIES.get(family, ()):
            for slots, count, alternatives in import_module(f"oric_tables.{module}").RULES[family]:
                tokens = _match(slots, words)
                if tokens is not None:
                    found += self._alternatives(variant, tokens, count, alternatives)
        if not found:
            raise NotSupported(variant.text)
        plain = found[0].count < 0 and found[0].test is None
        result: Any = found[0] if plain else found
        self.programs[variant] = result
        return result

    def _alternatives(self, variant: Any, tokens: dict[str, str], count: int, rows: Sequence[Any]) -> list[Program]:
        out = []
        target = self.target
        for row in rows:
            isas, when, test = row[0], row[1], row[2]
            if isas is not None and target.isa_name not in isas:
                continue
            if not all((name[1:] not in target.features) if name[0] == "!" else name in target.features for name in when):
                continue
            try:
                program = Program(variant.text, row, tokens, variant.types, target)
            except KeyError:  # a qualifier that the operation cannot express
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

            row = import_module(f"oric_tables.{lower_index.TEMPLATES[name]}").TEMPLATES[name]
            program = self.templates[name] = Program(name, row, {}, (), self.target)
        return program


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


_SELECTORS: dict[str, Selector] = {}


def selector(target: Any) -> Selector:
    """The selector of a target, shared by all compilations of the process."""
    found = _SELECTORS.get(target.name)
    if found is None:
        found = _SELECTORS[target.name] = Selector(target)
    return found

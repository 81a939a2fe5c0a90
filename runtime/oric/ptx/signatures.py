"""From mnemonic text to a variant with resolved signatures; one lookup per distinct text, cached for the process."""

from __future__ import annotations

import importlib
from typing import Any, Final

from mypy_extensions import i64
from oric_tables import ptx_index as ix

from oric.support.qualifiers import assign

from .builder import Variant
from .lexer import PtxError
from .state import State

Gate = tuple[int, int, tuple[str, ...]]  # least PTX version * 10, least SM, exact targets
_WIDER: Final = {"u8": "u16", "s8": "s16", "u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
_PAIR_COLUMN: Final = 7  # of an operand's row
KEY_OPERANDS: Final = 5  # of an instruction whose operand classes make one number ...
KEY_BITS: Final = 12  # ... of that many bits each
KEY_CLASSES: Final = (1 << KEY_BITS) - 1


class OperandSpec:
    """What one operand of a resolved signature may be.

    Attributes:
        name: as in the manual (``d``, ``a`` ...); type, kind, size: expected type, its kind and bits.
        mask: flags of oric_tables.ptx_index (REG, IMM, ADDR ...).
        space: for addresses, the state space, "" for generic ones.
        elements: vector elements expected (1 when scalar); ``braces``: the signature has a count; ``braces_needed``: they
            cannot be one operand without braces.
        bounds: (least, most, step) of an immediate or None; choices: its values, () for any.
        part: the set of parts (``a.b0``) that it may or must have, "" for none.
        pair: spec of what stands behind ``|``, or None; alone: the operand without it, where it may be left out.
        rest: specs of what follows in an address: ``[a, c]``.
    """

    __slots__ = ("alone", "bounds", "braces", "braces_needed", "choices", "elements", "kind", "mask", "name", "optional", "pair",
                 "pair_optional", "part", "rest", "size", "space", "type")  # fmt: skip

    def __init__(self, row: tuple[Any, ...], fields: dict[str, str], counts: dict[str, tuple[str, dict[str, int]]]) -> None:
        self.name, type_, self.mask, self.optional, self.bounds, self.choices, self.part, pair, count, rest = row
        wide = type_.startswith("wide ")
        reference = type_.removeprefix("wide ")
        type_ = fields.get(reference[1:], "") if reference.startswith("$") else reference
        if wide:
            type_ = _WIDER[type_]
        self.space = ""
        self.elements = 1
        self.type, self.kind, self.size = "", "", 0
        if self.mask & ix.ADDR and not self.mask & (ix.TEX | ix.AREG):
            self.space = type_.split("::")[0]
        elif type_:
            self.type = type_
            self.kind, self.size = ix.TYPES[type_][:2]
            if self.mask & ix.SYM:
                self.space = fields.get("space", "").split("::")[0]
        self.braces = bool(count)
        if count:
            self.elements = count if isinstance(count, int) else _counted(counts[count], fields)
        elif self.mask & ix.VEC and "vec" in fields:
            self.elements = int(fields["vec"][1:])
        loose = self.mask & ix.SCALAR or (self.elements == 1 and (self.mask & ix.BARE or not self.braces))
        self.braces_needed = bool(self.mask & ix.VEC and not loose)
        self.rest = tuple(OperandSpec(inner, fields, counts) for inner in rest)
        self.pair: OperandSpec | None = None
        self.alone: OperandSpec | None = None
        self.pair_optional = False
        if pair is not None:
            self.pair = OperandSpec(pair[0], fields, counts)
            self.pair_optional = pair[1]
        if self.pair_optional:
            self.alone = OperandSpec((*row[:_PAIR_COLUMN], None, *row[_PAIR_COLUMN + 1 :]), fields, counts)

    @property
    def has_limits(self) -> bool:
        """Values matter here, and not only classes."""
        return bool(self.bounds or self.choices or self.mask & ix.TEX or any(o.has_limits for o in self.rest))


def _counted(count: tuple[str, dict[str, int]], fields: dict[str, str]) -> int:
    """Elements of a vector that a slot's value says."""
    slot, elements = count
    return elements[fields[slot]]


class Signature:
    """One way in which a variant can be written: operand specs and what version and target it needs."""

    __slots__ = ("arch", "has_limits", "least", "needs", "operands", "ptx", "removed", "sm", "special", "texmode",
                 "warning")  # fmt: skip

    def __init__(
        self, operands: tuple[OperandSpec, ...], gates: Gate, special: str, removed: tuple[int, int] | None,
        texmode: str = "", warning: str = "", needs: tuple[tuple[str, Gate], ...] = (),
    ) -> None:  # fmt: skip
        self.operands = operands
        self.ptx, self.sm, self.arch = gates
        self.special = special
        self.removed = removed
        self.texmode = texmode
        self.warning = warning
        self.needs = needs
        self.least = sum(not o.optional for o in operands)
        self.has_limits = any(o.has_limits for o in operands)

    def within(self, state: State) -> Signature:
        """The signature as a module's version and target have it: without optional operands that need more."""
        gone = {name for name, gate in self.needs if not state.passes(*gate)}
        if not gone:
            return self
        operands = tuple(without_pair(o, gone) for o in self.operands if not (o.optional and o.name in gone))
        return Signature(operands, (self.ptx, self.sm, self.arch), self.special, self.removed, self.texmode, self.warning)

    def passes(self, state: State) -> bool:
        """True when the module's version, target and texture mode have it (still)."""
        gone = self.removed is not None and state.version >= self.removed[0] and state.sm >= self.removed[1]
        return not gone and self.texmode in ("", state.texmode) and state.passes(self.ptx, self.sm, self.arch)


def without_pair(spec: OperandSpec, gone: set[str]) -> OperandSpec:
    """An operand without its optional second part when that is in ``gone``."""
    return spec.alone if spec.alone is not None and spec.pair is not None and spec.pair.name in gone else spec


class Entry:
    """A variant as one module's version and target allow it.

    ``accepted`` and ``accepted_long`` hold the keys of operand classes that were checked, ``last`` the one met last (see
    :func:`key_of`), ``limited`` the classes of those that fit as long as their values are within the limits of the specs.
    ``careful``: each use is read token by token, as it is a call or gets a warning.
    """

    __slots__ = ("accepted", "accepted_long", "careful", "last", "limited", "signatures", "special", "variant", "warning")

    def __init__(self, variant: Variant, signatures: tuple[Signature, ...]) -> None:
        self.variant = variant
        self.signatures = signatures
        self.last: int = -1
        self.accepted: set[int] = set()
        self.accepted_long: set[tuple[int, ...]] = set()
        self.limited: dict[tuple[int, ...], tuple[OperandSpec, ...]] = {}
        self.special = signatures[0].special if signatures else ""
        self.warning = signatures[0].warning if signatures else ""
        self.careful = bool(self.special or self.warning)

    def accept(self, classes: tuple[int, ...]) -> None:
        """Remember that operands of these classes fit, whatever their values."""
        key = key_of(classes)
        if key < 0:
            self.accepted_long.add(classes)
        else:
            self.accepted.add(key)

    def accepts(self, key: i64) -> bool:
        """Operands with this key are known to fit."""
        if key in self.accepted:
            self.last = key
            return True
        return False

    def is_address(self, index: int) -> bool:
        """The operand at this place is an address."""
        return bool(self.signatures[0].operands[index].mask & ix.ADDR)


def key_of(classes: tuple[int, ...]) -> i64:
    """The classes of a few operands as one number; -1 when there are too many, or more classes than usual."""
    if len(classes) > KEY_OPERANDS:
        return -1
    key: int = 0
    for class_ in classes:
        if class_ >= KEY_CLASSES:
            return -1
        key = key << KEY_BITS | (class_ + 1)
    return key


_VARIANTS: Final[dict[str, Variant]] = {}
_ENTRIES: Final[dict[tuple[int, str, str], dict[str, Entry]]] = {}
_LIMIT: Final = 50_000  # distinct mnemonic texts kept; the language has fewer, nonsense could have any number


def entries_for(state: State) -> dict[str, Entry]:
    """The table of variants that modules of this version, target and texture mode share."""
    found = state.entries
    if found is None:
        found = state.entries = _ENTRIES.setdefault((state.version, state.target, state.texmode), {})
    return found


def entry_of(state: State, text: str, at: int) -> Entry:
    """The entry of a mnemonic.

    Raises:
        PtxError: no such instruction, qualifiers that do not fit, not in this version or target.
    """
    table = entries_for(state)
    entry = table.get(text)
    if entry is None:
        variant = _VARIANTS.get(text)
        if variant is None:
            variant = _resolve(text, at)
            if len(_VARIANTS) >= _LIMIT:
                _VARIANTS.clear()
            _VARIANTS[text] = variant
        entry = Entry(variant, _gated(state, variant, at))
        if len(table) >= _LIMIT:
            table.clear()
        table[text] = entry
    return entry


def _gated(state: State, variant: Variant, at: int) -> tuple[Signature, ...]:
    found: tuple[Signature, ...] = variant.signatures
    passing = tuple(s.within(state) for s in found if s.passes(state))
    if not passing:
        best = min(found, key=lambda s: (s.arch, s.sm, s.ptx))
        state.gate(f"'{variant.text}'", best.ptx, best.sm, best.arch, at)
        if best.removed is None:
            raise PtxError(at, f"'{_short(variant.text)}' needs '.target texmode_{best.texmode}'")
        raise _gone(variant, best.removed, at)
    return passing


def _gone(variant: Variant, removed: tuple[int, int], at: int) -> PtxError:
    """The error for what does not exist any more: what the forms that are left want of it, or else since when."""
    ptx, sm = removed
    where = f"for sm_{sm} and higher " if sm else ""
    since = f"{where}since PTX version {ptx // 10}.{ptx % 10}"
    words = variant.text.split(".")
    family = next(family for rest, family in ix.HEADS[words[0]] if ".".join((words[0], *rest)) == variant.name)
    module = importlib.import_module(f"oric_tables.ptx_{family}")
    left = [form for form in module.FORMS[variant.name][1] if form[6] is None]
    result = _match(variant.text, variant.name, words[1:], module, at, left) if left else variant
    if isinstance(result, Variant):
        return PtxError(at, f"'{_short(variant.text)}' does not exist {since}")
    return PtxError(at, result[1].message, f"the form without it does not exist {since}", *result[1].notes)


def _resolve(text: str, at: int) -> Variant:
    words = text.split(".")
    heads = ix.HEADS.get(words[0])
    if heads is None:
        raise PtxError(at, f"unknown instruction '{_short(words[0])}'", *_suggest(words[0], ix.HEADS))
    failures: list[tuple[int, PtxError]] = []
    for rest, family in heads:
        left = _without(words[1:], rest)
        if left is None:
            continue
        name = ".".join((words[0], *rest))
        result = _match(text, name, words[1:], importlib.import_module(f"oric_tables.ptx_{family}"), at)
        if isinstance(result, Variant):
            return result
        failures.append(result)
    if failures:
        raise min(failures, key=lambda f: f[0])[1]
    known = sorted({rest[0] for rest, _ in heads if rest})
    raise PtxError(at, f"'{_short(text)}': expected one of {', '.join('.' + w for w in known)} after '{words[0]}'")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _without(words: list[str], wanted: tuple[str, ...]) -> list[str] | None:
    """``words`` less ``wanted``; None when one is missing."""
    left = list(words)
    for word in wanted:
        if word not in left:
            return None
        left.remove(word)
    return left


def _match(text: str, name: str, words: list[str], module: Any, at: int, only: Any = None) -> Variant | tuple[int, PtxError]:
    """The variant, or how bad the nearest form (of ``only`` when given) fits (problems, error)."""
    _, forms, own_gates = module.FORMS[name]
    forms = only or forms
    signatures = []
    fields: dict[str, str] = {}
    failures: list[_Failure] = []
    for form in forms:
        found, missing, extra = _assign(form[0], words)
        if missing or extra:
            failures.append(_Failure(missing, extra, words))
            continue
        specs = tuple(OperandSpec(row, found, module.COUNTS) for row in form[1])
        gates = combined([form[2:5], _vector_gate(text, specs, at), *word_gates(found, own_gates, module.GATES)])
        signatures.append(Signature(specs, gates, *form[5:]))
        fields = fields or {field: value for field, value in found.items() if field[0] != "."}
    if signatures:
        types = tuple(w for w in words if w in ix.TYPES)
        return Variant(text, name, fields, tuple(w for w in words if w not in ix.TYPES), types, tuple(signatures))
    best = min(failure.rank for failure in failures)
    return best[0], _mismatch(text, name, [f for f in failures if f.rank == best], forms, at)


def word_gates(fields: dict[str, str], own: dict[str, Gate], common: dict[str, Gate]) -> list[Gate]:
    """What the qualifiers of a mnemonic need, and pairs of them; words of the instruction's name need nothing."""
    found = [own.get(word) or common.get(word) for field, word in fields.items() if field[0] != "."]
    pairs = [gate for words, gate in common.items() if " " in words and set(words.split()) <= set(fields.values())]
    return [gate for gate in found if gate is not None] + pairs


def combined(gates: list[Gate]) -> Gate:
    """What several things need together."""
    lists = [arch for _, _, arch in gates if arch]
    arch = tuple(t for t in lists[0] if all(t in other for other in lists)) if lists else ()
    return max(g[0] for g in gates), max(g[1] for g in gates), arch


def _vector_gate(text: str, specs: tuple[OperandSpec, ...], at: int) -> Gate:
    """What the widest vector among the operands needs."""
    widest, element = max(((s.elements * s.size, s.size) for s in specs if s.elements > 1 and not s.braces), default=(0, 0))
    for bits, (ptx, sm), most, spaces in ix.VECTOR_LIMITS:
        if widest > bits or element > most:
            continue
        space = next((s.space or s.type for s in specs if s.mask & ix.ADDR), "")
        if spaces and space not in spaces:
            raise PtxError(at, f"'{_short(text)}': a vector of {widest} bits is not in state space .{space}")
        return ptx, sm, ()
    raise PtxError(at, f"'{_short(text)}': a vector of {widest} bits is too wide")


class _Failure:
    """Why a form does not fit: required slots that stay empty, words without a slot."""

    __slots__ = ("extra", "missing", "rank")

    def __init__(self, missing: list[tuple[str, ...]], extra: list[str], words: list[str]) -> None:
        self.missing = missing
        self.extra = extra
        first = words.index(extra[0]) if extra else len(words)
        self.rank = (len(missing) + len(extra), -first)


def _assign(slots: tuple[Any, ...], words: list[str]) -> tuple[dict[str, str], list[tuple[str, ...]], list[str]]:
    """The words of a mnemonic in a form's slots: fields, values of the required slots that stay empty, words left over."""
    taken, extra = assign(slots, words)
    fields = {slot[0]: word for slot, word in zip(slots, taken, strict=True) if word}
    return fields, [values for field, values, required in slots if required and field not in fields], extra


def _mismatch(text: str, name: str, nearest: list[_Failure], forms: Any, at: int) -> PtxError:
    """The error for qualifiers that fit no form, told by the nearest forms."""
    allowed = {v for form in forms for _, values, _ in form[0] for v in values}
    extra, missing = nearest[0].extra, nearest[0].missing
    for word in extra:
        if word not in allowed:
            place = at + text.find("." + word)
            notes = (*_suggest(word, allowed, "."), *_types_note(name, nearest))
            return PtxError(place, f"'{name}' has no qualifier '.{_short(word)}'", *notes)
    if len(missing) == 1 and len(extra) <= 1:
        options = list(dict.fromkeys(v for f in nearest if len(f.missing) == 1 and f.extra == extra for v in f.missing[0]))
        if options == extra:
            return PtxError(at + text.find("." + extra[0]), f"'.{extra[0]}' comes too late in '{_short(text)}'")
        shown = ", ".join("." + v for v in options[:16]) + (" ..." if len(options) > 16 else "")
        found = f"; '.{extra[0]}' does not fit here" if extra else ""
        return PtxError(at, f"'{_short(text)}' needs {'one of ' if len(options) > 1 else ''}{shown}{found}")
    word = extra[0] if extra else missing[0][0]
    if not extra:
        return PtxError(at, f"'{_short(text)}' needs .{word} and other qualifiers")
    place = at + max(text.find("." + word), 0)
    return PtxError(place, f"'.{word}' cannot be combined with the other qualifiers of '{_short(text)}'")


def _types_note(name: str, nearest: list[_Failure]) -> tuple[str, ...]:
    """A note with the types that could stand where the nearest forms miss one."""
    types = dict.fromkeys(v for f in nearest for values in f.missing for v in values if v in ix.TYPES)
    return (f"types of '{name}' here: {', '.join('.' + t for t in types)}",) if types else ()


def _suggest(word: str, known: Any, prefix: str = "") -> tuple[str, ...]:
    import difflib

    close = difflib.get_close_matches(word, list(known), 1) if len(word) < 60 else []
    return (f"did you mean '{prefix}{close[0]}'?",) if close else ()

"""From mnemonic text to a variant with resolved signatures; one lookup per distinct text, cached for the process."""

from __future__ import annotations

import importlib
from typing import Any, Final

from oric_tables import ptx_index as ix

from .builder import Variant
from .lexer import PtxError
from .state import State

_WIDER: Final = {"u8": "u16", "s8": "s16", "u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


class OperandSpec:
    """What one operand of a resolved signature may be.

    Attributes:
        name: as in the manual (``d``, ``a`` ...); type, kind, size: expected type, its kind and bits.
        mask: flags of oric_tables.ptx_index (REG, IMM, ADDR ...).
        space: for addresses, the state space, "" for generic ones.
        elements: vector elements expected (1 when scalar).
        bounds: (least, most, step) of an immediate or None.
        pair: spec of what stands behind ``|``, or None.
    """

    __slots__ = ("bounds", "elements", "kind", "mask", "name", "optional", "pair", "pair_optional", "size", "space", "type")

    def __init__(self, row: tuple[Any, ...], fields: dict[str, str]) -> None:
        self.name, type_, self.mask, self.optional, self.bounds, pair = row
        wide = type_.startswith("wide ")
        reference = type_.removeprefix("wide ")
        type_ = fields.get(reference[1:], "") if reference.startswith("$") else reference
        if wide:
            type_ = _WIDER[type_]
        self.space = ""
        self.elements = 1
        self.type, self.kind, self.size = "", "", 0
        if self.mask & ix.ADDR:
            self.space = type_.split("::")[0]
        elif type_:
            self.type = type_
            self.kind, self.size = ix.TYPES[type_][:2]
        if self.mask & ix.VEC and "vec" in fields:
            self.elements = int(fields["vec"][1:])
        self.pair: OperandSpec | None = None
        self.pair_optional = False
        if pair is not None:
            self.pair = OperandSpec(pair[0], fields)
            self.pair_optional = pair[1]


class Signature:
    """One way in which a variant can be written: operand specs and what version and target it needs."""

    __slots__ = ("arch", "has_bounds", "least", "operands", "ptx", "sm", "special")

    def __init__(self, operands: tuple[OperandSpec, ...], gates: tuple[int, int, tuple[str, ...]], special: str) -> None:
        self.operands = operands
        self.ptx, self.sm, self.arch = gates
        self.special = special
        self.least = sum(not o.optional for o in operands)
        self.has_bounds = any(o.bounds for o in operands)


class Entry:
    """A variant as one module's version and target allow it; ``accepted`` holds operand-class keys that were checked."""

    __slots__ = ("accepted", "signatures", "special", "variant")

    def __init__(self, variant: Variant, signatures: tuple[Signature, ...]) -> None:
        self.variant = variant
        self.signatures = signatures
        self.accepted: set[tuple[int, ...]] = set()
        self.special = signatures[0].special if signatures else ""


_VARIANTS: Final[dict[str, Variant]] = {}
_ENTRIES: Final[dict[tuple[int, str], dict[str, Entry]]] = {}
_LIMIT: Final = 50_000  # distinct mnemonic texts kept; the language has fewer, nonsense could have any number


def entries_for(state: State) -> dict[str, Entry]:
    """The table of variants that modules of this version and target share."""
    return _ENTRIES.setdefault((state.version, state.target), {})


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
    if not variant.supported:
        ptx, sm, arch, removed = ix.NAMES[variant.name]
        state.gate(f"'{variant.name}'", ptx, sm, arch, at)
        if removed is not None and state.version >= removed[0] and state.sm >= removed[1]:
            raise PtxError(at, f"'{variant.name}' without '.sync' does not exist for sm_{removed[1]} and higher since "
                           f"PTX version {removed[0] // 10}.{removed[0] % 10}")  # fmt: skip
        return ()
    found: tuple[Signature, ...] = variant.signatures
    passing = tuple(s for s in found if state.passes(s.ptx, s.sm, s.arch))
    if not passing:
        best = min(found, key=lambda s: (s.arch, s.sm, s.ptx))
        state.gate(f"'{variant.text}'", best.ptx, best.sm, best.arch, at)
    return passing


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
        if not family:
            return _named_only(text, name, left)
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


def _named_only(text: str, name: str, left: list[str]) -> Variant:
    types = tuple(w for w in left if w in ix.TYPES)
    return Variant(text, name, {}, tuple(w for w in left if w not in ix.TYPES), types, (), supported=False)


def _match(text: str, name: str, words: list[str], module: Any, at: int) -> Variant | tuple[int, PtxError]:
    """The variant, or how bad the nearest form fits (problems, error)."""
    forms = module.FORMS[name][1]
    signatures = []
    fields: dict[str, str] = {}
    failures: list[_Failure] = []
    for form in forms:
        found, missing, extra = _assign(form[0], words)
        if missing or extra:
            failures.append(_Failure(missing, extra, words))
            continue
        ptx, sm = form[2], form[3]
        for field, word in found.items():
            gate = module.GATES.get(word, (0, 0)) if field[0] != "." else (0, 0)
            ptx, sm = max(ptx, gate[0]), max(sm, gate[1])
        specs = tuple(OperandSpec(row, found) for row in form[1])
        gate = _vector_gate(text, specs, at)
        signatures.append(Signature(specs, (max(ptx, gate[0]), max(sm, gate[1]), form[4]), form[5]))
        fields = fields or {field: value for field, value in found.items() if field[0] != "."}
    if signatures:
        types = tuple(w for w in words if w in ix.TYPES)
        return Variant(text, name, fields, tuple(w for w in words if w not in ix.TYPES), types, tuple(signatures))
    best = min(failure.rank for failure in failures)
    return best[0], _mismatch(text, name, [f for f in failures if f.rank == best], forms, at)


def _vector_gate(text: str, specs: tuple[OperandSpec, ...], at: int) -> tuple[int, int]:
    """What the widest vector among the operands needs."""
    widest = max((s.elements * s.size for s in specs if s.elements > 1), default=0)
    for bits, (ptx, sm) in ix.VECTOR_LIMITS:
        if widest <= bits:
            return ptx, sm
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
    """Give each word to the first free slot that takes it: fields, missing, left over.

    As for ptxas, qualifiers may come in any order. Types keep the order of their slots, and the words
    of the instruction's name stand in front of the qualifiers that follow them in the signature.
    """
    fields: dict[str, str] = {}
    extra = []
    reached = -1  # slot of the last type
    furthest = -1  # last slot filled
    for word in words:
        is_type = word in ix.TYPES
        for index, (field, values, _) in enumerate(slots):
            if word not in values or (is_type and index <= reached) or (field[0] == "." and index < furthest):
                continue
            if field not in fields:
                fields[field] = word
                furthest = max(furthest, index)
                if is_type:
                    reached = index
                break
        else:
            extra.append(word)
    return fields, [values for field, values, required in slots if required and field not in fields], extra


def _mismatch(text: str, name: str, nearest: list[_Failure], forms: Any, at: int) -> PtxError:
    """The error for qualifiers that fit no form, told by the nearest forms."""
    allowed = {v for form in forms for _, values, _ in form[0] for v in values}
    extra, missing = nearest[0].extra, nearest[0].missing
    for word in extra:
        if word not in allowed:
            place = at + text.find("." + word)
            return PtxError(place, f"'{name}' has no qualifier '.{_short(word)}'", *_suggest(word, allowed, "."))
    if len(missing) == 1 and len(extra) <= 1:
        options = list(dict.fromkeys(v for f in nearest if len(f.missing) == 1 and f.extra == extra for v in f.missing[0]))
        shown = ", ".join("." + v for v in options[:16]) + (" ..." if len(options) > 16 else "")
        found = f"; '.{extra[0]}' does not fit here" if extra else ""
        return PtxError(at, f"'{_short(text)}' needs {'one of ' if len(options) > 1 else ''}{shown}{found}")
    word = extra[0] if extra else missing[0][0]
    if not extra:
        return PtxError(at, f"'{_short(text)}' needs .{word} and other qualifiers")
    place = at + max(text.find("." + word), 0)
    return PtxError(place, f"'.{word}' cannot be combined with the other qualifiers of '{_short(text)}'")


def _suggest(word: str, known: Any, prefix: str = "") -> tuple[str, ...]:
    import difflib

    close = difflib.get_close_matches(word, list(known), 1) if len(word) < 60 else []
    return (f"did you mean '{prefix}{close[0]}'?",) if close else ()

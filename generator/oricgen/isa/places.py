"""Where an operand sits in a form: from the form's ``at``, the row, the operand's name, or the shape."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..strictyaml import Map
from . import bits, ranges
from .bits import Bits
from .model import Default, FormOperand, Operand

# Operands whose name says their place.
_BY_NAME = {
    "Rd": "16-23", "Pd": "81-83", "Pu": "81-83", "Pv": "84-86", "Pp": "87-89!90",
    "UPd": "81-83", "UPu": "81-83", "UPv": "84-86", "UPp": "87-89!90",
}  # fmt: skip
_PLACE = re.compile(
    r"(?:(?P<spec>\w+)@)?(?P<sign>[su]?)(?P<bits>[\d,-]+)(?:<<(?P<shift>\d+))?(?P<invert>\^?)(?:!(?P<not>\d+))?(?:=(?P<default>\d+))?"
    r"(?:r(?P<reuse>\d+))?(?: -(?P<neg>\d+))?(?: \|(?P<abs>\d+))?\Z"
)
_NUMBERS = {"relnum", "abs"}  # targets that are numbers to us
_NUMBER = re.compile(r"[sux]\d+\Z")
_IMMEDIATES = {"f32", "f64h", "f16x2", "bf16x2", "f16", "bf16"}
OPERAND_KINDS = {"gpr", "ugpr", "pred", "upred", "breg", "sb", "sreg"}


@dataclass(frozen=True)
class Formats:
    """The parts of formats.yaml that places need, as they are on one ISA."""

    regions: dict[str, dict[str, str]]
    targets: dict[str, dict[str, str]]
    shapes: dict[str, dict[str, Any]]


def formats_on(isa: str, isas: Sequence[str], raw: Mapping[str, Any]) -> Formats:
    """formats.yaml as it is on ``isa``: columns that are maps of encoding models have one value.

    Raises:
        ValueError: an encoding model that formats.yaml does not have.
    """

    def column(value: Any) -> Any:
        return ranges.pick(value, isa, isas, "") if isinstance(value, Map) else value

    regions = {letter: {key: column(v) for key, v in region.items()} for letter, region in raw["regions"].items()}
    targets = {
        name: {"bits": ranges.pick({k: v for k, v in row.items() if k not in ("bits", "shift")}, isa, isas, row.get("bits", "")),
               "shift": row["shift"]}
        for name, row in raw["targets"].items()
    }  # fmt: skip
    shapes = {
        name: {letters: shape for letters, shape in table.items() if ranges.holds(shape.get("isa", (isa,)), isa, isas)}
        for name, table in raw["shapes"].items()
    }
    return Formats(regions, targets, shapes)


@dataclass(frozen=True)
class Slot:
    """What a shape gives a source: its kind letter, its region, which of the three sources it counts as."""

    letter: str
    region: dict[str, str]
    ordinal: int


def kind_of(spec: str) -> str:
    """The operand kind that a number format belongs to."""
    if spec in OPERAND_KINDS:
        return spec
    if spec in ("cbank", "bank"):
        return "cbank"
    if spec == "cbanku":
        return "cbanku"
    if spec.startswith("rel") and spec != "relnum":
        return "label"
    if spec in _IMMEDIATES or spec == "relnum" or _NUMBER.match(spec):
        return "imm"
    raise ValueError(f"there is no operand format '{spec}'")


def explicit(operand: Operand, index: int, text: str, formats: Formats) -> tuple[FormOperand, Default | None]:
    """An operand whose place is written out: ``[FORMAT@]BITS[^][!BIT][=DEFAULT][rBIT][ -BIT][ |BIT]``, a region, a target."""
    if text in formats.regions:
        return _region(operand, index, operand.kind, formats.regions[text], -1), operand.default
    if text in formats.targets:
        target = formats.targets[text]
        place = bits.parse(str(target["bits"]))
        kind = "imm" if text in _NUMBERS else "label"
        signed = text != "abs"
        return FormOperand(index, kind, text, place, shift=int(target["shift"]), signed=signed), operand.default
    match = _PLACE.match(text)
    if match is None:
        raise ValueError(f"operand '{operand.name}': '{text}' is no place: write [FORMAT@]BITS, a region or a name of 'targets'")
    runs = match["bits"].split(",")
    spec = match["spec"] or (f"{match['sign']}{bits.parse(match['bits']).width}" if match["sign"] else operand.kind)
    default = Default("imm", int(match["default"])) if match["default"] else operand.default
    if spec == "same":
        return FormOperand(index, operand.kind, operand.kind, bits.parse(match["bits"]), same=True), default
    if spec == "cbank":
        return FormOperand(index, "cbank", spec, bits.parse(runs[0]), bits.parse(runs[1])), default
    kind = kind_of(spec)
    place = bits.parse(match["bits"])
    negation = int(match["neg"] or match["not"] or -1)
    signed = spec[0] == "s" and kind == "imm"
    neg, inv = (-1, negation) if "~" in operand.marks else (negation, -1)
    found = FormOperand(
        index, kind, spec, place, neg=neg, abs=int(match["abs"] or -1), inv=inv, reuse=int(match["reuse"] or -1),
        invert=bool(match["invert"]), signed=signed, shift=int(match["shift"] or 0),
    )  # fmt: skip
    return found, default


def by_name(operand: Operand, index: int, formats: Formats) -> FormOperand | None:
    """An operand whose name says its place, or that takes the region of its letter; None when neither does."""
    if operand.name in _BY_NAME:
        match = _PLACE.match(_BY_NAME[operand.name])
        assert match is not None
        negation = int(match["not"]) if match["not"] and not operand.writes else -1
        return FormOperand(index, operand.kind, operand.kind, bits.parse(match["bits"]), neg=negation)
    letter = operand.name[-1].upper()
    if operand.kind in ("gpr", "ugpr") and letter in formats.regions:
        return _region(operand, index, operand.kind, formats.regions[letter], -1)
    return None


def by_shape(operand: Operand, index: int, slot: Slot, imm: str) -> FormOperand:
    """A source in the region that the shape gives it."""
    region = slot.region
    if slot.letter == "I":
        place = bits.parse(region["imm"])
        return FormOperand(index, "imm", imm, place)
    if slot.letter in "CX":
        constant = FormOperand(
            index, "cbank", "cbank", bits.parse(region["offset"]), bits.parse(region["bank"]), shift=2
        )  # fmt: skip
        if slot.letter == "X":
            constant = FormOperand(index, "cbanku", "cbanku", constant.bits, bits.parse(region["ugpr"]), shift=2)
        return _signs(constant, operand, region)
    kind = "ugpr" if slot.letter == "U" else operand.kind
    return _region(operand, index, kind, region, 122 + slot.ordinal if kind == "gpr" and slot.ordinal >= 0 else -1)


def _region(operand: Operand, index: int, kind: str, region: dict[str, str], reuse: int) -> FormOperand:
    if kind not in region:
        raise ValueError(f"operand '{operand.name}': the region has no place for operands of kind '{kind}'")
    return _signs(FormOperand(index, kind, kind, bits.parse(region[kind]), reuse=reuse), operand, region)


def _signs(place: FormOperand, operand: Operand, region: dict[str, str]) -> FormOperand:
    return FormOperand(
        place.index, place.kind, place.spec, place.bits, place.second,
        neg=int(region["neg"]) if "-" in operand.marks else -1,
        abs=int(region["abs"]) if "|" in operand.marks else -1,
        inv=int(region["inv"]) if "~" in operand.marks else -1,
        reuse=place.reuse, shift=place.shift,
    )  # fmt: skip


def mask_of(place: FormOperand) -> int:
    """All bits of the word that belong to the operand."""
    single = sum(1 << b for b in (place.neg, place.abs, place.inv, place.reuse) if b >= 0)
    second: Bits | None = place.second
    return place.bits.mask | (second.mask if second else 0) | single

"""Do these operands fit this signature? PTX's typing rules, as ptxas 13.0.88 applies them.

A .bN operand agrees with any register of its size, .uN/.sN with integer and .bN registers, .fN with .fN and .bN ones, packed
types with .bN only. Operands marked ``wider`` (ld, st, cvt) take wider registers too, floats only wider .bN ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Final

from oric_tables import ptx_index as ix

from . import classes as cl
from .builder import INT, PAIR, VEC, Operand
from .signatures import Entry, OperandSpec, Signature

MAX_ADDRESS_BITS: Final = 64
HALF_BITS: Final = 16  # of the elements that floating-point constants do not stand for
Fault = tuple[int, str]  # operand index (-1: the whole), message


def check(entry: Entry, key: tuple[int, ...], nodes: Sequence[Operand]) -> Fault | None:
    """Check operands against all signatures of a variant.

    Args:
        entry: the variant.
        key: class of each operand.
        nodes: the operands.

    Returns:
        None when a signature fits, else what is wrong with the nearest one.
    """
    best: Fault | None = None
    nearest = (-1, False)
    for signature in entry.signatures:
        fault = fits(signature, key, nodes)
        if fault is None:
            if not signature.has_limits:
                entry.accept(key)
            elif len(key) == len(signature.operands) and all(map(_simply_limited, signature.operands)):
                entry.limited[key] = signature.operands
            return None
        nearness = _nearness(signature, fault[0], key)
        if best is None or nearness > nearest:
            best, nearest = fault, nearness
    if best is None:  # known by name only: operands are taken as they are
        entry.accept(key)
        return None
    index, message = best
    if index < 0:
        return index, f"'{entry.variant.text}' {message}"
    return index, f"operand {index + 1} of '{entry.variant.text}': {message}"


def _simply_limited(spec: OperandSpec) -> bool:
    """Nothing but the value of an integer matters beside the operand's class."""
    return not spec.has_limits or not (spec.rest or spec.mask & ix.TEX)


def within_limits(specs: Sequence[OperandSpec], nodes: Sequence[Operand]) -> bool:
    """The integers among operands of classes that are known to fit have values that fit too."""
    for spec, node in zip(specs, nodes, strict=True):
        if node[0] == INT and (spec.bounds or spec.choices) and _limits_message(spec, node):
            return False
    return True


def _nearness(signature: Signature, index: int, key: tuple[int, ...]) -> tuple[int, bool]:
    """How near a signature comes whose fault is at an operand: later ones are nearer, then those that take a vector given."""
    if not 0 <= index < len(signature.operands) or cl.DESCRIPTORS[key[index]][0] != cl.C_VEC:
        return index, False
    return index, bool(signature.operands[index].mask & (ix.PACK | ix.VEC))


def fits(signature: Signature, key: tuple[int, ...], nodes: Sequence[Operand]) -> Fault | None:
    """What is wrong with operands for one signature; None when they fit.

    Where there are fewer operands than optional places, those places are tried in turn, first ones first.
    """
    specs = signature.operands
    spare = len(key) - signature.least
    if spare < 0 or len(key) > len(specs):
        return -1, _count_message(signature, len(key))
    if not spare or len(key) == len(specs):
        return _fit([s for s in specs if spare or not s.optional], key, nodes)
    places = [i for i, s in enumerate(specs) if s.optional]
    worst: Fault | None = None
    for taken in combinations(places, spare):
        fault = _fit([s for i, s in enumerate(specs) if not s.optional or i in taken], key, nodes)
        if fault is None:
            return None
        if worst is None or fault[0] > worst[0]:
            worst = fault
    return worst


def _fit(specs: Sequence[OperandSpec], key: tuple[int, ...], nodes: Sequence[Operand]) -> Fault | None:
    for index, spec in enumerate(specs):
        message = accept(spec, cl.DESCRIPTORS[key[index]], nodes[index])
        if message:
            return index, message
    return None


def _count_message(signature: Signature, count: int) -> str:
    least, most = signature.least, len(signature.operands)
    wanted = f"{least} operand{'s' * (least != 1)}" if least == most else f"{least} to {most} operands"
    return f"takes {wanted}, but {count} {'is' if count == 1 else 'are'} given"


def agrees(kind: str, size: int, name: str, register: str, wider: bool) -> bool:
    """True when a register type may stand where a type (kind, size, name) is expected."""
    if register == name:
        return True
    other, bits, *_ = ix.TYPES[register]
    if other == "pred" or kind == "pred":
        return kind == "raw"
    if bits != size and not (wider and bits > size):
        return False
    if kind in {"bits", "raw"}:
        return True
    if kind == "int":
        return other in {"int", "bits"}
    return bool(other == "bits")  # float and packed types


def accept(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    """What is wrong with an operand for a spec; "" when nothing is."""
    tag = descriptor[0]
    mask = spec.mask
    if spec.pair is not None:
        return _accept_pair(spec, descriptor, node)
    if tag == cl.C_VEC:
        return _accept_vector(spec, descriptor, node)
    if tag == cl.C_UNIFIED:
        if not mask & ix.UNIFIED or spec.space not in ("", "global"):
            return "'.unified' stands behind a generic or global address of ld, ldu and atom only"
        return accept(spec, cl.DESCRIPTORS[descriptor[1]], node)
    if tag == cl.C_ELEMENT:
        return _accept_indexed(spec, descriptor, node)
    whole = (tag == cl.C_SREG and descriptor[2] <= spec.elements) or (tag == cl.C_SINK and mask & ix.SINK and not mask & ix.FRAG)
    if spec.braces_needed and not whole:
        return f"expected {_vector_text(spec)}, found {describe(descriptor, node)}"
    if tag == cl.C_REG and mask & ix.TEX:
        good = not mask & ix.ADDR and ix.TYPES[descriptor[1]][0] in ("bits", "int") and ix.TYPES[descriptor[1]][1] == spec.size
    elif tag == cl.C_REG:
        good = mask & ix.REG != 0 and agrees(spec.kind, spec.size, spec.type, descriptor[1], bool(mask & ix.WIDER))
    elif tag == cl.C_INT:
        good = mask & ix.IMM != 0 and spec.kind in ("bits", "int", "pred")
        if good and spec.has_limits:
            return _limits_message(spec, node)
    elif tag == cl.C_TUPLE or spec.rest:
        return _accept_tuple(spec, descriptor, node)
    elif tag in (cl.C_ADDR_REG, cl.C_ADDR_SYM, cl.C_ADDR_IMM):
        return _accept_address(spec, descriptor, node)
    else:
        good = _accept_rare(spec, tag, descriptor)
    if not good and mask & ix.ANY and not spec.rest:  # ptxas does not look at what stands there
        good = tag in (cl.C_REG, cl.C_NOT, cl.C_SINGLE, cl.C_DOUBLE, cl.C_SYM)
    return "" if good else f"expected {expectation(spec)}, found {describe(descriptor, node)}"


def _accept_rare(spec: OperandSpec, tag: str, descriptor: cl.Descriptor) -> bool:
    mask = spec.mask
    if tag in (cl.C_SINGLE, cl.C_DOUBLE):
        if not mask & ix.IMM:
            return False
        if spec.kind in {"bits", "raw"}:
            return spec.size == (32 if tag == cl.C_SINGLE else 64)
        return spec.kind == "float" and spec.size >= 32
    if tag == cl.C_NOT:
        return bool(mask & ix.REG) and not mask & ix.DEST and spec.kind == "pred" and descriptor[1] == "pred"
    if tag == cl.C_SREG:
        if not mask & ix.SREG or descriptor[2] > spec.elements:
            return False
        kind, size, *_ = ix.TYPES[descriptor[1]]
        fits = size > spec.size if mask & ix.WIDER else spec.size in descriptor[3]
        return spec.kind != "float" and (kind == "pred") == (spec.kind == "pred") and (fits or size == spec.size)
    if tag == cl.C_SYM and mask & ix.TEX:
        return bool(descriptor[1] == spec.type)
    if tag == cl.C_SYM:
        local = descriptor[1] == "param" and not descriptor[2]  # a variable for a call's argument lies in no memory
        wanted = bool(mask & ix.SYM) and in_space(spec.space, descriptor[1])
        return wanted and not local and spec.kind in ("bits", "int") and spec.size >= 32
    if tag == cl.C_SUM:
        value = mask & ix.REG and not mask & (ix.DEST | ix.TEX)
        return bool(value) and agrees(spec.kind, spec.size, spec.type, descriptor[1], bool(mask & ix.WIDER))
    if tag == cl.C_LABEL:
        return bool(mask & ix.LABEL)
    if tag == cl.C_TABLE:
        return bool(mask & ix.TABLE)
    if tag == cl.C_NEG:
        inner = cl.DESCRIPTORS[descriptor[1]]
        if not mask & ix.NEG:
            return False
        if inner[0] == cl.C_REG:
            return agrees(spec.kind, spec.size, spec.type, inner[1], bool(mask & ix.WIDER))
        return _accept_rare(spec, inner[0], inner)
    if tag == cl.C_PART:
        return bool(mask & ix.PART) and _accept_part(spec, descriptor)
    return tag == cl.C_SINK and bool(mask & ix.SINK)


def _accept_part(spec: OperandSpec, descriptor: cl.Descriptor) -> bool:
    """``a.b0``: the register fits the type, the part is one of those that the signature names."""
    known = re.fullmatch(ix.PARTS[spec.part], descriptor[2]) is not None
    return known and agrees(spec.kind, spec.size, spec.type, descriptor[1], False)


def _accept_pair(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    assert spec.pair is not None
    pair, spec.pair = spec.pair, None  # the first element is checked like any operand
    try:
        if descriptor[0] != cl.C_PAIR:
            if not spec.pair_optional:
                return f"expected a pair of {expectation(spec)} and {expectation(pair)}, found {describe(descriptor, node)}"
            return accept(spec, descriptor, node)
        message = accept(spec, cl.DESCRIPTORS[descriptor[1]], node[1])
        return message or accept(pair, cl.DESCRIPTORS[descriptor[2]], node[2])
    finally:
        spec.pair = pair


def _accept_vector(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    parts = [cl.DESCRIPTORS[c] for c in descriptor[1:]]
    if spec.mask & ix.PACK and spec.elements == 1 and (len(parts) > 1 or not spec.mask & ix.WIDER):
        return _accept_wide_pack(spec, parts) if spec.mask & ix.WIDER else _accept_pack(spec, parts, node)
    if not spec.mask & ix.VEC:
        good = (
            spec.kind == "raw"
            and not spec.mask & ix.EXACT
            and all(p[0] == cl.C_REG and ix.TYPES[p[1]][1] == spec.size for p in parts)
        )
        return "" if good else f"expected {expectation(spec)}, found a vector"
    if len(parts) != spec.elements and not (spec.mask & ix.MORE and len(parts) in (1, 2, 4) and len(parts) > spec.elements):
        wanted = _vector_text(spec) if spec.elements > 1 or spec.braces else expectation(spec)
        return f"expected {wanted}, found a vector of {len(parts)}"
    if spec.mask & ix.FRAG or spec.rest:
        return _accept_fragment(spec, parts, node)
    kinds = [_element_kind(spec, part) for part in parts]
    for index, kind in enumerate(kinds):
        if not kind or (spec.mask & ix.INDEX and index == 0 and kind == "float"):
            return (
                f"element {index + 1} of the vector: expected {expectation(spec)}, found {describe(parts[index], node[1][index])}"
            )
    return _accept_mixture(spec, parts, kinds)


def _element_kind(spec: OperandSpec, part: cl.Descriptor) -> str:
    """The kind of a vector's element of the right size: a register's, "int" or "float" of a constant, "_"; "" for no element."""
    tag = part[0]
    if tag == cl.C_SINK:
        return "_" if spec.mask & (ix.DEST | ix.GAPS) else ""
    if tag == cl.C_REG:
        if not agrees("bits", spec.size, spec.type, part[1], bool(spec.mask & ix.WIDER)):
            return ""
        kind: str = ix.TYPES[part[1]][0]
        return "" if spec.mask & ix.EXACT and not agrees(spec.kind, spec.size, spec.type, part[1], False) else kind
    if tag == cl.C_SREG and part[2] == 1:
        size = ix.TYPES[part[1]][1]
        return "bits" if size == spec.size or (spec.mask & ix.WIDER and size > spec.size) else ""
    if tag == cl.C_INT and spec.mask & ix.IMM:
        return "int"
    return "float" if tag in (cl.C_SINGLE, cl.C_DOUBLE) and spec.mask & ix.IMM else ""


_LITERAL_SIZES: Final = {cl.C_SINGLE: 32, cl.C_DOUBLE: 64}
_LITERAL_KINDS: Final = {cl.C_INT: "int", cl.C_SINGLE: "float", cl.C_DOUBLE: "float"}


def _accept_mixture(spec: OperandSpec, parts: list[cl.Descriptor], kinds: list[str]) -> str:
    """A vector as a whole: of .bN when its elements differ, which agrees with everything; integers do not touch floats."""
    sizes = {ix.TYPES[part[1]][1] for part in parts if part[0] in (cl.C_REG, cl.C_SREG)}
    if len(sizes) > 1:
        return "the registers of a vector have one size"
    literals = next((part[0] for part in parts if part[0] in (cl.C_SINGLE, cl.C_DOUBLE)), "")
    if literals and spec.size not in (sizes or {_LITERAL_SIZES[literals]}) and (sizes or spec.kind != "float"):
        return f"a floating-point constant does not fit into the vector for type .{spec.type}"
    first = 1 if spec.mask & ix.INDEX else 0
    wanted = [k for k in kinds[first:] if k != "_"]
    if {"int", "float"} in [{a, b} for a, b in pairwise(wanted)]:
        return f"elements of a vector for type .{spec.type} are integers or floating-point, not both"
    if len({*kinds} - {"_"}) > 1:
        return ""
    if not wanted:
        return "expected at least one register in the vector" if spec.mask & (ix.DEST | ix.GAPS) else ""
    constants = all(part[0] == cl.C_INT for part in parts)
    wide = spec.kind == wanted[0] == "float" and sizes not in (set(), {spec.size})
    if (spec.kind == "int" and wanted[0] == "float") or (spec.kind == "float" and constants) or wide:
        return f"expected elements of type .{spec.type}, found {describe(parts[0], (INT, 0))}"
    return ""


def _accept_fragment(spec: OperandSpec, parts: list[cl.Descriptor], node: Operand) -> str:
    """A fragment of a matrix: elements that agree as single operands do, or different ones, which together have type .bN."""
    if spec.rest:  # elements that are operands of their own
        found = (accept(inner, part, n) for inner, part, n in zip(spec.rest, parts, node[1], strict=True))
        return next((f"element {i + 1} of the vector: {message}" for i, message in enumerate(found) if message), "")
    mixed = len(set(parts)) > 1 and not spec.mask & ix.EXACT
    for index, part in enumerate(parts):
        if not (_stands_in_fragment(spec, part) if mixed else _accept_element(spec, part)):
            return f"element {index + 1} of the vector: expected {expectation(spec)}, found {describe(part, node[1][index])}"
    if mixed:
        kinds = {_FRAGMENT_KINDS.get(part[0]) or ix.TYPES[part[1]][0] for part in parts}
        if "float" in kinds and kinds & {"int", "pred"}:
            return f"elements of a vector for type .{spec.type} are integers or floating-point, not both"
    # Constants alone have 64 bits.
    elif spec.kind in {"bits", "raw"} and spec.size < 64 and parts[0][0] == cl.C_INT:
        return f"expected a register in the vector for type .{spec.type}"
    return ""


_FRAGMENT_KINDS = {cl.C_INT: "int", cl.C_SINGLE: "float", cl.C_DOUBLE: "float", cl.C_SINK: "bits"}


def _stands_in_fragment(spec: OperandSpec, part: cl.Descriptor) -> bool:
    """One of different elements: a register of the size, perhaps a predicate, a constant, ``_``."""
    tag = part[0]
    if tag == cl.C_REG:
        if part[1] == "pred":
            return spec.kind == "raw" or bool(spec.mask & ix.PREDS)
        return bool(ix.TYPES[part[1]][1] == spec.size)
    if tag == cl.C_SINK:
        return bool(spec.mask & ix.SINK)
    return bool(spec.mask & ix.IMM) and tag in (cl.C_INT, cl.C_SINGLE, cl.C_DOUBLE)


def _accept_element(spec: OperandSpec, part: cl.Descriptor) -> bool:
    tag = part[0]
    if tag == cl.C_REG:
        return agrees(spec.kind, spec.size, spec.type, part[1], False)
    if not spec.mask & ix.IMM or tag not in (cl.C_INT, cl.C_SINGLE, cl.C_DOUBLE):
        return False
    if tag == cl.C_INT:
        return spec.kind in {"bits", "int", "raw"}
    return (spec.kind == "bits" and spec.size == 64) or _accept_rare(spec, tag, part)


def _accept_pack(spec: OperandSpec, parts: list[cl.Descriptor], node: Operand) -> str:
    """``{a, b}`` as one value of twice their size; ``{a}`` is a. Behind an integer registers may be wider."""
    size = spec.size // max(len(parts), 1)
    if len(parts) not in (1, 2, 4, 8) or size < 8:
        return f"a value of type .{spec.type} is made of 2 or 4 elements, found {len(parts)}"
    result = bool(spec.mask & ix.DEST)
    cut = not result and parts[0][0] == cl.C_INT
    kinds: dict[str, int] = {}  # of the elements that are not plain bits -> the first one
    for index, part in enumerate(parts):
        tag = part[0]
        kind, bits, *_ = ix.TYPES[part[1]] if tag == cl.C_REG else (_LITERAL_KINDS.get(tag, ""), size, 0)
        if tag == cl.C_REG:
            good = kind != "pred" and (bits == size or (cut and bits > size))
        elif result:
            good = tag == cl.C_SINK
        else:
            good = kind == "int" or (kind == "float" and size > HALF_BITS)
        if not good:
            what = describe(part, node[1][index])
            return f"element {index + 1} of the vector: expected a register of {size} bits, found {what}"
        if kind not in ("", "bits"):
            kinds.setdefault(kind, index)
    if len(kinds) > 1:
        index = max(kinds.values())
        return f"element {index + 1} of the vector: {describe(parts[index], node[1][index])} does not fit the ones before"
    if result and all(part[0] == cl.C_SINK for part in parts):
        return f"expected at least one register in the vector for type .{spec.type}"
    return ""


def _accept_wide_pack(spec: OperandSpec, parts: list[cl.Descriptor]) -> str:
    """``{a, b}`` as one value of at least the operand's size."""
    sizes = {ix.TYPES[part[1]][1] for part in parts if part[0] in (cl.C_REG, cl.C_SREG) and part[1] != "pred"}
    sizes |= {_LITERAL_SIZES[part[0]] for part in parts if part[0] in _LITERAL_SIZES and spec.mask & ix.IMM}
    known = {cl.C_REG, cl.C_SREG, *_LITERAL_SIZES, cl.C_INT if spec.mask & ix.IMM else cl.C_REG}
    others = [part for part in parts if part[0] not in known]
    if len(parts) not in (2, 4) or others or len(sizes) > 1 or (cl.C_REG, "pred") in parts:
        return f"a value of type .{spec.type} is made of 2 or 4 elements of one size"
    found = max(sizes, default=spec.size) * len(parts)
    if found < spec.size or (found > spec.size and any(part[0] in _LITERAL_SIZES for part in parts)):
        return f"{len(parts)} elements of {max(sizes)} bits do not make a value of type .{spec.type}"
    return ""


def _vector_text(spec: OperandSpec) -> str:
    return f"a vector of {spec.elements} element{'s' * (spec.elements != 1)}"


def _accept_tuple(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    """``[a, c]``."""
    if descriptor[0] != cl.C_TUPLE:
        return f"expected {expectation(spec)} with {len(spec.rest)} more in the brackets, found {describe(descriptor, node)}"
    if not spec.rest:
        return f"expected {expectation(spec)}, found {len(descriptor) - 1} operands in brackets"
    parts = [cl.DESCRIPTORS[c] for c in descriptor[1:]]
    least = 1 + sum(not o.optional for o in spec.rest)
    if not least <= len(parts) <= 1 + len(spec.rest):
        return f"expected {least} operands in the brackets, found {len(parts)}"
    spare = len(parts) - least
    message = _accept_address(spec, parts[0], node[1])
    index = 1
    for inner in spec.rest:
        if inner.optional and not spare:
            continue
        spare -= inner.optional
        if inner.mask & ix.SCALAR and parts[index][0] in (cl.C_INT, cl.C_SINGLE, cl.C_DOUBLE):
            return message or f"expected {expectation(inner)} in braces, found {describe(parts[index], node[1 + index])}"
        message = message or accept(inner, parts[index], node[1 + index])
        index += 1
    return message


def _accept_address(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    tag = descriptor[0]
    if not spec.mask & ix.ADDR:
        return f"expected {expectation(spec)}, found {describe(descriptor, node)}"
    if spec.mask & ix.AREG:
        if tag == cl.C_ADDR_REG and agrees(spec.kind, spec.size, spec.type, descriptor[1], False):
            return ""
        return f"expected {expectation(spec)}, found {describe(descriptor, node)}"
    if tag == cl.C_ADDR_REG:
        kind, size, *_ = ix.TYPES[descriptor[1]]
        if spec.mask & ix.TEX and node[2]:
            return f"a .{spec.type} takes no offset"
        if spec.mask & ix.ANY:
            return ""
        if spec.mask & ix.TEX and size != spec.size:
            return f"expected a .{spec.type} or a register of {spec.size} bits, found one of type .{descriptor[1]}"
        if kind in {"bits", "int"} and size <= MAX_ADDRESS_BITS:
            return ""
        return f"an address is an integer register, found one of type .{descriptor[1]}"
    if tag == cl.C_ADDR_SYM:
        if spec.mask & ix.TEX:
            if node[2]:
                return f"a .{spec.type} takes no offset"
            return "" if descriptor[1] == spec.type else f"expected a .{spec.type}, found {_variable(descriptor[1])}"
        if spec.mask & ix.OBJECT and descriptor[1] in ix.TYPES:
            return ""
        if descriptor[1] == spec.space or (not spec.space and descriptor[1] in ix.GENERIC):
            return _parameter_message(spec, descriptor[2]) if descriptor[1] == "param" else ""
        return f"expected {_spaces(spec)}, found {_variable(descriptor[1])}"
    if spec.mask & ix.TEX:
        return f"expected a .{spec.type}, found an immediate address"
    return "" if spec.space == "local" else "an immediate address is allowed in state space .local only"


def _parameter_message(spec: OperandSpec, formal: str) -> str:
    """What is wrong with an address in .param; ``formal``: it is a parameter or result of the function."""
    if not formal and not spec.mask & (ix.LOAD | ix.STORE):
        return "a variable in .param that is no parameter has no address here"
    if formal == "parameter" and spec.mask & ix.STORE:
        return "a parameter of the function cannot be written"
    if formal == "result" and spec.mask & ix.LOAD:
        return "a result of the function cannot be read"
    return ""


def _accept_indexed(spec: OperandSpec, descriptor: cl.Descriptor, node: Operand) -> str:
    """``a[1]``: an address for loads and stores, elsewhere a value."""
    if spec.mask & (ix.LOAD | ix.STORE):
        return _accept_address(spec, (cl.C_ADDR_SYM, *descriptor[1:]), node)
    good = _accept_rare(spec, cl.C_SYM, (cl.C_SYM, *descriptor[1:]))
    return "" if good else f"expected {expectation(spec)}, found {describe(descriptor, node)}"


def _spaces(spec: OperandSpec) -> str:
    """The address that a spec expects of a variable's name."""
    if spec.space:
        return f"an address in state space .{spec.space}"
    return f"a generic address (of .{', .'.join(sorted(ix.GENERIC))})"


def in_space(wanted: str, found: str) -> bool:
    """The address of a variable in state space ``found``, or of an opaque type, is one in the space that is wanted, if any."""
    return not wanted or found == wanted or (wanted == "global" and found in ix.TYPES)


def _variable(space: str) -> str:
    """A variable, by its state space or opaque type."""
    return f"a variable of type .{space}" if space in ix.TYPES else f"a variable in .{space}"


def _limits_message(spec: OperandSpec, node: Operand) -> str:
    value = node[1]
    if spec.choices:
        return "" if value in spec.choices else f"expected {', '.join(map(str, spec.choices))}, found {value}"
    assert spec.bounds is not None
    least, most, step = spec.bounds
    if not least <= value <= most:
        return f"expected a value from {least} to {most}, found {value}"
    return f"expected a multiple of {step}, found {value}" if value % step else ""


def expectation(spec: OperandSpec) -> str:
    """What a spec expects, for messages."""
    mask = spec.mask
    if mask & ix.TEX:
        return f"a .{spec.type}"
    if mask & ix.AREG:
        return f"an address in a register of type .{spec.type}"
    if mask & ix.ADDR:
        return f"an address in .{spec.space}" if spec.space else "an address"
    if mask & ix.LABEL:
        return "a label"
    if mask & ix.TABLE:
        return "a label of .branchtargets"
    if mask & ix.PART and not mask & ix.REG:
        return f"a part of a register of type .{spec.type}"
    if not mask & ix.REG:
        return "an integer constant"
    name = f"b{spec.size}" if spec.kind == "raw" else spec.type  # raw types are no words of PTX
    type_ = f" of type .{name}" if spec.kind != "pred" else ""
    register = "a predicate register" if spec.kind == "pred" else "a register"
    if mask & ix.IMM and not mask & ix.DEST and spec.kind != "pred":
        register += " or constant"
    return register + type_ + (f" or the address of a variable in .{spec.space}" if mask & ix.SYM and spec.space else "")


def describe(descriptor: cl.Descriptor, node: Operand) -> str:
    """What was found, for messages."""
    tag = descriptor[0]
    if tag == cl.C_REG:
        return f"a register of type .{descriptor[1]}"
    if tag == cl.C_INT:
        return f"the integer {node[1]}" if node[0] == INT else "an integer"
    if tag == cl.C_PAIR:
        return "a pair" if node[0] == PAIR else "something else"
    if tag == cl.C_VEC:
        return f"a vector of {len(descriptor) - 1}" if node[0] == VEC else "a vector"
    if tag == cl.C_SREG:
        return f"special register '%{node[1]}' of type .{descriptor[1]}"
    if tag == cl.C_SYM:
        return "a function name" if descriptor[1] == "func" else f"the address of {_variable(descriptor[1])}"
    return _DESCRIPTIONS.get(tag, "something else")


_DESCRIPTIONS = {
    cl.C_NOT: "a negated predicate",
    cl.C_NEG: "a negated operand",
    cl.C_SINGLE: "a floating-point constant",
    cl.C_DOUBLE: "a floating-point constant",
    cl.C_ADDR_REG: "an address",
    cl.C_ADDR_SYM: "an address",
    cl.C_ADDR_IMM: "an address",
    cl.C_ELEMENT: "an element of an array",
    cl.C_SUM: "a register plus a constant",
    cl.C_LABEL: "a label",
    cl.C_TABLE: "a table label",
    cl.C_SINK: "'_'",
    cl.C_TUPLE: "several operands in brackets",
    cl.C_PART: "a part of a register",
}

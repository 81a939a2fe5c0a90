"""Sections with the code itself: instructions, operands, annotations, constants.

Source: Data structures, "Section Type Tag Catalog" (tags 1, 16, 17, 19, 35, 53, 54, 80); what the elements of each are is this
project's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from oric_tables.ori_operands import type_of

from oric.ir.function import NONE, control_flow
from oric.ir.image import INSTRUCTION_SIZE, operand_words
from oric.ir.lineinfo import LINE_BITS, line_of

from .shown import Content, Shown, in_bits, packed

_COUNTERS: Final = 85  # words of tag 35
_DEPTHS: Final = 64
BUCKETS: Final = 16
# Kinds of annotations: marks of an instruction, and where it comes from when that is more than a line.
MARKS: Final = 0
INLINED: Final = 1
_MASK64: Final = (1 << 64) - 1


def instructions(s: Shown) -> Content:
    """Tag 1: the documented 296 bytes of each instruction; operands beyond the ninth are counted behind it."""
    return Content(s.image.instructions, len(s.image.instructions) // INSTRUCTION_SIZE, len(s.image.overflow), len(s.view.blocks))


def sources(s: Shown) -> Content:
    """Tag 16: both words of each operand that is read."""
    return packed("sources", [(operand_words(operand),) for _, operand, writes in s.view.operands if not writes])


def destinations(s: Shown) -> Content:
    """Tag 17: a bit for each operand, set where it is written."""
    return Content(*in_bits((int(writes) for _, _, writes in s.view.operands), 1))


def source_types(s: Shown) -> Content:
    """Tag 53: the type of each operand that is read."""
    return Content(*in_bits((type_of(operand) for _, operand, writes in s.view.operands if not writes), 4))


def destination_types(s: Shown) -> Content:
    """Tag 54: the type of each operand that is written."""
    return Content(*in_bits((type_of(operand) for _, operand, writes in s.view.operands if writes), 4))


def annotated(s: Shown) -> Iterator[tuple[int, int, int, int]]:
    """Position, kind, value and line of each annotation."""
    f = s.f
    for at, i in enumerate(s.view.order):
        line = int(line_of(f.line[i]))
        if f.aux[i]:
            yield at, MARKS, int(f.aux[i]), line
        if f.line[i] >> LINE_BITS:
            yield at, INLINED, int(f.line[i] >> LINE_BITS), line


def annotation_rows(s: Shown) -> Content:
    """Tag 19: marks of instructions and where inlined ones come from."""
    return packed("annotations", annotated(s))


def annotation_kinds(s: Shown) -> Content:
    """Tag 0x1219: how many annotations of each kind there are."""
    counts = Counter(kind for _, kind, _, _ in annotated(s))
    return packed("annotation_kinds", [(kind, counts[kind]) for kind in (MARKS, INLINED)])


def information(s: Shown) -> Content:
    """Tag 35: 85 counters, of the function first and then of the instructions at each depth of loops."""
    f, view = s.f, s.view
    counters = [
        len(view.order),
        len(view.blocks),
        sum(int(f.succ_count[b]) for b in range(f.blocks())),
        len(view.operands),
        sum(writes for _, _, writes in view.operands),
        len(f.immediates),
        int(f.registers()),
        f.words,
        sum(f.physical[r] != NONE for r in range(f.registers())),
        sum(1 for i in view.order if f.guard[i]),
        sum(1 for i in view.order if f.control[i]),
        len(f.attributes.jump_tables),
        len(f.attributes.constant2),
        len(f.links),
        len(f.kept),
        len(f.window),
        int(f.is_entry),
        int(f.final_flow),
        f.flow_epoch & 0xFFFFFFFF,
        f.code_epoch & 0xFFFFFFFF,
        f.expanded,
    ]
    depths = [0] * _DEPTHS
    depth = control_flow(f).loops().depth
    for b, (_, count) in enumerate(view.blocks):
        depths[min(int(depth[b]), _DEPTHS - 1)] += count
    return packed("information", [tuple((counters + depths)[:_COUNTERS])])


def constants(s: Shown) -> Content:
    """Tag 80: the immediates of the pool by the bucket that their lowest bits say."""
    rows = [(value % BUCKETS, number, value & _MASK64) for value, number in s.f._immediate_ids.items()]
    return packed("constants", sorted(rows), BUCKETS)


def hashes(s: Shown) -> Content:
    """Tag 0x1218: CRC-32 of each instruction of tag 1."""
    import zlib

    data = s.image.instructions
    parts = [data[at : at + INSTRUCTION_SIZE] for at in range(0, len(data), INSTRUCTION_SIZE)]
    return packed("hashes", [(zlib.crc32(part),) for part in parts])

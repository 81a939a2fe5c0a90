"""Sections about registers: live ranges, files, allocation, spills, geometry, classes.

Source: Data structures, "Section Type Tag Catalog" (tags 34, 46, 50, 51, 56, 70, 73, 85, 0x1208 to 0x1216); what the elements of
each are is this project's.
"""

from __future__ import annotations

from typing import Final

from oric_tables.numbers import LANES
from oric_tables.registers import DISPLAY, UNITS

from oric.ir.function import NONE
from oric.regalloc.repeatable import repeatable
from oric.regalloc.verify import original_name

from .shown import Content, Projection, Shown, packed
from .view import numbers

CLASSES: Final = 11  # of registers: by type, the last one has all types from its own on
TYPES: Final = len(DISPLAY)
_BANKS: Final = {"R": 2}  # files that have more than one; source: public measurements of Volta and later
# What a row of the bindings is about: a parameter that is a texture, sampler or surface; a header behind the parameters.
_PARAMETER: Final = 0
_HEADER: Final = 1
_MASK16: Final = 0x7FFF


def originals(s: Shown) -> list[Content]:
    """Tag 34: a name for each register that is made again in place of waiting in memory, as it was defined."""
    made = repeatable(s.f, set(), {})
    return [Content(original_name(s.f, n).encode() + b"\0", len(made[n])) for n in sorted(made)]


def bindings(s: Shown) -> Content:
    """Tag 46: textures, samplers and surfaces among the parameters, and references whose headers stand behind them."""
    facts = s.f.attributes
    rows = [(_PARAMETER, p.symbol, p.ordinal, p.offset) for p in facts.params if p.symbol >= 0]
    rows += [(_HEADER, symbol, -1, place) for place, symbol in enumerate(facts.headers)]
    return packed("bindings", rows)


def ranges(s: Shown) -> Content:
    """Tag 50: the first and the last position at which each word of a register is live."""
    owner, f = s.view.owner, s.f
    found = sorted(s.view.ranges.items())
    return packed("ranges", [(owner[w], w - int(f.reg_word[owner[w]]), begin, end) for w, (begin, end) in found])


def occupancy(s: Shown) -> Content:
    """Tag 51: by type of registers how many there are, of how many words, how many are assigned, and the highest that is."""
    f = s.f
    rows = []
    for kind in range(TYPES):
        mine = [r for r in range(f.registers()) if f.reg_type[r] == kind]
        assigned = [int(f.physical[r]) + int(f.reg_size[r]) - 1 for r in mine if f.physical[r] != NONE]
        rows.append((kind, len(mine), sum(int(f.reg_size[r]) for r in mine), len(assigned), max(assigned, default=NONE)))
    return packed("occupancy", rows)


def files(s: Shown) -> Content:
    """Tag 56: type, words, hardware register and flags of each register."""
    f = s.f
    return packed(
        "files",
        [
            (r, int(f.reg_type[r]), int(f.reg_size[r]) & 0xFF, int(f.physical[r]) & _MASK16 if f.physical[r] != NONE else NONE,
             int(f.reg_flags[r]) & 0xFFFFFFFF)
            for r in range(f.registers())
        ],
    )  # fmt: skip


def spills(s: Shown) -> Content:
    """Tag 70: what moves registers to memory and back, by position; all bytes stored and loaded first."""
    facts, position = s.f.attributes, s.view.position
    rows = [(NONE, 0, facts.spill_stores, facts.spill_loads)]
    rows += [(position[i], kind, 0, 0) for i, kind in sorted(facts.marks.items()) if i in position]
    return packed("spills", rows, facts.frame_size & 0xFFFFFFFF, facts.local_size & 0xFFFFFFFF)


def allocation(s: Shown) -> Content:
    """Tag 73: the hardware register of each register that has one or is to be with another."""
    f, facts = s.f, s.f.attributes
    rows = [
        (r, int(f.physical[r]), int(f.parent[r]), int(f.hint[r]))
        for r in range(f.registers())
        if (f.physical[r], f.parent[r], f.hint[r]) != (NONE, NONE, NONE)
    ]
    return packed("allocation", rows, facts.num_regs & 0xFFFFFFFF, facts.num_uregs << 16 & 0xFFFF0000 | facts.num_preds & 0xFFFF)


def geometry(s: Shown) -> Content:
    """Tag 85: of each file how many registers a thread may have, its banks, warps and lanes, and how many are given at once."""
    target = s.target
    most = {
        "R": target.max_regs,
        "UR": target.uniform_regs,
        "P": target.predicates,
        "UP": target.uniform_predicates,
        "B": target.barrier_regs,
    }
    return packed(
        "geometry",
        [
            (number, most[name], _BANKS.get(name, 1), target.warps_per_sm, LANES, target.register_unit if name == "R" else 1)
            for number, name in enumerate(UNITS)
        ],
        target.regs_per_sm,
        target.warp_unit,
    )


def of_class(number: int) -> Projection:
    """Tags 0x1208 to 0x1215: registers of a class, each with its first definition and where it is live."""

    def rows(s: Shown) -> Content:
        f, view = s.f, s.view
        found = []
        for r in range(f.registers()):
            if min(int(f.reg_type[r]), CLASSES - 1) != number:
                continue
            words = range(int(f.reg_word[r]), int(f.reg_word[r]) + int(f.reg_size[r]))
            spans = [view.ranges[w] for w in words if w in view.ranges]
            defined = [view.definitions[w] for w in words if w in view.definitions]
            begin, end = min((a for a, _ in spans), default=NONE), max((b for _, b in spans), default=NONE)
            found.append((r, min(defined, default=NONE), begin, end))
        return packed(f"class_{number}", found)

    return rows


def live_in(s: Shown) -> Content:
    """Tag 0x1211: words that are live where blocks begin, 12 bytes each."""
    return _live(s, "live_in", s.view.live[0])


def live_out(s: Shown) -> Content:
    """Tag 0x1212: words that are live where blocks end, 12 bytes each."""
    return _live(s, "live_out", s.view.live[1])


def _live(s: Shown, name: str, sets: list[int]) -> Content:
    owner, f = s.view.owner, s.f
    rows = [(b, owner[w], w - int(f.reg_word[owner[w]])) for b, live in enumerate(sets) for w in numbers(live)]
    return packed(name, rows)


def spaces(s: Shown) -> Content:
    """Tag 0x1216: bytes that the function has in shared, local, constant memory (banks 0, 2, 3, 4) and in its frame."""
    facts, module = s.f.attributes, s.module
    sizes = [
        facts.static_shared,
        facts.local_size,
        facts.param_size,
        len(facts.constant2),
        module.constant_size,
        8 * len(module.address_slots),
        facts.frame_size,
    ]
    return packed("spaces", [(number, size & 0xFFFFFFFF) for number, size in enumerate(sizes)])

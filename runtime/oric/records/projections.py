"""What writes the section of each documented tag, by the tag's name in ``spec/section_tags.yaml``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from oric_tables.record_tags import ABOVE, ARCH_ABOVE, TAGS

from . import callinfo, code, control, files
from .container import TAG, Section
from .shown import Content, Projection, Shown

_BASE: Final = "base"
_EXTENDED: Final = "extended"

PROJECTIONS: Final[Mapping[str, Projection]] = {
    "instructions": code.instructions,
    "backend": callinfo.backend,
    "sources": code.sources,
    "destinations": code.destinations,
    "annotations": code.annotation_rows,
    "information": code.information,
    "bindings": files.bindings,
    "ranges": files.ranges,
    "occupancy": files.occupancy,
    "source_types": code.source_types,
    "destination_types": code.destination_types,
    "barriers": control.barriers,
    "files": files.files,
    "dependences": control.dependences,
    "externals": callinfo.externals,
    "counters": control.counters,
    "spills": files.spills,
    "calls": callinfo.calls,
    "allocation": files.allocation,
    "constants": code.constants,
    "call_information": callinfo.call_information,
    "scopes": control.scopes,
    "geometry": files.geometry,
    "schedule": control.schedule,
    **{f"class_{number}": files.of_class(number) for number in range(files.CLASSES)},
    "blocks": control.blocks,
    "live_in": files.live_in,
    "live_out": files.live_out,
    "spaces": files.spaces,
    "scheduled": control.scheduled,
    "hashes": code.hashes,
    "annotation_kinds": code.annotation_kinds,
    "sections": callinfo.sections,
    "level": control.level,
}
# Sections of a name each.
SEVERAL: Final[Mapping[str, Callable[[Shown], list[Content]]]] = {"originals": files.originals}
# When a section stands that does not always; the document's flags of the context say so there.
WHEN: Final[Mapping[str, Callable[[Shown], bool]]] = {
    "backend": lambda s: bool(callinfo.operations(s)),
    "schedule": control.is_scheduled,
}
POINTERS: Final = frozenset({TAG["externals"]})  # they point to the payload of the variables, and have none


def projected(s: Shown, full: bool) -> list[Section]:
    """The documented sections of a Code Object; ``full``: with the extended tags. ``s.done``: its sections in front of these."""
    for row in TAGS:
        if row.group != _BASE and not (full and row.group == _EXTENDED):
            continue
        if row.tag in ABOVE and s.target.encoded_arch <= ARCH_ABOVE:
            continue
        if row.name in WHEN and not WHEN[row.name](s):
            continue
        if row.name in SEVERAL:
            found = SEVERAL[row.name](s)
        elif row.name in PROJECTIONS:
            found = [PROJECTIONS[row.name](s)]
        else:  # links, which stand between Code Objects
            continue
        s.done += [Section(row.tag, *content) for content in found]
    return s.done

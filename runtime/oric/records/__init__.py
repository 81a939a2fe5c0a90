"""Code Objects as files of section records: saved behind a phase, shown, and gone on with (docs/records.md).

Source: Data structures, "ORI Record Serializer".
"""

from __future__ import annotations

from .assemble import Assembler, loaded, sections_of
from .codec import RecordError
from .container import FULL, WRAPPED, RecordFile, Section, read, write
from .state import Head, Part, Saved, Start, pads_of, put_pads, restore

__all__ = [
    "FULL",
    "WRAPPED",
    "Assembler",
    "Head",
    "Part",
    "RecordError",
    "RecordFile",
    "Saved",
    "Section",
    "Start",
    "loaded",
    "pads_of",
    "put_pads",
    "read",
    "restore",
    "sections_of",
    "write",
]

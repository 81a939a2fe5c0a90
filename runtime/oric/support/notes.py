"""The ELF notes of a cubin: who made it, and for what. A driver takes no file (of OS ABI 0x41) without both."""

from __future__ import annotations

from struct import pack
from typing import Final

from oric_tables import cubin_layout as tables

TOOL: Final = ("oric", "Oric PTX assembler", "")


def _note(kind: int, description: bytes) -> bytes:
    """An ELF note of NVIDIA's."""
    owner: bytes = tables.NOTE_OWNER
    return pack("<III", len(owner), len(description), kind) + owner + description


def tool_note(options: str) -> bytes:
    """``.note.nv.tkinfo``: who made the file and with which options; a version word, string offsets, strings."""
    strings = bytearray(1)
    places = [0]
    for text in (*TOOL, options):
        places.append(len(strings))
        strings += text.encode("utf-8") + b"\0"
    strings += bytes(-len(strings) % 4)
    words = (tables.TOOL_NOTE_VERSION, *places)
    return _note(tables.TOOL_NOTE_TYPE, pack(f"<{len(words)}I", *words) + strings)


def cuda_note(number: int) -> bytes:
    """``.note.nv.cuinfo``: the virtual SM, which is the target that the PTX names, and the toolkit."""
    return _note(tables.CUDA_NOTE_TYPE, pack("<HHHH", tables.CUDA_NOTE_VERSION, number, tables.API_VERSION, 0))

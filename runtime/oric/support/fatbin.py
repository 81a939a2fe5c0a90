"""Reader of fat binaries: the entries of ``.nv_fatbin`` sections and ``.fatbin`` files, decompressed.

A fat binary is one block or several behind each other: a header of 16 bytes (magic, version, size of the header, size of what
follows), then entries: a header (kind, size of the header, size of the payload, target, flags) and the payload, compressed by
LZ4 or Zstandard or not at all.

Source: observed in files of nvcc and fatbinary 12.8 and 13.0 (modes default, size, speed, balance and none).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from .elf_format import FATBIN_MAGIC
from .elf_image import CubinError

_NOT_ZERO: Final = re.compile(rb"[^\0]")
_BLOCK: Final = Struct("<4sHHQ")
_ENTRY: Final = Struct("<HHIQIIHHIIIQQQ")  # the fields that every version has, 64 bytes
PTX: Final = 1
ELF: Final = 2
KINDS: Final = {1: "PTX", 2: "ELF", 8: "NVVM", 16: "Mercury", 64: "LTO"}
_OLD_COMPRESSION: Final = 0x1000
_LZ4: Final = 0x2000
_ZSTD: Final = 0x8000
_MOST_LZ4: Final = 256  # a byte of LZ4 stands for at most 255 bytes
_MOST_ZSTD: Final = 1 << 15  # a block of 128 KiB takes at least 4 bytes
_SPARE: Final = 1 << 16


class FatbinEntry(NamedTuple):
    """One image. ``data`` is its payload, decompressed; ``sm`` the number of its target, ``variant`` not told."""

    kind: int
    sm: int
    flags: int
    compression: str  # "none", "LZ4" or "Zstandard"
    data: bytes

    @property
    def kind_name(self) -> str:
        """What the entry holds: ``ELF`` (a cubin), ``PTX`` ..."""
        return KINDS.get(self.kind, f"kind {self.kind}")


def entries(data: bytes) -> Iterator[FatbinEntry]:
    """The entries of all blocks of a fatbin file or section, in order. Zero bytes between blocks are passed over.

    Raises:
        CubinError: the bytes are no fat binary, cut short, or a payload cannot be decompressed.
    """
    at = 0
    while True:
        at = _next_block(data, at)
        if at < 0:
            return
        if len(data) - at < _BLOCK.size:
            raise CubinError("truncated: the header of a fat binary is incomplete")
        _, version, header, size = _BLOCK.unpack_from(data, at)
        if version != 1 or header < _BLOCK.size:
            raise CubinError(f"unknown form of fat binary: version {version}, header of {header} bytes")
        begin, end = at + header, at + header + size
        if end > len(data):
            raise CubinError(f"truncated: a fat binary ends at {end:#x}, its file or section at {len(data):#x}")
        yield from _block_entries(data, begin, end)
        at = end


def _next_block(data: bytes, at: int) -> int:
    """Where the next block begins; -1 at the end."""
    found = _NOT_ZERO.search(data, at)
    if found is None:
        return -1
    at = found.start()
    if data[at : at + 4] != FATBIN_MAGIC:
        raise CubinError(f"no fat binary begins at {at:#x}")
    return at


def _block_entries(data: bytes, at: int, end: int) -> Iterator[FatbinEntry]:
    while at < end:
        if end - at < _ENTRY.size:
            raise CubinError(f"truncated: the entry of the fat binary at {at:#x} is incomplete")
        kind, _, header, size, packed, _, _, _, sm, _, _, flags, _, unpacked = _ENTRY.unpack_from(data, at)
        if header < _ENTRY.size or header > end - at or size > end - at - header:
            raise CubinError(f"truncated: the entry of the fat binary at {at:#x} is longer than its block")
        payload = data[at + header : at + header + size]
        yield FatbinEntry(kind, sm, flags, *_unpack(payload, flags, packed, unpacked, at))
        at += header + size


def _unpack(payload: bytes, flags: int, packed: int, unpacked: int, at: int) -> tuple[str, bytes]:
    """(name of the compression, the bytes). ``packed`` is the compressed size without padding."""
    where = f"the entry of the fat binary at {at:#x}"
    if not flags & (_LZ4 | _ZSTD | _OLD_COMPRESSION):
        return "none", payload
    if packed > len(payload):
        raise CubinError(f"truncated: {where} has {len(payload)} bytes of {packed}")
    payload = payload[:packed]
    most = len(payload) * (_MOST_LZ4 if flags & _LZ4 else _MOST_ZSTD) + _SPARE
    if unpacked > most:
        raise CubinError(f"{where}: {len(payload)} bytes cannot hold {unpacked}")
    if flags & _LZ4:
        return "LZ4", _unpack_lz4(payload, unpacked, where)
    if flags & _ZSTD:
        return "Zstandard", _unpack_zstd(payload, unpacked, where)
    raise CubinError(f"{where} is compressed in the way of toolkits before CUDA 11, which is not supported")


def _unpack_lz4(payload: bytes, unpacked: int, where: str) -> bytes:
    from lz4.block import LZ4BlockError, decompress

    try:
        out = decompress(payload, uncompressed_size=unpacked)
    except (LZ4BlockError, ValueError, MemoryError, OverflowError) as error:
        raise CubinError(f"{where} is damaged: its LZ4 data cannot be decompressed") from error
    return bytes(out)


def _unpack_zstd(payload: bytes, unpacked: int, where: str) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(payload) as stream:
            out = stream.read(unpacked + 1)
    except (ZstdError, MemoryError, OverflowError) as error:
        raise CubinError(f"{where} is damaged: its Zstandard data cannot be decompressed") from error
    if len(out) != unpacked:
        raise CubinError(f"{where} is damaged: its Zstandard data does not give {unpacked} bytes")
    return out

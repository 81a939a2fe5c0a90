"""Record files for tests: of kernels of the tests, behind any phase; and what is done to them to damage them."""

from __future__ import annotations

import random
import struct
import zlib
from functools import cache

from oric.driver import CompileOptions, Extras, SaveRecords, compile_text
from oric.records import Section, read, write
from oric_tables.phases import PHASES
from oric_tables.record_tags import ENTRY_BYTES, FILE, FILE_BYTES

from tests.kernels import cases

PHASE_NUMBERS = [phase.index for phase in PHASES]
SMALL = """\
.version 8.0
.target sm_75
.address_size 64
.visible .entry small(.param .u64 p, .param .u32 n)
{
.reg .u64 %d<3>; .reg .u32 %r<4>; .reg .pred %q;
ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x;
setp.ge.u32 %q, %r1, %r0; @%q bra DONE;
mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d0, %d1;
ld.global.u32 %r2, [%d2]; mad.lo.u32 %r3, %r2, 77, 1234567; st.global.u32 [%d2], %r3;
DONE: ret;
}
"""


def options(arch: str, phase: int | str | None, *, full: bool = False, wrapped: bool = False, **others: object) -> CompileOptions:
    records = None if phase is None else SaveRecords(str(phase), full, wrapped)
    if others.pop("relocatable", False):
        others["extras"] = Extras(relocatable=True)
    return CompileOptions(arch, records=records, **others)  # type: ignore[arg-type]


@cache
def image(text: str, arch: str, **others: object) -> bytes:
    return compile_text(text, options(arch, None, **others), "kernel.ptx").image


def saved(text: str, arch: str, phase: int | str, **others: object) -> bytes:
    """The records behind a phase; saving changes nothing."""
    made = compile_text(text, options(arch, phase, **others), "kernel.ptx")
    plain = {name: value for name, value in others.items() if name not in ("full", "wrapped")}
    assert made.image == image(text, arch, **plain)
    return made.records


@cache
def small(phase: int = 100, full: bool = True) -> bytes:
    return saved(SMALL, "sm_75", phase, full=full, wrapped=True)


@cache
def kernel(name: str, arch: str) -> str:
    return (cases.HERE / f"{name}.{arch}.ptx").read_text(encoding="utf-8")


def sealed(data: bytes) -> bytes:
    """A file that was changed, with the checksums that it needs for the change to be seen as what it says."""
    out = bytearray(data)
    if len(out) < FILE_BYTES:
        return data
    entries = struct.unpack_from("<I", out, 12)[0]
    for number in range(min(entries, (len(out) - FILE_BYTES) // ENTRY_BYTES)):
        at = FILE_BYTES + ENTRY_BYTES * number
        size, place = struct.unpack_from("<IQ", out, at + 4)
        if place + size <= len(out):
            struct.pack_into("<I", out, at + 28, zlib.crc32(out[place : place + size]))
    struct.pack_into("<Q", out, 16, len(out))
    struct.pack_into("<I", out, 28, 0)
    end = FILE_BYTES + ENTRY_BYTES * entries
    names, code = FILE[1], struct.Struct(FILE[0])
    assert "checksum" in names
    head = bytes(out[: code.size]).ljust(FILE_BYTES, b"\0")
    struct.pack_into("<I", out, 28, zlib.crc32(out[FILE_BYTES : max(end, FILE_BYTES)], zlib.crc32(head)))
    return bytes(out)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A file with something changed: bits, bytes, runs that are gone, doubled or zero, an end that is cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at, kind = rng.randrange(len(out)), rng.randrange(6)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at] = rng.randrange(256)
        elif kind == 2:
            out[at : at + rng.randrange(1, 17)] = b""
        elif kind == 3:
            out[at:at] = out[at : at + rng.randrange(1, 17)]
        elif kind == 4:
            out[at : at + 4] = rng.choice((b"\xff" * 4, bytes(4), b"\xff\xff\xff\x7f"))
        else:
            del out[max(at, 1) :]
        if not out:
            break
    return bytes(out)


def with_sections(data: bytes, change: dict[int, bytes]) -> bytes:
    """A file with other payloads in some sections, by number; it is sound but for them."""
    file = read(data)
    sections = [
        section._replace(payload=change.get(number, section.payload)) if section.shares < 0 else section
        for number, section in enumerate(file.sections)
    ]
    sections = [
        section if section.shares < 0 or not section.payload else section._replace(payload=sections[section.shares].payload)
        for section in sections
    ]
    return write(sections, file.flags)


def with_unknown(data: bytes, place: int) -> bytes:
    """A file with a section of a tag that nobody knows in front of section ``place``."""
    file = read(data)

    def moved(section: Section) -> Section:
        return section._replace(shares=section.shares + 1) if section.shares >= place else section

    sections = [moved(section) for section in file.sections]
    sections.insert(place, Section(0x6FFF, b"of another time", 3, 1, 2))
    return write(sections, file.flags)

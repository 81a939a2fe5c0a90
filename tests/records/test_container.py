"""The file: entries of 32 bytes, payloads on multiples of 16, and what is said of files that are no record files."""

from __future__ import annotations

import struct

import pytest
from oric.driver.saving import CLASSES, load, resume
from oric.records import RecordError, Section, read, sections_of, write
from oric.records.container import TAG, behind
from oric_tables.record_tags import ENTRY, ENTRY_BYTES, FILE_BYTES, PAYLOAD_ALIGN

from . import samples


@pytest.mark.row("R3-68")
def test_entries_and_payloads() -> None:
    """As documented: tag, bytes, place, elements and two more fields at 0, 4, 8, 16, 20, 24 of 32 bytes."""
    data = write([Section(7, b"a" * 17, 1, 2, 3), Section(8, b""), Section(9, b"b" * 16, 4)], 0)
    assert (ENTRY_BYTES, PAYLOAD_ALIGN) == (32, 16)
    rows = [struct.unpack_from("<H2xIQIII", data, FILE_BYTES + 32 * number) for number in range(3)]
    start = FILE_BYTES + 96
    assert rows == [(7, 17, start, 1, 2, 3), (8, 0, start + 32, 0, 0, 0), (9, 16, start + 32, 4, 0, 0)]
    assert data[start:] == b"a" * 17 + bytes(15) + b"b" * 16
    assert dict(zip(ENTRY[1], range(7), strict=True)).keys() >= {"type_tag", "data_size", "data_ptr", "element_count"}


@pytest.mark.parametrize("size", range(50))
def test_the_cursor(size: int) -> None:
    assert behind(64, size) == 64 + ((size + 15) & ~15)


@pytest.mark.row("R3-67")
@pytest.mark.parametrize("phase", [0, 13, 60, 100, 130])
@pytest.mark.parametrize("full", [False, True])
def test_read_and_written_again_a_file_has_the_same_bytes(phase: int, full: bool) -> None:
    data = samples.saved(samples.SMALL, "sm_75", phase, full=full, wrapped=full)
    file = read(data)
    assert write(file.sections, file.flags) == data
    saved = load(data)
    assert write(sections_of(saved, CLASSES), saved.flags) == data


@pytest.mark.row("R3-69")
@pytest.mark.parametrize("wrapped", [False, True])
def test_unknown_tags_are_passed_over(wrapped: bool) -> None:
    data = samples.saved(samples.SMALL, "sm_75", 50, wrapped=wrapped)
    for place in range(wrapped, len(read(data).sections) - 2 * wrapped):
        other = samples.with_unknown(data, place)
        assert len(read(other).sections) == len(read(data).sections) + 1
        if wrapped:  # the trailer counts sections
            with pytest.raises(RecordError, match="trailer"):
                load(other)
        else:
            assert resume(other).image == samples.image(samples.SMALL, "sm_75")


@pytest.mark.parametrize(
    ("change", "message", "offset"),
    [
        (lambda d: b"", "it has 0 bytes", 0),
        (lambda d: d[:63], "it has 63 bytes", 63),
        (lambda d: b"\x7fELF" + d[4:], "this is no record file", 0),
        (lambda d: d[:8] + b"\2" + d[9:], "version 2 of the format is newer than this program", 8),
        (lambda d: d[:8] + b"\0" + d[9:], "version 0 of the format is older than this program", 8),
        (lambda d: d[:-1], "the file is cut off", None),
        (lambda d: d[: len(d) // 2], "the file is cut off", None),
        (lambda d: d + b"\0", "something stands behind the end", None),
        (lambda d: d[:12] + b"\xff\xff" + d[14:], "does not fit the file", 12),
        (lambda d: d[:70] + b"\1" + d[71:], "the header or the section table is damaged", 28),
        (lambda d: d[:24] + b"\4" + d[25:], "the header or the section table is damaged", 28),
    ],
)
def test_files_that_are_none_are_named(change, message, offset) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RecordError) as raised:
        read(change(samples.small()))
    assert message in raised.value.message and offset in (None, raised.value.offset)


def test_every_byte_counts() -> None:
    """Whichever byte is another one: it is seen."""
    data = samples.small()
    for at in range(len(data)):
        with pytest.raises(RecordError):
            load(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])


def test_a_damaged_payload_is_named_with_its_place() -> None:
    data = samples.small()
    file = read(data)
    number = next(n for n, section in enumerate(file.sections) if section.tag == TAG["code"])
    place = file.sections[number].offset
    with pytest.raises(RecordError) as raised:
        read(data[: place + 5] + b"\xee" + data[place + 6 :])
    assert raised.value.offset == place and f"section {number}, tag 0x7004 (code)" in raised.value.message


def test_another_build_is_told() -> None:
    data = samples.sealed(samples.small()[:32] + bytes(16) + samples.small()[48:])
    assert not read(data).own_build
    with pytest.raises(RecordError, match="another build of Oric"):
        load(data)

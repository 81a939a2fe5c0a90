"""Where cubins are found: fat binaries with and without compression, host programs and objects, archives; and what is refused.

The files of tests/data/containers were made with nvcc 13.0 and binutils by the commands of `make.sh` there.
"""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

import pytest
from oric.support import fatbin
from oric.support.containers import read_contents
from oric.support.elf import CubinError, read

DATA = Path(__file__).parents[1] / "data" / "containers"


def stored(name: str) -> bytes:
    path = DATA / name
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


PLAIN = stored("two.none.fatbin")


@pytest.mark.parametrize(("name", "compression"), [("none", "none"), ("lz4", "LZ4"), ("zstd", "Zstandard")])
def test_fatbins_hold_the_same_images_however_they_are_compressed(name: str, compression: str) -> None:
    entries = list(fatbin.entries(stored(f"two.{name}.fatbin")))
    assert [(e.kind_name, e.sm, e.compression) for e in entries] == [
        ("ELF", 80, compression), ("ELF", 90, compression), ("PTX", 90, "LZ4" if name == "lz4" else compression),
    ]  # fmt: skip
    plain = list(fatbin.entries(PLAIN))
    assert [e.data for e in entries[:2]] == [e.data for e in plain[:2]]
    assert entries[2].data.rstrip(b"\0") == plain[2].data.rstrip(b"\0")
    assert b".target sm_90a" in entries[2].data


def found(data: bytes) -> list[tuple[str, str, list[str]]]:
    out = []
    for image in read_contents(data).images:
        cubin = read(image.data)
        out.append((image.place, cubin.target, list(cubin.functions)))
    return out


def test_a_cubin_is_its_own_content() -> None:
    cubin = next(iter(fatbin.entries(PLAIN))).data
    assert found(cubin) == [("", "sm_80", ["two"])]


def test_fatbin() -> None:
    contents = read_contents(stored("two.zstd.fatbin"))
    assert found(stored("two.zstd.fatbin")) == [("entry 1", "sm_80", ["two"]), ("entry 2", "sm_90a", ["two"])]
    assert contents.passed_over == ["entry 3: PTX for sm_90"]


def test_host_program() -> None:
    assert found(stored("two.exe.xz")) == [
        (".nv_fatbin: entry 1", "sm_80", []),
        (".nv_fatbin: entry 2", "sm_90a", []),
        (".nv_fatbin: entry 3", "sm_80", ["two"]),
        (".nv_fatbin: entry 4", "sm_90a", ["two"]),
    ]


def test_archive_of_host_objects() -> None:
    """two.o is linked already, three.o is to be linked (-rdc=true), main.o has no device code."""
    contents = read_contents(stored("lib.a.xz"))
    assert found(stored("lib.a.xz")) == [
        ("two.o: .nv_fatbin: entry 1", "sm_80", ["two"]),
        ("two.o: .nv_fatbin: entry 2", "sm_90a", ["two"]),
        ("three.o: __nv_relfatbin: entry 1", "sm_80", ["three"]),
        ("three.o: __nv_relfatbin: entry 2", "sm_90a", ["three"]),
    ]
    assert contents.passed_over == [
        "two.o: .nv_fatbin: entry 3: PTX for sm_90",
        "three.o: __nv_relfatbin: entry 3: PTX for sm_90",
    ]


def archive(*members: tuple[bytes, bytes]) -> bytes:
    """An archive of (name field, contents)."""
    out = b"!<arch>\n"
    for name, data in members:
        out += name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + str(len(data)).encode().ljust(10) + b"`\n"
        out += data + b"\n" * (len(data) & 1)
    return out


def test_long_names_of_members() -> None:
    cubin = next(iter(fatbin.entries(PLAIN))).data
    gnu = archive((b"//", b"a_name_that_is_quite_long.o/\n"), (b"/0", cubin))
    assert found(gnu) == [("a_name_that_is_quite_long.o", "sm_80", ["two"])]
    bsd = archive((b"#1/20", b"another_long_name.o\0" + cubin))
    assert found(bsd) == [("another_long_name.o", "sm_80", ["two"])]
    with pytest.raises(CubinError, match="name of the archive's member /99 is missing"):
        read_contents(archive((b"/99", cubin)))


def refusal(data: bytes) -> str:
    with pytest.raises(CubinError) as caught:
        read_contents(data)
    return str(caught.value)


def test_what_has_no_cubin() -> None:
    assert "not an ELF file" in refusal(b"some text")
    assert "the file is empty" in refusal(b"")
    assert refusal(archive((b"a.txt/", b"text"))) == "there is no cubin in this file"
    assert "a thin archive" in refusal(b"!<thin>\n")
    third = entry_places()[2]
    ptx_only = PLAIN[:8] + struct.pack("<Q", len(PLAIN) - third) + PLAIN[third:]
    assert refusal(ptx_only) == "there is no cubin in this file (found: entry 1: PTX for sm_90)"


def entry_places() -> list[int]:
    places, at = [], 16
    while at < len(PLAIN):
        places.append(at)
        _, _, header, size = struct.unpack_from("<HHIQ", PLAIN, at)
        at += header + size
    return places


def changed(data: bytes, at: int, form: str, value: int) -> bytes:
    out = bytearray(data)
    struct.pack_into(form, out, at, value)
    return bytes(out)


def test_damaged_fatbins() -> None:
    lz4, zstd = stored("two.lz4.fatbin"), stored("two.zstd.fatbin")
    assert "truncated: a fat binary ends at" in refusal(PLAIN[:4000])
    assert "header of a fat binary is incomplete" in refusal(PLAIN[:10])
    assert "unknown form of fat binary: version 9" in refusal(changed(PLAIN, 4, "<H", 9))
    assert "longer than its block" in refusal(changed(PLAIN, 16 + 8, "<Q", 1 << 40))
    assert "no fat binary begins at" in refusal(PLAIN + b"x")
    assert "its LZ4 data cannot be decompressed" in refusal(changed(lz4, 16 + 64, "<Q", (1 << 64) - 1))
    assert "its Zstandard data cannot be decompressed" in refusal(changed(zstd, 16 + 64, "<I", 0))
    assert "does not give" in refusal(changed(zstd, 16 + 56, "<Q", 5536 + 1))
    assert "cannot hold" in refusal(changed(zstd, 16 + 56, "<Q", 1 << 50))
    assert "bytes of" in refusal(changed(zstd, 16 + 16, "<I", 1 << 30))
    assert "toolkits before CUDA 11" in refusal(changed(zstd, 16 + 40, "<Q", 0x1011))


def test_zeros_between_blocks_are_passed_over() -> None:
    assert [place for place, _, _ in found(PLAIN + bytes(24) + PLAIN)] == ["entry 1", "entry 2", "entry 4", "entry 5"]


def test_damaged_archives() -> None:
    good = stored("lib.a.xz")
    assert "ends behind the file" in refusal(good[:9000])
    assert "no member header at 0x8" in refusal(good[:30])
    assert "has no size" in refusal(archive((b"a/", b"")).replace(b"0         `", b"x         `"))


def test_sections_of_objects_have_types_of_their_own() -> None:
    """Shared memory of an object has no bytes in the file, its constants are no PROGBITS."""
    cubin = read(stored("linked.sm_80.cubin.xz"))
    function = cubin.functions["linked"]
    assert (function.shared_size, len(function.constants[0])) == (256, 0x168)
    assert cubin.constants[3] == struct.pack("<4I", 1, 2, 3, 4)
    shared = cubin.section(".nv.shared.linked")
    assert shared is not None and (shared.size, shared.data) == (256, b"")

"""The cubin reader: facts of ptxas-made files, and one kind of exception for everything that is broken."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from oric.support.elf import CubinError, read, target_of

DATA = Path(__file__).parents[1] / "data" / "cubin"
FILES = sorted(DATA.glob("*.cubin"))


def cubin(name: str) -> bytes:
    return (DATA / f"container.{name}.cubin").read_bytes()


@pytest.mark.parametrize(
    ("name", "target"), [("sm_80", "sm_80"), ("sm_90", "sm_90"), ("sm_90a", "sm_90a"), ("ptxas_12_8.sm_90", "sm_90")]
)
def test_target_is_read_from_both_header_forms(name: str, target: str) -> None:
    image = read(cubin(name))
    assert image.target == target
    assert target_of(image).name == target


def test_kernel_facts() -> None:
    kernels = read(cubin("sm_90")).kernels
    assert set(kernels) == {
        "k_params",
        "k_empty",
        "k_shared",
        "k_static",
        "k_globals",
        "k_bounds",
        "k_coop",
        "k_switch",
        "k_stack",
    }
    k = kernels["k_params"]
    assert [(p.offset, p.size) for p in k.params] == [
        (0, 1),
        (2, 2),
        (4, 4),
        (8, 8),
        (16, 4),
        (24, 8),
        (32, 24),
        (56, 8),
        (64, 8),
    ]
    assert (k.param_base, k.param_size, len(k.constants[0])) == (0x210, 72, 0x210 + 72)
    assert kernels["k_static"].shared_size == 0x400 + 256
    assert kernels["k_static"].barriers == 1
    assert kernels["k_stack"].frame_size == 64
    assert kernels["k_bounds"].max_threads == (256, 1, 1)
    assert kernels["k_switch"].branch_targets == {208: (288, 352, 224, 864), 528: (672, 544, 864)}
    assert len(kernels["k_switch"].constants[2]) == 28
    assert kernels["k_empty"].params == [] and kernels["k_empty"].exits == (16,)


def test_module_constants_and_relocations() -> None:
    image = read(cubin("sm_90"))
    assert image.constants[3][:12] == struct.pack("<3f", 1, 2, 3)
    slots = {r.offset: image.symbols[r.symbol].name for r in image.relocations_of(image.constant_sections[4])}
    assert slots == {0: "gini", 8: "gzero", 16: "gptr"}
    init = image.section(".nv.global.init")
    assert init is not None
    [pointer] = image.relocations_of(init.index)
    assert (image.symbols[pointer.symbol].name, pointer.addend, pointer.type) == ("gini", 8, 4)


def test_addend_of_rel_entries_is_read_from_the_place() -> None:
    image = read(cubin("sm_80"))
    assert {r.addend for r in image.relocations_of(image.constant_sections[4])} == {0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"hello, world" * 100, "not an ELF file"),
        (b"\x50\xed\x55\xba" + bytes(100), "a fatbin"),
        (b"\x7fELF", "truncated: the ELF header is incomplete"),
        (b"\x7fELF\x01\x01" + bytes(100), "not a 64-bit little-endian ELF file"),
    ],
)
def test_what_is_no_cubin(data: bytes, message: str) -> None:
    with pytest.raises(CubinError, match=message):
        read(data)


def patched(offset: int, layout: str, value: int) -> bytes:
    data = bytearray(cubin("sm_90"))
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("offset", "layout", "value", "message"),
    [
        (18, "<H", 62, "ELF machine 62 is not CUDA"),
        (16, "<H", 3, "ELF type 3"),
        (7, "<B", 0, "unknown form of cubin: OS ABI 0x0"),
        (40, "<Q", 1 << 63, "truncated: the section header table"),
        (60, "<H", 0, "no section headers"),
        (58, "<H", 40, "section headers of 40 bytes"),
        (62, "<H", 0xFFFF, "section names are missing"),
        (54, "<H", 7, "program headers of 7 bytes"),
    ],
)
def test_header_faults(offset: int, layout: str, value: int, message: str) -> None:
    with pytest.raises(CubinError, match=message):
        read(patched(offset, layout, value))


def test_target_without_a_row_is_refused_by_name() -> None:
    with pytest.raises(CubinError, match="code for sm_33 is not supported"):
        target_of(read(patched(48, "<I", 0x06002104)))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_truncation_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for size in [*range(200), *range(200, len(data), 97), len(data) - 1]:
        with pytest.raises(CubinError):
            read(data[:size])


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_damaged_files_raise_cubin_error_only(path: Path) -> None:
    data = path.read_bytes()
    rng = random.Random(path.name)
    refused = 0
    tables_start = int.from_bytes(data[40:48], "little")  # the section headers
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            place = rng.choice([rng.randrange(64), rng.randrange(tables_start, len(data)), rng.randrange(len(data))])
            damaged[place] = rng.choice([0, 0xFF, rng.randrange(256), damaged[place] ^ 1 << rng.randrange(8)])
        try:
            read(bytes(damaged))
        except CubinError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 400
    assert refused > 100


def test_sections_that_each_claim_the_whole_file_are_refused() -> None:
    data = bytearray(cubin("sm_90"))
    table, count = int.from_bytes(data[40:48], "little"), int.from_bytes(data[60:62], "little")
    for number in range(5, count):
        struct.pack_into("<I", data, table + 64 * number + 4, 1)  # PROGBITS
        struct.pack_into("<QQ", data, table + 64 * number + 24, 0, len(data))
    with pytest.raises(CubinError, match="sections are longer than the file"):
        read(bytes(data))


def test_random_bytes_behind_a_good_header() -> None:
    rng = random.Random(7)
    head = cubin("sm_90")[:64]
    for _ in range(200):
        with pytest.raises(CubinError):
            read(head + rng.randbytes(rng.randrange(6000)))

#!/usr/bin/env python3
"""Damaged and random input for everything that reads machine code: an error or a result, nothing else.

    python -m tests.fuzz [--count N] [--seed S] [--jobs J] [--seconds T]

Each input goes through the reader of containers, the reader of cubins, decoder, disassembler in all its forms, the analyses and
the checker, and some listings back through the assembler; raw words through the decoder, the text and back through the encoder
and the assembler. `make sanitize` runs 200,000 of them with AddressSanitizer and UndefinedBehaviorSanitizer. An input that ends
in anything but a result or the one documented exception is kept in a file.
"""

from __future__ import annotations

import lzma
import random
import struct
import sys
import zlib
from pathlib import Path

from oric.sass.asm_build import assemble_text
from oric.sass.asm_read import AsmError
from oric.sass.assemble import Assembler, unseen_parts
from oric.sass.check import Section, check_code, check_cubin
from oric.sass.cli import Document
from oric.sass.code import Code
from oric.sass.dot import dot_lines
from oric.sass.facts import fact_lines
from oric.sass.json_form import json_lines
from oric.sass.lines import add_sources
from oric.sass.listing import list_cubin, list_raw
from oric.sass.live import add_live
from oric.sass.text import text_lines
from oric.support.containers import read_contents
from oric.support.elf import CubinError, read
from oric_tables._native import ffi, lib
from oric_tables.targets import ISA_NAMES

from tests import fuzz_run

DATA = Path(__file__).parent / "data"
INTERESTING = (0, 1, 2, 7, 8, 15, 16, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
LARGEST_SEED = 24_000
ASSEMBLED = 4  # one listing in so many goes back through the assembler, which takes longer than the rest


def seeds() -> list[bytes]:
    """Small well-formed files of every kind that is read."""
    found = []
    for path in sorted([*(DATA / "containers").iterdir(), *(DATA / "cubin").glob("*.cubin")]):
        if path.suffix in {".xz", ".fatbin", ".cubin"}:
            data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
            found.append(data)
            found += [image.data for image in read_contents(data).images]
    return [data for data in dict.fromkeys(found) if len(data) <= LARGEST_SEED]


def damage(rng: random.Random, data: bytes) -> bytes:
    """A well-formed file with something wrong."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(out))
        kind = rng.randrange(8)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at] = rng.randrange(256)
        elif kind == 2:
            size = rng.choice((1, 2, 4, 8))
            value = rng.choice(INTERESTING) & (1 << 8 * size) - 1
            out[at : at + size] = value.to_bytes(size, "little")
        elif kind == 3:  # a header's field
            at = rng.randrange(64) & ~3
            out[at : at + 4] = struct.pack(
                "<I", rng.choice((rng.randrange(1 << 32), rng.choice(INTERESTING), rng.randrange(len(out))))
            )
        elif kind == 4:
            del out[at : at + rng.randrange(1, 64)]
        elif kind == 5:
            out[at:at] = rng.randbytes(rng.randrange(1, 64))
        elif kind == 6:
            other = rng.randrange(len(out))
            out[at : at + 24] = out[other : other + 24]
        else:
            out[at : at + 16] = rng.randbytes(16)
        if not out:
            return b""
    return bytes(out[: rng.randrange(len(out))]) if rng.random() < 0.15 else bytes(out)


def read_file(data: bytes) -> str:
    """All that is done with a file; returns what came of it."""
    try:
        images = read_contents(data).images
    except CubinError:
        return "no container"
    outcome = "read"
    for image in images:
        try:
            read_image(image.data)
        except CubinError:
            outcome = "refused"
    return outcome


def read_image(data: bytes) -> None:
    """Disassemble a cubin in every form."""
    cubin = read(data)
    list(fact_lines(cubin))
    listing = list_cubin(cubin)
    plain = text_lines(listing, cubin, True)
    assert sum(line.startswith("        /*") for line in plain) == sum(len(f.lines) for f in listing.functions)
    text_lines(listing, cubin)
    add_live(listing)
    document = Document("", cubin, listing)
    for _ in dot_lines([document]):
        pass
    check_cubin(cubin)
    add_sources(listing, cubin)
    for _ in json_lines([document], True):
        pass
    if zlib.crc32(data) % ASSEMBLED:
        return
    try:
        again = read(assemble_text("\n".join(text_lines(list_cubin(cubin), cubin))))
    except (AsmError, CubinError):  # names that two sections have, places outside of their section ...
        return
    assert [f.text for f in again.functions.values()] == [f.text for f in cubin.functions.values()], "assembled otherwise"


def read_words(rng: random.Random, data: bytes, isa: int) -> str:
    """Machine words alone, real ones damaged or random ones: decoded, printed, and encoded again."""
    size = 16 * rng.randrange(1, 17)
    if rng.random() < 0.5:
        words = bytearray(rng.randbytes(size))
        for at in range(0, size, 16):
            words[at + 1] = words[at + 1] & 0xF0 | rng.randrange(16)
    else:
        at = rng.randrange(max(len(data) - size, 1)) & ~15
        words = bytearray(data[at : at + size])
        for _ in range(rng.randrange(1, 8)):
            words[rng.randrange(len(words))] ^= 1 << rng.randrange(8)
    words = words[: len(words) & ~15]
    listing = list_raw(bytes(words), isa, "raw")
    code: Code = listing.functions[0].code
    code.uses()
    add_live(listing)
    check_code(code, Section("raw"))
    back = ffi.new("uint64_t[2]")
    for number in range(code.count):
        if number not in code.bad:
            error = lib.oric_encode(isa, code.insns + number, back)
            if error:
                assert error == lib.oric_aligned(code.insns + number), f"{code.word(number):#034x}: error {error}"
                error = lib.oric_encode_form(isa, code.insns + number, back)
            assert error == lib.ORIC_E_OK and back[0] | back[1] << 64 == code.word(number), (
                f"{code.word(number):#034x} is not encoded"
            )
    assembler = Assembler(isa)
    unseen = unseen_parts(code, {})
    for number, (text, control) in enumerate(zip(code.texts(), code.controls(), strict=True)):
        if number not in code.bad:
            word = assembler.word(text, 16 * number, control, unseen=unseen.get(number, ""))
            assert word == code.word(number), f"{code.word(number):#034x} '{text}' is not assembled"
    return "all decoded" if not code.bad else "words without a form"


def start(_: random.Random) -> tuple[list[bytes], bytes]:
    """The files, and the code of all of them."""
    files = seeds()
    return files, b"".join(f.text for data in files if data[18:20] == b"\xbe\x00" for f in read(data).functions.values())


def step(rng: random.Random, shared: tuple[list[bytes], bytes], tried: fuzz_run.Input) -> str:
    """One input: words, or a file."""
    files, text = shared
    kind = rng.randrange(10)
    if kind < 3:
        tried.kind = "words"
        isa = rng.randrange(len(ISA_NAMES))
        return f"words: {read_words(rng, text, isa)}"
    tried.kind = "file"
    tried.data = rng.randbytes(rng.randrange(400)) if kind == 3 else damage(rng, rng.choice(files))
    return f"file: {read_file(tried.data)}"


FUZZER = fuzz_run.Fuzzer(start, step, ".bin", chunk=500, said=20_000, count=200_000)


if __name__ == "__main__":
    sys.exit(fuzz_run.main(FUZZER, __doc__, sys.argv[1:]))

"""Every mnemonic of an instruction, many in one kernel: each reads the same operands and leaves its results in memory.

The forms are the whole product of the qualifiers that the signatures have, as far as the parser takes them for a target. Operands
are columns of 64-bit words by size of the register and place of the operand: special numbers of integers and of every
floating-point format first, random ones behind them. A result is one word of memory, of a pair ``p|q`` two.
"""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import oric
from oric.ptx.signatures import OperandSpec, combined, word_gates
from oric.sim import Modes

from tests.ptx.agreement import number, ours, split
from tests.ptx.signature_examples import declarations, operand

from .harness import FLOATS, INTEGERS

Array = np.ndarray[Any, Any]
VERSION = "9.0"
THREADS = 256
COLUMNS = 8
_REGISTER = re.compile(r"%([a-z]+[0-9]*)_(\d)")
_CARRY = re.compile(r"(addc|subc|madc)\.")  # what reads the carry
_PLACES = {
    1: 0,
    8: 0,
    16: 0,
    32: 2,
    64: 4,
}  # column of the first source of a size; the second is the next one

# numbers that matter to some conversion: limits, ties, subnormal numbers, NaNs with and without the quiet bit
BF16 = [0x7F, 0x80, 0x3F80, 0xBF80, 0x3F81, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0x4049, 0xC2C8, 0x4F00,
        0x3E00, 0x40, 0x8040, 0x4780, 0x38FF, 0x477F, 0x3380, 0x32FF, 0x7FF7, 0xFFF7]  # fmt: skip
F16 = [0x7E01, 0x7C01, 0xFC01, 0xFD55, 0x3555, 0x8200, 0x77FF, 0x4900, 0x3800, 0x3E00, 0x4100, 0xBE00]
F32 = [0x7F800001, 0xFFBFFFFF, 0x7FFFFFFF, 0x3F7FFFFF, 0x477FEFFF, 0x477FF000, 0x387FC000, 0x33000000, 0x33000001, 0x32FFFFFF,
       0x3F801000, 0x3F803000, 0x7F7F8000, 0x7F7F7FFF, 0x387FE000, 0x3F808000, 0x3F818000, 0x43E80000, 0x43E7FFFF, 0x42FE0000,
       0x437F8000, 0x46FFFE00, 0x4EFFFFFF, 0x4F7FFFFF, 0x5EFFFFFF, 0x5F7FFFFF, 0xC2FF0000, 0x3EFFFFFF, 0x00800001, 0x3F7FF000,
       0x7F7FE000, 0x7F7FEFFF, 0x7F7FF000, 0x40E00000, 0x40C80000, 0x41F00000, 0x3D800000, 0x00FFFFFF, 0x7EFFFFFF]  # fmt: skip
F64 = [0x7FF0000000000001, 0xFFF7FFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x369FFFFFFFFFFFFF, 0x36A0000000000001, 0x380FFFFFFFFFFFFF,
       0x47EFFFFFEFFFFFFF, 0x47EFFFFFF0000000, 0x40EFFDFFFFFFFFFF, 0x40EFFE0000000000, 0x3E60000000000000, 0x3E5FFFFFFFFFFFFF,
       0x3E70000000000000, 0x3FF0000010000000, 0x3FF0000030000000, 0x3FEFFFFFFFFFFFFF, 0x3FDFFFFFFFFFFFFF, 0x405FE00000000000,
       0x41DFFFFFFFE00000, 0x41EFFFFFFFE00000, 0x43DFFFFFFFFFFFFF, 0x43EFFFFFFFFFFFFF, 0xFFF, 0x800FFFFFFFFFFFFF,
       0x3FF0100000000000, 0x3FF0080000000000, 0x3F0FF80000000000, 0x7FE0000000000000, 0x8000000000000,
       0x7FF00000FFFFFFFF]  # fmt: skip


def forms(families: Iterable[str], target: str, names: Iterable[str] = ()) -> list[str]:
    """Instructions of families, one for every mnemonic that a target takes."""
    found = list(dict.fromkeys(_product(families, tuple(names))))
    return [text for text, verdict in zip(found, ours(found, target), strict=True) if verdict.accepted]


def _product(families: Iterable[str], names: tuple[str, ...]) -> Iterator[str]:
    for family in families:
        module = importlib.import_module(f"oric_tables.ptx_{family}")
        for name, (_, rows, own) in module.FORMS.items():
            for form in rows if not names or name in names else ():
                if form[7] in ("", "unified"):
                    yield from _of_form(name, form, own, module)


def _of_form(name: str, form: Any, own: Any, module: Any) -> Iterator[str]:
    slots = form[0]
    for words in product(*(values if required else ("", *values) for _, values, required in slots)):
        fields = {field: word for (field, _, _), word in zip(slots, words, strict=True) if word}
        combined([form[2:5], *word_gates(fields, own, module.GATES)])
        specs = [OperandSpec(row, fields, module.COUNTS) for row in form[1]]
        operands = [operand(spec, at) for at, spec in enumerate(specs)]
        head = ".".join([name.split(".", maxsplit=1)[0], *filter(None, words)])
        yield f"{head} {', '.join(operands)}"
        if any(spec.optional for spec in specs):
            yield f"{head} {', '.join(text for text, spec in zip(operands, specs, strict=True) if not spec.optional)}"


def size_of(register: str) -> int:
    """Bits of a register by its type."""
    return 1 if register == "pred" else int(re.sub(r"\D", "", register))


def parts(text: str) -> tuple[str, list[tuple[str, str]], list[tuple[str, str]]]:
    """Mnemonic, destinations and sources of an instruction, both as type and number of registers."""
    head, _, tail = text.partition(" ")
    operands = split(tail)
    sources = [register for given in operands[1:] for register in _REGISTER.findall(given)]
    return head, _REGISTER.findall(operands[0]), list(dict.fromkeys(sources))


def column_of(size: int, place: int) -> int:
    """Where the source at a place among those of an instruction is found."""
    return _PLACES[size] + place if place < 2 else 4 + place if place < 4 else 6


def specials(bits: int) -> list[int]:
    """Numbers of a size that matter."""
    halves = FLOATS[16] + F16 + BF16
    if bits == 16:
        return INTEGERS[16] + halves
    if bits == 32:
        rng = random.Random(1)
        return INTEGERS[32] + FLOATS[32] + F32 + [rng.choice(halves) << 16 | rng.choice(halves) for _ in range(48)]
    return INTEGERS[64] + FLOATS[64] + F64


@cache
def operands(rows: int = THREADS) -> Array:
    """The columns."""
    rng = random.Random(4)
    out = np.zeros((rows, COLUMNS), np.uint64)
    for column, bits in enumerate((16, 16, 32, 32, 64, 64)):
        out[:, column] = _column(bits, rows, rng, column % 2)
    for column in (6, 7):
        mixed = [_column(bits, rows, rng, 1) for bits in (16, 32, 64)]
        out[:, column] = [rng.choice(choice) for choice in zip(*mixed, strict=True)]
    return out


def _column(bits: int, rows: int, rng: random.Random, shuffled: int) -> list[int]:
    special = specials(bits)
    known = rng.choices(special, k=rows) if shuffled else [special[row % len(special)] for row in range(rows)]
    return [value if row < len(special) or rng.random() < 0.5 else rng.getrandbits(bits) for row, value in enumerate(known)]


def kernel(texts: Sequence[str], target: str) -> tuple[str, list[int]]:
    """PTX of a kernel with these instructions, and the line of each."""
    lines = [
        f".version {VERSION}\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 pi, .param .u64 po) {{",
        declarations(int(VERSION.replace(".", "")), number(target)),
        ".reg .b64 %in, %out, %t, %v; .reg .b32 %i, %j; ld.param.u64 %in, [pi]; ld.param.u64 %out, [po];",
        f"mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x; mad.lo.u32 %i, %j, {THREADS}, %i;",
        f"mul.wide.u32 %t, %i, {8 * COLUMNS}; add.u64 %in, %in, %t;",
        f"mul.wide.u32 %t, %i, {16 * len(texts)}; add.u64 %out, %out, %t;",
    ]
    places = []
    for at, text in enumerate(texts):
        _, results, sources = parts(text)
        lines += [_load(register, name, column_of(max(size_of(register), 1), k)) for k, (register, name) in enumerate(sources)]
        lines += [_clear(register, name) for register, name in results if register != "pred"]
        if _CARRY.match(text):
            lines.append(
                "add.cc.u32 %j, %j, %i;"
            )  # no carry; what nothing has set is anything, what is constant ptxas gets wrong
        places.append("\n".join(lines).count("\n") + 2)
        lines.append(text + ";")
        lines += [_store(register, name, 16 * at + 8 * k) for k, (register, name) in enumerate(results)]
    return "\n".join([*lines, "ret;\n}\n"]), places


def _load(register: str, name: str, column: int) -> str:
    if register == "pred":
        return f"ld.global.b64 %v, [%in+{8 * column}]; and.b64 %v, %v, 1; setp.ne.u64 %pred_{name}, %v, 0;"
    return f"ld.global.{_memory(register)} %{register}_{name}, [%in+{8 * column}];"


def _clear(register: str, name: str) -> str:
    """Another value than the instruction gives, so that one that writes nothing shows."""
    if register == "b8":
        return f"ld.global.b8 %b8_{name}, [%in+1];"
    zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(register, "0x5a")
    return f"mov.{_memory(register)} %{register}_{name}, {zero};"


def _store(register: str, name: str, offset: int) -> str:
    if register == "pred":
        return f"selp.u64 %v, 1, 0, %pred_{name}; st.global.u64 [%out+{offset}], %v;"
    return f"st.global.{_memory(register)} [%out+{offset}], %{register}_{name};"


def _memory(register: str) -> str:
    return register if register in ("f32", "f64") else f"b{size_of(register)}"


def image(texts: Sequence[str], target: str, level: int) -> bytes:
    """Our code for these instructions."""
    return bytes(oric.compile(kernel(texts, target)[0], arch=target, opt_level=level).image)


def launch(code: bytes, count: int, inputs: Array) -> Array:
    """The results of a kernel of ``count`` instructions, two words each, in a row for every row of the inputs."""
    assert len(inputs) % THREADS == 0
    out = np.zeros((len(inputs), 2 * count), np.uint64)
    grid = (len(inputs) // THREADS, 1, 1)
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(code).launch("k", grid=grid, block=(THREADS, 1, 1), args=[inputs, out], modes=modes)
    assert not done.reports, done.reports
    return out


def given(text: str, row: Array) -> list[int]:
    """The sources of an instruction in a row, as patterns of the size of their registers."""
    _, _, sources = parts(text)
    sizes = [size_of(register) for register, _ in sources]
    return [int(row[column_of(size, k)]) & (1 << size) - 1 for k, size in enumerate(sizes)]

"""One word of machine code, executed for many rows of operands at once, and compared with a function of each row.

A thread finds its eight input words in R8-R15, of which R14 is the row's number, and the low seven bits of R15 in P0-P6; what is
left in R16-R22 and the predicates (as R23) is what it computed. With ``uniform`` a warp has one row, in UR8-UR15 and UP0-UP6, and
leaves UR16-UR22.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from oric_tables import ops
from oric_tables._native import ffi

from tests.sim.program import Device, word

Array = np.ndarray[Any, Any]
Want = Callable[[list[int], list[int]], dict[str, int]]
BLOCK = 1024
FEW, MANY = 100, 50_000
_BOTH_SIGNS: dict[str, tuple[int, list[int]]] = {
    "f32": (1 << 31, [0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F800001, 0x40200000, 0x7F7FFFFF, 0x7F800000]),
    "f16": (1 << 15, [0, 1, 0x3FF, 0x400, 0x401, 0x3C00, 0x3C01, 0x4200, 0x7BFF, 0x7C00]),
    "bf16": (1 << 15, [0, 1, 0x7F, 0x80, 0x81, 0x3F80, 0x3F81, 0x4040, 0x7F7F, 0x7F80]),
    "f64": (1 << 63, [m << 32 for m in (0, 0x100000, 0x3FF00000, 0x40080000, 0x7FF00000, 0x43300000)]),
}
_MORE = {
    "f32": [0x7FC00000, 0xFFC12345, 0x7F800001, 0x7FFFFFFF, 0x33800000, 0x3EFFFFFF, 0x477FEFFF, 0x477FF000],
    "f16": [0x7E00, 0xFD23, 0x7FFF, 0x7FF7],
    "bf16": [0x7FC0, 0xFFA3, 0x7FFF, 0x7FF7],
    "f64": [
        *(1, 1 << 63 | 1, 0xFFFFFFFFFFFFF, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF),
        *(0x7FF8000000000000, 0xFFFC000000000123, 0x7FF0000000000001),  # NaNs
        *(0x36A0000000000000, 0x47EFFFFFF0000000, 0x40EFFDFFFFFFFFFF),  # where narrower formats end
    ],
}
EDGES: dict[str, list[int]] = {
    "int": [
        *(0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, 255, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7F80, 0x7FFFFFFF, 0x80000000),
        *(0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x80008000, 0x7FFF7FFF, 0xFF80FF80, 0x80808080, 0x7F7F7F7F),
    ],
    "i64": [
        *(0, 1, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1),
        *(0xFFFFFFFF00000000, 0x80000000, 0x7FFFFFFF),
    ],
    **{kind: [*(s | m for m in numbers for s in (0, sign)), *_MORE[kind]] for kind, (sign, numbers) in _BOTH_SIGNS.items()},
}


@dataclass(frozen=True)
class Case:
    """A word and what it computes. `kinds` says what numbers the operands in R8, R9 .. are; 64-bit ones take two registers."""

    isa: str
    name: str
    operands: tuple[Any, ...]
    kinds: tuple[str, ...]
    want: Want
    mods: dict[str, Any] = field(default_factory=dict)
    uniform: bool = False

    def __str__(self) -> str:
        marks = "".join(f".{k}={v}" for k, v in self.mods.items())
        return f"{self.isa}-{self.name}{marks}-" + ",".join(str(o) for o in self.operands if o is not None)


def _random(kind: str, rng: np.random.Generator, count: int) -> Array:
    """Numbers of a kind: any bits, numbers close to one with few digits (for ties and cancellation), edges."""
    edges = np.array(EDGES[kind], np.uint64)
    bits, mantissa, one = {"f32": (32, 23, 127), "f16": (16, 10, 15), "bf16": (16, 7, 127), "f64": (64, 52, 1023)}.get(
        kind, (64, 0, 0)
    )
    any_bits = rng.integers(0, 1 << 64, count, dtype=np.uint64) >> np.uint64(64 - bits)
    if mantissa:
        digits = rng.integers(0, 1 << 4, count, dtype=np.uint64) << np.uint64(mantissa - 4)
        last = np.where(rng.random(count) < 0.3, rng.integers(0, 3, count, dtype=np.uint64), np.uint64(0))
        exponent = (rng.integers(-mantissa - 2, mantissa + 3, count) + one).clip(0).astype(np.uint64)
        sign = rng.integers(0, 2, count, dtype=np.uint64)
        near = sign << np.uint64(bits - 1) | exponent << np.uint64(mantissa) | digits | last
        any_bits = np.where(rng.random(count) < 0.5, near & np.uint64((1 << bits) - 1), any_bits)
    elif kind == "int":
        any_bits &= np.uint64(0xFFFFFFFF)
    return np.where(rng.random(count) < 0.1, edges[rng.integers(0, len(edges), count)], any_bits)


def rows(kinds: Sequence[str], count: int, seed: int) -> Array:
    """Operands as words: every combination of edges (of some of them where there are three operands), then random ones."""
    rng = np.random.default_rng(seed)
    limit = {1: 1000, 2: 40, 3: 13 if count > FEW else 8}.get(len(kinds), 6 if count > FEW else 4)
    edges = np.array(list(itertools.product(*(EDGES[k][:: max(1, -(-len(EDGES[k]) // limit))] for k in kinds))), np.uint64)
    columns = [np.concatenate([edges[:, i], _random(k, rng, count)]) for i, k in enumerate(kinds)]
    total = len(columns[0])
    data = rng.integers(0, 1 << 32, (total, 8), dtype=np.uint32)
    data[:, 6] = np.arange(total)
    at = 0
    for kind, column in zip(kinds, columns, strict=True):
        if kind in ("f64", "i64"):
            at += at & 1
            data[:, at] = column.astype(np.uint32)
            data[:, at + 1] = (column >> np.uint64(32)).astype(np.uint32)
            at += 2
        elif kind in ("f16", "bf16"):  # a pair: the column, and one of its other numbers above it
            data[:, at] = column.astype(np.uint32) | np.roll(column, 1 + at).astype(np.uint32) << np.uint32(16)
            at += 1
        else:
            data[:, at] = column.astype(np.uint32)
            at += 1
    return data


def _program(isa: int, instruction: bytes, uniform: bool, prepare: Sequence[bytes], after: str) -> bytes:
    def memory(name: str, *operands: Any) -> bytes:
        if isa == 0:
            return word(isa, name, *operands, size="128", order="SYS")
        return word(isa, name, *operands, "UR4", size="128")

    before = [
        word(isa, "S2R", "R0", "SR33"),
        word(isa, "S2R", "R1", "SR37"),
        word(isa, "UMOV", "UR4", 0),
        word(isa, "UMOV", "UR5", 0),
        word(isa, "LDC", "R2", "RZ", "c[0][0]", 0, size="64"),
        word(isa, "LDC", "R4", "RZ", "c[0][0]", 8, size="64"),
        word(isa, "IMAD", "R0", "R1", BLOCK, "R0"),
        *([word(isa, "SHF", "R0", "RZ", 5, "R0", dir="R", type="U32", hi=1)] if uniform else []),
        word(isa, "IMAD.WIDE", "R2", "R0", 32, "R2", sign="U32"),
        word(isa, "IMAD.WIDE", "R4", "R0", 32, "R4", sign="U32"),
        memory("LDG", "R8", "R2", 0),
        memory("LDG", "R12", "R2", 16),
        word(isa, "R2P", "R15", 0x7F),
        *prepare,
    ]
    middle = [instruction]
    if uniform:
        into = [word(isa, "R2UR", f"UR{k}", f"R{k}") for k in range(8, 16)] + [word(isa, "UR2UP", "UR15", 0x7F)]
        out = [word(isa, "MOV", f"R{k}", f"UR{k}") for k in range(16, 23)] + [
            word(isa, "UP2UR", "UR23", "URZ", 0x7F),
            word(isa, "MOV", "R23", "UR23"),
        ]
        middle = [*into, instruction, *out]
    else:
        middle += [word(isa, "MOV", "R16", after)] if after else []
        middle.append(word(isa, "P2R", "R23", "RZ", 0x7F))
    after = [memory("STG", "R4", 0, "R16"), memory("STG", "R4", 16, "R20"), word(isa, "EXIT")]
    return b"".join(before + middle + after)


def run(
    case: Case, data: Array, seed: int | None = None, prepare: Sequence[bytes] = (), constants: bytes = b"", after: str = ""
) -> Array:
    """What the word leaves for each row; with a seed, functions of the multifunction unit are perturbed.

    `prepare` are instructions before it, `constants` what constant bank 0 has from offset 16 on, `after` a register that R16 is
    set to after it.
    """
    isa = ops.ISAS.index(case.isa)
    threads = len(data) * (32 if case.uniform else 1)
    blocks = -(-threads // BLOCK)
    padded = np.zeros((blocks * BLOCK // (32 if case.uniform else 1), 8), np.uint32)
    padded[: len(data)] = data
    device = Device(isa, _program(isa, word(isa, case.name, *case.operands, **case.mods), case.uniform, prepare, after))
    source, result = device.array(padded), device.array(np.zeros_like(padded))
    bank = source.to_bytes(8, "little") + result.to_bytes(8, "little") + constants
    fault = device.launch(BLOCK, bank, steps=1 << 40, blocks=blocks, seed=seed)
    assert fault is None, (fault.code, ffi.string(fault.detail), hex(fault.pc))
    return device.read(result, padded)[: len(data)]


def share(case: Case, cases: Sequence[Case]) -> int:
    """How many random rows a word has when all words of its operation together have MANY."""
    return -(-MANY // sum(c.name == case.name for c in cases))


def check(case: Case, count: int, seed: int = 1) -> None:
    """Compare every row."""
    data = rows(case.kinds, count, seed)
    compare(case, data, run(case, data))


def compare(case: Case, data: Array, got: Array) -> None:
    """Every row of what a word left is what it should be."""
    for have, row in zip(got.tolist(), data.tolist(), strict=True):
        want = case.want(row, [row[7] >> k & 1 for k in range(7)] + [1])
        for place, value in want.items():
            if place[0] == "P":
                found = have[7] >> int(place[1:]) & 1
                assert found == int(value), (str(case), place, [hex(v) for v in row])
            elif place[0] == "D":
                first = int(place[1:]) - 16
                wide = have[first] | have[first + 1] << 32
                assert wide == value & (1 << 64) - 1, (
                    str(case),
                    place,
                    [hex(v) for v in row],
                    hex(wide),
                    hex(value & (1 << 64) - 1),
                )
            else:
                found = have[int(place[1:]) - 16]
                assert found == value & 0xFFFFFFFF, (str(case), place, [hex(v) for v in row], hex(found), hex(value & 0xFFFFFFFF))

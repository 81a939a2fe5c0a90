"""Many PTX instructions in one kernel, each on the operands of every thread: compiled once, launched once, compared at the end.

An item is written as a case of :mod:`tests.lower.harness`: ``"add.s32 D, A, B"`` with the register classes of D and of the
sources, which are A, B, C and E in turn; a constant may stand in the place of a source, and one register in two.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import oric

from . import harness

NAMES = "ABCE"
THREADS = 256
CHUNK = 120  # items of a kernel


@dataclass(frozen=True)
class Item:
    """An instruction and what it computes.

    Attributes:
        text: the instruction, or several in braces.
        dest, sources: register classes (``h``, ``r``, ``d``, ``f``, ``g``, ``p``).
        reference: bit patterns of the sources to that of the result.
        constants: what stands in the places of sources; None for a register.
        same: the second source is the register of the first.
        since: the first SM that has it.
    """

    text: str
    dest: str
    sources: str
    reference: Callable[..., int]
    constants: tuple[int | None, ...] = ()
    same: bool = False
    since: int = 0

    def __str__(self) -> str:
        found = [str(c) for c in self.constants if c is not None]
        return " ".join([self.text, *found, *(["same"] if self.same else [])])


def in_place(item: Item, name: str) -> Item:
    """The same with its result in the place of a source (``A``, ``B``, ``C``), under a guard: the source behind the last."""
    place, guard = NAMES.index(name), NAMES[len(item.sources)]
    mnemonic, _, rest = item.text.partition(" ")
    kind = ".pred" if item.dest == "p" else f".b{harness.BITS[item.dest]}"
    text = re.sub(rf"\b[D{name}]\b", "%z", rest)
    body = f".reg {kind} %z; mov{kind} %z, {name}; @{guard} {mnemonic} {text}; mov{kind} D, %z;"

    def reference(*values: int) -> int:
        return item.reference(*values[:-1]) if values[-1] else values[place]

    return replace(item, text=f"{{{body}}}", sources=item.sources + "p", reference=reference)


def operands(threads: int = THREADS, seed: str = "") -> dict[str, list[list[int]]]:
    """Patterns for each class and place."""
    rng = random.Random(f"operands {seed}")
    return {kind: [harness.values(kind, threads, rng) for _ in NAMES] for kind in "hrdp"}


def source(items: Sequence[Item], sm: str) -> str:
    """PTX of a kernel that computes the items one behind the other."""
    kinds = sorted({kind for item in items for kind in item.sources})
    lines = [
        f".version 9.0\n.target {sm}\n.address_size 64",
        f".visible .entry k({', '.join(f'.param .u64 p{i}' for i in range(len(kinds) + 1))})\n{{",
        "  .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b64 %t<10>; .reg .b32 %u<9>;",
        "  mov.u32 %u0, %tid.x; mul.wide.u32 %t4, %u0, 8; mov.u32 %u1, %ntid.x; mul.wide.u32 %t5, %u1, 8;",
    ]
    for at, kind in enumerate(kinds):
        lines.append(f"  ld.param.u64 %t0, [p{at}]; add.u64 %t0, %t0, %t4;")
        for place in range(len(NAMES)):
            lines.append(f"  ld.global.u64 %t6, [%t0]; add.u64 %t0, %t0, %t5; {_into(kind, place)}")
    lines.append(f"  ld.param.u64 %t3, [p{len(kinds)}]; add.u64 %t3, %t3, %t4;")
    for item in items:
        lines.append(f"  {_text(item)}\n  {_out_of(item.dest)} st.global.u64 [%t3], %t6; add.u64 %t3, %t3, %t5;")
    lines.append("  ret;\n}")
    return "\n".join(lines) + "\n"


def _text(item: Item) -> str:
    words = {"D": f"%{item.dest}1"}
    for place, kind in enumerate(item.sources):
        constant = item.constants[place] if place < len(item.constants) else None
        at = 0 if item.same and place == 1 else place
        words[NAMES[place]] = f"%{kind}{10 + at}" if constant is None else str(constant)
    text = re.sub(r"\b[A-E]\b", lambda match: words[match[0]], item.text)
    return text if text[0] == "{" else f"{text};"


def _into(kind: str, place: int) -> str:
    return {
        "h": f"cvt.u16.u64 %h{10 + place}, %t6;",
        "r": f"cvt.u32.u64 %r{10 + place}, %t6;",
        "d": f"mov.b64 %d{10 + place}, %t6;",
        "p": f"setp.ne.u64 %p{10 + place}, %t6, 0;",
    }[kind]


def _out_of(kind: str) -> str:
    return {"h": "cvt.u64.u16 %t6, %h1;", "r": "cvt.u64.u32 %t6, %r1;", "d": "mov.b64 %t6, %d1;",
            "p": "selp.u64 %t6, 1, 0, %p1;"}[kind]  # fmt: skip


def wanted(item: Item, inputs: dict[str, list[list[int]]]) -> list[int]:
    """What every thread should compute."""
    columns = []
    for place, kind in enumerate(item.sources):
        constant = item.constants[place] if place < len(item.constants) else None
        column = inputs[kind][0 if item.same and place == 1 else place]
        columns.append(column if constant is None else [constant & (1 << harness.BITS[kind]) - 1] * len(column))
    return [item.reference(*row) for row in zip(*columns, strict=True)]


def run(image: bytes, items: Sequence[Item], inputs: dict[str, list[list[int]]]) -> list[list[int]]:
    """Launch a kernel made of :func:`source`; the results, by item and thread."""
    kinds = sorted({kind for item in items for kind in item.sources})
    threads = len(inputs["r"][0])
    out = np.zeros(len(items) * threads, np.uint64)
    arrays = [np.array(inputs[kind], np.uint64).reshape(-1) for kind in kinds]
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(threads, 1, 1), args=[*arrays, out])
    return [[int(v) for v in row] for row in out.reshape(len(items), threads)]


def chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The items of each kernel."""
    for at in range(0, len(items), CHUNK):
        yield items[at : at + CHUNK]


def mistakes(
    items: Sequence[Item], inputs: dict[str, list[list[int]]], images_of: Callable[[str], Sequence[bytes]], sm: str
) -> Iterator[str]:
    """What comes out wrong of the images that ``images_of`` makes of PTX; one line an item and image."""
    for chunk in chunks(items):
        wants = [wanted(item, inputs) for item in chunk]
        for image in images_of(source(chunk, sm)):
            for item, found, want in zip(chunk, run(image, chunk, inputs), wants, strict=True):
                wrong = [thread for thread, (a, b) in enumerate(zip(found, want, strict=True)) if a != b]
                if wrong:
                    at = wrong[0]
                    given = [hex(inputs[kind][place][at]) for place, kind in enumerate(item.sources)]
                    yield f"{item}: {len(wrong)} wrong, of {given} {found[at]:#x} instead of {want[at]:#x}"

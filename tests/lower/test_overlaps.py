"""Loads and stores of all widths that overlap in part: each sees what the ones in front of it wrote."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from .support import launch, source

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]
AREA = 64  # bytes that a sequence plays in
SEQUENCES = 24
LONG = 5  # accesses of a sequence
WORD = {1: "u8", 2: "u16", 4: "u32"}
LIMITS = {".global": 32, ".shared": 16, ".local": 16}  # widest access
BODY = """
  .reg .b32 %v<8>; .reg .b32 %w<{registers}>; .shared .align 32 .b8 sh[{bytes}]; .local .align 32 .b8 lo[{bytes}]; .reg .b32 %a;
  {base} {copy}
  ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%in+{bytes}]; ld.global.v4.u32 {{%v4, %v5, %v6, %v7}}, [%in+{behind}];
  {accesses}
  {back} {loaded}
"""


def accessed(kind: str, space: str, width: int, at: int, registers: list[str]) -> str:
    """An access of so many bytes with words of 32 bits, or a narrower one."""
    vector = f".v{width // 4}" if width > 4 else ""
    names = f"{{{', '.join(registers)}}}" if width > 4 else registers[0]
    where = f"[%p+{at}]"
    operands = f"{names}, {where}" if kind == "ld" else f"{where}, {names}"
    return f"{kind}{space}{vector}.{WORD[min(width, 4)]} {operands};"


def sequences(space: str, widest: int, seed: int) -> tuple[str, Bytes, Words, int]:
    """Accesses to areas side by side, what is in memory first, what is there and in the registers loaded at the end."""
    rng = random.Random(seed)
    size = SEQUENCES * AREA
    data = np.frombuffer(rng.randbytes(size + 32), np.uint8)
    memory = bytearray(data[:size].tobytes())
    values = data[size:].view(np.uint32)
    lines: list[str] = []
    loaded: list[int] = []
    for number in range(SEQUENCES):
        for _ in range(LONG):
            width = rng.choice([w for w in (1, 2, 4, 8, 16, 32) if w <= widest])
            at = number * AREA + rng.randrange(0, 64 if width < 16 else 48, width)
            words = max(width // 4, 1)
            if rng.random() < 0.5:
                lines.append(accessed("ld", space, width, at, [f"%w{len(loaded) + n}" for n in range(words)]))
                made = bytes(memory[at : at + width])
                loaded += np.frombuffer(made, np.uint32).tolist() if width >= 4 else [int.from_bytes(made, "little")]
            else:
                chosen = [rng.randrange(-2, 8) for _ in range(words)]
                lines.append(accessed("st", space, width, at, ["0" if n < 0 else f"%v{n}" for n in chosen]))
                written = np.array([0 if n < 0 else values[n] for n in chosen], np.uint32).tobytes()
                memory[at : at + width] = written[:width]
    wanted = np.concatenate([np.frombuffer(bytes(memory), np.uint32), np.array(loaded, np.uint32)])
    return "\n  ".join(lines), data, wanted, len(loaded)


def program(space: str, widest: int, seed: int, arch: str) -> tuple[str, Bytes, Words]:
    """A kernel of one thread; its input and the words that it writes."""
    accesses, data, wanted, count = sequences(space, widest, seed)
    size = SEQUENCES * AREA
    base = {
        ".global": ".reg .b64 %p; mov.b64 %p, %in;",
        ".shared": ".reg .b32 %p; mov.u32 %p, sh;",
        ".local": ".reg .b32 %p; mov.u32 %p, lo;",
    }[space]
    words = range(0, size, 4)
    copy = [f"ld.global.u32 %a, [%in+{at}]; st{space}.u32 [%p+{at}], %a;" for at in words] if space != ".global" else []
    body = BODY.format(
        registers=count + 1,
        bytes=size,
        behind=size + 16,
        base=base,
        copy="\n  ".join(copy),
        accesses=accesses,
        back="\n  ".join(f"ld{space}.u32 %a, [%p+{at}]; st.global.u32 [%out+{at}], %a;" for at in words),
        loaded="\n  ".join(f"st.global.u32 [%out+{size + 4 * n}], %w{n};" for n in range(count)),
    )
    return source(body, arch), data, wanted


@pytest.mark.parametrize("space", LIMITS)
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100a", "sm_120a"])
def test_accesses_that_overlap(arch: str, space: str) -> None:
    wide = int(arch[3:].rstrip("a")) >= 100
    for seed in range(3):
        text, data, wanted = program(space, min(LIMITS[space], 32 if wide else 16), seed, arch)
        for level in (0, 1, 3):
            made = launch(text, data.copy(), np.zeros(len(wanted), np.uint32), arch, level, 1)
            assert np.array_equal(made, wanted), (seed, level)

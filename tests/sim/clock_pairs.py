"""Pairs of kernels (vendor/clock.cu) of which it is known which is faster: what the clock must rank, and a GPU can be asked."""

from __future__ import annotations

from typing import Any

N = 1 << 16
Launch = tuple[str, Any, Any, int]  # kernel, grid, block, dynamic shared memory


def flat(kernel: str, grid: Any = 134, block: Any = 256, shared: int = 0) -> Launch:
    return kernel, grid, block, shared


def tiles(kernel: str) -> Launch:
    return kernel, (8, 8), (32, 8), 0


def squares(kernel: str, down: int = 8) -> Launch:
    return kernel, (8, down), (16, 16), 0


# The faster one first. bench/gpu runs the same pairs on a GPU.
PAIRS: dict[str, tuple[Launch, Launch]] = {
    "coalesced or strided": (flat("copy"), flat("copy_strided")),
    "coalesced or random": (flat("copy"), flat("copy_random")),
    "words or bytes": (flat("copy"), flat("copy_bytes")),
    "structure of arrays or array of structures": (flat("sum_soa"), flat("sum_aos")),
    "transpose: tile or direct": (tiles("transpose_padded"), tiles("transpose")),
    "transpose: padded or not": (tiles("transpose_padded"), tiles("transpose_tiled")),
    "banks: 1 or 2 turns": (flat("banks1"), flat("banks2")),
    "banks: 2 or 8 turns": (flat("banks2"), flat("banks8")),
    "banks: 8 or 32 turns": (flat("banks8"), flat("banks32")),
    "gemm: rows or columns": (squares("gemm"), squares("gemm_column")),
    "gemm: tiled or not": (squares("gemm_tiled", 40), squares("gemm", 40)),  # blocks of one SM wait for memory together
    "4 chains or 1": (flat("chains4", 66, 64), flat("chains1", 66, 64)),
    "sum: shuffles or shared memory": (flat("sum_shuffle"), flat("sum_shared")),
    "sum: sequential or interleaved": (flat("sum_shared"), flat("sum_interleaved")),
    "loads together or one by one": (flat("loads_together"), flat("loads_chained")),
    "division: approximate or exact": (flat("divide_fast"), flat("divide")),
    "sine: approximate or exact": (flat("sine_fast"), flat("sine")),
    "remainder: mask or division": (flat("modulo_mask"), flat("modulo")),
    "branches: uniform or divergent": (flat("branches_uniform"), flat("branches_divergent")),
    "array: registers or memory": (flat("in_registers"), flat("in_memory")),
    "reads: cached or streamed": (flat("reread"), flat("stream")),
    "without or with barriers": (flat("unsynced"), flat("synced")),
    "occupancy: 8 blocks or 4": (flat("loads_chained", 1056), flat("loads_chained", 1056, 256, 48 << 10)),
    "blocks: 256 or 32 threads": (flat("loads_chained", 1056), flat("loads_chained", 8448, 32)),
}

# Kernels that ptxas makes faster at a higher level: the level that it is compared with, their launches. sm_90.
LEVELS: dict[str, list[Launch]] = {
    "clock_O0": [
        flat("copy"), flat("sum_soa"), tiles("transpose_padded"), squares("gemm_tiled"), flat("chains1", 66, 64),
        flat("sum_shuffle"), flat("loads_together"), flat("divide_fast"), flat("modulo_mask"), flat("in_registers"),
    ],
    "clock_O1": [squares("gemm"), flat("loads_together"), flat("reread"), flat("stream"), flat("unsynced"), flat("divide")],
}  # fmt: skip
# Other GPUs, and pairs that say something of each part of the model there; `make measure` ranks all pairs on all of them.
TARGETS = ("sm_80", "sm_100a", "sm_120a")
EVERYWHERE = (
    "coalesced or strided", "structure of arrays or array of structures", "transpose: padded or not", "banks: 2 or 8 turns",
    "loads together or one by one", "remainder: mask or division", "occupancy: 8 blocks or 4",
)  # fmt: skip


def size(launch: Launch) -> int:
    """The kernel's last argument: elements, or rows of a matrix."""
    _, grid, block, _ = launch
    if not isinstance(grid, tuple):
        return N
    return grid[0] * (32 if block[0] == 32 else 16)

"""Launches of media.cu. Where floating-point sums may be fused or reordered, a result may be off by some last places."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.case import Case, Close, out, program


@program()
def median_tile(rng: Any) -> Case:
    width, height = 45, 30
    image = rng.integers(0, 256, (height, width)).astype(np.uint8)
    wide = np.pad(image, 1, mode="edge")
    near = [wide[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return Case((3, 4), (16, 8), [image, out((height, width), np.uint8), width, height], {1: np.sort(near, axis=0)[4]})


def places(small: int, large: int) -> tuple[Any, Any, Any]:
    at = np.clip((np.arange(large) + 0.5) * small / large - 0.5, 0, small - 1)
    low = at.astype(int)
    return low, np.minimum(low + 1, small - 1), at - low


@program()
def resize_bilinear(rng: Any) -> Case:
    image = rng.integers(0, 256, (20, 27, 4)).astype(np.uint8)
    to_width, to_height = 61, 37
    left, right, across = places(27, to_width)
    top, bottom, down = places(20, to_height)
    deep, down = image.astype(np.float64), down[:, None, None]
    rows = deep[:, left] * (1 - across[:, None]) + deep[:, right] * across[:, None]
    want = rows[top] * (1 - down) + rows[bottom] * down
    args = [image, out((to_height, to_width, 4), np.float32), 27, 20, to_width, to_height]
    return Case((4, 5), (16, 8), args, {1: Close(want, atol=3e-3)})  # places of 16 bits below one pixel


@program()
def equalise(rng: Any) -> Case:
    n = 3000
    image = np.clip(rng.standard_normal(n) * 25 + 110, 0, 255).astype(np.uint8)
    counts = np.bincount(image, minlength=256)
    sums = np.cumsum(counts)
    least = sums[np.flatnonzero(counts)[0]]
    table = (np.maximum(sums - least, 0) * 255 + (n - least) // 2) // (n - least)
    return Case(1, 256, [image, out(256, np.uint32), n], {0: table[image], 1: counts})


def cosine_line(d: list[int], second: bool) -> list[int]:
    """As the integer transform of the reference software for JPEG does a line."""

    def rounded(x: int, bits: int) -> int:
        return (x + (1 << (bits - 1))) >> bits

    down = 15 if second else 11
    t0, t1, t2, t3 = (d[k] + d[7 - k] for k in range(4))
    t7, t6, t5, t4 = (d[k] - d[7 - k] for k in range(4))
    even = [t0 + t3 + t1 + t2, t0 + t3 - t1 - t2]
    even = [rounded(x, 2) if second else x << 2 for x in even]
    z = (t1 - t2 + t0 - t3) * 4433
    two, six = z + (t0 - t3) * 6270, z - (t1 - t2) * 15137
    z5 = (t4 + t6 + t5 + t7) * 9633
    z1, z2, z3, z4 = (t4 + t7) * -7373, (t5 + t6) * -20995, (t4 + t6) * -16069 + z5, (t5 + t7) * -3196 + z5
    one, three = t7 * 12299 + z1 + z4, t6 * 25172 + z2 + z3
    five, seven = t5 * 16819 + z2 + z4, t4 * 2446 + z1 + z3
    one, two, three, five, six, seven = (rounded(x, down) for x in (one, two, three, five, six, seven))
    return [even[0], one, two, three, even[1], five, six, seven]


@program()
def dct_quantise(rng: Any) -> Case:
    width, height = 64, 32
    y, x = np.mgrid[:height, :width]
    image = (128 + 90 * np.sin(x / 5) * np.cos(y / 7) + rng.integers(-30, 31, (height, width))).astype(np.uint8)
    quants = rng.integers(1, 40, 64).astype(np.uint16)
    zigzag = sorted(range(64), key=lambda p: (p // 8 + p % 8, p // 8 if (p // 8 + p % 8) % 2 else p % 8))
    want = []
    for top in range(0, height, 8):
        for left in range(0, width, 8):
            rows = [cosine_line([int(p) - 128 for p in image[top + k, left : left + 8]], second=False) for k in range(8)]
            columns = [cosine_line(list(column), second=True) for column in zip(*rows, strict=True)]
            found = []
            for p in zigzag:
                value, q = columns[p % 8][p // 8], int(quants[p]) * 8
                size = (abs(value) + q // 2) // q
                found.append(-size if value < 0 else size)
            want.append(found)
    return Case(4, (8, 8), [image, quants, out((32, 64), np.int16), width], {2: want})


@program()
def biquads(rng: Any) -> Case:
    channels, samples, count = 50, 60, 3
    sound = rng.standard_normal((samples, channels)).astype(np.float32)
    radius, turn = rng.uniform(0.3, 0.8, count), rng.uniform(0.3, 2.5, count)
    zeros = rng.uniform(-0.5, 0.5, (count, 3))
    sections = np.column_stack([zeros, -2 * radius * np.cos(turn), radius**2]).astype(np.float32)
    states = np.zeros((count, channels, 2), np.float32)
    s, z, want = sections.astype(np.float64), np.zeros((count, channels, 2)), []
    for x in sound.astype(np.float64):
        for k in range(count):
            y = s[k, 0] * x + z[k, :, 0]
            z[k] = np.stack([s[k, 1] * x - s[k, 3] * y + z[k, :, 1], s[k, 2] * x - s[k, 4] * y], 1)
            x = y
        want.append(x)
    args = [sound, out((samples, channels), np.float32), sections, states, channels, samples, count]
    return Case(2, 32, args, {1: Close(want, atol=1e-5), 3: Close(z, atol=1e-5)})


@program()
def nv12_to_rgba(rng: Any) -> Case:
    width, height, pitch = 90, 40, 96
    light = rng.integers(0, 256, (height, pitch)).astype(np.uint8)
    colour = rng.integers(0, 256, (height // 2, pitch)).astype(np.uint8)
    y = 298 * (light[:, :width].astype(int) - 16) + 128
    uv = np.repeat(np.repeat(colour.reshape(height // 2, -1, 2).astype(int) - 128, 2, 0), 2, 1)[:, :width]
    d, e = uv[..., 0], uv[..., 1]
    rgb = [np.clip(c >> 8, 0, 255) for c in (y + 409 * e, y - 100 * d - 208 * e, y + 516 * d)]
    want = np.stack([*rgb, np.full_like(y, 255)], -1)
    return Case((3, 5), (16, 4), [light, colour, out((height, width, 4), np.uint8), width, height, pitch], {2: want})


def packed_bits(row: bytes) -> bytes:
    result, at = b"", 0
    while at < len(row):
        run = 1
        while at + run < len(row) and run < 128 and row[at + run] == row[at]:
            run += 1
        if run >= 3:
            result += bytes([257 - run, row[at]])
            at += run
            continue
        end = at + 1
        while end < len(row) and end - at < 128 and not (end + 2 < len(row) and row[end] == row[end + 1] == row[end + 2]):
            end += 1
        result += bytes([end - at - 1]) + row[at:end]
        at = end
    return result


@program()
def pack_bits(rng: Any) -> Case:
    n, room, count = 60, 80, 64
    rows = np.stack([np.repeat(rng.integers(0, 9, n), rng.choice([1, 1, 1, 2, 3, 9], n))[:n] for _ in range(count)])
    coded = [packed_bits(bytes(row.tolist())) for row in rows]
    to = out((count, room), np.uint8)
    want = to.copy()
    for row, code in zip(want, coded, strict=True):
        row[: len(code)] = list(code)
    return Case(2, 32, [rows.astype(np.uint8), to, out(count, np.int32), n, room], {1: want, 2: [len(code) for code in coded]})


STEPS = """7 8 9 10 11 12 13 14 16 17 19 21 23 25 28 31 34 37 41 45 50 55 60 66 73 80 88 97 107 118 130 143 157 173 190 209
230 253 279 307 337 371 408 449 494 544 598 658 724 796 876 963 1060 1166 1282 1411 1552 1707 1878 2066 2272 2499
2749 3024 3327 3660 4026 4428 4871 5358 5894 6484 7132 7845 8630 9493 10442 11487 12635 13899 15289 16818 18500
20350 22385 24623 27086 29794 32767"""


@program()
def adpcm_decode(rng: Any) -> Case:
    size, count = 28, 70
    blocks = rng.integers(0, 256, (count, size)).astype(np.uint8)
    blocks[:, 2] = rng.integers(0, 100, count)
    steps = [int(s) for s in STEPS.split()]
    want = []
    for block in blocks:
        value, index = int(block[:2].view(np.int16)[0]), min(int(block[2]), 88)
        row = [value]
        for code in (int(byte) >> shift & 15 for byte in block[4:] for shift in (0, 4)):
            step = steps[index]
            change = (step >> 3) + (step >> 2) * (code & 1) + (step >> 1) * (code >> 1 & 1) + step * (code >> 2 & 1)
            value = min(max(value - change if code & 8 else value + change, -32768), 32767)
            index = min(max(index + (-1, -1, -1, -1, 2, 4, 6, 8)[code & 7], 0), 88)
            row.append(value)
        want.append(row)
    return Case(2, 64, [blocks, out((count, 49), np.int16), size, count], {1: want})


@program()
def fir_decimate(rng: Any) -> Case:
    n = 1100
    sound = rng.integers(-32768, 32768, n).astype(np.int16)
    taps = (np.hamming(31) / 16).astype(np.float32)
    wide = np.pad(sound / 32768, (15, 31))
    want = [wide[k : k + 31] @ taps.astype(np.float64) for k in range(0, n, 3)]
    padded = out(len(want), np.float32)
    return Case(6, 64, [sound, padded, taps, n], {1: Close(want, atol=1e-5)})

"""Launches of science.cu. Where floating-point sums may be fused or reordered, a result may be off by some last places."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np

from tests.programs.case import Case, Close, out, program

WORD = 0xFFFFFFFF


@program()
def ising_sweep(rng: Any) -> Case:
    size, sweeps, threads = 24, 4, 96
    spins = rng.choice([-1, 1], (size, size)).astype(np.int8)
    states = rng.integers(1, 1 << 32, threads).astype(np.uint32)
    rise = [2 * own * 2 * (k - 2) for own in (-1, 1) for k in range(5)]
    chances = np.array([min(WORD, int(math.exp(-e / 2.2) * 2**32)) for e in rise], np.uint32)
    now, state = spins.astype(int).tolist(), states.tolist()
    for half in range(2 * sweeps):
        for k in range(size * size // 2):
            y = 2 * k // size
            x, t = 2 * k % size + ((y + half) & 1), k % threads
            s = state[t]
            s ^= s << 13 & WORD
            s ^= s >> 17
            state[t] = s = s ^ (s << 5 & WORD)
            around = now[y - 1][x] + now[(y + 1) % size][x] + now[y][x - 1] + now[y][(x + 1) % size]
            if s < chances[5 * (now[y][x] > 0) + around // 2 + 2]:
                now[y][x] = -now[y][x]
    a = np.array(now)
    energy = -int((a * (np.roll(a, -1, 0) + np.roll(a, -1, 1))).sum())
    args = [spins, states, chances, np.zeros(1, np.int32), size, sweeps]
    return Case(1, (16, 6), args, {0: a, 1: state, 3: [energy]}, shared=size * size)


@program()
def lj_forces(rng: Any) -> Case:
    n, box, cutoff = 60, 5.6, 2.5
    grid = np.stack(np.meshgrid(*3 * [np.arange(4)], indexing="ij"), -1).reshape(-1, 3)[:n] * 1.4
    places = (grid + rng.uniform(-0.2, 0.2, (n, 3))).astype(np.float32)
    charges = rng.choice([-1, 1, 0.5], n)
    particles = np.column_stack([places, charges]).astype(np.float32)
    d = places[:, None].astype(np.float64) - places[None]
    d -= box * np.rint(d / box)
    square = (d**2).sum(-1) + 1e9 * np.eye(n)
    near = square < cutoff**2
    six, coulomb = square**-3.0 * near, np.outer(charges, charges) / np.sqrt(square) * near
    factor = (24 * six * (2 * six - 1) + coulomb) / square
    energy = (2 * six * (six - 1) + 0.5 * coulomb).sum(1)
    want = np.column_stack([(factor[..., None] * d).sum(1), energy])
    args = [particles, out((n, 4), np.float32), n, np.float32(box), np.float32(cutoff)]
    assert (np.abs(square - cutoff**2) > 1e-5).all()
    return Case(2, 32, args, {1: Close(want, rtol=2e-5, atol=3e-3)})  # forces of opposite signs, some of 100 and more


@program()
def boltzmann_step(rng: Any) -> Case:
    width, height, omega = 44, 22, 1.3
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    weights = np.array([4 / 9, *4 * [1 / 9], *4 * [1 / 36]])
    start = (weights[:, None, None] * rng.uniform(0.8, 1.2, (9, height, width))).astype(np.float32)
    wall = (rng.random((height, width)) < 0.1).astype(np.uint8)
    f = np.stack([np.roll(start[k].astype(np.float64), (cy[k], cx[k]), (0, 1)) for k in range(9)])
    density = f.sum(0)
    ux, uy = np.tensordot(cx, f, 1) / density, np.tensordot(cy, f, 1) / density
    along = 3 * (cx[:, None, None] * ux + cy[:, None, None] * uy)
    rest = weights[:, None, None] * density * (1 + along + along**2 / 2 - 1.5 * (ux**2 + uy**2))
    want = np.where(wall, f[[0, 3, 4, 1, 2, 7, 8, 5, 6]], f + omega * (rest - f))
    velocity = np.stack([ux, uy], -1) * (1 - wall)[..., None]
    args = [start, out(start.shape, np.float32), wall, out((height, width, 2), np.float32), width, height, np.float32(omega)]
    return Case((3, 6), (16, 4), args, {1: Close(want, atol=1e-6), 3: Close(velocity, atol=1e-6)})


def slope(mu: Any, p: Any) -> Any:
    return np.stack([p[:, 1], mu * (1 - p[:, 0] ** 2) * p[:, 1] - p[:, 0]], 1)


@program()
def adaptive_steps(rng: Any) -> Case:
    threads, end, tolerance, steps = 64, 0.8, 3e-4, 2000
    mu, points = rng.uniform(0.1, 3, threads), rng.uniform(-2, 2, (threads, 2))
    p, h = points, end / steps
    for _ in range(steps):  # of the fourth order: more than ten digits are right
        k1 = slope(mu, p)
        k2 = slope(mu, p + h / 2 * k1)
        k3 = slope(mu, p + h / 2 * k2)
        p = p + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(mu, p + h * k3))
    case = Case(2, 32, [mu, points, out(threads, np.int32), end, tolerance, 300], {1: Close(p, atol=5e-3)})
    case.free = (2,)

    def check(_: Any) -> None:
        assert 3 < case.args[2].min() <= case.args[2].max() < 60, case.args[2]

    case.check = check
    return case


@program()
def implied_volatility(rng: Any) -> Case:
    n, rate = 60, 0.03
    sigmas, quotes = rng.uniform(0.1, 1.2, n), []
    for sigma in sigmas:
        spot, time = rng.uniform(20, 200), rng.uniform(0.2, 3)
        strike = spot * math.exp(rng.uniform(-0.4, 0.4) * sigma * math.sqrt(time))
        root = sigma * math.sqrt(time)
        d = (math.log(spot / strike) + (rate + sigma**2 / 2) * time) / root
        later = strike * math.exp(-rate * time)
        price = spot * math.erfc(-d / math.sqrt(2)) / 2 - later * math.erfc((root - d) / math.sqrt(2)) / 2
        quotes.append([spot, strike, time, price])
    return Case(2, 32, [np.array(quotes), out(n, np.float64), n, rate], {1: Close(sigmas, rtol=1e-8)})


@program()
def local_alignment(rng: Any) -> Case:
    pairs, columns, rows = 5, 29, 60
    match, mismatch, gap, more = 3, -2, 5, 1
    first = rng.choice(list(b"ACGT"), (pairs, columns)).astype(np.uint8)
    second = rng.choice(list(b"ACGT"), (pairs, rows)).astype(np.uint8)
    second[:, 20:32] = first[:, 5:17]
    second[:, 34:44] = first[:, 17:27]
    want = []
    for a, b in zip(first, second, strict=True):
        h, e, f, top = [0] * (columns + 1), [-10000] * (columns + 1), [-10000] * (columns + 1), 0
        for y in range(rows):
            before, corner = h[:], 0
            for x in range(1, columns + 1):
                corner = before[x - 1]
                f[x] = max(before[x] - gap, f[x] - more)
                e[x] = max(h[x - 1] - gap, e[x - 1] - more)
                h[x] = max(0, corner + (match if a[x - 1] == b[y] else mismatch), e[x], f[x])
            top = max(top, *h)
        want.append(top)
    args = [first, second, out(pairs, np.int32), columns, rows, match, mismatch, gap, more]
    return Case(pairs, 32, args, {2: want})


@program()
def life_sliced(rng: Any) -> Case:
    words, height = 5, 60
    cells = (rng.random((height, words * 64)) < 0.35).astype(np.uint8)
    near = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y)
    after = ((near == 3) | ((near == 2) & (cells == 1))).astype(np.uint8)

    def packed(bits: Any) -> Any:
        return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)

    return Case(5, 64, [packed(cells), out((height, words), np.uint64), words, height], {1: packed(after)})


def limbs(x: int) -> list[int]:
    return [x >> 32 * k & WORD for k in range(8)]


@program()
def montgomery_power(rng: Any) -> Case:
    p, power, one = (1 << 255) - 19, 53, 1 << 256
    numbers = [int.from_bytes(rng.bytes(32), "little") % p for _ in range(32)]
    bases = np.array([limbs(x * one % p) for x in numbers], np.uint32)
    want = [limbs(pow(x, power, p) * one % p) for x in numbers]
    inverse = -pow(p, -1, 1 << 32) & WORD
    args = [bases, np.array(limbs(p), np.uint32), np.array(limbs(one % p), np.uint32), out((32, 8), np.uint32), inverse, power]
    return Case(1, 32, args, {3: want})


@program()
def civil_dates(rng: Any) -> Case:
    n = 300
    days = rng.integers(-700000, 900000, n).astype(np.int32)
    days[:12] = [0, -1, 364, 365, 366, 10956, 11016, 11017, 18992, 18993, -719162, 47482]
    want = np.zeros((n, 8), np.uint8)
    for row, day in zip(want, days.tolist(), strict=True):
        date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
        row[:4] = np.array([date.year], np.int32).view(np.uint8)
        row[4:] = date.month, date.day, date.isoweekday(), date.isocalendar()[1]
    return Case(2, 64, [days, out((n, 8), np.uint8), n], {1: want})


@program()
def csv_decimals(rng: Any) -> Case:
    n, texts, sums, counts = 64, [], [], []
    wrong = ["", "x1", "1.2.3", "--4", '"5', "6e+x", '7"']
    for _ in range(n):
        fields, total, good = [], 0.0, 0
        for _ in range(int(rng.integers(1, 5))):
            value = f"{rng.choice(['', '-', '+'])}{rng.integers(0, 100000)}"
            value += str(rng.choice(["", ".5", f".{rng.integers(0, 1000):03d}", "e2", "E-3", ".25e+1"]))
            kind = rng.integers(0, 8)
            if kind == 0:
                fields.append(str(rng.choice(wrong[:4])))
                continue
            total, good = total + float(value), good + 1
            fields.append(f' "{value}" ' if kind == 1 else f" {value}" if kind == 2 else value)
        errors = len(fields) - good
        if rng.random() < 0.2:  # a quote that stays open takes the line's rest along, so it comes last
            fields.append(str(rng.choice(wrong[4:])))
            errors += 1
        texts.append(",".join(fields).encode())
        sums.append(total)
        counts.append(good << 8 | errors)
    lines = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    text = np.frombuffer(b"".join(texts), np.uint8).copy()
    args = [text, lines, out(n, np.float64), out(n, np.int32), n]
    return Case(2, 32, args, {2: Close(sums, rtol=1e-12, atol=1e-9), 3: counts})

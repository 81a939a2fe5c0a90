"""Launches of images.cu; texels are multiples of 1/256, so that linear filtering is exact but for the weights' 8 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim
from oric.sim import Sampling

from .case import Array, Case, Close, kernel, out


def texels(rng: Any, shape: Any) -> Array:
    return (rng.integers(-512, 512, shape) / 256).astype(np.float32)


@kernel()
def texture_line(rng: Any) -> Case:
    line, at = texels(rng, 40), (rng.integers(-64, 44 * 16, 64) / 16).astype(np.float32)
    low, fraction = np.floor(at - 0.5).astype(int), (at - 0.5) % 1
    left, right = (line[np.clip(low + k, 0, 39)] for k in (0, 1))
    fetched = line[np.clip(np.trunc(at).astype(int), 0, 39)]
    args: list[Any] = [0, at, out(64, np.float32)]

    def setup(module: oric.sim.Module) -> None:
        args[0] = module.texture(line, "1d", sampling=Sampling(linear=True))

    return Case(2, 32, args, {2: (left * (1 - fraction) + right * fraction) + fetched}, setup=setup)


@kernel()
def texture_turn(rng: Any) -> Case:
    height, width, c, s = 20, 28, np.float32(0.75), np.float32(0.5)
    picture = texels(rng, (height, width))
    y, x = np.indices((height, width)) + 0.5 - np.array([height / 2, width / 2])[:, None, None]
    u, v = c * x - s * y + width / 2, s * x + c * y + height / 2
    want = np.zeros((height, width))
    for dx in (0, 1):
        for dy in (0, 1):
            column, row = np.floor(u - 0.5) + dx, np.floor(v - 0.5) + dy
            weight = (1 - abs(u - 0.5 - column)) * (1 - abs(v - 0.5 - row))
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            want += (
                np.where(inside, picture[np.clip(row, 0, height - 1).astype(int), np.clip(column, 0, width - 1).astype(int)], 0.5)
                * weight
            )
    args: list[Any] = [0, out((height, width), np.float32), width, height, c, s]

    def setup(module: oric.sim.Module) -> None:
        args[0] = module.texture(picture, sampling=Sampling(linear=True, address="border", border=(0.5,)))

    # multiples of 1/8 in both directions: the weights are exact, their products are not
    return Case((2, 3), (16, 8), args, {1: Close(want, atol=1e-6)}, setup=setup)


@kernel()
def texture_box(rng: Any) -> Case:
    box = texels(rng, (5, 8, 16, 4))
    want = np.stack([box[..., 0].sum(0), box[..., 1].sum(0), np.maximum(box[..., 2].max(0), 0), box[-1, ..., 3]], axis=-1)
    args: list[Any] = [0, out((8, 16, 4), np.float32), 5]

    def setup(module: oric.sim.Module) -> None:
        args[0] = module.texture(box, "3d", channels=4)

    return Case((2, 2), (8, 4), args, {1: want}, setup=setup)


@kernel()
def texture_layers(rng: Any) -> Case:
    lines, planes = rng.integers(-128, 128, (3, 16)).astype(np.int8), rng.integers(-9999, 9999, (3, 8, 16)).astype(np.int16)
    want = np.zeros((8, 16), np.int64)
    for k in range(3):
        want = want * 5 + planes[k] - lines[k]
    args: list[Any] = [0, 0, out((8, 16), np.int32), 3]

    def setup(module: oric.sim.Module) -> None:
        args[:2] = module.texture(lines, "1d", layered=True), module.texture(planes, layered=True)

    return Case((2, 2), (8, 4), args, {2: want}, setup=setup)


@kernel()
def texture_choice(rng: Any) -> Case:
    pictures, which = rng.integers(0, 256, (3, 4, 32, 4)).astype(np.uint8), rng.integers(0, 3, 128).astype(np.int32)
    x, y = np.arange(128) % 32, np.arange(128) // 32
    args: list[Any] = [0, which, out((128, 4), np.uint8)]

    def setup(module: oric.sim.Module) -> None:
        args[0] = np.array([module.texture(p, channels=4).address for p in pictures], np.uint64)

    want = np.concatenate([pictures[which, y, x, :2], pictures[which[0], y, x, 2:]], axis=1)
    return Case(4, 32, args, {2: want}, setup=setup)


@kernel()
def surface_steps(rng: Any) -> Case:
    picture, steps, surfaces = rng.integers(-99, 99, (8, 16)).astype(np.int32), 3, []
    states = [picture]
    for _ in range(steps):
        rows, sides = np.pad(states[-1], ((1, 1), (0, 0)), mode="edge"), np.pad(states[-1], ((0, 0), (1, 1)))
        states.append(rows[:-2] + rows[1:-1] + rows[2:] + sides[:, :-2] + sides[:, 1:-1] + sides[:, 2:])
    args: list[Any] = [0, 0, steps]

    def setup(module: oric.sim.Module) -> None:
        surfaces[:] = module.surface(picture), module.surface(np.zeros_like(picture))
        args[:2] = surfaces

    def check(module: oric.sim.Module) -> None:
        assert np.array_equal(surfaces[0].read(), states[2])
        assert np.array_equal(surfaces[1].read(), states[3])

    return Case(1, (16, 8), args, {}, setup=setup, check=check)


@kernel()
def surface_box(rng: Any) -> Case:
    box, depth, surfaces = texels(rng, (4, 8, 16, 2)), 4, []
    args: list[Any] = [0, 0, depth]

    def setup(module: oric.sim.Module) -> None:
        surfaces[:] = module.surface(box, "3d", channels=2), module.surface(np.zeros((4, 8, 16), np.int16), layered=True)
        args[:2] = surfaces

    def check(module: oric.sim.Module) -> None:
        want = np.stack([box[..., 1] * 2, box[..., 0] + np.arange(4)[:, None, None]], axis=-1)
        assert np.array_equal(surfaces[0].read(), want)
        assert np.array_equal(surfaces[1].read(), (box[..., 0] * 64).astype(np.int16))

    return Case((2, 2), (8, 4), args, {}, setup=setup, check=check)

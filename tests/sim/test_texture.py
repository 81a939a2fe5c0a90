"""Textures and surfaces: ptxas-made kernels against the formulas of the CUDA programming guide in numpy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import oric.sim
import pytest
from oric.sim import LaunchError, Modes, Sampling

from tests.sim.vendor_cubins import module

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
COUNT = 96
RNG = np.random.default_rng(5)
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module", params=TARGETS)
def loaded(request: pytest.FixtureRequest) -> oric.sim.Module:
    return module("textures", request.param)


def launch(loaded: oric.sim.Module, kernel: str, *args: Any) -> None:
    done = loaded.launch(kernel, 3, 32, args, modes=Modes(strict=True, memcheck=True))
    assert done.reports == ()


def fetch(texels: Array, index: list[Array], modes: list[str], normalised: bool, border: float) -> Array:
    """Texels at integer indices (x first) of an array with axes z, y, x."""
    inside = np.ones(index[0].shape, bool)
    place = []
    for axis, i in enumerate(index):
        size = texels.shape[-1 - axis]
        mode = modes[axis] if normalised or modes[axis] == "border" else "clamp"
        if mode == "border":
            inside &= (i >= 0) & (i < size)
        elif mode == "wrap":
            i = i % size
        elif mode == "mirror":
            i = i % (2 * size)
            i = np.where(i < size, i, 2 * size - 1 - i)
        place.append(np.clip(i, 0, size - 1))
    return np.where(inside, texels[tuple(reversed(place))], border)


def sample(texels: Array, at: list[Array], s: Sampling, offset: tuple[int, ...] = (0, 0, 0)) -> Array:
    """The value at coordinates (x first), as the programming guide has it."""
    modes = [s.address] * 3 if isinstance(s.address, str) else list(s.address)
    at = [x.astype(np.float64) * (texels.shape[-1 - n] if s.normalised else 1) for n, x in enumerate(at)]
    if not s.linear:
        index = [np.floor(x).astype(np.int64) + offset[n] for n, x in enumerate(at)]
        return fetch(texels, index, modes, s.normalised, s.border[0])
    low = [np.floor(x - 0.5) for x in at]
    weight = [np.round((x - 0.5 - below) * 256) / 256 for x, below in zip(at, low, strict=True)]
    total = np.zeros(at[0].shape)
    for corner in itertools.product((0, 1), repeat=len(at)):
        part = np.prod([w if c else 1 - w for w, c in zip(weight, corner, strict=True)], axis=0)
        index = [below.astype(np.int64) + c + offset[n] for n, (below, c) in enumerate(zip(low, corner, strict=True))]
        total += part * fetch(texels, index, modes, s.normalised, s.border[0])
    return total


def coordinates(axes: list[int], normalised: bool) -> list[Array]:
    """Some in and some around a texture of these sizes; away from half texels, where a rounding decides."""
    out = []
    for size in axes:
        x = RNG.uniform(-0.6 * size, 1.6 * size, COUNT)
        x = np.round(x * 64) / 64 + 1 / 300
        out.append((x / size if normalised else x).astype(np.float32))
    return out


SAMPLINGS = [
    Sampling(),
    Sampling(linear=True),
    Sampling(address="border", border=(7.0,)),
    Sampling(linear=True, address="border"),
    *(Sampling(linear, mode, True) for linear in (False, True) for mode in ("wrap", "clamp", "mirror", "border")),
    Sampling(linear=True, address=("wrap", "mirror", "clamp"), normalised=True),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SAMPLINGS)))
def test_sampling_2d_and_3d(loaded: oric.sim.Module, number: int) -> None:
    s = SAMPLINGS[number]
    out = np.zeros(COUNT, np.float32)
    texels = RNG.random((9, 13), np.float32)
    x, y = coordinates([13, 9], s.normalised)
    launch(loaded, "at2d", loaded.texture(texels, sampling=s), out, x, y)
    np.testing.assert_allclose(out, sample(texels, [x, y], s), rtol=2e-6, atol=2e-6)
    volume = RNG.random((5, 6, 7), np.float32)
    x, y, z = coordinates([7, 6, 5], s.normalised)
    launch(loaded, "at3d", loaded.texture(volume, "3d", sampling=s), out, x, y, z)
    np.testing.assert_allclose(out, sample(volume, [x, y, z], s), rtol=2e-6, atol=2e-6)


def test_one_dimension_and_layers(loaded: oric.sim.Module) -> None:
    s = Sampling(linear=True)
    out = np.zeros(COUNT, np.float32)
    line, layers = RNG.random(17, np.float32), RNG.random((3, 9, 13), np.float32)
    lines = RNG.random((4, 17), np.float32)
    x, y = coordinates([17, 9], False)
    layer = RNG.integers(-2, 6, COUNT).astype(np.int32)
    launch(loaded, "at1d", loaded.texture(line, "1d", sampling=s), out, x)
    np.testing.assert_allclose(out, sample(line, [x], s), rtol=2e-6, atol=2e-6)

    def chosen(stack: Array, at: list[Array]) -> Array:
        # A layer is clamped; a negative one is a large one, as the code takes it without sign.
        index = np.where(layer < 0, len(stack) - 1, np.minimum(layer, len(stack) - 1))
        return np.choose(index, [sample(t, at, s) for t in stack])

    launch(loaded, "at1d_layer", loaded.texture(lines, "1d", layered=True, sampling=s), out, x, layer)
    np.testing.assert_allclose(out, chosen(lines, [x]), rtol=2e-6, atol=2e-6)
    texture = loaded.texture(layers, layered=True, sampling=s)
    for kernel, more in (("at2d_layer", []), ("lod2d_layer", [np.zeros(COUNT, np.float32)])):
        out[:] = 0
        launch(loaded, kernel, texture, out, x, y, layer, *more)
        np.testing.assert_allclose(out, chosen(layers, [x, y]), rtol=2e-6, atol=2e-6)


def test_level_derivatives_and_offset(loaded: oric.sim.Module) -> None:
    """A texture of one level gives the same at every level of detail."""
    s = Sampling(linear=True)
    texels, volume = RNG.random((9, 13), np.float32), RNG.random((5, 6, 7), np.float32)
    flat, solid = loaded.texture(texels, sampling=s), loaded.texture(volume, "3d", sampling=s)
    x, y, z = coordinates([13, 9, 5], False)
    out = np.zeros(COUNT, np.float32)
    level = RNG.uniform(-1, 3, COUNT).astype(np.float32)
    for kernel in ("lod2d", "grad2d"):
        out[:] = 0
        launch(loaded, kernel, flat, out, x, y, level)
        np.testing.assert_allclose(out, sample(texels, [x, y], s), rtol=2e-6, atol=2e-6)
    launch(loaded, "lod3d", solid, out, x, y, z, level)
    np.testing.assert_allclose(out, sample(volume, [x, y, z], s), rtol=2e-6, atol=2e-6)
    launch(loaded, "off3d", solid, out, x, y)
    np.testing.assert_allclose(out, sample(volume, [x, y, np.ones_like(x)], s, (1, -2, 3)), rtol=2e-6, atol=2e-6)


FACES = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])


def face_coordinates(d: Array) -> tuple[Array, Array, Array]:
    """Table "Cubemap Fetch" of the programming guide."""
    x, y, z = d.astype(np.float64)
    face = np.argmax(FACES @ d, axis=0)
    m = np.max(FACES @ d, axis=0)
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    return face, (s / m + 1) / 2, (t / m + 1) / 2


def test_cubes(loaded: oric.sim.Module) -> None:
    cube, cubes = RNG.random((6, 8, 8), np.float32), RNG.random((2, 6, 8, 8), np.float32)
    d = RNG.normal(size=(3, COUNT)).astype(np.float32)
    layer = RNG.integers(0, 2, COUNT).astype(np.int32)
    out = np.zeros(COUNT, np.float32)
    face, s, t = face_coordinates(d)
    nearest = Sampling(normalised=True)
    faces = [sample(f, [s, t], nearest) for f in cube]
    launch(loaded, "at_cube", loaded.texture(cube, "cube", sampling=nearest), out, *d.copy())
    assert np.count_nonzero(out != np.choose(face, faces)) <= 1  # the code's reciprocal may move one over the edge of a texel
    launch(loaded, "at_cube_layer", loaded.texture(cubes, "cube", layered=True, sampling=nearest), out, *d.copy(), layer)
    want = np.where(layer == 0, *(np.choose(face, [sample(f, [s, t], nearest) for f in c]) for c in cubes))
    assert np.count_nonzero(out != want) <= 1


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float16"])
def test_formats(loaded: oric.sim.Module, dtype: str) -> None:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        texels = RNG.normal(size=40).astype(kind)
        texels[:5] = [np.inf, -np.inf, 0, -0.0, np.finfo(kind).smallest_subnormal]
    else:
        texels = np.frombuffer(RNG.bytes(40 * kind.itemsize), kind).copy()
        texels[:2] = np.iinfo(kind).min, np.iinfo(kind).max
    at = RNG.integers(-4, 45, COUNT).astype(np.int32)
    at[:5] = range(5)
    out = np.zeros(COUNT, np.float32 if kind.kind == "f" else np.uint32)
    launch(loaded, "fetch1d", loaded.texture(texels, "1d"), out, at)
    want = texels[np.clip(at, 0, 39)]
    assert (
        out.tobytes()
        == want.astype(np.float32 if kind.kind == "f" else np.int64 if kind.kind == "i" else np.uint32)
        .astype(out.dtype)
        .tobytes()
    )
    if kind.kind in "iu" and kind.itemsize < 4:
        floats = np.zeros(COUNT, np.float32)
        launch(loaded, "fetch1d", loaded.texture(texels, "1d", sampling=Sampling(read_normalised=True)), floats, at)
        np.testing.assert_allclose(floats, np.maximum(want / np.iinfo(kind).max, -1), rtol=1e-7)


def test_components(loaded: oric.sim.Module) -> None:
    bytes4 = RNG.integers(0, 256, (40, 4), np.uint8)
    at = RNG.integers(0, 40, COUNT).astype(np.int32)
    out = np.zeros((COUNT, 4), np.uint32)
    launch(loaded, "fetch1d_u8x4", loaded.texture(bytes4, "1d", channels=4), out, at)
    assert (out == bytes4[at]).all()
    floats = RNG.random((9, 13, 4), np.float32)
    x, y = coordinates([13, 9], False)
    four = np.zeros((COUNT, 4), np.float32)
    s = Sampling(linear=True)
    launch(loaded, "at2d_f4", loaded.texture(floats, channels=4, sampling=s), four, x, y)
    for c in range(4):
        np.testing.assert_allclose(four[:, c], sample(floats[:, :, c], [x, y], s), rtol=2e-6, atol=2e-6)
    shorts = RNG.integers(-32768, 32767, (9, 13, 2), np.int16)
    two = np.zeros((COUNT, 2), np.int32)
    launch(loaded, "at2d_s16x2", loaded.texture(shorts, channels=2), two, x, y)
    for c in range(2):
        assert (two[:, c] == sample(shorts[:, :, c], [x, y], Sampling())).all()
    launch(loaded, "at2d_f4", loaded.texture(RNG.random((9, 13), np.float32)), four, x, y)
    assert (four[:, 1:] == [0, 0, 1]).all()


@pytest.mark.parametrize(("kernel", "component"), [("gather0", 0), ("gather2", 2)])
def test_gather(loaded: oric.sim.Module, kernel: str, component: int) -> None:
    texels = RNG.random((9, 13, 4), np.float32)
    x, y = coordinates([13, 9], False)
    out = np.zeros((COUNT, 4), np.float32)
    launch(loaded, kernel, loaded.texture(texels, channels=4), out, x, y)
    low_x, low_y = (np.floor(v.astype(np.float64) - 0.5).astype(np.int64) for v in (x, y))
    for n, (dx, dy) in enumerate([(0, 1), (1, 1), (1, 0), (0, 0)]):
        want = texels[np.clip(low_y + dy, 0, 8), np.clip(low_x + dx, 0, 12), component]
        assert (out[:, n] == want).all()


def test_handles_of_each_thread(loaded: oric.sim.Module) -> None:
    """Handles that threads load: bindless operations, or a loop over the handles of a warp."""
    pictures = [RNG.random((9, 13), np.float32) for _ in range(3)]
    which = RNG.integers(0, 3, COUNT)
    textures = [loaded.texture(p) for p in pictures]
    handles = np.array([textures[i].address for i in which], np.uint64)
    x, y = coordinates([13, 9], False)
    out = np.zeros(COUNT, np.float32)

    def chosen(at: list[Array]) -> Array:
        return np.choose(which, [sample(p, at, Sampling()) for p in pictures])

    for kernel in ("many2d", "manyd"):
        out[:] = 0
        launch(loaded, kernel, handles, out, x, y)
        assert (out == chosen([x, y])).all()
    heights = np.zeros(COUNT, np.int32)
    launch(loaded, "manyq", handles, heights)
    assert (heights == 9).all()
    four = np.zeros((COUNT, 4), np.float32)
    launch(loaded, "manyg", handles, four, x, y)
    assert (four[:, 3] == chosen([x - 0.5, y - 0.5])).all()
    lines = [loaded.texture(p[0], "1d") for p in pictures]
    at = RNG.integers(0, 13, COUNT).astype(np.int32)
    launch(loaded, "many1d", np.array([lines[i].address for i in which], np.uint64), out, at)
    assert (out == [pictures[i][0, n] for i, n in zip(which, at, strict=True)]).all()
    stacks = [loaded.texture(np.stack([p, -p]), layered=True) for p in pictures]
    layer = RNG.integers(0, 2, COUNT).astype(np.int32)
    launch(loaded, "manyl", np.array([stacks[i].address for i in which], np.uint64), out, x, y, layer)
    assert (out == chosen([x, y]) * np.where(layer, -1, 1)).all()


def test_sizes(loaded: oric.sim.Module) -> None:
    out = np.zeros(2, np.int32)
    for kernel, made in (
        ("width2d", loaded.texture(np.zeros((9, 13), np.float32))),
        ("swidth2d", loaded.surface(np.zeros((9, 13), np.uint8))),
    ):
        out[:] = 0
        loaded.launch(kernel, 1, 1, [made, out])
        assert list(out) == [13, 9]


def test_surface_reads(loaded: oric.sim.Module) -> None:
    x, y, z = (RNG.integers(0, size, COUNT).astype(np.int32) for size in (13, 9, 5))
    wide = RNG.integers(-9, 20, COUNT).astype(np.int32)
    high = RNG.integers(-4, 13, COUNT).astype(np.int32)
    ints, floats = RNG.integers(-99, 99, 13, np.int32), RNG.random((9, 13), np.float32)
    fours, chars = RNG.random((9, 13, 4), np.float32), RNG.integers(1, 255, (9, 13), np.uint8)
    shorts, stack = RNG.integers(1, 999, (5, 9, 13), np.int16), RNG.random((5, 9, 13, 2), np.float32)
    out: Array = np.zeros(COUNT, np.int32)
    launch(loaded, "sread1d", loaded.surface(ints, "1d"), out, x)
    assert (out == ints[x]).all()
    out = np.zeros(COUNT, np.float32)
    launch(loaded, "sread2d", loaded.surface(floats), out, x, y)
    assert (out == floats[y, x]).all()
    out = np.zeros((COUNT, 4), np.float32)
    launch(loaded, "sread2d_clamp", loaded.surface(fours, channels=4), out, wide, high)
    assert (out == fours[np.clip(high, 0, 8), np.clip(wide, 0, 12)]).all()
    out = np.zeros(COUNT, np.uint8)
    launch(loaded, "sread2d_zero", loaded.surface(chars), out, wide, high)
    inside = (wide >= 0) & (wide < 13) & (high >= 0) & (high < 9)
    assert (out == np.where(inside, chars[np.clip(high, 0, 8), np.clip(wide, 0, 12)], 0)).all()
    out = np.zeros(COUNT, np.int16)
    launch(loaded, "sread3d", loaded.surface(shorts, "3d"), out, wide, high, z)
    assert (out == np.where(inside, shorts[z, np.clip(high, 0, 8), np.clip(wide, 0, 12)], 0)).all()
    out = np.zeros((COUNT, 2), np.float32)
    launch(loaded, "sread2d_layer", loaded.surface(stack, layered=True, channels=2), out, x, y, z)
    assert (out == stack[z, y, x]).all()
    surface = loaded.surface(np.ascontiguousarray(stack[..., 0]), layered=True)
    out = np.zeros(COUNT, np.float32)
    launch(loaded, "manysl", np.full(COUNT, surface.address, np.uint64), out, x * 4, y, z)
    assert (out == stack[z, y, x, 0]).all()


def test_surface_writes(loaded: oric.sim.Module) -> None:
    place = RNG.permutation(13 * 9)[:COUNT]
    x, y = (place % 13).astype(np.int32), (place // 13).astype(np.int32)
    z = RNG.integers(-1, 6, COUNT).astype(np.int32)
    line = RNG.permutation(COUNT).astype(np.int32)
    values = RNG.random((COUNT, 4), np.float32)
    flat = loaded.surface(np.zeros(COUNT, np.int32), "1d")
    launch(loaded, "swrite1d", flat, np.arange(COUNT, dtype=np.int32), line)
    assert (flat.read()[line] == np.arange(COUNT)).all()
    four = loaded.surface(np.zeros((9, 13, 4), np.float32), channels=4)
    launch(loaded, "swrite2d_f4", four, values, x, y)
    assert (four.read()[y, x] == values).all()
    one = loaded.surface(np.zeros((9, 13), np.float32))
    far = (x - 3).astype(np.int32)
    launch(loaded, "swrite2d", one, values[:, 0].copy(), far, y)
    want = np.zeros((9, 13), np.float32)
    want[y[far >= 0], far[far >= 0]] = values[far >= 0, 0]
    assert (one.read() == want).all()
    for kernel, array, kind in (
        ("swrite3d", np.zeros((5, 9, 13), np.int16), "3d"),
        ("swrite2d_layer", np.zeros((5, 9, 13), np.float32), "2d"),
    ):
        made = loaded.surface(array, kind, layered=kind == "2d")
        given = np.arange(1, COUNT + 1).astype(array.dtype)
        launch(loaded, kernel, made, given, x, y, z)
        good = (z >= 0) & (z < 5)
        want = np.zeros_like(array)
        want[z[good], y[good], x[good]] = given[good]
        assert (made.read() == want).all()


def test_surface_reductions(loaded: oric.sim.Module) -> None:
    x, y = RNG.integers(-1, 5, COUNT).astype(np.int32), RNG.integers(0, 2, COUNT).astype(np.int32)
    values = RNG.integers(0, 1 << 32, COUNT, np.uint32)
    made = loaded.surface(np.ones((2, 4), np.uint32))
    launch(loaded, "sured", made, x, y, values)
    want = np.ones((2, 4), np.uint32)
    good = (x >= 0) & (x < 4)
    np.add.at(want, (y[good], x[good]), values[good])
    assert (made.read() == want).all()
    made = loaded.surface(np.full((1, 4), -5, np.int32))
    launch(loaded, "sured_max", made, np.zeros(COUNT, np.int32), x, values.view(np.int32))
    want_max = np.full(4, -5, np.int32)
    np.maximum.at(want_max, np.clip(x, 0, 3), values.view(np.int32))
    assert (made.read()[0] == want_max).all()


def test_trap_outside_of_a_surface() -> None:
    loaded = module("textures", "sm_90")
    with pytest.raises(oric.sim.OutOfBounds, match=r"SULD"):
        loaded.launch(
            "sread2d",
            1,
            1,
            [
                loaded.surface(np.zeros((2, 2), np.float32)),
                np.zeros(1, np.float32),
                np.array([2], np.int32),
                np.zeros(1, np.int32),
            ],
        )
    with pytest.raises(oric.sim.OutOfBounds, match=r"4-byte write .*SUST"):
        loaded.launch(
            "swrite1d", 1, 1, [loaded.surface(np.zeros(2, np.int32), "1d"), np.zeros(1, np.int32), np.array([-1], np.int32)]
        )


def test_wrong_handles() -> None:
    loaded = module("textures", "sm_90")
    cube = loaded.texture(np.zeros((6, 4, 4), np.float32), "cube")
    args = [np.zeros(1, np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32)]
    for handle, message in ((0, "no texture"), (1 << 19, "no texture"), (0xFFFFFFFF, "no texture"), (cube, "other dimensions")):
        with pytest.raises(oric.sim.IllegalInstruction, match=message):
            loaded.launch("at2d", 1, 1, [handle, *args])
        with pytest.raises(oric.sim.IllegalInstruction, match=message):
            loaded.launch("sread2d", 1, 1, [handle, args[0], np.zeros(1, np.int32), np.zeros(1, np.int32)])


def test_other_views_and_new_contents() -> None:
    loaded = module("textures", "sm_80")
    surface = loaded.surface(np.zeros((2, 2), np.float32))
    out, x, y = np.zeros(1, np.float32), np.ones(1, np.float32), np.ones(1, np.float32)
    surface.write(np.array([[1, 2], [3, 4]], np.float32))
    loaded.launch("at2d", 1, 1, [surface.sampled(Sampling(linear=True)), out, x, y])
    assert out[0] == 2.5
    with pytest.raises(ValueError, match="given for texels"):
        surface.write(np.zeros(4, np.float32))


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (np.zeros((2, 2)), {}, "cannot be of type float64"),
    (np.zeros(2, np.float32), {}, "is no 2d texture"),
    (np.zeros((2, 0), np.float32), {}, "is no 2d texture"),
    (np.zeros((2, 2), np.float32), {"kind": "4d"}, "one of 1d"),
    (np.zeros((2, 2), np.float32), {"channels": 3}, "1, 2 or 4 components"),
    (np.zeros((2, 2, 3), np.float32), {"channels": 4}, "does not have the 4 components"),
    (np.zeros((5, 4, 4), np.float32), {"kind": "cube"}, "no cube texture"),
    (np.zeros((2, 2), np.int32), {"sampling": Sampling(linear=True)}, "read as floats"),
    (np.zeros((2, 2), np.int32), {"sampling": Sampling(read_normalised=True)}, "normalised floats"),
    (np.zeros((2, 2), np.float32), {"sampling": Sampling(address="away")}, "address mode"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_arrays_that_are_no_texture(number: int) -> None:
    array, options, message = BAD[number]
    with pytest.raises(LaunchError, match=message):
        module("textures", "sm_90").texture(array, **options)

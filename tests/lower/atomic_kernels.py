"""Kernels in which many threads contend for one place, and what must be true of the values that they saw.

Whatever the order of the threads, the values that an atomic gave and the last value form one chain: there is an order in which
each thread finds what the one before it has left. With a step from the value found to the value left for every thread, that is a
path from the first value to the last that takes every step once; :func:`is_history` says whether there is one (Euler).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import oric

THREADS = 64
CELL = 32  # bytes of a place
INTEGERS = {"u32": "u", "s32": "s", "b32": "u", "u64": "u", "s64": "s", "b64": "u", "b16": "u", "b128": "u"}
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
                          "f16x2": np.float16, "bf16x2": ml_dtypes.bfloat16}  # fmt: skip
_REGISTER = {2: "h", 4: "r", 8: "d"}


def bits_of(type_: str) -> int:
    """Bits of a PTX type."""
    name, _, pair = type_.partition("x")
    return int("".join(c for c in name if c.isdigit())) * (int(pair) if pair else 1)


@dataclass(frozen=True)
class Operation:
    """``op`` of a PTX type, of a vector of them when ``vec`` is not 1."""

    op: str
    type: str
    vec: int = 1

    @property
    def text(self) -> str:
        """As in ``atom.global.TEXT.v2.f16``."""
        noftz = ".noftz" if self.type in ("f16", "bf16", "f16x2", "bf16x2") else ""
        return f"{self.op}{noftz}"

    @property
    def bytes(self) -> int:
        """Of the whole operand."""
        return bits_of(self.type) * self.vec // 8

    def elements(self, value: int) -> tuple[int, ...]:
        """The parts that are each atomic."""
        each = bits_of(self.type.removesuffix("x2"))
        return tuple(value >> each * k & (1 << each) - 1 for k in range(8 * self.bytes // each))

    def step(self, old: int, x: int, y: int = 0) -> int:
        """What is left of one element where ``old`` was found; ``x``, ``y``: the operands."""
        if self.op in ("cas", "exch"):
            return (y if old == x else old) if self.op == "cas" else x
        if self.type in FLOATS:
            return self._of_floats(old, x)
        n = bits_of(self.type)

        def signed(v: int) -> int:
            return v - (1 << n) if INTEGERS[self.type] == "s" and v >> n - 1 else v

        steps: dict[str, Callable[[], int]] = {
            "add": lambda: old + x, "and": lambda: old & x, "or": lambda: old | x, "xor": lambda: old ^ x,
            "min": lambda: min(old, x, key=signed), "max": lambda: max(old, x, key=signed),
            "inc": lambda: 0 if old >= x else old + 1, "dec": lambda: x if old == 0 or old > x else old - 1,
        }  # fmt: skip
        return steps[self.op]() & (1 << n) - 1

    def _of_floats(self, old: int, x: int) -> int:
        dtype = np.dtype(FLOATS[self.type])
        unsigned = f"u{dtype.itemsize}"
        a, b = (np.array(v, unsigned).view(dtype) for v in (old, x))
        result = {"add": lambda: a + b, "min": lambda: min(a, b), "max": lambda: max(a, b)}[self.op]()
        return int(np.array(result, dtype).view(unsigned))

    def draw(self, rng: np.random.Generator, count: int) -> list[int]:
        """Operands, few of which are alike; sums of floats are exact in every order."""
        each = bits_of(self.type.removesuffix("x2"))
        parts = 8 * self.bytes // each
        if self.type in FLOATS:
            dtype = np.dtype(FLOATS[self.type])
            drawn = rng.integers(-2, 3, count * parts).astype(np.float64).astype(dtype).view(f"u{dtype.itemsize}")
        elif self.op in ("inc", "dec"):
            drawn = np.full(count, 9, np.uint64)
        elif self.op == "cas":
            drawn = rng.integers(0, 4, count).astype(np.uint64)
        else:
            drawn = rng.integers(0, 1 << min(each, 63), count * parts, dtype=np.uint64)
        values = [int(v) for v in drawn]
        return [sum(v << each * k for k, v in enumerate(values[t * parts : (t + 1) * parts])) for t in range(count)]


@dataclass(frozen=True)
class Site:
    """One instruction.

    ``form``: atom, sink (an atom without a result) or red; ``space``: that of the instruction, "" for generic addresses, which
    then name ``place``: global, shared or local; ``order``: qualifiers in front; ``hint``: with a policy.
    """

    form: str
    space: str
    place: str
    order: str = ""
    hint: bool = False

    def mnemonic(self, operation: Operation) -> str:
        """The instruction's name and qualifiers."""
        name = "red" if self.form == "red" else "atom"
        words = [name, self.order, self.space, operation.text, "L2::cache_hint" if self.hint else ""]
        return ".".join(filter(None, [*words, f"v{operation.vec}" if operation.vec > 1 else "", operation.type]))


def is_history(first: Hashable, last: Hashable, steps: Sequence[tuple[Hashable, Hashable]]) -> bool:
    """Whether the steps, each from a value to the next, make one path from ``first`` to ``last``."""
    balance: Counter[Hashable] = Counter()
    beyond = defaultdict(set)
    for a, b in steps:
        balance[a] += 1
        balance[b] -= 1
        beyond[a].add(b)
    balance[first] -= 1
    balance[last] += 1
    if any(balance.values()):
        return False
    reached, todo = {first}, [first]
    while todo:
        for b in beyond[todo.pop()] - reached:
            reached.add(b)
            todo.append(b)
    return all(a in reached for a, _ in steps)


# -- the kernel ----------------------------------------------------------------------------------------------------


def _registers(operation: Operation, name: str) -> list[str]:
    """The registers of an operand: elements of a vector."""
    each = bits_of(operation.type) // 8
    kind = "q" if each == 16 else {"f32": "f", "f64": "g"}.get(operation.type, _REGISTER[each])
    return [f"%{kind}{name}{k}" for k in range(operation.vec)]


def _braced(registers: Sequence[str]) -> str:
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


def _moves(operation: Operation, name: str, access: str, address: str) -> str:
    """Loads (``ld.SPACE``) or stores of an operand's registers, one after the other."""
    each = bits_of(operation.type) // 8
    out = ""
    for k, register in enumerate(_registers(operation, name)):
        at = f"[{address}+{each * k}]"
        if each < 16:
            out += (
                f"  {access}.b{8 * each} {register}, {at};\n"
                if access[:2] == "ld"
                else f"  {access}.b{8 * each} {at}, {register};\n"
            )
        elif access[:2] == "ld":
            out += f"  {access}.v2.b64 {{%t8, %t9}}, {at}; mov.b128 {register}, {{%t8, %t9}};\n"
        else:
            out += f"  mov.b128 {{%t8, %t9}}, {register}; {access}.v2.b64 {at}, {{%t8, %t9}};\n"
    return out


def kernel(operation: Operation, sites: Sequence[Site], sm: str, blocks: int = 1, version: str = "8.8") -> str:
    """PTX: each thread does each site's instruction once, with its operands, on the site's place.

    Parameters: the first values of the places, the operands (``CELL`` bytes each: x, y of every thread), what was found (of every
    site and thread), the last values (of every site; of every thread for local memory). The threads are those of one block, or of
    a cluster of ``blocks``, and the shared memory is that of the last.
    """
    n = len(sites)
    types = {"h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64", "q": "b128"}
    names = "".join(
        f"  .reg .{t} %{c}x<8>, %{c}y<8>, %{c}o<8>;\n" for c, t in types.items() if c != "q" or operation.type == "b128"
    )
    together = blocks == 1
    shape = "" if together else f" .explicitcluster .reqnctapercluster {blocks}, 1, 1"
    index = (
        ""
        if together
        else f" mov.u32 %u0, %ctaid.x; sub.u32 %u0, {blocks - 1}, %u0; mad.lo.u32 %i, %u0, {THREADS // blocks}, %i;"
    )
    far = (
        ""
        if together
        else f" mov.u32 %far, sh; mapa.shared::cluster.u32 %far, %far, {blocks - 1}; mapa.u64 %shared, %shared, {blocks - 1};"
    )
    barrier = "bar.sync 0;" if together else "barrier.cluster.arrive; barrier.cluster.wait;"
    text = f"""\
.version {version}
.target {sm}
.address_size 64
.visible .entry k(.param .u64 pinit, .param .u64 pin, .param .u64 pout, .param .u64 plast){shape}
{{
  .shared .align 16 .b8 sh[{CELL * n}];
  .local .align 16 .b8 lo[{CELL * n}];
  .reg .pred %first; .reg .b32 %i, %far, %u<4>; .reg .b64 %t<10>, %init, %in, %out, %last, %at, %shared, %local, %policy;
{names}
  ld.param.u64 %init, [pinit]; ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u64 %last, [plast];
  mov.u32 %i, %tid.x;{index} setp.eq.u32 %first, %i, 0; mov.u64 %policy, 0x12f0000000000000;
  mov.u64 %t0, sh; cvta.shared.u64 %shared, %t0; mov.u64 %t1, lo; cvta.local.u64 %local, %t1;{far}
  mad.wide.u32 %in, %i, {2 * CELL}, %in; mad.wide.u32 %out, %i, {CELL}, %out;
"""
    for k in range(n):
        text += f"  ld.global.v2.b64 {{%t2, %t3}}, [%init+{CELL * k}]; st.local.v2.b64 [lo+{CELL * k}], {{%t2, %t3}};\n"
        text += f"  @%first st.shared.v2.b64 [sh+{CELL * k}], {{%t2, %t3}};\n"
    text += f"  {barrier}\n" + _moves(operation, "x", "ld.global", "%in") + _moves(operation, "y", "ld.global", f"%in+{CELL}")
    for k, site in enumerate(sites):
        text += _site(operation, site, k, "sh" if together else "%far")
    text += f"  membar.gl; {barrier}\n"
    for k, site in enumerate(sites):
        if site.place == "local":
            text += _moves(operation, "o", "ld.local", f"lo+{CELL * k}")
            text += f"  mad.wide.u32 %at, %i, {CELL}, %last;\n" + _moves(
                operation, "o", "st.global", f"%at+{CELL * (THREADS * k)}"
            )
        else:
            where = f"sh+{CELL * k}" if site.place == "shared" else f"%init+{CELL * k}"
            load = "ld.shared" if site.place == "shared" else "ld.relaxed.gpu.global"
            text += _moves(
                operation, "o", load if operation.type != "b128" or site.place == "shared" else "ld.volatile.global", where
            )
            store = _moves(operation, "o", "st.global", f"%last+{CELL * (THREADS * k)}")
            text += store.replace("  st.", "  @%first st.").replace("; st.", "; @%first st.")
    return text + "  ret;\n}\n"


def _site(operation: Operation, site: Site, k: int, shared: str) -> str:
    base = {"global": "%init", "shared": "%shared", "local": "%local"}[site.place] if not site.space else "%init"
    address = f"{shared}+{CELL * k}" if site.space.startswith("shared") else f"{base}+{CELL * k}"
    found = _braced(_registers(operation, "o"))
    if site.form == "sink":
        found = "_" if operation.vec == 1 else _braced(["_"] * (operation.vec - 1) + _registers(operation, "o")[-1:])
    x, y = _braced(_registers(operation, "x")), _braced(_registers(operation, "y"))
    operands = [] if site.form == "red" else [found]
    operands += [f"[{address}]", x, *([y] if operation.op == "cas" else []), *(["%policy"] if site.hint else [])]
    text = f"  {site.mnemonic(operation)} {', '.join(operands)};\n"
    return text + (_moves(operation, "o", "st.global", f"%out+{CELL * THREADS * k}") if site.form == "atom" else "")


# -- the launch ----------------------------------------------------------------------------------------------------


def _packed(values: Iterable[int]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"".join(v.to_bytes(CELL, "little") for v in values), np.uint8).copy()


def _values(data: np.ndarray[Any, Any], size: int) -> list[int]:
    return [int.from_bytes(data[at : at + size].tobytes(), "little") for at in range(0, len(data), CELL)]


def wrong(operation: Operation, sites: Sequence[Site], image: bytes, seed: int = 7, blocks: int = 1, **launch: Any) -> list[str]:
    """Launch the kernel of a cubin; the sites whose values no order of the threads explains."""
    rng = np.random.default_rng(seed)
    first = operation.draw(rng, len(sites))
    xs, ys = operation.draw(rng, THREADS), operation.draw(rng, THREADS)
    init, operands = _packed(first), _packed(v for pair in zip(xs, ys, strict=True) for v in pair)
    out, last = np.zeros(CELL * THREADS * len(sites), np.uint8), np.zeros(CELL * THREADS * len(sites), np.uint8)
    oric.sim.load(image).launch("k", grid=(blocks,), block=(THREADS // blocks,), args=[init, operands, out, last], **launch)
    found, left = _values(out, operation.bytes), _values(last, operation.bytes)
    bad = []
    for k, site in enumerate(sites):
        rows = slice(THREADS * k, THREADS * (k + 1))
        good = (_all_alone if site.place == "local" else _together)(operation, site, first[k], xs, ys, found[rows], left[rows])
        if not good:
            bad.append(f"{site.mnemonic(operation)} of {site.place} memory")
    return bad


def _all_alone(operation: Operation, site: Site, first: int, xs: Any, ys: Any, found: Any, left: Any) -> bool:
    """Each thread had a place of its own."""
    for x, y, old, new in zip(xs, ys, found, left, strict=True):
        parts = [operation.elements(v) for v in (first, x, y, new)]
        if [operation.step(a, b, c) for a, b, c, _ in zip(*parts, strict=True)] != list(parts[3]):
            return False
        if site.form == "atom" and old != first:
            return False
    return True


def _together(operation: Operation, site: Site, first: int, xs: Any, ys: Any, found: Any, left: Any) -> bool:
    columns = [list(zip(*map(operation.elements, values), strict=True)) for values in (xs, ys, found)]
    ends = zip(operation.elements(first), operation.elements(left[0]), strict=True)
    for (begin, end), x, y, old in zip(ends, *columns, strict=True):
        if site.form == "atom":
            steps = [(o, operation.step(o, a, b)) for o, a, b in zip(old, x, y, strict=True)]
            if not is_history(begin, end, steps):
                return False
        elif not _may_end(operation, begin, end, x, y):
            return False
    return True


def _may_end(operation: Operation, begin: int, end: int, x: Sequence[int], y: Sequence[int]) -> bool:
    """Whether a value can be the last: of operations whose order matters, that some order of the threads leaves it."""
    if operation.op == "exch":
        return end in x
    if operation.op == "cas":
        values = {begin}
        for _ in x:
            values |= {b for a, b in zip(x, y, strict=True) if a in values}
        return end in values
    value = begin
    for a in x:
        value = operation.step(value, a)
    return value == end

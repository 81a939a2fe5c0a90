"""Random kernels with more than :class:`oric.fuzz.programs.Program` has, for the command: warp operations of some lanes within
divergent code, local memory, atomics with results and in shared memory, reductions at barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from .meaning import WIDTH, signed
from .programs import ATOM_PLACE, OUT_WORDS, SCRATCH, THREADS, Program, Statement

LOCAL_SLOTS: Final = 8  # of 8 bytes, a thread's own
_LANES: Final = 32
MASKS: Final = 3  # depth of regions with a mask
_WORD: Final = 0xFFFFFFFF
_REDUX: Final[dict[str, Callable[[int, int], int]]] = {
    "add.u32": lambda a, b: a + b & _WORD,
    "add.s32": lambda a, b: a + b & _WORD,
    "min.u32": min,
    "max.u32": max,
    "min.s32": lambda a, b: a if signed(a, 32) < signed(b, 32) else b,
    "max.s32": lambda a, b: a if signed(a, 32) > signed(b, 32) else b,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
}
ATOMS: Final[dict[str, Callable[[int, int, int], int]]] = {  # old, operand, second operand -> new
    "add.u32": lambda old, b, c: old + b & _WORD,
    "exch.b32": lambda old, b, c: b,
    "min.s32": lambda old, b, c: old if signed(old, 32) < signed(b, 32) else b,
    "max.u32": lambda old, b, c: max(old, b),
    "and.b32": lambda old, b, c: old & b,
    "inc.u32": lambda old, b, c: 0 if old >= b else old + 1,
    "dec.u32": lambda old, b, c: b if old == 0 or old > b else old - 1,
    "cas.b32": lambda old, b, c: c if old == b else old,
    "add.u64": lambda old, b, c: old + b & (1 << 64) - 1,
    "cas.b64": lambda old, b, c: c if old == b else old,
    "xor.b64": lambda old, b, c: old ^ b,
}


class WideProgram(Program):
    """A random kernel; ``reduces``: with redux.sync (sm_80 and up). The same arguments give the same program."""

    def __init__(self, seed: int, size: int = 40, reduces: bool = True) -> None:
        self.reduces = reduces
        Program.__init__(self, seed, size)

    # -- making ---------------------------------------------------------------------------------------------------

    def statement(self, depth: int) -> Statement:
        """One statement that a thread can execute alone."""
        kind = self.rng.random()
        if kind < 0.06:
            c = self.rng.choice("hrdr")
            return ("local", self.rng.random() < 0.5, c, self.register(c), self.register("r"))
        if kind < 0.10:
            what = self.rng.choice(list(ATOMS))
            c = "d" if what.endswith("64") else "r"
            return ("own", what, *(self.register(c) for _ in range(3)), self.rng.randrange(8))
        if kind < 0.13:
            return ("shared_atomic", self.rng.choice(list(ATOM_PLACE)), self.register("r"))
        return Program.statement(self, depth)

    def collective(self) -> Statement:
        """A statement that all threads of a block reach together."""
        kind = self.rng.random()
        if kind < 0.5:
            return ("masked", self.register("p"), self.rng.random() < 0.5, self.masked_block(MASKS - 1))
        if kind < 0.6:
            return ("barrier", self.rng.choice(["popc.u32", "and.pred", "or.pred"]), self.register("r"), self.register("p"))
        return Program.collective(self)

    def masked_block(self, depth: int) -> list[Statement]:
        """Statements of lanes that have a mask."""
        return [self.masked_statement(depth) for _ in range(self.rng.randrange(1, 6))]

    def masked_statement(self, depth: int) -> Statement:
        kind = self.rng.random()
        if depth and kind < 0.15:
            return ("masked", self.register("p"), self.rng.random() < 0.5, self.masked_block(depth - 1))
        if kind < 0.30:
            return ("some_vote", self.rng.choice(["any", "all", "uni"]), self.register("p"), self.register("p"))
        if kind < 0.40:
            return ("some_ballot", self.register("r"), self.register("p"))
        if kind < 0.50:
            c = self.rng.choice("rd")
            return ("some_match", self.register("r"), c, self.register(c))
        if kind < 0.60:
            return ("some_first", self.register("r"), self.register("r"))
        if self.reduces and kind < 0.70:
            return ("some_reduce", self.rng.choice(list(_REDUX)), self.register("r"), self.register("r"))
        if kind < 0.74:
            return ("some_wait",)
        return self.statement(1)

    # -- PTX ------------------------------------------------------------------------------------------------------

    def text(self, target: str) -> str:
        """The kernel as PTX."""
        self.mask = 0
        return Program.text(self, target)

    def more_declarations(self) -> list[str]:
        """Masks, local memory, atomic words in shared memory."""
        return [
            f"\t.reg .b32 %m<{MASKS + 1}>;",
            "\t.reg .b32 %v<8>;",
            "\t.reg .b64 %w<4>;",
            f"\t.local .align 8 .b8 slots[{8 * LOCAL_SLOTS}];",
            f"\t.shared .align 4 .b8 sums[{4 * len(ATOM_PLACE)}];",
        ]

    def prologue(self) -> Iterator[str]:
        """Local memory and the atomic words begin as zeros."""
        yield from Program.prologue(self)
        yield from (f"\tst.local.u64 [slots+{8 * k}], 0;" for k in range(LOCAL_SLOTS))
        yield "\tsetp.ne.u32 %q1, %t0, 0;"
        yield "\t@%q1 bra $begun;"
        yield from (f"\tst.shared.u32 [sums+{4 * k}], 0;" for k in range(len(ATOM_PLACE)))
        yield "$begun:"
        yield "\tbar.sync 0;"

    def epilogue(self) -> Iterator[str]:
        """The atomic words of shared memory go to those of global memory, by one thread."""
        yield from Program.epilogue(self)
        yield "\tbar.sync 0;"
        yield "\tsetp.ne.u32 %q1, %t0, 0;"
        yield "\t@%q1 bra $ended;"
        for what, place in ATOM_PLACE.items():
            yield f"\tld.shared.u32 %v0, [sums+{4 * place}];"
            yield f"\tred.global.{what} [%a2+{4 * place}], %v0;"
        yield "$ended:"

    def emit_local(self, stores: bool, c: str, register: str, index: str, depth: int) -> Iterator[str]:
        yield f"and.b32 %v0, %{index}, {LOCAL_SLOTS - 1};"
        yield "mov.u32 %v1, slots;"
        yield "mad.lo.u32 %v1, %v0, 8, %v1;"
        bits = WIDTH[c]
        yield f"st.local.u{bits} [%v1], %{register};" if stores else f"ld.local.u{bits} %{register}, [%v1];"

    def emit_own(self, what: str, result: str, a: str, b: str, slot: int, depth: int) -> Iterator[str]:
        second = f", %{b}" if what.startswith("cas") else ""
        yield f"atom.global.{what} %{result}, [%a1+{8 * (SCRATCH + slot)}], %{a}{second};"

    def emit_shared_atomic(self, what: str, source: str, depth: int) -> Iterator[str]:
        yield f"red.shared.{what} [sums+{4 * ATOM_PLACE[what]}], %{source};"

    def emit_barrier(self, what: str, result: str, p: str, depth: int) -> Iterator[str]:
        if what.startswith("popc"):
            yield f"bar.red.{what} %{result}, 1, %{p};"
        else:
            yield f"bar.red.{what} %q2, 2, %{p};"
            yield f"selp.u32 %{result}, 1, 0, %q2;"

    def emit_masked(self, p: str, negated: bool, body: list[Statement], depth: int) -> Iterator[str]:
        end = self.label()
        outer = f"%m{self.mask}" if self.mask else "0xffffffff"
        self.mask += 1
        yield f"vote.sync.ballot.b32 %m{self.mask}, {'!' if negated else ''}%{p}, {outer};"
        yield f"@{'' if negated else '!'}%{p} bra {end};"
        for statement in body:
            yield from self.emit(statement, depth)
        yield f"{end}:"
        self.mask -= 1
        if self.mask:
            yield f"bar.warp.sync %m{self.mask};"

    def emit_some_vote(self, mode: str, result: str, p: str, depth: int) -> Iterator[str]:
        yield f"vote.sync.{mode}.pred %{result}, %{p}, %m{self.mask};"

    def emit_some_ballot(self, result: str, p: str, depth: int) -> Iterator[str]:
        yield f"vote.sync.ballot.b32 %{result}, %{p}, %m{self.mask};"

    def emit_some_match(self, result: str, c: str, source: str, depth: int) -> Iterator[str]:
        yield f"match.any.sync.b{WIDTH[c]} %{result}, %{source}, %m{self.mask};"

    def emit_some_first(self, result: str, source: str, depth: int) -> Iterator[str]:
        yield f"brev.b32 %v2, %m{self.mask};"
        yield "clz.b32 %v2, %v2;"
        yield f"shfl.sync.idx.b32 %{result}, %{source}, %v2, 31, %m{self.mask};"

    def emit_some_reduce(self, what: str, result: str, source: str, depth: int) -> Iterator[str]:
        yield f"redux.sync.{what} %{result}, %{source}, %m{self.mask};"

    def emit_some_wait(self, depth: int) -> Iterator[str]:
        yield f"bar.warp.sync %m{self.mask};"

    # -- meaning --------------------------------------------------------------------------------------------------

    def run(self, data: Any) -> Any:
        """What the kernel computes, as :meth:`Program.run` gives it."""
        self.slots = [[bytearray(8) for _ in range(LOCAL_SLOTS)] for _ in range(THREADS)]
        self.sums = dict.fromkeys(ATOM_PLACE, 0)
        return Program.run(self, data)

    def finish(self) -> None:
        """The sums of shared memory go to global memory."""
        for what, total in self.sums.items():
            self.do_atomic({"v0": total}, 0, what, "v0")

    def do_local(self, v: dict[str, Any], t: int, stores: bool, c: str, register: str, index: str) -> None:
        slot = self.slots[t][v[index] % LOCAL_SLOTS]
        size = WIDTH[c] // 8
        if stores:
            slot[:size] = int(v[register]).to_bytes(size, "little")
        else:
            v[register] = int.from_bytes(slot[:size], "little")

    def do_own(self, v: dict[str, Any], t: int, what: str, result: str, a: str, b: str, slot: int) -> None:
        size = 8 if what.endswith("64") else 4
        line = self.out[t, SCRATCH + slot : SCRATCH + slot + 1].view("u1")
        old = int.from_bytes(line[:size].tobytes(), "little")
        line[:size] = list(ATOMS[what](old, v[a], v[b]).to_bytes(size, "little"))
        v[result] = old

    def do_shared_atomic(self, v: dict[str, Any], t: int, what: str, source: str) -> None:
        keep, self.atoms = self.atoms, [self.sums[name] for name in ATOM_PLACE]
        self.do_atomic(v, t, what, source)
        self.sums[what] = self.atoms[ATOM_PLACE[what]] & _WORD
        self.atoms = keep

    def together_barrier(self, threads: list[dict[str, Any]], what: str, result: str, p: str) -> None:
        votes = [bool(v[p]) for v in threads]
        value = sum(votes) if what.startswith("popc") else int(all(votes) if what.startswith("and") else any(votes))
        for v in threads:
            v[result] = value

    def together_masked(self, threads: list[dict[str, Any]], p: str, negated: bool, body: list[Statement]) -> None:
        for first in range(0, THREADS, _LANES):
            self.lanes_masked(threads, list(range(first, first + _LANES)), p, negated, body)

    def lanes_masked(self, threads: list[dict[str, Any]], lanes: list[int], p: str, negated: bool, body: list[Statement]) -> None:
        self.lanes_steps(threads, [t for t in lanes if bool(threads[t][p]) != negated], body)

    def lanes_steps(self, threads: list[dict[str, Any]], lanes: list[int], body: list[Statement]) -> None:
        """Statements of lanes that share a mask; of none, nothing."""
        for statement in body if lanes else []:
            region = getattr(self, "lanes_" + statement[0], None)
            if region:
                region(threads, lanes, *statement[1:])
            elif statement[0].startswith("some_"):
                getattr(self, statement[0])(threads, lanes, *statement[1:])
            else:
                for t in lanes:
                    self.step(statement, threads[t], t)

    @staticmethod
    def some_vote(threads: list[dict[str, Any]], lanes: list[int], mode: str, result: str, p: str) -> None:
        votes = [bool(threads[t][p]) for t in lanes]
        value = {"any": any(votes), "all": all(votes), "uni": len(set(votes)) == 1}[mode]
        for t in lanes:
            threads[t][result] = int(value)

    @staticmethod
    def some_ballot(threads: list[dict[str, Any]], lanes: list[int], result: str, p: str) -> None:
        value = sum(1 << t % _LANES for t in lanes if threads[t][p])
        for t in lanes:
            threads[t][result] = value

    @staticmethod
    def some_match(threads: list[dict[str, Any]], lanes: list[int], result: str, _c: str, source: str) -> None:
        values = {t: threads[t][source] for t in lanes}
        for t in lanes:
            threads[t][result] = sum(1 << u % _LANES for u in lanes if values[u] == values[t])

    @staticmethod
    def some_first(threads: list[dict[str, Any]], lanes: list[int], result: str, source: str) -> None:
        value = threads[lanes[0]][source]
        for t in lanes:
            threads[t][result] = value

    @staticmethod
    def some_reduce(threads: list[dict[str, Any]], lanes: list[int], what: str, result: str, source: str) -> None:
        value = threads[lanes[0]][source]
        for t in lanes[1:]:
            value = _REDUX[what](value, threads[t][source])
        for t in lanes:
            threads[t][result] = value

    def some_wait(self, threads: list[dict[str, Any]], lanes: list[int]) -> None:
        """Nothing to see."""


assert OUT_WORDS == SCRATCH + 8

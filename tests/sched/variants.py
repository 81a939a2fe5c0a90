"""The kernels of allocation and scheduling compiled with other numbers, beside those of the compiler.

A variant is the same C with another generated header or table; only what the change concerns is compiled again. It works on the
functions (``oric_fn``) of the compiler's own module, since their layout is the same.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from pathlib import Path
from random import Random
from typing import Any

from oric_tables import knobs
from oric_tables._native import ffi, lib
from oricgen import native

from tests.regalloc.programs import Access, Insn, Program
from tests.sched.model import FIRST, KINDS, NAMES, ROOM, PhysicalProgram, class_flags, tables

ROOT = Path(__file__).resolve().parents[2]
FLOORS = (
    "alloc/clique",
    "alloc/apart",
    "alloc/interference",
    "alloc/regalloc",
    "alloc/spans",
    "alloc/spill",
    "sched/",
    "function/backend",
    "function/liveness",
    "support/bitvec",
    "tables/knobs",
    "tables/latency",
    "tables/registers",
)
NO_LIMIT = 0x7FFFFFFF
ISA = "sm_90"


class Workshop:
    """Objects of the kernels in ``folder``, and variants made from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found = {name: path for name, path in native.files(ROOT).items() if name.endswith(".c") and name.startswith(FLOORS)}
        self.objects = {name: self._compile(name, path, folder / "plain", ()) for name, path in self.found.items()}
        self.plain = self._link("plain", self.objects)

    def with_knob(self, slot: int, value: int) -> Variant:
        """With another value of a knob, which lies at ``slot`` among the numbers of all."""
        numbers = list(knobs.NUMBERS)
        numbers[slot] = value
        return Variant(self.plain.path, ffi.new("int64_t[]", numbers))

    def with_source(self, variant: str, name: str, text: str) -> Variant:
        """With ``text`` as the source of that name."""
        place = self.folder / variant
        source = place / name
        source.parent.mkdir(parents=True)
        source.write_text(text, encoding="utf-8")
        return self._link(variant, self.objects | {name: self._compile(name, source, place, ())})

    def _compile(self, name: str, source: Path, place: Path, include: tuple[str, ...]) -> Path:
        place.mkdir(exist_ok=True)
        made = place / f"{name.replace('/', '.')}.o"
        paths = [f"-I{ROOT / folder}" for folder in native.FOLDERS]
        self._cc("-std=c11", "-O1", "-fPIC", *include, *paths, "-c", str(source), "-o", str(made))
        return made

    def _link(self, variant: str, objects: dict[str, Path]) -> Variant:
        made = self.folder / f"{variant}.so"
        self._cc("-shared", "-Wl,-Bsymbolic", "-o", str(made), *map(str, objects.values()))
        return Variant(made)

    @staticmethod
    def _cc(*words: str) -> None:
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), *words], check=True)


class Variant:
    """What the kernels of one library make of functions."""

    def __init__(self, path: Path, numbers: Any = None) -> None:
        self.path = path
        self.numbers = numbers
        self.lib = ctypes.CDLL(str(path))
        self.lib.oric_list_schedule.restype = self.lib.oric_assign_control.restype = ctypes.c_int64

    def _call(self, name: str, *arguments: Any) -> int:
        words = [ctypes.c_void_p(int(ffi.cast("uintptr_t", a))) if isinstance(a, ffi.CData) else a for a in arguments]
        done: int = getattr(self.lib, name)(*words)
        assert done >= 0
        return done

    def _built(self, program: Program | PhysicalProgram) -> Any:
        fn = program.build()
        if self.numbers is not None:
            fn.knobs = self.numbers
        return fn

    def controls(self, program: PhysicalProgram) -> list[tuple[int, int]]:
        """Control bits and NOPs of each instruction, in the order in which they stand."""
        fn = self._built(program)
        self._call("oric_assign_control", fn)
        return [(fn.nodes[i].control, fn.nodes[i].pads) for i in range(fn.insn_count)]

    def order(self, program: Program, limits: list[int]) -> list[int]:
        """The order of the instructions after list scheduling."""
        fn = self._built(program)
        self._call("oric_liveness", fn)
        self._call("oric_list_schedule", fn, ffi.new("oric_list_options *", {"limit": limits}))
        return [fn.nodes[i].index for i in range(fn.insn_count)]

    def lean_order(self, program: Program, limit: int) -> list[int]:
        """The order of the instructions when few registers are to be live."""
        fn = self._built(program)
        self._call("oric_liveness", fn)
        self._call("oric_lean_order", fn, ctypes.c_int32(limit), None, None)
        return [fn.nodes[i].index for i in range(fn.insn_count)]

    def edges(self, program: PhysicalProgram) -> set[tuple[int, int, int]]:
        """The dependence graph of the first block: from, to, expected cycles."""
        fn = self._built(program)
        count = self._call("oric_dependences", fn, ctypes.c_int32(0), None, ctypes.c_int32(0))
        out = ffi.new("oric_edge[]", count + 1)
        self._call("oric_dependences", fn, ctypes.c_int32(0), out, ctypes.c_int32(count))
        return {(getattr(out[i], "from"), out[i].to, out[i].latency) for i in range(count)}

    def registers(self, program: Program, spread: int = 1) -> list[int]:
        """The register of each unit."""
        fn = self._built(program)
        self._call("oric_liveness", fn)
        assigned, leader = (ffi.new("int32_t[]", fn.unit_count + 1) for _ in range(2))
        options = ffi.new("oric_regalloc_options *", {
            "limit": [64] * 5, "hopeless": [64] * 5, "threshold": 50, "coalesce": 1, "spread": spread, "rounds": 1,
            "roomy": [6] * 5, "spare": [3] * 5,
        })  # fmt: skip
        self._call("oric_regalloc", fn, options, assigned, leader, ffi.new("oric_regalloc_result *"))
        return list(assigned[0 : fn.unit_count])


def _accesses(random: Random, name: str, first: dict[int, int], room: dict[int, int]) -> list[Access]:
    """Results and sources of a class, on units chosen by chance."""
    t = tables()
    columns = t.classes[name][ISA]
    writes, reads = KINDS[name]
    out = []
    for file in writes[: random.choice((1, 1, 2))]:
        pair = columns.results.get(NAMES[file])
        row = t.rows.index(f"{NAMES[file]} {pair[0]}") if pair else lib.ORIC_NO_ROW
        out.append(Access(first[file] + random.randrange(room[file]), 1, True, row))
    for file in random.choices(reads, k=2) if reads else ():
        address = bool(columns.does)
        group = lib.ORIC_G_MEM_ADDR if address else lib.ORIC_G_ALU
        out.append(Access(first[file] + random.randrange(room[file]), 1, False, group, address=address))
    return out


def _insn(random: Random, names: tuple[str, ...], first: dict[int, int], room: dict[int, int]) -> Insn:
    name = random.choice(names)
    columns = tables().classes[name][ISA]
    space = sum(1 << i for i, s in enumerate(("global", "shared", "local")) if s in columns.spaces)
    insn = Insn(_accesses(random, name, first, room), flags=class_flags(ISA, name), space=space)
    insn.klass = list(tables().classes).index(name)
    insn.offset, insn.bytes = 4 * random.randrange(64), 4
    return insn


def physical(seed: int, names: tuple[str, ...] = tuple(sorted(KINDS)), size: int = 40) -> PhysicalProgram:
    """A block of these classes on hardware registers, and one behind it that it falls into."""
    random = Random(seed)
    blocks = [[_insn(random, names, FIRST, ROOM) for _ in range(n)] for n in (size, 4)]
    return PhysicalProgram([], blocks, [[1], []], isa=tables().isas.index(ISA))


def virtual(seed: int, size: int = 60) -> Program:
    """A block on virtual registers: 16 of R, 4 of P."""
    random = Random(seed)
    room = {0: 16, 1: 4, 2: 1, 3: 1, 4: 1}
    first, registers = {}, []
    for file, count in room.items():
        first[file] = len(registers)
        registers += [(file, 1)] * count
    names = ("alu", "conversion", "load_global", "imad", "double", "vote", "shuffle")
    return Program(registers, [[_insn(random, names, first, room) for _ in range(size)]], [[]], isa=tables().isas.index(ISA))


def short_lived(seed: int, size: int = 60) -> Program:
    """Values of R that are read for the last time a few instructions behind their definition."""
    random = Random(seed)
    klass = list(tables().classes).index("alu")
    code = []
    for unit in range(size):
        sources = {max(0, unit - random.randint(1, 6)) for _ in range(2)}
        code.append(Insn([Access(unit, 1, True), *(Access(u) for u in sorted(sources - {unit}))], klass=klass))
    return Program([(0, 1)] * size, [code], [[]], isa=tables().isas.index(ISA))


def interleaved_sums(seed: int, size: int = 12) -> Program:
    """Values of four registers of R, some of which are read and then free when one is added to another, which ends there."""
    random = Random(seed)
    code, registers = list[Insn](), 0
    for _ in range(size):
        free, added, total = (4 * (registers + n) for n in range(3))
        made = [Insn([Access(free, 4, True)]), Insn([Access(added, 4, True)])]
        random.shuffle(made)
        code += [*made, Insn([Access(free, 4)]), Insn([Access(total, 4, True), Access(added, 4)]), Insn([Access(total, 4)])]
        registers += 3
    return Program([(0, 4)] * registers, [code], [[]], isa=tables().isas.index(ISA))


def stored_soon(seed: int, size: int = 60) -> Program:
    """Values of R, each of which a store reads a few instructions behind its definition, for the last time."""
    random = Random(seed)
    alu, store = (list(tables().classes).index(name) for name in ("alu", "store_global"))
    code, stores = [], list[tuple[int, Insn]]()
    for unit in range(size):
        code.append(Insn([Access(unit, 1, True)], klass=alu))
        stores.append((unit + random.randint(1, 6), Insn([Access(unit)], flags=class_flags(ISA, "store_global"), klass=store)))
        code.extend(insn for place, insn in stores if place == unit)
    code.extend(insn for place, insn in stores if place >= size)
    return Program([(0, 1)] * size, [code], [[]], isa=tables().isas.index(ISA))

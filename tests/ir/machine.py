"""One instruction at a time in the simulator, on random operands: what the values of operations are compared with.

An instance is an operation with chosen modifiers, operands and marks; :func:`random_instance` draws one that the encoder takes.
All instances of a launch stand in one program: each loads its inputs (eight words a thread: sources in R8-R13, predicates P2-P6
in the bits of the last word), executes, and stores its results (R16, R17, P0, P1). On the uniform data path every thread has the
inputs of the first.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from oric.sass.code import Code
from oric_tables import numbers, ops
from oric_tables._native import ffi, lib

from tests.sim.program import BY_NAME, Device, word

Array = np.ndarray[Any, Any]
PLACES = numbers.INSN_OPERANDS
THREADS = 32
_REGISTERS = ("gpr", "ugpr")
_PREDICATES = ("pred", "upred")
_UNIFORM = ("ugpr", "upred")
_SINGLES = (
    0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 1, 0x80000001, 0x007FFFFF,
    0x00800000, 0x7F7FFFFF, 0x4F000000, 0xCF000000, 0x3F000000, 0x33800000, 0x4B7FFFFF, 0x7FFFFFFF,
)  # fmt: skip
_HALVES = (0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0x3F80, 0x7F80, 0x7FF7)
_INTEGERS = (
    0, 1, 2, 3, 31, 32, 33, 63, 64, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFF, 0x80, 0x7F, 0xFFFF, 0x7FFF,
)  # fmt: skip
_UPPER = (
    0, 0x80000000, 0x3FF00000, 0xBFF00000, 0x7FF00000, 0xFFF00000, 0x7FF80000, 0x000FFFFF, 0x00100000, 0x7FEFFFFF, 0x43E00000,
    0xC3E00000, 0x41DFFFFF,
)  # fmt: skip


@dataclass
class Instance:
    """An operation as it is encoded, and how :c:func:`oric_value` sees its operands."""

    operation: ops.Op
    mods: int
    texts: list[Any]
    marks: list[int]
    registers: dict[int, int]  # place of a source in registers -> first of its registers
    predicates: dict[int, int]  # place of a source predicate -> its number
    constants: dict[int, int]  # place -> immediate, or the value of PT and RZ
    results: dict[int, tuple[str, int]]  # place -> R and words, or P and number
    code: bytes = b""
    uniform: bool = field(default=False)

    def describe(self) -> str:
        """For messages."""
        mods = ", ".join(f"{name}={value}" for name, value in self.operation.unpack(self.mods).items())
        return f"{self.operation.name} {' '.join(map(str, self.texts))} ({mods})"

    def inputs(self, rows: Array) -> Array:
        """What ``oric_value`` gets: a row of places for each row of input words."""
        out = np.zeros((len(rows), PLACES), np.uint64)
        for place, first in self.registers.items():
            out[:, place] = rows[:, first - 8]
            if self.operation.regs(place, self.mods) == 2:
                out[:, place] |= rows[:, first - 7].astype(np.uint64) << np.uint64(32)
        for place, number in self.predicates.items():
            out[:, place] = rows[:, 7] >> number & 1
        for place, value in self.constants.items():
            out[:, place] = value
        return out

    def value(self, rows: Array) -> Array | None:
        """The results by place for each row; None when the operation has no value so."""
        out = np.zeros((len(rows), PLACES), np.uint64)
        known = lib.oric_value(
            self.operation.number, self.mods, ffi.new("int64_t[]", self.marks), len(rows),
            ffi.cast("const int64_t *", ffi.from_buffer(given := self.inputs(rows))), ffi.cast("int64_t *", ffi.from_buffer(out)),
        )  # fmt: skip
        del given
        return out if known else None


def random_word(rng: random.Random) -> int:
    """A word: special as an integer, a float, two halves, the upper half of a double; or any."""
    kind = rng.randrange(8)
    if kind < 4:
        return rng.choice((_SINGLES, _INTEGERS, _UPPER, _INTEGERS)[kind])
    if kind == 4:
        return rng.choice(_HALVES) | rng.choice(_HALVES) << 16
    if kind == 5:
        return rng.randrange(256)
    return rng.getrandbits(32)


def random_rows(rng: random.Random, count: int) -> Array:
    """Input words. Now and then two sources are equal."""
    rows = np.array([[random_word(rng) for _ in range(8)] for _ in range(count)], np.uint32)
    for row in rows:
        if rng.random() < 0.2:
            row[2:4] = row[0:2]
    return rows


def random_instance(rng: random.Random, isa: int, operation: ops.Op, tries: int = 60) -> Instance | None:
    """An instance that the encoder of an ISA takes; None when none was found."""
    for _ in range(tries):
        mods = 0
        for mod in operation.mods.values():
            if rng.random() < 0.7:
                code = rng.choice(list(mod.values.values())) if mod.values else rng.getrandbits(mod.width)
                mods |= (code & mod.mask) << mod.shift
        instance = _draw(rng, operation, mods)
        try:
            instance.code = word(isa, operation.name, *instance.texts, **operation.unpack(mods))
        except ValueError:
            continue
        if lib.oric_two_signs(Code(isa, instance.code).insns) < 0:  # the hardware does not have the others
            return instance
    return None


def _draw(rng: random.Random, operation: ops.Op, mods: int) -> Instance:
    made = Instance(operation, mods, [], [0] * PLACES, {}, {}, {}, {})
    next_source, next_predicate, written = 8, 2, 0
    immediate = rng.random() < 0.25
    left_out = rng.choice((0.1, 0.5, 1.0))  # of the operands that may be
    for place, operand in enumerate(operation.operands):
        file = {"gpr": "R", "ugpr": "UR", "pred": "P", "upred": "UP"}.get(operand.kind)
        made.uniform |= operand.kind in _UNIFORM
        if file is None or (operand.default is not None and rng.random() < left_out):
            made.texts.append(None)
            made.marks[place] = numbers.F_ABSENT
        elif operand.writes and operand.kind in _PREDICATES:
            made.texts.append(f"{file}{written}")
            made.results[place] = "P", written
            written += 1
        elif operand.writes:
            made.texts.append(f"{file}16")
            made.results[place] = "R", operation.regs(place, mods)
        elif operand.kind in _PREDICATES:
            negated = rng.random() < 0.4
            always = rng.random() < 0.15
            made.texts.append(f"{'!' * negated}{file}{'T' if always else next_predicate}")
            made.marks[place] = numbers.F_NEG * negated
            if always and operand.default is not None and operand.default[2] == negated:
                made.marks[place] = numbers.F_ABSENT  # said or left out, it is the same
            elif always:
                made.constants[place] = 1
            else:
                made.predicates[place] = next_predicate
                next_predicate += 1
        elif immediate and place and rng.random() < 0.6:
            immediate = False
            value = random_word(rng)
            value -= (value >> 31 << 32) * rng.randrange(2)
            made.texts.append(value)
            made.constants[place] = value & (1 << 64) - 1
            made.marks[place] = numbers.F_IMM
        else:
            flags = rng.choice((0, 0, 0, numbers.F_NEG, numbers.F_ABS, numbers.F_INV, numbers.F_NEG | numbers.F_ABS))
            zero = rng.random() < 0.1
            if file == "R" and rng.random() < 0.05:
                file, made.uniform = "UR", True
            name = f"{file}{'Z' if zero else next_source}"
            name = f"|{name}|" if flags & numbers.F_ABS else name
            sign = "-" if flags & numbers.F_NEG else "~" if flags & numbers.F_INV else ""
            made.texts.append(sign + name)
            made.marks[place] = flags
            if zero:
                made.constants[place] = 0
            else:
                made.registers[place] = next_source
                next_source += 2
    return made


def execute(isa: int, instances: list[Instance], rows: list[Array]) -> list[Array]:
    """Run instances; for each its input rows (one a thread), and R16, R17, predicates after it."""
    first = ops.ISAS[isa] == "sm_75"  # without descriptors, and all its plain accesses are called .SYS

    def access(name: str, *operands: Any) -> bytes:
        mods = {"order": "SYS"} if first else {}
        return word(isa, name, *operands, *([] if first else ["UR4"]), size="128", **mods)

    code = [
        word(isa, "S2R", "R0", "SR33"),
        word(isa, "UMOV", "UR4", 0),
        word(isa, "UMOV", "UR5", 0),
        word(isa, "MOV", "R6", 32),
        word(isa, "LDC", "R2", "RZ", "c[0][0]", 0, size="64"),
        word(isa, "LDC", "R4", "RZ", "c[0][0]", 8, size="64"),
        word(isa, "IMAD.WIDE", "R2", "R0", "R6", "R2", sign="U32"),
        word(isa, "IMAD.WIDE", "R4", "R0", "R6", "R4", sign="U32"),
    ]
    to_uniform = [word(isa, "R2UR", f"UR{k}", f"R{k}") for k in range(8, 16)] + [word(isa, "UR2UP", "UR15", 0x7F)]
    from_uniform = [
        word(isa, "UP2UR", "UR18", "URZ", 0x7F),
        *(word(isa, "MOV", f"R{k}", f"UR{k}") for k in range(16, 19)),
    ]
    mixed = word(isa, "R2P", "R15", 0x7F), word(isa, "P2R", "R18", "RZ", 0x7F)
    clear = [word(isa, "MOV", f"R{k}", "RZ") for k in range(16, 20)]
    size = THREADS * 32
    for at, instance in enumerate(instances):
        code += [access("LDG", "R8", "R2", at * size), access("LDG", "R12", "R2", at * size + 16), mixed[0], *clear]
        if instance.uniform:
            code += [*to_uniform, instance.code]
            kinds = {instance.operation.operands[place].kind for place in instance.results}
            after = from_uniform if kinds <= set(_UNIFORM) else [mixed[1]]
            code += after
        else:
            code += [instance.code, mixed[1]]
        code.append(access("STG", "R4", at * size, "R16"))
    code.append(word(isa, "EXIT"))
    device = Device(isa, b"".join(code))
    data = np.stack(rows)
    source, result = device.array(data), device.array(np.zeros_like(data))
    fault = device.launch(THREADS, source.to_bytes(8, "little") + result.to_bytes(8, "little"), steps=10**7)
    if fault is not None:
        raise AssertionError(f"fault {fault.code}: {ffi.string(fault.detail).decode()} at {fault.pc:#x}")
    return list(device.read(result, data))


def differences(instance: Instance, rows: Array, left: Array) -> list[str]:
    """Where the value of an instance is not what the machine left, as messages."""
    value = instance.value(rows)
    if value is None:
        return [f"{instance.describe()}: has no value, and the machine executes it"]
    out = []
    for place, (file, number) in instance.results.items():
        if file == "P":
            machine = left[:, 2] >> number & 1
        else:
            machine = left[:, 0].astype(np.uint64)
            if number == 2:
                machine |= left[:, 1].astype(np.uint64) << np.uint64(32)
        for thread in np.nonzero(machine != value[:, place])[0][:1]:
            words = " ".join(f"{item:#x}" for item in rows[thread].tolist())
            name = instance.operation.operands[place].name
            out.append(
                f"{instance.describe()}: {name} = {value[thread, place]:#x}, the machine has {machine[thread]:#x}; inputs {words}"
            )
    return out


__all__ = ["BY_NAME", "Instance", "differences", "execute", "random_instance", "random_rows", "random_word"]

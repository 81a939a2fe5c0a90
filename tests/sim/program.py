"""Small programs from machine words, without a compiler: an assembler of operands, and a frame that feeds operations.

`run_operation` executes instructions for many threads at once. Each thread finds its eight input words in R8-R15, the
low seven bits of R15 in P0-P6; what it leaves in R16-R22 and the predicates (as R23) is returned.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from oric.support.targets import find_target
from oric_tables import ops
from oric_tables._native import ffi, lib

Array = np.ndarray[Any, Any]
CODE = 0x10000
SM_80, SM_90 = (find_target(name).isa for name in ("sm_80", "sm_90"))
BY_NAME = {o.name: o for o in ops.OPS if o is not None}
_REGISTERS = {"R": 1, "UR": 2, "P": 3, "UP": 4, "B": 9, "SB": 10, "SR": 11}
_OPERAND = re.compile(r"(?P<mark>[-~!]?)(?P<abs>\|?)(?P<kind>UR|UP|R|P|B|SB|SR)(?P<number>\d+|Z|T)\|?\Z")
_CONSTANT = re.compile(r"(?P<mark>[-~]?)c\[(?P<bank>\w+)\]\[(?P<offset>\w+)\]\Z")
NEG, ABS, INV = 1, 2, 4


def _operand(text: Any, out: Any) -> None:
    if text is None:
        return
    if isinstance(text, int):
        out.kind, out.value = 5, text
        return
    match = _CONSTANT.match(text)
    if match:
        out.kind, out.reg, out.value = 6, int(match["bank"], 0), int(match["offset"], 0)
    else:
        match = _OPERAND.match(text)
        if match is None:
            raise ValueError(text)
        out.kind = _REGISTERS[match["kind"]]
        number = match["number"]
        out.reg = 255 if number == "Z" else 7 if number == "T" else int(number)
        if out.kind == 11:
            out.value, out.reg = out.reg, 0
        if match["abs"]:
            out.flags |= ABS
    out.flags |= {"-": NEG, "~": INV, "!": NEG, "": 0}[match["mark"]]


def word(isa: int, name: str, *operands: Any, guard: str = "", **mods: Any) -> bytes:
    """One instruction. Operands in the order of the row; `target` counts bytes from the next instruction."""
    operation = BY_NAME[name]
    insn = ffi.new("oric_insn *")
    insn.op = operation.number
    insn.guard, insn.guard_neg = 7, 0
    if guard:
        insn.guard, insn.guard_neg = int(guard.lstrip("!").lstrip("UP")), int(guard[0] == "!")
    insn.nops = len(operation.operands)
    for index, text in enumerate(operands):
        _operand(text, insn.ops[index])
        if operation.operands[index].kind == "label":
            insn.ops[index].kind = 8
    insn.mods = operation.pack(**mods)
    out = ffi.new("uint64_t[2]")
    error = lib.oric_encode(isa, insn, out)
    if error:
        raise ValueError(f"{name} {operands} {mods}: error {error}")
    return bytes(ffi.buffer(out, 16))


class Device:
    """The engine alone: code, memory, constant bank 0, one launch."""

    def __init__(self, isa: int, text: bytes) -> None:
        self.sim = ffi.gc(lib.oric_sim_new(isa), lib.oric_sim_delete)
        assert lib.oric_sim_add_code(self.sim, CODE, text, len(text)) == 0

    def array(self, data: Array) -> int:
        address: int = lib.oric_sim_alloc(self.sim, data.nbytes, 0)
        assert lib.oric_sim_write(self.sim, address, data.tobytes(), data.nbytes) == 0
        return address

    def read(self, address: int, like: Array) -> Array:
        out = np.zeros_like(like)
        assert lib.oric_sim_read(self.sim, address, ffi.cast("uint8_t *", ffi.from_buffer(out)), out.nbytes) == 0
        return out

    def launch(
        self,
        block: int,
        bank0: bytes,
        registers: int = 64,
        shared: int = 0,
        local: int = 0,
        steps: int = 100000,
        modes: int = 0,
        blocks: int = 1,
        seed: int | None = None,
    ) -> Any:
        """Run the CTAs; returns the fault record when there is one. With a seed results are perturbed."""
        assert lib.oric_sim_set_bank(self.sim, 0, bank0, len(bank0)) == 0
        launch = ffi.new(
            "oric_sim_launch *",
            {
                "grid": [blocks, 1, 1],
                "block": [block, 1, 1],
                "entry": CODE,
                "num_regs": registers,
                "shared_bytes": shared,
                "local_bytes": local,
                "shared_window": 1 << 40,
                "local_window": 2 << 40,
                "max_steps": steps,
                "modes": modes if seed is None else modes | lib.ORIC_SIM_PERTURB,
                "seed": seed or 0,
            },
        )
        assert lib.oric_sim_start(self.sim, launch) == 0
        if lib.oric_sim_run(self.sim, 1 << 30) == lib.ORIC_SIM_DONE:
            return None
        return ffi.new("oric_sim_fault *", lib.oric_sim_fault_info(self.sim)[0])  # a copy: the record dies with the device


def frame(isa: int, instructions: list[bytes]) -> bytes:
    """The instructions between the loads of their inputs and the stores of what they leave."""
    memory = {"desc": "UR4"}

    def load(register: str, offset: int) -> bytes:
        return word(isa, "LDG", register, "R2", offset, memory["desc"], size="128")

    def store(offset: int, register: str) -> bytes:
        return word(isa, "STG", "R4", offset, register, memory["desc"], size="128")

    before = [
        word(isa, "S2R", "R0", "SR33"),
        word(isa, "UMOV", "UR4", 0),
        word(isa, "UMOV", "UR5", 0),
        word(isa, "MOV", "R6", 32),
        word(isa, "LDC", "R2", "RZ", "c[0][0]", 0, size="64"),
        word(isa, "LDC", "R4", "RZ", "c[0][0]", 8, size="64"),
        word(isa, "IMAD.WIDE", "R2", "R0", "R6", "R2", sign="U32"),
        word(isa, "IMAD.WIDE", "R4", "R0", "R6", "R4", sign="U32"),
        load("R8", 0),
        load("R12", 16),
        word(isa, "R2P", "R15", 0x7F),
    ]
    after = [
        word(isa, "P2R", "R23", "RZ", 0x7F),
        store(0, "R16"),
        store(16, "R20"),
        word(isa, "EXIT"),
    ]
    return b"".join([*before, *instructions, *after])


def run_operation(isa: int, instructions: list[bytes], inputs: Array) -> Array:
    """R16-R22 and the predicates after the instructions, a row for each thread; `inputs` has eight words a row."""
    count = len(inputs)
    data = np.zeros((1024, 8), np.uint32)
    data[:count] = inputs
    device = Device(isa, frame(isa, instructions))
    source, result = device.array(data), device.array(np.zeros_like(data))
    fault = device.launch(-(-count // 32) * 32, source.to_bytes(8, "little") + result.to_bytes(8, "little"))
    assert fault is None, (fault.code, ffi.string(fault.detail), hex(fault.pc))
    return device.read(result, data)[:count]
